//! A moment at which this process becomes another one, whatever it is doing then.
//!
//! The handler of a timer's signal calls `execve`, which takes neither memory nor locks. A thread that sleeps
//! beside the main one could act at that moment too, but the system starts it on another processor and waits
//! for it at the end: measured, that is a fifth of `/bin/true` for every event.
//!
//! A system call that waits for a file system that is away is ended by a fatal signal only. For that case a
//! second timer kills the process (Linux) before the agent would; the agent reports the hook as killed, and goes on.

use std::ffi::{CString, OsString, c_char, c_int};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::Duration;

/// When a process that still waits in the system is killed. Agents wait for 10 seconds.
#[cfg(target_os = "linux")]
const KILLED_AFTER: u8 = 9;

/// What the process becomes, if anything.
static NEXT: AtomicPtr<Next> = AtomicPtr::new(ptr::null_mut());

/// Set when the moment has no meaning any more.
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// What the process becomes. Prepared, because a signal handler must not ask for memory.
struct Next {
    /// The program that runs, also if its file was replaced meanwhile (Linux).
    program: CString,
    /// The pointers of `arguments`, and a null.
    argv: Vec<*const c_char>,
    _arguments: Vec<CString>,
    /// What it reads from its standard input.
    input: &'static str,
    /// A name for a file that holds the input for a moment, where there are no files without one.
    #[cfg(not(target_os = "linux"))]
    spare: CString,
}

/// After `time`, the process becomes this program with these arguments and this input.
pub(crate) fn become_after(
    time: Duration,
    arguments: impl Iterator<Item = OsString>,
    input: &'static str,
) -> io::Result<()> {
    let arguments: Vec<CString> = arguments
        .map(|argument| CString::new(argument.into_vec()).map_err(io::Error::from))
        .collect::<Result<_, _>>()?;
    let mut argv: Vec<*const c_char> = arguments.iter().map(|text| text.as_ptr()).collect();
    argv.push(ptr::null());
    let next = Box::new(Next {
        #[cfg(target_os = "linux")]
        program: c"/proc/self/exe".to_owned(),
        #[cfg(not(target_os = "linux"))]
        program: program()?,
        argv,
        _arguments: arguments,
        input,
        #[cfg(not(target_os = "linux"))]
        spare: spare()?,
    });
    NEXT.store(Box::into_raw(next), Ordering::Release);
    arm(time)
}

#[cfg(not(target_os = "linux"))]
fn program() -> io::Result<CString> {
    let path = std::env::current_exe()?.into_os_string();
    Ok(CString::new(path.into_vec())?)
}

#[cfg(not(target_os = "linux"))]
fn spare() -> io::Result<CString> {
    let name = format!("tollgate-event-{}", std::process::id());
    let path = std::env::temp_dir().join(name).into_os_string();
    Ok(CString::new(path.into_vec())?)
}

/// Nothing happens at that moment any more: the process is about to end.
pub(crate) fn call_off() {
    IS_OVER.store(true, Ordering::Release);
}

/// Does now what was to be done later.
pub(crate) fn become_now() {
    if IS_OVER.load(Ordering::Acquire) {
        return;
    }
    #[expect(unsafe_code, reason = "a signal handler shares by a pointer alone")]
    // SAFETY: the pointer is null, or of a box that is never freed and never changed.
    let next = unsafe { NEXT.load(Ordering::Acquire).as_ref() };
    if let Some(next) = next {
        let _failed = handed_on(next);
        give_up();
    }
}

/// Ends the process, so that the agent goes on.
fn give_up() {
    let words = b"tollgate: not decided in time, and that could not be written down\n";
    let _unheard = rustix::io::write(rustix::stdio::stderr(), words);
    #[expect(unsafe_code, reason = "`exit` of the standard library runs handlers")]
    // SAFETY: it ends the process, and touches none of its memory.
    unsafe {
        libc::_exit(0)
    }
}

