//! `tollgate rules try`: what the rules would have done with recorded sessions.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use jiff::Timestamp;
use serde_json::{Value, json};
use tollgate_core::rules::CODE;

use super::super::log::since;
use super::super::plain::{Plain, count};
use super::super::{BOLD, CommandResult, DIM, HINT, Trouble, WARN};
use super::Project;
use crate::replay::{Replay, ReplayFinding};

/// How many calls are shown for each rule.
const SAMPLES: usize = 3;

/// Directories are not followed any deeper.
const DEPTH: usize = 6;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// Where transcripts of Claude Code or Codex are (files or directories) [default: those of this
    /// project in ~/.claude/projects, and ~/.codex/sessions]
    #[arg(long, value_name = "DIR")]
    replay: Vec<PathBuf>,
    /// Only what is not older: 45m, 12h, 30d, a date, or a moment
    #[arg(long, default_value = "30d", value_parser = since)]
    since: Timestamp,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What one rule would have done.
#[derive(Debug, Default)]
struct Outcome {
    verdicts: BTreeMap<&'static str, u64>,
    samples: Vec<String>,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let project = Project::right()?;
    let now = Timestamp::now();
    let since = arguments.since;
    let places = if arguments.replay.is_empty() {
        usual_places(&project)
    } else {
        arguments.replay.clone()
    };
    let mut files = Vec::new();
    for place in &places {
        if !place.exists() && !arguments.replay.is_empty() {
            return Err(Trouble::new(format!(
                "{}: there is no such file",
                place.display()
            )));
        }
        collect(place, since, DEPTH, &mut files);
    }
    let mut replay =
        Replay::new(&project.layout, &project.env, now, HashSet::default()).of_rules(Some(since));
    let mut outcomes: BTreeMap<String, Outcome> = BTreeMap::new();
    for file in &files {
        let opened = File::open(file).map_err(|error| Trouble::about(file, &error))?;
        let name = file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let input = BufReader::with_capacity(1 << 18, opened);
        let add = |found: ReplayFinding| note(&mut outcomes, &name, &found);
        replay
            .transcript(input, add)
            .map_err(|error| Trouble::about(file, &error))?;
    }
    let calls: u64 = replay.total.counts.values().map(|count| count.calls).sum();
    if arguments.json {
        print_json(&project, &outcomes, files.len(), calls);
    } else {
        print(&project, &outcomes, files.len(), calls);
        if replay.total.unreadable > 0 {
            let lines = count(replay.total.unreadable, "line");
            err!("{WARN}warning{WARN:#}: {lines} could not be read");
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn note(outcomes: &mut BTreeMap<String, Outcome>, name: &str, found: &ReplayFinding) {
    let Some(id) = found.code.strip_prefix(CODE) else {
        return;
    };
    let outcome = outcomes.entry(id.to_owned()).or_default();
    *outcome.verdicts.entry(found.verdict).or_default() += 1;
    if outcome.samples.len() < SAMPLES {
        outcome
            .samples
            .push(format!("{name}:{}  {}", found.line, found.reason));
    }
}

/// Where the agents keep the sessions of this project.
fn usual_places(project: &Project) -> Vec<PathBuf> {
    let Some(home) = &project.env.home else {
        return Vec::new();
    };
    // Claude Code names a directory after the project's path, with a dash for every other sign.
    let path = project.layout.root().to_string_lossy();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = path.chars().map(plain).collect();
    vec![
        home.join(".claude/projects").join(name),
        home.join(".codex/sessions"),
    ]
}

/// The transcripts in a place that were written to since then.
fn collect(place: &Path, since: Timestamp, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(meta) = place.metadata() else {
        return;
    };
    if meta.is_dir() {
        let entries = place.read_dir().into_iter().flatten().flatten();
        let mut inside: Vec<_> = entries.map(|entry| entry.path()).collect();
        inside.sort();
        if depth > 0 {
            for path in inside {
                collect(&path, since, depth - 1, files);
            }
        }
        return;
    }
    let is_transcript = place.extension().is_some_and(|kind| kind == "jsonl");
    let modified = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    let is_old = Timestamp::try_from(modified).is_ok_and(|modified| modified < since);
    if is_transcript && !is_old {
        files.push(place.to_owned());
    }
}

fn print(project: &Project, outcomes: &BTreeMap<String, Outcome>, files: usize, calls: u64) {
    let (calls, files) = (count(calls, "call"), count(files, "transcript"));
    out!("{calls} of tools in {files}");
    for rule in &project.merged.rules {
        let id = Plain(&rule.id);
        let Some(outcome) = outcomes.get(&rule.id) else {
            out!("{BOLD}{id}{BOLD:#}  never");
            continue;
        };
        let verdicts = outcome.verdicts.iter();
        let verdicts: Vec<_> = verdicts
            .map(|(word, count)| format!("{word} {count}×"))
            .collect();
        out!("{BOLD}{id}{BOLD:#}  {}", verdicts.join(", "));
        for sample in &outcome.samples {
            out!("  {DIM}{}{DIM:#}", Plain(sample));
        }
    }
    if project.merged.rules.is_empty() {
        out!("{HINT}hint{HINT:#}: there is no rule here; `tollgate rules add` lists packs");
    }
}

fn print_json(project: &Project, outcomes: &BTreeMap<String, Outcome>, files: usize, calls: u64) {
    let rules = project.merged.rules.iter().map(|rule| {
        let outcome = outcomes.get(&rule.id);
        json!({
            "id": rule.id, "verdicts": outcome.map_or_else(|| json!({}), |one| json!(one.verdicts)),
            "samples": outcome.map(|one| one.samples.clone()).unwrap_or_default(),
        })
    });
    let rules: Vec<Value> = rules.collect();
    anstream::println!(
        "{:#}",
        json!({ "transcripts": files, "calls": calls, "rules": rules })
    );
}
