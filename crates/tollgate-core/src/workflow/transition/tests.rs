//! The steps on documents: what each writes, what it leaves alone, what it refuses.

use super::*;
use crate::workflow::definitions::{Home, Intensity};
use crate::workflow::prune::MAX_WORKFLOWS;
use serde_json::json;
use tollgate_store::edit;

pub(crate) fn at(minute: i64) -> Timestamp {
    let start: Timestamp = "2026-02-08T20:00:00Z".parse().unwrap();
    start + jiff::SignedDuration::from_mins(minute)
}

/// A document that steps are made on.
pub(crate) struct Bench {
    pub(crate) document: Document,
    definitions: Definitions,
    requirements: ProjectRequirements,
    minute: i64,
}

impl Bench {
    pub(crate) fn with_phases(phases: &[&str]) -> Self {
        let own = json!({"workflows":{"t":{"phases":phases,"sizing":{"light_skip_phases":["03-architecture","04-design"]}}}});
        Self {
            document: Document::default(),
            definitions: Definitions::with(&own.to_string(), Home::Original).unwrap(),
            requirements: ProjectRequirements::built_in(),
            minute: 0,
        }
    }

    pub(crate) fn started(phases: &[&str]) -> Self {
        let mut bench = Self::with_phases(phases);
        bench.make(&start("t")).unwrap();
        bench
    }

    pub(crate) fn make(&mut self, step: &Step<'_>) -> Result<Change, Refusal> {
        self.minute += 1;
        let manifest = Manifest::built_in();
        let rules = Rules {
            definitions: &self.definitions,
            requirements: &self.requirements,
            manifest: &manifest,
        };
        let change = apply(step, &self.document, &rules, at(self.minute))?;
        edit::apply(&change.edits, &mut self.document).unwrap();
        Ok(change)
    }

    fn str(&self, path: &[&str]) -> &str {
        self.document.str(path).unwrap_or("-")
    }

    fn index(&self) -> u64 {
        self.document
            .u64(&["active_workflow", "current_phase_index"])
            .unwrap()
    }
}

pub(crate) fn start(workflow: &str) -> Step<'_> {
    Step::Start(Start {
        workflow,
        description: "Add a shop",
        from: None,
        light: false,
        supervised: false,
        folder: None,
        branch: None,
        project: "p",
    })
}

pub(crate) const BEGIN: Step<'_> = Step::Begin {
    phase: None,
    escalations: Escalations::Heed,
};

pub(crate) fn complete(summary: &str) -> Step<'_> {
    Step::Complete(Completion {
        phase: None,
        summary,
        report: Report::default(),
        size: None,
        exists: &|_| true,
        gates: &|| Gates::Verified,
        since: &|_| None,
    })
}

const THREE: [&str; 3] = ["01-requirements", "02-impact-analysis", "06-implementation"];

/// Every path whose value differs, down to leaves.
fn changed(before: &Document, after: &Document) -> Vec<String> {
    fn walk(path: &str, a: Option<&Value>, b: Option<&Value>, out: &mut Vec<String>) {
        if a == b {
            return;
        }
        match (a, b) {
            (Some(Value::Object(a)), Some(Value::Object(b))) => {
                let keys: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
                for key in keys {
                    walk(&format!("{path}.{key}"), a.get(key), b.get(key), out);
                }
            }
            _ => out.push(path.trim_start_matches('.').to_owned()),
        }
    }
    let value = |d: &Document| Value::Object(d.members().unwrap().clone());
    let mut out = Vec::new();
    walk("", Some(&value(before)), Some(&value(after)), &mut out);
    out
}

