//! How a used-up quota sounds.
//!
//! Looked for only where there is no answer, and only in what the command line says about
//! itself: a review *of* code about usage limits must not be taken for one.

use super::{Kind, NoAnswer, Printed, Reviewer, Spoken};

/// A part of a message, in small letters, and who says it (nobody: all of them).
#[rustfmt::skip]
static TEXTS: [(Option<&str>, &str); 18] = [
    (None, "usage limit"),
    (None, "quota exceeded"),
    (None, "exceeded your current quota"),
    (None, "quota will reset"),
    (None, "rate limit exceeded"),
    (None, "credit balance is too low"),
    (None, "out of extra usage"),
    (None, "out of usage"),
    (Some("claude"), "limit reached"),
    (Some("claude"), "hit your limit"),
    (Some("codex"), "insufficient_quota"),
    (Some("codex"), "too many requests"),
    (Some("gemini"), "resource_exhausted"),
    (Some("gemini"), "exhausted your capacity"),
    (Some("github-copilot"), "premium requests"),
    (Some("github-copilot"), "exceeded your copilot"),
    (Some("cursor"), "hit your usage"),
    (Some("cursor"), "upgrade your plan"),
];

/// A message about a quota is short; a page of prose that mentions one is something else.
const SHORT: usize = 2000;

/// The same, as a usage limit if that is what it is.
pub(super) fn recognise(reviewer: &Reviewer, answer: NoAnswer, printed: &Printed) -> NoAnswer {
    let can_be = match answer.kind {
        Kind::Failed | Kind::Silent => true,
        Kind::Missing
        | Kind::TooLarge
        | Kind::NotStarted
        | Kind::TimedOut
        | Kind::Cancelled
        | Kind::Killed
        | Kind::UsageLimit
        | Kind::Unreadable
        | Kind::NoObject
        | Kind::SeveralObjects => false,
    };
    if !can_be {
        return answer;
    }
    let about_itself = [&answer.detail, &printed.stderr, &printed.stdout];
    let line = about_itself
        .into_iter()
        .filter(|text| text.len() <= SHORT)
        .flat_map(|text| text.lines())
        .find(|line| is_limit(reviewer.name(), line));
    match line {
        Some(line) => Kind::UsageLimit.because(line.trim()),
        None => answer,
    }
}

/// Some say it on standard output and end as if all were well.
pub(super) fn hides_in(reviewer: &Reviewer, spoken: Spoken) -> Result<Spoken, NoAnswer> {
    let text = &spoken.text;
    let can_be = text.len() <= SHORT && !text.contains('{');
    let line = text
        .lines()
        .find(|line| can_be && is_limit(reviewer.name(), line));
    match line {
        Some(line) => Err(Kind::UsageLimit.because(line.trim())),
        None => Ok(spoken),
    }
}

fn is_limit(name: &str, line: &str) -> bool {
    let line = line.to_lowercase();
    TEXTS
        .iter()
        .any(|(who, text)| who.is_none_or(|who| who == name) && line.contains(text))
}
