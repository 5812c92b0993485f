//! Gates that a person leaves out of a run: `--skip NAME --reason "…"` and `TOLLGATE_SKIP`.
//!
//! It is for a person in a hurry, not for an agent, and it makes nothing verified. It is written down,
//! and an agent's stop runs those gates all the same.

use jiff::Timestamp;
use tollgate_core::env::SKIP as VARIABLE;
use tollgate_core::project::Layout;
use tollgate_store::journal::{Entry, Journal, Verdict};

use super::super::{Trouble, trust};
use crate::gate::config::{Config, nearest};

/// The code of a gate that was left out, in the journal.
const CODE: &str = "GATE-SKIPPED";

#[derive(Debug, clap::Args)]
pub(super) struct SkipArguments {
    /// Leave out this gate; the result is then not verified (may be repeated; also `TOLLGATE_SKIP`)
    #[arg(long, value_name = "NAME", requires = "reason")]
    skip: Vec<String>,
    /// Why gates are left out; it goes into the journal
    #[arg(long, value_name = "TEXT", requires = "skip")]
    reason: Option<String>,
}

/// What is left out, and why.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    pub(super) names: Vec<String>,
    pub(super) reason: String,
}

impl SkipArguments {
    /// What is left out, if a person asks for it.
    pub(super) fn skipped(&self, config: &Config) -> Result<Skipped, Trouble> {
        let variable = crate::environment::variable(VARIABLE);
        let variable = variable.map(|names| names.to_string_lossy().into_owned());
        let (names, reason, source) = match (&self.reason, variable) {
            (Some(reason), _) => (self.skip.clone(), reason.trim().to_owned(), "--skip"),
            (None, Some(names)) => {
                let names = names.split(',').map(str::trim);
                let names = names.filter(|name| !name.is_empty()).map(str::to_owned);
                (names.collect(), format!("{VARIABLE} is set"), VARIABLE)
            }
            (None, None) => return Ok(Skipped::default()),
        };
        if names.is_empty() {
            return Ok(Skipped::default());
        }
        if reason.is_empty() {
            return Err(
                Trouble::new("missing --reason").hint("add --reason \"…\"; the journal records it")
            );
        }
        trust::no_agent(&format!("run` with `{source}"))?;
        for name in &names {
            known(config, name)?;
        }
        Ok(Skipped { names, reason })
    }
}

/// Whether there is a gate of this name.
pub(super) fn known(config: &Config, name: &str) -> Result<(), Trouble> {
    if config.checks.contains_key(name) || config.reviews.contains_key(name) {
        return Ok(());
    }
    let names = config.checks.keys().chain(config.reviews.keys());
    let near = nearest(name, names.map(String::as_str));
    let near = near.map_or_else(
        || "; `tollgate list` shows those there are".to_owned(),
        |near| format!("; did you mean {near:?}?"),
    );
    Err(Trouble::new(format!("there is no gate {name:?}{near}")))
}

impl Skipped {
    /// Writes down what was left out.
    pub(super) fn record(&self, layout: &Layout, names: &[String]) -> std::io::Result<()> {
        let journal = Journal::new(layout.local());
        let now = Timestamp::now();
        names.iter().try_for_each(|name| {
            journal.append(&Entry {
                guard: Some(name),
                code: Some(CODE),
                reason: Some(&self.reason),
                ..Entry::new(now, Verdict::Change)
            })
        })
    }
}
