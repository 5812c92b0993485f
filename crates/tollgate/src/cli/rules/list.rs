//! `tollgate rules list`: each rule with what it did so far.

use std::collections::BTreeMap;
use std::process::ExitCode;

use serde_json::{Value, json};
use tollgate_core::rules::{CODE, Rule};
use tollgate_store::journal::Verdict;

use super::super::gates::report;
use super::super::plain::Plain;
use super::super::{BOLD, CommandResult, DIM, WARN};
use super::{Project, today};
use crate::config::rules::RuleDefinition;
use crate::journal;

/// What a rule did, from the journal.
#[derive(Clone, Debug, Default)]
struct Deeds {
    fired: u64,
    warned: u64,
    watched: u64,
    last: Option<String>,
}

pub(super) fn run(as_json: bool) -> CommandResult {
    let mut project = Project::here()?;
    project.merged.doubt_rules(&today());
    let deeds = deeds(&project);
    let rules = &project.merged.rules;
    if as_json {
        let rows: Vec<Value> = rules
            .iter()
            .map(|rule| row(&project, rule, &deeds))
            .collect();
        let problems: Vec<Value> = project
            .merged
            .problems
            .iter()
            .map(crate::config::Problem::to_json)
            .collect();
        anstream::println!("{:#}", json!({ "rules": rows, "problems": problems }));
    } else {
        project.merged.problems.iter().for_each(report);
        for rule in rules {
            print(&project, rule, &deeds);
        }
        if rules.is_empty() {
            out!(
                "There is no rule here. `tollgate rules add` lists packs, `tollgate rules new` writes one."
            );
        }
    }
    let is_wrong = project.merged.is_wrong();
    Ok(if is_wrong {
        ExitCode::from(2)
    } else {
        ExitCode::SUCCESS
    })
}

fn deeds(project: &Project) -> BTreeMap<String, Deeds> {
    let mut all: BTreeMap<String, Deeds> = BTreeMap::new();
    for entry in journal::entries(&project.layout.local()) {
        let Some(id) = entry
            .code
            .as_deref()
            .and_then(|code| code.strip_prefix(CODE))
        else {
            continue;
        };
        let deeds = all.entry(id.to_owned()).or_default();
        match entry.verdict {
            Verdict::Block | Verdict::Ask => deeds.fired += 1,
            Verdict::Warn => deeds.warned += 1,
            Verdict::Watch => deeds.watched += 1,
            Verdict::Fault
            | Verdict::Change
            | Verdict::Gate
            | Verdict::Review
            | Verdict::Record => continue,
        }
        deeds.last = Some(entry.at());
    }
    all
}

fn is_over(rule: &RuleDefinition) -> bool {
    let line = rule.line.split_once(' ').map_or("", |(_, line)| line);
    Rule::parse(line).is_some_and(|rule| !rule.holds_on(&today()))
}

fn row(project: &Project, rule: &RuleDefinition, deeds: &BTreeMap<String, Deeds>) -> Value {
    let done = deeds.get(&rule.id).cloned().unwrap_or_default();
    json!({
        "id": rule.id, "code": format!("{CODE}{}", rule.id), "verdict": rule.verdict,
        "mode": rule.mode(), "over": is_over(rule),
        "origin": project.merged.origin("rule", rule.place),
        "reason": rule.text("reason"), "instead": rule.text("instead"),
        "fired": done.fired, "warned": done.warned, "watched": done.watched, "last": done.last,
    })
}

fn print(project: &Project, rule: &RuleDefinition, deeds: &BTreeMap<String, Deeds>) {
    let done = deeds.get(&rule.id).cloned().unwrap_or_default();
    let counts = [
        (done.fired, "fired"),
        (done.warned, "warned"),
        (done.watched, "watched"),
    ];
    let counts: Vec<_> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{word} {count}×"))
        .collect();
    let counts = if counts.is_empty() {
        "never".to_owned()
    } else {
        counts.join(", ")
    };
    let origin = project.merged.origin("rule", rule.place);
    let mode = rule.mode();
    let (id, verdict) = (Plain(&rule.id), rule.verdict);
    let over = if is_over(rule) { "  over" } else { "" };
    out!(
        "{BOLD}{id}{BOLD:#}  {verdict}, {mode}  {DIM}{origin}{DIM:#}  {counts}{WARN}{over}{WARN:#}"
    );
    if let Some(reason) = rule.text("reason") {
        out!("  {}", Plain(reason));
    }
}
