//! `tollgate health`: the configuration, and whether the reviewers are installed.

use std::process::{Command, ExitCode, Stdio};

use serde_json::json;

use super::{JsonArguments, Project};
use crate::gate::config::{ConfigError, Problem};

/// Reviewers and their programs.
const PROGRAMS: [(&str, &str); 5] = [
    ("gemini", "gemini"),
    ("codex", "codex"),
    ("claude", "claude"),
    ("github-copilot", "copilot"),
    ("cursor", "agent"),
];

pub(super) fn run(arguments: &JsonArguments) -> ExitCode {
    let loaded = Project::load();
    let (problems, told): (Vec<Problem>, Option<String>) = match &loaded {
        Ok(project) => (project.config.warnings.clone(), None),
        Err(ConfigError::Wrong(problems)) => (problems.clone(), None),
        Err(error @ ConfigError::Missing(_)) => (vec![], Some(error.to_string())),
    };
    let wanted = loaded
        .as_ref()
        .map(|project| project.config.reviewers.clone())
        .unwrap_or_default();
    let tools = PROGRAMS
        .iter()
        .filter(|(name, _)| wanted.is_empty() || wanted.iter().any(|tool| tool == name));
    let tools: Vec<_> = tools
        .map(|(name, program)| (*name, is_installed(program)))
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
                "valid": loaded.is_ok(), "error": told, "problems": problems,
                "reviewers": reviewers,
            })
        );
        return ExitCode::SUCCESS;
    }
    anstream::println!("Config validation:");
    for problem in &problems {
        anstream::println!("  {problem}");
    }
    match (&told, loaded.is_ok()) {
        (Some(error), _) => anstream::println!("  {error}"),
        (None, true) => anstream::println!("  All config files are valid."),
        (None, false) => {}
    }
    anstream::println!("\nCLI Tool Health Check:");
    for (name, installed) in tools {
        let state = if installed { "Installed" } else { "Missing" };
        anstream::println!("  {name:<15}: {state}");
    }
    ExitCode::SUCCESS
}

/// Whether the shell finds a program.
pub(super) fn is_installed(program: &str) -> bool {
    Command::new("/bin/sh")
        .args(["-c", "command -v -- \"$1\"", "sh", program])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
