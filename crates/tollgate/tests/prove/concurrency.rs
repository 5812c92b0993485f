//! Everybody at once on one project: hooks of one event delivered twice, hooks that are killed,
//! phase and plan commands, gate runs, readers that look all the time; then once more with
//! strangers who ignore locks.
//!
//! What happened is recorded and checked, in `history.rs`: no read is torn, versions only grow and
//! none is made twice, one version is one content, every delegation that was acknowledged
//! is recorded exactly once, one whose hook was killed at most once.

use std::io::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::history::{History, Reader};
use crate::report::{Chance, Effort, Report};
use crate::workspace::{Workspace, ended, run as run_command, start};

/// What commands do meanwhile. Nothing that ends a workflow: that prunes the log of delegations.
const COMMANDS: &[&[&str]] = &[
    &["phase", "begin"],
    &["phase", "complete", "--summary", "done"],
    &["phase", "redo"],
    &["phase", "skip"],
    &["workflow", "status"],
    &["workflow", "audit"],
    &["workflow", "start", "feature", "again", "--no-branch"],
    &["plan", "new", "a-plan"],
    &["plan", "begin", "new-plan"],
    &["plan", "done", "new-plan"],
    &["plan", "set", "max_reviews", "3"],
    &["plan", "status"],
    &["status"],
    &["run"],
    &["run", "--gate", "good"],
    &["log", "-n", "3"],
];

/// Workers of each kind.
const TWINS: u64 = 3;
const KILLED: u64 = 1;
const COMMANDERS: u64 = 2;

pub(crate) fn run(effort: &Effort, report: &mut Report) {
    among_us(effort, report);
    with_strangers(effort, report);
    beside_a_stopped_one(report);
}

/// What the workers share.
struct Crowd<'c> {
    workspace: &'c Workspace,
    history: History,
    defects: Mutex<Vec<String>>,
    hooks: AtomicU64,
    kills: AtomicU64,
    commands: AtomicU64,
    runs: AtomicU64,
    over: AtomicBool,
}

impl<'c> Crowd<'c> {
    fn new(workspace: &'c Workspace) -> Self {
        Self {
            workspace,
            history: History::default(),
            defects: Mutex::default(),
            hooks: AtomicU64::new(0),
            kills: AtomicU64::new(0),
            commands: AtomicU64::new(0),
            runs: AtomicU64::new(0),
            over: AtomicBool::new(false),
        }
    }

    fn say(&self, text: String) {
        self.defects.lock().unwrap().push(text);
    }

    /// A delegation, delivered twice at once, as by a plugin and a settings file; acknowledged or
    /// not at all.
    fn delegates(&self, id: &str) {
        let event = self.workspace.delegated(id).to_string();
        let twins = [(); 2].map(|()| {
            let mut child = start(self.workspace.command(&["hook"]));
            let mut stdin = child.stdin.take().unwrap();
            stdin.write_all(event.as_bytes()).unwrap();
            child
        });
        for child in twins {
            let run = ended(child);
            self.hooks.fetch_add(1, Ordering::Relaxed);
            if let Err(error) = run.is_an_answer() {
                self.say(format!("hook: {error}"));
            } else if run.stderr.is_empty() {
                self.history.acknowledged(id);
            } else {
                self.say(format!("hook said {}", run.stderr));
            }
        }
    }

