//! Which files a command reads.

use super::{Accesses, Kind, Reach, When};
use crate::args::Args;
use crate::code::language;
use crate::word::{Word, has};

/// Programs that read the files they are given.
struct Reader {
    /// Separated by blanks.
    names: &'static str,
    /// Short options that take a value, and long ones.
    short: &'static str,
    long: &'static [&'static str],
    /// Operands before the files, unless an option of `instead` gives what they would say.
    operands: usize,
    instead: &'static [&'static str],
}

const fn reader(
    names: &'static str,
    short: &'static str,
    long: &'static [&'static str],
    operands: usize,
    instead: &'static [&'static str],
) -> Reader {
    Reader {
        names,
        short,
        long,
        operands,
        instead,
    }
}

const READERS: &[Reader] = &[
    reader(
        "cat tac rev less more bat batcat zcat bzcat xzcat lzcat zless md5sum sha1sum sha224sum \
         sha256sum sha384sum sha512sum b2sum cksum sum source . wc expand unexpand tsort hd \
         xmllint dos2unix unix2dos visudo view most",
        "",
        &["files0-from"],
        0,
        &[],
    ),
    reader(
        "head tail",
        "nc",
        &["lines", "bytes", "pid", "sleep-interval"],
        0,
        &[],
    ),
    reader(
        "nl",
        "bdfhilnsvw",
        &["body-numbering", "number-width"],
        0,
        &[],
    ),
    reader(
        "cut",
        "bcdf",
        &[
            "bytes",
            "characters",
            "delimiter",
            "fields",
            "output-delimiter",
        ],
        0,
        &[],
    ),
    reader("paste", "d", &["delimiters"], 0, &[]),
    reader(
        "sort gsort",
        "oktST",
        &["output", "key", "field-separator", "buffer-size"],
        0,
        &[],
    ),
    reader(
        "shuf",
        "ion",
        &["input-range", "head-count", "output"],
        0,
        &[],
    ),
    reader("comm join", "12eijotv", &["output-delimiter"], 0, &[]),
    reader("cmp", "in", &["ignore-initial", "bytes"], 0, &[]),
    reader(
        "od",
        "ANjStw",
        &["address-radix", "skip-bytes", "read-bytes", "format"],
        0,
        &[],
    ),
    reader("hexdump", "efns", &[], 0, &[]),
    reader("xxd", "clsgoR", &[], 0, &[]),
    reader("strings", "nteT", &["bytes", "radix"], 0, &[]),
    reader(
        "file",
        "Fmfe",
        &["separator", "magic-file", "files-from"],
        0,
        &[],
    ),
    reader("base64 base32 fold", "w", &["wrap", "width"], 0, &[]),
    reader("fmt pr", "wgpl", &["width"], 0, &[]),
    reader(
        "column",
        "csotNRTHJ",
        &["separator", "output-separator", "table-columns"],
        0,
        &[],
    ),
    reader("iconv", "ft", &["from-code", "to-code"], 0, &[]),
    reader(
        "sed gsed",
        "efl",
        &["expression", "file", "line-length"],
        1,
        &["e", "f", "expression", "file"],
    ),
    reader(
        "awk gawk mawk nawk",
        "fvFi",
        &["file", "assign", "field-separator", "include"],
        1,
        &["f", "file"],
    ),
    reader(
        "jq yq",
        "fL",
        &["from-file", "indent", "tab", "seq"],
        1,
        &["f", "from-file"],
    ),
    reader(
        "gzip gunzip bzip2 bunzip2 xz unxz lzma zstd",
        "So",
        &["suffix"],
        0,
        &[],
    ),
    reader("perl ruby", "eEMmIFr", &[], 0, &[]),
];

/// Programs that search in the files, or trees, that they are given.
const SEARCHERS: &str = "grep egrep fgrep rg ag ack zgrep";

