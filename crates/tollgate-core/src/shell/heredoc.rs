//! Heredocs: their markers, and their bodies after the end of the line.

use std::rc::Rc;

use super::lex::{Cursor, Stop, is_blank, is_meta, string};
use super::syntax::{Body, Piece, RawWord};

/// A heredoc whose body starts after the next newline.
#[derive(Debug)]
pub(crate) struct Pending {
    delimiter: Vec<u8>,
    quoted: bool,
    strip_tabs: bool,
    pub(crate) body: Body,
}

impl Cursor<'_> {
    /// Reads the delimiter after `<<` and returns the place its body will fill.
    pub(crate) fn heredoc_marker(&mut self, strip_tabs: bool) -> Body {
        while is_blank(self.peek(0)) {
            self.at += 1;
        }
        let mut delimiter = Vec::new();
        let mut quoted = false;
        loop {
            let byte = self.peek(0);
            match byte {
                b'\'' | b'"' => {
                    quoted = true;
                    self.at += 1;
                    while !self.done() && self.peek(0) != byte {
                        delimiter.push(self.peek(0));
                        self.at += 1;
                    }
                    self.at += 1;
                }
                b'\\' => {
                    quoted = true;
                    delimiter.push(self.peek(1));
                    self.at += 2;
                }
                _ if is_meta(byte) => break,
                _ => {
                    delimiter.push(byte);
                    self.at += 1;
                }
            }
        }
        let body = Body::default();
        self.pending.push(Pending {
            delimiter,
            quoted,
            strip_tabs,
            body: Rc::clone(&body),
        });
        body
    }

    pub(crate) fn heredoc_body(&mut self, pending: &Pending) -> RawWord {
        let mut body = Vec::new();
        while !self.done() {
            let rest = self.rest();
            let length = rest.iter().position(|&byte| byte == b'\n');
            let mut line = rest.get(..length.unwrap_or(rest.len())).unwrap_or_default();
            if pending.strip_tabs {
                let tabs = line.iter().take_while(|&&byte| byte == b'\t').count();
                line = line.get(tabs..).unwrap_or_default();
            }
            // Inside `$(…)` bash also ends a heredoc at `EOF)`.
            if self.depth > 0
                && line
                    .strip_prefix(pending.delimiter.as_slice())
                    .is_some_and(|after| {
                        !pending.delimiter.is_empty() && after.iter().all(|&byte| byte == b')')
                    })
                && line.len() > pending.delimiter.len()
            {
                let closers = line.len() - pending.delimiter.len();
                self.at += length.unwrap_or(rest.len()) - closers;
                break;
            }
            self.at += length.map_or(rest.len(), |length| length + 1);
            if line == pending.delimiter.as_slice() {
                break;
            }
            body.extend_from_slice(line);
            body.push(b'\n');
        }
        if pending.quoted {
            return RawWord(vec![Piece::Quoted(string(&body))]);
        }
        if !body.iter().any(|byte| matches!(byte, b'$' | b'`' | b'\\')) {
            return RawWord(vec![Piece::Quoted(string(&body))]);
        }
        let mut inner = Cursor::new(&body, self.depth);
        let word = inner.word(Stop::End);
        self.broken |= inner.broken;
        word
    }
}
