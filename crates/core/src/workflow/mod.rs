//! The phase workflow as data and pure rules: phases and their other names, agents and their
//! other names, who owns which phase, what a phase must have done, and whether a tool call hands
//! a phase to somebody or asks to pass its gate.

pub mod agents;
pub mod delegation;
pub mod escalation;
pub mod gate;
pub mod manifest;
pub mod phases;
pub mod requirements;
