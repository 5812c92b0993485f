//! What is tried with every agent. Each scenario asserts what must hold, and returns what was
//! measured, in the words of the page.

use serde_json::{Value, json};

use crate::agent::Agent;
use crate::fixture::{Fixture, Session, TASK};
use crate::model::{Conversation, Turn};
use crate::project::{TOLLGATE, TestProject, run, running, with_branch};

/// How often gates that stay red block: `max_retries` of the configuration's default.
const PATIENCE: usize = 3;

/// A reviewer that takes its verdicts from a list.
const REVIEWER: &str = include_str!("../it/plans/reviewer.sh");

const STATE: &str = ".isdlc/state.json";

/// Settings that are committed meet machines without the program.
pub(crate) fn without_the_program_the_agent_goes_on(agent: Agent) -> String {
    let told = goes_on_without_the_program(agent, agent);
    // It also runs what is registered with Claude Code.
    if agent == Agent::Copilot {
        goes_on_without_the_program(agent, Agent::Claude);
    }
    told
}

/// One session of an agent, with the settings of this one in the project.
fn goes_on_without_the_program(agent: Agent, registered: Agent) -> String {
    let fixture = Fixture::made_by_init(agent);
    // As where the program is on the path: shared settings name it alone.
    std::fs::remove_file(fixture.project.path(agent.project_file())).unwrap();
    fixture.tollgate(&["install", "--agent", registered.id(), "--yes"]);
    let file = registered.project_file();
    let text = fixture.project.text(file).replace(TOLLGATE, "tollgate");
    fixture.project.file(file, text);
    std::fs::remove_file(fixture.home().join("bin/tollgate")).unwrap();
    let before = fixture.project.journal().len();
    let session = fixture.play(vec![call(agent, "touch worked"), done()]);
    session.ends_well();
    let story = session.story();
    assert!(fixture.project.path("worked").exists(), "{story}");
    assert_eq!(fixture.project.journal().len(), before, "{story}");
    let said = if session.printed("Tollgate is not installed") {
        "the person reads that it is not installed"
    } else if session.printed("hook: PreToolUse Failed") {
        "the person reads that the hook failed"
    } else {
        "nothing is printed"
    };
    format!("tools run and the session ends; {said}")
}

pub(crate) fn a_commit_to_main_is_denied(agent: Agent) -> String {
    let fixture = Fixture::new(agent, workflow("main"));
    let session = fixture.play(vec![call(agent, COMMIT), done()]);
    session.ends_well();
    assert_eq!(commits(&fixture), 1, "{}", session.story());
    assert_eq!(
        session.codes(),
        [coded(agent, "BG-001")],
        "{}",
        session.story()
    );
    assert!(
        session.reached_the_model("COMMIT TO MAIN BLOCKED"),
        "{}",
        session.story()
    );
    if agent == Agent::Claude {
        its_own_transcript_tells_the_same(&fixture, &session);
    }
    "the tool does not run; the model reads why".to_owned()
}

