//! Where the workflow is, phase by phase.

use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use tollgate_core::fs;
use tollgate_core::scene::MAX_FILE;
use tollgate_core::state::document::Document;
use tollgate_core::state::timestamp;
use tollgate_core::workflow::standing::{Doing, Standing, odd, running};

use super::Trouble;

/// The project's workflow.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(crate) enum Workflow {
    /// None runs; how the last one ended, if the state remembers one.
    Idle {
        last: Option<String>,
    },
    Running(Running),
    /// The state cannot be read. What is wrong is among the troubles.
    Broken {
        what: String,
    },
}

/// A workflow that runs.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Running {
    /// `feature`
    pub(crate) kind: String,
    pub(crate) description: String,
    pub(crate) started_at: String,
    pub(crate) branch: Option<String>,
    pub(crate) budget: String,
    pub(crate) version: Option<u64>,
    /// What is going on, in a word: `running`. None if the state's fields contradict each other.
    pub(crate) doing: Option<&'static str>,
    pub(crate) current: Option<String>,
    pub(crate) phases: Vec<Phase>,
    /// How many escalations wait for a person.
    pub(crate) escalations: usize,
}

/// One phase of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Phase {
    pub(crate) key: String,
    pub(crate) status: String,
    pub(crate) summary: Option<String>,
    /// How long it took, or has been running.
    pub(crate) minutes: Option<f64>,
    pub(crate) retries: u64,
}

impl Running {
    /// How many phases are completed.
    pub(crate) fn completed(&self) -> usize {
        let done = |phase: &&Phase| phase.status == "completed";
        self.phases.iter().filter(done).count()
    }
}

/// Reads the state file.
pub(super) fn read(path: &Path, now: Timestamp, troubles: &mut Vec<Trouble>) -> Workflow {
    let document = match fs::read_regular(path, MAX_FILE) {
        Ok(None) => return Workflow::Idle { last: None },
        Ok(Some(contents)) => Document::parse(&contents.bytes).map_err(|flaw| flaw.to_string()),
        Err(fault) => Err(fault.to_string()),
    };
    let document = match document {
        Ok(document) => document,
        Err(flaw) => {
            let what = format!("{}: {flaw}", path.display());
            troubles.push(Trouble {
                what: what.clone(),
                next: "restore it from version control, or mend it by hand at that place"
                    .to_owned(),
            });
            return Workflow::Broken { what };
        }
    };
    if running(&document).is_none() && odd(&document).is_none() {
        return Workflow::Idle {
            last: last(&document),
        };
    }
    let standing = match Standing::of(&document) {
        Ok(standing) => standing,
        Err(refusal) => {
            troubles.push(Trouble {
                what: refusal.what.clone(),
                next: refusal.next,
            });
            return Workflow::Broken { what: refusal.what };
        }
    };
    let doing = match standing.doing() {
        Ok(doing) => Some(word(&standing, doing)),
        Err(refusal) => {
            troubles.push(Trouble {
                what: refusal.what,
                next: refusal.next,
            });
            None
        }
    };
    let text = |key: &str| document.str(&["active_workflow", key]).unwrap_or_default();
    let branch = document.str(&["active_workflow", "git_branch", "name"]);
    let budget = document.str(&["active_workflow", "budget_status"]);
    Workflow::Running(Running {
        kind: standing.workflow.to_owned(),
        description: text("description").to_owned(),
        started_at: text("started_at").to_owned(),
        branch: branch.map(str::to_owned),
        budget: budget.unwrap_or("on_track").replace('_', " "),
        version: document.u64(&["state_version"]),
        doing,
        current: standing.current().map(|place| place.key.to_owned()),
        phases: standing
            .phases
            .iter()
            .map(|key| phase(&standing, key, now))
            .collect(),
        escalations: standing.escalations().len(),
    })
}

fn word(standing: &Standing<'_>, doing: Doing<'_>) -> &'static str {
    let is_reviewed = standing.review().is_some();
    match doing {
        Doing::Waiting(_) => "waiting to begin",
        Doing::Running(_) => "running",
        Doing::Redoing(_) => "running again after its review",
        Doing::Between { .. } | Doing::Finished(_) if is_reviewed => "under review",
        Doing::Between { .. } => "between phases",
        Doing::Finished(_) => "finished",
    }
}

fn phase<'a>(standing: &Standing<'a>, key: &'a str, now: Timestamp) -> Phase {
    let text = |path: &[&str]| standing.field(key, path).and_then(Value::as_str);
    let status = standing.status(key).unwrap_or("pending");
    let measured = standing
        .field(key, &["timing", "wall_clock_minutes"])
        .and_then(Value::as_f64);
    let began = text(&["timing", "started_at"]).or_else(|| text(&["started"]));
    let running = began
        .filter(|_| status == "in_progress")
        .and_then(timestamp::parse)
        .map(|began| now.duration_since(began).as_secs_f64() / 60.0);
    Phase {
        key: key.to_owned(),
        status: status.to_owned(),
        summary: text(&["summary"]).map(str::to_owned),
        minutes: running.or(measured).filter(|minutes| *minutes >= 0.0),
        retries: standing.retries(key),
    }
}

fn last(document: &Document) -> Option<String> {
    let ended = document
        .array(&["workflow_history"])
        .and_then(<[Value]>::last)?;
    let text = |key: &str| ended.get(key).and_then(Value::as_str).unwrap_or("?");
    Some(format!(
        "{} {} ({})",
        text("type"),
        text("description"),
        text("status")
    ))
}
