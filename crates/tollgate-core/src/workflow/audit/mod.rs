//! The audit: every rule of the handshake that a state or a journal can violate, each with its id in
//! the specification, what is wrong, where, and a repair.
//!
//! A repair is edits like any other change. It never throws a value away: what has to go from
//! its place is kept under `set_aside`, by the path it had.

mod fields;
mod history;
mod journal;
mod position;
mod records;
mod statuses;

pub use journal::UNDONE;

use std::fmt::Display;

use jiff::Timestamp;
use serde_json::Value;

use super::position::{STATUSES, WorkflowPosition};
use super::transition::Rules;
pub(crate) use records::CLAIMS;
use tollgate_store::document::Document;
use tollgate_store::edit::{self, Edit, EditFault};
use tollgate_store::timestamp;

/// What is held against the rules.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The state.
    pub document: &'a Document,
    /// The project's configuration.
    pub rules: &'a Rules<'a>,
    /// The journal's lines about this state, oldest first.
    pub journal: &'a [Value],
    /// The present moment.
    pub now: Timestamp,
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule it breaks: `AC-001a`.
    pub id: &'static str,
    /// Where: `phases.01-requirements.status`.
    pub place: String,
    /// What is wrong.
    pub what: String,
    /// How it can be repaired, if a program can tell.
    pub repair: Option<Repair>,
}

/// How something is repaired.
#[derive(Clone, Debug, PartialEq)]
pub struct Repair {
    /// In words.
    pub what: String,
    /// As edits.
    pub edits: Vec<Edit>,
}

/// What a repair did.
#[derive(Clone, Debug, PartialEq)]
pub struct Repaired {
    /// The findings that were repaired, in order.
    pub findings: Vec<Finding>,
    /// What is left.
    pub left: Vec<Finding>,
}

/// Where values go that have to leave their place.
pub const SET_ASIDE: &str = "set_aside";

/// No workflow has nearly so many phases. The rules compare phases with each other, so what has more of
/// them is not audited: it would take hours.
const MOST_PHASES: usize = 1000;

/// The places that have an entry for each phase.
const BY_PHASE: [&[&str]; 3] = [
    &["active_workflow", "phases"],
    &["active_workflow", "phase_status"],
    &["phases"],
];

/// The most repairs of one audit.
const MAX_ROUNDS: usize = 500;

type Rule = fn(&Scan<'_>, &mut Findings<'_>);

/// When a rule applies.
enum Check {
    Always(Rule),
    /// While a workflow runs.
    Running(Rule),
}

/// The checks, in the order in which repairs build on each other: what is of the wrong kind,
/// then lists, statuses, the position among the phases, and last what depends on it.
const CHECKS: &[Check] = &[
    Check::Always(fields::kinds),
    Check::Running(fields::entry_kinds),
    Check::Always(fields::version),
    Check::Running(history::ended),
    Check::Running(fields::list),
    Check::Running(statuses::spellings),
    Check::Running(statuses::words),
    Check::Running(statuses::entries),
    Check::Running(statuses::agreement),
    Check::Running(journal::completions),
    Check::Running(position::current),
    Check::Running(position::index_kind),
    Check::Running(position::holes),
    Check::Running(position::ahead),
    Check::Running(position::index),
    Check::Running(position::pending),
    Check::Running(position::mirrors),
    Check::Running(records::times),
    Check::Running(records::summaries),
    Check::Running(records::fabricated),
    Check::Running(records::gates),
    Check::Running(records::misplaced),
    Check::Running(fields::folder),
    Check::Running(fields::review),
    Check::Always(fields::escalations),
    Check::Always(history::transient),
    Check::Always(history::entries),
    Check::Always(journal::versions),
    Check::Always(journal::order),
];

/// Everything that is wrong.
pub fn audit(evidence: &Evidence<'_>) -> Vec<Finding> {
    if let Some(finding) = beyond_audit(evidence.document) {
        return vec![finding];
    }
    let scan = Scan::of(evidence);
    let mut findings = Findings {
        scan: &scan,
        list: Vec::new(),
    };
    for check in CHECKS {
        match check {
            Check::Running(_) if !scan.running => {}
            Check::Always(rule) | Check::Running(rule) => rule(&scan, &mut findings),
        }
    }
    findings.list
}

/// That there are more phases than anybody can mean.
fn beyond_audit(document: &Document) -> Option<Finding> {
    let count = |path: &[&str]| match document.get(path) {
        Some(Value::Array(entries)) => entries.len(),
        Some(Value::Object(entries)) => entries.len(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => 0,
    };
    let path = BY_PHASE
        .into_iter()
        .find(|path| count(path) > MOST_PHASES)?;
    Some(Finding {
        id: "AC-008a",
        place: path.join("."),
        what: format!(
            "it has {} entries, and a workflow has {MOST_PHASES} phases at most; nothing else was audited",
            count(path)
        ),
        repair: None,
    })
}

/// Repairs what can be repaired. Each repair may uncover or settle others, so they are made one by
/// one; the number of rounds is bounded.
pub fn repair(
    document: &mut Document,
    rules: &Rules<'_>,
    journal: &[Value],
    now: Timestamp,
) -> Result<Repaired, EditFault> {
    let mut repaired = Vec::new();
    loop {
        let mut left = audit(&Evidence {
            document,
            rules,
            journal,
            now,
        });
        let next = left.iter().position(|finding| finding.repair.is_some());
        let Some(next) = next.filter(|_| repaired.len() < MAX_ROUNDS) else {
            return Ok(Repaired {
                findings: repaired,
                left,
            });
        };
        let next = left.swap_remove(next);
        if let Some(repair) = &next.repair {
            edit::apply(&repair.edits, document)?;
        }
        repaired.push(next);
    }
}

/// The state as the checks see it: every field may be of any kind.
struct Scan<'a> {
    evidence: &'a Evidence<'a>,
    /// Whether a workflow runs.
    running: bool,
    /// What can be read of it.
    workflow: WorkflowPosition<'a>,
}

