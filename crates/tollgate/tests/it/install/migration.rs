//! Projects of the originals as their installers leave them: Tollgate takes the place of their hooks,
//! a day's work goes through it, and an uninstall gives every byte back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::events::{self, Event as _};
use crate::project::{MANIFEST, Run, TestProject, run, tasks};

/// One agent's session in a project, whose hooks run as its settings say.
struct Day {
    project: TestProject,
    /// All files before anything of Tollgate came.
    before: BTreeMap<PathBuf, (Vec<u8>, u32)>,
}

impl Day {
    /// Replaces the originals' hooks of Claude Code.
    fn begin(project: TestProject) -> Self {
        let before = project.snapshot();
        project.must(&[
            "install",
            "--agent",
            "claude-code",
            "--replace-originals",
            "--no-git-guard",
            "--yes",
        ]);
        for file in [".claude/settings.json", ".claude/settings.local.json"] {
            let text = project.read(file);
            for original in [".cjs", "agent-gauntlet", "taskie/hooks/"] {
                assert!(!text.contains(original), "{file}: {text}");
            }
        }
        Self { project, before }
    }

    /// What the registrations for an event answer, the first that says something; a tool's name
    /// decides as the agent's matchers do.
    fn event(&self, event: &Value) -> Run {
        let name = event["hook_event_name"].as_str().unwrap();
        let tool = event["tool_name"].as_str().unwrap_or_default();
        let settings: Value =
            serde_json::from_str(&self.project.read(".claude/settings.json")).unwrap();
        let mut answers = Vec::new();
        for group in settings["hooks"][name].as_array().into_iter().flatten() {
            let matcher = group["matcher"].as_str().unwrap_or("*");
            if !["*", "", tool].contains(&matcher) {
                continue;
            }
            for hook in group["hooks"].as_array().unwrap() {
                let args = hook["args"].as_array().into_iter().flatten();
                let args: Vec<&str> = args.map(|arg| arg.as_str().unwrap()).collect();
                let program = hook["command"].as_str().unwrap();
                let program = self.project.programs().join(program);
                let mut command = self.project.command_of(&program, &args);
                command.env("CLAUDE_PROJECT_DIR", self.project.root());
                answers.push(run(command, event.to_string().as_bytes()));
            }
        }
        assert_eq!(answers.len(), 1, "{name} {tool}: {settings:#}");
        let answer = answers.remove(0);
        assert_eq!(answer.code, 0, "{event}: {answer:?}");
        answer
    }

    /// An event of the day's session.
    fn sends(&self, event: Value) -> Value {
        let event = event
            .in_session("day")
            .in_directory(self.project.root())
            .with("transcript_path", "/t")
            .with("permission_mode", "default");
        let run = self.event(&event);
        serde_json::from_str(&run.stdout).unwrap_or_default()
    }

    #[track_caller]
    fn allows(&self, event: Value) {
        let answer = self.sends(event);
        let said = &answer["hookSpecificOutput"]["permissionDecision"];
        assert!(*said != "deny" && answer["decision"] != "block", "{answer}");
    }

    #[track_caller]
    fn denies(&self, event: Value, code: &str) {
        let answer = self.sends(event);
        let output = &answer["hookSpecificOutput"];
        assert_eq!(output["permissionDecision"], "deny", "{answer}");
        assert!(
            output["permissionDecisionReason"]
                .as_str()
                .unwrap()
                .contains(code),
            "{answer}"
        );
    }

