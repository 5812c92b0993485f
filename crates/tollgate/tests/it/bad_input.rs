//! Bad days: the agent goes on, nothing hangs, nothing is written but the journal line that says
//! what happened, and the person sees it.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::events::{bash, task};
use crate::project::{Run, TOLLGATE, TestProject, pipe, running, with_branch};

/// An event of a real Claude Code: a delegation out of order.
fn claude(project: &TestProject) -> Value {
    json!({
        "hook_event_name": "PreToolUse", "session_id": "s1", "cwd": project.root(),
        "tool_name": "Agent", "tool_use_id": "t1",
        "tool_input": { "subagent_type": "software-developer", "prompt": "build", "description": "d" },
    })
}

/// What the person sees in Claude Code.
#[track_caller]
fn tells(run: &Run, text: &str) {
    assert_eq!(run.code, 0, "{run:?}");
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    assert!(
        answer["systemMessage"]
            .as_str()
            .unwrap_or_default()
            .contains(text),
        "{run:?}"
    );
    assert!(answer.get("hookSpecificOutput").is_none(), "{run:?}");
}

fn faults(project: &TestProject) -> Vec<String> {
    let lines = project
        .journal()
        .into_iter()
        .filter(|line| line["verdict"] == "fault");
    lines
        .filter_map(|line| line["code"].as_str().map(Into::into))
        .collect()
}

#[test]
fn input_that_is_no_event() {
    let project = TestProject::new().state(&running("01-requirements", "in_progress"));
    let deep = "[".repeat(100_000);
    let invalid: &[u8] = b"{\"tool_name\":\"\xff";
    for (input, fault) in [
        (&b""[..], "event-empty"),
        (b" \n\t ", "event-empty"),
        (b"git commit", "event-malformed"),
        (b"[]", "event-malformed"),
        (b"null", "event-malformed"),
        (b"7", "event-malformed"),
        (b"{\"tool_name\":", "event-malformed"),
        (deep.as_bytes(), "event-malformed"),
        (invalid, "event-malformed"),
        (b"{\"tool_name\":\"Ba\0sh\"}", "event-malformed"),
    ] {
        let before = faults(&project).len();
        let run = project.run(&["hook"], input).allows();
        assert!(
            run.stderr.contains("ollgate"),
            "the person sees it: {run:?}"
        );
        assert_eq!(faults(&project)[before..], [fault], "{:?}", input.get(..40));
        let run = project.run(&["hook", "--protocol", "claude"], input);
        tells(&run, "ollgate");
    }
}

#[test]
fn a_byte_order_mark_and_invalid_utf8_hide_nothing() {
    let project = TestProject::new().state(&running("01-requirements", "in_progress"));
    let event = task("software-developer", "build").to_string();
    let with_mark = [b"\xef\xbb\xbf", event.as_bytes()].concat();
    project.run(&["hook"], &with_mark).blocks("OUT-OF-ORDER");
    let stray = event.replace("build", "bu\u{1}ild").into_bytes();
    let stray: Vec<u8> = stray
        .into_iter()
        .map(|b| if b == 1 { 0xff } else { b })
        .collect();
    project.run(&["hook"], &stray).blocks("OUT-OF-ORDER");
}

#[test]
fn a_deeply_nested_value_does_not_hide_the_rest() {
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let event = format!(
        r#"{{"tool_name":"Bash","x":{deep},"tool_input":{{"command":"git commit","y":{deep}}}}}"#
    );
    project
        .run(&["hook"], event.as_bytes())
        .blocks("COMMIT TO MAIN");
}

#[test]
fn fifty_megabytes_pass_in_a_moment() {
    let project = TestProject::new().state(&running("01-requirements", "in_progress"));
    let content = "x".repeat(50 << 20);
    let event = json!({ "tool_name": "Write", "tool_input": { "file_path": "big.txt", "content": content } });
    let event = event.to_string();
    project.hook_within(2, event.as_bytes()).says_nothing();
    let huge = "x".repeat(70 << 20);
    let run = project.run(&["hook", "--protocol", "claude"], huge.as_bytes());
    tells(&run, "larger than 64 MB");
}

