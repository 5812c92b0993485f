//! Which files a simple command changes, told from its program and its arguments.
//!
//! One function per family of programs. A program that is not known here changes nothing but what
//! it is told to write with an option such as `-o` or `--output`.

mod git;

use super::args::{Args, edited_by_sed};
use super::path::found_path;
use super::run::{Mode, Run};
use super::word::{HOLE, Word, has, is_mark};

/// Programs that write nothing, whatever their options say.
const READERS: &str = "grep egrep fgrep rg ls ps ssh jq cat head tail diff echo printf test [ wc \
                       stat cmp file less cd";

/// Programs that put another file in place of the one they are given.
const COMPRESSORS: &str = "gzip gunzip bzip2 bunzip2 xz unxz lzma compress";

/// Programs that change the files they are given, if an option says so.
const FORMATTERS: &str = "yq prettier gofmt json dasel biome black xmlstarlet";

/// Options of programs not known here that name a file to write.
const OUTPUTS: &str = "-o --output --out -out --outfile --output-file --write-out --log-file of";

/// A change to the file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) path: Word,
    pub(crate) reach: Reach,
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
pub(crate) fn accesses(run: &Run) -> Vec<Access> {
    let mut found = Accesses {
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

pub(crate) struct Accesses<'r> {
    pub(crate) list: Vec<Access>,
    pub(crate) run: &'r Run,
}

impl Accesses<'_> {
    pub(crate) fn add(&mut self, path: Word, reach: Reach) {
        self.list.push(Access { path, reach });
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
            "rm" | "shred" | "trash" | "trash-put" | "grm" => self.remove(name),
            "truncate" | "fallocate" => self.files(plain("srlo", &["size", "reference"]).operands),
            "dd" => {
                for word in words {
                    if let Some(path) = word.raw().strip_prefix("of=") {
                        self.file(Word::new(path));
                    }
                }
            }
            "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" => self.modes(name),
            "sed" | "gsed" => self.files(edited_by_sed(words)),
            "perl" | "ruby" => self.in_place_interpreter(),
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(),
            "ed" | "ex" | "vi" | "vim" | "nvim" => self.editor(),
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
            "curl" | "wget" => self.download(name),
            "patch" => self.patch(),
            "apply_patch" | "applypatch" => self.apply_patch(),
            "tar" | "gtar" | "bsdtar" => self.tar(),
            "unzip" | "cpio" | "7z" | "7za" | "unar" => self.unpack(name),
            _ if has(COMPRESSORS, name) => {
                let args = plain("S", &["suffix"]);
                let keeps = [('c', "stdout"), ('k', "keep"), ('l', "list"), ('t', "test")];
                if !keeps.iter().any(|(short, long)| args.has(*short, long)) {
                    self.files(args.operands);
                }
            }
            _ if has(FORMATTERS, name) => {
                let args = plain("", &[]);
                let long = ["write", "in-place", "inplace", "fix"];
                if args.flags.contains(['i', 'w', 'I', 'L'])
                    || args.long.iter().any(|option| long.contains(option))
                {
                    self.files(args.operands);
                }
            }
            "script" => self.files(plain("cEImoOBT", &["command"]).operands),
            "find" | "gfind" => self.find(),
            "git" => git::git(self),
            _ if has(READERS, name) => {}
            _ => self.output_options(),
        }
    }

    fn remove(&mut self, name: &str) {
        let args = Args::read(self.run.args(), "ns", &[]);
        let tree = args.flags.contains(['r', 'R'])
            || args.has('r', "recursive")
            || name.starts_with("trash");
        let reach = if tree { Reach::Tree } else { Reach::File };
        for path in args.operands {
            self.add(path, reach);
        }
    }

    /// `awk -i inplace program file`, `awk '{print > "file"}'`
    fn awk(&mut self) {
        let args = Args::read(self.run.args(), "ifvF", &["include", "file", "assign"]);
        if args
            .values
            .iter()
            .any(|(_, value)| value.raw() == "inplace")
        {
            self.files(args.operands.into_iter().skip(1));
        } else if let Some(code) = args.operands.first() {
            for part in code.raw().split('>').skip(1) {
                let name = part.trim_start().strip_prefix('"');
                self.files(name.and_then(|name| name.split('"').next()).map(Word::new));
            }
        }
    }

    /// `-o FILE`, `--output=FILE` and the like of programs not known here.
    fn output_options(&mut self) {
        let words = self.run.args();
        for (index, word) in words.iter().enumerate() {
            match word.raw().split_once('=') {
                Some((name, value)) if has(OUTPUTS, name) => self.file(Word::new(value)),
                None if has(OUTPUTS, word.raw()) => self.files(words.get(index + 1).cloned()),
                Some(_) | None => {}
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

    /// Editors write the files they are given, if the script they are given says so.
    fn editor(&mut self) {
        let args = Args::read(self.run.args(), "cS", &["cmd"]);
        let (commands, files): (Vec<Word>, Vec<Word>) =
            (args.operands.iter().cloned()).partition(|word| word.starts_with("+"));
        let given = args.values.iter().map(|(_, value)| value);
        let scripts = given.chain(&commands).chain(&self.run.input);
        let parts = scripts.flat_map(|script| script.raw().split(['\n', '|', ';']));
        let parts = parts.map(|part| part.trim().trim_start_matches(['+', ':']));
        let saves = parts.filter(|part| part.starts_with(['w', 'x']) || part.starts_with("up"));
        for part in saves.collect::<Vec<_>>() {
            match part.split_once(' ') {
                // `w file` writes another one.
                Some((_, other)) => self.file(Word::new(other.trim())),
                None => self.files(files.iter().cloned()),
            }
        }
    }

    /// `perl -pi -e code file`
    fn in_place_interpreter(&mut self) {
        let args = Args::read(self.run.args(), "eEMmIFr", &[]);
        let coded = args.value(&["e", "E"]).is_some();
        if args.flags.contains('i') {
            self.files(args.operands.into_iter().skip(usize::from(!coded)));
        }
    }

    fn download(&mut self, name: &str) {
        let words = self.run.args();
        let (args, output) = if name == "curl" {
            let long = ["output", "output-dir", "data", "header", "request"];
            (Args::read(words, "oHdXuAebwTFmK", &long), ["o", "output"])
        } else {
            let args = Args::read(words, "OoPUtT", &["output-document", "header"]);
            (args, ["O", "output-document"])
        };
        let dir = args.value(&["output-dir"]).map(Word::raw);
        let place = |path: &Word| match dir {
            Some(dir) => Word::new(format!("{dir}/{}", path.raw())),
            None => path.clone(),
        };
        self.files(args.value(&output).map(place));
        // `curl -O` takes the name from the address.
        if args.flags.contains('O') {
            self.files(args.operands.iter().map(|word| place(&word.file_name())));
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

    // Files that are brought from elsewhere: copied, moved, patched, unpacked.

    fn copy(&mut self, name: &str) {
        let long = [
            "target-directory",
            "suffix",
            "mode",
            "owner",
            "group",
            "exclude",
            "include",
            "rsh",
            "filter",
        ];
        let short = match name {
            "rsync" => "efT",
            "install" | "ginstall" => "tmogS",
            "scp" => "ioPFJcl",
            _ => "tS",
        };
        let args = Args::read(self.run.args(), short, &long);
        let moves = matches!(name, "mv" | "gmv") || args.long.contains(&"remove-source-files");
        let links = name == "ln";
        let tree = moves
            || name == "rsync"
            || args.flags.contains(['r', 'R', 'a'])
            || args.has('r', "recursive")
            || args.has('a', "archive");
        let into = args.value(&["t", "target-directory"]).cloned();
        let mut sources = args.operands.clone();
        let exact = args.has('T', "no-target-directory");
        let dest = match into {
            Some(dir) => dir,
            None if links && sources.len() == 1 => Word::new("."),
            None => match sources.pop() {
                Some(dest) => dest,
                None => return,
            },
        };
        // Both are refused: `cp -R "$1" "$2"` without arguments.
        if dest.raw().is_empty() {
            return;
        }
        if moves {
            for source in &sources {
                self.add(source.clone(), Reach::Tree);
            }
        }
        if exact && tree {
            self.add(dest, Reach::Tree);
            return;
        }
        self.file(dest.clone());
        for source in &sources {
            let raw = source.raw();
            let contents = raw.ends_with("/.") || name == "rsync" && raw.ends_with('/');
            if contents && tree {
                self.add(dest.clone(), Reach::Perhaps);
                continue;
            }
            let base = Word::new(raw.trim_end_matches('/')).file_name();
            // What a glob over another directory brings cannot be told.
            let base: String = base
                .raw()
                .chars()
                .map(|c| if is_mark(c) { HOLE } else { c })
                .collect();
            let path = Word::new(format!("{}/{base}", dest.raw()));
            self.add(path, if tree { Reach::Tree } else { Reach::File });
        }
    }

    fn patch(&mut self) {
        let args = Args::read(
            self.run.args(),
            "pidoDFrBYzV",
            &["strip", "input", "directory", "output"],
        );
        if args.long.contains(&"dry-run") {
            return;
        }
        if let Some(output) = args.value(&["o", "output"]) {
            self.file(output.clone());
            return;
        }
        if let Some(file) = args.operands.first() {
            self.file(file.clone());
            return;
        }
        let strip = args.value(&["p", "strip"]).and_then(Word::literal);
        let strip = strip.and_then(|number| number.parse().ok()).unwrap_or(0);
        let dir = args.value(&["d", "directory"]).cloned();
        self.patched(strip, dir.as_ref());
    }

    /// The files that a patch in Codex's format names, on standard input or as an argument.
    fn apply_patch(&mut self) {
        let texts = self.run.input.iter().chain(self.run.args()).map(Word::raw);
        let files: Vec<Word> = texts
            .flat_map(str::lines)
            .filter_map(|line| {
                let (verb, path) = line.trim().strip_prefix("*** ")?.split_once(": ")?;
                let verbs = ["Add File", "Update File", "Delete File", "Move to"];
                verbs.contains(&verb).then(|| Word::new(path.trim()))
            })
            .collect();
        if files.is_empty() {
            self.add(Word::new("."), Reach::Perhaps);
        }
        self.files(files);
    }

    /// The files that a patch on standard input names.
    pub(crate) fn patched(&mut self, strip: usize, dir: Option<&Word>) {
        let text = self.run.input.as_ref().map(Word::raw).unwrap_or_default();
        let mut named = false;
        for line in text.lines() {
            let Some(path) = line
                .strip_prefix("+++ ")
                .or_else(|| line.strip_prefix("--- "))
            else {
                continue;
            };
            let path = path.split('\t').next().unwrap_or_default().trim_end();
            let rest: Vec<&str> = path.split('/').skip(strip).collect();
            named = true;
            let rest = rest.join("/");
            self.file(Word::new(match dir {
                Some(dir) => format!("{}/{rest}", dir.raw()),
                None => rest,
            }));
        }
        if !named {
            self.add(
                dir.cloned().unwrap_or_else(|| Word::new(".")),
                Reach::Perhaps,
            );
        }
    }

    fn tar(&mut self) {
        let words = self.run.args();
        // The first word may be a cluster without its dash.
        let first = words.first().map(Word::raw).unwrap_or_default();
        let bare = !first.starts_with('-') && !first.is_empty();
        let args = Args::read(
            words,
            "fCTXIgb",
            &["file", "directory", "exclude", "files-from"],
        );
        let extracts =
            bare && first.contains('x') || args.has('x', "extract") || args.long.contains(&"get");
        let creates = bare && first.contains('c') || args.has('c', "create");
        let dir = args
            .value(&["C", "directory"])
            .cloned()
            .unwrap_or_else(|| Word::new("."));
        if creates {
            // The archive itself is written; after a bare cluster it is the next word.
            let joined = bare && first.contains('f');
            let archive = args.value(&["f", "file"]).cloned();
            self.files(archive.or_else(|| args.operands.get(1).filter(|_| joined).cloned()));
            return;
        }
        if !extracts || args.has('O', "to-stdout") {
            return;
        }
        let skip = usize::from(bare) + usize::from(bare && first.contains('f'));
        let members: Vec<Word> = args.operands.into_iter().skip(skip).collect();
        if members.is_empty() {
            self.add(dir.clone(), Reach::Perhaps);
        }
        for member in members {
            self.add(
                Word::new(format!("{}/{}", dir.raw(), member.raw())),
                Reach::Tree,
            );
        }
    }

    fn unpack(&mut self, name: &str) {
        let args = Args::read(self.run.args(), "dxPO", &[]);
        let reads = match name {
            "unzip" => args.flags.contains(['l', 'p', 't', 'Z', 'v', 'c']),
            "cpio" => !args.flags.contains('i'),
            _ => !args
                .operands
                .first()
                .is_some_and(|verb| matches!(verb.raw(), "x" | "e")),
        };
        if !reads {
            let dir = args
                .value(&["d"])
                .cloned()
                .unwrap_or_else(|| Word::new("."));
            self.add(dir, Reach::Perhaps);
        }
    }
}
