//! `tollgate hook` and `tollgate hook --guard NAME` for every guard come to the same decision, as
//! real processes. The same property in process, with everything that guards say, is
//! `crates/tollgate-core/tests/agreement`.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::Value;
use tollgate_core::guard::GUARDS;

use crate::generated::{FILES, events, states};
use crate::project::{TOLLGATE, TestProject, run};

/// A state, and an event that happens in it.
struct Happening {
    kind: String,
    event: String,
    state: String,
    has_plan: bool,
}

/// Stands in a state for the moment at which it is read: a marker grows old.
const NOW: &str = "@now";

/// How many events; `TOLLGATE_AGREEMENT_EVENTS` asks for more than CI has the time for.
#[expect(
    clippy::disallowed_methods,
    reason = "asked by a person who has the time"
)]
fn wanted() -> usize {
    let asked = std::env::var("TOLLGATE_AGREEMENT_EVENTS");
    asked.map_or(60, |text| text.parse().unwrap())
}

/// The program; `TOLLGATE` names another build of it, for a person who wants many events.
#[expect(
    clippy::disallowed_methods,
    reason = "asked by a person who has the time"
)]
fn program() -> PathBuf {
    std::env::var_os("TOLLGATE").map_or_else(|| TOLLGATE.into(), Into::into)
}

fn happenings() -> Vec<Happening> {
    let mut runner = TestRunner::new(Config {
        rng_seed: RngSeed::Fixed(20_261_116),
        ..Config::default()
    });
    let next = |n| {
        let state = states(NOW).new_tree(&mut runner).unwrap().current();
        let mut event = events().new_tree(&mut runner).unwrap().current();
        // A bare event, as the specification has it: no session, so that nothing is remembered.
        let kind = event["hook_event_name"].as_str().unwrap().to_owned();
        event.as_object_mut().unwrap().remove("hook_event_name");
        Happening {
            kind,
            event: event.to_string(),
            state: state.to_string(),
            has_plan: n % 4 > 0,
        }
    };
    (0..wanted()).map(next).collect()
}

/// What the hook decides, all guards together or one: the reason of a block, or nothing.
fn blocked(project: &TestProject, happening: &Happening, guard: Option<&str>) -> Option<String> {
    // Recorders write and commands are watched: everybody meets the same project.
    let _none_yet = std::fs::remove_dir_all(project.path(".tollgate"));
    let now = jiff::Timestamp::now().to_string();
    project.file(".isdlc/state.json", happening.state.replace(NOW, &now));
    if happening.has_plan {
        project.file("docs/isdlc/tasks.md", "");
    } else {
        let _none_yet = std::fs::remove_file(project.path("docs/isdlc/tasks.md"));
    }
    let mut command = project.command_of(&program(), &["hook", "--protocol", "isdlc"]);
    command.env("CLAUDE_PROJECT_DIR", project.root());
    command.args(["--event", &happening.kind]);
    command.args(guard.into_iter().flat_map(|name| ["--guard", name]));
    let run = run(command, happening.event.as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
    if run.stdout.is_empty() {
        return None;
    }
    let answer: Value = serde_json::from_str(&run.stdout).ok()?;
    let reason = match (&answer["continue"], answer["decision"].as_str()) {
        (Value::Bool(false), _) => &answer["stopReason"],
        (_, Some("block")) => &answer["reason"],
        _ => return None,
    };
    Some(reason.as_str().unwrap().to_owned())
}

/// Decides events together and one by one; how often which guard blocked.
fn compare<'a>(happenings: impl Iterator<Item = &'a Happening>) -> BTreeMap<&'static str, usize> {
    let project = TestProject::new();
    for (path, text) in FILES {
        project.file(path, text);
    }
    let mut blocks = BTreeMap::new();
    for happening in happenings {
        let together = blocked(&project, happening, None);
        let alone = GUARDS
            .iter()
            .find_map(|guard| Some((guard.name, blocked(&project, happening, Some(guard.name))?)));
        let Happening {
            kind, event, state, ..
        } = happening;
        let reason = alone.as_ref().map(|(_, reason)| reason);
        assert_eq!(together.as_ref(), reason, "{kind} {event}\n{state}");
        if let Some((name, _)) = alone {
            *blocks.entry(name).or_default() += 1;
        }
    }
    blocks
}

#[test]
fn the_hook_decides_as_its_guards_do_one_by_one() {
    let happenings = happenings();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let blocks = std::thread::scope(|scope| {
        let shares: Vec<_> = (0..workers)
            .map(|first| {
                let share = happenings.iter().skip(first).step_by(workers);
                scope.spawn(move || compare(share))
            })
            .collect();
        let mut blocks = BTreeMap::new();
        for share in shares {
            for (name, number) in share.join().unwrap() {
                *blocks.entry(name).or_insert(0) += number;
            }
        }
        blocks
    });
    let all: usize = blocks.values().sum();
    // Past the test's captured output: whoever runs all tests is to see it too.
    let _told = writeln!(
        std::io::stderr(),
        "{} events as processes, {all} blocked: {blocks:?}",
        wanted()
    );
    assert!(
        all > wanted() / 10,
        "only {all} were blocked: they prove little"
    );
}
