//! The audit: it finds what is planted, finds nothing where nothing is, and mends without loss.

use serde_json::{Value, json};

use super::bench::Bench;

const PHASES: [&str; 4] = [
    "01-requirements",
    "03-architecture",
    "06-implementation",
    "13-test-deploy",
];
const R: &str = "01-requirements";
const A: &str = "03-architecture";
const I: &str = "06-implementation";
const D: &str = "13-test-deploy";

type Plant = (&'static str, &'static str, fn(&mut Value));

/// What is planted into a workflow whose third phase is in progress, and the rule that must be
/// named.
const PLANTS: &[Plant] = &[
    (
        "AC-001a",
        "a completed phase is in progress in its entry",
        |s| s["phases"][A]["status"] = json!("in_progress"),
    ),
    (
        "AC-001a",
        "a completed phase is pending in the short list",
        |s| s["active_workflow"]["phase_status"][R] = json!("pending"),
    ),
    (
        "AC-001b",
        "the current phase is pending in the short list",
        |s| s["active_workflow"]["phase_status"][I] = json!("pending"),
    ),
    (
        "AC-002b",
        "the current phase is pending in its entry",
        |s| s["phases"][I]["status"] = json!("pending"),
    ),
    ("AC-001b", "the top-level phase is stale (BUG-0005)", |s| {
        s["current_phase"] = json!(R);
    }),
    ("AC-003d", "the top-level phase is ahead", |s| {
        s["current_phase"] = json!(D);
    }),
    ("AC-001c", "the index is behind", |s| {
        s["active_workflow"]["current_phase_index"] = json!(1);
    }),
    ("AC-001c", "the index is a text", |s| {
        s["active_workflow"]["current_phase_index"] = json!("2");
    }),
    ("AC-001c", "there is no index", |s| {
        drop(
            s["active_workflow"]
                .as_object_mut()
                .unwrap()
                .remove("current_phase_index"),
        );
    }),
    ("AC-009b", "the index is behind the end", |s| {
        s["active_workflow"]["current_phase_index"] = json!(9);
    }),
    ("AC-001d", "another agent is active", |s| {
        s["active_agent"] = json!("qa-engineer");
    }),
    ("AC-003d", "the next phase's agent is active", |s| {
        s["active_agent"] = json!("deployment-engineer-staging");
    }),
    ("AC-001e", "the current phase is pending everywhere", |s| {
        s["phases"][I]["status"] = json!("pending");
        s["active_workflow"]["phase_status"][I] = json!("pending");
    }),
    ("AC-002d", "a phase in progress never started", |s| {
        s["phases"][I]["started"] = Value::Null;
    }),
    ("AC-002d", "a phase in progress started at no moment", |s| {
        s["phases"][I]["started"] = json!("yesterday");
    }),
    ("AC-003g", "a phase was completed at no moment", |s| {
        s["phases"][R]["completed"] = json!("today");
    }),
    ("AC-002e", "retries are a text", |s| {
        s["phases"][I]["timing"]["retries"] = json!("one");
    }),
    ("AC-002e", "the timing has no start", |s| {
        drop(
            s["phases"][I]["timing"]
                .as_object_mut()
                .unwrap()
                .remove("started_at"),
        );
    }),
    (
        "AC-003a",
        "the next phase is in progress in its entry (BUG-0006)",
        |s| s["phases"][D]["status"] = json!("in_progress"),
    ),
    (
        "AC-003b",
        "the next phase is in progress in the short list",
        |s| s["active_workflow"]["phase_status"][D] = json!("in_progress"),
    ),
    ("AC-003b", "the next phase is in progress everywhere", |s| {
        s["phases"][D]["status"] = json!("in_progress");
        s["active_workflow"]["phase_status"][D] = json!("in_progress");
    }),
    ("AC-003e", "a completed phase did not move the index", |s| {
        s["phases"][I]["status"] = json!("completed");
        s["active_workflow"]["phase_status"][I] = json!("completed");
        s["phases"][I]["summary"] = json!("x");
    }),
    ("AC-003f", "there is no version", |s| {
        drop(s.as_object_mut().unwrap().remove("state_version"));
    }),
    (
        "AC-003g",
        "a completed phase has a negative duration",
        |s| s["phases"][R]["timing"]["wall_clock_minutes"] = json!(-3),
    ),
    ("AC-003g", "a completed phase has no end", |s| {
        s["phases"][R]["completed"] = Value::Null;
    }),
    ("IR-001", "a completed phase has no summary", |s| {
        s["phases"][R]["summary"] = json!("");
    }),
    ("IR-001", "a summary is too long", |s| {
        s["phases"][R]["summary"] = json!("x".repeat(151));
    }),
    ("AC-004a", "a gate passed with failing tests", |s| {
        s["phases"][R]["iteration_requirements"] = json!({"test_iteration": {"completed": false, "last_test_result": "failed", "current_iteration": 1}});
    }),
    ("AC-004b", "a gate passed without the constitution", |s| {
        s["phases"][R]["constitutional_validation"] =
            json!({"completed": false, "status": "pending"});
    }),
    ("AC-004c", "a gate passed though nobody was asked", |s| {
        s["phases"][R]["iteration_requirements"] =
            json!({"interactive_elicitation": {"completed": false, "menu_interactions": 0}});
    }),
    (
        "AC-004g",
        "a validation was completed without an iteration",
        |s| {
            s["phases"][I]["constitutional_validation"] =
                json!({"completed": true, "status": "compliant", "iterations_used": 0});
        },
    ),
    ("AC-004g", "tests were completed without a run", |s| {
        s["phases"][I]["iteration_requirements"] =
            json!({"test_iteration": {"completed": true, "current_iteration": 0}});
    }),
    ("AC-005d", "a status is filed under two keys", |s| {
        s["active_workflow"]["phase_status"]["12-test-deploy"] = json!("pending");
    }),
    ("AC-009e", "an entry is filed under two keys", |s| {
        s["phases"]["12-test-deploy"] = json!({"status": "pending", "theirs": 1});
    }),
    ("AC-009e", "a phase is there twice", |s| {
        s["active_workflow"]["phases"]
            .as_array_mut()
            .unwrap()
            .push(json!("12-test-deploy"));
    }),
    ("AC-007a", "there is no artifact folder", |s| {
        drop(
            s["active_workflow"]
                .as_object_mut()
                .unwrap()
                .remove("artifact_folder"),
        );
    }),
    ("AC-007a", "the artifact folder climbs out", |s| {
        s["active_workflow"]["artifact_folder"] = json!("../../etc");
    }),
    ("AC-007b", "the next number is taken", |s| {
        s["counters"]["next_req_id"] = json!(1);
    }),
    ("AC-008a", "there are no phases", |s| {
        s["active_workflow"]["phases"] = json!([]);
    }),
    ("AC-008a", "a phase is none of the workflow's", |s| {
        s["active_workflow"]["phases"]
            .as_array_mut()
            .unwrap()
            .push(json!("04-design"));
        s["active_workflow"]["phase_status"]["04-design"] = json!("pending");
        s["phases"]["04-design"] = json!({"status": "pending"});
    }),
    ("AC-008b", "a phase has no short status", |s| {
        drop(
            s["active_workflow"]["phase_status"]
                .as_object_mut()
                .unwrap()
                .remove(D),
        );
    }),
    ("AC-008d", "a phase has no entry", |s| {
        drop(s["phases"].as_object_mut().unwrap().remove(I));
    }),
    ("AC-008d", "an entry is no object", |s| {
        s["phases"][D] = json!("pending");
    }),
    ("AC-009a", "a short status is left over", |s| {
        s["active_workflow"]["phase_status"]["77-old"] = json!("completed");
    }),
    ("AC-009c", "an entry is left over", |s| {
        s["phases"]["77-old"] = json!({"status": "completed", "theirs": [1]});
    }),
    ("AC-009b", "the current phase is none of the phases", |s| {
        s["active_workflow"]["current_phase"] = json!("04-design");
    }),
    (
        "AC-009d",
        "a phase before the current one was never done",
        |s| {
            s["phases"][A] = json!({"status": "pending", "theirs": true});
            s["active_workflow"]["phase_status"][A] = json!("pending");
        },
    ),
    ("AC-009d", "a later phase is completed", |s| {
        s["phases"][D]["status"] = json!("completed");
        s["phases"][D]["completed"] = json!("2026-01-01T00:00:00Z");
        s["active_workflow"]["phase_status"][D] = json!("completed");
    }),
    (
        "AC-012b",
        "a completed phase went back everywhere (BUG-0011)",
        |s| {
            s["phases"][A]["status"] = json!("pending");
            s["active_workflow"]["phase_status"][A] = json!("pending");
        },
    ),
    ("AC-012e", "a status is another word", |s| {
        s["phases"][I]["status"] = json!("active");
    }),
    ("AC-012e", "a short status is a number", |s| {
        s["active_workflow"]["phase_status"][R] = json!(2);
    }),
    (
        "AC-013f",
        "tests were recorded for a phase that has not begun",
        |s| {
            s["phases"][D]["iteration_requirements"] =
                json!({"test_iteration": {"completed": false, "last_test_result": "failed"}});
        },
    ),
    ("AC-010c", "the workflow never started", |s| {
        s["active_workflow"]["started_at"] = Value::Null;
    }),
    ("AC-010d", "the workflow is over but still there", |s| {
        s["active_workflow"]["status"] = json!("completed");
    }),
    ("AC-010e", "a history entry has no snapshots", |s| {
        s["workflow_history"] = json!([{"status": "completed", "started_at": "t", "completed_at": "t", "phases": ["01-requirements"], "metrics": {}, "theirs": 1}]);
    }),
    ("AC-010c", "a history entry has no end", |s| {
        s["workflow_history"] = json!([{"status": "completed", "started_at": "t", "phases": [], "phase_snapshots": [], "metrics": {}}]);
    }),
    ("AC-010f", "the history is no list", |s| {
        s["workflow_history"] = json!({"theirs": 1});
    }),
    ("AC-007b", "the counters are a list", |s| {
        s["counters"] = json!(["theirs"]);
    }),
    ("TS-014", "the reviews are no list", |s| {
        s["active_workflow"]["review_history"] = json!("theirs");
    }),
    ("AC-009a", "the removed phases are no list", |s| {
        s["active_workflow"]["removed_phases"] = json!({"theirs": 1});
    }),
    ("AC-011a", "the version is a text", |s| {
        s["state_version"] = json!("7");
    }),
    ("AC-011c", "the file was replaced by an older one", |s| {
        s["state_version"] = json!(2);
    }),
    ("TS-014", "a review is about another phase", |s| {
        s["active_workflow"]["supervised_review"] =
            json!({"phase": R, "status": "gate_presented", "redo_count": 0});
    }),
    ("TS-014", "a phase was done again too often", |s| {
        s["active_workflow"]["supervised_review"] =
            json!({"phase": I, "status": "redo_pending", "redo_count": 7});
        s["active_workflow"]["current_phase_index"] = json!(3);
    }),
    ("Risk-006", "too many escalations wait", |s| {
        s["pending_escalations"] = (0..25).map(|n| json!({"n": n})).collect();
    }),
];

