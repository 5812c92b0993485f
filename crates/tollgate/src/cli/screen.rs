//! Lines for people: no wider than the terminal, and in signs that it can show.
//!
//! The one place that decides both. Data (JSON, TOML, diffs) does not go through here.

use std::fmt;
use std::os::fd::AsFd;

use unicode_width::UnicodeWidthStr;

use super::wrap::known_columns;
use crate::plain::in_locale;

/// The least width that is respected: below it, words are cut into pieces for nothing.
const NARROW: usize = 20;

/// Prints a line on standard output.
macro_rules! out {
    () => { $crate::cli::screen::out(format_args!("")) };
    ($($text:tt)*) => { $crate::cli::screen::out(format_args!($($text)*)) };
}

/// Prints a line on standard error.
macro_rules! err {
    ($($text:tt)*) => { $crate::cli::screen::err(format_args!($($text)*)) };
}

pub(super) fn out(text: fmt::Arguments<'_>) {
    anstream::println!("{}", for_stdout(text.to_string()));
}

pub(super) fn err(text: fmt::Arguments<'_>) {
    anstream::eprintln!("{}", fitted(text.to_string(), std::io::stderr()));
}

/// Prints a question on standard error; the answer follows on its line.
pub(super) fn ask(question: fmt::Arguments<'_>) {
    anstream::eprint!("{}", fitted(question.to_string(), std::io::stderr()));
}

/// A text as it is printed on standard output.
pub(super) fn for_stdout(text: String) -> String {
    fitted(text, std::io::stdout())
}

fn fitted(text: String, stream: impl AsFd) -> String {
    let text = in_locale(text);
    let Some(columns) = known_columns(stream) else {
        return text;
    };
    let lines = text
        .split('\n')
        .map(|line| broken(line, columns.max(NARROW)));
    lines.collect::<Vec<_>>().join("\n")
}

/// Breaks a line between words. What follows is indented like the text before it.
fn broken(line: &str, columns: usize) -> String {
    if visible(line) <= columns {
        return line.to_owned();
    }
    let indent = " ".repeat(text_column(line).min(columns / 3));
    let (mut broken, mut width) = (String::new(), 0);
    for word in line.split_inclusive(' ') {
        let word_width = visible(word.trim_end_matches(' '));
        if width + word_width > columns && width > indent.len() {
            broken.truncate(broken.trim_end_matches(' ').len());
            broken = format!("{broken}\n{indent}");
            width = indent.len();
            if word_width == 0 {
                continue;
            }
        }
        broken.push_str(word);
        width += visible(word);
    }
    broken
}

/// Where the text of a line begins: behind its blanks, behind the sign of an item, or behind a label that
/// blanks set off.
fn text_column(line: &str) -> usize {
    let plain = anstream::adapter::strip_str(line).to_string();
    let rest = plain.trim_start_matches(' ');
    let start = plain.len() - rest.len();
    let sign = ["- ", "● ", "! "]
        .into_iter()
        .find(|sign| rest.starts_with(sign));
    let label = rest.split_once("  ").map(|(label, text)| {
        let blanks = text.len() - text.trim_start_matches(' ').len();
        label.width() + 2 + blanks
    });
    start + sign.map_or(label.unwrap_or(0), UnicodeWidthStr::width)
}

/// The columns of a text without its colours.
fn visible(text: &str) -> usize {
    anstream::adapter::strip_str(text).to_string().width()
}

#[cfg(test)]
mod tests {
    use super::broken;

    #[test]
    fn a_line_is_broken_between_words_and_keeps_its_indentation() {
        assert_eq!(broken("  one two three", 10), "  one two\n  three");
        assert_eq!(broken("do  one two three", 12), "do  one two\n    three");
        assert_eq!(broken("- one two three", 10), "- one two\n  three");
        assert_eq!(broken("one two", 7), "one two");
        assert_eq!(
            broken("a-word-without-a-blank b", 10),
            "a-word-without-a-blank\nb"
        );
    }

    #[test]
    fn colours_have_no_width() {
        let line = "\u{1b}[1mone\u{1b}[0m two";
        assert_eq!(broken(line, 7), line);
        assert_eq!(broken(line, 5), "\u{1b}[1mone\u{1b}[0m\ntwo");
    }
}
