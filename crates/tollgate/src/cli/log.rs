//! `tollgate log`: what was decided, and whether the journal still says all of it.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tollgate_store::chain::Hash;
use tollgate_store::journal::Verdict;
use tollgate_store::timestamp;

use super::plain::{Plain, cut};
use super::{BOLD, CommandResult, DIM, ERROR, GOOD, Trouble, WARN, screen};
use crate::config::duration;
use crate::journal::{self, Entry, Follower, Verified};

/// How often a journal that is followed is read.
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Only decisions of this guard
    #[arg(long)]
    guard: Option<String>,
    /// Only findings with this code, or faults of this kind
    #[arg(long)]
    code: Option<String>,
    /// Only what concerns this phase
    #[arg(long)]
    phase: Option<String>,
    /// Only this session (the beginning of its id is enough)
    #[arg(long)]
    session: Option<String>,
    /// Only these kinds: block, ask, warn, watch, fault, change, gate, review, record
    #[arg(long, value_parser = verdict, value_delimiter = ',')]
    verdict: Vec<Verdict>,
    /// Only what happened since then: 90s, 30m, 2h, 3d, 1w, a date, or a moment
    #[arg(long, value_parser = since)]
    since: Option<Timestamp>,
    /// How many of the last ones; 0 for all
    #[arg(short = 'n', long = "lines", default_value_t = 50)]
    lines: usize,
    /// Print new entries as they come, until interrupted
    #[arg(long, short)]
    follow: bool,
    /// Print JSON: one line per entry
    #[arg(long)]
    json: bool,
    /// Check that no line was removed or altered; exit with 1 if one was
    #[arg(long, conflicts_with_all = ["guard", "code", "phase", "session", "verdict", "since", "follow"])]
    verify: bool,
    /// With --verify: a hash that an earlier --verify printed must still be in the chain
    #[arg(long, value_name = "HASH", requires = "verify")]
    head: Option<Hash>,
}

fn verdict(name: &str) -> Result<Verdict, String> {
    let known = Verdict::ALL.iter().map(|known| known.as_str());
    Verdict::from_name(name).ok_or_else(|| super::one_of(known))
}

