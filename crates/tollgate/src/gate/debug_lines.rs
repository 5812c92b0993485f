//! The lines of the debug log, in the original's words.

use super::changes::Pair;
use super::jobs::Which;
use super::result::GateResult;
use super::status::Status;
use super::summary::Counts;
use crate::git::Git;

/// What a run is about.
#[derive(Debug)]
pub(super) struct Start<'s> {
    pub(super) which: Which,
    pub(super) mode: &'s str,
    pub(super) changes: usize,
    pub(super) gates: usize,
}

/// `RUN_START`: of a whole run with what changed, which git is asked for.
pub(super) fn run_start(git: &Git, pair: &Pair<'_>, start: &Start<'_>) -> String {
    let Start {
        mode,
        changes,
        gates,
        ..
    } = start;
    let changes = match start.which {
        Which::All => statistics(git, pair),
        Which::Checks | Which::Reviews => None,
    }
    .unwrap_or_else(|| format!("changes={changes}"));
    let base = &pair.label;
    format!("RUN_START mode={mode} base_ref={base} {changes} gates={gates}")
}

fn statistics(git: &Git, pair: &Pair<'_>) -> Option<String> {
    let head = pair.head.name().ok()?;
    let asked = git.ask([
        "diff",
        "--no-color",
        "--no-ext-diff",
        "--no-renames",
        "--numstat",
        "--summary",
        "--end-of-options",
        &pair.base,
        head,
        "--",
    ]);
    let bytes = asked.bytes().ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let (mut changed, mut new, mut deleted) = (0, 0, 0);
    let (mut added, mut removed) = (0_u64, 0_u64);
    for line in text.lines() {
        if line.starts_with(" create ") {
            new += 1;
        } else if line.starts_with(" delete ") {
            deleted += 1;
        } else if let [plus, minus, _] = line.splitn(3, '\t').collect::<Vec<_>>()[..] {
            changed += 1;
            // A binary file has no lines.
            added += plus.parse().unwrap_or(0);
            removed += minus.parse().unwrap_or(0);
        }
    }
    let modified = changed - new - deleted;
    Some(format!(
        "files_changed={changed} files_new={new} files_modified={modified} files_deleted={deleted} lines_added={added} lines_removed={removed}"
    ))
}

/// `GATE_RESULT`, of a review with its open findings.
pub(super) fn gate_result(result: &GateResult) -> String {
    let violations = if result.slots.is_empty() {
        String::new()
    } else {
        format!(" violations={}", result.findings.open.len())
    };
    format!(
        "GATE_RESULT {} status={} duration={:.2}s{violations}",
        result.id,
        result.outcome.as_str(),
        result.took.as_secs_f64()
    )
}

/// `RUN_END`
pub(super) fn run_end(status: Status, counts: &Counts, iterations: u64) -> String {
    let status = if status.is_pass() { "pass" } else { "fail" };
    let Counts {
        fixed,
        skipped,
        failed,
    } = counts;
    format!(
        "RUN_END status={status} fixed={fixed} skipped={skipped} failed={failed} iterations={iterations}"
    )
}
