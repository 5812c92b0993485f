//! The handshake explored: every interleaving of two command processes, hook events, an agent's
//! writes and crashes between file operations, over workflows of one to four phases.
//!
//! A process is a command on its way through the store: it takes the lock, reads, stages the new
//! file, renames it, gives the lock back, writes its line in the journal. It can be killed after
//! each. Hooks change the state at once, or through the spool while somebody holds the lock. An
//! agent's Write ignores the lock and asks only the guard. That one replacement of a file is all
//! or nothing, and that a spooled change is made once, is what `state::fault_tests` shows with
//! real files and real kills; here it is taken for granted.
//!
//! Time stands still, versions are left out of a state's identity, and so is what no later step
//! reads: the details of phases that are over and the texts of past reviews. (Each such state is
//! checked before it is simplified.) A phase is run again at most once, and [`Bounds`] says how
//! many crashes there are. Within that the space is explored whole; nothing is sampled.
#![cfg(test)]

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasherDefault, DefaultHasher, Hash as _, Hasher};

use jiff::Timestamp;
use serde_json::{Value, json};

use tollgate_core::env::Env;
use tollgate_core::guard::{self, GUARDS};
use tollgate_core::project::Layout;
use tollgate_core::protocol::{self, Hints};
use tollgate_core::scene::{Scene, Sources};
use tollgate_core::state::document::Document;
use tollgate_core::state::edit::{self, Edit};
use tollgate_core::workflow::audit::{self, Evidence};
use tollgate_core::workflow::definitions::{Definitions, Intensity};
use tollgate_core::workflow::evidence::Requirements;
use tollgate_core::workflow::manifest::Manifest;
use tollgate_core::workflow::phases;
use tollgate_core::workflow::standing::{Doing, Standing, running};
use tollgate_core::workflow::transition::{
    self, Choice, Completion, Ending, Escalations, Report, Rules, Start, Step,
};

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
    /// What it read, before anything that waited in the spool.
    HasRead(Command, u32),
    /// What it read, what it will write, whether it took the spool along.
    Staged(Command, u32, u32, bool),
    /// The file has its name; the journal has not this mark of this phase.
    Committed(u16, u8),
}

/// Multiplies and mixes: the standard hasher takes most of the time in a debug build.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u8(&mut self, n: u8) {
        self.write_u64(u64::from(n));
    }

    fn write_u16(&mut self, n: u16) {
        self.write_u64(u64::from(n));
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(5) ^ n).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn write_isize(&mut self, n: isize) {
        self.write_u64(n.cast_unsigned() as u64);
    }
}

type Mixed = BuildHasherDefault<Mixer>;

/// One state of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct World {
    disk: u32,
    processes: [Process; 2],
    /// A hook's change that waits.
    spool: Option<Hook>,
    /// The journal, as far as it matters: the last step of each phase, two bits each.
    journal: u16,
    /// How many were killed.
    crashes: u8,
}

struct Model {
    bounds: Bounds,
    /// Documents that were checked before they were simplified.
    raw: HashSet<u64>,
    definitions: Definitions,
    requirements: Requirements,
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
            raw: HashSet::new(),
            definitions: Definitions::with(&own.to_string()).unwrap(),
            requirements: Requirements::built_in(),
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
            self.check_guards(&document, &text);
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

