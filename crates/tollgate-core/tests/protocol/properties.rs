//! Whatever comes in, nothing breaks; whatever goes out, an agent can read it.

use proptest::prelude::*;
use serde_json::{Map, Value};
use tollgate_core::decision::{Decision, Fault, Finding};
use tollgate_core::protocol::{
    Event, EventKind, Hints, Protocol, REASON_LIMIT, answer, answer_unparsed, parse,
};

const KEYS: &[&str] = &[
    "hook_event_name",
    "session_id",
    "sessionId",
    "transcript_path",
    "cwd",
    "prompt_id",
    "turn_id",
    "model",
    "timestamp",
    "permission_mode",
    "agent_id",
    "tool_name",
    "toolName",
    "tool_input",
    "toolArgs",
    "tool_use_id",
    "tool_response",
    "tool_result",
    "tool_output",
    "toolResult",
    "error",
    "stop_hook_active",
    "loop_count",
    "status",
    "cursor_version",
    "conversation_id",
    "workspace_roots",
    "command",
    "cmd",
    "file_path",
    "path",
    "edits",
    "content",
    "file_text",
    "old_string",
    "new_str",
    "replace_all",
    "patch",
    "subagent_type",
    "agent_type",
    "prompt",
    "description",
    "skill",
    "args",
    "background_tasks",
    "stdout",
    "llmContent",
    "text",
    "output",
];

const TEXTS: &[&str] = &[
    "PreToolUse",
    "PostToolUse",
    "Stop",
    "stop",
    "BeforeTool",
    "AfterAgent",
    "beforeShellExecution",
    "afterFileEdit",
    "beforeReadFile",
    "Bash",
    "Write",
    "Edit",
    "MultiEdit",
    "apply_patch",
    "Task",
    "Skill",
    "Read",
    "str_replace_editor",
    "view",
    "*** Begin Patch\n*** Add File: a\n",
    "{\"command\":\"ls\"}",
    "{",
    "",
    "completed",
    "aborted",
];

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop::sample::select(TEXTS).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            members(inner).prop_map(Value::Object),
        ]
    })
}

fn members(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    let key = prop_oneof![
        9 => prop::sample::select(KEYS).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec((key, value), 0..8).prop_map(|pairs| pairs.into_iter().collect())
}

fn protocol() -> impl Strategy<Value = Protocol> {
    prop::sample::select(Protocol::ALL)
}

fn kind() -> impl Strategy<Value = EventKind> {
    prop::sample::select(
        &[
            EventKind::PreTool,
            EventKind::PostTool,
            EventKind::PostToolFailure,
            EventKind::Prompt,
            EventKind::Stop,
            EventKind::SubagentStop,
            EventKind::SessionStart,
            EventKind::SessionEnd,
            EventKind::Other,
        ][..],
    )
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        Just(String::new()),
        Just("line\r\n\t\"quoted\" \u{2028} \u{0} 🦀".to_owned()),
        (9_000_usize..30_000).prop_map(|n| "ä🦀".repeat(n / 2)),
    ]
}

fn report() -> impl Strategy<Value = Finding> {
    (words(), words())
        .prop_map(|(text, reason)| Finding::new("BG-001", text, reason).by("branch-guard"))
}

fn faults() -> impl Strategy<Value = Vec<Fault>> {
    prop::collection::vec(words().prop_map(|text| Fault::new("kind", text)), 0..3)
}

fn outcome() -> impl Strategy<Value = Decision> {
    (
        prop::option::of(report()),
        prop::collection::vec(report(), 0..3),
        faults(),
    )
        .prop_map(|(block, warnings, faults)| Decision {
            block,
            warnings,
            faults,
            ..Decision::default()
        })
}

/// The longest text anywhere in a value, in UTF-16 units.
fn longest(value: &Value) -> usize {
    match value {
        Value::String(text) => text.encode_utf16().count(),
        Value::Array(items) => items.iter().map(longest).max().unwrap_or(0),
        Value::Object(object) => object.values().map(longest).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn check_stdout(stdout: &str) {
    if stdout.is_empty() {
        return;
    }
    assert_eq!(stdout.matches('\n').count(), 1, "{stdout:?}");
    assert!(stdout.ends_with('\n'));
    let value: Value = serde_json::from_str(stdout).unwrap();
    assert!(value.is_object());
    assert!(longest(&value) <= REASON_LIMIT);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_object_is_read(object in members(json()), protocol in prop::option::of(protocol()),
                          gemini_env in any::<bool>(), named in prop::option::of(prop::sample::select(TEXTS))) {
        let text = Value::Object(object).to_string();
        let event = parse(&text, &Hints { protocol, event: named, gemini_env }).unwrap();
        if let Some(tool) = &event.tool {
            drop(tool.files());
            drop(tool.result_text());
        }
        check_stdout(&answer(&event, &Decision::default()).stdout);
    }

    #[test]
    fn any_text_is_refused_or_read(text in any::<String>()) {
        drop(parse(&text, &Hints::default()));
    }

    #[test]
    fn any_outcome_is_answered(protocol in protocol(), kind in kind(), outcome in outcome()) {
        let event = Event::new(protocol, kind);
        let answer = answer(&event, &outcome);
        prop_assert!(matches!(answer.exit, 0 | 2));
        check_stdout(&answer.stdout);
    }

    #[test]
    fn any_fault_is_answered(protocol in prop::option::of(protocol()), faults in faults()) {
        let answer = answer_unparsed(protocol, &faults);
        prop_assert_eq!(answer.exit, 0);
        check_stdout(&answer.stdout);
    }
}
