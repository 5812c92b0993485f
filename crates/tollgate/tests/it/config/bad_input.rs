//! Files that are no files, or not what they seem: each is a clear error, and nothing hangs.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use super::Own;
use crate::project::{TestProject, pipe};

const GATE: &str = "[gates]\nbase = \"main\"\n[gates.a]\nrun = \"test -e fixed\"\n";

/// What `run`, `validate` and a stop make of it, in time.
#[track_caller]
fn is_refused(own: &Own, what: &str) {
    let begun = Instant::now();
    own.tollgate(&["run"])
        .exits(2)
        .says("error: tollgate")
        .says(what);
    own.tollgate(&["validate"]).exits(1).says(what);
    let said = own.lets_go(false);
    assert!(
        said.contains("NOT verified") && said.contains(what),
        "{said}"
    );
    for args in [&["status"][..], &["doctor"], &["list"], &["config", "show"]] {
        own.tollgate(args);
    }
    assert!(begun.elapsed() < Duration::from_mins(1));
}

#[test]
fn a_huge_file() {
    is_refused(
        &Own::new(&format!("# {}\n{GATE}", "x".repeat(1 << 20))),
        "larger than 1048576 bytes",
    );
}

#[test]
fn not_text() {
    let own = Own::new("");
    own.file("tollgate.toml", b"[gates]\nbase = \"\xff\"\n");
    is_refused(&own, "not UTF-8 text");
    let own = Own::new("");
    own.file("tollgate.toml", b"[gates]\0\nbase = \"x\"\n");
    is_refused(&own, "not valid TOML");
}

#[test]
fn a_directory() {
    let own = Own::new("");
    std::fs::remove_file(own.path("tollgate.toml")).unwrap();
    std::fs::create_dir(own.path("tollgate.toml")).unwrap();
    is_refused(&own, "it is a directory, not a regular file");
}

#[test]
fn a_pipe() {
    let own = Own::new("");
    std::fs::remove_file(own.path("tollgate.toml")).unwrap();
    pipe(&own.path("tollgate.toml"));
    is_refused(&own, "it is a named pipe, not a regular file");
    let own = Own::new(GATE);
    pipe(&own.path("tollgate.local.toml"));
    own.tollgate(&["run"])
        .exits(2)
        .says("tollgate.local.toml: it is a named pipe");
    own.blocks(false);
}

#[test]
fn a_link_that_leads_nowhere() {
    let own = Own::new("");
    std::fs::remove_file(own.path("tollgate.toml")).unwrap();
    std::os::unix::fs::symlink("gone", own.path("tollgate.toml")).unwrap();
    is_refused(&own, "it is a symbolic link, not a regular file");
}

#[test]
fn unreadable() {
    let own = Own::new(GATE);
    let path = own.path("tollgate.toml");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        return; // The administrator reads everything.
    }
    is_refused(&own, "it cannot be read");
}

#[test]
fn a_mark_in_front_and_other_line_ends() {
    let own = Own::new(&format!("\u{feff}{}", GATE.replace('\n', "\r\n")));
    own.must(&["validate"]);
    own.tollgate(&["run"]).exits(1).says("fail  a");
    let own = Own::new(&format!(
        "\u{feff}{}oops = 1\r\n",
        GATE.replace('\n', "\r\n")
    ));
    own.tollgate(&["run"])
        .exits(2)
        .says("tollgate.toml:5:1: gates.a.oops: unknown key");
}

#[test]
fn duplicate_keys() {
    let own = Own::new(&format!("{GATE}run = \"true\"\n"));
    is_refused(
        &own,
        "tollgate.toml:5:1: not valid TOML: the key `run` is defined twice",
    );
    let own = Own::new(&format!("{GATE}[gates.a]\n"));
    is_refused(&own, "not valid TOML: the key `a` is defined twice");
}

#[test]
fn hostile_patterns() {
    let braces = "{a,b,c,d,e,f,g,h}".repeat(10);
    for pattern in [
        braces.as_str(),
        "../../etc/**",
        "[",
        "{a",
        "!x",
        "",
        &"*".repeat(5000),
    ] {
        let own = Own::new(&format!("{GATE}inputs = ['{pattern}']\n"));
        own.tollgate(&["run"]).exits(2).says("gates.a.inputs[0]");
    }
    // Slow ones are read fast.
    let stars = "**/*a*".repeat(50);
    let own = Own::new(&format!("{GATE}inputs = ['{stars}']\n"));
    own.file("a/".repeat(60).trim_end_matches('/'), "x");
    let begun = Instant::now();
    own.tollgate(&["detect"]);
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn deep_and_wide() {
    let deep = format!("x = {}{}", "[".repeat(10_000), "]".repeat(10_000));
    is_refused(&Own::new(&deep), "not valid TOML");
    let keys = (0..5000).map(|n| format!("[gates.g{n}]\nrun = \"true\"\n"));
    let own = Own::new(&keys.collect::<String>());
    own.must(&["validate"]);
}

#[test]
fn what_controls_a_terminal_is_not_printed() {
    let own = Own::new("[gates.\"a\\u001b[2J\"]\nrun = \"\\u001b[2J\"\noops = \"x\"\n");
    let run = own.tollgate(&["validate"]).exits(1);
    assert!(!run.stderr.contains('\u{1b}'), "{run:?}");
}

#[test]
fn a_project_without_git() {
    let project = TestProject::empty().with_toml(GATE);
    project.must(&["validate"]);
    project.must(&["list"]);
    project.must(&["config", "show"]);
    project.tollgate(&["run"]).exits(2).says("git");
}

/// A file that is replaced again and again is read whole, whichever of the two it is.
#[test]
#[expect(clippy::disallowed_methods, reason = "an editor renames, too")]
fn replaced_while_it_is_read() {
    let own = Own::new(GATE);
    let other = format!("{GATE}timeout = \"1m\"\n# {}\n", "x".repeat(100_000));
    let root = own.root().to_owned();
    let (done, ended) = std::sync::mpsc::channel::<()>();
    let writer = std::thread::spawn(move || {
        let mut turn = 0;
        while ended.try_recv().is_err() {
            turn += 1;
            let text = if turn % 2 == 0 { GATE } else { other.as_str() };
            crate::project::put(&root.join("next"), text);
            std::fs::rename(root.join("next"), root.join("tollgate.toml")).unwrap();
        }
    });
    for _ in 0..30 {
        own.must(&["validate"]);
    }
    done.send(()).unwrap();
    writer.join().unwrap();
}

#[test]
fn a_prompt_file_that_is_none() {
    let own = Own::with("[gates.q]\nprompt_file = \"look.md\"\nreviewers = [\"claude\"]");
    pipe(&own.path("look.md"));
    own.tollgate(&["run"])
        .exits(2)
        .says("look.md: it is a named pipe");
    std::fs::remove_file(own.path("look.md")).unwrap();
    own.file("look.md", " \n");
    own.tollgate(&["run"]).exits(2).says("look.md is empty");
    std::fs::remove_file(own.path("look.md")).unwrap();
    let outside = own.at_home("secret.md", "secret");
    std::os::unix::fs::symlink(outside, own.path("look.md")).unwrap();
    own.tollgate(&["run"])
        .exits(2)
        .says("the file is not in the project");
}
