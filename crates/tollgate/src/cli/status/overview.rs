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
use tollgate_store::journal::Verdict;
use tollgate_store::timestamp::iso;

use crate::agents::Places;
use crate::agents::claude::mods;
use crate::agents::read;
use crate::armed::{self, Arming};
use crate::cli::Trouble;
use crate::cli::workflow_context::WorkflowContext;
use crate::gate::config::ConfigError;
use crate::git::PATIENCE;
use crate::journal::{Entry, Tail};
use crate::project_view::{self, Counts, GatesNow, Plan, Running, Workflow};

/// How much of the journal is read: a day of a busy project.
const LOOK_BACK: u64 = 256 << 10;

/// What counts as lately.
const LATELY: SignedDuration = SignedDuration::from_hours(24);

/// How many decisions are shown.
const SHOWN: usize = 5;

pub(super) struct Overview {
    pub(super) now: Timestamp,
    pub(super) root: PathBuf,
    pub(super) branch: Option<String>,
    /// Whose configuration and workflow rule here, where that is not plain.
    pub(super) ruled_by: Vec<String>,
    /// Agents that Tollgate is registered with here, and whether they are under guard.
    pub(super) agents: Vec<Arming>,
    pub(super) workflow: Workflow,
    /// None without gates; their configuration may be wrong.
    pub(super) gates: Option<Result<GatesNow, ConfigError>>,
    pub(super) plan: Option<Plan>,
    /// The last blocks, warnings and faults, oldest first.
    pub(super) decisions: Vec<Entry>,
    pub(super) tally: Tally,
    pub(super) wrong: Vec<String>,
}

/// What happened lately.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) counts: Counts,
    /// What reviewers said that they cost; none if none said.
    pub(super) cost_usd: Option<f64>,
    /// There was more than was read.
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
            .find(|entry| entry.verdict == Verdict::Fault && is_lately(entry, now));
        if let Some(fault) = last_fault {
            wrong.push(format!(
                "{} fault(s) in the last 24 hours; the last: {}",
                tally.counts.fault,
                fault.reason.as_deref().unwrap_or("of unknown kind")
            ));
        }
        let agents = agents(env, &layout, now, &mut wrong);
        let workflow = workflow(&layout, env, now, &mut wrong);
        let gates = GatesNow::of(&layout, env, PATIENCE).transpose();
        if let Some(Err(error)) = &gates {
            wrong.extend(error.to_string().lines().map(str::to_owned));
        }
        let plan = plan(&layout, &mut wrong);
        // As seen from the project, and once each: agents share files.
        let root = format!("{}/", layout.root().display());
        let mut wrong: Vec<String> = wrong.iter().map(|text| text.replace(&root, "")).collect();
        let mut seen = std::collections::BTreeSet::new();
        wrong.retain(|text| seen.insert(text.clone()));
        let repository = Repository::discover(layout.root());
        let branch = repository.and_then(|one| one.head().branch().map(str::to_owned));
        let is_finding = |entry: &&Entry| {
            matches!(
                entry.verdict,
                Verdict::Block | Verdict::Ask | Verdict::Warn | Verdict::Fault
            )
        };
        let mut decisions: Vec<Entry> = tail.entries.iter().filter(is_finding).cloned().collect();
        decisions.drain(..decisions.len().saturating_sub(SHOWN));
        Some(Self {
            now,
            root: layout.root().to_owned(),
            branch,
            ruled_by: ruled_by(&layout),
            agents,
            workflow,
            gates,
            plan,
            decisions,
            tally,
            wrong,
        })
    }

    pub(super) fn to_json(&self) -> Value {
        let counts = self.tally.counts;
        let decisions: Vec<_> = self.decisions.iter().map(|entry| &entry.value).collect();
        json!({
            "root": self.root, "branch": self.branch, "ruled_by": self.ruled_by, "agents": self.agents,
            "workflow": match &self.workflow {
                Workflow::Idle { .. } => Value::Null,
                Workflow::Broken { .. } => unreadable(),
                Workflow::Running(running) => workflow_json(running),
            },
            "gates": match &self.gates {
                None => Value::Null,
                Some(Err(_)) => unreadable(),
                Some(Ok(gates)) => gates_json(gates),
            },
            "plan": match &self.plan {
                None => Value::Null,
                Some(plan) if plan.is_broken => unreadable(),
                Some(plan) => plan_json(plan),
            },
            "decisions": decisions,
            "last_24_hours": {
                "blocks": counts.block, "warnings": counts.warn, "faults": counts.fault,
                "reviews": counts.review, "cost_usd": self.tally.cost_usd,
                "at_least": self.tally.at_least,
            },
            "wrong": self.wrong,
        })
    }
}

/// What is there and cannot be read is not absent.
fn unreadable() -> Value {
    json!({ "unreadable": true })
}

fn workflow_json(running: &Running) -> Value {
    let due = running.due.as_ref();
    let phase =
        due.map(|due| json!({ "key": due.phase, "doing": due.doing, "minutes": due.minutes }));
    json!({
        "type": running.kind, "artifact_folder": running.folder,
        "description": running.description, "completed": running.completed(),
        "phases": running.phases.len(), "phase": phase, "next": due.map(|due| due.next),
    })
}

