//! What a git command does to `HEAD`: `checkout`, `switch`, `branch -m`, `symbolic-ref` …

use super::{GitCall, Head, Repository};
use crate::shell::Word;

/// The change a command makes to the branch that is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// `HEAD` is elsewhere afterwards.
    To(Head),
    /// The command would be refused.
    Fails,
    /// `HEAD` stays where it is, or nobody can tell.
    Stays,
}

/// What must be known to tell a branch from a path.
pub(crate) struct Ground<'a> {
    pub(crate) repository: Option<&'a Repository>,
    /// Branches made earlier in the same command line.
    pub(crate) made: &'a [String],
    /// The branch checked out before the current one, when this command line changed it.
    pub(crate) previous: Option<&'a str>,
    pub(crate) head: &'a Head,
}

impl Ground<'_> {
    pub(crate) fn exists(&self, name: &str) -> bool {
        self.made.iter().any(|made| made == name)
            || self
                .repository
                .is_none_or(|repository| repository.branch_exists(name))
    }
}

/// The options of `checkout`, `switch` and `worktree add` that matter here.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they mirror git's own independent flags"
)]
struct Options<'w> {
    create: Option<&'w Word>,
    force: bool,
    detach: bool,
    track: bool,
    shared: bool,
    patch: bool,
    operands: Vec<&'w Word>,
    paths: bool,
}

fn options<'w>(args: &'w [Word], creators: &str) -> Options<'w> {
    let mut found = Options::default();
    let mut at = 0;
    while let Some(word) = args.get(at) {
        at += 1;
        let text = word.raw();
        if text == "--" {
            found.paths = at < args.len();
            break;
        }
        if let Some(long) = text.strip_prefix("--") {
            match long.split_once('=').map_or(long, |(name, _)| name) {
                "orphan" | "create" | "force-create" => {
                    found.force |= long == "force-create";
                    found.create = args.get(at);
                    at += 1;
                }
                "detach" => found.detach = true,
                "track" => found.track = true,
                "ignore-other-worktrees" => found.shared = true,
                "patch" | "ours" | "theirs" | "pathspec-from-file" => found.patch = true,
                "conflict" | "recurse-submodules" | "reason" if !long.contains('=') => {
                    at += usize::from(long != "recurse-submodules");
                }
                _ => {}
            }
            continue;
        }
        match text.strip_prefix('-').filter(|cluster| !cluster.is_empty()) {
            Some(cluster) => {
                let Some(index) = cluster.find(|letter| creators.contains(letter)) else {
                    found.detach |= cluster.contains('d');
                    found.track |= cluster.contains('t');
                    found.patch |= cluster.contains('p');
                    continue;
                };
                let (_, tail) = cluster.split_at(index);
                found.force |= tail.starts_with(['B', 'C']);
                // A joined name (`-bx`) is rare enough to be looked at as a word of its own.
                found.create = if tail.len() == 1 {
                    args.get(at)
                } else {
                    Some(word)
                };
                at += 1;
            }
            None => found.operands.push(word),
        }
    }
    found
}

fn created(options: &Options<'_>, ground: &Ground<'_>) -> Option<Move> {
    let word = options.create?;
    let text = word.literal()?;
    let name = match text.strip_prefix('-') {
        Some(joined) => joined.trim_start_matches(['q', 'f', 'b', 'B', 'c', 'C']),
        None => text,
    };
    let taken = ground.repository.is_some() && ground.exists(name);
    Some(if taken && !options.force {
        Move::Fails
    } else {
        Move::To(Head::Branch(name.to_owned()))
    })
}

