//! Starting a child.
//!
//! The standard library starts one with the same calls of the system, but copies and sorts all
//! variables for each child anew and wants descriptors of its own to close: a quarter of all that
//! two hundred small checks have us do. Here the variables are read once for all children of a
//! run, and descriptors are lent.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod posix;

use std::ffi::{CString, NulError, OsStr};
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::ptr;

use libc::c_char;
use rustix::process::Pid;

#[cfg(target_os = "linux")]
use linux::start;
#[cfg(not(target_os = "linux"))]
use posix::start;

use super::program::Program;
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

    /// Starts a program in a group of its own, with no signal blocked, and that of a broken pipe
    /// as deadly as it is for others. `mark` tells it from others, `streams` are its standard ones.
    pub(super) fn start(
        &self,
        program: &Program,
        mark: &str,
        streams: [BorrowedFd<'_>; 3],
    ) -> io::Result<Pid> {
        program.check()?;
        let mark = variable(CHILD_MARK.as_ref(), mark.as_ref())?;
        let variables = program.variables(&self.variables).chain([&mark]);
        let pid = start(
            &pointers(program.arguments()),
            &pointers(variables),
            program.directory(),
            streams,
        )?;
        Pid::from_raw(pid).ok_or_else(|| io::Error::other("a child without a number"))
    }
}

fn variable(name: &OsStr, value: &OsStr) -> Result<CString, NulError> {
    CString::new([name.as_bytes(), value.as_bytes()].join(&b'='))
}

/// What C takes for a list: the end is null.
fn pointers<'t>(texts: impl IntoIterator<Item = &'t CString>) -> Vec<*const c_char> {
    let mut list = Vec::with_capacity(32);
    list.extend(texts.into_iter().map(|text| text.as_ptr()));
    list.push(ptr::null());
    list
}
