//! The 92 cases of specification 000 §13, by number, and its edge-case tables as decided.

mod branch_guard;
mod delegation;
mod discover_menu_guard;
mod phase_loop_controller;
mod phase_sequence_guard;
mod plan_surfacer;
mod state_write_validator;
mod walkthrough_tracker;