    /// One that is killed somewhere on its way: nobody knows whether it was recorded.
    fn delegates_and_dies(&self, id: &str, chance: &mut Chance) {
        let mut child = start(self.workspace.command(&["hook"]));
        let event = self.workspace.delegated(id).to_string();
        let _gone = child.stdin.take().unwrap().write_all(event.as_bytes());
        std::thread::sleep(Duration::from_micros(chance.below(6_000)));
        let _dead = kill_process(Pid::from_child(&child), Signal::KILL);
        let ended = child.wait_with_output().unwrap();
        if ended.status.code() == Some(0) {
            self.history.acknowledged(id);
        } else {
            self.kills.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Others of the same moment: read, decided, not recorded.
    fn looks_on(&self, chance: &mut Chance) {
        let command =
            json!({"tool_name": "Bash", "tool_input": {"command": "rm .isdlc/state.json"}});
        let agent = json!({"tool_name": "Agent", "tool_input": {"subagent_type": "qa-engineer", "prompt": "x"}});
        let event = match chance.below(3) {
            0 => self.workspace.event("PreToolUse", &command),
            1 => self.workspace.event("PreToolUse", &agent),
            _ => self
                .workspace
                .event("SessionStart", &json!({"source": "resume"})),
        };
        let run = self.workspace.hook(&event);
        self.hooks.fetch_add(1, Ordering::Relaxed);
        if let Err(error) = run.is_an_answer() {
            self.say(format!("hook: {error}"));
        }
    }

    fn commands(&self, chance: &mut Chance) {
        let args = *chance.of(COMMANDS);
        let run = run_command(self.workspace.agreed(args), b"");
        let count = if args[0] == "run" {
            &self.runs
        } else {
            &self.commands
        };
        count.fetch_add(1, Ordering::Relaxed);
        if !matches!(run.code, Some(0..=2)) || run.stderr.contains("panicked") {
            self.say(format!("{args:?}: {run:?}"));
        }
    }

    fn reads(&self) {
        let mut reader = Reader::default();
        while !self.over.load(Ordering::Relaxed) {
            if let Err(error) = reader.look(self.workspace, &self.history) {
                self.say(error);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn among_us(effort: &Effort, report: &mut Report) {
    let workspace = Workspace::whole();
    let crowd = Crowd::new(&workspace);
    std::thread::scope(|scope| {
        let mut workers = Vec::new();
        for worker in 0..TWINS + KILLED + COMMANDERS {
            let crowd = &crowd;
            workers.push(scope.spawn(move || {
                let mut chance = Chance::new(effort.seed ^ worker);
                let mut round = 0;
                while effort.goes_on(round, 12) {
                    round += 1;
                    if worker < TWINS {
                        crowd.delegates(&format!("twin-{worker}-{round}"));
                        if round.is_multiple_of(4) {
                            crowd.looks_on(&mut chance);
                        }
                    } else if worker < TWINS + KILLED {
                        crowd.delegates_and_dies(&format!("killed-{round}"), &mut chance);
                    } else {
                        crowd.commands(&mut chance);
                    }
                }
            }));
        }
        for _ in 0..2 {
            scope.spawn(|| crowd.reads());
        }
        scope.spawn(|| {
            while !crowd.over.load(Ordering::Relaxed) {
                crowd.history.follow(&workspace);
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        for worker in workers {
            worker.join().unwrap();
        }
        crowd.over.store(true, Ordering::Relaxed);
    });
    // What was put aside while somebody held the lock is made by whoever comes next.
    crowd.delegates("last");
    crowd.history.follow(&workspace);
    if let Err(error) = Reader::default().look(&workspace, &crowd.history) {
        crowd.say(error);
    }
    crowd.history.check(&workspace, report);
    tell(&crowd, report);
}

fn tell(crowd: &Crowd<'_>, report: &mut Report) {
    for (what, count) in [
        ("hooks", &crowd.hooks),
        ("hooks killed", &crowd.kills),
        ("commands", &crowd.commands),
        ("gate runs", &crowd.runs),
    ] {
        report.count(what, count.load(Ordering::Relaxed));
    }
    for defect in crowd.defects.lock().unwrap().drain(..) {
        report.defect(defect);
    }
}

/// Strangers read, change and replace the state as they please: one renames, one truncates and
/// writes. Nobody can promise that nothing is lost then; that every hook answers, that what we
/// write is whole, and that everything works again when they are gone, we can.
fn with_strangers(effort: &Effort, report: &mut Report) {
    let workspace = Workspace::whole();
    let crowd = Crowd::new(&workspace);
    let written = AtomicU64::new(0);
    // A fifth of the time of those among us.
    let until = Instant::now() + effort.fifth(Duration::from_secs(2));
    std::thread::scope(|scope| {
        for truncates in [false, true] {
            let (crowd, written) = (&crowd, &written);
            scope.spawn(move || {
                while !crowd.over.load(Ordering::Relaxed) {
                    // The other stranger's half-written file is read now and then.
                    if let Ok(state) = crowd.workspace.state() {
                        stranger(crowd.workspace, state, written, truncates);
                    }
                    std::thread::sleep(Duration::from_millis(if truncates { 20 } else { 3 }));
                }
            });
        }
        for worker in 0..3 {
            let crowd = &crowd;
            scope.spawn(move || {
                let mut chance = Chance::new(effort.seed ^ worker);
                let mut round = 0_u64;
                while Instant::now() < until {
                    round += 1;
                    let event = crowd.workspace.delegated(&format!("{worker}-{round}"));
                    let run = crowd.workspace.hook(&event);
                    crowd.hooks.fetch_add(1, Ordering::Relaxed);
                    if let Err(error) = run.is_an_answer() {
                        crowd.say(format!("beside strangers: {error}"));
                    }
                    if round.is_multiple_of(5) {
                        crowd.commands(&mut chance);
                    }
                }
                crowd.over.store(true, Ordering::Relaxed);
            });
        }
    });
    report.count(
        "hooks beside strangers",
        crowd.hooks.swap(0, Ordering::Relaxed),
    );
    report.count("writes of strangers", written.load(Ordering::Relaxed));
    tell(&crowd, report);
    // They are gone.
    if workspace.state().is_err() {
        workspace.file(".isdlc/state.json", b"{}");
    }
    let run = workspace.hook(&workspace.delegated("after"));
    report.check(run.is_an_answer().is_ok(), || {
        format!("after strangers: {run:?}")
    });
    let verified = workspace.tollgate(&["log", "--verify"]);
    report.check(verified.code == Some(0), || {
        format!("after strangers: {verified:?}")
    });
    let state = workspace.state();
    report.check(
        state
            .as_ref()
            .is_ok_and(|state| state.to_string().contains("\"after\"")),
        || format!("after strangers nothing is recorded: {state:?}"),
    );
}

fn stranger(workspace: &Workspace, mut state: Value, written: &AtomicU64, truncates: bool) {
    let path = workspace.path(".isdlc/state.json");
    state["theirs"] = written.fetch_add(1, Ordering::Relaxed).into();
    if truncates {
        let _theirs = std::fs::write(&path, state.to_string());
    } else {
        let temporary = workspace.path(".isdlc/theirs");
        std::fs::write(&temporary, state.to_string()).unwrap();
        std::fs::rename(&temporary, &path).unwrap();
    }
}

/// Somebody who holds the lock and is stopped keeps nobody waiting: hooks answer without writing,
/// and what they had to record arrives when somebody can write again.
fn beside_a_stopped_one(report: &mut Report) {
    let workspace = Workspace::new();
    let lock = workspace.path(".tollgate/local/state");
    // The files there, whichever of them is the lock.
    let held: Vec<std::fs::File> = std::fs::read_dir(lock)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| std::fs::File::open(entry.path()).ok())
        .filter(|file| file.lock().is_ok())
        .collect();
    report.check(!held.is_empty(), || "there is no lock to hold".to_owned());
    let before = workspace.state();
    for number in 0..3 {
        let run = workspace.hook(&workspace.delegated(&format!("waits-{number}")));
        report.count("hooks beside a stopped one", 1);
        report.check(
            run.is_an_answer().is_ok() && run.took < Duration::from_secs(10),
            || format!("beside a stopped one: {run:?}"),
        );
    }
    report.check(workspace.state() == before, || {
        "somebody wrote without the lock".to_owned()
    });
    drop(held);
    let _next = workspace.hook(&workspace.delegated("free"));
    let log = workspace.state().unwrap_or_default()["skill_usage_log"].to_string();
    for id in ["waits-0", "waits-1", "waits-2", "free"] {
        let times = log.matches(&format!("\"{id}\"")).count();
        report.check(times == 1, || format!("{id} is there {times} times"));
    }
}
