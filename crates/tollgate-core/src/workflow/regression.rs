//! V7 and V8: what a write of the state may not take back.
//!
//! The same rules judge an agent's Write before it lands and a change of the file that is found
//! afterwards, by whatever route it came.

use std::collections::BTreeMap;
use std::path::Path;

use super::definitions::Home;
use super::phases;
use super::transition::MAX_REDOS;
use crate::decision::Finding;
use tollgate_store::json::{Kind, Node, Object};

/// How far along a status is; others are not compared.
pub(super) fn rank(status: &str) -> Option<u8> {
    match status {
        "pending" => Some(0),
        "in_progress" => Some(1),
        "completed" => Some(2),
        _ => None,
    }
}

/// The fields of `git_branch` that the guards go by.
pub(super) const BRANCH_FIELDS: [&str; 3] = ["name", "status", "created_from"];

/// The first thing that `incoming` takes back from `disk`, the content of `file`.
pub fn find(disk: &Object<'_>, incoming: &Object<'_>, file: &Path, home: Home) -> Option<Finding> {
    version(disk, incoming, file, home).or_else(|| workflow(disk, incoming, home))
}

/// V7: the write must build on the version that is on disk.
fn version(disk: &Object<'_>, incoming: &Object<'_>, file: &Path, home: Home) -> Option<Finding> {
    let file = file.display();
    let have = disk.get("state_version").filter(|node| !node.is_null())?;
    let Some(given) = incoming.get("state_version").filter(|node| !node.is_null()) else {
        let have = have.text();
        let text = format!(
            "Unversioned write rejected: disk state has state_version {have} but incoming write \
             has no state_version. Include state_version in your write. Re-read {file} before \
             writing."
        );
        let own = format!(
            "What you write to {file} has no state_version, and the file has {have}. Read the file \
             again, and keep its state_version."
        );
        let reason = format!("V7: incoming has no state_version, disk has {have}");
        return Some(Finding::new("SWV-007", home.words(text, own), reason));
    };
    // A disk version that is no number, not even in quotes, compares with nothing; the next write
    // of ours repairs it.
    let quoted = |node: Node<'_>| node.str()?.trim().parse::<f64>().ok();
    let least = have.f64().or_else(|| quoted(have))?;
    // A version in quotes would pass every comparison in the original. Where the disk has one,
    // a writer that writes back what it read has it too.
    let same_kind = have.kind() == Kind::String;
    let version = given.f64().or_else(|| quoted(given).filter(|_| same_kind));
    if version.is_some_and(|version| version >= least) {
        return None;
    }
    let (have, given) = (have.text(), given.text());
    let text = format!(
        "Version mismatch: expected state_version >= {have}, got {given}. Re-read {file} before \
         writing."
    );
    let own = format!(
        "What you write to {file} has state_version {given}, and the file has {have}: it changed \
         since you read it. Read it again before you write."
    );
    let reason = format!("V7: state_version {given} < disk {have}");
    Some(Finding::new("SWV-007", home.words(text, own), reason))
}

/// V8: the workflow's phases go forwards only.
fn workflow(disk: &Object<'_>, incoming: &Object<'_>, home: Home) -> Option<Finding> {
    let was = disk.object("active_workflow")?;
    let Some(is) = incoming.object("active_workflow") else {
        return removed(disk, incoming, home);
    };
    let redo = Redo::granted(&was, &is);
    let back = |phase: &str, from: &str, to: &str| {
        format!(
            "Phase '{phase}' was '{from}', and this write makes it '{to}': a phase does not go back. \
             Read the file again, and change phases with `tollgate phase`."
        )
    };
    index(&was, &is, home)
        .or_else(|| {
            let (was, is) = (was.object("phase_status")?, is.object("phase_status")?);
            statuses(&was, &is, &redo, Node::str, |phase, from, to| {
                let text = format!(
                    "Phase status regression: phase '{phase}' changed from '{from}' to '{to}'. \
                     Subagents must not regress phase_status. Re-read state.json."
                );
                home.words(text, back(phase, from, to))
            })
        })
        .or_else(|| {
            let (was, is) = (disk.object("phases")?, incoming.object("phases")?);
            let status = |node: Node<'_>| node.get("status")?.str().map(|s| s.into_owned().into());
            statuses(&was, &is, &redo, status, |phase, from, to| {
                let text = format!(
                    "Phase status regression: phases['{phase}'].status changed from '{from}' to \
                     '{to}'. Subagents must not regress phase status. Re-read state.json."
                );
                home.words(text, back(phase, from, to))
            })
        })
        .or_else(|| {
            // The next workflow may have its own branch.
            let was = was
                .object("git_branch")
                .filter(|_| !ended(disk, incoming))?;
            branch(&was, &is.object("git_branch")?)
        })
}

