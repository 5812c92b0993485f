//! Trees: the work tree as git would write it, and what differs between it and an older one.

use std::collections::BTreeMap;

use super::objects::{Id, Kind, Object, Objects};
use super::walk::Seen;

/// What a directory's entry is.
pub(super) const FILE: u32 = 0o100_644;
pub(super) const PROGRAM: u32 = 0o100_755;
pub(super) const LINK: u32 = 0o120_000;
const DIRECTORY: u32 = 0o040_000;

/// More directories in directories are not followed.
const DEPTH: usize = 200;

/// Nor more entries: a few trees can have millions of them by naming each other.
const ENTRIES: usize = 50_000;

/// A directory of the work tree.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) id: Id,
    /// In git's order.
    pub(super) entries: Vec<(Box<[u8]>, Node)>,
}

/// What is in a directory.
#[derive(Debug)]
pub(super) enum Node {
    File(File),
    Directory(Directory),
}

/// A file or symbolic link, as it was when it was looked at.
#[derive(Debug)]
pub(super) struct File {
    pub(super) mode: u32,
    pub(super) id: Id,
    pub(super) seen: Seen,
}

/// An entry of a tree that was read.
#[derive(Clone, Copy)]
struct Entry<'t> {
    mode: u32,
    name: &'t [u8],
    id: Id,
}

impl Node {
    fn mode(&self) -> u32 {
        match self {
            Self::File(file) => file.mode,
            Self::Directory(_) => DIRECTORY,
        }
    }

    pub(super) fn id(&self) -> Id {
        match self {
            Self::File(file) => file.id,
            Self::Directory(directory) => directory.id,
        }
    }
}

impl Directory {
    /// The directory with these entries, and the object that it is.
    pub(super) fn new(mut entries: Vec<(Box<[u8]>, Node)>) -> (Self, Object) {
        // git has the directories in the order of their names with a slash.
        entries.sort_by(|(one, this), (other, that)| {
            let end = |node: &Node| (node.mode() == DIRECTORY).then_some(&b'/');
            let one = one.iter().chain(end(this));
            one.cmp(other.iter().chain(end(that)))
        });
        let mut content = Vec::with_capacity(entries.len() * 48);
        for (name, node) in &entries {
            content.extend(format!("{:o} ", node.mode()).into_bytes());
            content.extend_from_slice(name);
            content.push(0);
            content.extend(node.id().0);
        }
        let object = Object::new(Kind::Tree, content);
        let directory = Self {
            id: object.id,
            entries,
        };
        (directory, object)
    }
}

/// The paths that differ between a commit or tree and the work tree. None if that takes objects
/// that only git can read.
pub(super) fn differing(objects: &Objects, base: Id, now: &Directory) -> Option<Vec<Vec<u8>>> {
    if base == now.id {
        return Some(Vec::new());
    }
    let (kind, content) = objects.read(base)?;
    let base = match kind {
        Kind::Tree => base,
        Kind::Commit => {
            let line = content.split(|byte| *byte == b'\n').next()?;
            Id::parse(line.strip_prefix(b"tree ")?)?
        }
        Kind::Blob => return None,
    };
    let mut comparison = Comparison {
        objects,
        path: Vec::new(),
        depth: 0,
        entries: 0,
        paths: Vec::new(),
    };
    comparison.compare(Some(base), Some(now))?;
    Some(comparison.paths)
}

struct Comparison<'c> {
    objects: &'c Objects,
    path: Vec<u8>,
    depth: usize,
    entries: usize,
    paths: Vec<Vec<u8>>,
}

impl Comparison<'_> {
    /// Compares a tree with a directory, of which one may not be there.
    fn compare(&mut self, base: Option<Id>, now: Option<&Directory>) -> Option<()> {
        if base == now.map(|now| now.id) {
            return Some(());
        }
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        let content = match base {
            Some(base) => match self.objects.read(base)? {
                (Kind::Tree, content) => content,
                (Kind::Blob | Kind::Commit, _) => return None,
            },
            None => Vec::new(),
        };
        let entries = now.iter().flat_map(|now| &now.entries);
        let mut after: BTreeMap<&[u8], &Node> =
            entries.map(|(name, node)| (&**name, node)).collect();
        let before = read(&content)?;
        self.entries += before.len() + 1;
        if self.entries > ENTRIES {
            return None;
        }
        for entry in before {
            self.entry(entry.name, Some(entry), after.remove(entry.name))?;
        }
        for (name, node) in after {
            self.entry(name, None, Some(node))?;
        }
        self.depth -= 1;
        Some(())
    }

    fn entry(
        &mut self,
        name: &[u8],
        before: Option<Entry<'_>>,
        after: Option<&Node>,
    ) -> Option<()> {
        let length = self.path.len();
        if length > 0 {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(name);
        let old = before.filter(|entry| entry.mode == DIRECTORY);
        let new = match after {
            Some(Node::Directory(directory)) => Some(directory),
            Some(Node::File(_)) | None => None,
        };
        self.compare(old.map(|entry| entry.id), new)?;
        let old = before.filter(|entry| entry.mode != DIRECTORY);
        let new = after.filter(|node| node.mode() != DIRECTORY);
        let old = old.map(|entry| (entry.mode, entry.id));
        if old != new.map(|node| (node.mode(), node.id())) {
            self.paths.push(self.path.clone());
        }
        self.path.truncate(length);
        Some(())
    }
}

/// The entries of a tree. None if there are any that a plain repository does not have.
fn read(content: &[u8]) -> Option<Vec<Entry<'_>>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let mut rest = content;
    while !rest.is_empty() {
        let blank = rest.iter().position(|byte| *byte == b' ')?;
        let mode = std::str::from_utf8(rest.get(..blank)?).ok()?;
        let mode = u32::from_str_radix(mode, 8).ok()?;
        if ![FILE, PROGRAM, LINK, DIRECTORY].contains(&mode) {
            return None;
        }
        rest = rest.get(blank + 1..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        let (name, after) = rest.split_at_checked(end)?;
        let (id, after) = after.get(1..)?.split_at_checked(20)?;
        entries.push(Entry {
            mode,
            name,
            id: Id(id.try_into().ok()?),
        });
        rest = after;
    }
    // The same name twice is for git to make sense of.
    let mut names: Vec<_> = entries.iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    names.dedup();
    (names.len() == entries.len()).then_some(entries)
}