/// A workflow whose third phase is in progress.
fn bench() -> Bench {
    let bench = Bench::started(&PHASES);
    for _ in 0..2 {
        bench.begin();
        bench.complete();
    }
    bench.begin();
    bench
}

/// Every path of a document, down to leaves.
fn paths(value: &Value, at: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let path = format!("{at}.{key}");
                out.push(path.trim_start_matches('.').to_owned());
                paths(value, &path, out);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {}
    }
}

/// No field of `before` is missing from `after`: it is in its place, or set aside.
fn assert_nothing_lost(before: &Value, after: &Value, what: &str) {
    let (mut had, mut has) = (Vec::new(), Vec::new());
    paths(before, "", &mut had);
    paths(after, "", &mut has);
    for path in had {
        let in_place = has.contains(&path);
        let aside = after["set_aside"]
            .as_object()
            .into_iter()
            .flatten()
            .any(|(root, value)| {
                let root = root.split('@').next().unwrap();
                let mut inside = vec![root.to_owned()];
                paths(value, root, &mut inside);
                inside.contains(&path)
            });
        assert!(in_place || aside, "{what}: {path} was lost\n{after:#}");
    }
}

#[test]
fn a_later_phase_may_be_taken_out_before_the_current_one_ends() {
    let bench = Bench::started(&PHASES);
    bench.begin();
    bench.gives_up(&["phase", "skip", D, "--reason", "small"]);
    bench.complete();
    bench.clean();
    // The one whose turn it is counts as done: to complete it besides is no step.
    bench.gives_up(&["phase", "skip", "--reason", "known"]);
    bench.clean();
}