/// AC-008: a start writes every field that the later steps need.
#[test]
fn ac_008_start_writes_every_field_and_the_first_phase_is_in_progress() {
    let bench = Bench::started(&THREE);
    assert_eq!(
        bench.str(&["active_workflow", "current_phase"]),
        "01-requirements"
    );
    assert_eq!(bench.str(&["current_phase"]), "01-requirements");
    assert_eq!(bench.str(&["active_agent"]), "requirements-analyst");
    assert_eq!(
        bench.str(&["phases", "01-requirements", "status"]),
        "in_progress"
    );
    assert_eq!(
        bench.str(&["active_workflow", "phase_status", "06-implementation"]),
        "pending"
    );
    assert_eq!(bench.index(), 0);
    assert_eq!(
        bench.str(&["active_workflow", "artifact_folder"]),
        "REQ-0001-add-a-shop"
    );
    assert_eq!(bench.document.u64(&["counters", "next_req_id"]), Some(2));
}

/// P6: beginning and completing a phase change their own fields only.
#[test]
fn p6_begin_and_complete_change_their_own_fields_only() {
    let mut bench = Bench::started(&THREE);
    bench.make(&BEGIN).unwrap();
    let before = bench.document.clone();
    bench.make(&complete("done")).unwrap();
    assert_eq!(
        changed(&before, &bench.document),
        [
            "active_workflow.current_phase_index",
            "active_workflow.phase_status.01-requirements",
            "phases.01-requirements.completed",
            "phases.01-requirements.gate_passed",
            "phases.01-requirements.status",
            "phases.01-requirements.summary",
            "phases.01-requirements.timing.completed_at",
            "phases.01-requirements.timing.debate_rounds_used",
            "phases.01-requirements.timing.fan_out_chunks",
            "phases.01-requirements.timing.wall_clock_minutes",
        ]
    );
    let before = bench.document.clone();
    bench.make(&BEGIN).unwrap();
    assert_eq!(
        changed(&before, &bench.document),
        [
            "active_agent",
            "active_workflow.current_phase",
            "active_workflow.phase_status.02-impact-analysis",
            "current_phase",
            "phases.02-impact-analysis.started",
            "phases.02-impact-analysis.status",
            "phases.02-impact-analysis.timing",
        ]
    );
}

/// P5: a phase that is run again keeps its start and counts the retry.
#[test]
fn p5_a_phase_that_is_run_again_keeps_its_start_and_counts() {
    let mut bench = Bench::started(&THREE);
    bench.make(&BEGIN).unwrap();
    let started = bench
        .str(&["phases", "01-requirements", "started"])
        .to_owned();
    let first = bench
        .str(&["phases", "01-requirements", "timing", "started_at"])
        .to_owned();
    assert_eq!(
        bench
            .document
            .u64(&["phases", "01-requirements", "timing", "retries"]),
        Some(0)
    );
    bench.make(&BEGIN).unwrap();
    bench.make(&BEGIN).unwrap();
    assert_eq!(
        bench
            .document
            .u64(&["phases", "01-requirements", "timing", "retries"]),
        Some(2)
    );
    assert_eq!(
        bench.str(&["phases", "01-requirements", "started"]),
        started
    );
    assert_eq!(
        bench.str(&["phases", "01-requirements", "timing", "started_at"]),
        first
    );
}

#[test]
fn steps_out_of_place_are_refused_and_say_what_to_do() {
    let mut bench = Bench::with_phases(&THREE);
    assert_eq!(
        bench.make(&BEGIN).unwrap_err().what,
        "no workflow is running"
    );
    assert_eq!(
        bench.make(&start("featur")).unwrap_err().next,
        "did you mean feature?"
    );
    bench.make(&start("t")).unwrap();
    assert!(
        bench
            .make(&start("t"))
            .unwrap_err()
            .what
            .starts_with("a t workflow is running: Add a shop")
    );
    bench.make(&complete("x")).unwrap();
    let again = bench.make(&complete("x")).unwrap_err();
    assert_eq!(
        (again.kind, again.what.as_str()),
        (
            Kind::Misplaced,
            "phase '02-impact-analysis' has not begun, so it cannot be completed"
        )
    );
    let named = Step::Begin {
        phase: Some("06-implementation"),
        escalations: Escalations::Heed,
    };
    assert!(
        bench
            .make(&named)
            .unwrap_err()
            .what
            .contains("phase '06-implementation' is not due")
    );
    let named = Step::Begin {
        phase: Some("6-implementation"),
        escalations: Escalations::Heed,
    };
    assert_eq!(
        bench.make(&named).unwrap_err().next,
        "did you mean 06-implementation?"
    );
    assert!(bench.make(&complete("  \n ")).is_err());
}

