//! A line in the journal for each gate that ended: what `serve`, `report` and `export` read.
//!
//! Two hundred gates that end within the blink of an eye are not two hundred turns at the
//! journal's lock: lines wait for some others, for the next look at a child that runs on, which is
//! after a twentieth of a second, or for the end of the run.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use tollgate_core::project::Layout;
use tollgate_core::state::journal::{Cost, Decision, Draft, Entry, Journal};

use super::Event;
use super::request::Asker;
use super::result::{GateResult, Outcome};
use crate::review::cli::Usage;

/// So many lines are worth a turn.
const WORTH_IT: usize = 32;

/// Writes gates down as they end.
pub(super) struct Journalled<'r> {
    queue: Arc<Queue>,
    asker: &'r Asker,
}

/// Lines on their way into the journal.
pub(super) struct Queue {
    journal: Journal,
    lines: Mutex<Vec<Draft>>,
}

impl Queue {
    /// Writes what is waiting. That it cannot be written changes no verdict; the record of the run
    /// says it loudly.
    pub(super) fn flush(&self) {
        let lines = std::mem::take(&mut *self.lock());
        let _best_effort = self.journal.append_all(&lines);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Draft>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'r> Journalled<'r> {
    pub(super) fn new(layout: &Layout, asker: &'r Asker) -> Self {
        Self {
            queue: Arc::new(Queue {
                journal: Journal::new(layout.local()),
                lines: Mutex::default(),
            }),
            asker,
        }
    }

    /// What is to be flushed now and then.
    pub(super) fn queue(&self) -> Arc<Queue> {
        Arc::clone(&self.queue)
    }

    /// See [`Journal::prepare`].
    pub(super) fn prepare(&self) {
        self.queue.journal.prepare();
    }

    /// Writes what is waiting.
    pub(super) fn flush(&self) {
        self.queue.flush();
    }

    pub(super) fn tell(&self, event: &Event<'_>) {
        match event {
            Event::Ended(_, result) if result.outcome != Outcome::NotRun => self.ended(result),
            Event::Summary(_) => self.flush(),
            Event::Note(_)
            | Event::Planned(..)
            | Event::Started(_)
            | Event::Rest
            | Event::Ended(..) => {}
        }
    }

    /// A review gate is as many lines as it had reviewers.
    fn ended(&self, result: &GateResult) {
        let now = Timestamp::now();
        let entry = |decision, outcome: Outcome, message, took| Entry {
            session: self.asker.session.as_deref(),
            prompt: self.asker.prompt.as_deref(),
            trace: self.asker.trace.as_deref(),
            guard: Some(&result.id),
            code: Some(outcome.as_str()),
            reason: Some(message),
            took: Some(took),
            ..Entry::new(now.checked_sub(took).unwrap_or(now), decision)
        };
        if result.slots.is_empty() {
            self.append(&entry(
                Decision::Gate,
                result.outcome,
                &result.message,
                result.took,
            ));
        }
        for slot in &result.slots {
            self.append(&Entry {
                agent: Some(&slot.label),
                cost: cost(slot.usage),
                ..entry(Decision::Review, slot.outcome, &slot.message, slot.took)
            });
        }
    }

    fn append(&self, entry: &Entry<'_>) {
        let Ok(line) = entry.draft() else {
            return;
        };
        let mut lines = self.queue.lock();
        lines.push(line);
        if lines.len() >= WORTH_IT {
            drop(lines);
            self.flush();
        }
    }
}

/// A reviewer's usage as the journal has it.
fn cost(usage: Usage) -> Cost {
    Cost {
        usd: usage.cost_usd,
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
    }
}
