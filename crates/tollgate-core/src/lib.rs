//! Everything that deciding one agent event may execute, and nothing else.
//!
//! This crate starts no process and no thread, prints nothing, and knows no argument parser,
//! regular expressions, YAML or async runtime. What takes longer than a blink lives in the
//! `tollgate` crate.

#![forbid(unsafe_code)]

mod configs;
pub mod env;
pub use tollgate_store::fs;
pub mod git;
pub mod guard;
pub mod integrity;
pub use tollgate_store::json;
pub mod decision;
pub mod project;
pub mod protocol;
pub mod record;
pub mod scene;
pub mod selftest;
pub use tollgate_shell as shell;
pub mod state;
pub mod text;
mod text_file;
pub mod workflow;
