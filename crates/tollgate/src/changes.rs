//! What changed on a branch, for the guards that must know: the only fact of an event for
//! which a process is started, and only at a gate.
//!
//! Git has a few seconds in all: an agent waits for the answer.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use tollgate_core::context::{AskWork, Sources};
use tollgate_core::git::LastSeen;
use tollgate_core::project::Layout;

use crate::deadline::left;
use crate::gate::snapshot::{Snapshot, Taken};
use crate::git::{Asked, Git, GitError};

/// How long all of it may take where no tool event waits for it.
const DEADLINE: Duration = Duration::from_secs(5);

/// Whom every event that is decided may ask.
pub(crate) const SOURCES: Sources = Sources {
    git: None,
    merged: Some(is_merged),
    changes: Some(since),
    work: None,
    config: Some(crate::config::compiled::fresh),
    settings: Some(crate::agents::unregister_check::ASK),
    explained: Some(is_explained),
    program: Some(crate::environment::program),
    open_findings: Some(crate::gate::record::has_open_findings),
};

/// Whether git made a file what it is: it is as the commit that is checked out has it, or that commit
/// does not have it while another has, and what was done last is no commit, which anybody makes of
/// anything.
fn is_explained(file: &Path) -> bool {
    let asked = || -> Result<bool, GitError> {
        let (Some(directory), Some(name)) =
            (file.parent(), file.file_name().and_then(OsStr::to_str))
        else {
            return Ok(false);
        };
        let above = directory.ancestors().find(|above| above.is_dir());
        let git = Git::at(above.unwrap_or(directory))?.wary(DEADLINE);
        let path = directory.join(name);
        let path = path.to_str().unwrap_or_default();
        let last = git
            .ask(["log", "-g", "-1", "--format=%gs", "HEAD"])
            .line()?;
        if last.starts_with("commit") {
            return Ok(false);
        }
        let has =
            |args: &[&str]| -> Result<bool, GitError> { Ok(!git.ask(args).paths()?.is_empty()) };
        let is_known = has(&["rev-list", "-z", "-1", "--all", "--", path])?;
        Ok(is_known && !has(&["status", "--porcelain", "-z", "--ignored", "--", path])?)
    };
    asked().unwrap_or(false)
}

/// Branches that work is usually taken from.
const TRUNKS: [&str; 2] = ["main", "master"];

/// The files in `directory` that differ from where the branch left `base`, or else the trunk:
/// committed, staged, changed or new.
pub(crate) fn since(directory: &Path, base: Option<&str>) -> Result<Vec<String>, String> {
    changed(directory, base).map_err(|error| error.to_string())
}

fn changed(directory: &Path, base: Option<&str>) -> Result<Vec<String>, GitError> {
    let git = Git::at(directory)?.wary(left(DEADLINE));
    let ask = |args: &[&str]| -> Asked { git.ask(args) };
    let mut start = "HEAD".to_owned();
    for name in base.into_iter().chain(TRUNKS) {
        match ask(&["merge-base", "HEAD", &format!("refs/heads/{name}")]).line() {
            Ok(commit) => {
                start = commit;
                break;
            }
            // Nothing in common, or no such branch.
            Err(error) if !error.is_silent() => {}
            Err(error) => return Err(error),
        }
    }
    let mut files = ask(&[
        "diff",
        "--name-only",
        "--relative",
        "--no-renames",
        "--no-ext-diff",
        // For more, git would start another in each submodule, with that one's configuration.
        "--ignore-submodules=dirty",
        "-z",
        &start,
        "--",
    ])
    .paths()?;
    files.extend(ask(&["ls-files", "--others", "--exclude-standard", "-z"]).paths()?);
    Ok(files)
}

/// Whether all work of a branch, as it was last seen, is in `into`: its last commit is there, or
/// its tree, or the patch of each commit, or that of all together, as squashed.
pub(crate) fn is_merged(directory: &Path, seen: &LastSeen, into: &str) -> bool {
    let Ok(git) = Git::at(directory) else {
        return false;
    };
    let git = git.wary(left(DEADLINE));
    let into = format!("refs/heads/{into}");
    let fork = git.ask(["merge-base", &seen.tip, &into]).line();
    match fork {
        Ok(fork) if fork == seen.tip => has_own_commits(&git, seen, &into),
        Ok(fork) => {
            let is_there = |found: Result<bool, GitError>| found.unwrap_or(false);
            is_there(has_tree(&git, seen, &fork, &into))
                || is_there(has_patches(&git, &seen.tip, &into))
                || is_there(has_patches_squashed(&git, seen, &fork, &into))
        }
        // Nothing in common, or a commit that is gone.
        Err(_) => false,
    }
}

/// Whether a branch that is wholly in another one had commits: one that is deleted as it was made is
/// there, too, and nothing of it was merged.
fn has_own_commits(git: &Git, seen: &LastSeen, into: &str) -> bool {
    if seen.base.as_ref().is_some_and(|base| *base != seen.tip) {
        return true;
    }
    // In the main line are commits that were made there; a merge brings others.
    let since = format!("{}..{into}", seen.tip);
    let line = git.ask(["rev-list", "--first-parent", "--parents", &since]);
    line.line().is_ok_and(|line| {
        let oldest = line.lines().last();
        oldest.is_some_and(|oldest| oldest.split(' ').nth(1) != Some(&seen.tip))
    })
}

fn has_tree(git: &Git, seen: &LastSeen, fork: &str, into: &str) -> Result<bool, GitError> {
    let tree = git.ask(["rev-parse", &format!("{}^{{tree}}", seen.tip)]);
    let tree = tree.line()?;
    let trees = git.ask(["log", "--format=%T", &format!("{fork}..{into}")]);
    Ok(trees.line()?.lines().any(|one| one == tree))
}

/// Whether `into` has the patch of each commit that `tip` has and it has not.
fn has_patches(git: &Git, tip: &str, into: &str) -> Result<bool, GitError> {
    let said = git.ask(["cherry", into, tip]).line()?;
    Ok(!said.is_empty() && said.lines().all(|line| line.starts_with('-')))
}

/// The same for one commit in place of all.
fn has_patches_squashed(
    git: &Git,
    seen: &LastSeen,
    fork: &str,
    into: &str,
) -> Result<bool, GitError> {
    let tree = format!("{}^{{tree}}", seen.tip);
    let squashed = git.ask([
        "-c",
        "user.name=tollgate",
        "-c",
        "user.email=tollgate@localhost",
        "-c",
        "commit.gpgSign=false",
        "commit-tree",
        &tree,
        "-p",
        fork,
        "-m",
        "squashed",
    ]);
    has_patches(git, &squashed.line()?, into)
}

/// The work as it is: which tree it is, and what changed since it was another one.
pub(crate) const WORK: AskWork = AskWork {
    tree: |layout| {
        let named = taken(layout).and_then(|(git, taken)| taken.tree(&git).map(str::to_owned));
        named.map_err(|error| error.to_string())
    },
    since: |layout, tree| {
        let changed = taken(layout).and_then(|(git, taken)| taken.since(&git, tree));
        changed.map_err(|error| error.to_string())
    },
};

/// The same where nothing is written: it names nothing.
pub(crate) const READING: AskWork = AskWork {
    tree: |_| Err("nothing is written down".to_owned()),
    since: WORK.since,
};

fn taken(layout: &Layout) -> Result<(Git, Taken), GitError> {
    let git = Git::at(layout.root())?.wary(left(DEADLINE));
    let taken = Snapshot::begin_without(&git, &layout.local(), None)?.taken(&git)?;
    Ok((git, taken))
}