/// Agents leave the zone out; the repair put the present in its place.
#[test]
fn a_moment_without_a_zone_is_in_order() {
    let bench = bench();
    bench.edit(|state| {
        state["active_workflow"]["started_at"] = json!("2026-01-01T10:00:00");
        state["phases"][R]["started"] = json!("2026-01-01T10:00:00");
        state["phases"][I]["timing"]["started_at"] = json!("2026-01-01T12:00:00");
    });
    bench.clean();
}

#[test]
fn counts_beyond_all_measure_are_audited_and_archived() {
    let bench = bench();
    bench.edit(|state| {
        state["active_workflow"]["counter_used"] = json!(u64::MAX);
        for key in [R, A] {
            state["phases"][key]["iteration_requirements"]["test_iteration"] =
                json!({"completed": true, "current_iteration": u64::MAX});
        }
        state["phases"][I]["timing"]["retries"] = json!(u64::MAX);
    });
    assert!(bench.tollgate(&["workflow", "audit"]).code < 2);
    bench.begin();
    bench.gives_up(&["workflow", "cancel", "--reason", "x"]);
    let state = bench.state();
    let metrics = &state["workflow_history"][0]["metrics"];
    assert_eq!(metrics["test_iterations_total"], u64::MAX, "{metrics}");
}

