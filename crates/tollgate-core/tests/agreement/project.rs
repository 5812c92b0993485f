//! A project on disk that guards can be asked in.

use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;
use tollgate_core::context::{EventContext, Inputs};
use tollgate_core::decision::Decision;
use tollgate_core::env::Env;
use tollgate_core::guard::{Guard, judge};
use tollgate_core::project::Layout;
use tollgate_core::protocol::{self, Hints};
use tollgate_store::fs::{Durability, replace};

use super::generated::FILES;

pub(crate) struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in [".isdlc/config", ".git", "docs/isdlc"] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        let project = Self { dir };
        for (path, text) in FILES {
            project.put(path, text);
        }
        project
    }

    fn root(&self) -> &Path {
        self.dir.path()
    }

    fn put(&self, path: &str, text: &str) {
        replace(&self.root().join(path), text.as_bytes(), Durability::Lazy).unwrap();
    }

    /// With this state from now on.
    pub(crate) fn state(&self, state: &Value) {
        self.put(".isdlc/state.json", &state.to_string());
    }

    /// What these guards say of an event.
    pub(crate) fn decide<'g>(
        &self,
        event: &str,
        guards: impl IntoIterator<Item = &'g Guard>,
    ) -> Decision {
        let event = protocol::parse(event, &Hints::default()).unwrap();
        let inputs = Inputs::new(
            Layout::at(self.root()).unwrap(),
            Env::default(),
            None,
            Timestamp::UNIX_EPOCH,
        );
        judge(&EventContext::new(&event, &inputs), guards)
    }
}
