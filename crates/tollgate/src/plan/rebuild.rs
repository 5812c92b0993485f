//! A state that was destroyed: set aside, and made again from what is known.

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
    /// Somebody was just writing it, and is done.
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

/// The place of a state that is made again.
enum StatePlace {
    /// Nothing is there any more; what was there is kept here.
    Free(Option<PathBuf>),
    /// A good state is there after all.
    Taken,
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

fn make(plan: &Plan, now: Timestamp, good: &Document, from: String) -> Result<Rebuilt, Unwritten> {
    let aside = match make_room(plan, now)? {
        StatePlace::Free(aside) => aside,
        StatePlace::Taken => return Ok(Rebuilt::Whole),
    };
    plan.create(now, &Change::to(good))?;
    Ok(Rebuilt::Back(Back {
        aside,
        from,
        state: State::read(good),
    }))
}

/// Sets a destroyed state aside. The store gives somebody who is just writing it the time to end.
fn make_room(plan: &Plan, now: Timestamp) -> Result<StatePlace, Unwritten> {
    let store = plan.store();
    match store.settle(now) {
        Err(StoreError::Corrupt { .. }) => {
            let aside = store.set_aside(now).map_err(Unwritten::Failed)?;
            Ok(StatePlace::Free(Some(aside)))
        }
        Err(error) => Err(Unwritten::Failed(error)),
        Ok(_) if plan.path("state.json").exists() => Ok(StatePlace::Taken),
        Ok(_) => Ok(StatePlace::Free(None)),
    }
}
