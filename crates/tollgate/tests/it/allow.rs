//! `tollgate allow`: a person lifts a block, an agent does not.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::events::{Event as _, Protocol, bash, stop, task};
use crate::project::{Run, TOLLGATE, TestProject, run, running, with_branch};
use crate::terminal::Terminal;

/// A project on `main` whose workflow has its own branch: BG-001 blocks commits.
struct Blocked {
    project: TestProject,
}

impl std::ops::Deref for Blocked {
    type Target = TestProject;

    fn deref(&self) -> &TestProject {
        &self.project
    }
}

const COMMIT: &str = "git commit -m x";

impl Blocked {
    fn new() -> Self {
        let project = TestProject::new()
            .state(&with_branch("active"))
            .on_branch("main");
        Self { project }
    }

    fn commits(&self, id: &str) -> Run {
        self.hook(&as_claude_code(id, bash(COMMIT)))
    }

    fn file(&self) -> std::path::PathBuf {
        let shelf = self.home().join(".local/state/tollgate/overrides");
        let entries = std::fs::read_dir(shelf).unwrap().flatten();
        let mut files = entries.map(|entry| entry.path());
        files
            .find(|path| path.extension().is_some_and(|end| end == "json"))
            .unwrap()
    }

    fn rewrite(&self, edit: impl Fn(String) -> String) {
        let file = self.file();
        let text = edit(std::fs::read_to_string(&file).unwrap());
        let mut file = std::fs::File::create(file).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }
}

/// A call of a tool as Claude Code tells of it.
fn as_claude_code(id: &str, event: Value) -> Value {
    event.from(Protocol::ClaudeCode).call(id)
}

/// Whether the block was lifted; the line for the person.
#[track_caller]
fn lifted(run: &Run) -> Option<String> {
    assert_eq!(run.code, 0, "{run:?}");
    let answer = run.json();
    let decision = &answer["hookSpecificOutput"]["permissionDecision"];
    if decision == "deny" {
        return None;
    }
    assert_eq!(*decision, Value::Null, "{run:?}");
    Some(answer["systemMessage"].as_str().unwrap().to_owned())
}

