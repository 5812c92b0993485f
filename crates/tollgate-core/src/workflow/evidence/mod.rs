//! The exit criteria of a phase, and whether the state meets them.
//!
//! The guard that blocks an agent and `tollgate phase complete` both ask here. Missing evidence never satisfies a requirement that is enabled. A requirement
//! that is not enabled asks for nothing, with one exception: tests that are known to fail keep
//! the gate closed unless the configuration switches them off explicitly.

pub use fresh::{Since, TREE};

use super::manifest::Manifest;
use super::requirements::Requirements;
use super::{agents, phases};
use crate::project::stays_inside;
use crate::workflow::state::State;
use tollgate_store::document::Document;
use tollgate_store::json::{Malformed, Node, Object};
use tollgate_store::timestamp;

mod fresh;

/// The requirements of a project that brings none.
const BUILT_IN: &str = include_str!("../built_in/iteration-requirements.json");
/// The artifacts of a project that does not list them.
const BUILT_IN_PATHS: &str = include_str!("../built_in/artifact-paths.json");

/// The requirements that a phase can have, by their names in the configuration.
pub const TESTS: &str = "test_iteration";
/// See [`TESTS`].
pub const CONSTITUTION: &str = "constitutional_validation";
/// See [`TESTS`].
pub const ELICITATION: &str = "interactive_elicitation";
/// See [`TESTS`].
pub const DELEGATION: &str = "agent_delegation_validation";
/// See [`TESTS`].
pub const ARTIFACTS: &str = "artifact_validation";

/// How often tests may be run by default.
pub const MAX_TEST_RUNS: u64 = 10;

/// All requirements of a project: the texts of the two files that hold them.
#[derive(Clone, Debug)]
pub struct ProjectRequirements {
    asked: String,
    paths: String,
}

/// The requirements of one phase in one kind of workflow.
#[derive(Clone, Debug, Default)]
pub struct PhaseRequirements<'a> {
    asked: Requirements<'a>,
    /// Files the phase makes; `{artifact_folder}` stands for the workflow's folder.
    pub artifacts: Vec<String>,
}

/// What the requirements of a phase are held against.
pub struct Evidence<'e> {
    /// The state.
    pub state: &'e State<'e>,
    /// Who owns which phase.
    pub manifest: &'e Manifest<'e>,
    /// Whether an artifact is there, its path as in [`PhaseRequirements::artifacts`] with the
    /// folder put in.
    pub exists: &'e dyn Fn(&str) -> bool,
    /// What changed since the tests passed.
    pub since: Since<'e>,
}

/// A requirement that is not met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// Its name in the configuration.
    pub requirement: &'static str,
    /// What is missing.
    pub what: String,
}

/// A narrow way that a phase is on: nothing but its end lets the work advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corridor {
    /// Tests fail.
    Tests,
    /// The work is being held against the constitution.
    Constitution,
}

impl ProjectRequirements {
    /// Reads the two files; for one that is not there the built-in one counts.
    pub fn parse(requirements: Option<&str>, paths: Option<&str>) -> Result<Self, Malformed> {
        // Written anew, the texts are in the form that the lazy views are sure to read.
        let text = |text: &str| Document::parse(text.as_bytes()).map(|read| read.to_text());
        Ok(Self {
            asked: text(requirements.unwrap_or(BUILT_IN))?,
            paths: text(paths.unwrap_or(BUILT_IN_PATHS))?,
        })
    }

    /// The built-in requirements.
    pub fn built_in() -> Self {
        Self {
            asked: BUILT_IN.to_owned(),
            paths: BUILT_IN_PATHS.to_owned(),
        }
    }

    /// What `phase` must show in a workflow of this type.
    pub fn of(&self, workflow: &str, phase: &str) -> PhaseRequirements<'_> {
        let object = |text| Object::parse(text).unwrap_or_default();
        let asked = Requirements::of(&object(&self.asked), Some(workflow), phase);
        PhaseRequirements::new(asked.unwrap_or_default(), Some(&object(&self.paths)), phase)
    }
}

