//! `TestProject`, local and user; the agents that are found; double registrations.

use serde_json::json;

use crate::project::{TestProject, put};

#[test]
fn what_is_shared_names_the_program_and_what_is_ones_own_its_place() {
    let desk = TestProject::with_tollgate_on_path();
    let own = desk
        .command(&[])
        .get_program()
        .to_owned()
        .into_string()
        .unwrap();
    for (scope, file, program, args) in [
        (
            "project",
            ".claude/settings.json",
            "tollgate",
            json!(["hook"]),
        ),
        (
            "local",
            ".claude/settings.local.json",
            own.as_str(),
            json!(["hook"]),
        ),
        (
            "user",
            "home/.claude/settings.json",
            own.as_str(),
            json!(["hook", "--require-trust"]),
        ),
    ] {
        desk.install_for(scope);
        let list = desk.list();
        let found = list["registered"]
            .as_array()
            .unwrap()
            .iter()
            .find(|found| found["scope"] == scope);
        let found = found.unwrap();
        assert!(found["file"].as_str().unwrap().ends_with(file), "{found}");
        assert_eq!(
            (&found["program"], &found["args"]),
            (&program.into(), &args)
        );
    }
}

/// npm puts a script of Node on the path, which starts the program: no event should wait for Node, so
/// the program itself is registered.
#[test]
fn a_script_of_node_is_not_registered() {
    for scope in ["project", "local", "user"] {
        let desk = TestProject::empty();
        desk.program("tollgate", "#!/usr/bin/env node\n");
        let path = format!("{}:/usr/bin:/bin", desk.programs().display());
        let desk = desk.env("PATH", &path);
        desk.install_for(scope);
        let found = &desk.list()["registered"][0];
        assert_eq!(found["program"], crate::project::TOLLGATE, "{scope}");
    }
}