/// Becomes the next program. Comes back only if it cannot.
fn handed_on(next: &Next) -> rustix::io::Result<()> {
    let file = unnamed_file(next)?;
    let mut rest = next.input.as_bytes();
    while !rest.is_empty() {
        let written = rustix::io::write(&file, rest)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    rustix::fs::seek(&file, rustix::fs::SeekFrom::Start(0))?;
    rustix::stdio::dup2_stdin(&file)?;
    #[expect(unsafe_code, reason = "nothing else replaces a process")]
    // SAFETY: both are texts and lists that end with a null and live as long as the process.
    unsafe {
        libc::execv(next.program.as_ptr(), next.argv.as_ptr())
    };
    Err(rustix::io::Errno::NOENT)
}

#[cfg(target_os = "linux")]
fn unnamed_file(_next: &Next) -> rustix::io::Result<OwnedFd> {
    rustix::fs::memfd_create(c"event", rustix::fs::MemfdFlags::CLOEXEC)
}

#[cfg(not(target_os = "linux"))]
fn unnamed_file(next: &Next) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::{Mode, OFlags};
    let how = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::open(next.spare.as_c_str(), how, Mode::RUSR | Mode::WUSR)?;
    rustix::fs::unlink(next.spare.as_c_str())?;
    Ok(file)
}

extern "C" fn on_alarm(_signal: c_int) {
    become_now();
}

#[expect(unsafe_code, reason = "the system's interface to signals and timers")]
fn arm(time: Duration) -> io::Result<()> {
    let checked = |code: c_int| match code {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    };
    let handler: extern "C" fn(c_int) = on_alarm;
    // SAFETY: all zeros is a valid value of this plain structure of the system: no flags, no signals.
    let mut action = unsafe { std::mem::zeroed::<libc::sigaction>() };
    let mut signals = action.sa_mask;
    action.sa_sigaction = handler as libc::sighandler_t;
    // The program that follows must not start with the signal blocked; a write that is interrupted goes on.
    action.sa_flags = libc::SA_NODEFER | libc::SA_RESTART;
    let milliseconds = u16::try_from(time.subsec_millis()).unwrap_or_default();
    let mut timer = libc::itimerval {
        it_interval: libc::timeval {
            tv_sec: 0,
            tv_usec: 0,
        },
        it_value: libc::timeval {
            tv_sec: time.as_secs().try_into().unwrap_or(1),
            tv_usec: milliseconds.into(),
        },
    };
    timer.it_value.tv_usec *= 1000;
    let none = ptr::null_mut();
    // SAFETY: the handler calls only functions that are allowed in one; the pointers are valid.
    checked(unsafe { libc::sigaction(libc::SIGALRM, &raw const action, none) })?;
    // Whoever started us may have blocked it.
    // SAFETY: the pointer is valid.
    checked(unsafe { libc::sigaddset(&raw mut signals, libc::SIGALRM) })?;
    // SAFETY: as above.
    unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const signals, ptr::null_mut()) };
    // SAFETY: as above.
    checked(unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, ptr::null_mut()) })?;
    #[cfg(target_os = "linux")]
    kill_late();
    Ok(())
}

/// Without it, such a process would wait until the agent ends it.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the system's interface to timers")]
fn kill_late() {
    // SAFETY: all zeros is a valid value of this plain structure of the system.
    let mut event = unsafe { std::mem::zeroed::<libc::sigevent>() };
    let mut timer: libc::timer_t = ptr::null_mut();
    let none = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let time = libc::itimerspec {
        it_interval: none,
        it_value: libc::timespec {
            tv_sec: KILLED_AFTER.into(),
            tv_nsec: 0,
        },
    };
    event.sigev_notify = libc::SIGEV_SIGNAL;
    event.sigev_signo = libc::SIGKILL;
    // SAFETY: the pointers are valid, and no handler runs.
    let made = unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) };
    if made == 0 {
        // SAFETY: the timer is there, and the pointer is valid.
        unsafe { libc::timer_settime(timer, 0, &raw const time, ptr::null_mut()) };
    }
}
