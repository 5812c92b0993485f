//! SFG-004: an agent does not take Tollgate out of the settings that register it, and is not kept
//! from changing the rest of them.

use serde_json::{Value, json};

use crate::events::bash;
use crate::project::TestProject;
use crate::project::{Run, run};
use crate::terminal::Terminal;

const BLOCKED: &str = "This would remove Tollgate from ";
const CLAUDE: &str = ".claude/settings.json";
const SETTINGS: &str = r#"{
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "./mine.sh" }] }
    ]
  }
}
"#;

/// A project in whose settings Tollgate was registered beside somebody else's hook.
fn registered(agent: &str, scope: &str) -> TestProject {
    let desk = TestProject::with_tollgate_on_path();
    desk.file(".tollgate/config.yml", "");
    desk.file(CLAUDE, SETTINGS);
    desk.must(&["install", "--agent", agent, "--scope", scope, "--yes"]);
    desk
}

impl TestProject {
    fn decides(&self, event: &Value) -> Run {
        let command = self.command(&["hook", "--guard", "state-file-guard"]);
        run(command, event.to_string().as_bytes())
    }

    fn writes(&self, file: &str, content: &str) -> Run {
        self.decides(&json!({
            "tool_name": "Write", "tool_input": { "file_path": file, "content": content },
        }))
    }

    fn edits(&self, file: &str, old: &str, new: &str) -> Run {
        self.decides(&json!({
            "tool_name": "Edit",
            "tool_input": { "file_path": file, "old_string": old, "new_string": new },
        }))
    }

    fn patches(&self, body: &str) -> Run {
        let patch = format!("*** Begin Patch\n{body}*** End Patch\n");
        self.decides(&json!({ "tool_name": "apply_patch", "tool_input": { "command": patch } }))
    }
}

