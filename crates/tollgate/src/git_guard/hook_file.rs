//! One hook of git's: in place or aside, and what was there before.
//!
//! A hook that is there already is kept beside ours under another name and runs after it, with the
//! same input. While ours is aside, and after an uninstall, it has its own name. Every change is one
//! `rename`, after a hard link where two hooks change places, so that a process that is killed takes
//! away no other hook.

use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tollgate_store::fs::{self, Durability};

use super::script;
use crate::agents::places::is_executable;

/// One of git's hooks in a directory.
#[derive(Clone, Debug)]
pub(crate) struct HookFile {
    directory: PathBuf,
    pub(super) name: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// Nowhere, and there is no other.
    Absent,
    /// Where git finds it.
    InPlace,
    /// Beside that place, where git does not find it.
    Aside,
    /// Nowhere, and another hook is in its place.
    Foreign,
}

impl HookFile {
    pub(super) fn new(directory: &Path, name: &'static str) -> Self {
        Self {
            directory: directory.to_owned(),
            name,
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.join(self.name)
    }

    fn before(&self) -> PathBuf {
        self.directory.join(script::before(self.name))
    }

    /// Where our hook is while it is aside.
    fn aside(&self) -> PathBuf {
        self.directory.join(format!("{}.tollgate-aside", self.name))
    }

    pub(crate) fn position(&self) -> Position {
        if self.is_in_place() {
            Position::InPlace
        } else if exists(&self.aside()) {
            Position::Aside
        } else if exists(&self.path()) {
            Position::Foreign
        } else {
            Position::Absent
        }
    }

    fn is_in_place(&self) -> bool {
        text(&self.path()).contains(script::MARK)
    }

    /// The file of our hook, in place or aside.
    fn ours(&self) -> Option<PathBuf> {
        match self.position() {
            Position::InPlace => Some(self.path()),
            Position::Aside => Some(self.aside()),
            Position::Absent | Position::Foreign => None,
        }
    }

    pub(super) fn is_installed(&self) -> bool {
        self.ours().is_some()
    }

    /// What our hook is, in place or aside.
    pub(super) fn text(&self) -> String {
        self.ours().map(|file| text(&file)).unwrap_or_default()
    }

    /// Puts a new hook in place; another hook that is there is kept.
    pub(super) fn install(&self, script: &str) -> io::Result<()> {
        self.keep_foreign()?;
        fs::replace(&self.aside(), script.as_bytes(), Durability::Synced)?;
        std::fs::set_permissions(self.aside(), std::fs::Permissions::from_mode(0o755))?;
        fs::relocate(&self.aside(), &self.path())
    }

    /// Puts our hook in place if it is aside.
    pub(super) fn put_in_place(&self) -> io::Result<()> {
        if self.position() == Position::Aside {
            self.keep_foreign()?;
            fs::relocate(&self.aside(), &self.path())?;
        }
        Ok(())
    }

    /// Gives another hook a second name, before ours takes the first.
    fn keep_foreign(&self) -> io::Result<()> {
        if !exists(&self.path()) || self.is_in_place() {
            return Ok(());
        }
        match fs::link_aside(&self.path(), &self.before()) {
            Ok(()) => Ok(()),
            // Whoever did this before was killed after it.
            Err(_) if is_same(&self.path(), &self.before()) => Ok(()),
            Err(_) if exists(&self.before()) => Err(io::Error::other(format!(
                "{} is there already, and so is another hook: remove one of them",
                script::before(self.name)
            ))),
            // The file system has no hard links.
            Err(_) => fs::relocate(&self.path(), &self.before()),
        }
    }

    /// Takes our hook out of git's way, and restores the name of the other hook.
    pub(super) fn put_aside(&self) -> io::Result<()> {
        let text = text(&self.path());
        if !text.contains(script::MARK) || !text.contains(script::NOT_ALWAYS) {
            return Ok(());
        }
        if !exists(&self.before()) {
            return fs::relocate(&self.path(), &self.aside());
        }
        fs::unless_absent(fs::remove(&self.aside()))?;
        match fs::link_aside(&self.path(), &self.aside()) {
            Ok(()) => fs::relocate(&self.before(), &self.path()),
            // Without hard links it stays: slower, but the other hook is never missing.
            Err(_) => Ok(()),
        }
    }

    /// Why our hook would not do its work; nothing where it would. One that is not there is missing
    /// only if it is `expected`, or if the one that it replaced is still aside.
    pub(super) fn broken(&self, expected: bool) -> Option<String> {
        let Some(file) = self.ours() else {
            let replaced = exists(&self.before());
            let why = if exists(&self.path()) {
                "was replaced by another hook"
            } else if replaced {
                "is gone, and what it replaced is still aside"
            } else {
                "is gone"
            };
            return (replaced || expected).then(|| format!("{} {why}", self.path().display()));
        };
        let program = script::program(&text(&file))?;
        let why = if !is_executable(&file) {
            "cannot be executed, so git skips it".to_owned()
        } else if !is_executable(Path::new(&program)) {
            format!("runs {program}, which does not exist")
        } else {
            return None;
        };
        Some(format!("{} {why}", file.display()))
    }

    /// Takes the hook out and gives the one from before its name back.
    pub(super) fn uninstall(&self) -> io::Result<()> {
        let is_in_place = self.is_in_place();
        if exists(&self.before()) && (is_in_place || !exists(&self.path())) {
            fs::relocate(&self.before(), &self.path())?;
        } else if is_in_place {
            fs::remove(&self.path())?;
        } else if is_same(&self.path(), &self.before()) {
            // Its second name, left by a process that was killed.
            fs::remove(&self.before())?;
        }
        fs::unless_absent(fs::remove(&self.aside()))
    }
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
