//! Where paths really lead.
//!
//! `Path::canonicalize` asks about every directory of every path, and the paths of an event lie in the
//! same few directories: with it, a command that writes a file took a quarter longer.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Paths with their links followed. While one of these lives, each directory is asked once whether
/// it is a link.
#[derive(Debug, Default)]
pub struct Links(RefCell<BTreeMap<OsString, Option<PathBuf>>>);

impl Links {
    /// Where a path really leads; nothing if it does not exist.
    pub fn canonical(&self, path: &Path) -> Option<PathBuf> {
        if let Some(known) = self.0.borrow().get(path.as_os_str()) {
            return known.clone();
        }
        let found = self.follow(path);
        let path = path.as_os_str().to_owned();
        self.0.borrow_mut().insert(path, found.clone());
        found
    }

    fn follow(&self, path: &Path) -> Option<PathBuf> {
        let here = match (path.parent(), path.file_name()) {
            (Some(above), Some(name)) if path.is_absolute() => self.canonical(above)?.join(name),
            (None, None) if path.is_absolute() => return Some(path.to_owned()),
            // Relative, or ends with `..`.
            _ => return path.canonicalize().ok(),
        };
        let is_link = here.symlink_metadata().ok()?.is_symlink();
        if is_link {
            here.canonicalize().ok()
        } else {
            Some(here)
        }
    }
}

/// Where one path really leads; nothing if it does not exist.
pub fn canonical(path: &Path) -> Option<PathBuf> {
    Links::default().canonical(path)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests plant files")]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_path_leads_where_the_system_says() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/file"), "").unwrap();
        symlink("a/b", root.join("link")).unwrap();
        symlink("../file", root.join("a/b/up")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        symlink("circle", root.join("circle")).unwrap();
        symlink(&root, root.join("a/whole")).unwrap();
        let links = Links::default();
        for path in [
            "",
            "a",
            "a/b",
            "a/./b",
            "a//b",
            "a/b/..",
            "a/b/../file",
            "a/file",
            "a/file/x",
            "link",
            "link/up",
            "link/..",
            "link/../file",
            "a/b/up",
            "a/whole/a/whole/link/up",
            "dangling",
            "dangling/x",
            "circle",
            "circle/x",
            "absent",
            "absent/x",
            "absent/..",
            "../..",
        ] {
            let path = root.join(path);
            let expected = path.canonicalize().ok();
            assert_eq!(links.canonical(&path), expected, "{path:?}");
            assert_eq!(canonical(&path), expected, "{path:?}");
        }
        assert_eq!(canonical(Path::new("/")), Some(PathBuf::from("/")));
        assert_eq!(canonical(Path::new("")), None);
        let here = Path::new(".");
        assert_eq!(canonical(here), here.canonicalize().ok());
    }
}
