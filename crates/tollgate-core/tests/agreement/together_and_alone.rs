//! The whole hook and each guard alone come to the same decisions: no guard depends on another
//! having run before it, and none is lost on the way.

use std::cell::Cell;
use std::io::Write as _;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tollgate_core::decision::Decision;
use tollgate_core::guard::GUARDS;

use super::generated::{events, states};
use super::project::Project;

/// What the guards say one after the other, each having seen nothing of the others.
fn one_by_one(project: &Project, event: &str) -> Decision {
    let mut whole = Decision::default();
    let mut guards = GUARDS.iter();
    for guard in guards.by_ref() {
        let alone = project.decide(event, [guard]);
        whole.warnings.extend(alone.warnings);
        whole.notes.extend(alone.notes);
        whole.guidance.extend(alone.guidance);
        whole.edits.extend(alone.edits);
        if alone.block.is_some() {
            whole.block = alone.block;
            break;
        }
    }
    // The way out leads past those behind it as well.
    if let Some(next) = whole.block.as_mut().and_then(|block| block.next.as_mut()) {
        for guard in guards {
            let later = project.decide(event, [guard]).block;
            if let Some(later) = later.and_then(|block| block.next) {
                *next = next.clone().and(later);
            }
        }
    }
    whole
}

#[test]
fn ten_thousand_events_are_decided_alike_together_and_alone() {
    const STATES: u32 = 50;
    const EVENTS: u32 = 200;
    let project = Project::new();
    let blocks = Cell::new(0_u32);
    let mut runner = TestRunner::new(Config {
        cases: STATES,
        failure_persistence: None,
        ..Config::default()
    });
    runner
        .run(&states("1970-01-01T00:00:00.000Z"), |state| {
            project.state(&state);
            let mut inner = TestRunner::new(Config {
                cases: EVENTS,
                failure_persistence: None,
                ..Config::default()
            });
            inner
                .run(&events(), |event| {
                    let event = event.to_string();
                    let together = project.decide(&event, GUARDS);
                    blocks.set(blocks.get() + u32::from(together.block.is_some()));
                    prop_assert_eq!(together, one_by_one(&project, &event), "{}", event);
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
