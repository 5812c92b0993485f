//! Standard streams as agents should not, but do, treat them.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::json;

use crate::report::{Effort, Report};
use crate::workspace::{Workspace, start};

pub(crate) fn run(_effort: &Effort, report: &mut Report) {
    let workspace = Workspace::new();
    let blocked = workspace.event(
        "PreToolUse",
        &json!({"tool_name": "Agent", "tool_input": {"subagent_type": "qa-engineer", "prompt": "x"}}),
    );
    let usual = workspace.hook(&blocked);
    report.check(!usual.stdout.is_empty(), || {
        format!("the event is not blocked: {usual:?}")
    });

    // One byte at a time.
    let mut child = start(workspace.command(&["hook"]));
    let mut stdin = child.stdin.take().unwrap();
    for byte in blocked.to_string().bytes() {
        stdin.write_all(&[byte]).unwrap();
        stdin.flush().unwrap();
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    report.check(said == usual.stdout, || format!("byte by byte: {said:?}"));

    // Standard input stays open: after a while the agent goes on.
    let mut child = start(workspace.command(&["hook"]));
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"hook_event_name\":").unwrap();
    let output = child.wait_with_output().unwrap();
    report.check(output.status.code() == Some(0), || {
        format!("never closed: {output:?}")
    });
    drop(stdin);

    // Nobody listens: each of the streams closed before anything is written.
    for closed in [
        "1>&-",
        "2>&-",
        "1>&- 2>&-",
        "0<&-",
        "0<&- 1>&- 2>&-",
        "1>/dev/full",
        "2>/dev/full",
    ] {
        let mut command = workspace.foreign("sh");
        command
            .args(["-c", &format!("exec \"$0\" hook {closed}")])
            .arg(crate::workspace::program());
        let answer = crate::workspace::run(command, blocked.to_string().as_bytes());
        report.count("closed streams", 1);
        report.check(matches!(answer.code, Some(0 | 2)), || {
            format!("{closed}: {answer:?}")
        });
    }
    let mut command = workspace.command(&["hook"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    child
        .stdin
        .take()
        .unwrap()
        .write_all(blocked.to_string().as_bytes())
        .unwrap();
    let status = child.wait().unwrap();
    report.check(matches!(status.code(), Some(0 | 2)), || {
        format!("a broken pipe: {status}")
    });
    let listing = {
        let mut command = workspace.command(&["guards"]);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        child.wait_with_output().unwrap()
    };
    let words = String::from_utf8_lossy(&listing.stderr).into_owned();
    report.check(!words.contains("panicked"), || {
        format!("`guards | true`: {words}")
    });

    // A command whose words have no room ends as one that could not run, in words.
    for args in [
        "status",
        "guards",
        "phase begin",
        "plan status",
        "log",
        "run",
        "list",
    ] {
        let mut command = workspace.foreign("sh");
        command
            .args(["-c", &format!("exec \"$0\" {args} 1>/dev/full")])
            .arg(crate::workspace::program());
        let answer = crate::workspace::run(command, b"");
        report.count("full outputs", 1);
        report.check(
            matches!(answer.code, Some(0..=2)) && !answer.stderr.contains("panicked"),
            || format!("{args} 1>/dev/full: {answer:?}"),
        );
    }

    // Small limits.
    for limit in [
        "ulimit -v 262144",
        "ulimit -n 16",
        "ulimit -s 256",
        "ulimit -n 8",
    ] {
        let mut command = workspace.foreign("sh");
        command
            .args(["-c", &format!("{limit} && exec \"$0\" hook")])
            .arg(crate::workspace::program());
        let answer = crate::workspace::run(command, blocked.to_string().as_bytes());
        report.count("small limits", 1);
        report.check(answer.is_an_answer().is_ok(), || {
            format!("{limit}: {answer:?}")
        });
    }
}
