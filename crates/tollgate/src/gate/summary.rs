//! What a run says at its end.

use super::evidence::Assessment;
use super::record::{Failure, GateRecord};
use super::result::GateResult;
use super::status::Status;
use crate::review::outcome::Outcome;

/// What is failing now: what failed in this run, and what failed before and was not run again, or not
/// to an answer.
pub(super) fn failing(
    assessment: &Assessment<'_>,
    record: &GateRecord,
    results: &[GateResult],
) -> Vec<Failure> {
    let answered = |id: &str| {
        let says =
            |result: &GateResult| result.outcome == Outcome::Pass || result.outcome.is_failure();
        results.iter().any(|result| result.id == id && says(result))
    };
    let still = assessment.failures(record).into_iter();
    let still = still.filter(|failure| !answered(&failure.id));
    let now = results.iter().filter(|result| result.outcome.is_failure());
    let now = now.map(|result| Failure {
        id: result.id.clone(),
        message: result.message.clone(),
        files: result.files(),
    });
    still.chain(now).collect()
}

/// How much was fixed, skipped and failed: findings, and gates without any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    pub(super) fixed: usize,
    pub(super) skipped: usize,
    pub(super) failed: usize,
}

pub(super) fn counts(results: &[GateResult], fixed_gates: &[String]) -> Counts {
    let failed = |result: &GateResult| {
        if result.outcome.is_failure() {
            result.findings.open.len().max(1)
        } else {
            0
        }
    };
    let sum = |count: &dyn Fn(&GateResult) -> usize| results.iter().map(count).sum::<usize>();
    Counts {
        fixed: fixed_gates.len() + sum(&|result| result.findings.fixed.len()),
        skipped: sum(&|result| result.findings.skipped.len()),
        failed: sum(&failed),
    }
}

/// The lines of the summary.
pub(super) fn lines(
    results: &[GateResult],
    fixed_gates: &[String],
    iteration: u64,
    status: Status,
) -> Vec<String> {
    let rule = "━".repeat(46);
    let mut lines = vec![rule.clone(), "RESULTS SUMMARY".to_owned(), rule.clone()];
    let mut told: Vec<String> = fixed_gates
        .iter()
        .map(|id| format!("  ✓ Fixed: {id}"))
        .collect();
    let Counts {
        fixed,
        skipped,
        failed,
    } = counts(results, fixed_gates);
    for result in results {
        for finding in &result.findings.fixed {
            told.push(format!("  ✓ Fixed: {} - {finding}", result.id));
        }
        for (finding, reason) in &result.findings.skipped {
            told.push(format!("  ⊘ Skipped: {} - {finding}", result.id));
            told.push(format!("    Reason: {reason}"));
        }
        for finding in &result.findings.advisory {
            told.push(format!("  ⚠ Advisory: {} - {finding}", result.id));
        }
    }
    if !told.is_empty() {
        lines.push(format!("Iteration {iteration}:"));
        lines.append(&mut told);
        lines.push(rule.clone());
    }
    let after = if iteration > 1 {
        format!(" after {iteration} iterations")
    } else {
        String::new()
    };
    lines.push(format!(
        "Total: {fixed} fixed, {skipped} skipped, {failed} failed{after}"
    ));
    for (outcome, what) in [
        (Outcome::Inconclusive, "inconclusive"),
        (Outcome::NotRun, "not run"),
    ] {
        let count = results
            .iter()
            .filter(|result| result.outcome == outcome)
            .count();
        if count > 0 {
            lines.push(format!("Not verified: {count} {what}"));
        }
    }
    lines.push(format!("Status: {}", status.label()));
    lines.push(rule);
    lines
}

/// What the gates come to, in the last run that is allowed or in one before it.
pub(super) fn judge(results: &[GateResult], is_last: bool) -> Status {
    let any = |test: fn(&GateResult) -> bool| results.iter().any(test);
    if any(|result| result.outcome.is_failure()) {
        if is_last {
            Status::RetryLimitExceeded
        } else {
            Status::Failed
        }
    } else if any(|result| result.outcome != Outcome::Pass) {
        Status::Error
    } else if any(|result| result.findings.are_warnings()) {
        Status::PassedWithWarnings
    } else {
        Status::Passed
    }
}

/// Gates that failed last time and pass now.
pub(super) fn fixed(before: &Assessment<'_>, results: &[GateResult]) -> Vec<String> {
    let failed = |result: &&GateResult| {
        let mut gates = before.gates.iter();
        gates.any(|one| one.verification.is_failing() && one.gate.job.id == result.id)
    };
    results
        .iter()
        .filter(|result| result.outcome == Outcome::Pass && result.slots.is_empty())
        .filter(failed)
        .map(|result| result.id.clone())
        .collect()
}

/// One line about a run.
pub(super) fn verdict(
    status: Status,
    failures: &[Failure],
    results: Option<&[GateResult]>,
) -> String {
    let ids: Vec<_> = failures.iter().map(|failure| failure.id.as_str()).collect();
    match status {
        Status::Failed if !ids.is_empty() => {
            format!("✗ {} of the gates failed: {}.", ids.len(), ids.join(", "))
        }
        Status::RetryLimitExceeded => format!(
            "⚠ Retry limit exceeded. NOT verified: {} still fails. A person must decide; `tollgate clean` starts over.",
            ids.join(", ")
        ),
        Status::Error => {
            let undecided: Vec<_> = results
                .unwrap_or_default()
                .iter()
                .filter(|result| result.outcome != Outcome::Pass)
                .map(|result| format!("{}: {}", result.id, result.message))
                .collect();
            format!("⚠ NOT verified: {}", undecided.join("; "))
        }
        Status::Passed
        | Status::PassedWithWarnings
        | Status::NoApplicableGates
        | Status::NoChanges
        | Status::Failed
        | Status::LockConflict
        | Status::NoConfig
        | Status::StopHookActive
        | Status::IntervalNotElapsed
        | Status::InvalidInput
        | Status::StopHookDisabled => status.message().to_owned(),
    }
}
