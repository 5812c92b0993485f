//! What a person finds in `tollgate log`.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::events::{Event as _, bash, task};
use crate::project::{TestProject, running_on_branch};

/// A project in which branch-guard blocked and phase-sequence-guard blocked, in two sessions.
fn blocked_twice() -> TestProject {
    let state = running_on_branch("01-requirements");
    let project = TestProject::new().state(&state).on_branch("main");
    let commit = bash("git commit -m x").in_session("one");
    project.hook(&commit).denies();
    let delegation = task("software-developer", "x").in_session("two");
    project.hook(&delegation).denies();
    project
}

fn ids(project: &TestProject, filters: &[&str]) -> Vec<u64> {
    let run = project.run(&[&["log", "--json"], filters].concat(), b"");
    assert_eq!(run.code, 0, "{run:?}");
    let id = |line: &str| {
        serde_json::from_str::<Value>(line).unwrap()["n"]
            .as_u64()
            .unwrap()
    };
    run.stdout.lines().map(id).collect()
}

#[test]
fn each_filter_keeps_what_it_says() {
    let project = blocked_twice();
    assert_eq!(ids(&project, &[]), [1, 2]);
    assert_eq!(ids(&project, &["--guard", "branch-guard"]), [1]);
    assert_eq!(ids(&project, &["--code", "PSG-001"]), [2]);
    assert_eq!(ids(&project, &["--session", "tw"]), [2]);
    assert_eq!(ids(&project, &["--phase", "01-requirements"]), [2]);
    assert!(ids(&project, &["--verdict", "warn,fault"]).is_empty());
    assert_eq!(ids(&project, &["--verdict", "block"]), [1, 2]);
    assert_eq!(ids(&project, &["--since", "1h"]), [1, 2]);
    assert_eq!(ids(&project, &["--since", "1h30m"]), [1, 2]);
    assert_eq!(ids(&project, &["--since", "1w"]), [1, 2]);
    assert!(ids(&project, &["--since", "2999-01-01"]).is_empty());
    assert_eq!(ids(&project, &["-n", "1"]), [2]);
    assert_eq!(ids(&project, &["-n", "0"]), [1, 2]);
    let run = project.run(&["log"], b"");
    assert!(
        run.stdout.contains("#1") && run.stdout.contains("BG-001"),
        "{run:?}"
    );
    let run = project.run(&["log", "--guard", "nobody"], b"");
    assert!(
        run.stdout.is_empty() && run.stderr.contains("nothing"),
        "{run:?}"
    );
    assert_eq!(project.run(&["log", "--since", "soon"], b"").code, 2);
    assert_eq!(TestProject::empty().run(&["log"], b"").code, 2);
}

#[test]
fn escapes_of_a_terminal_are_shown_as_text_and_torn_lines_passed_over() {
    let project = TestProject::bare();
    let evil = json!({
        "ts": "2026-02-08T20:00:00.000Z", "verdict": "warn", "guard": "\u{1b}]0;x\u{7}",
        "code": "X-1\r", "reason": "\u{1b}[2J\u{202e}gone\nsecond",
    });
    project.file(
        ".tollgate/local/journal.jsonl",
        format!("{evil}\n{{\"half\nnot json\n{evil}"),
    );
    let run = project.run(&["log"], b"");
    assert_eq!(run.stdout.lines().count(), 2, "{run:?}");
    assert!(
        run.stdout.contains("\\u{1b}[2J\\u{202e}gone⏎second"),
        "{run:?}"
    );
    assert!(
        !run.stdout.chars().any(|c| c.is_control() && c != '\n'),
        "{run:?}"
    );
    let run = project.run(&["log", "--json"], b"");
    assert!(!run.stdout.contains('\u{1b}'), "{run:?}");
}

#[test]
fn following_shows_what_happens_next() {
    let project = blocked_twice();
    let mut command = project.command(&["log", "--follow", "-n", "1"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("#2"));
    project
        .hook(&bash("git commit -m again"))
        .blocks("COMMIT TO MAIN");
    let next = lines.next().unwrap().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(next.contains("#3") && next.contains("BG-001"), "{next}");
}
