//! Files that are not as anybody expects: odd prints, pipes, copies that are gone, states filled
//! with rubbish. Whoever is behind it, nothing waits without end, and nothing is taken for what it
//! is not.

use std::os::unix::fs::MetadataExt as _;
use std::process::Command;

use serde_json::{Value, json};

use crate::events::{bash, write};
use crate::project::{Run, TestProject, put, run};

fn event(project: &TestProject, name: &str, more: &Value) -> Value {
    let mut event = json!({
        "hook_event_name": name, "session_id": "s", "transcript_path": "/t", "cwd": project.root(),
    });
    if let (Some(event), Some(more)) = (event.as_object_mut(), more.as_object()) {
        event.extend(more.clone());
    }
    event
}

fn starts(project: &TestProject) -> Run {
    let more = json!({ "source": "startup" });
    project.hook(&event(project, "SessionStart", &more))
}

/// A harmless event after something happened.
fn next(project: &TestProject) -> Run {
    let tool = json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_response": { "stdout": "" } });
    project.hook(&event(project, "PostToolUse", &tool))
}

/// What the person is told, while the agent goes on.
#[track_caller]
fn told(run: &Run) -> String {
    assert_eq!(run.code, 0, "{run:?}");
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    answer["systemMessage"].as_str().unwrap().to_owned()
}

/// A state on whose branch nobody commits to main.
fn guarded() -> Value {
    json!({
        "state_version": 4,
        "active_workflow": {
            "type": "feature", "current_phase": "06-implementation", "current_phase_index": 2,
            "git_branch": { "name": "feature/x", "status": "active" },
        },
    })
}

#[test]
fn a_print_of_the_state_that_hides_a_member_hides_nothing() {
    let project = TestProject::new().on_branch("main");
    // Long enough to be read by its lines, if they were to be trusted.
    let pad = "x".repeat(9000);
    let workflow = guarded()["active_workflow"].to_string();
    let hiding = format!(
        "{{\n  \"pad\": {{\n    \"y\": \"{pad}\" }},\n  \"active_workflow\": {workflow},\n  \"z\": {{\n  }},\n  \"state_version\": 4\n}}\n"
    );
    serde_json::from_str::<Value>(&hiding).unwrap();
    project.file(".isdlc/state.json", &hiding);
    project
        .hook(&bash("git commit -m x"))
        .blocks("COMMIT TO MAIN");
    // Nor after a session has looked at it, and remembers it.
    starts(&project).says_nothing();
    project
        .hook(&bash("git commit -m x"))
        .blocks("COMMIT TO MAIN");
    // Nor if it comes while a state that is printed well is remembered.
    let project = TestProject::new().on_branch("main");
    let mut state = guarded();
    state["pad"] = json!({ "y": pad });
    let project = project.state(&state);
    starts(&project).says_nothing();
    project
        .hook(&bash("git commit -m x"))
        .blocks("COMMIT TO MAIN");
    project.file(".isdlc/state.json", &hiding);
    project
        .hook(&bash("git commit -m x"))
        .blocks("COMMIT TO MAIN");
    assert!(project.codes().contains(&"SW-002".to_owned()));
}

#[test]
fn a_pipe_in_the_place_of_the_lock_is_not_waited_for() {
    let project = TestProject::new().state(&guarded()).on_branch("main");
    std::fs::create_dir_all(project.path(".tollgate/local/state")).unwrap();
    let made = Command::new("mkfifo")
        .arg(project.path(".tollgate/local/state/lock"))
        .status();
    assert!(made.unwrap().success());
    project
        .hook(&bash("git commit -m x"))
        .blocks("COMMIT TO MAIN");
    // Whoever wants to write or to begin the watch says what is in the way.
    let told = told(&starts(&project));
    assert!(told.contains("not a regular file"), "{told}");
}

#[test]
fn sessions_that_begin_at_once_do_not_call_each_others_guards_dead() {
    let project = TestProject::new().state(&guarded());
    let start = event(&project, "SessionStart", &json!({ "source": "startup" })).to_string();
    for _ in 0..3 {
        let runs: Vec<_> = std::thread::scope(|scope| {
            let begin = || {
                let mut command = project.command(&["hook"]);
                command.env("CLAUDE_PROJECT_DIR", project.root());
                run(command, start.as_bytes())
            };
            let begun: Vec<_> = (0..6).map(|_| scope.spawn(begin)).collect();
            begun.into_iter().map(|run| run.join().unwrap()).collect()
        });
        for run in runs {
            run.says_nothing();
        }
    }
    assert!(!project.path(".tollgate/local/selftest").exists());
}

