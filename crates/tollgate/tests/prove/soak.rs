//! A busy week: event after event through real processes, eight at a time. Memory stays flat, the
//! journal is rotated and whole, and the last tenth costs what the first did.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollgate_store::journal::NAMES;

use crate::report::{Chance, Effort, Report};
use crate::workspace::{Workspace, run as run_command};

/// Events of the short form.
const SHORT: u64 = 600;
/// An agent with seven helpers.
const WORKERS: u64 = 8;
/// Memory is looked at so often.
const WEIGHED: u64 = 10;
/// So many of a kind of event, early and late, say what its memory is.
const FEW: usize = 5;

/// How much the memory of a kind of event may grow, in KB, and how much any event may take. (That
/// was seen to be 13 MB with the program as it ships, and 17 MB with the debug build.)
const GROWTH: u64 = 1024;
const MOST: u64 = 32 * 1024;

/// Runs a program and appends the most memory that it had, in KB, to a file.
const SCALES: &str = r#"
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    pid_t pid = fork();
    if (pid == 0) { execv(argv[2], argv + 2); _exit(127); }
    int status; struct rusage used;
    if (wait4(pid, &status, 0, &used) != pid) return 127;
    FILE *file = fopen(argv[1], "a");
    if (file) { fprintf(file, "%ld\n", used.ru_maxrss); fclose(file); }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
"#;

/// What one event took.
struct Sample {
    number: u64,
    took: Duration,
}

pub(crate) fn run(effort: &Effort, report: &mut Report) {
    let workspace = Workspace::whole();
    let most = effort.events(SHORT);
    let scales = scales(&workspace);
    if scales.is_none() {
        report.note("SKIPPED memory: no C compiler".to_owned());
    }
    let number = AtomicU64::new(0);
    let samples: Mutex<Vec<Sample>> = Mutex::default();
    let defects: Mutex<Vec<String>> = Mutex::default();
    let began = Instant::now();
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (workspace, number, scales) = (&workspace, &number, &scales);
            let (samples, defects) = (&samples, &defects);
            scope.spawn(move || {
                let mut chance = Chance::new(effort.seed ^ worker);
                let mut mine = Vec::new();
                loop {
                    let at = number.fetch_add(1, Ordering::Relaxed);
                    if at >= most {
                        break;
                    }
                    if at % 1_000 == 999 {
                        step(workspace, at / 1_000);
                    }
                    let event = event(workspace, &mut chance, at);
                    let command = match scales {
                        Some((scales, logs)) if at.is_multiple_of(WEIGHED) => {
                            let mut command = workspace.foreign(scales);
                            command.arg(logs.join(kind(&event)));
                            command.arg(crate::workspace::program()).arg("hook");
                            command
                        }
                        _ => workspace.command(&["hook"]),
                    };
                    let run = crate::workspace::run(command, event.to_string().as_bytes());
                    if !at.is_multiple_of(WEIGHED) {
                        mine.push(Sample {
                            number: at,
                            took: run.took,
                        });
                    }
                    if let Err(error) = run.is_an_answer() {
                        let text = format!("event {at} {event}: {error}");
                        defects.lock().unwrap().push(text);
                    }
                }
                samples.lock().unwrap().extend(mine);
            });
        }
    });
    let mut samples = samples.into_inner().unwrap();
    samples.sort_by_key(|sample| sample.number);
    report.count("events", number.load(Ordering::Relaxed) - WORKERS);
    let rate = samples.len() as u128 * 1000 / began.elapsed().as_millis().max(1);
    report.note(format!("{rate} a second, {WORKERS} at a time"));
    for defect in defects.into_inner().unwrap() {
        report.defect(defect);
    }
    latency(&samples, report);
    if let Some((_, logs)) = scales {
        memory(&logs, report);
    }
    journal(&workspace, report);
    let state = workspace.state();
    report.check(state.is_ok(), || format!("{state:?}"));
    let state = std::fs::metadata(workspace.path(".isdlc/state.json")).map_or(0, |meta| meta.len());
    report.note(format!("state {} KB", state >> 10));
    report.check(state < 1 << 20, || format!("the state has {state} bytes"));
}

