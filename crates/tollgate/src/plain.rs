//! Untrusted names and messages as text: control characters are shown instead of obeyed.

use std::fmt::{self, Write as _};
use std::sync::OnceLock;

use anstyle::{AnsiColor, Style};
use jiff::Timestamp;
use tollgate_store::timestamp;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::environment::variable;

/// How words of different weight look.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const HINT: Style = AnsiColor::Cyan.on_default().bold();
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const BOLD: Style = Style::new().bold();

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

/// The same for a text of several lines, which stay lines.
pub(crate) struct PlainLines<'a>(pub(crate) &'a str);

impl fmt::Display for PlainLines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, line) in self.0.split('\n').enumerate() {
            if at > 0 {
                f.write_char('\n')?;
            }
            Plain(line).fmt(f)?;
        }
        Ok(())
    }
}

/// Whether a terminal does something else with it than show it.
pub(crate) fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// The text with signs that the locale has. Texts of others keep theirs.
pub(crate) fn in_locale(text: String) -> String {
    if text.is_ascii() || is_utf8() {
        return text;
    }
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        let instead = match c {
            // The sign of what is verified is written by one module.
            '\u{2714}' | '✓' => "v",
            '✖' | '✗' | '×' => "x",
            '●' => "*",
            '○' | '⊘' => "o",
            '▶' | '▸' => ">",
            '■' => "#",
            '□' => ".",
            '│' => "|",
            '·' | '━' | '–' | '—' => "-",
            '→' => "->",
            '⏭' => ">>",
            '↺' => "@",
            '⚠' => "!",
            '…' => "...",
            '“' | '”' => "\"",
            '⏎' => "\\n",
            other => {
                plain.push(other);
                continue;
            }
        };
        plain.push_str(instead);
    }
    plain
}

/// Whether the locale has UTF-8. A machine that names none (a container, a task of cron) says nothing
/// about where the text is read.
pub(crate) fn is_utf8() -> bool {
    static IS_UTF8: OnceLock<bool> = OnceLock::new();
    *IS_UTF8.get_or_init(|| {
        let mut named = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .filter_map(variable);
        let locale = named.find(|value| !value.is_empty());
        locale.is_none_or(|locale| {
            let locale = locale.to_string_lossy().to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        })
    })
}

/// So many of something.
pub(crate) fn count<N>(number: N, one: &str) -> String
where
    N: fmt::Display + PartialEq + From<u8> + Copy,
{
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{number} {one}{plural}")
}

/// A moment as people read it, to the second: `2026-02-08 20:15:00Z`.
pub(crate) fn moment(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%SZ").to_string()
}

/// The same of a text; one that is no moment stays as it is.
pub(crate) fn moment_of(text: &str) -> String {
    timestamp::parse(text).map_or_else(|| text.to_owned(), moment)
}

/// How many minutes, hours or days lie between two moments, in these units; nothing below a minute.
pub(crate) fn age(then: Timestamp, now: Timestamp, units: [&str; 3]) -> Option<String> {
    let [minutes, hours, days] = units;
    let (number, unit) = match now.duration_since(then).as_secs() {
        ..60 => return None,
        seconds @ 60..3600 => (seconds / 60, minutes),
        seconds @ 3600..86_400 => (seconds / 3600, hours),
        seconds => (seconds / 86_400, days),
    };
    Some(format!("{number}{unit}"))
}

/// A length of time as people say it.
pub(crate) fn duration(ms: f64) -> String {
    if ms < 1000.0 {
        format!("{ms:.1} ms")
    } else if ms < 60_000.0 {
        format!("{:.1} s", ms / 1000.0)
    } else if ms < 3_600_000.0 {
        format!("{:.0} min", ms / 60_000.0)
    } else if ms < 172_800_000.0 {
        format!("{:.1} h", ms / 3_600_000.0)
    } else {
        format!("{:.0} days", ms / 86_400_000.0)
    }
}

/// The beginning of a text, of at most so many characters; one that is cut says so.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or(text)),
        None => text.to_owned(),
    }
}

/// A text with at most so many columns; one that is cut says so.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let end = in_locale("…".to_owned());
    let mut room = columns.saturating_sub(end.width());
    let fits = |c: &char| match room.checked_sub(c.width().unwrap_or(0)) {
        Some(left) => {
            room = left;
            true
        }
        None => false,
    };
    let mut kept: String = text.chars().take_while(fits).collect();
    if columns > 0 {
        kept.push_str(&end);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{Plain, PlainLines, fit};

    #[test]
    fn a_text_is_cut_at_its_columns() {
        for (columns, expected) in [(6, "日本ab"), (5, "日本…"), (4, "日…"), (1, "…"), (0, "")]
        {
            assert_eq!(fit("日本ab", columns), expected, "{columns}");
        }
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        let text = "a\u{1b}[31mb\u{7}\r\n\tc\u{202e}d\u{9b}2J ünï ✔";
        assert_eq!(
            Plain(text).to_string(),
            "a\\u{1b}[31mb\\u{7}\\u{d}⏎ c\\u{202e}d\\u{9b}2J ünï ✔"
        );
        assert_eq!(PlainLines("a\n\u{1b}b\n").to_string(), "a\n\\u{1b}b\n");
    }
}
