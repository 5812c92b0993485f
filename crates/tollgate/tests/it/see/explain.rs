//! `tollgate explain` is right: what it suggests is applied, and the event passes.

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};
use tollgate_core::guard::GUARDS;
use tollgate_core::{integrity, life};

use crate::context::{Project, bash, running, task, with_branch};

/// A known-bad event and the project it is bad in.
#[derive(Clone, Debug)]
struct Bad {
    guard: &'static str,
    files: Vec<(String, String)>,
    event: Value,
}

const STATE: &str = ".isdlc/state.json";

/// Texts of another moment, as if it were now.
fn today(text: &str) -> String {
    let then: Timestamp = life::NOW.parse().unwrap();
    let shift = Timestamp::now().duration_since(then);
    let mut text = text.to_owned();
    for minute in 0..10 {
        for second in ["00", "30"] {
            let old = format!("2026-01-01T00:0{minute}:{second}.000Z");
            let moved = old
                .parse::<Timestamp>()
                .unwrap()
                .checked_add(shift)
                .unwrap();
            text = text.replace(&old, &moved.to_string());
        }
    }
    text
}

/// Every guard's known-bad event, and one for each code that these do not show.
fn bad_events() -> Vec<Bad> {
    let own = life::lives()
        .filter(|life| life.is_finding())
        .map(|life| Bad {
            guard: life.guard,
            files: life
                .files
                .iter()
                .map(|(path, text)| ((*path).to_owned(), today(text)))
                .collect(),
            event: serde_json::from_str(life.event).unwrap(),
        });
    let mut all: Vec<Bad> = own.collect();
    let requirements = |asked: Value| {
        let text = json!({ "phase_requirements": { "06-implementation": asked } });
        (
            ".isdlc/config/iteration-requirements.json".to_owned(),
            text.to_string(),
        )
    };
    let manifest = (
        ".isdlc/config/skills-manifest.json".to_owned(),
        json!({ "ownership": {
            "software-developer": { "phase": "06-implementation" },
            "requirements-analyst": { "phase": "01-requirements" },
        } })
        .to_string(),
    );
    let advance = task("sdlc-orchestrator", "advance to the next phase");
    let mut add = |guard, state: Value, files: Vec<(String, String)>, event: Value| {
        let state = vec![(STATE.to_owned(), state.to_string())];
        all.push(Bad {
            guard,
            files: [state, files].concat(),
            event,
        });
    };
    let at = |workflow: Value| {
        let mut state = running("06-implementation", "in_progress");
        for (key, value) in workflow.as_object().unwrap() {
            state["active_workflow"][key] = value.clone();
        }
        state
    };
    let config = || {
        vec![requirements(
            json!({ "test_iteration": { "enabled": false } }),
        )]
    };
    add(
        "gate-blocker",
        at(
            json!({ "phases": ["01-requirements", "06-implementation", "08-code-review"], "current_phase_index": 0 }),
        ),
        config(),
        advance.clone(),
    );
    add(
        "gate-blocker",
        at(json!({ "supervised_review": { "status": "reviewing" } })),
        config(),
        advance.clone(),
    );
    add(
        "gate-blocker",
        at(json!({ "status": "completed" })),
        config(),
        advance.clone(),
    );
    let everything = requirements(json!({
        "test_iteration": { "enabled": true }, "constitutional_validation": { "enabled": true, "articles": ["I"] },
        "interactive_elicitation": { "enabled": true, "min_menu_interactions": 3, "required_final_selection": ["save", "continue"] },
        "agent_delegation_validation": { "enabled": true }, "artifact_validation": { "enabled": true, "paths": ["docs/design.md"] },
    }));
    add(
        "gate-blocker",
        at(json!({})),
        vec![everything, manifest.clone()],
        advance.clone(),
    );
    let mut passed = at(json!({}));
    passed["phases"]["06-implementation"]["iteration_requirements"] =
        json!({ "test_iteration": { "completed": true, "current_iteration": 1 } });
    passed["phases"]["06-implementation"]["constitutional_validation"] =
        json!({ "completed": false });
    add(
        "iteration-corridor",
        passed,
        vec![requirements(
            json!({ "test_iteration": { "enabled": true }, "constitutional_validation": { "enabled": true, "articles": ["I"] } }),
        )],
        advance,
    );
    add(
        "phase-sequence-guard",
        running("01-requirements", "in_progress"),
        vec![manifest.clone()],
        task("software-developer", "go"),
    );
    add(
        "phase-sequence-guard",
        running("06-implementation", "in_progress"),
        vec![manifest, ("docs/isdlc/tasks.md".to_owned(), "x".to_owned())],
        task("somebody", "Phase key: 77-nowhere"),
    );
    for plan in [
        "Format: v2.0\n",
        "Format: v2.0\n## Phase 06: Implementation\n- [ ] T0001 code\n",
        "Format: v2.0\n## Phase 06: Implementation\n- [ ] T0001 code | traces: FR-01\n  files: a\n  blocked_by: [T0001]\n## Dependency Graph\n",
    ] {
        let state = running("06-implementation", "in_progress");
        let plan = ("docs/isdlc/tasks.md".to_owned(), plan.to_owned());
        add(
            "plan-surfacer",
            state,
            vec![plan],
            task("software-developer", "go"),
        );
    }
    let mut early = at(json!({ "phases": ["06-implementation", "08-code-review"] }));
    early["active_workflow"]["git_branch"] = json!({ "name": "feature/x", "status": "active" });
    add(
        "branch-guard",
        early,
        vec![],
        bash("git switch -c feature/x && git commit -m x"),
    );
    let write = |content: &Value| json!({ "tool_name": "Write", "tool_input": { "file_path": STATE, "content": content.to_string() } });
    let mut back = at(json!({ "current_phase_index": 1 }));
    back["active_workflow"]["current_phase_index"] = json!(0);
    add(
        "state-write-validator",
        at(json!({ "current_phase_index": 1, "current_phase": "16-quality-loop" })),
        vec![],
        write(&back),
    );
    for (path, count) in [
        ("constitutional_validation", "iterations_used"),
        ("interactive_elicitation", "menu_interactions"),
        ("test_iteration", "current_iteration"),
    ] {
        let claim = json!({ "completed": true, count: 0 });
        let data = if path == "constitutional_validation" {
            json!({ path: claim })
        } else {
            json!({ "iteration_requirements": { path: claim } })
        };
        add(
            "state-write-validator",
            json!({}),
            vec![],
            write(&json!({ "phases": { "06-implementation": data } })),
        );
    }
    add(
        "state-write-validator",
        json!({}),
        vec![],
        write(
            &json!({ "current_phase": "01-x", "active_workflow": { "current_phase": "06-implementation" } }),
        ),
    );
    add(
        "state-file-guard",
        json!({}),
        vec![],
        bash("rm -rf .tollgate/local"),
    );
    add(
        "discover-menu-guard",
        json!({}),
        vec![],
        json!({ "tool_name": "Task", "tool_input": { "subagent_type": "discover-orchestrator" }, "tool_result": "Pick one: [1] New project [2] Existing project [3] Chat/Explore [4] Scoped analysis of it all" }),
    );
    add(
        "discover-menu-guard",
        json!({}),
        vec![],
        json!({ "tool_name": "Task", "tool_input": { "subagent_type": "discover-orchestrator" }, "tool_result": "Choose: [1] New Project [2] Existing Project. Enter selection:" }),
    );
    let impact = (
        "docs/requirements/REQ-1/impact-analysis.md".to_owned(),
        "nothing in particular\n".to_owned(),
    );
    add(
        "blast-radius-validator",
        json!({ "active_workflow": { "type": "feature", "artifact_folder": "REQ-1", "current_phase": "06-implementation" } }),
        vec![impact],
        task("sdlc-orchestrator", "advance to the next phase"),
    );
    let failing = "test result: FAILED. 1 passed; 2 failed; 0 ignored";
    let ran = |result: &str| json!({ "tool_name": "Bash", "tool_input": { "command": "cargo test" }, "tool_result": result });
    let mut spent = at(json!({}));
    spent["phases"]["06-implementation"]["iteration_requirements"] =
        json!({ "test_iteration": { "current_iteration": 9, "max_iterations": 5, "history": [] } });
    add(
        "test-watcher",
        spent,
        vec![requirements(
            json!({ "test_iteration": { "enabled": true } }),
        )],
        ran(failing),
    );
    let tried = |record: Value| {
        let mut state = at(json!({ "options": { "atdd_mode": true } }));
        state["phases"]["06-implementation"]["iteration_requirements"] =
            json!({ "test_iteration": record });
        state
    };
    let tests = |asked: Value| vec![requirements(json!({ "test_iteration": asked }))];
    let history =
        json!([{ "result": "failed", "error": failing }, { "result": "failed", "error": failing }]);
    add(
        "test-watcher",
        tried(json!({ "current_iteration": 2, "identical_failure_count": 2, "history": history })),
        tests(json!({ "enabled": true })),
        json!({
            "hook_event_name": "PostToolUseFailure", "session_id": "s", "tool_use_id": "toolu_1",
            "tool_name": "Bash", "tool_input": { "command": "cargo test" },
            "error": format!("Exit code 101\n{failing}"), "is_interrupt": false,
        }),
    );
    add(
        "test-watcher",
        tried(json!({ "current_iteration": 9, "max_iterations": 5, "history": [] })),
        tests(
            json!({ "enabled": true, "max_iterations": 5, "success_criteria": { "min_coverage_percent": 80 } }),
        ),
        ran("test result: ok. 3 passed; 0 failed; 0 ignored\nTOTAL 7 1 46%\n"),
    );
    add(
        "test-watcher",
        tried(json!({ "current_iteration": 1, "history": [] })),
        tests(json!({ "enabled": true })),
        ran("test result: ok. 2 passed; 0 failed; 1 ignored"),
    );
    add(
        "state-file-guard",
        json!({}),
        vec![],
        bash("echo '{}' > .isdlc/monorepo.json"),
    );
    let took = |minutes: u64| json!({ "metrics": { "total_duration_minutes": minutes }, "phase_snapshots": [] });
    let slow = json!({ "started_at": "2026-01-01T00:00:00Z", "phases": ["06-implementation"] });
    add(
        "workflow-completion-enforcer",
        json!({
            "active_workflow": null, "workflow_history": [took(10), took(10), slow],
            "phases": { "06-implementation": { "status": "completed" } },
        }),
        vec![],
        json!({ "tool_name": "Write", "tool_input": { "file_path": STATE, "content": "{}" }, "tool_result": "ok" }),
    );
    for name in [
        "docs/traceability-matrix.csv",
        "docs/adr/ADR-001-x.md",
        "docs/test-strategy.md",
        "docs/user-stories.json",
    ] {
        add(
            "output-format-validator",
            json!({ "active_workflow": {} }),
            vec![(name.to_owned(), "x\n".to_owned())],
            json!({ "tool_name": "Write", "tool_input": { "file_path": name, "content": "x" }, "tool_result": "ok" }),
        );
    }
    all
}

