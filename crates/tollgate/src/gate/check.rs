//! Runs one check: a command, its directory, its log, its verdict.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tollgate_store::timestamp::iso;

use super::config::Check;
use super::excerpt;
use super::jobs::Job;
use super::no_tests;
use super::result::GateResult;
use super::runner::Crew;
use crate::process::{Child, End, Ended, OUTPUT_CAP, Ongoing, Output, command, secrets};
use crate::review::outcome::Outcome;

/// How much of the end of the output is searched for what failed.
const TAIL_BYTES: u64 = 256 << 10;

/// A check that runs, or ran: its log.
#[derive(Debug)]
pub(super) struct Open<'c> {
    check: &'c Check,
    path: PathBuf,
    log: Arc<File>,
    /// Where the output begins.
    from: u64,
}

/// Starts a check. One that cannot be started has its result at once.
pub(super) fn begin<'c>(
    crew: &Crew<'_>,
    job: &Job<'_>,
    check: &'c Check,
    directory: &str,
) -> Result<(Ongoing, Open<'c>), Box<GateResult>> {
    let name = format!("{}.{}.log", job.log_stem, crew.run);
    let directory = working_directory(crew, check, directory);
    let head = head(job, check, &directory);
    let opened = crew.logs.create(&name).and_then(|(path, mut log)| {
        log.write_all(head.as_bytes())?;
        Ok((path, log))
    });
    let (path, log) = match opened {
        Ok(opened) => opened,
        // A full disk is not the work's fault.
        Err(error) => {
            let message = format!("its log cannot be written: {error}");
            let result = GateResult::new(job, Outcome::Inconclusive, message);
            return Err(Box::new(result));
        }
    };
    let open = Open {
        check,
        path,
        log: log.into(),
        from: head.len() as u64,
    };
    match directory.map(|directory| start(crew, &open, &directory)) {
        Ok(Ok(ongoing)) => Ok((ongoing, open)),
        Ok(Err(ended)) => Err(Box::new(open.finish(job, Ok(ended)))),
        Err(missing) => Err(Box::new(open.finish(job, Err(missing)))),
    }
}

impl Open<'_> {
    /// What an ended check came to.
    pub(super) fn finish(self, job: &Job<'_>, ended: Result<Ended, String>) -> GateResult {
        let Self {
            check,
            path,
            log,
            from,
        } = self;
        let has_output = ended.as_ref().is_ok_and(|ended| ended.kept > 0);
        if has_output {
            // Before anybody reads it. If it fails, closing the log fails as well, and is reported.
            let _told_then = secrets::take_out(&log, from);
        }
        let mut result = judge(job, ended);
        result.file = Some(path);
        // A check may print anything; what people and agents are shown is only text.
        let printed = || {
            let text = end_of(&log, from).unwrap_or_default();
            anstream::adapter::strip_str(&text).to_string()
        };
        if result.outcome == Outcome::Pass
            && has_output
            && let Some(line) = no_tests::said(&printed())
        {
            result.outcome = Outcome::Inconclusive;
            result.message = format!("No test ran: \"{line}\"");
        }
        if result.outcome.is_failure() {
            let text = printed();
            let shown = |c: &char| !c.is_control() || *c == '\t';
            let lines: Vec<String> = text
                .lines()
                .map(|line| line.chars().filter(shown).collect())
                .collect();
            if let Some(name) = missing_command(&result.message, &lines) {
                result.message = result.message.replacen(
                    "command not found",
                    &format!("command not found: {name}"),
                    1,
                );
            }
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            result.excerpt = excerpt::of(&lines).into_iter().map(str::to_owned).collect();
        }
        if let Err(error) = close(&log, &result, check) {
            result.outcome = Outcome::Inconclusive;
            result.message = format!("its log cannot be written: {error}");
        }
        result
    }
}

/// Starts the command, unless it ends before that.
fn start(crew: &Crew<'_>, open: &Open<'_>, directory: &Path) -> Result<Ongoing, Ended> {
    let mut program = command("/bin/sh");
    // The base is handed over as a variable: as text in the command, its name would be code.
    program
        .arg("-c")
        .arg(&open.check.command)
        .current_dir(directory)
        .env("BASE_BRANCH", crew.base);
    crew.children.begin(Child {
        program,
        input: None,
        output: Output::Together {
            file: Arc::clone(&open.log),
            from: open.from,
            cap: OUTPUT_CAP,
        },
        timeout: open.check.timeout,
    })
}

