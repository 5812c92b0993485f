//! The targets. Each takes any bytes; a panic is a defect.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tollgate::fuzzing::{self, Review};
use tollgate_core::context::{EventContext, Inputs};
use tollgate_core::decision::{Decision, Fault};
use tollgate_core::git::{Disk, Repository};
use tollgate_core::guard::{self, GUARDS};
use tollgate_core::protocol::{self, Answer, Event, Hints, Protocol};
use tollgate_core::workflow::state::State;
use tollgate_core::workflow::tasks as workflow_tasks;
use tollgate_shell::{World, follow, survey, touches};
use tollgate_store::document::Document;
use tollgate_store::edit::{self, Edit};
use tollgate_store::json::{Kind, Node};

use super::project::{Project, project};

/// What stands between the parts of an input that is several texts.
const BETWEEN: &str = "\n%%%\n";

/// The first byte's choice and the rest.
fn choose<'b, T>(bytes: &'b [u8], choices: &[T]) -> Option<(usize, &'b [u8])> {
    let (first, rest) = bytes.split_first()?;
    Some((usize::from(*first) % choices.len(), rest))
}

/// Stdout is nothing or one object; the code is 0 or 2.
fn check(answer: &Answer) {
    assert!(matches!(answer.exit, 0 | 2), "exit {}", answer.exit);
    if !answer.stdout.is_empty() {
        let value: Value = serde_json::from_str(&answer.stdout).expect("JSON on stdout");
        assert!(value.is_object(), "{value}");
    }
}

fn judge(event: &Event<'_>, project: &Project) -> Decision {
    let now = Timestamp::from_second(1_770_000_000).expect("a moment");
    let cwd = Some(project.root().to_owned());
    let inputs = Inputs::new(project.layout(), project.env(), cwd, now);
    let context = EventContext::new(event, &inputs);
    let outcome = guard::judge(&context, GUARDS);
    Decision {
        faults: context.take_faults(),
        ..outcome
    }
}

/// An event in each dialect, decided by every guard, answered.
pub(super) fn event(bytes: &[u8]) {
    let protocols: Vec<_> = Protocol::ALL
        .iter()
        .copied()
        .map(Some)
        .chain([None])
        .collect();
    let Some((protocol, rest)) = choose(bytes, &protocols) else {
        return;
    };
    let text = String::from_utf8_lossy(rest);
    let protocol = protocols[protocol];
    let hints = Hints {
        protocol,
        event: None,
        gemini_env: false,
    };
    match protocol::parse(&text, &hints) {
        Ok(event) => {
            let outcome = judge(&event, project("event"));
            check(&protocol::answer(&event, &outcome));
        }
        Err(error) => check(&protocol::answer_unparsed(protocol, &[Fault::from(error)])),
    }
}

/// A state file: read, changed, written, read again; and every guard's look at it.
pub(super) fn state(bytes: &[u8]) {
    if let Ok(mut document) = Document::parse(bytes) {
        let text = document.to_text();
        let again = Document::parse(text.as_bytes()).expect("what we write we can read");
        assert_eq!(
            document.members(),
            again.members(),
            "a rewrite changed something"
        );
        let edits = [
            Edit::set(&["active_workflow", "current_phase"], "08-code-review"),
            Edit::push(&["workflow_history"], "x"),
            Edit::add(&["state_version"], 1),
            Edit::remove(&["phases", "06-implementation"]),
        ];
        for edit in &edits {
            // What is in the way is said; it is no reason to lose the rest.
            let _told = edit::apply(std::slice::from_ref(edit), &mut document);
        }
        Document::parse(document.to_text().as_bytes()).expect("what we changed we can read");
    }
    if let Ok(state) = State::parse(&String::from_utf8_lossy(bytes)) {
        if let Some(workflow) = state.workflow() {
            let _any = (
                workflow.phases(),
                workflow.phase_index(),
                workflow.git_branch(),
            );
        }
        let _any = (state.current_phase(), state.enforces_iterations());
    }
    let project = project("state");
    project.write(".isdlc/state.json", bytes);
    for text in [
        r#"{"hook_event_name":"PreToolUse","session_id":"s","transcript_path":"/t","tool_name":"Task","tool_input":{"subagent_type":"software-developer","prompt":"advance to the next phase"}}"#,
        r#"{"hook_event_name":"PreToolUse","session_id":"s","transcript_path":"/t","tool_name":"Bash","tool_input":{"command":"git commit -m x"}}"#,
        r#"{"hook_event_name":"PostToolUse","session_id":"s","transcript_path":"/t","tool_name":"Bash","tool_input":{"command":"cargo test"},"tool_response":{"stdout":"test result: FAILED. 1 passed; 2 failed;"}}"#,
    ] {
        let hints = Hints {
            protocol: None,
            event: None,
            gemini_env: false,
        };
        let event = protocol::parse(text, &hints).expect("an event");
        check(&protocol::answer(&event, &judge(&event, project)));
    }
}

/// The lazy view of JSON beside serde's.
pub(super) fn json(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    // Serde stops at a depth of 128, which the lazy view need not.
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return;
    };
    let node = Node::parse(text).unwrap_or_else(|error| panic!("{error}: {text:?}"));
    compare(node, &value);
}

