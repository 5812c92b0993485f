//! Whatever an agent named something, a terminal gets it as text: every command that shows what
//! was decided, and what it was decided about.

use serde_json::json;

use crate::page::states::{HOSTILE, hostile};

#[test]
fn no_command_lets_a_terminal_obey_what_an_agent_named() {
    let project = hostile();
    project.git(&["init", "-q"]);
    let journal = ".tollgate/local/journal.jsonl";
    // Changes of the state, and an entry that can be explained.
    let step = json!({ "path": [HOSTILE, "b"], "before": HOSTILE, "after": { HOSTILE: HOSTILE } });
    let pushed = json!({ "path": [HOSTILE], "pushed": HOSTILE });
    let change = json!({ "ts": "2026-02-08T09:00:00.000Z", "verdict": "record", "event": HOSTILE,
        "tool": HOSTILE, "session": HOSTILE, "reason": HOSTILE, "version": 1, "patch": [step, pushed],
        "undone": [step] });
    let blocked = json!({ "ts": "2026-02-08T09:00:00.000Z", "verdict": "block", "guard": "branch-guard",
        "code": "BG-001", "reason": HOSTILE, "session": HOSTILE, "agent": HOSTILE, "phase": HOSTILE,
        "wire": "claude", "event": "PreToolUse",
        "input": { "hook_event_name": "PreToolUse", "tool_name": HOSTILE, "tool_input": { HOSTILE: HOSTILE } } });
    let text = project.read(journal);
    project.file(journal, format!("{text}{change}\n{blocked}\n"));
    let plan = ".tollgate/plans/<b>bold<b>";
    project.file(
        &format!("{plan}/state.json"),
        json!({ "phase": "new-plan", "next_phase": HOSTILE }).to_string(),
    );
    project.file(&format!("{plan}/a\u{1b}]0;owned\u{7}.md"), "x");
    let shown = "\\u{1b}";
    for (args, names) in [
        (&["log"][..], true),
        (&["log", "--json"], false),
        (&["log", "--verify"], false),
        (&["explain"], true),
        (&["explain", "--json"], false),
        (&["status"], false),
        (&["status", "--json"], false),
        (&["statusline"], false),
        (&["top", "--once"], false),
        (&["state", "log"], true),
        (&["state", "log", "--json"], false),
        (&["state", "blame", HOSTILE], true),
        (&["state", "at", "1"], false),
        (&["allow", "--list"], true),
        (&["allow", "--list", "--json"], false),
        (&["workflow", "status"], true),
        (&["workflow", "audit"], true),
        (&["phase", "review"], false),
        (&["phase", "brief"], true),
        (&["phase", "begin"], false),
        (&["plan", "status"], true),
        (&["plan", "next"], true),
        (&["plan", "validate"], true),
        (&["plan", "review", "--dry-run"], true),
        (&["plan", "repair"], true),
        (&["plan", "release"], false),
        (&["simulate", "--tool", HOSTILE], true),
        (&["report", "--json"], false),
        (&["report", "--html"], true),
        (&["doctor"], false),
    ] {
        // What goes into a pipe is without colours, and without whatever looks like one.
        let mut coloured = project.command(args);
        coloured.env("CLICOLOR_FORCE", "1");
        for run in [
            project.run(args, b"{}"),
            crate::project::run(coloured, b"{}"),
        ] {
            for out in [&run.stdout, &run.stderr] {
                let out = colourless(out);
                let obeyed = out.chars().find(|c| c.is_control() && *c != '\n');
                assert_eq!(obeyed, None, "{args:?}: {out:?}");
                assert!(!out.contains('\u{202e}'), "{args:?}: {out:?}");
            }
            let all = format!("{}{}", run.stdout, run.stderr);
            assert!(
                !names || all.contains(shown),
                "{args:?} does not show it: {all}"
            );
        }
    }
}

#[test]
fn gates_are_listed_as_text_whatever_they_are_called() {
    let project = crate::project::TestProject::new();
    project.git(&["init", "-q"]);
    let name = "a\u{1b}]0;owned\u{7}";
    project.file(
        &format!(".gauntlet/checks/{name}.yml"),
        "command: \"true\"\n",
    );
    let config = json!({ "base_branch": "main", "entry_points": [{ "path": ".", "checks": [name] }, { "path": HOSTILE, "checks": [name] }] });
    project.file(".gauntlet/config.yml", config.to_string());
    for args in [
        &["list"][..],
        &["validate"],
        &["detect"],
        &["health"],
        &["run"],
    ] {
        let all = obeys_nothing(&project, args);
        assert!(all.contains("\\u{1b}") || args != ["list"], "{all}");
    }
}

/// Runs a command as for a terminal with colours, of which they are all it may obey. Returns what it
/// printed.
#[track_caller]
fn obeys_nothing(project: &crate::project::TestProject, args: &[&str]) -> String {
    let mut coloured = project.command(args);
    coloured.env("CLICOLOR_FORCE", "1");
    let run = crate::project::run(coloured, b"");
    for out in [&run.stdout, &run.stderr] {
        let out = colourless(out);
        let obeyed = out.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(obeyed, None, "{args:?}: {out:?}");
    }
    format!("{}{}", run.stdout, run.stderr)
}

#[test]
fn errors_quote_files_as_text() {
    let project = crate::project::TestProject::empty();
    project.git(&["init", "-q"]);
    project.file(
        ".tollgate/checks/a\u{1b}]0;owned\u{7}.yml",
        "command: 1\n\"\\e[2J\": 1\n",
    );
    project.file(
        ".tollgate/config.yml",
        "base_branch: main\nentry_points:\n  - path: \"x\\e]0;owned\\a\"\n    checks: [\"\\e[2J\"]\n",
    );
    project.file(
        ".claude/settings.json",
        "{ // \u{1b}]0;owned\u{7}\r\n  \"a\": 1\r\n}\r\n",
    );
    let hook = json!({ "type": "command", "command": "tollgate hook \u{1b}[2J" });
    let ours = json!([{ "matcher": "\u{1b}]0;owned\u{7}", "hooks": [hook] }]);
    project.file(
        ".gemini/settings.json",
        json!({ "hooks": { "BeforeTool": ours } }).to_string(),
    );
    for args in [
        &["validate"][..],
        &["list"],
        &["detect"],
        &["run"],
        &["health"],
        &["doctor"],
        &["status"],
        &["init", "--dry-run"],
        &["install", "--agent", "claude-code", "--dry-run"],
        &["install", "--agent", "claude-code"],
        &["install", "--agent", "gemini", "--dry-run"],
        &["install", "--list"],
    ] {
        let all = obeys_nothing(&project, args);
        let shown = all.contains("\\u{1b}") || args == ["init", "--dry-run"];
        assert!(shown, "{args:?} does not show it: {all}");
    }
}

/// A text without the colours that a command gives it. The hostile name has more than those.
fn colourless(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut left = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        match rest.strip_prefix('m') {
            Some(rest) => left.push_str(rest),
            None => left.extend(["\u{1b}[", part]),
        }
    }
    left
}
