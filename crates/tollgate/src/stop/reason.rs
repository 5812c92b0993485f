//! What a blocked agent reads: first what failed and where to read about it, then the rules.

use crate::gate::config::{Config, Words};
use crate::gate::record::Failure;
use crate::gate::run::RunResult;

/// How much of the reason what failed may take, so that the rules are not cut off.
const ROOM: usize = 6000;

/// How much of what one failure says is quoted.
const SAID: usize = 600;

/// What failed and where to read about it; and how to go on, which only the agent needs. In the words of
/// the gates' home.
pub(super) fn texts(config: &Config, result: &RunResult) -> (String, String) {
    match config.words {
        Words::Specification => by_specification(config, result),
        Words::Own => in_own_words(config, result),
    }
}

fn in_own_words(config: &Config, result: &RunResult) -> (String, String) {
    let console = result.console_log.as_ref();
    let console = console.map_or(String::new(), |path| {
        format!("The whole output of all gates: {}\n\n", path.display())
    });
    let is_review = |failure: &Failure| config.reviews.contains_key(&failure.id);
    let reviews = if result.failures.iter().any(is_review) {
        "In each review file named above, answer every finding: set \"status\" to \"fixed\" and say in \"result\" how, or to \"skipped\" and say why. Skip what is a matter of taste, rests on a misunderstanding, or goes beyond this change.\n\n"
    } else {
        ""
    };
    let short = format!(
        "The gates failed, so this work is not finished.\n\n{}",
        failed(result)
    );
    let instructions = format!(
        "{console}{reviews}Fix the causes, then stop again: the gates run again by themselves, at most {retries} times. A stop without any change is released as not verified. Do not change the gates: that is reported and makes nothing pass.",
        retries = config.max_retries,
    );
    (short, instructions)
}

/// Specification 003's text.
fn by_specification(config: &Config, result: &RunResult) -> (String, String) {
    let console = result
        .console_log
        .as_ref()
        .map_or_else(|| "none".to_owned(), |path| path.display().to_string());
    let retries = config.max_retries;
    let short = format!(
        "GAUNTLET FAILED — YOU MUST FIX ISSUES NOW\n\n{}",
        failed(result)
    );
    let instructions = format!(
        "\
You cannot stop until these issues are resolved or one of the termination conditions below is met. Fix them, then stop again: this hook will automatically re-run the gates to verify your fixes (at most {retries} times; a stop without any change is not verified again). Do not run the gates yourself, and do not change the gates.

Console log (full output of all gates): {console}

How to work through the failures:
- CHECK failures: read the .log file named above and fix the cause.
- REVIEW failures: open the .json file named above. For each violation set \"status\" to \"fixed\" and say in \"result\" how you fixed it, or set \"status\" to \"skipped\" and say in \"result\" why.
- Review trust level: medium. Fix what you reasonably agree with or what follows the project's rules; skip what is only a matter of style, rests on a misunderstanding, or goes beyond this change.

Termination conditions:
- \"Status: Passed\": all gates are green.
- \"Status: Passed with warnings\": what is left was skipped with a reason.
- \"Status: Retry limit exceeded\": a person takes over.",
    );
    (short, instructions)
}

fn failed(result: &RunResult) -> String {
    let mut text = String::new();
    let mut left_out = 0;
    for failure in &result.failures {
        let entry = entry(failure, result);
        // Whatever it takes, the first one is named.
        if text.len() + entry.len() > ROOM && !text.is_empty() {
            left_out += 1;
        } else {
            text.push_str(&entry);
        }
    }
    if left_out > 0 {
        text = format!("{text}…and {left_out} more, in the console log.\n");
    }
    text
}

fn entry(failure: &Failure, result: &RunResult) -> String {
    let said: String = failure.message.chars().take(SAID).collect();
    let more = if said.len() < failure.message.len() {
        "…"
    } else {
        ""
    };
    let mut text = format!("✗ {}: {said}{more}\n", failure.id);
    for file in &failure.files {
        let label = match file.extension() {
            Some(end) if end == "json" => "Review",
            Some(_) | None => "Log",
        };
        text = format!("{text}  {label}: {}\n", file.display());
    }
    let gate = result.gates.iter().find(|gate| gate.id == failure.id);
    for line in gate.map(|gate| gate.excerpt.as_slice()).unwrap_or_default() {
        let line: String = line.chars().take(200).collect();
        text = format!("{text}  | {line}\n");
    }
    text
}
