//! The phase workflow as data and pure rules: phases and their other names, agents and their
//! other names, who owns which phase, and whether a tool call delegates a phase;
//! which workflows there are, what a phase must show, every step of a workflow as a
//! transition, and the audit that finds what no transition would have left behind.

pub mod agents;
pub mod archive;
pub mod audit;
pub mod brief;
pub mod definitions;
pub mod delegation;
pub mod evidence;
pub mod manifest;
pub mod pace;
pub mod phase_jump;
pub mod phases;
pub mod plan_format;
pub mod position;
pub mod prune;
pub mod regression;
pub mod requirements;
pub mod state;
pub mod tasks;
pub mod transition;
pub mod unseen_evidence;
