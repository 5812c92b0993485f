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

/// Most strings end within so many bytes. The search for the rest first asks the processor what it can do,
/// which in a virtual machine takes longer than to look at these.
const NEAR: usize = 4096;

/// A key and its value, as they are in the text.
pub(super) type Member<'a> = (&'a str, &'a str);

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
        self.expect(b'{', "expected an object")?;
        let mut members = Vec::new();
        if !self.take(b'}') {
            loop {
                self.blanks();
                if self.peek() != Some(b'"') {
                    return Err(self.flaw("expected a key"));
                }
                let key = self.value()?;
                self.expect(b':', "expected `:` behind a key")?;
                members.push((key, self.value()?));
                if self.take(b'}') {
                    break;
                }
                self.expect(b',', "expected `,` or `}`")?;
            }
        }
        self.end().map(|()| members)
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
            let near = rest.get(..NEAR).unwrap_or(rest);
            let ends = |byte: &u8| matches!(byte, b'"' | b'\\');
            let found = near
                .iter()
                .position(ends)
                .or_else(|| memchr::memchr2(b'"', b'\\', rest));
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
        loop {
            let rest = self.bytes().get(self.at..).unwrap_or_default();
            let counts = |byte: &u8| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']');
            let Some(skipped) = rest.iter().position(counts) else {
                self.at = self.text.len();
                return Err(self.flaw("the text ends inside an object or array"));
            };
            self.at += skipped;
            match rest.get(skipped) {
                Some(b'"') => {
                    self.skip_string()?;
                    continue;
                }
                Some(b'{') => self.open.push(b'}'),
                Some(b'[') => self.open.push(b']'),
                closing => {
                    if self.open.pop().as_ref() != closing {
                        return Err(self.flaw("a bracket closes another one"));
                    }
                    if self.open.is_empty() {
                        self.at += 1;
                        return Ok(());
                    }
                }
            }
            self.at += 1;
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