impl<'a> PhaseRequirements<'a> {
    /// What was asked of `phase`, with the artifacts that `artifact-paths.json` gives it, else
    /// those of the requirement.
    pub fn new(asked: Requirements<'a>, paths: Option<&Object<'_>>, phase: &str) -> Self {
        let filed = paths.and_then(|paths| paths.object("phases"));
        let listed = filed.and_then(|filed| {
            let entry = phases::spellings(phase).find_map(|key| filed.object(key))?;
            entry.get("paths")?.texts()
        });
        let artifacts = listed.unwrap_or_else(|| asked.section(ARTIFACTS).texts("paths"));
        Self { asked, artifacts }
    }

    /// How many minutes the phase may take, where it is said.
    pub fn timeout_minutes(&self) -> Option<u64> {
        self.asked.timeout_minutes()
    }

    /// The constitution's articles the phase is held against.
    pub fn articles(&self) -> Vec<String> {
        let part = self.asked.section(CONSTITUTION);
        part.texts("articles")
    }

    /// The requirements that are enabled, one line each, for the agent that must meet them.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(part) = self.asked.enabled(ELICITATION) {
            let least = least_interactions(&part);
            lines.push(format!("interactive_elicitation: at least {least} menu interactions, then a final selection"));
        }
        if let Some(part) = self.asked.enabled(TESTS) {
            let most = part.u64("max_iterations").unwrap_or(MAX_TEST_RUNS);
            lines.push(format!(
                "test_iteration: all tests pass, within {most} iterations"
            ));
        }
        if self.asked.enabled(CONSTITUTION).is_some() {
            let articles = self.articles().join(", ");
            lines.push(format!("constitutional_validation: Articles {articles}"));
        }
        if self.asked.enabled(DELEGATION).is_some() {
            lines.push("agent_delegation_validation: the phase's agent does the work".to_owned());
        }
        if self.asked.enabled(ARTIFACTS).is_some() {
            let paths = self.artifacts.join(", ");
            lines.push(format!("artifact_validation: {paths}"));
        }
        if let Some(minutes) = self.timeout_minutes() {
            lines.push(format!("timeout: {minutes} minutes"));
        }
        lines
    }

    /// Whether anything is asked for that must be seen: a timeout is not.
    pub fn asks(&self) -> bool {
        let named = [ELICITATION, TESTS, CONSTITUTION, DELEGATION, ARTIFACTS];
        named.iter().any(|name| self.asked.enabled(name).is_some())
    }

    /// What keeps the phase's gate closed.
    pub fn unmet(&self, phase: &str, evidence: &Evidence<'_>) -> Vec<Unmet> {
        let state = evidence.state;
        if !state.enforces_iterations() {
            return Vec::new();
        }
        let entry = state.phase(phase).unwrap_or_default();
        let is_asked = |name| self.asked.enabled(name).is_some();
        let mut unmet = Vec::new();
        let mut add = |requirement, what: Option<String>| {
            unmet.extend(what.map(|what| Unmet { requirement, what }));
        };
        let run = test_iteration(&entry);
        add(TESTS, tests(&self.asked, run, evidence.since));
        if is_asked(CONSTITUTION) {
            let checked = entry.object(CONSTITUTION);
            add(CONSTITUTION, constitution(checked));
        }
        if let Some(part) = self.asked.enabled(ELICITATION) {
            let iterations = entry.object("iteration_requirements").unwrap_or_default();
            let talk = iterations.object(ELICITATION);
            add(ELICITATION, elicitation(&part, talk));
        }
        if is_asked(DELEGATION) {
            let idle = delegation(state, evidence.manifest, phase);
            add(DELEGATION, idle);
        }
        if is_asked(ARTIFACTS) {
            let lacking = self.missing(evidence).join("; ");
            let what = format!("Required artifacts missing: {lacking}. Write them first.");
            add(ARTIFACTS, (!lacking.is_empty()).then_some(what));
        }
        unmet
    }

    /// The artifacts with the workflow's folder put in. Of those in one directory any one is
    /// enough: they are names that the same document has had.
    pub fn documents(&self, folder: Option<&str>) -> Vec<Vec<String>> {
        let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
        for path in &self.artifacts {
            let Some(named) = in_folder(path, folder) else {
                continue;
            };
            let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
            match groups.iter_mut().find(|(known, _)| *known == directory) {
                Some((_, group)) => group.push(named),
                None => groups.push((directory, vec![named])),
            }
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }

    /// The artifacts that are missing.
    pub fn missing(&self, evidence: &Evidence<'_>) -> Vec<String> {
        let lacking = self.missing_documents(evidence);
        lacking.iter().filter_map(|names| any_of(names)).collect()
    }

    /// The names of each artifact that is missing.
    pub fn missing_documents(&self, evidence: &Evidence<'_>) -> Vec<Vec<String>> {
        let workflow = evidence.state.workflow();
        let folder = workflow.and_then(|workflow| workflow.str("artifact_folder"));
        // What would lead out of the project is no artifact of it.
        let exists = |path: &String| stays_inside(path) && (evidence.exists)(path);
        let mut documents = self.documents(folder.as_deref());
        documents.retain(|names| !names.iter().any(exists));
        documents
    }

    /// The corridor that the phase is in, if its entry in the state is this.
    pub fn corridor(&self, entry: &Object<'_>) -> Option<Corridor> {
        corridor(&self.asked, entry)
    }
}