    /// Takes Tollgate out. All is as it was, but for what the day's work and the hooks themselves
    /// wrote: these begin with one of `written`.
    #[track_caller]
    fn ends(self, written: &[&str]) -> TestProject {
        self.allows(events::named("SessionEnd").with("reason", "exit"));
        self.project.uninstall(&[]);
        let is_written = |path: &PathBuf| {
            let inside = path.strip_prefix(self.project.root());
            let kept = [".tollgate", ".git"];
            inside.is_ok_and(|inside| {
                inside == Path::new("")
                    || kept
                        .iter()
                        .chain(written)
                        .any(|begin| inside.starts_with(begin))
            }) || path.starts_with(self.project.home().join(".local"))
        };
        let mut after = self.project.snapshot();
        let mut before = self.before;
        after.retain(|path, _| !is_written(path));
        before.retain(|path, _| !is_written(path));
        let names = |all: &BTreeMap<PathBuf, _>| all.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&after), names(&before));
        for (path, file) in &before {
            assert_eq!(after.get(path), Some(file), "{}", path.display());
        }
        assert!(
            before
                .keys()
                .any(|path| path.starts_with(self.project.path(".claude")))
        );
        self.project
    }
}

/// A registration of the workflow's original.
fn isdlc(name: &str, timeout: u64) -> Value {
    let command = format!("node $CLAUDE_PROJECT_DIR/.claude/hooks/{name}.cjs");
    json!({ "type": "command", "command": command, "timeout": timeout })
}

/// The registrations of specification 000, 20 of them.
fn twenty() -> Value {
    let all = |names: &[&str], timeout| {
        names
            .iter()
            .map(|name| isdlc(name, timeout))
            .collect::<Value>()
    };
    json!({
        "PreToolUse": [
            { "matcher": "Task", "hooks": all(&["iteration-corridor", "skill-validator", "phase-loop-controller",
                "plan-surfacer", "phase-sequence-guard", "gate-blocker", "constitution-validator"], 10000) },
            { "matcher": "Skill", "hooks": all(&["iteration-corridor", "gate-blocker"], 10000) },
            { "matcher": "Bash", "hooks": all(&["branch-guard"], 10000) },
        ],
        "PostToolUse": [
            { "matcher": "Task", "hooks": all(&["log-skill-usage", "menu-tracker", "walkthrough-tracker",
                "discover-menu-guard"], 5000) },
            { "matcher": "Skill", "hooks": all(&["skill-delegation-enforcer"], 5000) },
            { "matcher": "Bash", "hooks": all(&["test-watcher", "review-reminder"], 5000) },
            { "matcher": "Write", "hooks": all(&["state-write-validator"], 5000) },
            { "matcher": "Edit", "hooks": all(&["state-write-validator"], 5000) },
        ],
        "Stop": [{ "hooks": all(&["delegation-gate"], 5000) }],
    })
}

/// Those of its later versions, which dispatch.
fn dispatchers() -> Value {
    let one = |matcher: &str, name: &str, timeout| json!({ "matcher": matcher, "hooks": [isdlc(name, timeout)] });
    json!({
        "PreToolUse": [
            one("Task", "dispatchers/pre-task-dispatcher", 15000),
            one("Skill", "dispatchers/pre-skill-dispatcher", 15000),
            { "matcher": "Bash", "hooks": [isdlc("branch-guard", 10000), isdlc("state-file-guard", 10000)] },
            one("Write", "explore-readonly-enforcer", 10000),
            one("Edit", "explore-readonly-enforcer", 10000),
            one("NotebookEdit", "explore-readonly-enforcer", 10000),
        ],
        "PostToolUse": [
            one("Task", "dispatchers/post-task-dispatcher", 10000),
            one("Skill", "skill-delegation-enforcer", 5000),
            one("Bash", "dispatchers/post-bash-dispatcher", 10000),
            one("Write", "dispatchers/post-write-edit-dispatcher", 10000),
            one("Edit", "dispatchers/post-write-edit-dispatcher", 10000),
        ],
        "Stop": [{ "hooks": [isdlc("delegation-gate", 5000)] }],
    })
}

