//! What strangers' bytes reach, as functions of bytes that check more than the absence of a panic.
//!
//! `fuzz/run` builds this very program with coverage and libFuzzer's `main` (`--cfg fuzzing`), so
//! that no module becomes public for it; `cargo test` runs the same functions over changed copies
//! of the same corpora. Nothing here is in a program that ships.
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
pub(crate) struct Target {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&[u8]),
}

/// All of them, in the order in which `fuzz/run` goes through them.
pub(crate) const TARGETS: &[Target] = &[
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

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    static TARGET: std::sync::OnceLock<&'static Target> = std::sync::OnceLock::new();
    let target = TARGET.get_or_init(|| {
        #[expect(clippy::disallowed_methods, reason = "libFuzzer owns the command line")]
        let name = std::env::var("TOLLGATE_FUZZ").unwrap_or_default();
        TARGETS
            .iter()
            .find(|target| target.name == name)
            .expect("TOLLGATE_FUZZ names a target")
    });
    (target.run)(bytes);
});