#[test]
fn a_write_without_the_registrations_is_blocked_and_says_what_to_do() {
    let desk = registered("claude-code", "project");
    let reason = desk.writes(CLAUDE, SETTINGS).blocks(BLOCKED);
    for part in [
        "from .claude/settings.json: the registrations for PreToolUse and 6 more would be gone",
        "in a terminal of their own, `tollgate uninstall` removes it",
        "`tollgate allow SFG-004 --once",
        "Blocked file: .claude/settings.json",
    ] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
    let whole = desk.text(CLAUDE);
    let absolute = desk.path(CLAUDE);
    for broken in [
        "",
        "{}",
        "no JSON",
        &whole.replace("\"hook\"", "\"version\""),
    ] {
        desk.writes(absolute.to_str().unwrap(), broken)
            .blocks(BLOCKED);
    }
    let journal = desk.text(".tollgate/local/journal.jsonl");
    assert!(journal.contains(r#""code":"SFG-004""#), "{journal}");
}

#[test]
fn a_write_that_keeps_the_registrations_is_fine() {
    let desk = registered("claude-code", "project");
    let whole = desk.text(CLAUDE);
    for fine in [
        whole.clone(),
        whole.replace("opus", "sonnet"),
        whole.replace("./mine.sh", "./other.sh"),
        serde_json::from_str::<Value>(&whole).unwrap().to_string(),
    ] {
        assert!(fine.contains("tollgate"), "{fine}");
        desk.writes(CLAUDE, &fine).says_nothing();
    }
}

#[test]
fn one_registration_is_enough_and_a_narrower_one_is_none() {
    let desk = registered("claude-code", "project");
    let whole: Value = serde_json::from_str(&desk.text(CLAUDE)).unwrap();
    for event in ["Stop", "ConfigChange"] {
        let mut without = whole.clone();
        without["hooks"].as_object_mut().unwrap().remove(event);
        let reason = desk.writes(CLAUDE, &without.to_string()).blocks(BLOCKED);
        let said = format!("the registration for {event} would be gone");
        assert!(reason.contains(&said), "{reason}");
    }
    for (old, new) in [
        (r#""matcher":"*""#, r#""matcher":"Nothing""#),
        (
            r#""args":["hook"]"#,
            r#""args":["hook","--guard","skill-validator"]"#,
        ),
        // Copilot CLI runs this one, and reads the same file.
        (
            r#""bash":"command -v tollgate >/dev/null || exit 0; exec tollgate hook""#,
            r#""bash":"exit 0""#,
        ),
    ] {
        let narrow = whole.to_string().replace(old, new);
        assert_ne!(narrow, whole.to_string());
        desk.writes(CLAUDE, &narrow).blocks(BLOCKED);
    }
    let wider = whole.to_string().replace(r#""matcher":"*","#, "");
    desk.writes(CLAUDE, &wider).says_nothing();
}

#[test]
fn an_edit_is_judged_by_what_it_leaves() {
    let desk = registered("claude-code", "project");
    desk.edits(CLAUDE, "\"opus\"", "\"sonnet\"").says_nothing();
    desk.edits(CLAUDE, "./mine.sh", "./other.sh").says_nothing();
    desk.edits(CLAUDE, "\"tollgate\"", "\"true\"")
        .blocks(BLOCKED);
    desk.edits(CLAUDE, "\"model\": \"opus\"", "\"disableAllHooks\": true")
        .blocks(BLOCKED);
    // A later member of the same name hides the list.
    desk.edits(CLAUDE, "\n}\n", ",\n  \"hooks\": {}\n}\n")
        .blocks(BLOCKED);
    // The tool will refuse this one itself.
    desk.edits(CLAUDE, "not in the file", "").says_nothing();
    let several = |new: &str| {
        desk.decides(
            &json!({ "tool_name": "MultiEdit", "tool_input": { "file_path": CLAUDE, "edits": [
            { "old_string": "opus", "new_string": "sonnet" },
            { "old_string": "\"Stop\"", "new_string": new },
        ] } }),
        )
    };
    several("\"Stop\"").says_nothing();
    several("\"Stopp\"").blocks(BLOCKED);
}

#[test]
fn a_switch_for_all_hooks_takes_tollgate_out_from_any_of_the_agents_files() {
    let desk = registered("claude-code", "project");
    let local = ".claude/settings.local.json";
    let reason = desk
        .writes(local, r#"{ "disableAllHooks": true }"#)
        .blocks(BLOCKED);
    assert!(
        reason.contains("`disableAllHooks` would switch off all hooks of Claude Code"),
        "{reason}"
    );
    let home = desk.home().join(CLAUDE);
    desk.writes(home.to_str().unwrap(), r#"{ "disableAllHooks": true }"#)
        .blocks(BLOCKED);
    desk.decides(&bash(
        r#"echo '{"disableAllHooks":true}' > .claude/settings.local.json"#,
    ))
    .blocks(BLOCKED);
    desk.writes(local, r#"{ "disableAllHooks": false }"#)
        .says_nothing();
    desk.writes(local, r#"{ "permissions": {} }"#)
        .says_nothing();
    // It is off already, by whomever.
    desk.file(local, r#"{ "disableAllHooks": true }"#);
    desk.writes(local, r#"{ "disableAllHooks": true, "a": 1 }"#)
        .says_nothing();

    let free = TestProject::with_tollgate_on_path();
    free.file(".tollgate/config.yml", "");
    free.writes(local, r#"{ "disableAllHooks": true }"#)
        .says_nothing();
}

#[test]
fn the_plugin_that_registers_it_stays_on() {
    let desk = TestProject::with_tollgate_on_path();
    desk.file(".tollgate/config.yml", "");
    desk.file(
        CLAUDE,
        r#"{ "enabledPlugins": { "taskie@tollgate": true } }"#,
    );
    let reason = desk
        .edits(CLAUDE, "tollgate\": true", "tollgate\": false")
        .blocks(BLOCKED);
    assert!(
        reason.contains("the plugin that registers it would be off"),
        "{reason}"
    );
    desk.decides(&bash(&format!("rm {CLAUDE}"))).blocks(BLOCKED);
    desk.edits(CLAUDE, "{ \"enabled", "{ \"model\": \"opus\", \"enabled")
        .says_nothing();
    let local = ".claude/settings.local.json";
    desk.writes(local, r#"{ "disableAllHooks": true }"#)
        .blocks(BLOCKED);
}

#[test]
fn every_agents_file_is_watched() {
    for (agent, scope, file, switch) in [
        ("codex", "project", ".codex/hooks.json", None),
        (
            "gemini",
            "project",
            ".gemini/settings.json",
            Some(r#"{"hooksConfig":{"enabled":false}}"#),
        ),
        ("copilot", "project", ".github/hooks/tollgate.json", None),
        (
            "copilot",
            "local",
            ".github/copilot/settings.local.json",
            Some(r#"{"disableAllHooks":true}"#),
        ),
        ("cursor", "project", ".cursor/hooks.json", None),
        (
            "claude-code",
            "local",
            ".claude/settings.local.json",
            Some(r#"{"disableAllHooks":true}"#),
        ),
    ] {
        let desk = registered(agent, scope);
        let whole = desk.text(file);
        desk.writes(file, &whole).says_nothing();
        desk.writes(file, "{}").blocks(BLOCKED);
        desk.decides(&bash(&format!("rm {file}"))).blocks(BLOCKED);
        desk.patches(&format!("*** Delete File: {file}\n"))
            .blocks(BLOCKED);
        if let Some(switch) = switch {
            let off = whole.replacen('{', &format!("{},", switch.trim_end_matches('}')), 1);
            let depth = switch.matches('}').count() - 1;
            let off = off.replacen("false,", &format!("false{},", "}".repeat(depth)), 1);
            desk.writes(file, &off).blocks(BLOCKED);
        }
    }
}

#[test]
fn the_persons_own_settings_are_watched_too() {
    let desk = registered("claude-code", "user");
    let file = desk.home().join(CLAUDE);
    let file = file.to_str().unwrap();
    desk.writes(file, "{}").blocks(BLOCKED);
    desk.decides(&bash("rm -rf ~/.claude")).blocks(BLOCKED);
    // The project's own file holds nothing of Tollgate here.
    desk.writes(CLAUDE, "{}").says_nothing();
    desk.decides(&bash(&format!("rm {CLAUDE}"))).says_nothing();
}

#[test]
fn hooks_in_toml_and_the_switch_beside_them() {
    let desk = TestProject::with_tollgate_on_path();
    desk.file(".tollgate/config.yml", "");
    let file = ".codex/config.toml";
    desk.file(file, "model = \"x\"\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"mine\"\n");
    desk.must(&["install", "--agent", "codex", "--yes"]);
    let whole = desk.text(file);
    assert!(whole.contains("tollgate hook"), "{whole}");
    desk.patches(&format!(
        "*** Update File: {file}\n@@\n-model = \"x\"\n+model = \"y\"\n"
    ))
    .says_nothing();
    let line = whole
        .lines()
        .find(|line| line.contains("tollgate"))
        .unwrap();
    desk.patches(&format!(
        "*** Update File: {file}\n@@\n-{line}\n+command = \"true\"\n"
    ))
    .blocks(BLOCKED);
    desk.patches(&format!("*** Update File: {file}\n*** Move to: old.toml\n"))
        .blocks(BLOCKED);
    desk.patches(&format!(
        "*** Update File: {file}\n@@\n-model = \"x\"\n+features.hooks = false\n"
    ))
    .blocks(BLOCKED);
    // What does not fit is not known, and the tool refuses it itself.
    desk.patches(&format!("*** Update File: {file}\n@@\n-not there\n"))
        .says_nothing();
}

#[test]
fn commands_that_remove_move_or_overwrite_the_file_are_blocked() {
    let desk = registered("claude-code", "project");
    for command in [
        "rm .claude/settings.json",
        "rm -rf .claude",
        "cd .claude && rm settings.json",
        "mv .claude/settings.json /tmp/away.json",
        "mv .claude .off",
        "echo '{}' > .claude/settings.json",
        "cp /tmp/other.json .claude/settings.json",
        "jq 'del(.hooks)' .claude/settings.json > /tmp/x && mv /tmp/x .claude/settings.json",
        "sed -i /tollgate/d .claude/settings.json",
        "git rm -f .claude/settings.json",
        "python3 -c \"open('.claude/settings.json','w').write('{}')\"",
    ] {
        let reason = desk.decides(&bash(command)).blocks(BLOCKED);
        assert!(reason.contains("with the Write or Edit tools"), "{reason}");
        assert!(reason.contains(&format!("Command: {command}")), "{reason}");
    }
    for command in [
        "cat .claude/settings.json",
        "cp .claude/settings.json /tmp/copy.json",
        "git add .claude/settings.json && git commit -m 'Settings'",
        "git diff .claude/settings.json > /tmp/diff",
        "echo 'rm .claude/settings.json'",
        "rm -rf .claude/commands",
        "rm web/settings.json",
        "echo '{}' > .gemini/settings.json",
        "git stash",
        "git checkout .",
        "git switch main",
        "make",
    ] {
        desk.decides(&bash(command)).says_nothing();
    }
}

#[test]
fn modes_and_times_may_change_as_long_as_the_agent_can_read_the_file() {
    let desk = registered("claude-code", "project");
    for command in [
        "chmod 600 .claude/settings.json",
        "chmod -R go-rwx .claude",
        "chmod -w .claude/settings.json",
        "chgrp staff .claude/settings.json",
        "touch .claude/settings.json",
    ] {
        desk.decides(&bash(command)).says_nothing();
    }
    for command in [
        "chmod 000 .claude/settings.json",
        "chmod -R a-r .claude",
        "chmod u=,g=r .claude/settings.json",
        "chmod $MODE .claude/settings.json",
        "chmod 600 .claude/settings.json > .claude/settings.json",
    ] {
        desk.decides(&bash(command)).blocks(BLOCKED);
    }
}

#[test]
fn a_script_that_the_command_names_is_read() {
    let desk = registered("claude-code", "project");
    let scripts = [
        ("fix.sh", "#!/bin/sh\necho '{}' > .claude/settings.json\n"),
        (
            "reset.sh",
            "[ \"$1\" = all ] && rm -f .claude/settings.json\ntrue\n",
        ),
        ("show.sh", "cat .claude/settings.json\n"),
        ("mode.sh", "chmod 600 .claude/settings.json\n"),
        ("outer.sh", "sh ./fix.sh\n"),
        ("home.sh", "rm -f ~/.claude/settings.json\n"),
        (
            "package.json",
            r#"{"scripts":{"fix":"rm .claude/settings.json","show":"true"}}"#,
        ),
    ];
    for (name, text) in scripts {
        desk.file(name, text);
    }
    for command in [
        "sh fix.sh",
        "bash -x fix.sh 2>/dev/null",
        ". ./fix.sh",
        "sh reset.sh all",
        "sh outer.sh",
        "npm run fix",
        "echo 'rm .claude/settings.json' > new.sh; sh new.sh",
    ] {
        desk.decides(&bash(command)).blocks(BLOCKED);
    }
    for command in [
        "sh reset.sh",
        "sh show.sh",
        "sh mode.sh",
        "cat fix.sh",
        "npm run show",
        "sh missing.sh",
        // Nothing is registered there.
        "sh home.sh",
    ] {
        desk.decides(&bash(command)).says_nothing();
    }
    let desk = registered("claude-code", "user");
    desk.file("home.sh", "rm -f ~/.claude/settings.json\n");
    desk.decides(&bash("sh home.sh")).blocks(BLOCKED);
}

#[test]
fn a_new_file_and_a_removal_are_judged_whatever_tool_makes_them() {
    let desk = registered("claude-code", "project");
    let local = ".claude/settings.local.json";
    desk.edits(local, "", r#"{ "disableAllHooks": true }"#)
        .blocks(BLOCKED);
    desk.edits(local, "", r#"{ "permissions": {} }"#)
        .says_nothing();
    desk.decides(&json!({ "tool_name": "Delete", "tool_input": { "path": CLAUDE } }))
        .blocks(BLOCKED);
    desk.decides(&json!({ "tool_name": "Delete", "tool_input": { "path": local } }))
        .says_nothing();
    // The registration is found although the patch has other blanks.
    desk.patches(&format!(
        "*** Update File: {CLAUDE}\n@@\n-\"model\": \"opus\",\n+\"disableAllHooks\": true,\n"
    ))
    .blocks(BLOCKED);
}

#[test]
fn other_files_of_the_same_names_are_nobodys() {
    let desk = registered("claude-code", "project");
    let whole = desk.text(CLAUDE);
    for file in [
        "web/settings.json",
        "sub/.claude/settings.json",
        ".vscode/settings.json",
        "src/hooks/use.json",
        "config.toml",
    ] {
        desk.file(file, &whole);
        desk.writes(file, "{}").says_nothing();
        desk.decides(&bash(&format!("rm {file}"))).says_nothing();
    }
    // A link by another name leads to the same file.
    std::os::unix::fs::symlink(desk.path(CLAUDE), desk.path("link")).unwrap();
    desk.writes("link", "{}").blocks(BLOCKED);
}

#[test]
fn settings_that_cannot_be_read_are_not_kept_from_being_mended() {
    let desk = registered("claude-code", "project");
    let broken = desk.text(CLAUDE).replacen('{', "{,", 1);
    desk.file(CLAUDE, &broken);
    desk.writes(CLAUDE, SETTINGS).says_nothing();
}

#[test]
fn a_person_allows_it_once() {
    let desk = registered("claude-code", "project");
    let allow = [
        "allow",
        "SFG-004",
        "--once",
        "--reason",
        "moving to the plugin",
    ];
    let (screen, code) = Terminal::start(&desk.command(&allow)).retypes().ends();
    assert_eq!(code, 0, "{screen}");
    let ran = desk.writes(CLAUDE, SETTINGS).allows();
    assert!(ran.stderr.contains("moving to the plugin"), "{ran:?}");
    desk.writes(CLAUDE, SETTINGS).blocks(BLOCKED);
}

#[test]
fn explain_and_simulate_know_it() {
    let desk = registered("claude-code", "project");
    desk.writes(CLAUDE, SETTINGS).blocks(BLOCKED);
    let explained = desk.must(&["explain"]).stdout;
    for part in [
        "SFG-004",
        "It would have passed (tried) if",
        "next: only a person can go on",
    ] {
        assert!(explained.contains(part), "{part}: {explained}");
    }
    let event = bash("rm .claude/settings.json").to_string();
    desk.file("event.json", event);
    let simulated = desk.must(&["simulate", "event.json"]).stdout;
    assert!(
        simulated.contains("block  state-file-guard  SFG-004"),
        "{simulated}"
    );
}
