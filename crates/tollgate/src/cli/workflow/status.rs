//! `tollgate workflow status`: where the workflow stands, what is wrong, and the next command.

use std::process::ExitCode;

use serde_json::{Value, json};

use tollgate_core::workflow::evidence::Corridor;
use tollgate_core::workflow::position::{WorkflowPosition, odd, running};
use tollgate_core::workflow::state::State;
use tollgate_store::document::Document;

use crate::cli::plain::Plain;
use crate::cli::workflow_context::{WorkflowContext, warn};
use crate::cli::{Answer, BOLD, DIM, ERROR, GOOD, JsonArguments, Trouble, WARN};
use crate::project_view::Position;

/// Where the workflow is, by the project's own limits.
struct Outlook<'a> {
    position: Position<'a>,
    /// For how many minutes a phase has been running, and after how many it is stale.
    stale: Option<(u64, u64)>,
    corridor: Option<Corridor>,
}

pub(super) fn run(arguments: &JsonArguments) -> Answer {
    let context = WorkflowContext::here()?;
    let document = context.document()?;
    if running(&document).is_none() && odd(&document).is_none() {
        return Ok(idle(arguments, &document));
    }
    let standing = WorkflowPosition::of(&document)?;
    let outlook = outlook(&context, &document, &standing);
    if arguments.json {
        anstream::println!(
            "{:#}",
            as_json(&context, &document, &standing, outlook.as_ref().ok())?
        );
    } else {
        print(&context, &document, &standing, outlook.as_ref().ok())?;
    }
    match outlook {
        Ok(_) => Ok(ExitCode::SUCCESS),
        Err(trouble) => Err(trouble),
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
    anstream::println!("No workflow is running.");
    if let Some(last) = last {
        let text = |key: &str| last.get(key).and_then(Value::as_str).unwrap_or("?");
        anstream::println!(
            "  the last one: {} {} {DIM}({}){DIM:#}",
            Plain(text("type")),
            Plain(text("description")),
            Plain(text("status"))
        );
    }
    anstream::println!(
        "  next: {BOLD}tollgate workflow start feature \"what it is about\"{BOLD:#}"
    );
    ExitCode::SUCCESS
}

fn outlook<'a>(
    context: &WorkflowContext,
    document: &Document,
    standing: &WorkflowPosition<'a>,
) -> Result<Outlook<'a>, Trouble> {
    let position =
        Position::of(standing).map_err(|refusal| Trouble::new(refusal.what).hint(refusal.next))?;
    let (place, active) = (position.place, position.is_active());
    let requirements = context.requirements.of(standing.workflow, place.key);
    let text = document.to_text();
    let entry = State::parse(&text)
        .ok()
        .and_then(|state| state.phase(place.key));
    let age = standing.age(place, requirements.timeout_minutes(), context.now);
    Ok(Outlook {
        position,
        stale: age.filter(|(minutes, limit)| active && minutes > limit),
        corridor: entry
            .and_then(|entry| requirements.corridor(&entry))
            .filter(|_| active),
    })
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
    standing: &WorkflowPosition<'_>,
    outlook: Option<&Outlook<'_>>,
) -> Result<Value, Trouble> {
    let field = |key: &str| {
        document
            .get(&["active_workflow", key])
            .cloned()
            .unwrap_or(Value::Null)
    };
    let position = outlook.map(|one| &one.position);
    let phases: Vec<Value> = context.with_rules(|rules| {
        let phases = standing.phases.iter().map(|key| {
            json!({
                "key": key, "status": standing.status(key), "agent": rules.agent(key),
                "summary": standing.field(key, &["summary"]), "minutes": standing.field(key, &["timing", "wall_clock_minutes"]),
                "retries": standing.field(key, &["timing", "retries"]),
            })
        });
        phases.collect()
    })?;
    Ok(json!({
        "running": true, "type": standing.workflow, "description": field("description"), "artifact_folder": field("artifact_folder"),
        "state_version": document.u64(&["state_version"]), "state_file": context.state_file(),
        "current_phase": standing.current().map(|place| place.key), "current_phase_index": standing.index(), "phases": phases,
        "doing": position.map(|one| one.doing), "phase": position.map(|one| one.place.key), "next": position.map(|one| one.next),
        "stale": outlook.is_some_and(|one| one.stale.is_some()), "corridor": outlook.and_then(|one| one.corridor).map(corridor_name),
        "review": field("supervised_review"), "pending_escalations": standing.escalations(),
        "budget_status": field("budget_status"), "git_branch": field("git_branch"),
    }))
}