fn compare(node: Node<'_>, value: &Value) {
    match value {
        Value::Null => assert!(node.is_null()),
        Value::Bool(truth) => assert_eq!(node.bool(), Some(*truth)),
        Value::Number(number) => {
            assert_eq!(node.kind(), Kind::Number);
            // Beyond what fits serde has no number; JavaScript and the view have infinity.
            let expected = number.as_f64();
            let found = node
                .f64()
                .filter(|found| expected.is_some() || found.is_finite());
            assert_eq!(found, expected, "{number}");
        }
        Value::String(text) => assert_eq!(node.str().as_deref(), Some(text.as_str())),
        Value::Array(items) => {
            let nodes = node.array().expect("an array");
            assert_eq!(nodes.len(), items.len());
            for (node, item) in nodes.into_iter().zip(items) {
                compare(node, item);
            }
        }
        Value::Object(members) => {
            let object = node.object().expect("an object");
            for (key, member) in members {
                compare(object.get(key).expect("a member"), member);
            }
        }
    }
}

/// A command line, decided by every guard within the deadline of a hook.
pub(super) fn command(bytes: &[u8]) {
    let command = String::from_utf8_lossy(bytes);
    let text = serde_json::json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t",
        "tool_name": "Bash", "tool_input": { "command": command },
    });
    let text = text.to_string();
    let hints = Hints {
        protocol: None,
        event: None,
        gemini_env: false,
    };
    let event = protocol::parse(&text, &hints).expect("an event");
    // What the thread has worked: a busy machine is not the text's fault.
    let worked = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::try_from(time).unwrap_or_default()
    };
    let began = worked();
    let decision = judge(&event, project("event"));
    let took = worked().saturating_sub(began);
    check(&protocol::answer(&event, &decision));
    assert!(took < DEADLINE, "{took:?} for {command:?}");
}

/// The time that a hook has for a tool event.
const DEADLINE: Duration = Duration::from_secs(1);

/// A shell command: what it would run, commit and write.
pub(super) fn shell(bytes: &[u8]) {
    let command = String::from_utf8_lossy(bytes);
    let root = Path::new("/nowhere/project");
    let world = World {
        dir: Some(root),
        home: Some(Path::new("/nowhere")),
        files: &Disk::default(),
    };
    let found = survey(&command, &world);
    let followed = follow(&found, &world);
    let _touch = touches(
        &followed.effects,
        &[Path::new(".isdlc/state.json")],
        root,
        &world,
    );
}

/// The gates' configuration: `config.yml`, a check, a review with front matter.
pub(super) fn yaml(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.split(BETWEEN);
    let project = project("yaml");
    let mut put = |file: &str| project.write(file, parts.next().unwrap_or_default().as_bytes());
    put(".gauntlet/config.yml");
    put(".gauntlet/checks/check.yml");
    put(".gauntlet/reviews/review.md");
    put(".gauntlet/reviews/other.yml");
    match fuzzing::check_commands(&project.layout(), &project.env()) {
        Ok(commands) => {
            for command in commands {
                assert!(!command.trim().is_empty(), "a check runs nothing");
            }
        }
        Err(error) => assert!(!error.is_empty(), "an error without words"),
    }
}

/// A task list, and a task's own file.
pub(super) fn tasks(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let tasks = fuzzing::plan_tasks(&text);
    assert!(tasks.done <= tasks.all);
    for file in tasks.files {
        assert!(
            !file.contains(['/', '\\', '\0']),
            "a task's file elsewhere: {file:?}"
        );
    }
    for phase in ["06-implementation", "05-test-strategy", "x"] {
        if let Some(ticked) = workflow_tasks::tick(&text, phase) {
            assert_eq!(
                ticked.lines().count(),
                text.lines().count(),
                "a line was lost"
            );
            assert_eq!(
                workflow_tasks::tick(&ticked, phase),
                None,
                "ticked twice: {ticked:?}"
            );
        }
    }
}

/// What a reviewer printed and how it ended. Only a reviewer that ended well and said so passes.
pub(super) fn review(bytes: &[u8]) {
    let names = fuzzing::reviewers();
    let Some((name, rest)) = choose(bytes, &names) else {
        return;
    };
    let Some((failed, rest)) = choose(rest, &[false, true]) else {
        return;
    };
    let split = rest
        .windows(BETWEEN.len())
        .position(|part| part == BETWEEN.as_bytes());
    let (stdout, stderr) = rest.split_at(split.unwrap_or(rest.len()));
    let stderr = String::from_utf8_lossy(stderr).into_owned();
    let code = i32::from(failed == 1);
    let review = fuzzing::review(names[name], code, stdout.to_vec(), stderr);
    let review = review.expect("a reviewer");
    assert!(
        failed == 0 || review == Review::NotHeard,
        "a reviewer that failed was heard: {review:?}"
    );
    if let Review::Pass(unreadable) = review {
        assert_eq!(unreadable, 0, "a pass with findings nobody could read");
        let said = String::from_utf8_lossy(stdout);
        assert!(
            said.contains("pass") || said.contains('\\'),
            "nobody said pass: {said:?}"
        );
    }
}

/// What git left in its directory: `HEAD`, `packed-refs`, `config`, a reflog.
pub(super) fn git(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.split(BETWEEN);
    let project = project("git");
    let mut put = |file: &str| project.write(file, parts.next().unwrap_or_default().as_bytes());
    put(".git/HEAD");
    put(".git/packed-refs");
    put(".git/config");
    put(".git/logs/HEAD");
    let Some(repository) = Repository::discover(project.root()) else {
        return;
    };
    if let Some(branch) = repository.head().branch() {
        let _any = (
            repository.branch_exists(branch),
            repository.last_seen(branch),
        );
    }
    let _any = repository.previous_branch(1);
    let _any = repository.checked_out_elsewhere("feature/x");
    // An alias is looked for in the configuration.
    let world = World {
        dir: Some(project.root()),
        home: None,
        files: &Disk::default(),
    };
    let _followed = follow(&survey("git ci", &world), &world);
}
