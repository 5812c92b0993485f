//! Where trust is kept: the sets of commands that a person trusted, for each project.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tollgate_core::env::Env;
use tollgate_store::timestamp::iso;

use super::commands::Commands;
use crate::person::Person;
use crate::user_store::{Repository, UserStore};

/// So many sets are remembered per project: branches that differ in their checks.
const SETS: usize = 16;

/// How long another process may be writing.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a person trusts in one project.
#[derive(Debug)]
pub(crate) struct Store<'r>(UserStore<'r>);

#[derive(Debug)]
pub(crate) struct Trusted {
    pub(crate) commands: Commands,
    pub(crate) at: String,
    /// Who else owned a part of the repository then.
    pub(crate) stranger: Option<u32>,
}

impl<'r> Store<'r> {
    pub(crate) fn open(env: &Env, repository: &'r Repository) -> Result<Self, String> {
        UserStore::open(env, repository, "trust").map(Self)
    }

    /// What was trusted in this project, the newest last.
    pub(crate) fn trusted(&self) -> Result<Vec<Trusted>, String> {
        let read = |set: &Value| {
            let owner = set.get("owner").and_then(Value::as_u64);
            Some(Trusted {
                commands: Commands::from_json(set.get("commands")?)?,
                at: set.get("at")?.as_str()?.to_owned(),
                stranger: owner.and_then(|uid| u32::try_from(uid).ok()),
            })
        };
        Ok(self.0.list()?.iter().filter_map(read).collect())
    }

    /// Writes down that a person trusts a set.
    pub(crate) fn add(
        &self,
        _person: &Person,
        commands: &Commands,
        stranger: Option<u32>,
        now: Timestamp,
    ) -> Result<(), String> {
        let set = json!({
            "fingerprint": commands.fingerprint(), "at": iso(now), "owner": stranger,
            "commands": commands.to_json(),
        });
        self.0.change(PATIENCE, |sets| {
            sets.retain(|old| old.get("fingerprint") != set.get("fingerprint"));
            sets.push(set);
            let surplus = sets.len().saturating_sub(SETS);
            sets.drain(..surplus);
        })
    }

    pub(crate) fn forget(&self, _person: &Person) -> Result<(), String> {
        self.0.change(PATIENCE, Vec::clear)
    }
}
