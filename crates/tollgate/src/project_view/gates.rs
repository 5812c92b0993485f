//! The gates: what each came to last, the end of its output, and the findings of reviews.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_store::timestamp::iso;

use super::Trouble;
use super::journal::LastOfGates;
use crate::gate::config::{Config, ConfigError};
use crate::gate::evidence::Evidence;
use crate::gate::jobs::{self, Gate as Kind, Job, Site, Which};
use crate::gate::logs::LOCK;
use crate::gate::record::GateRecord;
use crate::journal::{Entry, is_failure};
use crate::process;
use crate::review::finding;
use crate::review::record as reviews;

/// How much of a log is read from its end, and how many lines of that are shown.
const TAIL: (u64, usize) = (16 << 10, 40);

/// The gates of a project.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Gates {
    pub(crate) configured: Configured,
    /// The process that runs gates now.
    pub(crate) running: Option<u32>,
    pub(crate) last: Option<LastRun>,
    pub(crate) green: Option<Green>,
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

/// What is known about the gates and the work as it is now.
pub(crate) struct Evidenced {
    pub(crate) checks: usize,
    pub(crate) reviews: usize,
    /// How often they may run in a row.
    pub(crate) attempts_allowed: u64,
    pub(crate) evidence: Evidence,
}

impl Evidenced {
    /// Asks git for so long; nothing if the project has no gates.
    pub(crate) fn of(
        layout: &Layout,
        env: &Env,
        patience: Duration,
    ) -> Result<Option<Self>, ConfigError> {
        let config = match Config::load(layout, env) {
            Err(ConfigError::Missing(_)) => return Ok(None),
            loaded => loaded?,
        };
        Ok(Some(Self {
            checks: config.checks.len(),
            reviews: config.reviews.len(),
            attempts_allowed: config.max_retries + 1,
            evidence: Evidence::of(layout, &config, env, patience),
        }))
    }
}

/// The last run in which gates executed.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LastRun {
    pub(crate) at: String,
    pub(crate) status: &'static str,
    pub(crate) label: &'static str,
    pub(crate) is_pass: bool,
    pub(crate) branch: String,
    pub(crate) attempts: u64,
}

/// The last tree that was seen to be green as a whole. Whether the work is still that tree is
/// not told here.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Green {
    pub(crate) at: String,
    pub(crate) tree: String,
}

/// One gate.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Gate {
    /// `check:src:lint`; the name alone of one that never ran.
    pub(crate) id: String,
    pub(crate) kind: &'static str,
    /// `pass`, `fail`, `error`, `inconclusive`; `running`; none if it never ran.
    pub(crate) result: Option<String>,
    pub(crate) message: String,
    pub(crate) at: Option<String>,
    pub(crate) ms: Option<f64>,
    /// Where its output is.
    pub(crate) log: Option<String>,
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
    pub(crate) fn is_failing(&self) -> bool {
        self.result.as_deref().is_some_and(is_failure)
    }
}

/// Reads what there is about gates, and says which files that is.
pub(super) fn read(
    layout: &Layout,
    env: &Env,
    past: &LastOfGates,
    troubles: &mut Vec<Trouble>,
) -> (Gates, Vec<PathBuf>) {
    let mut watched = vec![
        layout.gates_config(),
        layout.local_config_file(),
        layout.local().join("gates.json"),
        layout.gates_home(),
    ];
    let config = match Config::load(layout, env) {
        Ok(config) => config,
        Err(ConfigError::Missing(_)) => return (Gates::default(), watched),
        Err(error @ ConfigError::Wrong(_)) => {
            troubles.push(Trouble {
                what: format!("the gates' configuration is wrong: {error}"),
                next: "correct it; `tollgate validate` checks it".to_owned(),
            });
            let gates = Gates {
                configured: Configured::Wrong,
                ..Gates::default()
            };
            return (gates, watched);
        }
    };
    watched.push(config.log_dir.clone());
    let record = GateRecord::load(layout, &config);
    let (running, console) = running(&config);
    watched.extend(console);
    let gates = Gates {
        configured: Configured::Yes,
        running: running.as_ref().map(|running| running.process),
        last: record.last.as_ref().map(|last| LastRun {
            at: iso(last.completed_at),
            status: last.status.as_str(),
            label: last.status.label(),
            is_pass: last.status.is_pass(),
            branch: last.branch.clone(),
            attempts: last.attempts,
        }),
        green: record.verified.as_ref().map(|green| Green {
            at: iso(green.at),
            tree: green.tree.clone(),
        }),
        all: list(&config, &record, past, running.as_ref()),
    };
    (gates, watched)
}

