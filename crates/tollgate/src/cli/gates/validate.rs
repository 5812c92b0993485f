//! `tollgate validate`: are the configuration files right?

use std::process::ExitCode;

use serde_json::json;

use super::super::plain::Plain;
use super::super::{Answer, Trouble};
use super::{Project, hint, tell};
use crate::gate::config::{ConfigError, Problem, Weight};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Accept the gates as they are now, also where a running session changed them (asks for a
    /// person at a terminal)
    #[arg(long)]
    accept: bool,
}

pub(super) fn run(arguments: &Arguments) -> Answer {
    let loaded = Project::load();
    let problems = match &loaded {
        Ok(project) => project.config.warnings.clone(),
        Err(ConfigError::Wrong(problems)) => problems.clone(),
        Err(error @ ConfigError::Missing(_)) => return Ok(missing(error, arguments.json)),
    };
    if arguments.json {
        let list: Vec<_> = problems.iter().map(Problem::to_json).collect();
        anstream::println!("{:#}", json!({ "valid": loaded.is_ok(), "problems": list }));
    } else {
        problems.iter().for_each(tell);
    }
    let Ok(project) = loaded else {
        let errors = problems
            .iter()
            .filter(|problem| problem.weight == Weight::Error);
        anstream::eprintln!("Validation failed: {} error(s)", errors.count());
        return Ok(ExitCode::FAILURE);
    };
    if arguments.accept {
        accept(&project)?;
    }
    if !arguments.json {
        anstream::println!("All config files are valid.");
    }
    Ok(ExitCode::SUCCESS)
}

/// An agent has no terminal, so it cannot accept what it did itself.
fn accept(project: &Project) -> Result<(), Trouble> {
    let _person = super::super::trust::a_person("validate --accept")?;
    crate::stop::gates::accept(&project.layout, &project.config)
        .map_err(|error| Trouble::about(&project.layout.local(), &error))
}

fn missing(error: &ConfigError, as_json: bool) -> ExitCode {
    if as_json {
        let error = error.to_string();
        anstream::println!(
            "{:#}",
            json!({ "valid": false, "problems": [{ "message": error }] })
        );
    }
    anstream::eprintln!("Validation failed: {}", Plain(&error.to_string()));
    hint(error);
    ExitCode::FAILURE
}