/// What the workflow's installer leaves: settings, hooks, their configuration, the first state.
fn isdlc_project(hooks: &Value) -> TestProject {
    let project = TestProject::with_tollgate_on_path().on_branch("main");
    let settings = json!({
        "permissions": { "allow": ["Bash(npm test:*)"], "deny": [] },
        "hooks": hooks,
    });
    let text = serde_json::to_string_pretty(&settings).unwrap();
    project.file(".claude/settings.json", format!("{text}\n"));
    for name in [
        "branch-guard",
        "gate-blocker",
        "lib/common",
        "dispatchers/pre-task-dispatcher",
    ] {
        project.file(&format!(".claude/hooks/{name}.cjs"), "'use strict';\n");
    }
    project.file(".claude/hooks/config/skills-manifest.json", MANIFEST);
    project.file(
        ".claude/hooks/config/artifact-paths.json",
        r#"{"version":"1.0.0","phases":{}}"#,
    );
    project.file(
        ".claude/agents/05-software-developer.md",
        "---\nname: software-developer\n---\n",
    );
    project.file("docs/isdlc/constitution.md", "# Constitution\n");
    let state = json!({
        "framework_version": "0.1.0-alpha",
        "project": { "name": "p", "created": "2026-01-02T03:04:05.000Z", "is_new_project": false },
        "constitution": { "enforced": true, "path": "docs/isdlc/constitution.md", "validated_at": null },
        "skill_enforcement": { "enabled": true, "mode": "observe", "fail_behavior": "allow" },
        "iteration_enforcement": { "enabled": true },
        "skill_usage_log": [], "active_workflow": null, "workflow_history": [],
        "counters": { "next_req_id": 1, "next_bug_id": 1 },
        "current_phase": "01-requirements",
        "phases": { "01-requirements": { "status": "pending", "started": null } },
        "blockers": [], "active_agent": null, "history": [],
    });
    let text = serde_json::to_string_pretty(&state).unwrap();
    project.file(".isdlc/state.json", format!("{text}\n"));
    project
}

#[test]
fn a_project_of_the_workflows_original() {
    for hooks in [twenty(), dispatchers()] {
        let day = Day::begin(isdlc_project(&hooks));
        day.allows(events::named("SessionStart").with("source", "startup"));
        // Nothing runs yet: ordinary work.
        day.allows(events::bash("git status"));
        day.allows(events::task("software-developer", "Say hello"));
        day.allows(events::bash("npm test").printed("Tests: 3 passed, 3 total"));
        day.allows(events::stop());
        // A person starts a workflow, as the original's commands do.
        let path = day.project.path(".isdlc/state.json");
        let mut state: Value =
            serde_json::from_str(&day.project.read(".isdlc/state.json")).unwrap();
        assert_eq!(state["framework_version"], "0.1.0-alpha");
        state["current_phase"] = json!("06-implementation");
        state["active_workflow"] = json!({
            "type": "feature", "current_phase": "06-implementation", "current_phase_index": 0,
            "phases": ["06-implementation", "08-code-review"],
            "phase_status": { "06-implementation": "in_progress", "08-code-review": "pending" },
            "git_branch": { "name": "feature/REQ-0001-x", "status": "active" },
        });
        state["phases"]["06-implementation"] = json!({ "status": "in_progress" });
        day.project.file(
            ".isdlc/state.json",
            serde_json::to_string_pretty(&state).unwrap(),
        );
        day.allows(events::named("SessionStart").with("source", "resume"));
        day.project.git(&["branch", "feature/REQ-0001-x"]);
        // Commits go to the workflow's branch, the state is nobody's to write, phases have their order.
        day.denies(events::bash("git commit -m x"), "COMMIT TO MAIN BLOCKED");
        day.denies(
            events::bash(&format!("echo x > {}", path.display())),
            "state",
        );
        let delegation = || events::task("software-developer", "Phase key: 06-implementation");
        day.denies(delegation(), "TASK PLAN NOT GENERATED");
        day.project.file("docs/isdlc/tasks.md", "# Tasks\n");
        day.allows(delegation());
        day.project.git(&["checkout", "-q", "feature/REQ-0001-x"]);
        day.allows(events::bash("git commit -m x"));
        day.allows(events::bash("npm test").printed("Tests: 1 failed, 3 total"));
        day.allows(delegation().done("ok"));
        let after: Value = serde_json::from_str(&day.project.read(".isdlc/state.json")).unwrap();
        assert_eq!(after["counters"], state["counters"]);
        day.ends(&[".isdlc", "docs/isdlc/tasks.md"]);
    }
}

