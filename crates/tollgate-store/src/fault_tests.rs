//! Killed between any two file operations, and every operation failing once or forever.
//!
//! The loops end when a run meets no more steps than it survived, so that a new operation in an
//! update is covered the day it is written. The killed runs are real processes: this test binary,
//! started again for one test.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use jiff::Timestamp;
use serde_json::Value;

use super::edit::{Edit, EditFault};
use super::pending::Pending;
use super::store::{Store, StoreError, Submitted, UpdateError};
use crate::fs::{Durability, Plan, Strike, TEMPORARY, inject};

const OLD: &str =
    "{\n  \"state_version\": 7,\n  \"count\": 0,\n  \"late\": 0,\n  \"other\": [\n    1.0\n  ]\n}";
const DIRECTORY: &str = "TOLLGATE_TEST_DIRECTORY";
const KILL_AT: &str = "TOLLGATE_TEST_KILL_AT";
const LAZY: &str = "TOLLGATE_TEST_LAZY";

/// How an update is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Synchronised, as transitions are.
    Synced,
    /// By edits and not synchronised, as events are recorded.
    Lazy,
}

struct Scene {
    _dir: tempfile::TempDir,
    root: PathBuf,
    late: usize,
}

impl Scene {
    /// A state, and changes that wait.
    #[expect(clippy::disallowed_methods, reason = "tests plant files")]
    fn new(late: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_owned();
        std::fs::create_dir(root.join(".isdlc")).unwrap();
        std::fs::write(root.join(".isdlc/state.json"), OLD).unwrap();
        for second in 0..late {
            let now = Timestamp::from_second(i64::try_from(second).unwrap()).unwrap();
            Pending::new(&root.join("home"))
                .add(
                    now,
                    &[Edit::add(&["late"], 1)],
                    &super::store::Cause::default(),
                    Durability::Lazy,
                )
                .unwrap();
        }
        Self {
            _dir: dir,
            root,
            late,
        }
    }

    fn state(&self) -> Value {
        let bytes = std::fs::read(self.root.join(".isdlc/state.json")).unwrap();
        serde_json::from_slice(&bytes).expect("a readable state")
    }

    fn temporaries(&self) -> usize {
        [".isdlc", "home", "home/spool"]
            .iter()
            .filter_map(|name| self.root.join(name).read_dir().ok())
            .flatten()
            .filter(|entry| {
                let name = entry.as_ref().unwrap().file_name();
                name.as_encoded_bytes().starts_with(TEMPORARY.as_bytes())
            })
            .count()
    }

    /// The state is the old one or the new one, and the waiting changes are in all or none.
    fn assert_old_or_new(&self) -> u64 {
        let state = self.state();
        let number = |key: &str| state[key].as_u64().unwrap();
        let seen = (number("state_version"), number("count"), number("late"));
        let new = (8, 1, self.late as u64);
        assert!(
            seen == (7, 0, 0) || seen == new,
            "neither old nor new: {seen:?}"
        );
        seen.1
    }

    /// After one more update by a healthy process everything is there once, and nothing else.
    fn assert_heals(&self, way: Way, done: u64) {
        update(&self.root, way).unwrap();
        let state = self.state();
        assert_eq!(state["count"], done + 1);
        assert_eq!(state["late"], self.late, "each waiting change once");
        assert_eq!(state["other"].to_string(), "[1.0]");
        assert_eq!(self.temporaries(), 0);
        assert_eq!(store(&self.root).waiting(), 0);
        assert!(!self.root.join("home/intent.json").exists());
    }
}

fn store(root: &Path) -> Store {
    Store::new(root.join(".isdlc/state.json"), root.join("home"))
}