/// Copilot CLI gives `command` of these files to a shell and leaves `args` out: nothing that it
/// would lose may stand there.
#[test]
fn what_an_agent_without_arguments_would_lose_is_one_line_for_a_shell() {
    let desk = TestProject::with_tollgate_on_path();
    let odd = desk.home().join("a b/tollgate");
    std::fs::create_dir(odd.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(crate::project::TOLLGATE, &odd).unwrap();
    let odd = odd.to_str().unwrap();
    for (scope, command, expected) in [
        ("project", "tollgate", json!(["tollgate", ["hook"]])),
        (
            "local",
            odd,
            json!([
                format!("command -v '{odd}' >/dev/null || exit 0; exec '{odd}' hook"),
                null
            ]),
        ),
        (
            "user",
            "tollgate",
            json!([
                "command -v tollgate >/dev/null || exit 0; exec tollgate hook --require-trust",
                null
            ]),
        ),
    ] {
        let args = [
            "install",
            "--agent",
            "claude-code",
            "--scope",
            scope,
            "--command",
            command,
        ];
        desk.must(&[&args[..], &["--yes"]].concat());
        let place = if scope == "user" {
            desk.home()
        } else {
            desk.root().to_owned()
        };
        let local = if scope == "local" { ".local" } else { "" };
        let file = place.join(format!(".claude/settings{local}.json"));
        let settings: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let handler = &settings["hooks"]["Stop"][0]["hooks"][0];
        assert_eq!(
            json!([handler["command"], handler["args"]]),
            expected,
            "{scope}"
        );
    }
    assert_eq!(desk.registered("settings.local.json").len(), 7);
}

#[test]
fn a_persons_own_settings_come_and_go_too() {
    let desk = TestProject::with_tollgate_on_path();
    put(&desk.home().join(".claude/settings.json"), "{ \"a\": 1 }");
    put(&desk.home().join(".gemini/settings.json"), "// x\n{\n}\n");
    let before = desk.snapshot();
    let all = "claude-code,codex,gemini,copilot,cursor";
    desk.must(&["install", "--agent", all, "--scope", "user", "--yes"]);
    assert!(!desk.path(".tollgate").exists());
    for found in desk.list()["registered"].as_array().unwrap() {
        assert_eq!(found["requires_trust"], true, "{found}");
    }
    let screen = desk.uninstall(&[]);
    assert!(screen.contains("uninstall --scope user"), "{screen}");
    desk.uninstall(&["--scope", "user"]);
    let mut after = desk.snapshot();
    // The directories above a person's state are not ours to remove.
    after.retain(|path, _| !path.ends_with(".local") && !path.ends_with(".local/state"));
    assert_eq!(after, before);
}

#[test]
fn the_agents_own_variables_say_where_their_homes_are() {
    let desk = TestProject::with_tollgate_on_path();
    let home = desk.home();
    let place = |name: &str| home.join(name).display().to_string();
    let desk = TestProject::with_tollgate_on_path()
        .env("CODEX_HOME", &place("codex"))
        .env("CLAUDE_CONFIG_DIR", &place("claude"))
        .env("COPILOT_HOME", &place("copilot"))
        .env("GEMINI_CLI_HOME", &place("gemini"))
        .env("XDG_STATE_HOME", &place("state"));
    desk.must(&[
        "install",
        "--agent",
        "claude-code,codex,gemini,copilot",
        "--scope",
        "user",
        "--yes",
    ]);
    for file in [
        "codex/hooks.json",
        "claude/settings.json",
        "copilot/hooks/tollgate.json",
        "gemini/.gemini/settings.json",
        "state/tollgate/install",
    ] {
        assert!(home.join(file).exists(), "{file}");
    }
}

#[test]
fn the_agents_that_are_found_are_told() {
    let desk = TestProject::with_tollgate_on_path();
    let ran = desk.tollgate(&["install", "--yes"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("one of claude-code, codex"),
        "{ran:?}"
    );

    let desk = TestProject::with_tollgate_on_path();
    desk.file("CLAUDE.md", "x");
    desk.file(".github/copilot-instructions.md", "x");
    std::fs::create_dir(desk.home().join(".gemini")).unwrap();
    let ran = desk.must(&["install", "--yes"]);
    assert!(
        ran.stdout.contains("Claude Code is registered") && ran.stdout.contains("Gemini CLI"),
        "{ran:?}"
    );
    assert!(
        ran.stderr
            .contains("Copilot CLI is left out: it runs what Claude Code"),
        "{ran:?}"
    );
    assert!(!desk.path(".github/hooks").exists());
    assert!(!desk.path(".codex").exists());

    let ran = desk.must(&["install", "--scope", "local", "--yes"]);
    assert!(
        ran.stderr
            .contains("Gemini CLI is left out: it has no `local` settings"),
        "{ran:?}"
    );
}

#[test]
fn an_agent_without_such_settings_is_refused_by_name() {
    let desk = TestProject::with_tollgate_on_path();
    let ran = desk.tollgate(&["install", "--agent", "cursor", "--scope", "local", "--yes"]);
    assert!(
        ran.code == 2
            && ran
                .stderr
                .contains("Cursor has no settings for the scope `local`"),
        "{ran:?}"
    );
}

#[test]
fn what_runs_twice_or_not_at_all_is_said() {
    let desk = TestProject::with_tollgate_on_path();
    desk.must(&["install", "--agent", "claude-code", "--yes"]);
    let ran = desk.must(&["install", "--agent", "copilot", "--yes"]);
    assert!(
        ran.stderr.contains("Copilot CLI runs Tollgate twice"),
        "{ran:?}"
    );
    let ran = desk.install_for("user");
    assert!(
        ran.stderr.contains("Claude Code runs Tollgate twice"),
        "{ran:?}"
    );

    let desk = TestProject::with_tollgate_on_path();
    desk.file(".claude/settings.json", "{ \"disableAllHooks\": true }");
    let ran = desk.must(&["install", "--agent", "claude-code", "--yes"]);
    assert!(
        ran.stderr
            .contains("`disableAllHooks` in .claude/settings.json switches them off"),
        "{ran:?}"
    );
    assert_eq!(desk.list()["switched_off"][0]["key"], "disableAllHooks");
}

#[test]
fn with_the_plugin_nothing_is_registered_beside_it() {
    let desk = TestProject::with_tollgate_on_path();
    desk.file(
        ".claude/settings.json",
        "{ \"enabledPlugins\": { \"taskie@tollgate\": true } }",
    );
    let ran = desk.tollgate(&["install", "--yes"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("enables the plugin"),
        "{ran:?}"
    );
    assert_eq!(desk.tollgate(&["install", "--list"]).code, 0);
}

#[test]
fn what_the_agent_still_needs_is_said() {
    for (agent, need) in [
        ("codex", "`/hooks`"),
        ("gemini", "trust the folder"),
        ("copilot", "trust the folder"),
        ("cursor", "workspace"),
        ("claude-code", "`/hooks`"),
    ] {
        let ran =
            TestProject::with_tollgate_on_path().must(&["install", "--agent", agent, "--yes"]);
        assert!(ran.stdout.contains(need), "{agent}: {ran:?}");
    }
}

#[test]
fn from_a_subdirectory_the_project_is_meant() {
    let desk = TestProject::with_tollgate_on_path();
    crate::project::git(desk.root(), &["init", "-q"]);
    let below = desk.path("src/deep");
    std::fs::create_dir_all(&below).unwrap();
    let mut command = desk.command(&["install", "--agent", "claude-code", "--yes"]);
    command.current_dir(&below);
    assert_eq!(crate::project::run(command, b"").code, 0);
    assert!(desk.path(".claude/settings.json").exists());
    let hidden = crate::project::git(
        desk.root(),
        &["status", "--porcelain", "--untracked-files=all"],
    );
    assert_eq!(hidden, "?? .claude/settings.json");
}