/// How an event is sent and what else is in the project: nothing of it matters to the guard.
#[derive(Clone, Debug)]
struct Variant {
    claude: bool,
    absolute: bool,
    noise: bool,
    session: String,
}

fn project_of(bad: &Bad, variant: &Variant) -> (Project, Value) {
    let project = Project::empty();
    project.git(&["init", "-q", "-b", "main"]);
    for (path, text) in bad
        .files
        .iter()
        .filter(|(path, _)| !path.starts_with(".git/"))
    {
        let text = match (path.as_str(), serde_json::from_str::<Value>(text)) {
            (STATE, Ok(Value::Object(mut state))) if variant.noise => {
                state.insert(
                    "notes".to_owned(),
                    json!({ "deep": [1, 2, { "x": "\u{1b}[31m" }] }),
                );
                serde_json::to_string_pretty(&state).unwrap()
            }
            _ => text.clone(),
        };
        project.file(path, &text);
    }
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    let mut event = bad.event.clone();
    let post = event.get("tool_result").is_some();
    if variant.claude
        && event.get("hook_event_name").is_none()
        && bad.guard != "state-write-validator"
    {
        event["hook_event_name"] = json!(if post { "PostToolUse" } else { "PreToolUse" });
        event["session_id"] = json!(variant.session);
        event["cwd"] = json!(project.root());
        event["tool_use_id"] = json!("toolu_1");
        event["permission_mode"] = json!("default");
        event["transcript_path"] = json!("/nowhere/t.jsonl");
        if let Some(result) = event.as_object_mut().unwrap().remove("tool_result") {
            event["tool_response"] = result;
        }
    }
    if variant.absolute
        && let Some(path) = event["tool_input"]["file_path"].as_str()
    {
        event["tool_input"]["file_path"] = json!(project.path(path));
    }
    (project, event)
}

