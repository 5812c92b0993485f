//! The handshake explored: every interleaving of two command processes, hook events, an agent's
//! writes and crashes between file operations, over workflows of one to four phases.
//!
//! A process is a command on its way through the store: it takes the lock, reads, stages the new
//! file, renames it, gives the lock back, writes its line in the journal. It can be killed after
//! each. Hooks change the state at once, or through the pending changes while somebody holds the lock. An
//! agent's Write ignores the lock and asks only the guard. That one replacement of a file is all
//! or nothing, and that a pending change is made once, is what `state::fault_tests` shows with
//! real files and real kills; here it is taken for granted.
//!
//! Time stands still, versions are left out of a state's identity, and so is what no later step
//! reads: the details of phases that are over and the texts of past reviews. (Each such state is
//! checked before it is simplified.) A phase is run again at most once, and [`Bounds`] says how
//! many crashes there are. Within that the space is explored whole; nothing is sampled.
#![cfg(test)]

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use jiff::Timestamp;
use serde_json::{Value, json};

use tollgate_core::project::Layout;
use tollgate_core::workflow::definitions::{Definitions, Home, Intensity};
use tollgate_core::workflow::evidence::ProjectRequirements;
use tollgate_core::workflow::manifest::Manifest;
use tollgate_core::workflow::phases;
use tollgate_core::workflow::position::{Doing, WorkflowPosition, running};
use tollgate_core::workflow::transition::{
    self, Choice, Completion, Ending, Escalations, Gates, Report, Rules, Start, Step,
};
use tollgate_store::document::Document;
use tollgate_store::edit::{self, Edit};

mod checks;
mod explore;
mod mixer;

use mixer::Mixed;

/// The version every stored document has; a stale copy has a smaller one.
const VERSION: u64 = 1000;

/// The steps a process may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Command {
    Begin,
    Retry,
    Complete,
    CompleteLight,
    Redo,
    Skip,
    SkipLast,
    Continue,
    Read,
    Finalize,
    Cancel,
}

const COMMANDS: [Command; 11] = [
    Command::Begin,
    Command::Retry,
    Command::Complete,
    Command::CompleteLight,
    Command::Redo,
    Command::Skip,
    Command::SkipLast,
    Command::Continue,
    Command::Read,
    Command::Finalize,
    Command::Cancel,
];

/// How much is let loose on a workflow.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// Commands that are on their way at the same time.
    processes: usize,
    /// How often somebody is killed.
    crashes: u8,
    /// How often a phase is done again; the real limit is three.
    redos: u64,
    /// What hooks record.
    hooks: &'static [Hook],
    /// Whether an agent also makes honest writes, which make a command start over.
    writes: bool,
}

/// What a hook records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Hook {
    Escalate,
    TestsFail,
    TestsPass,
}

const HOOKS: &[Hook] = &[Hook::Escalate, Hook::TestsFail, Hook::TestsPass];

/// How far a process is. Documents are numbers: equal number, equal document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Process {
    Away,
    /// What it read, before anything that was pending.
    HasRead(Command, u32),
    /// What it read, what it will write, whether it took what is pending along.
    Staged(Command, u32, u32, bool),
    /// The file has its name; the journal has not this mark of this phase.
    Committed(u16, u8),
}

/// One state of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct World {
    disk: u32,
    processes: [Process; 2],
    /// A hook's change that waits.
    pending: Option<Hook>,
    /// The journal, as far as it matters: the last step of each phase, two bits each.
    journal: u16,
    /// How many were killed.
    crashes: u8,
}

struct Model {
    bounds: Bounds,
    /// Documents that were shown to the guards, without what no guard looks at.
    plain: HashSet<String>,
    /// Documents that were checked before they were simplified.
    raw: HashSet<u64>,
    definitions: Definitions,
    requirements: ProjectRequirements,
    documents: Vec<Document>,
    numbers: HashMap<String, u32>,
    steps: HashMap<(u32, Command), Option<u32>, Mixed>,
    hooks: HashMap<(u32, Hook), Option<u32>, Mixed>,
    journals: HashSet<(u32, u16), Mixed>,
    layout: Layout,
    root: tempfile::TempDir,
    all_phases: Vec<&'static str>,
    guarded: usize,
}

/// Two bits of the journal.
const NONE: u16 = 0;
const COMPLETED: u16 = 1;
const REDONE: u16 = 2;
const SKIPPED: u16 = 3;

