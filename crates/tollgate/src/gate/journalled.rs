//! A line in the journal for each gate that ended: what `serve`, `report` and `export` read.

use std::cell::RefCell;

use jiff::Timestamp;
use tollgate_core::project::Layout;
use tollgate_store::journal::{Cost, Draft, Entry, Journal, Verdict};

use super::Event;
use super::request::Asker;
use super::result::GateResult;
use crate::review::cli::Usage;
use crate::review::outcome::Outcome;

/// How many lines wait for the others that end at the same time.
const AT_ONCE: usize = 64;

/// Writes gates down as they end, those that end in a row at one turn. That it cannot be done changes
/// no verdict; the record of the run says it loudly.
pub(super) struct Journalled<'r> {
    journal: Journal,
    asker: &'r Asker,
    drafts: RefCell<Vec<Draft>>,
}

impl<'r> Journalled<'r> {
    pub(super) fn new(layout: &Layout, asker: &'r Asker) -> Self {
        Self {
            journal: Journal::new(layout.local()),
            asker,
            drafts: RefCell::default(),
        }
    }

    pub(super) fn tell(&self, event: &Event<'_>) {
        if let Event::Ended(_, result) = event
            && result.outcome != Outcome::NotRun
        {
            self.ended(result);
        } else if let Event::Quiet = event {
            self.write();
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
                Verdict::Gate,
                result.outcome,
                &result.message,
                result.took,
            ));
        }
        for slot in &result.slots {
            self.append(&Entry {
                agent: Some(&slot.label),
                cost: cost(slot.usage),
                ..entry(Verdict::Review, slot.outcome, &slot.message, slot.took)
            });
        }
    }

    fn append(&self, entry: &Entry<'_>) {
        self.drafts.borrow_mut().extend(entry.draft());
        if self.drafts.borrow().len() >= AT_ONCE {
            self.write();
        }
    }

    fn write(&self) {
        let _best_effort = self.journal.append_all(&self.drafts.take());
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
