//! What keeps git from running what a repository configures, and from waiting for what is no file.
//!
//! A question to git is no consent to the programs in `.git/config`: filters, a file system monitor,
//! hooks, what fetches missing objects. A person's own configuration, such as that of Git LFS, holds.
//! All questions are asked in the same way, so that a file's content has one name.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tollgate_core::git::Repository;
use tollgate_store::fs::{self, ReadFault};

use super::GitError;

/// The largest configuration that is read.
const CAP: u64 = 1 << 20;

/// More filters than anybody has.
const MOST: usize = 64;

/// Files of a repository that git reads in answer to almost any question: relative to its directory, to
/// the one that work trees share, and to the work tree.
const OWN: &[&str] = &["HEAD", "index", "config.worktree", "commondir"];
const COMMON: &[&str] = &[
    "config",
    "packed-refs",
    "shallow",
    "info/exclude",
    "info/attributes",
    "info/grafts",
    "objects/info/alternates",
];
const TREE: &[&str] = &[".gitignore", ".gitattributes", ".gitmodules"];

/// How questions to one repository are asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Neutral {
    /// Options that take filters away.
    filters: Vec<OsString>,
    /// The work tree, where the configuration names another.
    work_tree: Option<PathBuf>,
}

impl Neutral {
    /// For a repository. `ask` has git name settings, which runs nothing.
    pub(super) fn of(
        repository: &Repository,
        ask: impl FnOnce(&[&str]) -> Result<Vec<u8>, GitError>,
    ) -> Result<Self, GitError> {
        refuse_special(repository)?;
        let files = [
            repository.common_dir.join("config"),
            repository.git_dir.join("config.worktree"),
        ];
        let mut text = String::new();
        for file in files {
            let contents = fs::read_regular(&file, CAP).map_err(|fault| special(&file, &fault))?;
            if let Some(contents) = contents {
                text.push_str(&contents.into_text().to_ascii_lowercase());
            }
        }
        let includes = text.contains("include");
        let names_tree = includes || text.contains("worktree");
        let filters = if includes || text.contains("filter") {
            let asked = ["config", "--show-scope", "--includes", "--name-only", "-z"];
            let pattern = ["--get-regexp", r"^filter\."];
            without_filters(&ask(&[&asked[..], &pattern].concat())?)?
        } else {
            Vec::new()
        };
        Ok(Self {
            filters,
            work_tree: names_tree.then(|| repository.work_tree.clone()),
        })
    }

    /// Has a command ask in this way.
    pub(super) fn apply(&self, command: &mut std::process::Command) {
        command.args(["-c", "core.fsmonitor=false"]);
        command.args(&self.filters);
        if let Some(work_tree) = &self.work_tree {
            command.env("GIT_WORK_TREE", work_tree);
        }
        // An object that is not here is not fetched, by whatever program or address: git before 2.45 knows
        // only the second.
        command
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_ALLOW_PROTOCOL", "none");
    }
}

/// Options without the filters that the repository itself defines, as git lists them: scope and name.
fn without_filters(listed: &[u8]) -> Result<Vec<OsString>, GitError> {
    let listed = String::from_utf8_lossy(listed);
    let mut fields = listed.split('\0');
    let mut names: Vec<&str> = Vec::new();
    while let (Some(scope), Some(key)) = (fields.next(), fields.next()) {
        let name = key.strip_prefix("filter.");
        let name = name.and_then(|rest| rest.rsplit_once('.'));
        if let (true, Some((name, _))) = (matches!(scope, "local" | "worktree"), name) {
            names.push(name);
        }
    }
    names.sort_unstable();
    names.dedup();
    // Such a name cannot be said on a command line.
    if names.len() > MOST || names.iter().any(|name| name.contains(['=', '\n'])) {
        let what = "the repository's configuration has filters that cannot be switched off: too many, or with `=` in a name";
        return Err(GitError::new(what));
    }
    let off = |name: &&str| {
        ["clean=", "smudge=", "process=", "required=false"]
            .map(|setting| format!("filter.{name}.{setting}"))
    };
    let settings = names.iter().flat_map(off);
    Ok(settings
        .flat_map(|setting| ["-c".into(), setting.into()])
        .collect())
}

/// Refuses a repository in which a named pipe or a device is where git expects a file: it would wait for
/// ever, or read without end.
fn refuse_special(repository: &Repository) -> Result<(), GitError> {
    let Repository {
        work_tree,
        git_dir,
        common_dir,
        ..
    } = repository;
    let below = |directory: &Path, names: &[&str]| -> Vec<PathBuf> {
        names.iter().map(|name| directory.join(name)).collect()
    };
    let mut files = below(git_dir, OWN);
    files.extend(below(common_dir, COMMON));
    files.extend(below(work_tree, TREE));
    if let tollgate_core::git::Head::Branch(name) = repository.head() {
        files.push(common_dir.join("refs/heads").join(name));
    }
    for file in files {
        let found = file.metadata();
        if let Some(kind) = found.ok().and_then(|metadata| fs::FileKind::of(&metadata))
            && kind != fs::FileKind::Directory
        {
            return Err(special(&file, &ReadFault::NotRegular(kind)));
        }
    }
    Ok(())
}

fn special(file: &Path, fault: &ReadFault) -> GitError {
    GitError::silent(format!(
        "git is not run for {}: {fault}; replace it by a regular file",
        file.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_repositorys_own_filters_are_switched_off() {
        let listed = b"global\0filter.lfs.clean\0local\0filter.a b.x.clean\0local\0filter.a b.x.process\0worktree\0filter.c.smudge\0";
        let off = without_filters(listed).unwrap();
        let off: Vec<&str> = off.iter().map(|word| word.to_str().unwrap()).collect();
        let settings: Vec<&str> = off.iter().copied().filter(|word| *word != "-c").collect();
        assert_eq!(settings.len(), 8);
        assert!(settings.contains(&"filter.a b.x.clean="));
        assert!(settings.contains(&"filter.c.required=false"));
        assert!(!off.iter().any(|word| word.contains("lfs")));
        assert!(without_filters(b"").unwrap().is_empty());
        without_filters(b"local\0filter.a=b.clean\0").unwrap_err();
    }
}