/// The transcript that the agent itself left is replayed: the same call is found, and no other;
/// that a hook saw it is known from the journal, and from nowhere else.
fn its_own_transcript_tells_the_same(fixture: &Fixture, session: &Session) {
    let field = |key: &str| {
        let mut events = session.events.iter();
        events.find_map(|seen| seen.event[key].as_str().map(str::to_owned))
    };
    let (transcript, call) = (field("transcript_path"), field("tool_use_id"));
    let (transcript, call) = (transcript.unwrap(), call.unwrap());
    for (seen, unseen) in [(true, 0), (false, 1)] {
        let run = fixture.project.run(&["replay", &transcript, "--json"], b"");
        assert_eq!(run.code, 0, "{run:?}");
        let told: Value = serde_json::from_str(&run.stdout).unwrap();
        let findings = told["findings"].as_array().unwrap();
        assert_eq!(findings.len(), 1, "{told:#}");
        let found = &findings[0];
        assert_eq!(
            (
                &found["code"],
                &found["tool"],
                &found["call"],
                &found["seen"]
            ),
            (&json!("BG-001"), &json!("Bash"), &json!(call), &json!(seen)),
            "{told:#}"
        );
        let count: u64 = told["counts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["unseen"].as_u64().unwrap())
            .sum();
        assert_eq!(count, unseen, "{told:#}");
        let journal = fixture.project.path(".tollgate/local/journal.jsonl");
        std::fs::remove_file(journal).unwrap_or_default();
    }
}

pub(crate) fn a_commit_to_the_workflows_branch_runs(agent: Agent) -> String {
    let fixture = Fixture::new(agent, workflow("feature/x"));
    let session = fixture.play(vec![call(agent, COMMIT), done()]);
    session.ends_well();
    assert_eq!(commits(&fixture), 2, "{}", session.story());
    assert!(session.codes().is_empty(), "{}", session.story());
    "runs; nothing is said".to_owned()
}

pub(crate) fn a_write_that_turns_the_state_back_is_denied(agent: Agent) -> String {
    let mut state = running("06-implementation", "in_progress");
    state["state_version"] = json!(9);
    let fixture = Fixture::new(agent, TestProject::new().state(&state));
    let before = fixture.project.read(STATE);
    state["state_version"] = json!(2);
    let write = agent.write(&fixture.project.path(STATE), &state.to_string());
    let session = fixture.play(vec![Turn::Call(vec![write]), done()]);
    session.ends_well();
    assert_eq!(fixture.project.read(STATE), before, "{}", session.story());
    assert!(!session.codes().is_empty(), "{}", session.story());
    assert!(
        session.reached_the_model("state_version"),
        "{}",
        session.story()
    );
    "the tool does not run; the model reads why".to_owned()
}

pub(crate) fn a_state_that_a_script_forged_is_put_back(agent: Agent) -> String {
    let mut state = running("06-implementation", "in_progress");
    state["state_version"] = json!(9);
    let fixture = Fixture::new(agent, TestProject::new().state(&state));
    let before = fixture.project.read(STATE);
    // A script is read, but not what it reads: nobody sees that this one does it.
    fixture.project.file("where", STATE);
    let script =
        "#!/bin/sh\nsed -i 's/\"state_version\": 9/\"state_version\": 2/' \"$(cat where)\"\n";
    let forge = fixture.program("forge", script).display().to_string();
    let session = fixture.play(vec![call(agent, &forge), call(agent, "true"), done()]);
    session.ends_well();
    assert!(
        session.codes().contains(&coded(agent, "SW-001")),
        "{}",
        session.story()
    );
    assert_eq!(fixture.project.read(STATE), before, "{}", session.story());
    format!("put back; {}", heard(&session, UNDONE))
}

pub(crate) fn what_a_guard_tells_about_a_test_run(agent: Agent) -> String {
    let (fixture, pytest) = tests_to_run(agent);
    let session = fixture.play(vec![call(agent, &pytest), done()]);
    session.ends_well();
    assert_eq!(iterations(&fixture), 1, "{}", session.story());
    format!("recorded; {}", heard(&session, "TESTS PASSED"))
}

pub(crate) fn eight_calls_at_once_are_all_recorded(agent: Agent) -> String {
    let (fixture, pytest) = tests_to_run(agent);
    let calls = (0..8).map(|n| agent.shell(&format!("{pytest} tests/unit_{n}")));
    let session = fixture.play(vec![Turn::Call(calls.collect()), done()]);
    session.ends_well();
    assert_eq!(iterations(&fixture), 8, "{}", session.story());
    let state: Value = serde_json::from_str(&fixture.project.read(STATE)).unwrap();
    let runs = &state["phases"]["06-implementation"]["iteration_requirements"]["test_iteration"];
    let mut seen: Vec<_> = runs["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["command"].to_string())
        .collect();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 8, "{}", session.story());
    "all eight are in the state".to_owned()
}

pub(crate) fn a_stop_is_blocked_until_the_gate_is_green(agent: Agent) -> String {
    let fixture = Fixture::made_by_init(agent);
    let turns = vec![work(agent), done(), call(agent, "touch src/fixed"), done()];
    let session = fixture.play(turns);
    session.ends_well();
    assert_eq!(session.model.count(TASK), 4, "{}", session.story());
    assert_eq!(
        session.codes(),
        [coded(agent, "GATE-FAILED")],
        "{}",
        session.story()
    );
    let news = session.news();
    assert!(news[2].contains("fixed"), "{}", session.story());
    // What failed, and how to go on: the model reads both, whatever way they go.
    assert!(
        news[2].contains("Fix the causes, then stop again"),
        "{}",
        session.story()
    );
    assert!(!news[3].contains("GATE"), "{}", session.story());
    "the turn goes on; the model reads why; it ends when the check is green".to_owned()
}

/// As a person sets it up, and asks afterwards.
pub(crate) fn what_init_and_install_make_holds_until_it_is_verified(agent: Agent) -> String {
    let fixture = Fixture::made_by_init(agent);
    let session = fixture.play(vec![
        work(agent),
        Turn::Say("All done, tests pass. Anything else?".to_owned()),
        call(agent, "touch src/fixed"),
        done(),
    ]);
    session.ends_well();
    assert_eq!(session.model.count(TASK), 4, "{}", session.story());
    let codes = session.codes();
    let blocks = codes.iter().filter(|code| code.ends_with("GATE-FAILED"));
    assert_eq!(blocks.count(), 1, "{}", session.story());
    let status = fixture.tollgate(&["status", "--exit-code"]);
    assert!(status.contains("✔ verified"), "{status}");
    "blocked once; verified in the end".to_owned()
}

pub(crate) fn a_gate_that_stays_red_lets_go(agent: Agent) -> String {
    let fixture = Fixture::made_by_init(agent);
    // It does something each time, and never the right thing.
    let mut turns = vec![work(agent), done()];
    for n in 0..12 {
        turns.extend([call(agent, &format!("echo {n} > src/other")), done()]);
    }
    let session = fixture.play(turns);
    session.ends_well();
    let blocks = session
        .codes()
        .iter()
        .filter(|code| code.ends_with("GATE-FAILED"))
        .count();
    assert_eq!(blocks, PATIENCE, "{}", session.story());
    assert_eq!(
        session.model.count(TASK),
        2 + 2 * PATIENCE,
        "{}",
        session.story()
    );
    format!("released, not verified, after {blocks} blocks")
}

pub(crate) fn an_agent_that_does_nothing_is_let_go(agent: Agent) -> String {
    let fixture = Fixture::made_by_init(agent);
    let session = fixture.play(vec![work(agent)]);
    session.ends_well();
    let blocks = session
        .codes()
        .iter()
        .filter(|code| code.ends_with("GATE-FAILED"))
        .count();
    assert!((1..=PATIENCE).contains(&blocks), "{}", session.story());
    assert_eq!(session.model.count(TASK), 2 + blocks, "{}", session.story());
    format!(
        "released, not verified, after {blocks} block{}",
        if blocks == 1 { "" } else { "s" }
    )
}

/// The tree was red before the agent came: that is reported, and does not hold the agent.
pub(crate) fn a_red_tree_that_nobody_touched_holds_nobody(agent: Agent) -> String {
    let fixture = Fixture::made_by_init(agent);
    let session = fixture.play(vec![call(agent, "cat src/a.txt"), done()]);
    session.ends_well();
    assert_eq!(session.model.count(TASK), 2, "{}", session.story());
    assert_eq!(
        session.codes(),
        [coded(agent, "GATE-NOTICE")],
        "{}",
        session.story()
    );
    "released, not verified; nothing ran".to_owned()
}

pub(crate) fn a_question_to_the_person_gets_through_when_asked_again(agent: Agent) -> String {
    let fixture = Fixture::made_by_init(agent);
    let ask = || Turn::Say("Shall I go on?".to_owned());
    let session = fixture.play(vec![work(agent), ask(), ask()]);
    session.ends_well();
    let codes = session.codes();
    let blocks = codes.iter().filter(|code| code.ends_with("GATE-FAILED"));
    assert_eq!(blocks.count(), 1, "{}", session.story());
    let notices = codes.iter().filter(|code| code.ends_with("GATE-NOTICE"));
    assert_eq!(notices.count(), 1, "{}", session.story());
    "blocked once, then released, not verified".to_owned()
}

pub(crate) fn the_plan_loop_runs_four_rounds(agent: Agent) -> String {
    let fixture = Fixture::new(agent, planned());
    let control = fixture.home().join("control");
    crate::fixture::write(&control.join("verdicts"), "FAIL\nFAIL\nPASS\nPASS\n");
    fixture.program(
        "claude",
        &REVIEWER.replace("@CONTROL@", control.to_str().unwrap()),
    );
    let answer = |n: u32| {
        call(
            agent,
            &format!("echo '# Fixed' > .taskie/plans/p/task-1-post-review-{n}.md"),
        )
    };
    let session = fixture.play(vec![
        done(),
        answer(1),
        done(),
        answer(2),
        done(),
        answer(3),
        done(),
    ]);
    session.ends_well();
    let calls = std::fs::read_to_string(control.join("calls")).unwrap_or_default();
    assert_eq!(calls.lines().count(), 4, "{}", session.story());
    let state: Value =
        serde_json::from_str(&fixture.project.read(".taskie/plans/p/state.json")).unwrap();
    assert_eq!(state["next_phase"], "complete-task", "{}", session.story());
    assert_eq!(state["phase_iteration"], 4, "{}", session.story());
    for n in 1..=3 {
        assert!(
            session.reached_the_model(&format!("task-1-review-{n}.md")),
            "{}",
            session.story()
        );
    }
    // The third was the first clean one.
    assert!(
        session.reached_the_model("One more clean review in a row is needed"),
        "{}",
        session.story()
    );
    "four rounds in one turn, then it may stop".to_owned()
}

pub(crate) fn a_reviewer_of_the_same_kind_is_not_reviewed(agent: Agent) -> String {
    let config = format!(
        "    reviews: [q]\ncli: {{ default_preference: [{}] }}",
        agent.reviewer()
    );
    let project = gates(&config);
    project.file(
        ".gauntlet/reviews/q.md",
        "---\nnum_reviews: 1\n---\nLook for bugs.\n",
    );
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "a review", "--", ".gauntlet"]);
    let fixture = Fixture::new(agent, project);
    fixture.program(agent.name(), &agent.launcher(fixture.home()));
    let pass = json!({ "status": "pass", "message": null, "violations": [] });
    let session = fixture.play_all(vec![
        Conversation {
            sign: TASK.to_owned(),
            turns: vec![work(agent), done()],
        },
        Conversation {
            sign: REVIEW.to_owned(),
            turns: vec![Turn::Object(pass)],
        },
    ]);
    session.ends_well();
    assert!(
        (1..=2).contains(&session.model.count(REVIEW)),
        "{}",
        session.story()
    );
    assert_eq!(session.model.count(TASK), 2, "{}", session.story());
    assert!(session.codes().is_empty(), "{}", session.story());
    let reviews = fixture.project.read("gauntlet_logs/.execution_state");
    assert!(reviews.contains("passed"), "{reviews}\n{}", session.story());
    let nested = session.events.iter().filter(|seen| seen.is_nested).count();
    let nested = match nested {
        0 => "runs no hook",
        _ => "runs hooks, which let it go on at once",
    };
    format!("the reviewer {nested}")
}

