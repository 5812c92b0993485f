//! Disks that say no: full, out of inodes, read-only, not ours to write.
//!
//! A small file system of our own is needed for that, so the trial starts itself once more among
//! mounts that nobody else sees (`unshare -m`). Where that is not permitted it says so; a limit on
//! the size of files, which anybody may set, is tried everywhere.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::report::{Effort, Report};
use crate::workspace::{Run, Workspace, program, run as run_command};

/// Tells the second process what it is, and where.
const INSIDE: &str = "TOLLGATE_PROVE_DISK";

const COMMANDS: &[&[&str]] = &[
    &["hook"],
    &["phase", "begin"],
    &["workflow", "cancel", "--reason", "x"],
    &["plan", "new", "b"],
    &["plan", "begin", "new-plan"],
    &["install", "--yes", "--agent", "claude-code"],
    &["run"],
];

pub(crate) fn run(effort: &Effort, report: &mut Report) {
    if std::env::var_os(INSIDE).is_some() {
        return;
    }
    limited(report);
    let workspace = Workspace::bare();
    let mount = workspace.outside().join("disk");
    std::fs::create_dir(&mount).unwrap();
    let mut told = String::new();
    for options in ["-m", "-rm"] {
        let mut command = Command::new("unshare");
        command
            .args([options, "--"])
            .arg(std::env::current_exe().unwrap())
            .args(["--seed", &effort.seed.to_string(), "disk"])
            .env(INSIDE, &mount)
            .env("TMPDIR", &mount);
        if effort.is_long() {
            command.args(["--minutes", "1"]);
        }
        if let Ok(output) = command.output() {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            if report.hear(text.trim()) {
                return;
            }
            told = text + &String::from_utf8_lossy(&output.stderr);
        }
    }
    let told = told.lines().next().unwrap_or("no `unshare`");
    report.note(format!(
        "SKIPPED a disk of its own: not permitted here ({told})"
    ));
}

/// The second process. Nothing if this is the first.
pub(crate) fn inside(effort: &Effort) -> Option<Report> {
    let mount = PathBuf::from(std::env::var_os(INSIDE)?);
    let mut report = Report::default();
    if mounted(&mount, "size=24m,mode=755") {
        for free in [0, 4096, 8192, 16_384, 65_536] {
            each(
                effort,
                &mut report,
                &format!("{free} bytes left"),
                |workspace| fill(workspace, free),
            );
        }
        unwritable(&mut report);
        read_only(&mount, &mut report);
        unmount(&mount);
    } else {
        report.note("SKIPPED full and read-only disks: no tmpfs here".to_owned());
    }
    if mounted(&mount, "size=64m,nr_inodes=400,mode=755") {
        for free in [0, 1, 2, 3] {
            each(
                effort,
                &mut report,
                &format!("{free} inodes left"),
                |workspace| use_up_inodes(workspace, free),
            );
        }
        unmount(&mount);
    }
    Some(report)
}

fn mounted(mount: &Path, options: &str) -> bool {
    let status = Command::new("mount")
        .args(["-t", "tmpfs", "-o", options, "none"])
        .arg(mount)
        .status();
    status.is_ok_and(|status| status.success())
}

fn unmount(mount: &Path) {
    crate::workspace::forget();
    let _last = Command::new("umount").arg(mount).status();
}

/// Every command on such a disk, and after it.
fn each(
    _effort: &Effort,
    report: &mut Report,
    what: &str,
    use_up: impl Fn(&Workspace) -> Vec<PathBuf>,
) {
    for args in COMMANDS {
        let workspace = Workspace::whole();
        let before = std::fs::read(workspace.path(".isdlc/state.json")).unwrap();
        // A person agrees before the disk is full.
        let command = workspace.agreed(args);
        let filled = use_up(&workspace);
        let run = run_command(command, workspace.delegated("full").to_string().as_bytes());
        report.count("full disks", 1);
        judge(&workspace, args, what, &run, &before, report);
        if !matches!(run.code, Some(0)) && *args != ["run"] {
            report.check(run.stderr.contains("space"), || {
                format!("{args:?}, {what}: the message does not say so: {run:?}")
            });
        }
        for file in filled {
            let _gone = std::fs::remove_file(file);
        }
        again(&workspace, args, what, report);
    }
}

/// What every end on a bad disk has to be.
fn judge(
    workspace: &Workspace,
    args: &[&str],
    what: &str,
    run: &Run,
    before: &[u8],
    report: &mut Report,
) {
    let ended = if args == ["hook"] {
        run.is_an_answer().is_ok()
    } else {
        matches!(run.code, Some(0..=2))
    };
    report.check(ended && !run.stderr.contains("panicked"), || {
        format!("{args:?}, {what}: {run:?}")
    });
    report.check(run.code == Some(0) || !run.stderr.is_empty(), || {
        format!("{args:?}, {what}: said nothing: {run:?}")
    });
    let after = std::fs::read(workspace.path(".isdlc/state.json")).unwrap_or_default();
    report.check(
        after == before || serde_json::from_slice::<serde_json::Value>(&after).is_ok(),
        || format!("{args:?}, {what}: {} bytes of state", after.len()),
    );
}

