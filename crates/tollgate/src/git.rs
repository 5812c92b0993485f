//! The only place that starts git: without a shell, without touching the person's index, and with a
//! deadline.

mod neutral;

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};

use neutral::Neutral;
use tollgate_core::git::{Head, Repository, Stands};
use tollgate_store::fs;

/// What git uses to find another repository or index than the one it stands in, and what makes it
/// read our questions in another way. A hook of git has them set; they would lead us astray.
pub(crate) const LEADING_ASTRAY: [&str; 15] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_CEILING_DIRECTORIES",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_ATTR_SOURCE",
    "GIT_DIFF_OPTS",
];

/// What else leads a command astray that changes something: settings that were passed to
/// another git. Gemini CLI switches all hooks of git off with them.
const SETTING: [&str; 9] = [
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
];

/// How long git may take: as long as a check. It waits forever where one of its own files is a
/// pipe, and so would an agent.
pub(crate) const PATIENCE: Duration = Duration::from_mins(5);

/// How long git may take for what stands in one of its files.
pub(crate) const AT_ONCE: Duration = Duration::from_secs(5);

/// How long git has for putting its things in order when its time is over.
const GRACE: Duration = Duration::from_secs(1);

/// The longest log of a stash whose entries are counted.
const LONGEST_LOG: u64 = 16 << 20;

/// How much of an answer is read at once, which is as much as a pipe holds.
const PIECE: usize = 64 << 10;

/// The project's repository.
#[derive(Clone, Debug)]
pub(crate) struct Git {
    root: PathBuf,
    repository: Repository,
    neutral: Neutral,
    /// When all answers must be there, for one who is wary of the project.
    wary: Option<Instant>,
}

/// Why git gave no answer, or a no.
#[derive(Clone, Debug)]
pub(crate) struct GitError {
    what: String,
    is_silent: bool,
}

impl std::fmt::Display for GitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}

impl GitError {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            is_silent: false,
        }
    }

    /// Git is not even asked.
    pub(crate) fn silent(what: impl Into<String>) -> Self {
        Self {
            is_silent: true,
            ..Self::new(what)
        }
    }

    /// Whether git said nothing: it could not be started, or did not end in time.
    pub(crate) fn is_silent(&self) -> bool {
        self.is_silent
    }
}

/// A question that git is working on.
#[derive(Debug)]
pub(crate) struct Asked {
    child: io::Result<Child>,
    what: String,
    patience: Duration,
    group: Group,
}

/// Whom git is ended with when its time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    /// Nothing. It is in our group, and ends with us if a terminal or an agent ends that.
    Ours,
    /// All that it started.
    Own,
}

/// What git had to say.
struct GitOutput {
    code: Option<i32>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    what: String,
}

impl Git {
    /// The repository that `root` lies in.
    pub(crate) fn at(root: &Path) -> Result<Self, GitError> {
        let repository = Repository::discover(root).ok_or_else(|| {
            GitError::new(format!(
                "{} is not in a git repository, so it is unknown what changed; run `git init`, or run the gates in a checkout",
                root.display()
            ))
        })?;
        let mut git = Self {
            root: root.to_owned(),
            repository,
            neutral: Neutral::default(),
            wary: None,
        };
        git.neutral = Neutral::of(&git.repository, |args| {
            let answer = git.ask(args).within(AT_ONCE).finish()?;
            match answer.code {
                // 1: there are none.
                Some(0 | 1) => Ok(answer.stdout),
                Some(_) | None => Err(answer.error()),
            }
        })?;
        Ok(git)
    }

    /// The same for one who has so much time for all answers together, and is wary of a project that
    /// nobody trusted: whatever git starts none the less ends with it.
    pub(crate) fn wary(self, patience: Duration) -> Self {
        Self {
            wary: Some(Instant::now() + patience),
            ..self
        }
    }

    /// The same for one who is as wary as the other.
    pub(crate) fn wary_like(self, other: &Self) -> Self {
        Self {
            wary: other.wary,
            ..self
        }
    }

