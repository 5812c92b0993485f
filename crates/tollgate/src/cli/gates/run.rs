//! `tollgate run`, `check` and `review`.

use std::process::ExitCode;

use serde_json::json;

use tollgate_core::protocol::agent_mark;

use super::progress::Progress;
use super::{Project, ScopeArguments, fail};
use crate::gate::Status;
use crate::gate::config::Words;
use crate::gate::jobs::Which;
use crate::gate::logs::Logs;
use crate::gate::result::GateResult;
use crate::gate::run::{self, Asker, Purpose, Request, RunResult};
use crate::plain::{PlainLines, WARN};
use crate::trust::Consent;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    scope: ScopeArguments,
    /// Run only the gate with this name
    #[arg(short, long, value_name = "NAME")]
    gate: Option<String>,
    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, which: Which) -> ExitCode {
    let consent = Consent::of_the_person();
    let project = match Project::open(arguments.json) {
        Ok(project) => project,
        Err(code) => return code,
    };
    let Project {
        layout,
        env,
        config,
    } = &project;
    if let Some(gate) = &arguments.gate
        && !config.checks.contains_key(gate)
        && !config.reviews.contains_key(gate)
    {
        let names = config.checks.keys().chain(config.reviews.keys());
        let near = crate::gate::config::nearest(gate, names.map(String::as_str));
        let near = near.map_or_else(
            || "; `tollgate list` shows those there are".to_owned(),
            |near| format!("; did you mean {near:?}?"),
        );
        return fail(&format!("there is no gate {gate:?}{near}"), arguments.json);
    }
    if let Err(error) = config.remember(layout) {
        // The run itself needs nothing of it.
        anstream::eprintln!("{WARN}warning{WARN:#}: tollgate.toml cannot be remembered: {error}");
    }
    let logs = Logs::of(config);
    logs.debug(jiff::Timestamp::now(), &format!("COMMAND {}", word(which)));
    let request = Request {
        consent: &consent,
        scope: arguments.scope.scope(),
        which,
        gate: arguments.gate.clone(),
        purpose: Purpose::Command,
        cut_off: None,
        asker: Asker {
            is_agent: agent_mark(crate::environment::variable).is_some(),
            ..Asker::default()
        },
        began_with: None,
    };
    let progress = Progress::new(which, arguments.json);
    let mut result = run::execute(layout, config, env, &request, &|event, lines| {
        progress.tell(event, lines);
    });
    progress.finish();
    if arguments.json {
        if result.archived {
            for gate in &mut result.gates {
                gate.put_away(&logs);
            }
        }
        anstream::println!("{:#}", to_json(&result));
    }
    close(&result, which, config.words, arguments.json);
    ExitCode::from(result.status.exit())
}

/// The last words, where the summary did not say them.
fn close(result: &RunResult, which: Which, words: Words, as_json: bool) {
    if !result.gates.is_empty() {
        return;
    }
    let noun = match which {
        Which::All => "gates",
        Which::Checks => "checks",
        Which::Reviews => "reviews",
    };
    let (info, text) = match result.status {
        Status::NoChanges => (true, "No changes detected.".to_owned()),
        Status::NoApplicableGates if which == Which::All => {
            (true, "No applicable gates for these changes.".to_owned())
        }
        Status::NoApplicableGates => (true, format!("No applicable {noun} for these changes.")),
        Status::LockConflict | Status::Error => {
            let error = result.error.as_deref().unwrap_or(&result.message);
            (false, format!("Error: {error}"))
        }
        Status::Passed
        | Status::PassedWithWarnings
        | Status::Failed
        | Status::RetryLimitExceeded
        | Status::NoConfig
        | Status::StopHookActive
        | Status::IntervalNotElapsed
        | Status::InvalidInput
        | Status::StopHookDisabled => (false, result.message.clone()),
    };
    let text = PlainLines(&text);
    match (info, which) {
        (true, Which::All) if words == Words::Own => anstream::eprintln!("{text}"),
        (true, Which::All) => anstream::eprintln!("[INFO][gauntlet.run] {text}"),
        (true, Which::Checks | Which::Reviews) if !as_json => anstream::println!("{text}"),
        (true, Which::Checks | Which::Reviews) => {}
        (false, _) => anstream::eprintln!("{text}"),
    }
    if result.status == Status::RetryLimitExceeded {
        anstream::eprintln!("Status: {}", result.status.label());
    }
}

fn word(which: Which) -> &'static str {
    match which {
        Which::All => "run",
        Which::Checks => "check",
        Which::Reviews => "review",
    }
}

fn to_json(result: &RunResult) -> serde_json::Value {
    json!({
        "status": result.status.as_str(),
        "message": result.message,
        "console_log": result.console_log,
        "error": result.error,
        "changed_files": result.changed_files,
        "run": result.run_number,
        "tree": result.tree,
        "gates": result.gates.iter().map(GateResult::to_json).collect::<Vec<_>>(),
    })
}
