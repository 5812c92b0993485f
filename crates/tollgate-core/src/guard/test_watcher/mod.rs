//! test-watcher: follows the test runs of a phase until they pass, or until going on in the same
//! way is of no use.
//!
//! * [`runners`]: which commands are test runs. [`summary`]: what runners say at their end.
//! * [`judge`]: passed, failed, or unknown. [`fault`]: what went wrong, and whether again.
//! * Here: what a run means for the phase. It is written down as edits (one more iteration, one
//!   more entry), so that two runs that end together are both counted.

mod coverage;
mod fault;
mod judge;
mod jvm;
mod runners;
mod scripts;
mod summary;

use serde_json::{Value, json};

pub(super) use judge::{TestRun, test_run};
pub(super) use summary::Tally;

use super::fields::{MORE_RUNS, NO_ATDD, PHASE, TEST_RECORD};
use super::record::RequirementRecord;
use super::sample::REQUIREMENTS;
use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample};
use crate::text;
use crate::workflow::evidence::{MAX_TEST_RUNS, TESTS, TREE};
use crate::workflow::requirements::Requirements;
use crate::workflow::state::State;
use judge::{Doubt, Outcome};
use tollgate_store::edit::Edit;
use tollgate_store::json::Node;
use tollgate_store::redact::redact;

pub(super) const GUARD: Guard = Guard {
    name: "test-watcher",
    about: "counts test runs, records when they pass, and asks for a person after too many failures",
    is_general: false,
    on: &[
        (EventKind::PostTool, Class::Shell),
        (EventKind::PostToolFailure, Class::Shell),
    ],
    codes: &[
        Code::warns(
            "TW-001",
            "the same failure occurred too often: a person must decide",
            "stop and ask the person, who approves or changes the approach",
        )
        .passes_with(&[
            "phases.{}.iteration_requirements.test_iteration.identical_failure_count = 0",
            "phases.{}.iteration_requirements.test_iteration.history = []",
        ]),
        Code::warns(
            "TW-002",
            "the iterations are used up: a person must decide",
            "stop and ask the person, who approves or raises the limit",
        )
        .passes_with(MORE_RUNS),
        Code::warns(
            "TW-003",
            "the coverage is too low and no iterations are left",
            "stop and ask the person, who approves or lowers the threshold",
        )
        .passes_with(MORE_RUNS),
        Code::warns(
            "TW-004",
            "tests were skipped in ATDD mode",
            "make the skipped acceptance tests run",
        )
        .passes_with(NO_ATDD),
        Code::warns(
            "TW-005",
            "the record of test runs was not an object and was replaced by a new one (noted)",
            "nothing; a new record was started",
        ),
    ],
    reads: &[PHASE, TEST_RECORD],
    sample: Some(Sample {
        state: r#"{"active_workflow":{"current_phase":"06-implementation"}}"#,
        files: &[REQUIREMENTS],
        event: r#"{"tool_name":"Bash","tool_input":{"command":"cargo test"},"tool_result":"test result: FAILED. 1 passed; 2 failed; 0 ignored"}"#,
        ..Sample::RECORDED
    }),
    check,
};

const BREAKER: u64 = 3;

/// How many runs the loop has, in the record and in the requirements.
const MAX: &str = "max_iterations";

/// What the history calls a run's result, as the original does. Earlier versions wrote it in lower
/// case, as `last_test_result` has it.
const PASSED: &str = "PASSED";
const FAILED: &str = "FAILED";
const INCONCLUSIVE: &str = "INCONCLUSIVE";

/// How many runs the record keeps.
const KEPT: usize = 50;

/// What the phase allows.
struct Limits {
    iterations: u64,
    breaker: u64,
    coverage: Option<f64>,
}

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let command = context.call.shell_command()?;
    if !judge::is_test_run(context) || !context.state().is_some_and(State::enforces_iterations) {
        return None;
    }
    let phase = context.current_phase()?;
    let wanted = context.requirements().and_then(|all| all.enabled(TESTS))?;
    // A phase that is completed has passed its gate; what is run before the next one begins
    // belongs to neither.
    let state = context.state();
    let entry = state.and_then(|state| state.phase(&phase));
    if entry.is_some_and(|entry| entry.is("status", "completed")) {
        return None;
    }
    let run = test_run(context)?;
    Some(Watch::new(context, &phase, command, &wanted).follow(&run))
}

