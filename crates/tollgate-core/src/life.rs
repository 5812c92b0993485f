//! Prove life: each guard is shown an event that it must not let pass.
//!
//! In the original two central guards were dead for weeks, and nobody saw it, because a guard
//! that fails lets everything through. So at the start of a session, and whenever somebody asks,
//! every guard decides a known-bad event in a small project made for it. The events go the whole
//! way, from bytes to verdict, through real files.

use std::io;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;

use crate::env::Env;
use crate::guard::Guard;
use crate::project::Layout;
use crate::protocol::{self, Hints};
use crate::scene::{Scene, Sources};
use crate::verdict::{Fault, Opinion, Verdict};
use tollgate_store::fs::{self, Durability};

/// A known-bad event for one guard.
#[derive(Debug)]
pub struct Life {
    /// The guard's name.
    pub guard: &'static str,
    sign: Sign,
    /// The project it is shown in.
    pub files: &'static [(&'static str, &'static str)],
    /// The event, in the specification's bare shape.
    pub event: &'static str,
}

/// What shows that a guard is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Block,
    Warn,
    /// It records something, or tells the agent something.
    Acts,
}

const STATE: &str = ".isdlc/state.json";
const MANIFEST: (&str, &str) = (
    ".isdlc/config/skills-manifest.json",
    r#"{"ownership":{"software-developer":{"phase":"06-implementation"},
        "upgrade-engineer":{"phase":"15-upgrade"},"sdlc-orchestrator":{"phase":"all"},
        "discover-orchestrator":{"phase":"setup"}}}"#,
);
const REQUIREMENTS: (&str, &str) = (
    ".isdlc/config/iteration-requirements.json",
    r#"{"phase_requirements":{"06-implementation":{"timeout_minutes":5,
        "test_iteration":{"enabled":true},
        "constitutional_validation":{"enabled":true,"articles":["I"]}}}}"#,
);
const DELEGATION: &str =
    r#"{"tool_name":"Task","tool_input":{"subagent_type":"software-developer","prompt":"x"}}"#;
const ADVANCE: &str = r#"{"tool_name":"Task","tool_input":{"subagent_type":"sdlc-orchestrator","prompt":"advance to the next phase"}}"#;

/// The moment in which the events happen: the times in the states below are seen from here.
pub const NOW: &str = "2026-01-01T00:10:00Z";

