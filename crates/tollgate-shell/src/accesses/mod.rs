//! Which files a simple command reads, writes and removes, from its program and its arguments.
//!
//! One function per family of programs, in one table. A program that is not known here changes
//! nothing but what an option such as `-o` or `--output` makes it write.

mod bring;
mod git;
mod hosts;
mod read;

pub(crate) use git::removes_ignored as git_removes_ignored;
pub use hosts::host_of;
pub(crate) use hosts::hosts;

use super::args::{Args, edited_by_sed};
use super::path::found_path;
use super::run::{Mode, Run};
use super::word::{Word, has};

/// Programs that write nothing, whatever their options say.
const READERS: &str = "grep egrep fgrep rg ls ps ssh jq cat head tail diff echo printf test [ wc \
                       stat cmp file less cd set shopt";

/// Programs that put another file in place of the one they are given, with the ending of its name.
const COMPRESSORS: &[(&str, &str)] = &[
    ("gzip", ".gz"),
    ("gunzip", ".gz"),
    ("bzip2", ".bz2"),
    ("bunzip2", ".bz2"),
    ("xz", ".xz"),
    ("unxz", ".xz"),
    ("lzma", ".lzma"),
    ("compress", ".Z"),
    ("zstd", ".zst"),
];

/// Programs that change the files they are given, and those in the directories they are given.
struct Formatter {
    /// Separated by blanks, as everything else.
    names: &'static str,
    /// Operands before the files.
    operands: usize,
    /// With one of these options, or verbs, it writes; with none in this list, always.
    writes: &'static str,
    /// With one of these options it only shows what it would write.
    shows: &'static str,
    /// Options that take a value.
    short: &'static str,
    long: &'static [&'static str],
}

const FORMATTERS: &[Formatter] = &[
    Formatter {
        names: "prettier",
        operands: 0,
        writes: "w write",
        shows: "",
        short: "",
        long: &[
            "config",
            "ignore-path",
            "parser",
            "plugin",
            "print-width",
            "tab-width",
        ],
    },
    Formatter {
        names: "gofmt gofumpt goimports",
        operands: 0,
        writes: "w",
        shows: "",
        short: "r",
        long: &[],
    },
    Formatter {
        names: "shfmt",
        operands: 0,
        writes: "w write",
        shows: "",
        short: "i",
        long: &["indent", "language-dialect"],
    },
    Formatter {
        names: "clang-format autopep8 yapf json",
        operands: 0,
        writes: "i I in-place inplace",
        shows: "",
        short: "fe",
        long: &["max-line-length", "style", "select", "ignore"],
    },
    Formatter {
        names: "eslint stylelint",
        operands: 0,
        writes: "fix",
        shows: "",
        short: "cof",
        long: &[
            "config",
            "ext",
            "format",
            "max-warnings",
            "output-file",
            "parser",
            "rule",
        ],
    },
    Formatter {
        names: "black",
        operands: 0,
        writes: "",
        shows: "check diff code version help",
        short: "lt",
        long: &[
            "config",
            "exclude",
            "include",
            "line-length",
            "target-version",
        ],
    },
    Formatter {
        names: "isort",
        operands: 0,
        writes: "",
        shows: "c d check check-only diff stdout version help",
        short: "lp",
        long: &["line-length", "profile", "settings-path", "skip"],
    },
    Formatter {
        names: "rustfmt",
        operands: 0,
        writes: "",
        shows: "check version help V h",
        short: "",
        long: &["color", "config", "config-path", "edition", "emit"],
    },
    Formatter {
        names: "ruff",
        operands: 1,
        writes: "fix fix-only format",
        shows: "check diff",
        short: "",
        long: &[
            "config",
            "ignore",
            "line-length",
            "select",
            "target-version",
        ],
    },
    Formatter {
        names: "biome",
        operands: 1,
        writes: "write fix apply apply-unsafe",
        shows: "",
        short: "",
        long: &["config-path", "max-diagnostics"],
    },
    Formatter {
        names: "yq",
        operands: 1,
        writes: "i inplace in-place",
        shows: "",
        short: "opI",
        long: &["indent", "input-format", "output-format"],
    },
    Formatter {
        names: "xmlstarlet",
        operands: 1,
        writes: "L inplace",
        shows: "",
        short: "Nadimnrstuvx",
        long: &[
            "delete", "expr", "insert", "move", "rename", "subnode", "update", "value",
        ],
    },
];

