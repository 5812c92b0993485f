//! `tollgate workflow status`: where the workflow is, what is wrong, and the next command.

use std::process::ExitCode;

use serde_json::{Value, json};

use tollgate_core::workflow::evidence::Corridor;
use tollgate_core::workflow::position::{WorkflowPosition, odd, running};
use tollgate_core::workflow::state::State;
use tollgate_core::workflow::transition::{GATES, escalation};
use tollgate_store::document::Document;

use crate::cli::plain::{Plain, moment_of};
use crate::cli::workflow_context::{WorkflowContext, warn};
use crate::cli::{BOLD, CommandResult, DIM, ERROR, GOOD, JsonArguments, Trouble, WARN};
use crate::project_view::Running;

pub(super) fn run(arguments: &JsonArguments) -> CommandResult {
    let context = WorkflowContext::here()?;
    let document = context.document()?;
    if running(&document).is_none() && odd(&document).is_none() {
        return Ok(idle(arguments, &document));
    }
    let workflow = WorkflowPosition::of(&document)?;
    let (running, contradiction) = Running::of(&document, &workflow, context.now);
    let corridor = corridor(&context, &document, &running);
    if arguments.json {
        let value = as_json(&context, &document, &workflow, &running, corridor)?;
        anstream::println!("{value:#}");
    } else {
        print(&context, &running)?;
        print_outlook(&context, &running, workflow.escalations(), corridor);
    }
    match contradiction {
        None => Ok(ExitCode::SUCCESS),
        Some(refusal) => Err(refusal.into()),
    }
}

fn idle(arguments: &JsonArguments, document: &Document) -> ExitCode {
    let last = document
        .array(&["workflow_history"])
        .and_then(<[Value]>::last);
    if arguments.json {
        anstream::println!("{:#}", json!({ "running": false, "last": last }));
        return ExitCode::SUCCESS;
    }
    out!("No workflow is running.");
    if let Some(last) = last {
        let text = |key: &str| last.get(key).and_then(Value::as_str).unwrap_or("?");
        out!(
            "  the last one: {} {} {DIM}({}){DIM:#}",
            Plain(text("type")),
            Plain(text("description")),
            Plain(text("status"))
        );
    }
    out!("  next: {BOLD}tollgate workflow start feature \"what it is about\"{BOLD:#}");
    ExitCode::SUCCESS
}

/// The corridor that the phase in progress is in.
fn corridor(context: &WorkflowContext, document: &Document, running: &Running) -> Option<Corridor> {
    let due = running.due.as_ref().filter(|due| due.is_active())?;
    let text = document.to_text();
    let entry = State::parse(&text).ok()?.phase(&due.phase)?;
    let requirements = context.requirements.of(&running.kind, &due.phase);
    requirements.corridor(&entry)
}

fn corridor_name(corridor: Corridor) -> &'static str {
    match corridor {
        Corridor::Tests => "TEST_CORRIDOR",
        Corridor::Constitution => "CONST_CORRIDOR",
    }
}

fn as_json(
    context: &WorkflowContext,
    document: &Document,
    workflow: &WorkflowPosition<'_>,
    running: &Running,
    corridor: Option<Corridor>,
) -> Result<Value, Trouble> {
    let field = |key: &str| document.get(&["active_workflow", key]);
    let due = running.due.as_ref();
    let phases: Vec<Value> = context.with_rules(|rules| {
        let phases = workflow.phases.iter().map(|key| {
            json!({
                "key": key, "status": workflow.status(key), "agent": rules.agent(key),
                "summary": workflow.field(key, &["summary"]), "minutes": workflow.field(key, &["timing", "wall_clock_minutes"]),
                "retries": workflow.field(key, &["timing", "retries"]), "gates": workflow.field(key, &[GATES]),
            })
        });
        phases.collect()
    })?;
    Ok(json!({
        "running": true, "type": running.kind, "description": field("description"), "artifact_folder": field("artifact_folder"),
        "state_version": running.version, "state_file": context.state_file(),
        "current_phase": running.current, "current_phase_index": workflow.index(), "phases": phases,
        "doing": due.map(|due| due.doing), "phase": due.map(|due| &due.phase), "next": due.map(|due| due.next),
        "stale": running.stale(&context.requirements).is_some(), "corridor": corridor.map(corridor_name),
        "review": field("supervised_review"), "pending_escalations": workflow.escalations(),
        "budget_status": field("budget_status"), "git_branch": field("git_branch"),
    }))
}

