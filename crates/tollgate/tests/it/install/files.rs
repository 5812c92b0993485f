//! Install, install again, uninstall, on settings files of every kind: twice is once, and the
//! last byte is as it was.

use crate::project::TestProject;

/// Settings files as people have them. None of them holds anything of Tollgate.
const FILES: &[(&str, &str)] = &[
    ("empty", ""),
    ("a blank line", "\n"),
    ("an empty object", "{}"),
    ("an empty object and a newline", "{}\n"),
    ("an empty object over two lines", "{\n}\n"),
    (
        "unknown keys",
        "{\n  \"model\": \"opus\",\n  \"x\": { \"y\": [1, 2.50, -3e10, null] }\n}\n",
    ),
    ("no trailing newline", "{\n  \"model\": \"opus\"\n}"),
    (
        "four blanks",
        "{\n    \"a\": 1,\n    \"b\": {\n        \"c\": 2\n    }\n}\n",
    ),
    (
        "three blanks",
        "{\n   \"a\": 1,\n   \"b\": {\n      \"c\": 2\n   }\n}\n",
    ),
    ("tabs", "{\n\t\"a\": 1,\n\t\"b\": {\n\t\t\"c\": 2\n\t}\n}\n"),
    ("CRLF", "{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}\r\n"),
    (
        "CRLF with hooks",
        "{\r\n  \"hooks\": {\r\n    \"Stop\": [\r\n    ]\r\n  }\r\n}\r\n",
    ),
    ("mixed line ends", "{\r\n  \"a\": 1,\n  \"b\": 2\r\n}\n"),
    (
        "minified",
        "{\"a\":1,\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}]},\"b\":[1,2]}",
    ),
    ("a byte order mark", "\u{feff}{\n  \"a\": 1\n}\n"),
    (
        "line comments",
        "// settings of mine\n{\n  // the model\n  \"model\": \"opus\" // best\n}\n// end\n",
    ),
    (
        "block comments",
        "/* mine */ {\n  /* a */ \"a\": /* b */ 1, /* c */\n  \"hooks\": { /* none yet */ }\n}\n",
    ),
    (
        "comments among hooks",
        "{\n  \"hooks\": {\n    // at the end\n    \"Stop\": [\n      // say it aloud\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] } // loud\n      // more to come\n    ]\n  }\n}\n",
    ),
    (
        "trailing commas",
        "{\n  \"a\": [\n    1,\n    2,\n  ],\n  \"hooks\": {\n    \"Stop\": [],\n  },\n}\n",
    ),
    ("hooks is null", "{\n  \"hooks\": null,\n  \"a\": 1\n}\n"),
    ("hooks is empty", "{ \"hooks\": {} }\n"),
    (
        "an event is null",
        "{\n  \"hooks\": { \"Stop\": null, \"PreToolUse\": [] }\n}\n",
    ),
    (
        "other tools' hooks",
        "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"rtk rewrite\",\n            \"timeout\": 5\n          }\n        ]\n      }\n    ],\n    \"Notification\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"notify-send\", \"args\": [\"hi\"] }] }\n    ]\n  },\n  \"permissions\": { \"allow\": [\"Bash(ls)\"] }\n}\n",
    ),
    (
        "the same events and matcher in use",
        "{\n  \"hooks\": {\n    \"PreToolUse\": [{ \"matcher\": \"*\", \"hooks\": [{ \"type\": \"command\", \"command\": \"a\" }] }],\n    \"PostToolUse\": [{ \"matcher\": \"*\", \"hooks\": [{ \"type\": \"command\", \"command\": \"b\" }] }],\n    \"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"echo tollgate hook\" }] }]\n  }\n}\n",
    ),
    (
        "handlers of other kinds",
        "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"type\": \"http\", \"url\": \"http://localhost/tollgate hook\" }, { \"type\": \"prompt\", \"prompt\": \"tollgate hook\" }] },\n      \"not an object\",\n      7\n    ]\n  }\n}\n",
    ),
    (
        "duplicate keys",
        "{\n  \"hooks\": { \"Stop\": [] },\n  \"a\": 1,\n  \"a\": 2,\n  \"hooks\": { \"Stop\": [], \"Stop\": [{ \"hooks\": [] }] }\n}\n",
    ),
    (
        "letters of the world",
        "{\n  \"größe\": \"日本語 \\u00e9 😀\",\n  \"e\\\\scape\\\"d\": \"\\n\\t\"\n}\n",
    ),
    (
        "blank lines everywhere",
        "\n\n{\n\n\n  \"a\": 1,\n\n\n  \"hooks\": {\n\n    \"Stop\": [\n\n    ]\n\n  }\n\n}\n\n\n",
    ),
    (
        "odd layout",
        "{ \"a\" :1\n ,\"hooks\"\n:\n{ \"Stop\" : [ ] }\n   , \"b\":[\n1 ,2]}",
    ),
    (
        "trailing blanks",
        "{   \n  \"a\": 1,   \n  \"b\": 2\t\n}   \n",
    ),
    ("large", LARGE),
];

