//! A broken state: set aside, and rebuilt from what is known.

use std::fmt;
use std::path::PathBuf;

use jiff::Timestamp;
use tollgate_store::document::Document;
use tollgate_store::store::StoreError;

use super::home::{Plan, Unwritten};
use super::log;
use super::phase::Phase;
use super::state::State;
use super::transition::{self, Change};
use super::view::View;

/// What became of a state that is no JSON.
#[derive(Debug)]
pub(crate) enum Rebuilt {
    /// Another process was just writing it.
    Whole,
    /// The last good one is back.
    Back(Back),
    /// No good one is known, and nothing was touched.
    Unknown,
}

/// A state that took the place of a destroyed one.
#[derive(Debug)]
pub(crate) struct Back {
    /// Where the destroyed one is, if there was one.
    aside: Option<PathBuf>,
    /// Where the new one comes from.
    from: String,
    state: State,
}

impl fmt::Display for Back {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.aside.as_deref().and_then(std::path::Path::file_name) {
            write!(f, "it is kept as {}, ", name.to_string_lossy())?;
        }
        write!(
            f,
            "{} (phase {}, next {}) took its place",
            self.from,
            self.state.phase_name(),
            self.state.next_name()
        )
    }
}

/// Puts the last good state in the place of one that is no JSON, or is gone.
pub(crate) fn from_log(plan: &Plan, now: Timestamp) -> Result<Rebuilt, Unwritten> {
    let Some((since, good)) = log::last_state(plan) else {
        return Ok(Rebuilt::Unknown);
    };
    let from = format!("the last good state, of {since},");
    make(plan, now, &good, from)
}

/// Makes a state from nothing but the plan's files. They do not say what was under way, so nothing
/// comes next by itself.
pub(crate) fn from_files(plan: &Plan, now: Timestamp, view: &View) -> Result<Rebuilt, Unwritten> {
    let phase = if view.tasks().is_empty() {
        Phase::NewPlan
    } else {
        Phase::CreateTasks
    };
    let mut document = Document::default();
    transition::unknown(phase).apply(&mut document);
    let from = "a state made from the plan's files".to_owned();
    make(plan, now, &document, from)
}

/// Sets a destroyed state aside and puts a good one in its place. The store gives a process that is
/// just writing it the time to end.
fn make(plan: &Plan, now: Timestamp, good: &Document, from: String) -> Result<Rebuilt, Unwritten> {
    let store = plan.store();
    let aside = match store.settle(now) {
        Err(StoreError::Corrupt { .. }) => Some(store.set_aside(now).map_err(Unwritten::Failed)?),
        Err(error) => return Err(Unwritten::Failed(error)),
        Ok(_) if plan.path("state.json").exists() => return Ok(Rebuilt::Whole),
        Ok(_) => None,
    };
    plan.create(now, &Change::to(good))?;
    Ok(Rebuilt::Back(Back {
        aside,
        from,
        state: State::read(good),
    }))
}
