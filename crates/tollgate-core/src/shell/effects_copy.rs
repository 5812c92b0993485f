//! Files that are brought from elsewhere: copied, moved, linked, patched, unpacked.

use super::effects::{Args, Effect, Effects, Reach};
use super::syntax::HOLE;
use super::word::{Word, is_mark};

impl Effects<'_> {
    pub(crate) fn copy(&mut self, name: &str) {
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
                self.list.push(Effect {
                    path: dest.clone(),
                    reach: Reach::Perhaps,
                    from: Some(source.clone()),
                });
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

    pub(crate) fn patch(&mut self) {
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
    pub(crate) fn apply_patch(&mut self) {
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

    pub(crate) fn tar(&mut self) {
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

    pub(crate) fn unpack(&mut self, name: &str) {
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