/// One run's effect.
struct Watch<'s, 'a> {
    context: &'s EventContext<'a>,
    phase: &'s str,
    command: String,
    limits: Limits,
    record: RequirementRecord<'a>,
    /// The number of this run.
    iteration: u64,
    guidance: Vec<String>,
    findings: Vec<Finding>,
    also: Vec<Edit>,
}

impl<'s, 'a> Watch<'s, 'a> {
    fn new(
        context: &'s EventContext<'a>,
        phase: &'s str,
        command: &str,
        wanted: &Requirements<'_>,
    ) -> Self {
        let record = RequirementRecord::open(context, phase, TESTS);
        let mut limits = Limits::of(context, wanted);
        // What the loop began with holds for all of it.
        let begun_with = Some(record.number(MAX)).filter(|most| *most > 0);
        limits.iterations = begun_with.unwrap_or(limits.iterations);
        Self {
            context,
            phase,
            command: text::cut(&redact(command), 500).to_owned(),
            limits,
            iteration: record.number("current_iteration").saturating_add(1),
            record,
            guidance: Vec::new(),
            findings: Vec::new(),
            also: Vec::new(),
        }
    }

    fn follow(mut self, run: &TestRun) -> Decision {
        let now = RequirementRecord::moment(self.context);
        let (result, error) = match run.outcome {
            Outcome::Passed => (PASSED, None),
            Outcome::Failed => (FAILED, Some(fault::line(&run.text))),
            Outcome::Inconclusive(doubt) => (INCONCLUSIVE, Some(doubt.words().to_owned())),
        };
        let error = error.map(|line| redact(&line).into_owned());
        let record = &mut self.record;
        if record.is_new() {
            record.set("required", true);
            record.set("completed", false);
            record.set("started_at", now.clone());
            record.add("failures_count", 0);
            record.add("identical_failure_count", 0);
        }
        let previous = last_failure(record);
        record.add("current_iteration", 1);
        record.set(MAX, self.limits.iterations);
        record.set("last_test_result", result.to_ascii_lowercase());
        record.set("last_test_command", self.command.clone());
        record.set("last_test_at", now.clone());
        let entry = json!({
            "iteration": self.iteration,
            "timestamp": now,
            "command": self.command,
            "result": result,
            "failures": run.tally.map(|tally| tally.failed),
            "error": error,
        });
        record.push("history", entry, KEPT);
        match run.outcome {
            Outcome::Passed => self.passed(run),
            Outcome::Failed => self.failed(error.as_deref().unwrap_or_default(), previous),
            Outcome::Inconclusive(doubt) => self.unclear(doubt),
        }
        self.close()
    }

    fn passed(&mut self, run: &TestRun) {
        self.atdd(run);
        let iteration = self.iteration;
        let wanted = self.limits.coverage;
        let found = wanted.and_then(|_| coverage::read(&run.text));
        if let (Some(wanted), Some(found)) = (wanted, found) {
            self.record.set("coverage", number(found));
            if found < wanted {
                self.uncovered(found, wanted);
                return;
            }
        }
        self.complete("success");
        match self.context.git.work_tree() {
            Some(tree) => self.record.set(TREE, tree),
            None => self.record.remove(TREE),
        }
        self.record.set("identical_failure_count", 0);
        self.record.remove("escalation_reason");
        self.record.remove("escalated_at");
        // An approval was given for that escalation, not for the next one.
        self.record.remove("escalation_approved");
        let counted = run
            .tally
            .map(|tally| format!("\n{} passed, {} skipped", tally.passed, tally.skipped));
        self.guidance.push(format!(
            "✅ TESTS PASSED (iteration {iteration}){}\nThe test requirement of phase {} is met.",
            counted.unwrap_or_default(),
            self.phase
        ));
        // Most runs measure nothing, and that delays nothing; but it is not passed over either.
        if let (Some(wanted), None) = (wanted, found) {
            self.record.remove("coverage");
            self.guidance.push(format!(
                "⚠️ COVERAGE NOT VERIFIED: {wanted}% are required, and this run shows none. Run \
                 the tests with coverage before the gate."
            ));
        }
    }

