//! What is known about a project, collected from those who know: the workflow's state, the gates'
//! record, the plan, the journal, and the agents' settings.
//!
//! Something that cannot be read is no reason to say nothing: it is listed under what is wrong,
//! and the rest is shown.

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use tollgate_core::env::Env;
use tollgate_core::git::Repository;
use tollgate_core::project::Layout;
use tollgate_core::state::journal::Decision;
use tollgate_core::state::timestamp::iso;
use tollgate_core::workflow::standing::{Standing, odd, running};

use crate::agent::read::{self, Kind};
use crate::agent::{Agent, Places};
use crate::cli::site::Site;
use crate::cli::workflow::status::outlook;
use crate::gate::config::{Config, ConfigError};
use crate::gate::evidence::{Evidence, Pass};
use crate::gate::git::PATIENCE;
use crate::journal::{Entry, Tail};
use crate::ui::snapshot::{Plan, plan};

/// How much of the journal is looked at: a day of a busy project.
const LOOK_BACK: u64 = 256 << 10;

/// What counts as lately.
const LATELY: SignedDuration = SignedDuration::from_hours(24);

/// How many decisions are shown.
const SHOWN: usize = 5;

pub(super) struct Overview {
    pub(super) now: Timestamp,
    pub(super) root: PathBuf,
    pub(super) branch: Option<String>,
    /// Agents that run Tollgate here, with the file that says so.
    pub(super) armed: Vec<(String, String)>,
    pub(super) workflow: Known<Workflow>,
    pub(super) gates: Known<Gates>,
    pub(super) plan: Known<Plan>,
    /// The last blocks, warnings and faults, oldest first.
    pub(super) decisions: Vec<Entry>,
    pub(super) tally: Tally,
    pub(super) wrong: Vec<String>,
}

/// What could be found out about something. Unreadable is not absent.
pub(super) enum Known<T> {
    Absent,
    Unreadable,
    Is(T),
}

/// A running workflow.
pub(super) struct Workflow {
    pub(super) kind: String,
    pub(super) folder: String,
    pub(super) description: String,
    pub(super) done: usize,
    pub(super) phases: usize,
    /// The phase that is meant, what is done with it, and for how many minutes.
    pub(super) phase: Option<(String, &'static str, Option<u64>)>,
    pub(super) next: Option<&'static str>,
}

pub(super) struct Gates {
    pub(super) checks: usize,
    pub(super) reviews: usize,
    pub(super) allowed: u64,
    pub(super) evidence: Evidence,
}

/// What happened lately.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) blocks: usize,
    pub(super) warnings: usize,
    pub(super) faults: usize,
    pub(super) reviews: usize,
    /// What reviewers said that they cost; none if none said.
    pub(super) cost_usd: Option<f64>,
    /// There was more than was looked at.
    pub(super) at_least: bool,
}

impl Overview {
    pub(super) fn of(env: &Env) -> Option<Self> {
        let layout = Layout::find(env, env.cwd.as_deref())?;
        let mut wrong = Vec::new();
        let now = Timestamp::now();
        let tail = Tail::of(&layout.local(), LOOK_BACK);
        let tally = Tally::of(&tail, now);
        let last_fault = tail
            .entries
            .iter()
            .rev()
            .find(|entry| entry.verdict == Decision::Fault && is_lately(entry, now));
        if let Some(fault) = last_fault {
            wrong.push(format!(
                "{} fault(s) in the last 24 hours; the last: {}",
                tally.faults,
                fault.reason.as_deref().unwrap_or("of unknown kind")
            ));
        }
        let armed = armed(env, &mut wrong);
        let workflow = workflow(&layout, &mut wrong);
        let gates = gates(&layout, env, &mut wrong);
        let plan = plan(&layout, &mut wrong);
        // As seen from the project, and once each: agents share files.
        let root = format!("{}/", layout.root().display());
        let mut wrong: Vec<String> = wrong.iter().map(|text| text.replace(&root, "")).collect();
        let mut seen = std::collections::BTreeSet::new();
        wrong.retain(|text| seen.insert(text.clone()));
        let repository = Repository::discover(layout.root());
        let branch = repository.and_then(|one| one.head().branch().map(str::to_owned));
        let told = |entry: &&Entry| {
            matches!(
                entry.verdict,
                Decision::Block | Decision::Warn | Decision::Fault
            )
        };
        let all: Vec<Entry> = tail.entries.iter().filter(told).cloned().collect();
        let decisions = all.iter().rev().take(SHOWN).rev().cloned().collect();
        Some(Self {
            now,
            root: layout.root().to_owned(),
            branch,
            armed,
            workflow,
            gates,
            plan,
            decisions,
            tally,
            wrong,
        })
    }