/// One row per guard; a test keeps it complete.
static LIVES: &[Life] = &[
    Life {
        guard: "phase-timeout",
        sign: Sign::Warn,
        files: &[
            REQUIREMENTS,
            (
                STATE,
                r#"{"active_workflow":{"current_phase":"06-implementation"},
                "phases":{"06-implementation":{"started":"2026-01-01T00:00:00.000Z"}}}"#,
            ),
        ],
        event: DELEGATION,
    },
    Life {
        guard: "iteration-corridor",
        sign: Sign::Block,
        files: &[
            REQUIREMENTS,
            (
                STATE,
                r#"{"active_workflow":{"current_phase":"06-implementation"},
                "phases":{"06-implementation":{"iteration_requirements":{"test_iteration":{
                "completed":false,"last_test_result":"failed"}}}}}"#,
            ),
        ],
        event: ADVANCE,
    },
    Life {
        guard: "phase-sequence-guard",
        sign: Sign::Block,
        files: &[
            MANIFEST,
            (
                STATE,
                r#"{"active_workflow":{"current_phase":"01-requirements"}}"#,
            ),
        ],
        event: DELEGATION,
    },
    Life {
        guard: "phase-loop-controller",
        sign: Sign::Block,
        files: &[
            MANIFEST,
            (
                STATE,
                r#"{"active_workflow":{"current_phase":"06-implementation"}}"#,
            ),
        ],
        event: DELEGATION,
    },
    Life {
        guard: "plan-surfacer",
        sign: Sign::Block,
        files: &[(
            STATE,
            r#"{"active_workflow":{"current_phase":"06-implementation"}}"#,
        )],
        event: DELEGATION,
    },
    Life {
        guard: "gate-blocker",
        sign: Sign::Block,
        files: &[
            REQUIREMENTS,
            (
                STATE,
                r#"{"active_workflow":{"current_phase":"06-implementation"}}"#,
            ),
        ],
        event: ADVANCE,
    },
    Life {
        guard: "constitution-validator",
        sign: Sign::Block,
        files: &[
            REQUIREMENTS,
            (
                STATE,
                r#"{"active_workflow":{"current_phase":"06-implementation"}}"#,
            ),
        ],
        event: r#"{"tool_name":"Task","tool_input":{"subagent_type":"sdlc-orchestrator","prompt":"phase complete"}}"#,
    },
    Life {
        guard: "constitutional-iteration-validator",
        sign: Sign::Block,
        files: &[(
            STATE,
            r#"{"active_workflow":{"current_phase":"06-implementation"},
            "phases":{"06-implementation":{"constitutional_validation":{"completed":true}}}}"#,
        )],
        event: r#"{"tool_name":"Skill","tool_input":{"skill":"isdlc","args":"gate-check"}}"#,
    },
    Life {
        guard: "test-adequacy-blocker",
        sign: Sign::Block,
        files: &[
            MANIFEST,
            (
                STATE,
                r#"{"active_workflow":{"current_phase":"15-upgrade-plan"},
                "discovery_context":{"coverage_summary":{"total_tests":0}}}"#,
            ),
        ],
        event: r#"{"tool_name":"Task","tool_input":{"subagent_type":"upgrade-engineer","prompt":"x"}}"#,
    },
    Life {
        guard: "blast-radius-validator",
        sign: Sign::Block,
        files: &[
            (
                STATE,
                r#"{"active_workflow":{"type":"feature","artifact_folder":"REQ-1",
                "current_phase":"06-implementation"}}"#,
            ),
            (
                "docs/requirements/REQ-1/impact-analysis.md",
                "| `src/a.rs` | MODIFY |\n",
            ),
        ],
        event: ADVANCE,
    },
    Life {
        guard: "branch-guard",
        sign: Sign::Block,
        files: &[
            (
                STATE,
                r#"{"active_workflow":{"git_branch":{"name":"x","status":"active"}}}"#,
            ),
            (".git/HEAD", "ref: refs/heads/main\n"),
        ],
        event: r#"{"tool_name":"Bash","tool_input":{"command":"env git -C . commit -m x"}}"#,
    },
    Life {
        guard: "state-file-guard",
        sign: Sign::Block,
        files: &[(STATE, "{}")],
        event: r#"{"tool_name":"Bash","tool_input":{"command":"cd .isdlc && rm state.json"}}"#,
    },
    Life {
        guard: "explore-readonly-enforcer",
        sign: Sign::Block,
        files: &[(STATE, r#"{"chat_explore_active":true}"#)],
        event: r#"{"tool_name":"Write","tool_input":{"file_path":"src/lib.rs","content":"x"}}"#,
    },
    Life {
        guard: "state-write-validator",
        sign: Sign::Block,
        files: &[(STATE, r#"{"state_version":2}"#)],
        event: r#"{"tool_name":"Write","tool_input":{"file_path":".isdlc/state.json","content":"{\"state_version\":1}"}}"#,
    },
    Life {
        guard: "walkthrough-tracker",
        sign: Sign::Warn,
        files: &[(STATE, r#"{"discovery_context":{"completed_at":"x"}}"#)],
        event: r#"{"tool_name":"Task","tool_input":{"subagent_type":"discover-orchestrator"},"tool_result":"done"}"#,
    },
    Life {
        guard: "discover-menu-guard",
        sign: Sign::Warn,
        files: &[(STATE, "{}")],
        event: r#"{"tool_name":"Task","tool_input":{"subagent_type":"discover-orchestrator"},"tool_result":"Please choose what to do now: [1] Scoped analysis [2] New project"}"#,
    },
    Life {
        guard: "log-skill-usage",
        sign: Sign::Acts,
        files: &[MANIFEST, (STATE, "{}")],
        event: r#"{"tool_name":"Task","tool_input":{"subagent_type":"software-developer"},"tool_result":"done"}"#,
    },
    Life {
        guard: "menu-tracker",
        sign: Sign::Acts,
        files: &[(
            STATE,
            r#"{"active_workflow":{"current_phase":"01-requirements"}}"#,
        )],
        event: r#"{"tool_name":"Task","tool_input":{"subagent_type":"x"},"tool_result":"[A] Adjust [R] Refine [C] Continue. Your choice:"}"#,
    },
    Life {
        guard: "phase-transition-enforcer",
        sign: Sign::Warn,
        files: &[(
            STATE,
            r#"{"active_workflow":{"current_phase":"01-requirements"}}"#,
        )],
        event: r#"{"tool_name":"Task","tool_input":{"subagent_type":"x"},"tool_result":"Would you like to proceed?"}"#,
    },
    Life {
        guard: "menu-halt-enforcer",
        sign: Sign::Warn,
        files: &[(
            STATE,
            r#"{"active_workflow":{"current_phase":"01-requirements"}}"#,
        )],
        event: r#"{"tool_name":"Task","tool_input":{"subagent_type":"x"},"tool_result":"[A] Adjust [R] Refine [C] Continue\nNobody chose anything, and yet here is what comes next: the requirements are taken for granted, the architecture is drawn, the design follows from it, and the implementation begins without anybody having been asked."}"#,
    },
    Life {
        guard: "skill-delegation-enforcer",
        sign: Sign::Acts,
        files: &[(STATE, "{}")],
        event: r#"{"tool_name":"Skill","tool_input":{"skill":"isdlc","args":"feature x"},"tool_result":"loaded"}"#,
    },
    Life {
        guard: "test-watcher",
        sign: Sign::Acts,
        files: &[
            REQUIREMENTS,
            (
                STATE,
                r#"{"active_workflow":{"current_phase":"06-implementation"}}"#,
            ),
        ],
        event: r#"{"tool_name":"Bash","tool_input":{"command":"cargo test"},"tool_result":"test result: FAILED. 1 passed; 2 failed; 0 ignored"}"#,
    },
    Life {
        guard: "review-reminder",
        sign: Sign::Warn,
        files: &[
            (
                STATE,
                r#"{"active_workflow":{},"code_review":{"enabled":false,"team_size":3}}"#,
            ),
            (".git/HEAD", "ref: refs/heads/main\n"),
        ],
        event: r#"{"tool_name":"Bash","tool_input":{"command":"git commit -m x"},"tool_result":"ok"}"#,
    },
    Life {
        guard: "atdd-completeness-validator",
        sign: Sign::Warn,
        files: &[(
            STATE,
            r#"{"active_workflow":{"options":{"atdd_mode":true}}}"#,
        )],
        event: r#"{"tool_name":"Bash","tool_input":{"command":"npm test"},"tool_result":"not ok 1 - P0 login\nok 2 - P1 logout\n"}"#,
    },
    Life {
        guard: "output-format-validator",
        sign: Sign::Warn,
        files: &[
            (STATE, r#"{"active_workflow":{}}"#),
            ("docs/test-strategy.md", "nothing\n"),
        ],
        event: r#"{"tool_name":"Write","tool_input":{"file_path":"docs/test-strategy.md","content":"nothing"},"tool_result":"ok"}"#,
    },
    Life {
        guard: "workflow-completion-enforcer",
        sign: Sign::Acts,
        files: &[(
            STATE,
            r#"{"active_workflow":null,"phases":{"01-requirements":{"status":"completed"}},
            "workflow_history":[{"type":"feature","completed_at":"2026-01-01T00:09:30.000Z"}]}"#,
        )],
        event: r#"{"tool_name":"Write","tool_input":{"file_path":".isdlc/state.json"},"tool_result":"ok"}"#,
    },
    Life {
        guard: "delegation-gate",
        sign: Sign::Block,
        files: &[(
            STATE,
            r#"{"pending_delegation":{"skill":"isdlc","args":"feature x",
            "required_agent":"sdlc-orchestrator","invoked_at":"2026-01-01T00:09:00.000Z"}}"#,
        )],
        event: r#"{"hook_event_name":"Stop","stop_hook_active":false}"#,
    },
];

/// The known-bad events.
pub fn lives() -> impl Iterator<Item = &'static Life> {
    LIVES.iter()
}

/// How many guards can be tried.
pub fn count() -> usize {
    LIVES.len()
}

/// Shows every guard its known-bad event, in projects made inside `directory`. What is returned
/// names each guard that let it pass.
///
/// Sessions begin side by side, so each process has projects of its own there: in shared ones, one
/// would take away what another is looking at, and healthy guards would be called dead.
pub fn prove(directory: &Path) -> Vec<Fault> {
    let own = directory.join(std::process::id().to_string());
    let mut faults = Vec::new();
    for life in LIVES {
        match life.show(&own.join(life.guard)) {
            Ok(true) => {}
            Ok(false) => {
                let problem = "let a known-bad event pass: it protects nothing";
                let text = format!("the guard {} {problem}", life.guard);
                faults.push(Fault::new("guard-dead", text));
            }
            // What hinders one hinders all: a full disk is one message, not thirty.
            Err(error) => {
                let text = format!(
                    "the guards could not be tried, from {} on: {}: {error}",
                    life.guard,
                    own.display()
                );
                faults.push(Fault::new("guards-untried", text));
                break;
            }
        }
    }
    let _left = std::fs::remove_dir_all(&own);
    if std::fs::remove_dir(directory).is_err() {
        forget(directory);
    }
    faults
}

/// Removes what killed processes left behind long ago.
fn forget(directory: &Path) {
    const LONG: Duration = Duration::from_mins(10);
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let begun = entry.metadata().and_then(|metadata| metadata.modified());
        let age = begun.ok().and_then(|begun| begun.elapsed().ok());
        if age.is_some_and(|age| age > LONG) {
            let _left = std::fs::remove_dir_all(entry.path());
        }
    }
}

impl Life {
    /// Whether the guard must block the event or warn about it, and not only act on it.
    pub fn is_finding(&self) -> bool {
        matches!(self.sign, Sign::Block | Sign::Warn)
    }

    /// Whether the guard reacts as it must.
    fn show(&self, root: &Path) -> io::Result<bool> {
        let now: Timestamp = NOW.parse().map_err(io::Error::other)?;
        for (path, text) in self.files {
            let path = root.join(path);
            if let Some(parent) = path.parent() {
                fs::create_directories(parent)?;
            }
            fs::replace(&path, text.as_bytes(), Durability::Lazy).map_err(io::Error::other)?;
        }
        let guard = Guard::named(self.guard).ok_or_else(|| io::Error::other("no such guard"))?;
        let layout = Layout::at(root).ok_or_else(|| io::Error::other("no project was made"))?;
        let event = protocol::parse(self.event, &Hints::default()).map_err(io::Error::other)?;
        // Nothing was changed in a project that was made just now.
        let sources =
            Sources::new(layout, Env::default(), None, now).asking_changes(|_, _| Ok(Vec::new()));
        Ok(self.sign.is_in(&guard.check(&Scene::new(&event, &sources))))
    }
}

impl Sign {
    fn is_in(self, opinion: &Opinion) -> bool {
        match self {
            Self::Block => matches!(opinion.verdict, Verdict::Block(_)),
            Self::Warn => matches!(opinion.verdict, Verdict::Warn(_)),
            Self::Acts => !opinion.edits.is_empty() || !opinion.guidance.is_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::GUARDS;

    #[test]
    fn every_guard_has_a_known_bad_event_and_is_alive() {
        let shown: Vec<_> = LIVES.iter().map(|life| life.guard).collect();
        // A guard without codes has nothing to say by design.
        for guard in GUARDS.iter().filter(|guard| !guard.codes.is_empty()) {
            assert!(shown.contains(&guard.name), "{} proves nothing", guard.name);
        }
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(prove(&dir.path().join("life")), []);
        assert!(!dir.path().join("life").exists());
    }

    #[test]
    fn e1_e2_a_guard_that_lets_its_event_pass_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let dead = Life {
            guard: "branch-guard",
            files: &[(STATE, "{}")],
            event: r#"{"tool_name":"Bash","tool_input":{"command":"git commit"}}"#,
            sign: Sign::Block,
        };
        assert!(!dead.show(dir.path()).unwrap());
        assert!(!Sign::Warn.is_in(&Opinion::allow()));
    }
}