fn findings(project: &Project) -> Vec<Value> {
    let lines = project.journal().into_iter();
    lines
        .filter(|line| line["verdict"] == "block" || line["verdict"] == "warn")
        .collect()
}

/// Makes the suggested changes for real.
fn apply(project: &Project, event: &mut Value, changes: &[Value]) {
    for change in changes {
        let path = &change["path"];
        match change["change"].as_str().unwrap() {
            "state" => {
                let mut state: Value =
                    serde_json::from_str(&project.read(STATE)).unwrap_or(json!({}));
                put(&mut state, path, change["value"].clone());
                project.file(STATE, &state.to_string());
            }
            "event" => put(event, path, change["value"].clone()),
            "file" => drop(project.file(path.as_str().unwrap(), change["text"].as_str().unwrap())),
            "branch" => {
                project.git(&["checkout", "-q", "-B", change["name"].as_str().unwrap()]);
            }
            "touched" => {
                for file in change["files"].as_array().unwrap() {
                    project.file(file.as_str().unwrap(), "changed\n");
                }
            }
            other => panic!("{other}"),
        }
    }
}

fn put(root: &mut Value, path: &Value, value: Value) {
    let mut place = root;
    for key in path.as_array().unwrap() {
        if place.is_null() {
            *place = json!({});
        }
        place = &mut place[key.as_str().unwrap()];
    }
    *place = value;
}

