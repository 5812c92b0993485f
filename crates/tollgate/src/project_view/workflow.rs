//! Where the workflow is, phase by phase.

use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use tollgate_core::context::MAX_FILE;
use tollgate_core::workflow::evidence::ProjectRequirements;
use tollgate_core::workflow::position::{Doing, WorkflowPosition, odd, running};
use tollgate_core::workflow::transition::{GATES, Refusal};
use tollgate_store::document::Document;
use tollgate_store::fs;
use tollgate_store::timestamp;

use super::Trouble;
use crate::gate::evidence::SIGN;

/// The project's workflow.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(crate) enum Workflow {
    /// None runs; how the last one ended, if the state remembers one.
    Idle {
        last: Option<String>,
    },
    Running(Box<Running>),
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
    pub(crate) folder: String,
    pub(crate) description: String,
    pub(crate) started_at: String,
    pub(crate) branch: Option<String>,
    pub(crate) budget: String,
    pub(crate) version: Option<u64>,
    /// What is going on, in a word: `running`. None if the state's fields contradict each other.
    pub(crate) doing: Option<&'static str>,
    pub(crate) current: Option<String>,
    /// The phase that is to be worked on; none if the state's fields contradict each other.
    #[serde(skip)]
    pub(crate) due: Option<Due>,
    pub(crate) phases: Vec<Phase>,
    /// How many escalations wait for a person.
    pub(crate) escalations: usize,
}

/// The phase that is to be worked on.
#[derive(Clone, Debug)]
pub(crate) struct Due {
    pub(crate) phase: String,
    /// `waiting`, `running`, `redoing`, `between`, `under_review` or `finished`.
    pub(crate) doing: &'static str,
    /// For how long it has been running, if it ever began.
    pub(crate) minutes: Option<u64>,
    /// The command for the next step.
    pub(crate) next: &'static str,
}

/// One phase of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Phase {
    pub(crate) key: String,
    pub(crate) status: String,
    pub(crate) summary: Option<String>,
    /// Whether the gates were verified when it was completed; none if it does not need them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verified: Option<bool>,
    /// Whether what it was asked for was seen when it was completed.
    #[serde(skip)]
    pub(crate) has_passed: bool,
    /// How long it took, or has been running.
    pub(crate) minutes: Option<f64>,
    pub(crate) retries: u64,
}

impl Phase {
    /// What is shown before its name.
    pub(crate) fn sign(&self) -> &'static str {
        match self.status.as_str() {
            "completed" if self.verified == Some(true) => SIGN,
            "completed" => "●",
            "in_progress" => "▶",
            _ => "·",
        }
    }

    /// Its status in words. What was completed without verified gates says so.
    pub(crate) fn words(&self) -> String {
        match (self.status.as_str(), self.verified) {
            ("completed", Some(true)) => "completed and verified".to_owned(),
            ("completed", Some(false)) => "completed, not verified".to_owned(),
            (status, _) => status.replace('_', " "),
        }
    }
}

impl Running {
    /// The workflow that runs in a document, and what its fields contradict each other about.
    pub(crate) fn of(
        document: &Document,
        workflow: &WorkflowPosition<'_>,
        now: Timestamp,
    ) -> (Self, Option<Refusal>) {
        let (due, contradiction) = match Due::of(workflow, now) {
            Ok(due) => (Some(due), None),
            Err(refusal) => (None, Some(refusal)),
        };
        let text = |key: &str| {
            let text = document.str(&["active_workflow", key]);
            text.unwrap_or_default().to_owned()
        };
        let branch = document.str(&["active_workflow", "git_branch", "name"]);
        let budget = document.str(&["active_workflow", "budget_status"]);
        let phases = workflow.phases.iter();
        let running = Self {
            kind: workflow.workflow.to_owned(),
            folder: text("artifact_folder"),
            description: text("description"),
            started_at: text("started_at"),
            branch: branch.map(str::to_owned),
            budget: budget.unwrap_or("on_track").replace('_', " "),
            version: document.u64(&["state_version"]),
            doing: due.as_ref().map(Due::words),
            due,
            current: workflow.current().map(|place| place.key.to_owned()),
            phases: phases.map(|key| phase(workflow, key, now)).collect(),
            escalations: workflow.escalations().len(),
        };
        (running, contradiction)
    }

