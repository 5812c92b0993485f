//! What an install does not do, and how it says so: the file is as it was.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::project::TestProject;
use crate::terminal::Terminal;

const CLAUDE: &str = ".claude/settings.json";

#[test]
fn a_corrupt_file_is_named_with_its_place_and_left_alone() {
    for (text, place) in [
        ("{\n  \"a\": 1,\n  \"b\" 2\n}\n", "line 3, column 7"),
        ("{\n  \"hooks\": {\n", "line 2, column 12"),
        ("{ 'a': 1 }", "line 1, column 3"),
        ("[]", "is not a JSON object"),
        ("{ \"hooks\": [] }", "`hooks` is not an object"),
        (
            "{ \"hooks\": { \"Stop\": {} } }",
            "`hooks.Stop` is not a list",
        ),
    ] {
        let desk = TestProject::with_tollgate_on_path();
        desk.file(CLAUDE, text);
        let before = desk.snapshot();
        let ran = desk.tollgate(&["install", "--agent", "claude-code,cursor", "--yes"]);
        assert_eq!(ran.code, 2, "{text}: {ran:?}");
        assert!(ran.stderr.contains(place), "{text}: {ran:?}");
        assert!(ran.stderr.contains(CLAUDE), "{text}: {ran:?}");
        assert_eq!(desk.snapshot(), before, "{text}");
    }
    let desk = TestProject::with_tollgate_on_path();
    desk.file(CLAUDE, b"{\n \"a\": \"\xff\" }");
    let ran = desk.tollgate(&["install", "--agent", "claude-code", "--yes"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("line 2, column 8: it is not UTF-8"),
        "{ran:?}"
    );
}

#[test]
fn a_corrupt_configuration_of_codex_is_named_with_its_place() {
    let desk = TestProject::with_tollgate_on_path();
    desk.file(".codex/hooks.json", "{}");
    desk.file(".codex/config.toml", "[[hooks.Stop]]\na = \n");
    let list = desk.list();
    let problem = list["unreadable"][0]["problem"].as_str().unwrap();
    assert!(problem.starts_with("line 2, column"), "{problem}");
}

#[test]
fn a_link_is_written_through_with_its_mode() {
    let desk = TestProject::with_tollgate_on_path();
    let real = desk.home().join("dotfiles.json");
    crate::project::put(&real, "{}\n");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::fs::create_dir(desk.path(".claude")).unwrap();
    symlink("../../home/dotfiles.json", desk.path(CLAUDE)).unwrap();
    let before = desk.snapshot();
    let shown = desk.must(&["install", "--agent", "claude-code", "--dry-run"]);
    assert!(
        shown.stdout.contains("leads to") && shown.stdout.contains("dotfiles.json"),
        "{shown:?}"
    );
    desk.must(&["install", "--agent", "claude-code", "--yes"]);
    assert!(desk.path(CLAUDE).is_symlink());
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert!(std::fs::read_to_string(&real).unwrap().contains("tollgate"));
    desk.uninstall(&[]);
    assert_eq!(desk.snapshot(), before);
}

#[test]
fn what_is_no_file_is_refused() {
    let desk = TestProject::with_tollgate_on_path();
    std::fs::create_dir(desk.path(".claude")).unwrap();
    symlink("nowhere.json", desk.path(CLAUDE)).unwrap();
    let ran = desk.tollgate(&["install", "--agent", "claude-code", "--yes"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("broken symbolic link"),
        "{ran:?}"
    );

    let desk = TestProject::with_tollgate_on_path();
    std::fs::create_dir_all(desk.path(CLAUDE)).unwrap();
    let ran = desk.tollgate(&["install", "--agent", "claude-code", "--yes"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("a directory"),
        "{ran:?}"
    );
}

#[test]
fn nobody_is_asked_where_nobody_can_answer() {
    let desk = TestProject::with_tollgate_on_path();
    desk.file(CLAUDE, "{}");
    let before = desk.snapshot();
    let ran = desk.tollgate(&["install", "--agent", "claude-code"]);
    assert!(ran.code == 2 && ran.stderr.contains("--yes"), "{ran:?}");
    assert!(ran.stderr.contains("+  \"hooks\": {"), "{ran:?}");
    assert_eq!(desk.snapshot(), before);
}

#[test]
fn at_a_terminal_the_change_is_shown_and_asked_for() {
    let desk = TestProject::with_tollgate_on_path();
    desk.file(CLAUDE, "{}\n");
    let before = desk.snapshot();
    for answer in ["n", "what?"] {
        let mut terminal = Terminal::start(&desk.command(&["install", "--agent", "claude-code"]));
        let (screen, code) = terminal
            .shows("Change these settings? [Y/n] ")
            .types(answer)
            .ends();
        assert!(
            code == 1 && screen.contains("nothing was changed"),
            "{screen}"
        );
        assert!(screen.contains("+  \"hooks\": {"), "{screen}");
        assert_eq!(desk.snapshot(), before);
    }
    let mut terminal = Terminal::start(&desk.command(&["install", "--agent", "claude-code"]));
    let (screen, code) = terminal
        .shows("Change these settings? [Y/n] ")
        .types("")
        .ends();
    assert!(
        code == 0 && screen.contains("Claude Code is registered"),
        "{screen}"
    );
    assert_eq!(desk.registered(CLAUDE).len(), 7);
    let mut terminal = Terminal::start(&desk.command(&["uninstall"]));
    // To give protection up takes a yes.
    let question = "Remove Tollgate from these settings? [y/N] ";
    let (screen, code) = terminal.shows(question).types("").ends();
    assert_eq!(code, 1, "{screen}");
    assert_eq!(desk.registered(CLAUDE).len(), 7);
    let mut terminal = Terminal::start(&desk.command(&["uninstall"]));
    let (screen, code) = terminal.shows(question).types("yes").ends();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(desk.snapshot(), before);
}

#[test]
fn a_dry_run_shows_a_diff_and_changes_nothing() {
    let desk = TestProject::with_tollgate_on_path();
    desk.file(CLAUDE, "{\n  \"a\": 1\n}\n");
    let before = desk.snapshot();
    let ran = desk.must(&["install", "--agent", "claude-code", "--dry-run"]);
    assert!(
        ran.stdout
            .starts_with("--- .claude/settings.json\n+++ .claude/settings.json\n@@"),
        "{ran:?}"
    );
    assert!(
        ran.stdout
            .contains("-  \"a\": 1\n+  \"a\": 1,\n+  \"hooks\": {\n"),
        "{ran:?}"
    );
    assert_eq!(desk.snapshot(), before);
    desk.must(&["install", "--agent", "claude-code", "--yes"]);
    let installed = desk.snapshot();
    let ran = desk.must(&["uninstall", "--dry-run"]);
    assert!(ran.stdout.contains("-  \"hooks\": {"), "{ran:?}");
    assert_eq!(desk.snapshot(), installed);
}

#[test]
fn an_agent_does_not_remove_its_own_guard() {
    let desk = TestProject::with_tollgate_on_path().env("CLAUDECODE", "1");
    desk.must(&["install", "--agent", "claude-code", "--yes"]);
    let (screen, code) = Terminal::start(&desk.command(&["uninstall", "--yes"])).ends();
    assert!(
        code == 2 && screen.contains("CLAUDECODE is set"),
        "{screen}"
    );
    assert_eq!(desk.registered(CLAUDE).len(), 7);
}

#[test]
#[cfg(target_os = "linux")]
fn taking_the_mark_out_of_the_environment_does_not_make_an_agent_a_person() {
    let desk = TestProject::with_tollgate_on_path();
    desk.must(&["install", "--agent", "claude-code", "--yes"]);
    for args in [&["--yes"] as &[&str], &["--git", "--yes"]] {
        let command = desk.command(&[&["uninstall"], args].concat());
        let mut shell = std::process::Command::new("sh");
        let line = format!(
            "env -u CLAUDECODE {} uninstall {}; echo",
            command.get_program().display(),
            args.join(" ")
        );
        shell.args(["-c", &line]).current_dir(desk.root());
        shell.envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        shell.env("CLAUDECODE", "1");
        let (screen, _) = Terminal::start(&shell).ends();
        assert!(screen.contains("CLAUDECODE is set in process"), "{screen}");
    }
    assert_eq!(desk.registered(CLAUDE).len(), 7);
}

#[test]
fn without_a_terminal_nothing_is_uninstalled_and_a_script_learns_what_to_do() {
    let desk = TestProject::with_tollgate_on_path();
    desk.must(&["install", "--agent", "claude-code", "--yes"]);
    for args in [&["uninstall", "--yes"] as &[&str], &["uninstall"]] {
        let ran = desk.tollgate(args);
        assert!(ran.code == 2 && ran.stdout.is_empty(), "{ran:?}");
        for part in ["for a person at a terminal", "tollgate uninstall --dry-run"] {
            assert!(ran.stderr.contains(part), "{part}: {ran:?}");
        }
    }
    assert_eq!(desk.registered(CLAUDE).len(), 7);
}

#[test]
fn a_program_that_would_not_be_recognised_is_refused() {
    let desk = TestProject::with_tollgate_on_path();
    for (command, said) in [
        ("/bin/sh", "recognised by"),
        ("tollgate-none", "no such program"),
        ("bin/tollgate", "no such program"),
    ] {
        let ran = desk.tollgate(&["install", "--agent", "codex", "--command", command, "--yes"]);
        assert!(ran.code == 2 && ran.stderr.contains(said), "{ran:?}");
    }
}

#[test]
fn without_a_home_it_says_so() {
    let desk = TestProject::with_tollgate_on_path();
    let mut command = desk.command(&[
        "install",
        "--agent",
        "claude-code",
        "--scope",
        "user",
        "--yes",
    ]);
    command.env_remove("HOME").env_remove("CLAUDE_CONFIG_DIR");
    let ran = crate::project::run(command, b"");
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("HOME is not set"), "{ran:?}");
}

#[test]
fn a_file_that_cannot_be_written_hides_nothing_of_the_others() {
    let desk = TestProject::with_tollgate_on_path();
    // Nothing can be written there, whoever asks.
    symlink("nowhere/else", desk.path(".cursor")).unwrap();
    let ran = desk.tollgate(&["install", "--agent", "claude-code,gemini,cursor", "--yes"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    for part in ["Claude Code is registered", "Gemini CLI is registered"] {
        assert!(ran.stdout.contains(part), "{part}: {ran:?}");
    }
    assert!(!ran.stdout.contains("Cursor"), "{ran:?}");
    assert!(ran.stderr.contains(".cursor/hooks.json: "), "{ran:?}");
    assert!(desk.text(CLAUDE).contains("tollgate"));
    desk.uninstall(&[]);
    assert!(!desk.path(CLAUDE).exists());
}
