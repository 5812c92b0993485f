//! The last line of a run: what can be said about all gates, the counts, and the time.

use std::time::Duration;

use anstyle::Style;

use super::super::{ERROR, GOOD, WARN};
use super::lines::counts;
use crate::gate::evidence::{SIGN, Verification};
use crate::gate::run::RunResult;
use crate::plain::PlainLines;

/// What a run came to, for its last line.
pub(super) struct Last<'r> {
    pub(super) result: &'r RunResult,
    pub(super) took: Duration,
    /// Whether it was about all gates.
    pub(super) is_whole: bool,
    /// Whether there are gates, or were until somebody removed them.
    pub(super) has_gates: bool,
    /// Continuous integration runs what a change calls for, and keeps no evidence.
    pub(super) is_ci: bool,
}

impl Last<'_> {
    /// The last line.
    pub(super) fn line(&self) -> String {
        let (style, verdict) = self.verdict();
        let counts = counts(self.result);
        let took = self.took.as_secs_f64();
        match verdict {
            Some(verdict) => format!("{style}{verdict}{style:#}: {counts} in {took:.2}s"),
            None => format!("{counts} in {took:.2}s"),
        }
    }

    fn verdict(&self) -> (Style, Option<String>) {
        if self.result.is_interrupted {
            return (WARN, Some("interrupted".to_owned()));
        }
        let is_green = self.result.status.exit() == 0;
        let skipped = self.result.skipped.join(", ");
        let not = |why: &str| {
            let why = PlainLines(why).to_string();
            match (is_green, self.is_ci) {
                (true, true) => (GOOD, Some(format!("passed (not verified: {why})"))),
                (true, false) => (WARN, Some(format!("not verified ({why})"))),
                (false, _) => (ERROR, Some(format!("not verified ({why})"))),
            }
        };
        match &self.result.verification {
            _ if !skipped.is_empty() => {
                let why = format!("{}: skipped", PlainLines(&skipped));
                (WARN, Some(format!("not verified ({why})")))
            }
            _ if !self.is_whole => (GOOD, None),
            Some(Verification::Verified { .. }) if is_green => {
                (GOOD, Some(format!("{SIGN} verified")))
            }
            Some(Verification::Not(why)) => not(why),
            Some(Verification::Unknown(why)) => not(&format!("cannot tell: {why}")),
            Some(Verification::Verified { .. }) | None => (ERROR, Some("not verified".to_owned())),
        }
    }
}
