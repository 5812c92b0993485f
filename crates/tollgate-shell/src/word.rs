//! A word of a command as far as it can be known, and matching such words against names.

/// Stands for text that cannot be known, as a part of one word.
pub(crate) const HOLE: char = '\u{FDD0}';
/// Stands for unknown text outside quotes: no word at all, one, or several.
pub(crate) const LOOSE: char = '\u{FDD1}';
/// An active `*`, distinguished from a quoted one.
pub(crate) const STAR: char = '\u{FDD2}';
/// An active `?`.
pub(crate) const QUERY: char = '\u{FDD3}';
/// An active `[`.
pub(crate) const BRACKET: char = '\u{FDD4}';

/// Any text at all, known to cover every name: what `find` looks through.
pub(crate) const DEEP: char = '\u{FDD5}';

/// [`DEEP`] in place of all names in a directory.
const ALL_BELOW: &str = "/\u{FDD5}";

/// Any number of directories, each with its slash, also none: where `find` looks for a name.
pub(crate) const BELOW: char = '\u{FDD6}';

/// One component of a path, whatever it is called: what `find -maxdepth 1` searches.
pub(crate) const NAME: char = '\u{FDD7}';

/// Stands before what a pattern does not cover.
pub(crate) const EXCEPT: char = '\u{FDD8}';

/// The marks from here to [`LAST`] stand for names of branches, which the command asks git for and
/// which is known only when following the command from branch to branch.
const FIRST_BRANCH: u32 = 0xFDD9;
pub(crate) const LAST: char = '\u{FDEF}';

/// Stands for the name of a commit, which is not known here.
pub(crate) const SOME_COMMIT: &str = "0000000000000000000000000000000000000000";

/// The mark of a branch's name; nothing when there are too many.
pub(crate) fn branch_mark(number: usize) -> Option<char> {
    let mark = u32::try_from(number).ok()?.checked_add(FIRST_BRANCH)?;
    char::from_u32(mark).filter(|mark| *mark <= LAST)
}

/// The number of a mark that stands for a branch's name.
pub(crate) fn branch_number(mark: char) -> Option<usize> {
    let number = u32::from(mark).checked_sub(FIRST_BRANCH);
    let number = number.filter(|_| mark <= LAST)?;
    usize::try_from(number).ok()
}

/// Whether a letter stands for the name of a branch.
pub(crate) fn is_branch(letter: char) -> bool {
    branch_number(letter).is_some()
}

/// Stands between the elements of an array's value.
pub(crate) const BETWEEN: char = '\u{1F}';
/// The same, to join elements with.
pub(crate) const BETWEEN_TEXT: &str = "\u{1F}";

/// One word of an expanded command: literal text, with marks where text is unknown or a glob is
/// active.
#[derive(Clone, Debug, PartialEq, Eq, Default, Hash)]
pub struct Word(String);

/// How a word compares with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Match {
    /// It cannot be this name.
    No,
    /// It could be, but only because a part of it is unknown.
    Maybe,
    /// It is, or a glob of it covers the name.
    Yes,
}

pub(crate) fn is_mark(letter: char) -> bool {
    (HOLE..=LAST).contains(&letter)
}

/// A text nothing is known about.
pub(crate) fn hole() -> String {
    String::from(HOLE)
}

/// Whether a list of names separated by blanks holds this one.
pub(crate) fn has(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == name)
}

/// A text quoted for a shell.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A letter outside quotes, with the meaning it has there.
pub(crate) fn activate(letter: char) -> char {
    match letter {
        '*' => STAR,
        '?' => QUERY,
        '[' => BRACKET,
        HOLE => LOOSE,
        other => other,
    }
}

/// The text with its marks taken back to what a shell would be given as a program.
pub(crate) fn as_script(text: &str) -> String {
    if !text.contains(is_mark) {
        return text.to_owned();
    }
    text.chars()
        .map(|letter| match letter {
            LOOSE => HOLE,
            STAR => '*',
            QUERY => '?',
            BRACKET => '[',
            other => other,
        })
        .collect()
}

impl Word {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, when every part of it is known and no glob is active.
    pub fn literal(&self) -> Option<&str> {
        // The marks are three bytes that start with 0xEF; most words hold no such byte at all.
        if self.0.as_bytes().contains(&0xEF) && self.0.contains(is_mark) {
            None
        } else {
            Some(&self.0)
        }
    }

