//! Finds the commit that `tollgate --version` names.
//!
//! The first of these: `TOLLGATE_COMMIT` of the environment, the file that Cargo puts into a crate's
//! archive, and git. Without any of them the version has no commit. The same source gives the same bytes:
//! there is no date and no "dirty" in it.

use std::path::Path;
use std::process::Command;

/// How much of a commit's name is shown.
const SHOWN: usize = 10;

fn main() {
    println!("cargo::rerun-if-env-changed=TOLLGATE_COMMIT");
    let version = env!("CARGO_PKG_VERSION");
    let commit = given().or_else(archived).or_else(checked_out);
    let commit = commit.filter(|name| name.len() >= SHOWN && name.bytes().all(is_hex));
    let version = match commit.as_ref().and_then(|name| name.get(..SHOWN)) {
        Some(commit) => format!("{version} ({commit})"),
        None => version.to_owned(),
    };
    println!("cargo::rustc-env=TOLLGATE_VERSION={version}");
}

fn is_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

#[expect(
    clippy::disallowed_methods,
    reason = "Cargo speaks to build scripts so"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// What a packager says.
fn given() -> Option<String> {
    variable("TOLLGATE_COMMIT")
}

/// What `cargo package` wrote down.
fn archived() -> Option<String> {
    let file = Path::new(&variable("CARGO_MANIFEST_DIR")?).join(".cargo_vcs_info.json");
    let text = std::fs::read_to_string(file).ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    rest.split('"').nth(1).map(str::to_owned)
}

/// What git has checked out. Only for builds that ship: elsewhere each commit would compile the program
/// again.
fn checked_out() -> Option<String> {
    if variable("PROFILE")? != "release" {
        return None;
    }
    // An archive that was unpacked inside of another repository has none of its commits.
    if git(&["rev-parse", "--show-prefix"])? != "crates/tollgate/" {
        return None;
    }
    for name in [
        "HEAD",
        "packed-refs",
        &git(&["rev-parse", "--symbolic-full-name", "HEAD"])?,
    ] {
        let file = git(&["rev-parse", "--git-path", name])?;
        if Path::new(&file).exists() {
            println!("cargo::rerun-if-changed={file}");
        }
    }
    git(&["rev-parse", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