/// The corridor that a phase is in: what was asked of it, and its entry in the state.
pub fn corridor(asked: &Requirements<'_>, entry: &Object<'_>) -> Option<Corridor> {
    let tests = test_iteration(entry);
    let stuck = |tests: &Object<'_>| is_failing(tests) && !is_escalated(tests);
    if tests.as_ref().is_some_and(stuck) && counts(asked, true) {
        return Some(Corridor::Tests);
    }
    let completed = tests.as_ref().is_some_and(is_completed);
    let satisfied = asked.enabled(TESTS).is_none()
        || tests
            .as_ref()
            .is_some_and(|tests| completed && (!is_escalated(tests) || is_approved(tests)));
    asked.enabled(CONSTITUTION)?;
    let open = match entry.object(CONSTITUTION) {
        Some(checked) => !is_completed(&checked) && !is_escalated(&checked),
        None => completed,
    };
    (satisfied && open).then_some(Corridor::Constitution)
}

/// What is said of a gate that stays closed.
pub fn closed(phase: &str, unmet: &[Unmet]) -> String {
    let lines: Vec<String> = unmet.iter().map(ToString::to_string).collect();
    format!(
        "GATE BLOCKED: Iteration requirements not satisfied for phase '{phase}'.\n\n\
         Blocking requirements: {}\n{}\n\n\
         Complete the required iterations before advancing.",
        names(unmet),
        lines.join("\n")
    )
}

/// The same in Tollgate's own words, for workflows of its own.
pub fn closed_plainly(phase: &str, unmet: &[Unmet]) -> String {
    let lines: Vec<String> = unmet.iter().map(Unmet::plain).collect();
    let lines = lines.join("\n");
    format!("Phase '{phase}' cannot end: its exit criteria are not met.\n\n{lines}")
}

/// The names of requirements, in one line.
pub fn names(unmet: &[Unmet]) -> String {
    let names: Vec<&str> = unmet.iter().map(|one| one.requirement).collect();
    names.join(", ")
}

impl Unmet {
    /// What is missing, in Tollgate's own words.
    pub fn plain(&self) -> String {
        let (name, what) = match self.requirement {
            TESTS => ("tests", self.what.as_str()),
            CONSTITUTION => (
                "principles",
                "the check of the work against the project's principles is not recorded as done",
            ),
            ELICITATION => ("questions", self.what.as_str()),
            DELEGATION => ("agent", self.what.as_str()),
            _ => ("files", self.what.as_str()),
        };
        let mut known = PLAIN.iter();
        let plain = known.find_map(|(from, to)| Some(format!("{to}{}", what.strip_prefix(from)?)));
        format!("- {name}: {}", plain.as_deref().unwrap_or(what))
    }
}

