//! Which repository is this? Trust is given to one, not to a path or a name.
//!
//! A repository is where its common git directory is and when that came to be: a clone that takes
//! the place of another one is another repository, a linked worktree is the same one, a nested
//! repository has its own git directory. The first commit would say it too, but only git can
//! find it, in time that grows with the history, and git is not asked about a repository that
//! is not trusted yet.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use tollgate_core::git;
use tollgate_core::project::Layout;

use crate::hash::hex;

/// A repository, and the project in it that is asked about.
#[derive(Debug)]
pub(crate) struct Repository {
    /// What tells it from all others.
    pub(crate) key: String,
    /// Where it is, for people.
    pub(crate) place: PathBuf,
    /// The project's place in a work tree; `.` is the work tree itself.
    pub(crate) project: String,
    /// All that own a part of it.
    pub(crate) owners: Vec<u32>,
    pub(crate) top: PathBuf,
}

impl Repository {
    /// The repository of a project; the project's own directory, where there is none.
    pub(crate) fn of(layout: &Layout) -> io::Result<Self> {
        let root = layout.root().canonicalize()?;
        let own = root.join(".git");
        // Where it is at hand, nothing of it is read.
        let found = if own.join("HEAD").is_file() {
            Some(git::Repository::of(root.clone(), own.clone(), own))
        } else {
            git::Repository::discover(&root)
        };
        let top = match &found {
            Some(found) => found.work_tree.canonicalize()?,
            None => root.clone(),
        };
        let common = found.as_ref().and_then(|found| shared(found, &top));
        let place = common.clone().unwrap_or_else(|| top.clone());
        let project = root.strip_prefix(&top).unwrap_or(Path::new(""));
        let project = project.to_string_lossy().into_owned();
        let mut owners: Vec<u32> = [
            &root,
            &top,
            &place,
            &layout.gates_home(),
            &layout.config_file(),
        ]
        .into_iter()
        .filter_map(|path| path.metadata().ok())
        .map(|meta| meta.uid())
        .collect();
        owners.sort_unstable();
        owners.dedup();
        Ok(Self {
            key: key(&place)?,
            place: match &common {
                Some(common) => common.parent().unwrap_or(common).to_owned(),
                None => place,
            },
            project: if project.is_empty() {
                ".".to_owned()
            } else {
                project
            },
            owners,
            top,
        })
    }

    /// Another user than `us` who owns a part of it.
    pub(crate) fn stranger(&self, us: u32) -> Option<u32> {
        self.owners.iter().copied().find(|owner| *owner != us)
    }
}

/// The common git directory, if the work tree is really one of its: what `.git` claims, the
/// repository must confirm. Otherwise a person who unpacks an archive with a `.git` file that points
/// to a trusted repository would inherit its trust.
fn shared(found: &git::Repository, top: &Path) -> Option<PathBuf> {
    let common = found.common_dir.canonicalize().ok()?;
    let is_main = top.join(".git").symlink_metadata().ok()?.is_dir() && common == top.join(".git");
    (is_main || found.confirms_work_tree()).then_some(common)
}

fn key(place: &Path) -> io::Result<String> {
    let meta = place.metadata()?;
    let born = meta
        .created()
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let mut hasher = Sha256::new();
    hasher.update(place.as_os_str().as_encoded_bytes());
    // Where the file system does not know it, the number of the file has to do.
    match born {
        Some(born) => hasher.update(format!("\0born {}", born.as_nanos())),
        None => hasher.update(format!("\0file {}", meta.ino())),
    }
    Ok(hex(&hasher.finalize()))
}
