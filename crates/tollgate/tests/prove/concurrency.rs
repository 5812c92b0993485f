//! Everybody at once on one project: hooks of one event delivered twice, phase and plan commands,
//! readers that look all the time; then once more with a stranger who ignores locks.
//!
//! A history is recorded and checked: no read is torn, versions only grow, one version is one
//! content, and every recorded delegation is there exactly once.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::Value;

use crate::ground::Ground;
use crate::report::{Chance, Effort, Report};

pub(crate) fn run(effort: &Effort, report: &mut Report) {
    among_us(effort, report);
    with_a_stranger(effort, report);
}

/// One look at the state.
struct Look {
    version: u64,
    digest: u64,
}

fn look(ground: &Ground) -> Result<Look, String> {
    let bytes = std::fs::read(ground.path(".isdlc/state.json")).map_err(|e| e.to_string())?;
    let value: Value = serde_json::from_slice(&bytes)
        .map_err(|error| format!("torn read: {error}, {} bytes", bytes.len()))?;
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    Ok(Look {
        version: value["state_version"].as_u64().unwrap_or(0),
        digest: hasher.finish(),
    })
}

fn one_command(ground: &Ground, chance: &mut Chance) -> Result<(), String> {
    let commands: &[&[&str]] = &[
        &["phase", "begin"],
        &["phase", "complete", "--summary", "done"],
        &["phase", "redo"],
        &["phase", "skip"],
        &["workflow", "status"],
        &["workflow", "audit"],
        // Nothing that ends a workflow: that prunes the log which is counted.
        &["workflow", "start", "feature", "again", "--no-branch"],
        &["plan", "new", "a-plan"],
        &["plan", "status"],
        &["guards"],
    ];
    let args = chance.of(commands);
    let run = ground.tollgate(args);
    match run.code {
        Some(0..=2) => Ok(()),
        code => Err(format!("{args:?} ended with {code:?}: {}", run.stderr)),
    }
}

fn among_us(effort: &Effort, report: &mut Report) {
    let ground = Ground::new();
    let over = AtomicBool::new(false);
    let (hooks, commands, reads) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let defects = Mutex::new(Vec::new());
    let contents: Mutex<BTreeMap<u64, u64>> = Mutex::default();
    let say = |text: String| defects.lock().unwrap().push(text);
    std::thread::scope(|scope| {
        let mut workers = Vec::new();
        for worker in 0..6_u64 {
            let (ground, hooks, commands, say) = (&ground, &hooks, &commands, &say);
            workers.push(scope.spawn(move || {
                let mut chance = Chance::new(effort.seed ^ worker);
                let mut round = 0;
                while effort.goes_on(round, 12) {
                    round += 1;
                    if worker < 4 {
                        // Both deliveries of a pair of workers carry the same id.
                        let event = ground.delegated(&format!("{}-{round}", worker / 2));
                        let run = ground.hook(&event);
                        hooks.fetch_add(1, Ordering::Relaxed);
                        if let Err(error) = run.is_an_answer() {
                            say(format!("hook: {error}"));
                        }
                        if !run.stderr.is_empty() {
                            say(format!("hook said {}", run.stderr));
                        }
                    } else {
                        commands.fetch_add(1, Ordering::Relaxed);
                        if let Err(error) = one_command(ground, &mut chance) {
                            say(error);
                        }
                    }
                }
                round
            }));
        }
        for _ in 0..2 {
            scope.spawn(|| {
                let mut last = 0;
                while !over.load(Ordering::Relaxed) {
                    reads.fetch_add(1, Ordering::Relaxed);
                    match look(&ground) {
                        Err(error) => say(error),
                        Ok(look) => {
                            if look.version < last {
                                say(format!("version {} after {last}", look.version));
                            }
                            last = look.version;
                            let before = contents.lock().unwrap().insert(look.version, look.digest);
                            if before.is_some_and(|before| before != look.digest) {
                                say(format!("two contents of version {}", look.version));
                            }
                        }
                    }
                    std::thread::yield_now();
                }
            });
        }
        let rounds: Vec<u64> = workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .collect();
        over.store(true, Ordering::Relaxed);
        // A pair may have come unequally far; what either delivered must be there.
        let expected = rounds[0].max(rounds[1]) + rounds[2].max(rounds[3]);
        // What was spooled while somebody held the lock is made by whoever comes next.
        let _flush = ground.hook(&ground.delegated("last"));
        match ground.state() {
            Err(error) => say(error),
            Ok(state) => {
                let log = state["skill_usage_log"]
                    .as_array()
                    .cloned()
                    .unwrap_or_default();
                let ids: BTreeSet<_> = log
                    .iter()
                    .map(|entry| entry["description"].to_string())
                    .collect();
                // The log keeps its last 500 entries.
                let expected = (expected + 1).min(500);
                if log.len() as u64 != expected || ids.len() != log.len() {
                    say(format!(
                        "{} entries, {} different, {expected} expected",
                        log.len(),
                        ids.len()
                    ));
                }
            }
        }
    });
    report.count("hooks", hooks.load(Ordering::Relaxed));
    report.count("commands", commands.load(Ordering::Relaxed));
    report.count("reads", reads.load(Ordering::Relaxed));
    report.count("versions seen", contents.lock().unwrap().len() as u64);
    for defect in defects.into_inner().unwrap() {
        report.defect(defect);
    }
}

/// A stranger reads, changes and replaces the state as it pleases. Nobody can promise that
/// nothing is lost then; that everything stays readable and every hook answers, we can.
fn with_a_stranger(effort: &Effort, report: &mut Report) {
    let ground = Ground::new();
    let over = AtomicBool::new(false);
    let defects = Mutex::new(Vec::new());
    let (written, asked) = (AtomicU64::new(0), AtomicU64::new(0));
    let until = std::time::Instant::now()
        + std::time::Duration::from_secs(if effort.is_long() { 60 } else { 2 });
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let path = ground.path(".isdlc/state.json");
            let temporary = ground.path(".isdlc/theirs");
            while !over.load(Ordering::Relaxed) {
                match ground.state() {
                    Err(error) => defects.lock().unwrap().push(error),
                    Ok(mut state) => {
                        state["theirs"] = written.fetch_add(1, Ordering::Relaxed).into();
                        std::fs::write(&temporary, state.to_string()).unwrap();
                        std::fs::rename(&temporary, &path).unwrap();
                    }
                }
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
        while std::time::Instant::now() < until {
            let number = asked.fetch_add(1, Ordering::Relaxed);
            let run = ground.hook(&ground.delegated(&number.to_string()));
            if let Err(error) = run.is_an_answer() {
                defects.lock().unwrap().push(error);
            }
        }
        over.store(true, Ordering::Relaxed);
    });
    report.count("hooks beside a stranger", asked.load(Ordering::Relaxed));
    report.count("writes of the stranger", written.load(Ordering::Relaxed));
    for defect in defects.into_inner().unwrap() {
        report.defect(defect);
    }
}
