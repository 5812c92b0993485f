//! Plans and their reviews: the specification's 80 tests by suite and number, then what it did
//! not think of.

mod bad_input;
mod commands;
mod crash;
mod decisions;
mod faults;
mod fixture;
mod odd_tables;
mod ordinary_work;
mod plugin;
mod repair;
mod simulation;
mod suite_1_validation;
mod suite_2_auto_review;
mod suite_3_transitions;
mod suite_4_invocation;
mod suite_5_messages;
mod suite_6_edges;
pub(crate) mod toml;