const LARGE: &str = concat!(
    "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(cargo build:*)\",\n      \"Bash(cargo test:*)\",\n",
    "      \"Read(//etc/**)\"\n    ],\n    \"deny\": [],\n    \"defaultMode\": \"acceptEdits\"\n  },\n",
    "  \"env\": { \"FOO\": \"1\" },\n  \"statusLine\": { \"type\": \"command\", \"command\": \"~/.claude/line.sh\" },\n",
    "  \"enabledPlugins\": { \"other@market\": true },\n  \"hooks\": {\n    \"SessionStart\": [\n",
    "      { \"matcher\": \"startup\", \"hooks\": [{ \"type\": \"command\", \"command\": \"echo hi\" }] }\n    ]\n  }\n}\n"
);

/// The words of a text: what must still be there after an install, layout apart.
fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| c.is_whitespace() || ",{}[]:".contains(c))
        .filter(|word| !word.is_empty() && *word != "null" && *word != "\u{feff}")
        .collect()
}

fn round_trip(agent: &str, file: &str, events: usize) {
    for (name, text) in FILES {
        let desk = TestProject::with_tollgate_on_path();
        desk.file(file, text);
        let before = desk.snapshot();
        desk.must(&["install", "--agent", agent, "--yes"]);
        let once = desk.snapshot();
        let written = desk.text(file);
        let registered = desk.registered(file);
        assert_eq!(
            registered.len(),
            events,
            "{agent}, {name}: {registered:?}\n{written}"
        );
        assert!(
            registered.values().all(|count| *count == 1),
            "{agent}, {name}:\n{written}"
        );
        let mut left = words(&written).into_iter();
        for word in words(text) {
            assert!(
                left.any(|there| there == word),
                "{agent}, {name}: {word} is gone:\n{written}"
            );
        }
        if text.contains("\r\n") && !text.replace("\r\n", "").contains('\n') {
            assert!(
                !written.replace("\r\n", "").contains('\n'),
                "{agent}, {name}: a bare newline"
            );
        }
        desk.must(&["install", "--agent", agent, "--yes"]);
        assert_eq!(desk.snapshot(), once, "{agent}, {name}: twice is not once");
        desk.uninstall(&[]);
        assert_eq!(desk.snapshot(), before, "{agent}, {name}: not as before");
    }
}

#[test]
fn claude_code_comes_and_goes_without_a_trace() {
    assert!(FILES.len() >= 30);
    round_trip("claude-code", ".claude/settings.json", 7);
}

#[test]
fn gemini_comes_and_goes_without_a_trace() {
    round_trip("gemini", ".gemini/settings.json", 5);
}

#[test]
fn codex_comes_and_goes_without_a_trace() {
    round_trip("codex", ".codex/hooks.json", 5);
}

#[test]
fn cursor_comes_and_goes_without_a_trace() {
    round_trip("cursor", ".cursor/hooks.json", 6);
}

#[test]
fn copilot_comes_and_goes_without_a_trace() {
    round_trip("copilot", ".github/hooks/tollgate.json", 6);
}

#[test]
fn where_there_was_no_file_there_is_none_after() {
    let desk = TestProject::with_tollgate_on_path();
    let before = desk.snapshot();
    let all = "claude-code,codex,gemini,copilot,cursor";
    desk.must(&["install", "--agent", all, "--yes"]);
    let once = desk.snapshot();
    desk.must(&["install", "--agent", all, "--yes"]);
    assert_eq!(desk.snapshot(), once);
    desk.uninstall(&[]);
    assert_eq!(desk.snapshot(), before);
}

