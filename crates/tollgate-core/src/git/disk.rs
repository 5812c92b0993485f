//! The files of this machine, as the commands that agents run would find them.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::Repository;
use tollgate_shell::{Files, Head, RepositoryPaths};
use tollgate_store::fs::{canonical, read_regular};

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path, most: u64) -> Option<String> {
        let contents = read_regular(path, most).ok()??;
        Some(String::from_utf8_lossy(&contents.bytes).into_owned())
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn is_executable(&self, path: &Path) -> bool {
        let found = path.metadata();
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    }

    fn canonical(&self, path: &Path) -> Option<PathBuf> {
        canonical(path).ok()
    }

    fn repository(&self, dir: &Path) -> Option<RepositoryPaths> {
        Repository::discover(dir).map(Into::into)
    }

    fn repository_at(&self, git_dir: &Path, work_tree: &Path) -> Option<RepositoryPaths> {
        Repository::at(git_dir, work_tree).map(Into::into)
    }

    fn head(&self, repository: &RepositoryPaths) -> Head {
        Repository::from(repository).head()
    }

    fn has_reference(&self, repository: &RepositoryPaths, reference: &str) -> bool {
        Repository::from(repository).reference_exists(reference)
    }

    fn has_remote_branch(&self, repository: &RepositoryPaths, name: &str) -> bool {
        Repository::from(repository).remote_branch_exists(name)
    }

    fn is_elsewhere(&self, repository: &RepositoryPaths, branch: &str) -> bool {
        Repository::from(repository).checked_out_elsewhere(branch)
    }

    fn previous_branch(&self, repository: &RepositoryPaths, back: usize) -> Option<String> {
        Repository::from(repository).previous_branch(back)
    }
}

impl From<Repository> for RepositoryPaths {
    fn from(repository: Repository) -> Self {
        Self {
            work_tree: repository.work_tree,
            git_dir: repository.git_dir,
            common_dir: repository.common_dir,
        }
    }
}

impl From<&RepositoryPaths> for Repository {
    fn from(paths: &RepositoryPaths) -> Self {
        Self {
            work_tree: paths.work_tree.clone(),
            git_dir: paths.git_dir.clone(),
            common_dir: paths.common_dir.clone(),
        }
    }
}
