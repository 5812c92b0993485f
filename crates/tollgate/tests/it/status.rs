//! One screen, one line: what is said of a project in every condition.

use std::path::Path;

use serde_json::{Value, json};

use crate::events::bash;
use crate::project::{TestProject, run};
use crate::terminal::Terminal;

/// What the screen shows, without what differs from machine to machine.
fn screen(project: &TestProject) -> String {
    let run = project.tollgate(&["status"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    for line in run.stdout.lines().skip(1) {
        assert!(line.chars().count() <= 80, "{line}");
        assert!(!line.contains('\u{1b}'), "{line:?}");
    }
    let root = project.root().display().to_string();
    let name = project.root().file_name().unwrap().to_str().unwrap();
    run.stdout.replace(&root, "[root]").replace(name, "[name]")
}

fn line(project: &TestProject) -> String {
    let run = project.tollgate(&["statusline"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    run.stdout
}

/// A repository with a check that fails while there is a file `broken`.
fn repository() -> TestProject {
    let project = TestProject::empty();
    project.file(
        ".tollgate/config.yml",
        "base_branch: main\nentry_points:\n  - path: src\n    checks: [test]\n",
    );
    project.file(".tollgate/checks/test.yml", "command: test ! -e broken\n");
    let project = project.on_branch("work");
    project.file("src/a.txt", "a\n");
    project
}

/// A workflow, a plan and a registration.
fn busy() -> TestProject {
    let project = repository();
    let workflows = json!({ "workflows": { "change": { "phases": ["01-requirements", "06-implementation"] } } });
    project.file(
        ".tollgate/workflow/config/workflows.json",
        workflows.to_string(),
    );
    project.must(&["workflow", "start", "change", "Gift cards"]);
    project.must(&["phase", "complete", "--summary", "clear"]);
    project.must(&["phase", "begin"]);
    project.must(&["plan", "new", "cards"]);
    let state = json!({
        "max_reviews": 8, "current_task": null, "phase": "plan-review", "phase_iteration": 2,
        "next_phase": "post-plan-review", "review_model": "opus", "consecutive_clean": 1, "tdd": false,
    });
    project.file(".tollgate/plans/cards/state.json", state.to_string());
    project.file(
        ".tollgate/plans/cards/plan.md",
        "# Plan\n\n## Overview\nx\n",
    );
    let handler = json!([{ "hooks": [{ "type": "command", "command": "tollgate hook" }] }]);
    let hooks = json!({ "hooks": {
        "PreToolUse": handler, "PostToolUse": handler, "PostToolUseFailure": handler,
        "SessionStart": handler, "Stop": handler, "SessionEnd": handler,
        "ConfigChange": handler,
    } });
    project.file(".claude/settings.json", hooks.to_string());
    project
}

#[test]
fn an_empty_project() {
    let project = TestProject::empty();
    std::fs::create_dir(project.path(".tollgate")).unwrap();
    insta::assert_snapshot!(screen(&project));
    assert_eq!(line(&project), "tollgate · not registered with any agent\n");
    assert!(
        !project.path(".tollgate/local").exists(),
        "nothing is written"
    );
}

#[test]
fn a_busy_project() {
    let project = busy();
    project.must(&["run"]);
    insta::assert_snapshot!(screen(&project));
    assert_eq!(
        line(&project),
        "tollgate · registered, no event heard yet · change 06-implementation 2/2 · gates ✔ now · cards plan-review 2/8\n"
    );
}

#[test]
fn a_pass_is_fresh_until_something_that_is_guarded_changes() {
    let project = repository();
    let gates = || {
        let run = project.tollgate(&["status", "--json"]);
        let status: Value = serde_json::from_str(&run.stdout).unwrap();
        let gates = status["gates"]["gates"].as_array().unwrap().iter();
        let gates = gates.map(|gate| gate["message"].as_str().unwrap().to_owned());
        gates.collect::<Vec<_>>()
    };
    let all = |word: &str| vec![word.to_owned(); gates().len()];
    assert_eq!(gates(), all("never ran"));
    project.must(&["run"]);
    assert_eq!(gates(), all("verified"));
    project.file("notes.txt", "nobody guards this\n");
    assert_eq!(gates(), all("verified"));
    project.file("src/a.txt", "b\n");
    assert_eq!(gates(), all("stale: its inputs changed since it passed"));
    project.file("src/a.txt", "a\n");
    project.file(".tollgate/checks/test.yml", "command: 'true'\n");
    assert!(
        gates().contains(&"stale: the gate itself changed since".to_owned()),
        "{:?}",
        gates()
    );
}

#[test]
fn a_project_whose_agent_was_blocked() {
    let project = busy();
    let forged = "sed -i s/a/b/ .tollgate/workflow/state.json";
    project
        .hook(&bash(forged))
        .blocks("This command would change .tollgate/workflow/state.json");
    insta::assert_snapshot!(screen(&project));
    let line = line(&project);
    assert!(line.ends_with(" · ✖ SFG-001 now\n"), "{line}");
}

#[test]
fn a_failing_gate() {
    let project = repository();
    project.file("src/broken", "");
    let run = project.tollgate(&["run"]);
    assert_eq!(run.code, 1, "{run:?}");
    insta::assert_snapshot!(screen(&project));
    assert_eq!(
        line(&project),
        "tollgate · not registered with any agent · gates ✖ now\n"
    );
}

#[test]
fn broken_files_are_named_and_the_rest_is_shown() {
    let project = busy();
    project.file(".tollgate/workflow/state.json", "{ \"active_workflow\": ");
    project.file(".tollgate/plans/cards/state.json", "[]");
    project.file(".tollgate/config.yml", "entry_points: 7\n");
    project.file(".claude/settings.json", "{");
    insta::assert_snapshot!(screen(&project));
    let line = line(&project);
    assert!(line.contains(" · workflow ?"), "{line}");
    assert!(line.contains(" · gates ?"), "{line}");
    assert!(line.contains("cards ?"), "{line}");
}

#[test]
fn what_a_terminal_would_obey_is_shown_as_text() {
    let project = TestProject::empty();
    let evil = "\u{1b}[2J\u{1b}]0;owned\u{7}\nsecond line\u{202e}";
    let state = json!({
        "active_workflow": {
            "type": format!("feature{evil}"), "description": evil, "artifact_folder": evil,
            "phases": [evil], "current_phase": evil, "current_phase_index": 0,
            "phase_status": { evil: "in_progress" },
        },
        "phases": { evil: { "status": "in_progress" } },
    });
    project.file(".tollgate/workflow/state.json", state.to_string());
    let entry = json!({ "ts": "2026-01-01T00:00:00Z", "verdict": "block", "guard": evil, "code": evil, "reason": evil });
    project.file(".tollgate/local/journal.jsonl", format!("{entry}\n"));
    let shown = screen(&project);
    assert!(shown.contains("\\u{1b}[2J"), "{shown}");
    let line = line(&project);
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(!line.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{line:?}");
}

#[test]
fn status_is_json_for_programs() {
    let project = busy();
    let run = project.tollgate(&["status", "--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    let status: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(status["branch"], "work");
    assert_eq!(status["agents"][0]["agent"], "Claude Code");
    assert_eq!(status["workflow"]["phases"][0]["status"], "completed");
    assert_eq!(status["workflow"]["current"], "06-implementation");
    assert_eq!(status["plan"]["reviews_made"], 2);
    assert_eq!(status["troubles"], json!([]));
}

/// One view of the project is behind all of them.
#[test]
fn every_display_has_the_same_problems() {
    let project = busy();
    let mut settings: Value = serde_json::from_str(&project.read(".claude/settings.json")).unwrap();
    settings["disableAllHooks"] = json!(true);
    project.file(".claude/settings.json", settings.to_string());
    let state = ".tollgate/workflow/state.json";
    let mut forgotten: Value = serde_json::from_str(&project.read(state)).unwrap();
    let began = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(48);
    forgotten["phases"]["06-implementation"]["timing"]["started_at"] = json!(began.to_string());
    project.file(state, forgotten.to_string());
    let now = jiff::Timestamp::now().to_string();
    let fault = json!({ "ts": now, "verdict": "fault", "reason": "the disk was full" });
    project.file(".tollgate/local/journal.jsonl", format!("{fault}\n"));
    std::fs::remove_file(project.path(".tollgate/plans/cards/plan.md")).unwrap();
    let troubles = |args: &[&str]| project.must(args).json()["troubles"].clone();
    let report = troubles(&["report", "--json"]);
    assert_eq!(troubles(&["status", "--json"]), report);
    let page = project.must(&["report", "--html"]).stdout;
    let status = project.must(&["status"]).stdout;
    let status: Vec<&str> = status.split_whitespace().collect();
    let status = status.join(" ");
    let top = project.must(&["top", "--once"]).stdout;
    for part in [
        "1 fault in the last 24 hours; the last: the disk was full",
        "runs no hooks: `disableAllHooks` in .claude/settings.json",
        "phase 06-implementation has been running for 28",
        "plan cards: ",
    ] {
        for shown in [&report.to_string(), &page, &status, &top] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }
}

/// A person's own runs use up nothing, so there is no count of them.
#[test]
fn attempts_are_not_counted() {
    let project = repository();
    project.file("src/broken", "");
    for _ in 0..6 {
        project.tollgate(&["run"]).exits(1);
    }
    let shown = project.tollgate(&["status"]).stdout;
    assert!(!shown.contains("attempt"), "{shown}");
}

#[test]
fn costs_and_counts_are_those_of_the_last_day() {
    let project = TestProject::empty();
    let now = jiff::Timestamp::now();
    let old = now - jiff::SignedDuration::from_hours(30);
    let entry = |ts: jiff::Timestamp, verdict: &str, cost: Option<f64>| {
        format!(
            "{}\n",
            json!({ "ts": ts.to_string(), "verdict": verdict, "cost_usd": cost })
        )
    };
    let lines = [
        entry(old, "review", Some(7.0)),
        entry(old, "block", None),
        entry(now, "review", Some(0.25)),
        entry(now, "review", Some(0.5)),
        entry(now, "block", None),
        "torn {\n".to_owned(),
    ];
    project.file(".tollgate/local/journal.jsonl", lines.concat());
    let run = project.tollgate(&["status", "--json"]);
    let status: Value = serde_json::from_str(&run.stdout).unwrap();
    let day = &status["journal"]["last_24_hours"];
    assert_eq!(day["counts"]["review"], 2, "{day}");
    assert_eq!(day["counts"]["block"], 1, "{day}");
    assert_eq!(day["cost_usd"], 0.75, "{day}");
    assert_eq!(day["at_least"], false, "{day}");
}

#[test]
fn a_long_journal_is_not_read_whole() {
    let project = TestProject::empty();
    let now = jiff::Timestamp::now().to_string();
    let entry = json!({ "ts": now, "verdict": "warn", "reason": "x".repeat(200) }).to_string();
    project.file(
        ".tollgate/local/journal.jsonl",
        format!("{entry}\n").repeat(10_000),
    );
    let run = project.tollgate(&["status", "--json"]);
    let status: Value = serde_json::from_str(&run.stdout).unwrap();
    let day = &status["journal"]["last_24_hours"];
    assert_eq!(day["at_least"], true, "{day}");
    let warnings = day["counts"]["warn"].as_u64().unwrap();
    assert!((100..10_000).contains(&warnings), "{day}");
}

#[test]
fn the_line_is_of_the_project_that_the_agent_says() {
    let project = repository();
    project.must(&["run"]);
    let place = project.root().to_str().unwrap();
    for told in [
        json!({ "cwd": place, "model": { "display_name": "x" } }),
        json!({ "cwd": "/", "workspace": { "current_dir": place, "project_dir": place } }),
    ] {
        let mut command = project.command(&["statusline"]);
        command.current_dir("/");
        let run = run(command, told.to_string().as_bytes());
        assert_eq!(
            run.stdout, "tollgate · not registered with any agent · gates ✔ now\n",
            "{run:?}"
        );
    }
}

#[test]
fn the_line_never_fails() {
    let outside = TestProject::empty();
    for told in ["", "{", "[]", "{\"cwd\":7}", "\u{0}"] {
        let run = run(outside.command(&["statusline"]), told.as_bytes());
        assert_eq!(
            (run.code, run.stdout.as_str()),
            (0, ""),
            "{told:?}: {run:?}"
        );
    }
    let run = outside.tollgate(&["status"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("tollgate init"), "{run:?}");
}

/// Whether the pass is one of the tree as it is, only git can tell.
#[test]
fn the_line_claims_no_pass_without_git() {
    let project = busy();
    project.must(&["run"]);
    let mut command = project.command(&["statusline"]);
    command.env("PATH", "/nowhere");
    let run = run(command, b"");
    assert!(run.stdout.contains("gates ?"), "{run:?}");
}

#[test]
fn between_two_phases_the_one_that_ended_has_its_own_number() {
    let project = repository();
    let phases = ["01-requirements", "06-implementation", "08-code-review"];
    let workflows = json!({ "workflows": { "change": { "phases": phases } } });
    project.file(
        ".tollgate/workflow/config/workflows.json",
        workflows.to_string(),
    );
    project.must(&["workflow", "start", "change", "Gift cards"]);
    project.must(&["phase", "complete", "--summary", "clear"]);
    let said = line(&project);
    assert!(said.contains("change 01-requirements 1/3"), "{said}");
    let said = screen(&project);
    assert!(
        said.contains("1 of 3, 06-implementation is next\n"),
        "{said}"
    );
    project.must(&["phase", "begin"]);
    let said = line(&project);
    assert!(said.contains("change 06-implementation 2/3"), "{said}");
}

#[test]
fn it_fits_a_narrow_terminal() {
    let project = busy();
    project
        .hook(&bash("rm .tollgate/workflow/state.json"))
        .blocks("");
    let command = project.command(&["status"]);
    let (screen, code) = Terminal::start_in(40, &command).ends();
    assert_eq!(code, 0, "{screen}");
    let lines: Vec<&str> = screen.lines().skip(1).collect();
    assert!(lines.len() > 5, "{screen}");
    for line in lines {
        let shown = anstream_free(line);
        // Nothing breaks a path that is longer by itself.
        let is_path = Path::new(&shown) == project.root();
        assert!(
            is_path || shown.chars().count() <= 40,
            "{shown:?} in {screen}"
        );
    }
}

/// A line without its colours.
fn anstream_free(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once('m').map_or("", |(_, text)| text));
    first + &rest.collect::<String>()
}

/// Every option reads a length of time in the same way.
#[test]
fn days_and_weeks_are_understood_everywhere() {
    let project = TestProject::empty().on_branch("main").with_toml("");
    project.must(&["log", "--since", "1w"]);
    project.must(&["log", "--since", "2026-02-08"]);
    project.must(&["rules", "try", "--since", "1w"]);
    project
        .tollgate(&["allow", "BG-001", "--for", "1d", "--reason", "x"])
        .exits(2)
        .says("is for a person at a terminal");
}
