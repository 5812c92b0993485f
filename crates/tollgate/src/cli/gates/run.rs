//! `tollgate run`, `check` and `review`.

use std::process::ExitCode;

use serde_json::json;

use tollgate_core::protocol::agent_mark;

use super::progress::Progress;
use super::{CommandResult, Project, ScopeArguments, failed};
use crate::gate::Status;
use crate::gate::accepted;
use crate::gate::config::Words;
use crate::gate::evidence::{SIGN, Verification};
use crate::gate::jobs::Which;
use crate::gate::logs::Logs;
use crate::gate::result::GateResult;
use crate::gate::run::{self, Asker, Purpose, Request, RunResult};
use crate::plain::{GOOD, PlainLines, WARN};
use crate::trust::Consent;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    scope: ScopeArguments,
    /// Run every gate, whatever is verified already
    #[arg(long)]
    all: bool,
    /// Run only the gate with this name
    #[arg(short, long, value_name = "NAME")]
    gate: Option<String>,
    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, which: Which) -> CommandResult {
    let consent = Consent::of_the_person();
    let Project {
        layout,
        env,
        config,
    } = &Project::open(arguments.json)?;
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
        let what = format!("there is no gate {gate:?}{near}");
        return Err(failed(&what, arguments.json));
    }
    if let Err(error) = config.remember(layout) {
        // The run itself needs nothing of it.
        anstream::eprintln!("{WARN}warning{WARN:#}: tollgate.toml cannot be remembered: {error}");
    }
    let weakened = accepted::meet(layout, env, config).unwrap_or_else(|error| {
        anstream::eprintln!(
            "{WARN}warning{WARN:#}: whether the gates were weakened cannot be told: {error}"
        );
        Vec::new()
    });
    let logs = Logs::of(config);
    logs.debug(jiff::Timestamp::now(), &format!("COMMAND {}", word(which)));
    let request = Request {
        consent: &consent,
        scope: arguments.scope.scope(layout.root()),
        which,
        gate: arguments.gate.clone(),
        purpose: Purpose::Command,
        cut_off: None,
        asker: Asker {
            is_agent: agent_mark(crate::environment::variable).is_some(),
            ..Asker::default()
        },
        began_with: None,
        session_base: None,
        weakened,
        all: arguments.all,
        spent: None,
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
    let verification = result.verification.as_ref().filter(|_| config.has_gates());
    let is_whole = which == Which::All && arguments.gate.is_none() && !request.scope.is_narrowed();
    let is_said = is_whole && !arguments.json && result.status.exit() == 0;
    if let Some(verification) = verification.filter(|_| is_said) {
        say(verification, config.words);
    }
    let is_strict = is_whole && !env.ci && config.words == Words::Own;
    Ok(ExitCode::from(exit(&result, is_strict)))
}

/// What can be said about all gates now. The specification's own words have said it where all is well.
fn say(verification: &Verification, words: Words) {
    match (verification, words) {
        (Verification::Verified { .. }, Words::Own) => {
            anstream::eprintln!("{GOOD}{SIGN}{GOOD:#} verified");
        }
        (Verification::Verified { .. }, Words::Specification) => {}
        (Verification::Not(why), _) => {
            anstream::eprintln!("{WARN}not verified{WARN:#}: {}", PlainLines(why));
        }
        (Verification::Unknown(why), _) => {
            anstream::eprintln!("{WARN}cannot tell{WARN:#}: {}", PlainLines(why));
        }
    }
}

/// A run of all gates that passed says yes only if they are verified now. The original's exit codes hold
/// in its home; changed gates alone are a warning.
fn exit(result: &RunResult, is_strict: bool) -> u8 {
    match result.status.exit() {
        0 if is_strict && result.is_unverified => 1,
        exit => exit,
    }
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
        Status::NoChanges => {
            let verified = matches!(result.verification, Some(Verification::Verified { .. }));
            let text = if verified && words == Words::Own {
                "No changes since the gates were verified."
            } else {
                "No changes detected."
            };
            (true, text.to_owned())
        }
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
        "verification": result.verification.as_ref().map(Verification::as_str),
        "why": result.verification.clone().and_then(Verification::reason),
        "gates": result.gates.iter().map(GateResult::to_json).collect::<Vec<_>>(),
    })
}