#[test]
fn what_else_lies_in_a_directory_that_was_made_stays() {
    let desk = TestProject::with_tollgate_on_path();
    desk.must(&["install", "--agent", "cursor", "--yes"]);
    desk.file(".cursor/rules.md", "mine");
    desk.file(".tollgate/config.yml", "base_branch: main\n");
    desk.uninstall(&[]);
    assert_eq!(desk.text(".cursor/rules.md"), "mine");
    assert!(!desk.path(".cursor/hooks.json").exists());
    assert!(desk.path(".tollgate/config.yml").exists());
    assert!(!desk.path(".tollgate/local").exists());
}

/// Hooks that a person keeps in Codex's configuration.
const CONFIGURATIONS: &[&str] = &[
    "model = \"m\"\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"say done\"\n",
    "# mine\r\nmodel = \"m\" # best\r\n\r\n[[hooks.PreToolUse]]\r\nmatcher = \"Bash\"\r\n[[hooks.PreToolUse.hooks]]\r\ntype = \"command\"\r\ncommand = \"x\"\r\n\r\n[tui]\r\na = 1\r\n",
    "[[hooks.Stop]]\n  [[hooks.Stop.hooks]]\n  type = 'command'\n  command = '''say\ndone'''\n\n[hooks.state.\"a:b\"]\ntrusted_hash = \"x\"\n[features]\nhooks = true",
    "\u{feff}[[hooks.Stop]]\r\n[[hooks.Stop.hooks]]\r\ntype = \"command\"\r\ncommand = \"say done\"\r\n",
];

#[test]
fn hooks_in_codexs_configuration_are_added_to_and_given_back() {
    for text in CONFIGURATIONS {
        let desk = TestProject::with_tollgate_on_path();
        desk.file(".codex/config.toml", text);
        let before = desk.snapshot();
        desk.must(&["install", "--agent", "codex", "--yes"]);
        let written = desk.text(".codex/config.toml");
        assert!(!desk.path(".codex/hooks.json").exists());
        assert_eq!(desk.registered("config.toml").len(), 5, "{written}");
        for line in text.lines().filter(|line| !line.is_empty()) {
            assert!(written.contains(line), "{line} is gone:\n{written}");
        }
        let once = desk.snapshot();
        desk.must(&["install", "--agent", "codex", "--yes"]);
        assert_eq!(desk.snapshot(), once);
        desk.uninstall(&[]);
        assert_eq!(desk.snapshot(), before, "{text}");
    }
}

#[test]
fn a_comment_beside_a_command_that_is_replaced_stays() {
    let desk = TestProject::with_tollgate_on_path();
    desk.file(
        ".codex/config.toml",
        "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\n# above\ncommand = \"tollgate hook\" # beside\ntimeout = 5 # short\n",
    );
    desk.must(&["install", "--agent", "codex", "--yes"]);
    let text = desk.text(".codex/config.toml");
    for kept in [
        "# above\ncommand = \"tollgate hook --protocol codex\" # beside\n",
        "timeout = 5 # short\n",
    ] {
        assert!(text.contains(kept), "{text}");
    }
}

#[test]
fn hooks_in_one_line_of_codexs_configuration_are_not_said_to_be_registered() {
    let desk = TestProject::with_tollgate_on_path();
    let text =
        "hooks = { Notification = [{ hooks = [{ type = \"command\", command = \"x\" }] }] }\n";
    desk.file(".codex/config.toml", text);
    let ran = desk.tollgate(&["install", "--agent", "codex", "--yes"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.stderr.contains("[[hooks.PreToolUse]]") && ran.stderr.contains("config.toml"),
        "{ran:?}"
    );
    assert_eq!(desk.text(".codex/config.toml"), text);
    assert!(!desk.path(".codex/hooks.json").exists());
}

#[test]
fn a_configuration_without_hooks_is_left_alone() {
    let desk = TestProject::with_tollgate_on_path();
    desk.file(
        ".codex/config.toml",
        "model = \"m\"\n[hooks.state.x]\ntrusted_hash = \"h\"\n",
    );
    desk.must(&["install", "--agent", "codex", "--yes"]);
    assert!(desk.path(".codex/hooks.json").exists());
    assert!(!desk.text(".codex/config.toml").contains("tollgate"));
}
