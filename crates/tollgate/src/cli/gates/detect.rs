//! `tollgate detect`: what changed, and which gates `run` would run. Runs nothing.

use std::process::ExitCode;

use serde_json::json;

use super::{CommandResult, Project, ScopeArguments, failed};
use crate::gate::changes::LAST_PASS;
use crate::gate::config::Words;
use crate::gate::detect::{Detected, DetectedGate, detect};
use crate::plain::Plain;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    scope: ScopeArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let Project {
        layout,
        env,
        config,
    } = &Project::open(arguments.json)?;
    let scope = arguments.scope.scope(layout.root());
    let Detected {
        changed,
        since,
        gates,
    } = detect(layout, config, env, &scope)
        .map_err(|error| failed(&error, config.words, arguments.json))?;
    let would_run = gates.iter().filter(|gate| gate.would_run).count();
    if arguments.json {
        let gates: Vec<_> = gates.iter().map(to_json).collect();
        let (run, rest): (Vec<_>, Vec<_>) = gates
            .into_iter()
            .partition(|gate| gate.get("would_run") == Some(&json!(true)));
        anstream::println!(
            "{:#}",
            json!({ "changed_files": changed, "since": since, "gates": run, "not_run": rest })
        );
        return Ok(exit(would_run));
    }
    let after = if since == LAST_PASS {
        format!(" since {LAST_PASS}")
    } else {
        String::new()
    };
    if changed.is_empty() {
        out!("No changes detected{after}.");
    } else {
        out!("Changed files{after} ({}):", changed.len());
        // One write: there may be thousands.
        let list: Vec<String> = changed
            .iter()
            .map(|path| format!("  - {}", Plain(path)))
            .collect();
        out!("{}", list.join("\n"));
    }
    let (run, rest): (Vec<_>, Vec<_>) = gates.iter().partition(|gate| gate.would_run);
    if would_run > 0 {
        out!("\nWould run {would_run} gate(s):");
    } else if !changed.is_empty() {
        out!("\nNo applicable gates for these changes.");
    }
    let mut shown = None;
    for gate in run {
        if config.words == Words::Specification && shown != Some(&gate.entry_point) {
            out!("Entry point: {}", Plain(&gate.entry_point));
            shown = Some(&gate.entry_point);
        }
        print(gate);
    }
    if !rest.is_empty() {
        out!("\nWould not run:");
        rest.into_iter().for_each(print);
    }
    Ok(exit(would_run))
}

fn print(gate: &DetectedGate) {
    let why = gate.verification.to_string();
    out!("  {} {}  {}", gate.kind, Plain(&gate.name), Plain(&why));
}

fn to_json(gate: &DetectedGate) -> serde_json::Value {
    json!({
        "id": gate.id, "kind": gate.kind, "name": gate.name, "entry_point": gate.entry_point,
        "would_run": gate.would_run, "verification": gate.verification.as_str(),
        "why": gate.verification.to_string(),
    })
}

/// 2 if there is nothing to run, as the original has it.
fn exit(would_run: usize) -> ExitCode {
    ExitCode::from(if would_run == 0 { 2 } else { 0 })
}
