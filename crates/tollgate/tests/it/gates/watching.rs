//! A person watches a run on a terminal.

use super::{BAD, Gates, OK};
use crate::project::TOLLGATE;
use crate::terminal::Terminal;

#[test]
fn a_run_on_a_terminal_is_the_same_log_and_leaves_no_moving_line() {
    let gates = Gates::new(&[OK, BAD, ("long", "command: exit 1")]);
    let mut command = gates.command(&["run"]);
    command.env("TERM", "xterm");
    let (screen, code) = Terminal::start(&command).ends();
    assert_eq!(code, 1, "{screen}");
    // The end of the screen is what stays: the moving lines are above it, each wiped out.
    let (moved, stays) = screen.rsplit_once("RESULTS SUMMARY").unwrap();
    assert!(moved.contains("of 3 ended"), "{screen:?}");
    assert!(!stays.contains("ended"), "{screen:?}");
    assert!(stays.contains("Status: Failed\n"), "{stays:?}");
    let plain = anstream::adapter::strip_str(moved).to_string();
    for line in ["[START] check:src:bad\n", "[FAIL]  check:src:long ("] {
        assert!(plain.contains(line), "{line:?} is not in {plain:?}");
    }
}

#[test]
fn elsewhere_a_run_is_a_plain_log() {
    let gates = Gates::new(&[OK, BAD]);
    let run = gates.tollgate(&["run"]).exits(1);
    assert!(!run.stderr.contains('\u{1b}'), "{:?}", run.stderr);
    for line in [
        "[START] check:src:bad\n",
        "[PASS]  check:src:ok (",
        "Status: Failed\n",
    ] {
        assert!(run.stderr.contains(line), "{line:?}: {}", run.stderr);
    }
    assert!(!run.stderr.contains("of 2 ended"), "{}", run.stderr);
    assert_eq!(run.stdout, "");
}

#[test]
fn on_a_narrow_terminal_a_moving_line_is_one_line() {
    let name = "a-name-that-is-longer-than-forty-columns-are";
    let gates = Gates::new(&[(name, "command: exit 1")]);
    let mut command = gates.command(&["-c", "stty rows 24 cols 40; exec \"$0\" run", TOLLGATE]);
    command.env("TERM", "xterm");
    let mut shell = std::process::Command::new("sh");
    shell.args(command.get_args()).current_dir(gates.root());
    for (name, value) in command.get_envs() {
        shell.env(name, value.unwrap());
    }
    let (screen, code) = Terminal::start(&shell).ends();
    assert_eq!(code, 1, "{screen}");
    let plain = anstream::adapter::strip_str(&screen).to_string();
    let (moving, _) = plain.split_once("[START]").unwrap();
    assert!(moving.contains("check:src:a-name"), "{screen:?}");
    assert!(moving.contains('…'), "{screen:?}");
    assert!(!moving.contains(name), "{screen:?}");
}

#[test]
fn the_log_shows_a_failed_gate_as_failed() {
    let gates = Gates::new(&[OK, BAD]);
    gates.tollgate(&["run"]).exits(1);
    let mut command = gates.command(&["log"]);
    command.env("CLICOLOR_FORCE", "1");
    let run = crate::project::run(command, b"");
    let style = |gate: &str| {
        let line = run.stdout.lines().find(|line| line.contains(gate)).unwrap();
        let before = line.split("gate").next().unwrap();
        before.rsplit('\u{1b}').next().unwrap().to_owned()
    };
    assert_eq!(style("check:src:bad"), "[31m", "{run:?}");
    assert_eq!(style("check:src:ok"), "[32m", "{run:?}");
    assert!(
        run.stdout.lines().all(|line| line == line.trim_end()),
        "{run:?}"
    );
}
