//! Files that are brought from elsewhere: copied, moved, patched, unpacked.

use super::{Accesses, Kind, Reach, When, host_of};
use crate::args::Args;
use crate::word::{HOLE, STAR, Word, is_mark};

/// How `cp`, `mv`, `ln`, `install`, `scp` or `rsync` is called.
struct Copy<'r> {
    name: &'r str,
    args: Args<'r>,
    installs: bool,
    /// What is asked about, or newer, is left alone.
    keeps: bool,
    moves: bool,
    /// Whether directories go with all that is in them.
    tree: bool,
}

impl<'r> Copy<'r> {
    fn read(name: &'r str, words: &'r [Word]) -> Self {
        let short = match name {
            "rsync" => "efT",
            "install" | "ginstall" => "tmogS",
            "scp" => "ioPFJcl",
            _ => "tS",
        };
        let args = Args::read(words, short, COPY_VALUES);
        let moves = matches!(name, "mv" | "gmv") || args.long.contains(&"remove-source-files");
        let keeps = args.flags.contains(['n', 'u'])
            || args.has('n', "no-clobber")
            || args.has('u', "update")
            || name == "rsync";
        let tree = moves
            || name == "rsync"
            || args.flags.contains(['r', 'R', 'a'])
            || args.has('r', "recursive")
            || args.has('a', "archive");
        Self {
            name,
            args,
            installs: matches!(name, "install" | "ginstall"),
            keeps,
            moves,
            tree,
        }
    }

    fn sources_and_destination(&self) -> Option<(Vec<Word>, Word)> {
        let mut sources = self.args.operands.clone();
        let dest = match self.args.value(&["t", "target-directory"]) {
            Some(dir) => dir.clone(),
            None if self.name == "ln" && sources.len() == 1 => Word::new("."),
            None => sources.pop()?,
        };
        Some((sources, dest))
    }

    fn is_remote(&self, word: &Word) -> bool {
        matches!(self.name, "scp" | "rsync") && host_of(word.raw()).is_some()
    }

    fn reach(&self) -> Reach {
        if self.tree { Reach::Tree } else { Reach::File }
    }

    fn note_sources(&self, files: &mut Accesses<'_>, sources: &[Word]) {
        // Under another name it can be read by commands that no rule is about.
        if self.name == "ln" || self.moves {
            for source in sources.iter().filter(|source| !self.is_remote(source)) {
                files.also(Kind::Read, source.clone(), Reach::File, When::Perhaps);
            }
        }
        if self.name == "ln" {
            return;
        }
        let when = if self.keeps {
            When::Perhaps
        } else {
            When::There
        };
        for source in sources.iter().filter(|source| !self.is_remote(source)) {
            if self.moves {
                files.gone(source.clone(), Reach::Tree);
            } else {
                files.also(Kind::Read, source.clone(), self.reach(), when.clone());
            }
        }
    }

    fn note_destination(&self, files: &mut Accesses<'_>, sources: &[Word], dest: Word) {
        if self.installs && self.args.has('D', "") {
            files.above(&dest);
        }
        if self.args.flags.contains('b') || self.args.long.contains(&"backup") {
            let kept = Word::new(format!("{}~", dest.raw()));
            files.also(Kind::Write, kept, Reach::File, When::Perhaps);
        }
        if self.tree && self.args.has('T', "no-target-directory") {
            files.add(dest, Reach::Tree);
            return;
        }
        let (onto, inside) = if self.keeps {
            (When::Perhaps, When::Perhaps)
        } else {
            (When::Onto(dest.clone()), When::Into(dest.clone()))
        };
        // `rsync --delete` removes what the source does not have.
        let deletes = |long: &&str| long.starts_with("delete") || *long == "del";
        if self.name == "rsync" && self.args.long.iter().any(deletes) {
            files.push(Kind::Delete, dest.clone(), Reach::Perhaps, When::Perhaps);
        }
        let mut brings_contents = false;
        // What goes into a directory comes first: afterwards, the directory may be anything.
        for source in sources {
            let raw = source.raw();
            let contents = raw.ends_with("/.") || self.name == "rsync" && raw.ends_with('/');
            if contents && self.tree {
                brings_contents = true;
                continue;
            }
            let base = Word::new(raw.trim_end_matches('/')).file_name();
            // What a glob over another directory brings cannot be known.
            let base: String = base
                .raw()
                .chars()
                .map(|c| if is_mark(c) { HOLE } else { c })
                .collect();
            let path = Word::new(format!("{}/{base}", dest.raw()));
            files.push(Kind::Write, path, self.reach(), inside.clone());
        }
        let whole = if brings_contents && !self.keeps {
            Reach::File
        } else {
            self.reach()
        };
        files.push(Kind::Write, dest.clone(), whole, onto);
        if brings_contents {
            files.add(dest, Reach::Perhaps);
        }
    }
}

