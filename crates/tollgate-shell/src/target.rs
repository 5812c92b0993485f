//! The files that an effect is about: a path as far as it is known.

use std::fmt;

use super::path::join;
use super::word::{
    BELOW, BRACKET, DEEP, EXCEPT, HOLE, LOOSE, Match, NAME, QUERY, STAR, Word, is_branch, is_mark,
    matches, matches_path,
};

/// One file, a directory with all that is in it, or what a glob or unknown text stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Absolute and cleaned, with marks where text is unknown or a glob is active. It starts with
    /// a mark where not even the directory is known.
    pattern: String,
    /// Patterns over whole paths that it leaves out.
    except: Vec<String>,
    extent: Extent,
}

/// How far a target goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The path itself.
    Path,
    /// The path and all below it.
    Tree,
    /// Something below the path, and it is unknown what: a branch that is checked out, an archive
    /// that is unpacked.
    Within,
}

/// Whether a target is, or covers, a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Covers {
    /// It does not.
    No,
    /// It could, but a part of it is unknown.
    Perhaps,
    /// It does: it is the path, a glob that covers it, or a tree around it.
    Yes,
}

/// What is not known of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// Nothing: the path is literal.
    None,
    /// A glob, which stands for whatever exists and fits it.
    Glob,
    /// Some text.
    Unknown,
}

impl Target {
    /// The file of a literal path, which is absolute.
    pub fn file(path: &str) -> Self {
        Self::of(path, Extent::Path)
    }

    /// The directory of a literal path, which is absolute, with all that is in it.
    pub fn tree(path: &str) -> Self {
        Self::of(path, Extent::Tree)
    }

    fn of(path: &str, extent: Extent) -> Self {
        let clean: String = path.chars().filter(|letter| !is_mark(*letter)).collect();
        Self {
            pattern: join("/", &clean),
            except: Vec::new(),
            extent,
        }
    }

    /// A path of which nothing is known.
    pub fn unknown() -> Self {
        Self {
            pattern: String::from(HOLE),
            except: Vec::new(),
            extent: Extent::Path,
        }
    }

    /// What a word names for a command that runs in `dir`.
    pub(crate) fn named(word: &Word, dir: Option<&str>, extent: Extent) -> Self {
        let mut parts = word.raw().split(EXCEPT);
        let pattern = absolute(parts.next().unwrap_or_default(), dir);
        let except = parts.map(|except| match dir {
            Some(dir) if !except.starts_with(DEEP) => join(dir, except),
            Some(_) | None => except.to_owned(),
        });
        Self {
            pattern,
            except: except.collect(),
            extent,
        }
    }

    /// The absolute path, if all of it is known.
    pub fn path(&self) -> Option<&str> {
        (self.gap() == Gap::None).then_some(&self.pattern)
    }

    /// Whether all below the path belongs to it.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// What is not known of it.
    pub fn gap(&self) -> Gap {
        let unknown = |letter: char| matches!(letter, HOLE | LOOSE) || is_branch(letter);
        if self.pattern.contains(unknown) {
            Gap::Unknown
        } else if self.pattern.contains(is_mark) {
            Gap::Glob
        } else {
            Gap::None
        }
    }

    /// The directory that all it may be lies in, as far as that is known; nothing when not even
    /// where it starts is. Of a literal path it is the path.
    pub fn directory(&self) -> Option<&str> {
        let Some(at) = self.pattern.find(is_mark) else {
            return Some(&self.pattern);
        };
        let (known, _) = self.pattern.split_at(at);
        match known.rsplit_once('/')? {
            ("", _) => Some("/"),
            (directory, _) => Some(directory),
        }
    }

    /// The path of a tree, where `/*` behind it stands for all that is in it; nothing where some of
    /// it is unknown.
    pub(crate) fn whole(&self) -> Option<String> {
        let path = self.pattern.as_str();
        let path = path
            .strip_suffix([STAR, DEEP])
            .map_or(path, |above| match above {
                "/" => above,
                _ => above.strip_suffix('/').unwrap_or(path),
            });
        (!path.contains(is_mark)).then(|| path.to_owned())
    }

    /// The last component of the path, if that much is known.
    pub fn name(&self) -> Option<&str> {
        let (_, name) = self.pattern.rsplit_once('/')?;
        // `BELOW` ends with the slash that it stands for.
        let name = name.rsplit(BELOW).next().unwrap_or(name);
        (!name.is_empty() && !name.contains(is_mark)).then_some(name)
    }

    /// Whether it is, or covers, this absolute path.
    pub fn covers(&self, path: &str) -> Covers {
        let found = match self.extent {
            Extent::Path => matches_path(&self.pattern, path),
            Extent::Tree | Extent::Within => {
                let above = std::path::Path::new(path).ancestors();
                let above = above.filter_map(std::path::Path::to_str);
                let found = above.map(|above| matches_path(&self.pattern, above)).max();
                found.unwrap_or(Match::No)
            }
        };
        let leaves_out = |except: &String| matches(except, path) == Match::Yes;
        match found {
            Match::No => Covers::No,
            _ if self.except.iter().any(leaves_out) => Covers::No,
            Match::Yes if self.extent != Extent::Within => Covers::Yes,
            Match::Maybe | Match::Yes => Covers::Perhaps,
        }
    }

    /// Whether some paths are excepted.
    pub(crate) fn leaves_out(&self) -> bool {
        !self.except.is_empty()
    }

    /// Whether it lies below a directory, whatever it is.
    pub(crate) fn lies_in(&self, directory: &str) -> Covers {
        let above = std::path::Path::new(&self.pattern).ancestors().skip(1);
        let above = above.filter_map(std::path::Path::to_str);
        match above.map(|above| matches(above, directory)).max() {
            Some(Match::Yes) => Covers::Yes,
            Some(Match::Maybe) => Covers::Perhaps,
            Some(Match::No) | None => Covers::No,
        }
    }

    /// The path as a glob over paths: `*` within one component, `**` for any text, also none.
    /// What is literal stands as it is.
    pub fn glob(&self) -> String {
        let mut glob = String::with_capacity(self.pattern.len());
        for letter in self.pattern.chars() {
            match letter {
                STAR | NAME => glob.push('*'),
                QUERY => glob.push('?'),
                BRACKET => glob.push('['),
                BELOW => glob.push_str("**/"),
                mark if is_mark(mark) => glob.push_str("**"),
                other => glob.push(other),
            }
        }
        glob
    }
}

/// The absolute text of a word that is a path.
fn absolute(path: &str, dir: Option<&str>) -> String {
    match dir {
        _ if path.starts_with('/') => join("/", path),
        // Unknown text may start with a slash.
        _ if path.starts_with(|letter| letter == HOLE || letter == LOOSE || is_branch(letter)) => {
            path.to_owned()
        }
        Some(dir) => join(dir, path),
        None => format!("{HOLE}{}", join("/", path)),
    }
}

impl fmt::Display for Target {
    /// For a person: unknown parts show as `…`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = Word::new(self.pattern.as_str()).display();
        match self.extent {
            Extent::Path => f.write_str(&shown),
            Extent::Tree => write!(f, "{}/", shown.trim_end_matches('/')),
            Extent::Within => write!(f, "{}/…", shown.trim_end_matches('/')),
        }
    }
}