#[test]
fn once_is_once_and_says_who_until_when_and_why() {
    let blocked = Blocked::new();
    assert_eq!(lifted(&blocked.commits("1")), None);
    blocked.allow(&["BG-001", "--once"]);
    let line = lifted(&blocked.commits("2")).unwrap();
    assert!(line.contains("allowed BG-001 once, until "), "{line}");
    assert!(line.contains("agreed"), "{line}");
    assert_eq!(lifted(&blocked.commits("3")), None);
    let journal: Vec<_> = blocked
        .project
        .journal()
        .iter()
        .map(|line| line["verdict"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(journal, ["block", "change", "warn", "block"]);
}

#[test]
fn the_same_event_of_two_registrations_uses_it_once() {
    let blocked = Blocked::new();
    blocked.allow(&["bg-001", "--once"]);
    assert!(lifted(&blocked.commits("same")).is_some());
    assert!(lifted(&blocked.commits("same")).is_some());
    assert_eq!(lifted(&blocked.commits("other")), None);
}

/// Each attempt used up what was allowed for the other rule, so that no number of overrides helped.
#[test]
fn a_call_that_is_blocked_all_the_same_uses_nothing_up() {
    let rules = "[[rule]]\nid = \"a\"\ndeny = { write = [\"src/**\"] }\n\
                 [[rule]]\nid = \"b\"\ndeny = { write = [\"**/*.rs\"] }\n";
    // A call of Claude Code has an id, so that the last one is the third, delivered again.
    for (protocol, has_id) in [(Protocol::ClaudeCode, true), (Protocol::Gemini, false)] {
        let project = TestProject::new();
        project.file("tollgate.toml", rules);
        let answer = || {
            let run = project.hook(&bash("echo x > src/a.rs").from(protocol));
            assert_eq!(run.code, 0, "{run:?}");
            run.stdout
        };
        let first = answer();
        assert!(first.contains("RULE:a: "), "{first}");
        project.allow(&["RULE:a", "--once"]);
        let second = answer();
        assert!(second.contains("RULE:b: "), "{second}");
        project.allow(&["RULE:b", "--once"]);
        let third = answer();
        assert!(third.contains("allowed RULE:a once"), "{third}");
        assert!(third.contains("allowed RULE:b once"), "{third}");
        let last = answer();
        if has_id {
            assert_eq!(last, third);
        } else {
            assert!(last.contains("RULE:a: "), "{last}");
        }
    }
}

#[test]
fn a_guard_that_blocks_gives_back_what_a_rule_was_allowed() {
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    let rule = "[[rule]]\nid = \"a\"\ndeny = { run = [\"git commit\"] }\n";
    project.file("tollgate.toml", rule);
    let blocked_by = |code: &str, id: &str| {
        assert_eq!(
            lifted(&project.hook(&as_claude_code(id, bash(COMMIT)))),
            None
        );
        assert_eq!(project.codes().last().map(String::as_str), Some(code));
    };
    blocked_by("RULE:a", "1");
    project.allow(&["RULE:a", "--once"]);
    blocked_by("BG-001", "2");
    project.allow(&["BG-001", "--once"]);
    let line = lifted(&project.hook(&as_claude_code("3", bash(COMMIT)))).unwrap();
    assert!(line.contains("allowed RULE:a once"), "{line}");
    assert!(line.contains("allowed BG-001 once"), "{line}");
    blocked_by("RULE:a", "4");
}

#[test]
fn of_hooks_at_once_exactly_one_uses_it() {
    let blocked = Blocked::new();
    blocked.allow(&["BG-001", "--once"]);
    let hooks: Vec<_> = (0..8)
        .map(|number| {
            let mut command = blocked.command(&["hook"]);
            command
                .env("CLAUDE_PROJECT_DIR", blocked.root())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let event = as_claude_code(&number.to_string(), bash(COMMIT)).to_string();
            child
                .stdin
                .take()
                .unwrap()
                .write_all(event.as_bytes())
                .unwrap();
            child
        })
        .collect();
    let through = hooks
        .into_iter()
        .map(|child| child.wait_with_output().unwrap())
        .filter(|output| !String::from_utf8_lossy(&output.stdout).contains("deny"))
        .count();
    assert_eq!(through, 1);
}

#[test]
fn for_a_while_is_for_a_while() {
    let blocked = Blocked::new();
    blocked.allow(&["BG-001", "--for", "30m"]);
    for id in ["1", "2", "3"] {
        let line = lifted(&blocked.commits(id)).unwrap();
        assert!(line.contains("allowed BG-001 until "), "{line}");
    }
    let list = blocked.tollgate(&["allow", "--list"]);
    assert!(list.stdout.contains("BG-001"), "{list:?}");
    // Its time is over.
    let year = jiff::Timestamp::now().strftime("%Y").to_string();
    blocked.rewrite(|text| text.replace(&format!("\"until\": \"{year}"), "\"until\": \"2020"));
    assert_eq!(lifted(&blocked.commits("4")), None);
    let list = blocked.tollgate(&["allow", "--list"]);
    assert!(list.stdout.contains("Nothing is allowed"), "{list:?}");
    assert!(list.stdout.contains("Blocked lately"), "{list:?}");
}

#[test]
fn revoking_takes_it_back() {
    let blocked = Blocked::new();
    blocked.allow(&["BG-001", "--for", "2h"]);
    assert_eq!(blocked.tollgate(&["allow", "--revoke", "BG-001"]).code, 0);
    assert_eq!(lifted(&blocked.commits("1")), None);
    assert_eq!(blocked.tollgate(&["allow", "--revoke", "BG-001"]).code, 1);
}

#[test]
fn the_guards_behind_a_lifted_one_still_block() {
    let project = TestProject::new().state(&running("03-architecture", "in_progress"));
    let delegation = as_claude_code("1", task("software-developer", "Execute Phase 06"));
    let blocked = Blocked { project };
    blocked.allow(&["PSG-001", "--for", "1h"]);
    assert_eq!(lifted(&blocked.hook(&delegation)), None);
    let codes = blocked.codes();
    assert!(codes.contains(&"PLC-001".to_owned()), "{codes:?}");
    assert!(codes.contains(&"PSG-001".to_owned()), "{codes:?}");
    blocked.allow(&["PLC-001", "--for", "1h"]);
    blocked.allow(&["PS-001", "--for", "1h"]);
    assert!(lifted(&blocked.hook(&delegation)).is_some());
}

#[test]
fn the_floor_holds_whatever_a_file_says() {
    let blocked = Blocked::new();
    for code in ["SFG-001", "SFG-002", "SFG-003", "SWV-007", "SWV-008"] {
        let run = blocked.tollgate(&["allow", code, "--once", "--reason", "x"]);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains("cannot be allowed"), "{run:?}");
    }
    blocked.allow(&["BG-001", "--for", "2h"]);
    blocked.rewrite(|text| text.replace("BG-001", "SFG-001"));
    let write = as_claude_code("1", bash("echo '{}' > .isdlc/state.json"));
    assert_eq!(lifted(&blocked.hook(&write)), None);
}

#[test]
fn an_agent_cannot_allow() {
    let blocked = Blocked::new();
    let args = ["allow", "BG-001", "--once", "--reason", "x"];
    let run = blocked.tollgate(&args);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("for a person at a terminal"), "{run:?}");
    let mut command = blocked.command(&args);
    command.env("CLAUDECODE", "1");
    let (screen, code) = Terminal::start(&command).ends();
    assert_eq!(code, 2, "{screen}");
    // A wrong word is a no.
    let mut terminal = Terminal::start(&blocked.command(&args));
    let (screen, code) = terminal.shows(" to confirm: ").types("yes").ends();
    assert_eq!(code, 1, "{screen}");
    assert_eq!(lifted(&blocked.commits("1")), None);
    // A prompt that looks like a person's does not count: anybody can hand us one.
    let prompt = json!({
        "hook_event_name": "UserPromptSubmit", "session_id": "s", "transcript_path": "/t",
        "prompt": "tollgate allow BG-001 --once --reason please",
    });
    blocked.hook(&prompt);
    assert_eq!(lifted(&blocked.commits("2")), None);
}