/// Drops what no later step reads: the story of phases that are over, and of past reviews. A
/// workflow that is over is one document, whatever its story.
fn forget(document: &mut Document) {
    if running(document).is_none() {
        *document = Document::parse(br#"{"state_version":1000,"active_workflow":null}"#).unwrap();
        return;
    }
    let current = document
        .str(&["active_workflow", "current_phase"])
        .unwrap()
        .to_owned();
    let listed: Vec<String> = document
        .object(&["phases"])
        .unwrap()
        .keys()
        .cloned()
        .collect();
    for key in listed.iter().take_while(|key| **key != current) {
        document.set(&["phases", key], json!({"status":"completed","started":"2026-02-08T20:00:00.000Z","completed":"2026-02-08T20:00:00.000Z",
            "gate_passed":null,"artifacts":[],"summary":"done"})).unwrap();
    }
    document.remove(&["active_workflow", "review_history"]);
    document.remove(&[
        "active_workflow",
        "supervised_review",
        "redo_guidance_history",
    ]);
}

/// A document without what no guard looks at: how often a phase was run, its artifacts, what
/// waits for a person. Showing every document to them took a third longer (89 s against 57 s).
fn plain(document: &Document) -> String {
    let mut document = document.clone();
    let current = document.str(&["current_phase"]).unwrap().to_owned();
    document.remove(&["phases", current.as_str(), "timing"]);
    document.remove(&["phases", current.as_str(), "artifacts"]);
    document.remove(&["pending_escalations"]);
    document.to_text()
}

fn now() -> Timestamp {
    "2026-02-08T20:00:00Z".parse().unwrap()
}

impl Model {
    #[expect(clippy::disallowed_methods, reason = "tests plant files")]
    fn new(listed: &[&'static str], bounds: Bounds) -> Self {
        let own = json!({"workflows":{"t":{"phases":listed,"sizing":{"light_skip_phases":["03-architecture","04-design"]}}}});
        let root = tempfile::tempdir().unwrap();
        for directory in [".isdlc", "docs/isdlc"] {
            std::fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        std::fs::write(root.path().join("docs/isdlc/tasks.md"), "# Tasks\n").unwrap();
        let owners = listed.iter().map(|key| {
            let agent = phases::agent(key).unwrap().to_owned();
            (agent, json!({ "phase": key }))
        });
        let owners: serde_json::Map<_, _> = owners.collect();
        let manifest = json!({ "ownership": owners }).to_string();
        let config = root.path().join(".claude/hooks/config");
        std::fs::create_dir_all(&config).unwrap();
        std::fs::write(config.join("skills-manifest.json"), manifest).unwrap();
        let layout = Layout::at(root.path()).unwrap();
        Self {
            bounds,
            plain: HashSet::new(),
            raw: HashSet::new(),
            definitions: Definitions::with(&own.to_string(), Home::Own).unwrap(),
            requirements: ProjectRequirements::built_in(),
            documents: Vec::new(),
            numbers: HashMap::new(),
            steps: HashMap::default(),
            hooks: HashMap::default(),
            journals: HashSet::default(),
            layout,
            root,
            all_phases: listed.to_vec(),
            guarded: 0,
        }
    }

    fn rules<T>(&self, work: impl FnOnce(&Rules<'_>) -> T) -> T {
        let manifest = Manifest::built_in();
        work(&Rules {
            definitions: &self.definitions,
            requirements: &self.requirements,
            manifest: &manifest,
        })
    }

    /// The number of a document. A new one is checked first: this is where no reachable state
    /// may break a rule.
    fn intern(&mut self, mut document: Document) -> u32 {
        document.set(&["state_version"], VERSION).unwrap();
        let raw = document.to_text();
        let mut hasher = DefaultHasher::new();
        raw.hash(&mut hasher);
        if self.raw.insert(hasher.finish()) {
            self.check(&document, &raw);
        }
        forget(&mut document);
        let text = document.to_text();
        if let Some(number) = self.numbers.get(&text) {
            return *number;
        }
        let number = u32::try_from(self.documents.len()).unwrap();
        if running(&document).is_some() {
            if self.plain.insert(plain(&document)) {
                self.check_guards(&document, &text);
            }
            self.check_ways_out(&document);
        }
        self.documents.push(document);
        self.numbers.insert(text, number);
        number
    }

    fn document(&self, number: u32) -> &Document {
        &self.documents[number as usize]
    }

    fn start(&mut self, supervised: bool) -> u32 {
        let step = Step::Start(Start {
            workflow: "t",
            description: "model",
            from: None,
            light: false,
            supervised,
            folder: None,
            branch: None,
            project: "p",
        });
        let mut document = Document::default();
        let change = self
            .rules(|rules| transition::apply(&step, &document, rules, now()))
            .unwrap();
        edit::apply(&change.edits, &mut document).unwrap();
        self.intern(document)
    }

    fn transition(
        &self,
        command: Command,
        document: &Document,
        rules: &Rules<'_>,
    ) -> Result<transition::Change, transition::Refusal> {
        let complete = |size| {
            Step::Complete(Completion {
                phase: None,
                summary: "done",
                report: Report::default(),
                size,
                exists: &|_| true,
                gates: &|| Gates::Verified,
                since: &|_| None,
            })
        };
        let last = self.all_phases.last().copied();
        let step = match command {
            Command::Begin => Step::Begin {
                phase: None,
                escalations: Escalations::Heed,
            },
            Command::Retry => Step::Begin {
                phase: None,
                escalations: Escalations::Clear,
            },
            Command::Complete => complete(None),
            Command::CompleteLight => complete(Some(Intensity::Light)),
            Command::Redo => Step::Redo { guidance: "better" },
            Command::Skip => Step::Skip {
                phase: None,
                reason: "no need",
            },
            Command::SkipLast => Step::Skip {
                phase: last,
                reason: "no need",
            },
            Command::Continue => Step::Review(Choice::Continue),
            Command::Read => Step::Review(Choice::Review),
            Command::Finalize => Step::Finalize(Ending::default()),
            Command::Cancel => Step::Cancel { reason: "enough" },
        };
        transition::apply(&step, document, rules, now())
    }

    /// The document after a command, or nothing if it is refused. A phase is run again once only,
    /// which keeps the space finite.
    fn after(&mut self, from: u32, command: Command) -> Option<u32> {
        if let Some(known) = self.steps.get(&(from, command)) {
            return *known;
        }
        let document = self.document(from).clone();
        let change = self.rules(|rules| self.transition(command, &document, rules));
        let again = matches!(command, Command::Begin | Command::Retry) && {
            let standing = WorkflowPosition::of(&document);
            let retries = standing
                .ok()
                .and_then(|s| s.field(s.current()?.key, &["timing", "retries"])?.as_u64());
            let redos = document
                .u64(&["active_workflow", "supervised_review", "redo_count"])
                .unwrap_or(0);
            retries.is_some_and(|retries| retries > redos)
                && document.str(&[
                    "phases",
                    document.str(&["current_phase"]).unwrap_or(""),
                    "status",
                ]) == Some("in_progress")
        };
        let redone = document
            .u64(&["active_workflow", "supervised_review", "redo_count"])
            .unwrap_or(0);
        let again = again || (command == Command::Redo && redone >= self.bounds.redos);
        let result = match change {
            Ok(change) if !again => {
                let mut after = document;
                edit::apply(&change.edits, &mut after).unwrap();
                Some(self.intern(after))
            }
            Ok(_) | Err(_) => None,
        };
        self.steps.insert((from, command), result);
        result
    }

    /// The document after a hook's change; nothing if the change no longer applies.
    fn hooked(&mut self, from: u32, hook: Hook) -> Option<u32> {
        if let Some(known) = self.hooks.get(&(from, hook)) {
            return *known;
        }
        let mut document = self.document(from).clone();
        let result = (|| {
            running(&document)?;
            let phase = document
                .str(&["active_workflow", "current_phase"])?
                .to_owned();
            let edits = match hook {
                Hook::Escalate => {
                    if !document
                        .array(&["pending_escalations"])
                        .unwrap_or_default()
                        .is_empty()
                    {
                        return None; // the hook drops what it has said within a minute
                    }
                    vec![Edit::push(
                        &["pending_escalations"],
                        json!({"type":"gate_blocked","hook":"gate-blocker","phase":phase,"detail":"x"}),
                    )]
                }
                Hook::TestsFail | Hook::TestsPass => {
                    let record = ["phases", &phase, "iteration_requirements"];
                    if hook == Hook::TestsPass && document.get(&record).is_none() {
                        return None; // tests that never failed change nothing here
                    }
                    let passed = hook == Hook::TestsPass;
                    let record = json!({"completed": passed, "current_iteration": 1, "max_iterations": 5,
                        "last_test_result": if passed { "passed" } else { "failed" }});
                    vec![
                        // What is recorded late is recorded for the phase it happened in, or not at all.
                        Edit::require(&["phases", &phase, "status"], "in_progress"),
                        Edit::set(
                            &["phases", &phase, "iteration_requirements", "test_iteration"],
                            record,
                        ),
                    ]
                }
            };
            edit::apply(&edits, &mut document).ok()
        })();
        let result = result.map(|_| self.intern(document));
        self.hooks.insert((from, hook), result);
        result
    }

    /// What a process that has renamed its file still has to write down about the phase whose
    /// turn it was.
    fn line(&self, command: Command, read: u32) -> Process {
        let mark = match command {
            Command::Complete | Command::CompleteLight => COMPLETED,
            Command::Redo => REDONE,
            Command::Skip => SKIPPED,
            Command::Begin
            | Command::Retry
            | Command::SkipLast
            | Command::Continue
            | Command::Read
            | Command::Finalize
            | Command::Cancel => return Process::Away,
        };
        let standing = WorkflowPosition::of(self.document(read)).unwrap();
        let key = match (command, standing.doing().unwrap()) {
            (Command::Skip, Doing::Between { next, .. }) => next.key,
            _ => standing.current().unwrap().key,
        };
        let at = self.all_phases.iter().position(|own| *own == key).unwrap();
        Process::Committed(mark, u8::try_from(at).unwrap())
    }

    /// What a command writes that finds this document and this pending change.
    fn outcome(&mut self, read: u32, pending: Option<Hook>, command: Command) -> Option<u32> {
        let late = pending.and_then(|hook| self.hooked(read, hook));
        self.after(late.unwrap_or(read), command)
    }

    /// All worlds that can come next.
    fn next(&mut self, world: World) -> Vec<World> {
        let mut out = Vec::new();
        let held = world
            .processes
            .iter()
            .any(|p| !matches!(p, Process::Away | Process::Committed(..)));
        for n in 0..2 {
            let put = |process: Process| {
                let mut after = world;
                after.processes[n] = process;
                after
            };
            match world.processes[n] {
                Process::Away => {
                    // Two equal processes need not be told apart. Taking the lock and reading are
                    // one step: what a stranger does between them he could do before. A command
                    // that will be refused changes nothing, so it need not come.
                    if !held && (n == 0 || world.processes[0] != Process::Away) {
                        for command in COMMANDS {
                            if self.outcome(world.disk, world.pending, command).is_some() {
                                out.push(put(Process::HasRead(command, world.disk)));
                            }
                        }
                    }
                    continue;
                }
                Process::HasRead(command, read) => {
                    match self.outcome(read, world.pending, command) {
                        Some(after) => out.push(put(Process::Staged(
                            command,
                            read,
                            after,
                            world.pending.is_some(),
                        ))),
                        // Refused: nothing is written, the lock is given back.
                        None => out.push(put(Process::Away)),
                    }
                }
                Process::Staged(command, read, after, waited) => {
                    if read == world.disk {
                        let mut done = put(self.line(command, read));
                        done.disk = after;
                        if waited {
                            done.pending = None;
                        }
                        out.push(done);
                    } else {
                        // A stranger wrote meanwhile: again, on top of theirs.
                        out.push(put(Process::HasRead(command, world.disk)));
                    }
                }
                Process::Committed(mark, at) => {
                    let mut done = put(Process::Away);
                    let shift = 2 * u16::from(at);
                    done.journal = (world.journal & !(3 << shift)) | (mark << shift);
                    out.push(done);
                }
            }
            // Killed here: the kernel gives the lock back, what was staged is swept. Before the
            // rename that is as if it had never come; after it, the journal lacks a line.
            match world.processes[n] {
                Process::Committed(..) if world.crashes < self.bounds.crashes => out.push(World {
                    crashes: world.crashes + 1,
                    ..put(Process::Away)
                }),
                Process::Committed(..) => {}
                Process::Away | Process::HasRead(..) | Process::Staged(..) => {
                    out.push(put(Process::Away));
                }
            }
        }
        for hook in self.bounds.hooks.iter().copied() {
            if held {
                if world.pending.is_none() && hook != Hook::TestsPass {
                    out.push(World {
                        pending: Some(hook),
                        ..world
                    });
                }
            } else if let Some(disk) = self.hooked(world.disk, hook) {
                out.push(World { disk, ..world });
            }
        }
        // An agent's honest write: the version it read, one more artifact.
        let document = self.document(world.disk);
        if let Some(phase) = document.str(&["active_workflow", "current_phase"]) {
            let path = ["phases", phase, "artifacts"];
            if self.bounds.writes && document.array(&path).is_some_and(<[Value]>::is_empty) {
                let mut written = document.clone();
                written.push(&path, "a.md", None).unwrap();
                let disk = self.intern(written);
                out.push(World { disk, ..world });
            }
        }
        out
    }
}