/// What `agent-gauntlet init` leaves, the stop hook included, which it writes to the local settings.
fn gauntlet_project() -> TestProject {
    let project = TestProject::with_tollgate_on_path().on_branch("main");
    project.file(
        ".gauntlet/config.yml",
        "base_branch: main\nlog_dir: gauntlet_logs\nallow_parallel: true\ncli:\n  default_preference:\n    - claude\n  check_usage_limit: false\nentry_points:\n  - path: \"src\"\n    checks:\n      - test\n",
    );
    project.file(
        ".gauntlet/checks/test.yml",
        "command: test -e fixed\nworking_directory: src\n",
    );
    project.file(
        ".gauntlet/reviews/code-quality.md",
        "---\nnum_reviews: 1\n---\n# Code quality\n",
    );
    project.file(".gauntlet/run_gauntlet.md", "# Run the gauntlet\n");
    std::fs::create_dir_all(project.path(".claude/commands")).unwrap();
    std::os::unix::fs::symlink(
        "../../.gauntlet/run_gauntlet.md",
        project.path(".claude/commands/gauntlet.md"),
    )
    .unwrap();
    project.file(".gemini/commands/gauntlet.toml", "prompt = \"run\"\n");
    project.file(
        ".claude/settings.local.json",
        "{\n  \"permissions\": {\n    \"allow\": [\"Bash(ls:*)\"]\n  },\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"agent-gauntlet stop-hook\",\n            \"timeout\": 300\n          }\n        ]\n      }\n    ]\n  }\n}\n",
    );
    project.at_home(
        ".config/agent-gauntlet/config.yml",
        "stop_hook:\n  run_interval_minutes: 0\n",
    );
    project.file(
        ".gitignore",
        "gauntlet_logs/\n.tollgate/\n.claude/settings.local.json\n",
    );
    project.commit("gauntlet");
    project
}

#[test]
fn a_project_of_the_gates_original() {
    let day = Day::begin(gauntlet_project());
    day.allows(events::named("SessionStart").with("source", "startup"));
    day.project.git(&["checkout", "-q", "-b", "work"]);
    day.project.file("src/a.txt", "a\n");
    day.allows(events::write(day.project.path("src/a.txt"), "a\n").done("ok"));
    let answer = day.sends(events::stop());
    assert_eq!(answer["decision"], "block", "{answer}");
    assert!(
        answer["reason"]
            .as_str()
            .unwrap()
            .contains("GAUNTLET FAILED"),
        "{answer}"
    );
    assert!(day.project.exists("gauntlet_logs/check_src_test.1.log"));
    day.project.file("src/fixed", "");
    day.allows(events::stop().flagged());
    let state: Value =
        serde_json::from_str(&day.project.read("gauntlet_logs/.execution_state")).unwrap();
    assert_eq!(state["status"], "passed", "{state}");
    let project = day.ends(&["gauntlet_logs", "src"]);
    assert!(
        project
            .read(".claude/settings.local.json")
            .contains("agent-gauntlet stop-hook")
    );
}

