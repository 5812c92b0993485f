//! Nothing outlives Tollgate, and the next run is as the first.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::{Gates, answers};
use crate::project::wait_until;

/// Processes with this text in their command line or environment that are alive.
pub(crate) fn alive(mark: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        let text = [read("cmdline"), read("environ")].concat();
        if String::from_utf8_lossy(&text).contains(mark) {
            found.push(pid);
        }
    }
    found
}

/// Ten checks: plain, in a session of their own, deaf to TERM, with grandchildren.
fn ten(gates: &Gates, mark: &str) {
    let kinds = [
        "sleep 300",
        "setsid sleep 300",
        "trap '' TERM HUP INT; sleep 300; sleep 300",
        "(sleep 300 & sleep 300) & wait",
        "setsid sh -c 'trap \\\"\\\" TERM; sleep 300; sleep 300' & sleep 300",
    ];
    for number in 0..10 {
        let command = kinds[number % kinds.len()];
        gates.check(
            &format!("c{number}"),
            &format!("command: \"MARK={mark}; export MARK; touch ../.up/{number}; {command}\"\nparallel: true"),
        );
    }
}

fn started(args: &[&str], signal_group: bool) -> (Gates, Child, String) {
    let mark = format!("tollgate-test-{}-{}", std::process::id(), args.join("-"));
    let names: Vec<String> = (0..10).map(|number| format!("c{number}")).collect();
    let config = format!(
        "base_branch: main\nmax_parallel: 10\nstop_hook: {{ run_interval_minutes: 0 }}\nentry_points:\n  - path: src\n    checks: [{}]\n",
        names.join(", ")
    );
    let all: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), "command: x"))
        .collect();
    let gates = Gates::raw(&all, &config);
    ten(&gates, &mark);
    gates.file(".gitignore", ".up\n");
    std::fs::create_dir(gates.path(".up")).unwrap();
    let mut command = gates.command(args);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if signal_group {
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
    }
    let mut child = command.spawn().unwrap();
    if let Some(mut stdin) = child.stdin.take() {
        let _closed = std::io::Write::write_all(&mut stdin, b"{}");
    }
    let up = gates.path(".up");
    wait_until("ten checks run", Duration::from_secs(10), || {
        std::fs::read_dir(&up).unwrap().count() == 10
    });
    (gates, child, mark)
}

fn goes_on_normally(gates: &Gates) {
    for number in 0..10 {
        gates.check(&format!("c{number}"), "command: \"true\"\nparallel: true");
    }
    let begun = Instant::now();
    gates.tollgate(&["run"]).exits(0).says("Status: Passed");
    assert!(begun.elapsed() < Duration::from_secs(5));
    let left: Vec<_> = std::fs::read_dir(gates.path(".tollgate/local"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("index-"))
        .collect();
    assert_eq!(left, [""; 0], "temporary files are swept");
}

#[test]
fn kill_9_of_a_run_with_ten_checks_leaves_no_process() {
    let (gates, mut child, mark) = started(&["run"], false);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("all processes are gone", Duration::from_secs(2), || {
        alive(&mark).is_empty()
    });
    goes_on_normally(&gates);
}

#[test]
fn kill_9_of_the_whole_group_of_a_stop_hook_leaves_no_process() {
    let (gates, mut child, mark) = started(&["stop-hook"], true);
    let group = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
    child.wait().unwrap();
    wait_until("all processes are gone", Duration::from_secs(2), || {
        alive(&mark).is_empty()
    });
    goes_on_normally(&gates);
}

#[test]
fn kill_9_of_a_run_leaves_nothing_of_a_run_inside_it() {
    let mark = format!("tollgate-test-{}-inner", std::process::id());
    let inner = Gates::new(&[(
        "slow",
        &format!("command: \"MARK={mark}; export MARK; touch ../.up; sleep 300\""),
    )]);
    let command = format!("cd {} && $TOLLGATE run", inner.project.root().display());
    let gates = Gates::new(&[("nested", &format!("command: \"{command}\""))]);
    let mut child = gates
        .command(&["run"])
        .env("TOLLGATE", crate::project::TOLLGATE)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let up = inner.path(".up");
    wait_until("the inner check runs", Duration::from_secs(20), || {
        up.exists() && !alive(&mark).is_empty()
    });
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("all processes are gone", Duration::from_secs(5), || {
        alive(&mark).is_empty()
    });
}

#[test]
fn ctrl_c_ends_the_checks_and_tells_that_nothing_is_verified() {
    let (gates, mut child, mark) = started(&["check"], false);
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(1), "{status:?}");
    assert!(alive(&mark).is_empty());
    assert_eq!(gates.state()["status"], "error");
    goes_on_normally(&gates);
}

/// D1: after a `kill -9` the lock stayed, and every later stop was approved.
#[test]
fn d1_after_kill_9_the_next_stop_is_gated() {
    let gates = Gates::new(&[(
        "waits",
        "command: \"touch ../.up; test -e ../.go || sleep 100; false\"",
    )]);
    gates.file(".gitignore", ".up\n.go\n");
    let mut command = gates.command(&["stop-hook"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"{}").unwrap();
    let up = gates.path(".up");
    wait_until("the check runs", Duration::from_secs(10), || up.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    gates.file(".go", "");
    answers(&gates.stop(), "block", "failed");
}