#[test]
fn guards_that_cannot_be_tried_are_one_message() {
    let project = TestProject::new().state(&guarded());
    project.file(".tollgate/local/selftest", "no directory");
    let told = told(&starts(&project));
    assert!(
        told.contains("the self-test of the guards stopped"),
        "{told}"
    );
    assert_eq!(project.codes(), ["guards-untried"]);
}

#[test]
fn a_change_without_a_copy_to_judge_it_by_is_told() {
    let project = TestProject::new().state(&guarded());
    starts(&project).says_nothing();
    for name in ["good-a", "good-b"] {
        let _gone = std::fs::remove_file(project.path(".tollgate/local/state").join(name));
    }
    let mut state = guarded();
    state["active_workflow"]["current_phase_index"] = json!(0);
    let project = project.state(&state);
    let said = told(&next(&project));
    assert!(
        said.contains("it is unknown whether the change is legal"),
        "{said}"
    );
    assert_eq!(project.codes(), ["state-watch"]);
    // From here on it is guarded again.
    state["active_workflow"]["current_phase_index"] = json!(9);
    let project = project.state(&state);
    assert!(told(&next(&project)).contains("STATE RESTORED"));
    assert!(project.read(".isdlc/state.json").contains(": 0"));
}

#[test]
fn a_change_whose_time_was_set_back_is_found() {
    let project = TestProject::new().state(&guarded());
    starts(&project).says_nothing();
    let path = project.path(".isdlc/state.json");
    let before = path.metadata().unwrap();
    let text = project.read(".isdlc/state.json");
    let forged = text.replace("\"current_phase_index\": 2", "\"current_phase_index\": 0");
    assert_eq!(forged.len(), text.len());
    put(&path, &forged);
    let file = std::fs::File::open(&path).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
    let after = path.metadata().unwrap();
    assert_eq!(
        (before.ino(), before.mtime_nsec()),
        (after.ino(), after.mtime_nsec())
    );
    assert!(told(&next(&project)).contains("STATE RESTORED"));
    assert_eq!(project.read(".isdlc/state.json"), text);
    next(&project).says_nothing();
}

#[test]
fn a_lock_that_somebody_holds_does_not_hide_a_change() {
    let project = TestProject::new().state(&guarded());
    starts(&project).says_nothing();
    let mut state = guarded();
    state["active_workflow"]["current_phase_index"] = json!(0);
    let project = project.state(&state);
    let lock = std::fs::File::open(project.path(".tollgate/local/state/lock")).unwrap();
    lock.lock().unwrap();
    let said = told(&next(&project));
    assert!(said.contains("another process holds its lock"), "{said}");
    assert_eq!(project.codes(), ["state-watch"]);
    drop(lock);
    assert!(told(&next(&project)).contains("STATE RESTORED"));
}

#[test]
fn a_state_full_of_phases_is_judged_in_a_moment() {
    let phases: Value = (0..60_000)
        .map(|n| (format!("p{n:06}"), json!({ "status": "completed" })))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let mut state = guarded();
    state["phases"] = phases;
    let project = TestProject::new().state(&state);
    starts(&project).says_nothing();
    let write = |state: &Value| write(project.path(".isdlc/state.json"), &state.to_string());
    let hook = |state: &Value| {
        let event = event(&project, "PreToolUse", &write(state));
        // A program that was built for tests needs a second by itself.
        let args = ["hook", "--deadline", "8s"];
        project.run(&args, event.to_string().as_bytes())
    };
    // Comparing each phase with all others takes minutes.
    hook(&state).allows();
    state["phases"]["p059999"]["status"] = json!("pending");
    let why = hook(&state).denies();
    assert!(why.contains("p059999"), "{why}");
}

#[test]
fn a_byte_order_mark_does_not_switch_the_guards_off() {
    let project = TestProject::new().on_branch("main");
    project.file(".isdlc/state.json", format!("\u{feff}{:#}", guarded()));
    project
        .hook(&bash("git commit -m x"))
        .blocks("COMMIT TO MAIN");
    assert_eq!(project.codes(), ["BG-001"]);
}

#[test]
fn an_event_that_never_ends_is_not_read_for_ever() {
    let project = TestProject::new().state(&guarded());
    let mut command = project.command(&["hook"]);
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let drip = std::thread::spawn(move || {
        use std::io::Write as _;
        // Until nobody listens any more.
        while stdin.write_all(b" ").is_ok() {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    });
    let output = child.wait_with_output().unwrap();
    drip.join().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(project.codes(), ["event-late"]);
}
