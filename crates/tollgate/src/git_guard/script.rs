//! The `reference-transaction` hook: where git looks for it, what is in it, and what was there
//! before.
//!
//! A hook that is there already is kept beside ours under another name and runs after it, with
//! the same input; an uninstall gives it its name back.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tollgate_core::fs::{self, Durability, read_regular};
use tollgate_core::git::Repository;

use super::{COMMAND, PREPARED};
use crate::agent::command::quoted;
use crate::agent::places::is_executable;
use crate::gate::git::{AT_ONCE, Git};

/// The hook's name.
const NAME: &str = "reference-transaction";

/// What the hook that was there is called meanwhile.
const BEFORE: &str = "reference-transaction.before-tollgate";

/// Says whose the hook is.
const MARK: &str = "# Tollgate's guard on git's side.";

/// Says that the directory was made for it.
const MADE: &str = "# The directory was made for it.";

/// Where a repository's hooks lie.
#[derive(Clone, Debug)]
pub(crate) struct Hooks {
    directory: PathBuf,
    /// Whom a hook there concerns.
    pub(crate) reach: Reach,
}

/// Whom a hook in a directory concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// This repository with all its work trees.
    Repository,
    /// The directory is part of the work tree: other people may get it, other work trees may not.
    WorkTree,
    /// Every repository that is configured to look there.
    Shared,
}

/// What is where the hook belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nothing.
    Absent,
    /// Our hook.
    Ours,
    /// Somebody else's.
    Other,
}

impl Hooks {
    /// The hooks of the repository around `root`, as `core.hooksPath` has it.
    pub(crate) fn of(root: &Path) -> Result<Self, String> {
        let repository = Repository::discover(root)
            .ok_or_else(|| format!("{} is in no git repository", root.display()))?;
        let git = Git::at(root).map_err(|error| error.to_string())?;
        let line = git
            .ask(["rev-parse", "--git-path", "hooks"])
            .within(AT_ONCE)
            .line()
            .map_err(|error| error.to_string())?;
        if matches!(line.as_str(), "" | "." | "./") {
            return Err("core.hooksPath is empty, so git runs no hooks here".to_owned());
        }
        let directory = root.join(line);
        if directory.exists() && !directory.is_dir() {
            return Err(format!(
                "core.hooksPath is {}, which is no directory: git runs no hooks",
                directory.display()
            ));
        }
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let place = real(&directory);
        let reach = if place.starts_with(real(&repository.common_dir)) {
            Reach::Repository
        } else if place.starts_with(real(&repository.work_tree)) {
            Reach::WorkTree
        } else {
            Reach::Shared
        };
        Ok(Self { directory, reach })
    }

    /// The hook's file.
    pub(crate) fn file(&self) -> PathBuf {
        self.directory.join(NAME)
    }

    fn before(&self) -> PathBuf {
        self.directory.join(BEFORE)
    }

    /// What is where the hook belongs.
    pub(crate) fn standing(&self) -> Standing {
        match self.file().symlink_metadata() {
            Err(_) => Standing::Absent,
            Ok(_) if self.text().contains(MARK) => Standing::Ours,
            Ok(_) => Standing::Other,
        }
    }

    fn text(&self) -> String {
        let contents = read_regular(&self.file(), 1 << 20).ok().flatten();
        let bytes = contents.map(|contents| contents.bytes).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// What the hook will be.
    pub(crate) fn script(&self, program: &str) -> String {
        let made = !self.directory.exists() || self.text().contains(MADE);
        let made = if made {
            format!("{MADE}\n")
        } else {
            String::new()
        };
        let program = quoted(program);
        format!(
            r#"#!/bin/sh
{MARK} `tollgate uninstall --git` takes it out again.
{made}# While a workflow has a branch of its own, agents do not move main. Only exit code 1 refuses:
# whatever else happens to Tollgate lets git go on.
guard() {{
    [ "$1" = {PREPARED} ] || return 0
    if [ ! -x {program} ]; then
        echo "tollgate: the git guard is off, its program is gone: {NAME}" >&2
        return 0
    fi
    {program} {COMMAND} "$1"
    [ $? -ne 1 ]
}}
before="${{0%/*}}/{BEFORE}"
if [ ! -x "$before" ]; then
    guard "$1"
    exit
fi
input=$(cat && echo .)
input=${{input%.}}
printf %s "$input" | guard "$1" || exit 1
printf %s "$input" | "$before" "$@"
"#
        )
    }

    /// Puts the hook in place; one that is there steps aside.
    pub(crate) fn install(&self, program: &str) -> io::Result<()> {
        let script = self.script(program);
        std::fs::create_dir_all(&self.directory)?;
        if self.standing() == Standing::Other {
            if self.before().symlink_metadata().is_ok() {
                return Err(io::Error::other(format!(
                    "{BEFORE} is there already, and so is another hook: one of them has to go"
                )));
            }
            fs::relocate(&self.file(), &self.before())?;
        }
        fs::replace(&self.file(), script.as_bytes(), Durability::Synced)
            .map_err(io::Error::other)?;
        std::fs::set_permissions(self.file(), std::fs::Permissions::from_mode(0o755))
    }

    /// Why our hook would not do its work; nothing where it would, or where there is none of ours.
    pub(crate) fn broken(&self) -> Option<String> {
        let file = self.file();
        match self.standing() {
            Standing::Absent if self.before().exists() => Some(format!(
                "{} is gone, and what it replaced is still aside",
                file.display()
            )),
            Standing::Other if self.before().exists() => {
                Some(format!("{} was replaced by another hook", file.display()))
            }
            Standing::Absent | Standing::Other => None,
            Standing::Ours => {
                let text = self.text();
                let program = text.split("[ ! -x ").nth(1)?.split(" ]; then").next()?;
                let program = program.trim_matches('\'').replace(r"'\''", "'");
                if !is_executable(&file) {
                    Some(format!(
                        "{} cannot be executed, so git skips it",
                        file.display()
                    ))
                } else if !is_executable(Path::new(&program)) {
                    Some(format!(
                        "{} runs {program}, which is not there",
                        file.display()
                    ))
                } else {
                    None
                }
            }
        }
    }

    /// Our hook in the repository's own directory, where git does not look any more.
    pub(crate) fn bypassed(&self, root: &Path) -> Option<PathBuf> {
        let own = Self {
            directory: Repository::discover(root)?.common_dir.join("hooks"),
            reach: Reach::Repository,
        };
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let elsewhere = real(&own.directory) != real(&self.directory);
        (elsewhere && own.standing() == Standing::Ours && self.standing() != Standing::Ours)
            .then_some(self.directory.clone())
    }

    /// Takes the hook out and gives the one from before its name back.
    pub(crate) fn uninstall(&self) -> io::Result<()> {
        let made = self.text().contains(MADE);
        if self.standing() == Standing::Ours {
            fs::remove(&self.file())?;
        }
        if self.standing() == Standing::Absent && self.before().symlink_metadata().is_ok() {
            fs::relocate(&self.before(), &self.file())?;
        }
        if made {
            // Somebody else's hooks keep it.
            let _kept = std::fs::remove_dir(&self.directory);
        }
        Ok(())
    }
}
