//! Which files a simple command changes, told from its program and its arguments.
//!
//! One function per family of programs. A program that is not known here changes nothing but what
//! it is told to write with an option such as `-o` or `--output`.

use super::effects_git::git;
use super::nested::{found_path, operands};
use super::sed::Sed;
use super::word::Word;
use super::{Mode, Run};

/// A change to the file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    pub(crate) path: Word,
    pub(crate) reach: Reach,
    /// The directory whose content is brought there.
    pub(crate) from: Option<Word>,
}

/// How far a change goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The path itself.
    File,
    /// The path and all below it.
    Tree,
    /// Perhaps anything below the path.
    Perhaps,
}

/// Everything a command changes.
pub(crate) fn effects(run: &Run) -> Vec<Effect> {
    let mut found = Effects {
        list: Vec::new(),
        run,
    };
    for redirect in &run.redirects {
        if redirect.mode == Mode::Write {
            found.file(redirect.target.clone());
        }
    }
    found.program();
    found.list
}

pub(crate) struct Effects<'r> {
    pub(crate) list: Vec<Effect>,
    pub(crate) run: &'r Run,
}

/// The operands and options of a command, by one table of options that take a value.
pub(crate) struct Args<'r> {
    /// Short options without their values, such as `r` and `f`.
    pub(crate) flags: String,
    /// Options with values: the name without dashes, and the value.
    pub(crate) values: Vec<(String, Word)>,
    /// Long options without a value.
    pub(crate) long: Vec<&'r str>,
    pub(crate) operands: Vec<Word>,
}

impl<'r> Args<'r> {
    /// Reads the words after a program. `short` lists letters that take a value, `long` names.
    pub(crate) fn read(words: &'r [Word], short: &str, long: &[&str]) -> Self {
        let mut args = Self {
            flags: String::new(),
            values: Vec::new(),
            long: Vec::new(),
            operands: Vec::new(),
        };
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            let text = word.raw();
            if text == "--" {
                args.operands
                    .extend(words.get(at..).unwrap_or_default().iter().cloned());
                break;
            }
            if let Some(option) = text.strip_prefix("--") {
                if let Some((name, value)) = option.split_once('=') {
                    args.values.push((name.to_owned(), Word::new(value)));
                } else if long.contains(&option) {
                    let value = words.get(at).cloned().unwrap_or_default();
                    args.values.push((option.to_owned(), value));
                    at += 1;
                } else {
                    args.long.push(option);
                }
                continue;
            }
            let Some(cluster) = text.strip_prefix('-').filter(|cluster| !cluster.is_empty()) else {
                args.operands.push(word.clone());
                continue;
            };
            match cluster.find(|letter| short.contains(letter)) {
                Some(index) => {
                    let (flags, tail) = cluster.split_at(index);
                    args.flags.push_str(flags);
                    let mut tail = tail.chars();
                    let name = tail.next().map(String::from).unwrap_or_default();
                    let joined = tail.as_str();
                    let value = if joined.is_empty() {
                        at += 1;
                        words.get(at - 1).cloned().unwrap_or_default()
                    } else {
                        Word::new(joined)
                    };
                    args.values.push((name, value));
                }
                None => args.flags.push_str(cluster),
            }
        }
        args
    }

    pub(crate) fn has(&self, short: char, long: &str) -> bool {
        self.flags.contains(short) || self.long.contains(&long)
    }

    pub(crate) fn value(&self, names: &[&str]) -> Option<&Word> {
        self.values
            .iter()
            .rev()
            .find(|(name, _)| names.contains(&name.as_str()))
            .map(|(_, value)| value)
    }
}

