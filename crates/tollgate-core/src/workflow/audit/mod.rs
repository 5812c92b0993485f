//! What no transition would have left behind: every rule of the handshake that a state or a
//! journal can show, each with its id in the specification, what is wrong, where, and a repair.
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

use jiff::Timestamp;
use serde_json::Value;

use super::phases;
use super::transition::Rules;
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
    /// How it can be mended, if a program can tell.
    pub repair: Option<Repair>,
}

/// How something is mended.
#[derive(Clone, Debug, PartialEq)]
pub struct Repair {
    /// In words.
    pub told: String,
    /// As edits.
    pub edits: Vec<Edit>,
}

/// What a repair did.
#[derive(Clone, Debug, PartialEq)]
pub struct Mended {
    /// The findings that were mended, in order.
    pub findings: Vec<Finding>,
    /// What is left.
    pub left: Vec<Finding>,
}

/// Where values go that have to leave their place.
pub const SET_ASIDE: &str = "set_aside";

type Check = fn(&Scan<'_>, &mut Vec<Finding>);

/// The checks, in the order in which repairs build on each other: what is of the wrong kind,
/// then lists, statuses, the position among the phases, and last what depends on it.
const CHECKS: &[Check] = &[
    fields::kinds,
    fields::version,
    history::ended,
    fields::list,
    statuses::spellings,
    statuses::words,
    statuses::entries,
    statuses::agreement,
    journal::completions,
    position::current,
    position::index_kind,
    position::holes,
    position::ahead,
    position::index,
    position::pending,
    position::mirrors,
    records::times,
    records::summaries,
    records::fabricated,
    records::gates,
    records::misplaced,
    fields::folder,
    fields::review,
    fields::escalations,
    history::transient,
    history::entries,
    journal::versions,
    journal::order,
];

/// Everything that is wrong.
pub fn audit(evidence: &Evidence<'_>) -> Vec<Finding> {
    let scan = Scan::of(evidence);
    let mut findings = Vec::new();
    for check in CHECKS {
        check(&scan, &mut findings);
    }
    findings
}

/// Mends what can be mended. Each repair may uncover or settle others, so they are made one by
/// one; the number of rounds is bounded.
pub fn repair(
    document: &mut Document,
    rules: &Rules<'_>,
    journal: &[Value],
    now: Timestamp,
) -> Result<Mended, EditFault> {
    let mut mended = Vec::new();
    for _ in 0..500 {
        let evidence = Evidence {
            document,
            rules,
            journal,
            now,
        };
        let findings = audit(&evidence);
        let Some(next) = findings
            .iter()
            .find(|finding| finding.repair.is_some())
            .cloned()
        else {
            return Ok(Mended {
                findings: mended,
                left: findings,
            });
        };
        if let Some(repair) = &next.repair {
            edit::apply(&repair.edits, document)?;
        }
        mended.push(next);
    }
    let left = audit(&Evidence {
        document,
        rules,
        journal,
        now,
    });
    Ok(Mended {
        findings: mended,
        left,
    })
}

/// The state as the checks look at it: every field may be of any kind.
struct Scan<'a> {
    evidence: &'a Evidence<'a>,
    /// Whether a workflow runs.
    running: bool,
    /// Its phases, those that are strings.
    phases: Vec<&'a str>,
}

impl<'a> Scan<'a> {
    fn of(evidence: &'a Evidence<'a>) -> Self {
        let running = super::position::running(evidence.document);
        let listed = running.and_then(|fields| fields.get("phases")?.as_array());
        Self {
            evidence,
            running: running.is_some(),
            phases: listed
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect(),
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

    fn now(&self) -> Value {
        timestamp::iso(self.evidence.now).into()
    }

    /// The spelling under which an object has a phase.
    fn filed<'k>(&self, way: &[&str], key: &'k str) -> &'k str
    where
        'a: 'k,
    {
        let members = self.document().object(way);
        let known = members
            .and_then(|m| phases::spellings(key).find_map(|spelling| m.get_key_value(spelling)));
        known.map_or(key, |(filed, _)| filed.as_str())
    }

    /// A field of a phase's entry.
    fn field(&self, key: &str, path: &[&str]) -> Option<&'a Value> {
        let mut whole = vec!["phases", self.filed(&["phases"], key)];
        whole.extend(path);
        self.get(&whole)
    }

    fn long(&self, key: &str) -> Option<&'a str> {
        self.field(key, &["status"])?.as_str()
    }

    fn short(&self, key: &str) -> Option<&'a str> {
        let way = ["active_workflow", "phase_status"];
        let [top, map] = way;
        self.str(&[top, map, self.filed(&way, key)])
    }

    fn position(&self, key: &str) -> Option<usize> {
        let wanted = phases::canonical(key);
        self.phases
            .iter()
            .position(|phase| phases::canonical(phase) == wanted)
    }

    /// The current phase and its position, if it is one of the workflow's.
    fn current(&self) -> Option<(&'a str, usize)> {
        let key = self.str(&["active_workflow", "current_phase"])?;
        let at = self.position(key)?;
        self.phases.get(at).map(|key| (*key, at))
    }

    fn index(&self) -> Option<usize> {
        let index = self
            .document()
            .u64(&["active_workflow", "current_phase_index"])?;
        usize::try_from(index).ok()
    }

    /// Whether the open review has the phase done again.
    fn redoing(&self, key: &str) -> bool {
        let review = |field: &str| self.str(&["active_workflow", "supervised_review", field]);
        review("status") == Some("redo_pending")
            && review("phase")
                .is_some_and(|phase| phases::canonical(phase) == phases::canonical(key))
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
        self.keep(path)
            .into_iter()
            .chain([Edit::remove(path)])
            .collect()
    }

    /// Edits that put another value in the place of one, which is kept.
    fn put_instead(&self, path: &[&str], value: Value) -> Vec<Edit> {
        self.keep(path)
            .into_iter()
            .chain([Edit::set(path, value)])
            .collect()
    }

    /// Edits that give a phase a status in both places.
    fn both(&self, key: &str, status: &str) -> Vec<Edit> {
        let way = ["active_workflow", "phase_status"];
        let [top, map] = way;
        vec![
            Edit::set(&["phases", self.filed(&["phases"], key), "status"], status),
            Edit::set(&[top, map, self.filed(&way, key)], status),
        ]
    }
}

/// A finding with a repair.
fn found(
    id: &'static str,
    path: &[&str],
    what: impl Into<String>,
    told: impl Into<String>,
    edits: Vec<Edit>,
) -> Finding {
    Finding {
        id,
        place: path.join("."),
        what: what.into(),
        repair: Some(Repair {
            told: told.into(),
            edits,
        }),
    }
}

/// A finding that a person has to look at.
fn seen(id: &'static str, place: &str, what: impl Into<String>) -> Finding {
    Finding {
        id,
        place: place.to_owned(),
        what: what.into(),
        repair: None,
    }
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

/// A moment of the state, if it is one.
fn moment(value: Option<&Value>) -> Option<Timestamp> {
    value?.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests;