    /// The branch, as `.execution_state` has it: `HEAD` without one.
    pub(crate) fn branch(&self) -> String {
        match self.repository.head() {
            Head::Branch(name) => name,
            Head::AskGit => self
                .ask(["rev-parse", "--abbrev-ref", "HEAD"])
                .within(AT_ONCE)
                .line()
                .unwrap_or_else(|_| "HEAD".to_owned()),
            Head::Detached | Head::None => "HEAD".to_owned(),
        }
    }

    /// The commit at the end of a branch, of ours or of a remote, from files where they say it.
    pub(crate) fn commit_of(&self, name: &str) -> Stands {
        self.repository.commit_of(name)
    }

    /// The commit that is checked out, from files where they say it.
    pub(crate) fn head_commit(&self) -> Stands {
        self.repository.head_commit()
    }

    /// Whether only a part of the files is to be checked out.
    pub(crate) fn is_sparse(&self) -> bool {
        self.repository
            .git_dir
            .join("info/sparse-checkout")
            .exists()
    }

    /// Whether the other one is a work tree of the same repository.
    pub(crate) fn is_same_repository(&self, other: &Self) -> bool {
        self.repository.common_dir == other.repository.common_dir
    }

    /// The project's root.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The index of this work tree.
    pub(crate) fn index(&self) -> PathBuf {
        self.repository.git_dir.join("index")
    }

    /// How many entries the stash has, from its log.
    pub(crate) fn stashes(&self) -> u64 {
        let log = self.repository.common_dir.join("logs/refs/stash");
        let log = fs::read_regular(&log, LONGEST_LOG).ok().flatten();
        log.map_or(0, |log| {
            log.bytes.split(|byte| *byte == b'\n').count() as u64
        })
    }

    /// The directory that holds `.git`.
    pub(crate) fn top(&self) -> &Path {
        &self.repository.work_tree
    }

    /// Starts git on a question without waiting for the answer.
    pub(crate) fn ask<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Asked {
        self.start(self.command(|command| self.neutral.apply(command), args))
    }

    /// The same with another index.
    pub(crate) fn ask_with_index<S: AsRef<OsStr>>(
        &self,
        index: &Path,
        args: impl IntoIterator<Item = S>,
    ) -> Asked {
        let options = |command: &mut Command| {
            self.neutral.apply(command);
            // Writing an index calls a hook.
            command.args(["-c", "core.hooksPath=/dev/null"]);
            command.env("GIT_INDEX_FILE", index);
        };
        self.start(self.command(options, args))
    }

    fn start(&self, (mut command, what): (Command, String)) -> Asked {
        let Some(until) = self.wary else {
            return Asked::start((command, what), Group::Ours);
        };
        command.process_group(0);
        let left = until.saturating_duration_since(Instant::now());
        Asked::start((command, what), Group::Own).within(left)
    }

    /// Starts git on a change of the repository, with the repository's own hooks and settings.
    pub(crate) fn act<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Asked {
        let (mut command, what) = self.command(|_| {}, args);
        for name in SETTING {
            command.env_remove(name);
        }
        Asked::start((command, what), Group::Ours)
    }

    /// The command, with options in front, and what messages call it.
    fn command<S: AsRef<OsStr>>(
        &self,
        options: impl FnOnce(&mut Command),
        args: impl IntoIterator<Item = S>,
    ) -> (Command, String) {
        let mut command = crate::process::command("git");
        command
            .args([
                "-c",
                "core.quotePath=false",
                "-c",
                "advice.addEmbeddedRepo=false",
            ])
            .current_dir(&self.root);
        for name in LEADING_ASTRAY {
            command.env_remove(name);
        }
        options(&mut command);
        let mut words = Vec::new();
        for arg in args {
            command.arg(arg.as_ref());
            words.push(arg.as_ref().to_string_lossy().into_owned());
        }
        // No lock on the person's index for a mere refresh, no pager, no question at the
        // terminal, messages that can be distinguished, and objects as they are (`git replace` shows
        // others in their place).
        command
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        (command, words.join(" "))
    }
}

