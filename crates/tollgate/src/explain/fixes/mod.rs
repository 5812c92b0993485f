//! What could be done about each finding, best first. Whether it helps is tried by the caller.

mod ways;

use serde_json::{Map, Value, json};
use tollgate_core::state::timestamp::iso;
use tollgate_core::verdict::Finding;

use super::{Case, Change};

/// A way to satisfy a finding.
#[derive(Debug)]
pub(super) struct Fix {
    /// What a person or an agent does, in one line.
    pub(super) how: String,
    /// What is different then.
    pub(super) changes: Vec<Change>,
}

/// The menu that a discovery shows.
const MENU: &str =
    "Choose: [1] New Project [2] Existing Project [3] Chat/Explore. Enter selection:";

fn fix(how: impl Into<String>, changes: impl IntoIterator<Item = Change>) -> Fix {
    Fix {
        how: how.into(),
        changes: changes.into_iter().collect(),
    }
}

fn state(path: &[&str], value: impl Into<Value>) -> Change {
    Change::State {
        path: path.iter().map(|key| (*key).to_owned()).collect(),
        value: Some(value.into()),
    }
}

fn event(path: &[&str], value: impl Into<Value>) -> Change {
    Change::Event {
        path: path.iter().map(|key| (*key).to_owned()).collect(),
        value: value.into(),
    }
}