    /// The text with its marks, for the rest of this crate.
    pub(crate) fn raw(&self) -> &str {
        &self.0
    }

    /// Whether the word is nothing but unknown text outside quotes, and so may be no word at all
    /// or several.
    pub fn may_vanish(&self) -> bool {
        !self.0.is_empty() && self.0.chars().all(|letter| letter == LOOSE)
    }

    /// Whether some part is unknown; a glob does not count.
    pub fn has_holes(&self) -> bool {
        let unknown = |letter: char| matches!(letter, HOLE | LOOSE) || is_branch(letter);
        self.0.contains(unknown)
    }

    /// Whether the word is known to start with `prefix`.
    pub fn starts_with(&self, prefix: &str) -> bool {
        self.0.starts_with(prefix)
    }

    /// The word for a person: unknown parts show as `…`.
    pub fn display(&self) -> String {
        self.0
            .chars()
            .map(|letter| match letter {
                STAR => '*',
                QUERY => '?',
                BRACKET => '[',
                letter if is_mark(letter) => '…',
                other => other,
            })
            .collect()
    }

    /// The program in a path whose directory is unknown (`$PREFIX/bin/git`), or that a glob spells
    /// (`/usr/bin/g?t`); nothing when the word is known or nothing is.
    pub(crate) fn program_behind(&self) -> Option<Self> {
        if self.literal().is_some() {
            return None;
        }
        // In `g${EMPTY}it` the variable is most likely not set.
        let plain = self.0.replace([HOLE, LOOSE], "");
        if plain == "git" {
            return Some(Self(plain));
        }
        let (_, name) = self.0.rsplit_once('/')?;
        if !name.contains(is_mark) {
            return (!name.is_empty()).then(|| Self::new(name));
        }
        // Of the names that begin with `gi`, git's is the first in a directory of programs.
        let spelled = !name.contains([HOLE, LOOSE, STAR, DEEP, BELOW]) || name.starts_with("gi");
        (spelled && matches(name, "git") == Match::Yes).then(|| Self::new("git"))
    }

    /// The last component of the word as a path.
    pub(crate) fn file_name(&self) -> Self {
        Self::new(self.0.rsplit('/').next().unwrap_or_default())
    }
}

