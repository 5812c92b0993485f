//! The demo: a real session in a temporary repository, and nothing left of it.

use std::io::BufRead as _;
use std::process::Stdio;

use crate::project::{Run, TestProject, run};

fn play(project: &TestProject, args: &[&str]) -> Run {
    let mut command = project.command(args);
    command.env("TMPDIR", project.root());
    run(command, b"")
}

fn left(project: &TestProject) -> Vec<String> {
    let entries = project.root().read_dir().unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

/// A line without the time that it ends with: times are measured, and differ.
pub(crate) fn without_time(line: &str) -> String {
    let mut words = line.rsplitn(3, ' ');
    match (words.next(), words.next(), words.next()) {
        (Some("ms" | "s"), Some(number), Some(rest)) if number.parse::<f64>().is_ok() => {
            rest.trim_end().to_owned()
        }
        _ => line.to_owned(),
    }
}

#[test]
fn the_demo_plays_a_whole_session() {
    let project = TestProject::empty();
    let run = play(&project, &["demo"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(run.stderr, "");
    let lines: Vec<_> = run.stdout.lines().collect();
    let end = lines
        .iter()
        .position(|line| line.starts_with("Done"))
        .unwrap();
    let story: Vec<_> = lines[..=end]
        .iter()
        .map(|line| without_time(line))
        .collect();
    insta::assert_snapshot!(story.join("\n"));
    let summary = lines[end + 1..].join(" ");
    for part in ["A tool call was decided in ", "/bin/true", "A stop took "] {
        assert!(summary.contains(part), "{summary}");
    }
    // For pipes: no colours, nothing wider than a terminal.
    for line in &lines {
        assert!(!line.contains('\u{1b}'), "{line:?}");
        assert!(line.chars().count() <= 80, "{line:?}");
    }
    assert_eq!(left(&project), Vec::<String>::new(), "nothing is left");
}

#[test]
fn every_decision_of_the_demo_has_its_time() {
    let project = TestProject::empty();
    let run = play(&project, &["demo", "--fast"]);
    let decisions = run.stdout.lines().filter(|line| {
        ["   ●  ", "   ✖  ", "   !  "]
            .iter()
            .any(|sign| line.starts_with(sign))
    });
    let timed = decisions.map(|line| (line, without_time(line)));
    let timed: Vec<_> = timed.collect();
    assert!(timed.len() > 20, "{run:?}");
    for (line, without) in timed {
        assert_ne!(line, without);
    }
}

#[test]
fn the_demo_can_be_kept_and_looked_at() {
    let project = TestProject::empty();
    let run = play(&project, &["demo", "--fast", "--keep"]);
    assert_eq!(run.code, 0, "{run:?}");
    let said = run.stdout.split("kept in").nth(1).unwrap();
    let place = said.split_whitespace().collect::<String>();
    let shop = std::path::Path::new(&place).join("shop");
    assert!(
        shop.starts_with(project.root().canonicalize().unwrap()),
        "{place}"
    );
    let journal = std::fs::read_to_string(shop.join(".tollgate/local/journal.jsonl")).unwrap();
    for code in ["PW-001", "BG-001", "SFG-001", "SW-001", "GATE-FAILED"] {
        assert!(journal.contains(code), "{code}: {journal}");
    }
    let log = crate::project::git(&shop, &["log", "--format=%s", "main"]);
    assert_eq!(log, "A shop", "main is as it was");
    assert!(shop.join(".tollgate/workflow/state-archive.json").is_file());
}

#[test]
fn the_demo_does_not_mind_where_it_is_started_from() {
    let project = TestProject::bare()
        .env("CLAUDE_PROJECT_DIR", "/nowhere")
        .env("CLAUDE_CODE_SESSION_ID", "x")
        .env("TOLLGATE_DEPTH", "1")
        .env("CI", "true")
        .env("GIT_DIR", "/nowhere");
    let run = play(&project, &["demo", "--fast"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(left(&project), [".isdlc"]);
}

#[test]
fn the_demo_leaves_nothing_behind_when_nobody_reads_on() {
    let project = TestProject::empty();
    let mut command = project.command(&["demo", "--fast"]);
    command
        .env("TMPDIR", project.root())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut first = String::new();
    let mut reader = std::io::BufReader::with_capacity(1, child.stdout.take().unwrap());
    reader.read_line(&mut first).unwrap();
    drop(reader);
    let status = child.wait().unwrap();
    assert!(!status.success());
    assert_eq!(left(&project), Vec::<String>::new());
}

#[test]
fn the_demo_says_what_it_lacks() {
    let project = TestProject::empty();
    let mut command = project.command(&["demo", "--fast"]);
    command
        .env("TMPDIR", project.root())
        .env("PATH", project.root());
    let run = run(command, b"");
    assert_eq!(run.code, 2, "{run:?}");
    assert!(
        run.stderr.contains("the demo needs `sh` and `git`"),
        "{run:?}"
    );
    assert_eq!(left(&project), Vec::<String>::new());
}
