//! `tollgate workflow status`: where the workflow stands, what is wrong, and the next command.

use std::process::ExitCode;

use serde_json::{Value, json};

use tollgate_core::state::document::Document;
use tollgate_core::state::view::State;
use tollgate_core::workflow::evidence::Corridor;
use tollgate_core::workflow::standing::{Doing, Place, Standing, odd, running};

use crate::cli::plain::Plain;
use crate::cli::site::{Site, warn};
use crate::cli::{Answer, BOLD, DIM, ERROR, GOOD, Trouble, WARN};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What the person should do about it.
pub(in crate::cli) struct Outlook<'a> {
    pub(in crate::cli) doing: &'static str,
    pub(in crate::cli) place: Place<'a>,
    pub(in crate::cli) next: &'static str,
    /// For how many minutes a phase has been running, and after how many it is stale.
    pub(in crate::cli) stale: Option<(u64, u64)>,
    corridor: Option<Corridor>,
}

pub(super) fn run(arguments: &Arguments) -> Answer {
    let site = Site::here()?;
    let document = site.document()?;
    if running(&document).is_none() && odd(&document).is_none() {
        return Ok(idle(arguments, &document));
    }
    let standing =
        Standing::of(&document).map_err(|refusal| Trouble::new(refusal.what).hint(refusal.next))?;
    let outlook = outlook(&site, &document, &standing);
    if arguments.json {
        anstream::println!(
            "{:#}",
            as_json(&site, &document, &standing, outlook.as_ref().ok())?
        );
    } else {
        print(&site, &document, &standing, outlook.as_ref().ok())?;
    }
    match outlook {
        Ok(_) => Ok(ExitCode::SUCCESS),
        Err(trouble) => Err(trouble),
    }
}

fn idle(arguments: &Arguments, document: &Document) -> ExitCode {
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

pub(in crate::cli) fn outlook<'a>(
    site: &Site,
    document: &Document,
    standing: &Standing<'a>,
) -> Result<Outlook<'a>, Trouble> {
    let doing = standing
        .doing()
        .map_err(|refusal| Trouble::new(refusal.what).hint(refusal.next))?;
    let open = standing.review().is_some();
    let review = "tollgate phase review";
    let (word, place, next) = match doing {
        Doing::Waiting(place) => ("waiting", place, "tollgate phase begin"),
        Doing::Running(place) => ("running", place, "tollgate phase complete --summary \"…\""),
        Doing::Redoing(place) => ("redoing", place, "tollgate phase complete --summary \"…\""),
        Doing::Between { done, .. } if open => ("under_review", done, review),
        Doing::Between { next, .. } => ("between", next, "tollgate phase begin"),
        Doing::Finished(done) if open => ("under_review", done, review),
        Doing::Finished(done) => ("finished", done, "tollgate workflow finalize"),
    };
    let requirements = site.requirements.of(standing.workflow, place.key);
    let text = document.to_text();
    let entry = State::parse(&text)
        .ok()
        .and_then(|state| state.phase(place.key));
    let active = matches!(doing, Doing::Running(_) | Doing::Redoing(_));
    let age = standing.age(place, requirements.timeout_minutes(), site.now);
    Ok(Outlook {
        doing: word,
        place,
        next,
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
    site: &Site,
    document: &Document,
    standing: &Standing<'_>,
    outlook: Option<&Outlook<'_>>,
) -> Result<Value, Trouble> {
    let field = |key: &str| {
        document
            .get(&["active_workflow", key])
            .cloned()
            .unwrap_or(Value::Null)
    };
    let phases: Vec<Value> = site.with_rules(|rules| {
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
        "state_version": document.u64(&["state_version"]), "state_file": site.state_file(),
        "current_phase": standing.current().map(|place| place.key), "current_phase_index": standing.index(), "phases": phases,
        "doing": outlook.map(|one| one.doing), "phase": outlook.map(|one| one.place.key), "next": outlook.map(|one| one.next),
        "stale": outlook.is_some_and(|one| one.stale.is_some()), "corridor": outlook.and_then(|one| one.corridor).map(corridor_name),
        "review": field("supervised_review"), "pending_escalations": standing.escalations(),
        "budget_status": field("budget_status"), "git_branch": field("git_branch"),
    }))
}

fn print(
    site: &Site,
    document: &Document,
    standing: &Standing<'_>,
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
    site.with_rules(|rules| {
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
            Plain(outlook.place.key)
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
    anstream::println!("  next: {BOLD}{}{BOLD:#}", outlook.next);
    Ok(())
}