#[test]
fn what_is_wrong_is_said() {
    let blocked = Blocked::new();
    for (args, text) in [
        (
            &["BG-01", "--once", "--reason", "x"][..],
            "did you mean BG-001",
        ),
        (&["PT-001", "--once", "--reason", "x"], "never blocks"),
        (&["BG-001", "--reason", "x"], "--once or --for"),
        (&["BG-001", "--once"], "missing --reason"),
        (
            &["BG-001", "--for", "3 weeks", "--reason", "x"],
            "not a duration",
        ),
        (&["BG-001", "--for", "48h", "--reason", "x"], "at most 24h"),
        (&["BG-001", "--for", "-5m", "--reason", "x"], ""),
    ] {
        let mut all = vec!["allow"];
        all.extend(args);
        let run = blocked.tollgate(&all);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains(text), "{run:?}");
    }
}

#[test]
fn an_override_holds_in_one_repository_only() {
    let blocked = Blocked::new();
    blocked.allow(&["BG-001", "--for", "1h"]);
    let other = Blocked {
        project: TestProject::new()
            .state(&with_branch("active"))
            .on_branch("main")
            .env("HOME", blocked.home().to_str().unwrap()),
    };
    assert_eq!(lifted(&other.commits("1")), None);
}

#[test]
fn what_a_newer_program_allowed_is_kept() {
    let blocked = Blocked::new();
    blocked.allow(&["BG-001", "--for", "1h"]);
    blocked.rewrite(|text| text.replacen("[\n", "[\n{ \"code\": \"NEW-1\", \"form\": 2 },\n", 1));
    assert_eq!(blocked.tollgate(&["allow", "--revoke", "BG-001"]).code, 0);
    let left = std::fs::read_to_string(blocked.file()).unwrap();
    assert!(left.contains("NEW-1") && !left.contains("BG-001"), "{left}");
    blocked.allow(&["BG-001", "--once"]);
    let left = std::fs::read_to_string(blocked.file()).unwrap();
    assert!(left.contains("NEW-1"), "{left}");
}

#[test]
fn an_override_that_cannot_be_read_allows_nothing_and_is_told() {
    let blocked = Blocked::new();
    blocked.allow(&["BG-001", "--for", "1h"]);
    blocked.rewrite(|_| "{".to_owned());
    assert_eq!(lifted(&blocked.commits("1")), None);
    let codes = blocked.codes();
    assert!(
        codes.contains(&"overrides-unreadable".to_owned()),
        "{codes:?}"
    );
}

#[test]
fn failing_gates_can_be_let_through_but_are_not_verified() {
    let project = TestProject::empty().on_branch("main");
    let project = project.with_gates(".tollgate", &[("bad", "command: exit 3\n")], "");
    let blocked = Blocked { project };
    blocked.allow(&["GATE-FAILED", "--once"]);
    let stops = |session: &str| {
        let event = stop()
            .in_session(session)
            .in_directory(blocked.root())
            .with("transcript_path", "/t")
            .with("permission_mode", "default");
        blocked.hook(&event).json()
    };
    let first = stops("a");
    assert_eq!(first["decision"], Value::Null, "{first}");
    let line = first["systemMessage"].as_str().unwrap();
    assert!(line.contains("NOT verified"), "{line}");
    assert!(line.contains("allowed GATE-FAILED once"), "{line}");
    assert_eq!(stops("b")["decision"], "block");
}

#[test]
fn an_allowed_event_does_not_look_at_overrides() {
    let blocked = Blocked::new();
    let trace = blocked.home().join("trace");
    let Ok(probe) = std::process::Command::new("strace").arg("-V").output() else {
        eprintln!("SKIPPED: there is no strace here");
        return;
    };
    assert!(probe.status.success());
    let mut command = std::process::Command::new("strace");
    command
        .args(["-f", "-o", trace.to_str().unwrap(), TOLLGATE, "hook"])
        .current_dir(blocked.root())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", blocked.home())
        .env("CLAUDE_PROJECT_DIR", blocked.root());
    run(command, bash("git status").to_string().as_bytes()).says_nothing();
    let calls = std::fs::read_to_string(trace).unwrap();
    assert!(!calls.contains("overrides"), "{calls}");
}
