//! The phase handshake of spec 001 through the binary and real git repositories.
//!
//! Every scenario TS-001 … TS-015 has a test of its number; every acceptance criterion AC-001a …
//! AC-013f is named in the name or the first comment of a test.

mod audit;
mod bad_input;
pub(crate) mod bench;
mod gates;
mod guards;
mod handshake;
mod lifecycle;
mod monorepo;
mod review;
mod stale;
mod toml;
mod verified;
