//! `tollgate replay`: what today's rules would have done with a recorded session.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::plain::{Plain, count};
use super::{BOLD, CommandResult, DIM, ERROR, GOOD, Trouble, WARN, with_members};
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

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let env = crate::environment::current();
    let layout = super::layout_here()?;
    let local = layout.local();
    let mut replay = Replay::new(&layout, &env, Timestamp::now(), seen(&local));
    let mut all: Vec<Value> = Vec::new();
    let mut blocked = false;
    let mut report = |source: &str, found: ReplayFinding| {
        blocked |= found.verdict == "block";
        if arguments.json {
            all.push(with_members(json!({ "source": source }), json!(found)));
        } else {
            print(source, &found);
        }
    };
    if arguments.journal {
        for entry in journal::entries(&local) {
            replay.kept(&entry, |found| report("journal", found));
        }
    }
    for path in &arguments.transcripts {
        let file = File::open(path).map_err(|error| Trouble::about(path, &error))?;
        let name = path.display().to_string();
        let input = BufReader::with_capacity(1 << 18, file);
        let before = replay.total.unreadable;
        let readable = replay
            .transcript(input, |found| report(&name, found))
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
    let word = found.verdict;
    let style = if word == "block" { ERROR } else { WARN };
    let unseen = if found.seen { "" } else { "  (no hook saw it)" };
    out!(
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
    out!(
        "\n{BOLD}{:>8} {:>8} {:>8} {:>8}  tool, agent{BOLD:#}",
        "calls",
        "blocked",
        "warned",
        "unseen"
    );
    for ((tool, agent), count) in &total.counts {
        out!(
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
        out!("{GOOD}no tool was called{GOOD:#}");
    }
    if total.unreadable > 0 {
        let lines = count(total.unreadable, "line");
        err!("{WARN}warning{WARN:#}: {lines} could not be read");
    }
}

fn summary_json(total: &Total, all: &[Value]) -> Value {
    let counts = total.counts.iter();
    let counts = counts.map(|((tool, agent), count)| {
        with_members(json!({ "tool": tool, "agent": agent }), json!(count))
    });
    json!({ "findings": all, "counts": counts.collect::<Vec<_>>(), "unreadable": total.unreadable })
}