#[test]
fn wrong_types_are_told_and_the_rest_still_counts() {
    let project = TestProject::new().state(&running("01-requirements", "in_progress"));
    let mut event = claude(&project);
    event["tool_input"]["prompt"] = json!(["x"]);
    event["tool_input"]["subagent_type"] = json!("software-developer");
    let reason = project.hook(&event).denies();
    assert!(reason.starts_with("OUT-OF-ORDER"), "{reason}");
    assert!(faults(&project).contains(&"event-field".into()));

    for value in [
        json!(null),
        json!([]),
        json!(7),
        json!(true),
        json!({}),
        json!("x"),
    ] {
        for key in [
            "tool_name",
            "tool_input",
            "cwd",
            "session_id",
            "hook_event_name",
            "agent_id",
        ] {
            let mut event = claude(&project);
            event[key] = value.clone();
            let run = project.hook(&event);
            assert!(run.code == 0 || run.code == 2, "{key} {value} {run:?}");
        }
    }
}

#[test]
fn a_duplicate_key_hides_no_command() {
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    for event in [
        r#"{"tool_name":"Bash","tool_input":{"command":"git commit"},"tool_input":{"command":"ls"}}"#,
        r#"{"tool_name":"Bash","tool_input":{"command":"ls"},"tool_input":{"command":"git commit"}}"#,
        r#"{"tool_name":"Bash","tool_input":{"command":"git commit","command":"ls"}}"#,
    ] {
        project
            .run(&["hook"], event.as_bytes())
            .blocks("COMMIT TO MAIN");
    }
}

/// Puts something else where a state should be.
type Damage = fn(&TestProject);

#[test]
fn a_state_that_cannot_be_read_is_told() {
    let cases: &[(&str, Damage, &str)] = &[
        (
            "empty",
            |p| {
                p.file(".isdlc/state.json", "");
            },
            "empty",
        ),
        (
            "truncated",
            |p| {
                p.file(".isdlc/state.json", "{\"active_workflow\": {");
            },
            "line 1",
        ),
        (
            "array",
            |p| {
                p.file(".isdlc/state.json", "[]");
            },
            "cannot be read",
        ),
        (
            "text",
            |p| {
                p.file(".isdlc/state.json", "{\"active_workflow\":\"x\"}");
            },
            "active_workflow",
        ),
        (
            "directory",
            |p| std::fs::create_dir(p.path(".isdlc/state.json")).unwrap(),
            "directory",
        ),
        ("fifo", |p| pipe(&p.path(".isdlc/state.json")), "named pipe"),
        (
            "zero",
            |p| std::os::unix::fs::symlink("/dev/zero", p.path(".isdlc/state.json")).unwrap(),
            "state.json",
        ),
        (
            "loop",
            |p| std::os::unix::fs::symlink("state.json", p.path(".isdlc/state.json")).unwrap(),
            "state.json",
        ),
        ("large", |p| large(p, ".isdlc/state.json"), "larger than"),
    ];
    for (name, make, text) in cases {
        let project = TestProject::new();
        make(&project);
        // A read that waits would be ended at the deadline, and named otherwise.
        let event = claude(&project).to_string();
        let run = project.run(&["hook", "--deadline", "3s"], event.as_bytes());
        tells(&run, text);
        assert_eq!(faults(&project).len(), 1, "{name}");
        // Nothing is written but the journal, whose end is on record too.
        let local = std::fs::read_dir(project.path(".tollgate/local")).unwrap();
        let mut written: Vec<_> = local.flatten().map(|entry| entry.file_name()).collect();
        written.sort();
        let journal = [".gitignore", "journal.jsonl", "journal.tail"];
        assert_eq!(written, journal, "{name}");
        // The same fault in the same session is journalled, and not told again.
        let run = project.hook(&claude(&project));
        assert_eq!(run.stdout, "", "{name} {run:?}");
        project.hook(&task("software-developer", "build")).allows();
    }
}

#[test]
fn an_unreadable_state_is_told() {
    let project = TestProject::new().state(&running("01-requirements", "in_progress"));
    std::fs::set_permissions(
        project.path(".isdlc/state.json"),
        std::fs::Permissions::from_mode(0o000),
    )
    .unwrap();
    if std::fs::read(project.path(".isdlc/state.json")).is_ok() {
        eprintln!("SKIPPED: permissions do not bind this user");
        return;
    }
    tells(&project.hook(&claude(&project)), "state.json");
}

#[test]
fn a_manifest_that_cannot_be_read_is_told() {
    let project = TestProject::bare().state(&running("01-requirements", "in_progress"));
    project.hook(&claude(&project)).says_nothing();
    project.file(
        ".claude/hooks/config/skills-manifest.json",
        "{\"ownership\":",
    );
    tells(&project.hook(&claude(&project)), "skills-manifest.json");
}