fn gates_json(gates: &GatesNow) -> Value {
    let last = gates.last.as_ref().map(|last| {
        json!({
            "status": last.status.as_str(), "at": iso(last.completed_at),
            "attempts": last.attempts,
        })
    });
    json!({
        "verification": gates.verification.as_str(), "why": gates.verification.clone().reason(),
        "checks": gates.checks, "reviews": gates.reviews,
        "attempts_allowed": gates.attempts_allowed, "last": last, "gates": gates.json,
    })
}

fn plan_json(plan: &Plan) -> Value {
    let round = plan.reviews_made.map(
        |made| json!({ "made": made, "at_most": plan.max_reviews, "clean": plan.clean_in_a_row }),
    );
    json!({
        "plan": plan.id, "phase": plan.phase_name(), "next_phase": plan.next, "reviews": round, "ended": plan.ended,
        "tasks": { "closed": plan.tasks.0, "all": plan.tasks.1 }, "cost_usd": plan.cost_usd(),
    })
}

impl Tally {
    fn of(tail: &Tail, now: Timestamp) -> Self {
        let mut tally = Self::default();
        for entry in tail.entries.iter().filter(|entry| is_lately(entry, now)) {
            tally.counts.add(entry.verdict);
            if let Some(cost) = entry.cost_usd {
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
fn agents(env: &Env, layout: &Layout, now: Timestamp, wrong: &mut Vec<String>) -> Vec<Arming> {
    let Some(places) = Places::find(env, crate::environment::variable) else {
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
    let agents = armed::all(&places, &reading, Some(layout), now);
    wrong.extend(mods::words(&mods::find(&places), &places));
    if agents.is_empty() {
        wrong.push(
            "no agent is registered here, so nothing is guarded: `tollgate install`".to_owned(),
        );
    }
    agents
}

/// What rules in a linked work tree, and in a project inside of another one.
fn ruled_by(layout: &Layout) -> Vec<String> {
    let root = layout.root();
    let file = layout.config_file();
    let mut said = Vec::new();
    if !file.starts_with(root) {
        said.push(format!("of the main work tree: {}", file.display()));
    }
    let main = layout.workflow_root();
    if main != root {
        said.push(format!(
            "workflow of the main work tree: {}",
            main.display()
        ));
    }
    let top = Repository::discover(root).map(|repository| repository.work_tree);
    let above = root.ancestors().skip(1);
    let above = above.take_while(|place| top.as_ref().is_some_and(|top| place.starts_with(top)));
    let mut above = above.filter_map(Layout::at);
    if let Some(outer) = above.find(|outer| outer.config_file().exists()) {
        let outer = outer.config_file();
        said.push(format!(
            "the nearest tollgate.toml, not {}",
            outer.display()
        ));
    }
    said
}

/// The workflow as the page has it, and what the project's own limits say about it.
fn workflow(layout: &Layout, env: &Env, now: Timestamp, wrong: &mut Vec<String>) -> Workflow {
    // A project without the workflow's home has nothing to be asked for.
    if !layout.workflow_home().is_dir() {
        return Workflow::Idle { last: None };
    }
    let mut troubles = Vec::new();
    let (workflow, _) = project_view::workflow(layout, env, now, &mut troubles);
    let troubles = troubles.iter();
    wrong.extend(troubles.map(|trouble| format!("{}: {}", trouble.what, trouble.next)));
    let context = match WorkflowContext::here() {
        Ok(context) => context,
        Err(trouble) => {
            let Trouble { what, next, .. } = trouble;
            let known = next.map_or_else(|| what.clone(), |next| format!("{what}: {next}"));
            if !wrong.contains(&known) {
                wrong.push(known);
            }
            return Workflow::Broken { what };
        }
    };
    let Workflow::Running(running) = &workflow else {
        return workflow;
    };
    let stale = running
        .due
        .as_ref()
        .zip(running.stale(&context.requirements));
    if let Some((due, (minutes, limit))) = stale {
        wrong.push(format!(
            "phase {} has been running for {minutes} minutes (more than {limit})",
            due.phase
        ));
    }
    if running.escalations > 0 {
        wrong.push(format!(
            "{} escalation(s) wait for a person",
            running.escalations
        ));
    }
    workflow
}

/// The plan as the page has it.
fn plan(layout: &Layout, wrong: &mut Vec<String>) -> Option<Plan> {
    let mut troubles = Vec::new();
    let plan = project_view::plan(layout, &mut troubles);
    wrong.extend(troubles.into_iter().map(|trouble| trouble.what));
    let broken = plan
        .as_ref()
        .filter(|plan| !plan.is_broken && !plan.errors.is_empty());
    wrong.extend(broken.map(|plan| {
        let count = plan.errors.len();
        format!(
            "plan {}: {count} rule(s) are broken: `tollgate plan validate`",
            plan.id
        )
    }));
    plan
}
