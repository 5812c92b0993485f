//! Starting a child.
//!
//! The standard library starts one with the same call of the system, but copies and sorts all
//! variables for each child anew and wants descriptors of its own to close: a quarter of all that
//! two hundred small checks have us do. Here the variables are read once for all children of a
//! run, and descriptors are lent. Between fork and exec nothing but the C library runs.

use std::ffi::{CString, NulError, OsStr};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;
use std::ptr;

use libc::{c_char, c_int};
use rustix::process::Pid;

use super::{CHILD_MARK, RUN_MARK};

/// Marks a child as started by Tollgate: hooks inside it approve without looking.
const NESTED: [(&str, &str); 3] = [
    (tollgate_core::env::DEPTH, "1"),
    ("TASKIE_HOOK_SKIP", "true"),
    ("GAUNTLET_STOP_HOOK_ACTIVE", "1"),
];

/// An agent inside a child is not to take itself for a session of the agent around us.
const NOT_HANDED_ON: [&str; 1] = ["CLAUDECODE"];

/// What all children of a run start with.
#[derive(Debug)]
pub(super) struct Starter {
    /// `NAME=value`, without those that differ from child to child.
    variables: Vec<CString>,
}

impl Starter {
    /// For the children of the run with this mark.
    pub(super) fn new(mark: &str) -> io::Result<Self> {
        let is_ours = |name: &OsStr| {
            let ours = NESTED.iter().map(|(name, _)| name);
            let mut ours = ours.chain(&NOT_HANDED_ON).chain(&[RUN_MARK, CHILD_MARK]);
            ours.any(|own| name == *own)
        };
        let inherited = std::env::vars_os().filter(|(name, _)| !is_ours(name));
        let inherited = inherited.map(|(name, value)| variable(&name, &value));
        let ours = NESTED.into_iter().chain([(RUN_MARK, mark)]);
        let ours = ours.map(|(name, value)| variable(name.as_ref(), value.as_ref()));
        Ok(Self {
            variables: inherited.chain(ours).collect::<Result<_, _>>()?,
        })
    }

    /// Starts a command, of which only program, arguments, directory and changed variables count.
    /// `mark` tells it from others, `streams` are its standard ones.
    pub(super) fn start(
        &self,
        command: &Command,
        mark: &str,
        streams: [BorrowedFd<'_>; 3],
    ) -> io::Result<Pid> {
        let attributes = Attributes::new()?;
        let mut actions = Actions::new()?;
        for (stream, number) in streams.iter().zip(0..) {
            actions.put(*stream, number)?;
        }
        let directory = command.get_current_dir().map(|path| text(path.as_os_str()));
        let directory = directory.transpose()?;
        if let Some(directory) = &directory {
            actions.go_to(directory)?;
        }
        let program = text(command.get_program())?;
        let arguments = command.get_args().map(text);
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        let changes = command.get_envs();
        let changed = changes.filter_map(|(name, value)| Some(variable(name, value?)));
        let own = variable(CHILD_MARK.as_ref(), mark.as_ref());
        let changed = changed.chain([own]).collect::<Result<Vec<_>, _>>()?;
        let is_kept = |known: &&CString| {
            let mut changes = command.get_envs();
            !changes.any(|(name, _)| is_named(known, name))
        };
        let kept = self.variables.iter().filter(is_kept);
        let variables = pointers(kept.chain(&changed));
        let arguments = pointers([&program].into_iter().chain(&arguments));
        let mut pid = 0;
        #[expect(unsafe_code, reason = "the C library's function")]
        // SAFETY: all pointers are to values that live until it returns, the lists end with null,
        // and attributes and actions were initialised.
        let code = unsafe {
            libc::posix_spawnp(
                &raw mut pid,
                program.as_ptr(),
                &raw const actions.0,
                &raw const attributes.0,
                arguments.as_ptr(),
                variables.as_ptr(),
            )
        };
        done(code)?;
        Pid::from_raw(pid).ok_or_else(|| io::Error::other("a child without a number"))
    }
}

fn text(text: &OsStr) -> Result<CString, NulError> {
    CString::new(text.as_bytes())
}

fn variable(name: &OsStr, value: &OsStr) -> Result<CString, NulError> {
    CString::new([name.as_bytes(), value.as_bytes()].join(&b'='))
}

/// Whether `NAME=value` is a variable of this name.
fn is_named(known: &CString, name: &OsStr) -> bool {
    let rest = known.to_bytes().strip_prefix(name.as_bytes());
    rest.is_some_and(|rest| rest.starts_with(b"="))
}

/// What C takes for a list: the end is null.
fn pointers<'t>(texts: impl Iterator<Item = &'t CString>) -> Vec<*mut c_char> {
    let texts = texts.map(|text| text.as_ptr().cast_mut());
    texts.chain([ptr::null_mut()]).collect()
}

fn done(code: c_int) -> io::Result<()> {
    match code {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// A group of its own, no signal blocked, and that of a broken pipe as deadly as it is for others.
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
        // SAFETY: the set is initialised. It fails for numbers that are no signals.
        unsafe { libc::sigaddset(&raw mut signals, libc::SIGPIPE) };
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

    fn go_to(&mut self, directory: &CString) -> io::Result<()> {
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
