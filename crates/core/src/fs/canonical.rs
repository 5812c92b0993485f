//! Where a path really leads.

use std::io;
use std::mem::MaybeUninit;
use std::path::{Component, Path, PathBuf};

use rustix::io::Errno;

/// What [`Path::canonicalize`] says. Most paths lead where they say: then it is enough that no part
/// of them is a link, while the C library would set up an allocator of its own for the answer. Not
/// worth it for what is known to be a link.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    match as_it_says(path) {
        Some(path) => Ok(path),
        None => path.canonicalize(),
    }
}

/// The path, if all of it is there and no part of it leads elsewhere. Only Linux takes a name as it
/// is spelled: others may answer in the spelling of the disk, and a guard compares the answers.
fn as_it_says(path: &Path) -> Option<PathBuf> {
    cfg!(target_os = "linux").then_some(())?;
    let mut parts = path.components();
    let mut below = PathBuf::with_capacity(path.as_os_str().len());
    below.push(parts.next().filter(|part| *part == Component::RootDir)?);
    for part in parts {
        let Component::Normal(name) = part else {
            return None;
        };
        below.push(name);
        let mut text = [MaybeUninit::<u8>::uninit()];
        let read = rustix::fs::readlinkat_raw(rustix::fs::CWD, &below, &mut text);
        // It is there, and no link.
        read.is_err_and(|error| error == Errno::INVAL)
            .then_some(())?;
    }
    // Only a directory may be named with a slash or a dot at its end.
    let is_plain = below.as_os_str().len() == path.as_os_str().len();
    is_plain.then_some(below)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_path_leads_where_the_system_says() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b/c")).unwrap();
        std::fs::File::create(root.join("a/file")).unwrap();
        symlink("b", root.join("a/link")).unwrap();
        symlink(root.join("a"), root.join("whole")).unwrap();
        symlink("nowhere", root.join("a/dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let mut as_they_say = 0;
        for below in [
            "",
            "a",
            "a/",
            "a/.",
            "a//b",
            "a/b/c",
            "a/b/../b",
            "a/file",
            "a/file/",
            "a/file/.",
            "a/file/x",
            "a/link",
            "a/link/c",
            "whole/b",
            "whole/link/c",
            "a/dangling",
            "a/nothing",
            "loop",
            "..",
        ] {
            let path = match below {
                "" => root.clone(),
                below => PathBuf::from(format!("{}/{below}", root.display())),
            };
            let (told, true_one) = (canonical(&path), path.canonicalize());
            assert_eq!(told.as_ref().ok(), true_one.as_ref().ok(), "{below:?}");
            as_they_say += usize::from(as_it_says(&path).is_some());
        }
        let expected = if cfg!(target_os = "linux") { 4 } else { 0 };
        assert_eq!(as_they_say, expected, "the root, a, a/b/c and a/file");
        for path in ["/", "relative", ".", ""] {
            let path = Path::new(path);
            assert_eq!(canonical(path).ok(), path.canonicalize().ok(), "{path:?}");
        }
    }
}