impl Effects<'_> {
    pub(crate) fn add(&mut self, path: Word, reach: Reach) {
        self.list.push(Effect {
            path,
            reach,
            from: None,
        });
    }

    pub(crate) fn file(&mut self, path: Word) {
        self.add(path, Reach::File);
    }

    pub(crate) fn files(&mut self, paths: impl IntoIterator<Item = Word>) {
        for path in paths {
            self.file(path);
        }
    }

    fn program(&mut self) {
        let Some(name) = self.run.program() else {
            return;
        };
        let words = self.run.args();
        let plain = |short: &str, long: &[&str]| Args::read(words, short, long);
        match name {
            "tee" | "sponge" | "touch" | "unlink" | "mkfifo" | "dos2unix" | "unix2dos" => {
                self.files(plain("dtr", &[]).operands);
            }
            "rm" | "shred" | "trash" | "trash-put" | "grm" => {
                let args = plain("ns", &[]);
                let tree = args.flags.contains(['r', 'R'])
                    || args.has('r', "recursive")
                    || name.starts_with("trash");
                let reach = if tree { Reach::Tree } else { Reach::File };
                for path in args.operands {
                    self.add(path, reach);
                }
            }
            "truncate" | "fallocate" => self.files(plain("srlo", &["size", "reference"]).operands),
            "dd" => {
                for word in words {
                    if let Some(path) = word.raw().strip_prefix("of=") {
                        self.file(Word::new(path));
                    }
                }
            }
            "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" => self.modes(name),
            "sed" | "gsed" => self.sed(),
            "perl" | "ruby" => self.in_place_interpreter(),
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(),
            "cp" | "gcp" | "install" | "ginstall" | "scp" | "rsync" | "ln" | "mv" | "gmv" => {
                self.copy(name);
            }
            "sort" | "gsort" => {
                self.files(plain("oktST", &["output"]).value(&["o", "output"]).cloned());
            }
            "uniq" => self.files(plain("fsw", &[]).operands.into_iter().nth(1)),
            "python" | "python3" if words.iter().any(|word| word.raw() == "json.tool") => {
                self.files(plain("m", &["indent"]).operands.into_iter().nth(1));
            }
            "curl" => self.download(
                &plain(
                    "oHdXuAebwTFmK",
                    &["output", "output-dir", "data", "header", "request"],
                ),
                &["o", "output"],
                'O',
            ),
            "wget" => self.download(
                &plain("OoPUtT", &["output-document", "header"]),
                &["O", "output-document"],
                ' ',
            ),
            "patch" => self.patch(),
            "apply_patch" | "applypatch" => self.apply_patch(),
            "tar" | "gtar" | "bsdtar" => self.tar(),
            "unzip" | "cpio" | "7z" | "7za" | "unar" => self.unpack(name),
            "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "lzma" | "compress" => {
                let args = plain("S", &["suffix"]);
                if !args.has('c', "stdout")
                    && !args.has('k', "keep")
                    && !args.has('l', "list")
                    && !args.has('t', "test")
                {
                    self.files(args.operands);
                }
            }
            "yq" | "prettier" | "gofmt" | "json" | "dasel" | "biome" | "black" | "xmlstarlet" => {
                let args = plain("", &[]);
                let writes = args.flags.contains(['i', 'w', 'I', 'L'])
                    || args
                        .long
                        .iter()
                        .any(|long| matches!(*long, "write" | "in-place" | "inplace" | "fix"));
                if writes {
                    self.files(args.operands);
                }
            }
            "ed" | "ex" | "vi" | "vim" | "nvim" | "red" => self.editor(),
            "script" => self.files(plain("cEImoOBT", &["command"]).operands),
            "find" | "gfind" => self.find(),
            "git" => git(self),
            "grep" | "egrep" | "fgrep" | "rg" | "ls" | "ps" | "ssh" | "jq" | "cat" | "head"
            | "tail" | "diff" | "echo" | "printf" | "test" | "[" | "wc" | "stat" | "cmp"
            | "file" | "less" | "cd" => {}
            _ => self.output_options(),
        }
    }

    /// `-o FILE`, `--output=FILE` and the like of programs not known here.
    fn output_options(&mut self) {
        let words = self.run.args();
        for (index, word) in words.iter().enumerate() {
            let text = word.raw();
            if matches!(
                text,
                "-o" | "--output"
                    | "--out"
                    | "-out"
                    | "--outfile"
                    | "--output-file"
                    | "--write-out"
                    | "--log-file"
            ) {
                self.files(words.get(index + 1).cloned());
            } else if let Some((name, value)) = text.split_once('=')
                && matches!(
                    name,
                    "--output" | "--out" | "--outfile" | "--output-file" | "--log-file" | "of"
                )
            {
                self.file(Word::new(value));
            }
        }
    }

    fn modes(&mut self, name: &str) {
        let args = Args::read(self.run.args(), "mxM", &["reference", "from"]);
        // `chmod -w file` reads as a flag; the first operand is the mode unless one was given so.
        let given = args.value(&["reference", "m", "x"]).is_some()
            || name == "chmod" && args.flags.contains(['w', 'x', 'r', 's'])
            || name == "chattr" && !args.flags.is_empty();
        let reach = if args.flags.contains('R') || args.has('R', "recursive") {
            Reach::Tree
        } else {
            Reach::File
        };
        for path in args.operands.into_iter().skip(usize::from(!given)) {
            self.add(path, reach);
        }
    }

    fn sed(&mut self) {
        let Sed {
            in_place,
            scripts,
            operands,
        } = Sed::read(self.run.args());
        for script in &scripts {
            // The `w file` command and flag.
            for part in script.raw().split(['\n', ';']) {
                let before = part.rfind("w ").map(|index| part.split_at(index));
                if let Some((head, tail)) = before
                    && (head.is_empty()
                        || head.ends_with(|letter: char| {
                            !letter.is_alphanumeric() || letter == 'g' || letter == 'p'
                        }))
                {
                    self.file(Word::new(
                        tail.trim_start_matches("w ").trim_end_matches('}').trim(),
                    ));
                }
            }
        }
        if in_place {
            self.files(operands);
        }
    }

    fn in_place_interpreter(&mut self) {
        let mut in_place = false;
        let mut coded = false;
        let mut operands = Vec::new();
        let words = self.run.args();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            let Some(cluster) = word
                .raw()
                .strip_prefix('-')
                .filter(|cluster| !cluster.is_empty())
            else {
                operands.push(word.clone());
                continue;
            };
            let Some(index) = cluster.find(['i', 'e', 'E', 'M', 'm', 'I', 'F', 'r']) else {
                continue;
            };
            let (_, tail) = cluster.split_at(index);
            if tail.starts_with('i') {
                in_place = true;
            } else if tail.starts_with(['e', 'E']) {
                coded = true;
                at += usize::from(tail.len() == 1);
            }
        }
        if in_place {
            self.files(operands.into_iter().skip(usize::from(!coded)));
        }
    }

    fn awk(&mut self) {
        let args = Args::read(self.run.args(), "ifvF", &["include", "file", "assign"]);
        let in_place = args
            .values
            .iter()
            .any(|(_, value)| value.raw() == "inplace");
        let scripted = args.value(&["f", "file"]).is_some();
        if in_place {
            self.files(args.operands.into_iter().skip(usize::from(!scripted)));
        } else if let Some(code) = args.operands.first() {
            // print > "file"
            for part in code.raw().split('>').skip(1) {
                let name = part.trim_start_matches('>').trim_start();
                // print > f, with -v f=file
                let variable = args.values.iter().find_map(|(option, value)| {
                    let (known, value) = value.raw().split_once('=')?;
                    let rest = name.strip_prefix(known)?;
                    let whole = !rest.starts_with(|letter: char| letter.is_alphanumeric());
                    (whole && matches!(option.as_str(), "v" | "assign")).then_some(value)
                });
                if let Some(path) = variable {
                    self.file(Word::new(path));
                } else if let Some(name) = name
                    .strip_prefix('"')
                    .and_then(|name| name.split('"').next())
                {
                    self.file(Word::new(name));
                }
            }
        }
    }

    fn download(&mut self, args: &Args<'_>, output: &[&str], by_name: char) {
        let dir = args.value(&["output-dir"]).map(Word::raw);
        let place = |path: &Word| match dir {
            Some(dir) => Word::new(format!("{dir}/{}", path.raw())),
            None => path.clone(),
        };
        self.files(args.value(output).map(place));
        if args.flags.contains(by_name) {
            let names = args.operands.iter().map(|word| place(&word.file_name()));
            let names: Vec<Word> = names.collect();
            self.files(names);
        }
    }

    /// Editors write the files they are given, if the script they are given says so.
    fn editor(&mut self) {
        let words = self.run.args();
        let parts = |text: &str| -> Vec<String> {
            let parts = text.split(['\n', '|', ';']);
            let parts = parts.map(|part| part.trim().trim_start_matches([':', '+']).to_owned());
            parts.collect()
        };
        // `w file` writes another one.
        let elsewhere = |part: &str| {
            let (verb, file) = part.split_once(' ')?;
            let verb = verb.trim_start_matches(|letter: char| "%,$.0123456789".contains(letter));
            let file = file.trim().trim_start_matches(">> ");
            let writes = matches!(verb, "w" | "w!" | "wq" | "wq!" | "sav" | "sav!" | "saveas");
            (writes && !file.is_empty()).then(|| file.to_owned())
        };
        let saves = |text: &str| {
            parts(text).iter().any(|part| {
                elsewhere(part).is_none()
                    && (part.starts_with('w')
                        || part.starts_with('x')
                        || part.starts_with("up")
                        || part.contains("writefile"))
            })
        };
        let texts = words.iter().chain(self.run.input.as_ref()).map(Word::raw);
        let others: Vec<String> = texts
            .flat_map(|text| {
                parts(text)
                    .iter()
                    .filter_map(|part| elsewhere(part))
                    .collect::<Vec<_>>()
            })
            .collect();
        self.files(others.into_iter().map(Word::new));
        // A word after `-c` is a script whatever it looks like; others may be file names.
        let mut script = false;
        let told = words.iter().any(|word| {
            let text = word.raw();
            let given = std::mem::replace(
                &mut script,
                text.starts_with('-') && text.ends_with('c') || text == "--cmd",
            );
            saves(text) && (given || text.starts_with('+') || !text.contains('/'))
        }) || self
            .run
            .input
            .as_ref()
            .is_some_and(|input| saves(input.raw()));
        let files = operands_without(words);
        if told {
            self.files(files);
        }
    }

    fn find(&mut self) {
        let words = self.run.args();
        let start = words
            .first()
            .filter(|word| !word.starts_with("-"))
            .map_or(".", Word::raw);
        let value = |option: &str| {
            let at = words.iter().position(|word| word.raw() == option)?;
            words.get(at + 1).cloned()
        };
        if words.iter().any(|word| word.raw() == "-delete") {
            self.file(Word::new(found_path(start, words)));
        }
        self.files(
            value("-fprint")
                .into_iter()
                .chain(value("-fprintf"))
                .chain(value("-fls")),
        );
    }
}

fn operands_without(words: &[Word]) -> Vec<Word> {
    let mut files = Vec::new();
    let mut words = operands(words, "", 0).iter();
    while let Some(word) = words.next() {
        if matches!(word.raw(), "-c" | "-sc" | "-esc" | "-S" | "--cmd") {
            words.next();
        } else if !word.starts_with("-") && !word.starts_with("+") {
            files.push(word.clone());
        }
    }
    files
}
