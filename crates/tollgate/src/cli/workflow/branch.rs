//! The workflow's branch in a real repository. git gets its arguments one by one, never through
//! a shell, and nothing of the tree is touched that is not asked for.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cli::Trouble;

/// What points git to another repository than the one it is run in.
const REPOSITORY_VARIABLES: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR",
    "GIT_INTERNAL_SUPER_PREFIX",
];

/// The repository around a project.
pub(super) struct Repository {
    root: PathBuf,
}

impl Repository {
    /// The repository that `root` is in.
    pub(super) fn around(root: &Path) -> Result<Self, Trouble> {
        let repository = Self {
            root: root.to_owned(),
        };
        match repository.ask(&["rev-parse", "--is-inside-work-tree"]) {
            Ok(answer) if answer == "true" => Ok(repository),
            Ok(_) | Err(_) => Err(Trouble::new(format!(
                "{} is in no git repository, and the workflow wants a branch",
                root.display()
            ))
            .hint("`git init` makes one; `--no-branch` does without")),
        }
    }

    /// The branch that is checked out.
    pub(super) fn current(&self) -> Result<String, Trouble> {
        self.ask(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
            .map_err(|_| {
                Trouble::new("the repository has no commit yet")
                    .hint("make a first commit, or start with `--no-branch`")
            })?;
        self.ask(&["symbolic-ref", "--quiet", "--short", "HEAD"])
            .map_err(|_| {
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

    pub(super) fn has(&self, branch: &str) -> bool {
        self.ask(&[
            "show-ref",
            "--verify",
            "--quiet",
            &format!("refs/heads/{branch}"),
        ])
        .is_ok()
    }

    /// Makes a branch where HEAD is, and switches to it.
    pub(super) fn create(&self, branch: &str) -> Result<(), Trouble> {
        if self.has(branch) {
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

    /// Merges `branch` into `into` with a commit of its own and says which. If that does not
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
                    format!("merge {into} into {branch} by hand, or finalize with `--keep-branch`"),
                ),
            );
        }
        self.ask(&["rev-parse", "HEAD"]).map_err(Trouble::new)
    }

    fn switch(&self, branch: &str) -> Result<(), Trouble> {
        let switched = self.ask(&["switch", "--quiet", "--end-of-options", branch]);
        switched.map(drop).map_err(|error| {
            let hint = match self.own_changes() {
                own if own.is_empty() => "`git status` shows what is in the way".to_owned(),
                // git advises to stash them.
                own => format!(
                    "the workflow's own files are in git: commit them (`git commit -m \"…\" {own}`) and try again; stashed, the state would be turned back"
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
    pub(super) fn delete(&self, branch: &str) -> Result<(), String> {
        self.ask(&["branch", "--quiet", "-d", "--end-of-options", branch])
            .map(drop)
    }

    fn ask(&self, args: &[&str]) -> Result<String, String> {
        let mut command = Command::new("git");
        command
            .arg("-C")
            .arg(&self.root)
            .args(args)
            .stdin(Stdio::null())
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("LC_ALL", "C");
        for variable in REPOSITORY_VARIABLES {
            command.env_remove(variable);
        }
        let output = command
            .output()
            .map_err(|error| format!("git cannot be started: {error}"))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        if output.status.success() {
            Ok(text(&output.stdout))
        } else {
            let said = text(&output.stderr);
            let said = if said.is_empty() {
                text(&output.stdout)
            } else {
                said
            };
            Err(if said.is_empty() {
                output.status.to_string()
            } else {
                said
            })
        }
    }
}
