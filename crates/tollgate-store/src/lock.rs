//! One lock per state: `flock` on a file that is never removed and never renamed.
//!
//! The kernel lets go of the lock when its holder dies, however it dies, so there is no stale
//! lock to recognise. What it does not cure is a holder that is alive and stopped; therefore
//! no process waits longer than its limit.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::fs;

/// How long a hook waits: a host's shortest timeout is seconds, a person notices a third of one.
pub const HOOK_PATIENCE: Duration = Duration::from_millis(250);

/// The first and the longest nap between two tries.
const NAPS: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(4));

/// What came of trying to get a lock.
#[derive(Debug)]
pub enum Acquired {
    /// It is ours until the guard is dropped.
    Held(Guard),
    /// Another process had it all the time.
    Busy,
}

/// A held lock. The lock's file is open in it; a child process does not inherit it.
#[derive(Debug)]
pub struct Guard {
    file: File,
}

impl Guard {
    /// The lock's file, in which its holder keeps a short record.
    pub fn file(&self) -> &File {
        &self.file
    }
}

impl Drop for Guard {
    /// Unlocks explicitly: a child that another thread has forked and that has not yet replaced itself
    /// still holds a copy of the descriptor, and with it the lock.
    fn drop(&mut self) {
        let _closed_anyway = rustix::fs::flock(&self.file, FlockOperation::Unlock);
    }
}

/// Gets the lock at `path`, waiting for it up to `patience`. The file and its directory are
/// created (0600, 0700, hidden from git) if they are not there.
pub fn acquire(path: &Path, patience: Duration) -> io::Result<Acquired> {
    // A duration, not a moment: the monotonic clock may be read here.
    let start = Instant::now();
    let mut nap = NAPS.0;
    loop {
        let (file, inode) = open(path)?;
        while !locked(&file)? {
            let Some(left) = patience
                .checked_sub(start.elapsed())
                .filter(|d| !d.is_zero())
            else {
                return Ok(Acquired::Busy);
            };
            sleep(nap.min(left));
            nap = (nap * 2).min(NAPS.1);
        }
        // Another process may have removed the file (`git clean`) while we waited for it; a lock on a
        // file without a name excludes no process.
        if is_at(inode, path)? {
            return Ok(Acquired::Held(Guard { file }));
        }
        if start.elapsed() > patience {
            return Ok(Acquired::Busy);
        }
    }
}

fn locked(file: &File) -> io::Result<bool> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// The lock's file, and its device and number.
fn open(path: &Path) -> io::Result<(File, (u64, u64))> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(descriptor) => File::from(descriptor),
        Err(Errno::NOENT) => {
            if let Some(directory) = path.parent() {
                fs::private_directory(directory)?;
            }
            let descriptor = rustix::fs::open(path, flags | OFlags::CREATE, Mode::from(0o600))?;
            File::from(descriptor)
        }
        Err(errno) => return Err(errno.into()),
    };
    let metadata = file.metadata()?;
    if metadata.is_file() {
        Ok((file, (metadata.dev(), metadata.ino())))
    } else {
        Err(io::Error::other("the lock is not a regular file"))
    }
}

fn is_at(inode: (u64, u64), path: &Path) -> io::Result<bool> {
    match path.symlink_metadata() {
        Ok(there) => Ok((there.dev(), there.ino()) == inode),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType};
    use rustix::io::{FdFlags, fcntl_getfd};

    fn held(acquired: Acquired) -> Guard {
        match acquired {
            Acquired::Held(guard) => guard,
            Acquired::Busy => panic!("busy"),
        }
    }

    #[test]
    fn a_forked_copy_of_the_descriptor_does_not_keep_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let guard = held(acquire(&path, Duration::ZERO).unwrap());
        let _copy = guard.file().try_clone().unwrap();
        drop(guard);
        held(acquire(&path, Duration::ZERO).unwrap());
    }

    #[test]
    fn the_lock_is_created_private_with_its_directory_and_not_inherited() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/lock");
        let guard = held(acquire(&path, Duration::ZERO).unwrap());
        assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o600);
        assert_eq!(
            dir.path().join("a/b").metadata().unwrap().mode() & 0o7777,
            0o700
        );
        assert!(dir.path().join("a/b/.gitignore").exists());
        assert!(
            fcntl_getfd(guard.file())
                .unwrap()
                .contains(FdFlags::CLOEXEC)
        );
    }

    #[test]
    fn it_is_held_by_one_and_patience_ends() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let guard = held(acquire(&path, Duration::ZERO).unwrap());
        let start = Instant::now();
        let patience = Duration::from_millis(50);
        assert!(matches!(acquire(&path, patience).unwrap(), Acquired::Busy));
        assert!(start.elapsed() >= patience && start.elapsed() < patience * 6);
        drop(guard);
        drop(held(acquire(&path, Duration::ZERO).unwrap()));
        assert!(path.exists());
    }

    #[test]
    fn a_removed_lock_file_does_not_let_two_in() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let (orphan, inode) = open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(locked(&orphan).unwrap());
        assert!(!is_at(inode, &path).unwrap());
        let guard = held(acquire(&path, Duration::ZERO).unwrap());
        let metadata = guard.file().metadata().unwrap();
        assert!(is_at((metadata.dev(), metadata.ino()), &path).unwrap());
    }

    #[test]
    fn a_pipe_in_its_place_is_an_error_not_a_wait() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::from(0o600), 0).unwrap();
        acquire(&path, Duration::ZERO).unwrap_err();
    }
}