pub(crate) fn which_events_arrive(agent: Agent) -> String {
    let fixture = Fixture::new(agent, TestProject::new().on_branch("main"));
    let turns = vec![call(agent, "true"), call(agent, "false"), done()];
    let session = fixture.play(turns);
    session.ends_well();
    for seen in &session.events {
        let mut simulate = fixture.project.command(&["simulate", "-", "--json"]);
        if agent == Agent::Gemini {
            simulate.env("GEMINI_SESSION_ID", "set for every hook of Gemini's");
        }
        let parsed = run(simulate, seen.event.to_string().as_bytes());
        let parsed: Value = serde_json::from_str(&parsed.stdout).unwrap_or_default();
        assert_eq!(
            parsed["protocol"],
            agent.name(),
            "{parsed} of {}",
            seen.event
        );
    }
    arrived(&session)
}

/// What `install` proposed on git's side is in place while the command runs.
pub(crate) fn an_interrupted_session_puts_the_git_hook_aside(agent: Agent) -> String {
    let fixture = Fixture::new(agent, workflow("feature/x"));
    let args = [
        "install",
        "--agent",
        agent.name(),
        "--command",
        TOLLGATE,
        "--yes",
    ];
    fixture.project.must(&args);
    let in_place = fixture.project.path(".git/hooks/reference-transaction");
    assert!(!in_place.exists());
    let begun = fixture.home().join("begun");
    let command = format!(
        "cp '{}' '{}'; sleep 60",
        in_place.display(),
        begun.display()
    );
    let session = fixture.interrupt(vec![call(agent, &command), done()], &begun);
    assert!(begun.exists(), "{}", session.story());
    assert!(!in_place.exists(), "{}", session.story());
    let names = arrived(&session);
    assert!(names.ends_with("SessionEnd"), "{}", session.story());
    if names.contains("Stop") || names.contains("AfterAgent") {
        "its turn and its session end; the hook on git's side is aside".to_owned()
    } else {
        "its session ends without a stop; the hook on git's side is aside".to_owned()
    }
}

