//! What is ignored: the rules of `.gitignore` files and their like, as git reads them.

use super::wildmatch::{Stars, matches};

/// With more rules, git takes its time, which somebody watches.
const MOST: usize = 2_000;

/// Each `**` of a rule may double what it takes to try it.
const STARS: usize = 4;

/// The rules that hold in a directory, those of deeper files later.
#[derive(Debug, Default)]
pub(super) struct Rules {
    /// Of the whole repository and of the person, the stronger file later.
    general: Vec<Vec<Rule>>,
    /// Of the directories from the top down to the one that is looked at.
    directories: Vec<Vec<Rule>>,
}

/// One line of a file.
#[derive(Debug)]
struct Rule {
    /// Without the marks that the other fields stand for.
    pattern: Vec<u8>,
    /// How much of it has no wildcard.
    plain: usize,
    /// What it matches is not ignored.
    is_negative: bool,
    is_for_directories: bool,
    /// It is about names in any directory.
    is_for_names: bool,
    /// A star, and then no wildcard.
    is_ending: bool,
    /// Where the file lies: the length of the path, with the slash at its end.
    base: usize,
}

impl Rules {
    /// Adds a file about the whole repository, stronger than those before. None if it has a line
    /// that only git should read.
    pub(super) fn add_general(&mut self, text: &[u8]) -> Option<()> {
        self.general.push(read(text, 0)?);
        self.are_few()
    }

    fn are_few(&self) -> Option<()> {
        let files = self.general.iter().chain(&self.directories);
        (files.map(Vec::len).sum::<usize>() <= MOST).then_some(())
    }

    /// Goes into a directory, whose path has so many bytes with the slash at its end.
    pub(super) fn enter(&mut self, text: Option<&[u8]>, base: usize) -> Option<()> {
        let rules = text.map_or_else(|| Some(Vec::new()), |text| read(text, base))?;
        let is_empty = rules.is_empty();
        self.directories.push(rules);
        if is_empty { Some(()) } else { self.are_few() }
    }

    /// Leaves a directory.
    pub(super) fn leave(&mut self) {
        self.directories.pop();
    }

    /// Whether the rules say that this is to be ignored; nothing above it is.
    pub(super) fn ignore(&self, path: &[u8], name: &[u8], is_directory: bool) -> bool {
        let files = self.general.iter().chain(&self.directories);
        let mut rules = files.rev().flat_map(|rules| rules.iter().rev());
        rules
            .find(|rule| rule.is_about(path, name, is_directory))
            .is_some_and(|rule| !rule.is_negative)
    }
}

impl Rule {
    fn is_about(&self, path: &[u8], name: &[u8], is_directory: bool) -> bool {
        if self.is_for_directories && !is_directory {
            return false;
        }
        if !self.is_for_names {
            return self.is_about_path(path.get(self.base..).unwrap_or_default());
        }
        if self.plain == self.pattern.len() {
            self.pattern == name
        } else if self.is_ending {
            name.ends_with(self.pattern.get(1..).unwrap_or_default())
        } else {
            matches(&self.pattern, name, Stars::All)
        }
    }

    /// The same for a path relative to where the file lies.
    fn is_about_path(&self, path: &[u8]) -> bool {
        let (pattern, plain) = match self.pattern.split_first() {
            Some((b'/', rest)) => (rest, self.plain.saturating_sub(1)),
            Some(_) | None => (self.pattern.as_slice(), self.plain),
        };
        let (Some((begin, pattern)), Some((same, rest))) = (
            pattern.split_at_checked(plain),
            path.split_at_checked(plain),
        ) else {
            return false;
        };
        begin == same && matches(pattern, rest, Stars::Components)
    }
}

/// The rules in a file. None if there is one that versions of git disagree about.
fn read(text: &[u8], base: usize) -> Option<Vec<Rule>> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    if text.contains(&0) {
        return None;
    }
    let lines = text.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    lines.map(|line| rule(line, base)).collect()
}

fn rule(line: &[u8], base: usize) -> Option<Rule> {
    let line = trimmed(line.strip_suffix(b"\r").unwrap_or(line));
    let (is_negative, line) = match line.strip_prefix(b"!") {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    let (is_for_directories, pattern) = match line.strip_suffix(b"/") {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    let parts = || pattern.split(|byte| *byte == b'/');
    let stars = parts().filter(|part| *part == b"**").count();
    if stars > STARS || parts().any(has_odd_stars) {
        return None;
    }
    let is_special = |byte: &u8| b"*?[\\".contains(byte);
    let plain = pattern.iter().position(is_special);
    let is_ending = line.starts_with(b"*") && !line.get(1..)?.iter().any(is_special);
    Some(Rule {
        plain: plain.unwrap_or(pattern.len()),
        is_negative,
        is_for_directories,
        is_for_names: !pattern.contains(&b'/'),
        is_ending,
        pattern: pattern.to_owned(),
        base,
    })
}

/// Whether there are two stars beside something else. What such a rule means depends on git's
/// version.
fn has_odd_stars(part: &[u8]) -> bool {
    part != b"**" && part.windows(2).any(|two| two == b"**")
}

/// Without the blanks at the end, unless a backslash is before them.
fn trimmed(line: &[u8]) -> &[u8] {
    let mut blanks = None;
    let mut letters = line.iter().enumerate();
    while let Some((at, letter)) = letters.next() {
        match letter {
            b' ' => {
                blanks.get_or_insert(at);
            }
            b'\\' => {
                if letters.next().is_none() {
                    return line;
                }
                blanks = None;
            }
            _ => blanks = None,
        }
    }
    blanks.and_then(|at| line.get(..at)).unwrap_or(line)
}