/// TS-015: escalations wait for a person, who retries, skips or cancels.
#[test]
fn ts_015_escalations_wait_for_a_person_and_there_are_three_ways_on() {
    let mut bench = Bench::started(&THREE);
    bench.make(&complete("x")).unwrap();
    let escalation = json!([{"type":"gate_blocked","hook":"gate-blocker","phase":"01-requirements","detail":"tests"}]);
    bench
        .document
        .set(&["pending_escalations"], escalation.clone())
        .unwrap();
    let refusal = bench.make(&BEGIN).unwrap_err();
    assert_eq!(refusal.kind, Kind::Closed);
    assert!(
        refusal
            .what
            .contains("gate_blocked (gate-blocker, phase 01-requirements): tests")
    );
    bench
        .make(&Step::Begin {
            phase: None,
            escalations: Escalations::Clear,
        })
        .unwrap();
    assert_eq!(
        bench
            .document
            .array(&["pending_escalations"])
            .unwrap()
            .len(),
        0
    );
    bench
        .document
        .set(&["pending_escalations"], escalation)
        .unwrap();
    bench
        .make(&Step::Skip {
            phase: None,
            reason: "known",
        })
        .unwrap();
    assert_eq!(
        bench.str(&["phases", "02-impact-analysis", "summary"]),
        "Skipped (known)"
    );
    assert!(
        bench
            .document
            .get(&["phases", "02-impact-analysis", "gate_passed"])
            .unwrap()
            .is_null()
    );
    assert_eq!(bench.index(), 2);
    bench.make(&Step::Cancel { reason: "enough" }).unwrap();
    assert!(bench.document.get(&["active_workflow"]).unwrap().is_null());
}

/// TS-014: a supervised phase waits for a person, who continues, reviews or has it done again.
#[test]
fn ts_014_a_review_is_continued_read_or_done_again_three_times() {
    let mut bench = Bench::started(&THREE);
    bench
        .document
        .set(
            &["supervised_mode"],
            json!({"enabled": true, "review_phases": "all"}),
        )
        .unwrap();
    bench.make(&BEGIN).unwrap();
    bench.make(&complete("x")).unwrap();
    assert_eq!(bench.make(&BEGIN).unwrap_err().kind, Kind::Closed);
    for n in 1..=3 {
        bench
            .make(&Step::Redo {
                guidance: "shorter",
            })
            .unwrap();
        assert_eq!(
            bench.str(&["phases", "01-requirements", "status"]),
            "in_progress"
        );
        assert_eq!(bench.index(), 1, "the index never goes back");
        assert_eq!(
            bench
                .document
                .u64(&["phases", "01-requirements", "timing", "retries"]),
            Some(n)
        );
        bench.make(&complete("again")).unwrap();
        assert_eq!(bench.index(), 1);
    }
    assert_eq!(
        bench
            .make(&Step::Redo { guidance: "more" })
            .unwrap_err()
            .kind,
        Kind::Closed
    );
    bench.make(&Step::Review(Choice::Review)).unwrap();
    assert_eq!(bench.make(&BEGIN).unwrap_err().kind, Kind::Closed);
    bench.make(&Step::Review(Choice::Continue)).unwrap();
    let history = bench
        .document
        .array(&["active_workflow", "review_history"])
        .unwrap();
    assert_eq!(history.len(), 4);
    assert_eq!(history[3]["action"], "review");
    bench.make(&BEGIN).unwrap();
    assert_eq!(bench.index(), 1);
}

