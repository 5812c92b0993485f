//! Redirections, `2>file`, `<<EOF`, `&>` …, and the bodies of heredocs after the end of the line.

use std::ops::ControlFlow;
use std::rc::Rc;

use super::Parser;
use super::cursor::{is_blank, is_meta, string};
use super::word::Stop;
use crate::syntax::{Body, Piece, RawWord, Redirect, RedirectOp};

/// The operators, longer ones first.
const OPERATORS: [(&[u8], RedirectOp); 13] = [
    (b"<<<", RedirectOp::HereString),
    (b"<<-", RedirectOp::HereDoc),
    (b"<<", RedirectOp::HereDoc),
    (b"<&", RedirectOp::DupIn),
    (b"<>", RedirectOp::ReadWrite),
    (b"<", RedirectOp::Read),
    (b">>", RedirectOp::Append),
    (b">|", RedirectOp::Write),
    (b">&", RedirectOp::DupOut),
    (b">", RedirectOp::Write),
    (b"&>>", RedirectOp::BothAppend),
    (b"&>", RedirectOp::Both),
    (b">!", RedirectOp::Write),
];

/// A heredoc whose body starts after the next newline.
#[derive(Debug)]
pub(super) struct Pending {
    delimiter: Vec<u8>,
    quoted: bool,
    strip_tabs: bool,
    pub(super) body: Body,
}

impl Parser<'_> {
    /// A redirection at the position, with its descriptor.
    pub(super) fn redirect(&mut self) -> Option<Redirect> {
        let rest = self.text.rest();
        let digits = rest.iter().take(4).take_while(|byte| byte.is_ascii_digit());
        let digits = digits.count();
        let operator = rest.get(digits..)?;
        let fd = match digits {
            0 if self.text.at_process() => return None,
            0 => None,
            _ if !matches!(operator.first(), Some(b'<' | b'>')) => return None,
            _ => std::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok(),
        };
        let (text, op) = OPERATORS
            .into_iter()
            .find(|(text, _)| operator.starts_with(text))?;
        self.text.skip(digits + text.len());
        self.text.take_while(is_blank);
        let (target, body) = if op == RedirectOp::HereDoc {
            (
                RawWord::default(),
                Some(self.heredoc_marker(text == b"<<-")),
            )
        } else {
            let target = self.word(Stop::Word);
            self.broken |= target.0.is_empty();
            (target, None)
        };
        Some(Redirect {
            fd,
            op,
            target,
            body,
        })
    }

    /// Reads the delimiter after `<<` and returns the place its body will fill.
    fn heredoc_marker(&mut self, strip_tabs: bool) -> Body {
        let mut delimiter = Vec::new();
        let mut quoted = false;
        self.repeat(|parser| {
            let byte = parser.text.peek(0);
            match byte {
                b'\'' | b'"' => {
                    quoted = true;
                    parser.text.skip(1);
                    delimiter.extend(parser.text.take_while(|inner| inner != byte));
                    parser.text.skip(1);
                }
                b'\\' => {
                    quoted = true;
                    delimiter.push(parser.text.peek(1));
                    parser.text.skip(2);
                }
                _ if is_meta(byte) => return ControlFlow::Break(()),
                _ => {
                    delimiter.push(byte);
                    parser.text.skip(1);
                }
            }
            ControlFlow::Continue(())
        });
        let body = Body::default();
        self.pending.push(Pending {
            delimiter,
            quoted,
            strip_tabs,
            body: Rc::clone(&body),
        });
        body
    }

    pub(super) fn heredoc_body(&mut self, pending: &Pending) -> RawWord {
        let mut body = Vec::new();
        let depth = self.depth;
        self.repeat(|parser| {
            let rest = parser.text.rest();
            let length = rest.iter().position(|&byte| byte == b'\n');
            let mut line = rest.get(..length.unwrap_or(rest.len())).unwrap_or_default();
            if pending.strip_tabs {
                let tabs = line.iter().take_while(|&&byte| byte == b'\t').count();
                line = line.get(tabs..).unwrap_or_default();
            }
            // Inside `$(…)` bash also ends a heredoc at `EOF)`.
            if depth > 0
                && line
                    .strip_prefix(pending.delimiter.as_slice())
                    .is_some_and(|after| {
                        !pending.delimiter.is_empty() && after.iter().all(|&byte| byte == b')')
                    })
                && line.len() > pending.delimiter.len()
            {
                let closers = line.len() - pending.delimiter.len();
                let line_end = length.unwrap_or(rest.len());
                parser.text.skip(line_end - closers);
                return ControlFlow::Break(());
            }
            let over = length.map_or(rest.len(), |length| length + 1);
            parser.text.skip(over);
            if line == pending.delimiter.as_slice() {
                return ControlFlow::Break(());
            }
            body.extend_from_slice(line);
            body.push(b'\n');
            ControlFlow::Continue(())
        });
        if pending.quoted {
            return RawWord(vec![Piece::Quoted(string(&body))]);
        }
        if !body.iter().any(|byte| matches!(byte, b'$' | b'`' | b'\\')) {
            return RawWord(vec![Piece::Quoted(string(&body))]);
        }
        let mut inner = Parser::new(&body, self.depth);
        let word = inner.word(Stop::End);
        self.broken |= inner.broken;
        word
    }
}
