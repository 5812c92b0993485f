//! The `reference-transaction` hook: where git looks for it, what is in it, and what was there
//! before.
//!
//! A hook that is there already is kept beside ours under another name and runs after it, with
//! the same input; an uninstall gives it its name back.
//!
//! Git starts the hook up to fifteen times for each commit of a rebase, so even an empty one
//! multiplies the time of it. What can be decided in the shell is decided there, and a hook that
//! `install` proposed steps aside while no workflow runs (see [`super::rest`]).

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tollgate_core::fs::{self, Durability, read_regular};
use tollgate_core::git::Repository;
use tollgate_core::protocol::agent_marks;

use super::{COMMAND, PREPARED};
use crate::agent::command::quoted;
use crate::agent::places::is_executable;
use crate::gate::git::{AT_ONCE, Git};

/// The hook's name.
const NAME: &str = "reference-transaction";

/// What the hook that was there is called meanwhile.
const BEFORE: &str = "reference-transaction.before-tollgate";

/// What our hook is called while it is aside.
const ASIDE: &str = "reference-transaction.tollgate-aside";

/// Says whose the hook is.
const MARK: &str = "# Tollgate's guard on git's side.";

/// Says that the directory was made for it.
const MADE: &str = "# The directory was made for it.";

/// Says that the hook is there only while a workflow runs.
const WHILE_NEEDED: &str = "# It is in place only while a workflow runs.";

/// More references than this are read by the program: `read` takes a byte at a time.
const READ_BY_SHELL: u32 = 20;

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

/// How long the hook is in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Until it is uninstalled, whoever starts workflows by whatever means.
    Always,
    /// While a workflow runs. The agents' events tell when that is.
    WhileNeeded,
}

