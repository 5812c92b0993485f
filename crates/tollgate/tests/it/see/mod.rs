//! Seeing what was decided and why.

mod bad;
mod explain;
mod log;
mod replay;
mod state;
mod verify;
