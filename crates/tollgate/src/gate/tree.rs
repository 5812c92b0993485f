//! A tree that may still have to be written, or that git is writing, while the gates run on it.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::git::{Asked, GitError};
use super::plain::Unwritten;

/// The name of a tree or commit, known or still on its way.
#[derive(Debug)]
pub(crate) struct Tree {
    asked: Mutex<Option<Asked>>,
    unwritten: Option<Arc<Unwritten>>,
    name: OnceLock<Result<String, String>>,
}

impl Tree {
    /// One whose name is known.
    pub(crate) fn known(name: String) -> Self {
        Self {
            asked: Mutex::new(None),
            unwritten: None,
            name: OnceLock::from(Ok(name)),
        }
    }

    /// One whose name git will print.
    pub(crate) fn written_by(asked: Asked) -> Self {
        Self {
            asked: Mutex::new(Some(asked)),
            unwritten: None,
            name: OnceLock::new(),
        }
    }

    /// One that is written by whoever wants its name first.
    pub(super) fn unwritten(unwritten: Arc<Unwritten>) -> Self {
        Self {
            asked: Mutex::new(None),
            unwritten: Some(unwritten),
            name: OnceLock::new(),
        }
    }

    /// Writes what is left to write, unless git does: something to do while there is nothing else
    /// to do.
    pub(super) fn write_ahead(&self) {
        if let Some(unwritten) = &self.unwritten {
            // Who asks for the name is told.
            let _later = unwritten.write();
        }
    }

    /// The name of a tree that is there; waits for that.
    pub(crate) fn name(&self) -> Result<&str, GitError> {
        if let Some(unwritten) = &self.unwritten {
            unwritten.write()?;
            return Ok(&unwritten.name);
        }
        let name = self.name.get_or_init(|| {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            match asked.take() {
                Some(asked) => asked.line().map_err(|error| error.to_string()),
                None => Err("the tree was not written".to_owned()),
            }
        });
        name.as_deref().map_err(GitError::new)
    }
}

impl Drop for Tree {
    /// Nobody wants to know any more; git is not left behind as a zombie of a longer life.
    fn drop(&mut self) {
        if self.unwritten.is_none() {
            let _unread = self.name();
        }
    }
}