/// All gates that ran or failed, then those that never did.
fn list(
    config: &Config,
    record: &GateRecord,
    past: &LastOfGates,
    running: Option<&Current>,
) -> Vec<Gate> {
    let failed = record.last.iter().flat_map(|last| &last.failed);
    let failed: BTreeMap<&str, &str> = failed
        .map(|failure| (failure.id.as_str(), failure.message.as_str()))
        .collect();
    let mut ids: BTreeSet<String> = past.keys().cloned().collect();
    ids.extend(failed.keys().map(|id| (*id).to_owned()));
    ids.extend(running.iter().flat_map(|running| running.open.clone()));
    let jobs = jobs::again(config, &ids, Which::All, Site::Local);
    let mut gates: Vec<Gate> = jobs
        .iter()
        .map(|job| {
            let mut gate = of_job(config, job, past.get(&job.id));
            if let Some(message) = failed.get(job.id.as_str()).filter(|_| !gate.is_failing()) {
                // What failed is failing until it is seen to pass, whatever ran since.
                gate.result = Some("fail".to_owned());
                (*message).clone_into(&mut gate.message);
            }
            if running.is_some_and(|running| running.open.contains(&job.id)) {
                gate.result = Some("running".to_owned());
            }
            gate
        })
        .collect();
    gates.sort_by_key(|gate| (!gate.is_failing(), gate.id.clone()));
    let known: BTreeSet<&str> = jobs.iter().map(|job| job.name).collect();
    let checks = config.checks.keys().map(|name| ("check", name));
    let unseen = checks.chain(config.reviews.keys().map(|name| ("review", name)));
    gates.extend(
        unseen
            .filter(|(_, name)| !known.contains(name.as_str()))
            .map(|(kind, name)| blank(name.clone(), kind)),
    );
    gates
}

fn blank(id: String, kind: &'static str) -> Gate {
    Gate {
        id,
        kind,
        result: None,
        message: String::new(),
        at: None,
        ms: None,
        log: None,
        tail: None,
        reviews: Vec::new(),
    }
}

fn of_job(config: &Config, job: &Job<'_>, last: Option<&Entry>) -> Gate {
    let mut gate = blank(job.id.clone(), job.kind());
    if let Some(last) = last {
        gate.result.clone_from(&last.code);
        gate.message = last.reason.clone().unwrap_or_default();
        gate.at = Some(last.at());
        gate.ms = last.ms;
    }
    let places = [config.log_dir.clone(), config.log_dir.join("previous")];
    match &job.gate {
        Kind::Check { .. } => {
            let log = places
                .iter()
                .find_map(|place| newest(place, &job.log_stem, "log"));
            gate.tail = log.as_deref().and_then(tail);
            gate.log = log.map(|path| shown(config, &path));
        }
        Kind::Review(_) => {
            let found = places
                .iter()
                .map(|place| reviews::latest(place, &job.log_stem));
            let found = found.into_iter().find(|found| !found.is_empty());
            let slots = found.unwrap_or_default().into_iter();
            gate.reviews = slots
                .map(|(slot, earlier)| reviewed(slot, earlier))
                .collect();
        }
    }
    gate
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
    let owner = std::fs::read_to_string(config.log_dir.join(LOCK)).ok();
    let process = owner.and_then(|text| text.trim().parse::<u32>().ok());
    let alive = process.filter(|id| process::is_alive(*id));
    let text = std::fs::read(&console).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
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

/// The last lines of a log.
fn tail(path: &Path) -> Option<String> {
    let (bytes, lines) = TAIL;
    // A pipe would hang whoever opens it.
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(bytes)))
        .ok()?;
    let mut end = Vec::new();
    file.take(bytes).read_to_end(&mut end).ok()?;
    let text = String::from_utf8_lossy(&end);
    let all: Vec<&str> = text.lines().collect();
    let kept = all.get(all.len().saturating_sub(lines)..)?;
    Some(kept.join("\n"))
}

fn shown(config: &Config, path: &Path) -> String {
    let inside = path.strip_prefix(&config.root).unwrap_or(path);
    inside.display().to_string()
}
