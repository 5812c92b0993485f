//! `tollgate rules`.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::{MIGRATIONS, command, ruled};
use crate::project::{TestProject, run};
use crate::terminal::Terminal;

#[test]
fn list_counts_what_each_rule_did() {
    let project = ruled(MIGRATIONS);
    project
        .must(&["rules", "list"])
        .says("migrations  deny, enforce")
        .says("tollgate.toml:2")
        .says("never");
    project.hook(&command("rm db/migrations/1.sql")).denies();
    project.hook(&command("rm db/migrations/2.sql")).denies();
    project.must(&["rules", "list"]).says("fired 2×");
    let rules = project.must(&["rules", "list", "--json"]).json();
    assert_eq!(rules["rules"][0]["fired"], 2, "{rules}");
    ruled("")
        .must(&["rules", "list"])
        .says("There is no rule here");
}

#[test]
fn test_plays_the_examples_with_every_agents_tools() {
    let tested = ruled(MIGRATIONS).must(&["rules", "test", "--json"]).json();
    assert_eq!(tested["examples"], 3, "{tested}");
    assert!(tested["plays"].as_u64().unwrap() >= 15, "{tested}");
    assert_eq!(tested["failures"], json!([]));
}

#[test]
fn explain_shows_effects_and_rules() {
    let project = ruled(MIGRATIONS);
    project
        .must(&["rules", "explain", "cd db && rm migrations/1.sql"])
        .says("deleting")
        .says("RULE:migrations")
        .says("delete db/migrations/**")
        .says("instead");
    project
        .must(&["rules", "explain", "ls"])
        .says("No rule blocks it.");
    let explained = project
        .must(&["rules", "explain", "--json", "rm db/migrations/1.sql"])
        .json();
    assert_eq!(explained["rules"][0]["verdict"], "deny", "{explained}");
}

#[test]
fn new_writes_a_rule_with_examples_after_three_questions() {
    for (answers, part) in [
        (
            "db/migrations/**\nchange\nThey are history.; Add one.\n",
            "deny = { write = [\"db/migrations/**\"]",
        ),
        ("*.pem\nread\nSecret.\n", "deny = { read = [\"*.pem\"] }"),
        (
            "terraform destroy\nask\n\n",
            "ask = { run = [\"terraform destroy\"] }",
        ),
    ] {
        let project = TestProject::empty().on_branch("main");
        let made = run(project.command(&["rules", "new"]), answers.as_bytes());
        made.exits(0).says(part);
        assert!(project.read("tollgate.toml").contains(part));
        project.must(&["rules", "test"]).says("all as expected");
    }
    let project = TestProject::empty().on_branch("main");
    run(project.command(&["rules", "new"]), b"")
        .exits(2)
        .says("there is no answer");
}

/// A file or directory that is there is protected, however plain its name.
#[test]
fn new_takes_what_is_there_for_a_path() {
    for (what, pattern, removed) in [
        ("src", "src/**", "rm src/a.rs"),
        ("Makefile", "Makefile", "rm Makefile"),
        (
            "`docs/my notes.md`",
            "docs/my notes.md",
            "rm 'docs/my notes.md'",
        ),
    ] {
        let project = TestProject::empty().on_branch("main");
        for file in ["src/a.rs", "Makefile", "docs/my notes.md"] {
            project.file(file, "");
        }
        let answers = format!("{what}\n\nno\n");
        let made = run(project.command(&["rules", "new"]), answers.as_bytes());
        made.exits(0).says(&format!("write = [\"{pattern}\"]"));
        project.hook(&command(removed)).denies();
    }
    let project = TestProject::empty().on_branch("main");
    let answers = b"git commit -m 'x'\n\nno\n";
    run(project.command(&["rules", "new"]), answers)
        .exits(2)
        .says("leave out quotes");
}

/// At a terminal nothing is written before the rule was seen.
#[test]
fn new_asks_before_it_writes() {
    let project = TestProject::empty().on_branch("main");
    let mut terminal = Terminal::start(&project.command(&["rules", "new"]));
    terminal.shows("protect?").types("*.pem");
    terminal.shows("must an agent not do").types("");
    terminal.shows("Why").types("secret");
    let (screen, code) = terminal.shows("Write this rule? [Y/n] ").types("n").ends();
    assert_eq!(code, 1, "{screen}");
    assert!(!project.exists("tollgate.toml"), "{screen}");
}

#[test]
fn rules_are_written_for_everybody() {
    let project = TestProject::empty().on_branch("main");
    project.must(&["rules", "add", "git-safety"]);
    let metadata = project.path("tollgate.toml").metadata().unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o644);
}

