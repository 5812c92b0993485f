//! What each agent's file looks like: seconds or milliseconds, program or shell line, its own
//! names for the events.

use serde_json::Value;

use crate::project::TestProject;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The files that a fresh install makes, as they are kept beside this test.
const SHAPES: [(&str, &str, &str); 5] = [
    (
        "claude-code",
        ".claude/settings.json",
        include_str!("shapes/claude-code.json"),
    ),
    (
        "codex",
        ".codex/hooks.json",
        include_str!("shapes/codex.json"),
    ),
    (
        "gemini",
        ".gemini/settings.json",
        include_str!("shapes/gemini.json"),
    ),
    (
        "copilot",
        ".github/hooks/tollgate.json",
        include_str!("shapes/copilot.json"),
    ),
    (
        "cursor",
        ".cursor/hooks.json",
        include_str!("shapes/cursor.json"),
    ),
];

#[test]
fn every_agent_gets_its_own_shape() {
    for (agent, file, expected) in SHAPES {
        let desk = TestProject::with_tollgate_on_path();
        desk.must(&["install", "--agent", agent, "--yes"]);
        assert_eq!(desk.text(file), expected, "{agent}");
    }
}

#[test]
fn a_person_who_wants_it_strict_gets_it_where_the_agent_can() {
    let desk = TestProject::with_tollgate_on_path();
    let ran = desk.must(&[
        "install",
        "--agent",
        "claude-code,codex,cursor",
        "--strict",
        "--yes",
    ]);
    assert!(ran.stderr.contains("Codex has no strict mode"), "{ran:?}");
    let claude: Value = serde_json::from_str(&desk.text(".claude/settings.json")).unwrap();
    let hook = |event: &str| claude["hooks"][event][0]["hooks"][0]["onFailure"].clone();
    assert_eq!(
        (hook("PreToolUse"), hook("Stop")),
        ("block".into(), Value::Null)
    );
    let cursor: Value = serde_json::from_str(&desk.text(".cursor/hooks.json")).unwrap();
    assert_eq!(cursor["hooks"]["preToolUse"][0]["failClosed"], true);
    assert_eq!(cursor["hooks"]["stop"][0]["failClosed"], Value::Null);
}

#[test]
fn the_documented_sample_is_what_an_install_writes() {
    let page = std::fs::read_to_string(format!("{ROOT}/docs/install.md")).unwrap();
    let sample = page
        .split("```json\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let sample: Value = serde_json::from_str(sample.unwrap()).unwrap();
    let (_, _, written) = SHAPES[0];
    assert_eq!(sample, serde_json::from_str::<Value>(written).unwrap());
}

/// A plugin meets every project that is opened, like a person's own settings.
#[test]
fn the_plugin_registers_what_a_persons_own_settings_would() {
    let read = |name: &str| -> Value {
        let text = std::fs::read_to_string(format!("{ROOT}/{name}")).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let desk = TestProject::with_tollgate_on_path();
    let args = [
        "install",
        "--agent",
        "claude-code",
        "--scope",
        "user",
        "--command",
        "tollgate",
    ];
    desk.must(&[&args[..], &["--yes"]].concat());
    let own = std::fs::read_to_string(desk.home().join(".claude/settings.json")).unwrap();
    let own: Value = serde_json::from_str(&own).unwrap();
    assert_eq!(read("plugin/hooks/hooks.json")["hooks"], own["hooks"]);
    // The repository is a marketplace that offers it by its name.
    let market = read(".claude-plugin/marketplace.json");
    let offered = &market["plugins"][0];
    assert_eq!(offered["source"], "./plugin");
    assert_eq!(
        offered["name"],
        read("plugin/.claude-plugin/plugin.json")["name"]
    );
}

#[test]
fn the_registered_command_answers() {
    let desk = TestProject::with_tollgate_on_path();
    desk.must(&["install", "--agent", "claude-code", "--yes"]);
    let list = desk.list();
    let found = &list["registered"][0];
    assert_eq!(
        (&found["program"], &found["args"]),
        (&"tollgate".into(), &serde_json::json!(["hook"]))
    );
    // An agent that does not know `args` starts the bare program; that must not stop it.
    let event = br#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    for args in [&["hook"][..], &["hook", "--require-trust"], &[]] {
        crate::project::run(desk.command(args), event).says_nothing();
    }
}
