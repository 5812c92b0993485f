//! One process and its store: what is kept, refused and reported.

use super::*;
use serde_json::json;

const OLD: &str = "{\n  \"z\": 1.0,\n  \"state_version\": 7,\n  \"a\": {\n    \"n\": 1\n  }\n}\n";

struct Scene {
    dir: tempfile::TempDir,
    store: Store,
}

#[expect(clippy::disallowed_methods, reason = "tests plant files")]
impl Scene {
    fn new(state: Option<&str>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".isdlc/state.json");
        if let Some(state) = state {
            std::fs::create_dir(dir.path().join(".isdlc")).unwrap();
            std::fs::write(&path, state).unwrap();
        }
        let store = Store::new(path, dir.path().join(".tollgate/local/state"));
        Self { dir, store }
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.store.path()).unwrap()
    }

    fn plant(&self, text: &str) {
        std::fs::write(self.store.path(), text).unwrap();
    }

    fn add(&self) -> Result<Updated, UpdateError<EditFault>> {
        self.store.update(now(), |document| {
            edit::apply(&[Edit::add(&["a", "n"], 1)], document)?;
            Ok(Durability::Lazy)
        })
    }
}

/// Far from the files' times, so that a corrupt file is not waited for.
fn now() -> Timestamp {
    "2020-02-08T20:00:00Z".parse().unwrap()
}

#[test]
fn an_update_changes_its_place_and_the_version_and_nothing_else() {
    let scene = Scene::new(Some(OLD));
    let updated = scene.add().unwrap();
    assert_eq!((updated.version, updated.outcome), (8, Written::Yes));
    assert_eq!(
        scene.text(),
        OLD.replace('7', "8").replace("\"n\": 1", "\"n\": 2")
    );
}

#[test]
fn an_empty_object_is_a_state() {
    let scene = Scene::new(Some("{}"));
    let edits = [Edit::set(&["a"], 1)];
    let submitted = scene.store.submit(now(), Durability::Lazy, &edits).unwrap();
    assert!(matches!(submitted, Submitted::Applied(_)));
    assert!(scene.text().contains("\"a\": 1"));
}

#[test]
fn a_private_directory_on_another_file_system_is_no_hindrance() {
    let scene = Scene::new(Some(OLD));
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else {
        return;
    };
    let store = Store::new(scene.store.path(), elsewhere.path().join("state"));
    let edits = [Edit::add(&["a", "n"], 1)];
    for version in 8..11 {
        match store.submit(now(), Durability::Lazy, &edits).unwrap() {
            Submitted::Applied(updated) => {
                assert_eq!(updated.version, version);
            }
            Submitted::Pending(name) => panic!("{name} waits"),
        }
    }
    assert!(scene.text().contains("\"n\": 4"));
    let beside = scene.dir.path().join(".isdlc").read_dir().unwrap();
    assert_eq!(beside.count(), 1);
}

#[test]
fn what_changes_nothing_writes_nothing() {
    let scene = Scene::new(Some("{ \"compact\":1}"));
    let updated = scene.store.settle(now()).unwrap();
    assert_eq!(updated.outcome, Written::Unchanged);
    assert_eq!(scene.text(), "{ \"compact\":1}");
}

#[test]
fn a_refusing_change_leaves_the_state_alone() {
    let scene = Scene::new(Some("{\"a\": \"text\"}"));
    assert!(matches!(scene.add(), Err(UpdateError::Refused(_))));
    assert_eq!(scene.text(), "{\"a\": \"text\"}");
}

#[test]
fn the_version_counts_as_the_original_does_and_survives_nonsense() {
    for (disk, next) in [
        ("412", 413),
        ("0", 1),
        ("-3", 1),
        ("\"x\"", 1),
        ("null", 1),
        ("7.0", 8),
        ("7.5", 8),
        ("1e9", 1_000_000_001),
    ] {
        let scene = Scene::new(Some(&format!("{{\"state_version\": {disk}}}")));
        assert_eq!(scene.add().unwrap().version, next, "{disk}");
    }
}

#[test]
fn a_state_that_is_not_there_can_be_made_but_not_edited() {
    let scene = Scene::new(None);
    let edits = [Edit::set(&["a"], 1)];
    assert!(matches!(
        scene.store.submit(now(), Durability::Lazy, &edits),
        Err(UpdateError::Store(StoreError::Absent { .. }))
    ));
    assert!(!scene.store.path().exists());
    assert_eq!(scene.add().unwrap().version, 1);
    assert_eq!(
        scene.store.path().metadata().unwrap().mode() & 0o7777,
        0o600
    );
    let directory = scene.dir.path().join(".isdlc");
    assert_eq!(directory.metadata().unwrap().mode() & 0o7777, 0o700);
}

