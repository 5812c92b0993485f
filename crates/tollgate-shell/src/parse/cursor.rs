//! The position in a text, and what can be said of the bytes there without any grammar.

/// A text and how far it has been read. It is only ever read forwards: nothing here goes back, so a
/// loop that reads something in each turn ends.
pub(super) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

pub(super) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t' || byte == b'\r'
}

pub(super) fn is_meta(byte: u8) -> bool {
    matches!(
        byte,
        0 | b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')'
    )
}

pub(super) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

pub(super) fn string(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// The byte `ahead` of the position; zero beyond the end.
    pub(super) fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    pub(super) fn done(&self) -> bool {
        self.at >= self.text.len()
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// How far the text has been read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Steps over so many bytes, at most to the end.
    pub(super) fn skip(&mut self, count: usize) {
        self.at = self.at.saturating_add(count).min(self.text.len());
    }

    /// Leaves the rest unread.
    pub(super) fn finish(&mut self) {
        self.at = self.text.len();
    }

    /// Steps over these bytes, if they are there.
    pub(super) fn eat(&mut self, expected: &[u8]) -> bool {
        let found = self.rest().starts_with(expected);
        if found {
            self.skip(expected.len());
        }
        found
    }

    /// The bytes at the position that `belongs` accepts, which are stepped over.
    pub(super) fn take_while(&mut self, belongs: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.rest();
        let length = rest.iter().take_while(|byte| belongs(**byte)).count();
        self.skip(length);
        rest.get(..length).unwrap_or_default()
    }

    /// Skips blanks, line continuations and a comment.
    pub(super) fn skip_blanks(&mut self) {
        self.take_while(is_blank);
        while self.eat(b"\\\n") {
            self.take_while(is_blank);
        }
        if self.peek(0) == b'#' {
            self.take_while(|byte| byte != b'\n');
        }
    }

    /// The bare word at the position, without stepping over it; nothing when it is long.
    pub(super) fn word_ahead(&self) -> &'a str {
        let rest = self.rest();
        let length = rest
            .iter()
            .take(10)
            .take_while(|&&byte| !is_meta(byte))
            .count();
        std::str::from_utf8(rest.get(..length).unwrap_or_default()).unwrap_or("")
    }

    /// Whether no further word of a command starts here.
    pub(super) fn ends_words(&self) -> bool {
        self.done() || is_meta(self.peek(0)) && !self.at_process()
    }

    /// Whether `<(` or `>(` starts here.
    pub(super) fn at_process(&self) -> bool {
        matches!(self.peek(0), b'<' | b'>') && self.peek(1) == b'('
    }

    /// Whether the `((` that starts `ahead` is closed by `))`; otherwise it is two subshells.
    pub(super) fn is_arithmetic(&self, ahead: usize) -> bool {
        let mut depth = 0_u32;
        let rest = self.text.get(self.at + ahead..).unwrap_or_default();
        let mut bytes = rest.iter().peekable();
        while let Some(&byte) = bytes.next() {
            match byte {
                b'(' => depth += 1,
                b')' => {
                    depth -= 1;
                    if depth == 1 {
                        return bytes.peek() == Some(&&b')');
                    }
                }
                b'\\' => {
                    bytes.next();
                }
                // A command separator does not stand in arithmetic, except in `for ((;;))`.
                b'\n' | b'\'' => return false,
                _ => {}
            }
            if depth == 0 {
                return false;
            }
        }
        false
    }

    /// The text up to the next `quote` that no backslash stands before, which is stepped over;
    /// nothing when there is none.
    pub(super) fn quoted(&mut self, quote: u8) -> Option<&'a [u8]> {
        let rest = self.rest();
        let mut at = 0;
        while let Some(&byte) = rest.get(at) {
            if byte == quote {
                self.skip(at + 1);
                return rest.get(..at);
            }
            at += if byte == b'\\' { 2 } else { 1 };
        }
        self.finish();
        None
    }
}
