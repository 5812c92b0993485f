//! Everything that deciding one agent event may execute, and nothing else.
//!
//! This crate starts no process and no thread, prints nothing, and knows no argument parser,
//! regular expressions, YAML or async runtime. Slower work is in the
//! `tollgate` crate.

#![forbid(unsafe_code)]

mod configs;
pub mod context;
pub mod decision;
pub mod env;
pub mod git;
pub mod guard;
pub mod integrity;
pub mod nearest;
pub mod next;
pub mod person;
pub mod project;
pub mod protocol;
pub mod record;
pub mod rules;
pub mod selftest;
pub mod text;
mod text_file;
mod tool_effects;
pub mod undecided;
pub mod workflow;