fn print(
    context: &WorkflowContext,
    document: &Document,
    standing: &WorkflowPosition<'_>,
    outlook: Option<&Outlook<'_>>,
) -> Result<(), Trouble> {
    let text = |path: &[&str]| Plain(document.str(path).unwrap_or_default()).to_string();
    let folder = text(&["active_workflow", "artifact_folder"]);
    let name = format!("{} {folder}", Plain(standing.workflow));
    anstream::println!(
        "{BOLD}{}{BOLD:#}  {}",
        name.trim_end(),
        text(&["active_workflow", "description"])
    );
    let branch = document.str(&["active_workflow", "git_branch", "name"]);
    let budget = document
        .str(&["active_workflow", "budget_status"])
        .unwrap_or("on_track");
    let since = document.str(&["active_workflow", "started_at"]);
    anstream::println!(
        "  {DIM}{}budget {}{}{DIM:#}",
        since.map_or(String::new(), |moment| format!("since {}, ", Plain(moment))),
        Plain(&budget.replace('_', " ")),
        branch
            .map(|name| format!(", branch {}", Plain(name)))
            .unwrap_or_default()
    );
    let width = standing
        .phases
        .iter()
        .map(|key| key.len())
        .max()
        .unwrap_or(0);
    context.with_rules(|rules| {
        for phase in &standing.phases {
            let summary = standing.field(phase, &["summary"]).and_then(Value::as_str);
            let summary = Plain(summary.unwrap_or_default());
            let agent = rules.agent(phase).unwrap_or_default();
            let key = Plain(phase).to_string();
            match standing.status(phase) {
                Some("completed") => {
                    anstream::println!("  {GOOD}✔{GOOD:#} {key:<width$}  {summary}");
                }
                Some("in_progress") => {
                    anstream::println!("  {BOLD}▶ {key:<width$}{BOLD:#}  in progress, {agent}");
                }
                Some(_) | None => anstream::println!("  {DIM}· {key}{DIM:#}"),
            }
        }
    })?;
    let Some(outlook) = outlook else {
        return Ok(());
    };
    if let Some((minutes, limit)) = outlook.stale {
        anstream::println!(
            "{WARN}STALE{WARN:#}: phase {} has been running for {minutes} minutes (more than {limit})",
            Plain(outlook.position.place.key)
        );
        anstream::println!(
            "  [Retry] tollgate phase begin  [Skip] tollgate phase skip --reason stale  [Cancel] tollgate workflow cancel --reason …"
        );
    }
    match outlook.corridor {
        Some(Corridor::Tests) => anstream::println!(
            "{WARN}TEST_CORRIDOR{WARN:#}: tests fail; fix and run them before anything else"
        ),
        Some(Corridor::Constitution) => anstream::println!(
            "{WARN}CONST_CORRIDOR{WARN:#}: the constitutional validation is not completed"
        ),
        None => {}
    }
    let waiting = standing.escalations().len();
    if waiting > 0 {
        anstream::println!("{ERROR}BLOCKER{ERROR:#}: {waiting} escalation(s) wait for a person");
        anstream::println!(
            "  [Retry] tollgate phase begin --retry  [Skip] tollgate phase skip --reason …  [Cancel] tollgate workflow cancel --reason …"
        );
    }
    if document.get(&["state_version"]).is_none() {
        warn("the state has no version yet; the next step gives it one");
    }
    anstream::println!("  next: {BOLD}{}{BOLD:#}", outlook.position.next);
    Ok(())
}
