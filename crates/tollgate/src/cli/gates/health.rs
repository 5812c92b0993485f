//! `tollgate health`: the configuration, and whether the reviewers are installed.

use std::process::ExitCode;

use serde_json::json;

use super::super::plain::Plain;
use super::{JsonArguments, Project, words_of};
use crate::gate::config::{ConfigError, Problem, Words};
use crate::review::Reviewer;
use crate::review::cli::Health;

pub(super) fn run(arguments: &JsonArguments) -> ExitCode {
    let loaded = Project::load();
    let (problems, missing): (Vec<Problem>, Option<String>) = match &loaded {
        Ok(project) => (project.config.warnings.clone(), None),
        Err(ConfigError::Wrong(problems)) => (problems.clone(), None),
        Err(error @ ConfigError::Missing(_)) => (vec![], Some(error.to_string())),
    };
    let wanted = loaded
        .as_ref()
        .map(|project| project.config.reviewers.clone())
        .unwrap_or_default();
    let search = crate::environment::current().path.unwrap_or_default();
    let tools: Vec<_> = Reviewer::names()
        .filter(|name| wanted.is_empty() || wanted.iter().any(|tool| tool == name))
        .filter_map(|name| Some((name, Reviewer::named(name, None)?)))
        .map(|(name, reviewer)| (name, matches!(reviewer.health(&search), Health::Ready(_))))
        .collect();
    if arguments.json {
        let reviewers: serde_json::Map<_, _> = tools
            .iter()
            .map(|(name, installed)| ((*name).to_owned(), json!({ "installed": installed })))
            .collect();
        let problems: Vec<_> = problems.iter().map(Problem::to_json).collect();
        anstream::println!(
            "{:#}",
            json!({
                "valid": loaded.is_ok(), "error": missing, "problems": problems,
                "reviewers": reviewers,
            })
        );
        return ExitCode::SUCCESS;
    }
    let is_own = match &loaded {
        Ok(project) => project.config.words == Words::Own,
        Err(error) => words_of(error) == Words::Own,
    };
    out!(
        "{}",
        if is_own {
            "Configuration:"
        } else {
            "Config validation:"
        }
    );
    for problem in &problems {
        out!("  {}", Plain(&problem.to_string()));
    }
    match (&missing, loaded.is_ok()) {
        (Some(error), _) => {
            out!("  {}", Plain(error));
            if let Some(next) = loaded.as_ref().err().and_then(ConfigError::next) {
                out!("  {next}");
            }
        }
        (None, true) => out!("  All config files are valid."),
        (None, false) => {}
    }
    let title = if is_own {
        "Reviewers:"
    } else {
        "CLI Tool Health Check:"
    };
    out!("\n{title}");
    for (name, installed) in tools {
        let state = if installed { "Installed" } else { "Missing" };
        out!("  {name:<15}: {state}");
    }
    if is_own {
        out!("\n`tollgate doctor` checks the whole setup.");
    }
    ExitCode::SUCCESS
}
