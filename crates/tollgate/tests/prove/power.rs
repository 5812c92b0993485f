//! Power loss, as a model: what was synced is there, what was not may be old, new, empty or half.
//!
//! Two things are shown. First, by the system calls of the real commands, that no state takes its
//! name before its content was synced, and that its directory is synced after (where `strace` can
//! be had). Second, that whatever mixture of files such a crash leaves behind, the next hooks and
//! commands work, and the state is one of the two that were ever written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::report::{Chance, Effort, Report};
use crate::workspace::{Workspace, program, run as run_command};

/// Transitions, whose states are synced.
const COMMANDS: &[&[&str]] = &[
    &["workflow", "start", "feature", "again", "--no-branch"],
    &["phase", "begin"],
    &["workflow", "cancel", "--reason", "no longer wanted"],
];

/// Each command so often in the long form, with four images each time.
const LONG: usize = 20;

pub(crate) fn run(effort: &Effort, report: &mut Report) {
    order(report);
    images(effort, report);
}

fn prepared(args: &[&str]) -> Workspace {
    if args[1] == "start" {
        Workspace::bare()
    } else {
        Workspace::new()
    }
}

/// The order of writing, syncing and renaming.
fn order(report: &mut Report) {
    for args in COMMANDS {
        let workspace = prepared(args);
        let log = workspace.outside().join("calls");
        let mut command = workspace.foreign("strace");
        command
            .args(["-f", "-y", "-o"])
            .arg(&log)
            .args([
                "-e",
                "trace=write,writev,pwrite64,pwritev,fsync,fdatasync,rename,renameat,renameat2",
            ])
            .arg(program())
            .args(*args);
        if command.output().is_err() {
            report.note("SKIPPED the order of calls: no strace".to_owned());
            return;
        }
        let calls = std::fs::read_to_string(&log).unwrap_or_default();
        let mut unsynced: BTreeSet<String> = BTreeSet::new();
        let (mut renamed, mut open) = (0, false);
        for call in calls.lines() {
            let file = || call.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
            if call.contains("write") {
                unsynced.insert(file());
            } else if call.contains("sync(") {
                open &= file() != workspace.path(".isdlc").display().to_string();
                unsynced.remove(&file());
            } else if call.contains("rename") && call.contains("/.isdlc/state.json\"") {
                let from = call.split('"').nth(1).unwrap_or_default();
                report.check(!unsynced.contains(from), || {
                    format!("{args:?}: renamed before it was synced: {call}")
                });
                renamed += 1;
                open = true;
            }
        }
        report.count("states renamed", renamed);
        report.check(!open, || {
            format!("{args:?}: the directory was not synced after the rename")
        });
    }
}

type Files = BTreeMap<PathBuf, Vec<u8>>;

fn files(root: &Path, below: &Path, found: &mut Files) {
    for entry in std::fs::read_dir(below).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(root, &path, found);
        } else if let Ok(bytes) = std::fs::read(&path) {
            found.insert(path.strip_prefix(root).unwrap().to_owned(), bytes);
        }
    }
}

fn snapshot(workspace: &Workspace) -> Files {
    let mut found = Files::new();
    for home in [".isdlc", ".tollgate"] {
        files(workspace.root(), &workspace.path(home), &mut found);
    }
    found
}

/// What the disk holds after the power came back.
fn images(effort: &Effort, report: &mut Report) {
    let mut chance = Chance::new(effort.seed);
    let state = Path::new(".isdlc/state.json");
    let rounds = if effort.is_long() { LONG } else { 1 };
    for (round, args) in (0..rounds).flat_map(|_| COMMANDS).enumerate() {
        let workspace = prepared(args);
        let _known =
            workspace.hook(&workspace.event("SessionStart", &json!({"source": "startup"})));
        let before = snapshot(&workspace);
        let _done = run_command(workspace.agreed(args), b"");
        let after = snapshot(&workspace);
        report.check(before.get(state) != after.get(state), || {
            format!("{args:?} changed nothing")
        });
        for _ in 0..4 {
            let mut image = Vec::new();
            for path in snapshot(&workspace)
                .keys()
                .filter(|path| !after.contains_key(*path))
            {
                std::fs::remove_file(workspace.root().join(path)).unwrap_or(());
            }
            for (path, bytes) in &after {
                workspace.file(&path.to_string_lossy(), bytes);
            }
            for (path, new) in &after {
                let old = before.get(path);
                if old == Some(new) {
                    continue;
                }
                // The state was synced before it got its name: it is the old or the new one.
                let choice = if path == state {
                    chance.below(2)
                } else {
                    chance.below(4)
                };
                let kept = match (choice, old) {
                    (0, old) => old.map(Vec::as_slice),
                    (1, _) => Some(new.as_slice()),
                    (2, _) => Some(&[][..]),
                    _ => Some(&new[..new.len() / 2]),
                };
                let name = path.to_string_lossy();
                if let Some(bytes) = kept {
                    workspace.file(&name, bytes);
                } else {
                    std::fs::remove_file(workspace.path(&name)).unwrap_or(());
                }
                image.push(format!(
                    "{}: {}",
                    path.display(),
                    ["old", "new", "empty", "half"][usize::try_from(choice).unwrap_or(0)]
                ));
            }
            report.count("images", 1);
            let read = json!({"tool_name": "Read", "tool_input": {"file_path": "/x"}});
            for event in [
                workspace.event("SessionStart", &json!({"source": "startup"})),
                workspace.event("PreToolUse", &read),
                workspace.event("PostToolUse", &read),
            ] {
                let run = workspace.hook(&event);
                let answer = run.is_an_answer();
                report.check(answer.is_ok(), || {
                    format!("{args:?}, {image:?}: {answer:?}")
                });
            }
            let status = workspace.tollgate(&["workflow", "status"]);
            report.check(matches!(status.code, Some(0 | 1)), || {
                format!("{args:?}, {image:?}: {status:?}")
            });
            let now = std::fs::read(workspace.path(".isdlc/state.json")).unwrap_or_default();
            let known = Some(&now) == before.get(state) || Some(&now) == after.get(state);
            report.check(known, || {
                format!(
                    "{args:?}, {image:?}: a third state: {}",
                    String::from_utf8_lossy(&now)
                )
            });
            let next = workspace.hook(&workspace.delegated(&format!("after-{round}")));
            report.check(
                next.is_an_answer().is_ok() && workspace.state().is_ok(),
                || format!("{args:?}, {image:?}: {next:?}"),
            );
        }
    }
}
