//! A line in the journal for each gate that ended: what `serve`, `report` and `export` read.

use jiff::Timestamp;
use tollgate_core::project::Layout;
use tollgate_core::state::journal::{Cost, Decision, Entry, Journal};

use super::Event;
use super::request::Asker;
use super::result::{GateResult, Outcome};
use crate::review::cli::Usage;

/// Writes gates down as they end. That it cannot be done changes no verdict; the record of the run
/// says it loudly.
pub(super) struct Journalled<'r> {
    journal: Journal,
    asker: &'r Asker,
}

impl<'r> Journalled<'r> {
    pub(super) fn new(layout: &Layout, asker: &'r Asker) -> Self {
        Self {
            journal: Journal::new(layout.local()),
            asker,
        }
    }

    pub(super) fn tell(&self, event: &Event<'_>) {
        if let Event::Ended(_, result) = event
            && result.outcome != Outcome::NotRun
        {
            self.ended(result);
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
        let _best_effort = self.journal.append(entry);
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
