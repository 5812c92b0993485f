//! What one gate came to, and the lines that say so.

use std::path::PathBuf;
use std::time::Duration;

use super::jobs::Job;
use super::logs::Logs;
use crate::review::cli::Usage;

/// What one gate came to.
#[derive(Clone, Debug)]
pub(crate) struct GateResult {
    /// The job's id.
    pub(crate) id: String,
    pub(crate) outcome: Outcome,
    /// Why; empty for a plain pass.
    pub(crate) message: String,
    pub(crate) took: Duration,
    /// Where to read more.
    pub(crate) file: Option<GateFile>,
    /// The reviews of a review gate, one per reviewer.
    pub(crate) slots: Vec<Slot>,
    pub(crate) findings: Findings,
    /// The end of the output of a failed check, for people.
    pub(crate) tail: Vec<String>,
}

/// The answer of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Pass,
    Fail,
    /// It ended in a way that is no answer, and that is the work's own fault: it counts as failed.
    Error,
    /// Nobody could tell, through no fault of the work: it neither passes nor fails.
    Inconclusive,
    /// It was not started, because another gate failed fast or the run ended before.
    NotRun,
}

/// Where to read more about a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GateFile {
    /// A log.
    Log(PathBuf),
    /// The JSON of a review, which the agent edits.
    Review(PathBuf),
}

/// One review of a review gate.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// `claude@1`
    pub(crate) label: String,
    pub(crate) outcome: Outcome,
    pub(crate) message: String,
    pub(crate) took: Duration,
    pub(crate) file: Option<GateFile>,
    pub(crate) usage: Usage,
}

/// What became of the findings of a review gate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// `file:line issue`, each.
    pub(crate) fixed: Vec<String>,
    /// The same, with the reason.
    pub(crate) skipped: Vec<(String, String)>,
    /// Those that nobody has to answer.
    pub(crate) advisory: Vec<String>,
    /// Those still open.
    pub(crate) open: usize,
}

impl Findings {
    /// Whether a pass with them is one with warnings.
    pub(crate) fn are_warnings(&self) -> bool {
        !self.skipped.is_empty() || !self.advisory.is_empty()
    }
}

impl Outcome {
    /// The word in brackets.
    pub(crate) fn tag(self) -> &'static str {
        match self {
            Self::Pass => "[PASS]",
            Self::Fail => "[FAIL]",
            Self::Error => "[ERROR]",
            Self::Inconclusive => "[INCONCLUSIVE]",
            Self::NotRun => "[SKIP]",
        }
    }

    /// As `--json`, logs and the debug log have it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Error => "error",
            Self::Inconclusive => "inconclusive",
            Self::NotRun => "not_run",
        }
    }

    /// Whether the work has to be mended.
    pub(crate) fn is_failure(self) -> bool {
        matches!(self, Self::Fail | Self::Error)
    }
}

impl GateFile {
    pub(crate) fn path(&self) -> &PathBuf {
        match self {
            Self::Log(path) | Self::Review(path) => path,
        }
    }
}

impl GateResult {
    /// A result with nothing but its outcome.
    pub(crate) fn new(job: &Job<'_>, outcome: Outcome, message: impl Into<String>) -> Self {
        Self {
            id: job.id.clone(),
            outcome,
            message: message.into(),
            took: Duration::ZERO,
            file: None,
            slots: Vec::new(),
            findings: Findings::default(),
            tail: Vec::new(),
        }
    }

    /// The line of a gate, and the one below it that names its file; one per review of a review
    /// gate.
    pub(crate) fn lines(&self, logs: &Logs<'_>) -> Vec<String> {
        if self.slots.is_empty() {
            return line(
                &self.id,
                self.outcome,
                &self.message,
                self.took,
                self.file.as_ref(),
                logs,
            );
        }
        let slots = self.slots.iter().flat_map(|slot| {
            let id = format!("{} ({})", self.id, slot.label);
            line(
                &id,
                slot.outcome,
                &slot.message,
                slot.took,
                slot.file.as_ref(),
                logs,
            )
        });
        slots.collect()
    }

    /// All files that tell about the gate.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let own = self.file.iter();
        let slots = self
            .slots
            .iter()
            .filter(|slot| slot.outcome != Outcome::Pass)
            .filter_map(|slot| slot.file.as_ref());
        own.chain(slots).map(|file| file.path().clone()).collect()
    }

    /// The logs were archived: whoever reads on finds its files there.
    pub(crate) fn put_away(&mut self, logs: &Logs<'_>) {
        let slots = self.slots.iter_mut().map(|slot| &mut slot.file);
        for file in slots.chain([&mut self.file]) {
            *file = match file.take() {
                Some(GateFile::Log(path)) => logs.archived(&path).map(GateFile::Log),
                Some(GateFile::Review(path)) => logs.archived(&path).map(GateFile::Review),
                None => None,
            };
        }
    }

    pub(crate) fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "id": self.id, "result": self.outcome.as_str(), "message": self.message,
            "seconds": self.took.as_secs_f64(), "files": self.files(),
            "slots": self.slots.iter().map(|slot| serde_json::json!({
                "reviewer": slot.label, "result": slot.outcome.as_str(), "message": slot.message,
                "seconds": slot.took.as_secs_f64(), "file": slot.file.as_ref().map(GateFile::path),
                "cost_usd": slot.usage.cost_usd, "input_tokens": slot.usage.input_tokens,
                "output_tokens": slot.usage.output_tokens,
            })).collect::<Vec<_>>(),
            "fixed": self.findings.fixed, "open": self.findings.open,
            "skipped": self.findings.skipped, "advisory": self.findings.advisory,
        })
    }
}

fn line(
    id: &str,
    outcome: Outcome,
    message: &str,
    took: Duration,
    file: Option<&GateFile>,
    logs: &Logs<'_>,
) -> Vec<String> {
    let mut text = format!("{:<7} {id} ({:.2}s)", outcome.tag(), took.as_secs_f64());
    if !message.is_empty() {
        text = format!("{text} - {message}");
    }
    let mut lines = vec![text];
    match file {
        Some(GateFile::Log(path)) if outcome != Outcome::Pass => {
            lines.push(format!("      Log: {}", logs.shown(path)));
        }
        Some(GateFile::Review(path)) if outcome != Outcome::Pass => {
            lines.push(format!("      Review: {}", logs.shown(path)));
        }
        Some(_) | None => {}
    }
    lines
}