/// The events of a session, each once, in the order of their arrival.
fn arrived(session: &Session) -> String {
    let mut names: Vec<String> = Vec::new();
    for seen in &session.events {
        let name = seen.event["hook_event_name"]
            .as_str()
            .unwrap_or("(nameless)")
            .to_owned();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// In what the agent is told about a state that was put back.
const UNDONE: &str = "STATE RESTORED";

const COMMIT: &str = "git commit --allow-empty -m work";

/// In every review's question.
const REVIEW: &str = "Look for bugs.";

fn done() -> Turn {
    Turn::Say("Done.".to_owned())
}

fn call(agent: Agent, command: &str) -> Turn {
    Turn::Call(vec![agent.shell(command)])
}

fn coded(agent: Agent, code: &str) -> String {
    format!("{} {code}", agent.name())
}

/// Who was told this. The person's screen is what the agent prints without one.
fn heard(session: &Session, text: &str) -> &'static str {
    match (session.reached_the_model(text), session.printed(text)) {
        (true, true) => "the model and the person read it",
        (true, false) => "the model reads it",
        (false, true) => "the person reads it, the model does not",
        (false, false) => "it is in the journal, nobody reads it",
    }
}

fn commits(fixture: &Fixture) -> usize {
    let count = fixture.project.git(&["rev-list", "--count", "HEAD"]);
    count.parse().unwrap()
}

/// A workflow with its own branch, while `branch` is checked out.
fn workflow(branch: &str) -> TestProject {
    TestProject::new()
        .state(&with_branch("active"))
        .on_branch(branch)
}

/// A workflow in which tests must pass, and a test runner whose tests do.
fn tests_to_run(agent: Agent) -> (Fixture, String) {
    let project = TestProject::new().state(&running("06-implementation", "in_progress"));
    let wanted = json!({ "enabled": true, "max_iterations": 20 });
    let wanted =
        json!({ "phase_requirements": { "06-implementation": { "test_iteration": wanted } } });
    project.file(
        ".claude/hooks/config/iteration-requirements.json",
        wanted.to_string(),
    );
    let fixture = Fixture::new(agent, project);
    let passed = include_str!("../../../tollgate-core/tests/summaries/pytest-pass.txt");
    // By its whole name: Codex's shell is a login shell with a `PATH` of its own.
    let pytest = fixture.program(
        "pytest",
        &format!("#!/bin/sh\ncat <<'END'\n{passed}\nEND\n"),
    );
    let pytest = format!("{} -q", pytest.display());
    (fixture, pytest)
}

fn iterations(fixture: &Fixture) -> u64 {
    let state: Value = serde_json::from_str(&fixture.project.read(STATE)).unwrap();
    let phase = &state["phases"]["06-implementation"]["iteration_requirements"];
    phase["test_iteration"]["current_iteration"]
        .as_u64()
        .unwrap_or(0)
}

/// Gates over `src`, where something changed; `fixed` is green once `src/fixed` exists.
/// The agent changes a file that the gates check.
fn work(agent: Agent) -> Turn {
    call(agent, "echo work > src/work")
}

fn gates(more: &str) -> TestProject {
    let project = TestProject::empty();
    project.file(
        ".gauntlet/checks/fixed.yml",
        "command: test -e fixed || { echo not fixed; exit 1; }\n",
    );
    let config = format!(
        "base_branch: main\nstop_hook: {{ run_interval_minutes: 0 }}\nentry_points:\n  - path: src\n{more}\n"
    );
    project.file(".gauntlet/config.yml", &config);
    project.file(".gitignore", ".claude\n.github\n");
    project.file("src/a.txt", "a\n");
    project.git(&["init", "-q", "-b", "main"]);
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "first"]);
    project.git(&["checkout", "-q", "-b", "work"]);
    project.file("src/b.txt", "b\n");
    project
}

/// A plan whose first task is done and not reviewed.
fn planned() -> TestProject {
    let rows = "| 1 | done | high | one |\n| 2 | pending | high | two |\n";
    let project = TestProject::empty().with_plan("p", rows);
    let state = json!({
        "max_reviews": 8, "current_task": "1", "phase": "complete-task", "phase_iteration": 0,
        "next_phase": "code-review", "review_model": "opus", "consecutive_clean": 0, "tdd": false,
    });
    project.file(".taskie/plans/p/state.json", state.to_string());
    project.on_branch("main")
}
