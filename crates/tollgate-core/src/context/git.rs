//! The project's repository, as far as an event needs it.

use std::path::Path;

use super::inputs::Inputs;
use crate::decision::Fault;
use crate::git::{LastSeen, Repository, Stands};
use tollgate_shell::Head;

/// Branches and changes. What files do not tell, git is asked for.
#[derive(Debug)]
pub struct GitContext<'a> {
    pub(super) inputs: &'a Inputs,
}

impl GitContext<'_> {
    /// The repository of the project.
    pub fn repository(&self) -> Option<Repository> {
        self.inputs.disk.discover(self.inputs.layout().root())
    }

    /// The branch that is checked out in the project; nothing if none is, or it is unknown.
    pub fn branch(&self) -> Option<String> {
        let repository = self.repository()?;
        match repository.head() {
            Head::Branch(name) => Some(name),
            Head::AskGit => self.ask_branch(&repository.work_tree),
            Head::Detached | Head::None => None,
        }
    }

    /// The branch of a repository that only git can read.
    pub fn ask_branch(&self, work_tree: &Path) -> Option<String> {
        self.inputs.sources.git.and_then(|ask| ask(work_tree))
    }

    /// Whether all work of a branch that is gone is in another one, as far as it can be known.
    pub fn was_merged(&self, work_tree: &Path, seen: &LastSeen, into: &str) -> bool {
        let ask = self.inputs.sources.merged;
        ask.is_some_and(|ask| ask(work_tree, seen, into))
    }

    /// The commit of a branch that has all work of another one, whether that is gone or not.
    pub fn commit_with(&self, branch: &str, into: &str) -> Option<String> {
        let repository = self.repository()?;
        let seen = repository.seen(branch)?;
        let Stands::For(commit) = repository.branch_commit(into) else {
            return None;
        };
        self.was_merged(&repository.work_tree, &seen, into)
            .then_some(commit)
    }

    /// The files that differ from where the branch left `base`; nothing if it is unknown.
    pub fn changed_files(&self, base: Option<&str>) -> Option<Vec<String>> {
        match self.inputs.sources.changes?(self.inputs.layout().root(), base) {
            Ok(files) => Some(files),
            Err(error) => self.inputs.notes.fault(Fault::new(
                "git-unavailable",
                format!("git cannot tell what changed ({error}): guards that need it are off"),
            )),
        }
    }

    /// The name of the work as it is; nothing if it is unknown, as without git.
    pub fn work_tree(&self) -> Option<String> {
        let ask = self.inputs.sources.work?;
        (ask.tree)(self.inputs.layout()).ok()
    }

    /// The files that differ from the work as it was; nothing if it is unknown.
    pub fn changed_since(&self, tree: &str) -> Option<Vec<String>> {
        match self.inputs.changed_since(tree) {
            Ok(files) => Some(files),
            Err(error) => self.inputs.notes.fault(Fault::new(
                "git-unavailable",
                format!(
                    "git cannot tell what changed since the tests passed ({error}): the pass \
                     counts as it is"
                ),
            )),
        }
    }
}
