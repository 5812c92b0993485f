//! A directory for each command line, and bash in it under strace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tollgate_core::git::Disk;
use tollgate_shell::{Effect, World, effects, survey};

use crate::compare::{Tally, compare};
use crate::corpus::Row;
use crate::trace::Trace;

const SETUP: &str = include_str!("setup.sh");
const PATHS: &str = "/usr/local/bin:/usr/bin:/bin";
const CALLS: &str = "trace=open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,\
    mkdirat,rmdir,link,linkat,symlink,symlinkat,truncate,ftruncate,chmod,fchmod,fchmodat,chown,fchown,\
    lchown,fchownat,utimensat,utime,utimes,futimesat,mknod,mknodat,execve,execveat,chdir,fchdir,clone,\
    clone3,fork,vfork";

/// What every command line finds, made once and copied.
pub(crate) struct Template {
    dir: tempfile::TempDir,
}

/// What lies in a directory: each path, and whether it is a directory.
pub(crate) type Listing = BTreeMap<String, bool>;
/// References by their names.
pub(crate) type References = BTreeMap<String, String>;

/// A command line's directory before and after it ran, and what happened in between.
pub(crate) struct Ran {
    pub(crate) work: String,
    pub(crate) before: Listing,
    pub(crate) after: Listing,
    pub(crate) remote: (References, References),
    pub(crate) commits: Vec<String>,
    pub(crate) trace: Trace,
    pub(crate) succeeded: bool,
}

impl Template {
    /// Nothing if commands cannot be traced here.
    pub(crate) fn make() -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let traces = Command::new("strace")
            .args(["-f", "-qq", "-o", "/dev/null", "true"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if !traces.is_ok_and(|status| status.success()) {
            return None;
        }
        let made = clean(
            Command::new("bash").args(["-c", SETUP]),
            dir.path(),
            dir.path(),
        );
        assert!(made.status.success(), "{made:?}");
        Some(Self { dir })
    }

    /// Runs a command line and compares what happened with what was said.
    pub(crate) fn compare(&self, row: &Row) -> Tally {
        if row
            .needs
            .as_deref()
            .is_some_and(|program| !is_installed(program))
        {
            return Tally::skipped();
        }
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let copied = Command::new("cp")
            .args(["-a", "home", "work", "remote.git"])
            .arg(&root)
            .current_dir(self.dir.path())
            .status();
        assert!(copied.unwrap().success());
        let said = said(&row.command, &root);
        let ran = run(&row.command, &root);
        compare(&row.command, &said, &ran)
    }
}

fn said(command: &str, root: &Path) -> Vec<Effect> {
    let (work, home) = (root.join("work"), root.join("home"));
    let disk = Disk::default();
    let world = World {
        dir: Some(&work),
        home: Some(&home),
        files: &disk,
    };
    effects(&survey(command, &world), &world)
}

fn run(command: &str, root: &Path) -> Ran {
    let work = root.join("work");
    let traces = root.join("traces");
    std::fs::create_dir(&traces).unwrap();
    let before = listing(&work);
    let remote_before = references(&root.join("remote.git"));
    let heads = commits(&work);
    let output = clean(
        Command::new("strace")
            .args(["-ff", "-qq", "-y", "-s", "4096", "-e", CALLS, "-o"])
            .arg(traces.join("t"))
            .args(["timeout", "-s", "KILL", "60", "bash", "-c", command]),
        &work,
        root,
    );
    let mut made = commits(&work);
    made.retain(|branch, count| *count > heads.get(branch).copied().unwrap_or(0));
    Ran {
        work: work.to_str().unwrap().to_owned(),
        before,
        after: listing(&work),
        remote: (remote_before, references(&root.join("remote.git"))),
        commits: made.into_keys().collect(),
        trace: Trace::read(&traces, work.to_str().unwrap()),
        succeeded: output.status.success(),
    }
}

/// In an environment that no machine's settings reach, and that knows no other directory.
fn clean(command: &mut Command, dir: &Path, root: &Path) -> Output {
    command
        .current_dir(dir)
        .env_clear()
        .env("PATH", PATHS)
        .env("HOME", root.join("home"))
        .env("TMPDIR", root.join("home"))
        .env("GIT_CEILING_DIRECTORIES", root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "a")
        .env("GIT_AUTHOR_EMAIL", "a@example.org")
        .env("GIT_COMMITTER_NAME", "a")
        .env("GIT_COMMITTER_EMAIL", "a@example.org")
        .env("NO_UPDATE_NOTIFIER", "1")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn is_installed(program: &str) -> bool {
    PATHS
        .split(':')
        .any(|dir| Path::new(dir).join(program).exists())
}

fn listing(dir: &Path) -> Listing {
    let mut found = Listing::new();
    let mut open: Vec<PathBuf> = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            found.insert(path.to_string_lossy().into_owned(), is_dir);
            if is_dir && path.file_name().is_some_and(|name| name != ".git") {
                open.push(path);
            }
        }
    }
    found
}

fn references(git_dir: &Path) -> References {
    let output = Command::new("git")
        .arg("--git-dir")
        .arg(git_dir)
        .args(["for-each-ref", "--format=%(refname) %(objectname)"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines
        .map(|(name, id)| (name.to_owned(), id.to_owned()))
        .collect()
}

/// How often each branch was committed to, from the reflogs.
fn commits(work: &Path) -> BTreeMap<String, usize> {
    let logs = std::fs::read_dir(work.join(".git/logs/refs/heads"));
    let mut found = BTreeMap::new();
    for entry in logs.into_iter().flatten().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        let made = text.lines().filter(|line| {
            let what = line.split('\t').nth(1).unwrap_or_default();
            what.starts_with("commit")
        });
        found.insert(
            entry.file_name().to_string_lossy().into_owned(),
            made.count(),
        );
    }
    found
}
