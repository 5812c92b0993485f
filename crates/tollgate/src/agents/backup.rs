//! What settings files were before Tollgate changed them, so that an uninstall can give them back
//! byte for byte.
//!
//! Kept in `.tollgate/local/install` of the project, or in the person's state directory for the
//! person's own settings: one directory per file, with `before` (absent if the file was made),
//! `after`, and `directories` that were made for it.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use tollgate_store::fs::{self, Durability, read_own, unless_absent};

use super::read::MAX;
use super::{Places, Scope};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BackupRecord {
    /// What an uninstall gives back; nothing if there was no file.
    pub(crate) before: Option<Vec<u8>>,
    /// What the install made of it.
    pub(crate) after: Vec<u8>,
    /// Directories that were made for it, the outermost first.
    pub(crate) directories: Vec<PathBuf>,
}

#[derive(Clone, Debug)]
pub(crate) struct Backup {
    /// What is Tollgate's own: `.tollgate/local`, or the state directory.
    local: PathBuf,
    /// The project's `.tollgate`, which is made with it.
    home: Option<PathBuf>,
    /// What paths are remembered relative to, so that a project can be moved.
    base: PathBuf,
}

/// Says that an install made the project's `.tollgate`.
const MADE_HOME: &str = "made-home";

impl Backup {
    /// The place for changes of this scope; nothing for a person without a home.
    pub(crate) fn of(scope: Scope, places: &Places) -> Option<Self> {
        match scope {
            Scope::Project | Scope::Local => {
                let home = places.root.join(".tollgate");
                Some(Self {
                    local: home.join("local"),
                    home: Some(home),
                    base: places.root.clone(),
                })
            }
            Scope::User => Some(Self {
                local: places.state.clone()?,
                home: None,
                base: PathBuf::from("/"),
            }),
        }
    }

    fn install(&self) -> PathBuf {
        self.local.join("install")
    }

    /// The directory for what is remembered of `file`.
    pub(crate) fn place(&self, file: &Path) -> PathBuf {
        let name = self.relative(file).to_string_lossy().replace('/', "!");
        self.install().join(name.trim_start_matches('!'))
    }

    fn relative<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(&self.base).unwrap_or(path)
    }

    pub(crate) fn load(&self, file: &Path) -> Option<BackupRecord> {
        let place = self.place(file);
        let read = |name: &str| {
            read_own(&place.join(name), MAX)
                .ok()?
                .map(|found| found.bytes)
        };
        let directories = read("directories").unwrap_or_default();
        let directories = directories
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| self.base.join(std::ffi::OsStr::from_bytes(line)));
        Some(BackupRecord {
            before: read("before"),
            after: read("after")?,
            directories: directories.collect(),
        })
    }

    /// Remembers `record`, before the file itself is touched.
    pub(crate) fn keep(&self, file: &Path, record: &BackupRecord) -> io::Result<()> {
        let made_home = self.home.as_ref().is_some_and(|home| !home.exists());
        fs::private_directory(&self.local)?;
        let place = self.place(file);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&place)?;
        if made_home {
            put(&self.install().join(MADE_HOME), b"")?;
        }
        match &record.before {
            Some(before) => put(&place.join("before"), before)?,
            None => unless_absent(fs::remove(&place.join("before")))?,
        }
        let mut lines = Vec::new();
        for directory in &record.directories {
            lines.extend_from_slice(self.relative(directory).as_os_str().as_bytes());
            lines.push(b'\n');
        }
        put(&place.join("directories"), &lines)?;
        // Last: a record counts once it says what was made of the file.
        put(&place.join("after"), &record.after)
    }

    /// Forgets what is remembered of `file`, and leaves no trace if it was the last.
    pub(crate) fn forget(&self, file: &Path) -> io::Result<()> {
        let place = self.place(file);
        for name in ["after", "before", "directories"] {
            unless_absent(fs::remove(&place.join(name)))?;
        }
        unless_absent(std::fs::remove_dir(&place))?;
        self.clean();
        Ok(())
    }

    /// Takes away what only an install made. Whatever else is in there keeps it.
    fn clean(&self) {
        let install = self.install();
        let marker = install.join(MADE_HOME);
        let made_home = marker.exists();
        let others = entries(&install).filter(|name| name != MADE_HOME).count();
        if others > 0 {
            return;
        }
        let _none = fs::remove(&marker);
        let _kept = std::fs::remove_dir(&install);
        if entries(&self.local).all(|name| name == ".gitignore") {
            let _none = fs::remove(&self.local.join(".gitignore"));
            let _kept = std::fs::remove_dir(&self.local);
        }
        if let Some(home) = self.home.as_ref().filter(|_| made_home) {
            let _kept = std::fs::remove_dir(home);
        }
    }
}

fn entries(directory: &Path) -> impl Iterator<Item = String> {
    let entries = directory.read_dir().into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned())
}

fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    Ok(fs::replace(path, bytes, Durability::Synced)?)
}
