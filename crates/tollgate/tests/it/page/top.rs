//! The view in the terminal.

use std::process::Command;

use super::states;
use crate::context::TOLLGATE;
use crate::terminal::Terminal;

#[test]
fn once_prints_what_is_going_on_within_80_by_24() {
    let run = states::busy().run(&["top", "--once"], b"");
    assert_eq!(run.code, 0, "{run:?}");
    for text in [
        "feature",
        "▶ 06-implementation",
        "running now",
        "invoice",
        "branch-guard BG-001",
    ] {
        assert!(run.stdout.contains(text), "{text}: {}", run.stdout);
    }
    for project in [
        states::busy(),
        states::long(),
        states::hostile(),
        states::empty(),
        states::broken(),
    ] {
        let run = project.run(&["top", "--once"], b"");
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.stdout.lines().count() <= 24, "{}", run.stdout);
        for line in run.stdout.lines() {
            assert!(line.chars().count() <= 80, "{line}");
            assert!(line.chars().all(|c| !c.is_control()), "{line:?}");
        }
    }
    let gates = states::failing();
    let run = gates.tollgate(&["top", "--once"]);
    assert!(run.stdout.contains("✗ check:src:loud"), "{run:?}");
    assert!(run.stdout.contains("left == right"), "{run:?}");
}

#[test]
fn it_quits_with_q_and_gives_the_terminal_back() {
    for key in ["q", "\u{3}"] {
        let project = states::busy();
        let inside = format!("stty rows 24 cols 80; {TOLLGATE} top; echo ended $?; stty -a");
        let mut shell = Command::new("sh");
        shell.args(["-c", &inside]).current_dir(project.root());
        shell.env("PATH", "/usr/bin:/bin").env("TERM", "xterm");
        let mut terminal = Terminal::start(&shell);
        let (text, _) = terminal.shows("BG-001").presses(key).ends();
        let (shown, after) = text.split_once("\u{1b}[?1049l").unwrap();
        assert!(
            shown.contains("\u{1b}[?1049h") && shown.contains("\u{1b}[?25h"),
            "{text}"
        );
        assert!(after.contains("ended 0"), "{after}");
        assert!(
            after.contains(" icanon") && after.contains(" echo "),
            "{after}"
        );
    }
}
