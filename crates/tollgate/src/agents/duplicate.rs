//! Registrations of Tollgate that only repeat what another one does, and what would change to take
//! them out.
//!
//! Only repetitions are removed: of several in one file all but one, and a person's own for
//! the project where the project's file has all of it. Project and person are left as they are:
//! the one file guards everybody who works here, the other every project of this person.

use std::path::{Path, PathBuf};

use super::change::{self, Change, Refusal};
use super::read::{Kind, Reading, Registered, company};
use super::{Agent, Places, Scope};

/// Members of a handler that may differ between two that do the same.
const INCIDENTAL: &[&str] = &[
    "type",
    "name",
    "command",
    "args",
    "bash",
    "timeout",
    "timeoutSec",
    "matcher",
];

/// The changes that leave each of an agent's files with what it alone does. Nothing is changed yet.
pub(crate) fn surplus(agent: Agent, places: &Places) -> Result<Vec<Change>, Refusal> {
    let mut changes: Vec<Change> = Vec::new();
    for scope in Scope::ALL {
        for file in agent.reads(scope, places) {
            // The project may be the person's home.
            if changes.iter().any(|known| known.file == file) {
                continue;
            }
            let change = if scope == Scope::Local && is_repeated(agent, &file, places) {
                change::uninstall(agent, scope, &file, places)?
            } else {
                change::without(agent, scope, &file, places, &repeated)?
            };
            changes.extend(change);
        }
    }
    Ok(changes)
}

/// Whether the project's files do all that is registered in a file of the person's own.
fn is_repeated(agent: Agent, file: &Path, places: &Places) -> bool {
    let reading = |scope: Scope, files: &[PathBuf]| {
        let mut reading = Reading::default();
        for file in files {
            reading.read(agent, scope, file);
        }
        reading
    };
    let own = reading(Scope::Local, &[file.to_owned()]);
    let shared = reading(Scope::Project, &agent.reads(Scope::Project, places));
    let mut ours = own.ours().peekable();
    ours.peek().is_some() && ours.all(|one| shared.ours().any(|other| repeats(one, other)))
}

/// Where in the file the registrations are that another one in it repeats. Of equal ones the first
/// stays.
fn repeated(reading: &Reading) -> Vec<usize> {
    let ours: Vec<&Registered> = reading.ours().collect();
    let goes = |one: &&&Registered| {
        ours.iter().any(|other| {
            other.at != one.at && repeats(one, other) && (other.at < one.at || !repeats(other, one))
        })
    };
    ours.iter().filter(goes).map(|one| one.at).collect()
}

/// Whether `other` does all that `one` does: at the same events, with the same options, and with
/// no less time or strictness.
fn repeats(one: &Registered, other: &Registered) -> bool {
    let is_hook = |found: &Registered| found.kind == Kind::Hook;
    is_hook(one)
        && is_hook(other)
        && other.covers(one)
        // A line that a person wrote for more than Tollgate neither repeats another nor stands in
        // for it: what it runs first may take the event.
        && company(&one.handler).is_empty()
        && company(&other.handler).is_empty()
        && other.command.arguments() == one.command.arguments()
        && other.timeout >= one.timeout
        && one
            .handler
            .iter()
            .filter(|(key, _)| !INCIDENTAL.contains(&key.as_str()))
            .all(|(key, value)| other.handler.get(key) == Some(value))
}
