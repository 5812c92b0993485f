//! `tollgate hook` and `tollgate hook --guard NAME` for every guard come to the same decision, as
//! real processes. The same property in process, with everything that guards say, is
//! `crates/core/tests/agreement`.

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::Value;
use tollgate_core::guard::GUARDS;

use crate::context::Project;
use crate::generated::{FILES, events, states};

/// How many events; `TOLLGATE_AGREEMENT_EVENTS` asks for more than CI has the time for.
#[expect(
    clippy::disallowed_methods,
    reason = "asked by a person who has the time"
)]
fn wanted() -> u32 {
    let asked = std::env::var("TOLLGATE_AGREEMENT_EVENTS");
    asked.map_or(60, |text| text.parse().unwrap())
}

/// What an answer decides: the reason of a block, or nothing.
fn blocked(project: &Project, args: &[&str], event: &str) -> Option<String> {
    let run = project.run(args, event.as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
    let answer: Value = serde_json::from_str(&run.stdout).ok()?;
    (answer.get("continue") == Some(&Value::Bool(false)))
        .then(|| answer["stopReason"].as_str().unwrap().to_owned())
}

#[test]
fn the_hook_decides_as_its_guards_do_one_by_one() {
    let project = Project::new();
    for (path, text) in FILES {
        project.file(path, text);
    }
    let mut runner = TestRunner::new(Config {
        rng_seed: RngSeed::Fixed(20_261_116),
        ..Config::default()
    });
    let mut blocks = 0;
    for n in 0..wanted() {
        let state = states().new_tree(&mut runner).unwrap().current();
        let mut event = events().new_tree(&mut runner).unwrap().current();
        // A bare event, as the specification has it: no session, so that nothing is remembered.
        let kind = event["hook_event_name"].as_str().unwrap().to_owned();
        event.as_object_mut().unwrap().remove("hook_event_name");
        let event = event.to_string();
        // Recorders write: everybody meets the same state.
        let decide = |args: &[&str]| {
            project.file(".isdlc/state.json", &state.to_string());
            blocked(&project, args, &event)
        };
        let together = decide(&["hook", "--wire", "isdlc", "--event", &kind]);
        let alone = GUARDS.iter().find_map(|guard| {
            decide(&[
                "hook", "--wire", "isdlc", "--event", &kind, "--guard", guard.name,
            ])
        });
        assert_eq!(together, alone, "event {n}: {kind} {event}\n{state}");
        blocks += u32::from(together.is_some());
    }
    println!("{} events, {blocks} blocked", wanted());
    assert!(
        blocks > wanted() / 20,
        "only {blocks} were blocked: they prove little"
    );
}