/// Matches `pattern`, a text with marks, against a name. A `*` stays within one path component,
/// unknown text does not.
pub(crate) fn matches(pattern: &str, name: &str) -> Match {
    if !pattern.contains(is_mark) {
        return if pattern == name {
            Match::Yes
        } else {
            Match::No
        };
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    // Quadratic in the worst case.
    if pattern.len().saturating_mul(name.len()) > 1 << 20 {
        return Match::Maybe;
    }
    // `row[i]`: how well the pattern read so far matches the first `i` letters of the name.
    let mut row = vec![Match::No; name.len() + 1];
    if let Some(first) = row.first_mut() {
        *first = Match::Yes;
    }
    let mut at = 0;
    while let Some(&mark) = pattern.get(at) {
        at += 1;
        let mut next = vec![Match::No; name.len() + 1];
        match mark {
            _ if spans(mark) => {
                let mut best = Match::No;
                for (index, (slot, before)) in next.iter_mut().zip(&row).enumerate() {
                    let letter = index.checked_sub(1).and_then(|at| name.get(at));
                    let one = matches!(mark, STAR | NAME) && letter == Some(&'/');
                    if one || mark == STAR && hidden(&name, index) {
                        best = Match::No;
                    }
                    best = best.max(*before);
                    let known = matches!(mark, STAR | DEEP | NAME);
                    *slot = if known { best } else { best.min(Match::Maybe) };
                }
            }
            BELOW => {
                let mut best = Match::No;
                for (index, (slot, before)) in next.iter_mut().zip(&row).enumerate() {
                    best = best.max(*before);
                    let ends = index.checked_sub(1).and_then(|at| name.get(at)) == Some(&'/');
                    *slot = if ends { best } else { *before };
                }
            }
            _ => {
                let class = (mark == BRACKET)
                    .then(|| class(&pattern, &mut at))
                    .flatten();
                let places = row.iter().zip(next.iter_mut().skip(1));
                for (index, (letter, (before, slot))) in name.iter().zip(places).enumerate() {
                    let fits = match (mark, &class) {
                        (QUERY, _) => *letter != '/' && !hidden(&name, index + 1),
                        (_, Some(class)) => class.holds(*letter) && !hidden(&name, index + 1),
                        (BRACKET, None) => *letter == '[',
                        (_, None) => *letter == mark,
                    };
                    if fits {
                        *slot = *before;
                    }
                }
            }
        }
        row = next;
    }
    row.last().copied().unwrap_or(Match::No)
}

/// The same of paths: what `find` finds below a directory comes with the directory.
pub(crate) fn matches_path(pattern: &str, path: &str) -> Match {
    let directory = pattern.strip_suffix(ALL_BELOW);
    let own = directory.map_or(Match::No, |directory| matches(directory, path));
    own.max(matches(pattern, path))
}

/// Whether a mark stands for any number of letters.
fn spans(mark: char) -> bool {
    matches!(mark, HOLE | LOOSE | STAR | DEEP | NAME) || is_branch(mark)
}

/// Whether the letter before `end` is the dot of a hidden file, which no glob covers.
fn hidden(name: &[char], end: usize) -> bool {
    let letter = |back: usize| end.checked_sub(back).and_then(|at| name.get(at));
    letter(1) == Some(&'.') && matches!(letter(2), None | Some('/'))
}

/// The letters of a `[…]`.
struct Class {
    negated: bool,
    ranges: Vec<(char, char)>,
}

impl Class {
    fn holds(&self, letter: char) -> bool {
        letter != '/'
            && self.negated
                != self
                    .ranges
                    .iter()
                    .any(|(low, high)| (*low..=*high).contains(&letter))
    }
}

/// Reads a bracket expression after its `[`, or nothing when it is not closed.
fn class(pattern: &[char], at: &mut usize) -> Option<Class> {
    let mut index = *at;
    let negated = matches!(pattern.get(index), Some('!' | '^'));
    index += usize::from(negated);
    let start = index;
    let mut ranges = Vec::new();
    loop {
        let letter = *pattern.get(index)?;
        if letter == ']' && index > start {
            *at = index + 1;
            return Some(Class { negated, ranges });
        }
        if pattern.get(index + 1) == Some(&'-') && pattern.get(index + 2).is_some_and(|c| *c != ']')
        {
            ranges.push((letter, *pattern.get(index + 2)?));
            index += 3;
        } else {
            ranges.push((letter, letter));
            index += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glob(text: &str) -> String {
        text.chars()
            .map(|letter| match letter {
                '*' => STAR,
                '?' => QUERY,
                '[' => BRACKET,
                '…' => HOLE,
                '%' => BELOW,
                other => other,
            })
            .collect()
    }

    #[test]
    fn a_pattern_covers_what_a_shell_would_expand_it_to() {
        for (pattern, name, expected) in [
            (".isdlc/*.json", ".isdlc/state.json", Match::Yes),
            (".isdlc/st?te.json", ".isdlc/state.json", Match::Yes),
            (".isdlc/st[a-c]te.json", ".isdlc/state.json", Match::Yes),
            (".isdlc/st[!a]te.json", ".isdlc/state.json", Match::No),
            ("*/state.json", "a/b/state.json", Match::No),
            ("*/*/state.json", "a/b/state.json", Match::Yes),
            ("…/state.json", "a/b/state.json", Match::Maybe),
            ("…", "a", Match::Maybe),
            ("*", "a/b", Match::No),
            ("*", ".isdlc", Match::No),
            (".*", ".isdlc", Match::Yes),
            ("*/state.json", ".isdlc/state.json", Match::No),
            ("a/%state.json", "a/state.json", Match::Yes),
            ("a/%state.json", "a/b/c/state.json", Match::Yes),
            ("a/%te.json", "a/state.json", Match::No),
            ("%a*", "b/state.json", Match::No),
            ("[", "[", Match::Yes),
            ("", "", Match::Yes),
            ("a", "", Match::No),
        ] {
            assert_eq!(matches(&glob(pattern), name), expected, "{pattern} {name}");
        }
    }
}
