//! The view in the terminal.

use std::process::Command;

use super::states;
use crate::project::TOLLGATE;
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

#[test]
fn without_colours_it_is_still_drawn_in_place() {
    let project = states::busy();
    let mut command = project.command(&["top"]);
    command.env("TERM", "xterm").env("NO_COLOR", "1");
    let mut terminal = Terminal::start_in(80, &command);
    terminal.shows("BG-001");
    project.file(".isdlc/state.json", "{}");
    let (text, code) = terminal.shows("none is running").presses("q").ends();
    assert_eq!(code, 0, "{text}");
    assert!(text.matches("\u{1b}[H").count() >= 2, "{text:?}");
    assert!(!text.contains("\u{1b}[1m"), "{text:?}");

    // What cannot move its cursor is shown the state of things once.
    command.env("TERM", "dumb");
    let (text, code) = Terminal::start(&command).ends();
    assert!(code == 0 && !text.contains('\u{1b}'), "{text:?}");
}
