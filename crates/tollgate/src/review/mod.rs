//! Reviews by independent agents.
//!
//! [`cli`] asks one agent one question, whatever the question is; plans use it too. Above it is
//! what a *gate* makes of it: [`gate`] chooses reviewers and judges, [`prompt`] asks, [`answer`]
//! reads, [`outcome`] is what comes of it, [`finding`] says which findings are the same and what becomes of them, [`scope`] which
//! lines a change is about, [`record`] keeps it all in files that the agent answers in.
//!
//! The one rule of it all: a pass is a pass only if a reviewer that ended well said so in exactly
//! one object, and nothing that was found before is left unanswered. Everything else is a fail
//! or, without a verdict, inconclusive.
//!
//! What this deliberately does not do: decide what is reviewed, number runs, or print.

pub(crate) mod answer;
pub(crate) mod cli;
pub(crate) mod finding;
pub(crate) mod gate;
pub(crate) mod kept;
pub(crate) mod outcome;
mod prompt;
pub(crate) mod record;
mod scope;
#[cfg(test)]
mod tests;

pub(crate) use cli::Reviewer;
pub(crate) use finding::Priority;
pub(crate) use gate::run;
