//! Tollgate holds coding agents to a process.
//!
//! `tollgate hook` runs before every tool call of an agent, so it goes straight to `hook.rs` and
//! passes nothing that a person's command line needs. All else is in `cli/`.

#[cfg(not(unix))]
compile_error!(
    "Tollgate needs Linux or macOS: on Windows, build and run it in WSL, beside the agent"
);

mod acted_on;
mod agents;
mod ancestors;
mod armed;
mod asked;
mod changes;
mod cli;
mod config;
mod deadline;
mod environment;
mod explain;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod gate;
mod git;
mod git_guard;
mod hash;
mod heard;
mod hook;
mod init;
mod installation;
mod journal;
mod ledger;
mod memory;
mod overrides;
mod person;
mod plain;
mod plan;
mod process;
mod project_commands;
mod project_view;
mod random;
mod replay;
mod review;
mod rules;
mod statusline;
mod stdin;
mod stop;
mod telemetry;
mod toml_file;
mod trust;
mod ui;
mod user_store;
mod workflow_config;

use std::io::IsTerminal as _;
use std::process::ExitCode;

/// The whole program.
pub fn main() -> ExitCode {
    process::survive_file_limit();
    let mut args = std::env::args_os().skip(1);
    let asks_for_help = || std::env::args_os().any(|arg| arg == "--help" || arg == "-h");
    match args.next() {
        Some(command) if command == "hook" && !asks_for_help() => hook::run(args),
        Some(command) if command == "statusline" && !asks_for_help() => statusline::run(),
        Some(command) if command == git_guard::COMMAND => git_guard::run(args),
        Some(command) if command == process::WATCH => process::watch(args),
        // An agent that does not know `args` in another's settings (Copilot CLI) starts the bare
        // program, and takes the exit code of a usage message for "stop this".
        None if !std::io::stdin().is_terminal() => hook::run(args),
        _ => cli::run(),
    }
}
