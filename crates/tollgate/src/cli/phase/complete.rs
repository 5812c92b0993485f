//! `tollgate phase complete`: the gate, the state in one step, then what follows from it
//! (`tasks.md`, the summary for a reviewer), of which a failure is only a warning.

use tollgate_core::context::MAX_FILE;
use tollgate_core::env::Env;
use tollgate_core::workflow::definitions::Intensity;
use tollgate_core::workflow::position::{Doing, WorkflowPosition};
use tollgate_core::workflow::transition::{Completion, Gates, Report, Step};
use tollgate_core::workflow::{brief, tasks};
use tollgate_store::fs::{self, Durability};

use crate::cli::workflow_context::{Made, WorkflowContext, warn};
use crate::cli::{CommandResult, Trouble};
use crate::gate::config::{Config, ConfigError};
use crate::gate::evidence::Verification;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// The phase; refused if it is not the current one [default: the current one]
    phase: Option<String>,
    /// What was done, in a sentence (150 characters are kept)
    #[arg(long)]
    summary: String,
    /// The size of the remaining work; light work skips phases
    #[arg(long, value_enum)]
    size: Option<Size>,
    /// Rounds of debate that the agent reported
    #[arg(long, default_value_t = 0)]
    debate_rounds: u64,
    /// Parallel parts that the agent reported
    #[arg(long, default_value_t = 0)]
    fan_out: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Size {
    Light,
    Standard,
    Epic,
    /// From the figures at the end of impact-analysis.md
    Auto,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let context = WorkflowContext::here()?;
    let env = crate::environment::current();
    let size = match arguments.size {
        None => None,
        Some(Size::Light) => Some(Intensity::Light),
        Some(Size::Standard) => Some(Intensity::Standard),
        Some(Size::Epic) => Some(Intensity::Epic),
        Some(Size::Auto) => Some(measure(&context)?),
    };
    let made = context.make(&Step::Complete(Completion {
        phase: arguments.phase.as_deref(),
        summary: &arguments.summary,
        report: Report {
            debate_rounds: arguments.debate_rounds,
            fan_out_chunks: arguments.fan_out,
        },
        size,
        exists: &|path| context.has_artifact(path),
        gates: &|| match Verification::of(&context.layout, &env).reason() {
            None => Gates::Verified,
            Some(_) if !has_gates(&context, &env) => Gates::NoneConfigured,
            Some(why) => Gates::NotVerified(why),
        },
        since: &|tree| (crate::changes::WORK.since)(&context.layout, tree).ok(),
    }))?;
    // Before `tasks.md` changes, which may be an input of a gate.
    let gates = Verification::of(&context.layout, &env);
    tick(&context, &made);
    summarize(&context, &made);
    let next = match WorkflowPosition::of(&made.document)
        .and_then(|position| Ok((position.review().is_some(), position.doing()?)))
    {
        Ok((true, _)) => "tollgate phase review",
        Ok((false, Doing::Finished(_))) => "tollgate workflow finalize",
        Ok((false, _)) | Err(_) => "tollgate phase begin",
    };
    Ok(made.report(arguments.json, Some(next), Some(&gates)))
}

/// Whether the project has gates, as far as their configuration can be read.
fn has_gates(context: &WorkflowContext, env: &Env) -> bool {
    match Config::load(&context.layout, env) {
        Ok(config) => config.has_gates(),
        Err(ConfigError::Missing(_)) => false,
        Err(ConfigError::Wrong(_)) => true,
    }
}

/// The size that the impact analysis found.
fn measure(context: &WorkflowContext) -> Result<Intensity, Trouble> {
    let document = context.document()?;
    let folder = document
        .str(&["active_workflow", "artifact_folder"])
        .unwrap_or_default();
    let path = context
        .layout
        .root()
        .join(&context.docs)
        .join("requirements")
        .join(folder)
        .join("impact-analysis.md");
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Trouble::about(&path, &error).hint("give the size: `--size light`, `standard` or `epic`")
    })?;
    let (files, risky) = brief::measured(&text).ok_or_else(|| {
        Trouble::new(format!(
            "{}: no block of JSON with files_directly_affected at its end",
            path.display()
        ))
        .hint("give the size: `--size light`, `standard` or `epic`")
    })?;
    let kind = document
        .str(&["active_workflow", "type"])
        .unwrap_or("feature");
    let definition = context
        .definitions
        .get(kind)
        .ok_or_else(|| Trouble::new(format!("there is no workflow '{kind}'")))?;
    Ok(definition.size(files, risky))
}

/// Ticks the phase's tasks.
fn tick(context: &WorkflowContext, made: &Made) {
    let path = context
        .layout
        .document(context.project.as_ref(), "tasks.md");
    let Ok(Some(contents)) = fs::read_regular(&path, MAX_FILE) else {
        return;
    };
    let Ok(text) = String::from_utf8(contents.bytes) else {
        // What cannot be read whole cannot be written back whole.
        return warn(&format!(
            "{}: it is not UTF-8, so nothing in it is ticked",
            path.display()
        ));
    };
    let phase = made.change.phase.as_deref().unwrap_or_default();
    let Some(ticked) = tasks::tick(&text, phase) else {
        return;
    };
    if let Err(fault) = fs::replace(&path, ticked.as_bytes(), Durability::Lazy) {
        warn(&format!("{}: {fault}", path.display()));
    }
}

/// A page for the person who reviews.
fn summarize(context: &WorkflowContext, made: &Made) {
    let phase = made.change.phase.as_deref().unwrap_or_default();
    if made
        .document
        .object(&["active_workflow", "supervised_review"])
        .is_none()
    {
        return;
    }
    let field = |key: &str| {
        made.document
            .str(&["phases", phase, key])
            .unwrap_or("-")
            .to_owned()
    };
    let text = format!(
        "# Phase {phase}\n\n- Summary: {}\n- Started: {}\n- Completed: {}\n- Artifacts: {}/\n",
        field("summary"),
        field("started"),
        field("completed"),
        made.document
            .str(&["active_workflow", "artifact_folder"])
            .unwrap_or("-"),
    );
    let directory = context.state_file().with_file_name("reviews");
    let path = directory.join(format!("phase-{phase}-summary.md"));
    let written = std::fs::create_dir_all(&directory).map_err(|error| error.to_string());
    let written = written.and_then(|()| {
        fs::replace(&path, text.as_bytes(), Durability::Lazy).map_err(|fault| fault.to_string())
    });
    if let Err(error) = written {
        warn(&format!("{}: {error}", path.display()));
    }
}
