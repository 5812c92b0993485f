//! The files of this machine, as the commands that agents run would find them.

use std::cell::RefCell;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::Repository;
use tollgate_shell::{Files, Head, RepositoryPaths};
use tollgate_store::fs::{Links, read_regular};

/// The file system. While one of these lives, each repository is discovered once, each file read
/// once and each directory asked once whether it is a link.
#[derive(Debug, Default)]
pub struct Disk {
    /// What was read of a file, of at most so many bytes.
    texts: Answers<(PathBuf, u64), Option<String>>,
    discovered: Answers<PathBuf, Option<Repository>>,
    links: Rc<Links>,
}

/// Answers to questions that are asked more than once. There are few of them in an event.
#[derive(Debug)]
struct Answers<Q, A>(RefCell<Vec<(Q, A)>>);

impl<Q, A> Default for Answers<Q, A> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<Q: PartialEq, A: Clone> Answers<Q, A> {
    fn get(&self, question: Q, find: impl FnOnce(&Q) -> A) -> A {
        let known = |(asked, answer): &(Q, A)| (*asked == question).then(|| answer.clone());
        if let Some(answer) = self.0.borrow().iter().find_map(known) {
            return answer;
        }
        let answer = find(&question);
        self.0.borrow_mut().push((question, answer.clone()));
        answer
    }
}

impl Disk {
    /// Another view of the same files, which need not ask again what is a link.
    #[must_use]
    pub fn another(&self) -> Self {
        Self {
            links: Rc::clone(&self.links),
            ..Self::default()
        }
    }

    /// The repository that `dir`, or the nearest directory above it, belongs to.
    pub fn discover(&self, dir: &Path) -> Option<Repository> {
        let find = |dir: &PathBuf| Repository::discover(dir);
        self.discovered.get(dir.to_owned(), find)
    }

    /// What is checked out, if the repository was discovered here.
    fn known_head(&self, git_dir: &Path) -> Option<Head> {
        let discovered = self.discovered.0.borrow();
        let mut found = discovered.iter().filter_map(|(_, found)| found.as_ref());
        let found = found.find(|repository| repository.git_dir == git_dir)?;
        Some(found.head())
    }
}

impl Files for Disk {
    fn read(&self, path: &Path, most: u64) -> Option<String> {
        self.texts.get((path.to_owned(), most), |(path, most)| {
            Some(read_regular(path, *most).ok()??.into_text())
        })
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn is_directory(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn is_executable(&self, path: &Path) -> bool {
        let found = path.metadata();
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    }

    fn canonical(&self, path: &Path) -> Option<PathBuf> {
        self.links.canonical(path)
    }

    fn repository(&self, dir: &Path) -> Option<RepositoryPaths> {
        self.discover(dir).map(Into::into)
    }

    fn repository_at(&self, git_dir: &Path, work_tree: &Path) -> Option<RepositoryPaths> {
        Repository::at(git_dir, work_tree).map(Into::into)
    }

    fn head(&self, repository: &RepositoryPaths) -> Head {
        let known = self.known_head(&repository.git_dir);
        let head = known.unwrap_or_else(|| Repository::from(repository).head());
        let behind = head
            .branch()
            .and_then(|name| self.branch_behind(repository, name));
        behind.map_or(head, Head::Branch)
    }

    fn branch_behind(&self, repository: &RepositoryPaths, name: &str) -> Option<String> {
        Repository::from(repository).branch_behind(name)
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
        Self::of(
            paths.work_tree.clone(),
            paths.git_dir.clone(),
            paths.common_dir.clone(),
        )
    }
}
