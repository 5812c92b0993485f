//! The file of the `reference-transaction` hook: where git finds it, in place or aside, and what was
//! there before.
//!
//! A hook that is there already is kept beside ours under another name and runs after it, with the
//! same input. While ours is aside, and after an uninstall, it has its own name. Every change is one
//! `rename`, after a hard link where two hooks change places, so that a process that is killed takes
//! nobody's hook away.
//!
//! Git starts the hook up to fifteen times for each commit of a rebase, so even an empty one
//! multiplies the time of it. What can be decided in the shell is decided there (see
//! [`super::script`]), and a hook that `install` proposed is aside between agents' turns (see
//! [`super::turns`]).

use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tollgate_core::git::Repository;
use tollgate_store::fs::{self, Durability};
use tollgate_store::lock::{self, Acquired, Guard, HOOK_PATIENCE};

use super::script;
use crate::agents::places::is_executable;
use crate::git::{AT_ONCE, Git};

const NAME: &str = "reference-transaction";

/// What our hook is called while it is aside.
const ASIDE: &str = "reference-transaction.tollgate-aside";

/// The directory of the sessions at work. It is there if our hook is not always in place.
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

/// How long the hook is in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Until it is uninstalled, whoever starts workflows by whatever means.
    Always,
    /// While an agent is at work under a workflow, by its events.
    DuringTurns,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// Nowhere, and there is no other.
    Absent,
    /// Where git finds it.
    InPlace,
    /// Beside that place, where git does not find it.
    Aside,
    /// Nowhere, and somebody else's is in its place.
    Foreign,
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

    pub(crate) fn file(&self) -> PathBuf {
        self.directory.join(NAME)
    }

    fn before(&self) -> PathBuf {
        self.directory.join(script::BEFORE)
    }

    fn aside(&self) -> PathBuf {
        self.directory.join(ASIDE)
    }

    /// The directory of the sessions at work.
    pub(super) fn turns(&self) -> PathBuf {
        self.directory.join(TURNS)
    }

    pub(crate) fn position(&self) -> Position {
        if self.is_in_place() {
            Position::InPlace
        } else if exists(&self.aside()) {
            Position::Aside
        } else if exists(&self.file()) {
            Position::Foreign
        } else {
            Position::Absent
        }
    }

    fn is_in_place(&self) -> bool {
        text(&self.file()).contains(script::MARK)
    }

    /// The file of our hook, in place or aside.
    fn ours(&self) -> Option<PathBuf> {
        match self.position() {
            Position::InPlace => Some(self.file()),
            Position::Aside => Some(self.aside()),
            Position::Absent | Position::Foreign => None,
        }
    }

    pub(crate) fn is_installed(&self) -> bool {
        self.ours().is_some()
    }

    /// What our hook is, in place or aside.
    pub(crate) fn text(&self) -> String {
        self.ours().map(|file| text(&file)).unwrap_or_default()
    }

    /// How long our hook is in place. One that is aside is not always in place, whatever it says.
    pub(crate) fn presence(&self) -> Presence {
        if self.position() == Position::Aside || self.text().contains(script::NOT_ALWAYS) {
            Presence::DuringTurns
        } else {
            Presence::Always
        }
    }

    pub(crate) fn script(&self, program: &str, presence: Presence) -> String {
        let made = !self.directory.exists() || self.text().contains(script::MADE);
        let notes = [
            made.then_some(script::MADE),
            (presence == Presence::DuringTurns).then_some(script::DURING_TURNS),
        ];
        script::text(program, notes.into_iter().flatten())
    }

    /// Puts a new hook in place; one of somebody else's that is there is kept.
    pub(crate) fn install(&self, program: &str, presence: Presence) -> io::Result<()> {
        let script = self.script(program, presence);
        std::fs::create_dir_all(&self.directory)?;
        if presence == Presence::DuringTurns {
            fs::private_directory(&self.turns())?;
        }
        let _lock = self.lock()?;
        self.keep_foreign()?;
        fs::replace(&self.aside(), script.as_bytes(), Durability::Synced)?;
        std::fs::set_permissions(self.aside(), std::fs::Permissions::from_mode(0o755))?;
        fs::relocate(&self.aside(), &self.file())?;
        match presence {
            Presence::DuringTurns => Ok(()),
            Presence::Always => self.forget_turns(),
        }
    }

    /// Keeps events and commands from changing the hook at the same time, where events do.
    pub(super) fn lock(&self) -> io::Result<Option<Guard>> {
        if !self.turns().is_dir() {
            return Ok(None);
        }
        match lock::acquire(&self.turns().join(".lock"), HOOK_PATIENCE)? {
            Acquired::Held(guard) => Ok(Some(guard)),
            Acquired::Busy => Err(io::Error::other("another event is changing it")),
        }
    }

    /// Puts our hook in place if it is aside.
    pub(super) fn put_in_place(&self) -> io::Result<()> {
        if self.position() == Position::Aside {
            self.keep_foreign()?;
            fs::relocate(&self.aside(), &self.file())?;
        }
        Ok(())
    }

    /// Gives somebody else's hook a second name, before ours takes the first.
    fn keep_foreign(&self) -> io::Result<()> {
        if !exists(&self.file()) || self.is_in_place() {
            return Ok(());
        }
        match fs::link_aside(&self.file(), &self.before()) {
            Ok(()) => Ok(()),
            // Whoever did this before was killed after it.
            Err(_) if is_same(&self.file(), &self.before()) => Ok(()),
            Err(_) if exists(&self.before()) => Err(io::Error::other(format!(
                "{} is there already, and so is another hook: one of them has to go",
                script::BEFORE
            ))),
            // The file system has no hard links.
            Err(_) => fs::relocate(&self.file(), &self.before()),
        }
    }

    /// Takes our hook out of git's way, and gives somebody else's its name back.
    pub(super) fn put_aside(&self) -> io::Result<()> {
        let text = text(&self.file());
        if !text.contains(script::MARK) || !text.contains(script::NOT_ALWAYS) {
            return Ok(());
        }
        if !exists(&self.before()) {
            return fs::relocate(&self.file(), &self.aside());
        }
        fs::unless_absent(fs::remove(&self.aside()))?;
        match fs::link_aside(&self.file(), &self.aside()) {
            Ok(()) => fs::relocate(&self.before(), &self.file()),
            // Without hard links it stays: slower, but the other hook is never missing.
            Err(_) => Ok(()),
        }
    }

    /// Why our hook would not do its work; nothing where it would, or where there is none of ours.
    pub(crate) fn broken(&self) -> Option<String> {
        let Some(file) = self.ours() else {
            let replaced = exists(&self.before());
            let why = if exists(&self.file()) {
                "was replaced by another hook"
            } else if replaced {
                "is gone, and what it replaced is still aside"
            } else {
                "is gone"
            };
            let was_there = replaced || self.turns().is_dir();
            return was_there.then(|| format!("{} {why}", self.file().display()));
        };
        let program = script::program(&text(&file))?;
        let why = if !is_executable(&file) {
            "cannot be executed, so git skips it".to_owned()
        } else if !is_executable(Path::new(&program)) {
            format!("runs {program}, which is not there")
        } else if self.presence() == Presence::DuringTurns && !self.turns().is_dir() {
            format!("stays where it is, whether an agent is at work or not: there is no {TURNS}")
        } else {
            return None;
        };
        Some(format!("{} {why}", file.display()))
    }

    /// Our hook in the repository's own directory, where git does not find it any more.
    pub(crate) fn bypassed(&self, root: &Path) -> Option<PathBuf> {
        let own = Self::own(&Repository::discover(root)?.common_dir);
        let elsewhere = real(&own.directory) != real(&self.directory);
        (elsewhere && own.is_installed() && !self.is_installed()).then_some(self.directory.clone())
    }

    /// Takes the hook out and gives the one from before its name back.
    pub(crate) fn uninstall(&self) -> io::Result<()> {
        let made = self.text().contains(script::MADE);
        let _lock = self.lock()?;
        let is_in_place = self.is_in_place();
        if exists(&self.before()) && (is_in_place || !exists(&self.file())) {
            fs::relocate(&self.before(), &self.file())?;
        } else if is_in_place {
            fs::remove(&self.file())?;
        } else if is_same(&self.file(), &self.before()) {
            // Its second name, left by a process that was killed.
            fs::remove(&self.before())?;
        }
        fs::unless_absent(fs::remove(&self.aside()))?;
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

fn exists(file: &Path) -> bool {
    file.symlink_metadata().is_ok()
}

fn is_same(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| {
        let metadata = path.symlink_metadata().ok()?;
        Some((metadata.dev(), metadata.ino()))
    };
    identity(one).is_some_and(|id| identity(other) == Some(id))
}

fn text(file: &Path) -> String {
    let contents = fs::read_regular(file, 1 << 20).ok().flatten();
    contents.map(fs::Contents::into_text).unwrap_or_default()
}
