//! The whole hook and each guard alone come to the same decisions: no guard depends on another
//! having run before it, and none is lost on the way.

use std::cell::Cell;
use std::io::Write as _;
use std::path::Path;

use jiff::Timestamp;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tollgate_core::env::Env;
use tollgate_core::fs::{Durability, replace};
use tollgate_core::guard::{GUARDS, Guard, judge};
use tollgate_core::project::Layout;
use tollgate_core::protocol::{self, Hints};
use tollgate_core::scene::{Scene, Sources};
use tollgate_core::verdict::Outcome;

use super::generated::{FILES, events, states};

fn decide<'g>(root: &Path, event: &str, guards: impl IntoIterator<Item = &'g Guard>) -> Outcome {
    let event = protocol::parse(event, &Hints::default()).unwrap();
    let sources = Sources::new(
        Layout::at(root).unwrap(),
        Env::default(),
        None,
        Timestamp::UNIX_EPOCH,
    );
    judge(&Scene::new(&event, &sources), guards)
}

/// What the guards say one after the other, each having seen nothing of the others.
fn one_by_one(root: &Path, event: &str) -> Outcome {
    let mut whole = Outcome::default();
    for guard in GUARDS {
        let alone = decide(root, event, [guard]);
        whole.warnings.extend(alone.warnings);
        whole.notes.extend(alone.notes);
        whole.guidance.extend(alone.guidance);
        whole.edits.extend(alone.edits);
        if alone.block.is_some() {
            whole.block = alone.block;
            break;
        }
    }
    whole
}

#[test]
fn ten_thousand_events_are_decided_alike_together_and_alone() {
    const STATES: u32 = 50;
    const EVENTS: u32 = 200;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    for folder in [".isdlc/config", ".git", "docs/isdlc"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    let put = |path: &str, text: &str| {
        replace(&root.join(path), text.as_bytes(), Durability::Lazy).unwrap();
    };
    for (path, text) in FILES {
        put(path, text);
    }
    let blocks = Cell::new(0_u32);
    let mut runner = TestRunner::new(Config {
        cases: STATES,
        failure_persistence: None,
        ..Config::default()
    });
    runner
        .run(&states("1970-01-01T00:00:00.000Z"), |state| {
            put(".isdlc/state.json", &state.to_string());
            let mut inner = TestRunner::new(Config {
                cases: EVENTS,
                failure_persistence: None,
                ..Config::default()
            });
            inner
                .run(&events(), |event| {
                    let event = event.to_string();
                    let together = decide(root, &event, GUARDS);
                    blocks.set(blocks.get() + u32::from(together.block.is_some()));
                    prop_assert_eq!(together, one_by_one(root, &event), "{}", event);
                    Ok(())
                })
                .map_err(|error| TestCaseError::fail(error.to_string()))
        })
        .unwrap();
    let blocks = blocks.get();
    // Past the test's captured output: whoever runs all tests is to see it too.
    let _told = writeln!(
        std::io::stderr(),
        "{} events together and alone, {blocks} blocked",
        STATES * EVENTS
    );
    assert!(
        blocks > 500,
        "only {blocks} of the events were blocked: they prove little"
    );
}