impl Formatter {
    /// The files and directories in which it changes something.
    fn changed(&self, words: &[Word]) -> Vec<Word> {
        let args = Args::read(words, self.short, self.long);
        let says = |list: &str| {
            let mut letters = [0; 4];
            let mut flags = args.flags.chars();
            flags.any(|flag| has(list, flag.encode_utf8(&mut letters)))
                || args.long.iter().any(|option| has(list, option))
        };
        let mut verbs = args.operands.iter().take(self.operands);
        let writes = self.writes.is_empty()
            || says(self.writes)
            || verbs.any(|verb| has(self.writes, verb.raw()));
        if !writes || says(self.shows) {
            return Vec::new();
        }
        args.operands.into_iter().skip(self.operands).collect()
    }
}

/// Options of programs not known here that name a file to write.
const OUTPUTS: &str = "-o --output --out -out --outfile --output-file --write-out --log-file of";

/// One use of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) kind: Kind,
    pub(crate) path: Word,
    pub(crate) reach: Reach,
    pub(crate) when: When,
}

/// What is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    /// A directory is made.
    Make,
    Delete,
}

/// How far it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The path itself.
    File,
    /// The path and all below it.
    Tree,
    /// Perhaps anything below the path.
    Perhaps,
}

/// What it depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Always,
    /// On the path being there: there is nothing to remove or read otherwise.
    There,
    /// The same, and otherwise the word is none of a path, but that of a branch.
    IsPath,
    /// On the path not being there: `mkdir -p`.
    Missing,
    /// On this being a directory, into which something is put.
    Into(Word),
    /// On this being none.
    Onto(Word),
    /// On something that text does not show.
    Perhaps,
}

/// Everything that a command does with files, in order. `work_tree` is the one that it works in, if
/// it is git.
pub(crate) fn accesses(run: &Run, work_tree: Option<&str>) -> Vec<Access> {
    let mut found = Accesses {
        list: Vec::new(),
        run,
        work_tree,
    };
    for redirect in &run.redirects {
        match redirect.mode {
            Mode::Write => found.file(redirect.target.clone()),
            Mode::Read => found.reads([redirect.target.clone()]),
        }
    }
    found.program();
    found.list
}

/// The files that a program writes which takes their names as they are; nothing for other programs.
fn named_files(name: &str, words: &[Word]) -> Option<Vec<Word>> {
    let read = |short: &str, long: &[&str]| Args::read(words, short, long);
    let second = |args: Args<'_>| args.operands.into_iter().skip(1).take(1).collect();
    Some(match name {
        "tee" | "sponge" | "touch" | "mkfifo" | "dos2unix" | "unix2dos" => {
            read("dtr", &["date", "reference"]).operands
        }
        "truncate" | "fallocate" => read("srlo", &["size", "reference"]).operands,
        "script" => read("cEImoOBT", &["command"]).operands,
        "dd" => {
            let of = words
                .iter()
                .filter_map(|word| word.raw().strip_prefix("of="));
            of.map(Word::new).collect()
        }
        "sort" | "gsort" => {
            let output = read("oktST", &["output"]).value(&["o", "output"]).cloned();
            output.into_iter().collect()
        }
        "uniq" => second(read("fsw", &[])),
        "xxd" => second(read("clsgoR", &[])),
        "python" | "python3" if words.iter().any(|word| word.raw() == "json.tool") => {
            second(read("m", &["indent"]))
        }
        _ => return None,
    })
}

/// The name under which `wget` keeps what is at an address.
fn downloaded(address: &Word) -> Word {
    let raw = address.raw();
    let rest = raw.split_once("://").map_or(raw, |(_, rest)| rest);
    match rest.rsplit_once('/') {
        Some((_, name)) if !name.is_empty() => Word::new(name),
        Some(_) | None => Word::new("index.html"),
    }
}

struct Accesses<'r> {
    list: Vec<Access>,
    run: &'r Run,
    work_tree: Option<&'r str>,
}

