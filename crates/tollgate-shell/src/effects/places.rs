//! Where a call of git works: the work trees and repositories that a command line finds, and those
//! that it makes.

use std::path::{Path, PathBuf};

use super::switch::new_worktree;
use crate::effect::Relation;
use crate::git_call::GitCall;
use crate::path::{changed, join};
use crate::run::Run;
use crate::word::{Word, hole};
use crate::world::{Head, RepositoryPaths, World};

/// Deeper directories than this are not searched.
const MAX_COMPONENTS: usize = 128;
/// More work trees than this are one.
const MAX_TREES: usize = 64;
/// One work tree and what its `HEAD` may be.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) repository: Option<RepositoryPaths>,
    pub(super) root: PathBuf,
    pub(super) relation: Relation,
    pub(super) heads: Vec<Head>,
    /// What was checked out before, the latest last.
    pub(super) previous: Vec<String>,
}

/// The work trees of a command line. The first is where it starts.
pub(super) struct Trees<'a> {
    world: World<'a>,
    all: Vec<Tree>,
    /// Branches that the command line makes.
    pub(super) made: Vec<String>,
    /// The repository that was made in a directory of unknown name.
    unnamed: Option<usize>,
    /// Whether something ran before that may have made anything.
    pub(super) busy: bool,
    /// Whether something before may have made directories.
    pub(super) builds: bool,
}

impl<'a> Trees<'a> {
    /// Without a start no repository is looked for.
    pub(super) fn new(start: Option<&Path>, world: &World<'a>) -> Self {
        let repository = start.and_then(|start| world.files.repository(start));
        let start = start.unwrap_or(Path::new("/"));
        let known = repository.as_ref();
        let heads = vec![known.map_or(Head::None, |found| world.files.head(found))];
        let root = known.map_or(start, |found| &found.work_tree);
        let first = Tree {
            root: root.to_owned(),
            repository,
            relation: Relation::Here,
            heads,
            previous: Vec::new(),
        };
        Self {
            world: *world,
            all: vec![first],
            made: Vec::new(),
            unnamed: None,
            busy: false,
            builds: false,
        }
    }

    pub(super) fn get(&self, place: usize) -> Option<&Tree> {
        self.all.get(place)
    }

    /// A work tree, and the branches that the command line makes.
    pub(super) fn with_made(&mut self, place: usize) -> Option<(&mut Tree, &mut Vec<String>)> {
        Some((self.all.get_mut(place)?, &mut self.made))
    }

    /// What each `HEAD` may be.
    pub(super) fn heads(&self) -> Vec<Vec<Head>> {
        self.all.iter().map(|tree| tree.heads.clone()).collect()
    }

    /// The same as it was before.
    pub(super) fn set_heads(&mut self, heads: Vec<Vec<Head>>) {
        for (tree, heads) in self.all.iter_mut().zip(heads) {
            tree.heads = heads;
        }
    }

    /// Adds heads that may be the case as well, after those known already.
    pub(super) fn add_heads(&mut self, heads: Vec<Vec<Head>>) {
        for (tree, heads) in self.all.iter_mut().zip(heads) {
            for head in heads {
                if !tree.heads.contains(&head) {
                    tree.heads.push(head);
                }
            }
        }
    }

    /// The branches that may be checked out there; nothing for none.
    pub(super) fn branches(&self, place: usize) -> Vec<Option<String>> {
        let heads = self.get(place).map(|tree| tree.heads.as_slice());
        let branches = heads.unwrap_or_default().iter();
        branches
            .map(|head| head.branch().map(str::to_owned))
            .collect()
    }

    /// The work tree a call works in, as an index into the trees.
    pub(super) fn place(&mut self, call: &GitCall) -> usize {
        let unnamed = self.unnamed.unwrap_or(0);
        let Some(dir) = call.dir.as_deref() else {
            return unnamed;
        };
        let work_tree = match &call.work_tree {
            Some(word) => match word.literal() {
                Some(path) => join(dir, path),
                None => return unnamed,
            },
            None => dir.to_owned(),
        };
        if let Some(git_dir) = &call.git_dir {
            let Some(path) = git_dir.literal() else {
                return unnamed;
            };
            let git_dir = join(dir, path);
            let (git_dir, work_tree) = (Path::new(&git_dir), Path::new(&work_tree));
            return match self.world.files.repository_at(git_dir, work_tree) {
                Some(repository) => self.tree(repository),
                None => 0,
            };
        }
        self.find_place(Path::new(dir))
    }