/// How requirements begin in the original's words, and in Tollgate's own.
#[rustfmt::skip]
const PLAIN: &[(&str, &str)] = &[
    ("Test iteration not started.", "no test run is recorded."),
    ("Test iteration incomplete.", "the tests have not passed yet."),
    ("Test iteration not completed.", "the tests have not passed yet."),
    ("Test iteration escalated but not approved. Human approval required.", "the tests failed too often, and a person must decide."),
    ("Test iteration is marked completed but", "the tests are marked as passed, but"),
    ("Test iteration is out of date:", "the last pass of the tests is out of date:"),
    ("Interactive elicitation incomplete. Present the menu to the person and finish with a selection.", "the questions to the person are not finished. Show them the menu; their selection ends it."),
    ("Interactive elicitation ended with an invalid selection", "the questions to the person ended with a selection that is not valid:"),
    ("Interactive elicitation had", "the questions to the person had"),
];

impl std::fmt::Display for Unmet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "- {}: {}", self.requirement, self.what)
    }
}

impl std::fmt::Debug for Evidence<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Evidence").finish_non_exhaustive()
    }
}

/// The names of one document, of which any is enough: `a (or b, c)`.
pub fn any_of(names: &[String]) -> Option<String> {
    let (first, others) = names.split_first()?;
    Some(if others.is_empty() {
        first.clone()
    } else {
        format!("{first} (or {})", others.join(", "))
    })
}

/// A path with the workflow's folder put in; nothing if it wants one and there is none.
pub fn in_folder(path: &str, folder: Option<&str>) -> Option<String> {
    const FOLDER: &str = "{artifact_folder}";
    match folder {
        Some(folder) => Some(path.replace(FOLDER, folder)),
        None => (!path.contains(FOLDER)).then(|| path.to_owned()),
    }
}

/// The record of test runs in a phase's entry.
pub fn test_iteration<'a>(entry: &Object<'a>) -> Option<Object<'a>> {
    entry.object("iteration_requirements")?.object(TESTS)
}

/// The command of the last test run, if it is one line.
pub fn test_command(entry: &Object<'_>) -> Option<String> {
    let command = test_iteration(entry)?.str("last_test_command")?;
    let is_line = !command.trim().is_empty() && !command.contains(['\n', '`']);
    is_line.then(|| command.into_owned())
}

/// How many test runs there were, and how many there may be.
pub fn test_runs(asked: &Requirements<'_>, tests: &Object<'_>) -> (u64, u64) {
    let most = tests.get("max_iterations").and_then(Node::u64);
    let most = most.or_else(|| asked.section(TESTS).u64("max_iterations"));
    (
        count(tests, "current_iteration"),
        most.unwrap_or(MAX_TEST_RUNS),
    )
}

fn least_interactions(asked: &Requirements<'_>) -> u64 {
    asked.u64("min_menu_interactions").unwrap_or(1).max(1)
}

/// Only `true` is evidence; a text that says so is not.
pub(crate) fn is_completed(record: &Object<'_>) -> bool {
    record.get("completed").is_some_and(Node::is_true)
}

pub(crate) fn is_approved(record: &Object<'_>) -> bool {
    record.get("escalation_approved").is_some_and(Node::is_true)
}

pub(crate) fn is_escalated(record: &Object<'_>) -> bool {
    record.is("status", "escalated")
}

/// Whether the tests of a phase matter to its gate.
fn counts(asked: &Requirements<'_>, failing: bool) -> bool {
    asked.enabled(TESTS).is_some() || failing && !asked.is_off(TESTS)
}

fn is_failing(tests: &Object<'_>) -> bool {
    !is_completed(tests) && tests.is("last_test_result", "failed")
}

fn count(object: &Object<'_>, key: &str) -> u64 {
    object.get(key).and_then(Node::u64).unwrap_or(0)
}

