//! The gates: what each came to last, its output where it failed, and the findings of reviews.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_store::fs;
use tollgate_store::timestamp::{self, iso};

use super::Trouble;
use super::journal::LastOfGates;
use crate::gate::accepted::Weakening;
use crate::gate::config::{Config, ConfigError};
use crate::gate::evidence::{Assessment, GateVerification, Verification, with_assessment};
use crate::gate::excerpt;
use crate::gate::jobs::{Gate as Kind, Job};
use crate::gate::logs::LOCK;
use crate::gate::record::{FILE, GateRecord};
use crate::git::{AT_ONCE, Git};
use crate::process;
use crate::review::finding;
use crate::review::record as reviews;

/// How much of a log is read from its end, and how many of the last lines are shown. A failure is
/// searched for in all that is read.
const TAIL: (u64, usize) = (256 << 10, 40);

/// The gates of a project.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Gates {
    pub(crate) configured: Configured,
    /// The process that runs gates now.
    pub(crate) running: Option<u32>,
    pub(crate) last: Option<LastRun>,
    /// `verified`, `not_verified` or `unknown`.
    pub(crate) verification: Option<&'static str>,
    /// Why not.
    pub(crate) why: Option<String>,
    /// The same, as every display says it.
    #[serde(skip)]
    pub(crate) verdict: Option<Verification>,
    /// How many of each there are.
    pub(crate) checks: usize,
    pub(crate) reviews: usize,
    /// How the gates were weakened since a person accepted them.
    pub(crate) weakened: Vec<Weakening>,
    /// Why the evidence that is there is not believed.
    pub(crate) doubt: Option<String>,
    #[serde(rename = "gates")]
    pub(crate) all: Vec<Gate>,
}

/// Whether there are gates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Configured {
    #[default]
    No,
    /// The files are wrong; what is wrong is among the troubles.
    Wrong,
    Yes,
}

/// The last run in which gates executed.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LastRun {
    pub(crate) at: String,
    pub(crate) status: &'static str,
    pub(crate) label: &'static str,
    pub(crate) branch: String,
}

/// How much is read for a view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Depth {
    /// How long git may take.
    pub(crate) patience: Duration,
    pub(crate) outputs: Outputs,
}

/// Of which gates the output and the findings are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outputs {
    All,
    Failing,
}

impl Gates {
    /// What keeps it from being verified, in a word or two.
    pub(crate) fn word(&self) -> &'static str {
        let any = |test: fn(&GateVerification) -> bool| self.all.iter().any(|one| test(&one.now));
        if any(|one| matches!(one, GateVerification::Stale { .. })) {
            "stale"
        } else if any(|one| *one == GateVerification::NeverRan) {
            "never ran"
        } else {
            "not verified"
        }
    }
}

/// One gate.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Gate {
    /// `check:src:lint`; the name alone of one that never ran.
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    /// `verified`, `failed`, `stale`, `flaky`, `inconclusive`, `never_ran`, `not_applicable` or
    /// `unknown`; `running`.
    pub(crate) verification: &'static str,
    /// The same, as every display says it.
    #[serde(skip)]
    pub(crate) now: GateVerification,
    pub(crate) message: String,
    pub(crate) at: Option<String>,
    pub(crate) ms: Option<f64>,
    /// Where its output is.
    pub(crate) log: Option<String>,
    /// Of a gate that failed: the part of its output that says what is wrong.
    pub(crate) excerpt: Option<String>,
    /// The end of its output.
    pub(crate) tail: Option<String>,
    pub(crate) reviews: Vec<Reviewed>,
}

/// The last review of one reviewer.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Reviewed {
    pub(crate) reviewer: String,
    /// The run in which it passed, if it did.
    pub(crate) passed_in: Option<u64>,
    pub(crate) findings: Vec<Finding>,
    /// What is wrong with the file that the agent answers in.
    pub(crate) trouble: Option<String>,
}

/// One finding of a review.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Finding {
    /// `src/a.rs:7`
    pub(crate) place: String,
    pub(crate) issue: String,
    pub(crate) fix: Option<String>,
    pub(crate) priority: Option<&'static str>,
    /// `new`, `fixed` or `skipped`, by the agent's word.
    pub(crate) status: &'static str,
    /// What the agent says about it.
    pub(crate) answer: Option<String>,
    pub(crate) is_advisory: bool,
}

