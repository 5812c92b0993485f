//! The signals that end Tollgate, and those that a child starts with: no disposition of the parent's
//! parent reaches it.
//!
//! A program inherits which signals are ignored. `nohup`, the background jobs of a shell and Python
//! start Tollgate with some, and a test suite that expects to be ended by them fails then. The
//! standard library empties the child's mask and resets SIGPIPE, which Rust programs ignore. This
//! resets the rest. Signals that Tollgate catches need nothing: `execve` resets those.

use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::LazyLock;

use libc::c_int;
use rustix::process::{Resource, getrlimit};

/// The highest number of a signal. Systems with fewer refuse the rest.
const LAST: c_int = 64;

/// The ignored signals that Tollgate was started with. Usually there are none.
static INHERITED: LazyLock<Vec<c_int>> = LazyLock::new(|| {
    let ignored: Vec<c_int> = (1..=LAST)
        .filter(|signal| *signal != libc::SIGPIPE && is_ignored(*signal))
        .collect();
    if ignored.contains(&libc::SIGCHLD) {
        // While it is ignored, a child that ends leaves no exit status.
        let _ignored_as_before = set(libc::SIGCHLD, Disposition::Default);
    }
    ignored
});

/// What becomes of a signal.
#[derive(Clone, Copy)]
enum Disposition {
    Default,
    Ignored,
}

/// Where the size of files is limited, writing beyond it ends a program, with the answer that an agent
/// waits for. Ignored, it is an error of the write like any other. Children start with the default, so
/// each then costs a fork more, which is why nothing is done where there is no limit.
pub(crate) fn survive_file_limit() {
    if getrlimit(Resource::Fsize).current.is_some() {
        let _as_before = set(libc::SIGXFSZ, Disposition::Ignored);
    }
}

/// Has the command start with default dispositions.
#[expect(unsafe_code, reason = "only code in the child can change its signals")]
pub(super) fn reset_in(command: &mut Command) {
    let inherited = &*INHERITED;
    // Without a closure the standard library need not fork, which is faster.
    if inherited.is_empty() {
        return;
    }
    let default = |signal: &c_int| set(*signal, Disposition::Default);
    let reset = move || inherited.iter().try_for_each(default);
    // SAFETY: between fork and exec only async-signal-safe functions are allowed. The closure reads
    // a list that exists already and calls `signal`, which is one.
    unsafe { command.pre_exec(reset) };
}

#[expect(unsafe_code, reason = "the system's interface to signals")]
fn is_ignored(signal: c_int) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: nothing is changed, and the pointer is valid for writing.
    let code = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
    // SAFETY: the call wrote it if it succeeded.
    code == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN
}

#[expect(unsafe_code, reason = "the system's interface to signals")]
fn set(signal: c_int, disposition: Disposition) -> std::io::Result<()> {
    let action = match disposition {
        Disposition::Default => libc::SIG_DFL,
        Disposition::Ignored => libc::SIG_IGN,
    };
    // SAFETY: neither action needs a handler that could be unsafe.
    match unsafe { libc::signal(signal, action) } {
        libc::SIG_ERR => Err(std::io::Error::last_os_error()),
        _ => Ok(()),
    }
}
