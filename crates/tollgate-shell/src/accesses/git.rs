//! Which files of the work tree a `git` command reads, changes and removes. What it does below
//! `.git` does not count.

use super::{Accesses, Kind, Reach, When};
use crate::args::Args;
use crate::git_call::GitCall;
use crate::path::any_depth;
use crate::run::Run;
use crate::word::{DEEP, EXCEPT, Word, has};

/// Subcommands that bring files from other commits, whichever these are.
const BRINGS: &str = "switch merge pull rebase cherry-pick revert bisect stash am submodule";

/// One `git` call, with its words as options and operands.
struct Git<'c> {
    name: &'c str,
    call: &'c GitCall,
    args: Args<'c>,
    /// What follows `--`, which are paths.
    spelled: Option<&'c [Word]>,
}

impl Git<'_> {
    /// A path, which is relative to the directory after `-C`.
    fn place(&self, word: &Word) -> Word {
        match &self.call.dir {
            Some(dir) if !word.starts_with("/") => Word::new(format!("{dir}/{}", word.raw())),
            Some(_) | None => word.clone(),
        }
    }

    /// The paths: without `--` they are operands after the first few.
    fn paths(&self, first: usize) -> &[Word] {
        match self.spelled {
            Some(paths) => paths,
            None => self.args.operands.get(first..).unwrap_or_default(),
        }
    }

    fn says(&self, names: &[&str]) -> bool {
        self.args.long.iter().any(|long| names.contains(long))
    }

    fn dry(&self) -> bool {
        self.args.has('n', "dry-run")
    }

    /// Whether it begins a branch where it is, which leaves the files alone.
    fn makes_branch(&self) -> bool {
        let named = ["b", "B", "c", "C", "create", "force-create"];
        let discards = self.args.has('f', "force") || self.says(&["discard-changes"]);
        self.args.value(&named).is_some() && self.args.operands.is_empty() && !discards
    }

    fn everything(&self) -> Word {
        self.place(&Word::new("."))
    }
}

/// What one `git` call does with files.
pub(super) fn git(accesses: &mut Accesses<'_>) {
    let Some(call) = GitCall::read(accesses.run) else {
        return;
    };
    let Some(name) = call.subcommand.as_ref().and_then(Word::literal) else {
        return;
    };
    // Each verb has its own letters: `git switch -m` merges, `git commit -m` takes a message.
    let short = if name == "switch" { "cC" } else { "bBscmp" };
    let long = [
        "source",
        "pathspec-from-file",
        "message",
        "create",
        "force-create",
    ];
    let spelled = call.args.iter().position(|word| word.raw() == "--");
    let git = Git {
        name,
        call: &call,
        args: Args::read(&call.args, short, &long),
        spelled: spelled.map(|at| call.args.get(at + 1..).unwrap_or_default()),
    };
    changed(accesses, &git);
    brought(accesses, &git);
    read(accesses, &git);
}

/// The directory in which a `git` command removes the files that git ignores, unless `kept` is
/// excepted: `git clean -fx`, `git stash --all`.
pub(crate) fn removes_ignored(run: &Run, kept: &str) -> Option<String> {
    let call = GitCall::read(run)?;
    let args = Args::read(
        &call.args,
        "em",
        &["exclude", "message", "pathspec-from-file"],
    );
    let is_kept = |(_, value): &(_, Word)| value.raw().trim_matches('/').ends_with(kept);
    let removes = match call.subcommand.as_ref()?.literal()? {
        "clean" => {
            let is_forced = args.has('f', "force") && !args.has('n', "dry-run");
            let only_others = args
                .operands
                .iter()
                .any(|path| !matches!(path.raw(), "." | "./" | ":/"));
            is_forced
                && (args.has('x', "") || args.has('X', ""))
                && !only_others
                && !args.values.iter().any(is_kept)
        }
        "stash" => {
            let is_push = matches!(
                args.operands.first().map(Word::raw),
                None | Some("push" | "save")
            );
            is_push && args.has('a', "all")
        }
        _ => false,
    };
    call.dir.filter(|_| removes)
}

/// Files that are named, one way or another.
fn changed(accesses: &mut Accesses<'_>, git: &Git<'_>) {
    let args = &git.args;
    match git.name {
        "checkout" => pathspecs(accesses, git, git.paths(0)),
        "checkout-index" | "read-tree" => pathspecs(accesses, git, &args.operands),
        "restore" if !args.has('S', "staged") || args.has('W', "worktree") => {
            pathspecs(accesses, git, &args.operands);
        }
        "rm" if !git.says(&["cached"]) && !git.dry() => {
            for path in &args.operands {
                accesses.gone(git.place(path), Reach::Tree);
            }
        }
        "mv" if !git.dry() => moved(accesses, git),
        "clean" if args.has('f', "force") && !git.dry() => {
            let args = Args::read(&git.call.args, "e", &["exclude"]);
            let mut all = git.everything().raw().to_owned();
            for (_, kept) in &args.values {
                all.push(EXCEPT);
                all.push_str(&any_depth(kept.raw()));
                all.push(DEEP);
            }
            let delete = |accesses: &mut Accesses<'_>, path| {
                accesses.push(Kind::Delete, path, Reach::Perhaps, When::Perhaps);
            };
            if args.operands.is_empty() {
                delete(accesses, Word::new(all));
            }
            for path in &args.operands {
                if matches!(path.raw(), "." | "./" | "*") {
                    delete(accesses, git.place(path));
                } else {
                    accesses.push(Kind::Delete, git.place(path), Reach::Tree, When::Perhaps);
                }
            }
        }
        "stash" if matches!(args.operands.first().map(Word::raw), Some("push" | "save")) => {
            pathspecs(accesses, git, git.paths(1));
        }
        "apply" | "am" if !git.says(&["check", "stat", "numstat", "summary", "cached"]) => {
            accesses.reads(args.operands.iter().map(|path| git.place(path)));
            accesses.patched(1, git.call.dir.as_deref().map(Word::new).as_ref());
        }
        "archive" | "diff" | "log" | "show" | "format-patch" => {
            let args = Args::read(&git.call.args, "o", &["output", "output-directory"]);
            let output = args.value(&["o", "output", "output-directory"]);
            let output = output.map(|path| git.place(path));
            match output {
                Some(dir) if git.name == "format-patch" => accesses.add(dir, Reach::Perhaps),
                Some(file) => accesses.file(file),
                None if git.name == "format-patch" && !git.says(&["stdout"]) => {
                    accesses.also(Kind::Write, git.everything(), Reach::Perhaps, When::Always);
                }
                None => {}
            }
        }
        "bundle" => {
            if let [verb, file, ..] = args.operands.as_slice()
                && verb.raw() == "create"
            {
                accesses.also(Kind::Write, git.place(file), Reach::File, When::Always);
            }
        }
        _ => {}
    }
}

