//! Where there is nothing but what POSIX says.

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, BorrowedFd};

use libc::{c_char, c_int};

/// Starts a child; both lists end with null, and the first argument is the program's path.
pub(super) fn start(
    arguments: &[*const c_char],
    variables: &[*const c_char],
    directory: Option<&CStr>,
    streams: [BorrowedFd<'_>; 3],
) -> io::Result<c_int> {
    let attributes = Attributes::new()?;
    let mut actions = Actions::new()?;
    for (stream, number) in streams.iter().zip(0..) {
        actions.put(*stream, number)?;
    }
    if let Some(directory) = directory {
        actions.go_to(directory)?;
    }
    let program = arguments.first().copied().unwrap_or(std::ptr::null());
    let mut pid = 0;
    #[expect(unsafe_code, reason = "the C library's function")]
    // SAFETY: all pointers are to values that live until it returns, the lists end with null,
    // and attributes and actions were initialised.
    let code = unsafe {
        libc::posix_spawn(
            &raw mut pid,
            program,
            &raw const actions.0,
            &raw const attributes.0,
            arguments.as_ptr().cast(),
            variables.as_ptr().cast(),
        )
    };
    done(code)?;
    Ok(pid)
}

fn done(code: c_int) -> io::Result<()> {
    match code {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// A group of its own, no signal blocked or ignored.
struct Attributes(libc::posix_spawnattr_t);

#[expect(unsafe_code, reason = "the C library's functions")]
impl Attributes {
    fn new() -> io::Result<Self> {
        let mut raw = MaybeUninit::uninit();
        // SAFETY: this is what initialises it.
        done(unsafe { libc::posix_spawnattr_init(raw.as_mut_ptr()) })?;
        // SAFETY: it just was.
        let mut attributes = Self(unsafe { raw.assume_init() });
        let raw = &raw mut attributes.0;
        let flags = libc::POSIX_SPAWN_SETPGROUP
            | libc::POSIX_SPAWN_SETSIGDEF
            | libc::POSIX_SPAWN_SETSIGMASK;
        let flags = flags.try_into().map_err(io::Error::other)?;
        // SAFETY: it is initialised.
        done(unsafe { libc::posix_spawnattr_setflags(raw, flags) })?;
        // SAFETY: it is initialised.
        done(unsafe { libc::posix_spawnattr_setpgroup(raw, 0) })?;
        let mut signals = no_signals();
        // SAFETY: both are initialised.
        done(unsafe { libc::posix_spawnattr_setsigmask(raw, &raw const signals) })?;
        for signal in super::super::signals::inherited()
            .iter()
            .chain(&[libc::SIGPIPE])
        {
            // SAFETY: the set is initialised. It fails for numbers that are no signals.
            unsafe { libc::sigaddset(&raw mut signals, *signal) };
        }
        // SAFETY: both are initialised.
        done(unsafe { libc::posix_spawnattr_setsigdefault(raw, &raw const signals) })?;
        Ok(attributes)
    }
}

#[expect(unsafe_code, reason = "the C library's functions")]
fn no_signals() -> libc::sigset_t {
    let mut signals = MaybeUninit::uninit();
    // SAFETY: this is what initialises it, and it does not fail.
    unsafe { libc::sigemptyset(signals.as_mut_ptr()) };
    // SAFETY: it just was.
    unsafe { signals.assume_init() }
}

#[expect(unsafe_code, reason = "the C library's function")]
impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: they are initialised, and nobody has them any more.
        unsafe { libc::posix_spawnattr_destroy(&raw mut self.0) };
    }
}

/// What is done before the child becomes its program.
struct Actions(libc::posix_spawn_file_actions_t);

#[expect(unsafe_code, reason = "the C library's functions")]
impl Actions {
    fn new() -> io::Result<Self> {
        let mut raw = MaybeUninit::uninit();
        // SAFETY: this is what initialises it.
        done(unsafe { libc::posix_spawn_file_actions_init(raw.as_mut_ptr()) })?;
        // SAFETY: it just was.
        Ok(Self(unsafe { raw.assume_init() }))
    }

    /// Has `number` be this descriptor.
    fn put(&mut self, descriptor: BorrowedFd<'_>, number: c_int) -> io::Result<()> {
        let descriptor = descriptor.as_raw_fd();
        // SAFETY: it is initialised.
        done(unsafe { libc::posix_spawn_file_actions_adddup2(&raw mut self.0, descriptor, number) })
    }

    fn go_to(&mut self, directory: &CStr) -> io::Result<()> {
        // SAFETY: it is initialised, and the path, which outlives all this, ends with a NUL.
        done(unsafe {
            libc::posix_spawn_file_actions_addchdir_np(&raw mut self.0, directory.as_ptr())
        })
    }
}

#[expect(unsafe_code, reason = "the C library's function")]
impl Drop for Actions {
    fn drop(&mut self) {
        // SAFETY: they are initialised, and nobody has them any more.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut self.0) };
    }
}