    fn uncovered(&mut self, found: f64, wanted: f64) {
        if self.iteration < self.limits.iterations {
            self.reopen();
            self.guidance.push(format!(
                "⚠️ TESTS PASSED but COVERAGE INSUFFICIENT ({found}% of {wanted}% required)\n\
                 Add tests for what is not covered and run them again (iteration {}/{}).",
                self.iteration, self.limits.iterations
            ));
            return;
        }
        self.escalate("coverage_below_threshold");
        let first = format!("🚨 COVERAGE BELOW THRESHOLD ({found}% of {wanted}% required)");
        self.raise("TW-003", &first, "No iterations are left to raise it.");
    }

    fn failed(&mut self, error: &str, previous: Option<String>) {
        let again =
            previous.is_some_and(|line| fault::normalised(&line) == fault::normalised(error));
        self.record.add("failures_count", 1);
        let identical = if again {
            self.record.add("identical_failure_count", 1);
            let before = self.record.number("identical_failure_count").max(1);
            before.saturating_add(1)
        } else {
            self.record.set("identical_failure_count", 1);
            1
        };
        let (iteration, most) = (self.iteration, self.limits.iterations);
        if identical >= self.limits.breaker {
            self.escalate("circuit_breaker");
            let what = format!("The same failure came {identical} times in a row: {error}");
            self.raise("TW-001", "🚨 CIRCUIT BREAKER TRIGGERED", &what);
        } else if iteration >= most {
            self.escalate("max_iterations");
            let first = format!("🚨 MAX ITERATIONS EXCEEDED ({most})");
            self.raise("TW-002", &first, &format!("The last failure: {error}"));
        } else {
            self.reopen();
            self.guidance.push(format!(
                "❌ TESTS FAILED (iteration {iteration}/{most})\n{error}\n\
                 Find the cause, change something, and run the tests again. Do not advance or \
                 delegate meanwhile. {} more identical failures stop the iteration.",
                self.limits.breaker.saturating_sub(identical)
            ));
        }
    }

    fn unclear(&mut self, doubt: Doubt) {
        let (iteration, most) = (self.iteration, self.limits.iterations);
        let why = doubt.words();
        // Failures were counted: whatever the exit status says, an earlier pass no longer holds.
        if doubt == Doubt::Contradiction {
            self.reopen();
        }
        let is_done = self.record.get("completed").is_some_and(Node::is_true);
        if iteration >= most && !is_done {
            self.escalate("max_iterations");
            let first = format!("🚨 MAX ITERATIONS EXCEEDED ({most})");
            let what = format!("The last run proved nothing: {why}.");
            return self.raise("TW-002", &first, &what);
        }
        self.guidance.push(format!(
            "⚠️ TEST RESULT INCONCLUSIVE (iteration {iteration}/{most})\nThe run proved nothing: \
             {why}. {}",
            doubt.remedy()
        ));
    }

    /// In ATDD mode a skipped test is a promise not kept yet.
    fn atdd(&mut self, run: &TestRun) {
        let skipped = run.tally.map_or(0, |tally| tally.skipped);
        if skipped == 0 || !super::atdd_completeness_validator::is_atdd(self.context) {
            return;
        }
        let state = self.context.state();
        let filed = state.map_or(self.phase, |state| state.phase_key(self.phase));
        let found = json!({
            "status": "incomplete",
            "skipped_tests": skipped,
            "checked_at": RequirementRecord::moment(self.context),
        });
        self.also
            .push(Edit::set(&["phases", filed, "atdd_validation"], found));
        let text = format!(
            "⚠️ ATDD: {skipped} tests are skipped. In ATDD mode every acceptance test must run \
             before the phase's gate."
        );
        let reason = format!("{skipped} skipped tests in ATDD mode");
        self.findings
            .push(Finding::new("TW-004", text, reason).phase(self.phase));
    }