/// AC-009d: after a phase is removed on the way, the remaining ones go on.
#[test]
fn ac_009d_sizing_and_skipping_shorten_the_array_and_the_rest_goes_on() {
    let mut bench = Bench::started(&[
        "02-impact-analysis",
        "03-architecture",
        "04-design",
        "06-implementation",
        "08-code-review",
    ]);
    let sized = Step::Complete(Completion {
        phase: None,
        summary: "small",
        report: Report::default(),
        size: Some(Intensity::Light),
        exists: &|_| true,
        gates: &|| Gates::Verified,
        since: &|_| None,
    });
    let change = bench.make(&sized).unwrap();
    assert!(change.what.contains("without 03-architecture, 04-design"));
    bench
        .make(&Step::Skip {
            phase: Some("08-code-review"),
            reason: "pair",
        })
        .unwrap();
    assert_eq!(
        bench.document.get(&["active_workflow", "phases"]),
        Some(&json!(["02-impact-analysis", "06-implementation"]))
    );
    assert_eq!(bench.document.object(&["phases"]).unwrap().len(), 2);
    bench.make(&BEGIN).unwrap();
    assert_eq!(bench.index(), 1);
    bench.make(&complete("done")).unwrap();
    assert_eq!(bench.index(), 2);
    bench.make(&Step::Finalize(Ending::default())).unwrap();
}