/// Between events the workflow goes on.
fn step(workspace: &Workspace, at: u64) {
    let commands: &[&[&str]] = &[
        &["phase", "begin"],
        &["phase", "skip"],
        &["run"],
        &["workflow", "cancel", "--reason", "next"],
        &["workflow", "start", "feature", "next", "--no-branch"],
        &["plan", "begin", "new-plan"],
        &["plan", "done", "new-plan"],
    ];
    let at = usize::try_from(at).unwrap_or(0) % commands.len();
    let _any = run_command(workspace.agreed(commands[at]), b"");
}

fn latency(samples: &[Sample], report: &mut Report) {
    let tenth = (samples.len() / 10).max(1);
    let times = |part: &[Sample]| {
        let mut times: Vec<_> = part.iter().map(|sample| sample.took).collect();
        times.sort();
        times
    };
    let first = times(&samples[..tenth]);
    let last = times(&samples[samples.len() - tenth..]);
    for (name, at) in [("median", 50), ("p99", 99)] {
        let (first, last) = (first[first.len() * at / 100], last[last.len() * at / 100]);
        report.note(format!(
            "{name} of the first tenth {:.2} ms, of the last {:.2} ms, ratio {:.2}",
            ms(first),
            ms(last),
            ms(last) / ms(first)
        ));
        // Whatever else runs on the machine moves both, and the few slowest most of all; a leak
        // moves the middle far away.
        report.check(
            name == "p99" || last < first * 2 + Duration::from_millis(5),
            || format!("{name}: the last events cost {last:?}, the first {first:?}"),
        );
    }
}

/// What a hook has to do, which is what its memory depends on.
fn kind(event: &Value) -> String {
    let text = |key: &str| event[key].as_str().unwrap_or("none").to_owned();
    format!("{}-{}", text("hook_event_name"), text("tool_name"))
}

/// The memory of the hooks that were weighed, early and late, each kind of event beside itself. The
/// middle of a kind tells a leak. The most does not: now and then an event makes the changes that
/// waited for a busy lock, which takes the whole state apart, so it is held to a bound of its own.
fn memory(logs: &std::path::Path, report: &mut Report) {
    let middle = |part: &[u64]| {
        let mut part = part.to_vec();
        part.sort_unstable();
        part.get(part.len() / 2).copied().unwrap_or(0)
    };
    let (mut weighed, mut most) = (0, 0_u64);
    let mut furthest = (0_u64, 0_u64);
    for log in std::fs::read_dir(logs).into_iter().flatten().flatten() {
        let text = std::fs::read_to_string(log.path()).unwrap_or_default();
        let weights: Vec<u64> = text.lines().filter_map(|line| line.parse().ok()).collect();
        weighed += weights.len();
        most = weights.iter().copied().fold(most, u64::max);
        // One stop runs the gates and another is within their interval: a few are compared, or none.
        let part = (weights.len() / 10).max(FEW);
        if weights.len() < 2 * part {
            continue;
        }
        let first = middle(&weights[..part]);
        let last = middle(&weights[weights.len() - part..]);
        if last.saturating_sub(first) >= furthest.1.saturating_sub(furthest.0) {
            furthest = (first, last);
        }
        // The state and its history have grown to their caps meanwhile: a little more is theirs.
        report.check(last < first + GROWTH, || {
            let kind = log.file_name();
            let kind = kind.display();
            format!("memory of {kind} grew from {first} to {last} KB")
        });
    }
    report.check(weighed > 0, || "nothing was weighed".to_owned());
    report.check(most < MOST, || format!("a hook took {most} KB"));
    let (first, last) = furthest;
    report.note(format!(
        "memory of the kind that grew most {first} KB in the first tenth, {last} KB in the last, {most} KB the most of all ({weighed} weighed)"
    ));
}

