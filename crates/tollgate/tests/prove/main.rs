//! The trials: the program among hostile neighbours, for as long as one wants.
//!
//! Not a test of cases but of promises: never wedge the agent, never lose or tear state, leave no
//! process behind. `cargo test` runs the short form; `scripts/prove` the long one. Every trial counts
//! what it did and prints the seed that makes it do the same again.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a trial writes files, takes its options from the command line, and may fail"
)]

mod clock;
mod concurrency;
mod crash;
mod disk;
#[path = "../it/events.rs"]
#[expect(dead_code, reason = "shared with the tests of cases")]
mod events;
mod evidence;
mod history;
mod hostile;
mod inject;
mod power;
mod processes;
#[path = "../it/project.rs"]
#[expect(dead_code, reason = "shared with the tests of cases")]
mod project;
mod protocol;
mod report;
mod secrets;
mod soak;
#[path = "../it/watchdog.rs"]
mod watchdog;
mod workspace;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use report::{Counts, Effort, Report};

/// A trial by its name.
type Trial = (&'static str, fn(&Effort, &mut Report));

const TRIALS: &[Trial] = &[
    ("concurrency", concurrency::run),
    ("crash", crash::run),
    ("inject", inject::run),
    ("disk", disk::run),
    ("power", power::run),
    ("processes", processes::run),
    ("hostile", hostile::run),
    ("secrets", secrets::run),
    ("clock", clock::run),
    ("evidence", evidence::run),
    ("protocol", protocol::run),
    ("soak", soak::run),
];

fn main() -> ExitCode {
    let mut minutes: Option<f64> = None;
    let mut seed = jiff::Timestamp::now().as_microsecond().unsigned_abs();
    let mut counts = Counts::default();
    let mut wanted: Vec<String> = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--minutes" => minutes = args.next().and_then(|value| value.parse().ok()),
            "--events" => counts.events = args.next().and_then(|value| value.parse().ok()),
            "--steps" => counts.steps = args.next().and_then(|value| value.parse().ok()),
            "--kills" => counts.kills = args.next().and_then(|value| value.parse().ok()),
            "--seed" => {
                seed = args
                    .next()
                    .and_then(|value| value.parse().ok())
                    .unwrap_or(seed);
            }
            "--list" => return ExitCode::SUCCESS,
            // What `cargo test -- …` says to every test binary is not for this one.
            _ if arg.starts_with('-') => {}
            _ => wanted.push(arg),
        }
    }
    if let Some(report) = disk::inside(&Effort::new(minutes, counts, seed)) {
        println!("{}", report.told());
        return ExitCode::SUCCESS;
    }
    let mut defects = 0;
    println!("seed {seed}; {}", workspace::program().display());
    println!(
        "{:<12} {:>8} {:>8} {:>17}  what was done",
        "trial", "seconds", "defects", "seed"
    );
    for (name, trial) in TRIALS {
        if !wanted.is_empty() && !wanted.iter().any(|wanted| name == wanted) {
            continue;
        }
        let effort = Effort::new(minutes, counts, seed);
        let started = Instant::now();
        let mut report = Report::default();
        trial(&effort, &mut report);
        let took = started.elapsed();
        println!(
            "{name:<12} {:>8.1} {:>8} {seed:>17}  {}",
            took.as_secs_f64(),
            report.defects.len(),
            report.line()
        );
        for defect in &report.defects {
            println!("  DEFECT (--seed {seed}): {defect}");
        }
        defects += report.defects.len();
    }
    workspace::forget();
    println!("{defects} defects");
    if defects == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Waits for something that must come to pass; answers whether it did.
fn within(limit: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !holds() {
        if start.elapsed() > limit {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}
