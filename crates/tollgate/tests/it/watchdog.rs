//! A test that waits for a process without end fails by its name instead of holding up all others:
//! what has run for too long is ended, and named.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// No test needs a process for nearly so long, on a busy machine either.
const LIMIT: Duration = Duration::from_mins(4);

const PAUSE: Duration = Duration::from_secs(5);

static STARTED: Once = Once::new();

/// How the names of these tests' directories begin: those of another run of them are not ours.
pub(crate) fn prefix() -> String {
    format!("tollgate-it-{}-", std::process::id())
}

/// Watches from now on, until the tests are over.
pub(crate) fn watch() {
    STARTED.call_once(|| {
        std::thread::spawn(|| {
            let mut seen = HashMap::new();
            loop {
                std::thread::sleep(PAUSE);
                for line in end_the_old(&mut seen) {
                    // Not by the macro: that would belong to the test that happened to come first.
                    let _told = writeln!(std::io::stderr(), "WATCHDOG: {line}");
                }
            }
        });
    });
}

/// Ends what was first seen too long ago; says what that was.
fn end_the_old(seen: &mut HashMap<i32, Instant>) -> Vec<String> {
    let now = Instant::now();
    let ours = ours();
    seen.retain(|pid, _| ours.contains(pid));
    let mut told = Vec::new();
    for pid in ours {
        let since = *seen.entry(pid).or_insert(now);
        if now.duration_since(since) < LIMIT {
            continue;
        }
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let ended = Pid::from_raw(pid).map(|pid| kill_process(pid, Signal::KILL));
        told.push(format!(
            "{pid} ran for over {LIMIT:?} and was ended ({ended:?}): {line}"
        ));
    }
    told
}

/// What these tests started: the descendants of this process, and whoever stands in one of its
/// directories.
fn ours() -> Vec<i32> {
    let parents: HashMap<i32, i32> = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, parent(pid)?)))
        .collect();
    let directories = std::env::temp_dir().join(prefix());
    let me = i32::try_from(std::process::id()).unwrap();
    let descends = |pid: i32| {
        std::iter::successors(parents.get(&pid).copied(), |pid| parents.get(pid).copied())
            .any(|above| above == me)
    };
    let pids = parents.keys().copied();
    pids.filter(|pid| descends(*pid) || stands_in(*pid, &directories))
        .collect()
}

/// The field behind the name, which may hold anything, and the status.
fn parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat).into_owned();
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

fn stands_in(pid: i32, directories: &Path) -> bool {
    let cwd: PathBuf = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
    let begins = directories.as_os_str().as_encoded_bytes();
    cwd.as_os_str().as_encoded_bytes().starts_with(begins)
}

#[test]
fn it_knows_its_own() {
    let project = super::project::TestProject::empty();
    // Its parent is gone at once; it stands in a directory of ours.
    let orphan = "sleep 60 & echo $!";
    let child = std::process::Command::new("sh")
        .args(["-c", &format!("{orphan}; exec sleep 60")])
        .current_dir(project.root())
        .stdout(std::process::Stdio::piped())
        .spawn();
    let mut child = child.unwrap();
    let mut line = String::new();
    let out = child.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).unwrap();
    let orphan: i32 = line.trim().parse().unwrap();
    let pid = i32::try_from(child.id()).unwrap();
    assert!(ours().contains(&pid) && ours().contains(&orphan));

    child.kill().unwrap();
    child.wait().unwrap();
    assert!(ours().contains(&orphan), "it has another parent now");
    let mut seen = HashMap::from([(orphan, Instant::now().checked_sub(LIMIT).unwrap())]);
    let told = end_the_old(&mut seen);
    assert!(
        told.len() == 1 && told[0].ends_with("sleep 60 "),
        "{told:?}"
    );
    let begun = Instant::now();
    while ours().contains(&orphan) {
        assert!(begun.elapsed() < LIMIT, "it was not ended");
        std::thread::sleep(Duration::from_millis(10));
    }
}
