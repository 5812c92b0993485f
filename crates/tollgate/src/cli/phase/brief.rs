//! `tollgate phase brief`: the delegation prompt on standard output, warnings on standard error.

use std::process::ExitCode;

use serde_json::json;

use tollgate_core::workflow::brief::{self, Artifacts};

use crate::cli::Answer;
use crate::cli::plain::PlainLines;
use crate::cli::site::{self, Site, warn};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Answer {
    let site = Site::here()?;
    let document = site.document()?;
    let root = site.layout.root().to_owned();
    let artifacts = Artifacts {
        base: &site.docs,
        exists: &|path| root.join(path).is_file(),
    };
    let brief = site.with_rules(|rules| brief::write(&document, rules, &artifacts, site.now))?;
    let brief = match brief {
        Ok(brief) => brief,
        Err(refusal) => return site::refuse(refusal),
    };
    if arguments.json {
        let value = json!({ "phase": brief.phase, "agent": brief.agent, "prompt": brief.text, "warnings": brief.warnings });
        anstream::println!("{value:#}");
    } else {
        anstream::print!("{}", PlainLines(&brief.text));
    }
    for warning in &brief.warnings {
        warn(warning);
    }
    Ok(ExitCode::SUCCESS)
}
