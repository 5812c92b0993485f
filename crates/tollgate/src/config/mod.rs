//! Configuration: `tollgate.toml` with its layers, and what all configuration files have in common.
//!
//! A [`table::Table`] has a row for every key; the reader, the complaints, the JSON Schema and the
//! reference are made from it, whatever the format. What the gates make of `[gates]`, and their
//! files under `.gauntlet/`, is in [`crate::gate::config`].

pub(crate) mod compiled;
pub(crate) mod duration;
pub(crate) mod glob;
pub(crate) mod keys;
pub(crate) mod last_good;
mod layers;
pub(crate) mod node;
pub(crate) mod reference;
mod requires;
pub(crate) mod rules;
pub(crate) mod schema;
pub(crate) mod set;
pub(crate) mod show;
pub(crate) mod table;
pub(crate) mod toml;
pub(crate) mod workflow;
pub(crate) mod yaml;

pub(crate) use layers::{Merged, Texts};
pub(crate) use node::{Layer, Node, Place};
pub(crate) use table::{Problem, Weight};
pub(crate) use tollgate_core::nearest::nearest;
