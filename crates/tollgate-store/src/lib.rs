//! Files that survive: whichever process is killed, and however many write at once, a file
//! is a complete old or new version.
//!
//! * [`fs`]: reading regular files within bounds, replacing and appending to them.
//! * [`json`]: a lazy view of a JSON text, for reading.
//! * [`document`]: the order- and unknown-key-preserving JSON document, for writing.
//! * [`edit`]: a change of it as data, so that it can wait in a file.
//! * [`store`]: read, apply, replace, under a [`lock`]; late changes wait in a [`pending`].
//! * [`journal`]: what happened, one JSON line each, without secrets ([`redact`]); its lines are a
//!   [`chain`]. [`history`] and [`patch`]: who changed which field of a document.
//!
//! This crate knows no workflow, no guard and no agent. Nothing here reads the wall clock: what
//! needs the time is given it.

#![forbid(unsafe_code)]

pub mod blobs;
pub mod chain;
pub mod dedup;
pub mod document;
pub mod edit;
pub mod fs;
pub mod history;
pub mod journal;
pub mod json;
mod last_written;
pub mod lock;
mod outcome;
pub mod patch;
pub mod pending;
mod pending_files;
pub mod redact;
pub mod store;
pub mod timestamp;
pub mod version;
pub mod watch;

#[cfg(test)]
mod fault_tests;
