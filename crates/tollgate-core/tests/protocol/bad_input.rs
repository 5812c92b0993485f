//! Input that no agent should send, and one day will: `faults.md` 2.3, the rows about stdin.

use tollgate_core::protocol::{Event, EventKind, Hints, NotAnEvent, Protocol, ToolCall, parse};

fn read(text: &str) -> Event<'_> {
    parse(text, &Hints::default()).unwrap()
}

fn command<'e>(event: &'e Event<'_>) -> &'e str {
    let ToolCall::Shell { command } = &event.tool.as_ref().unwrap().call else {
        panic!("{event:?}");
    };
    command
}

#[test]
fn what_is_no_event_is_named() {
    for (text, message) in [
        (
            "",
            "no event arrived on stdin; an agent sends one JSON object",
        ),
        (
            " \n\u{feff}",
            "Invalid JSON in the event: line 1, column 1: expected an object",
        ),
        ("[1]", "the event is an array, not a JSON object"),
        ("null", "the event is null, not a JSON object"),
        ("\"Stop\"", "the event is a string, not a JSON object"),
        ("12", "the event is a number, not a JSON object"),
        (
            "{\"a\":",
            "Invalid JSON in the event: line 1, column 6: the text ends where a value should be",
        ),
        (
            "{} {}",
            "Invalid JSON in the event: line 1, column 4: the text goes on behind its end",
        ),
        (
            "hello",
            "Invalid JSON in the event: line 1, column 1: expected an object",
        ),
    ] {
        let error = parse(text, &Hints::default()).unwrap_err();
        assert_eq!(error.to_string(), message, "{text:?}");
    }
    assert!(matches!(
        parse("\u{feff}", &Hints::default()),
        Err(NotAnEvent::Empty)
    ));
}

#[test]
fn a_byte_order_mark_is_no_obstacle() {
    let event =
        read("\u{feff}{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"git commit\"}}\n");
    assert_eq!(command(&event), "git commit");
}

