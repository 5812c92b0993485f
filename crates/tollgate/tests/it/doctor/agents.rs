//! Faults in what the agents are told.

use serde_json::json;

use super::Ward;

#[test]
fn not_installed() {
    let ward = Ward::empty();
    ward.file("CLAUDE.md", "");
    ward.has("not-installed");
    assert_eq!(ward.tollgate(&["install", "--yes"]).code, 0);
    ward.is_healthy();
}

#[test]
fn another_agent_of_the_project_is_not_told() {
    let ward = Ward::new();
    ward.file("GEMINI.md", "");
    ward.has("not-installed");
}

#[test]
fn an_agent_that_only_is_on_the_machine_is_no_finding() {
    let ward = Ward::new();
    ward.program("codex", "#!/bin/sh\n");
    ward.is_healthy();
}

#[test]
fn an_event_is_missing() {
    let ward = Ward::new();
    ward.tamper(|text| text.replace("\"Stop\"", "\"Notification\""));
    ward.has_and_repairs("event-missing");
}

/// As a version before it registered the end of a session: `--fix` adds it, and so does `install`.
#[test]
fn an_event_that_a_new_version_registers_is_missing() {
    let ward = Ward::new();
    let whole = ward.settings();
    let without = || {
        ward.tamper(|text| {
            let mut settings: serde_json::Value = serde_json::from_str(&text).unwrap();
            settings["hooks"]
                .as_object_mut()
                .unwrap()
                .remove("SessionEnd");
            serde_json::to_string_pretty(&settings).unwrap()
        });
    };
    without();
    let (report, _) = ward.report(&[]);
    let what = "does not register SessionEnd";
    assert!(
        report["findings"][0]["what"]
            .as_str()
            .unwrap()
            .contains(what),
        "{report:#}"
    );
    ward.has_and_repairs("event-missing");
    without();
    ward.must(&["install", "--agent", "claude-code", "--yes"]);
    ward.is_healthy();
    let same = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(same(&ward.settings()), same(&whole));
}

#[test]
fn the_program_is_gone() {
    let ward = Ward::new();
    ward.tamper(|text| text.replace("\"tollgate\"", "\"/nowhere/tollgate\""));
    ward.has_and_repairs("program-missing");
}

#[test]
fn the_program_is_of_another_version() {
    let ward = Ward::new();
    let other = ward.program("tollgate-old", "#!/bin/sh\n[ \"$1\" = --version ] && { echo tollgate 0.0.1; exit; }\nexec tollgate \"$@\"\n");
    ward.tamper(|text| text.replace("\"tollgate\"", &format!("{:?}", other.to_str().unwrap())));
    ward.has_and_repairs("program-version");
}

/// npm's command is a script that starts Node, and Node the program: an event would wait for both.
#[test]
fn the_program_is_started_by_node() {
    let ward = Ward::new();
    let shim = ward.program("tollgate-npm", "#!/usr/bin/env node\n");
    ward.program("node", "#!/bin/sh\nshift\nexec tollgate \"$@\"\n");
    ward.tamper(|text| text.replace("\"tollgate\"", &format!("{:?}", shim.to_str().unwrap())));
    ward.has_and_repairs("program-through-node");
}

#[test]
fn two_programs_on_the_path_that_are_not_the_same() {
    let ward = Ward::new();
    let old = ward.program("old/tollgate", "#!/bin/sh\necho tollgate 0.0.1\n");
    let path = format!(
        "{}:{}:/usr/bin:/bin",
        ward.programs().display(),
        old.parent().unwrap().display()
    );
    let ward = ward.env("PATH", &path);
    ward.has("two-on-path");
    let (report, _) = ward.report(&[]);
    let what = report["findings"][0]["what"].as_str().unwrap();
    assert!(what.contains("tollgate (this version), then "), "{what}");
    assert!(what.ends_with("old/tollgate (tollgate 0.0.1)"), "{what}");
    // The same one twice is no matter.
    std::fs::remove_file(&old).unwrap();
    std::os::unix::fs::symlink(crate::project::TOLLGATE, &old).unwrap();
    ward.is_healthy();
}

