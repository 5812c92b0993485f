//! `tollgate workflow definitions`: what can be started, and whether the project's own files
//! will work.

use std::process::ExitCode;

use serde_json::{Value, json};

use tollgate_core::workflow::definitions::{Definition, Origin, Problem};
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
                anstream::println!("{ERROR}error{ERROR:#}: {place}: {what}");
            } else {
                anstream::println!("{WARN}warning{WARN:#}: {place}: {what}");
            }
        }
    }
    let broken = problems.iter().any(|problem| problem.fatal);
    Ok(ExitCode::from(u8::from(broken)))
}

fn print(definition: &Definition, context: &WorkflowContext) {
    let origin = match definition.origin {
        Origin::BuiltIn => "built in",
        Origin::Project => "workflows.json",
    };
    let branch = if definition.requires_branch {
        format!("branch {}/…", definition.branch_prefix)
    } else {
        "no branch".to_owned()
    };
    anstream::println!(
        "{BOLD}{}{BOLD:#}  {}  {DIM}{origin}, {branch}, {} gates{DIM:#}",
        definition.name,
        definition.label,
        definition.gate_mode.as_str()
    );
    for key in &definition.phases {
        let asked = context.requirements.of(&definition.name, key).lines();
        let asked: Vec<&str> = asked
            .iter()
            .map(|line| line.split(':').next().unwrap_or_default())
            .collect();
        let agent = phases::agent(key).unwrap_or("-");
        anstream::println!("  {key:<26} {agent:<30} {DIM}{}{DIM:#}", asked.join(", "));
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
