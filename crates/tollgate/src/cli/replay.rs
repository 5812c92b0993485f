//! `tollgate replay`: what today's rules would have done with a recorded session.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;

use jiff::Timestamp;
use serde_json::{Value, json};
use tollgate_core::project::Layout;

use super::plain::{Plain, count};
use super::{Answer, BOLD, DIM, ERROR, GOOD, Trouble, WARN};
use crate::journal;
use crate::replay::{Replay, ReplayFinding, Total, seen};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Transcripts of Claude Code (JSONL)
    #[arg(required_unless_present = "journal")]
    transcripts: Vec<PathBuf>,
    /// The events that this project's journal kept
    #[arg(long, conflicts_with = "transcripts")]
    journal: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Exit with 1 when something would be blocked
    #[arg(long)]
    exit_code: bool,
}

pub(super) fn run(arguments: &Arguments) -> Answer {
    let env = crate::hook::environment();
    let layout = Layout::find(&env, None).ok_or_else(super::no_project)?;
    let local = layout.local();
    let mut replay = Replay::new(&layout, &env, Timestamp::now(), seen(&local));
    let mut all: Vec<Value> = Vec::new();
    let mut blocked = false;
    let mut tell = |source: &str, found: ReplayFinding| {
        blocked |= found.blocks;
        if arguments.json {
            all.push(as_json(source, &found));
        } else {
            print(source, &found);
        }
    };
    if arguments.journal {
        for entry in journal::entries(&local) {
            replay.kept(&entry, |found| tell("journal", found));
        }
    }
    for path in &arguments.transcripts {
        let file = File::open(path).map_err(|error| Trouble::about(path, &error))?;
        let name = path.display().to_string();
        let input = BufReader::with_capacity(1 << 18, file);
        let before = replay.total.unreadable;
        let readable = replay
            .transcript(input, |found| tell(&name, found))
            .map_err(|error| Trouble::about(path, &error))?;
        if readable == 0 && replay.total.unreadable > before {
            let what = format!("{name}: none of its lines is a JSON object");
            return Err(Trouble::new(what)
                .hint("Claude Code keeps the transcripts of this project in ~/.claude/projects"));
        }
    }
    if arguments.json {
        anstream::println!("{:#}", summary_json(&replay.total, &all));
    } else {
        summary(&replay.total);
    }
    Ok(ExitCode::from(u8::from(blocked && arguments.exit_code)))
}

fn print(source: &str, found: &ReplayFinding) {
    let (style, word) = if found.blocks {
        (ERROR, "block")
    } else {
        (WARN, "warn")
    };
    let unseen = if found.seen { "" } else { "  (no hook saw it)" };
    anstream::println!(
        "{style}{word:<5}{style:#}  {DIM}{}:{}{DIM:#}  {} {} by {}  {}  {}: {}{unseen}",
        Plain(source),
        found.line,
        Plain(&found.event),
        Plain(&found.tool),
        Plain(&found.agent),
        found.guard,
        found.code,
        Plain(&found.reason)
    );
}

fn summary(total: &Total) {
    anstream::println!(
        "\n{BOLD}{:>8} {:>8} {:>8} {:>8}  tool, agent{BOLD:#}",
        "calls",
        "blocked",
        "warned",
        "unseen"
    );
    for ((tool, agent), count) in &total.counts {
        anstream::println!(
            "{:>8} {:>8} {:>8} {:>8}  {}, {}",
            count.calls,
            count.blocked,
            count.warned,
            count.unseen,
            Plain(tool),
            Plain(agent)
        );
    }
    if total.counts.is_empty() {
        anstream::println!("{GOOD}no tool was called{GOOD:#}");
    }
    if total.unreadable > 0 {
        let lines = count(total.unreadable, "line");
        anstream::eprintln!("{WARN}warning{WARN:#}: {lines} could not be read");
    }
}

fn as_json(source: &str, found: &ReplayFinding) -> Value {
    json!({
        "source": source, "line": found.line, "session": found.session, "call": found.call, "event": found.event,
        "tool": found.tool, "agent": found.agent, "verdict": if found.blocks { "block" } else { "warn" },
        "guard": found.guard, "code": found.code, "reason": found.reason, "seen": found.seen,
    })
}

fn summary_json(total: &Total, all: &[Value]) -> Value {
    let counts: Vec<Value> = total.counts.iter().map(|((tool, agent), count)| json!({
        "tool": tool, "agent": agent, "calls": count.calls, "blocked": count.blocked, "warned": count.warned, "unseen": count.unseen,
    })).collect();
    json!({ "findings": all, "counts": counts, "unreadable": total.unreadable })
}
