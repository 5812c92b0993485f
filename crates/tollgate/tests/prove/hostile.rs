//! A project that means harm: files that are something else, names that lead elsewhere, texts
//! that paint the screen, secrets that must not be written down.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::report::{Effort, Report};
use crate::workspace::{Workspace, run as run_command};

/// Everything that a hook or a command opens.
const FILES: &[&str] = &[
    ".isdlc/state.json",
    ".isdlc/monorepo.json",
    ".claude/hooks/config/skills-manifest.json",
    ".claude/hooks/config/iteration-requirements.json",
    ".git/HEAD",
    ".git/config",
    ".git/packed-refs",
    ".gauntlet/config.yml",
    ".gauntlet/checks/c.yml",
    ".gauntlet/reviews/r.md",
    ".tollgate/plans.json",
    ".tollgate/local",
    ".tollgate/local/journal.jsonl",
    "docs/isdlc/tasks.md",
];

type Plant = fn(&Path, &Path);

/// What is put in their place: the file, and something outside.
const PLANTS: &[(&str, Plant)] = &[
    ("a link out", |path, outside| {
        symlink(outside, path).unwrap();
    }),
    ("a loop", |path, _| symlink(path, path).unwrap()),
    ("a dangling link", |path, outside| {
        symlink(outside.with_extension("not-there"), path).unwrap();
    }),
    ("/dev/zero", |path, _| symlink("/dev/zero", path).unwrap()),
    ("a FIFO", |path, _| {
        let made = std::process::Command::new("mkfifo")
            .arg(path)
            .status()
            .unwrap();
        assert!(made.success());
    }),
    ("a socket", |path, _| {
        // The name of a socket is limited; where it does not fit there is none.
        let _too_long = std::os::unix::net::UnixListener::bind(path);
    }),
    ("a hard link", |path, outside| {
        std::fs::hard_link(outside, path).unwrap();
    }),
    ("a directory", |path, _| std::fs::create_dir(path).unwrap()),
    ("nothing", |_, _| {}),
    ("an empty file", |path, _| std::fs::write(path, "").unwrap()),
    ("no UTF-8", |path, _| {
        std::fs::write(path, b"\xff\xfe{\x00").unwrap();
    }),
    ("a deep file", |path, _| {
        std::fs::write(path, "[".repeat(200_000)).unwrap();
    }),
    ("a large file", |path, _| {
        std::fs::write(path, vec![b' '; 40 << 20]).unwrap();
    }),
    ("wrong types", |path, _| {
        std::fs::write(path, r#"{"active_workflow":[1],"phases":7,"projects":"x","ownership":null,"state_version":-1}"#).unwrap();
    }),
];

pub(crate) fn run(effort: &Effort, report: &mut Report) {
    files(effort, report);
    swapped(effort, report);
    names(report);
    values(report);
    modes(report);
}

fn events(workspace: &Workspace) -> Vec<Value> {
    let tool = |name: &str, input: Value| json!({"tool_name": name, "tool_input": input});
    vec![
        workspace.event(
            "PreToolUse",
            &tool("Bash", json!({"command": "git commit -m x"})),
        ),
        workspace.event(
            "PreToolUse",
            &tool(
                "Agent",
                json!({"subagent_type": "software-developer", "prompt": "advance"}),
            ),
        ),
        workspace.delegated("h"),
        workspace.event("SessionStart", &json!({"source": "startup"})),
        workspace.event("Stop", &json!({"stop_hook_active": false})),
    ]
}

/// What is outside: its names and contents.
fn picture(outside: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<_> = std::fs::read_dir(outside)
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name() != "project")
        .map(|entry| {
            let content = std::fs::read(entry.path()).unwrap_or_default();
            (entry.file_name().to_string_lossy().into_owned(), content)
        })
        .collect();
    found.sort();
    found
}

