//! `tollgate allow`: a person lifts a block, once or for a while.

use std::process::ExitCode;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tollgate_core::decision::Override;
use tollgate_core::rules::CODE;

use super::plain::{Plain, moment_of};
use super::trust::a_person;
use super::{BOLD, CommandResult, DIM, GOOD, Trouble};
use crate::config::{Merged, duration, nearest};
use crate::journal;
use crate::overrides::{
    Extent, LONGEST, ONCE_WITHIN, Overrides, canonical, codes, meaning, override_of,
};

/// How many of the last blocks are shown.
const SHOWN: usize = 5;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The code of what is blocked, for example BG-001 (`--list` shows recent blocks)
    #[arg(required_unless_present_any = ["list", "revoke"])]
    code: Option<String>,
    /// Allow it once, within the next hour
    #[arg(long, conflicts_with = "for")]
    once: bool,
    /// Allow it for this long: 45s, 30m, 2h, at most 24h
    #[arg(long, value_name = "DURATION")]
    r#for: Option<String>,
    /// Why; it goes into the journal
    #[arg(long)]
    reason: Option<String>,
    /// Show what is allowed now, and recent blocks
    #[arg(long, conflicts_with_all = ["code", "revoke"])]
    list: bool,
    /// Take back what is allowed under this code
    #[arg(long, value_name = "CODE", conflicts_with = "code")]
    revoke: Option<String>,
    /// Print JSON (with --list)
    #[arg(long, requires = "list")]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let env = crate::environment::current();
    let layout = super::layout_here()?;
    let overrides = Overrides {
        layout: &layout,
        env: &env,
        now: Timestamp::now(),
    };
    if arguments.list {
        return list(overrides, arguments.json);
    }
    if let Some(code) = &arguments.revoke {
        return revoke(overrides, &canonical(code));
    }
    let code = canonical(arguments.code.as_deref().unwrap_or_default());
    allow(overrides, &code, arguments)
}

fn allow(overrides: Overrides<'_>, code: &str, arguments: &Arguments) -> CommandResult {
    check(code)?;
    check_rule(overrides, code)?;
    let (extent, lasts) = match (&arguments.r#for, arguments.once) {
        (Some(text), _) => (Extent::Always, lasting(text)?),
        (None, true) => (Extent::Once, ONCE_WITHIN),
        (None, false) => {
            return Err(Trouble::new("missing --once or --for").hint("add --once or --for 30m"));
        }
    };
    let reason = arguments.reason.as_deref().map(str::trim);
    let Some(reason) = reason.filter(|reason| !reason.is_empty()) else {
        return Err(
            Trouble::new("missing --reason").hint("add --reason \"…\"; the journal records it")
        );
    };
    let until = overrides
        .now
        .checked_add(lasts)
        .map_err(|error| Trouble::new(error.to_string()))?;
    let person = a_person("allow")?;
    let what = format!(
        "{code} ({}) will not block an agent in {}.",
        meaning(code),
        overrides.layout.root().display()
    );
    let retyped = person.retypes(&what);
    if !retyped.map_err(|error| Trouble::new(format!("the terminal: {error}")))? {
        out!("The word does not match; nothing was allowed.");
        return Ok(ExitCode::FAILURE);
    }
    let allowed = overrides
        .allow(&person, code, extent, until, reason)
        .map_err(Trouble::new)?;
    write_down(overrides, code, &allowed.words());
    out!("{GOOD}allowed{GOOD:#}  {}", allowed.words());
    Ok(ExitCode::SUCCESS)
}

fn list(overrides: Overrides<'_>, as_json: bool) -> CommandResult {
    let all = overrides.list().map_err(Trouble::new)?;
    let lately = blocked_lately(overrides);
    if as_json {
        let allowed: Vec<Value> = all.iter().map(crate::overrides::Allowed::to_json).collect();
        anstream::println!("{:#}", json!({ "allowed": allowed, "blocked": lately }));
        return Ok(ExitCode::SUCCESS);
    }
    if all.is_empty() {
        out!("Nothing is allowed at the moment.");
    }
    for one in &all {
        let words = one.words();
        out!("{BOLD}{}{BOLD:#}  {}", Plain(&one.code), Plain(&words));
    }
    if !lately.is_empty() {
        out!("Blocked lately:");
    }
    for line in &lately {
        let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default();
        out!(
            "  {BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}  {}",
            Plain(text("code")),
            Plain(&moment_of(text("ts"))),
            Plain(text("reason"))
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// The last blocks that a person could lift, the newest first.
fn blocked_lately(overrides: Overrides<'_>) -> Vec<Value> {
    let lines = journal::lines(&overrides.layout.local());
    let could = |line: &Value| {
        let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default();
        text("verdict") == "block" && override_of(text("code")) == Some(Override::Person)
    };
    let all: Vec<Value> = lines.filter(could).collect();
    all.into_iter().rev().take(SHOWN).collect()
}

/// Taking back makes nothing weaker, so anybody may.
fn revoke(overrides: Overrides<'_>, code: &str) -> CommandResult {
    check(code)?;
    let count = overrides.revoke(code).map_err(Trouble::new)?;
    if count == 0 {
        out!("{code} was not allowed.");
        return Ok(ExitCode::FAILURE);
    }
    write_down(overrides, code, &format!("{code} is no longer allowed"));
    out!("{code} is no longer allowed.");
    Ok(ExitCode::SUCCESS)
}

fn write_down(overrides: Overrides<'_>, code: &str, text: &str) {
    if let Err(error) = overrides.write_down(code, text) {
        err!("the journal cannot be written: {error}");
    }
}

/// Whether a person can allow this at all.
fn check(code: &str) -> Result<(), Trouble> {
    match override_of(code) {
        Some(Override::Person) => Ok(()),
        Some(Override::Nobody) => Err(Trouble::new(format!(
            "{code} ({}) cannot be allowed: it protects the state that decisions are based on",
            meaning(code)
        ))
        .hint("change the file yourself between two sessions; it is adopted with a notice")),
        None if !meaning(code).is_empty() => Err(Trouble::new(format!(
            "{code} ({}) never blocks, so there is nothing to allow",
            meaning(code)
        ))),
        None => {
            let known = codes().filter(|code| code.lifted_by.is_some());
            let near = nearest(code, known.map(|code| code.id));
            let near = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
            Err(Trouble::new(format!("there is no code {code:?}{near}"))
                .hint("`tollgate allow --list` shows what was blocked lately"))
        }
    }
}

/// Whether a rule that is named is there.
fn check_rule(overrides: Overrides<'_>, code: &str) -> Result<(), Trouble> {
    let Some(id) = code.strip_prefix(CODE) else {
        return Ok(());
    };
    super::rules::named(&Merged::in_force(overrides.layout, overrides.env), id).map(drop)
}

/// `45s`, `30m`, `1h30m`.
fn lasting(text: &str) -> Result<SignedDuration, Trouble> {
    let parsed = duration::parse(text.trim()).and_then(|time| SignedDuration::try_from(time).ok());
    let Some(lasts) = parsed.filter(SignedDuration::is_positive) else {
        return Err(Trouble::new(format!("--for {text}: not a duration"))
            .hint("write a number and s, m or h, for example 30m"));
    };
    if lasts > LONGEST {
        return Err(Trouble::new(format!("--for {text}: at most 24h"))
            .hint("if a rule is wrong for longer, change the rule"));
    }
    Ok(lasts)
}
