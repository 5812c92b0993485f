//! The agents' packages, and a network that ends at this machine.
//!
//! A test whose agent is not there says so where it cannot be overlooked. One whose agent is there
//! runs once more in a process of its own, in a network namespace that has nothing but loopback:
//! neither the agent nor anything it starts can reach anybody.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::agent::Agent;

/// Agent, npm package, version, program.
const PACKAGES: &str = include_str!("../../../../scripts/agents/packages");

/// Set in the process that runs the test itself.
const INSIDE: &str = "TOLLGATE_AGENTS_INSIDE";

/// Ways into a namespace, the first that works; then loopback is switched on.
const DOORS: [&[&str]; 2] = [&["unshare", "-n"], &["unshare", "-r", "-n"]];
const LOOPBACK: &str = "ip link set lo up";

/// Before that: all is read-only but a `/tmp` and a `/home` of its own, or nothing runs. What the test needs of the
/// old ones, `KEPT`, is in the new ones too.
const READ_ONLY: &str = r#"
mount --make-rprivate / && mount -t tmpfs tmpfs /mnt && mkdir /mnt/tmp /mnt/home &&
mount --rbind /tmp /mnt/tmp && mount --rbind /home /mnt/home &&
awk '{print $5}' /proc/self/mountinfo | while read -r at; do
    case $at in /proc* | /sys* | /dev* | /tmp* | /home* | /mnt*) ;; *) mount -o remount,bind,ro "$at" ;; esac
done
mount -t tmpfs tmpfs /tmp && mount -t tmpfs tmpfs /home && for at in KEPT; do
    mkdir -p "$at" && mount --bind "/mnt$at" "$at" && mount -o remount,bind,ro "$at" || exit 1
done && umount -l -R /mnt && ! touch /etc/tollgate-test /var/tollgate-test 2>/dev/null && unset TMPDIR"#;

/// Runs `body` where the agent can be had, shut off from the network.
pub(crate) fn run(agent: Agent, test: &str, body: impl FnOnce()) {
    run_behind(agent, test, &[], LOOPBACK, body);
}

/// The same, with every file that existed before read-only.
pub(crate) fn run_without_writing(agent: Agent, test: &str, body: impl FnOnce()) {
    let setup = format!("{LOOPBACK} && {}", READ_ONLY.replace("KEPT", &kept()));
    if variable(INSIDE).is_none() && door(&["-m"], &setup).is_none() {
        return say(&format!(
            "SKIPPED: {test}: no file system can be made read-only here"
        ));
    }
    run_behind(agent, test, &["-m"], &setup, body);
}

/// What a test reads that lies in `/tmp` or `/home`: the repository, what was built, the agents. As words of a shell.
fn kept() -> String {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    let program = std::env::current_exe().unwrap();
    let built = program.ancestors().nth(2);
    let all = [repository, built, Some(&cache())].map(|path| path.unwrap().to_owned());
    let is_hidden = |path: &&PathBuf| path.starts_with("/tmp") || path.starts_with("/home");
    let quoted = |path: &PathBuf| format!("'{}'", path.display());
    let words: Vec<String> = all.iter().filter(is_hidden).map(quoted).collect();
    words.join(" ")
}

fn run_behind(agent: Agent, test: &str, more: &[&str], setup: &str, body: impl FnOnce()) {
    if variable(INSIDE).is_some() {
        return body();
    }
    if let Err(why) = available(agent) {
        return say(&format!("SKIPPED: {test}: {why}"));
    }
    let _seat = seat();
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new("env");
    if let Some(door) = door(more, setup) {
        let script = format!("{setup} && exec \"$0\" \"$@\"");
        command.args(door).args(more).args(["sh", "-c", &script]);
    } else {
        say(&format!(
            "{test}: no network namespace can be had; the agent is kept offline by its settings alone"
        ));
    }
    command.arg(program);
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]);
    // Copilot asks before it works in another directory for temporary files than the system's.
    let output = command.env(INSIDE, "1").env_remove("TMPDIR").output();
    let output = output.unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let told = text(&output.stdout);
    assert!(
        output.status.success() && told.contains("1 passed"),
        "{told}\n{}",
        text(&output.stderr)
    );
}

/// An agent takes half a gigabyte: two at a time, however many tests run at once.
fn seat() -> MutexGuard<'static, ()> {
    static SEATS: [Mutex<()>; 2] = [Mutex::new(()), Mutex::new(())];
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed) % SEATS.len();
    // A test that failed in its seat has left it all the same.
    SEATS[next].lock().unwrap_or_else(PoisonError::into_inner)
}

/// The agent's program, if its package is there.
pub(crate) fn program(agent: Agent) -> PathBuf {
    let [_, _, version, program] = package(agent);
    let name = format!("{}-{version}", agent.name());
    cache().join(name).join("package").join(program)
}

/// The version that is tested.
pub(crate) fn version(agent: Agent) -> &'static str {
    let [_, _, version, _] = package(agent);
    version.strip_suffix("-linux-x64").unwrap_or(version)
}

/// The interpreter of those that are no programs of their own.
pub(crate) fn node() -> Option<PathBuf> {
    let path = variable("PATH")?;
    let mut found = std::env::split_paths(&path).map(|dir| dir.join("node"));
    found.find(|node| node.is_file())
}

fn available(agent: Agent) -> Result<(), String> {
    if agent == Agent::Gemini && node().is_none() {
        return Err("node is not on PATH".to_owned());
    }
    if program(agent).is_file() {
        return Ok(());
    }
    let [name, package, version, _] = package(agent);
    Err(format!(
        "{name} is not in {}: scripts/agents/fetch gets {package}@{version}",
        cache().display()
    ))
}

fn package(agent: Agent) -> [&'static str; 4] {
    let mut rows = PACKAGES.lines().map(|line| line.split_whitespace());
    let row = rows.find(|row| row.clone().next() == Some(agent.name()));
    row.unwrap().collect::<Vec<_>>().try_into().unwrap()
}

fn cache() -> PathBuf {
    let home = || Path::new(&variable("HOME").unwrap_or_default()).join(".cache");
    let cache = variable("XDG_CACHE_HOME").map_or_else(home, PathBuf::from);
    cache.join("tollgate/agents")
}

fn door(more: &[&str], setup: &str) -> Option<&'static [&'static str]> {
    DOORS.into_iter().find(|door| {
        let mut command = Command::new("env");
        command.args(*door).args(more).args(["sh", "-c", setup]);
        command.output().is_ok_and(|output| output.status.success())
    })
}

/// Past the test harness, which keeps what a passing test prints to itself.
pub(crate) fn say(text: &str) {
    let _gone = std::io::stderr().write_all(format!("{text}\n").as_bytes());
}

#[expect(clippy::disallowed_methods, reason = "the rim of this test")]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
