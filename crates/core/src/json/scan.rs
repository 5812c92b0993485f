//! Cutting a JSON text into its members without decoding them.
//!
//! `serde_json` looks at every byte of a value it skips, at less than half a gigabyte a second:
//! 27 ms for an event that carries a 12 MB file, and more than the rest of the hook together for
//! a 1 MB state. Here a string is skipped by searching for its end, and a nested value by
//! counting its brackets.
//!
//! What this deliberately does not check is the inside of a value that nobody asks for: commas
//! and numbers there may be anything. A text that was cut off, or that goes on behind its end,
//! is always an error, and so is a bracket that closes another one.

use super::blocks::{self, Before};
use super::search;

/// Where a text stops being JSON, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flaw {
    /// The byte at which it was noticed.
    pub(super) at: usize,
    pub(super) what: &'static str,
}

/// Strings up to this length are checked for raw control characters, which JSON forbids. Longer
/// ones are file contents, and nobody is misled by a tab in one.
const CHECKED: usize = 4096;

/// How far a string's end is looked for before a vectorised search pays.
const NEAR: usize = 32;

/// A key and its value, as they stand in the text.
pub(super) type Member<'a> = (&'a str, &'a str);

/// The members of an object, and those of some of them with their number.
pub(super) type Opened<'a> = (Vec<Member<'a>>, Vec<(usize, Vec<Member<'a>>)>);

/// A position in a text.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// The brackets that are open around the position, as the bytes that will close them.
    open: Vec<u8>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            open: Vec::new(),
        }
    }

    /// The members of the object that the whole text is.
    pub(super) fn members(mut self) -> Result<Vec<Member<'a>>, Flaw> {
        let members = self.object()?;
        self.end().map(|()| members)
    }

    /// The members of the object here.
    fn object(&mut self) -> Result<Vec<Member<'a>>, Flaw> {
        let mut members = Vec::with_capacity(16);
        self.each_member(|scanner, key| {
            members.push((key, scanner.value()?));
            Ok(())
        })?;
        Ok(members)
    }

    /// The members of the object that the whole text is, and the members of those of them that are
    /// objects and whose key is wanted, with their number. Each byte is looked at once, where
    /// cutting the outer object and then an inner one looks at most of them twice.
    pub(super) fn members_opening(
        mut self,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Opened<'a>, Flaw> {
        let mut members = Vec::with_capacity(16);
        let mut opened = Vec::new();
        self.each_member(|scanner, key| {
            scanner.blanks();
            if scanner.peek() != Some(b'{') || !is_wanted(key) {
                members.push((key, scanner.value()?));
                return Ok(());
            }
            let start = scanner.at;
            opened.push((members.len(), scanner.object()?));
            members.push((key, scanner.since(start)?));
            Ok(())
        })?;
        self.end().map(|()| (members, opened))
    }

    /// Goes through the object here. `member` gets each key and passes over its value.
    fn each_member(
        &mut self,
        mut member: impl FnMut(&mut Self, &'a str) -> Result<(), Flaw>,
    ) -> Result<(), Flaw> {
        self.expect(b'{', "expected an object")?;
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                return Err(self.flaw("expected a key"));
            }
            let key = self.value()?;
            self.expect(b':', "expected `:` behind a key")?;
            member(self, key)?;
            if self.take(b'}') {
                return Ok(());
            }
            self.expect(b',', "expected `,` or `}`")?;
        }
    }

    /// The values of the array that the whole text is.
    pub(super) fn items(mut self) -> Result<Vec<&'a str>, Flaw> {
        self.expect(b'[', "expected an array")?;
        let mut items = Vec::new();
        if !self.take(b']') {
            loop {
                items.push(self.value()?);
                if self.take(b']') {
                    break;
                }
                self.expect(b',', "expected `,` or `]`")?;
            }
        }
        self.end().map(|()| items)
    }

    /// The one value that the whole text is.
    pub(super) fn single(mut self) -> Result<&'a str, Flaw> {
        let value = self.value()?;
        self.end().map(|()| value)
    }

    /// Passes over one value and returns its text.
    fn value(&mut self) -> Result<&'a str, Flaw> {
        self.blanks();
        let start = self.at;
        match self.peek() {
            Some(b'"') => self.string()?,
            Some(b'{' | b'[') => self.nested()?,
            Some(_) => self.scalar()?,
            None => return Err(self.flaw("the text ends where a value should be")),
        }
        self.since(start)
    }

    fn since(&self, start: usize) -> Result<&'a str, Flaw> {
        let text = self.text.get(start..self.at);
        text.ok_or_else(|| self.flaw("cut inside a character"))
    }

    /// Passes over a string that somebody may ask for.
    fn string(&mut self) -> Result<(), Flaw> {
        let start = self.at;
        self.skip_string()?;
        let inside = self.bytes().get(start..self.at).unwrap_or_default();
        if inside.len() <= CHECKED && inside.iter().any(|byte| *byte < 0x20) {
            return Err(self.flaw("a control character stands inside a string"));
        }
        Ok(())
    }

    fn skip_string(&mut self) -> Result<(), Flaw> {
        self.at += 1;
        loop {
            let rest = self.bytes().get(self.at..).unwrap_or_default();
            let (near, far) = rest.split_at_checked(NEAR).unwrap_or((rest, &[]));
            let found = find(near, |word| hits(word, b'"') | hits(word, b'\\'))
                .or_else(|| search::either(far, *b"\"\\").map(|found| found + NEAR));
            let Some(found) = found else {
                self.at = self.text.len();
                return Err(self.flaw("the text ends inside a string"));
            };
            self.at += found + 1;
            if rest.get(found) == Some(&b'"') {
                return Ok(());
            }
            // Behind a backslash stands one byte that ends nothing.
            self.at += 1;
        }
    }

    /// Passes over an object or array by its brackets.
    fn nested(&mut self) -> Result<(), Flaw> {
        self.open.clear();
        let mut before = Before::default();
        loop {
            let rest = self.bytes().get(self.at..).unwrap_or_default();
            if rest.is_empty() {
                return Err(self.flaw(if before.in_string {
                    "the text ends inside a string"
                } else {
                    "the text ends inside an object or array"
                }));
            }
            let mut brackets = before.brackets(rest);
            while brackets != 0 {
                let at = usize::try_from(brackets.trailing_zeros()).unwrap_or_default();
                match rest.get(at) {
                    Some(b'{') => self.open.push(b'}'),
                    Some(b'[') => self.open.push(b']'),
                    close => {
                        if self.open.pop().as_ref() != close {
                            self.at += at;
                            return Err(self.flaw("a bracket closes another one"));
                        }
                    }
                }
                if self.open.is_empty() {
                    self.at += at + 1;
                    return Ok(());
                }
                brackets &= brackets - 1;
            }
            self.at += blocks::SIZE.min(rest.len());
        }
    }

    fn scalar(&mut self) -> Result<(), Flaw> {
        let rest = self.bytes().get(self.at..).unwrap_or_default();
        let length = rest
            .iter()
            .position(|byte| {
                matches!(byte, b',' | b'}' | b']' | b':') || byte.is_ascii_whitespace()
            })
            .unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or_default();
        let is_number = word
            .first()
            .is_some_and(|b| b.is_ascii_digit() || *b == b'-')
            && word.last().is_some_and(u8::is_ascii_digit)
            && word
                .iter()
                .all(|b| b.is_ascii_digit() || b"+-.eE".contains(b));
        if !is_number && !matches!(word, b"true" | b"false" | b"null") {
            return Err(self.flaw("expected a value"));
        }
        self.at += length;
        Ok(())
    }

    fn end(&mut self) -> Result<(), Flaw> {
        self.blanks();
        if self.at == self.text.len() {
            Ok(())
        } else {
            Err(self.flaw("the text goes on behind its end"))
        }
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), Flaw> {
        if self.take(byte) {
            Ok(())
        } else {
            Err(self.flaw(what))
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        self.blanks();
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes().get(self.at).copied()
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    fn flaw(&self, what: &'static str) -> Flaw {
        Flaw {
            at: self.at.min(self.text.len()),
            what,
        }
    }
}

/// The first byte that `wanted` marks, eight at a time. `wanted` sets the high bit of each byte
/// it means; only the lowest mark is relied on.
fn find(bytes: &[u8], wanted: impl Fn(u64) -> u64) -> Option<usize> {
    let mut chunks = bytes.chunks_exact(8);
    let mut at = 0;
    for chunk in &mut chunks {
        let word = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
        let marks = wanted(word);
        if marks != 0 {
            return Some(at + place(marks));
        }
        at += 8;
    }
    let mut last = [0; 8];
    for (to, from) in last.iter_mut().zip(chunks.remainder()) {
        *to = *from;
    }
    let marks = wanted(u64::from_le_bytes(last));
    (marks != 0).then(|| at + place(marks))
}

/// The high bit of every byte of `word` that equals `byte`. Above a byte that does, others may
/// be marked too.
fn hits(word: u64, byte: u8) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let zeroes = word ^ (ONES * u64::from(byte));
    zeroes.wrapping_sub(ONES) & !zeroes & (ONES << 7)
}

fn place(marks: u64) -> usize {
    usize::try_from(marks.trailing_zeros() / 8).unwrap_or_default()
}
