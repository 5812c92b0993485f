//! Replacing a file in one step, and sweeping up after those who were killed doing it.
//!
//! **Whose is a temporary file?** Its writer holds a `flock` on it from its creation until it
//! has been renamed. The kernel lets go when the writer dies and not when it is merely stopped,
//! so a file that can be locked has no owner and is removed; no process id, no age and no other
//! lock comes into it. The gap between creating and locking is closed by the writer: it goes on
//! to another name if a sweeper was quicker.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{FlockOperation, Gid, Mode, OFlags, Uid};
use rustix::io::Errno;

use super::fault::step;
use super::read::{FileKind, Identity};

/// What the name of every temporary file begins with.
pub const TEMPORARY: &str = ".tollgate-tmp-";

/// How much a write must survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// A killed process, but not the loss of power: for events, of which there are many. (Fifty
    /// writers that synchronise each write were measured to queue for 0.9 s.)
    Lazy,
    /// The loss of power too: for transitions and verdicts.
    Synced,
}

/// Why a file was not written. The old one is still there.
#[derive(Debug, thiserror::Error)]
pub enum WriteFault {
    /// Something else is in its place.
    #[error("it is {0}; Tollgate replaces regular files only")]
    NotRegular(FileKind),
    /// The system refused.
    #[error("{doing} failed: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl From<WriteFault> for io::Error {
    fn from(fault: WriteFault) -> Self {
        Self::other(fault)
    }
}

/// The mode and owner a new file gets: those of the file it replaces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileAttributes {
    mode: u32,
    owner: Option<(u32, u32)>,
}

/// A complete file under a temporary name. Dropped before it is published, it is removed.
#[derive(Debug)]
pub(crate) struct Staged {
    file: File,
    path: PathBuf,
    owner: (u32, u32),
}

/// Replaces a file, or creates it with mode 0600; then it holds exactly `bytes`.
pub fn replace(path: &Path, bytes: &[u8], durability: Durability) -> Result<(), WriteFault> {
    replace_or_create(path, bytes, FileAttributes::private(), durability)
}

/// Replaces a file, or creates one that everybody who works on the project reads.
pub fn replace_shared(path: &Path, bytes: &[u8], durability: Durability) -> Result<(), WriteFault> {
    replace_or_create(path, bytes, FileAttributes::shared(), durability)
}

fn replace_or_create(
    path: &Path,
    bytes: &[u8],
    if_new: FileAttributes,
    durability: Durability,
) -> Result<(), WriteFault> {
    sweep(parent(path)).map_err(WriteFault::at("sweeping"))?;
    let attributes = match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => if_new,
        Ok(_) | Err(_) => FileAttributes::of(path)?,
    };
    let staged = Staged::write(parent(path), bytes, attributes, durability)?;
    staged.publish(path)?;
    sync_parent(path, durability).map_err(WriteFault::at("synchronising the directory"))
}

/// Creates a file that everybody who works on the project reads: with exactly `bytes`, or not at
/// all. Says whether it did; what has the name already stays as it is.
pub fn create(path: &Path, bytes: &[u8]) -> Result<bool, WriteFault> {
    create_as(path, bytes, FileAttributes::shared(), Durability::Lazy)
}

/// The same for a file that only its owner reads, and that cannot be made again.
pub fn create_private(path: &Path, bytes: &[u8]) -> Result<bool, WriteFault> {
    create_as(path, bytes, FileAttributes::private(), Durability::Synced)
}

fn create_as(
    path: &Path,
    bytes: &[u8],
    attributes: FileAttributes,
    durability: Durability,
) -> Result<bool, WriteFault> {
    let directory = parent(path);
    sweep(directory).map_err(WriteFault::at("sweeping"))?;
    Staged::write(directory, bytes, attributes, durability)?.publish_new(path)
}