#[test]
fn import_takes_over_what_effects_can_say_and_names_the_rest() {
    let project = ruled("");
    project.file("settings.json", r#"{"permissions":{"deny":["Bash(rm -rf:*)","Read(./.env)","mcp__a__b"],"allow":["Bash(ls)"]}}"#);
    project
        .must(&["rules", "import", "settings.json"])
        .says("2 rules imported")
        .says("left out: mcp__a__b");
    project.hook(&command("sudo rm -rf x")).denies();
    project.hook(&command("cat .env")).denies();
    project.file(
        "a.rules",
        "prefix_rule(pattern=[\"git\",\"push\"], decision=\"forbidden\")\n",
    );
    project.must(&["rules", "import", "a.rules"]);
    project.hook(&command("git push")).denies();
    project.file("b.txt", "hello");
    project
        .tollgate(&["rules", "import", "b.txt"])
        .exits(2)
        .says("the format is not known");
}

#[test]
fn export_says_how_much_an_agents_own_permissions_can() {
    let project = ruled(&format!(
        "{MIGRATIONS}[[rule]]\nid = \"tf\"\ndeny = {{ run = [\"terraform destroy\"] }}\n[[rule]]\nid = \"plan\"\ndeny = {{ run = [\"x\"] }}\nwhen = {{ phase = [\"plan\"] }}\n"
    ));
    let said = project.must(&["rules", "export", "--agent", "claude-code,codex,gemini"]);
    let said = said
        .says("Edit(db/migrations/**)")
        .says("Bash(terraform destroy:*)");
    let said = said
        .says("\"terraform\",\"destroy\"")
        .says("commandPrefix = [\"terraform destroy\"]");
    said.says("full             tf")
        .says("partial          migrations")
        .says("not expressible  plan");
    let settings = project
        .must(&["rules", "export", "--agent", "claude-code", "--print"])
        .json();
    assert!(
        settings["permissions"]["deny"].as_array().unwrap().len() >= 2,
        "{settings}"
    );
}

/// One line of a transcript of Claude Code.
fn claude_line(root: &std::path::Path, number: usize, command: &str) -> Value {
    json!({
        "type": "assistant", "sessionId": format!("s{}", number / 200), "cwd": root,
        "timestamp": jiff::Timestamp::now().to_string(),
        "message": { "role": "assistant", "content": [
            { "type": "tool_use", "id": format!("t{number}"), "name": "Bash", "input": { "command": command } },
        ] },
    })
}

#[test]
fn try_counts_what_rules_would_have_done_with_transcripts() {
    let project = ruled(&format!(
        "{MIGRATIONS}mode = \"watch\"\n[[rule]]\nid = \"never\"\ndeny = {{ run = [\"nothing\"] }}\n"
    ));
    let root = project.root();
    let mut text = String::new();
    for (number, command) in [
        "ls",
        "rm db/migrations/1.sql",
        "echo rm db/migrations/1.sql",
    ]
    .into_iter()
    .enumerate()
    {
        let _ = writeln!(text, "{}", claude_line(root, number, command));
    }
    project.file("t/claude.jsonl", &text);
    let codex = [
        json!({ "type": "session_meta", "payload": { "id": "c", "cwd": root } }),
        json!({ "type": "response_item", "payload": { "type": "function_call", "name": "shell", "call_id": "1", "arguments": "{\"command\":[\"bash\",\"-lc\",\"rm db/migrations/2.sql\"]}" } }),
        json!({ "type": "response_item", "payload": { "type": "function_call", "name": "exec_command", "call_id": "2", "arguments": "{\"cmd\":\"rm db/migrations/3.sql\"}" } }),
        json!({ "type": "response_item", "payload": { "type": "custom_tool_call", "name": "apply_patch", "call_id": "3", "input": "*** Begin Patch\n*** Delete File: db/migrations/4.sql\n*** End Patch\n" } }),
    ];
    let codex: Vec<_> = codex.iter().map(Value::to_string).collect();
    project.file("t/deep/codex.jsonl", codex.join("\n") + "\n");
    let said = project.must(&["rules", "try", "--replay", "t"]);
    said.says("6 calls of tools in 2 transcripts")
        .says("migrations  watch 4×")
        .says("never  never");
    let json = project
        .must(&["rules", "try", "--replay", "t", "--json"])
        .json();
    assert_eq!(json["rules"][0]["verdicts"]["watch"], 4, "{json}");
    project
        .tollgate(&["rules", "try", "--replay", "t", "--since", "x"])
        .exits(2)
        .says("for example 90s, 30m, 2h, 3d, 1w");
    project
        .tollgate(&["rules", "try", "--replay", "no"])
        .exits(2)
        .says("no such file");
}