/// The ways to satisfy a finding, best first.
pub(super) fn of(case: &Case, finding: &Finding) -> Vec<Fix> {
    let phase = finding
        .phase
        .as_deref()
        .or_else(|| case.phase())
        .unwrap_or_default();
    let entry = ["phases", case.phase_key(phase)];
    let under = |keys: &[&'static str]| -> Vec<String> {
        let all = entry.iter().chain(keys);
        all.map(|key| (*key).to_owned()).collect()
    };
    match finding.code {
        "PT-001" => vec![fix(
            "finish a phase within its limit, or raise its timeout_minutes",
            [Change::State {
                path: under(&["started_at"]),
                value: Some(iso(case.now).into()),
            }],
        )],
        "IC-001" => vec![case.tests(&under(&["iteration_requirements", "test_iteration"]))],
        "IC-002" | "CV-001" | "CIV-001" => {
            vec![case.validation(&under(&["constitutional_validation"]))]
        }
        "GB-001" => vec![case.requirements(finding, phase)],
        "GB-002" => case
            .index_of(phase)
            .map(|index| {
                fix(
                    "`tollgate workflow audit --repair` puts the index right",
                    [state(&["active_workflow", "current_phase_index"], index)],
                )
            })
            .into_iter()
            .collect(),
        "GB-003" => vec![fix(
            "have the person finish the review: `tollgate phase review`",
            [state(
                &["active_workflow", "supervised_review", "status"],
                "approved",
            )],
        )],
        "GB-004" => vec![fix(
            "`tollgate workflow finalize`, then start the next workflow",
            [state(&["active_workflow"], Value::Null)],
        )],
        "TAB-001" => vec![fix(
            "write unit tests, then run the discovery again",
            [
                state(&["discovery_context", "coverage_summary", "total_tests"], 1),
                state(
                    &["discovery_context", "coverage_summary", "unit_test_pct"],
                    50,
                ),
            ],
        )],
        "BRV-001" => {
            let listed = finding
                .text
                .lines()
                .filter_map(|line| line.trim().strip_prefix("- "));
            let files =
                listed.filter_map(|line| Some(line.rsplit_once(" (expected: ")?.0.to_owned()));
            vec![fix(
                "change the files that the impact analysis announces",
                [Change::Touched(files.collect())],
            )]
        }
        "BRV-002" => case
            .file_after(finding, "Path: ")
            .map(|path| {
                let text = format!("{}\n| `README.md` | NO CHANGE |\n", case.text_of(&path));
                fix(
                    "list the affected files in the impact analysis",
                    [Change::File { path, text }],
                )
            })
            .into_iter()
            .collect(),
        "SFG-001" | "SFG-002" | "SFG-003" => case.elsewhere(),
        "SFG-004" => case.registered(),
        "ERE-001" => vec![fix(
            "leave Chat/Explore mode first",
            [state(&["chat_explore_active"], false)],
        )],
        "DG-001" => vec![case.asked(finding.agent.as_deref().unwrap_or_default(), "")],
        "PSG-001" => case.in_order(finding, phase),
        "PSG-002" => {
            let unknown = quoted(&finding.reason).unwrap_or_default();
            let prompt = case
                .input("prompt")
                .replace(unknown, case.phase().unwrap_or_default());
            vec![fix(
                "name a phase of the workflow",
                [event(&["tool_input", "prompt"], prompt)],
            )]
        }
        "PLC-001" => {
            let current = case.phase().unwrap_or(phase);
            let mut keys = vec![case.phase_key(phase), case.phase_key(current)];
            keys.dedup();
            let changes = keys
                .iter()
                .map(|key| state(&["phases", key, "status"], "in_progress"));
            vec![fix(
                "begin the phase first: `tollgate phase begin`",
                changes,
            )]
        }
        "PS-001" => case
            .file_after(finding, "Expected path: ")
            .map(|path| {
                fix(
                    "write the task plan",
                    [Change::File {
                        path,
                        text: "# Tasks\n".to_owned(),
                    }],
                )
            })
            .into_iter()
            .collect(),
        "PS-002" => case.planned(finding),
        "BG-001" => case.on_branch(),
        "BG-002" => case.last_phase(),
        "SWV-007" => case.rewritten(
            "write it with the version that is there",
            |written, disk| match disk.get("state_version") {
                Some(version) => drop(written.insert("state_version".to_owned(), version.clone())),
                None => drop(written.shift_remove("state_version")),
            },
        ),
        "SWV-008" => case.rewritten(
            "move phases with `tollgate phase` instead of writing them",
            Clone::clone_from,
        ),
        "SWV-001" => case.counted(
            &under(&["constitutional_validation", "iterations_used"]),
            "run the validation, then record it",
        ),
        "SWV-002" => case.counted(
            &under(&[
                "iteration_requirements",
                "interactive_elicitation",
                "menu_interactions",
            ]),
            "hold the elicitation, then record it",
        ),
        "SWV-003" => case.counted(
            &under(&[
                "iteration_requirements",
                "test_iteration",
                "current_iteration",
            ]),
            "run the tests; their runs are recorded by themselves",
        ),
        "SWV-009" => case.consistent(),
        "WT-001" => vec![fix(
            "walk through the constitution with the person",
            [state(&["discovery_context", "walkthrough_completed"], true)],
        )],
        "DMG-001" | "DMG-002" => vec![case.answered("show the three options of the menu", MENU)],
        "PTE-001" => {
            let asked = quoted(&finding.reason).unwrap_or_default();
            vec![case.answered("go on without asking", &case.result().replace(asked, ""))]
        }
        "MHE-001" => case.stopped_earlier(),
        "TW-001" => vec![fix(
            "change something before the same failure comes again, or have the person approve",
            [
                Change::State {
                    path: under(&[
                        "iteration_requirements",
                        "test_iteration",
                        "identical_failure_count",
                    ]),
                    value: Some(0.into()),
                },
                Change::State {
                    path: under(&["iteration_requirements", "test_iteration", "history"]),
                    value: Some(json!([])),
                },
            ],
        )],
        "TW-002" | "TW-003" => vec![fix(
            "make the tests pass in fewer runs, or have the person approve",
            [
                Change::State {
                    path: under(&[
                        "iteration_requirements",
                        "test_iteration",
                        "current_iteration",
                    ]),
                    value: Some(0.into()),
                },
                Change::State {
                    path: under(&["iteration_requirements", "test_iteration", "max_iterations"]),
                    value: Some(1000.into()),
                },
            ],
        )],
        "RR-001" => vec![fix(
            "have the commit read, and set code_review.enabled",
            [state(&["code_review", "enabled"], true)],
        )],
        "ACV-001" | "TW-004" => {
            let passed = case
                .result()
                .replace("not ok", "ok")
                .replace("FAILED", "ok")
                .replace("failed", "passed")
                .replace("SKIP", "ok")
                .replace("skipped", "passed");
            let off = [
                state(&["active_workflow", "options", "atdd_mode"], false),
                state(&["active_workflow", "atdd_mode"], false),
            ];
            vec![
                case.answered("make the tests of the higher priority pass first", &passed),
                fix("leave the ATDD mode", off),
            ]
        }
        "WCE-002" => case.faster(),
        "OFV-001" => case.complete_artifact(finding),
        _ => Vec::new(),
    }
}

/// What is between the last two apostrophes.
fn quoted(text: &str) -> Option<&str> {
    let (before, _) = text.rsplit_once('\'')?;
    before.rsplit_once('\'').map(|(_, inside)| inside)
}

fn object(value: Option<&Value>) -> Map<String, Value> {
    value
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default()
}
