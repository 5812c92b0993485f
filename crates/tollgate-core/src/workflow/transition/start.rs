//! A workflow starts: its fields are made, the phases of an earlier one are gone, and the first
//! phase is in progress, all in one step. The current phase is never pending.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{Change, Edits, Refusal, Rules, begin, moment};
use crate::workflow::definitions::{Definition, Intensity, is_key};
use crate::workflow::phases;
use crate::workflow::position;
use crate::workflow::prune::TRANSIENT;
use tollgate_store::document::{Document, whole};

/// How a workflow starts.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// Its type: `feature`.
    pub workflow: &'a str,
    /// What it is about.
    pub description: &'a str,
    /// The phase to start from instead of the first.
    pub from: Option<&'a str>,
    /// Whether light work is known from the start.
    pub light: bool,
    /// Whether each phase waits for a person's review.
    pub supervised: bool,
    /// A folder that is there already, to be used again.
    pub folder: Option<&'a str>,
    /// The branch it works on.
    pub branch: Option<Branch<'a>>,
    /// The project's name, for a state that has to be made.
    pub project: &'a str,
}

/// The branch of a workflow.
#[derive(Clone, Debug)]
pub struct Branch<'a> {
    /// Its name.
    pub name: &'a str,
    /// The branch it was made from.
    pub from: &'a str,
}

/// The longest part of a folder's name that comes from the description.
const SLUG: usize = 40;

impl Start<'_> {
    /// The definition it names, if it can be used.
    pub fn definition<'r>(&self, rules: &Rules<'r>) -> Result<&'r Definition, Refusal> {
        let definitions = rules.definitions;
        let Some(definition) = definitions.get(self.workflow) else {
            let names: Vec<_> = definitions.iter().map(|one| one.name.as_str()).collect();
            let next = definitions.nearest(self.workflow).map_or_else(
                || format!("there are {}", names.join(", ")),
                |meant| format!("did you mean {meant}?"),
            );
            let what = format!("there is no workflow '{}'", self.workflow);
            return Err(Refusal::misplaced(what, next));
        };
        let place = format!("workflows.{}", definition.name);
        let fatal = definitions.problems().iter().find(|problem| {
            problem.fatal
                && (problem.place == place || problem.place.starts_with(&format!("{place}.")))
        });
        match fatal {
            Some(problem) => Err(Refusal::misplaced(
                format!("{}: {}", problem.place, problem.what),
                "correct workflows.json; `tollgate workflow definitions` checks it",
            )),
            None => Ok(definition),
        }
    }

    /// The phases it will have.
    pub fn phases<'r>(&self, definition: &'r Definition) -> Result<Vec<&'r str>, Refusal> {
        let all: Vec<&str> = definition.phases.iter().map(String::as_str).collect();
        let first = match self.from {
            None => 0,
            Some(name) => {
                let at = all.iter().position(|key| phases::equal(key, name));
                let workflow = format!("workflow '{}'", definition.name);
                at.ok_or_else(|| Refusal::unknown_phase(name, &workflow, &all))?
            }
        };
        let skipped =
            |key: &str| self.light && definition.light_skips.iter().any(|skip| skip == key);
        let all: Vec<&str> = all.into_iter().skip(first).collect();
        let mut kept = all.clone();
        kept.retain(|key| !skipped(key));
        // Light work may start from a phase which light work leaves out.
        Ok(if kept.is_empty() { all } else { kept })
    }

    /// The number and the name of the folder it will have, from the state as it is.
    pub fn artifact_folder(
        &self,
        definition: &Definition,
        document: &Document,
    ) -> Result<(Option<u64>, String), Refusal> {
        if let Some(folder) = self.folder {
            return if is_key(folder) {
                Ok((None, folder.to_owned()))
            } else {
                Err(Refusal::misplaced(
                    format!("'{folder}' is not a valid folder name"),
                    "use letters, digits, '-', '_' and '.'",
                ))
            };
        }
        let next = document.get(&["counters", definition.counter.as_str()]);
        let next = next.and_then(whole).unwrap_or(1).max(1);
        let name = format!("{}-{next:04}-{}", definition.prefix, slug(self.description));
        Ok((Some(next), name.trim_end_matches('-').to_owned()))
    }
}

/// A description as part of a file name.
pub fn slug(description: &str) -> String {
    let mut out = String::new();
    for c in description.chars().flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        if out.len() >= SLUG {
            break;
        }
    }
    out.trim_matches('-').to_owned()
}

