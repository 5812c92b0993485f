//! `tollgate list`: the gates and what they guard.

use std::process::ExitCode;

use serde_json::json;

use super::{CommandResult, JsonArguments, Project};
use crate::gate::config::{Config, Review, Words};
use crate::plain::Plain;

pub(super) fn run(arguments: &JsonArguments) -> CommandResult {
    let Project { config, .. } = &Project::open(arguments.json)?;
    if arguments.json {
        let entries: Vec<_> = config
            .entry_points
            .iter()
            .map(|entry| {
                json!({
                    "path": entry.path, "exclude": entry.exclude, "inputs": entry.inputs,
                    "checks": entry.checks, "reviews": entry.reviews,
                })
            })
            .collect();
        let checks: Vec<_> = config
            .checks
            .iter()
            .map(|(name, check)| json!({ "name": name, "command": check.command }))
            .collect();
        let reviews: Vec<_> = config
            .reviews
            .iter()
            .map(|(name, review)| json!({ "name": name, "tools": tools(config, review) }))
            .collect();
        let all = json!({ "checks": checks, "reviews": reviews, "entry_points": entries });
        anstream::println!("{all:#}");
        return Ok(ExitCode::SUCCESS);
    }
    if config.words == Words::Own {
        print(config);
        return Ok(ExitCode::SUCCESS);
    }
    out!("Check Gates:");
    for name in config.checks.keys() {
        out!(" - {}", Plain(name));
    }
    out!("\nReview Gates:");
    for (name, review) in &config.reviews {
        let tools = tools(config, review).join(", ");
        out!(" - {} (Tools: {})", Plain(name), Plain(&tools));
    }
    out!("\nEntry Points:");
    for entry in &config.entry_points {
        out!(" - {}", Plain(&entry.path));
        for (label, names) in [("Checks", &entry.checks), ("Reviews", &entry.reviews)] {
            if !names.is_empty() {
                out!("   {label}: {}", Plain(&names.join(", ")));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A line for each gate, as `detect` has it.
fn print(config: &Config) {
    for (name, check) in &config.checks {
        let dir = check.working_directory.as_deref();
        let place = dir.map_or(String::new(), |dir| format!("  (in {dir})"));
        let text = format!("check {name}  {}{place}", check.command.trim());
        out!("{}", Plain(&text));
    }
    for (name, review) in &config.reviews {
        let text = format!("review {name}  {}", tools(config, review).join(", "));
        out!("{}", Plain(&text));
    }
    if !config.has_gates() {
        out!("There are no gates. `tollgate init` proposes some.");
    }
}

/// Who makes a review.
fn tools<'c>(config: &'c Config, review: &'c Review) -> &'c [String] {
    if review.cli_preference.is_empty() {
        &config.reviewers
    } else {
        &review.cli_preference
    }
}