impl Asked {
    fn start((mut command, what): (Command, String), group: Group) -> Self {
        Self {
            child: command.spawn(),
            what,
            patience: PATIENCE,
            group,
        }
    }

    /// The same question with another patience.
    pub(crate) fn within(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// All that git printed.
    pub(crate) fn bytes(self) -> Result<Vec<u8>, GitError> {
        let answer = self.finish()?;
        match answer.code {
            Some(0) => Ok(answer.stdout),
            Some(_) | None => Err(answer.error()),
        }
    }

    /// Whether git got to everything; it says 1 if not, and 128 if to nothing, which is an error.
    pub(crate) fn mostly(self) -> Result<bool, GitError> {
        let answer = self.finish()?;
        match answer.code {
            Some(code @ (0 | 1)) => Ok(code == 0),
            Some(_) | None => Err(answer.error()),
        }
    }

    /// What git printed, or if it said no, every word of that.
    pub(crate) fn said(self) -> Result<String, GitError> {
        let answer = self.finish()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        if answer.code == Some(0) {
            return Ok(text(&answer.stdout));
        }
        let words = [text(&answer.stderr), text(&answer.stdout)];
        let words = words.into_iter().find(|words| !words.is_empty());
        Err(words.map_or_else(|| answer.error(), GitError::new))
    }

    /// The one line that git printed.
    pub(crate) fn line(self) -> Result<String, GitError> {
        let bytes = self.bytes()?;
        Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
    }

    /// The paths that git printed with `-z`.
    pub(crate) fn paths(self) -> Result<Vec<String>, GitError> {
        let bytes = self.bytes()?;
        let paths = bytes
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty());
        Ok(paths
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect())
    }

    /// Whether git said yes.
    pub(crate) fn yes(self) -> bool {
        self.finish().is_ok_and(|answer| answer.code == Some(0))
    }

    fn finish(self) -> Result<GitOutput, GitError> {
        let Self {
            child,
            what,
            patience,
            group,
        } = self;
        let answer = child.and_then(|child| wait(child, patience, group));
        let output = answer.map_err(|error| GitError {
            what: if error.kind() == io::ErrorKind::NotFound {
                "git is not installed, or not in PATH".to_owned()
            } else if error.kind() == io::ErrorKind::TimedOut {
                format!(
                    "git {what}: no answer within {} seconds; is one of the repository's files a named pipe, or on a disk that does not answer?",
                    patience.as_millis().div_ceil(1000)
                )
            } else {
                format!("git {what}: {error}")
            },
            is_silent: true,
        })?;
        Ok(GitOutput {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: output.stderr,
            what,
        })
    }
}

impl GitOutput {
    /// The first line of a no.
    fn error(&self) -> GitError {
        let stderr = String::from_utf8_lossy(&self.stderr);
        let told = stderr.lines().find(|line| !line.trim().is_empty());
        GitError::new(format!(
            "git {}: {}",
            self.what,
            told.unwrap_or("failed without a message")
        ))
    }
}

/// One of a child's pipes, until its end, and what came through it.
struct Pipe {
    end: Option<OwnedFd>,
    text: Vec<u8>,
}

