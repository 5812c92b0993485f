//! People at boundaries: TS-014, TS-015, stale phases.

use serde_json::json;

use super::bench::Bench;
use crate::events::{Event as _, bash};

#[test]
fn tests_that_passed_before_a_redo_prove_nothing_about_it() {
    let bench = Bench::with_phases(&["06-implementation"]);
    bench.file(
        ".isdlc/config/iteration-requirements.json",
        r#"{"phase_requirements":{"06-implementation":{"test_iteration":{"enabled":true,"max_iterations":2}}}}"#,
    );
    bench.ok(&["workflow", "start", "t", "x", "--supervised"]);
    let test = || {
        let event = bash("cargo test").in_session("s");
        bench.hook(&event.printed("test result: ok. 3 passed; 0 failed; 0 ignored"));
    };
    bench.refused(1, &["phase", "complete", "--summary", "untested"]);
    test();
    bench.complete();
    bench.ok(&["phase", "redo", "--guidance", "shorter"]);
    bench.clean();
    assert!(
        bench
            .refused(1, &["phase", "complete", "--summary", "as before"])
            .contains("Test iteration not completed")
    );
    test();
    bench.complete();
    let state = bench.state();
    let record = &state["phases"]["06-implementation"]["iteration_requirements"]["test_iteration"];
    assert_eq!(record["current_iteration"], 1, "{record:#}");
    assert_eq!(record["history"].as_array().unwrap().len(), 2);
    bench.clean();
}

/// TS-014: a supervised phase waits for a person, who continues, reviews or has it done again.
#[test]
fn ts_014_a_supervised_boundary_waits_for_a_person() {
    let bench = Bench::with_phases(&["01-requirements", "06-implementation"]);
    bench.ok(&["workflow", "start", "t", "x", "--supervised"]);
    bench.begin();
    bench.complete();
    assert_eq!(
        bench.state()["active_workflow"]["supervised_review"]["status"],
        "gate_presented"
    );
    let shown = bench.tollgate(&["phase", "review"]);
    assert_eq!(shown.code, 1);
    assert_eq!(bench.tollgate(&["phase", "review", "--json"]).code, 1);
    for choice in ["[C] Continue", "[R] Review", "[D] Redo"] {
        assert!(shown.stdout.contains(choice), "{shown:?}");
    }
    assert!(
        bench
            .refused(1, &["phase", "begin"])
            .contains("waits for its review")
    );
    // [D]: it is done again, and counted.
    bench.ok(&["phase", "redo", "--guidance", "shorter"]);
    bench.clean();
    let state = bench.state();
    assert_eq!(state["phases"]["01-requirements"]["timing"]["retries"], 1);
    assert_eq!(state["phases"]["01-requirements"]["status"], "in_progress");
    assert!(
        bench
            .ok(&["phase", "brief"])
            .contains("REDO GUIDANCE: shorter")
    );
    bench.begin();
    bench.complete();
    for _ in 0..2 {
        bench.ok(&["phase", "redo", "--guidance", "more"]);
        bench.complete();
    }
    assert!(
        bench
            .refused(1, &["phase", "redo", "--guidance", "again"])
            .contains("3 times")
    );
    assert!(!bench.tollgate(&["phase", "review"]).stdout.contains("[D]"));
    // [R]: nothing goes on meanwhile.
    bench.ok(&["phase", "review", "--review"]);
    bench.refused(1, &["phase", "begin"]);
    // [C]
    bench.ok(&["phase", "review", "--continue"]);
    bench.clean();
    bench.begin();
    assert_eq!(
        bench.state()["active_workflow"]["current_phase"],
        "06-implementation"
    );
    assert_eq!(
        bench.state()["active_workflow"]["review_history"]
            .as_array()
            .unwrap()
            .len(),
        4
    );
    bench.complete();
    assert!(
        bench
            .refused(1, &["workflow", "finalize"])
            .contains("waits for its review")
    );
    bench.ok(&["phase", "review", "--continue"]);
    bench.ok(&["workflow", "finalize"]);
    assert_eq!(bench.state()["supervised_mode"]["enabled"], false);
}

