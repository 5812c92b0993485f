//! `tollgate explain` is right: what it suggests is applied, and the event passes.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::bad::{Bad, NO_VERDICT, STATE, bad_events};
use crate::events::{Event as _, bash, stop};
use crate::project::{TestProject, running, with_branch};

/// How an event is sent and what else is in the project: nothing of it matters to the guard.
#[derive(Clone, Debug)]
struct Variant {
    claude: bool,
    absolute: bool,
    noise: bool,
    session: String,
}

fn project_of(bad: &Bad, variant: &Variant) -> (TestProject, Value) {
    let project = TestProject::empty();
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

fn findings(project: &TestProject) -> Vec<Value> {
    let lines = project.journal().into_iter();
    lines
        .filter(|line| matches!(line["verdict"].as_str(), Some("block" | "ask" | "warn")))
        .collect()
}

/// Makes the suggested changes for real.
fn apply(project: &TestProject, event: &mut Value, changes: &[Value]) {
    for change in changes {
        let path = &change["path"];
        match change["change"].as_str().unwrap() {
            "state" => {
                let mut state: Value =
                    serde_json::from_str(&project.read(STATE)).unwrap_or(json!({}));
                put(&mut state, path, change["value"].clone());
                project.file(STATE, state.to_string());
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
    // The changes are a person's, and nobody has seen the state before them.
    let watch = project.path(".tollgate/local/state");
    if watch.exists() {
        std::fs::remove_dir_all(watch).unwrap();
    }
    if let Some(id) = event.get_mut("tool_use_id") {
        *id = json!("toolu_2");
    }
    let run = project.guard(bad.guard, &event);
    let after = findings(&project);
    // A block that is gone may leave a warning, which stops nobody.
    let stops = |line: &&Value| {
        found["verdict"] == "warn" || line["verdict"] == "block" || line["verdict"] == "ask"
    };
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
    let missing: Vec<_> = tollgate_core::guard::codes()
        .map(|code| code.id)
        .filter(|code| {
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
        let project = TestProject::new().state(&state);
        let event = |name: &str| {
            json!({ "hook_event_name": name, "session_id": "s", "prompt": "go on", "tool_use_id": "t",
                "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_response": { "stdout": "" } })
        };
        project.hook(&event("UserPromptSubmit"));
        tamper(&mut state);
        project.file(STATE, state.to_string());
        project.hook(&event("PostToolUse"));
        assert_eq!(project.codes().last().unwrap(), code);
        let run = project.run(&["explain", "--json"], b"");
        let told: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
        let changes = told["passes_if"].as_array().unwrap();
        assert!(!changes.is_empty(), "{told}");
        for change in changes {
            put_or_take(&mut state, change);
        }
        project.file(STATE, state.to_string());
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
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    project.git(&["branch", "feature/x"]);
    let event = bash("git commit -m '\u{1b}[31mred'").in_session("s1");
    project.hook(&event).denies();
    let before = project.journal().len();
    let run = project.run(&["explain"], b"");
    assert_eq!(run.code, 0, "{run:?}");
    insta::with_settings!({ filters => vec![(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ", "[TIME]")] }, {
        insta::assert_snapshot!(run.stdout, @r"
        #1 block [TIME]
          guard   branch-guard
          code    BG-001
          session s1
          reason  Commit to 'main' blocked, expected branch 'feature/x'

        PreToolUse Bash
          command  git commit -m '\u{1b}[31mred'

          block  branch-guard  BG-001: Commit to 'main' blocked, expected branch 'feature/x'
                   active_workflow.current_phase = not set
                   current_phase = not set
                   active_workflow.git_branch.created_from = not set
                   active_workflow.git_branch.name = feature/x
                   active_workflow.git_branch.status = active
                   active_workflow.phases = not set
          allow  person-guard
          allow  state-file-guard
          allow  phase-writes

        It would have passed (tried) if
          - the branch feature/x is checked out (`git switch feature/x`)
        next: run `git switch feature/x`, then try again.
        ");
    });
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
    let file = project.file("event.json", bash("git commit").to_string());
    let run = project.run(&["explain", "--file", file.to_str().unwrap()], b"");
    assert!(run.code == 0 && run.stdout.contains("It passes"), "{run:?}");
    assert_eq!(project.journal().len(), before, "nothing is touched");
}

/// Guards that were not asked do not let anything pass.
#[test]
fn what_cannot_be_tried_is_not_said_to_pass() {
    let project = TestProject::new();
    let file = project.file("event.json", "[]");
    let args = ["explain", "--file", file.to_str().unwrap()];
    let run = project.run(&args, b"");
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(run.stderr.contains("not a JSON object"), "{run:?}");
    project.file("event.json", "{\"hook_event_name\":\"Stop\"}");
    assert_eq!(project.run(&args, b"").code, 0);
    let project = project.env("TMPDIR", "/nonexistent");
    let run = project.run(&args, b"");
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(run.stderr.contains("TMPDIR"), "{run:?}");
}

#[test]
fn nothing_to_explain_is_said() {
    let run = TestProject::new().run(&["explain"], b"");
    assert!(
        run.code == 2 && run.stderr.contains("nothing was blocked"),
        "{run:?}"
    );
}

#[test]
fn what_no_guard_said_is_not_tried_again_in_their_name() {
    let project = TestProject::empty();
    let project = project
        .with_gates(".tollgate", &[("test", "command: exit 3\n")], "")
        .on_branch("work");
    let stop = stop()
        .in_session("s")
        .in_directory(project.root())
        .with("transcript_path", "/t")
        .with("last_assistant_message", "Done.");
    let run = project.hook(&stop);
    assert!(run.stdout.contains("\"decision\":\"block\""), "{run:?}");
    let run = project.run(&["explain"], b"");
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("code    GATE-FAILED"), "{run:?}");
    assert!(run.stdout.contains("next: `tollgate run`"), "{run:?}");
    assert!(!run.stdout.contains("passes"), "{run:?}");
    let run = project.run(&["explain", "--json"], b"");
    let told: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(told["entry"]["code"], "GATE-FAILED", "{told}");
    // A stop is counted as what it is.
    let run = project.run(&["replay", "--journal", "--json"], b"");
    let told: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(told["counts"][0]["tool"], "Stop", "{told}");
}

#[test]
fn what_could_not_be_told_is_not_called_a_pass() {
    let project = TestProject::new().state(&with_branch("active"));
    let event = json!({ "tool_name": "Bash", "tool_input": { "command": 7 } });
    project.file("odd.json", event.to_string());
    let stop = json!({ "hook_event_name": "Stop", "session_id": "s" });
    project.file("stop.json", stop.to_string());
    project.file("empty.json", "");
    let said = |args: &[&str]| {
        let run = project.run(args, b"");
        assert_eq!(run.code, 0, "{run:?}");
        assert!(!run.stdout.contains("It passes"), "{run:?}");
        run.stdout
    };
    let odd =
        "could not tell  in the agent's event, `tool_input.command` is a number, not a string";
    assert!(said(&["explain", "--file", "odd.json"]).contains(odd));
    assert!(said(&["simulate", "odd.json"]).contains(odd));
    for args in [
        &["explain", "--file", "stop.json"][..],
        &["simulate", "stop.json"],
    ] {
        let said = said(args);
        assert!(said.contains("gates and plans are left out here"), "{said}");
    }
    let run = project.run(&["simulate", "empty.json"], b"");
    assert!(
        run.code == 2 && run.stderr.contains("empty.json: it is empty"),
        "{run:?}"
    );
}

/// Every code that the journal can have is one that `explain` knows.
#[test]
fn codes_that_no_guard_has_are_explained() {
    let rule = "[[rule]]\nid = \"migrations\"\ndeny = { delete = [\"db/**\"] }\nreason = \"They are history.\"\ninstead = \"Add one.\"\n";
    let project = TestProject::empty().on_branch("main").with_toml(rule);
    let shown = project.must(&["explain", "rule:migrations"]);
    shown
        .says("RULE:migrations  deny, enforce  tollgate.toml:1")
        .says("They are history.")
        .says("Add one.")
        .says("tollgate allow RULE:migrations --once");
    let told = project
        .must(&["explain", "RULE:migrations", "--json"])
        .json();
    assert_eq!(told["instead"], "Add one.", "{told}");
    project
        .tollgate(&["explain", "RULE:migration"])
        .exits(2)
        .says("did you mean RULE:migrations?");
    for code in [
        "GATE-NOTICE",
        "GATE-SKIPPED",
        "RULE-UNKNOWN",
        "RULES-CHANGED",
        "TRUST-001",
        "PLAN-BUSY",
        "PLAN-LEFT",
        "PLAN-LIMIT",
        "PLAN-MOVED",
        "PLAN-NO-REVIEW",
        "PLAN-PASSED",
        "PLAN-RELEASED",
        "PLAN-SKIPPED",
        "PLAN-STEP",
    ] {
        project.must(&["explain", code]).says("it does not block");
    }
}
