//! Every step of a workflow as a pure function: the document as it is, the step, and the time
//! go in; edits or a refusal come out.
//!
//! A step's edits are made in one write, so what the specification calls 3c-prime or 3e cannot
//! be half done. What a step does not name it does not touch: `begin` only makes a phase the
//! current one, `complete` only ends it and never mentions the next.

mod begin;
mod complete;
mod end;
mod refusal;
mod review;
mod skip;
pub mod snapshot;
mod start;

use jiff::Timestamp;
use serde_json::Value;

pub(super) use begin::new_entry;
pub use begin::{MAX_ESCALATIONS, escalation};
pub(super) use complete::SUMMARY;
pub use complete::{Completion, GATES, Gates, Report};
pub use end::Ending;
pub use refusal::{Kind, Refusal};
pub use review::{Choice, MAX_REDOS};
pub use start::{Branch, Start, slug};

use super::definitions::Definitions;
use super::evidence::ProjectRequirements;
use super::manifest::Manifest;
use super::phases;
use tollgate_store::document::Document;
use tollgate_store::edit::Edit;
use tollgate_store::timestamp;

/// One step.
#[derive(Clone, Debug)]
pub enum Step<'a> {
    /// A workflow starts, and its first phase begins.
    Start(Start<'a>),
    /// The next phase begins, or the current one is run again (3c-prime).
    Begin {
        /// The phase, if it was named.
        phase: Option<&'a str>,
        /// What is done about escalations.
        escalations: Escalations,
    },
    /// The current phase ends (3e).
    Complete(Completion<'a>),
    /// The reviewed phase is done again.
    Redo {
        /// What should be better.
        guidance: &'a str,
    },
    /// The current or next phase is left out, or a later one removed.
    Skip {
        /// The phase, if it was named.
        phase: Option<&'a str>,
        /// Why.
        reason: &'a str,
    },
    /// What a person says at a supervised review.
    Review(Choice),
    /// The workflow ends as it should.
    Finalize(Ending<'a>),
    /// The workflow ends early.
    Cancel {
        /// Why.
        reason: &'a str,
    },
}

/// What beginning a phase does about escalations that wait for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escalations {
    /// They keep the phase from beginning.
    Heed,
    /// A person saw them and wants the phase run: they are cleared.
    Clear,
}

/// What a project's configuration says.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// Its workflows.
    pub definitions: &'a Definitions,
    /// What its phases must show.
    pub requirements: &'a ProjectRequirements,
    /// Its agents.
    pub manifest: &'a Manifest<'a>,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The command that makes it: `phase begin`.
    pub step: &'static str,
    /// The phase it is about.
    pub phase: Option<String>,
    /// The agent of that phase.
    pub agent: Option<String>,
    /// What happened, in one line, for the journal and the person.
    pub what: String,
    /// What the person should know besides.
    pub notes: Vec<String>,
    /// The edits of the document.
    pub edits: Vec<Edit>,
}

impl Change {
    fn new(step: &'static str, phase: Option<&str>, what: String, edits: Edits) -> Self {
        Self {
            step,
            phase: phase.map(str::to_owned),
            agent: None,
            what,
            notes: Vec::new(),
            edits: edits.0,
        }
    }
}

/// What `step` does to `document`. Nothing is changed by asking.
pub fn apply(
    step: &Step<'_>,
    document: &Document,
    rules: &Rules<'_>,
    now: Timestamp,
) -> Result<Change, Refusal> {
    match step {
        Step::Start(start) => start::apply(start, document, rules, now),
        Step::Begin { phase, escalations } => {
            begin::apply(*phase, *escalations, document, rules, now)
        }
        Step::Complete(completion) => complete::apply(completion, document, rules, now),
        Step::Redo { guidance } => review::redo(guidance, document, now),
        Step::Skip { phase, reason } => skip::apply(*phase, reason, document, rules, now),
        Step::Review(choice) => review::apply(*choice, document, now),
        Step::Finalize(ending) => end::finalize(ending, document, now),
        Step::Cancel { reason } => end::cancel(reason, document, now),
    }
}

impl Rules<'_> {
    /// Who works in a phase: the table, else the manifest's first owner of it.
    pub fn agent(&self, phase: &str) -> Option<String> {
        phases::agent(phase).map(str::to_owned).or_else(|| {
            let mut owners = self.manifest.phase_agents();
            let owner = owners.find(|(_, owned)| phases::same(owned, phase));
            owner.map(|(name, _)| name.to_owned())
        })
    }
}

#[derive(Debug, Default)]
struct Edits(Vec<Edit>);

impl Edits {
    fn set(&mut self, path: &[&str], value: impl Into<Value>) {
        self.0.push(Edit::set(path, value));
    }

    fn remove(&mut self, path: &[&str]) {
        self.0.push(Edit::remove(path));
    }

    fn push(&mut self, path: &[&str], value: impl Into<Value>) {
        self.0.push(Edit::push(path, value));
    }
}

fn moment(now: Timestamp) -> Value {
    Value::String(timestamp::iso(now))
}

/// Whole minutes from one moment of the state to another, if both can be read.
pub(super) fn minutes(from: Option<&Value>, to: Timestamp) -> Option<u64> {
    let from = timestamp::of(from)?;
    let seconds = to.duration_since(from).as_secs().max(0);
    u64::try_from((seconds + 30) / 60).ok()
}

/// At most this many characters of a text, on one line.
fn cut(text: &str, most: usize) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    line.join(" ").chars().take(most).collect()
}

#[cfg(test)]
pub(crate) mod tests;
