//! What a git command does to `HEAD`: `checkout`, `switch`, `branch -m`, `symbolic-ref` …

use crate::args::Args;
use crate::git_call::GitCall;
use crate::word::{Word, has};
use crate::world::{Files, Head, RepositoryPaths};

/// The change a command makes to the branch that is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// `HEAD` is elsewhere afterwards.
    To(Head),
    /// The first branch is a name of the second one from now on.
    Links(String, String),
    /// The command would be refused.
    Fails,
    /// `HEAD` stays where it is, or it is unknown.
    Stays,
}

/// The branches of a work tree: what must be known to tell one from a path.
pub(super) struct Branches<'a> {
    pub(super) files: &'a dyn Files,
    pub(super) repository: Option<&'a RepositoryPaths>,
    /// Branches made earlier in the same command line.
    pub(super) made: &'a [String],
    /// What this command line had checked out before, the latest last.
    pub(super) previous: &'a [String],
    pub(super) head: &'a Head,
}

impl Branches<'_> {
    pub(super) fn exists(&self, name: &str) -> bool {
        let branch = format!("refs/heads/{name}");
        let has = |repository| self.files.has_reference(repository, &branch);
        self.made.iter().any(|made| made == name) || self.repository.is_none_or(has)
    }

    /// What was checked out `back` switches ago.
    fn previous(&self, back: usize) -> Option<String> {
        if let Some(at) = self.previous.len().checked_sub(back) {
            return self.previous.get(at).cloned();
        }
        let back = back - self.previous.len();
        self.files.previous_branch(self.repository?, back)
    }
}

/// Options of `checkout`, `switch` and `worktree add` whose value is the next word.
const VALUED: [&str; 5] = ["orphan", "create", "force-create", "conflict", "reason"];

/// The words of `checkout`, `switch` or `worktree add`, whose letters `creators` make a branch.
fn options<'w>(args: &'w [Word], creators: &str) -> Args<'w> {
    Args::read(args, creators, &VALUED)
}

/// The branch that they make.
fn create<'a>(options: &'a Args<'_>) -> Option<&'a Word> {
    options.value(&["b", "B", "c", "C", "orphan", "create", "force-create"])
}

fn created(name: &Word, options: &Args<'_>, branches: &Branches<'_>) -> Move {
    // A new branch, whatever it is called.
    let Some(name) = name.literal() else {
        return Move::To(Head::Branch(name.display()));
    };
    let force = options.value(&["B", "C", "force-create"]).is_some();
    if branches.repository.is_some() && branches.exists(name) && !force {
        Move::Fails
    } else {
        Move::To(Head::Branch(name.to_owned()))
    }
}

/// The change one git command makes.
pub(super) fn movement(subcommand: &str, call: &GitCall, branches: &Branches<'_>) -> Move {
    match subcommand {
        "checkout" | "switch" => checkout(subcommand == "switch", &call.args, branches),
        "branch" => rename(&call.args, branches),
        "symbolic-ref" => symbolic_ref(&call.args),
        "rebase" => rebase(&call.args),
        "stash" => match (call.args.first().map(Word::raw), call.args.get(1)) {
            (Some("branch"), Some(name)) => to_branch(name),
            _ => Move::Stays,
        },
        _ => Move::Stays,
    }
}

fn to_branch(name: &Word) -> Move {
    name.literal()
        .map_or(Move::Stays, |name| Move::To(Head::Branch(name.to_owned())))
}

fn checkout(switch: bool, args: &[Word], branches: &Branches<'_>) -> Move {
    let options = options(args, if switch { "cC" } else { "bB" });
    if let Some(name) = create(&options) {
        return created(name, &options, branches);
    }
    let paths = args.iter().position(|word| word.raw() == "--");
    let paths = paths.is_some_and(|at| at + 1 < args.len());
    let parts = ["patch", "ours", "theirs", "pathspec-from-file"];
    let patch = options.flags.contains('p')
        || options.value(&parts).is_some()
        || parts.iter().any(|long| options.long.contains(long));
    if patch || paths || options.operands.len() > 1 {
        return Move::Stays;
    }
    if options.has('d', "detach") {
        return Move::To(Head::Detached);
    }
    let target = match options.operands.first() {
        // Some branch, whatever it is called; `checkout` may mean a file.
        Some(word) if switch && word.has_holes() => {
            return Move::To(Head::Branch(word.display()));
        }
        target => target.and_then(Word::literal),
    };
    let Some(target) = target else {
        return Move::Stays;
    };
    if (options.has('t', "track") || options.value(&["track"]).is_some())
        && let Some((_, name)) = target.split_once('/')
    {
        return Move::To(Head::Branch(name.to_owned()));
    }
    if let Some(back) = steps_back(target) {
        return match branches.previous(back) {
            Some(name) if branches.exists(&name) => Move::To(Head::Branch(name)),
            Some(_) => Move::To(Head::Detached),
            None => Move::Fails,
        };
    }
    if matches!(target, "HEAD" | "@" | ".") {
        return Move::Stays;
    }
    let branch = || Move::To(Head::Branch(target.to_owned()));
    if branches.exists(target) {
        let here = branches.head.branch() == Some(target);
        let elsewhere = branches
            .repository
            .is_some_and(|repository| branches.files.is_elsewhere(repository, target));
        return if elsewhere && !here && !options.long.contains(&"ignore-other-worktrees") {
            Move::Fails
        } else {
            branch()
        };
    }
    let Some(repository) = branches.repository else {
        return branch();
    };
    if branches.files.has_remote_branch(repository, target) {
        return branch();
    }
    let commit = target.contains(['~', '^', '@'])
        || target.starts_with("refs/")
        || branches
            .made
            .iter()
            .any(|made| made.strip_prefix("refs/tags/") == Some(target))
        || target.len() >= 7 && target.bytes().all(|byte| byte.is_ascii_hexdigit())
        || branches
            .files
            .has_reference(repository, &format!("refs/tags/{target}"))
        || target
            .split_once('/')
            .is_some_and(|(_, name)| branches.files.has_remote_branch(repository, name));
    if commit && !switch {
        Move::To(Head::Detached)
    } else {
        Move::Fails
    }
}

