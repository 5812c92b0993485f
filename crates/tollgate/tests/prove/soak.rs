//! A busy week: event after event through real processes. Memory stays flat, the journal is
//! rotated, and the last thousand cost what the first thousand did.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::ground::Ground;
use crate::report::{Chance, Effort, Report};

/// Events of the short form.
const SHORT: u64 = 600;

pub(crate) fn run(effort: &Effort, report: &mut Report) {
    let ground = Ground::new();
    let mut chance = Chance::new(effort.seed);
    let most = effort
        .events
        .unwrap_or(if effort.is_long() { 200_000 } else { SHORT });
    let mut times: Vec<Duration> = Vec::new();
    let mut number = 0;
    while number < most && (effort.events.is_some() || effort.goes_on(number, SHORT)) {
        number += 1;
        let event = event(&ground, &mut chance, number);
        let started = Instant::now();
        let run = ground.hook(&event);
        times.push(started.elapsed());
        let answer = run.is_an_answer();
        report.check(answer.is_ok(), || {
            format!("event {number} {event}: {answer:?}")
        });
    }
    report.count("events", number);
    let part = times.len() / 10;
    let (first, last) = (
        median(&times[..part.max(1)]),
        median(&times[times.len() - part.max(1)..]),
    );
    report.note(format!(
        "median {:.2} ms at first, {:.2} ms at last",
        ms(first),
        ms(last)
    ));
    // Whatever else runs on the machine moves both; a leak moves the last far away.
    report.check(last < first * 2 + Duration::from_millis(5), || {
        format!("the last events cost {last:?}, the first {first:?}")
    });
    let journal = ground.path(".tollgate/local");
    let sizes: u64 = std::fs::read_dir(&journal)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("journal"))
        .filter_map(|entry| entry.metadata().ok())
        .map(|meta| meta.len())
        .sum();
    let files = std::fs::read_dir(&journal).map_or(0, Iterator::count);
    report.note(format!(
        "journal {} KB, {files} files beside it",
        sizes >> 10
    ));
    report.check(sizes < 64 << 20, || {
        format!("the journal has {sizes} bytes")
    });
    report.check(files < 5_000, || {
        format!("{files} files in .tollgate/local")
    });
    report.note(peak_memory());
    let state = ground.state();
    report.check(state.is_ok(), || format!("{state:?}"));
}

fn event(ground: &Ground, chance: &mut Chance, number: u64) -> Value {
    let id = format!("toolu_{number}");
    let tool = |name: &str, input: Value| json!({"tool_name": name, "tool_input": input, "tool_use_id": id});
    match chance.below(20) {
        0 => ground.delegated(&id),
        1 => ground.event(
            "PreToolUse",
            &tool(
                "Agent",
                json!({"subagent_type": "qa-engineer", "prompt": "Review."}),
            ),
        ),
        2 => ground.event(
            "PreToolUse",
            &tool("Bash", json!({"command": "git add -A && git commit -m x"})),
        ),
        3 => ground.event(
            "PreToolUse",
            &tool("Bash", json!({"command": "rm .isdlc/state.json"})),
        ),
        4 => ground.event("Stop", &json!({"stop_hook_active": false})),
        5 => ground.event("SessionStart", &json!({"source": "resume"})),
        6 => ground.event("UserPromptSubmit", &json!({"prompt": "go on"})),
        7..=10 => ground.event("PreToolUse", &tool("Read", json!({"file_path": "/x"}))),
        11..=13 => ground.event(
            "PreToolUse",
            &tool(
                "Edit",
                json!({"file_path": "/x", "old_string": "a", "new_string": "b"}),
            ),
        ),
        14..=16 => ground.event(
            "PreToolUse",
            &tool("Bash", json!({"command": "cargo test 2>&1 | tail"})),
        ),
        _ => {
            let mut event = ground.event(
                "PostToolUse",
                &tool("Bash", json!({"command": "cargo test"})),
            );
            event["tool_response"] = json!({"stdout": "test result: ok. 3 passed; 0 failed;"});
            event
        }
    }
}

fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort();
    times[times.len() / 2]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// The largest of our children so far.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let own = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap_or("VmHWM unknown");
    format!(
        "the rig's own {}",
        own.split_whitespace().collect::<Vec<_>>().join(" ")
    )
}
