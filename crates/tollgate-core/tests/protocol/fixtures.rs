//! Every payload under `tests/protocol/<protocol>/` is read into the snapshot beside it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tollgate_core::protocol::{Event, Hints, Protocol, ToolCall, parse};

fn home(protocol: Protocol) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/protocol")
        .join(protocol.as_str())
}

/// The payloads of one protocol, by file name.
pub(super) fn payloads(protocol: Protocol) -> Vec<(String, String)> {
    let mut payloads: Vec<_> = std::fs::read_dir(home(protocol))
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    payloads.sort();
    payloads
}

fn summary(event: &Event<'_>) -> String {
    let mut out = format!("{} {:?} {:?}", event.protocol, event.kind, event.name);
    let shown = [
        ("session", &event.session),
        ("turn", &event.prompt_id),
        ("cwd", &event.cwd),
        ("agent", &event.agent_id),
        ("type", &event.agent_type),
        ("mode", &event.permission_mode),
        ("prompt", &event.prompt),
    ];
    for (label, value) in shown {
        if let Some(value) = value {
            let value: String = value.chars().take(24).collect();
            write!(out, " {label}={value}").unwrap();
        }
    }
    if event.stop_hook_active {
        out.push_str(" again");
    }
    if event.working_subagents > 0 {
        write!(out, " subagents={}", event.working_subagents).unwrap();
    }
    if let Some(message) = event.last_message {
        write!(out, " last={message:?}").unwrap();
    }
    if let Some(tool) = &event.tool {
        write!(out, "\n  {} ", tool.name).unwrap();
        match &tool.call {
            ToolCall::Patch { .. } => out.push_str("Patch"),
            call @ (ToolCall::Shell { .. }
            | ToolCall::Write { .. }
            | ToolCall::Edit { .. }
            | ToolCall::Delete { .. }
            | ToolCall::Notebook { .. }
            | ToolCall::Delegate { .. }
            | ToolCall::Skill { .. }
            | ToolCall::Other) => write!(out, "{call:?}").unwrap(),
        }
        if let Some(id) = &tool.id {
            write!(out, " id={id}").unwrap();
        }
        if !tool.files().is_empty() {
            write!(out, "\n  files {:?}", tool.files()).unwrap();
        }
        if tool.result.is_some() {
            write!(out, "\n  result {:?}", tool.result_text()).unwrap();
        }
    }
    for problem in &event.problems {
        write!(out, "\n  problem {problem}").unwrap();
    }
    out
}

#[test]
fn every_payload_reads_as_its_snapshot() {
    for protocol in Protocol::ALL.iter().copied() {
        let mut out = String::new();
        for (name, text) in payloads(protocol) {
            let hints = Hints {
                gemini_env: protocol == Protocol::Gemini,
                ..Hints::default()
            };
            let event = parse(&text, &hints).unwrap();
            assert_eq!(event.protocol, protocol, "{name} is taken for another's");
            assert_eq!(event.problems, [""; 0], "{protocol}/{name}");
            writeln!(out, "{name}: {}\n", summary(&event)).unwrap();
        }
        if !out.is_empty() {
            insta::assert_snapshot!(protocol.as_str(), out);
        }
    }
}
