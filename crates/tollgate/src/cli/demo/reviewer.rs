//! The demo's reviewer: a script, but one that reads the diff it is asked about.

use std::io::Read as _;
use std::process::ExitCode;

use serde_json::json;

use crate::cli::{CommandResult, Trouble};

/// The one defect it knows: something is subtracted from a balance without a comparison.
const TAKES_OFF: &str = "$(($1 - $2))";
const COMPARES: &str = "-le \"$1\"";

/// What it says about it.
const ISSUE: &str = "A card can be overdrawn: nothing looks at its balance.";

/// Answers the question on standard input as reviews expect it.
pub(in crate::cli) fn review() -> CommandResult {
    let mut question = String::new();
    std::io::stdin()
        .read_to_string(&mut question)
        .map_err(|error| Trouble::new(format!("standard input: {error}")))?;
    let added = || question.lines().filter(|line| line.starts_with('+'));
    let overdraws = added().any(|line| line.contains(TAKES_OFF))
        && !added().any(|line| line.contains(COMPARES));
    let violations = if overdraws {
        json!([{
            "id": null, "file": "shop.sh", "line": 3, "issue": ISSUE,
            "fix": "refuse a price above the balance", "priority": "high",
        }])
    } else {
        json!([])
    };
    let status = if overdraws { "fail" } else { "pass" };
    let answer = json!({ "status": status, "message": null, "violations": violations });
    anstream::println!("{answer}");
    Ok(ExitCode::SUCCESS)
}
