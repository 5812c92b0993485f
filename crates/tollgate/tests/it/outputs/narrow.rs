//! Output where there is little: 60 columns, no UTF-8, no colours, no home, no disk to write to.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use unicode_width::UnicodeWidthStr as _;

use crate::project::{Run, TestProject, run, wait_until};
use crate::terminal::Terminal;

const COLUMNS: u16 = 60;

const TOML: &str = "\
[gates]\nbase = \"main\"\n[gates.lint]\nrun = \"true\"\n[gates.test]\n\
run = \"echo 'the sum of the first and the second amount is 4, and 5 was expected by this test'; exit 1\"\n\
[[rule]]\nid = \"migrations\"\ndeny = { write = [\"db/migrations/**\"] }\n\
reason = \"Applied migrations are history, and history is not to be changed by anybody.\"\n\
match = [\"echo x > db/migrations/1\"]\n";

/// What a person runs in the first hour. `init` is answered with no.
const COMMANDS: &[&[&str]] = &[
    &[],
    &["status"],
    &["run", "--all"],
    &["doctor"],
    &["rules", "list"],
    &["rules", "explain", "echo x > db/migrations/1"],
    &["explain", "BG-001"],
    &["guards"],
    &["guards", "branch-guard"],
    &["trust", "--show"],
    &["validate"],
    &["log"],
    &["phase", "complete", "--summary", "x"],
    &["allow", "BG-001"],
    &["install", "--list"],
];

fn project() -> TestProject {
    let project = TestProject::with_tollgate_on_path().with_only(&["git", "sh"]);
    let project = project.with_repository().with_toml(TOML);
    project.with_change()
}

/// The screen after a command, without what moves the cursor.
fn screen(command: &Command) -> String {
    let (screen, code) = Terminal::start_in(COLUMNS, command).ends();
    assert!((0..=2).contains(&code), "{command:?} {screen}");
    let screen = anstream::adapter::strip_str(&screen).to_string();
    assert!(!screen.contains("panicked"), "{command:?} {screen}");
    screen
}

#[track_caller]
fn fits(command: &Command, screen: &str) {
    for line in screen.lines() {
        let is_one_word = !line.trim().contains(' ');
        let is_typed = ["  tollgate ", "Usage: ", "    # "]
            .iter()
            .any(|start| line.starts_with(start));
        let fits = line.width() <= usize::from(COLUMNS) || is_one_word || is_typed;
        assert!(fits, "{:?}: {line:?}\n{screen}", command.get_args());
    }
}

#[test]
fn no_text_is_wider_than_a_terminal_of_60_columns() {
    let project = project();
    for words in COMMANDS {
        let command = project.command(words);
        fits(&command, &screen(&command));
    }
    for words in [&["--help"][..], &["run", "--help"], &["init", "--help"]] {
        let command = project.command(words);
        fits(&command, &screen(&command));
    }
    let fresh = TestProject::empty().with_repository();
    fresh.file(
        "Cargo.toml",
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n",
    );
    let command = fresh.command(&["init"]);
    let mut terminal = Terminal::start_in(COLUMNS, &command);
    let (screen, code) = terminal
        .shows("Write tollgate.toml? [Y/n] ")
        .types("n")
        .ends();
    assert_eq!(code, 0, "{screen}");
    fits(&command, &anstream::adapter::strip_str(&screen).to_string());
}

/// `LC_ALL` decides, then `LC_CTYPE`, then `LANG`; a machine that names no locale keeps the signs.
#[test]
fn without_utf_8_every_sign_is_ascii() {
    let project = project();
    for words in COMMANDS {
        let mut command = project.command(words);
        command.env("LC_ALL", "C").env("LANG", "en_GB.UTF-8");
        let shown = screen(&command);
        assert!(shown.is_ascii(), "{words:?} {shown}");
        let piped = run(command, b"");
        let both = format!("{}{}", piped.stdout, piped.stderr);
        assert!(both.is_ascii(), "{words:?} {both}");
    }
    let status = |name, locale| {
        project
            .command(&["status"])
            .env(name, locale)
            .output()
            .unwrap()
    };
    let has_signs = |name, locale| !status(name, locale).stdout.is_ascii();
    assert!(has_signs("LANG", "de_DE.UTF-8"));
    assert!(has_signs("LC_CTYPE", "C.utf8"));
    assert!(has_signs("LC_ALL", ""));
    assert!(!has_signs("LANG", "C"));
    assert!(!has_signs("LC_CTYPE", "en_US.ISO-8859-1"));
}

/// What programs read is not for a locale to change.
#[test]
fn json_is_the_same_in_every_locale() {
    let project = project();
    let guards = |locale| {
        let mut command = project.command(&["guards", "--json"]);
        command.env("LC_ALL", locale);
        run(command, b"").stdout
    };
    assert_eq!(guards("C"), guards("C.UTF-8"));
}