/// What `git_branch` says decides where commits go: only the workflow's own commands change it.
fn branch(was: &Object<'_>, is: &Object<'_>) -> Option<Finding> {
    BRANCH_FIELDS.iter().find_map(|field| {
        let (from, to) = (was.str(field)?, is.str(field)?);
        if from.is_empty() || from == to {
            return None;
        }
        let text = format!(
            "Branch change: git_branch.{field} changed from '{from}' to '{to}'. Only the commands of \
             the workflow change its branch: `tollgate workflow finalize` when it is merged, \
             `tollgate workflow cancel` when it is given up. Re-read state.json."
        );
        let reason = format!("V8: git_branch.{field} {from} -> {to}");
        Some(Finding::new("SWV-008", text, reason))
    })
}

/// Whether a workflow was put away since `disk`: the history has an entry more.
pub(super) fn ended(disk: &Object<'_>, incoming: &Object<'_>) -> bool {
    let entries = |state: &Object<'_>| {
        let history = state.get("workflow_history").and_then(Node::array);
        history.map_or(0, |entries| entries.len())
    };
    entries(incoming) > entries(disk)
}

/// A running workflow ends with an entry in `workflow_history`, or it was thrown away.
fn removed(disk: &Object<'_>, incoming: &Object<'_>, home: Home) -> Option<Finding> {
    if ended(disk, incoming) {
        return None;
    }
    let text = "Workflow removed: the write drops active_workflow without an entry in \
                workflow_history. Finish or cancel the workflow instead. Re-read state.json.";
    let own = "This write removes the running workflow (active_workflow). `tollgate workflow \
               finalize` ends a workflow whose phases are all completed; a person cancels one \
               earlier.";
    Some(Finding::new(
        "SWV-008",
        home.words(text.to_owned(), own.to_owned()),
        "V8: active_workflow removed without a workflow_history entry",
    ))
}

fn index(was: &Object<'_>, is: &Object<'_>, home: Home) -> Option<Finding> {
    let have = was.get("current_phase_index")?;
    let given = is
        .get("current_phase_index")
        .filter(|node| !node.is_null())?;
    let (least, number) = (have.f64()?, given.f64());
    let (have, given) = (have.text(), given.text());
    let problem = match number {
        Some(number) if number >= least => return None,
        Some(_) => format!("({given}) < disk ({have})"),
        None => format!("({given}) is not a number; disk has ({have})"),
    };
    let text = format!(
        "Phase index regression: incoming current_phase_index {problem}. Subagents must not \
         regress phase orchestration fields. Re-read state.json."
    );
    let own = format!(
        "current_phase_index was {have}, and this write makes it {given}: a workflow does not go \
         back. Read the file again, and change phases with `tollgate phase`."
    );
    let reason = format!("V8: phase_index {given} < disk {have}");
    Some(Finding::new("SWV-008", home.words(text, own), reason))
}

fn statuses<'a>(
    was: &Object<'a>,
    is: &Object<'a>,
    redo: &Redo,
    status: impl Fn(Node<'a>) -> Option<std::borrow::Cow<'a, str>>,
    message: impl Fn(&str, &str, &str) -> String,
) -> Option<Finding> {
    // By name, because a file full of phases must not take minutes. Of a phase
    // that is there twice the last counts.
    let known: BTreeMap<&str, Node<'a>> = was.members().collect();
    is.members().find_map(|(phase, given)| {
        let (from, to) = (status(*known.get(phase)?)?, status(given)?);
        let back = rank(&to)? < rank(&from)?;
        if !back || redo.covers(phase, &from, &to) {
            return None;
        }
        let reason = format!("V8: phase_status '{phase}' {from} -> {to}");
        Some(Finding::new("SWV-008", message(phase, &from, &to), reason).phase(phase))
    })
}

/// A redo that a supervised review granted. The file on disk must say so: an incoming marker
/// alone is what a forger would write.
struct Redo {
    /// The reviewed phase, where the marker names it.
    phase: Option<String>,
    granted: bool,
}

impl Redo {
    fn granted(was: &Object<'_>, is: &Object<'_>) -> Self {
        let Some(marker) = was.object("supervised_review") else {
            let (phase, granted) = (None, false);
            return Self { phase, granted };
        };
        let status = marker.str("status");
        let open = matches!(status.as_deref(), Some("gate_presented" | "redo_pending"));
        let count = |marker: &Object<'_>| match marker.get("redo_count") {
            Some(node) if node.kind() == Kind::Number => node.u64(),
            _ => None,
        };
        let before = count(&marker).unwrap_or(0);
        let after = is.object("supervised_review").as_ref().and_then(count);
        let next =
            after.is_some_and(|after| before.checked_add(1) == Some(after) && after <= MAX_REDOS);
        let phase = marker.str("phase").map(std::borrow::Cow::into_owned);
        Self {
            phase,
            granted: open || next,
        }
    }

    fn covers(&self, phase: &str, from: &str, to: &str) -> bool {
        let reviewed = self.phase.as_deref();
        self.granted
            && (from, to) == ("completed", "in_progress")
            && reviewed.is_none_or(|reviewed| phases::equal(reviewed, phase))
    }
}
