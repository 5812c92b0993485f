//! `tollgate phase brief`: the delegation prompt on standard output, warnings on standard error.

use std::process::ExitCode;

use serde_json::json;

use tollgate_core::workflow::brief::{self, Artifacts};

use crate::cli::plain::PlainLines;
use crate::cli::workflow_context::{WorkflowContext, warn};
use crate::cli::{CommandResult, JsonArguments};

pub(super) fn run(arguments: &JsonArguments) -> CommandResult {
    let context = WorkflowContext::here()?;
    let document = context.document()?;
    let root = context.layout.root().to_owned();
    let artifacts = Artifacts {
        base: &context.docs,
        exists: &|path| root.join(path).is_file(),
    };
    let brief =
        context.with_rules(|rules| brief::write(&document, rules, &artifacts, context.now))??;
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
