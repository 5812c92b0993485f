//! Fires an event that must be blocked through the very command that is registered.

use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollgate_core::env::NESTED;
use tollgate_core::protocol::EventKind;

use super::{Finding, Patient};
use crate::agents::Agent;
use crate::agents::read::Registered;

/// A hook answers in milliseconds; this is for a machine that is very busy.
const PATIENCE: Duration = Duration::from_secs(10);

/// No answer is longer.
const ANSWER: u64 = 1 << 20;

/// What a registered program says it is.
pub(super) enum Version {
    Same,
    Other(String),
    /// It is the project's own program, which is not started.
    NotAsked,
}

struct Ran {
    code: Option<i32>,
    stdout: String,
}

pub(super) fn version(patient: &Patient, program: &Path) -> Version {
    if is_myself(program) {
        return Version::Same;
    }
    if is_of_project(patient, program) {
        return Version::NotAsked;
    }
    let mut command = crate::process::command(program);
    command.arg("--version");
    match run(command, "") {
        Ok(ran) if said(&ran) == concat!("tollgate ", env!("TOLLGATE_VERSION")) => Version::Same,
        Ok(ran) => {
            let said = said(&ran);
            Version::Other(if said.is_empty() {
                "a program that does not say its version".to_owned()
            } else {
                said.to_owned()
            })
        }
        Err(why) => Version::Other(why),
    }
}

/// The line with the version; more may follow.
fn said(ran: &Ran) -> &str {
    ran.stdout.lines().next().unwrap_or_default().trim()
}

/// Whether a project could have put it there. This program itself runs already, wherever it is.
fn is_of_project(patient: &Patient, program: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    !is_myself(program) && real(program).starts_with(real(&patient.places.root))
}

fn is_myself(program: &Path) -> bool {
    let myself = std::env::current_exe().and_then(|path| path.canonicalize());
    myself.ok() == program.canonicalize().ok()
}

/// Fires one canary for each command line that guards tools.
pub(super) fn examine(patient: &Patient) -> Vec<Finding<'_>> {
    let mut findings = Vec::new();
    let mut tried: Vec<(Agent, String)> = Vec::new();
    for found in patient.reading.hooks().filter(|found| found.effective) {
        let line = found.command.for_shell();
        if (found.agent.event)(EventKind::PreTool) != Some(found.event.as_str())
            || tried.contains(&(found.agent, line.clone()))
        {
            continue;
        }
        tried.push((found.agent, line));
        findings.extend(fire(patient, found));
    }
    findings
}

fn fire<'p>(patient: &Patient, found: &Registered) -> Option<Finding<'p>> {
    let file = patient.places.shown(&found.file);
    // One that is not there is a finding of its own.
    let program = found.command.located(&patient.places)?;
    if is_of_project(patient, &program) {
        return Some(Finding::new(
            "program-in-project",
            format!(
                "{file} runs {}, which belongs to the project",
                program.display()
            ),
            "it was not tested: doctor starts no program of a project; register one outside of it",
        ));
    }
    let silent = |why: String| {
        Some(Finding::new(
            "canary",
            format!(
                "{} would not be stopped: `{}` ({file}) {why}",
                found.agent,
                found.command.for_shell()
            ),
            "run the command with the event of `tollgate simulate`; `tollgate install` registers it again",
        ))
    };
    let place = match tempfile::Builder::new()
        .prefix("tollgate-canary-")
        .tempdir()
    {
        Ok(place) => place,
        Err(error) => return silent(format!("could not be tried: {error}")),
    };
    if let Err(error) = std::fs::create_dir(place.path().join(".isdlc")) {
        return silent(format!("could not be tried: {error}"));
    }
    // As the agent starts it: the program itself, or through a shell.
    let mut command = if found.agent.starts_program {
        let mut command = crate::process::command(&program);
        command.args(&found.command.args);
        command
    } else {
        let mut command = crate::process::command("sh");
        command.arg("-c").arg(found.command.for_shell());
        command
    };
    command
        .current_dir(place.path())
        .env("CLAUDE_PROJECT_DIR", place.path());
    // This process is above the canary, as none is above an agent: it would confirm a mark.
    for mark in NESTED {
        command.env_remove(mark);
    }
    // A shell command that would change the state.
    let protocol = found.agent.protocol;
    let input = json!({ "command": "rm .isdlc/state.json" });
    let event = protocol.tool_event(protocol.row().tools.shell, &input, place.path());
    match run(command, &event.to_string()) {
        Ok(ran) if is_block(&ran) => None,
        Ok(ran) => silent(match ran.code {
            Some(0) => "allowed an event that it must block".to_owned(),
            Some(code) => format!("failed with code {code}"),
            None => "was killed".to_owned(),
        }),
        Err(why) => silent(why),
    }
}

/// Whether an answer stops the agent, in whatever dialect.
fn is_block(ran: &Ran) -> bool {
    let denies = |value: &Value| {
        let says = |value: Option<&Value>| {
            let word = value.and_then(Value::as_str);
            matches!(word, Some("deny" | "block"))
        };
        let inner = value.get("hookSpecificOutput");
        says(value.get("decision"))
            || says(value.get("permission"))
            || says(value.get("permissionDecision"))
            || says(inner.and_then(|inner| inner.get("permissionDecision")))
            || value.get("continue") == Some(&Value::Bool(false))
    };
    ran.code == Some(2)
        || serde_json::from_str::<Value>(&ran.stdout).is_ok_and(|value| denies(&value))
}

/// Runs a program to its end, within its time.
fn run(mut command: Command, input: &str) -> Result<Ran, String> {
    let failed = |error: std::io::Error| format!("cannot be started: {error}");
    // A file, not a pipe: it cannot fill up, and no process can keep it open.
    let mut printed = tempfile::tempfile().map_err(failed)?;
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(printed.try_clone().map_err(failed)?)
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that does not read its input has answered already.
        let _closed = stdin.write_all(input.as_bytes());
    }
    let begun = Instant::now();
    let status = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break status,
            None if begun.elapsed() > PATIENCE => {
                let _gone = child.kill();
                let _reaped = child.wait();
                return Err(format!("did not answer within {} s", PATIENCE.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let mut bytes = Vec::new();
    printed.rewind().map_err(failed)?;
    printed
        .take(ANSWER)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    Ok(Ran {
        code: status.code(),
        stdout: String::from_utf8_lossy(&bytes).into_owned(),
    })
}
