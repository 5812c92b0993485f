//! What one gate came to, and the lines that say so.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::jobs::Job;
use super::logs::Logs;
use crate::review::outcome::{Findings, Outcome, Slot};

/// What one gate came to.
#[derive(Clone, Debug)]
pub(crate) struct GateResult {
    /// The job's id.
    pub(crate) id: String,
    pub(crate) outcome: Outcome,
    /// Why; empty for a plain pass.
    pub(crate) message: String,
    pub(crate) took: Duration,
    /// Where to read more: a log, or the JSON of a review, which the agent edits.
    pub(crate) file: Option<PathBuf>,
    /// The reviews of a review gate, one per reviewer.
    pub(crate) slots: Vec<Slot>,
    pub(crate) findings: Findings,
    /// What matters in the output of a failed check.
    pub(crate) excerpt: Vec<String>,
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
            excerpt: Vec::new(),
        }
    }

    /// The line of a gate, and the one below it that names its file; one per review of a review
    /// gate.
    pub(crate) fn lines(&self, logs: &Logs<'_>) -> Vec<String> {
        if self.slots.is_empty() {
            let about = (self.outcome, self.message.as_str(), self.took);
            return line(&self.id, about, self.file.as_deref(), logs);
        }
        let slots = self.slots.iter().flat_map(|slot| {
            let id = format!("{} ({})", self.id, slot.label);
            let about = (slot.outcome, slot.message.as_str(), slot.took);
            line(&id, about, slot.path(), logs)
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
            .filter_map(|slot| slot.path().map(Path::to_owned));
        own.cloned().chain(slots).collect()
    }

    /// The logs were archived: later readers find the files there.
    pub(crate) fn put_away(&mut self, logs: &Logs<'_>) {
        let slots = self.slots.iter_mut();
        let slots = slots.flat_map(|slot| [&mut slot.file, &mut slot.log]);
        for file in slots.chain([&mut self.file]) {
            *file = file.as_deref().and_then(|path| logs.archived(path));
        }
    }

    pub(crate) fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "id": self.id, "result": self.outcome.as_str(), "message": self.message,
            "seconds": self.took.as_secs_f64(), "files": self.files(),
            "slots": self.slots.iter().map(|slot| serde_json::json!({
                "reviewer": slot.label, "result": slot.outcome.as_str(), "message": slot.message,
                "seconds": slot.took.as_secs_f64(), "file": slot.path(),
                "cost_usd": slot.usage.cost_usd, "input_tokens": slot.usage.input_tokens,
                "output_tokens": slot.usage.output_tokens,
            })).collect::<Vec<_>>(),
            "fixed": self.findings.fixed, "open": self.findings.open.len(),
            "skipped": self.findings.skipped, "advisory": self.findings.advisory,
        })
    }
}

fn line(
    id: &str,
    (outcome, message, took): (Outcome, &str, Duration),
    file: Option<&Path>,
    logs: &Logs<'_>,
) -> Vec<String> {
    let mut text = format!("{:<7} {id} ({:.2}s)", outcome.tag(), took.as_secs_f64());
    if !message.is_empty() {
        text = format!("{text} - {message}");
    }
    let mut lines = vec![text];
    if let Some(path) = file.filter(|_| outcome != Outcome::Pass) {
        let is_review = path
            .extension()
            .is_some_and(|extension| extension == "json");
        let what = if is_review { "Review" } else { "Log" };
        lines.push(format!("      {what}: {}", logs.shown(path)));
    }
    lines
}
