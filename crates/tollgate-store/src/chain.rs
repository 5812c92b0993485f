//! The chain of hashes over the journal's lines.
//!
//! Each line ends with its number and a SHA-256 over the hash of the line before it and its own
//! text; the first line of a file also carries that earlier hash, so that a file can be checked
//! when its predecessor is gone. The hash of the last line is kept a second time in a small file,
//! the tail record, which is also the lock that puts those who append in an order: so truncation
//! is detected, too.
//!
//! The line is written first and the tail record second. A writer killed in between leaves a
//! record that is one line behind, one killed inside the line leaves half a line; both are distinguished
//! from tampering. There is no secret in it: a program that rewrites every line *and* the record leaves
//! no trace here, unless an earlier hash was kept elsewhere.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use sha2::{Digest as _, Sha256};

use crate::fs::write_record;

/// The tail record's file beside the journal.
pub const TAIL: &str = "journal.tail";

/// What stands at the end of a line is never longer than this.
pub(super) const LONGEST_LINK: usize = 256;

const MARK: &str = "tollgate-tail-1";
/// Longer than any record; shorter ones are filled up, so that a new one covers the old.
const LENGTH: usize = 128;

/// A hash of a line and of all before it.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Hash([u8; 32]);

/// The last line: its number and its hash. Before the first line there is number 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// The line's number.
    pub n: u64,
    /// The line's hash.
    pub hash: Hash,
}

/// What a line says about its place in the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link<'a> {
    /// Its number and its hash.
    pub tail: Tail,
    /// The hash of the line before it, which the first line of a file carries.
    pub prev: Option<Hash>,
    /// What the hash is about besides the hash before.
    content: &'a str,
}

impl Hash {
    fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
            return None;
        };
        if pairs.len() != bytes.len() {
            return None;
        }
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(Self(bytes))
    }

    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The hash of a line that comes after one with this hash.
    fn then(self, content: &str) -> Self {
        let mut sum = Sha256::new();
        sum.update(self.0);
        sum.update(content.as_bytes());
        Self(sum.finalize().into())
    }
}

impl std::str::FromStr for Hash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text).ok_or_else(|| "64 hexadecimal digits, in lower case".to_owned())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<'a> Link<'a> {
    /// The link at the end of a line without its newline; nothing if it has none.
    pub fn of(line: &'a str) -> Option<Self> {
        let (content, hash) = line.strip_suffix("\"}")?.rsplit_once(",\"chain\":\"")?;
        let hash = Hash::parse(hash)?;
        let (rest, n) = content.rsplit_once(",\"n\":")?;
        if n.is_empty() || !n.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let prev = rest
            .strip_suffix('"')
            .and_then(|rest| rest.rsplit_once(",\"prev\":\""))
            .and_then(|(_, hash)| Hash::parse(hash));
        Some(Self {
            tail: Tail {
                n: n.parse().ok()?,
                hash,
            },
            prev,
            content,
        })
    }

    /// Whether the hash is that of this text after a line with the hash `prev`.
    pub fn follows(&self, prev: Hash) -> bool {
        prev.then(self.content) == self.tail.hash
    }
}

impl Tail {
    /// The record in the tail's file; nothing if it is new, or no record.
    pub fn read(file: &File) -> Option<Self> {
        let mut bytes = [0; LENGTH];
        file.read_exact_at(&mut bytes, 0).ok()?;
        let mut fields = std::str::from_utf8(&bytes).ok()?.split_ascii_whitespace();
        if fields.next()? != MARK {
            return None;
        }
        Some(Self {
            n: fields.next()?.parse().ok()?,
            hash: Hash::parse(fields.next()?)?,
        })
    }

    pub(super) fn write(self, file: &File) -> io::Result<()> {
        let text = format!("{MARK} {} {}", self.n, self.hash);
        write_record(
            file,
            format!("{text:<width$}\n", width = LENGTH - 1).as_bytes(),
        )
    }
}

/// The last line of a journal that ends like this. What the record knows beyond it was cut off,
/// and going on from the record keeps the gap in sight.
pub(super) fn last(end: &[u8], recorded: Option<Tail>) -> Tail {
    let recorded = recorded.unwrap_or_default();
    last_link(end)
        .filter(|line| line.n > recorded.n)
        .unwrap_or(recorded)
}

