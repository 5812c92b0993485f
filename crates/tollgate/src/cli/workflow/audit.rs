//! `tollgate workflow audit`: every rule of the handshake, held against the state and the
//! journal. Exit 0 clean, 1 findings, 2 could not read.

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value, json};

use tollgate_core::workflow::audit::{self, Evidence, Finding, Repaired};
use tollgate_store::document::Document;
use tollgate_store::fs::Durability;
use tollgate_store::journal::{Entry, Verdict};
use tollgate_store::store::Written;

use crate::cli::plain::Plain;
use crate::cli::workflow_context::{WorkflowContext, in_the_way, not_updated};
use crate::cli::{BOLD, CommandResult, DIM, ERROR, GOOD, Trouble, read_text};
use crate::journal;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// A state file to check [default: the project's, with its journal]
    #[arg(conflicts_with = "repair")]
    state: Option<PathBuf>,
    /// A journal to compare it with
    #[arg(long, value_name = "FILE", conflicts_with = "repair")]
    journal: Option<PathBuf>,
    /// Repair what can be repaired; nothing is deleted (see `set_aside` in the state)
    #[arg(long)]
    repair: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let context = WorkflowContext::here()?;
    let journal = match (&arguments.journal, &arguments.state) {
        (Some(path), _) => {
            let text = read_text(path)?;
            text.lines()
                .filter_map(|line| serde_json::from_str(line).ok())
                .collect()
        }
        (None, Some(_)) => Vec::new(),
        (None, None) => own_lines(&context),
    };
    if arguments.repair {
        let Repaired { findings, left } = repaired(&context, &journal)?;
        print(&findings, &left, arguments.json);
        return Ok(ExitCode::from(u8::from(!left.is_empty())));
    }
    let document = match &arguments.state {
        None => context.document()?,
        Some(path) => {
            let text = read_text(path)?;
            Document::parse(text.as_bytes()).map_err(|flaw| {
                Trouble::new(format!("{}: {flaw}", path.display()))
                    .hint("a state is one JSON object")
            })?
        }
    };
    let findings = findings(&context, &document, &journal)?;
    print(&[], &findings, arguments.json);
    Ok(ExitCode::from(u8::from(!findings.is_empty())))
}

/// What is wrong with a project's state, held against its journal.
pub(in crate::cli) fn look(context: &WorkflowContext) -> Result<Vec<Finding>, Trouble> {
    findings(context, &context.document()?, &own_lines(context))
}

fn findings(
    context: &WorkflowContext,
    document: &Document,
    journal: &[Value],
) -> Result<Vec<Finding>, Trouble> {
    context.with_rules(|rules| {
        audit::audit(&Evidence {
            document,
            rules,
            journal,
            now: context.now,
        })
    })
}

/// Repairs what can be repaired of a project's state; how many findings that were.
pub(in crate::cli) fn repair(context: &WorkflowContext) -> Result<usize, Trouble> {
    repaired(context, &own_lines(context)).map(|done| done.findings.len())
}

/// The journal's lines about this project's state.
pub(in crate::cli) fn own_lines(context: &WorkflowContext) -> Vec<Value> {
    let id = context.project_id();
    let lines = journal::lines(&context.layout.workflow_local());
    lines
        .filter(|line| line.get("project").and_then(Value::as_str) == id)
        .collect()
}

fn repaired(context: &WorkflowContext, journal: &[Value]) -> Result<Repaired, Trouble> {
    context.reconcile();
    let mut repaired = None;
    let updated = context.with_rules(|rules| {
        context.store().update(context.now, |document| {
            let done = audit::repair(document, rules, journal, context.now)
                .map_err(|fault| in_the_way(&fault))?;
            repaired = Some((
                done,
                document.u64(&["active_workflow", "current_phase_index"]),
            ));
            Ok(Durability::Synced)
        })
    })?;
    let updated = updated.map_err(not_updated)?;
    let Some((Repaired { findings, left }, index)) = repaired else {
        return Err(Trouble::new("the repair was lost"));
    };
    if updated.outcome == Written::Yes {
        let ids: Vec<&str> = findings.iter().map(|finding| finding.id).collect();
        let entry = Entry {
            event: Some("workflow audit --repair"),
            reason: Some(&format!("repaired {}", ids.join(", "))),
            index,
            ..Entry::new(context.now, Verdict::Change)
        };
        context.write_history(&updated, &entry);
    }
    Ok(Repaired { findings, left })
}

fn print(repaired: &[Finding], findings: &[Finding], json: bool) {
    if json {
        let row = |Finding {
                       id,
                       place,
                       what,
                       repair,
                   }: &Finding| {
            json!({ "id": id, "place": place, "what": what, "repair": repair.as_ref().map(|repair| &repair.what) })
        };
        let rows = |list: &[Finding]| list.iter().map(row).collect::<Vec<_>>();
        let value = json!({ "clean": findings.is_empty(), "findings": rows(findings), "repaired": rows(repaired) });
        anstream::println!("{value:#}");
        return;
    }
    for finding in repaired {
        show(finding, "repaired");
    }
    for finding in findings {
        show(finding, "repair");
    }
    let repairable = findings
        .iter()
        .filter(|finding| finding.repair.is_some())
        .count();
    match (findings.len(), repaired.len()) {
        (0, 0) => out!("{GOOD}clean{GOOD:#}: every rule of the workflow holds"),
        (0, n) => out!("{GOOD}clean{GOOD:#}: {n} repaired"),
        (n, _) if repairable > 0 => out!(
            "{n} finding(s); `{BOLD}tollgate workflow audit --repair{BOLD:#}` repairs {repairable} of them"
        ),
        (n, _) => out!("{n} finding(s) that only a person can repair"),
    }
}

fn show(finding: &Finding, word: &str) {
    let Finding {
        id,
        place,
        what,
        repair,
    } = finding;
    let (place, what) = (Plain(place), Plain(what));
    out!("{ERROR}{id}{ERROR:#}  {BOLD}{place}{BOLD:#}\n  {what}");
    match repair {
        Some(repair) => out!("  {DIM}{word}: {}{DIM:#}", Plain(&repair.what)),
        None => out!("  {DIM}a person has to decide this{DIM:#}"),
    }
}