impl Accesses<'_> {
    /// What a command reads that is nothing but an input.
    pub(super) fn read(&mut self, name: &str) {
        let words = self.run.args();
        for (at, word) in words.iter().enumerate() {
            match word.raw().split_once('=') {
                Some(("--env-file", file)) => self.reads([Word::new(file)]),
                None if has("--env-file -in", word.raw()) => {
                    self.reads(words.get(at + 1).cloned());
                }
                Some(_) | None => {}
            }
        }
        let row = READERS.iter().find(|row| has(row.names, name));
        match name {
            "perl" | "ruby" => self.in_place_input(),
            "jq" => self.filtered(),
            "uniq" => {
                self.reads(Args::read(words, "fsw", &[]).operands.into_iter().take(1));
            }
            "xxd" => {
                self.reads(
                    Args::read(words, "clsgoR", &[])
                        .operands
                        .into_iter()
                        .take(1),
                );
            }
            "python" | "python3" if words.iter().any(|word| word.raw() == "json.tool") => {
                self.reads(
                    Args::read(words, "m", &["indent"])
                        .operands
                        .into_iter()
                        .take(1),
                );
            }
            "awk" | "gawk" | "mawk" | "nawk" => {
                let args = Args::read(words, "fvFi", &["file", "assign", "field-separator"]);
                let coded = args.value(&["f", "file"]).is_some();
                self.reads(args.value(&["f", "file"]).cloned());
                let files = args.operands.into_iter().skip(usize::from(!coded));
                // `name=value` between the files.
                self.reads(files.filter(|word| !word.raw().contains('=')));
            }
            "diff" | "colordiff" | "sdiff" => self.compared(),
            "dd" => {
                let input = words
                    .iter()
                    .filter_map(|word| word.raw().strip_prefix("if="));
                self.reads(input.map(Word::new));
            }
            "curl" => self.uploaded(),
            "xargs" => {
                let (args, _) = Args::leading(words, "InLPsdEaJ", &["arg-file"]);
                self.reads(args.value(&["a", "arg-file"]).cloned());
            }
            "make" | "gmake" => {
                let args = Args::read(words, "fCIjo", &["file", "directory", "makefile"]);
                self.reads(args.value(&["f", "file", "makefile"]).cloned());
            }
            "ed" | "ex" | "vi" | "vim" | "nvim" => {
                let args = Args::read(words, "cS", &["cmd"]);
                let files = args.operands.into_iter();
                self.reads(files.filter(|word| !word.starts_with("+")));
            }
            "touch" | "chmod" | "chown" | "truncate" => {}
            "bash" | "sh" | "dash" | "zsh" | "ksh" => self.shell_script(),
            _ if has(SEARCHERS, name) => self.searched(name),
            _ => match row {
                Some(row) => {
                    let args = Args::read(words, row.short, row.long);
                    let given = args.value(row.instead).is_some();
                    let skip = if given { 0 } else { row.operands };
                    self.reads(
                        args.value(&["f", "file", "from-file"])
                            .filter(|_| given)
                            .cloned(),
                    );
                    // Only the first operand of `.` is a file.
                    let most = if has("source .", name) { 1 } else { usize::MAX };
                    self.reads(args.operands.into_iter().skip(skip).take(most));
                }
                None if language(name).is_some() => self.interpreted(),
                None => {}
            },
        }
    }

    fn filtered(&mut self) {
        let words = self.run.args();
        let mut plain = Vec::new();
        let mut skip = 0_usize;
        let mut from_file = false;
        for (index, word) in words.iter().enumerate() {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            let next = |at: usize| words.get(index + at).cloned();
            match word.raw() {
                "--arg" | "--argjson" => skip = 2,
                "--slurpfile" | "--rawfile" => {
                    skip = 2;
                    self.reads(next(2));
                }
                "-f" | "--from-file" => {
                    skip = 1;
                    from_file = true;
                    self.reads(next(1));
                }
                "--indent" | "-L" => skip = 1,
                "--args" | "--jsonargs" => break,
                option if option.starts_with('-') => {}
                _ => plain.push(word.clone()),
            }
        }
        self.reads(plain.into_iter().skip(usize::from(!from_file)));
    }

    /// The script file, or the files that a loop around code reads.
    fn in_place_input(&mut self) {
        let args = Args::read(self.run.args(), "eEMmIFr", &[]);
        let coded = args.value(&["e", "E"]).is_some();
        if coded && args.flags.contains(['n', 'p']) {
            self.reads(args.operands);
        } else if !coded {
            self.reads(args.operands.into_iter().take(1));
        }
    }

    /// The script of an interpreter.
    fn interpreted(&mut self) {
        let mut words = self.run.args().iter();
        let first = words.find(|word| {
            matches!(word.raw(), "-c" | "-e" | "-m" | "-r" | "-p" | "-") || !word.starts_with("-")
        });
        self.reads(first.filter(|word| !word.starts_with("-")).cloned());
    }

    fn shell_script(&mut self) {
        let (args, rest) = Args::leading(self.run.args(), "oO", &["rcfile", "init-file"]);
        if !args.flags.contains(['c', 's']) {
            self.reads(rest.first().cloned());
        }
    }

    fn compared(&mut self) {
        let args = Args::read(self.run.args(), "CIUWxFL", &["label", "exclude", "unified"]);
        // Of two trees only files of the same name are read, and none if their sizes say enough.
        let (reach, when) = if args.has('r', "recursive") {
            (Reach::Tree, When::Perhaps)
        } else if args.has('q', "brief") {
            (Reach::File, When::Perhaps)
        } else {
            (Reach::File, When::There)
        };
        for path in args.operands {
            self.also(Kind::Read, path, reach, when.clone());
        }
    }

    fn searched(&mut self, name: &str) {
        let long = [
            "regexp",
            "file",
            "include",
            "exclude",
            "exclude-dir",
            "max-count",
            "context",
            "glob",
            "type",
            "after-context",
            "before-context",
            "color",
            "colour",
        ];
        let always = has("rg ag ack", name);
        let short = if always { "ABCefmgtTjM" } else { "ABCefmdD" };
        let args = Args::read(self.run.args(), short, &long);
        let given =
            args.value(&["e", "f", "regexp", "file"]).is_some() || args.long.contains(&"files");
        self.reads(args.value(&["f", "file"]).cloned());
        let tree = always || args.flags.contains(['r', 'R']) || args.has('r', "recursive");
        let reach = if tree { Reach::Tree } else { Reach::File };
        let mut files: Vec<Word> = args
            .operands
            .iter()
            .skip(usize::from(!given))
            .cloned()
            .collect();
        let piped = self.run.input.is_some() || self.run.link == crate::run::Link::Pipe;
        if files.is_empty() && tree && !(always && piped) {
            files.push(Word::new("."));
        }
        // With these only some of the files are read.
        let chooses = [
            "include",
            "exclude",
            "exclude-dir",
            "glob",
            "g",
            "type",
            "t",
        ];
        let some = always || args.value(&chooses).is_some();
        // What a search is narrowed to is read by name: `--include=.env`, `-g '.env*'`.
        let narrow = args
            .values
            .iter()
            .filter(|(option, _)| has("include glob g", option));
        let narrow: Vec<&str> = narrow
            .map(|(_, value)| value.raw().trim_end_matches('*'))
            .collect();
        for name in narrow
            .iter()
            .filter(|name| !name.is_empty() && !name.contains(['*', '!', '{']))
        {
            for path in &files {
                let path = Word::new(format!("{}/{name}", path.raw()));
                self.also(Kind::Read, path, Reach::File, When::Perhaps);
            }
        }
        for path in files {
            let when = if some && tree {
                When::Perhaps
            } else {
                When::There
            };
            self.also(Kind::Read, path, reach, when);
        }
    }

    /// `curl -d @file`, `curl -F name=@file`, `curl -T file`
    fn uploaded(&mut self) {
        let args = Args::of("curl", self.run.args());
        for (option, value) in &args.values {
            let raw = value.raw();
            let file = match *option {
                "d" | "data" | "data-binary" | "data-urlencode" | "json" | "H" | "header" => {
                    raw.strip_prefix('@')
                }
                "F" | "form" => raw.split_once(['@', '<']).map(|(_, path)| path),
                "T" | "upload-file" | "K" | "config" | "cacert" | "cert" | "key" | "E" => Some(raw),
                _ => None,
            };
            let file = file.map(|file| file.split(';').next().unwrap_or(file));
            self.reads(file.map(Word::new));
        }
    }
}
