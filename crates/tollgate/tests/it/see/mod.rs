//! Seeing what was decided and why.

mod bad;
mod explain;
mod hostile;
mod log;
mod replay;
mod state;
mod verify;