/// The workflow and its phases.
fn print(context: &WorkflowContext, running: &Running) -> Result<(), Trouble> {
    out!(
        "{BOLD}{}{BOLD:#}  {}",
        Plain(&running.name()),
        Plain(&running.description)
    );
    let since = match running.started_at.as_str() {
        "" => String::new(),
        began => format!("since {}, ", Plain(&moment_of(began))),
    };
    let branch = running.branch.as_deref();
    let branch = branch.map(|name| format!(", branch {}", Plain(name)));
    out!(
        "  {DIM}{since}budget {}{}{DIM:#}",
        Plain(&running.budget),
        branch.unwrap_or_default()
    );
    let keys = running.phases.iter().map(|phase| phase.key.len());
    let width = keys.max().unwrap_or(0);
    context.with_rules(|rules| {
        for phase in &running.phases {
            let key = Plain(&phase.key).to_string();
            let summary = Plain(phase.summary.as_deref().unwrap_or_default());
            let agent = rules.agent(&phase.key).unwrap_or_default();
            let words = phase.verified.map(|_| format!("{}: ", phase.words()));
            let words = words.unwrap_or_default();
            let (sign, tone) = (phase.sign(), if phase.has_passed { GOOD } else { WARN });
            match phase.status.as_str() {
                "completed" => {
                    out!("  {tone}{sign}{tone:#} {key:<width$}  {DIM}{words}{DIM:#}{summary}");
                }
                "in_progress" => {
                    let doing = match agent.as_str() {
                        "" => "in progress".to_owned(),
                        agent => format!("in progress, {}", Plain(agent)),
                    };
                    out!("  {BOLD}{sign} {key:<width$}{BOLD:#}  {doing}");
                }
                _ => out!("  {DIM}{sign} {key}{DIM:#}"),
            }
        }
    })
}

/// What keeps the workflow from going on, and the next command.
fn print_outlook(
    context: &WorkflowContext,
    running: &Running,
    escalations: &[Value],
    corridor: Option<Corridor>,
) {
    let Some(due) = &running.due else {
        return;
    };
    if let Some((minutes, limit)) = running.stale(&context.requirements) {
        out!(
            "{WARN}STALE{WARN:#}: phase {} has been running for {minutes} minutes (more than {limit})",
            Plain(&due.phase)
        );
        out!(
            "  [Retry] tollgate phase begin  [Skip] tollgate phase skip --reason stale  [Cancel] tollgate workflow cancel --reason …"
        );
    }
    if let Some(corridor) = corridor {
        let what = match corridor {
            Corridor::Tests => "tests fail; fix and run them before anything else",
            Corridor::Constitution => "the constitutional validation is not completed",
        };
        out!("{WARN}{}{WARN:#}: {what}", corridor_name(corridor));
    }
    if !escalations.is_empty() {
        let waiting = escalations.len();
        out!("{ERROR}BLOCKER{ERROR:#}: {waiting} escalation(s) wait for a person");
        for one in escalations {
            out!("{}", Plain(&escalation(one)));
        }
        out!(
            "  [Retry] tollgate phase begin --retry  [Skip] tollgate phase skip --reason …  [Cancel] tollgate workflow cancel --reason …"
        );
    }
    if running.version.is_none() {
        warn("the state has no version yet; the next step gives it one");
    }
    out!("  next: {BOLD}{}{BOLD:#}", due.next);
}
