//! The scanner of `shell/` beside two others that know the language: the tree-sitter grammar of
//! bash, and bash itself.
//!
//! The grammar reads every command of the corpora and of generated scripts: each command word it
//! finds, the scanner must find. Bash runs generated scripts with a recording `git` on its path:
//! each commit it makes, the scanner must have announced, and text that is only data must not have
//! been announced. A failing script is printed with the seed that makes it again.
#![cfg(test)]
#![expect(
    clippy::disallowed_methods,
    clippy::string_slice,
    reason = "a test plants files, is told its seed by the environment, and may fail"
)]

mod chance;
mod generate;
mod oracle;
mod real_bash;
mod speed;

/// Scripts per test; `TOLLGATE_PROVE_CASES` asks for more.
const CASES: &str = "TOLLGATE_PROVE_CASES";
/// The first script's seed; printed by a failure.
const SEED: &str = "TOLLGATE_TEST_SEED";

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The seeds of a run: as many as asked for, starting where asked.
fn seeds(default_count: u64) -> std::ops::Range<u64> {
    let first = number(SEED).unwrap_or(1);
    first..first + number(CASES).unwrap_or(default_count)
}