fn journal(workspace: &Workspace, report: &mut Report) {
    let local = workspace.path(".tollgate/local");
    let entries = || std::fs::read_dir(&local).into_iter().flatten().flatten();
    let journals: Vec<u64> = entries()
        .filter(|entry| {
            let name = entry.file_name();
            NAMES.iter().any(|journal| name == *journal)
        })
        .filter_map(|entry| Some(entry.metadata().ok()?.len()))
        .collect();
    let size: u64 = journals.iter().sum();
    report.note(format!(
        "journal of {} KB in {} files",
        size >> 10,
        journals.len()
    ));
    // Four files of 4 MB, and what the last line of each is over.
    report.check(size < 20 << 20, || format!("the journal has {size} bytes"));
    report.check(size < 5 << 20 || journals.len() > 1, || {
        "the journal was not rotated".to_owned()
    });
    let verified = workspace.tollgate(&["log", "--verify"]);
    report.check(verified.code == Some(0), || {
        format!("the journal: {verified:?}")
    });
    let files = count(&local);
    report.note(format!("{files} files of ours"));
    report.check(files < 2_000, || format!("{files} files of ours"));
}

fn count(directory: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => count(&entry.path()),
            _ => 1,
        })
        .sum()
}

fn event(workspace: &Workspace, chance: &mut Chance, number: u64) -> Value {
    let id = format!("toolu_{number}");
    let tool = |name: &str, input: Value| json!({"tool_name": name, "tool_input": input, "tool_use_id": id});
    match chance.below(20) {
        0 => workspace.delegated(&id),
        1 => workspace.event(
            "PreToolUse",
            &tool(
                "Agent",
                json!({"subagent_type": "qa-engineer", "prompt": "Review."}),
            ),
        ),
        2 => workspace.event(
            "PreToolUse",
            &tool("Bash", json!({"command": "git add -A && git commit -m x"})),
        ),
        3 => workspace.event(
            "PreToolUse",
            &tool("Bash", json!({"command": "rm .isdlc/state.json"})),
        ),
        // An agent stops, begins and is told something far less often than it uses a tool.
        4 if number.is_multiple_of(25) => {
            workspace.event("Stop", &json!({"stop_hook_active": false}))
        }
        5 if number.is_multiple_of(25) => {
            workspace.event("SessionStart", &json!({"source": "resume"}))
        }
        4..=6 => workspace.event("UserPromptSubmit", &json!({"prompt": "go on"})),
        7..=10 => workspace.event("PreToolUse", &tool("Read", json!({"file_path": "/x"}))),
        11..=13 => workspace.event(
            "PreToolUse",
            &tool(
                "Edit",
                json!({"file_path": "/x", "old_string": "a", "new_string": "b"}),
            ),
        ),
        14..=16 => workspace.event(
            "PreToolUse",
            &tool("Bash", json!({"command": "cargo test 2>&1 | tail"})),
        ),
        _ => {
            let mut event = workspace.event(
                "PostToolUse",
                &tool("Bash", json!({"command": "cargo test"})),
            );
            event["tool_response"] = json!({"stdout": "test result: ok. 3 passed; 0 failed;"});
            event
        }
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// The program that weighs, and the directory of what it finds: a file for each kind of event.
fn scales(workspace: &Workspace) -> Option<(PathBuf, PathBuf)> {
    let (source, program) = (
        workspace.outside().join("scales.c"),
        workspace.outside().join("scales"),
    );
    std::fs::write(&source, SCALES).unwrap();
    let mut compile = workspace.foreign("cc");
    compile.args(["-O1", "-o"]).arg(&program).arg(&source);
    let made = compile.output().ok()?.status.success();
    let logs = workspace.outside().join("weights");
    std::fs::create_dir(&logs).unwrap();
    made.then_some((program, logs))
}