impl<'a> Scan<'a> {
    fn of(evidence: &'a Evidence<'a>) -> Self {
        Self {
            evidence,
            running: super::position::running(evidence.document).is_some(),
            workflow: WorkflowPosition::read(evidence.document),
        }
    }

    fn document(&self) -> &'a Document {
        self.evidence.document
    }

    fn get(&self, path: &[&str]) -> Option<&'a Value> {
        self.document().get(path)
    }

    fn str(&self, path: &[&str]) -> Option<&'a str> {
        self.document().str(path)
    }

    /// The value at `path` as a message shows it.
    fn show(&self, path: &[&str]) -> String {
        show(self.get(path))
    }

    fn now(&self) -> Value {
        timestamp::iso(self.evidence.now).into()
    }

    fn having(&self, status: &str) -> impl Iterator<Item = &'a str> {
        let keys = self.workflow.phases.iter().copied();
        keys.filter(move |key| self.workflow.long_status(key) == Some(status))
    }

    /// The current phase and its index, if the workflow names one of its own.
    fn current(&self) -> Option<(&'a str, usize)> {
        let key = self.str(&["active_workflow", "current_phase"])?;
        let place = self.workflow.place(key)?;
        Some((place.key, place.at))
    }

    /// Whether the open review has the phase done again.
    fn redoing(&self, key: &str) -> bool {
        let review = |field: &str| self.str(&["active_workflow", "supervised_review", field]);
        review("status") == Some("redo_pending") && self.workflow.is_under_review(key)
    }

    /// The edit that keeps the value at `path` under `set_aside`, if there is one to keep.
    fn keep(&self, path: &[&str]) -> Option<Edit> {
        let value = self.get(path)?.clone();
        let name = path.join(".");
        let mut free = name.clone();
        let mut n = 2;
        while self.get(&[SET_ASIDE, free.as_str()]).is_some() {
            free = format!("{name}@{n}");
            n += 1;
        }
        Some(Edit::set(&[SET_ASIDE, free.as_str()], value))
    }

    /// Edits that take a value away and keep it.
    fn move_away(&self, path: &[&str]) -> Vec<Edit> {
        let keep = self.keep(path).into_iter();
        keep.chain([Edit::remove(path)]).collect()
    }

    /// Edits that put another value in the place of one, which is kept.
    fn put_instead(&self, path: &[&str], value: Value) -> Vec<Edit> {
        let keep = self.keep(path).into_iter();
        keep.chain([Edit::set(path, value)]).collect()
    }

    /// Edits that give a phase a status in both places.
    fn both(&self, key: &str, status: &str) -> Vec<Edit> {
        vec![
            Edit::set(&self.workflow.entry(key, "status"), status),
            Edit::set(&self.workflow.status_path(key), status),
        ]
    }
}

struct Findings<'a> {
    scan: &'a Scan<'a>,
    list: Vec<Finding>,
}

impl Findings<'_> {
    /// A finding that only a person can judge.
    fn note(&mut self, id: &'static str, place: &str, what: impl Into<String>) {
        self.list.push(Finding {
            id,
            place: place.to_owned(),
            what: what.into(),
            repair: None,
        });
    }

    fn repair(
        &mut self,
        id: &'static str,
        path: &[&str],
        what: impl Into<String>,
        repair: impl Into<String>,
        edits: Vec<Edit>,
    ) {
        self.list.push(Finding {
            id,
            place: path.join("."),
            what: what.into(),
            repair: Some(Repair {
                what: repair.into(),
                edits,
            }),
        });
    }

    /// A finding that another value repairs; the one that is there is kept aside.
    fn replace(
        &mut self,
        id: &'static str,
        path: &[&str],
        what: impl Into<String>,
        repair: impl Into<String>,
        value: Value,
    ) {
        let edits = self.scan.put_instead(path, value);
        self.repair(id, path, what, repair, edits);
    }

    /// [`Findings::replace`] with a repair that names the value.
    fn set_instead<V: Display + Into<Value>>(
        &mut self,
        id: &'static str,
        path: &[&str],
        what: impl Into<String>,
        value: V,
    ) {
        self.replace(id, path, what, set_to(&value), value.into());
    }

    /// A finding about a place that holds nothing worth keeping: a value put there repairs it.
    fn set<V: Display + Into<Value>>(
        &mut self,
        id: &'static str,
        path: &[&str],
        what: impl Into<String>,
        value: V,
    ) {
        self.repair(id, path, what, set_to(&value), vec![Edit::set(path, value)]);
    }

    /// A finding about a value that has to leave its place.
    fn set_aside(&mut self, id: &'static str, path: &[&str], what: impl Into<String>) {
        let edits = self.scan.move_away(path);
        self.repair(id, path, what, "set it aside", edits);
    }
}

fn set_to(value: &impl Display) -> String {
    format!("set it to {value}")
}

/// A value as it is shown: short.
fn show(value: Option<&Value>) -> String {
    let text = value.map_or_else(|| "missing".to_owned(), ToString::to_string);
    if text.chars().count() > 60 {
        format!("{}…", text.chars().take(60).collect::<String>())
    } else {
        text
    }
}

#[cfg(test)]
mod tests;
