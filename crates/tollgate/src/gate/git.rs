//! Asking git: argv only, no shell, nobody's index touched, and not waited for without end.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use tollgate_core::git::{Head, Repository, Stands};

/// What git uses to find another repository or index than the one it stands in. A hook of git
/// has them set; they would lead our questions astray.
const LEADING_ASTRAY: [&str; 9] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_CEILING_DIRECTORIES",
];

/// How long git may take: as long as a check. It waits for ever where one of its own files is a
/// pipe, and so would an agent.
const PATIENCE: Duration = Duration::from_mins(5);

/// How long git may take for what stands in one of its files.
pub(crate) const AT_ONCE: Duration = Duration::from_secs(5);

/// How much of an answer is read at once, which is as much as a pipe holds.
const PIECE: usize = 64 << 10;

/// The project's repository.
#[derive(Debug)]
pub(crate) struct Git {
    root: PathBuf,
    repository: Repository,
}

/// Why git gave no answer.
#[derive(Debug)]
pub(crate) struct GitError(String);

impl std::fmt::Display for GitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl GitError {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

/// A question that git is working on.
#[derive(Debug)]
pub(crate) struct Asked {
    child: io::Result<Child>,
    what: String,
    patience: Duration,
}

impl Git {
    /// The repository that `root` lies in.
    pub(crate) fn at(root: &Path) -> Result<Self, GitError> {
        let repository = Repository::discover(root).ok_or_else(|| {
            GitError::new(format!(
                "{} is not in a git repository, so nobody can tell what changed; run `git init`, or run the gates in a checkout",
                root.display()
            ))
        })?;
        Ok(Self {
            root: root.to_owned(),
            repository,
        })
    }

    /// The branch, as `.execution_state` has it: `HEAD` without one.
    pub(crate) fn branch(&self) -> String {
        match self.repository.head() {
            Head::Branch(name) => name,
            Head::AskGit => self
                .ask(["rev-parse", "--abbrev-ref", "HEAD"])
                .line()
                .unwrap_or_else(|_| "HEAD".to_owned()),
            Head::Detached | Head::None => "HEAD".to_owned(),
        }
    }

    /// The commit that is checked out, from files where they say it.
    pub(crate) fn head_commit(&self) -> Stands {
        self.repository.head_commit()
    }

    /// The commit at the end of a branch, of ours or of a remote, from files where they say it.
    pub(crate) fn commit_of(&self, name: &str) -> Stands {
        self.repository.commit_of(name)
    }

    /// Whether history is cut off somewhere, so that what two commits have in common may change.
    pub(crate) fn is_shallow(&self) -> bool {
        self.repository.common_dir.join("shallow").exists()
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
        std::fs::read(log).map_or(0, |log| log.split(|byte| *byte == b'\n').count() as u64)
    }

    /// The directory that holds `.git`.
    pub(crate) fn top(&self) -> &Path {
        &self.repository.work_tree
    }

    /// Starts git on a question without waiting for the answer.
    pub(crate) fn ask<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Asked {
        Asked::start(self.command(args))
    }

    /// The same with another index.
    pub(crate) fn ask_with_index<S: AsRef<OsStr>>(
        &self,
        index: &Path,
        args: impl IntoIterator<Item = S>,
    ) -> Asked {
        let mut command = self.command(args);
        command.env("GIT_INDEX_FILE", index);
        Asked::start(command)
    }

    fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new("git");
        command
            .args([
                "-c",
                "core.quotePath=false",
                "-c",
                "advice.addEmbeddedRepo=false",
            ])
            .args(args)
            .current_dir(&self.root);
        for name in LEADING_ASTRAY {
            command.env_remove(name);
        }
        // No lock on the person's index for a mere refresh, no pager, no question at the
        // terminal, and messages that can be told apart.
        command
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

impl Asked {
    fn start(mut command: Command) -> Self {
        let words: Vec<_> = command
            .get_args()
            .skip(4)
            .map(|arg| arg.to_string_lossy().into_owned())
            .collect();
        Self {
            child: command.spawn(),
            what: words.join(" "),
            patience: PATIENCE,
        }
    }

    /// The same question with another patience.
    pub(crate) fn within(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// All that git printed.
    pub(crate) fn bytes(self) -> Result<Vec<u8>, GitError> {
        match self.finish()? {
            (Some(0), stdout, _) => Ok(stdout),
            (Some(_) | None, _, error) => Err(error),
        }
    }

    /// All that git printed; that it did not get to everything (it says 1 then, and 128 if to
    /// nothing) is no error.
    pub(crate) fn mostly(self) -> Result<Vec<u8>, GitError> {
        match self.finish()? {
            (Some(0 | 1), stdout, _) => Ok(stdout),
            (Some(_) | None, _, error) => Err(error),
        }
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
        self.finish().is_ok_and(|(code, ..)| code == Some(0))
    }

    fn finish(self) -> Result<(Option<i32>, Vec<u8>, GitError), GitError> {
        let Self {
            child,
            what,
            patience,
        } = self;
        let answer = child.and_then(|child| wait(child, patience));
        let answer = answer.map_err(|error| {
            GitError::new(if error.kind() == io::ErrorKind::NotFound {
                "git is not installed, or not in PATH".to_owned()
            } else if error.kind() == io::ErrorKind::TimedOut {
                format!(
                    "git {what}: no answer within {} seconds; is one of its files a pipe, or on a disk that is away?",
                    patience.as_secs()
                )
            } else {
                format!("git {what}: {error}")
            })
        })?;
        let stderr = String::from_utf8_lossy(&answer.stderr);
        let told = stderr.lines().find(|line| !line.trim().is_empty());
        let error = GitError::new(format!(
            "git {what}: {}",
            told.unwrap_or("failed without a word")
        ));
        Ok((answer.status.code(), answer.stdout, error))
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
fn wait(mut child: Child, patience: Duration) -> io::Result<Output> {
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
            child.kill()?;
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
