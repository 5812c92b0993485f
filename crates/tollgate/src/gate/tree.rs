//! A tree that git may still be writing while the gates run on it.

use std::sync::{Mutex, OnceLock, PoisonError};

use crate::git::{Asked, GitError};

/// The name of a tree or commit, known or still on its way.
#[derive(Debug)]
pub(crate) struct Tree {
    asked: Mutex<Option<Asked>>,
    name: OnceLock<Result<String, String>>,
}

impl Tree {
    /// One whose name is known.
    pub(crate) fn known(name: String) -> Self {
        Self {
            asked: Mutex::new(None),
            name: OnceLock::from(Ok(name)),
        }
    }

    /// One whose name git will print.
    pub(crate) fn written_by(asked: Asked) -> Self {
        Self {
            asked: Mutex::new(Some(asked)),
            name: OnceLock::new(),
        }
    }

    /// The name of a tree that is there; waits for that.
    pub(crate) fn name(&self) -> Result<&str, GitError> {
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
    /// Nobody wants to know any more; git is not left behind as a zombie.
    fn drop(&mut self) {
        let _unread = self.name();
    }
}