fn update(root: &Path, way: Way) -> Result<(), UpdateError<EditFault>> {
    let store = store(root);
    let edits = [Edit::add(&["count"], 1)];
    let now = Timestamp::UNIX_EPOCH;
    match way {
        Way::Synced => {
            store.update(now, |document| {
                super::edit::apply(&edits, document)?;
                Ok(Durability::Synced)
            })?;
        }
        Way::Lazy => match store.submit(now, Durability::Lazy, &edits)? {
            Submitted::Applied(_) => {}
            Submitted::Pending(name) => panic!("{name} waits"),
        },
    }
    Ok(())
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the worker's only input")]
fn worker() {
    let (Ok(root), Ok(at)) = (std::env::var(DIRECTORY), std::env::var(KILL_AT)) else {
        return;
    };
    inject(Some(Plan {
        at: at.parse().unwrap(),
        strike: Strike::Kill,
    }));
    let way = match std::env::var(LAZY) {
        Ok(_) => Way::Lazy,
        Err(_) => Way::Synced,
    };
    update(Path::new(&root), way).unwrap();
}

fn killed_at(root: &Path, way: Way, at: usize) -> bool {
    let mut worker = Command::new(std::env::current_exe().unwrap());
    worker
        .args(["--exact", "fault_tests::worker"])
        .env(DIRECTORY, root)
        .env(KILL_AT, at.to_string())
        .stdout(std::process::Stdio::null());
    if way == Way::Lazy {
        worker.env(LAZY, "1");
    }
    let status = worker.status().unwrap();
    assert!(status.success() || status.signal() == Some(9), "{status}");
    !status.success()
}

#[test]
fn killed_between_any_two_operations_the_state_is_old_or_new_and_late_changes_are_made_once() {
    for (way, late) in [(Way::Synced, 0), (Way::Synced, 3), (Way::Lazy, 0)] {
        let (mut at, mut old, mut new) = (0, 0, 0);
        loop {
            at += 1;
            let scene = Scene::new(late);
            let killed = killed_at(&scene.root, way, at);
            let done = scene.assert_old_or_new();
            scene.assert_heals(way, done);
            if !killed {
                assert_eq!(done, 1);
                break;
            }
            *(if done == 0 { &mut old } else { &mut new }) += 1;
        }
        println!(
            "{way:?}, {late} late changes: killed at {} steps, {old} old, {new} new",
            at - 1
        );
        // Nothing is left to be done behind a rename that is not synced.
        assert!(old >= 8 && (new >= 1 || way == Way::Lazy));
    }
}

#[test]
fn killed_twice_in_a_row_nothing_is_made_twice() {
    // The second victim dies while it cleans up after the first.
    for first in 8..40 {
        let probe = Scene::new(2);
        if !killed_at(&probe.root, Way::Synced, first) {
            break;
        }
        for second in [1, 2, 3, 5, 8, 13, 21] {
            let scene = Scene::new(2);
            killed_at(&scene.root, Way::Synced, first);
            let before = scene.state()["count"].as_u64().unwrap();
            killed_at(&scene.root, Way::Synced, second);
            let after = scene.state()["count"].as_u64().unwrap();
            assert!(after <= before + 1);
            scene.assert_heals(Way::Synced, after);
        }
    }
}

#[test]
fn whatever_call_fails_once_or_for_ever_the_state_is_old_or_new() {
    // EIO, ENOSPC, EROFS, EACCES, EMFILE, EDQUOT.
    let ways = [(Way::Synced, 2), (Way::Lazy, 0)];
    for errno in [5, 28, 30, 13, 24, 122] {
        let strikes = [Strike::Once(errno), Strike::Forever(errno)];
        for (strike, (way, late)) in strikes.into_iter().flat_map(|s| ways.map(|way| (s, way))) {
            let mut at = 0;
            loop {
                at += 1;
                let scene = Scene::new(late);
                inject(Some(Plan { at, strike }));
                let result = update(&scene.root, way);
                let steps = inject(None);
                let done = scene.assert_old_or_new();
                match result {
                    Ok(()) => assert_eq!(done, 1),
                    Err(UpdateError::Store(StoreError::Unconfirmed { .. })) => {
                        assert_eq!(done, 1);
                    }
                    Err(error) => assert_eq!(done, 0, "{at}: {error}"),
                }
                scene.assert_heals(way, done);
                if steps < at {
                    break;
                }
            }
        }
    }
}
