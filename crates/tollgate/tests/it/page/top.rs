//! The view in the terminal.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use super::states;
use crate::context::TOLLGATE;

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
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no `script` to play a terminal");
        return;
    }
    for key in [b"q", b"\x03"] {
        let project = states::busy();
        let inside = format!("stty rows 24 cols 80; {TOLLGATE} top; echo ended $?; stty -a");
        let mut child = Command::new("script")
            .args(["-qec", &inside, "/dev/null"])
            .current_dir(project.root())
            .env("TERM", "xterm")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = child.stdout.take().unwrap();
        let mut heard = Vec::new();
        let mut piece = [0; 4096];
        while !String::from_utf8_lossy(&heard).contains("BG-001") {
            let count = out.read(&mut piece).unwrap();
            assert!(count > 0, "{}", String::from_utf8_lossy(&heard));
            heard.extend_from_slice(&piece[..count]);
        }
        child.stdin.as_mut().unwrap().write_all(key).unwrap();
        out.read_to_end(&mut heard).unwrap();
        child.wait().unwrap();
        let text = String::from_utf8_lossy(&heard);
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