/// E8: a project id of a monorepo led outside, or to a project without a state, which switched all
/// guards off.
#[test]
fn e8_a_monorepo_that_points_nowhere_is_told() {
    for (config, text) in [
        (r#"{"default_project":"ghost"}"#, "ghost"),
        (r#"{"default_project":5}"#, "project '5' has no state file"),
        (r#"{"default_project":["a"]}"#, "which is not an id"),
        (r#"{"default_project":"../../../escape"}"#, "escape"),
        ("{", "monorepo.json"),
    ] {
        let project = TestProject::new().state(&running("01-requirements", "in_progress"));
        project.file(".isdlc/monorepo.json", config);
        tells(&project.hook(&claude(&project)), text);
    }
    let project = TestProject::new().state(&running("01-requirements", "in_progress"));
    project.file(".isdlc/monorepo.json", "{}");
    let project = project.env("ISDLC_PROJECT", "../..");
    tells(&project.hook(&claude(&project)), "ISDLC_PROJECT");
}

#[test]
fn git_is_not_needed() {
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    let project = project.env("PATH", "/nonexistent");
    project
        .hook(&bash("git commit -m x"))
        .blocks("COMMIT TO MAIN");
}

#[test]
fn a_damaged_repository_is_no_branch() {
    for head in ["", "garbage", "ref: ", "ref: refs/heads/", "\0\0"] {
        let project = TestProject::new()
            .state(&with_branch("active"))
            .on_branch("main");
        project.file(".git/HEAD", head);
        project.hook(&bash("git commit -m x")).allows();
    }
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    std::fs::remove_file(project.path(".git/HEAD")).unwrap();
    pipe(&project.path(".git/HEAD"));
    project.hook(&bash("git commit -m x")).allows();
}

#[test]
fn an_allowed_event_writes_nothing_and_a_project_without_a_home_costs_nothing() {
    let project = TestProject::new().state(&running("06-implementation", "in_progress"));
    project.file("docs/isdlc/tasks.md", "");
    project
        .hook(&task("software-developer", "build"))
        .says_nothing();
    assert!(!project.path(".tollgate").exists());
    assert!(!project.path(".isdlc/hook-activity.log").exists());

    let nothing = TestProject::empty();
    nothing.hook(&bash("git commit -m x")).says_nothing();
    assert_eq!(std::fs::read_dir(nothing.root()).unwrap().count(), 0);
}

#[test]
fn bare_events_obey_the_marks_of_a_child_of_ours() {
    for (name, value) in [
        ("TOLLGATE_DEPTH", "1"),
        ("TASKIE_HOOK_SKIP", "true"),
        ("GAUNTLET_STOP_HOOK_ACTIVE", "1"),
    ] {
        let project = TestProject::new()
            .state(&running("01-requirements", "in_progress"))
            .env(name, value);
        project.hook(&bash("rm .isdlc/state.json")).says_nothing();
    }
}

#[test]
fn a_registration_with_a_typo_stops_nobody() {
    let project = TestProject::new().state(&running("01-requirements", "in_progress"));
    let event = claude(&project).to_string();
    for args in [
        &["hook", "--guard", "brunch-guard"][..],
        &["hook", "--guard"],
        &["hook", "--guard", "branch-guard", "--what"],
    ] {
        let run = project.run(args, event.as_bytes());
        let answer: Value = serde_json::from_str(&run.stdout).unwrap();
        assert!(
            answer["systemMessage"]
                .as_str()
                .unwrap()
                .contains("settings"),
            "{run:?}"
        );
        assert!(answer.get("hookSpecificOutput").is_none(), "{run:?}");
        std::fs::remove_dir_all(project.path(".tollgate")).unwrap();
    }
}

#[test]
fn a_terminal_that_never_writes_is_not_waited_for() {
    let project = TestProject::new();
    let mut child = Command::new(TOLLGATE)
        .arg("hook")
        .current_dir(project.root())
        .env_clear()
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let held = child.stdin.take();
    let start = Instant::now();
    let output = child.wait_with_output().unwrap();
    drop(held);
    assert!(output.status.success());
    assert!(
        start.elapsed() < Duration::from_secs(9),
        "{:?}",
        start.elapsed()
    );
    assert!(String::from_utf8_lossy(&output.stderr).contains("no event arrived"));
}

#[test]
fn an_event_may_arrive_byte_by_byte() {
    use std::io::Write as _;
    let project = TestProject::new().state(&running("01-requirements", "in_progress"));
    let mut command = project.command(&["hook"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for byte in task("software-developer", "build").to_string().bytes() {
        stdin.write_all(&[byte]).unwrap();
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("OUT-OF-ORDER"));
}

fn large(project: &TestProject, path: &str) {
    let file = std::fs::File::create(project.path(path)).unwrap();
    file.set_len(17 << 20).unwrap();
}
