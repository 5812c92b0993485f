//! The neutral model, `agent-protocols.md` 3.12: one notion, whatever the agent calls it.

use tollgate_core::protocol::{Event, EventKind, Hints, Protocol, ToolCall, parse};

use super::fixtures::payloads;
use super::host::AGENTS;

/// The signs by which each agent is recognised, without its events' own fields.
const CLAUDE: &str = r#""session_id":"S","transcript_path":"/t","cwd":"/p","prompt_id":"P","permission_mode":"plan""#;
const CODEX: &str = r#""session_id":"S","turn_id":"P","transcript_path":null,"cwd":"/p","model":"m","permission_mode":"plan""#;
const GEMINI: &str =
    r#""session_id":"S","transcript_path":"/t","cwd":"/p","timestamp":"2026-11-15T20:11:03Z""#;
const PASCAL: &str = r#""session_id":"S","cwd":"/p","timestamp":"2026-11-15T20:11:03Z""#;
const CAMEL: &str = r#""sessionId":"S","cwd":"/p","timestamp":1794773463120"#;
const CURSOR: &str = r#""conversation_id":"S","generation_id":"P","cursor_version":"3","workspace_roots":["/p","/q"]"#;

fn check(base: &str, fields: &str, protocol: Protocol, then: impl FnOnce(&Event<'_>)) {
    let text = format!("{{{base},{fields}}}");
    let event = parse(&text, &Hints::default()).unwrap();
    assert_eq!(event.protocol, protocol, "{text}");
    assert_eq!(event.session.as_deref(), Some("S"), "{text}");
    assert_eq!(event.cwd.as_deref(), Some("/p"), "{text}");
    assert_eq!(event.problems, [""; 0], "{text}");
    then(&event);
}

#[test]
fn events() {
    use EventKind::{
        Other, PostTool, PostToolFailure, PreTool, Prompt, SessionEnd, SessionStart, Stop,
        SubagentStop,
    };
    let tool = r#""tool_name":"X","tool_input":{}"#;
    for (base, protocol, name, kind) in [
        (CLAUDE, Protocol::Claude, "PreToolUse", PreTool),
        (CODEX, Protocol::Codex, "PreToolUse", PreTool),
        (GEMINI, Protocol::Gemini, "BeforeTool", PreTool),
        (PASCAL, Protocol::Copilot, "PreToolUse", PreTool),
        (CURSOR, Protocol::Cursor, "preToolUse", PreTool),
        (CURSOR, Protocol::Cursor, "beforeShellExecution", PreTool),
        (CURSOR, Protocol::Cursor, "beforeMCPExecution", PreTool),
        (CURSOR, Protocol::Cursor, "beforeReadFile", PreTool),
        (CLAUDE, Protocol::Claude, "PostToolUse", PostTool),
        (CODEX, Protocol::Codex, "PostToolUse", PostTool),
        (GEMINI, Protocol::Gemini, "AfterTool", PostTool),
        (PASCAL, Protocol::Copilot, "PostToolUse", PostTool),
        (CURSOR, Protocol::Cursor, "postToolUse", PostTool),
        (CURSOR, Protocol::Cursor, "afterFileEdit", PostTool),
        (CURSOR, Protocol::Cursor, "afterShellExecution", PostTool),
        (
            CLAUDE,
            Protocol::Claude,
            "PostToolUseFailure",
            PostToolFailure,
        ),
        (
            PASCAL,
            Protocol::Copilot,
            "PostToolUseFailure",
            PostToolFailure,
        ),
        (
            CURSOR,
            Protocol::Cursor,
            "postToolUseFailure",
            PostToolFailure,
        ),
        (CLAUDE, Protocol::Claude, "UserPromptSubmit", Prompt),
        (CODEX, Protocol::Codex, "UserPromptSubmit", Prompt),
        (GEMINI, Protocol::Gemini, "BeforeAgent", Prompt),
        (PASCAL, Protocol::Copilot, "UserPromptSubmit", Prompt),
        (CAMEL, Protocol::Copilot, "userPromptSubmitted", Prompt),
        (CURSOR, Protocol::Cursor, "beforeSubmitPrompt", Prompt),
        (CLAUDE, Protocol::Claude, "Stop", Stop),
        (CODEX, Protocol::Codex, "Stop", Stop),
        (GEMINI, Protocol::Gemini, "AfterAgent", Stop),
        (PASCAL, Protocol::Copilot, "Stop", Stop),
        (CAMEL, Protocol::Copilot, "agentStop", Stop),
        (CURSOR, Protocol::Cursor, "stop", Stop),
        (CLAUDE, Protocol::Claude, "SubagentStop", SubagentStop),
        (CODEX, Protocol::Codex, "SubagentStop", SubagentStop),
        (PASCAL, Protocol::Copilot, "SubagentStop", SubagentStop),
        (CURSOR, Protocol::Cursor, "subagentStop", SubagentStop),
        (CLAUDE, Protocol::Claude, "SessionStart", SessionStart),
        (CODEX, Protocol::Codex, "SessionStart", SessionStart),
        (PASCAL, Protocol::Copilot, "SessionStart", SessionStart),
        (CURSOR, Protocol::Cursor, "sessionStart", SessionStart),
        (CLAUDE, Protocol::Claude, "SessionEnd", SessionEnd),
        (CURSOR, Protocol::Cursor, "sessionEnd", SessionEnd),
        (CLAUDE, Protocol::Claude, "PreCompact", Other),
        (GEMINI, Protocol::Gemini, "BeforeModel", Other),
    ] {
        let named = format!(r#""hook_event_name":"{name}""#);
        let fields = match (kind.is_tool(), name) {
            (true, "beforeShellExecution" | "afterShellExecution") => {
                format!(r#"{named},"command":"ls""#)
            }
            (true, "beforeReadFile" | "afterFileEdit") => format!(r#"{named},"file_path":"a""#),
            (true, _) => format!("{named},{tool}"),
            (false, _) => named,
        };
        check(base, &fields, protocol, |event| {
            assert_eq!(event.kind, kind, "{protocol} {name}");
            assert_eq!(event.name, name);
            assert_eq!(event.tool.is_some(), kind.is_tool(), "{protocol} {name}");
        });
    }
}

#[test]
fn a_failed_tool_of_gemini_has_no_event_of_its_own() {
    let fields = r#""hook_event_name":"AfterTool","tool_name":"X","tool_input":{},"tool_response":{"llmContent":"no","error":{"message":"no"}}"#;
    check(GEMINI, fields, Protocol::Gemini, |event| {
        assert_eq!(event.kind, EventKind::PostToolFailure);
    });
}

#[test]
fn gemini_is_told_from_copilot_by_its_environment() {
    let text = format!(r#"{{{GEMINI},"hook_event_name":"SessionStart"}}"#);
    let hints = Hints {
        gemini_env: true,
        ..Hints::default()
    };
    assert_eq!(parse(&text, &hints).unwrap().protocol, Protocol::Gemini);
}

#[test]
fn the_wire_option_decides() {
    for agent in AGENTS {
        for (name, text) in payloads(agent) {
            for protocol in Protocol::ALL.iter().copied() {
                let hints = Hints {
                    protocol: Some(protocol),
                    ..Hints::default()
                };
                assert_eq!(
                    parse(&text, &hints).unwrap().protocol,
                    protocol,
                    "{agent} {name}"
                );
            }
        }
    }
}

/// `(base, protocol, event, input)` for every agent that has the notion.
fn each_tool(cases: &[(&str, Protocol, &str, &str)], check_call: impl Fn(&Event<'_>)) {
    for (base, protocol, name, fields) in cases {
        let fields = if name.is_empty() {
            (*fields).to_owned()
        } else {
            format!(r#""hook_event_name":"{name}",{fields}"#)
        };
        check(base, &fields, *protocol, |event| check_call(event));
    }
}

#[test]
fn shell_commands() {
    let cases = [
        (
            CLAUDE,
            Protocol::Claude,
            "PreToolUse",
            r#""tool_name":"Bash","tool_input":{"command":"ls"}"#,
        ),
        (
            CODEX,
            Protocol::Codex,
            "PreToolUse",
            r#""tool_name":"Bash","tool_input":{"command":"ls"}"#,
        ),
        (
            GEMINI,
            Protocol::Gemini,
            "BeforeTool",
            r#""tool_name":"run_shell_command","tool_input":{"command":"ls"}"#,
        ),
        (
            PASCAL,
            Protocol::Copilot,
            "PreToolUse",
            r#""tool_name":"Bash","tool_input":{"command":"ls"}"#,
        ),
        (
            CAMEL,
            Protocol::Copilot,
            "",
            r#""toolName":"bash","toolArgs":{"command":"ls"}"#,
        ),
        (
            CAMEL,
            Protocol::Copilot,
            "",
            r#""toolName":"bash","toolArgs":"{\"command\":\"ls\"}""#,
        ),
        (
            CURSOR,
            Protocol::Cursor,
            "preToolUse",
            r#""tool_name":"Shell","tool_input":{"command":"ls"}"#,
        ),
        (
            CURSOR,
            Protocol::Cursor,
            "beforeShellExecution",
            r#""command":"ls""#,
        ),
    ];
    each_tool(&cases, |event| {
        let ToolCall::Shell { command } = &event.tool.as_ref().unwrap().call else {
            panic!("{event:?}");
        };
        assert_eq!(command, "ls");
    });
}

#[test]
fn files() {
    let cases = [
        (
            CLAUDE,
            Protocol::Claude,
            "PreToolUse",
            r#""tool_name":"Write","tool_input":{"file_path":"a","content":""}"#,
        ),
        (
            CLAUDE,
            Protocol::Claude,
            "PreToolUse",
            r#""tool_name":"Edit","tool_input":{"file_path":"a","old_string":"x","new_string":"y"}"#,
        ),
        (
            CLAUDE,
            Protocol::Claude,
            "PreToolUse",
            r#""tool_name":"NotebookEdit","tool_input":{"notebook_path":"a","new_source":""}"#,
        ),
        (
            CLAUDE,
            Protocol::Claude,
            "PreToolUse",
            r#""tool_name":"MultiEdit","tool_input":{"file_path":"a","edits":[{"old_string":"x","new_string":"y"}]}"#,
        ),
        (
            CODEX,
            Protocol::Codex,
            "PreToolUse",
            r#""tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: a\n*** End Patch"}"#,
        ),
        (
            GEMINI,
            Protocol::Gemini,
            "BeforeTool",
            r#""tool_name":"write_file","tool_input":{"file_path":"a","content":""}"#,
        ),
        (
            GEMINI,
            Protocol::Gemini,
            "BeforeTool",
            r#""tool_name":"replace","tool_input":{"file_path":"a","old_string":"x","new_string":"y"}"#,
        ),
        (
            PASCAL,
            Protocol::Copilot,
            "PreToolUse",
            r#""tool_name":"Write","tool_input":{"path":"a","file_text":""}"#,
        ),
        (
            PASCAL,
            Protocol::Copilot,
            "PreToolUse",
            r#""tool_name":"Edit","tool_input":{"path":"a","old_str":"x","new_str":"y"}"#,
        ),
        (
            CAMEL,
            Protocol::Copilot,
            "",
            r#""toolName":"create","toolArgs":"{\"path\":\"a\",\"file_text\":\"\"}""#,
        ),
        (
            CURSOR,
            Protocol::Cursor,
            "preToolUse",
            r#""tool_name":"Write","tool_input":{"file_path":"a","content":""}"#,
        ),
        (
            CURSOR,
            Protocol::Cursor,
            "afterFileEdit",
            r#""file_path":"a","edits":[{"old_string":"x","new_string":"y"}]"#,
        ),
    ];
    each_tool(&cases, |event| {
        assert_eq!(event.files(), ["a"], "{event:?}");
    });
}

#[test]
fn results() {
    let cases = [
        (
            CLAUDE,
            Protocol::Claude,
            "PostToolUse",
            r#""tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":"ok","stderr":""}"#,
        ),
        (
            CODEX,
            Protocol::Codex,
            "PostToolUse",
            r#""tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":"ok""#,
        ),
        (
            GEMINI,
            Protocol::Gemini,
            "AfterTool",
            r#""tool_name":"run_shell_command","tool_input":{"command":"ls"},"tool_response":{"llmContent":"ok"}"#,
        ),
        (
            PASCAL,
            Protocol::Copilot,
            "PostToolUse",
            r#""tool_name":"Bash","tool_input":{"command":"ls"},"tool_result":{"result_type":"success","text_result_for_llm":"ok"}"#,
        ),
        (
            CAMEL,
            Protocol::Copilot,
            "",
            r#""toolName":"bash","toolArgs":{"command":"ls"},"toolResult":{"resultType":"success","textResultForLlm":"ok"}"#,
        ),
        (
            CURSOR,
            Protocol::Cursor,
            "postToolUse",
            r#""tool_name":"Shell","tool_input":{"command":"ls"},"tool_output":"ok""#,
        ),
        (
            CURSOR,
            Protocol::Cursor,
            "afterShellExecution",
            r#""command":"ls","output":"ok""#,
        ),
    ];
    each_tool(&cases, |event| {
        assert_eq!(event.kind, EventKind::PostTool);
        assert_eq!(event.tool.as_ref().unwrap().result_text(), "ok");
    });
}

#[test]
fn sub_agents() {
    let cases = [
        (
            CLAUDE,
            Protocol::Claude,
            "PreToolUse",
            r#""tool_name":"Agent","tool_input":{"subagent_type":"dev","prompt":"go"}"#,
        ),
        (
            CLAUDE,
            Protocol::Claude,
            "PreToolUse",
            r#""tool_name":"Task","tool_input":{"subagent_type":"dev","prompt":"go"}"#,
        ),
        (
            CLAUDE,
            Protocol::Claude,
            "PreToolUse",
            r#""tool_name":"NextYearsName","tool_input":{"subagent_type":"dev","prompt":"go"}"#,
        ),
        (
            CODEX,
            Protocol::Codex,
            "PreToolUse",
            r#""tool_name":"spawn_agent","tool_input":{"agent_type":"dev","message":"go"}"#,
        ),
        (
            PASCAL,
            Protocol::Copilot,
            "PreToolUse",
            r#""tool_name":"Agent","tool_input":{"agent_type":"dev","prompt":"go"}"#,
        ),
        (
            CAMEL,
            Protocol::Copilot,
            "",
            r#""toolName":"task","toolArgs":{"agent_type":"dev","prompt":"go"}"#,
        ),
        (
            CURSOR,
            Protocol::Cursor,
            "preToolUse",
            r#""tool_name":"Task","tool_input":{"subagent_type":"dev","prompt":"go"}"#,
        ),
    ];
    each_tool(&cases, |event| {
        let ToolCall::Delegate { agent, prompt, .. } = &event.tool.as_ref().unwrap().call else {
            panic!("{event:?}");
        };
        assert_eq!((agent.as_ref(), prompt.as_ref()), ("dev", "go"));
    });
}

#[test]
fn re_entry() {
    for (base, protocol, fields, again) in [
        (
            CLAUDE,
            Protocol::Claude,
            r#""hook_event_name":"Stop","stop_hook_active":true"#,
            true,
        ),
        (
            CLAUDE,
            Protocol::Claude,
            r#""hook_event_name":"Stop","stop_hook_active":false"#,
            false,
        ),
        (
            CODEX,
            Protocol::Codex,
            r#""hook_event_name":"Stop","stop_hook_active":true"#,
            true,
        ),
        (
            GEMINI,
            Protocol::Gemini,
            r#""hook_event_name":"AfterAgent","stop_hook_active":true"#,
            true,
        ),
        (
            PASCAL,
            Protocol::Copilot,
            r#""hook_event_name":"Stop","stop_hook_active":true"#,
            true,
        ),
        (
            CURSOR,
            Protocol::Cursor,
            r#""hook_event_name":"stop","status":"completed","loop_count":2"#,
            true,
        ),
        (
            CURSOR,
            Protocol::Cursor,
            r#""hook_event_name":"stop","status":"completed","loop_count":0"#,
            false,
        ),
    ] {
        check(base, fields, protocol, |event| {
            assert_eq!(event.kind, EventKind::Stop);
            assert_eq!(event.stop_hook_active, again, "{protocol} {fields}");
        });
    }
}

#[test]
fn turns_and_modes() {
    for (base, protocol, name, mode) in [
        (CLAUDE, Protocol::Claude, "Stop", Some("plan")),
        (CODEX, Protocol::Codex, "Stop", Some("plan")),
        (CURSOR, Protocol::Cursor, "stop", None),
    ] {
        let fields = format!(r#""hook_event_name":"{name}""#);
        check(base, &fields, protocol, |event| {
            assert_eq!(event.prompt_id.as_deref(), Some("P"));
            assert_eq!(event.permission_mode.as_deref(), mode);
        });
    }
}

/// Events in the specifications' own shapes, with and without `--event` and `--wire`.
#[test]
fn bare_events() {
    use EventKind::{Other, PostTool, PreTool, Prompt, Stop};
    for (text, named, protocol, expected) in [
        (
            r#"{"tool_name":"Bash","tool_input":{"command":"ls"}}"#,
            None,
            None,
            (Protocol::Isdlc, PreTool),
        ),
        (
            r#"{"tool_name":"Bash","tool_input":{}}"#,
            Some("PostToolUse"),
            None,
            (Protocol::Isdlc, PostTool),
        ),
        (
            r#"{"tool_name":"Bash","tool_input":{}}"#,
            Some("AfterTool"),
            None,
            (Protocol::Isdlc, PostTool),
        ),
        (
            r#"{"tool_name":"Task","tool_result":"x"}"#,
            None,
            None,
            (Protocol::Isdlc, PostTool),
        ),
        (
            r#"{"tool_name":"Task","tool_response":"x"}"#,
            None,
            None,
            (Protocol::Isdlc, PostTool),
        ),
        (
            r#"{"tool_name":"Task","tool_output":"x"}"#,
            None,
            None,
            (Protocol::Isdlc, PostTool),
        ),
        (
            r#"{"tool_name":"Task","tool_result":"x"}"#,
            Some("PreToolUse"),
            None,
            (Protocol::Isdlc, PreTool),
        ),
        (
            r#"{"cwd":"/p","stop_hook_active":false}"#,
            None,
            None,
            (Protocol::Taskie, Stop),
        ),
        (
            r#"{"stop_hook_active":true}"#,
            Some("Stop"),
            None,
            (Protocol::Taskie, Stop),
        ),
        (
            r#"{"cwd":"/p"}"#,
            Some("stop"),
            None,
            (Protocol::Isdlc, Stop),
        ),
        (r#"{"cwd":"/p"}"#, None, None, (Protocol::Taskie, Stop)),
        (
            r#"{"cwd":"/p","prompt":"x"}"#,
            None,
            None,
            (Protocol::Isdlc, Prompt),
        ),
        (
            r#"{"cwd":"/p"}"#,
            None,
            Some(Protocol::Taskie),
            (Protocol::Taskie, Stop),
        ),
        (
            "{}",
            None,
            Some(Protocol::Gauntlet),
            (Protocol::Gauntlet, Stop),
        ),
        ("{}", None, None, (Protocol::Isdlc, Other)),
        (
            r#"{"hook_event_name":"Stop","stop_hook_active":false,"cwd":"/p"}"#,
            None,
            None,
            (Protocol::Claude, Stop),
        ),
        (
            r#"{"hook_event_name":"Stop","cwd":"/p"}"#,
            None,
            Some(Protocol::Gauntlet),
            (Protocol::Gauntlet, Stop),
        ),
        (
            r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#,
            None,
            None,
            (Protocol::Claude, PreTool),
        ),
        (
            r#"{"session_id":"S","tool_name":"Bash","tool_input":{"command":"ls"}}"#,
            None,
            None,
            (Protocol::Claude, PreTool),
        ),
        (
            r#"{"tool_use_id":"t","tool_name":"Bash","tool_input":{"command":"ls"}}"#,
            None,
            None,
            (Protocol::Claude, PreTool),
        ),
    ] {
        let hints = Hints {
            protocol,
            event: named,
            gemini_env: false,
        };
        let event = parse(text, &hints).unwrap();
        assert_eq!((event.protocol, event.kind), expected, "{text} {named:?}");
    }
}
