//! `tollgate try-review`: a review of a diff outside of any gates, for those who write prompts
//! or a reviewer of their own. The same machinery as in a run, with the logs where one wants
//! them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};

use super::{BOLD, CommandResult, DIM, GOOD, Trouble, WARN, read_text};
use crate::process::Children;
use crate::review::cli::Usage;
use crate::review::gate::{Outcome, Pace, Request, Verdict};
use crate::review::{Priority, Reviewer};
use crate::trust::Consent;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The unified diff to review; `-` reads standard input
    diff: PathBuf,
    /// A file that says what to look for
    #[arg(long)]
    prompt: PathBuf,
    #[arg(long = "reviewer", required = true, help = reviewers_help())]
    reviewers: Vec<String>,
    /// The program of the reviewer `command`, a line for `sh`
    #[arg(long)]
    command: Option<String>,
    /// The model to use
    #[arg(long)]
    model: Option<String>,
    /// How many independent reviews to make
    #[arg(long, default_value_t = 1)]
    reviews: u64,
    /// One review after another instead of all at once
    #[arg(long)]
    one_by_one: bool,
    /// Seconds for each reviewer
    #[arg(long, default_value_t = 300.0)]
    timeout: f64,
    /// From this priority on, new findings of a later review count
    #[arg(long, default_value = "high")]
    threshold: String,
    /// Where logs and the files to answer in go; earlier ones there are taken up
    #[arg(long, default_value = "tollgate_review")]
    logs: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let env = crate::environment::current();
    let root = env.cwd.clone().unwrap_or_else(|| PathBuf::from("."));
    let prompt = read_text(&arguments.prompt)?;
    let diff = read_text(&arguments.diff)?;
    let reviewers = arguments
        .reviewers
        .iter()
        .map(|name| reviewer(name, arguments.command.as_deref()))
        .collect::<Result<Vec<_>, _>>()?;
    let threshold = Priority::named(&arguments.threshold).ok_or_else(|| {
        Trouble::new(format!("there is no priority {:?}", arguments.threshold))
            .hint("critical, high, medium or low")
    })?;
    let timeout = Duration::try_from_secs_f64(arguments.timeout)
        .map_err(|error| Trouble::new(format!("--timeout: {error}")))?;
    let logs = root.join(&arguments.logs);
    if !logs.is_dir() {
        std::fs::create_dir_all(&logs).map_err(|error| Trouble::about(&logs, &error))?;
    }
    let children = Children::open(&Consent::of_the_person(), None)
        .map_err(|error| Trouble::new(format!("no child can be watched: {error}")))?;
    children
        .cancel_on_signals()
        .map_err(|error| Trouble::new(format!("signals cannot be watched: {error}")))?;
    let request = Request {
        root: &root,
        logs: &logs,
        stem: "try",
        run: next_run(&logs),
        reviewers: &reviewers,
        reviews: arguments.reviews,
        pace: if arguments.one_by_one {
            Pace::OneByOne
        } else {
            Pace::AtOnce
        },
        prompt: &prompt,
        diff: &diff,
        model: arguments.model.as_deref(),
        threshold,
        timeout: Some(timeout),
        search: env.path.as_deref().unwrap_or_default(),
    };
    let outcome = crate::review::run(&request, &children);
    drop(children);
    if arguments.json {
        anstream::println!("{}", to_json(&outcome));
    } else {
        show(&outcome);
    }
    Ok(match outcome.verdict {
        Verdict::Pass => ExitCode::SUCCESS,
        Verdict::Fail => ExitCode::from(1),
        Verdict::Inconclusive => ExitCode::from(2),
    })
}

fn reviewers_help() -> String {
    let names: Vec<_> = Reviewer::names().collect();
    let names = names.join(", ");
    format!("A reviewer, in the order of preference: {names}")
}

fn reviewer(name: &str, command: Option<&str>) -> Result<Reviewer, Trouble> {
    Reviewer::named(name, command).ok_or_else(|| {
        if name == "command" {
            return Trouble::new("the reviewer `command` needs its program")
                .hint("add --command 'PROGRAM ARGUMENTS'");
        }
        let names: Vec<_> = Reviewer::names().collect();
        Trouble::new(format!("there is no reviewer {name:?}")).hint(names.join(", "))
    })
}

/// No file there has its number yet.
fn next_run(logs: &Path) -> u64 {
    let names = std::fs::read_dir(logs).into_iter().flatten().flatten();
    let numbers = names.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        name.rsplit('.').nth(1)?.parse::<u64>().ok()
    });
    numbers.max().unwrap_or(0) + 1
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "fail",
        Verdict::Inconclusive => "inconclusive",
    }
}

fn usage(usage: Usage) -> Value {
    json!({
        "cost_usd": usage.cost_usd,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
    })
}

fn to_json(outcome: &Outcome) -> Value {
    let slots: Vec<Value> = outcome
        .slots
        .iter()
        .map(|slot| {
            json!({
                "reviewer": slot.label,
                "result": word(slot.verdict),
                "message": slot.message,
                "seconds": slot.took.as_secs_f64(),
                "log": slot.log,
                "file": slot.file,
                "usage": usage(slot.usage),
            })
        })
        .collect();
    json!({
        "result": word(outcome.verdict),
        "warnings": outcome.has_warnings(),
        "message": outcome.message,
        "reviews": slots,
        "open": outcome.open,
        "fixed": outcome.fixed,
        "skipped": outcome.skipped,
        "advisory": outcome.advisory,
        "usage": usage(outcome.usage),
    })
}

fn show(outcome: &Outcome) {
    for slot in &outcome.slots {
        let style = match slot.verdict {
            Verdict::Pass => GOOD,
            Verdict::Fail | Verdict::Inconclusive => WARN,
        };
        let seconds = slot.took.as_secs_f64();
        anstream::println!(
            "{style}{}{style:#} {BOLD}{}{BOLD:#} {DIM}{seconds:.1}s{DIM:#} {}",
            word(slot.verdict),
            slot.label,
            slot.message
        );
        if let Some(file) = &slot.file {
            anstream::println!("  {DIM}{}{DIM:#}", file.display());
        }
    }
    let groups = [
        ("open", &outcome.open),
        ("fixed", &outcome.fixed),
        ("advisory", &outcome.advisory),
    ];
    for (what, lines) in groups {
        for line in lines {
            anstream::println!("  {what}: {line}");
        }
    }
    for (line, reason) in &outcome.skipped {
        anstream::println!("  skipped: {line} ({reason})");
    }
    let message = match outcome.message.as_str() {
        "" => String::new(),
        message => format!(": {message}"),
    };
    let warnings = if outcome.has_warnings() {
        " with warnings"
    } else {
        ""
    };
    anstream::println!("{}{warnings}{message}", word(outcome.verdict));
}
