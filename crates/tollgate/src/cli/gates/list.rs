//! `tollgate list`: the gates and what they guard.

use std::process::ExitCode;

use serde_json::json;

use super::{JsonArguments, Project};
use crate::gate::config::Words;
use crate::plain::Plain;

pub(super) fn run(arguments: &JsonArguments) -> ExitCode {
    let Project { config, .. } = &match Project::open(arguments.json) {
        Ok(project) => project,
        Err(code) => return code,
    };
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
        return ExitCode::SUCCESS;
    }
    anstream::println!("Check Gates:");
    for (name, check) in &config.checks {
        match config.words {
            Words::Specification => anstream::println!(" - {}", Plain(name)),
            Words::Own => {
                let dir = check.working_directory.as_deref();
                let place = dir.map_or(String::new(), |dir| format!("  (in {dir})"));
                let text = format!("{name}  {}{place}", check.command.trim());
                anstream::println!(" - {}", Plain(&text));
            }
        }
    }
    anstream::println!("\nReview Gates:");
    for (name, review) in &config.reviews {
        let tools = tools(config, review).join(", ");
        anstream::println!(" - {} (Tools: {})", Plain(name), Plain(&tools));
    }
    if config.words == Words::Own {
        return ExitCode::SUCCESS;
    }
    anstream::println!("\nEntry Points:");
    for entry in &config.entry_points {
        anstream::println!(" - {}", Plain(&entry.path));
        for (label, names) in [("Checks", &entry.checks), ("Reviews", &entry.reviews)] {
            if !names.is_empty() {
                anstream::println!("   {label}: {}", Plain(&names.join(", ")));
            }
        }
    }
    ExitCode::SUCCESS
}

/// Who makes a review.
fn tools<'c>(
    config: &'c crate::gate::config::Config,
    review: &'c crate::gate::config::Review,
) -> &'c [String] {
    if review.cli_preference.is_empty() {
        &config.reviewers
    } else {
        &review.cli_preference
    }
}