/// Options of these programs whose value is the next word.
const COPY_VALUES: &[&str] = &[
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

impl Accesses<'_> {
    pub(super) fn copy(&mut self, name: &str) {
        let copy = Copy::read(name, self.run.args());
        if copy.installs && copy.args.has('d', "directory") {
            self.make_all(&copy.args.operands, true);
            return;
        }
        if name == "rsync" && copy.args.has('n', "dry-run") {
            return;
        }
        let Some((sources, dest)) = copy.sources_and_destination() else {
            return;
        };
        copy.note_sources(self, &sources);
        // Both are refused: `cp -R "$1" "$2"` without arguments.
        if !dest.raw().is_empty() && !copy.is_remote(&dest) {
            copy.note_destination(self, &sources, dest);
        }
    }

    /// The directories above a file, which are made if they are missing.
    fn above(&mut self, path: &Word) {
        let mut path = path.raw();
        let mut above = Vec::new();
        while let Some((parent, _)) = path.rsplit_once('/').filter(|(above, _)| !above.is_empty()) {
            above.push(Word::new(parent));
            path = parent;
        }
        for parent in above.into_iter().rev() {
            self.also(Kind::Make, parent, Reach::File, When::Missing);
        }
    }

    pub(super) fn patch(&mut self) {
        let args = Args::read(
            self.run.args(),
            "pidoDFrBYzV",
            &["strip", "input", "directory", "output"],
        );
        if args.long.contains(&"dry-run") {
            return;
        }
        self.reads(args.value(&["i", "input"]).cloned());
        self.reads(args.operands.get(1).cloned());
        if let Some(output) = args.value(&["o", "output"]) {
            self.reads(args.operands.first().cloned());
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
    pub(super) fn apply_patch(&mut self) {
        let texts = self.run.input.iter().chain(self.run.args()).map(Word::raw);
        let headers = texts.flat_map(str::lines).filter_map(|line| {
            let (verb, path) = line.trim().strip_prefix("*** ")?.split_once(": ")?;
            Some((verb, Word::new(path.trim())))
        });
        let headers: Vec<(&str, Word)> = headers.collect();
        let before = self.list.len();
        for (verb, path) in headers {
            match verb {
                "Add File" | "Update File" | "Move to" => self.file(path),
                "Delete File" => self.gone(path, Reach::File),
                _ => {}
            }
        }
        if self.list.len() == before {
            self.add(Word::new("."), Reach::Perhaps);
        }
    }

    /// The files that a patch on standard input names.
    pub(super) fn patched(&mut self, strip: usize, dir: Option<&Word>) {
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
            let file = Word::new(match dir {
                Some(dir) => format!("{}/{rest}", dir.raw()),
                None => rest,
            });
            self.also(Kind::Read, file.clone(), Reach::File, When::Perhaps);
            self.push(Kind::Write, file, Reach::File, When::Perhaps);
        }
        if !named {
            let dir = dir.cloned().unwrap_or_else(|| Word::new("."));
            self.also(Kind::Read, dir.clone(), Reach::Perhaps, When::Perhaps);
            self.add(dir, Reach::Perhaps);
        }
    }

    pub(super) fn tar(&mut self) {
        let words = self.run.args();
        // The first word may be a cluster without its dash.
        let first = words.first().map(Word::raw).unwrap_or_default();
        let bare = !first.starts_with('-') && !first.is_empty();
        let args = Args::read(
            words,
            "fCTXIgb",
            &["file", "directory", "exclude", "files-from"],
        );
        let says =
            |letter: char, long: &str| bare && first.contains(letter) || args.has(letter, long);
        let extracts = says('x', "extract") || args.long.contains(&"get");
        let dir = args.value(&["C", "directory"]).cloned();
        let here = dir.clone().unwrap_or_else(|| Word::new("."));
        // After a bare cluster the archive is the next word.
        let joined = bare && first.contains('f');
        let given = args.value(&["f", "file"]).cloned();
        let archive = given.or_else(|| args.operands.get(1).filter(|_| joined).cloned());
        let skip = usize::from(bare) + usize::from(joined);
        let members = args.operands.iter().skip(skip).map(|member| match &dir {
            Some(dir) if !member.starts_with("/") => {
                Word::new(format!("{}/{}", dir.raw(), member.raw()))
            }
            Some(_) | None => member.clone(),
        });
        let members: Vec<Word> = members.collect();
        if says('c', "create") || says('r', "append") || says('u', "update") {
            for member in members {
                self.also(Kind::Read, member, Reach::Tree, When::There);
            }
            self.files(archive);
            return;
        }
        self.reads(archive);
        if !extracts || args.has('O', "to-stdout") {
            return;
        }
        if members.is_empty() {
            self.add(here, Reach::Perhaps);
        }
        // How a member is named in the archive, and how much of that is stripped, is not known.
        let strips = args.long.iter().any(|long| long.starts_with("strip"))
            || args.value(&["strip-components", "strip"]).is_some();
        let when = if strips { When::Perhaps } else { When::Always };
        for member in members {
            self.push(Kind::Write, member, Reach::Tree, when.clone());
        }
    }

    pub(super) fn unpack(&mut self, name: &str) {
        let args = Args::read(self.run.args(), "dxPOIFp", &[]);
        let (reads, archive) = match name {
            "unzip" => {
                let lists =
                    args.flags.contains(['l', 't', 'Z', 'v', 'c']) || args.value(&["p"]).is_some();
                (lists, args.operands.first())
            }
            "cpio" => (!args.flags.contains('i'), args.value(&["I", "F"])),
            _ => {
                let verb = args.operands.first().map(Word::raw);
                (!matches!(verb, Some("x" | "e")), args.operands.get(1))
            }
        };
        self.reads(archive.cloned());
        if name == "cpio"
            && let Some(dir) = args.value(&["p"])
        {
            self.add(dir.clone(), Reach::Perhaps);
        }
        if !reads {
            let dir = args
                .value(&["d"])
                .cloned()
                .unwrap_or_else(|| Word::new("."));
            self.add(dir, Reach::Perhaps);
        }
    }

    /// `zip -r archive files`
    pub(super) fn zip(&mut self) {
        let args = Args::read(self.run.args(), "xibnt", &["exclude", "include"]);
        let Some((archive, members)) = args.operands.split_first() else {
            return;
        };
        let reach = if args.has('r', "recurse-paths") {
            Reach::Tree
        } else {
            Reach::File
        };
        for member in members {
            if args.has('m', "move") {
                self.gone(member.clone(), reach);
            }
            if !args.has('d', "delete") {
                self.also(Kind::Read, member.clone(), reach, When::There);
            }
        }
        let named = archive.file_name().raw().contains('.') || archive.literal().is_none();
        let archive = if named {
            archive.clone()
        } else {
            Word::new(format!("{}.zip", archive.raw()))
        };
        self.file(archive);
    }

    /// `split -l 10 file prefix`
    pub(super) fn split(&mut self, name: &str) {
        let splits = name == "split";
        let short = if splits { "abClnt" } else { "bfn" };
        let long = [
            "lines",
            "bytes",
            "suffix-length",
            "prefix",
            "number",
            "digits",
        ];
        let args = Args::read(self.run.args(), short, &long);
        self.reads(args.operands.first().cloned());
        let prefix = if splits {
            args.operands.get(1).map_or("x", Word::raw)
        } else {
            args.value(&["f", "prefix"]).map_or("xx", Word::raw)
        };
        let parts = Word::new(format!("{prefix}{STAR}"));
        self.push(Kind::Write, parts, Reach::File, When::Always);
    }
}
