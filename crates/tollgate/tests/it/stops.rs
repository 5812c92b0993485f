//! One stop asks the plan loop, the gates and the delegation gate, in this order, and whatever an
//! agent does, it is not held for ever.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use serde_json::{Value, json};

use crate::events::{self, Event as _};
use crate::project::{Run, TestProject};

/// Sequences through the real program: most are short, some long enough for every bound.
const SEQUENCES: u64 = 200;
const SHORT: usize = 5;
const LONG: usize = 14;

/// A plan, gates over `src`, and a workflow's state, all in one repository.
struct World {
    project: TestProject,
}

impl std::ops::Deref for World {
    type Target = TestProject;

    fn deref(&self) -> &TestProject {
        &self.project
    }
}

impl World {
    fn new() -> Self {
        let project = TestProject::new().on_branch("main");
        project.file(".gitignore", ".tollgate\n.isdlc\n.taskie\n");
        let fault = ("fault", "command: \"! cat fault 2>/dev/null\"\n");
        let endless = "max_retries: 100000\nstop_hook: { run_interval_minutes: 0 }";
        let project = project
            .with_gates(".gauntlet", &[fault], endless)
            .with_change()
            .with_plan("p", "| 1 | pending | high | one |\n");
        let world = Self { project };
        world.owe(false);
        world
    }

    fn plan_file(&self, name: &str, text: &str) {
        self.file(&format!(".taskie/plans/p/{name}"), text);
    }

    fn rules(&self, fault: u64) {
        let plan = self.path(".taskie/plans/p/plan.md");
        let odd = self.path(".taskie/plans/p/odd.txt");
        let _gone = std::fs::remove_file(&odd);
        match fault {
            0 => self.plan_file("plan.md", "# Plan\n\n## Overview\nText.\n"),
            1 => {
                let _gone = std::fs::remove_file(plan);
            }
            _ => self.plan_file("odd.txt", "What is this?\n"),
        }
    }

    fn fault(&self, fault: u64) {
        if fault == 0 {
            let _gone = std::fs::remove_file(self.path("src/fault"));
        } else {
            self.file("src/fault", format!("fault {fault}\n"));
        }
    }

    fn owe(&self, is_owed: bool) {
        let marker = json!({
            "skill": "isdlc", "required_agent": "sdlc-orchestrator", "args": "feature x",
            "invoked_at": now(),
        });
        let state = json!({
            "state_version": 1, "pending_delegation": if is_owed { marker } else { Value::Null },
        });
        self.file(".isdlc/state.json", state.to_string());
    }

    fn stop(&self, session: &str, prompt: Option<u64>, is_flagged: bool, more: &Value) -> Run {
        let mut event = events::stop()
            .in_session(session)
            .in_directory(self.root())
            .with("stop_hook_active", is_flagged)
            .with("last_assistant_message", "Done.");
        if let Some(prompt) = prompt {
            event = event.at_prompt(&format!("p{prompt}"));
        }
        for (key, value) in more.as_object().into_iter().flatten() {
            event[key] = value.clone();
        }
        self.hook(&event)
    }
}

fn now() -> String {
    let date = std::process::Command::new("date")
        .args(["-u", "+%Y-%m-%dT%H:%M:%SZ"])
        .output()
        .unwrap();
    String::from_utf8(date.stdout).unwrap().trim().to_owned()
}

/// Who blocked.
fn blocker(run: &Run) -> Option<&'static str> {
    assert_eq!(run.code, 0, "{run:?}");
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    let reason = answer["reason"].as_str()?;
    assert_eq!(answer["decision"], "block", "{run:?}");
    Some(if reason.starts_with("Plan 'p'") {
        "plan"
    } else if reason.contains("GAUNTLET FAILED") {
        "gates"
    } else {
        assert!(reason.starts_with("You loaded /isdlc"), "{reason}");
        "delegation"
    })
}