    pub(super) fn to_json(&self) -> Value {
        let Tally {
            blocks,
            warnings,
            faults,
            reviews,
            cost_usd,
            at_least,
        } = &self.tally;
        let armed: Vec<_> = self
            .armed
            .iter()
            .map(|(agent, file)| json!({ "agent": agent, "file": file }))
            .collect();
        let decisions: Vec<_> = self.decisions.iter().map(|entry| &entry.value).collect();
        json!({
            "root": self.root, "branch": self.branch, "armed": armed,
            "workflow": self.workflow.to_json(Workflow::to_json),
            "gates": self.gates.to_json(Gates::to_json),
            "plan": self.plan.to_json(plan_json),
            "decisions": decisions,
            "last_24_hours": {
                "blocks": blocks, "warnings": warnings, "faults": faults, "reviews": reviews,
                "cost_usd": cost_usd, "at_least": at_least,
            },
            "wrong": self.wrong,
        })
    }
}

impl<T> Known<T> {
    /// Null where there is nothing; what cannot be read says so.
    fn to_json(&self, of: impl FnOnce(&T) -> Value) -> Value {
        match self {
            Self::Absent => Value::Null,
            Self::Unreadable => json!({ "unreadable": true }),
            Self::Is(value) => of(value),
        }
    }
}

impl Workflow {
    fn to_json(&self) -> Value {
        let phase = self
            .phase
            .as_ref()
            .map(|(key, doing, minutes)| json!({ "key": key, "doing": doing, "minutes": minutes }));
        json!({
            "type": self.kind, "artifact_folder": self.folder, "description": self.description,
            "completed": self.done, "phases": self.phases, "phase": phase, "next": self.next,
        })
    }
}

impl Gates {
    fn to_json(&self) -> Value {
        let (pass, at, changed) = match &self.evidence.pass {
            Pass::Never => ("never", None, None),
            Pass::Fresh { at } => ("fresh", Some(at), None),
            Pass::Stale { at, changed } => ("stale", Some(at), Some(changed)),
            Pass::OtherGates { at } => ("other_gates", Some(at), None),
            Pass::Unknown { at, .. } => ("unknown", Some(at), None),
        };
        let last = self.evidence.last.as_ref().map(|last| {
            let failed: Vec<_> = last
                .failed
                .iter()
                .map(
                    |gate| json!({ "gate": gate.id, "message": gate.message, "files": gate.files }),
                )
                .collect();
            json!({
                "status": last.status.as_str(), "at": iso(last.completed_at),
                "attempts": last.attempts, "failed": failed,
            })
        });
        json!({
            "checks": self.checks, "reviews": self.reviews, "attempts_allowed": self.allowed,
            "last": last,
            "pass": { "evidence": pass, "at": at.map(|at| iso(*at)), "changed_since": changed },
        })
    }
}

fn plan_json(plan: &Plan) -> Value {
    let round = plan.reviews_made.map(
        |made| json!({ "made": made, "at_most": plan.max_reviews, "clean": plan.clean_in_a_row }),
    );
    json!({
        "plan": plan.id, "phase": plan.phase_name(), "next_phase": plan.next, "reviews": round,
        "tasks": { "closed": plan.tasks.0, "all": plan.tasks.1 }, "cost_usd": plan.cost_usd(),
    })
}

impl Tally {
    fn of(tail: &Tail, now: Timestamp) -> Self {
        let mut tally = Self::default();
        for entry in tail.entries.iter().filter(|entry| is_lately(entry, now)) {
            match entry.verdict {
                Decision::Block => tally.blocks += 1,
                Decision::Warn => tally.warnings += 1,
                Decision::Fault => tally.faults += 1,
                Decision::Review => tally.reviews += 1,
                Decision::Change | Decision::Gate | Decision::Record => {}
            }
            let cost = entry.value.get("cost_usd").and_then(Value::as_f64);
            if let Some(cost) = cost {
                tally.cost_usd = Some(tally.cost_usd.unwrap_or(0.0) + cost);
            }
        }
        tally.at_least = tail.cut && tail.entries.first().is_some_and(|one| is_lately(one, now));
        tally
    }
}

fn is_lately(entry: &Entry, now: Timestamp) -> bool {
    entry.ts.is_some_and(|ts| now.duration_since(ts) <= LATELY)
}