#[test]
fn an_array_command_is_reported_and_judged() {
    let event =
        read(r#"{"tool_name":"Bash","tool_input":{"command":["bash","-lc","git commit -m 'x'"]}}"#);
    assert_eq!(
        event.problems,
        ["`tool_input.command` is an array, not a string"]
    );
    assert_eq!(
        event.faults().next().unwrap().text,
        "in the agent's event, `tool_input.command` is an array, not a string"
    );
    assert_eq!(command(&event), r"bash -lc 'git commit -m '\''x'\'''");
}

#[test]
fn wrong_types_are_reported_and_the_rest_still_counts() {
    for (text, problem) in [
        (
            r#"{"tool_name":"Bash","tool_input":{"command":7}}"#,
            "`tool_input.command` is a number, not a string",
        ),
        (
            r#"{"tool_name":"Bash","tool_input":{"command":{"a":1}}}"#,
            "`tool_input.command` is an object, not a string",
        ),
        (
            r#"{"tool_name":"Bash","tool_input":null}"#,
            "`tool_input` is null, not an object",
        ),
        (
            r#"{"tool_name":"Bash","tool_input":"git commit"}"#,
            "`tool_input` is a string, not an object",
        ),
        (
            r#"{"tool_name":"Bash","tool_input":["git"]}"#,
            "`tool_input` is an array, not an object",
        ),
        (r#"{"tool_name":"Bash"}"#, "`tool_input.command` is missing"),
        (
            r#"{"tool_name":"Bash","tool_input":{}}"#,
            "`tool_input.command` is missing",
        ),
        (
            r#"{"tool_name":"Write","tool_input":{"file_path":["a"],"content":""}}"#,
            "`tool_input.file_path` is an array, not a string",
        ),
        (
            r#"{"tool_name":"Write","tool_input":{"content":""}}"#,
            "`tool_input.file_path` is missing",
        ),
        (
            r#"{"tool_name":"Edit","tool_input":{"file_path":"a","old_string":1,"new_string":"b"}}"#,
            "`tool_input.old_string` is a number, not a string",
        ),
        (
            r#"{"tool_name":"MultiEdit","tool_input":{"file_path":"a","edits":"x"}}"#,
            "`tool_input.edits` is a string, not an array",
        ),
        (
            r#"{"tool_name":"Task","tool_input":{"subagent_type":true}}"#,
            "`tool_input.subagent_type` is a boolean, not a string",
        ),
        (
            r#"{"tool_name":5,"tool_input":{"command":"ls"}}"#,
            "`tool_name` is a number, not a string",
        ),
        (
            r#"{"toolName":"bash","toolArgs":"{\"command\":"}"#,
            "`toolArgs` is a string that is not JSON: line 1, column 12: the text ends where a value should be",
        ),
        (
            r#"{"hook_event_name":7,"tool_name":"Bash","tool_input":{"command":"ls"}}"#,
            "`hook_event_name` is a number, not a string",
        ),
        (
            r#"{"hook_event_name":"Stop","session_id":["x"]}"#,
            "`session_id` is an array, not a string",
        ),
        (
            r#"{"hook_event_name":"Stop","cwd":1}"#,
            "`cwd` is a number, not a string",
        ),
    ] {
        let event = read(text);
        assert_eq!(
            event.problems.first().map(String::as_str),
            Some(problem),
            "{text}"
        );
    }
}

#[test]
fn only_a_real_true_is_a_stop_again() {
    for (value, again, problems) in [
        ("true", true, 0),
        ("false", false, 0),
        ("null", false, 0),
        ("\"false\"", false, 1),
        ("\"true\"", false, 1),
        ("1", false, 1),
    ] {
        let text = format!(r#"{{"hook_event_name":"Stop","stop_hook_active":{value}}}"#);
        let event = read(&text);
        assert_eq!(event.stop_hook_active, again, "{value}");
        assert_eq!(event.problems.len(), problems, "{value}");
    }
}

#[test]
fn duplicates_hide_nothing() {
    let twice = read(
        r#"{"tool_name":"Bash","tool_input":{"command":"git commit"},"tool_input":{"command":"ls"}}"#,
    );
    assert_eq!(command(&twice), "git commit\nls");
    assert_eq!(
        twice.problems.first().unwrap(),
        "`tool_input` is there 2 times"
    );

    let inside =
        read(r#"{"tool_name":"Bash","tool_input":{"command":"git commit","command":"ls"}}"#);
    assert_eq!(command(&inside), "git commit\nls");

    let paths = read(
        r#"{"tool_name":"Write","tool_input":{"file_path":".isdlc/state.json","file_path":"a","content":""},"tool_input":{"filePath":"b"}}"#,
    );
    assert_eq!(paths.files(), ["a", "b", ".isdlc/state.json"]);

    let names =
        read(r#"{"tool_name":"Bash","tool_name":"Read","tool_input":{"command":"git commit"}}"#);
    assert_eq!(command(&names), "git commit");

    let edits = read(
        r#"{"tool_name":"MultiEdit","tool_input":{"file_path":"a","edits":[{"file_path":"b","old_string":"x","new_string":"y"}]}}"#,
    );
    assert_eq!(edits.files(), ["a", "b"]);

    let cursor = read(
        r#"{"cursor_version":"3","hook_event_name":"beforeShellExecution","command":"git commit","command":"ls"}"#,
    );
    assert_eq!(command(&cursor), "git commit\nls");
}

#[test]
fn a_hundred_thousand_brackets() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let text = format!(
        r#"{{"extra":{deep},"tool_name":"Bash","tool_input":{{"x":{deep},"command":"git commit"}}}}"#
    );
    assert_eq!(command(&read(&text)), "git commit");
    let text =
        format!(r#"{{"tool_name":"Bash","tool_input":{{"command":{deep}}},"tool_result":{deep}}}"#);
    let event = read(&text);
    assert_eq!(event.problems.len(), 1);
    assert_eq!(event.tool.unwrap().result_text().len(), 200_000);
}

#[test]
fn lone_surrogates_and_escapes() {
    let event = read(
        r#"{"\udc00":1,"tool_name":"B\u0061sh","tool_input":{"command":"git commit -m \ud800"}}"#,
    );
    assert!(command(&event).starts_with("git commit -m "));
    // A raw control character is not JSON, here as in every agent.
    assert!(parse("{\"a\":\"\u{0}\"}", &Hints::default()).is_err());
}

#[test]
fn a_tool_without_a_name_is_judged_by_its_shape() {
    let event = read(r#"{"tool_input":{"command":"git commit"}}"#);
    assert_eq!(event.kind, EventKind::PreTool);
    assert_eq!(event.problems, ["`tool_name` is missing"]);
    assert_eq!(command(&event), "git commit");
}

#[test]
fn the_content_of_a_write_stays_undecoded() {
    let content = "x".repeat(1 << 20);
    let text = format!(
        r#"{{"tool_name":"Write","tool_input":{{"file_path":"a","content":"{content}"}}}}"#
    );
    let event = read(&text);
    let Some(ToolCall::Write { content, .. }) = event.tool.map(|tool| tool.call) else {
        panic!("not a write");
    };
    let place = content.unwrap().text().as_ptr();
    assert!(text.as_bytes().as_ptr_range().contains(&place));
}

#[test]
fn tools_nobody_knows_are_judged_by_their_shape() {
    for (input, expected) in [
        (r#"{"command":"ls"}"#, "Shell"),
        (r#"{"path":"a","content":"x"}"#, "Write"),
        (r#"{"path":"a","command":"view"}"#, "Shell"),
        (r#"{"path":"a","old_str":"x","new_str":"y"}"#, "Edit"),
        (r#"{"path":"a"}"#, "Other"),
        (r#"{"patch":"*** Begin Patch\n"}"#, "Patch"),
        (r#"{"agent_type":"x"}"#, "Delegate"),
        (r#"{"agent_type":""}"#, "Other"),
        (r#"{"query":"x"}"#, "Other"),
    ] {
        let text = format!(r#"{{"tool_name":"mcp__x__y","tool_input":{input}}}"#);
        let event = read(&text);
        let call = format!("{:?}", event.tool.unwrap().call);
        assert!(call.starts_with(expected), "{input}: {call}");
        assert_eq!(event.protocol, Protocol::Isdlc);
    }
}

#[test]
fn an_editor_that_only_looks_writes_nothing() {
    for (command, files) in [
        ("view", 0),
        ("create", 1),
        ("str_replace", 1),
        ("insert", 1),
    ] {
        let text = format!(
            r#"{{"tool_name":"str_replace_editor","tool_input":{{"command":"{command}","path":"a"}}}}"#
        );
        assert_eq!(read(&text).files().len(), files, "{command}");
    }
}

#[test]
fn skills_and_slash_commands() {
    for (tool, input) in [
        ("Skill", r#"{"skill":"taskie:next","args":"3 4"}"#),
        ("Skill", r#"{"skill":"/taskie:next 3 4"}"#),
        ("SlashCommand", r#"{"command":"/taskie:next 3 4"}"#),
    ] {
        let text = format!(r#"{{"tool_name":"{tool}","tool_input":{input}}}"#);
        let ToolCall::Skill { name, args, .. } = read(&text).tool.unwrap().call else {
            panic!("{text}");
        };
        assert_eq!((name.as_ref(), args.as_ref()), ("taskie:next", "3 4"));
    }
}
