//! The process's environment: the only place that reads it.

use std::ffi::OsString;
use std::path::PathBuf;

use tollgate_core::env::Env;

/// What an event needs of it.
pub(crate) fn current() -> Env {
    Env::read(variable, std::env::current_dir().ok())
}

/// A variable that an event does not need, for those who do.
#[expect(
    clippy::disallowed_methods,
    reason = "the rim: the only place that asks the environment"
)]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// The file of the running program.
pub(crate) fn program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}
