//! Tollgate holds coding agents to a process.
//!
//! `tollgate hook` runs before every tool call of an agent, so it goes straight to [`hook`] and
//! passes nothing that a person's command line needs. All else is in [`cli`].

mod changes;
mod cli;
mod explain;
mod gate;
mod hook;
mod journal;
mod ledger;
mod person;
mod plan;
mod process;
mod review;
mod stdin;
mod stop;
mod trust;

use std::process::ExitCode;

// musl's own allocator costs a tenth to a third of a whole hook; elsewhere the system's is fine.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let asks_for_help = || std::env::args_os().any(|arg| arg == "--help" || arg == "-h");
    match args.next() {
        Some(command) if command == "hook" && !asks_for_help() => hook::run(args),
        Some(command) if command == process::WATCH => process::watch(args),
        _ => cli::run(),
    }
}
