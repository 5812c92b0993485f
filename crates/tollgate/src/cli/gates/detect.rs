//! `tollgate detect`: what changed, and which gates `run` would run. Runs nothing.

use std::process::ExitCode;

use serde_json::json;

use super::{Project, ScopeArguments, fail};
use crate::gate::config::Words;
use crate::gate::detect::{Detected, detect};
use crate::gate::jobs::{self, Site, Which};
use crate::plain::Plain;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    scope: ScopeArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let Project {
        layout,
        env,
        config,
    } = &match Project::open(arguments.json) {
        Ok(project) => project,
        Err(code) => return code,
    };
    let scope = arguments.scope.scope();
    let Detected {
        changed,
        since_pass,
        failed,
        is_passed,
    } = match detect(layout, config, env, &scope) {
        Ok(detected) => detected,
        Err(error) => return fail(&error, arguments.json),
    };
    let site = Site::of(env);
    let called_for = (changed.as_slice(), &failed);
    let jobs = jobs::wanted(config, called_for, is_passed, Which::All, site);
    if arguments.json {
        let gates: Vec<_> = jobs
            .iter()
            .map(|job| json!({ "id": job.id, "kind": job.kind(), "name": job.name, "entry_point": job.entry_point }))
            .collect();
        anstream::println!("{:#}", json!({ "changed_files": changed, "gates": gates }));
    } else {
        let since = if since_pass {
            " since the last run that passed"
        } else {
            ""
        };
        if changed.is_empty() {
            anstream::println!("No changes detected{since}.");
        } else {
            anstream::println!("Changed files{since} ({}):", changed.len());
            // One write: there may be thousands.
            let list: Vec<String> = changed
                .iter()
                .map(|path| format!("  - {}", Plain(path)))
                .collect();
            anstream::println!("{}", list.join("\n"));
        }
        if !jobs.is_empty() {
            anstream::println!("\nWould run {} gate(s):", jobs.len());
        } else if !changed.is_empty() {
            anstream::println!("\nNo applicable gates for these changes.");
        }
        let mut shown = None;
        for job in &jobs {
            if config.words == Words::Specification && shown != Some(&job.entry_point) {
                anstream::println!("Entry point: {}", Plain(&job.entry_point));
                shown = Some(&job.entry_point);
            }
            anstream::println!("  {} {}", job.kind(), Plain(job.name));
        }
    }
    if jobs.is_empty() {
        ExitCode::from(2)
    } else {
        ExitCode::SUCCESS
    }
}