#[test]
fn a_clean_run_has_no_findings_at_any_boundary() {
    let bench = bench();
    bench.clean();
    bench.complete();
    bench.clean();
    bench.begin();
    bench.complete();
    bench.clean();
    bench.ok(&["workflow", "finalize"]);
    bench.clean();
    assert!(bench.state().get("set_aside").is_none());
}

#[test]
fn every_planted_inconsistency_is_found_named_and_mended_without_loss() {
    assert!(PLANTS.len() >= 30);
    let bench = bench();
    let clean = bench.text();
    for (id, what, plant) in PLANTS {
        bench.file(super::bench::STATE, &clean);
        bench.edit(plant);
        let planted = bench.state();
        let found = bench.audit();
        assert!(
            found.iter().any(|one| one == id),
            "{what}: {id} not in {found:?}"
        );
        let journal = bench.read(".tollgate/local/journal.jsonl");
        let run = bench.tollgate(&["workflow", "audit", "--repair"]);
        assert_eq!(run.code, 0, "{what}: {run:?}\n{}", bench.text());
        assert_eq!(bench.audit(), Vec::<String>::new(), "{what}");
        let mended = bench.state();
        assert_nothing_lost(&planted, &mended, what);
        if mended["active_workflow"].is_object() {
            let run = bench.tollgate(&["workflow", "status"]);
            assert_eq!(
                run.code, 0,
                "{what}: a mended state can be worked with: {run:?}"
            );
        }
        bench
            .project
            .file(".tollgate/local/journal.jsonl", &journal);
    }
    println!("{} plants", PLANTS.len());
}