/// Gives the code that was found and passed by.
fn check(bad: &Bad, variant: &Variant) -> Result<String, String> {
    let (project, mut event) = project_of(bad, variant);
    project.guard(bad.guard, &event);
    let before = findings(&project);
    let Some(found) = before.last() else {
        return Err(format!("{} found nothing in {event}", bad.guard));
    };
    let code = found["code"].as_str().unwrap();
    let run = project.run(&["explain", "--last", "--json"], b"");
    if run.code != 0 {
        return Err(format!("{run:?}"));
    }
    let told: Value =
        serde_json::from_str(&run.stdout).map_err(|error| format!("{error}: {run:?}"))?;
    if told["doubts"] != json!([]) || told["tried"] != json!(true) {
        return Err(format!(
            "{} {code}: no way out was found: {told:#}",
            bad.guard
        ));
    }
    let changes = told["passes_if"].as_array().unwrap();
    apply(&project, &mut event, changes);
    if let Some(id) = event.get_mut("tool_use_id") {
        *id = json!("toolu_2");
    }
    let run = project.guard(bad.guard, &event);
    let after = findings(&project);
    // A block that is gone may leave a warning, which stops nobody.
    let stops = |line: &&Value| found["verdict"] == "warn" || line["verdict"] == "block";
    if after.iter().skip(before.len()).any(|line| stops(&line)) {
        return Err(format!(
            "{} {code} is still there after {changes:#?}: {run:?} {:?}",
            bad.guard,
            after.last()
        ));
    }
    // Whatever else the whole of the guards says, it does not block.
    project.hook(&event);
    let blocks = findings(&project)
        .iter()
        .skip(after.len())
        .filter(|line| line["verdict"] == "block")
        .count();
    if blocks > 0 {
        return Err(format!(
            "{} {code}: still blocked after {changes:#?}: {:?}",
            bad.guard,
            findings(&project).last()
        ));
    }
    Ok(code.to_owned())
}