/// A moment, or how long ago it was.
pub(super) fn since(text: &str) -> Result<Timestamp, String> {
    let ago = duration::parse(text).and_then(|ago| SignedDuration::try_from(ago).ok());
    ago.and_then(|ago| Timestamp::now().checked_sub(ago).ok())
        .or_else(|| timestamp::parse(text))
        .or_else(|| timestamp::parse(&format!("{text}T00:00:00Z")))
        .ok_or_else(|| {
            "for example 90s, 30m, 2h, 3d, 1w, 2026-02-08 or 2026-02-08T20:00:00Z".to_owned()
        })
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let layout = super::layout_here()?;
    let local = layout.local();
    if arguments.verify {
        let done = journal::verify(&local, arguments.head);
        print_verified(&done, arguments.json);
        return Ok(ExitCode::from(u8::from(!done.problems.is_empty())));
    }
    match show(&local, arguments) {
        // Whoever reads our output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(Trouble::new(format!("standard output: {error}"))),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}

fn show(local: &Path, arguments: &Arguments) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    if !arguments.follow {
        return show_past(&mut out, journal::entries(local), arguments);
    }
    let (past, mut follower) = Follower::with_past(local);
    show_past(&mut out, past, arguments)?;
    loop {
        std::thread::sleep(PAUSE);
        for entry in follower.poll() {
            if wanted(&entry, arguments) {
                print(&mut out, &entry, arguments.json)?;
            }
        }
        out.flush()?;
    }
}

fn show_past(
    out: &mut impl Write,
    past: impl Iterator<Item = Entry>,
    arguments: &Arguments,
) -> io::Result<()> {
    let mut kept: VecDeque<Entry> = VecDeque::new();
    let mut has_any = false;
    for entry in past.inspect(|_| has_any = true) {
        if !wanted(&entry, arguments) {
            continue;
        }
        if arguments.lines > 0 && kept.len() == arguments.lines {
            kept.pop_front();
        }
        kept.push_back(entry);
    }
    if kept.is_empty() && !arguments.follow {
        let what = if has_any {
            "nothing in the journal matches"
        } else {
            "the journal is empty: nothing was blocked, warned about or changed yet"
        };
        err!("{DIM}{what}{DIM:#}");
    }
    for entry in &kept {
        print(out, entry, arguments.json)?;
    }
    out.flush()
}

fn wanted(entry: &Entry, arguments: &Arguments) -> bool {
    let is = |field: &Option<String>, wanted: &Option<String>| wanted.is_none() || field == wanted;
    let session = arguments.session.as_deref().is_none_or(|wanted| {
        let session = entry.session.as_deref();
        session.is_some_and(|session| session.starts_with(wanted))
    });
    let late = |since| entry.ts.is_some_and(|ts| ts >= since);
    is(&entry.guard, &arguments.guard)
        && is(&entry.code, &arguments.code)
        && is(&entry.phase, &arguments.phase)
        && session
        && (arguments.verdict.is_empty() || arguments.verdict.contains(&entry.verdict))
        && arguments.since.is_none_or(late)
}

fn print(out: &mut impl Write, entry: &Entry, json: bool) -> io::Result<()> {
    if json {
        // Escapes of a terminal are escaped in JSON.
        return writeln!(out, "{}", entry.value);
    }
    let (id, ts) = (entry.name(), entry.moment());
    let style = match entry.verdict {
        Verdict::Block => ERROR,
        Verdict::Ask | Verdict::Warn | Verdict::Fault => WARN,
        Verdict::Gate | Verdict::Review => match entry.code.as_deref() {
            Some("pass") | None => GOOD,
            Some("fail" | "error") => ERROR,
            Some(_) => WARN,
        },
        Verdict::Watch | Verdict::Change | Verdict::Record => GOOD,
    };
    let mut line = Vec::new();
    let word = entry.verdict.as_str();
    write!(
        line,
        "{BOLD}{id:>6}{BOLD:#}  {DIM}{ts}{DIM:#}  {style}{word:<6}{style:#}"
    )?;
    let texts = [
        &entry.guard,
        &entry.code,
        &entry.event,
        &entry.tool,
        &entry.phase,
        &entry.agent,
        &entry.call,
        &entry.project,
    ];
    for text in texts.into_iter().flatten() {
        write!(line, "  {}", Plain(text))?;
    }
    if let (Some(protocol), Some(ms)) = (&entry.protocol, entry.ms) {
        write!(line, "  {DIM}{} {ms} ms{DIM:#}", Plain(protocol))?;
    }
    if let Some(version) = entry.version {
        write!(line, "  {DIM}v{version}{DIM:#}")?;
    }
    if let Some(reason) = entry.reason.as_ref().filter(|text| !text.is_empty()) {
        write!(line, "  {}", Plain(&cut(reason, 200)))?;
    }
    let line = String::from_utf8_lossy(&line).into_owned();
    writeln!(out, "{}", screen::for_stdout(line))
}

fn print_verified(done: &Verified, json: bool) {
    if json {
        anstream::println!("{:#}", as_json(done));
        return;
    }
    for problem in &done.problems {
        let place = problem.place.map(|place| format!("{place}: "));
        let place = place.unwrap_or_default();
        out!("{ERROR}tampered{ERROR:#}  {place}{}", problem.what);
    }
    if done.unchained > 0 {
        let until = done.begins.map(|begins| format!(" until {begins}"));
        out!(
            "{WARN}unchained{WARN:#}{}: {} lines are older than the chain of hashes",
            until.unwrap_or_default(),
            done.unchained
        );
    }
    for place in &done.torn {
        out!("{DIM}torn{DIM:#}      {place}: half a line; its writer was killed");
    }
    if done.behind > 0 {
        out!(
            "{DIM}behind{DIM:#}    the record of the last line is {} behind; its writer was killed",
            done.behind
        );
    }
    if done.waiting > 0 {
        out!(
            "{WARN}waiting{WARN:#}   {} lines are not in the chain yet: another process held journal.tail; the next decision adds them",
            done.waiting
        );
    }
    let ok = if done.problems.is_empty() { "ok" } else { "" };
    let lines = if done.chained == 1 {
        "line is"
    } else {
        "lines are"
    };
    out!("{GOOD}{ok:<10}{GOOD:#}{} {lines} intact", done.chained);
    if done.head.n > 0 {
        out!("head      #{} {}", done.head.n, done.head.hash);
    }
}

fn as_json(done: &Verified) -> Value {
    let problems = done.problems.iter().map(|problem| {
        json!({
            "file": problem.place.map(|place| place.file),
            "line": problem.place.map(|place| place.line),
            "what": problem.what.to_string(),
        })
    });
    let problems: Vec<_> = problems.collect();
    let torn: Vec<_> = done.torn.iter().map(ToString::to_string).collect();
    json!({
        "ok": done.problems.is_empty(), "chained": done.chained, "unchained": done.unchained,
        "unchained_until": done.begins.map(|place| place.to_string()), "torn": torn,
        "waiting": done.waiting,
        "head": { "n": done.head.n, "hash": done.head.hash.to_string() }, "problems": problems,
    })
}
