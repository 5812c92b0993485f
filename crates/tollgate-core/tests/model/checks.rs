//! What must hold of every document and every world that can be reached.

use serde_json::{Value, json};

use tollgate_core::context::{EventContext, Inputs};
use tollgate_core::env::Env;
use tollgate_core::guard::{self, GUARDS};
use tollgate_core::protocol::{self, Hints};
use tollgate_core::workflow::audit::{self, Evidence};
use tollgate_core::workflow::phases;
use tollgate_core::workflow::position::{Doing, WorkflowPosition, running};
use tollgate_store::document::Document;

use super::{COMMANDS, COMPLETED, Model, REDONE, SKIPPED, VERSION, World, now};

impl Model {
    /// The invariants, written down once more and not through the code under test, and the audit.
    pub(super) fn check(&self, document: &Document, text: &str) {
        let findings = self.rules(|rules| {
            audit::audit(&Evidence {
                document,
                rules,
                journal: &[],
                now: now(),
            })
        });
        assert!(findings.is_empty(), "{findings:#?}\n{text}");
        let Some(workflow) = running(document) else {
            let entry = document
                .array(&["workflow_history"])
                .unwrap()
                .last()
                .unwrap();
            assert!(entry["phase_snapshots"].is_array() && entry["metrics"].is_object());
            assert_eq!(document.get(&["phases"]), Some(&json!({})));
            return;
        };
        let list: Vec<&str> = workflow["phases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|v| v.as_str().unwrap())
            .collect();
        let current = workflow["current_phase"].as_str().unwrap();
        let index = usize::try_from(workflow["current_phase_index"].as_u64().unwrap()).unwrap();
        let at = list.iter().position(|key| *key == current).unwrap();
        let status = |key: &str| document.str(&["phases", key, "status"]).unwrap();
        // P1, P2: every redundant field agrees.
        for key in &list {
            assert_eq!(
                status(key),
                workflow["phase_status"][*key].as_str().unwrap()
            );
        }
        assert_eq!(document.str(&["current_phase"]), Some(current));
        assert_eq!(document.str(&["active_agent"]), phases::agent(current));
        // P3: the index is that of the current phase, or one more.
        let redo = workflow
            .get("supervised_review")
            .is_some_and(|r| r["status"] == "redo_pending");
        assert_eq!(
            index,
            at + usize::from(status(current) == "completed" || redo)
        );
        // P4: the current phase is never pending; what is before it is done, what is behind waits.
        assert_ne!(status(current), "pending");
        assert!(list.iter().take(at).all(|key| status(key) == "completed"));
        assert!(list.iter().skip(at + 1).all(|key| status(key) == "pending"));
        // P7: a passed gate has no failing tests.
        for key in &list {
            let passed = document
                .get(&["phases", key, "gate_passed"])
                .is_some_and(Value::is_string);
            let tests = document.str(&[
                "phases",
                key,
                "iteration_requirements",
                "test_iteration",
                "last_test_result",
            ]);
            assert!(!(passed && tests == Some("failed")), "{text}");
        }
    }

    /// No guard blocks the legal next step, and each blocks what is illegal.
    #[expect(
        clippy::disallowed_methods,
        reason = "the guard compares with the file"
    )]
    pub(super) fn check_guards(&mut self, document: &Document, text: &str) {
        self.guarded += 1;
        let file = self.root.path().join(".isdlc/state.json");
        std::fs::write(&file, text).unwrap();
        let standing = WorkflowPosition::of(document).unwrap();
        let doing = standing.doing().unwrap();
        let current = standing.current().unwrap().key;
        let layout = self.layout.clone();
        let judge = |event: &Value| {
            let event_text = event.to_string();
            let hints = Hints {
                protocol: None,
                event: None,
                gemini_env: false,
            };
            let event = protocol::parse(&event_text, &hints).unwrap();
            let inputs = Inputs::new(layout.clone(), Env::default(), None, now());
            let context = EventContext::new(&event, &inputs);
            guard::judge(&context, GUARDS)
                .block
                .map(|report| report.code.into_owned())
        };
        let delegate = |key: &str| {
            judge(
                &json!({"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Task",
                "tool_input":{"subagent_type":phases::agent(key).unwrap(),"prompt":format!("Execute Phase for t workflow.\nPhase key: {key}")}}),
            )
        };
        let working = matches!(doing, Doing::Running(_) | Doing::Redoing(_));
        if working {
            assert_eq!(
                delegate(current),
                None,
                "the current phase's agent may work: {text}"
            );
        }
        for other in self.all_phases.iter().filter(|key| **key != current) {
            assert!(
                delegate(other).is_some(),
                "'{other}' is not begun or over, but may be delegated: {text}"
            );
        }
        let write = |incoming: &Value| {
            judge(
                &json!({"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Write",
                "tool_input":{"file_path":file,"content":incoming.to_string()}}),
            )
        };
        let state: Value = serde_json::from_str(text).unwrap();
        assert_eq!(write(&state), None, "an agent may write what is there");
        let with = |change: &dyn Fn(&mut Value)| {
            let mut changed = state.clone();
            change(&mut changed);
            write(&changed)
        };
        assert_eq!(
            with(&|s| s["state_version"] = (VERSION - 1).into()),
            Some("SWV-007".to_owned()),
            "stale"
        );
        assert_eq!(
            with(&|s| drop(s.as_object_mut().unwrap().remove("state_version"))),
            Some("SWV-007".to_owned()),
            "unversioned"
        );
        assert_eq!(
            with(&|s| s["active_workflow"] = Value::Null),
            Some("SWV-008".to_owned()),
            "thrown away"
        );
        let index = state["active_workflow"]["current_phase_index"]
            .as_u64()
            .unwrap();
        if index > 0 {
            let back = with(&|s| s["active_workflow"]["current_phase_index"] = (index - 1).into());
            assert_eq!(back.as_deref(), Some("SWV-008"), "the index goes back");
        }
        for key in standing
            .phases
            .iter()
            .filter(|key| standing.status(key) == Some("completed"))
        {
            let short = with(&|s| s["active_workflow"]["phase_status"][*key] = "pending".into());
            let long = with(&|s| s["phases"][*key]["status"] = "pending".into());
            assert_eq!(
                (short, long),
                (Some("SWV-008".to_owned()), Some("SWV-008".to_owned())),
                "a status goes back"
            );
        }
    }

    /// Every refusal says what to do, and something can always be done.
    pub(super) fn check_ways_out(&self, document: &Document) {
        let mut open = 0;
        for command in COMMANDS {
            match self.rules(|rules| self.transition(command, document, rules)) {
                Ok(_) => open += 1,
                Err(refusal) => {
                    let told = refusal.next.contains("tollgate")
                        || refusal.next.contains("--")
                        || refusal.next.contains("only")
                        || refusal.next.contains("its phases are");
                    assert!(told, "{command:?}: {refusal:?}");
                }
            }
        }
        assert!(open >= 2, "at least cancel and one more");
    }

    /// The state never contradicts the journal, even if lines are missing from it.
    pub(super) fn check_journal(&mut self, world: &World) {
        if !self.journals.insert((world.disk, world.journal)) {
            return;
        }
        let mut lines = vec![
            json!({"ts":"2026-02-08T20:00:00.000Z","verdict":"change","event":"workflow start","version":1,"index":0}),
        ];
        for (at, key) in self.all_phases.iter().enumerate() {
            let step = match (world.journal >> (2 * at)) & 3 {
                COMPLETED => "phase complete",
                REDONE => "phase redo",
                SKIPPED => "phase skip",
                _ => continue,
            };
            lines.push(json!({"ts":"2026-02-08T20:00:00.000Z","verdict":"change","event":step,"phase":key,"version":10 * (at + 1),"reason":"x: done"}));
        }
        let document = self.document(world.disk);
        let findings = self.rules(|rules| {
            audit::audit(&Evidence {
                document,
                rules,
                journal: &lines,
                now: now(),
            })
        });
        assert!(findings.is_empty(), "{findings:#?}\n{lines:#?}");
    }
}