    /// What it is called: its type and its folder.
    pub(crate) fn name(&self) -> String {
        let name = format!("{} {}", self.kind.trim(), self.folder.trim());
        name.trim_end().to_owned()
    }

    /// For how many minutes the phase has been running, and after how many it is stale, if it is.
    pub(crate) fn stale(&self, requirements: &ProjectRequirements) -> Option<(u64, u64)> {
        let due = self.due.as_ref().filter(|due| due.is_active())?;
        let limit = requirements.of(&self.kind, &due.phase).timeout_minutes();
        let limit = limit.unwrap_or(120).saturating_mul(2);
        let minutes = due.minutes.filter(|minutes| *minutes > limit)?;
        Some((minutes, limit))
    }

    /// How far it is: `1 of 4, implementation running for 5 min`.
    pub(crate) fn progress(&self) -> String {
        let (done, phases) = (self.completed(), self.phases.len());
        let doing = match &self.due {
            None => "where it is, is not known".to_owned(),
            Some(due) => {
                let minutes = due.minutes.map(|minutes| format!(" for {minutes} min"));
                let minutes = minutes.filter(|_| due.is_active()).unwrap_or_default();
                let doing = match due.doing {
                    "between" => "is next".to_owned(),
                    doing => doing.replace('_', " "),
                };
                format!("{} {doing}{minutes}", due.phase)
            }
        };
        format!("{done} of {phases}, {doing}")
    }

    /// How many phases are completed.
    pub(crate) fn completed(&self) -> usize {
        let done = |phase: &&Phase| phase.status == "completed";
        self.phases.iter().filter(done).count()
    }
}

/// Reads the state file.
pub(crate) fn read(path: &Path, now: Timestamp, troubles: &mut Vec<Trouble>) -> Workflow {
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
                next: "restore it from version control, or correct it there".to_owned(),
            });
            return Workflow::Broken { what };
        }
    };
    if running(&document).is_none() && odd(&document).is_none() {
        return Workflow::Idle {
            last: last(&document),
        };
    }
    let workflow = match WorkflowPosition::of(&document) {
        Ok(workflow) => workflow,
        Err(Refusal { what, next, .. }) => {
            let broken = Workflow::Broken { what: what.clone() };
            troubles.push(Trouble { what, next });
            return broken;
        }
    };
    let (running, contradiction) = Running::of(&document, &workflow, now);
    troubles.extend(contradiction.map(|Refusal { what, next, .. }| Trouble { what, next }));
    Workflow::Running(Box::new(running))
}

impl Due {
    fn of(workflow: &WorkflowPosition<'_>, now: Timestamp) -> Result<Self, Refusal> {
        let is_reviewed = workflow.review().is_some();
        let complete = "tollgate phase complete --summary \"…\"";
        let (doing, place, next) = match workflow.doing()? {
            Doing::Waiting(place) => ("waiting", place, "tollgate phase begin"),
            Doing::Running(place) => ("running", place, complete),
            Doing::Redoing(place) => ("redoing", place, complete),
            Doing::Between { done, .. } | Doing::Finished(done) if is_reviewed => {
                ("under_review", done, "tollgate phase review")
            }
            Doing::Between { next, .. } => ("between", next, "tollgate phase begin"),
            Doing::Finished(done) => ("finished", done, "tollgate workflow finalize"),
        };
        Ok(Self {
            phase: place.key.to_owned(),
            doing,
            minutes: workflow.age(place.key, now),
            next,
        })
    }

    /// Whether the phase is in progress.
    pub(crate) fn is_active(&self) -> bool {
        matches!(self.doing, "running" | "redoing")
    }

    /// What is going on, for people.
    fn words(&self) -> &'static str {
        match self.doing {
            "waiting" => "waiting to begin",
            "redoing" => "running again after its review",
            "under_review" => "under review",
            "between" => "between phases",
            doing => doing,
        }
    }
}

fn phase<'a>(workflow: &WorkflowPosition<'a>, key: &'a str, now: Timestamp) -> Phase {
    let text = |path: &[&str]| workflow.field(key, path).and_then(Value::as_str);
    let status = workflow.status(key).unwrap_or("pending");
    let measured = workflow
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
        verified: workflow
            .field(key, &[GATES, "verified"])
            .and_then(Value::as_bool),
        has_passed: text(&["gate_passed"]).is_some(),
        minutes: running.or(measured).filter(|minutes| *minutes >= 0.0),
        retries: workflow.retries(key),
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