fn tests(asked: &Requirements<'_>, tests: Option<Object<'_>>, since: Since<'_>) -> Option<String> {
    let failing = tests.as_ref().is_some_and(is_failing);
    if !counts(asked, failing) {
        return None;
    }
    let Some(tests) = tests else {
        return Some("Test iteration not started. Run the tests of this phase.".into());
    };
    let (used, most) = test_runs(asked, &tests);
    if failing {
        return Some(format!(
            "Test iteration incomplete. {used}/{most} iterations used. Last result: FAILED. \
             Fix the code and run the tests again."
        ));
    }
    if !is_completed(&tests) {
        return Some("Test iteration not completed. Run the tests until they pass.".into());
    }
    if is_escalated(&tests) {
        return (!is_approved(&tests))
            .then(|| "Test iteration escalated but not approved. Human approval required.".into());
    }
    // Completed by word alone is no evidence.
    if used == 0 {
        return Some(
            "Test iteration is marked completed but no test run is recorded. Run the tests.".into(),
        );
    }
    fresh::stale(&tests, since)
}

fn constitution(checked: Option<Object<'_>>) -> Option<String> {
    let Some(checked) = checked else {
        return Some(
            "Constitutional validation not started. Validate the artifacts against the \
             constitution."
                .into(),
        );
    };
    if !is_completed(&checked) {
        let used = count(&checked, "iterations_used");
        return Some(format!(
            "Constitutional validation incomplete. {used} iterations used. Finish the validation."
        ));
    }
    let status = checked.str("status").unwrap_or_default();
    if status == "escalated" {
        return (!is_approved(&checked)).then(|| {
            "Constitutional validation escalated but not approved. Human decision required.".into()
        });
    }
    if status != "compliant" {
        let status = if status.is_empty() {
            "not set"
        } else {
            &status
        };
        return Some(format!(
            "Constitutional validation status: {status}. Must be 'compliant'."
        ));
    }
    (count(&checked, "iterations_used") == 0).then(|| {
        "Constitutional validation is marked completed but no iteration is recorded. Validate \
         the artifacts against the constitution."
            .into()
    })
}

fn elicitation(required: &Requirements<'_>, asked: Option<Object<'_>>) -> Option<String> {
    let Some(asked) = asked.filter(is_completed) else {
        return Some(
            "Interactive elicitation incomplete. Present the menu to the person and finish with \
             a selection."
                .into(),
        );
    };
    let wanted = required.texts("required_final_selection");
    let chosen = asked.str("final_selection").unwrap_or_default();
    let chosen = chosen.to_lowercase();
    if !wanted.is_empty() && !wanted.iter().any(|word| word.to_lowercase() == chosen) {
        return Some(format!(
            "Interactive elicitation ended with an invalid selection '{chosen}'. Must be one of: \
             {}.",
            wanted.join(", ")
        ));
    }
    let least = least_interactions(required);
    let met = count(&asked, "menu_interactions");
    (met < least).then(|| {
        format!("Interactive elicitation had {met} menu interactions. At least {least} required.")
    })
}

/// The agent of the phase has worked: its use is on record, or it is asked for right now. That
/// the phase is in progress proves nothing, because it always is.
fn delegation(state: &State<'_>, manifest: &Manifest<'_>, key: &str) -> Option<String> {
    let mut owners = manifest.phase_agents();
    let (expected, _) = owners.find(|(_, phase)| phases::same(phase, key))?;
    let workflow = state.workflow();
    let begun = workflow.and_then(|workflow| timestamp::parse(&workflow.str("started_at")?));
    let log = state.get("skill_usage_log").and_then(Node::array);
    let log = log.unwrap_or_default();
    let used = log.iter().filter_map(|entry| entry.object()).any(|entry| {
        let agent = entry.str("agent");
        let agent = agent.is_some_and(|agent| agents::normalize(&agent) == expected);
        let here = entry.str("agent_phase");
        let here = here.is_some_and(|phase| phases::same(&phase, key));
        // The log outlives workflows; the work for an earlier one is not the work for this one.
        let at = entry.str("timestamp").and_then(|at| timestamp::parse(&at));
        let earlier = at.zip(begun).is_some_and(|(at, begun)| at < begun);
        agent && here && !earlier
    });
    let asked = state
        .get("pending_delegation")
        .and_then(|marker| marker.get("required_agent")?.str())
        .is_some_and(|agent| agents::normalize(&agent).contains(expected));
    (!used && !asked).then(|| {
        format!("Agent '{expected}' has not worked in this phase. Delegate the phase to it.")
    })
}

#[cfg(test)]
mod tests;
