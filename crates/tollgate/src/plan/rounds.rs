//! The rounds of reviews of a plan: one line each, for people and for `plan status`.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tollgate_store::fs;
use tollgate_store::journal::{Cost, Entry, Journal};

use super::home::Plan;

/// One review that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Round {
    #[serde(rename = "ts")]
    pub(crate) at: String,
    pub(crate) review: String,
    pub(crate) task: Option<String>,
    pub(crate) iteration: u64,
    #[serde(default)]
    pub(crate) model: String,
    #[serde(default)]
    pub(crate) verdict: String,
    pub(crate) cost_usd: Option<f64>,
    #[serde(default)]
    pub(crate) ms: u64,
    #[serde(default)]
    pub(crate) file: String,
}

const CAP: u64 = 4 << 20;
const FILE: &str = "rounds.jsonl";

impl Round {
    /// The round in one line.
    pub(crate) fn line(&self) -> String {
        let task = self
            .task
            .as_ref()
            .map(|task| format!(" of task {task}"))
            .unwrap_or_default();
        format!(
            "{} {}{task} by {}: {}, {:.1} s, {}",
            self.review,
            self.iteration,
            self.model,
            self.verdict,
            f64::from(u32::try_from(self.ms).unwrap_or(u32::MAX)) / 1000.0,
            cost(self.cost_usd)
        )
    }

    /// Writes the round down, also in the journal, unless it is the last one already.
    pub(crate) fn append_once(
        &self,
        plan: &Plan,
        journal: &Journal,
        about: &Entry<'_>,
    ) -> std::io::Result<()> {
        let is_same = |last: &Self| {
            (&last.review, &last.task, last.iteration) == (&self.review, &self.task, self.iteration)
        };
        // A review that was taken over took no time of its own.
        if self.ms == 0 && read(plan).last().is_some_and(is_same) {
            return Ok(());
        }
        fs::private_directory(plan.local())?;
        fs::append_line(&plan.local().join(FILE), &serde_json::to_string(self)?)?;
        let reason = format!("{}: {}", plan.id(), self.line());
        journal.append(&Entry {
            guard: Some("plan"),
            phase: Some(&self.review),
            agent: Some(&self.model),
            code: Some(&self.verdict),
            reason: Some(&reason),
            took: Some(Duration::from_millis(self.ms)),
            cost: Cost {
                usd: self.cost_usd,
                ..Cost::default()
            },
            ..*about
        })
    }
}

/// A cost as people read it.
pub(crate) fn cost(usd: Option<f64>) -> String {
    usd.map_or("cost unknown".to_owned(), |usd| format!("${usd:.4}"))
}

/// All rounds of a plan, oldest first. A torn line is skipped.
pub(crate) fn read(plan: &Plan) -> Vec<Round> {
    let contents = fs::read_own(&plan.local().join(FILE), CAP).ok().flatten();
    let bytes = contents.map(|contents| contents.bytes).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let rounds = text.lines().map(serde_json::from_str);
    rounds.filter_map(Result::ok).collect()
}

/// What reviews cost together, as far as it is known; none if nothing is.
pub(crate) fn total_cost(rounds: &[Round]) -> Option<f64> {
    let known = rounds.iter().filter_map(|round| round.cost_usd);
    known.reduce(|sum, cost| sum + cost)
}