    pub(super) fn find_place(&mut self, path: &Path) -> usize {
        if path.components().nth(MAX_COMPONENTS).is_some() {
            return 0;
        }
        // Work trees and repositories that this command line makes.
        let made = self.all.iter().rposition(|tree| {
            let made = tree.repository.is_none() || !self.world.files.exists(&tree.root);
            made && path.starts_with(&tree.root)
        });
        if let Some(made) = made.filter(|made| *made > 0) {
            return made;
        }
        match self.world.files.repository(path) {
            Some(repository) => self.tree(repository),
            // `cd nowhere; git commit`: the shell stays where it was.
            None if !self.world.files.exists(path) && !self.builds => 0,
            None => self.push(None, path.to_owned(), Relation::Elsewhere, Head::None),
        }
    }

    pub(super) fn tree(&mut self, repository: RepositoryPaths) -> usize {
        let canonical = |path: &Path| self.world.files.canonical(path);
        let is_same = |known: &RepositoryPaths| {
            known.git_dir == repository.git_dir
                || canonical(&known.git_dir) == canonical(&repository.git_dir)
        };
        let mut trees = self.all.iter();
        if let Some(known) = trees.position(|tree| tree.repository.as_ref().is_some_and(is_same)) {
            return known;
        }
        let here = self.all.first().and_then(|tree| tree.repository.as_ref());
        let relation = match here {
            Some(here) if here.common_dir == repository.common_dir => Relation::Linked,
            _ => Relation::Elsewhere,
        };
        let head = self.world.files.head(&repository);
        let root = repository.work_tree.clone();
        self.push(Some(repository), root, relation, head)
    }

    pub(super) fn push(
        &mut self,
        repository: Option<RepositoryPaths>,
        root: PathBuf,
        relation: Relation,
        head: Head,
    ) -> usize {
        if self.all.len() >= MAX_TREES {
            return 0;
        }
        self.all.push(Tree {
            repository,
            root,
            relation,
            heads: vec![head],
            previous: Vec::new(),
        });
        self.all.len() - 1
    }

    pub(super) fn new_worktree(&mut self, call: &GitCall, place: usize) {
        if let Some((path, head)) = new_worktree(&call.args) {
            let tree = self.all.get(place);
            let relation = match tree.map(|tree| tree.relation) {
                Some(Relation::Here | Relation::Linked) => Relation::Linked,
                Some(Relation::Elsewhere) | None => Relation::Elsewhere,
            };
            let repository = tree.and_then(|tree| tree.repository.clone());
            self.made.extend(head.branch().map(str::to_owned));
            self.push_made(
                repository,
                changed(call.dir.as_deref(), path),
                relation,
                head,
            );
        }
    }

    /// Adds a work tree that the command line makes, perhaps in an unknown directory.
    pub(super) fn push_made(
        &mut self,
        repository: Option<RepositoryPaths>,
        path: Option<String>,
        relation: Relation,
        head: Head,
    ) {
        let is_named = path.is_some();
        let root = path.unwrap_or_else(hole);
        let made = self.push(repository, PathBuf::from(root), relation, head);
        if !is_named {
            self.unnamed = Some(made);
        }
    }

    pub(super) fn new_repository(&mut self, call: &GitCall) {
        let path = call.new_repository().unwrap_or_else(|| Word::new("."));
        let root = changed(call.dir.as_deref(), &path);
        // `git init` in an existing repository changes nothing.
        let found = root.as_deref().and_then(|root| {
            let found = self.world.files.repository(Path::new(root))?;
            (found.work_tree == Path::new(root)).then_some(())
        });
        if found.is_none() {
            self.builds = true;
            self.push_made(None, root, Relation::Elsewhere, Head::None);
        }
    }

    /// Whether nothing before may have made a directory.
    pub(super) fn is_untouched(&self) -> bool {
        !self.busy && !self.builds && self.all.len() == 1
    }

    /// Whether git is asked to work in a directory that is not there, and would refuse. What ran
    /// before may have made it.
    pub(super) fn is_nowhere(&self, run: &Run, call: &GitCall) -> bool {
        let (Some(base), Some(dir)) = (run.dir.as_deref(), call.dir.as_deref()) else {
            return false;
        };
        if !self.is_untouched() {
            return false;
        }
        let git_dir = call.git_dir.as_ref().and_then(Word::literal);
        let asked = match git_dir {
            Some(path) => join(dir, path),
            None if dir != base => dir.to_owned(),
            None => return false,
        };
        self.exists(base) && !self.exists(&asked)
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        self.world.files.exists(Path::new(path))
    }
}