#[test]
fn corrupt_is_not_absent() {
    for (text, line, column) in [
        ("", 1, 0),
        ("{\n\"a\": ", 2, 5),
        ("[]", 1, 1),
        ("\0\0", 1, 1),
    ] {
        let scene = Scene::new(Some(text));
        match scene.add() {
            Err(UpdateError::Store(StoreError::Corrupt { path, flaw })) => {
                assert_eq!(path, scene.store.path());
                assert_eq!((flaw.line, flaw.column), (line, column), "{text:?}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(scene.text(), text);
        let aside = scene.store.set_aside(now()).unwrap();
        assert!(aside.ends_with(".isdlc/state.json.corrupt-20200208T200000.000Z"));
        assert_eq!(std::fs::read_to_string(&aside).unwrap(), text);
        assert_eq!(scene.add().unwrap().version, 1);
    }
}

#[test]
fn a_stranger_between_reading_and_renaming_makes_the_change_be_made_again() {
    let scene = Scene::new(Some(OLD));
    let mut calls = 0;
    let updated = scene
        .store
        .update(now(), |document| {
            calls += 1;
            if calls == 1 {
                scene.plant("{\"state_version\": 20, \"theirs\": true}");
            }
            document.set(&["ours"], true)?;
            Ok::<_, EditFault>(Durability::Lazy)
        })
        .unwrap();
    assert_eq!((calls, updated.version), (2, 21));
    let state: serde_json::Value = serde_json::from_str(&scene.text()).unwrap();
    assert_eq!(
        state,
        json!({"state_version": 21, "theirs": true, "ours": true})
    );
}

#[test]
fn a_stranger_who_never_rests_is_an_error_and_edits_wait() {
    let scene = Scene::new(Some(OLD));
    let mut n = 0;
    let result = scene.store.update(now(), |document| {
        n += 1;
        scene.plant(&format!("{{\"n\": {n}}}"));
        document.set(&["ours"], true)?;
        Ok::<_, EditFault>(Durability::Lazy)
    });
    assert!(matches!(
        result,
        Err(UpdateError::Store(StoreError::Contended { .. }))
    ));
    assert_eq!(scene.text(), format!("{{\"n\": {n}}}"));
}

#[test]
fn while_the_lock_is_busy_edits_wait_and_are_made_before_the_next_change() {
    let scene = Scene::new(Some(OLD));
    let impatient = scene.store.clone().with_patience(Duration::from_millis(1));
    let guard = lock::acquire(&scene.store.lock_path(), Duration::ZERO).unwrap();
    for n in 0..3 {
        let at = now() + Duration::from_secs(n);
        let edits = [Edit::push(&["log"], n)];
        let submitted = impatient.submit(at, Durability::Lazy, &edits).unwrap();
        assert!(matches!(submitted, Submitted::Pending(_)));
    }
    let too_late = [Edit::require(&["z"], 9), Edit::push(&["log"], 9)];
    impatient
        .submit(now(), Durability::Lazy, &too_late)
        .unwrap();
    assert_eq!((scene.text().as_str(), scene.store.waiting()), (OLD, 4));
    drop(guard);
    let updated = scene
        .store
        .update(now(), |document| {
            assert_eq!(document.array(&["log"]).unwrap(), [0, 1, 2]);
            document.push(&["log"], "own", None)?;
            Ok::<_, EditFault>(Durability::Lazy)
        })
        .unwrap();
    assert_eq!(
        (updated.late.len(), updated.version, scene.store.waiting()),
        (3, 8, 0)
    );
    assert_eq!(updated.refused[0].reason, "`z` is no longer 9");
    assert_eq!(scene.add().unwrap().late, []);
}

#[test]
fn waiting_changes_are_not_made_to_a_state_that_came_after_them() {
    let scene = Scene::new(Some(OLD));
    let impatient = scene.store.clone().with_patience(Duration::from_millis(1));
    let guard = lock::acquire(&scene.store.lock_path(), Duration::ZERO).unwrap();
    let edits = [Edit::set(&["late"], true)];
    impatient.submit(now(), Durability::Lazy, &edits).unwrap();
    drop(guard);
    std::fs::remove_file(scene.store.path()).unwrap();
    assert_eq!(scene.store.settle(now()).unwrap().refused, []);
    assert_eq!(scene.store.waiting(), 1);
    assert_eq!(scene.add().unwrap().refused.len(), 1);
    assert!(!scene.text().contains("late"));
}

#[test]
fn a_state_that_could_not_be_read_again_is_not_written() {
    let scene = Scene::new(Some(OLD));
    let result = scene.store.update(now(), |document| {
        document.set(&["big"], "x".repeat(16 << 20))?;
        Ok::<_, EditFault>(Durability::Lazy)
    });
    assert!(matches!(
        result,
        Err(UpdateError::Store(StoreError::TooLarge { .. }))
    ));
    assert_eq!(scene.text(), OLD);
}