/// What is where the hook belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nothing.
    Absent,
    /// Our hook.
    Ours,
    /// Our hook is aside: no workflow runs.
    Aside,
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

    /// The hooks in a repository's own directory, wherever git is configured to look.
    pub(super) fn own(common_dir: &Path) -> Self {
        Self {
            directory: common_dir.join("hooks"),
            reach: Reach::Repository,
        }
    }

    /// The hook's file.
    pub(crate) fn file(&self) -> PathBuf {
        self.directory.join(NAME)
    }

    fn before(&self) -> PathBuf {
        self.directory.join(BEFORE)
    }

    fn aside(&self) -> PathBuf {
        self.directory.join(ASIDE)
    }

    /// What is where the hook belongs.
    pub(crate) fn standing(&self) -> Standing {
        let is_there = self.file().symlink_metadata().is_ok();
        if is_there && text(&self.file()).contains(MARK) {
            Standing::Ours
        } else if self.is_aside() {
            Standing::Aside
        } else if is_there {
            Standing::Other
        } else {
            Standing::Absent
        }
    }

    /// Whether our hook is aside.
    pub(super) fn is_aside(&self) -> bool {
        self.aside().symlink_metadata().is_ok()
    }

    /// What our hook is, in place or aside.
    pub(crate) fn text(&self) -> String {
        match self.standing() {
            Standing::Ours => text(&self.file()),
            Standing::Aside => text(&self.aside()),
            Standing::Absent | Standing::Other => String::new(),
        }
    }

    /// How long our hook is in place.
    pub(crate) fn presence(&self) -> Presence {
        if self.text().contains(WHILE_NEEDED) {
            Presence::WhileNeeded
        } else {
            Presence::Always
        }
    }

    /// What the hook will be.
    pub(crate) fn script(&self, program: &str, presence: Presence) -> String {
        let made = !self.directory.exists() || self.text().contains(MADE);
        let mut notes = String::new();
        if made {
            notes = format!("{MADE}\n");
        }
        if presence == Presence::WhileNeeded {
            notes = format!("{notes}{WHILE_NEEDED}\n");
        }
        let program = quoted(program);
        // As `env::agent_mark` has it: neither empty nor 0.
        let marks = format!("${{{}#0}}", agent_marks().collect::<Vec<_>>().join("#0}${"));
        format!(
            r#"#!/bin/sh
{MARK} `tollgate uninstall --git` takes it out again.
{notes}# While a workflow has a branch of its own, agents do not move main. A person's git ends here, in
# the shell, and so does every change without a branch. Only exit code 1 refuses: whatever else
# happens to Tollgate lets git go on.
agent=
[ "$1" != {PREPARED} ] || agent="{marks}"
before="${{0%/*}}/{BEFORE}"
[ -x "$before" ] || before=
if [ -z "$agent" ]; then
    [ -z "$before" ] || exec "$before" "$@"
    exit 0
fi
guard() {{
    if [ ! -x {program} ]; then
        echo "tollgate: the git guard is off, its program is gone:" {program} >&2
        echo "tollgate: \`tollgate install --git\` puts it right" >&2
        return 0
    fi
    {program} {COMMAND} "$@"
    [ $? -ne 1 ]
}}
if [ -n "$before" ]; then
    input=$(cat && echo .)
    input=${{input%.}}
    case $input in
    *" refs/heads/"*) printf %s "$input" | guard {PREPARED} || exit 1 ;;
    esac
    printf %s "$input" | "$before" "$@"
    exit
fi
left={READ_BY_SHELL}
while [ $left -gt 0 ]; do
    read -r old new name || exit 0
    case $name in
    refs/heads/*)
        guard {PREPARED} "$old $new $name"
        exit
        ;;
    esac
    left=$((left - 1))
done
guard {PREPARED}
"#
        )
    }

    /// Puts the hook in place; one that is there steps aside.
    pub(crate) fn install(&self, program: &str, presence: Presence) -> io::Result<()> {
        let script = self.script(program, presence);
        std::fs::create_dir_all(&self.directory)?;
        self.make_room()?;
        fs::replace(&self.file(), script.as_bytes(), Durability::Synced)
            .map_err(io::Error::other)?;
        std::fs::set_permissions(self.file(), std::fs::Permissions::from_mode(0o755))?;
        if self.is_aside() {
            fs::remove(&self.aside())?;
        }
        Ok(())
    }

    /// Keeps somebody else's hook under another name.
    fn make_room(&self) -> io::Result<()> {
        let is_other = self.file().symlink_metadata().is_ok() && self.standing() != Standing::Ours;
        if !is_other {
            return Ok(());
        }
        if self.before().symlink_metadata().is_ok() {
            return Err(io::Error::other(format!(
                "{BEFORE} is there already, and so is another hook: one of them has to go"
            )));
        }
        fs::relocate(&self.file(), &self.before())
    }

    /// Takes our hook out of git's way, if it is one that may be. With another hook behind it git
    /// starts a program anyway.
    pub(super) fn step_aside(&self) -> io::Result<()> {
        let may = self.standing() == Standing::Ours
            && self.before().symlink_metadata().is_err()
            && self.presence() == Presence::WhileNeeded;
        if may {
            fs::relocate(&self.file(), &self.aside())?;
        }
        Ok(())
    }

    /// Puts our hook back in place.
    pub(super) fn step_in(&self) -> io::Result<()> {
        self.make_room()?;
        match fs::relocate(&self.aside(), &self.file()) {
            // Another event was quicker.
            Err(_) if self.standing() == Standing::Ours => Ok(()),
            done => done,
        }
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
            standing @ (Standing::Ours | Standing::Aside) => {
                let text = self.text();
                let file = if standing == Standing::Ours {
                    file
                } else {
                    self.aside()
                };
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
        let own = Self::own(&Repository::discover(root)?.common_dir);
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let elsewhere = real(&own.directory) != real(&self.directory);
        let is_ours = |hooks: &Self| matches!(hooks.standing(), Standing::Ours | Standing::Aside);
        (elsewhere && is_ours(&own) && !is_ours(self)).then_some(self.directory.clone())
    }

    /// Takes the hook out and gives the one from before its name back.
    pub(crate) fn uninstall(&self) -> io::Result<()> {
        let made = self.text().contains(MADE);
        if self.standing() == Standing::Ours {
            fs::remove(&self.file())?;
        }
        if self.is_aside() {
            fs::remove(&self.aside())?;
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

fn text(file: &Path) -> String {
    let contents = read_regular(file, 1 << 20).ok().flatten();
    let bytes = contents.map(|contents| contents.bytes).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
