//! What Tollgate answers reaches each agent as it is meant.

use std::fmt::Write as _;

use serde_json::Value;
use tollgate_core::decision::{Decision, Fault, Finding};
use tollgate_core::protocol::gauntlet::{StopAnswer, stop_answer};
use tollgate_core::protocol::{
    Answer, Event, EventKind, Hints, Protocol, REASON_LIMIT, answer, answer_unparsed, parse,
};

use super::fixtures::payloads;
use super::host::{AGENTS, Effect, Heard, Moment, host_effect};

const WHY: &str =
    "COMMIT TO MAIN BLOCKED: you are on `main`.\nSwitch with: git checkout feature/cart";

fn report(text: &str) -> Finding {
    Finding::new("BG-001", text, "commit on main").by("branch-guard")
}

fn warning() -> Finding {
    Finding::new(
        "SWV-001",
        "[state-write-validator] WARNING: Suspicious write\n  Phase: 06",
        "suspicious",
    )
    .by("state-write-validator")
}

fn fault() -> Fault {
    Fault::new(
        "state-corrupt",
        "the state is not JSON; run `tollgate doctor`",
    )
}

fn blocked() -> Decision {
    Decision {
        block: Some(report(WHY)),
        ..Decision::default()
    }
}

fn warned() -> Decision {
    Decision {
        warnings: vec![warning()],
        faults: vec![fault()],
        ..Decision::default()
    }
}

fn all_at_once() -> Decision {
    Decision {
        block: Some(report(WHY)),
        ..warned()
    }
}

fn heard(answer: &Answer) -> Heard<'_> {
    Heard {
        exit: answer.exit,
        stdout: &answer.stdout,
        stderr: &answer.stderr,
    }
}