/// Codes that no event is stopped or warned with, and where they are shown instead.
const NO_VERDICT: &[(&str, &str)] = &[
    ("IC-100", "a note in the activity log"),
    ("PLC-100", "a note in the activity log"),
    ("GB-100", "a note in the activity log"),
    ("CV-100", "a note in the activity log"),
    ("DG-100", "a note in the activity log"),
    ("LSU-001", "a note in the activity log"),
    ("MT-001", "a note in the activity log"),
    ("TW-005", "a note in the activity log"),
    ("WCE-001", "a note in the activity log"),
    (
        "SDE-001",
        "a word to the agent; what comes of not heeding it is DG-001",
    ),
    (
        "SW-001",
        "about the state, not the event: a test of its own",
    ),
    ("SW-002", "a line of the journal: the change was adopted"),
    ("SW-003", "a notice: the change was adopted"),
    (
        "SW-004",
        "about the state, not the event: a test of its own",
    ),
];

#[test]
fn for_every_guard_the_suggested_change_lets_the_event_pass() {
    let plain = Variant {
        claude: false,
        absolute: false,
        noise: false,
        session: "s".to_owned(),
    };
    let mut shown: Vec<String> = Vec::new();
    let mut wrong: Vec<String> = Vec::new();
    for bad in bad_events() {
        match check(&bad, &plain) {
            Ok(code) => shown.push(code),
            Err(why) => wrong.push(why),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
    // Every code of the registry was shown, or is none that an event gets.
    let guards = GUARDS.iter().flat_map(|guard| guard.codes);
    let missing: Vec<_> = guards
        .chain(integrity::CODES)
        .filter(|(code, _)| {
            let excused = NO_VERDICT.iter().any(|(known, _)| known == code);
            excused == shown.iter().any(|known| known == code)
        })
        .collect();
    assert!(
        missing.is_empty(),
        "no scenario, or no need for an excuse: {missing:?}"
    );
}

/// Puts a field of a state file as a suggestion has it.
fn put_or_take(state: &mut Value, change: &Value) {
    let keys: Vec<&str> = change["path"]
        .as_array()
        .unwrap()
        .iter()
        .map(|key| key.as_str().unwrap())
        .collect();
    let (last, way) = keys.split_last().unwrap();
    let place = way.iter().fold(state, |place, key| &mut place[*key]);
    if change["value"].is_null() {
        drop(place.as_object_mut().unwrap().remove(*last));
    } else {
        place[*last] = change["value"].clone();
    }
}

/// A change of the state that was undone is kept if the suggested fields are left as they were.
#[test]
fn a_change_of_the_state_is_kept_if_it_is_made_as_suggested() {
    type Tamper = fn(&mut Value);
    let cases: &[(&str, Tamper)] = &[
        ("SW-001", |state| {
            state["active_workflow"]["current_phase_index"] = json!(0);
            state["notes"] = json!("mine");
        }),
        ("SW-001", |state| state["state_version"] = json!(1)),
        ("SW-001", |state| state["phases"] = json!([])),
        ("SW-004", |state| {
            state["phases"]["06-implementation"]["iteration_requirements"] =
                json!({ "test_iteration": { "completed": true, "current_iteration": 3 } });
            state["notes"] = json!("mine");
        }),
    ];
    for (code, tamper) in cases {
        let mut state = running("06-implementation", "in_progress");
        state["state_version"] = json!(5);
        state["active_workflow"]["current_phase_index"] = json!(1);
        let project = Project::new().state(&state);
        let event = |name: &str| {
            json!({ "hook_event_name": name, "session_id": "s", "prompt": "go on", "tool_use_id": "t",
                "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_response": { "stdout": "" } })
        };
        project.hook(&event("UserPromptSubmit"));
        tamper(&mut state);
        project.file(STATE, &state.to_string());
        project.hook(&event("PostToolUse"));
        assert_eq!(project.codes().last().unwrap(), code);
        let run = project.run(&["explain", "--json"], b"");
        let told: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
        let changes = told["passes_if"].as_array().unwrap();
        assert!(!changes.is_empty(), "{told}");
        for change in changes {
            put_or_take(&mut state, change);
        }
        project.file(STATE, &state.to_string());
        let before = findings(&project).len();
        project.hook(&event("PostToolUse"));
        assert_eq!(findings(&project).len(), before, "{code}: {changes:?}");
        let kept: Value = serde_json::from_str(&project.read(STATE)).unwrap();
        assert_eq!(kept, state, "{code}");
        let text = project.run(&["explain"], b"").stdout;
        assert!(text.contains("would have been kept if"), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn however_the_event_is_sent(which in any::<prop::sample::Index>(), claude: bool, absolute: bool, noise: bool, session in "[a-z0-9]{1,12}") {
        let all = bad_events();
        let bad = &all[which.index(all.len())];
        let variant = Variant { claude, absolute, noise, session };
        if let Err(wrong) = check(bad, &variant) {
            prop_assert!(false, "{}", wrong);
        }
    }
}

#[test]
fn a_person_reads_the_event_the_values_and_the_way_out() {
    let project = Project::new()
        .state(&with_branch("active"))
        .on_branch("main");
    project.git(&["branch", "feature/x"]);
    let mut event = bash("git commit -m '\u{1b}[31mred'");
    event["session_id"] = json!("s1");
    event["hook_event_name"] = json!("PreToolUse");
    project.hook(&event).denies();
    let before = project.journal().len();
    let run = project.run(&["explain"], b"");
    assert_eq!(run.code, 0, "{run:?}");
    for text in [
        "#1 block",
        "BG-001",
        "active_workflow.git_branch.name = feature/x",
        "the branch feature/x is checked out",
        "git switch feature/x",
    ] {
        assert!(run.stdout.contains(text), "{text}: {run:?}");
    }
    assert!(!run.stdout.contains('\u{1b}'), "{run:?}");
    assert_eq!(project.run(&["explain", "#1"], b"").code, 0);
    let run = project.run(&["explain", "7"], b"");
    assert!(
        run.code == 2 && run.stderr.contains("no entry #7"),
        "{run:?}"
    );
    assert_eq!(project.run(&["explain", "seven"], b"").code, 2);
    // The state of that moment counts, not today's.
    project.file(STATE, "{}");
    let run = project.run(&["explain", "1"], b"");
    assert!(
        run.stdout.contains("the branch feature/x is checked out"),
        "{run:?}"
    );
    // An event by file is decided in the project as it is.
    let file = project.file("event.json", &bash("git commit").to_string());
    let run = project.run(&["explain", "--file", file.to_str().unwrap()], b"");
    assert!(run.code == 0 && run.stdout.contains("It passes"), "{run:?}");
    assert_eq!(project.journal().len(), before, "nothing is touched");
}

#[test]
fn nothing_to_explain_is_said() {
    let run = Project::new().run(&["explain"], b"");
    assert!(
        run.code == 2 && run.stderr.contains("nothing was blocked"),
        "{run:?}"
    );
}