/// As versions before wrote it: an agent that takes a missing program for a no could do nothing on a
/// machine without Tollgate.
#[test]
fn a_registration_that_holds_up_whoever_lacks_the_program() {
    for (agent, file, key) in [
        ("gemini", ".gemini/settings.json", "command"),
        ("copilot", ".github/hooks/tollgate.json", "bash"),
    ] {
        let ward = Ward::empty();
        ward.must(&["install", "--agent", agent, "--yes"]);
        ward.is_healthy();
        let now = std::fs::read_to_string(ward.path(file)).unwrap();
        let lines = now
            .lines()
            .map(|line| match line.split_once(&format!("\"{key}\": ")) {
                Some((before, _)) => {
                    format!("{before}\"{key}\": \"tollgate hook --protocol {agent}\",")
                }
                None => line.to_owned(),
            });
        let older = lines.collect::<Vec<_>>().join("\n") + "\n";
        ward.file(file, &older);
        ward.has_and_repairs("registration-older");
        assert_eq!(std::fs::read_to_string(ward.path(file)).unwrap(), now);
        // Whoever is strict wants the no.
        ward.file(
            file,
            older.replace("tollgate hook", "tollgate hook --strict"),
        );
        let (report, _) = ward.report(&[]);
        assert!(
            !report.to_string().contains("registration-older"),
            "{report:#}"
        );
    }
}

#[test]
fn a_timeout_in_milliseconds() {
    let ward = Ward::new();
    ward.tamper(|text| text.replace("\"timeout\": 900", "\"timeout\": 900000"));
    ward.has_and_repairs("timeout-unit");
}

#[test]
fn a_timeout_in_seconds_where_milliseconds_are_meant() {
    let ward = Ward::empty();
    assert_eq!(
        ward.tollgate(&["install", "--agent", "gemini", "--yes"])
            .code,
        0
    );
    ward.is_healthy();
    let file = ward.path(".gemini/settings.json");
    let text = std::fs::read_to_string(file).unwrap();
    ward.file(".gemini/settings.json", text.replace("900000", "900"));
    ward.has_and_repairs("timeout-unit");
}

#[test]
fn registered_in_the_project_and_for_the_user() {
    let ward = Ward::new();
    ward.install_for("user");
    ward.has("registered-twice");
}

#[test]
fn registered_by_the_plugin_and_in_settings() {
    let ward = Ward::new();
    ward.at_home(
        ".claude/settings.json",
        r#"{"enabledPlugins":{"taskie@tollgate":true}}"#,
    );
    ward.has("registered-twice");
    // Both register all events, so it is said of the first.
    let (report, _) = ward.report(&[]);
    let what = "2 times at PreToolUse";
    assert!(
        report["findings"][0]["what"]
            .as_str()
            .unwrap()
            .contains(what),
        "{report:#}"
    );
}

