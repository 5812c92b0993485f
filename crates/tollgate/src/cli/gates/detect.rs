//! `tollgate detect`: what changed, and which gates would run. Writes nothing.

use std::process::ExitCode;

use serde_json::json;

use super::{Project, ScopeArguments, fail};
use crate::gate::jobs::{self, Site, Which};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    scope: ScopeArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let Project { env, config, .. } = &match Project::open(arguments.json) {
        Ok(project) => project,
        Err(code) => return code,
    };
    let changed = match crate::gate::detect(config, env, &arguments.scope.scope()) {
        Ok(changed) => changed,
        Err(error) => return fail(&error, arguments.json),
    };
    let jobs = jobs::plan(config, &changed, Which::All, Site::of(env));
    if arguments.json {
        let gates: Vec<_> = jobs
            .iter()
            .map(|job| json!({ "id": job.id, "kind": job.kind(), "name": job.name, "entry_point": job.entry_point }))
            .collect();
        anstream::println!("{:#}", json!({ "changed_files": changed, "gates": gates }));
    } else if changed.is_empty() {
        anstream::println!("No changes detected.");
    } else {
        anstream::println!("Changed files ({}):", changed.len());
        anstream::println!("  - {}", changed.join("\n  - "));
        if jobs.is_empty() {
            anstream::println!("\nNo applicable gates for these changes.");
        } else {
            anstream::println!("\nWould run {} gate(s):", jobs.len());
        }
        let mut shown = None;
        for job in &jobs {
            if shown != Some(&job.entry_point) {
                anstream::println!("Entry point: {}", job.entry_point);
                shown = Some(&job.entry_point);
            }
            anstream::println!("  {} {}", job.kind(), job.name);
        }
    }
    if jobs.is_empty() {
        ExitCode::from(2)
    } else {
        ExitCode::SUCCESS
    }
}
