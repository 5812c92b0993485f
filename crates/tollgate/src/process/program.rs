//! What a child is to be.

use std::ffi::{CStr, CString, NulError, OsStr};
use std::os::unix::ffi::OsStrExt as _;

/// A program by its path, its arguments, its directory, and variables that differ from ours.
///
/// The standard library's command keeps more than that, and everything twice.
#[derive(Debug)]
pub(crate) struct Program {
    /// The path first.
    arguments: Vec<CString>,
    directory: Option<CString>,
    /// `NAME=value`.
    variables: Vec<CString>,
    /// Names of variables that are not handed on.
    removed: Vec<Vec<u8>>,
    /// Something that cannot be handed over to the system.
    fault: Option<NulError>,
}

impl Program {
    /// A program by its path: nobody looks for it in `PATH`.
    pub(crate) fn new(path: impl AsRef<OsStr>) -> Self {
        let mut program = Self {
            arguments: Vec::with_capacity(4),
            directory: None,
            variables: Vec::new(),
            removed: Vec::new(),
            fault: None,
        };
        program.arg(path);
        program
    }

    pub(crate) fn arg(&mut self, argument: impl AsRef<OsStr>) -> &mut Self {
        let argument = self.text(argument.as_ref().as_bytes().to_vec());
        self.arguments.push(argument);
        self
    }

    pub(crate) fn args<S: AsRef<OsStr>>(
        &mut self,
        arguments: impl IntoIterator<Item = S>,
    ) -> &mut Self {
        for argument in arguments {
            self.arg(argument);
        }
        self
    }

    pub(crate) fn current_dir(&mut self, directory: impl AsRef<OsStr>) -> &mut Self {
        let directory = self.text(directory.as_ref().as_bytes().to_vec());
        self.directory = Some(directory);
        self
    }

    pub(crate) fn env(&mut self, name: &str, value: impl AsRef<OsStr>) -> &mut Self {
        self.env_remove(name);
        let variable = self.text([name.as_bytes(), value.as_ref().as_bytes()].join(&b'='));
        self.variables.push(variable);
        self
    }

    pub(crate) fn env_remove(&mut self, name: &str) -> &mut Self {
        self.variables
            .retain(|known| !is_named(known, name.as_bytes()));
        self.removed.push(name.as_bytes().to_vec());
        self
    }

    /// The path, and all arguments behind it.
    pub(crate) fn arguments(&self) -> &[CString] {
        &self.arguments
    }

    pub(super) fn directory(&self) -> Option<&CStr> {
        self.directory.as_deref()
    }

    /// The variables it gets, of those that all get and its own.
    pub(super) fn variables<'p>(
        &'p self,
        common: &'p [CString],
    ) -> impl Iterator<Item = &'p CString> {
        let is_kept = |known: &&CString| !self.removed.iter().any(|name| is_named(known, name));
        common.iter().filter(is_kept).chain(&self.variables)
    }

    /// Whether all of it can be handed over.
    pub(super) fn check(&self) -> Result<(), NulError> {
        self.fault.clone().map_or(Ok(()), Err)
    }

    fn text(&mut self, bytes: Vec<u8>) -> CString {
        CString::new(bytes).unwrap_or_else(|fault| {
            self.fault = Some(fault);
            CString::default()
        })
    }
}

/// Whether `NAME=value` is a variable of this name.
fn is_named(known: &CStr, name: &[u8]) -> bool {
    let rest = known.to_bytes().strip_prefix(name);
    rest.is_some_and(|rest| rest.starts_with(b"="))
}