    /// The invariants, written down once more and not through the code under test, and the audit.
    fn check(&self, document: &Document, text: &str) {
        let findings = self.rules(|rules| {
            audit::audit(&Evidence {
                document,
                rules,
                journal: &[],
                now: now(),
            })
        });
        assert!(findings.is_empty(), "{findings:#?}\n{text}");
        let Some(workflow) = running(document) else {
            let entry = document
                .array(&["workflow_history"])
                .unwrap()
                .last()
                .unwrap();
            assert!(entry["phase_snapshots"].is_array() && entry["metrics"].is_object());
            assert_eq!(document.get(&["phases"]), Some(&json!({})));
            return;
        };
        let list: Vec<&str> = workflow["phases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|v| v.as_str().unwrap())
            .collect();
        let current = workflow["current_phase"].as_str().unwrap();
        let index = usize::try_from(workflow["current_phase_index"].as_u64().unwrap()).unwrap();
        let at = list.iter().position(|key| *key == current).unwrap();
        let status = |key: &str| document.str(&["phases", key, "status"]).unwrap();
        // P1, P2: every redundant field agrees.
        for key in &list {
            assert_eq!(
                status(key),
                workflow["phase_status"][*key].as_str().unwrap()
            );
        }
        assert_eq!(document.str(&["current_phase"]), Some(current));
        assert_eq!(document.str(&["active_agent"]), phases::agent(current));
        // P3: the index is that of the current phase, or one more.
        let redo = workflow
            .get("supervised_review")
            .is_some_and(|r| r["status"] == "redo_pending");
        assert_eq!(
            index,
            at + usize::from(status(current) == "completed" || redo)
        );
        // P4: the current phase is never pending; what is before it is done, what is behind waits.
        assert_ne!(status(current), "pending");
        assert!(list.iter().take(at).all(|key| status(key) == "completed"));
        assert!(list.iter().skip(at + 1).all(|key| status(key) == "pending"));
        // P7: a passed gate has no failing tests.
        for key in &list {
            let passed = document
                .get(&["phases", key, "gate_passed"])
                .is_some_and(Value::is_string);
            let tests = document.str(&[
                "phases",
                key,
                "iteration_requirements",
                "test_iteration",
                "last_test_result",
            ]);
            assert!(!(passed && tests == Some("failed")), "{text}");
        }
    }

    /// No guard blocks the legal next step, and each blocks what is illegal.
    #[expect(
        clippy::disallowed_methods,
        reason = "the guard compares with the file"
    )]
    fn check_guards(&mut self, document: &Document, text: &str) {
        self.guarded += 1;
        let file = self.root.path().join(".isdlc/state.json");
        std::fs::write(&file, text).unwrap();
        let standing = Standing::of(document).unwrap();
        let doing = standing.doing().unwrap();
        let current = standing.current().unwrap().key;
        let layout = self.layout.clone();
        let judge = |event: &Value| {
            let event_text = event.to_string();
            let hints = Hints {
                wire: None,
                event: None,
                gemini_env: false,
            };
            let event = protocol::parse(&event_text, &hints).unwrap();
            let sources = Sources::new(layout.clone(), Env::default(), None, now());
            let scene = Scene::new(&event, &sources);
            guard::judge(&scene, GUARDS)
                .block
                .map(|report| report.finding.code)
        };
        let delegate = |key: &str| {
            judge(
                &json!({"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Task",
                "tool_input":{"subagent_type":phases::agent(key).unwrap(),"prompt":format!("Execute Phase for t workflow.\nPhase key: {key}")}}),
            )
        };
        let working = matches!(doing, Doing::Running(_) | Doing::Redoing(_));
        if working {
            assert_eq!(
                delegate(current),
                None,
                "the current phase's agent may work: {text}"
            );
        }
        for other in self.all_phases.iter().filter(|key| **key != current) {
            assert!(
                delegate(other).is_some(),
                "'{other}' is not begun or over, but may be delegated: {text}"
            );
        }
        let write = |incoming: &Value| {
            judge(
                &json!({"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Write",
                "tool_input":{"file_path":file,"content":incoming.to_string()}}),
            )
        };
        let state: Value = serde_json::from_str(text).unwrap();
        assert_eq!(write(&state), None, "an agent may write what is there");
        let with = |change: &dyn Fn(&mut Value)| {
            let mut changed = state.clone();
            change(&mut changed);
            write(&changed)
        };
        assert_eq!(
            with(&|s| s["state_version"] = (VERSION - 1).into()),
            Some("SWV-007"),
            "stale"
        );
        assert_eq!(
            with(&|s| drop(s.as_object_mut().unwrap().remove("state_version"))),
            Some("SWV-007"),
            "unversioned"
        );
        assert_eq!(
            with(&|s| s["active_workflow"] = Value::Null),
            Some("SWV-008"),
            "thrown away"
        );
        let index = state["active_workflow"]["current_phase_index"]
            .as_u64()
            .unwrap();
        if index > 0 {
            let back = with(&|s| s["active_workflow"]["current_phase_index"] = (index - 1).into());
            assert_eq!(back, Some("SWV-008"), "the index goes back");
        }
        for key in standing
            .phases
            .iter()
            .filter(|key| standing.status(key) == Some("completed"))
        {
            let short = with(&|s| s["active_workflow"]["phase_status"][*key] = "pending".into());
            let long = with(&|s| s["phases"][*key]["status"] = "pending".into());
            assert_eq!(
                (short, long),
                (Some("SWV-008"), Some("SWV-008")),
                "a status goes back"
            );
        }
    }

    /// Every refusal says what to do, and something can always be done.
    fn check_ways_out(&self, document: &Document) {
        let mut open = 0;
        for command in COMMANDS {
            match self.rules(|rules| self.transition(command, document, rules)) {
                Ok(_) => open += 1,
                Err(refusal) => {
                    let told = refusal.next.contains("tollgate")
                        || refusal.next.contains("--")
                        || refusal.next.contains("only")
                        || refusal.next.contains("its phases are");
                    assert!(told, "{command:?}: {refusal:?}");
                }
            }
        }
        assert!(open >= 2, "at least cancel and one more");
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
            let standing = Standing::of(&document);
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
        let result = result.map(|()| self.intern(document));
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
        let standing = Standing::of(self.document(read)).unwrap();
        let key = match (command, standing.doing().unwrap()) {
            (Command::Skip, Doing::Between { next, .. }) => next.key,
            _ => standing.current().unwrap().key,
        };
        let at = self.all_phases.iter().position(|own| *own == key).unwrap();
        Process::Committed(mark, u8::try_from(at).unwrap())
    }

    /// The state never contradicts the journal, even if lines are missing from it.
    fn check_journal(&mut self, world: &World) {
        if !self.journals.insert((world.disk, world.journal)) {
            return;
        }
        let mut lines = vec![
            json!({"ts":"2026-02-08T20:00:00.000Z","verdict":"change","event":"workflow start","version":1,"index":0}),
        ];
        for (at, key) in self.all_phases.iter().enumerate() {
            let step = match (world.journal >> (2 * at)) & 3 {
                COMPLETED => "phase complete",
                REDONE => "phase redo",
                SKIPPED => "phase skip",
                _ => continue,
            };
            lines.push(json!({"ts":"2026-02-08T20:00:00.000Z","verdict":"change","event":step,"phase":key,"version":10 * (at + 1),"reason":"x: done"}));
        }
        let document = self.document(world.disk);
        let findings = self.rules(|rules| {
            audit::audit(&Evidence {
                document,
                rules,
                journal: &lines,
                now: now(),
            })
        });
        assert!(findings.is_empty(), "{findings:#?}\n{lines:#?}");
    }

    /// What a command writes that finds this document and this change in the spool.
    fn outcome(&mut self, read: u32, spool: Option<Hook>, command: Command) -> Option<u32> {
        let late = spool.and_then(|hook| self.hooked(read, hook));
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
                            if self.outcome(world.disk, world.spool, command).is_some() {
                                out.push(put(Process::HasRead(command, world.disk)));
                            }
                        }
                    }
                    continue;
                }
                Process::HasRead(command, read) => {
                    match self.outcome(read, world.spool, command) {
                        Some(after) => out.push(put(Process::Staged(
                            command,
                            read,
                            after,
                            world.spool.is_some(),
                        ))),
                        // Refused: nothing is written, the lock is given back.
                        None => out.push(put(Process::Away)),
                    }
                }
                Process::Staged(command, read, after, spooled) => {
                    if read == world.disk {
                        let mut done = put(self.line(command, read));
                        done.disk = after;
                        if spooled {
                            done.spool = None;
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
                if world.spool.is_none() && hook != Hook::TestsPass {
                    out.push(World {
                        spool: Some(hook),
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

/// Explores one workflow whole. Gives the number of worlds, steps between them, and documents.
fn explore(phases: &[&'static str], supervised: bool, bounds: Bounds) -> (usize, usize, usize) {
    let mut model = Model::new(phases, bounds);
    let first = World {
        disk: model.start(supervised),
        processes: [Process::Away, Process::Away],
        spool: None,
        journal: NONE,
        crashes: 0,
    };
    let mut numbers: HashMap<World, u32, Mixed> = HashMap::default();
    numbers.insert(first, 0);
    let mut worlds = vec![first];
    let mut before: Vec<Vec<u32>> = vec![Vec::new()];
    let mut queue = VecDeque::from([0_u32]);
    let mut steps = 0;
    while let Some(number) = queue.pop_front() {
        let world = worlds[number as usize];
        if world.processes == [Process::Away, Process::Away] {
            model.check_journal(&world);
        }
        for next in model.next(world) {
            if bounds.processes == 1 && next.processes[1] != Process::Away {
                continue;
            }
            steps += 1;
            let to = *numbers.entry(next).or_insert_with(|| {
                let to = u32::try_from(worlds.len()).unwrap();
                worlds.push(next);
                before.push(Vec::new());
                queue.push_back(to);
                to
            });
            before[to as usize].push(number);
        }
    }
    // Every world has a way to an end: walk back from the ends.
    let mut ends = vec![false; worlds.len()];
    let mut back: Vec<u32> = Vec::new();
    for (number, world) in worlds.iter().enumerate() {
        if running(model.document(world.disk)).is_none() {
            ends[number] = true;
            back.push(u32::try_from(number).unwrap());
        }
    }
    assert!(!back.is_empty());
    while let Some(number) = back.pop() {
        for from in &before[number as usize] {
            if !ends[*from as usize] {
                ends[*from as usize] = true;
                back.push(*from);
            }
        }
    }
    assert!(ends.iter().all(|end| *end), "a world without a way out");
    assert!(model.guarded > 0);
    (worlds.len(), steps, model.documents.len())
}

const PHASES: [&str; 4] = [
    "02-impact-analysis",
    "03-architecture",
    "06-implementation",
    "08-code-review",
];

#[test]
fn no_interleaving_breaks_the_handshake() {
    let start = std::time::Instant::now();
    let (mut worlds, mut steps, mut documents) = (0, 0, 0);
    let all = Bounds {
        processes: 2,
        crashes: 1,
        redos: 0,
        hooks: HOOKS,
        writes: true,
    };
    let reviewed = Bounds {
        redos: 3,
        hooks: &[Hook::Escalate],
        writes: false,
        ..all
    };
    let short = Bounds {
        redos: 1,
        ..reviewed
    };
    let long = Bounds {
        processes: 1,
        ..short
    };
    for (length, supervised, bounds) in [
        (1, false, all),
        (
            2,
            false,
            Bounds {
                hooks: &[Hook::Escalate],
                ..all
            },
        ),
        (3, false, long),
        (4, false, long),
        (1, true, reviewed),
        (2, true, short),
        (3, true, long),
        (4, true, Bounds { hooks: &[], ..long }),
    ] {
        let (w, s, d) = explore(&PHASES[..length], supervised, bounds);
        println!(
            "{length} phases, supervised {supervised}, {bounds:?}: {w} states, {s} steps, {d} documents, {:.1} s",
            start.elapsed().as_secs_f64()
        );
        worlds += w;
        steps += s;
        documents += d;
    }
    println!(
        "explored {worlds} states and {steps} steps over {documents} documents in {:.1} s",
        start.elapsed().as_secs_f64()
    );
    assert!(worlds > 10_000);
}
