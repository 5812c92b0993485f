//! State that survives: the workflow's document, who may change it when, and what was decided.
//!
//! * [`document`]: the order- and unknown-key-preserving JSON document for writing.
//! * [`edit`]: a change of it as data, so that it can wait in a file.
//! * [`store`]: read, apply, replace, under a [`lock`]; late changes wait in a [`spool`].
//! * [`journal`] and [`activity`]: what happened, one JSON line each, without secrets
//!   ([`redact`]); the journal's lines are a [`chain`].
//!
//! Nothing here reads the wall clock: what needs the time is given it.

pub mod activity;
pub mod archive;
pub mod chain;
pub mod document;
pub mod edit;
pub mod excerpt;
pub mod history;
mod inbox;
pub mod journal;
pub mod kept;
pub mod lock;
pub mod once;
mod outcome;
pub mod patch;
mod record;
pub mod redact;
pub mod spool;
pub mod store;
pub mod timestamp;
pub(crate) mod version;
pub mod view;
pub mod watch;

#[cfg(test)]
mod fault_tests;
