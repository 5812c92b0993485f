//! Seeing what was decided and why.

mod explain;
mod log;
mod replay;
mod state;
mod verify;
