//! Private directories and the small records in them.

use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::fault::step;
use super::replace::rename;

/// Makes sure of a directory that is Tollgate's own: mode 0700, with a `.gitignore` that hides
/// all of it.
///
/// To be called before the first file is created in it, so that a process killed halfway never
/// leaves a file that git could see.
pub fn private_directory(path: &Path) -> io::Result<()> {
    create_directories(path)?;
    let ignore = path.join(".gitignore");
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    step("create .gitignore")?;
    match rustix::fs::open(&ignore, flags, Mode::from(0o600)) {
        Ok(descriptor) => File::from(descriptor).write_all(b"*\n"),
        Err(rustix::io::Errno::EXIST) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// The names in a directory, in no order.
pub fn names(directory: &Path) -> io::Result<Vec<OsString>> {
    let entries = directory.read_dir()?;
    entries.map(|entry| Ok(entry?.file_name())).collect()
}

/// Creates what is missing of a path of directories, 0700 whatever the umask.
pub fn create_directories(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        create_directories(parent)?;
    }
    step("mkdir")?;
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Moves a file or directory to another name on the same file system, replacing a file there.
pub fn relocate(from: &Path, to: &Path) -> io::Result<()> {
    step("relocate")?;
    rename(from, to)
}

/// Overwrites the start of an open file. Up to a page this is one copy in the kernel, which a
/// killed process does or does not do.
pub(crate) fn write_record(file: &File, record: &[u8]) -> io::Result<()> {
    step("write record")?;
    file.write_all_at(record, 0)
}

/// Overwrites a private file in place. A process that is killed meanwhile leaves a mixture, so this is
/// for files of which a record elsewhere says whether they count.
pub(crate) fn overwrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
    step("overwrite")?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let descriptor = rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::from(0o600))?;
    let file = File::from(descriptor);
    file.write_all_at(bytes, 0)?;
    step("cut off")?;
    file.set_len(bytes.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn a_private_directory_is_private_and_hidden_from_git() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b");
        private_directory(&path).unwrap();
        private_directory(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
        assert_eq!(mode(&dir.path().join("a")), 0o700);
        assert_eq!(mode(&path.join(".gitignore")), 0o600);
        assert_eq!(
            std::fs::read_to_string(path.join(".gitignore")).unwrap(),
            "*\n"
        );
    }
}
