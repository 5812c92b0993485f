//! Words: quotes, escapes and expansions.

use std::ops::ControlFlow;
use std::rc::Rc;

use super::Parser;
use super::cursor::{is_blank, is_meta, is_name, string};
use crate::escape::unescape;
use crate::syntax::{List, Piece, RawWord, VarOp};

/// Where a word ends, beyond blanks and operators.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// An ordinary word.
    Word,
    /// A blank and nothing else: a regular expression.
    Blank,
    /// The closing `}` of `${…}`; blanks belong to the word.
    Brace,
    /// The closing `"`.
    Quote,
    /// The end of the text: a heredoc body.
    End,
}

/// Names of one sign: `$@`, `$?` …
fn is_special(byte: u8) -> bool {
    matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
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

impl Parser<'_> {
    /// Steps over a newline and reads the heredoc bodies that start after it.
    pub(super) fn newline(&mut self) {
        self.text.skip(1);
        for pending in std::mem::take(&mut self.pending) {
            let body = self.heredoc_body(&pending);
            pending.body.replace(body);
        }
    }

    /// One word, up to what ends it; the closing character is left in place.
    pub(super) fn word(&mut self, stop: Stop) -> RawWord {
        let mut gather = Gather::default();
        let in_quotes = stop == Stop::Quote || stop == Stop::End;
        self.repeat(|parser| {
            let byte = parser.text.peek(0);
            match stop {
                Stop::Word if parser.text.at_process() => {
                    parser.text.skip(2);
                    let body = Rc::new(parser.nested_list());
                    gather.piece(Piece::Process { body });
                    return ControlFlow::Continue(());
                }
                Stop::Word if is_meta(byte) => return ControlFlow::Break(()),
                Stop::Blank if is_blank(byte) || byte == b'\n' => return ControlFlow::Break(()),
                Stop::Brace if byte == b'}' => return ControlFlow::Break(()),
                Stop::Quote if byte == b'"' => return ControlFlow::Break(()),
                Stop::Word | Stop::Blank | Stop::Brace | Stop::Quote | Stop::End => {}
            }
            match byte {
                b'\\' => parser.backslash(&mut gather, stop),
                b'\'' if !in_quotes => {
                    parser.text.skip(1);
                    gather.mark_quoted();
                    let inner = parser.text.take_while(|byte| byte != b'\'');
                    gather.extend(inner, true);
                    parser.broken |= !parser.text.eat(b"'");
                }
                b'"' if stop != Stop::End => {
                    parser.text.skip(1);
                    gather.mark_quoted();
                    let inner = parser.deeper(|parser| parser.word(Stop::Quote));
                    gather.pieces.extend(inner.0);
                    parser.broken |= !parser.text.eat(b"\"");
                }
                b'$' => parser.dollar(&mut gather, in_quotes),
                b'`' => {
                    parser.text.skip(1);
                    let body = Rc::new(parser.backticks(in_quotes));
                    gather.piece(Piece::Command {
                        body,
                        quoted: in_quotes,
                    });
                }
                _ => {
                    gather.push(byte, in_quotes);
                    parser.text.skip(1);
                }
            }
            ControlFlow::Continue(())
        });
        gather.finish()
    }

    fn backslash(&mut self, gather: &mut Gather, stop: Stop) {
        let next = self.text.peek(1);
        let special = match stop {
            Stop::Word | Stop::Blank | Stop::Brace => true,
            Stop::Quote => matches!(next, b'$' | b'`' | b'"' | b'\\' | b'\n'),
            Stop::End => matches!(next, b'$' | b'`' | b'\\' | b'\n'),
        };
        if !special || self.text.rest().len() < 2 {
            gather.push(b'\\', true);
            self.text.skip(1);
        } else {
            if next != b'\n' {
                gather.push(next, true);
            }
            self.text.skip(2);
        }
    }

    /// The list up to the `)` that closes a substitution.
    fn nested_list(&mut self) -> List {
        self.deeper(Self::list_until_paren)
    }

    fn dollar(&mut self, gather: &mut Gather, quoted: bool) {
        let next = self.text.peek(1);
        match next {
            b'(' if self.text.peek(2) == b'(' && self.text.is_arithmetic(1) => {
                self.text.skip(3);
                let inner = self.arithmetic();
                gather.piece(Piece::Opaque { inner, quoted });
            }
            b'(' => {
                self.text.skip(2);
                let body = Rc::new(self.nested_list());
                gather.piece(Piece::Command { body, quoted });
            }
            b'{' => {
                self.text.skip(2);
                let piece = self.braced(quoted);
                gather.piece(piece);
            }
            b'\'' if !quoted => {
                self.text.skip(2);
                gather.mark_quoted();
                let text = self.text.quoted(b'\'');
                self.broken |= text.is_none();
                let text = unescape(&string(text.unwrap_or_default()));
                gather.extend(text.as_bytes(), true);
            }
            // `$"…"` is a translated string; the quotes are the usual ones.
            b'"' if !quoted => self.text.skip(1),
            _ if is_special(next) || is_name(next) => {
                self.text.skip(1);
                let name = if is_special(next) || next.is_ascii_digit() {
                    self.text.skip(1);
                    char::from(next).to_string()
                } else {
                    string(self.text.take_while(is_name))
                };
                gather.piece(Piece::Variable {
                    name,
                    op: VarOp::Plain,
                    quoted,
                });
            }
            _ => {
                gather.push(b'$', quoted);
                self.text.skip(1);
            }
        }
    }

    /// After `${`: up to and over the closing brace.
    fn braced(&mut self, quoted: bool) -> Piece {
        let mut name = String::new();
        let (first, second) = (self.text.peek(0), self.text.peek(1));
        let prefixed = matches!(first, b'#' | b'!') && (is_name(second) || second == b'@');
        // A length is not known; `${!name}` is the value of the variable that `name` names.
        let length = prefixed && first == b'#';
        if prefixed {
            self.text.skip(1);
            if !length {
                name.push('!');
            }
        }
        if is_special(self.text.peek(0)) {
            name.push(char::from(self.text.peek(0)));
            self.text.skip(1);
        } else {
            name.push_str(&string(self.text.take_while(is_name)));
        }
        if self.text.eat(b"[@]") {
            name.push_str("[@]");
        } else if self.text.eat(b"[*]") {
            name.push_str("[*]");
        } else if self.text.peek(0) == b'[' {
            self.text.eat(b"[0]");
        }
        let colon = usize::from(self.text.peek(0) == b':');
        let kind = self.text.peek(colon);
        let known = matches!(kind, b'-' | b'=' | b'+') && !length;
        if known {
            self.text.skip(colon + 1);
        }
        let operand = self.deeper(|parser| parser.word(Stop::Brace));
        self.broken |= !self.text.eat(b"}");
        let op = match kind {
            b'-' if known => VarOp::Default(operand),
            b'=' if known => VarOp::Assign(operand),
            b'+' if known => VarOp::Instead(operand),
            _ if length => VarOp::Unknown(operand),
            _ if !operand.0.is_empty() => VarOp::Other(operand),
            _ => VarOp::Plain,
        };
        Piece::Variable { name, op, quoted }
    }

    /// After `((`: up to and over `))`.
    pub(super) fn arithmetic(&mut self) -> RawWord {
        self.deeper(Self::arithmetic_body)
    }

    fn arithmetic_body(&mut self) -> RawWord {
        let mut gather = Gather::default();
        let mut open = 0_u32;
        self.repeat(|parser| {
            match parser.text.peek(0) {
                b'(' => {
                    open += 1;
                    parser.text.skip(1);
                }
                b')' if open == 0 => {
                    parser.text.skip(2);
                    return ControlFlow::Break(());
                }
                b')' => {
                    open -= 1;
                    parser.text.skip(1);
                }
                b'$' => parser.dollar(&mut gather, true),
                b'`' => {
                    parser.text.skip(1);
                    let body = Rc::new(parser.backticks(true));
                    gather.piece(Piece::Command { body, quoted: true });
                }
                _ => parser.text.skip(1),
            }
            ControlFlow::Continue(())
        });
        gather.finish()
    }

    /// After a backtick: the text up to the next one, unescaped and parsed by itself.
    fn backticks(&mut self, quoted: bool) -> List {
        let mut text = Vec::new();
        let mut closed = false;
        self.repeat(|parser| {
            closed = parser.text.eat(b"`");
            if closed {
                return ControlFlow::Break(());
            }
            let next = parser.text.peek(1);
            if parser.text.peek(0) == b'\\'
                && (matches!(next, b'$' | b'`' | b'\\') || quoted && next == b'"')
            {
                parser.text.skip(1);
            }
            text.push(parser.text.peek(0));
            parser.text.skip(1);
            ControlFlow::Continue(())
        });
        self.broken |= !closed;
        self.deeper(|parser| {
            let mut inner = Parser::new(&text, parser.depth);
            let list = inner.script();
            parser.broken |= inner.broken;
            list
        })
    }
}