#[test]
fn all_hooks_are_switched_off() {
    let ward = Ward::new();
    ward.at_home(".claude/settings.json", r#"{"disableAllHooks":true}"#);
    ward.has("hooks-off");
}

#[test]
fn settings_that_cannot_be_read() {
    let ward = Ward::new();
    ward.file(".claude/settings.local.json", "{ \"hooks\": ");
    ward.has("settings-unreadable");
}

#[test]
fn a_variable_that_silences_every_hook() {
    let ward = Ward::new();
    ward.file(
        ".claude/settings.local.json",
        r#"{"env":{"TASKIE_HOOK_SKIP":"true"}}"#,
    );
    ward.has("hooks-silenced");
}

/// Guards do not mind a mark that no Tollgate above confirms, so only the stops are named. Doctor is
/// above its own canary, but not above an agent, and so must not confirm it either.
#[test]
fn the_same_variable_in_the_environment() {
    for (mark, value) in [
        ("TOLLGATE_DEPTH", "1"),
        ("TASKIE_HOOK_SKIP", "true"),
        ("GAUNTLET_STOP_HOOK_ACTIVE", "1"),
    ] {
        let ward = Ward::new().env(mark, value);
        assert_eq!(ward.names(), ["hooks-silenced"], "{mark}");
    }
}

#[test]
fn a_mod_that_can_answer_first() {
    let ward = Ward::new();
    ward.file(
        ".claude/skills/x/hooks/hooks.json",
        r#"{"modules":["./register.js"]}"#,
    );
    ward.file(
        ".claude/skills/x/hooks/register.js",
        "export const register = (on) => on('tool.call', () => ({}));",
    );
    ward.has("mods");
    let said = ward.tollgate(&["doctor"]);
    said.says("the mod .claude/skills/x can answer tool calls before Tollgate's hooks");
}

#[test]
fn a_registration_for_all_projects_without_trust() {
    let ward = Ward::empty();
    ward.install_for("user");
    ward.is_healthy();
    let file = ward.home().join(".claude/settings.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let without = text.replace(" --require-trust", "");
    assert_ne!(text, without);
    ward.at_home(".claude/settings.json", &without);
    ward.has_and_repairs("trust-not-required");
}

#[test]
fn the_agent_starts_in_another_directory() {
    let ward = Ward::new();
    ward.file("deep/er/a.txt", "");
    let mut command = ward.command(&["doctor", "--json"]);
    command.current_dir(ward.path("deep/er"));
    let run = crate::project::run(command, b"");
    assert!(run.stdout.contains("other-directory"), "{run:?}");
    assert_eq!(run.code, 1);
}

#[test]
fn an_original_is_still_registered() {
    let ward = Ward::new();
    ward.file(
        ".claude/settings.local.json",
        json!({ "hooks": { "PreToolUse": [ { "matcher": "Bash", "hooks": [
            { "type": "command", "command": "node $CLAUDE_PROJECT_DIR/.claude/hooks/branch-guard.cjs" } ] } ] } })
        .to_string(),
    );
    ward.has("original-registered");
}

/// What is found because the person has not yet trusted the hooks: Codex asks for that.
fn distrust(agent: &str) -> Vec<String> {
    let codex = (agent == "codex").then(|| "agent-untrusted".to_owned());
    codex.into_iter().collect()
}

#[test]
fn a_canary_is_fired_for_every_agent() {
    for agent in ["claude-code", "codex", "gemini", "copilot", "cursor"] {
        let ward = Ward::empty();
        let run = ward.tollgate(&["install", "--agent", agent, "--yes"]);
        assert_eq!(run.code, 0, "{agent} {run:?}");
        let (report, _) = ward.report(&[]);
        assert_eq!(super::names(&report), distrust(agent), "{agent} {report:#}");
    }
}

#[test]
fn a_program_that_stops_nothing_is_found_by_the_canary() {
    for agent in ["claude-code", "codex", "gemini", "copilot", "cursor"] {
        let ward = Ward::empty();
        let lame = ward.program(
            "tollgate-lame",
            "#!/bin/sh\n[ \"$1\" = --version ] && echo tollgate 0.1.0\nexit 0\n",
        );
        let run = ward.tollgate(&[
            "install",
            "--agent",
            agent,
            "--yes",
            "--command",
            lame.to_str().unwrap(),
        ]);
        assert_eq!(run.code, 0, "{agent} {run:?}");
        let (report, _) = ward.report(&[]);
        let mut expected = distrust(agent);
        expected.push("canary".to_owned());
        assert_eq!(super::names(&report), expected, "{agent} {report:#}");
        let findings = report["findings"].as_array().unwrap();
        let what = findings.last().unwrap()["what"].as_str().unwrap();
        assert!(
            what.contains("allowed an event that it must block"),
            "{what}"
        );
    }
}

#[test]
fn a_program_of_the_project_is_not_started() {
    let ward = Ward::new();
    let program = ward.file("tools/tollgate", "#!/bin/sh\ntouch \"$0.ran\"\n");
    std::os::unix::fs::symlink(&program, ward.path("t")).unwrap();
    let mut permissions = program.metadata().unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    std::fs::set_permissions(&program, permissions).unwrap();
    ward.tamper(|text| text.replace("\"tollgate\"", &format!("{:?}", program.to_str().unwrap())));
    ward.has("program-in-project");
    assert!(!ward.path("tools/tollgate.ran").exists());
}

/// What a person chose for one event goes for the one that a repair adds, and stays where it is.
#[test]
fn a_repair_keeps_what_a_person_chose_for_the_hook() {
    let ward = Ward::empty();
    ward.must(&["install", "--agent", "claude-code", "--strict", "--yes"]);
    ward.tamper(|text| text.replace("hook --strict", "hook --strict --deadline 3s"));
    let before = ward.settings();
    assert!(before.contains("hook --strict --deadline 3s"), "{before}");
    ward.tamper(|text| text.replace("\"PostToolUseFailure\"", "\"Elsewhere\""));
    ward.has_and_repairs("event-missing");
    let settings: serde_json::Value = serde_json::from_str(&ward.settings()).unwrap();
    let lines: Vec<&str> = settings["hooks"]
        .as_object()
        .unwrap()
        .values()
        .map(|groups| groups[0]["hooks"][0]["command"].as_str().unwrap())
        .collect();
    assert_eq!(lines.len(), 8, "{lines:?}");
    for line in lines {
        assert!(line.ends_with("hook --strict --deadline 3s"), "{line}");
    }
    // A second install changes nothing either.
    let repaired = ward.settings();
    ward.must(&["install", "--agent", "claude-code", "--yes"]);
    assert_eq!(ward.settings(), repaired);
}

/// What a person chose besides the timeout is not given up for it.
#[test]
fn a_timeout_is_repaired_in_a_strict_registration_that_stays_strict() {
    let ward = Ward::empty();
    ward.must(&["install", "--agent", "claude-code", "--strict", "--yes"]);
    let before = ward.settings();
    assert!(before.contains("\"onFailure\""), "{before}");
    ward.tamper(|text| text.replace("\"timeout\": 900", "\"timeout\": 900000"));
    ward.has_and_repairs("timeout-unit");
    assert_eq!(ward.settings(), before);
}
