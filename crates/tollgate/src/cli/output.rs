//! What a command says when it cannot say what it wants to.
//!
//! The macros that print panic when standard output fails with anything but a broken pipe: a full
//! disk behind `tollgate status >file`. That is no defect of Tollgate, and no reason to dump core.

use std::io::{self, Write as _};

/// What those macros panic with.
const FAILED: &str = "failed printing to ";

/// Ends the command with words and with 2 when its output cannot be written.
#[expect(
    clippy::exit,
    clippy::disallowed_methods,
    reason = "a panic has nowhere to return to"
)]
pub(super) fn fail_in_words() {
    let otherwise = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload_as_str().unwrap_or_default();
        let Some(what) = text.strip_prefix(FAILED) else {
            return otherwise(panic);
        };
        let _nobody_listens = writeln!(io::stderr(), "error: cannot write to {what}");
        std::process::exit(2);
    }));
}