fn told(run: &Run) -> String {
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    answer["systemMessage"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn the_first_block_wins_and_the_rest_is_reported() {
    let world = World::new();
    world.owe(true);
    world.fault(1);
    world.rules(1);
    let run = world.stop("s", Some(1), false, &json!({}));
    assert_eq!(blocker(&run), Some("plan"), "{run:?}");
    assert!(told(&run).contains("delegation-gate"), "{run:?}");
    world.rules(0);
    let run = world.stop("s", Some(1), false, &json!({}));
    assert_eq!(blocker(&run), Some("gates"), "{run:?}");
    assert!(told(&run).contains("delegation-gate"), "{run:?}");
    world.fault(0);
    let run = world.stop("s", Some(1), false, &json!({}));
    assert_eq!(blocker(&run), Some("delegation"), "{run:?}");
    world.owe(false);
    let run = world.stop("s", Some(1), false, &json!({}));
    assert_eq!(blocker(&run), None, "{run:?}");
}

/// Agent-protocols 3.11: Cursor stops listening after five blocks in a row, the others after eight
/// or never. The stop behind the last of them is let go, and says that nothing was verified.
#[test]
fn an_agent_is_let_go_with_the_last_block_that_it_bears() {
    type Stop<'a> = &'a dyn Fn(&World, u64) -> Run;
    let cursor = |world: &World, count: u64| {
        world.hook(&json!({
            "hook_event_name": "stop", "conversation_id": "c", "generation_id": "g",
            "model": "m", "status": "completed", "loop_count": count,
            "workspace_roots": [world.root()],
        }))
    };
    let claude = |world: &World, count: u64| world.stop("s", Some(1), count > 0, &json!({}));
    let fails_anew = |world: &World, count: u64| {
        let words = [
            "ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen", "ibis",
        ];
        let word = words[usize::try_from(count).unwrap()];
        world
            .project
            .file("src/fault", format!("a broken {word}\n"));
    };
    for (bears, asks, stop) in [
        (4, "followup_message", &cursor as Stop<'_>),
        (7, "reason", &claude),
    ] {
        let world = World::new();
        for count in 0..bears {
            fails_anew(&world, count);
            let run = stop(&world, count);
            let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
            assert!(answer[asks].is_string(), "{count}: {run:?}");
        }
        fails_anew(&world, bears);
        let run = stop(&world, bears);
        let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
        assert!(answer[asks].is_null(), "{run:?}");
        let shown = format!("{}{}", run.stdout, run.stderr);
        assert!(shown.contains("erified"), "{run:?}");
    }
}

#[test]
fn the_block_of_a_question_begins_with_how_to_get_an_answer_whoever_blocks() {
    let world = World::new();
    let asks = json!({ "last_assistant_message": "Shall I go on?" });
    let block = |prompt: u64| {
        let run = world.stop("s", Some(prompt), false, &asks);
        let answer: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(answer["decision"], "block", "{run:?}");
        answer["reason"].as_str().unwrap().to_owned()
    };
    let begins = "If you need an answer, ask again without changing anything; you will be let through as not verified.\n\n";
    world.rules(1);
    let plan = block(1);
    assert!(plan.starts_with(&format!("{begins}Plan 'p'")), "{plan}");
    world.rules(0);
    world.owe(true);
    let delegation = block(2);
    assert!(
        delegation.starts_with(&format!("{begins}You loaded /isdlc")),
        "{delegation}"
    );
    world.fault(1);
    let gates = block(3);
    assert!(
        gates.starts_with(&format!("{begins}GAUNTLET FAILED")),
        "{gates}"
    );
}

/// "You will be let through" was true of the gates alone where the agent's flag is down at every stop.
#[test]
fn who_asks_again_without_a_change_is_let_through_whatever_the_flag_says() {
    type Breaks<'a> = &'a dyn Fn(&World);
    for (by, breaks) in [
        ("plan", &(|world: &World| world.rules(1)) as Breaks<'_>),
        ("gates", &|world: &World| world.fault(1)),
        ("delegation", &|world: &World| world.owe(true)),
    ] {
        let world = World::new();
        breaks(&world);
        let asks = json!({ "last_assistant_message": "Shall I go on?" });
        let stop = || world.stop("s", Some(1), false, &asks);
        let blocks = |run: &Run| run.stdout.contains(r#""decision":"block""#);
        let first = stop();
        assert!(blocks(&first), "{by}: {first:?}");
        let again = stop();
        assert!(!blocks(&again), "{by}: {again:?}");
        assert!(!told(&again).is_empty(), "{by}: {again:?}");
    }
}

#[test]
fn stops_that_are_none_are_not_gated() {
    let world = World::new();
    world.owe(true);
    world.fault(1);
    world.rules(1);
    for more in [
        json!({ "permission_mode": "plan" }),
        json!({ "background_tasks": [{ "id": "b1" }] }),
        json!({ "hook_event_name": "SubagentStop", "agent_id": "a" }),
    ] {
        let run = world.stop("s", Some(1), false, &more);
        assert_eq!(blocker(&run), None, "{more} {run:?}");
    }
    assert!(blocker(&world.stop("s", Some(1), false, &json!({}))).is_some());
}

#[test]
fn the_delegation_gate_asks_once_where_the_flag_says_nothing() {
    // Gemini's flag is down again after every tool.
    let world = World::new();
    world.owe(true);
    let blocked: Vec<_> = (0..4)
        .map(|_| blocker(&world.stop("s", Some(1), false, &json!({}))).is_some())
        .collect();
    assert_eq!(blocked, [true, false, false, false]);
    let codes = world.codes();
    assert_eq!(
        codes.iter().filter(|code| *code == "DG-001").count(),
        4,
        "{codes:?}"
    );
}

/// Every bound is in the session's ledger. Where it could not be written, each stop was blocked, and no
/// number of them ended that.
#[test]
fn a_block_that_cannot_be_remembered_is_none() {
    let world = World::new();
    world.project.file(".tollgate/local/sessions", "");
    let lets_go = |what: &str| {
        let run = world.stop("s", Some(1), false, &json!({}));
        assert_eq!(blocker(&run), None, "{what}: {run:?}");
        let told = told(&run);
        assert!(told.contains("ledger cannot be written"), "{what}: {told}");
        told
    };
    world.fault(1);
    let gates = lets_go("gates");
    assert!(gates.contains("Released, NOT verified"), "{gates}");
    world.rules(1);
    let plan = lets_go("plan");
    assert!(plan.contains("released, NOT verified"), "{plan}");
    world.rules(0);
    world.fault(0);
    world.owe(true);
    lets_go("delegation");
    let codes = world.codes();
    assert!(codes.contains(&"ledger-unwritten".to_owned()), "{codes:?}");
    assert!(
        !codes.contains(&"gates-configuration".to_owned()),
        "{codes:?}"
    );
}

/// What was released at the bound of an hour was said to have "blocked before".
#[test]
fn a_release_of_the_plan_s_rules_says_its_reason() {
    let world = World::new();
    for number in 0..=20 {
        let name = format!("odd{number}.md");
        world.plan_file(&name, "What is this?\n");
        let run = world.stop("s", Some(number), false, &json!({}));
        let file = world.path(&format!(".taskie/plans/p/{name}"));
        std::fs::remove_file(file).unwrap();
        if number < 20 {
            assert_eq!(blocker(&run), Some("plan"), "{run:?}");
        } else {
            let told = told(&run);
            assert!(told.contains("odd20.md"), "{told}");
            let why = "This session was blocked 20 times in an hour: released, NOT verified.";
            assert!(told.contains(why), "{told}");
        }
    }
}

#[test]
fn whatever_an_agent_does_blocks_are_bounded() {
    play(1..=SEQUENCES / 2);
}

#[test]
fn whatever_another_agent_does_blocks_are_bounded() {
    play(SEQUENCES / 2 + 1..=SEQUENCES);
}

fn play(seeds: RangeInclusive<u64>) {
    let world = World::new();
    let (mut most, mut same_most) = (0, 0);
    for seed in seeds {
        let mut dice = fastrand::Rng::with_seed(seed);
        let session = format!("s{seed}");
        let mut prompt = (dice.u64(..2) == 0).then_some(1);
        let (mut fault, mut rules) = (1, 0);
        world.fault(fault);
        world.rules(rules);
        world.owe(dice.u64(..3) == 0);
        let (mut last, mut blocks, mut same) = (None, 0_u32, HashMap::new());
        let mut story = Vec::new();
        let length = if seed % 20 == 0 { LONG } else { SHORT };
        for at in 0..length {
            // Mostly an agent that edits and stops, and never mends anything.
            match dice.u64(..12) {
                0 => prompt = prompt.map(|prompt| prompt + 1),
                1 => fault = dice.u64(..3),
                2 => rules = dice.u64(..3),
                _ => {}
            }
            world.fault(fault);
            world.rules(rules);
            if dice.u64(..4) > 0 {
                world.file("src/edit", format!("{seed} {at}\n"));
            }
            let is_flagged = blocks > 0 && dice.u64(..4) > 0;
            let is_same = last == Some(prompt) && (prompt.is_some() || is_flagged);
            last = Some(prompt);
            if !is_same {
                (blocks, same) = (0, HashMap::new());
            }
            let run = world.stop(&session, prompt, is_flagged, &json!({}));
            let by = blocker(&run);
            story.push((prompt, is_flagged, fault, rules, by));
            let Some(by) = by else { continue };
            blocks += 1;
            let what = match by {
                "plan" => rules,
                "gates" => fault,
                _ => 0,
            };
            most = most.max(blocks);
            assert!(blocks <= 8, "seed {seed}: {story:?}");
            if by == "gates" {
                // `max_retries` bounds these.
                continue;
            }
            let times = same.entry((by, what)).or_insert(0);
            *times += 1;
            assert!(*times <= 2, "seed {seed}: {story:?}");
            same_most = same_most.max(*times);
        }
    }
    assert!(most >= 3 && same_most == 2, "{most} {same_most}");
}
