//! Texts in a width.

use std::os::fd::AsFd;

use unicode_width::UnicodeWidthStr as _;

/// Breaks a text between words. A word that is longer than a line has one to itself.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The width of a terminal; the usual one of what is none.
pub(super) fn columns(of: impl AsFd) -> usize {
    known_columns(of).unwrap_or(80)
}

/// The width of a terminal that tells it.
pub(super) fn known_columns(of: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(of).ok()?;
    (size.ws_col > 0).then(|| usize::from(size.ws_col))
}