impl Gate {
    fn new(id: &str, name: &str, kind: &'static str, now: GateVerification) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            kind,
            verification: now.as_str(),
            message: now.to_string(),
            at: now.at().map(iso),
            now,
            ms: None,
            log: None,
            excerpt: None,
            tail: None,
            reviews: Vec::new(),
        }
    }

    pub(crate) fn is_check(&self) -> bool {
        self.kind == "check"
    }

    pub(crate) fn is_failing(&self) -> bool {
        self.now.is_failing()
    }
}

/// Reads what there is about gates, and says which files that is.
pub(super) fn read(
    layout: &Layout,
    env: &Env,
    past: &LastOfGates,
    depth: Depth,
    troubles: &mut Vec<Trouble>,
) -> (Gates, Vec<PathBuf>) {
    let mut watched = vec![
        layout.gates_config(),
        layout.local_config_file(),
        layout.local().join(FILE),
        layout.gates_home(),
    ];
    let config = match Config::load(layout, env) {
        Ok(config) => config,
        Err(ConfigError::Missing(_)) => return (Gates::default(), watched),
        Err(error @ ConfigError::Wrong(_)) => {
            troubles.extend(error.to_string().lines().map(|what| Trouble {
                what: what.to_owned(),
                next: "correct it; `tollgate validate` checks it".to_owned(),
            }));
            let gates = Gates {
                configured: Configured::Wrong,
                ..Gates::default()
            };
            return (gates, watched);
        }
    };
    watched.push(config.log_dir.clone());
    let (running, console) = running(&config);
    watched.extend(console);
    let mut gates = Gates {
        configured: Configured::Yes,
        running: running.as_ref().map(|running| running.process),
        checks: config.checks.len(),
        reviews: config.reviews.len(),
        ..Gates::default()
    };
    let git = Git::at(&config.root).map(|git| git.wary(depth.patience));
    let branch = git.as_ref().map(Git::branch).unwrap_or_default();
    let fill = |record: &GateRecord, all: &Assessment<'_>| {
        let places = Places {
            config: &config,
            record,
            branch: &branch,
            outputs: depth.outputs,
        };
        gates.all = places.list(all, past, running.as_ref());
        gates.weakened.clone_from(&all.weakened);
        gates.doubt.clone_from(&all.doubt);
        (record.last.clone(), all.verification(&config))
    };
    let (last, verification) = with_assessment(layout, &config, env, git, fill);
    gates.last = last.filter(|last| last.is_own).map(|last| LastRun {
        at: iso(last.completed_at),
        status: last.status.as_str(),
        label: last.status.label(),
        branch: last.branch,
    });
    gates.verification = Some(verification.as_str());
    gates.why = verification.clone().reason();
    gates.verdict = Some(verification);
    (gates, watched)
}

/// Tells one state of the gates' inputs from others.
pub(super) fn mark(layout: &Layout, env: &Env) -> Option<String> {
    let config = Config::load(layout, env).ok()?;
    let git = Git::at(&config.root).map(|git| git.wary(AT_ONCE));
    with_assessment(layout, &config, env, git, |_, all| all.mark.clone())
}

/// Where the logs and findings of gates are.
struct Places<'p> {
    config: &'p Config,
    record: &'p GateRecord,
    branch: &'p str,
    outputs: Outputs,
}

impl Places<'_> {
    /// All gates, those that fail first.
    fn list(
        &self,
        all: &Assessment<'_>,
        past: &LastOfGates,
        running: Option<&Current>,
    ) -> Vec<Gate> {
        let mut gates: Vec<Gate> = all
            .gates
            .iter()
            .map(|one| {
                let job = &one.gate.job;
                let mut gate = Gate::new(&job.id, job.name, job.kind(), all.shown(one));
                gate.ms = past.get(&job.id).and_then(|last| last.ms);
                if self.outputs == Outputs::All || gate.is_failing() {
                    self.add_output(&mut gate, job);
                }
                if running.is_some_and(|running| running.open.contains(&job.id)) {
                    gate.verification = "running";
                }
                gate
            })
            .collect();
        gates.sort_by_key(|gate| (!gate.is_failing(), gate.id.clone()));
        gates.extend(all.elsewhere.iter().map(|(name, why)| {
            let kind = if self.config.checks.contains_key(name) {
                "check"
            } else {
                "review"
            };
            Gate::new(name, name, kind, why.clone())
        }));
        gates
    }

    fn add_output(&self, gate: &mut Gate, job: &Job<'_>) {
        let logs = &self.config.log_dir;
        let places = [logs.clone(), logs.join("previous")];
        match &job.gate {
            Kind::Check { .. } => {
                let log = places
                    .iter()
                    .find_map(|place| newest(place, &job.log_stem, "log"));
                let text = log.as_deref().and_then(end);
                gate.excerpt = text.as_deref().filter(|_| gate.is_failing()).map(excerpt);
                gate.tail = text.as_deref().map(tail);
                gate.log = log.map(|path| shown(self.config, &path));
            }
            Kind::Review(_) => {
                let kept = self.record.findings(self.branch, &job.id);
                let slots = reviews::latest(logs, &job.log_stem, &kept);
                gate.reviews = slots
                    .into_iter()
                    .map(|(slot, earlier)| reviewed(slot, earlier))
                    .collect();
            }
        }
    }
}