#[test]
fn a_review_has_a_way_out_whatever_it_says() {
    let waiting = |status: &str| {
        let bench = Bench::with_phases(&["01-requirements", "06-implementation"]);
        bench.ok(&["workflow", "start", "t", "x", "--supervised"]);
        bench.complete();
        bench.edit(|state| {
            state["active_workflow"]["supervised_review"]["status"] = json!(status);
        });
        bench.refused(1, &["phase", "begin"]);
        bench
    };
    for status in ["rejected", "completed", "redo_pending", "theirs"] {
        let bench = waiting(status);
        bench.ok(&["phase", "redo", "--guidance", "as the person said"]);
        bench.complete();
        bench.ok(&["phase", "review", "--continue"]);
        bench.begin();
        let bench = waiting(status);
        bench.ok(&["phase", "review", "--continue"]);
        bench.begin();
        bench.clean();
    }
    // What cannot be appended to is explained and mended, and the review goes on.
    let bench = waiting("gate_presented");
    bench.edit(|state| state["active_workflow"]["review_history"] = json!("theirs"));
    let said = bench.refused(2, &["phase", "review", "--continue"]);
    assert!(said.contains("workflow audit"), "{said}");
    assert_eq!(bench.audit(), ["TS-014"]);
    bench.ok(&["workflow", "audit", "--repair"]);
    bench.ok(&["phase", "review", "--continue"]);
    bench.begin();
}

fn escalated() -> Bench {
    let bench = Bench::started(&["01-requirements", "06-implementation", "08-code-review"]);
    bench.complete();
    bench.edit(|state| {
        state["pending_escalations"] = json!([{"type":"gate_blocked","hook":"gate-blocker","phase":"01-requirements","detail":"tests fail"}]);
    });
    bench
}

/// TS-015: escalations wait for a person, who retries, skips or cancels.
#[test]
fn ts_015_escalations_are_shown_and_retried_skipped_or_cancelled() {
    let bench = escalated();
    let shown = bench.ok(&["workflow", "status"]);
    for part in [
        "BLOCKER: 1 escalation(s)",
        "\n  - gate_blocked (gate-blocker, phase 01-requirements): tests fail\n",
        "[Retry] tollgate phase begin --retry",
        "[Skip] tollgate phase skip",
        "[Cancel] tollgate workflow cancel",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    let said = bench.refused(1, &["phase", "begin"]);
    for part in [
        "BLOCKER",
        "gate_blocked (gate-blocker, phase 01-requirements): tests fail",
        "[Retry]",
        "[Skip]",
        "[Cancel]",
    ] {
        assert!(said.contains(part), "{said}");
    }
    bench.ok(&["phase", "begin", "--retry"]);
    assert_eq!(bench.state()["pending_escalations"], json!([]));
    assert_eq!(
        bench.state()["active_workflow"]["current_phase"],
        "06-implementation"
    );

    let bench = escalated();
    bench.gives_up(&["phase", "skip", "--reason", "covered elsewhere"]);
    let state = bench.state();
    assert_eq!(state["pending_escalations"], json!([]));
    assert_eq!(
        state["phases"]["06-implementation"]["summary"],
        "Skipped (covered elsewhere)"
    );
    assert!(state["phases"]["06-implementation"]["gate_passed"].is_null());
    bench.clean();
    bench.begin();
    assert_eq!(
        bench.state()["active_workflow"]["current_phase"],
        "08-code-review"
    );

    let bench = escalated();
    bench.gives_up(&["workflow", "cancel", "--reason", "no"]);
    assert!(bench.state()["active_workflow"].is_null());
    assert_eq!(bench.state()["pending_escalations"], json!([]));
}

#[test]
fn a_phase_that_was_left_alone_is_stale_and_has_three_ways_on() {
    let bench = Bench::started(&["01-requirements", "06-implementation"]);
    bench.begin();
    bench.edit(|state| {
        state["phases"]["01-requirements"]["timing"]["started_at"] = json!("2020-01-01T00:00:00Z");
    });
    let shown = bench.ok(&["workflow", "status"]);
    assert!(
        shown.contains("STALE: phase 01-requirements")
            && shown.contains("[Skip] tollgate phase skip"),
        "{shown}"
    );
    assert_eq!(bench.json(&["workflow", "status", "--json"])["stale"], true);
    bench.gives_up(&["phase", "skip", "--reason", "stale"]);
    assert_eq!(
        bench.state()["phases"]["01-requirements"]["summary"],
        "Skipped (stale)"
    );
    bench.clean();
}

/// Some states of the original have the field without a review in it.
#[test]
fn no_review_waits_where_the_field_is_empty() {
    let bench = Bench::with_phases(&["01-requirements"]);
    bench.ok(&["workflow", "start", "t", "x", "--supervised"]);
    bench.edit(|state| state["active_workflow"]["supervised_review"] = json!(null));
    for args in [&["phase", "review"][..], &["phase", "review", "--json"]] {
        let shown = bench.tollgate(args);
        assert_eq!(shown.code, 0, "{shown:?}");
    }
}
