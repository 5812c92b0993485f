//! Bash as the judge: what its `git` was asked for must have been announced.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use tollgate_core::git::Disk;
use tollgate_shell::{Survey, World, survey};

use crate::{SEED, generate, seeds};

/// Writes its arguments down, one line per call.
const GIT: &str =
    "#!/bin/sh\nprintf '%s ' \"$@\" >> \"$TOLLGATE_TEST_LOG\"\necho >> \"$TOLLGATE_TEST_LOG\"\n";

/// The numbers of the commits in a line of arguments.
fn numbers(line: &str) -> Option<u32> {
    let mut words = line.split(' ').skip_while(|word| *word != "commit").skip(1);
    (words.next()? == "-m").then(|| words.next()?.parse().ok())?
}

fn announced(survey: &Survey) -> BTreeSet<u32> {
    survey
        .runs()
        .filter(|run| run.program() == Some("git"))
        .filter_map(|run| {
            let words: Vec<&str> = run
                .args()
                .iter()
                .filter_map(|word| word.literal())
                .collect();
            numbers(&words.join(" "))
        })
        .collect()
}

fn made(script: &str, dir: &Path) -> Result<BTreeSet<u32>, String> {
    // Of this script alone: one that is not waited for may write when the next one runs.
    let log = tempfile::NamedTempFile::new_in(dir).map_err(|error| error.to_string())?;
    let log = log.path();
    // Bash itself may read a loop's end into a heredoc, and go round for ever.
    let output = Command::new("timeout")
        .args(["-s", "KILL", "20", "bash"])
        .args(["--norc", "--noprofile", "-c", script])
        .current_dir(dir)
        .env_clear()
        .env(
            "PATH",
            format!("{}:/usr/bin:/bin", dir.join("bin").display()),
        )
        .env("HOME", dir)
        .env("TOLLGATE_TEST_LOG", log)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    if matches!(output.status.code(), None | Some(137)) {
        return Err("it does not end".to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("syntax error") || said.contains("unexpected EOF") {
        return Err(said.into_owned());
    }
    let log = std::fs::read_to_string(log).map_err(|error| error.to_string())?;
    Ok(log.lines().filter_map(numbers).collect())
}

#[test]
fn every_commit_that_bash_makes_was_announced_and_no_data_was() {
    let dir = tempfile::tempdir().unwrap();
    let bin = dir.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::fs::write(bin.join("git"), GIT).unwrap();
    std::fs::set_permissions(bin.join("git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let (mut wrong, mut nonsense) = (String::new(), String::new());
    let (mut commits, mut decoys, mut opaque, mut none, mut unread) = (0, 0, 0, 0, 0);
    let seeds = seeds(300);
    for seed in seeds.clone() {
        let script = generate::script(seed);
        let found = survey(
            &script.text,
            &World {
                dir: Some(dir.path()),
                home: None,
                files: &Disk::default(),
            },
        );
        let announced = announced(&found);
        opaque += u32::from(found.opaque);
        let made = match made(&script.text, dir.path()) {
            Ok(made) => made,
            Err(error) => {
                let _infallible = writeln!(nonsense, "{SEED}={seed}: {error}{}", script.text);
                unread += 1;
                continue;
            }
        };
        none += u32::from(made.is_empty());
        commits += made.len();
        decoys += script.decoys.len();
        let missed: Vec<_> = made.difference(&announced).collect();
        let alarms: Vec<_> = script
            .decoys
            .iter()
            .filter(|n| announced.contains(n))
            .collect();
        if !missed.is_empty() || !alarms.is_empty() {
            let _infallible = writeln!(
                wrong,
                "--- {SEED}={seed} (opaque: {}): missed {missed:?}, false alarms {alarms:?}\n{}",
                found.opaque, script.text
            );
        }
    }
    println!(
        "{} scripts from {SEED}={}: {commits} commits made by bash, all announced; {decoys} \
         decoys, none announced; {opaque} scripts opaque, {none} without a commit, \
         {unread} that bash cannot read",
        seeds.end - seeds.start,
        seeds.start
    );
    assert!(wrong.is_empty(), "{wrong}");
    // Bash itself stumbles over heredocs that it prints anew for a substitution. More than that
    // would be a generator of nonsense, which hides what is wrong.
    assert!(unread * 200 <= seeds.end - seeds.start, "{nonsense}");
}
