//! What is where by the time a command runs: the files of the world, and what the commands before
//! made of them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::world::World;

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    File,
    Directory,
    Missing,
    /// It is unknown.
    Unknown,
}

/// The world, with what the commands so far did to it.
pub(super) struct Seen<'w> {
    world: World<'w>,
    changed: BTreeMap<String, Presence>,
    /// Directories somewhere below which something may have changed.
    vague: Vec<String>,
}

/// More changes than this are not remembered.
const MAX_CHANGED: usize = 512;

impl<'w> Seen<'w> {
    pub(super) fn new(world: &World<'w>) -> Self {
        Self {
            world: *world,
            changed: BTreeMap::new(),
            vague: Vec::new(),
        }
    }

    pub(super) fn presence(&self, path: &str) -> Presence {
        if let Some(known) = self.changed.get(path) {
            return *known;
        }
        // What is in a directory that is gone is gone, too.
        let above = Path::new(path).ancestors().skip(1).filter_map(Path::to_str);
        for above in above {
            match self.changed.get(above) {
                Some(Presence::Missing) => return Presence::Missing,
                Some(Presence::Unknown) => return Presence::Unknown,
                // It was not there before.
                Some(Presence::File | Presence::Directory) => break,
                None => {}
            }
        }
        if self
            .vague
            .iter()
            .any(|dir| Path::new(path).starts_with(dir))
        {
            return Presence::Unknown;
        }
        let path = Path::new(path);
        if self.world.files.is_directory(path) {
            Presence::Directory
        } else if self.world.files.exists(path) {
            Presence::File
        } else {
            Presence::Missing
        }
    }

    /// Notes what a path is from now on.
    pub(super) fn note(&mut self, path: &str, presence: Presence) {
        if self.changed.len() < MAX_CHANGED {
            self.changed.insert(path.to_owned(), presence);
        }
    }

    /// Notes that something below a directory may have changed.
    pub(super) fn note_within(&mut self, directory: &str) {
        if self.vague.len() < MAX_CHANGED {
            self.vague.push(directory.to_owned());
        }
    }
}