fn reviewed(slot: u64, earlier: reviews::Earlier) -> Reviewed {
    Reviewed {
        reviewer: format!("{}@{slot}", earlier.reviewer),
        passed_in: earlier.passed_in,
        findings: earlier.findings.iter().map(shown_finding).collect(),
        trouble: earlier.trouble,
    }
}

fn shown_finding(finding: &finding::Finding) -> Finding {
    let file = finding.file.as_deref().unwrap_or("(no file)");
    Finding {
        place: match finding.line {
            Some(line) => format!("{file}:{line}"),
            None => file.to_owned(),
        },
        issue: finding.issue.clone(),
        fix: finding.fix.clone(),
        priority: finding.priority.map(finding::Priority::as_str),
        status: finding.state.as_str(),
        answer: finding.result.clone(),
        is_advisory: finding.weight == finding::Weight::Advisory,
    }
}

/// Gates that are running now.
struct Current {
    process: u32,
    /// Those that have begun and not ended.
    open: BTreeSet<String>,
}

/// What runs now, by the newest console log; and which log that is. The lock is only looked at:
/// to try it would keep others out.
fn running(config: &Config) -> (Option<Current>, Option<PathBuf>) {
    let Some(console) = newest(&config.log_dir, "console", "log") else {
        return (None, None);
    };
    let owner = fs::read_tail(&config.log_dir.join(LOCK), 64);
    let process = owner.and_then(|text| text.trim().parse::<u32>().ok());
    let alive = process.filter(|id| process::is_alive(*id));
    let text = fs::read_regular(&console, 1 << 26).ok().flatten();
    let text = text.map(fs::Contents::into_text).unwrap_or_default();
    if text.lines().any(|line| line.starts_with("Status: ")) {
        return (None, Some(console));
    }
    let began = text
        .lines()
        .filter_map(|line| line.strip_prefix("[START] "));
    let mut open: BTreeSet<String> = began.map(str::to_owned).collect();
    for line in text.lines() {
        // `[PASS]  check:src:lint (0.12s)`; a review's line has its reviewer in between.
        let ended = line.split_once("] ").map(|(_, rest)| rest.trim_start());
        if let Some(id) = ended
            .and_then(|rest| rest.split_once(" ("))
            .map(|(id, _)| id)
        {
            open.remove(id);
        }
    }
    let current = alive.map(|process| Current { process, open });
    (current, Some(console))
}

/// The file `stem.N.end` with the largest number.
fn newest(directory: &Path, stem: &str, end: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(directory).ok()?.flatten();
    let numbered = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let number = name.strip_prefix(stem)?.strip_prefix('.')?;
        let number: u64 = number.strip_suffix(end)?.strip_suffix('.')?.parse().ok()?;
        Some((number, entry.path()))
    });
    numbered.max().map(|(_, path)| path)
}

/// The end of a log.
fn end(path: &Path) -> Option<String> {
    let (bytes, _) = TAIL;
    let text = fs::read_tail(path, bytes)?;
    Some(anstream::adapter::strip_str(&text).to_string())
}

/// The last lines of a text.
fn tail(text: &str) -> String {
    let (_, lines) = TAIL;
    let all: Vec<&str> = text.lines().collect();
    let kept = all.get(all.len().saturating_sub(lines)..);
    kept.unwrap_or_default().join("\n")
}

/// What a check says about its failure: the assertion, not the epilogue.
fn excerpt(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !is_ours(line)).collect();
    excerpt::of(&lines).join("\n")
}

/// Whether a line of a check's log is Tollgate's: it begins with the moment in brackets.
fn is_ours(line: &str) -> bool {
    let moment = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    moment.is_some_and(|(moment, _)| timestamp::parse(moment).is_some())
}

fn shown(config: &Config, path: &Path) -> String {
    let inside = path.strip_prefix(&config.root).unwrap_or(path);
    inside.display().to_string()
}
