//! What a change of the state claims to have been seen, but was not.
//!
//! Test runs, menus and delegations are recorded by the hooks that watch them, approvals by a
//! person. A change by anybody else that adds to these records, or takes a failure out of them,
//! is a claim and no evidence. Less than was seen may be written: what is reset has to be earned
//! again. What an agent attests by design, the constitutional validation, stays its own.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::workflow::evidence::{CONSTITUTION, ELICITATION, TESTS, TREE};
use crate::workflow::transition::GATES;
use tollgate_store::document::Document;
use tollgate_store::edit::Edit;

const REQUIREMENTS: &str = "iteration_requirements";
const LOG: &str = "skill_usage_log";
const MARKER: &str = "pending_delegation";
const ENFORCEMENT: [&str; 2] = ["iteration_enforcement", "enabled"];

/// The edits that take the claims in `incoming` back to what the last good state says.
pub fn put_back(good: &Document, incoming: &Document) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut hold = |path: &[&str], claims: &dyn Fn(Option<&Value>, Option<&Value>) -> bool| {
        let (was, is) = (good.get(path), incoming.get(path));
        if claims(was, is) {
            edits.push(match was {
                Some(was) => Edit::set(path, was.clone()),
                None => Edit::remove(path),
            });
        }
    };
    let same_workflow = is_same_workflow(good, incoming);
    for phase in keys(good).chain(keys(incoming).filter(|key| good.get(&["phases", key]).is_none()))
    {
        let tests = ["phases", phase, REQUIREMENTS, TESTS];
        hold(&tests, &|was, is| {
            is_promoted(was, is)
                || (opens(is) && !opens(was))
                || (same_workflow && has_failed(was) && !has_failed(is))
                // A pass of one tree is none of another, nor of any.
                || (opens(is) && text(was, TREE).is_some() && text(is, TREE) != text(was, TREE))
        });
        hold(&["phases", phase, REQUIREMENTS, ELICITATION], &|was, is| {
            is_promoted(was, is)
                || number(is, "menu_interactions") > number(was, "menu_interactions")
                || (text(is, "final_selection").is_some()
                    && text(is, "final_selection") != text(was, "final_selection"))
        });
        hold(&["phases", phase, CONSTITUTION], &|was, is| {
            becomes(was, is, "escalation_approved")
        });
        hold(&["phases", phase, GATES], &|was, is| {
            becomes(was, is, "verified")
        });
    }
    hold(&[LOG], &|was, is| {
        // Years of entries are compared with years of them.
        let known: HashSet<&Value> = list(was).iter().collect();
        list(is).iter().any(|entry| !known.contains(entry))
    });
    hold(&[MARKER], &|was, is| {
        let wanted = |marker: Option<&'_ Value>| text(marker, "required_agent").map(str::to_owned);
        wanted(is).is_some() && wanted(is) != wanted(was)
    });
    hold(&ENFORCEMENT, &|was, is| {
        is == Some(&Value::Bool(false)) && was != Some(&Value::Bool(false))
    });
    if same_workflow {
        // What the gates of the workflow ask for was settled when it started.
        hold(&["active_workflow", "gate_mode"], &|was, is| {
            let permits = |mode: Option<&Value>| mode.and_then(Value::as_str) == Some("permissive");
            permits(is) && !permits(was)
        });
        for key in ["type", "started_at"] {
            hold(&["active_workflow", key], &|was, is| {
                was.is_some_and(Value::is_string) && was != is
            });
        }
    }
    edits
}

/// Whether the same workflow runs in both: a new one begins with new records. One that ended has
/// left an entry in the history; a new date of its beginning alone makes no new workflow.
fn is_same_workflow(good: &Document, incoming: &Document) -> bool {
    let runs = |state: &Document| state.object(&["active_workflow"]).is_some();
    let ended = |state: &Document| list(state.get(&["workflow_history"])).last().cloned();
    runs(good) && runs(incoming) && ended(incoming) == ended(good)
}

fn keys(state: &Document) -> impl Iterator<Item = &str> {
    let phases = state.object(&["phases"]);
    phases.into_iter().flat_map(Map::keys).map(String::as_str)
}

