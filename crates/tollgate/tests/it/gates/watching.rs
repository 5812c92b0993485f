//! A person watches a run on a terminal.

use super::{BAD, Gates, OK};
use crate::terminal::Terminal;

#[test]
fn a_run_on_a_terminal_shows_what_fails_and_leaves_no_moving_line() {
    let long = format!("command: \"echo '{}'; exit 1\"", "0123456789".repeat(20));
    let gates = Gates::new(&[OK, BAD, ("long", &long)]);
    let mut command = gates.command(&["run"]);
    command.env("TERM", "xterm");
    let (screen, code) = Terminal::start(&command).ends();
    assert_eq!(code, 1, "{screen}");
    // The end of the screen is what stays: the moving lines are above it, each wiped out.
    let (moved, stays) = screen.rsplit_once("RESULTS SUMMARY").unwrap();
    assert!(moved.contains("of 3 ended"), "{screen:?}");
    assert!(!stays.contains("ended"), "{screen:?}");
    let plain = anstream::adapter::strip_str(stays).to_string();
    for line in [
        "  ✗ check:src:bad\n",
        "  ✗ check:src:long\n",
        "Status: Failed\n",
    ] {
        assert!(plain.contains(line), "{line:?} is not in {plain:?}");
    }
    // What a check prints is cut at the width of the terminal and does not spill over.
    let plain = anstream::adapter::strip_str(moved).to_string();
    let tail = plain.lines().find(|line| line.contains("│ 0123")).unwrap();
    assert!(tail.ends_with('…'), "{tail:?}");
    assert_eq!(tail.chars().count(), 80, "{tail:?}");
    assert!(plain.contains("│ boom"), "{plain:?}");
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