/// TS-011: the end archives the phases and their metrics, and clears the workflow.
#[test]
fn ts_011_the_end_keeps_the_story_and_clears_the_rest() {
    let mut bench = Bench::started(&THREE);
    for _ in THREE {
        bench.make(&BEGIN).unwrap();
        bench.make(&complete("done")).unwrap();
    }
    assert!(
        bench
            .make(&BEGIN)
            .unwrap_err()
            .what
            .contains("every phase is completed")
    );
    let long = "x".repeat(300);
    let old: Vec<Value> = (0..60)
        .map(|n| json!({"id": n, "description": long, "own": 1}))
        .collect();
    bench.document.set(&["workflow_history"], old).unwrap();
    bench
        .make(&Step::Finalize(Ending {
            merged_commit: Some("abc"),
        }))
        .unwrap();
    let history = bench.document.array(&["workflow_history"]).unwrap();
    assert_eq!(history.len(), MAX_WORKFLOWS);
    assert_eq!(history[0]["id"], 11);
    assert_eq!(history[0]["description"].as_str().unwrap().len(), 203);
    let entry = &history[49];
    assert_eq!(entry["phase_snapshots"].as_array().unwrap().len(), 3);
    assert_eq!(entry["metrics"]["gates_passed_first_try"], 3);
    assert_eq!(entry["merged_commit"], "abc");
    assert_eq!(entry["id"], "REQ-0001");
    assert!(bench.document.get(&["active_workflow"]).unwrap().is_null());
    assert_eq!(bench.document.get(&["phases"]), Some(&json!({})));
    bench.make(&start("t")).unwrap();
    assert_eq!(
        bench.str(&["active_workflow", "artifact_folder"]),
        "REQ-0002-add-a-shop"
    );
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    fn some_phases() -> impl Strategy<Value = Vec<&'static str>> {
        let all: Vec<&str> = phases::PHASES.iter().map(|(key, _)| *key).collect();
        proptest::sample::subsequence(all, 1..6)
    }

    fn step(n: u8) -> Step<'static> {
        match n {
            0 => BEGIN,
            1 => complete("done"),
            2 => Step::Redo { guidance: "better" },
            3 => Step::Skip {
                phase: None,
                reason: "why not",
            },
            4 => Step::Review(Choice::Continue),
            5 => Step::Review(Choice::Review),
            6 => Step::Begin {
                phase: None,
                escalations: Escalations::Clear,
            },
            _ => Step::Finalize(Ending::default()),
        }
    }

    proptest! {
        /// P1–P5, P10–P12 over random workflows and random steps.
        #[test]
        fn no_sequence_of_steps_breaks_an_invariant(
            phases in some_phases(),
            supervised in any::<bool>(),
            steps in proptest::collection::vec(0_u8..8, 0..40),
        ) {
            let mut bench = Bench::started(&phases);
            if supervised {
                bench.document.set(&["supervised_mode"], json!({"enabled": true})).unwrap();
            }
            let mut last = 0;
            for n in steps {
                let _refused = bench.make(&step(n));
                let Some(workflow) = crate::workflow::position::running(&bench.document) else {
                    prop_assert!(bench.document.get(&["active_workflow"]).unwrap().is_null());
                    break;
                };
                let index = bench.index();
                prop_assert!(index >= last && index <= phases.len() as u64);
                last = index;
                let current = workflow["current_phase"].as_str().unwrap();
                prop_assert_eq!(bench.str(&["current_phase"]), current);
                prop_assert_ne!(bench.str(&["phases", current, "status"]), "pending");
                prop_assert_eq!(bench.str(&["active_agent"]), phases::agent(current).unwrap());
                for phase in &phases {
                    prop_assert_eq!(bench.str(&["phases", phase, "status"]), bench.str(&["active_workflow", "phase_status", phase]));
                }
                prop_assert!(WorkflowPosition::of(&bench.document).unwrap().doing().is_ok());
            }
        }
    }

    /// What strangers keep in a state: anything, under names that belong to no one.
    fn strange() -> impl Strategy<Value = Vec<(usize, String, Value)>> {
        let value = prop_oneof![
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-z]{0,8}".prop_map(Value::from),
            Just(json!({ "status": "pending", "deep": [1, { "completed": null }] })),
        ];
        proptest::collection::vec((0_usize..4, "x-[a-z]{1,6}", value), 0..12)
    }

    proptest! {
        /// P6: whatever else is in the state, beginning and completing a phase change their own
        /// fields of that phase, and a refused step changes nothing.
        #[test]
        fn p6_a_step_changes_only_its_own_fields(
            phases in some_phases(),
            strange in strange(),
            steps in proptest::collection::vec(0_u8..2, 1..20),
        ) {
            let mut bench = Bench::started(&phases);
            for (place, name, value) in strange {
                let inside: &[&str] = match place {
                    0 => &[],
                    1 => &["active_workflow"],
                    2 => &["phases", phases[0]],
                    _ => &["phases", phases[phases.len() - 1]],
                };
                let path = [inside, &[name.as_str()]].concat();
                bench.document.set(&path, value).unwrap();
            }
            for n in steps {
                let before = bench.document.clone();
                let index = usize::try_from(bench.index()).unwrap();
                let made = bench.make(&step(n));
                let changed = changed(&before, &bench.document);
                if made.is_err() {
                    prop_assert_eq!(changed, Vec::<String>::new());
                    continue;
                }
                let phase = phases[index];
                let own = if n == 0 {
                    ["started", "status", "timing"].as_slice()
                } else {
                    &["completed", "gate_passed", "status", "summary", "timing"]
                };
                let around = if n == 0 {
                    ["active_agent", "current_phase", "active_workflow.current_phase"].as_slice()
                } else {
                    &["active_workflow.current_phase_index"]
                };
                for path in changed {
                    let of_phase = path.strip_prefix(&format!("phases.{phase}."));
                    let is_own = of_phase.is_some_and(|field| {
                        own.contains(&field.split('.').next().unwrap())
                    });
                    let is_status = path == format!("active_workflow.phase_status.{phase}");
                    prop_assert!(
                        is_own || is_status || around.contains(&path.as_str()),
                        "step {} of {} changed {}", n, phase, path
                    );
                }
            }
        }
    }

    use crate::workflow::position::WorkflowPosition;
}
