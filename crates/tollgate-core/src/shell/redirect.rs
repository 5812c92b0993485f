//! Redirections: `2>file`, `<<EOF`, `&>`, `{fd}<` …

use super::lex::{Cursor, Stop, is_blank};
use super::syntax::{RawWord, Redirect, RedirectOp};

impl Cursor<'_> {
    /// A redirection at the position, with its descriptor.
    pub(crate) fn redirect(&mut self) -> Option<Redirect> {
        let rest = self.rest();
        let digits = rest
            .iter()
            .take(4)
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let mut ahead = digits;
        let mut fd = None;
        if digits > 0 {
            if !matches!(rest.get(digits), Some(b'<' | b'>')) {
                return None;
            }
            fd = std::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok();
        } else if rest.first() == Some(&b'{') {
            // `{name}>file`
            let length = rest.iter().take(40).position(|&byte| byte == b'}')?;
            let named = rest
                .get(1..length)?
                .iter()
                .all(|b| b.is_ascii_alphanumeric() || *b == b'_');
            if !named || length < 2 || !matches!(rest.get(length + 1), Some(b'<' | b'>')) {
                return None;
            }
            ahead = length + 1;
            fd = Some(99);
        }
        let operator = rest.get(ahead..)?;
        if ahead == 0 && matches!(operator, [b'<' | b'>', b'(', ..]) {
            return None;
        }
        let table: [(&[u8], RedirectOp); 13] = [
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
        let (text, op) = table
            .into_iter()
            .find(|(text, _)| operator.starts_with(text))?;
        self.at += ahead + text.len();
        if op == RedirectOp::HereDoc {
            let body = Some(self.heredoc_marker(text == b"<<-"));
            return Some(Redirect {
                fd,
                op,
                target: RawWord::default(),
                body,
            });
        }
        while is_blank(self.peek(0)) {
            self.at += 1;
        }
        let target = self.word(Stop::Word);
        self.broken |= target.0.is_empty();
        Some(Redirect {
            fd,
            op,
            target,
            body: None,
        })
    }
}