fn moved(accesses: &mut Accesses<'_>, git: &Git<'_>) {
    let [sources @ .., dest] = git.args.operands.as_slice() else {
        return;
    };
    let dest = git.place(dest);
    for source in sources {
        accesses.gone(git.place(source), Reach::Tree);
    }
    for source in sources {
        let name = Word::new(source.raw().trim_end_matches('/')).file_name();
        let inside = Word::new(format!("{}/{}", dest.raw(), name.raw()));
        accesses.push(Kind::Write, inside, Reach::Tree, When::Into(dest.clone()));
    }
    let onto = When::Onto(dest.clone());
    accesses.push(Kind::Write, dest, Reach::Tree, onto);
}

/// Files that come from other commits: anywhere in the work tree.
fn brought(accesses: &mut Accesses<'_>, git: &Git<'_>) {
    let args = &git.args;
    let second = |at: usize| args.operands.get(at).map(|path| git.place(path));
    let made = match git.name {
        "clone" | "init" => git.call.new_repository().map(|path| git.place(&path)),
        "worktree" => match args.operands.first().map(Word::raw) {
            Some("add") => second(1),
            Some("remove") => {
                let path = second(1).unwrap_or_default();
                accesses.also(Kind::Delete, path, Reach::Tree, When::There);
                None
            }
            Some(_) | None => None,
        },
        _ => None,
    };
    if let Some(path) = made {
        accesses.also(Kind::Make, path.clone(), Reach::File, When::Missing);
        accesses.also(Kind::Write, path, Reach::Perhaps, When::Perhaps);
        return;
    }
    let shows = match (git.name, args.operands.first().map(Word::raw)) {
        ("stash", Some(verb)) => has("list show drop create clear", verb),
        ("submodule", verb) => !verb.is_some_and(|verb| has("update add foreach deinit", verb)),
        ("bisect", Some(verb)) => has("log view visualize terms", verb),
        ("checkout" | "switch", _) => git.makes_branch(),
        _ => false,
    };
    let switches = git.name == "checkout" && git.spelled.is_none();
    let resets = git.name == "reset" && git.says(&["hard", "merge", "keep"]);
    if !shows && (switches || resets || has(BRINGS, git.name)) {
        let top = Word::new(accesses.work_tree.unwrap_or(git.everything().raw()));
        accesses.also(Kind::Write, top.clone(), Reach::Perhaps, When::Perhaps);
        accesses.also(Kind::Delete, top, Reach::Perhaps, When::Perhaps);
    }
}

/// Files whose contents it shows or keeps, from the work tree or another commit.
fn read(accesses: &mut Accesses<'_>, git: &Git<'_>) {
    let args = &git.args;
    let mut reads = |path: &Word| {
        accesses.also(Kind::Read, git.place(path), Reach::Tree, When::Perhaps);
    };
    match git.name {
        // `git show HEAD:path`
        "show" | "cat-file" => {
            for word in args
                .operands
                .iter()
                .chain(args.values.iter().map(|(_, value)| value))
            {
                if let Some((_, path)) = word.raw().split_once(':') {
                    reads(&Word::new(path));
                }
            }
        }
        "add" | "stage" | "blame" | "annotate" | "hash-object" => {
            for path in args
                .operands
                .iter()
                .filter(|path| !matches!(path.raw(), "." | "-A"))
            {
                reads(path);
            }
        }
        "diff" | "log" | "grep" | "difftool" => {
            for path in git.spelled.unwrap_or_default() {
                reads(path);
            }
        }
        _ => {}
    }
}

/// The whole tree is too much to say: whether the file is tracked is not known here. A file that
/// did not change is left alone.
fn pathspecs(accesses: &mut Accesses<'_>, git: &Git<'_>, paths: &[Word]) {
    for path in paths {
        let raw = path
            .raw()
            .trim_start_matches(":(top)")
            .trim_start_matches(":/");
        let all = matches!(raw, "." | "" | "./" | "*");
        let reach = if all { Reach::Perhaps } else { Reach::Tree };
        let when = match git.spelled {
            None if git.name == "checkout" => When::IsPath,
            Some(_) | None => When::Perhaps,
        };
        accesses.push(Kind::Write, git.place(&Word::new(raw)), reach, when);
    }
}
