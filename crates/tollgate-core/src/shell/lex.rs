//! Words: quotes, escapes, expansions and heredoc bodies.
//!
//! The [`Cursor`] walks the text once, byte by byte. Substitutions are parsed in place by
//! recursion, never by looking for their end first, which is what keeps the time linear; the
//! depth of that recursion has a cap.

use std::rc::Rc;

use super::heredoc::Pending;
use super::syntax::{List, Piece, RawWord, VarOp};

/// Deeper nesting than this is not followed.
pub(crate) const MAX_DEPTH: u32 = 64;

/// The position in the text and what must be remembered across it.
pub(crate) struct Cursor<'a> {
    text: &'a [u8],
    pub(crate) at: usize,
    pub(crate) depth: u32,
    pub(crate) pending: Vec<Pending>,
    /// Something could not be parsed or was nested too deeply.
    pub(crate) broken: bool,
}

/// Where a word ends, beyond blanks and operators.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// An ordinary word.
    Word,
    /// The closing `}` of `${…}`; blanks belong to the word.
    Brace,
    /// The closing `"`.
    Quote,
    /// The end of the text: a heredoc body.
    End,
}

pub(crate) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t' || byte == b'\r'
}

pub(crate) fn is_meta(byte: u8) -> bool {
    matches!(
        byte,
        0 | b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')'
    )
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

pub(crate) fn string(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The text gathered so far, flushed into a piece when its kind changes.
#[derive(Default)]
struct Gather {
    pieces: Vec<Piece>,
    text: Vec<u8>,
    quoted: bool,
}

impl Gather {
    fn push(&mut self, byte: u8, quoted: bool) {
        self.turn(quoted);
        self.text.push(byte);
    }

    fn extend(&mut self, bytes: &[u8], quoted: bool) {
        self.turn(quoted);
        self.text.extend_from_slice(bytes);
    }

    fn turn(&mut self, quoted: bool) {
        if self.quoted != quoted {
            self.flush();
            self.quoted = quoted;
        }
    }

    /// An empty quoted piece matters: `""` is a word.
    fn mark_quoted(&mut self) {
        self.flush();
        self.pieces.push(Piece::Quoted(String::new()));
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            let text = string(&self.text);
            self.text.clear();
            self.pieces.push(if self.quoted {
                Piece::Quoted(text)
            } else {
                Piece::Bare(text)
            });
        }
    }

    fn piece(&mut self, piece: Piece) {
        self.flush();
        self.pieces.push(piece);
    }

    fn finish(mut self) -> RawWord {
        self.flush();
        RawWord(self.pieces)
    }
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a [u8], depth: u32) -> Self {
        Self {
            text,
            at: 0,
            depth,
            pending: Vec::new(),
            broken: false,
        }
    }

    /// The byte `ahead` of the position; zero beyond the end.
    pub(crate) fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    pub(crate) fn done(&self) -> bool {
        self.at >= self.text.len()
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn give_up(&mut self) {
        self.broken = true;
        self.at = self.text.len();
    }

    pub(crate) fn eat(&mut self, expected: &[u8]) -> bool {
        let found = self.rest().starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    /// Skips blanks, line continuations and a comment.
    pub(crate) fn skip_blanks(&mut self) {
        loop {
            let byte = self.peek(0);
            if is_blank(byte) {
                self.at += 1;
            } else if byte == b'\\' && self.peek(1) == b'\n' {
                self.at += 2;
            } else if byte == b'#' {
                while !self.done() && self.peek(0) != b'\n' {
                    self.at += 1;
                }
            } else {
                return;
            }
        }
    }

    /// Steps over a newline and reads the heredoc bodies that start after it.
    pub(crate) fn newline(&mut self) {
        self.at += 1;
        for pending in std::mem::take(&mut self.pending) {
            let body = self.heredoc_body(&pending);
            pending.body.replace(body);
        }
    }

    /// One word, up to what ends it; the closing character is left in place.
    pub(crate) fn word(&mut self, stop: Stop) -> RawWord {
        let mut gather = Gather::default();
        let in_quotes = stop == Stop::Quote || stop == Stop::End;
        while !self.done() {
            let byte = self.peek(0);
            match stop {
                Stop::Word if is_meta(byte) => {
                    let process = matches!(byte, b'<' | b'>') && self.peek(1) == b'(';
                    if !process {
                        break;
                    }
                    self.at += 2;
                    let body = Rc::new(self.nested_list());
                    gather.piece(Piece::Process { body });
                    continue;
                }
                Stop::Brace if byte == b'}' => break,
                Stop::Quote if byte == b'"' => break,
                Stop::Word | Stop::Brace | Stop::Quote | Stop::End => {}
            }
            match byte {
                b'\\' => self.backslash(&mut gather, stop),
                b'\'' if !in_quotes => {
                    self.at += 1;
                    gather.mark_quoted();
                    let rest = self.rest();
                    let length = rest.iter().position(|&byte| byte == b'\'');
                    self.broken |= length.is_none();
                    let length = length.unwrap_or(rest.len());
                    gather.extend(rest.get(..length).unwrap_or_default(), true);
                    self.at += length + 1;
                }
                b'"' if stop != Stop::End => {
                    self.at += 1;
                    gather.mark_quoted();
                    self.deeper(|cursor| {
                        let inner = cursor.word(Stop::Quote);
                        gather.flush();
                        gather.pieces.extend(inner.0);
                    });
                    self.broken |= self.peek(0) != b'"';
                    self.at += 1;
                }
                b'$' => self.dollar(&mut gather, in_quotes),
                b'`' => {
                    self.at += 1;
                    let body = Rc::new(self.backticks(in_quotes));
                    gather.piece(Piece::Command {
                        body,
                        quoted: in_quotes,
                    });
                }
                _ => {
                    gather.push(byte, in_quotes);
                    self.at += 1;
                }
            }
        }
        gather.finish()
    }

    fn backslash(&mut self, gather: &mut Gather, stop: Stop) {
        let next = self.peek(1);
        let special = match stop {
            Stop::Word | Stop::Brace => true,
            Stop::Quote => matches!(next, b'$' | b'`' | b'"' | b'\\' | b'\n'),
            Stop::End => matches!(next, b'$' | b'`' | b'\\' | b'\n'),
        };
        if !special || self.at + 1 >= self.text.len() {
            gather.push(b'\\', true);
            self.at += 1;
        } else {
            if next != b'\n' {
                gather.push(next, true);
            }
            self.at += 2;
        }
    }

    /// Runs `inner` one level deeper, or gives the whole text up.
    pub(crate) fn deeper(&mut self, inner: impl FnOnce(&mut Self)) {
        if self.depth >= MAX_DEPTH {
            self.give_up();
            return;
        }
        self.depth += 1;
        inner(self);
        self.depth -= 1;
    }

    /// The list up to the `)` that closes a substitution.
    fn nested_list(&mut self) -> List {
        let mut list = List::default();
        self.deeper(|cursor| {
            list = cursor.list_until_paren();
        });
        list
    }

    fn dollar(&mut self, gather: &mut Gather, quoted: bool) {
        let next = self.peek(1);
        match next {
            b'(' if self.peek(2) == b'(' && self.is_arithmetic(1) => {
                self.at += 3;
                let inner = self.arithmetic();
                gather.piece(Piece::Opaque { inner, quoted });
            }
            b'(' => {
                self.at += 2;
                let body = Rc::new(self.nested_list());
                gather.piece(Piece::Command { body, quoted });
            }
            b'{' => {
                self.at += 2;
                let piece = self.braced(quoted);
                gather.piece(piece);
            }
            b'\'' if !quoted => {
                self.at += 2;
                gather.mark_quoted();
                let text = self.ansi_c();
                gather.extend(&text, true);
            }
            // `$"…"` is a translated string; the quotes are the usual ones.
            b'"' if !quoted => self.at += 1,
            b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' | b'0'..=b'9' => {
                self.at += 2;
                let name = char::from(next).to_string();
                gather.piece(Piece::Variable {
                    name,
                    op: VarOp::Plain,
                    quoted,
                });
            }
            _ if is_name(next) => {
                self.at += 1;
                let name = self.name();
                gather.piece(Piece::Variable {
                    name,
                    op: VarOp::Plain,
                    quoted,
                });
            }
            _ => {
                gather.push(b'$', quoted);
                self.at += 1;
            }
        }
    }

    pub(crate) fn name(&mut self) -> String {
        let length = self
            .rest()
            .iter()
            .take_while(|&&byte| is_name(byte))
            .count();
        let name = string(self.rest().get(..length).unwrap_or_default());
        self.at += length;
        name
    }

    /// After `${`: up to and over the closing brace.
    fn braced(&mut self, quoted: bool) -> Piece {
        let mut name = String::new();
        let mut odd = false;
        let mut indirect = false;
        if matches!(self.peek(0), b'#' | b'!') && (is_name(self.peek(1)) || self.peek(1) == b'@') {
            indirect = self.peek(0) == b'!';
            odd = !indirect;
            self.at += 1;
        }
        if matches!(self.peek(0), b'@' | b'*' | b'?' | b'-' | b'$' | b'!' | b'#') {
            name.push(char::from(self.peek(0)));
            self.at += 1;
        } else {
            name = self.name();
        }
        if self.eat(b"[@]") {
            name.push_str("[@]");
        } else if self.eat(b"[*]") {
            name.push_str("[*]");
        } else if self.peek(0) == b'[' {
            self.eat(b"[0]");
        }
        let colon = usize::from(self.peek(0) == b':');
        let kind = self.peek(colon);
        let known = matches!(kind, b'-' | b'=' | b'+') && !odd;
        if known {
            self.at += colon + 1;
        }
        let mut operand = RawWord::default();
        self.deeper(|cursor| operand = cursor.word(Stop::Brace));
        self.broken |= self.peek(0) != b'}';
        self.at += 1;
        let op = match kind {
            b'-' if known => VarOp::Default(operand),
            b'=' if known => VarOp::Assign(operand),
            b'+' if known => VarOp::Instead(operand),
            _ if odd => VarOp::Unknown(operand),
            _ if !operand.0.is_empty() => VarOp::Other(operand),
            _ => VarOp::Plain,
        };
        if indirect {
            name.insert(0, '!');
        }
        Piece::Variable { name, op, quoted }
    }

    /// Whether the `((` that starts `ahead` is closed by `))`; otherwise it is two subshells.
    pub(crate) fn is_arithmetic(&self, ahead: usize) -> bool {
        let mut depth = 0_u32;
        let mut bytes = self
            .text
            .get(self.at + ahead..)
            .unwrap_or_default()
            .iter()
            .peekable();
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

    /// After `((`: up to and over `))`.
    pub(crate) fn arithmetic(&mut self) -> RawWord {
        let mut word = RawWord::default();
        self.deeper(|cursor| word = cursor.arithmetic_body());
        word
    }

    fn arithmetic_body(&mut self) -> RawWord {
        let mut gather = Gather::default();
        let mut open = 0_u32;
        while !self.done() {
            match self.peek(0) {
                b'(' => {
                    open += 1;
                    self.at += 1;
                }
                b')' if open == 0 => {
                    self.at += 2;
                    break;
                }
                b')' => {
                    open -= 1;
                    self.at += 1;
                }
                b'$' => self.dollar(&mut gather, true),
                b'`' => {
                    self.at += 1;
                    let body = Rc::new(self.backticks(true));
                    gather.piece(Piece::Command { body, quoted: true });
                }
                _ => self.at += 1,
            }
        }
        gather.finish()
    }

    /// After a backtick: the text up to the next one, unescaped and parsed by itself.
    fn backticks(&mut self, quoted: bool) -> List {
        let mut text = Vec::new();
        while !self.done() && self.peek(0) != b'`' {
            let next = self.peek(1);
            if self.peek(0) == b'\\'
                && (matches!(next, b'$' | b'`' | b'\\') || quoted && next == b'"')
            {
                self.at += 1;
            }
            text.push(self.peek(0));
            self.at += 1;
        }
        self.broken |= self.done();
        self.at += 1;
        let mut list = List::default();
        self.deeper(|cursor| {
            let mut inner = Cursor::new(&text, cursor.depth);
            list = inner.script();
            cursor.broken |= inner.broken;
        });
        list
    }

    /// After `$'`: up to and over the closing quote.
    fn ansi_c(&mut self) -> Vec<u8> {
        let mut text = Vec::new();
        while !self.done() {
            let byte = self.peek(0);
            self.at += 1;
            if byte == b'\'' {
                return text;
            }
            if byte != b'\\' {
                text.push(byte);
                continue;
            }
            let escape = self.peek(0);
            self.at += 1;
            match escape {
                b'n' => text.push(b'\n'),
                b't' => text.push(b'\t'),
                b'r' => text.push(b'\r'),
                b'a' => text.push(7),
                b'b' => text.push(8),
                b'e' | b'E' => text.push(27),
                b'f' => text.push(12),
                b'v' => text.push(11),
                b'x' => text.push(u8::try_from(self.digits(16, 2) & 0xff).unwrap_or(0)),
                b'u' => self.unicode(4, &mut text),
                b'U' => self.unicode(8, &mut text),
                b'c' => {
                    text.push(self.peek(0) & 0x1f);
                    self.at += 1;
                }
                b'0'..=b'7' => {
                    self.at -= 1;
                    text.push(u8::try_from(self.digits(8, 3) & 0xff).unwrap_or(0));
                }
                _ => text.push(escape),
            }
        }
        self.broken = true;
        text
    }

    fn digits(&mut self, radix: u32, most: usize) -> u32 {
        let mut value = 0_u32;
        for _ in 0..most {
            let Some(digit) = char::from(self.peek(0)).to_digit(radix) else {
                break;
            };
            value = value.wrapping_mul(radix).wrapping_add(digit);
            self.at += 1;
        }
        value
    }

    fn unicode(&mut self, most: usize, text: &mut Vec<u8>) {
        let letter = char::from_u32(self.digits(16, most)).unwrap_or('\u{FFFD}');
        text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
    }
}
