//! Every example of every pack and of docs/rules.md, played by real agents: what a rule covers does
//! not run and the model reads which rule it was, and what it does not cover is not stopped by it.
//!
//! Nothing but a `/tmp` and a `/home` of their own can be written: some examples would remove a machine's files.

use std::path::Path;

use crate::agent::Agent;
use crate::examples::{self, Call, Example, Surroundings};
use crate::fixture::Fixture;
use crate::model::{self, Input, Turn};
use crate::offline;
use crate::project::{TestProject, running};

#[test]
fn claude_code_meets_the_examples() {
    let test = "rules::claude_code_meets_the_examples";
    offline::run_without_writing(Agent::Claude, test, || every_example(Agent::Claude));
}

#[test]
fn codex_meets_the_examples() {
    let test = "rules::codex_meets_the_examples";
    offline::run_without_writing(Agent::Codex, test, || every_example(Agent::Codex));
}

/// All of them with `TOLLGATE_EXAMPLES=all`; otherwise each by one of the two agents, which takes half as long.
fn every_example(agent: Agent) {
    let is_whole = offline::variable("TOLLGATE_EXAMPLES").is_some_and(|which| which == "all");
    let turn = usize::from(agent == Agent::Codex);
    let mut played = 0;
    for (around, examples) in examples::all() {
        let is_ours = |one: &&Example| one.agent.as_deref().is_none_or(|name| name == agent.id());
        let (stops, calls): (Vec<_>, Vec<_>) = examples
            .iter()
            .enumerate()
            .filter(|(at, _)| is_whole || at % 2 == turn)
            .map(|(_, one)| one)
            .filter(is_ours)
            .partition(|one| matches!(one.call, Call::Changed(_)));
        for example in stops {
            stops_after(agent, &around, example);
            played += 1;
        }
        played += calls_one_after_the_other(agent, &around, &calls);
    }
    let least = if is_whole { 150 } else { 50 };
    assert!(played > least, "{played}");
}

fn fixture(agent: Agent, around: &Surroundings) -> Fixture {
    let project = match &around.phase {
        Some(phase) => TestProject::new().state(&running(phase, "in_progress")),
        None => TestProject::empty(),
    };
    let project = project.with_toml(&around.rules);
    for file in [
        "README.md",
        "sub/x",
        "web/x",
        "db/migrations/x",
        "src/x",
        ".env",
    ] {
        project.file(file, "");
    }
    let project = project.on_branch(&around.branch);
    project.commit("all");
    // What takes back the last commit does not take the rules.
    project.file("last", "");
    project.commit("last");
    // The pack `destructive` leaves `/tmp` alone.
    Fixture::at_home_in(Path::new("/home"), agent, project)
}

/// The calls of a session; how many there were.
fn calls_one_after_the_other(agent: Agent, around: &Surroundings, examples: &[&Example]) -> usize {
    let fixture = fixture(agent, around);
    let read = around.read_before.as_ref();
    let read = read.map(|file| agent.shell(&format!("cat {file}")));
    let playable: Vec<_> = examples
        .iter()
        .filter_map(|example| Some((*example, call(agent, &fixture, &example.call)?)))
        .collect();
    if playable.is_empty() {
        return 0;
    }
    let first = 1 + usize::from(read.is_some());
    let calls = read
        .into_iter()
        .chain(playable.iter().map(|(_, call)| call.clone()));
    let turns = calls.map(|call| Turn::Call(vec![call]));
    let session = fixture.play(turns.chain([Turn::Say("Done.".to_owned())]).collect());
    session.ends_well();
    let news = session.news();
    for (at, (example, _)) in playable.iter().enumerate() {
        let result = &news[at + first];
        assert_eq!(
            result.contains(&example.code),
            example.is_match,
            "{agent:?} {}: {example:?}: {result}\n{}",
            around.source,
            session.story()
        );
    }
    playable.len()
}

/// A session in which files change, and the agent stops.
fn stops_after(agent: Agent, around: &Surroundings, example: &Example) {
    let Call::Changed(files) = &example.call else {
        return;
    };
    let fixture = fixture(agent, around);
    let writes = files
        .iter()
        .map(|file| agent.write(&fixture.project.path(file), "x\n"));
    let writes = writes.map(|call| Turn::Call(vec![call]));
    let session = fixture.play(writes.chain([Turn::Say("Done.".to_owned())]).collect());
    session.ends_well();
    let codes = session.codes();
    let is_met = codes.iter().any(|code| code.ends_with(&example.code));
    assert_eq!(is_met, example.is_match, "{example:?}\n{}", session.story());
}

/// The call of an agent's tool; nothing where it has none for that.
fn call(agent: Agent, fixture: &Fixture, call: &Call) -> Option<model::Call> {
    let absolute = |path: &str| match path.strip_prefix("~/") {
        Some(rest) => fixture.home().join(rest),
        None => fixture.project.path(path),
    };
    match call {
        Call::Run(command) => Some(agent.shell(command)),
        Call::Write(path) => Some(agent.write(&absolute(path), "x\n")),
        Call::Read(path) if agent == Agent::Claude => {
            let input = serde_json::json!({ "file_path": absolute(path) });
            Some(model::Call {
                name: "Read",
                input: Input::Object(input),
            })
        }
        Call::Read(_) | Call::Changed(_) => None,
    }
}