/// There is room again: the next one works and leaves no rubbish.
fn again(workspace: &Workspace, args: &[&str], what: &str, report: &mut Report) {
    let next = workspace.hook(&workspace.delegated("room again"));
    report.check(
        next.is_an_answer().is_ok() && next.stderr.is_empty(),
        || format!("after {args:?}, {what}: {next:?}"),
    );
    let status = workspace.tollgate(&["status"]);
    report.check(matches!(status.code, Some(0 | 1)), || {
        format!("after {args:?}, {what}: {status:?}")
    });
    let _if_any = run_command(
        workspace.agreed(&["workflow", "cancel", "--reason", "next"]),
        b"",
    );
    let begin = workspace.tollgate(&["workflow", "start", "feature", "again", "--no-branch"]);
    report.check(begin.code == Some(0), || {
        format!("after {args:?}, {what}: {begin:?}")
    });
    let left = workspace.temporaries();
    report.check(left.is_empty(), || {
        format!("after {args:?}, {what}: {left:?}")
    });
}

/// Writes until nothing more goes in, and gives so many bytes back.
fn fill(workspace: &Workspace, free: u64) -> Vec<PathBuf> {
    let path = workspace.outside().join("filler");
    let mut file = std::fs::File::create(&path).unwrap();
    let mut size = 0;
    while let Ok(written) = file.write(&[0; 4096]) {
        size += written as u64;
    }
    file.set_len(size.saturating_sub(free)).unwrap();
    vec![path]
}

fn use_up_inodes(workspace: &Workspace, free: usize) -> Vec<PathBuf> {
    let mut made = Vec::new();
    loop {
        let path = workspace.outside().join(format!("filler-{}", made.len()));
        if std::fs::File::create(&path).is_err() {
            break;
        }
        made.push(path);
    }
    for _ in 0..free {
        made.pop().map(std::fs::remove_file).unwrap().unwrap();
    }
    made
}

fn read_only(mount: &Path, report: &mut Report) {
    let remount = |mode: &str| {
        let status = Command::new("mount")
            .args(["-o", &format!("remount,{mode}")])
            .arg(mount)
            .status();
        status.is_ok_and(|status| status.success())
    };
    for args in COMMANDS {
        let workspace = Workspace::whole();
        let before = std::fs::read(workspace.path(".isdlc/state.json")).unwrap();
        let command = workspace.agreed(args);
        if !remount("ro") {
            report.note("SKIPPED read-only disks: cannot be remounted".to_owned());
            return;
        }
        let run = run_command(command, workspace.delegated("ro").to_string().as_bytes());
        let after = std::fs::read(workspace.path(".isdlc/state.json")).unwrap();
        assert!(remount("rw"), "a disk that stays read-only");
        report.count("read-only disks", 1);
        judge(&workspace, args, "read-only", &run, &before, report);
        report.check(after == before, || {
            format!("{args:?} changed a read-only state")
        });
        if !matches!(run.code, Some(0)) && *args != ["run"] {
            // A person's yes that cannot be used up does not count; only this command needs one.
            let needs_yes = args.first() == Some(&"workflow");
            let is_refused = needs_yes && run.stderr.contains("is for a person");
            let is_named = run.stderr.to_lowercase().contains("read-only");
            report.check(is_named || is_refused, || {
                format!("{args:?}, read-only: the message does not say so: {run:?}")
            });
        }
        again(&workspace, args, "read-only", report);
    }
}

/// Directories that somebody without power may not write. Only root can become such a one.
fn unwritable(report: &mut Report) {
    let here = Workspace::bare();
    let copy = here.outside().join("tollgate");
    let open = |path: &Path| run_in(&here, "chmod", &["-R", "a+rX", &path.to_string_lossy()]);
    if std::fs::copy(program(), &copy).is_err() || !open(here.outside()) {
        // The debug build does not fit on the small disk; the one that ships does.
        report.note("SKIPPED directories of others: no room for a copy of the program".to_owned());
        return;
    }
    for closed in [".isdlc", ".tollgate", ".tollgate/local", "."] {
        for args in COMMANDS {
            let workspace = Workspace::whole();
            let before = std::fs::read(workspace.path(".isdlc/state.json")).unwrap();
            let outside = workspace.outside().to_string_lossy().into_owned();
            let given = run_in(&workspace, "chown", &["-R", "65534:65534", &outside])
                && run_in(&workspace, "chmod", &["a-w", closed]);
            let mut command = workspace.foreign("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
            command.arg(&copy).args(*args);
            let run = run_command(command, workspace.delegated("no").to_string().as_bytes());
            if !given || run.stderr.contains("setpriv:") {
                report.note(format!(
                    "SKIPPED directories of others: {}",
                    run.stderr.lines().next().unwrap_or("chown failed")
                ));
                return;
            }
            report.count("directories of others", 1);
            let what = format!("{closed} may not be written");
            judge(&workspace, args, &what, &run, &before, report);
            let _open = run_in(&workspace, "chmod", &["u+w", closed]);
            again(&workspace, args, &what, report);
        }
    }
}

fn run_in(workspace: &Workspace, program: &str, args: &[&str]) -> bool {
    let status = workspace.foreign(program).args(args).status();
    status.is_ok_and(|status| status.success())
}

/// Every write point with so many blocks of a file allowed, and none.
fn limited(report: &mut Report) {
    for blocks in [0, 1, 2, 4, 16] {
        for args in COMMANDS.iter().take(4) {
            let workspace = Workspace::whole();
            let before = std::fs::read(workspace.path(".isdlc/state.json")).unwrap();
            let mut command = workspace.foreign("sh");
            // Blocks are 512 bytes for dash and 1024 for others; both are small.
            command.args([
                "-c",
                "trap '' XFSZ; ulimit -f \"$0\"; exec \"$@\"",
                &blocks.to_string(),
            ]);
            command.arg(program()).args(*args);
            let run = run_command(command, workspace.delegated("full").to_string().as_bytes());
            report.count("limits on files", 1);
            let what = format!("{blocks} blocks");
            judge(&workspace, args, &what, &run, &before, report);
            again(&workspace, args, &what, report);
        }
    }
}