/// The change one git command makes.
pub(crate) fn movement(subcommand: &str, call: &GitCall, ground: &Ground<'_>) -> Move {
    match subcommand {
        "checkout" | "switch" => checkout(subcommand == "switch", &call.args, ground),
        "branch" => rename(&call.args, ground),
        "symbolic-ref" => symbolic_ref(&call.args),
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

fn checkout(switch: bool, args: &[Word], ground: &Ground<'_>) -> Move {
    let options = options(args, if switch { "cC" } else { "bB" });
    if options.create.is_some() {
        return created(&options, ground).unwrap_or(Move::Stays);
    }
    if options.patch || options.paths || options.operands.len() > 1 {
        return Move::Stays;
    }
    if options.detach {
        return Move::To(Head::Detached);
    }
    let Some(target) = options.operands.first().and_then(|word| word.literal()) else {
        return Move::Stays;
    };
    if options.track
        && let Some((_, name)) = target.split_once('/')
    {
        return Move::To(Head::Branch(name.to_owned()));
    }
    if matches!(target, "-" | "@{-1}") {
        let previous = match ground.previous {
            Some(previous) => Some(previous.to_owned()),
            None => ground.repository.and_then(Repository::previous_branch),
        };
        return match previous {
            Some(name) if ground.exists(&name) => Move::To(Head::Branch(name)),
            Some(_) => Move::To(Head::Detached),
            None => Move::Fails,
        };
    }
    if matches!(target, "HEAD" | "@" | ".") {
        return Move::Stays;
    }
    let branch = || Move::To(Head::Branch(target.to_owned()));
    if ground.exists(target) {
        let here = ground.head.branch() == Some(target);
        let elsewhere = ground
            .repository
            .is_some_and(|repository| repository.checked_out_elsewhere(target));
        return if elsewhere && !here && !options.shared {
            Move::Fails
        } else {
            branch()
        };
    }
    let Some(repository) = ground.repository else {
        return branch();
    };
    if repository.remote_branch_exists(target) {
        return branch();
    }
    let commit = target.contains(['~', '^', '@'])
        || target.starts_with("refs/")
        || ground
            .made
            .iter()
            .any(|made| made.strip_prefix("refs/tags/") == Some(target))
        || target.len() >= 7 && target.bytes().all(|byte| byte.is_ascii_hexdigit())
        || repository.tag_exists(target)
        || target
            .split_once('/')
            .is_some_and(|(_, name)| repository.remote_branch_exists(name));
    if commit && !switch {
        Move::To(Head::Detached)
    } else {
        Move::Fails
    }
}

/// `git branch -m new`, `git branch -M old new`.
fn rename(args: &[Word], ground: &Ground<'_>) -> Move {
    let renames = args
        .iter()
        .any(|word| matches!(word.raw(), "-m" | "-M" | "--move" | "-fm" | "-mf"));
    if !renames {
        return Move::Stays;
    }
    let names: Vec<&Word> = args.iter().filter(|word| !word.starts_with("-")).collect();
    match names.as_slice() {
        [new] => to_branch(new),
        [old, new] if old.literal() == ground.head.branch() => to_branch(new),
        _ => Move::Stays,
    }
}

fn symbolic_ref(args: &[Word]) -> Move {
    let mut operands = args.iter().filter(|word| !word.starts_with("-"));
    match (
        operands.next().map(Word::raw),
        operands.next().and_then(Word::literal),
    ) {
        (Some("HEAD"), Some(target)) => match target.strip_prefix("refs/heads/") {
            Some(name) => Move::To(Head::Branch(name.to_owned())),
            None => Move::To(Head::Detached),
        },
        _ => Move::Stays,
    }
}

/// The branches that `git branch`, `git checkout -b` and the like would make.
pub(crate) fn made_branch(subcommand: &str, args: &[Word]) -> Option<String> {
    let word = match subcommand {
        "checkout" => options(args, "bB").create,
        "switch" => options(args, "cC").create,
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
pub(crate) fn new_worktree(args: &[Word]) -> Option<(String, Head)> {
    if args.first()?.raw() != "add" {
        return None;
    }
    let options = options(args.get(1..)?, "bB");
    let path = options.operands.first()?.literal()?;
    let named = options.create.or_else(|| options.operands.get(1).copied());
    let head = match named {
        _ if options.detach => Head::Detached,
        Some(name) => Head::Branch(name.literal()?.to_owned()),
        None => {
            let name = path
                .trim_end_matches('/')
                .rsplit('/')
                .next()
                .unwrap_or_default();
            Head::Branch(name.to_owned())
        }
    };
    Some((path.to_owned(), head))
}
