//! Seeing what was decided and why.

mod log;
mod verify;
