//! Fields of the state that several guards read, as `explain` shows them, and what they would have to say
//! for a finding to go away. `{}` is the phase that it is about.

/// The current phase, in the two fields that name it.
pub const PHASE: &str = "PHASE";
/// The record of the phase's test runs.
pub const TEST_RECORD: &str = "phases.{}.iteration_requirements.test_iteration";
/// The record of the phase's constitutional validation.
pub const VALIDATION_RECORD: &str = "phases.{}.constitutional_validation";

/// Tests that passed.
pub const TESTS: &[&str] = &[
    "phases.{}.iteration_requirements.test_iteration.completed = true",
    "phases.{}.iteration_requirements.test_iteration.status = \"success\"",
    "phases.{}.iteration_requirements.test_iteration.last_test_result = \"passed\"",
    "phases.{}.iteration_requirements.test_iteration.current_iteration = 1",
];

/// A validation that is done.
pub const VALIDATION: &[&str] = &[
    "phases.{}.constitutional_validation.completed = true",
    "phases.{}.constitutional_validation.status = \"compliant\"",
    "phases.{}.constitutional_validation.iterations_used = 1",
    "phases.{}.constitutional_validation.articles_checked = [\"I\"]",
];

/// Room for more runs.
pub(super) const MORE_RUNS: &[&str] = &[
    "phases.{}.iteration_requirements.test_iteration.current_iteration = 0",
    "phases.{}.iteration_requirements.test_iteration.max_iterations = 1000",
];

/// Acceptance tests are not asked for.
pub(super) const NO_ATDD: &[&str] = &[
    "active_workflow.options.atdd_mode = false",
    "active_workflow.atdd_mode = false",
];
