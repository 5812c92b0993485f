//! The self-test: each guard is shown its sample event and must react.
//!
//! In the original two central guards were dead for weeks, unnoticed, because a guard
//! that fails lets everything through. So at the start of a session, and on request,
//! every guard decides its sample in a small project made for it. The events go the whole way, from
//! bytes to verdict, through real files.

use std::io;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;

use crate::context::{EventContext, Inputs, Sources};
use crate::decision::{Decision, Fault};
use crate::env::Env;
use crate::guard::{GUARDS, Guard, Must, SAMPLE_NOW, Sample};
use crate::project::Layout;
use crate::protocol::{self, Hints};
use tollgate_store::fs::{self, Durability};

/// The guards that have a sample, with it.
pub fn samples() -> impl Iterator<Item = (&'static Guard, &'static Sample)> {
    let with_sample = |guard: &'static Guard| Some((guard, guard.sample.as_ref()?));
    GUARDS.iter().filter_map(with_sample)
}

/// Shows every guard its sample, in projects made inside `directory`. What is returned names each
/// guard that let it pass.
///
/// Sessions begin side by side, so each process has projects of its own there: in shared ones, one
/// would take away what another is reading, and healthy guards would be called dead.
pub fn run(directory: &Path) -> Vec<Fault> {
    let own = directory.join(std::process::id().to_string());
    let mut faults = Vec::new();
    for (guard, sample) in samples() {
        match reacts(guard, sample, &own.join(guard.name)) {
            Ok(true) => {}
            Ok(false) => {
                let problem = "allowed an event that it must block: it protects nothing";
                let text = format!("the guard {} {problem}", guard.name);
                faults.push(Fault::new("guard-dead", text));
            }
            // What hinders one hinders all: a full disk is one message, not thirty.
            Err(error) => {
                let text = format!(
                    "the self-test of the guards stopped at {}: {}: {error}",
                    guard.name,
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

/// Whether a guard reacts to a sample as it must, in a project at `root`.
fn reacts(guard: &Guard, sample: &Sample, root: &Path) -> io::Result<bool> {
    let now: Timestamp = SAMPLE_NOW.parse().map_err(io::Error::other)?;
    for (path, text) in sample.project() {
        let path = root.join(path);
        if let Some(parent) = path.parent() {
            fs::create_directories(parent)?;
        }
        fs::replace(&path, text.as_bytes(), Durability::Lazy)?;
    }
    let layout = Layout::at(root).ok_or_else(|| io::Error::other("no project was made"))?;
    let event = protocol::parse(sample.event, &Hints::default()).map_err(io::Error::other)?;
    // Nothing was changed in a project that was made just now.
    let inputs = Inputs::new(layout, Env::default(), None, now).asking(Sources {
        changes: Some(|_, _| Ok(Vec::new())),
        ..Sources::default()
    });
    Ok(is_shown_by(
        sample.must,
        &guard.check(&EventContext::new(&event, &inputs)),
    ))
}

fn is_shown_by(must: Must, decision: &Decision) -> bool {
    match must {
        Must::Block => decision.block.is_some(),
        Must::Warn => !decision.warnings.is_empty(),
        Must::Act => !decision.edits.is_empty() || !decision.guidance.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_guard_has_a_sample_and_reacts_to_it() {
        // A guard without codes has nothing to say by design.
        for guard in GUARDS.iter().filter(|guard| !guard.codes.is_empty()) {
            assert!(guard.sample.is_some(), "{} has no sample", guard.name);
        }
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(run(&dir.path().join("selftest")), []);
        assert!(!dir.path().join("selftest").exists());
    }

    /// E1, E2: a guard that cannot run was swallowed and the tool allowed; each one is shown its
    /// sample event.
    #[test]
    fn e1_e2_a_guard_that_lets_its_event_pass_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let sample = Sample {
            must: Must::Block,
            state: "{}",
            files: &[],
            event: r#"{"tool_name":"Bash","tool_input":{"command":"git commit"}}"#,
        };
        let guard = Guard::named("branch-guard").unwrap();
        assert!(!reacts(guard, &sample, dir.path()).unwrap());
        assert!(!is_shown_by(Must::Warn, &Decision::allow()));
    }
}