/// Removes the temporary files in a directory that no living writer owns. Says how many.
pub fn sweep(directory: &Path) -> io::Result<usize> {
    let entries = match directory.read_dir() {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let mut swept = 0;
    for entry in entries {
        let entry = entry?;
        if !entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(TEMPORARY.as_bytes())
        {
            continue;
        }
        let path = entry.path();
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(file) = rustix::fs::open(&path, flags, Mode::empty()) else {
            continue; // published or swept by another process, or none of ours
        };
        if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
            && remove(&path).is_ok()
        {
            swept += 1;
        }
    }
    Ok(swept)
}

/// Removes a file.
pub fn remove(path: &Path) -> io::Result<()> {
    step("unlink")?;
    std::fs::remove_file(path)
}

/// The outcome of something that may have been done before: nothing there is fine.
pub fn unless_absent(outcome: io::Result<()>) -> io::Result<()> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    }
}

/// Gives a file a second name, which is free. The first one stays.
pub fn link_aside(from: &Path, to: &Path) -> io::Result<()> {
    step("link aside")?;
    std::fs::hard_link(from, to)
}

/// Gives a file another name, which is free.
pub(crate) fn move_aside(from: &Path, to: &Path) -> io::Result<()> {
    step("rename aside")?;
    if to.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    rename(from, to)
}

#[expect(clippy::disallowed_methods, reason = "this is the place that renames")]
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    }
}

/// Makes a rename in the file's directory survive the loss of power.
fn sync_parent(path: &Path, durability: Durability) -> io::Result<()> {
    match durability {
        Durability::Lazy => Ok(()),
        Durability::Synced => {
            step("fsync directory")?;
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let directory = rustix::fs::open(parent(path), flags, Mode::empty())?;
            Ok(rustix::fs::fsync(directory)?)
        }
    }
}

impl WriteFault {
    pub(crate) fn at(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }

    /// Whether the rename failed because the two names are on different file systems.
    pub(crate) fn crosses_devices(&self) -> bool {
        match self {
            Self::Io { source, .. } => source.kind() == io::ErrorKind::CrossesDevices,
            Self::NotRegular(_) => false,
        }
    }
}

impl FileAttributes {
    /// Of the file that is to be replaced, if there is one.
    pub(crate) fn of(path: &Path) -> Result<Self, WriteFault> {
        match path.symlink_metadata() {
            Ok(metadata) => match FileKind::of(&metadata) {
                None => Ok(Self::from(&metadata)),
                Some(kind) => Err(WriteFault::NotRegular(kind)),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::private()),
            Err(error) => Err(WriteFault::at("looking at it")(error)),
        }
    }

    pub(crate) fn with_mode(self, mode: u32) -> Self {
        Self {
            mode: mode & 0o777,
            ..self
        }
    }

    /// For a file that everybody who works on the project reads.
    pub(crate) fn shared() -> Self {
        Self {
            mode: 0o644,
            owner: None,
        }
    }

    /// For a file that no process has seen yet.
    pub(crate) fn private() -> Self {
        Self {
            mode: 0o600,
            owner: None,
        }
    }
}

impl From<&Metadata> for FileAttributes {
    fn from(metadata: &Metadata) -> Self {
        Self {
            mode: metadata.mode() & 0o777,
            owner: Some((metadata.uid(), metadata.gid())),
        }
    }
}

impl Staged {
    pub(crate) fn write(
        directory: &Path,
        bytes: &[u8],
        attributes: FileAttributes,
        durability: Durability,
    ) -> Result<Self, WriteFault> {
        let staged =
            Self::create(directory).map_err(WriteFault::at("creating a temporary file"))?;
        staged
            .fill(bytes)
            .map_err(WriteFault::at("writing the temporary file"))?;
        staged
            .shape(attributes)
            .map_err(WriteFault::at("setting the mode"))?;
        if durability == Durability::Synced {
            step("fsync")
                .and_then(|()| staged.file.sync_all())
                .map_err(WriteFault::at("synchronising the temporary file"))?;
        }
        Ok(staged)
    }