fn judge(job: &Job<'_>, ended: Result<Ended, String>) -> GateResult {
    let ended = match ended {
        Ok(ended) => ended,
        Err(missing) => return GateResult::new(job, Outcome::Error, missing),
    };
    let (outcome, message) = match &ended.end {
        End::Exited(0) => (Outcome::Pass, String::new()),
        End::Exited(_) | End::TimedOut(_) => (Outcome::Fail, ended.describe()),
        End::Signalled(_) => (Outcome::Error, ended.describe()),
        End::Cancelled => (Outcome::Inconclusive, ended.describe()),
        End::NotStarted(_) => (Outcome::Error, ended.describe()),
    };
    let mut result = GateResult {
        took: ended.took,
        ..GateResult::new(job, outcome, message)
    };
    if ended.leaked > 0 && matches!(ended.end, End::Exited(_)) {
        let note = format!("LEAK: left {} process(es) running, killed", ended.leaked);
        result.message = match result.message.as_str() {
            "" => note.clone(),
            message => format!("{message}; {note}"),
        };
        // It is unknown what they would still have done to the work.
        result.findings.advisory.push(note);
    }
    result
}

/// The command that a shell did not find, by its own last word about it.
fn missing_command<'l>(message: &str, lines: &'l [String]) -> Option<&'l str> {
    if !message.contains("command not found") {
        return None;
    }
    let said = lines.iter().rev().find_map(|line| {
        let rest = line.strip_suffix(": command not found");
        rest.or_else(|| line.strip_suffix(": not found"))
    })?;
    said.rsplit(": ").next().filter(|name| !name.is_empty())
}

/// Where a check runs, or why it cannot.
fn working_directory(crew: &Crew<'_>, check: &Check, named: &str) -> Result<PathBuf, String> {
    let wanted = crew.config.root.join(named);
    if wanted.is_dir() {
        Ok(wanted)
    } else if check.working_directory.is_some() {
        Err(format!("The working directory does not exist: {named}"))
    } else {
        // The entry point is a file, or its directory was removed.
        Ok(nearest_directory(&wanted, &crew.config.root))
    }
}

/// What a log begins with.
fn head(job: &Job<'_>, check: &Check, directory: &Result<PathBuf, String>) -> String {
    let now = iso(jiff::Timestamp::now());
    let shown = match directory {
        Ok(path) => path.display().to_string(),
        Err(what) => what.clone(),
    };
    format!(
        "[{now}] Starting check: {}\n[{now}] Executing command: {}\n[{now}] Working directory: {shown}\n\n",
        job.name,
        check.command.trim_end(),
    )
}

fn nearest_directory(wanted: &Path, root: &Path) -> PathBuf {
    let mut above = wanted.ancestors().take_while(|path| path.starts_with(root));
    above.find(|path| path.is_dir()).unwrap_or(root).to_owned()
}

fn close(mut log: &File, result: &GateResult, check: &Check) -> io::Result<()> {
    let now = iso(jiff::Timestamp::now());
    let mut text = String::from("\n");
    if result.outcome != Outcome::Pass {
        text = format!("{text}[{now}] Command failed: {}\n", result.message);
    }
    let message = match result.message.as_str() {
        "" => String::new(),
        message => format!(" - {message}"),
    };
    text = format!(
        "{text}[{now}] Result: {}{message}\n",
        result.outcome.as_str()
    );
    if let Some(help) = check
        .fix_instructions
        .as_ref()
        .filter(|_| result.outcome.is_failure())
    {
        text = format!("{text}\n--- Fix Instructions ---\n{help}\n");
    }
    log.write_all(text.as_bytes())
}

/// The end of the output, which begins at `from`.
fn end_of(log: &File, from: u64) -> io::Result<String> {
    let mut log = log;
    let length = log.metadata()?.len();
    log.seek(SeekFrom::Start(from.max(length.saturating_sub(TAIL_BYTES))))?;
    let mut bytes = Vec::new();
    log.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
