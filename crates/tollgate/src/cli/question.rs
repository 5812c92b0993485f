//! Questions that a person at the terminal answers with yes or no.

use std::io::{IsTerminal as _, stderr, stdin};

use super::screen;

/// What an empty line means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Default {
    Yes,
    No,
}

/// Whether there is a terminal to ask at.
pub(super) fn can_ask() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

/// Asks, on standard error: standard output may be for a file.
pub(super) fn agrees(question: &str, default: Default) -> bool {
    let choices = match default {
        Default::Yes => "[Y/n]",
        Default::No => "[y/N]",
    };
    screen::ask(format_args!("{question} {choices} "));
    let mut line = String::new();
    let read = stdin().read_line(&mut line);
    let yes = match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => true,
        // The end of the input is no answer.
        "" => default == Default::Yes && !line.is_empty(),
        _ => false,
    };
    yes && read.is_ok()
}
