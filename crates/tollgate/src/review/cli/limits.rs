//! Recognises the message of a used-up quota.
//!
//! Looked for only where there is no answer, and only in what the command line says about
//! itself: a review *of* code about usage limits must not be taken for one.

use super::{Kind, NoAnswer, Printed, Reviewer, Spoken};

/// Parts of the messages of all of them, in small letters. Each has more of its own.
static TEXTS: [&str; 8] = [
    "usage limit",
    "quota exceeded",
    "exceeded your current quota",
    "quota will reset",
    "rate limit exceeded",
    "credit balance is too low",
    "out of extra usage",
    "out of usage",
];

/// A message about a quota is short; a page of prose that mentions one is something else.
const SHORT: usize = 2000;

/// The same, as a usage limit if that is what it is.
pub(super) fn recognise(reviewer: &Reviewer, answer: NoAnswer, printed: &Printed) -> NoAnswer {
    if !matches!(answer.kind, Kind::Failed | Kind::Silent) {
        return answer;
    }
    let about_itself = [&answer.detail, &printed.stderr, &printed.stdout];
    let line = about_itself
        .into_iter()
        .filter(|text| text.len() <= SHORT)
        .flat_map(|text| text.lines())
        .find(|line| is_limit(reviewer, line));
    match line {
        Some(line) => Kind::UsageLimit.because(line.trim()),
        None => answer,
    }
}

/// Some say it on standard output and end as if all were well.
pub(super) fn hides_in(reviewer: &Reviewer, spoken: Spoken) -> Result<Spoken, NoAnswer> {
    let text = &spoken.text;
    let can_be = text.len() <= SHORT && !text.contains('{');
    let line = text.lines().find(|line| can_be && is_limit(reviewer, line));
    match line {
        Some(line) => Err(Kind::UsageLimit.because(line.trim())),
        None => Ok(spoken),
    }
}

fn is_limit(reviewer: &Reviewer, line: &str) -> bool {
    let line = line.to_lowercase();
    let own = reviewer.row().map_or(&[][..], |row| row.limits);
    TEXTS.iter().chain(own).any(|text| line.contains(text))
}