/// The link of the last line that has one. A line that lacks only its newline is complete; one
/// that lacks more has no link, and the one before it counts.
fn last_link(end: &[u8]) -> Option<Tail> {
    let mut lines = end
        .rsplit(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    // The line's own beginning may be outside of what was read; its link is not.
    let link = |line: &[u8]| Link::of(as_text(line)).map(|link| link.tail);
    lines
        .next()
        .and_then(link)
        .or_else(|| lines.next().and_then(link))
}

/// The end of `bytes` that is text: a cut may have left half a character in front.
fn as_text(bytes: &[u8]) -> &str {
    (0..4)
        .filter_map(|skip| bytes.get(skip..))
        .find_map(|rest| std::str::from_utf8(rest).ok())
        .unwrap_or_default()
}

/// A JSON object's text as the line after `last`; the first of a file says what it comes after.
pub(super) fn join(object: &str, last: Tail, first: bool) -> (String, Tail) {
    let mut line = String::with_capacity(object.len() + LONGEST_LINK);
    line.push_str(object.strip_suffix('}').unwrap_or(object));
    if first {
        line.push_str(",\"prev\":\"");
        line.push_str(&last.hash.to_string());
        line.push('"');
    }
    let n = last.n + 1;
    line.push_str(",\"n\":");
    line.push_str(&n.to_string());
    let hash = last.hash.then(&line);
    line.push_str(",\"chain\":\"");
    line.push_str(&hash.to_string());
    line.push_str("\"}");
    (line, Tail { n, hash })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_bound_to_the_one_before_and_to_its_own_text() {
        let (one, first) = join(r#"{"a":1}"#, Tail::default(), true);
        let (two, second) = join(r#"{"b":2}"#, first, false);
        let link = Link::of(&one).unwrap();
        assert_eq!((link.tail, link.prev), (first, Some(Hash::default())));
        assert!(link.follows(Hash::default()));
        let link = Link::of(&two).unwrap();
        assert_eq!((link.tail, link.prev), (second, None));
        assert!(link.follows(first.hash) && !link.follows(Hash::default()));
        let altered = two.replace("\"b\"", "\"c\"");
        assert!(!Link::of(&altered).unwrap().follows(first.hash));
        assert_eq!(first.n + 1, second.n);
    }

    #[test]
    fn a_hash_is_written_as_it_is_read() {
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::try_from(at * 8 + at % 8).unwrap();
        }
        let hash = Hash(bytes);
        let digits: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let expected = digits.concat();
        assert_eq!(hash.to_string(), expected);
        assert_eq!(Hash::parse(&expected), Some(hash));
    }

    #[test]
    fn what_is_no_link_is_none() {
        let hash = Hash::default();
        for line in [
            String::new(),
            r#"{"a":1}"#.to_owned(),
            format!(r#"{{"a":1,"n":,"chain":"{hash}"}}"#),
            format!(r#"{{"a":1,"n":+1,"chain":"{hash}"}}"#),
            format!(r#"{{"a":1,"n":1,"chain":"{hash}0"}}"#),
            format!(r#"{{"a":1,"n":1,"chain":"{}"}}"#, "é".repeat(32)),
        ] {
            assert_eq!(Link::of(&line), None, "{line}");
        }
    }

    #[test]
    fn the_last_line_is_the_later_of_what_is_written_and_what_is_recorded() {
        let (one, first) = join(r#"{"a":1}"#, Tail::default(), true);
        let (two, second) = join(r#"{"b":"ü"}"#, first, false);
        let text = format!("{one}\n{two}\n");
        assert_eq!(last(b"", None), Tail::default());
        assert_eq!(last(text.as_bytes(), None), second);
        assert_eq!(last(text.as_bytes(), Some(first)), second);
        // Cut off behind the record's back.
        assert_eq!(last(format!("{one}\n").as_bytes(), Some(second)), second);
        // Half a line.
        assert_eq!(last(format!("{one}\n{{\"b").as_bytes(), Some(first)), first);
        assert_eq!(last(format!("{text}{{\"b").as_bytes(), Some(first)), second);
        // A line that lacks its newline only.
        assert_eq!(last(text.trim_end().as_bytes(), Some(first)), second);
        assert_eq!(last(b"{\"old\":1}\n", None), Tail::default());
        let file = tempfile::tempfile().unwrap();
        assert_eq!(Tail::read(&file), None);
        second.write(&file).unwrap();
        assert_eq!(Tail::read(&file), Some(second));
    }
}