#[test]
fn findings_say_what_where_and_how_to_repair() {
    let bench = bench();
    bench.edit(|state| state["active_agent"] = json!("nobody"));
    let run = bench.tollgate(&["workflow", "audit"]);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.stdout,
        "AC-001d  active_agent\n  active_agent is \"nobody\", but 'software-developer' works in phase '06-implementation'\n  \
         repair: set it to software-developer\n1 finding(s); `tollgate workflow audit --repair` repairs 1 of them\n"
    );
    let answer = bench.json(&["workflow", "audit", "--json"]);
    assert_eq!(answer["findings"][0]["place"], "active_agent");
    let file = bench.file("copy.json", bench.text());
    let run = bench.tollgate(&["workflow", "audit", file.to_str().unwrap()]);
    assert_eq!(run.code, 1, "any state file can be looked at: {run:?}");
    let missing = bench.tollgate(&["workflow", "audit", "nowhere.json"]);
    assert_eq!(missing.code, 2);
}

/// AC-012a: the phase index does not go back.
/// AC-002a: all fields of a phase that begins are written before it is delegated to.
#[test]
fn ac_012a_ac_002a_a_journal_shows_what_no_command_does() {
    let bench = bench();
    let journal = bench.read(".tollgate/local/journal.jsonl");
    let twice = journal
        .lines()
        .last()
        .unwrap()
        .replace("phase begin", "phase complete");
    let version = bench.state()["state_version"].as_u64().unwrap();
    let next = |line: &str, n: u64| {
        line.replace(
            &format!("\"version\":{version}"),
            &format!("\"version\":{}", version + n),
        )
    };
    let forged = format!(
        "{journal}{}\n{}\n",
        next(&twice, 1),
        next(&twice, 2).replace("\"index\":2", "\"index\":1")
    );
    let file = bench.file("forged.jsonl", &forged);
    let answer = bench.json(&[
        "workflow",
        "audit",
        "--json",
        "--journal",
        file.to_str().unwrap(),
    ]);
    let ids: Vec<&str> = answer["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["id"].as_str().unwrap())
        .collect();
    for id in ["AC-002a", "AC-012a", "AC-011c"] {
        assert!(ids.contains(&id), "{ids:?}");
    }
}

#[test]
fn a_state_of_the_original_with_stale_fields_is_mended_and_goes_on() {
    let bench = Bench::new();
    bench.file(
        super::bench::STATE,
        r#"{"state_version":5,"current_phase":"01-requirements","active_agent":"impact-analyst","theirs":{"a":[1]},
            "active_workflow":{"type":"feature","description":"Old","started_at":"2026-02-08T10:00:00Z","phases":["01-requirements","02-impact-analysis","06-implementation"],
            "current_phase":"02-impact-analysis","current_phase_index":0,"phase_status":{"01-requirements":"completed","02-impact-analysis":"in_progress"},"artifact_folder":"REQ-0003-old"},
            "phases":{"01-requirements":{"status":"in_progress","started":"2026-02-08T10:00:00Z"},"02-impact-analysis":{"status":"pending"},"02-architecture":{"status":"pending"}}}"#,
    );
    let before = bench.state();
    assert!(bench.audit().len() >= 5);
    bench.ok(&["workflow", "audit", "--repair"]);
    bench.clean();
    assert_nothing_lost(&before, &bench.state(), "original");
    loop {
        let next = bench.json(&["workflow", "status", "--json"])["next"]
            .as_str()
            .unwrap()
            .to_owned();
        match next.as_str() {
            "tollgate phase begin" => bench.begin(),
            "tollgate workflow finalize" => break,
            _ => bench.complete(),
        }
    }
    bench.ok(&["workflow", "finalize"]);
    bench.clean();
}
