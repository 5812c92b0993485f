//! What is special in an index of git, and whether the work tree is still the one that was put into
//! it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::git::{Asked, Git};

/// Whether a work tree changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    No,
    Yes,
}

/// What an index has beside files that git looks at. All paths are relative to the top.
#[derive(Debug, Default)]
pub(crate) struct Special {
    /// Files that git was told not to look at.
    pub(crate) hidden: Vec<PathBuf>,
    /// Where other repositories lie, or should.
    pub(crate) repositories: Vec<PathBuf>,
}

/// The list of an index, while git prints it.
#[derive(Debug)]
pub(crate) struct Listing(Asked);

impl Listing {
    /// Has git begin.
    pub(crate) fn of(git: &Git, index: &Path) -> Self {
        let top = git.top().as_os_str();
        let args = ["ls-files", "-z", "-v", "--stage"].map(OsStr::new);
        let args = [OsStr::new("-C"), top].into_iter().chain(args);
        Self(git.ask_with_index(index, args))
    }

    /// Waits for it, and says what is special. An index that git cannot list has nothing special;
    /// `git add`, which reads the same index, reports the error.
    pub(crate) fn special(self, git: &Git) -> Special {
        let mut special = Special::default();
        let listed = self.0.bytes().unwrap_or_default();
        for line in listed.split(|byte| *byte == 0) {
            // `h 100644 <id> 0<tab><path>`: a small letter for what is assumed, S for what is
            // skipped.
            let at = line.iter().position(|byte| *byte == b'\t');
            let (Some(tag), Some(mode), Some(at)) = (line.first(), line.get(2..8), at) else {
                continue;
            };
            let path = line.get(at + 1..).unwrap_or_default();
            let path = Path::new(OsStr::from_bytes(path));
            if mode == b"160000" {
                special.repositories.push(path.to_owned());
            } else if is_hidden(git, *tag, path) {
                special.hidden.push(path.to_owned());
            }
        }
        special
    }
}

/// Whether git was told not to look at a file. One that is not checked out on purpose is not missing.
fn is_hidden(git: &Git, tag: u8, path: &Path) -> bool {
    let is_there = || git.top().join(path).symlink_metadata().is_ok();
    let is_skipped = tag.eq_ignore_ascii_case(&b'S');
    tag.is_ascii_lowercase() || (is_skipped && (!git.is_sparse() || is_there()))
}

/// Compares the files with what an index says about them. New files that nobody added are not
/// seen.
pub(crate) fn compare(git: &Git, index: &Path) -> Moved {
    let args = ["diff-files", "--quiet", "--ignore-submodules=all"];
    if git.ask_with_index(index, args).yes() {
        Moved::No
    } else {
        Moved::Yes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(dir: &Path, args: &[&str]) {
        let run = std::process::Command::new("git")
            .arg("-C")
            .arg(dir)
            .args(args)
            .output()
            .unwrap();
        assert!(run.status.success(), "{run:?}");
    }

    #[test]
    fn a_changed_file_is_seen_in_every_format() {
        for (format, version) in [
            ("sha1", "--index-version=2"),
            ("sha1", "--index-version=4"),
            ("sha1", "--split-index"),
            ("sha256", "--index-version=2"),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let option = format!("--object-format={format}");
            git(dir.path(), &["init", "-q", &option]);
            for name in ["a", "a file with a longer name", "ü"] {
                std::fs::File::create(dir.path().join(name)).unwrap();
            }
            git(dir.path(), &["add", "-A"]);
            git(dir.path(), &["update-index", version]);
            let git = Git::at(dir.path()).unwrap();
            let index = dir.path().join(".git/index");
            assert_eq!(compare(&git, &index), Moved::No, "{format} {version}");
            let file = std::fs::File::options()
                .write(true)
                .open(dir.path().join("a"))
                .unwrap();
            std::io::Write::write_all(&mut &file, b"x").unwrap();
            assert_eq!(compare(&git, &index), Moved::Yes, "{format} {version}");
        }
    }
}