/// Who runs Tollgate here.
fn armed(env: &Env, wrong: &mut Vec<String>) -> Vec<(String, String)> {
    let Some(places) = Places::find(env, crate::hook::variable) else {
        return vec![];
    };
    let reading = read::read(&places);
    for off in &reading.switched_off {
        let file = places.shown(&off.file);
        let said = format!("{} runs no hooks: `{}` in {file}", off.agent, off.key);
        wrong.push(said);
    }
    for (agent, file, flaw) in &reading.flaws {
        let file = places.shown(file);
        wrong.push(format!("{agent}: {file} cannot be read: {flaw}"));
    }
    let mut armed: Vec<(String, String)> = Vec::new();
    let plugin = reading.plugin.iter();
    let plugin = plugin.map(|(_, file)| (Agent::ClaudeCode, file));
    let hooks = reading
        .registered
        .iter()
        .filter(|one| one.effective && matches!(one.kind, Kind::Hook | Kind::Guard(_)))
        .map(|one| (one.agent, &one.file));
    for (agent, file) in plugin.chain(hooks) {
        let entry = (agent.to_string(), places.shown(file));
        if !armed.contains(&entry) {
            armed.push(entry);
        }
    }
    if armed.is_empty() {
        wrong.push(
            "no agent is registered here, so nothing is guarded: `tollgate install`".to_owned(),
        );
    }
    armed
}

fn workflow(layout: &Layout, wrong: &mut Vec<String>) -> Known<Workflow> {
    // A project without the workflow's home has nothing to be asked for.
    if !layout.workflow_home().is_dir() {
        return Known::Absent;
    }
    let document = Site::here().and_then(|site| Ok((site.document()?, site)));
    let (document, site) = match document {
        Ok(found) => found,
        Err(trouble) => {
            wrong.push(trouble.told());
            return Known::Unreadable;
        }
    };
    if running(&document).is_none() && odd(&document).is_none() {
        return Known::Absent;
    }
    let standing = match Standing::of(&document) {
        Ok(standing) => standing,
        Err(refusal) => {
            wrong.push(format!("{}: {}", refusal.what, refusal.next));
            return Known::Unreadable;
        }
    };
    let text = |key: &str| {
        let text = document.str(&["active_workflow", key]);
        text.unwrap_or_default().to_owned()
    };
    let is_done = |key: &&&str| standing.status(key) == Some("completed");
    let (phase, next) = match outlook(&site, &document, &standing) {
        Ok(outlook) => {
            let minutes = standing.age(outlook.place, None, site.now);
            let minutes = minutes.map(|(minutes, _)| minutes);
            if let Some((minutes, limit)) = outlook.stale {
                wrong.push(format!(
                    "phase {} has been running for {minutes} minutes (more than {limit})",
                    outlook.place.key
                ));
            }
            let phase = (outlook.place.key.to_owned(), outlook.doing, minutes);
            (Some(phase), Some(outlook.next))
        }
        Err(trouble) => {
            wrong.push(trouble.told());
            (None, None)
        }
    };
    let waiting = standing.escalations().len();
    if waiting > 0 {
        wrong.push(format!("{waiting} escalation(s) wait for a person"));
    }
    Known::Is(Workflow {
        kind: standing.workflow.to_owned(),
        folder: text("artifact_folder"),
        description: text("description"),
        done: standing.phases.iter().filter(is_done).count(),
        phases: standing.phases.len(),
        phase,
        next,
    })
}

fn gates(layout: &Layout, env: &Env, wrong: &mut Vec<String>) -> Known<Gates> {
    if !layout.gates_config().is_file() {
        return Known::Absent;
    }
    match Config::load(layout, env) {
        Ok(config) => Known::Is(Gates {
            checks: config.checks.len(),
            reviews: config.reviews.len(),
            allowed: config.max_retries + 1,
            evidence: Evidence::of(layout, &config, env, PATIENCE),
        }),
        Err(error @ (ConfigError::Missing(_) | ConfigError::Wrong(_))) => {
            wrong.extend(error.to_string().lines().map(str::to_owned));
            Known::Unreadable
        }
    }
}

/// The plan as the page has it.
fn plan(layout: &Layout, wrong: &mut Vec<String>) -> Known<Plan> {
    let mut troubles = Vec::new();
    let plan = plan::read(layout, &mut Vec::new(), &mut troubles);
    wrong.extend(troubles.into_iter().map(|trouble| trouble.what));
    match plan {
        None => Known::Absent,
        Some(plan) if plan.is_broken => Known::Unreadable,
        Some(plan) => {
            let broken = plan.errors.len();
            if broken > 0 {
                wrong.push(format!(
                    "plan {}: {broken} rule(s) are broken: `tollgate plan validate`",
                    plan.id
                ));
            }
            Known::Is(plan)
        }
    }
}
