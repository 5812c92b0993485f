//! What a check starts with.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use super::{BAD, Gates, OK};
use crate::project::TOLLGATE;

#[test]
fn a_check_has_the_persons_variables_and_tollgates_own() {
    let gates = Gates::new(&[("env", "command: env > ../env.txt; pwd >> ../env.txt")]);
    let mut command = gates.command(&["run"]);
    let odd = std::ffi::OsStr::from_bytes(b"a\xffb=c");
    command
        .env("BASE_BRANCH", "somebody's")
        .env("BASE_BRANCH_OLD", "kept")
        .env("EMPTY", "")
        .env("ODD", odd)
        .env("CLAUDECODE", "1");
    crate::project::run(command, b"").exits(0);
    let bytes = std::fs::read(gates.path("env.txt")).unwrap();
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    for line in [
        &b"BASE_BRANCH=main"[..],
        b"BASE_BRANCH_OLD=kept",
        b"EMPTY=",
        b"ODD=a\xffb=c",
        b"GAUNTLET_STOP_HOOK_ACTIVE=1",
        gates.path("src").as_os_str().as_bytes(),
    ] {
        let times = lines.iter().filter(|known| **known == line).count();
        assert_eq!(times, 1, "{}", String::from_utf8_lossy(line));
    }
    let of = |name: &[u8]| lines.iter().filter(|line| line.starts_with(name)).count();
    assert_eq!(of(b"CLAUDECODE="), 0);
    // With a word that only a running Tollgate confirms.
    assert_eq!(of(b"TOLLGATE_DEPTH=1."), 1);
    assert_eq!(of(b"BASE_BRANCH="), 1);
}

#[test]
fn a_check_leads_its_own_group_and_is_ended_by_signals() {
    // A signal that is ignored, or blocked, stays so in children, unless somebody looks to it.
    let gates = Gates::new(&[(
        "group",
        "command: 'grep -E \"^Sig(Blk|Ign)\" /proc/self/status; ps -o pid=,pgid= -p $$ | tr -s \" \"'",
    )]);
    gates.tollgate(&["run"]).exits(0);
    let log = std::fs::read_to_string(gates.path("gauntlet_logs/previous/check_src_group.1.log"));
    let log = log.unwrap();
    has_default_signals(&log);
    let mut group = log
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|words| words.len() == 2 && words.iter().all(|word| word.parse::<u32>().is_ok()));
    let group = group.next().unwrap_or_else(|| panic!("{log}"));
    assert_eq!(group.first(), group.last(), "{log}");
}

#[test]
fn children_have_default_signals_whatever_tollgate_was_started_with() {
    let gates = Gates::raw(
        &[("signals", "command: cat /proc/self/status > ../check.txt")],
        "base_branch: main\ncli: { default_preference: [claude] }\nentry_points:\n  - path: src\n    checks: [signals]\n    reviews: [q]\n",
    );
    gates.file(".gauntlet/reviews/q.md", "---\n---\nLook for bugs.\n");
    // With this, a run asks git.
    gates.file(".gitattributes", "*.txt text\n");
    let programs = tempfile::tempdir().unwrap();
    for (program, then) in [
        ("claude", "cat > /dev/null"),
        ("git", "exec /usr/bin/git \"$@\""),
    ] {
        let path = programs.path().join(program);
        let script = format!("#!/bin/sh\ncat /proc/self/status >> \"$0.txt\"\n{then}\n");
        std::io::Write::write_all(
            &mut std::fs::File::create(&path).unwrap(),
            script.as_bytes(),
        )
        .unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = with_strange_signals(&gates, &["run"]);
    let path = format!("{}:/usr/bin:/bin", programs.path().display());
    command.env("PATH", path);
    let run = crate::project::run(command, b"");
    for path in [
        gates.path("check.txt"),
        programs.path().join("claude.txt"),
        programs.path().join("git.txt"),
    ] {
        let status = std::fs::read_to_string(&path);
        let status = status.unwrap_or_else(|error| panic!("{}: {error}: {run:?}", path.display()));
        has_default_signals(&status);
    }
}

/// While SIGCHLD is ignored, the system keeps no exit status.
#[test]
fn exit_codes_arrive_when_the_parent_ignores_ended_children() {
    let gates = Gates::new(&[OK]);
    crate::project::run(with_strange_signals(&gates, &["run"]), b"").exits(0);
    let gates = Gates::new(&[BAD]);
    crate::project::run(with_strange_signals(&gates, &["run"]), b"")
        .exits(1)
        .says("Exited with code 3");
}

/// The program, started with signals that are ignored and signals that are blocked.
fn with_strange_signals(gates: &Gates, args: &[&str]) -> Command {
    let mut command = gates.command_of(Path::new("/usr/bin/env"), &[]);
    command
        .args(["--ignore-signal=HUP,INT,QUIT,SEGV,CHLD,TTOU,XFSZ,RTMAX"])
        .args(["--block-signal=QUIT,USR1,TERM", TOLLGATE])
        .args(args);
    command
}

/// Whether no signal is ignored or blocked in any of these `/proc/PID/status`.
#[track_caller]
fn has_default_signals(statuses: &str) {
    // Two that nobody sends are the C library's own: 32 and 33.
    let own = 0b11 << 31;
    for name in ["SigBlk:", "SigIgn:"] {
        let lines = statuses.lines().filter_map(|line| line.strip_prefix(name));
        let signals: Vec<_> = lines
            .map(|line| u64::from_str_radix(line.trim(), 16).unwrap() & !own)
            .collect();
        assert!(!signals.is_empty(), "{statuses}");
        assert!(signals.iter().all(|signals| *signals == 0), "{statuses}");
    }
}