impl Pipe {
    fn read(&mut self) -> io::Result<()> {
        let Some(end) = &self.end else {
            return Ok(());
        };
        self.text.reserve(PIECE);
        match rustix::io::read(end, rustix::buffer::spare_capacity(&mut self.text)) {
            Ok(0) => self.end = None,
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        Ok(())
    }
}

/// Reads what a child prints until it ends; one that takes too long is ended.
fn wait(mut child: Child, patience: Duration, group: Group) -> io::Result<Output> {
    let until = Instant::now() + patience;
    let ends = [
        child.stdout.take().map(OwnedFd::from),
        child.stderr.take().map(OwnedFd::from),
    ];
    let mut pipes = ends.map(|end| Pipe {
        end,
        text: Vec::new(),
    });
    loop {
        let open = pipes.iter().filter_map(|pipe| pipe.end.as_ref());
        let mut open: Vec<_> = open.map(|end| PollFd::new(end, PollFlags::IN)).collect();
        if open.is_empty() {
            break;
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            // It may have answered while a process that it started holds the pipe open.
            let answered = has_ended(&child);
            if !answered || group == Group::Own {
                end(&child, group);
            }
            if answered {
                break;
            }
            child.wait()?;
            return Err(io::ErrorKind::TimedOut.into());
        }
        match poll(&mut open, Timespec::try_from(left).ok().as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let ready: Vec<bool> = open.iter().map(|end| !end.revents().is_empty()).collect();
        let open = pipes.iter_mut().filter(|pipe| pipe.end.is_some());
        for (pipe, _) in open.zip(ready).filter(|(_, is_ready)| *is_ready) {
            pipe.read()?;
        }
    }
    let [stdout, stderr] = pipes.map(|pipe| pipe.text);
    Ok(Output {
        status: child.wait()?,
        stdout,
        stderr,
    })
}

/// Ends a child: first so that it can take its locks away, then in any case. It stays a zombie, so
/// that its number is not reused yet.
fn end(child: &Child, group: Group) {
    let signal = |signal: Signal| {
        // What has ended already needs no end.
        let _ended = pid(child).map(|pid| match group {
            Group::Ours => kill_process(pid, signal),
            Group::Own => kill_process_group(pid, signal),
        });
    };
    signal(Signal::TERM);
    let until = Instant::now() + GRACE;
    let mut pause = Duration::from_micros(200);
    while !has_ended(child) && Instant::now() < until {
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
    signal(Signal::KILL);
}

fn has_ended(child: &Child) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    let status = pid(child).map(|pid| waitid(WaitId::Pid(pid), options));
    matches!(status, Some(Ok(Some(_))))
}

fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// How many files of a directory git keeps; none where there is no repository.
pub(crate) fn tracked(root: &Path, directory: &Path) -> Result<usize, String> {
    let git = match Git::at(root) {
        Ok(git) => git,
        Err(error) if error.is_silent() => return Err(error.to_string()),
        Err(_) => return Ok(0),
    };
    let asked = [
        "ls-files".as_ref(),
        "-z".as_ref(),
        "--".as_ref(),
        directory.as_os_str(),
    ];
    let kept = git.ask(asked).within(AT_ONCE).paths();
    kept.map(|paths| paths.len())
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// Git holds the lock of the index while the hook runs; a process that is ended without warning
    /// leaves it behind, and no commit is possible any more.
    #[test]
    fn a_change_that_takes_too_long_is_ended_and_leaves_no_lock() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(".git").join(name);
        let init = Command::new("git")
            .args(["init", "-q"])
            .current_dir(dir.path())
            .status();
        assert!(init.unwrap().success());
        let hook = path("hooks/pre-commit");
        std::fs::create_dir_all(path("hooks")).unwrap();
        let script = "#!/bin/sh\n: > .git/begun\nwhile [ -e .git/wait ]; do sleep 0.05; done\n";
        fs::replace(&hook, script.as_bytes(), fs::Durability::Lazy).unwrap();
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::File::create(path("wait")).unwrap();
        let git = Git::at(dir.path()).unwrap();
        let args = ["-c", "user.name=x", "-c", "user.email=x@example.org"];
        let commit = ["commit", "-qa", "--allow-empty", "-m", "x"];
        let asked = git.act(args.iter().chain(&commit));
        // However slow the machine is, the hook has begun.
        while !path("begun").exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(path("index.lock").exists());
        let error = asked.within(Duration::ZERO).said().unwrap_err();
        std::fs::remove_file(path("wait")).unwrap();
        assert!(error.is_silent(), "{error}");
        assert!(error.to_string().contains("no answer within"), "{error}");
        assert!(!path("index.lock").exists());
    }
}
