//! The phase workflow as data and pure rules: phases and their other names, agents and their
//! other names, who owns which phase, and whether a tool call hands a phase to somebody.

pub mod agents;
pub mod delegation;
pub mod manifest;
pub mod phases;
pub mod regression;
