//! What was measured, in `docs/agents.json`, and the page that shows it, `docs/agents.md`.
//!
//! A test fails when an agent does something else than the page says. `scripts/agents/measure`
//! measures anew: the scenarios leave what they see in a directory, and this puts it together.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::agent::{AGENTS, Agent};
use crate::fixture::write;
use crate::offline::{self, variable};

/// Set while measuring anew: where the scenarios leave what they saw.
const INTO: &str = "TOLLGATE_MEASURE_INTO";

/// Set when that is to be put together.
const FROM: &str = "TOLLGATE_MEASURED_IN";

const BEGIN: &str = "<!-- measured: begin -->\n";
const END: &str = "<!-- measured: end -->\n";

/// The rows of the page: when, what is tried, and the scenario.
const ROWS: [(&str, &str, &str); 17] = [
    (
        "all",
        "events that arrive in a session with a command, a failing command and a stop",
        "which_events_arrive",
    ),
    (
        "before a tool",
        "a commit to main during a workflow",
        "a_commit_to_main_is_denied",
    ),
    (
        "before a tool",
        "a commit to the workflow's branch",
        "a_commit_to_the_workflows_branch_runs",
    ),
    (
        "before a tool",
        "a file write that turns the state back",
        "a_write_that_turns_the_state_back_is_denied",
    ),
    (
        "after a tool",
        "a script forged the state",
        "a_state_that_a_script_forged_is_put_back",
    ),
    (
        "after a tool",
        "a guard reports a test run",
        "what_a_guard_tells_about_a_test_run",
    ),
    (
        "after a tool",
        "eight test runs in one message",
        "eight_calls_at_once_are_all_recorded",
    ),
    (
        "stop",
        "a red check that the agent then fixes",
        "a_stop_is_blocked_until_the_gate_is_green",
    ),
    (
        "stop",
        "a red check, in a project made by `init` and `install`",
        "what_init_and_install_make_holds_until_it_is_verified",
    ),
    (
        "stop",
        "a red check that the agent works on and never fixes",
        "a_gate_that_stays_red_lets_go",
    ),
    (
        "stop",
        "a red check, and the agent does nothing about it",
        "an_agent_that_does_nothing_is_let_go",
    ),
    (
        "stop",
        "a tree that was red before, and the agent changes nothing",
        "a_red_tree_that_nobody_touched_holds_nobody",
    ),
    (
        "stop",
        "the agent asks the person something",
        "a_question_to_the_person_gets_through_when_asked_again",
    ),
    (
        "stop",
        "a plan's reviews: fail, fail, pass, pass",
        "the_plan_loop_runs_four_rounds",
    ),
    (
        "stop",
        "the reviewer is the same agent with the same settings",
        "a_reviewer_of_the_same_kind_is_not_reviewed",
    ),
    (
        "end",
        "a person interrupts the agent in a command during a workflow",
        "an_interrupted_session_puts_the_git_hook_aside",
    ),
    (
        "all",
        "committed settings on a machine without Tollgate",
        "without_the_program_the_agent_goes_on",
    ),
];

/// Holds what a scenario saw against the page, or notes it while measuring anew.
pub(crate) fn check(agent: Agent, scenario: &str, seen: &str) {
    if let Some(directory) = variable(INTO) {
        return write(
            &Path::new(&directory).join(agent.name()).join(scenario),
            seen,
        );
    }
    let known = &data()["scenarios"][scenario][agent.name()];
    assert_eq!(
        known, seen,
        "docs/agents.json says otherwise; scripts/agents/measure measures anew"
    );
}

#[test]
fn the_page_says_what_was_measured() {
    if let Some(directory) = variable(FROM) {
        let data = put_together(Path::new(&directory));
        let text = serde_json::to_string_pretty(&data).unwrap() + "\n";
        write(&docs("agents.json"), &text);
        let page = std::fs::read_to_string(docs("agents.md")).unwrap();
        let (head, _, tail) = parts(&page);
        write(
            &docs("agents.md"),
            &format!("{head}{BEGIN}{}{END}{tail}", table(&data)),
        );
    }
    let page = std::fs::read_to_string(docs("agents.md")).unwrap();
    let (_, shown, _) = parts(&page);
    assert_eq!(
        shown,
        table(&data()),
        "scripts/agents/measure writes the page"
    );
}

#[test]
fn every_cell_was_measured_with_the_versions_that_are_tested() {
    let data = data();
    for agent in AGENTS {
        assert_eq!(data["versions"][agent.name()], offline::version(agent));
        for (_, _, scenario) in ROWS {
            let cell = data["scenarios"][scenario][agent.name()].as_str();
            assert!(
                cell.is_some_and(|cell| !cell.is_empty()),
                "{scenario} {agent:?}"
            );
        }
    }
    assert_eq!(ROWS.map(|(_, _, scenario)| scenario), crate::SCENARIOS);
}

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(name)
}

fn data() -> Value {
    let text = std::fs::read_to_string(docs("agents.json")).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// What lies in the directory, over what was known before.
fn put_together(directory: &Path) -> Value {
    let before = data();
    let mut versions = Map::new();
    let mut scenarios = Map::new();
    for agent in AGENTS {
        versions.insert(agent.name().to_owned(), offline::version(agent).into());
    }
    for (_, _, scenario) in ROWS {
        let mut cells = Map::new();
        for agent in AGENTS {
            let name = agent.name();
            let seen = std::fs::read_to_string(directory.join(name).join(scenario));
            let old = before["scenarios"][scenario][name]
                .as_str()
                .map(str::to_owned);
            let cell = seen.ok().or(old).unwrap_or_default();
            cells.insert(name.to_owned(), cell.into());
        }
        scenarios.insert(scenario.to_owned(), cells.into());
    }
    json!({ "versions": versions, "scenarios": scenarios })
}

/// Before, within and behind the measured part.
fn parts(page: &str) -> (&str, &str, &str) {
    let (head, rest) = page.split_once(BEGIN).unwrap();
    let (table, tail) = rest.split_once(END).unwrap();
    (head, table, tail)
}

fn table(data: &Value) -> String {
    let titles = AGENTS.map(|agent| {
        let version = data["versions"][agent.name()].as_str().unwrap_or("?");
        format!(" {} {version} |", agent.title())
    });
    let head = format!(
        "| Event | What is tried |{}\n|---|---|{}\n",
        titles.concat(),
        "---|".repeat(AGENTS.len())
    );
    let rows = ROWS.map(|(event, what, scenario)| {
        let cells = AGENTS.map(|agent| {
            let cell = data["scenarios"][scenario][agent.name()].as_str();
            format!(" {} |", cell.unwrap_or("?"))
        });
        format!("| {event} | {what} |{}\n", cells.concat())
    });
    head + &rows.concat()
}
