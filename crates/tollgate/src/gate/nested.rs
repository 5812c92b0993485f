//! Repositories inside of the work tree: submodules, and nested ones.
//!
//! git notes of them which commit is checked out, and nothing of what lies in their work trees.
//! Gates see all of it, so a tree that is evidence has it, too: in place of the commit, the inner
//! work tree's own tree.

use std::path::{Path, PathBuf};

use gix_index::hash::ObjectId;

use super::changes;
use super::index;
use super::snapshot::Snapshot;
use crate::git::{Git, GitError};

/// Repositories in repositories: more than a few is a circle.
const DEPTH: u32 = 5;

/// The mode of an entry that stands for a repository.
const LINK: &str = "160000";

/// A path that differs between two trees, or a tree and an index.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// Relative to the project's root.
    pub(super) path: String,
    /// If it is an inner repository, or was one.
    pub(super) link: Option<Link>,
}

/// A change of what is noted of an inner repository.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// Relative to the outer root.
    pub(super) path: String,
    /// A commit or a tree; none if there was no repository.
    pub(super) old: Option<String>,
    /// None if there is none any more.
    pub(super) new: Option<String>,
}

/// The work tree of the repository at `path`, if it is checked out and another one than the outer.
pub(super) fn at(outer: &Git, path: &Path) -> Option<Git> {
    let inner = Git::at(path).ok()?.wary_like(outer);
    // Another work tree of the same repository is other work.
    (inner.top() == path && !inner.is_same_repository(outer)).then_some(inner)
}

/// The tree of what is noted of an inner repository: committing what lies there changes nothing.
pub(super) fn tree_of(outer: &Git, path: &Path, id: ObjectId) -> ObjectId {
    let tree = at(outer, &outer.root().join(path)).and_then(|inner| {
        let name = format!("{id}^{{tree}}");
        let asked = inner.ask(["rev-parse", "--verify", "--quiet", &name]);
        ObjectId::from_hex(asked.line().ok()?.as_bytes()).ok()
    });
    tree.unwrap_or(id)
}

/// Notes what lies in the work trees at `paths`, which are relative to the top, in an index.
pub(super) fn note(
    git: &Git,
    index: &Path,
    paths: &[PathBuf],
    place: &Path,
    depth: u32,
) -> Result<(), GitError> {
    for path in paths {
        let Some(inner) = at(git, &git.top().join(path)) else {
            continue;
        };
        if depth >= DEPTH || is_as_committed(&inner)? {
            continue;
        }
        let added = Snapshot::begin_in(&inner, place, None)?.taken_at(&inner, depth + 1)?;
        let tree = added.tree(&inner)?;
        let mut entry = std::ffi::OsString::from(format!("{LINK},{tree},"));
        entry.push(path);
        let args = ["-C".as_ref(), git.top().as_os_str()];
        let args = args.into_iter().chain(
            ["update-index", "--add", "--cacheinfo"]
                .map(AsRef::as_ref)
                .into_iter()
                .chain([entry.as_os_str()]),
        );
        git.ask_with_index(index, args).bytes()?;
    }
    Ok(())
}

/// Whether a work tree is its last commit, so that the commit says it all.
fn is_as_committed(git: &Git) -> Result<bool, GitError> {
    let asked = git.ask([
        "status",
        "--porcelain",
        "-z",
        "--untracked-files=normal",
        "--ignore-submodules=none",
    ]);
    let special = index::special(git, &index::read(&git.index())?);
    let hides_nothing = special.hidden.is_empty();
    Ok(asked.bytes()?.is_empty() && hides_nothing)
}

/// The paths of changes; of inner repositories, those that changed in them.
pub(super) fn paths(git: &Git, changes: Vec<Change>) -> Result<Vec<String>, GitError> {
    let mut paths = Vec::new();
    for change in changes {
        let Some(link) = change.link else {
            paths.push(change.path);
            continue;
        };
        match inside(git, &link)? {
            Some(inside) => paths.extend(inside.iter().map(|path| format!("{}/{path}", link.path))),
            None => paths.push(link.path),
        }
    }
    Ok(paths)
}

/// What changed in an inner repository: nothing if what lay there was committed since, or the
/// other way round. None if that cannot be known, or is nothing that a path could tell.
fn inside(git: &Git, link: &Link) -> Result<Option<Vec<String>>, GitError> {
    let inner = at(git, &git.root().join(&link.path));
    let (Some(inner), Some(new)) = (inner, &link.new) else {
        return Ok(None);
    };
    let differing = link.old.as_deref();
    let differing = differing.and_then(|old| changes::diff_tree(&inner, old, new).bytes().ok());
    let found = if let Some(raw) = differing {
        paths(&inner, read(&raw))?
    } else {
        let all = [
            "ls-tree",
            "-r",
            "-z",
            "--name-only",
            "--end-of-options",
            new,
        ];
        inner.ask(all).paths().unwrap_or_default()
    };
    let is_tree =
        |id: &String| inner.ask(["cat-file", "-t", id]).line().ok().as_deref() == Some("tree");
    let has_tree = || is_tree(new) || link.old.as_ref().is_some_and(is_tree);
    Ok((!found.is_empty() || has_tree()).then_some(found))
}

/// What git printed with `--raw -z`.
pub(super) fn read(raw: &[u8]) -> Vec<Change> {
    let mut words = raw.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let mut changes = Vec::new();
    while let (Some(about), Some(path)) = (words.next(), words.next()) {
        // `:100644 160000 <old> <new> T`
        let about: Vec<&str> = about.trim_start_matches(':').split(' ').collect();
        let [old_mode, new_mode, old, new, _] = about.as_slice() else {
            continue;
        };
        let id = |mode: &str, id: &str| (mode == LINK).then(|| id.to_owned());
        let (old, new) = (id(old_mode, old), id(new_mode, new));
        let is_link = old.is_some() || new.is_some();
        let path = path.into_owned();
        changes.push(Change {
            link: is_link.then(|| Link {
                path: path.clone(),
                old,
                new,
            }),
            path,
        });
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_told_from_files() {
        let raw =
            b":100644 100644 1 2 M\0a b\0:160000 160000 3 4 M\0sub\0:000000 160000 0 5 A\0new\0";
        let changes = read(raw);
        let paths: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
        assert_eq!(paths, ["a b", "sub", "new"]);
        let links: Vec<Option<Link>> = changes.into_iter().map(|change| change.link).collect();
        let link = |path: &str, old: Option<&str>, new: &str| {
            Some(Link {
                path: path.to_owned(),
                old: old.map(str::to_owned),
                new: Some(new.to_owned()),
            })
        };
        let expected = [None, link("sub", Some("3"), "4"), link("new", None, "5")];
        assert_eq!(links, expected);
    }
}
