//! `tollgate run`, `check` and `review`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;

use tollgate_core::protocol::agent_mark;

use super::super::Trouble;
use super::last_line::Last;
use super::progress::Progress;
use super::skip::{self, SkipArguments, Skipped};
use super::{CommandResult, Project, ScopeArguments, failed, junit};
use crate::gate::accepted;
use crate::gate::config::Words;
use crate::gate::evidence::Verification;
use crate::gate::jobs::Which;
use crate::gate::logs::Logs;
use crate::gate::result::GateResult;
use crate::gate::run::{self, Asker, Purpose, Request, RunResult};
use crate::gate::{Event, Status};
use crate::git::Git;
use crate::plain::{PlainLines, WARN};
use crate::trust::Consent;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    scope: ScopeArguments,
    /// Run every gate, even those that are verified
    #[arg(long)]
    all: bool,
    /// Run only the gate with this name
    #[arg(short, long, value_name = "NAME")]
    gate: Option<String>,
    #[command(flatten)]
    skip: SkipArguments,
    /// Write the result to this file, in the XML format of `JUnit`
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
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
    let begun = Instant::now();
    let wrong = |trouble: Trouble| failed(&trouble.what, config.words, arguments.json);
    if let Some(gate) = &arguments.gate {
        skip::known(config, gate).map_err(wrong)?;
    }
    let skipped = arguments.skip.skipped(config)?;
    let run = run::begin(config, Git::at(&config.root), None);
    if let Err(error) = config.remember(layout) {
        // The run itself needs nothing of it.
        err!("{WARN}warning{WARN:#}: the last good tollgate.toml cannot be stored: {error}");
    }
    let weakened = accepted::meet(layout, env, config).unwrap_or_else(|error| {
        err!("{WARN}warning{WARN:#}: cannot check whether the gates were weakened: {error}");
        Vec::new()
    });
    let logs = Logs::of(config);
    logs.debug(jiff::Timestamp::now(), &format!("COMMAND {}", word(which)));
    let request = Request {
        consent: &consent,
        scope: arguments.scope.scope(layout.root()),
        which,
        skip: skipped.names.clone(),
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
        details: arguments.json,
        spent: None,
    };
    let progress = Progress::new(config, which, arguments.json);
    let observer = |event: &Event<'_>, lines: &[String]| progress.tell(event, lines);
    let mut result = match run {
        Ok(run) => run.run(layout, env, &request, &observer),
        Err(early) => *early,
    };
    progress.finish();
    if let Err(error) = skipped.record(layout, &result.skipped) {
        err!("{WARN}warning{WARN:#}: the journal cannot be written: {error}");
    }
    let took = begun.elapsed();
    if let Some(file) = &arguments.junit {
        junit::write(file, &result, took).map_err(|error| Trouble::about(file, &error))?;
    }
    if arguments.json {
        if result.archived {
            for gate in &mut result.gates {
                gate.put_away(&logs);
            }
        }
        anstream::println!("{:#}", to_json(&result, &skipped, took));
    }
    let is_whole = which == Which::All && arguments.gate.is_none() && !request.scope.is_narrowed();
    let last = Last {
        result: &result,
        took,
        is_whole,
        has_gates: config.has_gates() || !request.weakened.is_empty(),
        is_ci: env.ci,
    };
    match config.words {
        Words::Specification => Ok(finish_as_specified(&last, which, arguments.json)),
        Words::Own => finish(&last, &skipped, arguments.json),
    }
}

/// Ends a run of a project of the original.
fn finish_as_specified(last: &Last<'_>, which: Which, as_json: bool) -> ExitCode {
    let result = last.result;
    close(result, which, as_json);
    let is_said = last.is_whole && last.has_gates && !as_json && result.status.exit() == 0;
    if let Some(verification) = result.verification.as_ref().filter(|_| is_said) {
        say(verification);
    }
    let code = if result.skipped.is_empty() {
        result.status.exit()
    } else {
        1
    };
    ExitCode::from(code)
}

/// Ends a run of a project of Tollgate's own: 0 if it is verified (of a part of the gates: if it passed; without
/// gates there is nothing to fail), 1 if not, 2 if it could not run, 130 if it was interrupted.
fn finish(last: &Last<'_>, skipped: &Skipped, as_json: bool) -> CommandResult {
    let result = last.result;
    if result.gates.is_empty()
        && let Some(error) = &result.error
    {
        let next = (result.status == Status::LockConflict)
            .then(|| "wait until it has ended, then run this again".to_owned());
        return Err(Trouble {
            next,
            ..Trouble::new(error)
        });
    }
    let mut lines: Vec<String> = Vec::new();
    for name in &result.skipped {
        let (name, reason) = (PlainLines(name), PlainLines(&skipped.reason));
        lines.push(format!("{WARN}skip{WARN:#}  {name}: {reason}"));
    }
    if result.status == Status::RetryLimitExceeded && result.gates.is_empty() {
        lines.push(PlainLines(&result.message).to_string());
    }
    lines.push(last.line());
    for line in lines {
        if as_json {
            err!("{line}");
        } else {
            out!("{line}");
        }
    }
    let is_verified = matches!(result.verification, Some(Verification::Verified { .. }));
    let is_unverified = last.is_whole && last.has_gates && !last.is_ci && !is_verified;
    Ok(ExitCode::from(match result.status.exit() {
        _ if result.is_interrupted => 130,
        0 if is_unverified || !result.skipped.is_empty() => 1,
        code => code,
    }))
}

/// What can be said about all gates now. The specification's own words have said it where all is well.
fn say(verification: &Verification) {
    match verification {
        Verification::Verified { .. } => {}
        Verification::Not(why) => {
            err!("{WARN}not verified{WARN:#}: {}", PlainLines(why));
        }
        Verification::Unknown(why) => {
            err!("{WARN}cannot tell{WARN:#}: {}", PlainLines(why));
        }
    }
}

/// The specification's last words, where the summary did not say them.
fn close(result: &RunResult, which: Which, as_json: bool) {
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
        (true, Which::All) => err!("[INFO][gauntlet.run] {text}"),
        (true, Which::Checks | Which::Reviews) if !as_json => out!("{text}"),
        (true, Which::Checks | Which::Reviews) => {}
        (false, _) => err!("{text}"),
    }
    if result.status == Status::RetryLimitExceeded {
        err!("Status: {}", result.status.label());
    }
}

fn word(which: Which) -> &'static str {
    match which {
        Which::All => "run",
        Which::Checks => "check",
        Which::Reviews => "review",
    }
}

fn to_json(result: &RunResult, skipped: &Skipped, took: Duration) -> serde_json::Value {
    let left_out = result.skipped.iter();
    let left_out = left_out.map(|name| json!({ "name": name, "reason": skipped.reason }));
    json!({
        "status": result.status.as_str(),
        "message": result.message,
        "console_log": result.console_log,
        "error": result.error,
        "changed_files": result.changed_files,
        "run": result.run_number,
        "seconds": took.as_secs_f64(),
        "interrupted": result.is_interrupted,
        "skipped": left_out.collect::<Vec<_>>(),
        "tree": result.tree,
        "verification": result.verification.as_ref().map(Verification::as_str),
        "why": result.verification.clone().and_then(Verification::reason),
        "gates": result.gates.iter().map(GateResult::to_json).collect::<Vec<_>>(),
    })
}
