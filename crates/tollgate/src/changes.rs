//! What changed on a branch, for the guards that must know: the only fact of an event for
//! which a process is started, and only at a gate.
//!
//! Git gets arguments, never a shell, and a few seconds in all: an agent waits for the answer.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// How long all of it may take. A hook has ten seconds.
const DEADLINE: Duration = Duration::from_secs(5);

/// Branches that work is usually taken from.
const TRUNKS: [&str; 2] = ["main", "master"];

/// The files in `directory` that differ from where the branch left `base`, or else the trunk:
/// committed, staged, changed or new.
pub(crate) fn since(directory: &Path, base: Option<&str>) -> Result<Vec<String>, String> {
    let git = Git {
        directory,
        until: Instant::now() + DEADLINE,
    };
    let start = base
        .into_iter()
        .chain(TRUNKS)
        .find_map(|name| {
            let reference = format!("refs/heads/{name}");
            git.run(&["merge-base", "HEAD", &reference]).ok()
        })
        .map_or_else(|| "HEAD".to_owned(), |commit| commit.trim().to_owned());
    let differing = git.run(&[
        "diff",
        "--name-only",
        "--relative",
        "--no-renames",
        "--no-ext-diff",
        "-z",
        &start,
        "--",
    ])?;
    let new = git.run(&["ls-files", "--others", "--exclude-standard", "-z"])?;
    let files = differing.split('\0').chain(new.split('\0'));
    Ok(files
        .filter(|file| !file.is_empty())
        .map(str::to_owned)
        .collect())
}

struct Git<'a> {
    directory: &'a Path,
    until: Instant,
}

impl Git<'_> {
    /// What git prints, if it succeeds in time.
    fn run(&self, args: &[&str]) -> Result<String, String> {
        let mut command = Command::new("git");
        command
            .arg("-C")
            .arg(self.directory)
            // A project's configuration names programs that git would start.
            .args(["--no-pager", "-c", "core.fsmonitor=false"])
            .args(args)
            .env("GIT_OPTIONAL_LOCKS", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0);
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(name);
        }
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let mut output = child.stdout.take();
        let (give, take) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = output.as_mut().map(|pipe| pipe.read_to_end(&mut bytes));
            let whole = read.is_some_and(|read| read.is_ok());
            // Nobody takes it once the deadline has passed.
            let _late = give.send(whole.then_some(bytes));
        });
        let succeeded = self.wait(&mut child)?;
        // Whoever else holds the pipe open is not waited for.
        let left = self.until.saturating_duration_since(Instant::now());
        match take.recv_timeout(left) {
            Ok(Some(bytes)) if succeeded => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            _ => {
                let verb = args.first().copied().unwrap_or_default();
                Err(format!("git {verb} failed"))
            }
        }
    }

    /// Waits until the child ends; at the deadline the whole group ends.
    fn wait(&self, child: &mut Child) -> Result<bool, String> {
        let mut pause = Duration::from_micros(200);
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status.success()),
                Ok(None) if Instant::now() < self.until => std::thread::sleep(pause),
                Ok(None) => {
                    end(child);
                    return Err("it takes too long".to_owned());
                }
                Err(error) => {
                    end(child);
                    return Err(error.to_string());
                }
            }
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }
}

fn end(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // What has ended already needs no end.
    let _ended = group.map(|group| kill_process_group(group, Signal::KILL));
    let _reaped = child.wait();
}
