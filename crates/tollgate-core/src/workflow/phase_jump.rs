//! What a change of the state by another program must not do to a running workflow's position.
//!
//! V7 and V8 ([`super::regression`]) compare what both versions say, as the specification has
//! them. A write that takes a field away, or moves the phase and not the index, is not compared at
//! all: two such changes lead anywhere. So a change that is found in the file has to leave in
//! place what tells where the workflow is, and moves it by one phase at most.

use super::phases;
use super::regression::{BRANCH_FIELDS, ended, rank};
use tollgate_store::json::{Node, Object};

/// How `incoming` leaves the position of the workflow that runs in `disk`, if it does.
pub fn left(disk: &Object<'_>, incoming: &Object<'_>) -> Option<String> {
    // One workflow may be put away and the next one begun.
    if ended(disk, incoming) {
        return None;
    }
    let was = disk.object("active_workflow")?;
    let is = incoming.object("active_workflow")?;
    // Where index and phase contradict each other, a change that makes them agree repairs them.
    let repairs = || out_of_step(&was) && !out_of_step(&is);
    let moved = || place(&was, &is).or_else(|| index(&was, &is));
    moved()
        .filter(|_| !repairs())
        .or_else(|| {
            let (was, is) = (was.object("phase_status")?, is.object("phase_status"));
            let field = |phase: &str| format!("active_workflow.phase_status['{phase}']");
            statuses(was.members(), is.as_ref(), Some, field)
        })
        .or_else(|| {
            let listed = was.texts("phases");
            let (was, is) = (disk.object("phases")?, incoming.object("phases"));
            // Of earlier workflows there may be phases left.
            let ours = was.members().filter(|(phase, _)| {
                listed.is_empty() || listed.iter().any(|one| phases::same(one, phase))
            });
            let field = |phase: &str| format!("phases['{phase}'].status");
            statuses(ours, is.as_ref(), |entry| entry.get("status"), field)
        })
        .or_else(|| branch(&was, &is))
}

/// Whether the index points at another phase than the current one.
fn out_of_step(workflow: &Object<'_>) -> bool {
    let index = workflow.get("current_phase_index").and_then(Node::u64);
    let index = index.and_then(|index| usize::try_from(index).ok());
    let current = workflow.str("current_phase");
    index.zip(current).is_some_and(|(index, current)| {
        phases::out_of_step(&workflow.texts("phases"), index, &current).is_some()
    })
}

/// The phase that the guards go by.
fn place(was: &Object<'_>, is: &Object<'_>) -> Option<String> {
    let had = was.str("current_phase").filter(|phase| !phase.is_empty())?;
    let Some(has) = is.str("current_phase").filter(|phase| !phase.is_empty()) else {
        return Some(format!(
            "active_workflow.current_phase, which is '{had}', was removed"
        ));
    };
    let listed = is.texts("phases");
    if listed.is_empty() && !was.texts("phases").is_empty() {
        return Some("active_workflow.phases was removed".to_owned());
    }
    if phases::same(&had, &has) || listed.is_empty() {
        return None;
    }
    let at = |phase: &str| listed.iter().position(|one| phases::same(one, phase));
    let Some(to) = at(&has) else {
        return Some(format!(
            "active_workflow.current_phase is '{has}', which is not a phase of the workflow"
        ));
    };
    // A phase that is not in the list any more has no place to compare with.
    let from = at(&had)?;
    if to != from + 1 {
        return Some(format!(
            "active_workflow.current_phase went from '{had}' to '{has}': a workflow advances one \
             phase at a time"
        ));
    }
    let status = is.object("phase_status").and_then(|all| all.str(&had));
    let open = status.filter(|status| rank(status).is_some_and(|rank| rank < 2))?;
    Some(format!(
        "active_workflow.current_phase went from '{had}' to '{has}', but '{had}' is {open}: \
         complete it first"
    ))
}

fn index(was: &Object<'_>, is: &Object<'_>) -> Option<String> {
    let had = was.get("current_phase_index")?.u64()?;
    let Some(has) = is.get("current_phase_index").and_then(Node::f64) else {
        return Some(format!(
            "active_workflow.current_phase_index, which is {had}, was removed"
        ));
    };
    #[expect(clippy::cast_precision_loss, reason = "an index of a list is small")]
    let next = (had + 1) as f64;
    (has > next).then(|| {
        format!(
            "current_phase_index went from {had} to {has}: a workflow advances one phase at a time"
        )
    })
}

/// What was begun stays so, in a word that can be compared.
fn statuses<'k, 'a>(
    mut was: impl Iterator<Item = (&'k str, Node<'a>)>,
    is: Option<&Object<'a>>,
    status: impl Fn(Node<'a>) -> Option<Node<'a>>,
    field: impl Fn(&str) -> String,
) -> Option<String> {
    let word = |node: Node<'a>| status(node)?.str();
    was.find_map(|(phase, entry)| {
        let had = word(entry)?;
        let begun = rank(&had).filter(|rank| *rank > 0)?;
        let field = || field(phase);
        match is.and_then(|is| word(is.get(phase)?)) {
            None => Some(format!("{}, which is '{had}', was removed", field())),
            // "done" for "completed" would be the first half of the way to "pending".
            Some(has) if begun > 1 && rank(&has).is_none() => {
                let field = field();
                Some(format!(
                    "{field} went from '{had}' to '{has}', which is not a status"
                ))
            }
            Some(_) => None,
        }
    })
}

/// A branch that is worked on is merged or given up, not forgotten.
fn branch(was: &Object<'_>, is: &Object<'_>) -> Option<String> {
    let was = was.object("git_branch")?;
    let is = is.object("git_branch");
    BRANCH_FIELDS.iter().find_map(|field| {
        let had = was.str(field).filter(|had| !had.is_empty())?;
        let has = is.as_ref().and_then(|branch| branch.str(field));
        has.is_none()
            .then(|| format!("active_workflow.git_branch.{field}, which is '{had}', was removed"))
    })
}
