//! What a person changed between install and uninstall stays theirs.

use serde_json::{Value, json};

use crate::project::{TestProject, put};
use crate::terminal::Terminal;

const CLAUDE: &str = ".claude/settings.json";

const MINE: &str = "{\n  // mine\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }\n    ]\n  }\n}\n";

fn parse(text: &str) -> Value {
    let plain: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    serde_json::from_str(&plain.join("\n")).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn an_edited_file_loses_only_what_is_tollgates() {
    let desk = TestProject::with_tollgate_on_path();
    let path = desk.file(CLAUDE, MINE);
    desk.must(&["install", "--agent", "claude-code", "--yes"]);
    put(&path, desk.text(CLAUDE).replace("\"opus\"", "\"sonnet\""));
    let screen = desk.uninstall(&[]);
    assert!(screen.contains("changed since the install"), "{screen}");
    assert_eq!(desk.text(CLAUDE), MINE.replace("\"opus\"", "\"sonnet\""));
    assert!(!desk.path(".tollgate").exists());
}

#[test]
fn a_made_file_that_got_company_stays_with_the_company_only() {
    for (extra, left) in [("\"model\": \"opus\",", true), ("", false)] {
        let desk = TestProject::with_tollgate_on_path();
        desk.must(&["install", "--agent", "claude-code", "--yes"]);
        let path = desk.path(CLAUDE);
        put(
            &path,
            desk.text(CLAUDE).replacen('{', &format!("{{ {extra}"), 1),
        );
        desk.uninstall(&[]);
        assert_eq!(path.exists(), left);
        if left {
            assert_eq!(parse(&desk.text(CLAUDE)), json!({ "model": "opus" }));
        }
    }
}

#[test]
fn another_command_replaces_the_old_one_in_place() {
    let desk = TestProject::with_tollgate_on_path();
    let old = MINE.replace(
        "    ]\n",
        "    ],\n    \"PreToolUse\": [\n      // the guard\n      { \"matcher\": \"Bash\", \"hooks\": [{ \"type\": \"command\", \"command\": \"/old/place/tollgate hook\", \"timeout\": 7 }] }\n    ]\n",
    );
    desk.file(CLAUDE, &old);
    let ran = desk.must(&["install", "--agent", "claude-code", "--yes"]);
    assert!(
        ran.stderr.contains("PreToolUse keeps its matcher \"Bash\""),
        "{ran:?}"
    );
    let text = desk.text(CLAUDE);
    assert!(
        text.contains("// the guard") && !text.contains("/old/place"),
        "{text}"
    );
    let pre = parse(&text)["hooks"]["PreToolUse"].clone();
    assert_eq!(pre.as_array().unwrap().len(), 1, "{text}");
    let handler = &pre[0]["hooks"][0];
    assert_eq!(handler["command"], "tollgate");
    assert_eq!(handler["args"], json!(["hook"]));
    assert_eq!(handler["timeout"], 7, "the person's timeout stays");
    // Taken out again, the hand-made registration of Tollgate is gone with the rest.
    desk.uninstall(&[]);
    let mut expected = parse(MINE);
    expected["hooks"]["PreToolUse"] = json!([]);
    assert_eq!(parse(&desk.text(CLAUDE)), expected);
    assert!(
        desk.text(CLAUDE).contains("// the guard"),
        "a comment is never ours"
    );
    assert!(desk.registered(CLAUDE).is_empty());
}

/// An agent takes a group without its list of hooks for a mistake in the whole file.
#[test]
fn a_group_that_a_person_wrote_into_keeps_an_empty_list() {
    let desk = TestProject::with_tollgate_on_path();
    desk.must(&["install", "--agent", "claude-code", "--yes"]);
    let path = desk.path(CLAUDE);
    let text = desk.text(CLAUDE);
    let text = text.replacen("\"matcher\"", "// mine\n        \"matcher\"", 1);
    let (first, rest) = text.split_once("\"PostToolUse\"").unwrap();
    let rest = rest.replacen("\"matcher\"", "\"description\": \"why\", \"matcher\"", 1);
    put(&path, format!("{first}\"PostToolUse\"{rest}"));
    desk.uninstall(&[]);
    let left = desk.text(CLAUDE);
    assert!(left.contains("// mine"), "{left}");
    assert_eq!(
        parse(&left),
        json!({ "hooks": {
            "PreToolUse": [{ "matcher": "*", "hooks": [] }],
            "PostToolUse": [{ "description": "why", "matcher": "*", "hooks": [] }],
        } })
    );
    assert!(desk.registered(CLAUDE).is_empty());
}

#[test]
fn a_line_that_runs_something_else_too_is_a_persons_own() {
    let line = "./notify.sh; cd . && tollgate hook";
    let mine = MINE.replace("say done", line);
    let desk = TestProject::with_tollgate_on_path();
    desk.file(CLAUDE, &mine);
    let ran = desk.must(&["install", "--agent", "claude-code", "--yes"]);
    assert!(ran.stderr.contains("Stop also runs ./notify.sh"), "{ran:?}");
    let text = desk.text(CLAUDE);
    assert!(text.contains(line), "{text}");
    assert_eq!(desk.registered(CLAUDE)["Stop"], 1, "{text}");
    let (screen, code) = Terminal::start(&desk.command(&["uninstall", "--yes"])).ends();
    assert_eq!(code, 2, "{screen}");
    assert!(screen.contains("./notify.sh in one line"), "{screen}");
    assert_eq!(desk.text(CLAUDE), text);
    put(
        &desk.path(CLAUDE),
        text.replace("; cd . && tollgate hook", ""),
    );
    desk.uninstall(&[]);
    assert_eq!(
        parse(&desk.text(CLAUDE)),
        parse(&MINE.replace("say done", "./notify.sh"))
    );
    // What only leads to Tollgate is no company.
    let desk = TestProject::with_tollgate_on_path();
    desk.file(CLAUDE, MINE.replace("say done", "cd . && tollgate hook"));
    desk.must(&["install", "--agent", "claude-code", "--yes"]);
    assert!(!desk.text(CLAUDE).contains("cd . &&"));
}

#[test]
fn a_moved_project_is_still_given_back() {
    let desk = TestProject::with_tollgate_on_path();
    desk.file(CLAUDE, MINE);
    desk.must(&["install", "--agent", "claude-code,cursor", "--yes"]);
    let moved = desk.home().join("elsewhere");
    std::process::Command::new("mv")
        .args([desk.root(), &moved])
        .status()
        .unwrap();
    std::fs::create_dir(desk.root()).unwrap();
    let mut command = desk.command(&["uninstall", "--yes"]);
    command.current_dir(&moved);
    let (screen, code) = Terminal::start(&command).ends();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(std::fs::read_to_string(moved.join(CLAUDE)).unwrap(), MINE);
    assert!(!moved.join(".cursor").exists());
}

#[test]
fn without_a_backup_only_ours_is_taken_out() {
    let desk = TestProject::with_tollgate_on_path();
    desk.file(CLAUDE, MINE);
    desk.must(&["install", "--agent", "claude-code", "--yes"]);
    std::fs::remove_dir_all(desk.path(".tollgate")).unwrap();
    desk.uninstall(&[]);
    assert_eq!(desk.text(CLAUDE), MINE);
}

#[test]
fn a_file_that_somebody_removed_is_not_made_again() {
    let desk = TestProject::with_tollgate_on_path();
    let before = desk.snapshot();
    let path = desk.file(CLAUDE, MINE);
    desk.must(&["install", "--agent", "claude-code", "--yes"]);
    std::fs::remove_file(&path).unwrap();
    std::fs::remove_dir(path.parent().unwrap()).unwrap();
    desk.uninstall(&[]);
    assert_eq!(desk.snapshot(), before);
}

/// Settings of the three originals, as they wrote them.
fn originals() -> String {
    let hook = |command: &str| json!({ "type": "command", "command": command, "timeout": 10000 });
    let isdlc = |name: &str| {
        hook(&format!(
            "node $CLAUDE_PROJECT_DIR/.claude/hooks/{name}.cjs"
        ))
    };
    let settings = json!({
        "model": "opus",
        "hooks": {
            "PreToolUse": [
                { "matcher": "Task", "hooks": [isdlc("dispatchers/pre-task-dispatcher")] },
                { "matcher": "Bash", "hooks": [isdlc("branch-guard"), hook("rtk rewrite"), isdlc("state-file-guard")] },
            ],
            "Stop": [
                { "hooks": [hook("agent-gauntlet stop-hook")] },
                { "hooks": [hook("bash ~/.claude/plugins/taskie/hooks/stop-hook.sh")] },
            ],
        },
    });
    serde_json::to_string_pretty(&settings).unwrap()
}

#[test]
fn the_originals_stay_unless_a_person_wants_them_replaced() {
    let desk = TestProject::with_tollgate_on_path();
    desk.file(CLAUDE, originals());
    let ran = desk.must(&["install", "--agent", "claude-code", "--yes"]);
    assert!(
        ran.stderr.contains("5 registrations of the originals"),
        "{ran:?}"
    );
    let text = desk.text(CLAUDE);
    assert!(
        text.contains("branch-guard.cjs") && text.contains("agent-gauntlet"),
        "{text}"
    );

    let desk = TestProject::with_tollgate_on_path();
    desk.file(CLAUDE, originals());
    let before = desk.snapshot();
    desk.must(&[
        "install",
        "--agent",
        "claude-code",
        "--replace-originals",
        "--yes",
    ]);
    let text = desk.text(CLAUDE);
    for gone in [".cjs", "agent-gauntlet", "stop-hook.sh"] {
        assert!(!text.contains(gone), "{gone}: {text}");
    }
    let settings = parse(&text);
    assert_eq!(
        settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"],
        "rtk rewrite"
    );
    assert_eq!(desk.registered(CLAUDE).len(), 7);
    desk.uninstall(&[]);
    assert_eq!(desk.snapshot(), before, "with everything that was replaced");
}

#[test]
fn single_guards_registered_by_hand_are_replaced_like_the_originals() {
    let by_hand = r#"{ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [
        { "type": "command", "command": "tollgate hook --guard branch-guard" }] }] } }"#;
    let desk = TestProject::with_tollgate_on_path();
    desk.file(CLAUDE, by_hand);
    desk.must(&["install", "--agent", "claude-code", "--yes"]);
    assert!(desk.text(CLAUDE).contains("--guard branch-guard"));
    desk.must(&[
        "install",
        "--agent",
        "claude-code",
        "--replace-originals",
        "--yes",
    ]);
    assert!(!desk.text(CLAUDE).contains("--guard"));
    assert_eq!(desk.registered(CLAUDE).len(), 7);
    // They are Tollgate's: an uninstall does not bring them back.
    desk.uninstall(&[]);
    assert_eq!(parse(&desk.text(CLAUDE)), json!({}));
}

/// Codex trusts a hook by its text: an option's older name is no reason to ask for trust again.
#[test]
fn a_registration_of_an_earlier_version_is_whole_and_stays_as_it_is() {
    for (agent, file) in [
        ("codex", ".codex/hooks.json"),
        ("gemini", ".gemini/settings.json"),
        ("copilot", ".github/hooks/tollgate.json"),
        ("cursor", ".cursor/hooks.json"),
    ] {
        let desk = TestProject::with_tollgate_on_path();
        let install = ["install", "--agent", agent, "--yes"];
        desk.must(&install);
        let earlier = desk.text(file).replace("--protocol", "--wire");
        desk.file(file, &earlier);
        let doctor = desk.tollgate(&["doctor"]);
        for name in ["event-missing", "program-", "canary", "registered-twice"] {
            assert!(!doctor.stdout.contains(name), "{agent} {doctor:?}");
        }
        desk.must(&install);
        assert_eq!(desk.text(file), earlier, "{agent}");
        // Another program is another line.
        let other = desk.program("tollgate-2", "");
        desk.must(&[&install[..], &["--command", other.to_str().unwrap()]].concat());
        assert!(!desk.text(file).contains("--wire"), "{agent}");
    }
}