    fn complete(&mut self, status: &str) {
        let now = RequirementRecord::moment(self.context);
        self.record.set("completed", true);
        self.record.set("status", status);
        self.record.set("completed_at", now);
    }

    fn escalate(&mut self, reason: &str) {
        self.complete("escalated");
        self.record.remove(TREE);
        self.record.set("escalation_reason", reason);
        let now = RequirementRecord::moment(self.context);
        self.record.set("escalated_at", now);
    }

    /// A failure after a pass: the pass no longer holds. What was escalated stays with the
    /// person.
    fn reopen(&mut self) {
        let status = self.record.get("status").and_then(Node::str);
        if status.is_some_and(|status| status == "escalated") {
            return;
        }
        self.record.set("completed", false);
        self.record.remove("status");
        self.record.remove("completed_at");
        self.record.remove(TREE);
    }

    fn raise(&mut self, code: &'static str, first: &str, what: &str) {
        self.guidance.push(format!(
            "{first}\n{what}\nStop here and ask the person how to go on: the gate stays closed \
             until they approve."
        ));
        let text = format!("[test-watcher] {}", first.trim_start_matches(['🚨', ' ']));
        self.findings
            .push(Finding::new(code, text, what).phase(self.phase));
    }

    fn close(self) -> Decision {
        let (edits, note) = self.record.close(GUARD.name, "TW-005");
        let mut decision = Decision::warn(self.findings)
            .editing(still_here(self.context))
            .editing(edits)
            .editing(self.also);
        for line in self.guidance {
            decision = decision.telling(line);
        }
        match note {
            Some(note) => decision.noting(note.phase(self.phase)),
            None => decision,
        }
    }
}

impl Limits {
    /// What the person set, else what the phase wants, else the usual.
    fn of(context: &EventContext<'_>, wanted: &Requirements<'_>) -> Self {
        let configured = context.state().and_then(|s| s.get("iteration_config"));
        let configured = configured
            .and_then(Node::object)
            .filter(|config| config.get("configured_at").is_some_and(Node::truthy));
        let limit = |personal: &str, key: &str, usual: u64| {
            let person = configured.as_ref().and_then(|c| c.get(personal)?.u64());
            person.or_else(|| wanted.u64(key)).unwrap_or(usual).max(1)
        };
        Self {
            iterations: limit("testing_max", MAX, MAX_TEST_RUNS),
            breaker: limit(
                "circuit_breaker_threshold",
                "circuit_breaker_threshold",
                BREAKER,
            ),
            coverage: Self::coverage(context, wanted),
        }
    }

    /// One figure, or one per size of the work (`light`, `standard`, `epic`).
    fn coverage(context: &EventContext<'_>, wanted: &Requirements<'_>) -> Option<f64> {
        let criteria = wanted.section("success_criteria");
        let figure = criteria.get("min_coverage_percent")?;
        if let Some(figure) = figure.f64() {
            return Some(figure);
        }
        let workflow = context.workflow();
        let size = workflow.and_then(|all| all.get("sizing")?.get("effective_intensity")?.str());
        let size = size.unwrap_or("standard".into());
        figure.get(&size)?.f64()
    }
}

/// A run that is recorded late must not reopen a phase that is over.
fn still_here(context: &EventContext<'_>) -> Option<Edit> {
    let phase = context.workflow()?.str("current_phase")?;
    Some(Edit::require(
        &["active_workflow", "current_phase"],
        phase.as_ref(),
    ))
}

/// What went wrong in the last run that failed, if no run passed since.
fn last_failure(record: &RequirementRecord<'_>) -> Option<String> {
    let history = record.get("history").and_then(Node::array)?;
    let is = |entry: &&Node<'_>, word: &str| {
        let result = entry.get("result").and_then(Node::str);
        result.is_some_and(|result| result.eq_ignore_ascii_case(word))
    };
    let mut runs = history.iter().rev();
    let last = runs.find(|entry| !is(entry, INCONCLUSIVE))?;
    is(&last, FAILED).then(|| last.get("error")?.str().map(Into::into))?
}

fn number(figure: f64) -> Value {
    serde_json::Number::from_f64(figure).map_or(Value::Null, Value::Number)
}