/// What the plan plugin's hook, registered by a person, and its actions leave.
fn taskie_project() -> TestProject {
    let project = TestProject::with_tollgate_on_path().on_branch("main");
    let hook = json!({
        "type": "command", "timeout": 600,
        "command": "bash $HOME/.claude/plugins/marketplaces/taskie/hooks/stop-hook.sh",
    });
    let settings = json!({ "hooks": { "Stop": [{ "hooks": [hook] }] } });
    project.file(
        ".claude/settings.json",
        serde_json::to_string_pretty(&settings).unwrap(),
    );
    let home = ".taskie/plans/cards";
    project.file(
        &format!("{home}/plan.md"),
        "# Plan\n\n## Overview\nCards.\n",
    );
    project.file(
        &format!("{home}/tasks.md"),
        tasks("| 1 | pending | high | one |\n"),
    );
    project.file(&format!("{home}/task-1.md"), "# Task\n");
    // As its prompts write it: the task is a number.
    project.file(
        &format!("{home}/state.json"),
        "{\n  \"max_reviews\": 8,\n  \"current_task\": 1,\n  \"phase\": \"complete-task\",\n  \"phase_iteration\": 0,\n  \"next_phase\": \"code-review\",\n  \"review_model\": \"opus\",\n  \"consecutive_clean\": 0,\n  \"tdd\": false\n}\n",
    );
    project.program(
        "claude",
        "#!/bin/sh\nfile=$(printf '%s\\n' \"$@\" | sed -n 's/.*Write your review to \\([^ ]*\\.md\\)\\..*/\\1/p')\necho '# Review' > \"$file\"\nprintf '{\"type\":\"result\",\"is_error\":false,\"structured_output\":{\"verdict\":\"PASS\"}}\\n'\n",
    );
    project
}

#[test]
fn a_project_of_the_plans_original() {
    let day = Day::begin(taskie_project());
    day.allows(events::named("SessionStart").with("source", "startup"));
    let answer = day.sends(events::stop());
    assert_eq!(answer["decision"], "block", "{answer}");
    assert!(
        answer["reason"]
            .as_str()
            .unwrap()
            .contains("task-1-review-1.md"),
        "{answer}"
    );
    day.project
        .file(".taskie/plans/cards/task-1-post-review-1.md", "# Fixed\n");
    day.allows(events::stop().flagged());
    let state: Value =
        serde_json::from_str(&day.project.read(".taskie/plans/cards/state.json")).unwrap();
    assert_eq!(
        (&state["next_phase"], &state["current_task"]),
        (&json!("all-code-review"), &json!(1))
    );
    day.ends(&[".taskie"]);
}

/// The original's plugin has the name of Tollgate's, from another marketplace: it is not Tollgate's.
#[test]
fn the_originals_plugin_is_not_taken_for_tollgates() {
    let project = TestProject::with_tollgate_on_path();
    project.file(
        ".claude/settings.json",
        "{ \"enabledPlugins\": { \"taskie@elsewhere\": true } }",
    );
    let ran = project.must(&["install", "--yes", "--no-git-guard"]);
    assert!(
        ran.stderr.contains("`/plugin disable taskie@elsewhere`"),
        "{ran:?}"
    );
    assert_eq!(project.registered(".claude/settings.json").len(), 7);
    // Tollgate's own registers itself, and is nobody to be named.
    let project = TestProject::with_tollgate_on_path();
    project.file(
        ".claude/settings.json",
        "{ \"enabledPlugins\": { \"taskie@tollgate\": true } }",
    );
    let ran = project.tollgate(&["install", "--yes", "--no-git-guard"]);
    assert!(!ran.stderr.contains("plugin disable"), "{ran:?}");
    assert!(project.registered(".claude/settings.json").is_empty());
}

/// Only what a person wants replaced goes: the local settings of the original stay otherwise.
#[test]
fn local_settings_of_the_original_stay_unless_they_are_to_be_replaced() {
    let project = gauntlet_project();
    let before = project.read(".claude/settings.local.json");
    project.must(&[
        "install",
        "--agent",
        "claude-code",
        "--no-git-guard",
        "--yes",
    ]);
    assert_eq!(project.read(".claude/settings.local.json"), before);
    let ran = project.must(&[
        "install",
        "--agent",
        "claude-code",
        "--replace-originals",
        "--no-git-guard",
        "--yes",
    ]);
    assert!(
        ran.stdout.contains("no longer runs the originals' hooks"),
        "{ran:?}"
    );
    let after: Value = serde_json::from_str(&project.read(".claude/settings.local.json")).unwrap();
    assert_eq!(after["permissions"], json!({ "allow": ["Bash(ls:*)"] }));
    assert!(!after.to_string().contains("agent-gauntlet"), "{after}");
}