fn files(effort: &Effort, report: &mut Report) {
    for (file_at, file) in FILES.iter().enumerate() {
        for (plant_at, (what, plant)) in PLANTS.iter().enumerate() {
            if !effort.is_long() && (file_at + plant_at) % 11 != 0 {
                continue;
            }
            let workspace = Workspace::new();
            let secret = workspace.outside().join("secret");
            std::fs::write(&secret, r#"{"outside":true}"#).unwrap();
            let path = workspace.path(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let _none = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path));
            plant(&path, &secret);
            let before = picture(workspace.outside());
            report.count("files replaced", 1);
            for event in events(&workspace) {
                let run = workspace.hook(&event);
                let answer = run.is_an_answer();
                report.check(
                    answer.is_ok() && !run.stderr.contains("defect in Tollgate"),
                    || {
                        format!(
                            "{file} is {what}: {}: {answer:?} {}",
                            event["hook_event_name"], run.stderr
                        )
                    },
                );
            }
            for args in [
                &["workflow", "status"][..],
                &["phase", "begin"],
                &["validate"],
                &["doctor"],
            ] {
                let run = workspace.tollgate(args);
                report.check(
                    matches!(run.code, Some(0..=2)) && !run.stderr.contains("panicked"),
                    || format!("{file} is {what}: {args:?}: {run:?}"),
                );
            }
            let after = picture(workspace.outside());
            report.check(after == before, || {
                let names = |list: &[(String, Vec<u8>)]| -> Vec<String> {
                    list.iter()
                        .map(|(name, bytes)| format!("{name} ({})", bytes.len()))
                        .collect()
                };
                format!(
                    "{file} is {what}: outside {:?} became {:?}",
                    names(&before),
                    names(&after)
                )
            });
        }
    }
}

/// Names that become paths.
const NAMES: &[&str] = &[
    "../../escaped",
    "..",
    "/tmp/tollgate-escaped",
    "a/../../../escaped",
    "-rf",
    "--help",
    "$(touch escaped)",
    "`touch escaped`",
    "a\nb",
    "a\u{0}b",
    "\u{1b}[31mred",
    "con",
    "a;touch escaped",
    "%2e%2e%2fescaped",
    "..\\escaped",
    "\u{202e}gpj",
    "",
    " ",
    "~",
    "*",
];

fn names(report: &mut Report) {
    let workspace = Workspace::new();
    let before = picture(workspace.outside());
    for name in NAMES.iter().filter(|name| !name.contains('\0')) {
        for args in [
            &["plan", "new", name][..],
            &["plan", "use", name],
            &["plan", "--plan", name, "status"],
            &["phase", "complete", "--summary", "s", name],
            &["phase", "skip", name],
            &[
                "workflow",
                "start",
                "feature",
                name,
                "--no-branch",
                "--folder",
                name,
            ],
            &["workflow", "start", name, "x", "--no-branch"],
            &["run", "--gate", name],
            &["hook", "--guard", name],
            &["hook", "--protocol", name],
        ] {
            let run = workspace.tollgate(args);
            report.count("names tried", 1);
            report.check(
                matches!(run.code, Some(0..=2)) && !run.stderr.contains("panicked"),
                || format!("{args:?}: {run:?}"),
            );
            report.check(
                !(run.stdout.clone() + &run.stderr).contains('\u{1b}'),
                || format!("{args:?} painted the screen: {run:?}"),
            );
        }
        // The same names out of the state, which anybody may have written.
        let mut state = workspace.state().unwrap_or_default();
        state["active_workflow"] = json!({
            "type": name, "current_phase": name, "phases": [name], "artifact_folder": name, "phase_status": {(*name): "in_progress"},
            "git_branch": {"name": name, "status": "active"},
        });
        state["phases"] = json!({(*name): {"status": "in_progress"}});
        workspace.file(".isdlc/state.json", state.to_string());
        for event in events(&workspace) {
            let run = workspace.hook(&event);
            let answer = run.is_an_answer();
            report.check(answer.is_ok(), || {
                format!("{name:?} in the state: {answer:?}")
            });
        }
        for args in [
            &["workflow", "status"][..],
            &["workflow", "audit"],
            &["phase", "begin"],
            &["phase", "brief"],
            &["workflow", "cancel", "--reason", "x"],
        ] {
            let run = workspace.tollgate(args);
            report.check(
                matches!(run.code, Some(0..=2)) && !run.stderr.contains("panicked"),
                || format!("{name:?} in the state, {args:?}: {run:?}"),
            );
            report.check(
                !(run.stdout.clone() + &run.stderr).contains('\u{1b}'),
                || format!("{name:?} in the state, {args:?} painted the screen: {run:?}"),
            );
        }
        let monorepo = json!({"version": "1.0.0", "default_project": name, "projects": {(*name): {"path": name}}});
        workspace.file(".isdlc/monorepo.json", monorepo.to_string());
        let run = workspace.hook(&workspace.delegated("m"));
        let answer = run.is_an_answer();
        report.check(answer.is_ok(), || {
            format!("{name:?} as a project: {answer:?}")
        });
        let _none = std::fs::remove_file(workspace.path(".isdlc/monorepo.json"));
        workspace.file(".isdlc/state.json", b"{}");
    }
    let after = picture(workspace.outside());
    report.check(after == before, || {
        format!(
            "something was written outside: {:?}",
            after.iter().map(|(name, _)| name).collect::<Vec<_>>()
        )
    });
    report.check(
        !workspace.path("escaped").exists() && !Path::new("/tmp/tollgate-escaped").exists(),
        || "a name was run or followed".to_owned(),
    );
}

