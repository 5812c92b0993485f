//! Whatever a state looks like, the audit ends, and what it repairs stays repaired.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::workflow::definitions::{Definitions, Home};
use crate::workflow::evidence::ProjectRequirements;
use crate::workflow::manifest::Manifest;

fn base() -> Value {
    json!({
        "state_version": 9, "current_phase": "03-architecture", "active_agent": "solution-architect",
        "active_workflow": {"type": "feature", "description": "d", "started_at": "2026-02-08T10:00:00Z",
            "phases": ["01-requirements", "03-architecture", "06-implementation"], "current_phase": "03-architecture",
            "current_phase_index": 1, "artifact_folder": "REQ-0001-d", "counter_used": 1,
            "phase_status": {"01-requirements": "completed", "03-architecture": "in_progress", "06-implementation": "pending"},
            "supervised_review": null},
        "phases": {
            "01-requirements": {"status": "completed", "started": "2026-02-08T10:00:00Z", "completed": "2026-02-08T10:10:00Z", "gate_passed": "2026-02-08T10:10:00Z",
                "summary": "s", "timing": {"started_at": "2026-02-08T10:00:00Z", "retries": 0, "completed_at": "2026-02-08T10:10:00Z", "wall_clock_minutes": 10}},
            "03-architecture": {"status": "in_progress", "started": "2026-02-08T10:10:00Z"},
            "06-implementation": {"status": "pending"}},
        "pending_escalations": [], "workflow_history": [], "counters": {"next_req_id": 2},
    })
}

/// Every place of a document that a value can be put at.
fn places(value: &Value, at: &str, out: &mut Vec<String>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let path = format!("{at}/{key}");
        out.push(path.clone());
        places(value, &path, out);
    }
}

fn odd(n: u8) -> Value {
    match n {
        0 => Value::Null,
        1 => json!("pending"),
        2 => json!("in_progress"),
        3 => json!("completed"),
        4 => json!(7),
        5 => json!([]),
        6 => json!({}),
        7 => json!("06-implementation"),
        8 => json!("01-requirements"),
        9 => json!(true),
        10 => json!({"phase": "01-requirements", "status": "redo_pending", "redo_count": 1}),
        _ => json!([1, "04-design", {"status": "x"}]),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Random damage: the audit neither fails nor goes in circles, and a second repair finds
    /// nothing to do. What a repair cannot undo it leaves, and says so.
    #[test]
    fn any_damage_is_repaired_or_reported(damage in proptest::collection::vec((any::<prop::sample::Index>(), 0_u8..12), 1..6)) {
        let mut state = base();
        let mut all = Vec::new();
        places(&state, "", &mut all);
        for (place, value) in damage {
            let path = place.get(&all).clone();
            if let Some(slot) = state.pointer_mut(&path) {
                *slot = odd(value);
            }
        }
        let definitions = Definitions::built_in(Home::Original);
        let requirements = ProjectRequirements::built_in();
        let manifest = Manifest::built_in();
        let rules = Rules { definitions: &definitions, requirements: &requirements, manifest: &manifest };
        let now: Timestamp = "2026-02-08T20:00:00Z".parse().unwrap();
        let mut document = Document::parse(state.to_string().as_bytes()).unwrap();
        let repaired = repair(&mut document, &rules, &[], now);
        prop_assert!(repaired.is_ok(), "{repaired:?}\n{state:#}");
        let repaired = repaired.unwrap();
        prop_assert!(repaired.findings.len() < 100, "{:?}\n{state:#}", repaired.findings.iter().map(|f| (f.id, f.place.clone())).collect::<Vec<_>>());
        prop_assert!(repaired.left.iter().all(|finding| finding.repair.is_none()));
        let again = repair(&mut document, &rules, &[], now).unwrap();
        prop_assert!(again.findings.is_empty());
        if repaired.left.is_empty() && crate::workflow::position::running(&document).is_some() {
            let position = WorkflowPosition::of(&document).unwrap();
            prop_assert!(position.doing().is_ok(), "{:?}\n{}", position.doing(), document.to_text());
        }
    }
}
