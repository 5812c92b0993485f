//! Seeing what was decided and why.

mod explain;
mod log;
mod verify;
