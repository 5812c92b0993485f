//! `tollgate validate`: are the configuration files right?

use std::process::ExitCode;

use jiff::Timestamp;
use serde_json::json;

use super::super::plain::Plain;
use super::super::{CommandResult, HINT, Trouble};
use super::{Project, report};
use crate::config::Merged;
use crate::gate::accepted;
use crate::gate::config::{ConfigError, Problem, Weight};
use crate::gate::record::GateRecord;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Accept the gates and rules as they are now, and gates that are flaky (asks for a person at a
    /// terminal)
    #[arg(long)]
    accept: bool,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let loaded = Project::load();
    let problems = match &loaded {
        Ok(project) => {
            let mut all = project.config.warnings.clone();
            all.extend(doubts(project));
            all
        }
        Err(ConfigError::Wrong(problems)) => problems.clone(),
        Err(error @ ConfigError::Missing(_)) => return Ok(missing(error, arguments.json)),
    };
    if arguments.json {
        let list: Vec<_> = problems.iter().map(Problem::to_json).collect();
        anstream::println!("{:#}", json!({ "valid": loaded.is_ok(), "problems": list }));
    } else {
        problems.iter().for_each(report);
    }
    let Ok(project) = loaded else {
        let errors = problems
            .iter()
            .filter(|problem| problem.weight == Weight::Error);
        err!("Validation failed: {} error(s)", errors.count());
        return Ok(ExitCode::FAILURE);
    };
    if arguments.accept {
        accept(&project)?;
    }
    if !arguments.json {
        out!("All config files are valid.");
    }
    Ok(ExitCode::SUCCESS)
}

/// What is odd about rules.
fn doubts(project: &Project) -> Vec<Problem> {
    let mut merged = Merged::read(&project.layout, &project.env);
    let known = merged.problems.len();
    merged.doubt_rules(&Timestamp::now().strftime("%Y-%m-%d").to_string());
    merged.problems.split_off(known)
}

/// An agent has no terminal, so it cannot accept what it did itself.
fn accept(project: &Project) -> Result<(), Trouble> {
    let _person = super::super::trust::a_person("validate --accept")?;
    let Project {
        layout,
        env,
        config,
    } = project;
    accepted::accept(layout, env, config).map_err(Trouble::new)?;
    let rules = Merged::read(layout, env).rules;
    accepted::accept_rules(layout, env, &rules).map_err(Trouble::new)?;
    // What passed and failed on the same inputs counts by its last word from now on.
    let accept = |record: &mut GateRecord| record.accept_flaky();
    GateRecord::change(layout, config, env, accept)
        .map(drop)
        .map_err(|error| Trouble::about(&layout.local(), &error))
}

fn missing(error: &ConfigError, as_json: bool) -> ExitCode {
    if as_json {
        let error = error.to_string();
        anstream::println!(
            "{:#}",
            json!({ "valid": false, "problems": [{ "message": error }] })
        );
    }
    err!("Validation failed: {}", Plain(&error.to_string()));
    if let Some(next) = error.next() {
        err!("{HINT}hint{HINT:#}: {next}");
    }
    ExitCode::FAILURE
}