#[test]
fn no_colours_where_none_are_wanted() {
    let project = project();
    let colours = |words: &[&str], variable: Option<&str>| {
        let mut command = project.command(words);
        command.env("TERM", "xterm-256color");
        if let Some(variable) = variable {
            command.env(variable, "1");
        }
        let (screen, _) = Terminal::start(&command).ends();
        // A style ends with an m; what moves the cursor does not.
        screen.split('\u{1b}').skip(1).any(|escape| {
            let end = escape.find(|c: char| c.is_ascii_alphabetic());
            end.is_some_and(|end| escape.split_at(end).1.starts_with('m'))
        })
    };
    for words in [
        &["status"][..],
        &["doctor"],
        &["guards"],
        &["--help"],
        &["run", "--all"],
    ] {
        assert!(colours(words, None), "{words:?}");
        assert!(!colours(words, Some("NO_COLOR")), "{words:?}");
        let never = [&["--color", "never"], words].concat();
        assert!(!colours(&never, None), "{words:?}");
    }
}

#[test]
fn without_a_home_every_command_says_what_it_needs() {
    let project = project();
    let without_home = |words: &[&str]| {
        let mut command = project.command(words);
        command.env_remove("HOME");
        run(command, b"")
    };
    for words in COMMANDS {
        let ran = without_home(words);
        assert!((0..=2).contains(&ran.code), "{words:?} {ran:?}");
        assert!(!ran.stderr.contains("panicked"), "{words:?} {ran:?}");
    }
    for words in [
        &[
            "install",
            "--agent",
            "claude-code",
            "--scope",
            "user",
            "--yes",
        ][..],
        &["rules", "add", "git-safety", "--user"],
    ] {
        without_home(words)
            .exits(2)
            .says("HOME is not set")
            .says("hint: ");
    }
}

/// Runs a command where these directories cannot be written to; none where nothing may be mounted.
fn read_only(project: &TestProject, directories: &[&str], args: &[&str]) -> Option<Run> {
    let script = r#"
        while [ "$1" != -- ]; do
            mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 77
            shift
        done
        shift
        cd "$PWD" && exec "$@""#;
    let inner = project.command(args);
    let mut command = Command::new("unshare");
    command.args([
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        script,
        "sh",
    ]);
    command.args(
        directories
            .iter()
            .map(|directory| project.outside().join(directory)),
    );
    command
        .arg("--")
        .arg(inner.get_program())
        .args(inner.get_args());
    command.current_dir(project.root()).env_clear();
    let set = inner
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    command
        .envs(set)
        .env("PATH", "/usr/local/bin:/usr/bin:/bin");
    let ran = run(command, b"");
    if ran.code == 77 || ran.stderr.contains("unshare") {
        eprintln!("SKIPPED: nothing can be mounted here: {}", ran.stderr);
        return None;
    }
    Some(ran)
}

#[test]
fn a_directory_that_cannot_be_written_to_is_named() {
    let project = TestProject::empty()
        .with_repository()
        .with_toml(TOML)
        .with_change();
    let fresh = TestProject::empty().with_repository();
    fresh.file(
        "Cargo.toml",
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n",
    );
    std::fs::create_dir_all(project.home().join(".local/state")).unwrap();
    // Reading needs no room.
    for words in COMMANDS.iter().filter(|words| **words != ["run", "--all"]) {
        let Some(ran) = read_only(&project, &["project", "home"], words) else {
            return;
        };
        assert!((0..=2).contains(&ran.code), "{words:?} {ran:?}");
        assert!(!ran.stderr.contains("panicked"), "{words:?} {ran:?}");
    }
    let refused = |project: &TestProject, directories: &[&str], words: &[&str]| {
        let ran = read_only(project, directories, words).unwrap().exits(2);
        ran.says("error: ")
            .says("Read-only file system")
            .does_not_say("panicked");
    };
    refused(&project, &["project"], &["run"]);
    refused(
        &project,
        &["project"],
        &["install", "--agent", "claude-code", "--yes"],
    );
    refused(&fresh, &["project"], &["init", "--yes"]);
    // Without the state directory gates run, and what they came to cannot be believed later.
    let ran = read_only(&project, &["home"], &["run"]).unwrap();
    assert!([1, 2].contains(&ran.code), "{ran:?}");
    assert!(!ran.stderr.contains("panicked"), "{ran:?}");
}

/// A run whose gate has begun and does not end by itself.
fn running(project: &TestProject) -> Child {
    let mut command = project.command(&["run"]);
    command.process_group(0).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    wait_until("the gate begins", Duration::from_mins(1), || {
        project.exists("began")
    });
    child
}

#[test]
fn an_interrupted_run_ends_with_130_and_is_not_verified() {
    for whole_group in [false, true] {
        let gate = "[gates.slow]\nrun = \"touch began; exec sleep 600\"\n";
        let project = TestProject::empty()
            .with_repository()
            .with_toml(gate)
            .with_change();
        let child = running(&project);
        let pid = Pid::from_child(&child);
        if whole_group {
            kill_process_group(pid, Signal::INT).unwrap();
        } else {
            kill_process(pid, Signal::INT).unwrap();
        }
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(130), "{whole_group} {output:?}");
        super::filters(&project).bind(|| insta::assert_snapshot!("an_interrupted_run", said));
        project.tollgate(&["status", "--exit-code"]).exits(1);
    }
}
