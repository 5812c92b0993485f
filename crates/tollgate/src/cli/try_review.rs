//! `tollgate try-review`: a review of a diff outside of any gates, for those who write prompts
//! or a reviewer of their own. The same machinery as in a run, with the logs where one wants
//! them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};

use super::{BOLD, CommandResult, DIM, GOOD, Trouble, WARN, read_text};
use crate::process::Children;
use crate::review::cli::Usage;
use crate::review::gate::{Request, Reviewed};
use crate::review::outcome::Outcome;
use crate::review::{Priority, Reviewer};
use crate::trust::Consent;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The unified diff to review; `-` reads standard input
    diff: PathBuf,
    /// A file that says what to look for
    #[arg(long)]
    prompt: PathBuf,
    #[arg(long = "reviewer", required = true, help = format!("A reviewer, in the order of preference: {}", reviewers()))]
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
    /// New findings of a later review count from this priority on
    #[arg(long, default_value = "high")]
    threshold: String,
    /// The directory for logs and findings; earlier ones there are continued
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
        at_once: !arguments.one_by_one,
        prompt: &prompt,
        diff: &diff,
        model: arguments.model.as_deref(),
        threshold,
        timeout: Some(timeout),
        search: env.path.as_deref().unwrap_or_default(),
        kept: &BTreeMap::new(),
        seen: None,
        since: &|_| None,
    };
    let reviewed = crate::review::run(&request, &children);
    drop(children);
    if arguments.json {
        anstream::println!("{}", to_json(&reviewed));
    } else {
        show(&reviewed);
    }
    Ok(match reviewed.outcome {
        Outcome::Pass => ExitCode::SUCCESS,
        Outcome::Fail | Outcome::Error => ExitCode::from(1),
        Outcome::Inconclusive | Outcome::NotRun => ExitCode::from(2),
    })
}

fn reviewers() -> String {
    Reviewer::names().collect::<Vec<_>>().join(", ")
}

fn reviewer(name: &str, command: Option<&str>) -> Result<Reviewer, Trouble> {
    Reviewer::named(name, command).ok_or_else(|| {
        if name == "command" {
            return Trouble::new("the reviewer `command` needs its program")
                .hint("add --command 'PROGRAM ARGUMENTS'");
        }
        Trouble::new(format!("there is no reviewer {name:?}")).hint(reviewers())
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

fn to_json(reviewed: &Reviewed) -> Value {
    let slots = reviewed.slots.iter().map(|slot| {
        json!({
            "reviewer": slot.label,
            "result": slot.outcome.as_str(),
            "message": slot.message,
            "seconds": slot.took.as_secs_f64(),
            "log": slot.log,
            "file": slot.file,
            "usage": slot.usage,
        })
    });
    let slots: Vec<Value> = slots.collect();
    let usages = reviewed.slots.iter().map(|slot| slot.usage);
    let total = usages.fold(Usage::default(), Usage::plus);
    json!({
        "result": reviewed.outcome.as_str(),
        "warnings": reviewed.findings.are_warnings(),
        "message": reviewed.message,
        "reviews": slots,
        "open": reviewed.findings.open,
        "fixed": reviewed.findings.fixed,
        "skipped": reviewed.findings.skipped,
        "advisory": reviewed.findings.advisory,
        "usage": total,
    })
}

fn show(reviewed: &Reviewed) {
    for slot in &reviewed.slots {
        let style = match slot.outcome {
            Outcome::Pass => GOOD,
            Outcome::Fail | Outcome::Error | Outcome::Inconclusive | Outcome::NotRun => WARN,
        };
        let seconds = slot.took.as_secs_f64();
        out!(
            "{style}{}{style:#} {BOLD}{}{BOLD:#} {DIM}{seconds:.1}s{DIM:#} {}",
            slot.outcome.as_str(),
            slot.label,
            slot.message
        );
        if let Some(file) = &slot.file {
            out!("  {DIM}{}{DIM:#}", file.display());
        }
    }
    let groups = [
        ("open", &reviewed.findings.open),
        ("fixed", &reviewed.findings.fixed),
        ("advisory", &reviewed.findings.advisory),
    ];
    for (what, lines) in groups {
        for line in lines {
            out!("  {what}: {line}");
        }
    }
    for (line, reason) in &reviewed.findings.skipped {
        out!("  skipped: {line} ({reason})");
    }
    let message = match reviewed.message.as_str() {
        "" => String::new(),
        message => format!(": {message}"),
    };
    let warnings = if reviewed.findings.are_warnings() {
        " with warnings"
    } else {
        ""
    };
    out!("{}{warnings}{message}", reviewed.outcome.as_str());
}