/// Every fixture of the five agents at which a decision is made.
fn decisions(mut check: impl FnMut(&Event<'_>, Moment)) {
    for agent in AGENTS {
        let mut seen = Vec::new();
        for (_, text) in payloads(agent) {
            let event = parse(&text, &Hints::default()).unwrap();
            let moment = match event.kind {
                EventKind::PreTool => Moment::PreTool,
                EventKind::Stop | EventKind::SubagentStop => Moment::Stop,
                EventKind::PostTool
                | EventKind::ConfigChange
                | EventKind::PostToolFailure
                | EventKind::Prompt
                | EventKind::SessionStart
                | EventKind::SessionEnd
                | EventKind::Other => continue,
            };
            seen.push(moment);
            check(&event, moment);
        }
        assert!(seen.contains(&Moment::PreTool) && seen.contains(&Moment::Stop));
    }
}

fn is_silence_or_one_object(answer: &Answer) -> bool {
    answer.stdout.is_empty()
        || (answer.stdout.ends_with('\n')
            && answer.stdout.lines().count() == 1
            && serde_json::from_str::<Value>(&answer.stdout).is_ok_and(|value| value.is_object()))
}

#[test]
fn a_block_blocks_and_its_reason_reaches_the_model() {
    decisions(|event, moment| {
        for outcome in [blocked(), all_at_once()] {
            let answer = answer(event, &outcome);
            let expected = match moment {
                Moment::PreTool => Effect::Blocked(WHY.to_owned()),
                Moment::Stop => Effect::Continues(WHY.to_owned()),
            };
            let effect = host_effect(event.protocol, moment, heard(&answer));
            assert_eq!(effect, expected, "{} {}", event.protocol, event.name);
        }
    });
}

#[test]
fn an_allow_is_silence() {
    decisions(|event, moment| {
        let answer = answer(event, &Decision::default());
        assert_eq!(answer, Answer::default());
        assert_eq!(
            host_effect(event.protocol, moment, heard(&answer)),
            passes(moment)
        );
    });
}

/// Where each agent's model was seen to read what a hook tells it (`tests/agents` of the program).
#[test]
fn a_warning_reaches_the_model_where_the_agent_has_a_way() {
    let nested = "/hookSpecificOutput/additionalContext";
    let before = [
        (Protocol::Claude, nested),
        (Protocol::Codex, nested),
        (Protocol::Copilot, nested),
    ];
    let later = [
        (Protocol::Claude, nested),
        (Protocol::Codex, nested),
        (Protocol::Gemini, nested),
        (Protocol::Copilot, "/additionalContext"),
    ];
    let all = [
        (EventKind::PreTool, &before[..]),
        (EventKind::PostTool, &later),
        (EventKind::Prompt, &later),
        (EventKind::SessionStart, &later),
    ];
    for (kind, channels) in all {
        for (protocol, pointer) in channels {
            let answer = answer(&Event::new(*protocol, kind), &warned());
            let said: Value = serde_json::from_str(&answer.stdout).unwrap();
            let told = said.pointer(pointer).and_then(Value::as_str);
            let told = told.unwrap_or_else(|| panic!("{protocol} {kind:?}: {said}"));
            assert_eq!(told, warning().text, "{protocol} {kind:?}");
        }
    }
}

#[test]
fn a_warning_lets_it_pass_and_is_heard_somewhere() {
    decisions(|event, moment| {
        let answer = answer(event, &warned());
        let place = format!("{} {}", event.protocol, event.name);
        assert_eq!(
            host_effect(event.protocol, moment, heard(&answer)),
            passes(moment),
            "{place}"
        );
        assert!(is_silence_or_one_object(&answer), "{place}");
        let said = format!("{}{}", answer.stdout, answer.stderr);
        assert!(said.contains("Suspicious write"), "{place}: {said}");
        assert!(said.contains("the state is not JSON"), "{place}: {said}");
    });
}

fn passes(moment: Moment) -> Effect {
    match moment {
        Moment::PreTool => Effect::Runs,
        Moment::Stop => Effect::Ends,
    }
}

#[test]
fn a_block_without_words_still_has_a_reason() {
    let mut silent = report(" \n");
    silent.reason.clear();
    let outcome = Decision {
        block: Some(silent),
        ..Decision::default()
    };
    decisions(|event, moment| {
        let effect = host_effect(event.protocol, moment, heard(&answer(event, &outcome)));
        let expected = "Blocked by branch-guard (BG-001).".to_owned();
        match moment {
            Moment::PreTool => assert_eq!(effect, Effect::Blocked(expected)),
            Moment::Stop => assert_eq!(effect, Effect::Continues(expected)),
        }
    });
}

#[test]
fn a_long_reason_keeps_its_beginning() {
    let outcome = Decision {
        block: Some(report(&format!("Do this first. {}", "ä".repeat(20_000)))),
        ..Decision::default()
    };
    decisions(|event, moment| {
        match host_effect(event.protocol, moment, heard(&answer(event, &outcome))) {
            Effect::Blocked(reason) | Effect::Continues(reason) => {
                assert!(reason.starts_with("Do this first."));
                assert!(reason.chars().count() <= REASON_LIMIT);
                assert!(reason.contains("cut the rest"));
            }
            effect @ (Effect::Runs
            | Effect::RunsThenHalts
            | Effect::BlockedReasonLost
            | Effect::BlockedThenHalts
            | Effect::Overrides
            | Effect::Ends) => panic!("{effect:?}"),
        }
    });
}

/// The answer in each protocol, byte by byte.
fn bytes(protocol: Protocol, kind: EventKind, outcome: &Decision) -> String {
    let Answer {
        stdout,
        stderr,
        exit,
    } = answer(&Event::new(protocol, kind), outcome);
    let mut text = stdout;
    if !stderr.is_empty() {
        text.push_str("--- stderr\n");
        text.push_str(&stderr);
    }
    if exit != 0 {
        writeln!(text, "--- exit {exit}").unwrap();
    }
    text
}

fn every_wire(kind: EventKind, outcome: &Decision) -> String {
    Protocol::ALL
        .iter()
        .copied()
        .fold(String::new(), |mut out, protocol| {
            writeln!(out, "{protocol}: {}", bytes(protocol, kind, outcome)).unwrap();
            out
        })
}

#[test]
fn the_bytes_of_every_answer() {
    for kind in [
        EventKind::PreTool,
        EventKind::PostTool,
        EventKind::PostToolFailure,
        EventKind::Prompt,
        EventKind::Stop,
        EventKind::SessionStart,
        EventKind::SessionEnd,
    ] {
        let mut shown = String::new();
        for (title, outcome) in [
            ("block", blocked()),
            ("warning and fault", warned()),
            ("all at once", all_at_once()),
        ] {
            write!(shown, "# {title}\n{}", every_wire(kind, &outcome)).unwrap();
        }
        insta::assert_snapshot!(format!("{kind:?}"), shown);
    }
}

#[test]
fn the_specifications_shapes_to_the_byte() {
    let short = Decision {
        block: Some(report("no \"way\"")),
        ..Decision::default()
    };
    assert_eq!(
        bytes(Protocol::Isdlc, EventKind::PreTool, &short),
        "{\"continue\":false,\"stopReason\":\"no \\\"way\\\"\"}\n"
    );
    assert_eq!(
        bytes(Protocol::Isdlc, EventKind::Stop, &short),
        "{\"decision\":\"block\",\"reason\":\"no \\\"way\\\"\"}\n"
    );
    assert_eq!(
        bytes(Protocol::Taskie, EventKind::Stop, &short),
        "{\"decision\": \"block\", \"reason\": \"no \\\"way\\\"\"}\n"
    );
    assert_eq!(
        bytes(Protocol::Taskie, EventKind::Stop, &Decision::default()),
        "{\"suppressOutput\": true}\n"
    );
    assert_eq!(
        bytes(Protocol::Gauntlet, EventKind::Stop, &short),
        "{\"decision\": \"block\", \"status\": \"failed\", \"message\": \"commit on main\", \
         \"reason\": \"no \\\"way\\\"\", \"stopReason\": \"no \\\"way\\\"\", \
         \"systemMessage\": \"commit on main\"}\n"
    );
    let approve = stop_answer(&StopAnswer {
        status: "no_changes",
        message: "nothing changed",
        reason: None,
    });
    assert_eq!(
        approve.stdout,
        "{\"decision\": \"approve\", \"status\": \"no_changes\", \"message\": \"nothing changed\", \
         \"stopReason\": \"nothing changed\", \"systemMessage\": \"nothing changed\"}\n"
    );
}

#[test]
fn what_could_not_be_read_is_allowed_and_told() {
    for protocol in Protocol::ALL.iter().copied().map(Some).chain([None]) {
        let answer = answer_unparsed(protocol, &[fault()]);
        assert!(is_silence_or_one_object(&answer), "{protocol:?}");
        assert_eq!(answer.exit, 0);
        let said = format!("{}{}", answer.stdout, answer.stderr);
        assert!(
            said.contains("Tollgate: the state is not JSON"),
            "{protocol:?}"
        );
        if let Some(agent) = protocol.filter(|protocol| AGENTS.contains(protocol)) {
            for moment in [Moment::PreTool, Moment::Stop] {
                assert_eq!(host_effect(agent, moment, heard(&answer)), passes(moment));
            }
        }
    }
    assert_eq!(answer_unparsed(None, &[]), Answer::default());
    assert_eq!(
        answer_unparsed(Some(Protocol::Claude), &[]),
        Answer::default()
    );
}
