//! Prove life: each guard is shown an event that it must not let pass.
//!
//! In the original two central guards were dead for weeks, and nobody saw it, because a guard
//! that fails lets everything through. So at the start of a session, and whenever somebody asks,
//! every guard decides a known-bad event in a small project made for it. The events go the whole
//! way, from bytes to verdict, through real files.

use std::io;
use std::path::Path;

use jiff::Timestamp;

use crate::env::Env;
use crate::fs::{self, Durability};
use crate::guard::Guard;
use crate::project::Layout;
use crate::protocol::{self, Hints};
use crate::scene::{Scene, Sources};
use crate::verdict::{Fault, Opinion, Verdict};

/// A known-bad event for one guard.
#[derive(Debug)]
pub struct Life {
    /// The guard's name.
    pub guard: &'static str,
    /// The project it is shown in.
    files: &'static [(&'static str, &'static str)],
    /// The event, in the specification's bare shape.
    event: &'static str,
    /// The event's name, where the shape does not tell it.
    name: Option<&'static str>,
    sign: Sign,
}

/// What shows that a guard is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Block,
    Warn,
}

const STATE: &str = ".isdlc/state.json";
const MANIFEST: (&str, &str) = (
    ".isdlc/config/skills-manifest.json",
    r#"{"ownership":{"software-developer":{"phase":"06-implementation"},
        "discover-orchestrator":{"phase":"setup"}}}"#,
);
const DELEGATION: &str =
    r#"{"tool_name":"Task","tool_input":{"subagent_type":"software-developer","prompt":"x"}}"#;

/// One row per guard; a test keeps it complete.
static LIVES: &[Life] = &[
    Life {
        guard: "phase-sequence-guard",
        files: &[
            MANIFEST,
            (
                STATE,
                r#"{"active_workflow":{"current_phase":"01-requirements"}}"#,
            ),
        ],
        event: DELEGATION,
        name: None,
        sign: Sign::Block,
    },
    Life {
        guard: "phase-loop-controller",
        files: &[
            MANIFEST,
            (
                STATE,
                r#"{"active_workflow":{"current_phase":"06-implementation"}}"#,
            ),
        ],
        event: DELEGATION,
        name: None,
        sign: Sign::Block,
    },
    Life {
        guard: "plan-surfacer",
        files: &[(
            STATE,
            r#"{"active_workflow":{"current_phase":"06-implementation"}}"#,
        )],
        event: DELEGATION,
        name: None,
        sign: Sign::Block,
    },
    Life {
        guard: "branch-guard",
        files: &[
            (
                STATE,
                r#"{"active_workflow":{"git_branch":{"name":"x","status":"active"}}}"#,
            ),
            (".git/HEAD", "ref: refs/heads/main\n"),
        ],
        event: r#"{"tool_name":"Bash","tool_input":{"command":"env git -C . commit -m x"}}"#,
        name: None,
        sign: Sign::Block,
    },
    Life {
        guard: "state-write-validator",
        files: &[(STATE, r#"{"state_version":2}"#)],
        event: r#"{"tool_name":"Write","tool_input":{"file_path":".isdlc/state.json","content":"{\"state_version\":1}"}}"#,
        name: None,
        sign: Sign::Block,
    },
    Life {
        guard: "walkthrough-tracker",
        files: &[(STATE, r#"{"discovery_context":{"completed_at":"x"}}"#)],
        event: r#"{"tool_name":"Task","tool_input":{"subagent_type":"discover-orchestrator"},"tool_result":"done"}"#,
        name: None,
        sign: Sign::Warn,
    },
    Life {
        guard: "discover-menu-guard",
        files: &[(STATE, "{}")],
        event: r#"{"tool_name":"Task","tool_input":{"subagent_type":"discover-orchestrator"},"tool_result":"Please choose what to do now: [1] Scoped analysis [2] New project"}"#,
        name: None,
        sign: Sign::Warn,
    },
];

/// Shows every guard its known-bad event, in projects made inside `directory`. What is returned
/// names each guard that let it pass.
pub fn prove(directory: &Path, now: Timestamp) -> Vec<Fault> {
    let faults = LIVES.iter().filter_map(|life| {
        let problem = match life.show(&directory.join(life.guard), now) {
            Ok(true) => return None,
            Ok(false) => "let a known-bad event pass: it protects nothing".to_owned(),
            Err(error) => format!("could not be tried: {error}"),
        };
        let text = format!("the guard {} {problem}", life.guard);
        Some(Fault::new("guard-dead", text))
    });
    let faults = faults.collect();
    // What is left behind is made anew the next time.
    let _left = std::fs::remove_dir_all(directory);
    faults
}

impl Life {
    /// Whether the guard reacts as it must.
    fn show(&self, root: &Path, now: Timestamp) -> io::Result<bool> {
        for (path, text) in self.files {
            let path = root.join(path);
            if let Some(parent) = path.parent() {
                fs::create_directories(parent)?;
            }
            fs::replace(&path, text.as_bytes(), Durability::Lazy).map_err(io::Error::other)?;
        }
        let guard = Guard::named(self.guard).ok_or_else(|| io::Error::other("no such guard"))?;
        let layout = Layout::at(root).ok_or_else(|| io::Error::other("no project was made"))?;
        let hints = Hints {
            event: self.name,
            ..Hints::default()
        };
        let event = protocol::parse(self.event, &hints).map_err(io::Error::other)?;
        let sources = Sources::new(layout, Env::default(), None, now);
        Ok(self.sign.is_in(&guard.check(&Scene::new(&event, &sources))))
    }
}

impl Sign {
    fn is_in(self, opinion: &Opinion) -> bool {
        match self {
            Self::Block => matches!(opinion.verdict, Verdict::Block(_)),
            Self::Warn => matches!(opinion.verdict, Verdict::Warn(_)),
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
        for guard in GUARDS {
            assert!(shown.contains(&guard.name), "{} proves nothing", guard.name);
        }
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(prove(&dir.path().join("life"), Timestamp::UNIX_EPOCH), []);
        assert!(!dir.path().join("life").exists());
    }

    #[test]
    fn a_guard_that_lets_its_event_pass_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let dead = Life {
            guard: "branch-guard",
            files: &[(STATE, "{}")],
            event: r#"{"tool_name":"Bash","tool_input":{"command":"git commit"}}"#,
            name: None,
            sign: Sign::Block,
        };
        assert!(!dead.show(dir.path(), Timestamp::UNIX_EPOCH).unwrap());
        assert!(!Sign::Warn.is_in(&Opinion::allow()));
    }
}
