//! The hooks of the guard on git's side: where git finds them, and for how long they are there.
//!
//! Git starts the `reference-transaction` hook up to fifteen times for each commit of a rebase, so even
//! an empty one multiplies the time of it. What can be decided in the shell is decided there (see
//! [`super::script`]), and hooks that `install` proposed are aside between agents' turns (see
//! [`super::turns`]).

use std::io;
use std::path::{Path, PathBuf};

use tollgate_core::git::Repository;
use tollgate_store::fs;
use tollgate_store::lock::{self, Acquired, Guard, HOOK_PATIENCE};

use super::hook_file::{HookFile, Position};
use super::script::{self, HOOKS};
use crate::git::{AT_ONCE, Git};

/// The directory of the sessions at work. It is there if our hooks are not always in place.
const TURNS: &str = "reference-transaction.tollgate-turns";

/// Where a repository's hooks lie.
#[derive(Clone, Debug)]
pub(crate) struct Hooks {
    directory: PathBuf,
    pub(crate) reach: Reach,
}

/// Whom a hook in a directory concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// This repository with all its work trees.
    Repository,
    /// The directory is part of the work tree: other people may get it, other work trees may not.
    WorkTree,
    /// Every repository that is configured to use it.
    Shared,
}

/// How long the hooks are in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Until they are uninstalled, whoever starts workflows by whatever means.
    Always,
    /// While an agent is at work under a workflow or a rule, by its events.
    DuringTurns,
}

impl Hooks {
    /// The hooks of the repository around `root`, as `core.hooksPath` has it.
    pub(crate) fn of(root: &Path) -> Result<Self, String> {
        let repository = Repository::discover(root)
            .ok_or_else(|| format!("{} is not in a git repository", root.display()))?;
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
                "core.hooksPath is {}, which is not a directory: git runs no hooks",
                directory.display()
            ));
        }
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

    /// The hooks in a repository's own directory, whatever `core.hooksPath` says.
    pub(super) fn own(common_dir: &Path) -> Self {
        Self {
            directory: common_dir.join("hooks"),
            reach: Reach::Repository,
        }
    }

    /// Each of them.
    pub(crate) fn each(&self) -> impl Iterator<Item = HookFile> {
        HOOKS
            .iter()
            .map(|name| HookFile::new(&self.directory, name))
    }

    /// The one that every version of the guard has: it says how long all are in place.
    fn first(&self) -> HookFile {
        HookFile::new(&self.directory, script::TRANSACTION)
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.first().path()
    }

    /// The directory of the sessions at work.
    pub(super) fn turns(&self) -> PathBuf {
        self.directory.join(TURNS)
    }

    pub(crate) fn is_installed(&self) -> bool {
        self.each().any(|hook| hook.is_installed())
    }

    /// How long our hooks are in place. Those that are aside are not always in place, whatever they say.
    pub(crate) fn presence(&self) -> Presence {
        let first = self.first();
        if first.position() == Position::Aside || first.text().contains(script::NOT_ALWAYS) {
            Presence::DuringTurns
        } else {
            Presence::Always
        }
    }

    /// How long hooks that are proposed should be in place.
    pub(crate) fn proposed_presence(&self) -> Presence {
        match self.first().position() {
            Position::InPlace => self.presence(),
            Position::Absent | Position::Aside | Position::Foreign => Presence::DuringTurns,
        }
    }

    /// Each hook with its text.
    pub(crate) fn scripts(&self, program: &str, presence: Presence) -> Vec<(HookFile, String)> {
        let made = !self.directory.exists() || self.are_made_for();
        let notes = [
            made.then_some(script::MADE),
            (presence == Presence::DuringTurns).then_some(script::DURING_TURNS),
        ];
        let notes: Vec<&str> = notes.into_iter().flatten().collect();
        let text = |hook: &HookFile| script::text(hook.name, program, &notes);
        self.each()
            .map(|hook| (hook.clone(), text(&hook)))
            .collect()
    }

    /// Whether the hooks are there with these texts, and work.
    pub(crate) fn are(&self, scripts: &[(HookFile, String)]) -> bool {
        scripts.iter().all(|(hook, script)| hook.text() == *script) && self.broken().is_none()
    }

    /// Whether the directory was made for them.
    fn are_made_for(&self) -> bool {
        self.each().any(|hook| hook.text().contains(script::MADE))
    }

    /// Puts new hooks in place; other hooks that are there are kept.
    pub(crate) fn install(&self, program: &str, presence: Presence) -> io::Result<()> {
        let scripts = self.scripts(program, presence);
        std::fs::create_dir_all(&self.directory)?;
        if presence == Presence::DuringTurns {
            fs::private_directory(&self.turns())?;
        }
        let _lock = self.lock()?;
        for (hook, script) in scripts {
            hook.install(&script)?;
        }
        match presence {
            Presence::DuringTurns => Ok(()),
            Presence::Always => self.forget_turns(),
        }
    }

    /// Keeps events and commands from changing the hooks at the same time, where events do.
    pub(super) fn lock(&self) -> io::Result<Option<Guard>> {
        if !self.turns().is_dir() {
            return Ok(None);
        }
        match lock::acquire(&self.turns().join(".lock"), HOOK_PATIENCE)? {
            Acquired::Held(guard) => Ok(Some(guard)),
            Acquired::Busy => Err(io::Error::other("another event is changing it")),
        }
    }

    /// Puts our hooks in place if they are aside.
    pub(super) fn put_in_place(&self) -> io::Result<()> {
        self.each().try_for_each(|hook| hook.put_in_place())
    }

    /// Takes our hooks out of git's way, and restores the names of other hooks.
    pub(super) fn put_aside(&self) -> io::Result<()> {
        self.each().try_for_each(|hook| hook.put_aside())
    }

    /// Why our hooks would not do their work; nothing where they would, or where there are none of ours.
    pub(crate) fn broken(&self) -> Option<String> {
        let expected = self.is_installed() || self.turns().is_dir();
        let broken = self.each().find_map(|hook| hook.broken(expected));
        let stays = self.is_installed()
            && self.presence() == Presence::DuringTurns
            && !self.turns().is_dir();
        broken.or_else(|| {
            let file = self.file();
            let why = "stays where it is, whether an agent is at work or not: there is no";
            stays.then(|| format!("{} {why} {TURNS}", file.display()))
        })
    }

    /// Our hooks in the repository's own directory, where git does not find them any more.
    pub(crate) fn bypassed(&self, root: &Path) -> Option<PathBuf> {
        let own = Self::own(&Repository::discover(root)?.common_dir);
        let elsewhere = real(&own.directory) != real(&self.directory);
        (elsewhere && own.is_installed() && !self.is_installed()).then_some(self.directory.clone())
    }

    /// Takes the hooks out and gives those from before their names back.
    pub(crate) fn uninstall(&self) -> io::Result<()> {
        let made = self.are_made_for();
        let _lock = self.lock()?;
        self.each().try_for_each(|hook| hook.uninstall())?;
        self.forget_turns()?;
        if made {
            // Somebody else's hooks keep it.
            let _kept = std::fs::remove_dir(&self.directory);
        }
        Ok(())
    }

    fn forget_turns(&self) -> io::Result<()> {
        if self.turns().is_dir() {
            std::fs::remove_dir_all(self.turns())?;
        }
        Ok(())
    }
}

/// A path without links, as far as it exists.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
