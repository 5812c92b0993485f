//! Every block leads somewhere: an agent that does to the letter what the message says gets through,
//! or the message says that only a person can go on.

mod agent;
mod cases;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use agent::{Agent, Outcome};
use cases::{Case, Home, ROWS, Row};
use serde_json::Value;
use tollgate_core::guard::{GUARDS, codes};

use crate::events::Event as _;
use crate::project::TestProject;

/// Words of the specifications, which mean nothing to somebody who never used the originals.
const FOREIGN: &[&str] = &[
    "gauntlet",
    "constitution",
    "orchestrator",
    "orch-012",
    "isdlc",
];

#[test]
fn every_code_that_blocks_has_a_case() {
    let blocking = codes().filter(|code| code.lifted_by.is_some());
    let blocking: BTreeSet<_> = blocking.map(|code| code.id).collect();
    let tried: BTreeSet<_> = ROWS.iter().map(|(code, _)| *code).collect();
    assert_eq!(blocking, tried);
}

#[test]
fn an_agent_that_does_what_the_message_says_gets_out_in_one_step() {
    let lines = in_each_row(&|row, home| {
        let mut lines = String::new();
        for case in row.1(home) {
            let (message, outcome) = obeyed(row.0, &case);
            let message = message.replace(case.project.outside().to_str().unwrap(), "[machine]");
            writeln!(lines, "== {} {home:?}: {outcome}\n{message}\n", row.0).unwrap();
        }
        lines
    });
    insta::assert_snapshot!("blocks", lines);
}

/// Provokes the block of a code and follows its message.
fn obeyed(code: &str, case: &Case) -> (String, &'static str) {
    let agent = Agent::of(&case.project);
    let message = agent.ask(&case.event);
    let message = message.unwrap_or_else(|| panic!("{code}: allowed {}", case.event));
    let codes = case.project.codes();
    assert!(codes.iter().any(|one| one == code), "{code}: {message}");
    let outcome = match agent.obey(&message, &case.event) {
        Outcome::Through => "through",
        Outcome::Replaced => "replaced",
        Outcome::LeftOut => "left out",
        Outcome::Person(command) => {
            let is_typed = command.starts_with("tollgate ") || command.starts_with("${EDITOR");
            assert!(is_typed, "{code}: {command}");
            "person"
        }
    };
    (message, outcome)
}

#[test]
fn guards_of_tollgates_own_workflows_block_in_its_own_words() {
    in_each_row(&|(code, cases), home| {
        let cases = if home == Home::Own {
            cases(home)
        } else {
            Vec::new()
        };
        for case in cases {
            let message = Agent::of(&case.project).ask(&case.event).unwrap();
            assert_eq!(foreign(&message), None, "{code}: {message}");
        }
        String::new()
    });
}

#[test]
fn guards_of_tollgates_own_workflows_warn_in_its_own_words() {
    let mut all = String::new();
    for guard in GUARDS {
        let Some(sample) = &guard.sample else {
            continue;
        };
        let project = TestProject::empty();
        project.file("tollgate.toml", "");
        let here = |text: &str| text.replace(".isdlc/", ".tollgate/workflow/");
        for (path, text) in sample.project() {
            project.file(&here(path), text);
        }
        let event: Value = serde_json::from_str(&here(sample.event)).unwrap();
        let said = project.guard(guard.name, &event.in_session("s"));
        for text in [&said.stdout, &said.stderr] {
            assert_eq!(foreign(text), None, "{}: {said:?}", guard.name);
        }
        let text = format!("{}{}", said.stdout, said.stderr);
        let text = text.replace(project.outside().to_str().unwrap(), "[machine]");
        writeln!(all, "== {}\n{text}", guard.name).unwrap();
    }
    // The time since the sample's beginning.
    insta::with_settings!({ filters => [(r"\d{5,}", "[number]")] }, {
        insta::assert_snapshot!("samples", all);
    });
}

/// A word of the specifications in a message. What is literal, in backticks or quotes, is called
/// what it is called: a field, an agent, a skill.
fn foreign(message: &str) -> Option<&'static str> {
    let spoken: String = message.split('`').step_by(2).collect();
    let spoken = spoken.replace("\\\"", "'").replace("\\n", "\n");
    let words = spoken.split_whitespace();
    let words = words.filter(|word| !word.starts_with(['\'', '/']));
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    let mut known = FOREIGN.iter().copied();
    known.find(|foreign| words.iter().any(|word| word.contains(foreign)))
}

#[test]
fn a_bare_event_of_the_specification_gets_its_words_and_no_more() {
    in_each_row(&|(code, cases), home| {
        let cases = if home == Home::Original {
            cases(home)
        } else {
            Vec::new()
        };
        // A name of an event is an agent's.
        let is_bare = |case: &Case| case.event.get("hook_event_name").is_none();
        for case in cases.into_iter().filter(is_bare) {
            let answer = case.project.hook(&case.event);
            assert_ne!(answer.stdout, "", "{code}: {answer:?}");
            assert!(!answer.stdout.contains("Next: "), "{code}: {answer:?}");
        }
        String::new()
    });
}

/// Does this with every row of the table in both homes, at once, and puts what it says together.
fn in_each_row(each: &(dyn Fn(&Row, Home) -> String + Sync)) -> String {
    std::thread::scope(|scope| {
        let start = |row: &'static Row| {
            scope.spawn(move || each(row, Home::Original) + &each(row, Home::Own))
        };
        let running: Vec<_> = ROWS.iter().map(start).collect();
        let ended = running.into_iter().map(std::thread::ScopedJoinHandle::join);
        ended.map(Result::unwrap).collect()
    })
}
