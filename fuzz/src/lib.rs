//! What strangers' bytes reach, as functions of bytes that check more than the absence of a panic.
//!
//! `fuzz/run` builds them with coverage and libFuzzer's `main` (`--cfg fuzzing`); `cargo test` runs
//! the same functions over changed copies of the same corpora. Nothing here is in a program that
//! ships.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failure here is what is looked for"
)]

mod project;
mod settings;
mod targets;
#[cfg(test)]
mod tests;

/// One kind of input.
#[derive(Debug)]
pub struct Target {
    /// What `fuzz/run` calls it.
    pub name: &'static str,
    /// Takes any bytes; a panic is a defect.
    pub run: fn(&[u8]),
}

/// All of them, in the order in which `fuzz/run` goes through them.
pub const TARGETS: &[Target] = &[
    Target {
        name: "event",
        run: targets::event,
    },
    Target {
        name: "state",
        run: targets::state,
    },
    Target {
        name: "json",
        run: targets::json,
    },
    Target {
        name: "command",
        run: targets::command,
    },
    Target {
        name: "shell",
        run: targets::shell,
    },
    Target {
        name: "yaml",
        run: targets::yaml,
    },
    Target {
        name: "tasks",
        run: targets::tasks,
    },
    Target {
        name: "review",
        run: targets::review,
    },
    Target {
        name: "git",
        run: targets::git,
    },
    Target {
        name: "settings",
        run: settings::settings,
    },
];