/// How many switches back `-` and `@{-2}` lead.
fn steps_back(target: &str) -> Option<usize> {
    if target == "-" {
        return Some(1);
    }
    let number = target.strip_prefix("@{-")?.strip_suffix('}')?;
    number.parse().ok().filter(|back| *back > 0)
}

/// `git branch -m new`, `git branch -M old new`.
fn rename(args: &[Word], branches: &Branches<'_>) -> Move {
    let renames = args
        .iter()
        .any(|word| matches!(word.raw(), "-m" | "-M" | "--move" | "-fm" | "-mf"));
    if !renames {
        return Move::Stays;
    }
    let names: Vec<&Word> = args.iter().filter(|word| !word.starts_with("-")).collect();
    match names.as_slice() {
        [new] => to_branch(new),
        [old, new] if old.literal() == branches.head.branch() => to_branch(new),
        _ => Move::Stays,
    }
}

fn branch_of(reference: &str) -> Option<String> {
    reference.strip_prefix("refs/heads/").map(str::to_owned)
}

fn symbolic_ref(args: &[Word]) -> Move {
    let mut reason = false;
    let mut operands = args.iter().filter(|word| {
        let value = std::mem::replace(&mut reason, word.raw() == "-m");
        !value && !word.starts_with("-")
    });
    match (
        operands.next().map(Word::raw),
        operands.next().and_then(Word::literal),
    ) {
        (Some("HEAD"), Some(target)) => match target.strip_prefix("refs/heads/") {
            Some(name) => Move::To(Head::Branch(name.to_owned())),
            None => Move::To(Head::Detached),
        },
        (Some(link), Some(target)) => match (branch_of(link), branch_of(target)) {
            (Some(link), Some(target)) => Move::Links(link, target),
            _ => Move::Stays,
        },
        _ => Move::Stays,
    }
}

/// `git rebase upstream branch` checks the branch out first.
fn rebase(args: &[Word]) -> Move {
    let mut operands = Vec::new();
    let mut root = false;
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.raw() {
            "--continue" | "--skip" | "--abort" | "--quit" | "--edit-todo" => return Move::Stays,
            "--root" => root = true,
            "--onto" | "-s" | "--strategy" | "-X" | "--strategy-option" | "-x" | "--exec"
            | "-C" | "--whitespace" | "--empty" => {
                words.next();
            }
            text if text.starts_with('-') => {}
            _ => operands.push(word),
        }
    }
    match (root, operands.as_slice()) {
        (false, [_, branch]) | (true, [branch]) => to_branch(branch),
        _ => Move::Stays,
    }
}

/// The branches that `git branch`, `git checkout -b` and the like would make.
pub(super) fn made_branch(subcommand: &str, args: &[Word]) -> Option<String> {
    let word = match subcommand {
        "checkout" | "switch" => {
            let creators = if subcommand == "switch" { "cC" } else { "bB" };
            let options = options(args, creators);
            return create(&options)?.literal().map(str::to_owned);
        }
        // A copy, or another name.
        "branch"
            if args
                .iter()
                .any(|word| has("-c -C -m -M --copy --move", word.raw())) =>
        {
            args.iter().rfind(|word| !word.starts_with("-"))
        }
        "branch" => {
            let plain = args.iter().all(|word| {
                !word.starts_with("-")
                    || matches!(
                        word.raw(),
                        "-f" | "-q" | "-t" | "--force" | "--track" | "--no-track"
                    )
            });
            args.iter().find(|word| plain && !word.starts_with("-"))
        }
        "stash" if args.first().map(Word::raw) == Some("branch") => args.get(1),
        "tag" => {
            let name = args.iter().find(|word| !word.starts_with("-"))?.literal()?;
            return Some(format!("refs/tags/{name}"));
        }
        _ => None,
    };
    word?.literal().map(str::to_owned)
}

/// The path and branch of `git worktree add`.
pub(super) fn new_worktree(args: &[Word]) -> Option<(&Word, Head)> {
    let (verb, args) = args.split_first()?;
    if verb.raw() != "add" {
        return None;
    }
    let options = options(args, "bB");
    let path = options.operands.first()?.clone();
    // The word itself, which lives as long as the call.
    let path = args.iter().find(|word| **word == path)?;
    let second = options.operands.get(1);
    let head = match create(&options).or(second) {
        _ if options.has('d', "detach") => Head::Detached,
        Some(name) => Head::Branch(name.display()),
        None => {
            let name = path.raw().trim_end_matches('/').rsplit('/').next();
            Head::Branch(Word::new(name.unwrap_or_default()).display())
        }
    };
    Some((path, head))
}