    fn create(directory: &Path) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        // A name is lost to a sweeper or to a leftover of an earlier process with our id. Neither
        // happens twice in a row by chance.
        for _ in 0..64 {
            let n = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = directory.join(format!("{TEMPORARY}{}-{n}", std::process::id()));
            if let Some(staged) = Self::claim(&path)? {
                return Ok(staged);
            }
        }
        Err(io::Error::other("no free name for a temporary file"))
    }

    /// Creates a file of this name; nothing if it exists, or was swept meanwhile.
    fn claim(path: &Path) -> io::Result<Option<Self>> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        step("create")?;
        let file = match rustix::fs::open(path, flags, Mode::from(0o600)) {
            Ok(descriptor) => File::from(descriptor),
            Err(Errno::EXIST) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        };
        let locked = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
        let metadata = file.metadata()?;
        let is_ours = match locked {
            Ok(()) => metadata.nlink() > 0,
            // Without locks on this file system nobody can sweep either: not our loss.
            Err(errno) => matches!(errno, Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS),
        };
        Ok(is_ours.then(|| Self {
            file,
            path: path.to_owned(),
            owner: (metadata.uid(), metadata.gid()),
        }))
    }

    fn fill(&self, bytes: &[u8]) -> io::Result<()> {
        step("write")?;
        let (half, rest) = bytes.split_at(bytes.len() / 2);
        if cfg!(test) {
            // A torn write is a place to be killed at, too.
            self.file.write_all_at(half, 0)?;
            step("write the rest")?;
            return self.file.write_all_at(rest, half.len() as u64);
        }
        self.file.write_all_at(bytes, 0)
    }

    fn shape(&self, attributes: FileAttributes) -> io::Result<()> {
        step("chmod")?;
        if let Some((user, group)) = attributes.owner.filter(|owner| *owner != self.owner) {
            // Only root may give a file away; for others it stays theirs, as with any editor.
            let _kept = rustix::fs::fchown(
                &self.file,
                Some(Uid::from_raw(user)),
                Some(Gid::from_raw(group)),
            );
        }
        self.file
            .set_permissions(std::fs::Permissions::from_mode(attributes.mode))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Which file it is and will stay when it is renamed.
    pub(crate) fn identity(&self) -> io::Result<Identity> {
        Ok(Identity::of(&self.metadata()?))
    }

    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// Gives it its name, in place of whatever file has it.
    pub(crate) fn publish(mut self, target: &Path) -> Result<(), WriteFault> {
        step("rename")
            .and_then(|()| rename(&self.path, target))
            .map_err(WriteFault::at("renaming"))?;
        self.path = PathBuf::new();
        Ok(())
    }

    /// Gives it its name, unless anything has that already. Says whether it did.
    fn publish_new(mut self, target: &Path) -> Result<bool, WriteFault> {
        let linked = step("link").and_then(|()| std::fs::hard_link(&self.path, target));
        match linked {
            // The other name goes with `drop`; should that not come, it is swept.
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            // A file system without links: then there is a moment between the look and the rename.
            Err(_) => match move_aside(&self.path, target) {
                Ok(()) => {
                    self.path = PathBuf::new();
                    Ok(true)
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
                Err(error) => Err(WriteFault::at("renaming")(error)),
            },
        }
    }

    /// As [`Self::publish`], and then makes sure of it. The error says the rename itself is done.
    pub(crate) fn publish_synced(
        self,
        target: &Path,
        durability: Durability,
    ) -> Result<io::Result<()>, WriteFault> {
        self.publish(target)?;
        Ok(sync_parent(target, durability))
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // Failing this, the next writer sweeps it; not hindered by a copy of the descriptor
            // in a child that another thread is just starting.
            if remove(&self.path).is_err() {
                let _swept_later = rustix::fs::flock(&self.file, FlockOperation::Unlock);
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests plant files")]
mod tests {
    use super::*;
    use crate::fs::{Plan, Strike, inject};
    use std::os::unix::fs::symlink;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = dir
            .read_dir()
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn staged(dir: &Path) -> Staged {
        Staged::write(dir, b"x", FileAttributes::private(), Durability::Lazy).unwrap()
    }

    #[test]
    fn a_new_file_is_private_and_an_old_one_keeps_its_mode() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        replace(&path, b"one", Durability::Lazy).unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o600);
        for mode in [0o640, 0o666, 0o444] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            replace(&path, b"two", Durability::Synced).unwrap();
            assert_eq!(path.metadata().unwrap().mode() & 0o7777, mode);
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(names(dir.path()), ["f"]);
    }

    #[test]
    fn a_created_file_is_whole_or_not_there_and_takes_nobodys_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        assert!(create(&path, b"one").unwrap());
        assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o644);
        assert!(!create(&path, b"two").unwrap(), "somebody has that name");
        let link = dir.path().join("l");
        symlink("nowhere", &link).unwrap();
        assert!(!create(&link, b"two").unwrap(), "a link has it, too");
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        assert_eq!(names(dir.path()), ["f", "l"]);

        // Whatever fails, and everything after it, as if the process were killed there.
        inject(None);
        create(&dir.path().join("steps"), b"all of it").unwrap();
        let steps = inject(None);
        assert!(steps > 3);
        for at in 1..=steps {
            let path = dir.path().join(format!("at-{at}"));
            inject(Some(Plan {
                at,
                strike: Strike::Forever(5),
            }));
            let created = create(&path, b"all of it");
            inject(None);
            match std::fs::read(&path) {
                Ok(bytes) => assert_eq!(bytes, b"all of it", "step {at}"),
                Err(_) => assert!(created.is_err(), "step {at}"),
            }
        }
        sweep(dir.path()).unwrap();
        let left = |name: &String| name.starts_with(TEMPORARY);
        assert!(!names(dir.path()).iter().any(left));
    }

    #[test]
    fn a_link_is_refused_and_its_target_untouched() {
        let dir = tempfile::tempdir().unwrap();
        let (target, link) = (dir.path().join("t"), dir.path().join("l"));
        std::fs::write(&target, "x").unwrap();
        symlink(&target, &link).unwrap();
        let fault = replace(&link, b"y", Durability::Lazy).unwrap_err();
        assert!(matches!(fault, WriteFault::NotRegular(FileKind::Symlink)));
        assert_eq!(std::fs::read(&target).unwrap(), b"x");
        assert_eq!(names(dir.path()), ["l", "t"]);
    }

    #[test]
    fn a_directory_in_its_place_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let fault = replace(dir.path(), b"y", Durability::Lazy).unwrap_err();
        assert!(matches!(fault, WriteFault::NotRegular(FileKind::Directory)));
    }

    #[test]
    fn a_dead_writers_file_is_swept_and_a_living_ones_is_not() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(format!("{TEMPORARY}1-1")), "half").unwrap();
        std::fs::write(dir.path().join("mine.tmp"), "not ours").unwrap();
        let living = staged(dir.path());
        assert_eq!(sweep(dir.path()).unwrap(), 1);
        assert!(living.path().exists());
        living.publish(&dir.path().join("f")).unwrap();
        assert_eq!(names(dir.path()), ["f", "mine.tmp"]);
    }

    #[test]
    fn what_is_staged_and_not_published_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        drop(staged(dir.path()));
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn a_forked_copy_of_the_descriptor_does_not_keep_a_leftover_from_being_swept() {
        let dir = tempfile::tempdir().unwrap();
        let staged = staged(dir.path());
        let _copy = staged.file.try_clone().unwrap();
        inject(Some(Plan {
            at: 1,
            strike: Strike::Once(5),
        }));
        drop(staged);
        inject(None);
        assert_eq!(names(dir.path()).len(), 1, "its removal failed");
        assert_eq!(sweep(dir.path()).unwrap(), 1);
    }

    #[test]
    fn a_hard_link_elsewhere_keeps_its_old_text() {
        let dir = tempfile::tempdir().unwrap();
        let (path, other) = (dir.path().join("f"), dir.path().join("other"));
        std::fs::write(&path, "old").unwrap();
        std::fs::hard_link(&path, &other).unwrap();
        replace(&path, b"new", Durability::Lazy).unwrap();
        assert_eq!(std::fs::read(&other).unwrap(), b"old");
    }
}