/// Whether a record is completed or approved that was not.
fn is_promoted(was: Option<&Value>, is: Option<&Value>) -> bool {
    becomes(was, is, "completed") || becomes(was, is, "escalation_approved")
}

/// Whether a record of tests opens the gate: an escalation does so with a person's approval only.
fn opens(record: Option<&Value>) -> bool {
    let holds = |key: &str| record.and_then(|r| r.get(key)) == Some(&Value::Bool(true));
    let escalated = text(record, "status") == Some("escalated");
    holds("completed") && (!escalated || holds("escalation_approved"))
}

fn becomes(was: Option<&Value>, is: Option<&Value>, key: &str) -> bool {
    let holds =
        |record: Option<&Value>| record.and_then(|r| r.get(key)) == Some(&Value::Bool(true));
    holds(is) && !holds(was)
}

fn has_failed(record: Option<&Value>) -> bool {
    text(record, "last_test_result") == Some("failed")
}

fn text<'v>(record: Option<&'v Value>, key: &str) -> Option<&'v str> {
    record?.get(key)?.as_str()
}

fn number(record: Option<&Value>, key: &str) -> f64 {
    let number = record.and_then(|record| record.get(key)?.as_f64());
    number.unwrap_or(0.0)
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The processor's time counts, not the clock's: other tests run beside it.
    #[test]
    fn a_long_log_is_compared_in_a_moment() {
        let spent = || {
            let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
            std::time::Duration::try_from(time).unwrap()
        };
        let entries: Vec<Value> = (0..40_000)
            .map(|n| json!({ "agent": n, "phase": "06", "at": [n, { "x": 1, "y": 2 }] }))
            .collect();
        let good = document(&json!({ LOG: entries }));
        // The same in another order, and their members as well.
        let other: Vec<Value> = (0..40_000)
            .rev()
            .map(|n| json!({ "at": [n, { "y": 2, "x": 1 }], "phase": "06", "agent": n }))
            .collect();
        let incoming = document(&json!({ LOG: other }));
        let start = spent();
        assert_eq!(put_back(&good, &incoming), []);
        let mut forged = other;
        forged.push(json!({ "agent": -1 }));
        assert_eq!(put_back(&good, &document(&json!({ LOG: forged }))).len(), 1);
        assert!(spent() < start + std::time::Duration::from_secs(20));
    }

    fn document(value: &Value) -> Document {
        Document::parse(value.to_string().as_bytes()).unwrap()
    }

    /// The state after the claims are taken back.
    fn held(good: &Value, incoming: &Value) -> Value {
        let mut after = document(incoming);
        let edits = put_back(&document(good), &after);
        tollgate_store::edit::apply(&edits, &mut after).unwrap();
        serde_json::from_str(&after.to_text()).unwrap()
    }

    fn tests(record: &Value) -> Value {
        json!({
            "active_workflow": { "started_at": "2026" },
            "phases": { "06": { "status": "in_progress", REQUIREMENTS: { TESTS: record } } },
        })
    }

    #[test]
    fn a_test_record_that_says_more_than_was_seen_is_taken_back() {
        let failed = json!({ "last_test_result": "failed", "current_iteration": 2 });
        for claim in [
            json!({ "completed": true, "current_iteration": 1 }),
            json!({ "last_test_result": "failed", "escalation_approved": true }),
            json!({ "last_test_result": "passed", "current_iteration": 2 }),
            json!({}),
        ] {
            assert_eq!(
                held(&tests(&failed), &tests(&claim)),
                tests(&failed),
                "{claim}"
            );
        }
        let nothing = json!({ "phases": {} });
        let after = held(&nothing, &tests(&json!({ "completed": true })));
        assert_eq!(after["phases"]["06"][REQUIREMENTS], json!({}));
        assert_eq!(
            after["phases"]["06"]["status"], "in_progress",
            "the rest stays"
        );
    }

    #[test]
    fn gates_that_nobody_ran_are_not_verified_by_writing_it() {
        let phase = |gates: Value| json!({ "phases": { "build": { "status": "completed", GATES: gates } } });
        let not = phase(json!({ "verified": false, "why": "test failed" }));
        assert_eq!(held(&not, &phase(json!({ "verified": true }))), not);
        let bare = json!({ "phases": { "build": { "status": "completed" } } });
        assert_eq!(held(&bare, &phase(json!({ "verified": true }))), bare);
        let seen = phase(json!({ "verified": true }));
        assert_eq!(held(&seen, &not), not, "less may be written");
    }

    #[test]
    fn less_than_was_seen_may_be_written_and_a_new_workflow_begins_anew() {
        let passed = json!({ "completed": true, "current_iteration": 3 });
        let reset = tests(&json!({ "completed": false }));
        assert_eq!(held(&tests(&passed), &reset), reset);
        let failed = tests(&json!({ "last_test_result": "failed" }));
        let mut fresh = tests(&json!({}));
        fresh["active_workflow"]["started_at"] = json!("2027");
        fresh["workflow_history"] = json!([{ "status": "cancelled" }]);
        assert_eq!(held(&failed, &fresh), fresh);
        // A new date alone ends nothing.
        fresh["workflow_history"] = json!([]);
        let after = held(&failed, &fresh);
        assert_eq!(after["phases"], failed["phases"]);
        assert_eq!(after["active_workflow"], failed["active_workflow"]);
        let mut noted = tests(&passed);
        noted["note"] = json!("mine");
        assert_eq!(held(&tests(&passed), &noted), noted);
    }

    #[test]
    fn an_escalation_is_no_pass_until_a_person_says_so_and_gates_stay_as_strict_as_they_were() {
        let escalated =
            json!({ "completed": true, "status": "escalated", "last_test_result": "failed" });
        for status in [json!("success"), json!(null), json!("ESCALATED")] {
            let mut claim = escalated.clone();
            claim["status"] = status;
            assert_eq!(held(&tests(&escalated), &tests(&claim)), tests(&escalated));
        }
        let mut good = tests(&json!({}));
        good["active_workflow"]["type"] = json!("feature");
        for (key, claim) in [
            ("gate_mode", json!("permissive")),
            ("type", json!("fix")),
            ("started_at", json!("2020")),
        ] {
            let mut incoming = good.clone();
            incoming["active_workflow"][key] = claim;
            assert_eq!(held(&good, &incoming), good, "{key}");
        }
        let mut marked = good.clone();
        marked[MARKER] = json!({ "required_agent": "software-developer" });
        assert_eq!(held(&good, &marked), good);
        assert_eq!(held(&marked, &good), good, "a marker may be taken away");
    }

    #[test]
    fn menus_logs_approvals_and_the_switch_are_held_too() {
        let good = json!({
            "iteration_enforcement": { "enabled": true },
            LOG: [{ "agent": "a" }],
            "phases": { "01": {
                REQUIREMENTS: { ELICITATION: { "menu_interactions": 1, "final_selection": "adjust" } },
                CONSTITUTION: { "status": "escalated" },
            } },
        });
        for (path, claim) in [
            (
                "/phases/01/iteration_requirements/interactive_elicitation",
                json!({ "completed": true, "menu_interactions": 1 }),
            ),
            (
                "/phases/01/iteration_requirements/interactive_elicitation/menu_interactions",
                json!(3),
            ),
            (
                "/phases/01/iteration_requirements/interactive_elicitation/final_selection",
                json!("save"),
            ),
            (
                "/phases/01/constitutional_validation/escalation_approved",
                json!(true),
            ),
            ("/skill_usage_log/0/agent", json!("b")),
            ("/iteration_enforcement/enabled", json!(false)),
        ] {
            let mut incoming = good.clone();
            let (parent, key) = path.rsplit_once('/').unwrap();
            incoming.pointer_mut(parent).unwrap()[key] = claim;
            assert_eq!(held(&good, &incoming), good, "{path}");
        }
        let mut attested = good.clone();
        attested["phases"]["01"][CONSTITUTION] =
            json!({ "status": "compliant", "completed": true, "iterations_used": 1 });
        assert_eq!(held(&good, &attested), attested);
    }
}