/// A file that is one thing when it is looked at and another when it is used.
fn swapped(effort: &Effort, report: &mut Report) {
    for file in [".isdlc/state.json", ".tollgate/local/journal.jsonl"] {
        let workspace = Workspace::new();
        let _there = workspace.hook(&workspace.delegated("first"));
        let secret = workspace.outside().join("secret");
        std::fs::write(&secret, r#"{"outside":true}"#).unwrap();
        let (path, link) = (workspace.path(file), workspace.outside().join("link"));
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let real = workspace.outside().join("real");
                while !over.load(Ordering::Relaxed) {
                    let _now = symlink(&secret, &link);
                    let _gone = std::fs::rename(&path, &real);
                    let _linked = std::fs::rename(&link, &path);
                    let _back = std::fs::rename(&real, &path);
                }
            });
            for number in 0..if effort.is_long() { 400 } else { 20 } {
                let run = workspace.hook(&workspace.delegated(&number.to_string()));
                let answer = run.is_an_answer();
                report.count("hooks beside a swapped file", 1);
                report.check(answer.is_ok(), || format!("{file} swapped: {answer:?}"));
            }
            over.store(true, Ordering::Relaxed);
        });
        let outside = std::fs::read_to_string(&secret).unwrap_or_default();
        report.check(outside == r#"{"outside":true}"#, || {
            format!("{file} swapped: outside is {outside}")
        });
    }
}

