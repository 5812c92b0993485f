//! The store among real processes: many at once, killed, stopped, and strangers without a lock.
//!
//! A process of the tests is this binary, started again for the one test called `worker`. Nothing
//! here sleeps for luck: a worker says what it has reached, and is told when to go on.
#![expect(
    clippy::disallowed_methods,
    reason = "tests plant files, and workers get their orders from the environment"
)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a test may fail; clippy sees tests only where it says so"
)]

mod concurrency;
mod crash;
mod hostile;
mod strangers;
mod worker;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tollgate_store::fs::TEMPORARY;
use tollgate_store::store::Store;

/// A project with a state of about the size of a real one.
struct Project {
    _dir: tempfile::TempDir,
    root: PathBuf,
}

impl Project {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_owned();
        std::fs::create_dir(root.join(".isdlc")).unwrap();
        let history: Vec<_> = (0..100)
            .map(|n| format!("entry {n} {}", "x".repeat(180)))
            .collect();
        let state = serde_json::json!({"state_version": 100, "n": 0, "history": history});
        std::fs::write(
            state_path(&root),
            serde_json::to_string_pretty(&state).unwrap(),
        )
        .unwrap();
        Self { _dir: dir, root }
    }

    fn store(&self) -> Store {
        store(&self.root)
    }

    fn state(&self) -> Value {
        let bytes = std::fs::read(state_path(&self.root)).unwrap();
        serde_json::from_slice(&bytes).expect("a readable state")
    }

    fn number(&self, key: &str) -> u64 {
        self.state()[key].as_u64().unwrap_or(0)
    }

    fn temporaries(&self) -> Vec<PathBuf> {
        [".isdlc", "home", "home/spool"]
            .iter()
            .filter_map(|name| self.root.join(name).read_dir().ok())
            .flatten()
            .map(|entry| entry.unwrap().path())
            .filter(|path| {
                let name = path.file_name().unwrap();
                name.as_encoded_bytes().starts_with(TEMPORARY.as_bytes())
            })
            .collect()
    }

    fn worker(&self, order: &str) -> Worker {
        Worker::start(
            Command::new(std::env::current_exe().unwrap()),
            &self.root,
            order,
        )
    }
}

fn state_path(root: &Path) -> PathBuf {
    root.join(".isdlc/state.json")
}

fn store(root: &Path) -> Store {
    Store::new(state_path(root), root.join("home")).with_patience(Duration::from_mins(1))
}

/// A process that carries out an order, see `worker.rs`.
struct Worker {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Worker {
    fn start(mut command: Command, root: &Path, order: &str) -> Self {
        let mut child = command
            .args(["--exact", "worker::worker", "--nocapture", "--quiet"])
            .env(worker::ORDER, order)
            .env(worker::ROOT, root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            stdin: child.stdin.take(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    /// The next thing the worker says; `None` when it is gone.
    fn says(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.stdout.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            // What the test harness prints is not meant for us. A line without its end was cut
            // off by a kill.
            if let Some((_, said)) = line.split_once(worker::SAYS)
                && let Some(said) = said.strip_suffix('\n')
            {
                return Some(said.to_owned());
            }
        }
    }

    fn go(&mut self) {
        let mut stdin = self.stdin.take().unwrap();
        stdin.write_all(b"go\n").unwrap();
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    fn succeeds(mut self) -> Vec<String> {
        let mut said = Vec::new();
        while let Some(line) = self.says() {
            said.push(line);
        }
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {said:?}");
        said
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _already_gone = self.child.kill();
        let _status = self.child.wait();
    }
}

/// The tests that load the machine or measure time run one after the other.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
