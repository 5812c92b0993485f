//! `tollgate guards`: what is guarded, from the same table that the hook runs.

use std::process::ExitCode;

use tollgate_core::guard::{GUARDS, Guard};

use super::{BOLD, DIM};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    if arguments.json {
        let rows: Vec<_> = GUARDS.iter().map(row).collect();
        anstream::println!("{:#}", serde_json::Value::Array(rows));
        return ExitCode::SUCCESS;
    }
    for guard in GUARDS {
        anstream::println!(
            "{BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}",
            guard.name,
            events(guard)
        );
        anstream::println!("  {}", guard.about);
        for (code, meaning) in guard.codes {
            anstream::println!("  {code}  {meaning}");
        }
    }
    ExitCode::SUCCESS
}

fn events(guard: &Guard) -> String {
    let mut names: Vec<String> = guard
        .on
        .iter()
        .map(|(kind, class)| format!("{}[{class}]", kind.as_str()))
        .collect();
    names.dedup();
    names.join(", ")
}

fn row(guard: &Guard) -> serde_json::Value {
    let codes: serde_json::Map<String, serde_json::Value> = guard
        .codes
        .iter()
        .map(|(code, meaning)| ((*code).to_owned(), (*meaning).into()))
        .collect();
    serde_json::json!({
        "name": guard.name, "about": guard.about, "events": events(guard), "codes": codes,
    })
}