/// A workflow starts where none runs, with a description.
fn may_start(start: &Start<'_>, document: &Document) -> Result<(), Refusal> {
    if let Some(running) = position::running(document) {
        let text = |key: &str| running.get(key).and_then(Value::as_str).unwrap_or("?");
        return Err(Refusal::misplaced(
            format!(
                "a {} workflow is running: {} (in phase {})",
                text("type"),
                text("description"),
                text("current_phase")
            ),
            "finish it with `tollgate workflow finalize`, or end it with `tollgate workflow cancel --reason …`",
        ));
    }
    if let Some(refusal) = position::odd(document) {
        return Err(refusal);
    }
    if start.description.trim().is_empty() {
        return Err(Refusal::misplaced(
            "the description is empty",
            "say what it is about: `tollgate workflow start feature \"…\"`",
        ));
    }
    Ok(())
}

pub(super) fn apply(
    start: &Start<'_>,
    document: &Document,
    rules: &Rules<'_>,
    now: Timestamp,
) -> Result<Change, Refusal> {
    may_start(start, document)?;
    let definition = start.definition(rules)?;
    let phases = start.phases(definition)?;
    let (number, folder) = start.artifact_folder(definition, document)?;
    let Some(first) = phases.first().copied() else {
        return Err(Refusal::misplaced(
            format!("workflow '{}' has no phases", definition.name),
            "add its phases to workflows.json",
        ));
    };

    let mut edits = Edits::default();
    if document.is_empty() {
        for (key, value) in initial(start.project, now) {
            edits.set(&[key], value);
        }
    }
    let (entries, statuses) = phase_entries(&phases, now);
    for (key, value) in TRANSIENT {
        if document.get(&[key]).is_some() {
            edits.set(&[key], value());
        }
    }
    let listed = (phases.as_slice(), statuses);
    let fields = workflow(start, definition, listed, (number, &folder), now);
    edits.set(&["active_workflow"], fields);
    edits.set(&["phases"], entries);
    edits.set(&["current_phase"], first);
    let agent = rules.agent(first);
    edits.set(&["active_agent"], agent.clone());
    if let Some(number) = number {
        let counter = ["counters", definition.counter.as_str()];
        edits.set(&counter, number.saturating_add(1));
    }
    if start.supervised {
        let mode = json!({ "enabled": true, "review_phases": "all", "parallel_summary": true, "auto_advance_timeout": null });
        edits.set(&["supervised_mode"], mode);
    }
    let (name, count) = (&definition.name, phases.len());
    let what = format!("{name} workflow {folder} started with {count} phases");
    Ok(Change {
        agent,
        ..Change::new("workflow start", Some(first), what, edits)
    })
}

/// The entries and the statuses of the phases: the first is in progress.
fn phase_entries(phases: &[&str], now: Timestamp) -> (Map<String, Value>, Map<String, Value>) {
    let mut entries = Map::new();
    let mut statuses = Map::new();
    for (at, key) in phases.iter().enumerate() {
        let status = if at == 0 { "in_progress" } else { "pending" };
        let mut entry = begin::new_entry(status);
        if let (0, Some(entry)) = (at, entry.as_object_mut()) {
            entry.insert("started".to_owned(), moment(now));
        }
        entries.insert((*key).to_owned(), entry);
        statuses.insert((*key).to_owned(), status.into());
    }
    (entries, statuses)
}

fn workflow(
    start: &Start<'_>,
    definition: &Definition,
    (phases, statuses): (&[&str], Map<String, Value>),
    (number, folder): (Option<u64>, &str),
    now: Timestamp,
) -> Value {
    let mut fields = json!({
        "type": definition.name,
        "description": start.description.trim(),
        "started_at": moment(now),
        "phases": phases,
        "current_phase": phases.first(),
        "current_phase_index": 0,
        "phase_status": statuses,
        "gate_mode": definition.gate_mode.as_str(),
        "artifact_prefix": definition.prefix,
        "artifact_folder": folder,
        "counter_used": number,
        "flags": { "light": start.light, "supervised": start.supervised },
        "budget_status": "on_track",
    });
    let Some(object) = fields.as_object_mut() else {
        return fields;
    };
    if let Some(branch) = &start.branch {
        object.insert(
            "git_branch".to_owned(),
            json!({ "name": branch.name, "created_from": branch.from, "created_at": moment(now), "status": "active" }),
        );
    }
    if start.light {
        object.insert(
            "sizing".to_owned(),
            json!({ "effective_intensity": Intensity::Light.as_str(), "decided_at": moment(now) }),
        );
    }
    fields
}

/// A state that has to be made.
fn initial(project: &str, now: Timestamp) -> [(&'static str, Value); 9] {
    [
        (
            "project",
            json!({ "name": project, "created": moment(now), "description": "", "is_new_project": false }),
        ),
        ("iteration_enforcement", json!({ "enabled": true })),
        ("skill_usage_log", json!([])),
        ("active_workflow", Value::Null),
        ("workflow_history", json!([])),
        ("counters", json!({ "next_req_id": 1, "next_bug_id": 1 })),
        ("blockers", json!([])),
        ("pending_escalations", json!([])),
        (
            "history",
            json!([{ "timestamp": moment(now), "agent": "tollgate", "action": "State created by the first workflow" }]),
        ),
    ]
}
