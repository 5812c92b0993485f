//! `tollgate workflow definitions`: what can be started, and whether the project's own files
//! will work.

use std::process::ExitCode;

use serde_json::{Value, json};

use tollgate_core::workflow::definitions::{Definition, Need, Origin, Problem};
use tollgate_core::workflow::phases;

use crate::cli::workflow_context::WorkflowContext;
use crate::cli::{BOLD, CommandResult, DIM, ERROR, JsonArguments, WARN};

pub(super) fn run(arguments: &JsonArguments) -> CommandResult {
    let context = WorkflowContext::here()?;
    let problems = context.definitions.problems();
    if arguments.json {
        let rows: Vec<Value> = context.definitions.iter().map(row).collect();
        let problems: Vec<Value> = problems
            .iter()
            .map(|Problem { place, what, fatal }| json!({ "place": place, "what": what, "fatal": fatal }))
            .collect();
        anstream::println!("{:#}", json!({ "workflows": rows, "problems": problems }));
    } else {
        for definition in context.definitions.iter() {
            print(definition, &context);
        }
        for Problem { place, what, fatal } in problems {
            if *fatal {
                out!("{ERROR}error{ERROR:#}: {place}: {what}");
            } else {
                out!("{WARN}warning{WARN:#}: {place}: {what}");
            }
        }
    }
    let broken = problems.iter().any(|problem| problem.fatal);
    Ok(ExitCode::from(u8::from(broken)))
}

fn print(definition: &Definition, context: &WorkflowContext) {
    let is_original = context.layout.is_isdlc();
    let origin = match definition.origin {
        Origin::BuiltIn => "built in",
        Origin::Project if is_original => "workflows.json",
        Origin::Project => "the project's",
    };
    let branch = if definition.requires_branch {
        format!("branch {}/…", definition.branch_prefix)
    } else {
        "no branch".to_owned()
    };
    out!(
        "{BOLD}{}{BOLD:#}  {}  {DIM}{origin}, {branch}, {}{DIM:#}",
        definition.name,
        definition.label,
        definition.gate_mode.as_str()
    );
    if !is_original {
        return print_phases(definition);
    }
    for key in &definition.phases {
        let asked = context.requirements.of(&definition.name, key).lines();
        let asked: Vec<&str> = asked
            .iter()
            .map(|line| line.split(':').next().unwrap_or_default())
            .collect();
        let agent = phases::agent(key).unwrap_or("-");
        out!("  {key:<26} {agent:<30} {DIM}{}{DIM:#}", asked.join(", "));
    }
}

/// The phases of one of our own workflows: what each may write, and what it needs.
fn print_phases(definition: &Definition) {
    let width = definition.phases.iter().map(String::len).max().unwrap_or(0);
    for key in &definition.phases {
        let needs = definition.needs(key);
        let needs = needs.iter().map(|need| match need {
            Need::Gates => "verified gates",
            Need::Artifacts => "the documents of its brief",
            Need::File(path) => path,
        });
        let lists = [
            ("writes", definition.writes(key)),
            ("needs", needs.collect()),
        ];
        let lists = lists.iter().filter(|(_, list)| !list.is_empty());
        let said = lists.map(|(name, list)| format!("{name} {}", list.join(", ")));
        let said: Vec<String> = said.collect();
        out!("  {key:<width$}  {DIM}{}{DIM:#}", said.join("; "));
    }
}

fn row(definition: &Definition) -> Value {
    let origin = match definition.origin {
        Origin::BuiltIn => "built-in",
        Origin::Project => "project",
    };
    json!({
        "name": definition.name, "label": definition.label, "phases": definition.phases, "origin": origin,
        "gate_mode": definition.gate_mode.as_str(), "requires_branch": definition.requires_branch,
        "light_skip_phases": definition.light_skips, "artifact_prefix": definition.prefix,
    })
}
