//! Names and messages of others as text: what a terminal would obey is shown instead.

use std::fmt::{self, Write as _};

/// A text in one line, without anything that moves the cursor, colours, or turns the order of
/// what is read around.
pub(crate) struct Plain<'a>(pub(crate) &'a str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '\n' => f.write_str("⏎")?,
                '\t' => f.write_char(' ')?,
                c if is_obeyed(c) => write!(f, "\\u{{{:x}}}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// Whether a terminal does something else with it than show it.
pub(crate) fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::Plain;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        let text = "a\u{1b}[31mb\u{7}\r\n\tc\u{202e}d\u{9b}2J ünï ✔";
        assert_eq!(
            Plain(text).to_string(),
            "a\\u{1b}[31mb\\u{7}\\u{d}⏎ c\\u{202e}d\\u{9b}2J ünï ✔"
        );
    }
}
