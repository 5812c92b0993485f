//! The workflow's branch in a real repository. git gets its arguments one by one, never through
//! a shell, and nothing of the tree is touched that is not asked for.

use std::path::Path;

use crate::cli::Trouble;
use crate::git::{AT_ONCE, Git, GitError};

/// The repository around a project.
pub(super) struct Repository {
    git: Git,
}

impl Repository {
    /// The repository that `root` is in.
    pub(super) fn around(root: &Path) -> Result<Self, Trouble> {
        let none = || {
            Trouble::new(format!(
                "{} is not in a git repository, and the workflow needs a branch",
                root.display()
            ))
            .hint("`git init` creates one; `--no-branch` works without")
        };
        let git = Git::at(root).map_err(|error| {
            if error.is_silent() {
                silent(&error)
            } else {
                none()
            }
        })?;
        let repository = Self { git };
        match repository.query(&["rev-parse", "--is-inside-work-tree"])? {
            Some(answer) if answer == "true" => Ok(repository),
            Some(_) | None => Err(none()),
        }
    }

    /// The branch that is checked out.
    pub(super) fn current(&self) -> Result<String, Trouble> {
        let commit = self.query(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?;
        if commit.is_none() {
            return Err(Trouble::new("the repository has no commit yet")
                .hint("make a first commit, or start with `--no-branch`"));
        }
        let branch = self.query(&["symbolic-ref", "--quiet", "--short", "HEAD"])?;
        branch.ok_or_else(|| {
            Trouble::new("no branch is checked out (HEAD is detached)")
                .hint("`git switch` to the branch to start from, or use `--no-branch`")
        })
    }

    /// Fails if tracked files are changed; Tollgate's and the workflow's own do not count.
    pub(super) fn require_clean(&self, hint: &str) -> Result<(), Trouble> {
        let args = [
            "status",
            "--porcelain",
            "--untracked-files=no",
            "--",
            ":(top)",
            ":(exclude).isdlc",
            ":(exclude).tollgate",
        ];
        let dirty = self
            .ask(&args)
            .map_err(|error| Trouble::new(format!("git status: {error}")))?;
        if dirty.is_empty() {
            return Ok(());
        }
        let files: Vec<&str> = dirty.lines().take(5).collect();
        let more = dirty.lines().count().saturating_sub(files.len());
        let rest = if more > 0 {
            format!("\n  and {more} more")
        } else {
            String::new()
        };
        Err(Trouble::new(format!(
            "the repository has uncommitted changes:\n  {}{rest}",
            files.join("\n  ")
        ))
        .hint(hint))
    }

    pub(super) fn has(&self, branch: &str) -> Result<bool, Trouble> {
        let name = format!("refs/heads/{branch}");
        let found = self.query(&["show-ref", "--verify", "--quiet", &name])?;
        Ok(found.is_some())
    }

    /// Makes a branch where HEAD is, and switches to it.
    pub(super) fn create(&self, branch: &str) -> Result<(), Trouble> {
        if self.has(branch)? {
            return Err(Trouble::new(format!("there is a branch {branch} already"))
                .hint("rename or delete it, or start with `--no-branch`"));
        }
        let made = self.ask(&["switch", "--quiet", "--no-track", "--create", branch]);
        made.map(drop).map_err(|error| {
            Trouble::new(format!("git could not make the branch {branch}: {error}"))
        })
    }

    /// Takes back [`Self::create`].
    pub(super) fn forget(&self, branch: &str, back: &str) {
        let _best_effort = self.ask(&["switch", "--quiet", "--end-of-options", back]);
        let _best_effort = self.ask(&["branch", "--quiet", "-d", "--end-of-options", branch]);
    }

    /// Merges `branch` into `into` with a merge commit and says which. If that does not
    /// work, everything is as before.
    pub(super) fn merge(&self, branch: &str, into: &str, message: &str) -> Result<String, Trouble> {
        let before = self.current()?;
        self.switch(into)?;
        if let Err(error) = self.ask(&[
            "merge",
            "--quiet",
            "--no-ff",
            "-m",
            message,
            "--end-of-options",
            branch,
        ]) {
            let _no_merge_to_abort = self.ask(&["merge", "--abort"]);
            self.switch(&before)?;
            return Err(
                Trouble::new(format!("{branch} could not be merged into {into}: {error}")).hint(
                    format!(
                        "merge {into} into {branch} yourself, or finalize with `--keep-branch`"
                    ),
                ),
            );
        }
        self.ask(&["rev-parse", "HEAD"])
            .map_err(|error| Trouble::new(error.to_string()))
    }

    fn switch(&self, branch: &str) -> Result<(), Trouble> {
        let switched = self.ask(&["switch", "--quiet", "--end-of-options", branch]);
        switched.map(drop).map_err(|error| {
            let hint = match self.own_changes() {
                own if own.is_empty() => "`git status` shows what is in the way".to_owned(),
                // git advises to stash them.
                own => format!(
                    "the workflow's own files are in git: commit them (`git commit -m \"…\" {own}`) and try again; a stash would revert the state"
                ),
            };
            Trouble::new(format!("git could not switch to {branch}: {error}")).hint(hint)
        })
    }

    /// The workflow's own files that git keeps and that are changed.
    fn own_changes(&self) -> String {
        let args = ["diff", "--name-only", "HEAD", "--", ".isdlc", ".tollgate"];
        let names = self.ask(&args).unwrap_or_default();
        names.lines().collect::<Vec<_>>().join(" ")
    }

    /// Deletes a merged branch.
    pub(super) fn delete(&self, branch: &str) -> Result<(), GitError> {
        self.ask(&["branch", "--quiet", "-d", "--end-of-options", branch])
            .map(drop)
    }

    /// Lets git do something, which takes as long as the tree is large and its hooks are slow.
    fn ask(&self, args: &[&str]) -> Result<String, GitError> {
        self.git.act(args).said()
    }

    /// What stands in one of git's files; nothing if git says no. No answer is something else.
    fn query(&self, args: &[&str]) -> Result<Option<String>, Trouble> {
        match self.git.act(args).within(AT_ONCE).said() {
            Ok(answer) => Ok(Some(answer)),
            Err(error) if error.is_silent() => Err(silent(&error)),
            Err(_) => Ok(None),
        }
    }
}

/// Git did not answer, or is not asked because it would not.
fn silent(error: &GitError) -> Trouble {
    Trouble::new(error.to_string()).hint("check that `git status` works here, then run this again")
}