/// The same names as values in files that anybody may have written: what gates and plans are
/// called and told, what an event says of itself.
fn values(report: &mut Report) {
    let workspace = Workspace::whole();
    let before = picture(workspace.outside());
    for name in NAMES.iter().filter(|name| !name.contains('\0')) {
        let quoted = serde_json::to_string(name).unwrap();
        let write = |path: &str, text: String| workspace.file(path, text);
        write(
            ".gauntlet/config.yml",
            format!(
                "base_branch: {quoted}\nlog_dir: {quoted}\nentry_points:\n  - path: {quoted}\n    checks: [{quoted}, good]\n    reviews: [{quoted}]\n"
            ),
        );
        for args in [
            &["run"][..],
            &["detect"],
            &["list"],
            &["validate"],
            &["clean"],
        ] {
            harmless(&workspace, args, name, report);
        }
        write(
            ".gauntlet/config.yml",
            "base_branch: main\nentry_points:\n  - path: .\n    checks: [odd]\n".to_owned(),
        );
        write(
            ".gauntlet/checks/odd.yml",
            format!("command: \"true\"\nworking_directory: {quoted}\n"),
        );
        harmless(&workspace, &["run"], name, report);
        let plan = json!({
            "max_reviews": name, "current_task": name, "phase": "next-task", "phase_iteration": name,
            "next_phase": name, "review_model": name, "consecutive_clean": name, "tdd": name,
        });
        write(".taskie/plans/a-plan/state.json", plan.to_string());
        write(
            ".taskie/plans/a-plan/tasks.md",
            format!(
                "| Id | Status | Priority | Description |\n|---|---|---|---|\n| {name} | pending | high | {name} |\n"
            ),
        );
        for args in [
            &["plan", "status"][..],
            &["plan", "next"],
            &["plan", "validate"],
            &["plan", "begin", "complete-task", "--task", name],
            &["plan", "done", "complete-task"],
            &["plan", "repair"],
            &["status"],
        ] {
            harmless(&workspace, args, name, report);
        }
        for mut event in events(&workspace) {
            for key in [
                "session_id",
                "transcript_path",
                "cwd",
                "prompt_id",
                "tool_use_id",
            ] {
                event[key] = (*name).into();
            }
            let run = workspace.hook(&event);
            let answer = run.is_an_answer();
            report.check(answer.is_ok(), || {
                format!("{name:?} in an event: {answer:?}")
            });
        }
        write(".isdlc/state.json", "{}".to_owned());
    }
    let after = picture(workspace.outside());
    report.check(after == before, || {
        let names: Vec<_> = after.iter().map(|(name, _)| name).collect();
        format!("a value led outside: {names:?}")
    });
    report.check(
        !workspace.path("escaped").exists() && !Path::new("/tmp/tollgate-escaped").exists(),
        || "a value was run or followed".to_owned(),
    );
}

/// A command that ends as commands do and does not paint the screen.
fn harmless(workspace: &Workspace, args: &[&str], name: &str, report: &mut Report) {
    let run = workspace.tollgate(args);
    report.count("values tried", 1);
    report.check(
        matches!(run.code, Some(0..=2)) && !run.stderr.contains("panicked"),
        || format!("{name:?}, {args:?}: {run:?}"),
    );
    report.check(
        !(run.stdout.clone() + &run.stderr).contains('\u{1b}'),
        || format!("{name:?}, {args:?} painted the screen: {run:?}"),
    );
}

/// What we create is ours alone, whatever the mask.
fn modes(report: &mut Report) {
    for mask in ["000", "022", "077"] {
        let workspace = Workspace::new();
        let _fresh = std::fs::remove_dir_all(workspace.path(".tollgate"));
        let blocked = workspace.event(
            "PreToolUse",
            &json!({"tool_name": "Bash", "tool_input": {"command": "rm .isdlc/state.json"}}),
        );
        for event in [
            blocked,
            workspace.delegated("m"),
            workspace.event("SessionStart", &json!({"source": "startup"})),
        ] {
            let mut command = workspace.foreign("sh");
            command
                .args(["-c", &format!("umask {mask}; exec \"$0\" hook")])
                .arg(crate::workspace::program());
            let run = run_command(command, event.to_string().as_bytes());
            report.check(run.is_an_answer().is_ok(), || format!("{run:?}"));
        }
        let mut left = vec![workspace.path(".tollgate/local")];
        while let Some(path) = left.pop() {
            let Ok(meta) = path.symlink_metadata() else {
                continue;
            };
            let mode = meta.permissions().mode() & 0o777;
            report.count("modes seen", 1);
            report.check(mode | 0o700 == 0o700, || {
                format!("umask {mask}: {} has {mode:o}", path.display())
            });
            if meta.is_dir() {
                left.extend(
                    std::fs::read_dir(&path)
                        .into_iter()
                        .flatten()
                        .flatten()
                        .map(|entry| entry.path()),
                );
            }
        }
    }
}
