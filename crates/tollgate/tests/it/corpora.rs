//! The corpora, row by row, through the whole hook.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::events::{bash, task};
use crate::project::{TestProject, running, with_branch};

fn rows(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// No row of a corpus was wrong.
#[track_caller]
fn none_of(rows: usize, wrong: &[String]) {
    let count = wrong.len();
    assert!(count == 0, "{count} of {rows} wrong:\n{}", wrong.join("\n"));
}

#[test]
fn delegations() {
    let corpus = rows(include_str!("../corpus/delegation.jsonl"));
    // A phase that no row expects, so that every delegation is out of order.
    let project = TestProject::new().state(&running("99-none", "in_progress"));
    project.file("docs/isdlc/tasks.md", "");
    let mut wrong = Vec::new();
    for row in &corpus {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let run = project.hook(&task(&text("subagent_type"), &text("prompt")));
        assert_eq!(run.code, 0, "{row} {run:?}");
        let answer: Option<Value> = serde_json::from_str(&run.stdout).ok();
        let found = answer.and_then(|answer| {
            let reason = answer["stopReason"].as_str()?.to_owned();
            Some(reason.rsplit("Target phase:  ").next()?.to_owned())
        });
        if found.as_deref() != row["expected_phase"].as_str() {
            wrong.push(format!("{row}\n   found {found:?}"));
        }
    }
    none_of(corpus.len(), &wrong);
}

/// A repository as the rows expect it: on main, with branches, aliases and a linked work tree, and
/// another repository beside it.
fn repository() -> TestProject {
    let project = TestProject::named("repo");
    let project = project.state(&with_branch("active")).on_branch("main");
    for branch in ["topic", "feature/x", "wt"] {
        project.git(&["branch", branch]);
    }
    project.git(&["config", "alias.ci", "commit"]);
    project.git(&["config", "alias.lg", "log --oneline"]);
    project.git(&["worktree", "add", "-q", "../wt", "wt"]);
    project.git(&["init", "-q", "-b", "main", "../other"]);
    let one = [
        "-C",
        "../other",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "one",
    ];
    project.git(&one);
    project.file("sub/file.txt", "");
    project
}

#[test]
fn commits() {
    let corpus = rows(include_str!(
        "../../../tollgate-core/tests/corpus/shell-commit.jsonl"
    ));
    let project = repository();
    let mut wrong = Vec::new();
    for row in &corpus {
        let (id, note) = (row["id"].as_str().unwrap(), row["note"].as_str().unwrap());
        let run = project.hook(&bash(row["command"].as_str().unwrap()));
        assert_eq!(run.code, 0, "{row} {run:?}");
        let blocked = !run.stdout.is_empty();
        let lands_otherwise = id.starts_with("porc-") || id.starts_with("plumb-");
        let unseen = note.contains("[unseen]");
        let expected = row["is_commit"] == json!(true) && !lands_otherwise && !unseen;
        let either = note.contains("[opaque]") || note.contains("unreachable");
        if blocked != expected && !either {
            wrong.push(format!("blocked: {blocked} {row}"));
        }
    }
    none_of(corpus.len(), &wrong);
}

/// What commands do through files that they name: the labels are checked by bash beside the
/// scanner, in `core`.
#[test]
fn named_files() {
    let corpus = rows(include_str!(
        "../../../tollgate-core/tests/corpus/shell-files.jsonl"
    ));
    let mut wrong = Vec::new();
    for row in &corpus {
        let project = repository();
        for (name, text) in row["files"].as_object().unwrap() {
            let text = text.as_str().unwrap();
            let path = project.file(name, text);
            if text.starts_with("#!") {
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                std::fs::set_permissions(path, mode).unwrap();
            }
        }
        let run = project.hook(&bash(row["command"].as_str().unwrap()));
        assert_eq!(run.code, 0, "{row} {run:?}");
        let unseen = row["note"].as_str().unwrap().contains("[unseen]");
        let code = match (&row["is_commit"], &row["writes_state"]) {
            _ if unseen => None,
            (Value::Bool(true), _) => Some("COMMIT TO MAIN"),
            (_, Value::Bool(true)) => Some("BASH STATE GUARD"),
            _ => None,
        };
        let right = code.map_or(run.stdout.is_empty(), |code| run.stdout.contains(code));
        if !right {
            wrong.push(format!("{row}\n   {run:?}"));
        }
    }
    none_of(corpus.len(), &wrong);
}

/// What one guard did with its rows.
#[derive(Default)]
struct Tally {
    must: usize,
    missed: usize,
    must_not: usize,
    alarms: usize,
}

/// Every guard that stops or warns has rows in both directions; one line per guard is printed.
#[test]
fn guards() {
    let corpus = rows(include_str!("../corpus/guards.jsonl"));
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut wrong = Vec::new();
    let now = jiff::Timestamp::now().to_string();
    for row in &corpus {
        let (guard, expected) = (
            row["guard"].as_str().unwrap(),
            row["expect"].as_str().unwrap(),
        );
        let project = match row["branch"].as_str() {
            Some(branch) => TestProject::bare().on_branch(branch),
            None => TestProject::bare(),
        };
        for (file, content) in row["files"].as_object().unwrap() {
            let text = content
                .as_str()
                .map_or_else(|| content.to_string(), str::to_owned);
            project.file(file, text.replace("__NOW__", &now));
        }
        let run = project.guard(guard, &row["event"]);
        let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
        let blocks = answer["continue"] == json!(false) || answer["decision"] == "block";
        let found = match (blocks, run.stderr.is_empty()) {
            (true, _) => "block",
            (false, false) => "warn",
            (false, true) => "allow",
        };
        let tally = tallies.entry(guard.to_owned()).or_default();
        let (all, bad) = if expected == "allow" {
            (&mut tally.must_not, &mut tally.alarms)
        } else {
            (&mut tally.must, &mut tally.missed)
        };
        *all += 1;
        if found != expected {
            *bad += 1;
            wrong.push(format!("{found}, not {expected}: {row}\n   {run:?}"));
        }
    }
    println!(
        "{:<36} {:>5} {:>7} {:>9} {:>7}",
        "guard", "must", "missed", "must not", "alarms"
    );
    for (guard, tally) in &tallies {
        let Tally {
            must,
            missed,
            must_not,
            alarms,
        } = tally;
        println!("{guard:<36} {must:>5} {missed:>7} {must_not:>9} {alarms:>7}");
        assert!(
            *must > 0 && *must_not > 0,
            "{guard} has rows in one direction only"
        );
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        corpus.len(),
        wrong.join("\n")
    );
}
