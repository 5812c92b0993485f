//! On Linux, where a child that shares our memory until it becomes its program needs no pipe to
//! tell why it could not, and does not ask of each signal what we do with it. The C library's
//! `posix_spawn` does both, which took a fifth of what we spend on a small check.

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use libc::{c_char, c_int, c_void};

/// Room for the few calls that the child makes.
const STACK: usize = 16 << 10;

/// Signals that this program may ignore or catch, and that others send: a broken pipe, and what
/// cancels a run.
const OURS: [c_int; 4] = [libc::SIGPIPE, libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// What the child is to do, in memory that both have.
struct Orders<'o> {
    arguments: &'o [*const c_char],
    variables: &'o [*const c_char],
    directory: Option<&'o CStr>,
    streams: [c_int; 3],
    /// Why it could not.
    error: AtomicI32,
}

/// Starts a child; both lists end with null, and the first argument is the program's path.
#[expect(unsafe_code, reason = "the C library's functions")]
pub(super) fn start(
    arguments: &[*const c_char],
    variables: &[*const c_char],
    directory: Option<&CStr>,
    streams: [BorrowedFd<'_>; 3],
) -> io::Result<c_int> {
    let orders = Orders {
        arguments,
        variables,
        directory,
        streams: streams.map(|stream| stream.as_raw_fd()),
        error: AtomicI32::new(0),
    };
    let mut stack = Vec::<u8>::with_capacity(STACK);
    // No handler of ours may run in the child, whose memory is ours.
    let before = masked(&every_signal())?;
    // SAFETY: the stack is as large as said and belongs to nobody else. This thread sleeps until
    // the child became its program or ended (CLONE_VFORK), so that all it is given lives as long;
    // `obey` says what it does meanwhile to the memory that they share.
    let pid = unsafe {
        libc::clone(
            obey,
            stack.as_mut_ptr().wrapping_add(STACK).cast(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
            (&raw const orders).cast_mut().cast(),
        )
    };
    let failed = io::Error::last_os_error();
    masked(&before)?;
    if pid < 0 {
        return Err(failed);
    }
    match orders.error.load(Ordering::Relaxed) {
        0 => Ok(pid),
        error => {
            // SAFETY: it is our child, and nobody else knows of it. It ended.
            unsafe { libc::waitpid(pid, ptr::null_mut(), 0) };
            Err(io::Error::from_raw_os_error(error))
        }
    }
}

/// The child's life until it becomes its program. It calls the system and touches nothing but its
/// stack, the error, and the thread's `errno`, which nobody looks at before the parent's next call.
#[expect(unsafe_code, reason = "the C library's functions")]
extern "C" fn obey(orders: *mut c_void) -> c_int {
    // SAFETY: that is what `start` hands over, and it sleeps.
    let orders = unsafe { &*orders.cast::<Orders<'_>>() };
    let error = carried_out(orders).err();
    let error = error.and_then(|error| error.raw_os_error());
    orders
        .error
        .store(error.unwrap_or(libc::EINVAL), Ordering::Relaxed);
    // SAFETY: always.
    unsafe { libc::_exit(127) }
}

/// Comes back only if something fails.
#[expect(unsafe_code, reason = "the C library's functions")]
fn carried_out(orders: &Orders<'_>) -> io::Result<()> {
    for signal in OURS.iter().chain(super::super::signals::inherited()) {
        forget(*signal)?;
    }
    // SAFETY: always.
    done(unsafe { libc::setpgid(0, 0) })?;
    for (stream, number) in orders.streams.into_iter().zip(0..) {
        if stream == number {
            // The one that is there already goes on existing.
            // SAFETY: always.
            done(unsafe { libc::fcntl(stream, libc::F_SETFD, 0) })?;
        } else {
            // SAFETY: always, for descriptors of a process that is about to become another.
            done(unsafe { libc::dup2(stream, number) })?;
        }
    }
    if let Some(directory) = orders.directory {
        // SAFETY: it ends with a NUL.
        done(unsafe { libc::chdir(directory.as_ptr()) })?;
    }
    masked(&no_signal())?;
    let program = orders.arguments.first().copied().unwrap_or(ptr::null());
    // SAFETY: both lists end with null, and what they point to outlives this; a missing program is
    // an address that the system refuses.
    unsafe {
        libc::execve(
            program,
            orders.arguments.as_ptr(),
            orders.variables.as_ptr(),
        )
    };
    Err(io::Error::last_os_error())
}

/// Does with a signal what is usual. The system forgets what we catch when the child becomes its
/// program; for these that is too late, because our handlers would run in the child.
#[expect(unsafe_code, reason = "the C library's function")]
fn forget(signal: c_int) -> io::Result<()> {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: it is only written to.
    done(unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) })?;
    // SAFETY: it just was.
    let mut action = unsafe { action.assume_init() };
    if action.sa_sigaction == libc::SIG_DFL {
        return Ok(());
    }
    action.sa_sigaction = libc::SIG_DFL;
    // SAFETY: it is a whole one.
    done(unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) })
}

/// Blocks these signals and no others, for this thread. Returns those that were.
#[expect(unsafe_code, reason = "the C library's function")]
fn masked(signals: &libc::sigset_t) -> io::Result<libc::sigset_t> {
    let mut before = no_signal();
    // SAFETY: both are initialised.
    let code = unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, signals, &raw mut before) };
    match code {
        0 => Ok(before),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

#[expect(unsafe_code, reason = "the C library's function")]
fn every_signal() -> libc::sigset_t {
    let mut signals = no_signal();
    // SAFETY: it is initialised. It does not fail.
    unsafe { libc::sigfillset(&raw mut signals) };
    signals
}

#[expect(unsafe_code, reason = "the C library's function")]
fn no_signal() -> libc::sigset_t {
    let mut signals = MaybeUninit::uninit();
    // SAFETY: this is what initialises it, and it does not fail.
    unsafe { libc::sigemptyset(signals.as_mut_ptr()) };
    // SAFETY: it just was.
    unsafe { signals.assume_init() }
}

fn done(code: c_int) -> io::Result<()> {
    if code < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
