//! The current position of a workflow, read from a document.
//!
//! The state says the same thing in several fields. Here they are put together once; a state
//! whose fields contradict each other has no position, and no step is made from it: the audit
//! explains and repairs such a state.

use jiff::Timestamp;
use serde_json::Value;

use super::phases;
use super::transition::{Refusal, minutes};
use tollgate_store::document::{Document, whole};

/// Where the workflow keeps the statuses of its phases.
pub(super) const STATUSES: [&str; 2] = ["active_workflow", "phase_status"];

/// A running workflow.
#[derive(Clone, Debug)]
pub struct WorkflowPosition<'a> {
    document: &'a Document,
    /// The type of the workflow: `feature`.
    pub workflow: &'a str,
    /// Its phases in order.
    pub phases: Vec<&'a str>,
}

/// A phase and its place among the workflow's phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhasePlace<'a> {
    /// Its key, as the workflow spells it.
    pub key: &'a str,
    /// Its index.
    pub at: usize,
}

/// What is going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing<'a> {
    /// The phase is the next one and has not begun.
    Waiting(PhasePlace<'a>),
    /// The phase is in progress.
    Running(PhasePlace<'a>),
    /// The phase was completed and is in progress again, because its review asked for it.
    Redoing(PhasePlace<'a>),
    /// A phase is completed, and the next one has not begun.
    Between {
        /// The completed phase.
        done: PhasePlace<'a>,
        /// The next one.
        next: PhasePlace<'a>,
    },
    /// The last phase is completed.
    Finished(PhasePlace<'a>),
}

impl<'a> Doing<'a> {
    /// The phase whose turn it is; nothing if all are completed.
    pub fn turn(self) -> Option<PhasePlace<'a>> {
        match self {
            Self::Waiting(place)
            | Self::Running(place)
            | Self::Redoing(place)
            | Self::Between { next: place, .. } => Some(place),
            Self::Finished(_) => None,
        }
    }
}

impl<'a> WorkflowPosition<'a> {
    /// The running workflow of a document, if one runs.
    pub fn of(document: &'a Document) -> Result<Self, Refusal> {
        if running(document).is_none() {
            return Err(odd(document).unwrap_or_else(Refusal::no_workflow));
        }
        let position = Self::read(document);
        if position.phases.is_empty() {
            // No repair can know what they were.
            return Err(Refusal::misplaced(
                "the state contradicts itself: active_workflow.phases has no phases",
                "list them there, or end the workflow: `tollgate workflow cancel --reason …`",
            ));
        }
        Ok(position)
    }

    /// What can be read of a workflow, whatever its fields say; no phases if none runs.
    pub(super) fn read(document: &'a Document) -> Self {
        let listed = document.array(&["active_workflow", "phases"]);
        let listed = listed.unwrap_or_default().iter();
        let workflow = document.str(&["active_workflow", "type"]);
        Self {
            document,
            workflow: workflow.unwrap_or("feature"),
            phases: listed.filter_map(Value::as_str).collect(),
        }
    }

    /// The key under which `phases` has a phase; as the workflow spells it, if it has it not.
    pub fn filed(&self, key: &'a str) -> &'a str {
        filed(self.document, &["phases"], key)
    }

    /// A field of a phase's entry.
    pub fn field(&self, key: &'a str, path: &[&str]) -> Option<&'a Value> {
        let mut full = vec!["phases", self.filed(key)];
        full.extend(path);
        self.document.get(&full)
    }

    /// Whether a field of a phase's entry says nothing.
    pub fn lacks(&self, key: &'a str, path: &[&str]) -> bool {
        self.field(key, path).is_none_or(Value::is_null)
    }

    /// The path of a field of a phase's entry.
    pub fn entry<'k>(&self, key: &'a str, field: &'k str) -> [&'k str; 3]
    where
        'a: 'k,
    {
        ["phases", self.filed(key), field]
    }

    /// The path of a phase's status among those of the workflow.
    pub fn status_path(&self, key: &'a str) -> [&'a str; 3] {
        let [top, map] = STATUSES;
        [top, map, filed(self.document, &STATUSES, key)]
    }

    /// How often a phase was begun again.
    pub fn retries(&self, key: &'a str) -> u64 {
        let count = self.field(key, &["timing", "retries"]);
        count.and_then(whole).unwrap_or(0)
    }

    /// A phase's status: that of its entry, else the short one.
    pub fn status(&self, key: &'a str) -> Option<&'a str> {
        self.long_status(key).or_else(|| self.short_status(key))
    }

    /// `phases[key].status`.
    pub fn long_status(&self, key: &'a str) -> Option<&'a str> {
        self.field(key, &["status"])?.as_str()
    }

    /// `active_workflow.phase_status[key]`.
    pub fn short_status(&self, key: &'a str) -> Option<&'a str> {
        self.document.str(&self.status_path(key))
    }

    /// Where a phase is among the workflow's, by any of its names.
    pub fn place(&self, key: &str) -> Option<PhasePlace<'a>> {
        let mut keys = self.phases.iter();
        self.at(keys.position(|phase| phases::equal(phase, key))?)
    }

    /// The current phase: the workflow's, else the top-level one, else that of the index.
    pub fn current(&self) -> Option<PhasePlace<'a>> {
        let named = self.document.str(&["active_workflow", "current_phase"]);
        let named = named.filter(|key| !key.is_empty());
        let named = named.or_else(|| self.document.str(&["current_phase"]));
        match named {
            Some(key) => self.place(key),
            None => self.at(self.index()?),
        }
    }

    /// `active_workflow.current_phase_index`.
    pub fn index(&self) -> Option<usize> {
        let path = ["active_workflow", "current_phase_index"];
        usize::try_from(self.document.u64(&path)?).ok()
    }

    fn at(&self, at: usize) -> Option<PhasePlace<'a>> {
        self.phases.get(at).map(|key| PhasePlace { key, at })
    }

    /// What is going on, if the fields agree about it.
    pub fn doing(&self) -> Result<Doing<'a>, Refusal> {
        let Some(current) = self.current() else {
            return Err(Refusal::contradiction(
                "the current phase is not one of the workflow's phases",
            ));
        };
        let PhasePlace { key, at } = current;
        if let (Some(long), Some(short)) = (self.long_status(key), self.short_status(key))
            && long != short
        {
            return Err(Refusal::contradiction(&format!(
                "phases['{key}'].status is '{long}' but active_workflow.phase_status['{key}'] is '{short}'"
            )));
        }
        let index = self.index().unwrap_or(match self.status(key) {
            Some("completed") => at + 1,
            Some(_) | None => at,
        });
        let wrong = |status: &str| {
            Err(Refusal::contradiction(&format!(
                "phase '{key}' is number {at} and {status}, but current_phase_index is {index}"
            )))
        };
        match self.status(key) {
            None | Some("pending") if index == at => Ok(Doing::Waiting(current)),
            Some("in_progress") if index == at => Ok(Doing::Running(current)),
            Some("in_progress") if index == at + 1 && self.is_under_review(key) => {
                Ok(Doing::Redoing(current))
            }
            Some("completed") if index == at + 1 => Ok(match self.at(index) {
                Some(next) => Doing::Between {
                    done: current,
                    next,
                },
                None => Doing::Finished(current),
            }),
            None => wrong("pending"),
            Some(status) => wrong(status),
        }
    }

    /// Whether the supervised review that is open is about this phase.
    pub fn is_under_review(&self, key: &str) -> bool {
        let phase = self
            .document
            .str(&["active_workflow", "supervised_review", "phase"]);
        phase.is_some_and(|phase| phases::equal(phase, key))
    }

    /// The status of the supervised review that is open.
    pub fn review(&self) -> Option<&'a str> {
        self.document
            .str(&["active_workflow", "supervised_review", "status"])
    }

    /// Refuses what waits for the end of the supervised review that is open.
    pub(super) fn require_reviewed(&self) -> Result<(), Refusal> {
        match (self.review(), self.current()) {
            (Some(_), Some(reviewed)) => Err(Refusal::unfinished_review(reviewed.key)),
            _ => Ok(()),
        }
    }

    /// How many minutes ago a phase began.
    pub fn age(&self, key: &'a str, now: Timestamp) -> Option<u64> {
        minutes(self.started(key), now)
    }

    /// When a phase began.
    pub fn started(&self, key: &'a str) -> Option<&'a Value> {
        let timed = self.field(key, &["timing", "started_at"]);
        let timed = timed.filter(|value| value.is_string());
        timed.or_else(|| self.field(key, &["started"]))
    }

    /// The escalations that wait for a person.
    pub fn escalations(&self) -> &'a [Value] {
        self.document
            .array(&["pending_escalations"])
            .unwrap_or_default()
    }
}

/// `active_workflow`, if one runs. The originals take every falsy value for none.
pub fn running(document: &Document) -> Option<&serde_json::Map<String, Value>> {
    document.object(&["active_workflow"])
}

/// What is wrong with a document whose workflow is there and is no workflow.
pub fn odd(document: &Document) -> Option<Refusal> {
    let found = document.get(&["active_workflow"])?;
    let is_none = match found {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Bool(true) | Value::Array(_) | Value::Object(_) => false,
    };
    let what = format!("active_workflow is {found}, not an object");
    (!is_none && !found.is_object()).then(|| Refusal::contradiction(&what))
}

/// The spelling of a phase that an object of the document has it under.
fn filed<'a>(document: &'a Document, way: &[&str], key: &'a str) -> &'a str {
    let Some(members) = document.object(way) else {
        return key;
    };
    let known = phases::spellings(key).find_map(|spelling| members.get_key_value(spelling));
    known.map_or(key, |(filed, _)| filed.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn doing(current: &str, index: Option<u64>, statuses: [&str; 2]) -> String {
        let [a, b] = statuses;
        let state = json!({"active_workflow":{"type":"fix","phases":["01-requirements","13-test-deploy"],
            "current_phase":current,"current_phase_index":index,"phase_status":{"01-requirements":a,"12-test-deploy":b},
            "supervised_review":{"phase":"01-requirements","status":"redo_pending"}},
            "phases":{"01-requirements":{"status":a},"12-test-deploy":{"status":b}}});
        let document = Document::parse(state.to_string().as_bytes()).unwrap();
        match WorkflowPosition::of(&document).unwrap().doing() {
            Ok(doing) => format!("{doing:?}")
                .split([' ', '('])
                .next()
                .unwrap()
                .to_owned(),
            Err(refusal) => refusal.what,
        }
    }

    #[test]
    fn every_legal_position_is_recognised_and_no_other() {
        assert_eq!(
            doing("01-requirements", Some(0), ["pending", "pending"]),
            "Waiting"
        );
        assert_eq!(
            doing("01-requirements", Some(0), ["in_progress", "pending"]),
            "Running"
        );
        assert_eq!(
            doing("01-requirements", Some(1), ["in_progress", "pending"]),
            "Redoing"
        );
        assert_eq!(
            doing("01-requirements", Some(1), ["completed", "pending"]),
            "Between"
        );
        assert_eq!(
            doing("12-test-deploy", Some(1), ["completed", "in_progress"]),
            "Running"
        );
        assert_eq!(
            doing("13-test-deploy", Some(2), ["completed", "completed"]),
            "Finished"
        );
        assert_eq!(
            doing("13-test-deploy", None, ["completed", "completed"]),
            "Finished"
        );
        assert!(
            doing("12-test-deploy", Some(2), ["completed", "in_progress"])
                .contains("current_phase_index is 2")
        );
        assert!(
            doing("04-design", Some(0), ["pending", "pending"])
                .contains("not one of the workflow's")
        );
    }
}