impl Accesses<'_> {
    fn push(&mut self, kind: Kind, path: Word, reach: Reach, when: When) {
        self.list.push(Access {
            kind,
            path,
            reach,
            when,
        });
    }

    /// The same, unless it is standard input or output.
    fn also(&mut self, kind: Kind, path: Word, reach: Reach, when: When) {
        if !matches!(path.raw(), "-" | "") {
            self.push(kind, path, reach, when);
        }
    }

    fn add(&mut self, path: Word, reach: Reach) {
        self.push(Kind::Write, path, reach, When::Always);
    }

    fn file(&mut self, path: Word) {
        self.add(path, Reach::File);
    }

    fn files(&mut self, paths: impl IntoIterator<Item = Word>) {
        for path in paths {
            self.file(path);
        }
    }

    fn gone(&mut self, path: Word, reach: Reach) {
        self.push(Kind::Delete, path, reach, When::There);
    }

    fn reads(&mut self, paths: impl IntoIterator<Item = Word>) {
        for path in paths {
            self.also(Kind::Read, path, Reach::File, When::There);
        }
    }

    fn program(&mut self) {
        let Some(name) = self.run.program() else {
            return;
        };
        // The interpreter of a script reads it.
        if let Some(path) = self
            .run
            .words
            .first()
            .filter(|word| word.raw().contains('/'))
        {
            self.also(Kind::Read, path.clone(), Reach::File, When::Perhaps);
        }
        self.read(name);
        match name {
            "mkdir" => self.make(),
            "rm" | "shred" | "trash" | "trash-put" | "grm" | "rmdir" | "unlink" => {
                self.remove(name);
            }
            "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" => self.modes(name),
            "sed" | "gsed" => self.sed(),
            "perl" | "ruby" => self.in_place_interpreter(),
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(),
            "ed" | "ex" | "vi" | "vim" | "nvim" => self.editor(),
            "cp" | "gcp" | "install" | "ginstall" | "scp" | "rsync" | "ln" | "mv" | "gmv" => {
                self.copy(name);
            }
            "curl" | "wget" => self.download(name),
            "patch" => self.patch(),
            "apply_patch" | "applypatch" => self.apply_patch(),
            "tar" | "gtar" | "bsdtar" => self.tar(),
            "unzip" | "cpio" | "7z" | "7za" | "unar" => self.unpack(name),
            "zip" => self.zip(),
            "split" | "csplit" => self.split(name),
            "find" | "gfind" => self.find(),
            "git" => git::git(self),
            _ if self.format(name) => {}
            _ => match named_files(name, self.run.args()) {
                Some(files) => self.files(files),
                None if has(READERS, name) => {}
                None => match COMPRESSORS.iter().find(|(known, _)| *known == name) {
                    Some((_, ending)) => self.compress(name, ending),
                    None => self.output_options(),
                },
            },
        }
    }

    /// A formatter, if it is one.
    fn format(&mut self, name: &str) -> bool {
        let mut all = FORMATTERS.iter();
        let Some(formatter) = all.find(|formatter| has(formatter.names, name)) else {
            return false;
        };
        for path in formatter.changed(self.run.args()) {
            let (file, directory) = (When::Onto(path.clone()), When::Into(path.clone()));
            self.push(Kind::Write, path.clone(), Reach::File, file);
            self.push(Kind::Write, path, Reach::Perhaps, directory);
        }
        true
    }

    fn sed(&mut self) {
        let words = self.run.args();
        let suffix = words.iter().find_map(|word| {
            let raw = word.raw();
            let short = raw.strip_prefix("-i").filter(|rest| rest.starts_with('.'));
            short.or_else(|| raw.strip_prefix("--in-place="))
        });
        self.in_place(edited_by_sed(words), suffix);
    }

    /// `gzip file`, `gunzip file.gz`
    fn compress(&mut self, name: &str, ending: &str) {
        let args = Args::read(self.run.args(), "So", &["suffix"]);
        if [('c', "stdout"), ('l', "list"), ('t', "test")]
            .iter()
            .any(|(short, long)| args.has(*short, long))
        {
            return;
        }
        let keeps = args.has('k', "keep") || name == "zstd" && !args.long.contains(&"rm");
        let unpacks = name.contains("un") || args.has('d', "decompress");
        for path in &args.operands {
            if !keeps {
                self.gone(path.clone(), Reach::File);
            }
            let other = match path.raw().strip_suffix(ending) {
                Some(plain) if unpacks => Word::new(plain),
                None if !unpacks && path.literal().is_some() => {
                    Word::new(format!("{}{ending}", path.raw()))
                }
                // The names of the others are not known.
                Some(_) | None => {
                    self.add(path.clone(), Reach::File);
                    continue;
                }
            };
            self.file(other);
        }
    }

    fn make(&mut self) {
        let args = Args::read(self.run.args(), "mZ", &["mode", "context"]);
        let parents = args.has('p', "parents");
        self.make_all(&args.operands, parents);
    }

    /// Directories, with those above them that are missing.
    fn make_all(&mut self, paths: &[Word], parents: bool) {
        for path in paths {
            let mut above = path.raw().trim_end_matches('/');
            let mut paths = vec![path.clone()];
            while let Some((parent, _)) = above.rsplit_once('/').filter(|_| parents) {
                if !parent.is_empty() && !matches!(parent, "." | "..") {
                    paths.push(Word::new(parent));
                }
                above = parent;
            }
            let when = if parents { When::Missing } else { When::Always };
            for path in paths.into_iter().rev() {
                self.also(Kind::Make, path, Reach::File, when.clone());
            }
        }
    }

    fn remove(&mut self, name: &str) {
        let args = Args::read(self.run.args(), "ns", &["iterations", "size"]);
        let tree = args.flags.contains(['r', 'R'])
            || args.has('r', "recursive")
            || name.starts_with("trash");
        let reach = if tree { Reach::Tree } else { Reach::File };
        // Without `-u` the file stays, overwritten.
        let shreds = name == "shred" && !args.has('u', "remove");
        for path in args.operands {
            if name == "shred" {
                self.add(path.clone(), reach);
            }
            match name {
                "shred" if shreds => {}
                "rmdir" => self.also(Kind::Delete, path, reach, When::There),
                _ => self.gone(path, reach),
            }
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

    /// Files that are replaced by a changed copy, with what is kept of them.
    fn in_place(&mut self, files: impl IntoIterator<Item = Word>, suffix: Option<&str>) {
        for file in files {
            if let Some(suffix) = suffix {
                let kept = Word::new(format!("{}{suffix}", file.raw()));
                self.also(Kind::Write, kept, Reach::File, When::Perhaps);
            }
            self.push(Kind::Write, file, Reach::File, When::There);
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
            let words = self.run.args().iter();
            let suffix = words.filter_map(|word| {
                let (_, suffix) = word.raw().strip_prefix('-')?.split_once("i.")?;
                Some(format!(".{suffix}"))
            });
            let suffix = suffix.take(1).next();
            let files = args.operands.into_iter().skip(usize::from(!coded));
            self.in_place(files, suffix.as_deref());
        }
    }

    fn download(&mut self, name: &str) {
        let args = Args::of(name, self.run.args());
        let dir = args.value(&["output-dir", "P", "directory-prefix"]);
        let place = |path: &Word| match dir {
            Some(dir) => Word::new(format!("{}/{}", dir.raw(), path.raw())),
            None => path.clone(),
        };
        if name == "curl" {
            self.files(args.value(&["o", "output"]).map(place));
            // The name is taken from the address.
            if args.has('O', "remote-name") || args.long.contains(&"remote-name-all") {
                self.files(args.operands.iter().map(|word| place(&word.file_name())));
            }
            return;
        }
        self.files(
            args.value(&["o", "a", "output-file", "append-output"])
                .cloned(),
        );
        if let Some(file) = args.value(&["O", "output-document"]) {
            self.file(file.clone());
        } else if args.flags.contains(['r', 'm', 'p'])
            || args.value(&["i", "input-file"]).is_some()
            || ["recursive", "mirror", "page-requisites"]
                .iter()
                .any(|long| args.long.contains(long))
        {
            self.add(place(&Word::new(".")), Reach::Perhaps);
        } else if !args.long.contains(&"spider") {
            for address in &args.operands {
                let path = place(&downloaded(address));
                // If it is there, another name is taken, unless options say otherwise.
                self.push(Kind::Write, path, Reach::File, When::Perhaps);
            }
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
            self.gone(Word::new(found_path(start, words)), Reach::File);
        }
        self.files(
            value("-fprint")
                .into_iter()
                .chain(value("-fprintf"))
                .chain(value("-fls")),
        );
    }
}
