//! What a phase must show before its gate opens: `iteration-requirements.json` and
//! `artifact-paths.json`, read as they are, and the state held against them.
//!
//! Missing evidence never satisfies a requirement that is enabled. A requirement that nobody
//! enabled asks for nothing, with one exception: tests that are known to fail keep the gate
//! closed whatever the configuration says.

use serde_json::{Map, Value};

use super::phases;
use crate::state::document::{Document, Flaw, whole};

/// The requirements of a project that brings none.
const BUILT_IN: &str = include_str!("built_in/iteration-requirements.json");
/// The artifacts of a project that does not list them.
const BUILT_IN_PATHS: &str = include_str!("built_in/artifact-paths.json");

/// All requirements of a project.
#[derive(Clone, Debug)]
pub struct Requirements {
    phases: Map<String, Value>,
    overrides: Map<String, Value>,
    paths: Map<String, Value>,
}

/// The requirements of one phase in one kind of workflow.
#[derive(Clone, Debug, Default)]
pub struct PhaseRequirements {
    fields: Value,
    /// Files the phase makes; `{artifact_folder}` stands for the workflow's folder.
    pub artifacts: Vec<String>,
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

impl Requirements {
    /// Reads the two files; for one that is not there the built-in one counts.
    pub fn parse(requirements: Option<&str>, paths: Option<&str>) -> Result<Self, Flaw> {
        let document = Document::parse(requirements.unwrap_or(BUILT_IN).as_bytes())?;
        let files = Document::parse(paths.unwrap_or(BUILT_IN_PATHS).as_bytes())?;
        let object =
            |document: &Document, key: &str| document.object(&[key]).cloned().unwrap_or_default();
        Ok(Self {
            phases: object(&document, "phase_requirements"),
            overrides: object(&document, "workflow_overrides"),
            paths: object(&files, "phases"),
        })
    }

    /// The built-in requirements.
    pub fn built_in() -> Self {
        // A test reads the built-in texts, so they can be read.
        Self::parse(None, None).unwrap_or(Self {
            phases: Map::new(),
            overrides: Map::new(),
            paths: Map::new(),
        })
    }

    /// What `phase` must show in a workflow of this type.
    pub fn of(&self, workflow: &str, phase: &str) -> PhaseRequirements {
        let find = |map: &Map<String, Value>| {
            phases::spellings(phase)
                .find_map(|key| map.get(key))
                .cloned()
        };
        let mut fields = find(&self.phases).unwrap_or(Value::Null);
        let over = self.overrides.get(workflow).and_then(Value::as_object);
        if let Some(over) = over.and_then(find) {
            merge(&mut fields, over);
        }
        let listed = find(&self.paths);
        let paths = listed
            .as_ref()
            .and_then(|entry| entry.get("paths"))
            .or_else(|| fields.get("artifact_validation")?.get("paths"));
        let artifacts = paths.and_then(Value::as_array).into_iter().flatten();
        let artifacts = artifacts.filter_map(|path| path.as_str().map(str::to_owned));
        PhaseRequirements {
            artifacts: artifacts.collect(),
            fields,
        }
    }
}

/// Deep, with arrays replaced: what the override says wins.
fn merge(base: &mut Value, over: Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                merge(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over,
    }
}

impl PhaseRequirements {
    fn part(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }

    /// Whether a requirement is enabled.
    pub fn is_enabled(&self, name: &str) -> bool {
        self.part(name).and_then(|part| part.get("enabled")) == Some(&Value::Bool(true))
    }

    /// How many minutes the phase may take, where it is said.
    pub fn timeout_minutes(&self) -> Option<u64> {
        let elicitation = self.part("interactive_elicitation");
        let minutes = elicitation.and_then(|part| part.get("timeout_minutes"));
        minutes
            .or_else(|| self.part("timeout_minutes"))
            .and_then(whole)
    }

    /// The constitution's articles the phase is held against.
    pub fn articles(&self) -> Vec<&str> {
        let part = self.part("constitutional_validation");
        let listed = part.and_then(|part| part.get("articles")?.as_array());
        listed
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    /// The requirements that are enabled, one line each, for the agent that must meet them.
    pub fn lines(&self) -> Vec<String> {
        let number = |part: &str, key: &str| self.part(part).and_then(|p| whole(p.get(key)?));
        let mut lines = Vec::new();
        if self.is_enabled("interactive_elicitation") {
            let least = number("interactive_elicitation", "min_menu_interactions").unwrap_or(1);
            lines.push(format!("interactive_elicitation: at least {least} menu interactions, then a final selection"));
        }
        if self.is_enabled("test_iteration") {
            let most = number("test_iteration", "max_iterations").unwrap_or(10);
            lines.push(format!(
                "test_iteration: all tests pass, within {most} iterations"
            ));
        }
        if self.is_enabled("constitutional_validation") {
            lines.push(format!(
                "constitutional_validation: Articles {}",
                self.articles().join(", ")
            ));
        }
        if self.is_enabled("artifact_validation") {
            lines.push(format!(
                "artifact_validation: {}",
                self.artifacts.join(", ")
            ));
        }
        if let Some(minutes) = self.timeout_minutes() {
            lines.push(format!("timeout: {minutes} minutes"));
        }
        lines
    }

    /// What keeps the phase's gate closed. `exists` says whether an artifact is there, its path
    /// as in [`Self::artifacts`] with the folder put in.
    pub fn unmet(
        &self,
        document: &Document,
        phase: &str,
        exists: &dyn Fn(&str) -> bool,
    ) -> Vec<Unmet> {
        if document.bool(&["iteration_enforcement", "enabled"]) == Some(false) {
            return Vec::new();
        }
        let entry = phase_entry(document, phase);
        let mut unmet = Vec::new();
        let mut note = |requirement: &'static str, what: Option<String>| {
            unmet.extend(what.map(|what| Unmet { requirement, what }));
        };
        let tests =
            entry.and_then(|entry| entry.get("iteration_requirements")?.get("test_iteration"));
        note("test_iteration", self.tests(tests));
        if self.is_enabled("constitutional_validation") {
            let record = entry.and_then(|entry| entry.get("constitutional_validation"));
            note("constitutional_validation", constitution(record));
        }
        if self.is_enabled("interactive_elicitation") {
            let record = entry.and_then(|entry| {
                entry
                    .get("iteration_requirements")?
                    .get("interactive_elicitation")
            });
            note("interactive_elicitation", self.elicitation(record));
        }
        if self.is_enabled("artifact_validation") {
            for missing in self.missing_artifacts(document, exists) {
                note(
                    "artifact_validation",
                    Some(format!("Required artifact missing: {missing}")),
                );
            }
        }
        unmet
    }

    fn tests(&self, record: Option<&Value>) -> Option<String> {
        let failed = || record.and_then(|r| r.get("last_test_result")?.as_str()) == Some("failed");
        if !self.is_enabled("test_iteration") && !failed() {
            return None;
        }
        let Some(record) = record else {
            return Some("Test iteration not started.".to_owned());
        };
        match Progress::of(record) {
            Progress::Approved => None,
            Progress::Escalated => Some(
                "Test iteration escalated but not approved. Human approval required.".to_owned(),
            ),
            Progress::Done => None,
            Progress::Open if failed() => {
                let count = |key: &str| record.get(key).and_then(whole);
                let used = count("current_iteration").unwrap_or(0);
                let most = count("max_iterations").unwrap_or(10);
                Some(format!(
                    "Test iteration incomplete. {used}/{most} iterations used. Last result: FAILED."
                ))
            }
            Progress::Open => Some("Test iteration not completed.".to_owned()),
        }
    }

    fn elicitation(&self, record: Option<&Value>) -> Option<String> {
        let record = record.filter(|record| is_true(record, "completed"));
        let Some(record) = record else {
            return Some("Interactive elicitation incomplete.".to_owned());
        };
        let part = self.part("interactive_elicitation")?;
        let least = part
            .get("min_menu_interactions")
            .and_then(whole)
            .unwrap_or(1);
        let shown = record.get("menu_interactions").and_then(whole).unwrap_or(0);
        if shown < least {
            return Some(format!(
                "Interactive elicitation incomplete: {shown} of {least} menu interactions."
            ));
        }
        let wanted = part
            .get("required_final_selection")
            .and_then(Value::as_array)?;
        let chosen = record
            .get("final_selection")
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_lowercase();
        let fine = wanted
            .iter()
            .filter_map(Value::as_str)
            .any(|one| one.eq_ignore_ascii_case(&chosen));
        (!fine).then(|| format!("Final selection '{chosen}' is not one of the required ones."))
    }

    /// The groups of files, one per directory, of which none is there.
    pub fn missing_artifacts(
        &self,
        document: &Document,
        exists: &dyn Fn(&str) -> bool,
    ) -> Vec<String> {
        let folder = document.str(&["active_workflow", "artifact_folder"]);
        let mut groups: Vec<(String, Vec<String>)> = Vec::new();
        for path in &self.artifacts {
            let Some(path) = in_folder(path, folder) else {
                continue;
            };
            let directory = path
                .rsplit_once('/')
                .map_or("", |(directory, _)| directory)
                .to_owned();
            match groups.iter_mut().find(|(known, _)| *known == directory) {
                Some((_, paths)) => paths.push(path),
                None => groups.push((directory, vec![path])),
            }
        }
        let missing = groups
            .into_iter()
            .filter(|(_, paths)| !paths.iter().any(|path| exists(path)));
        missing.map(|(_, paths)| paths.join(" or ")).collect()
    }

    /// The corridor that the phase is in.
    pub fn corridor(&self, document: &Document, phase: &str) -> Option<Corridor> {
        let entry = phase_entry(document, phase)?;
        let tests = entry
            .get("iteration_requirements")
            .and_then(|r| r.get("test_iteration"));
        let tests_open = tests.is_some_and(|record| Progress::of(record) == Progress::Open);
        let failed = tests.and_then(|r| r.get("last_test_result")?.as_str()) == Some("failed");
        if tests_open && failed {
            return Some(Corridor::Tests);
        }
        let satisfied = !self.is_enabled("test_iteration")
            || tests
                .is_some_and(|r| matches!(Progress::of(r), Progress::Done | Progress::Approved));
        if !satisfied || !self.is_enabled("constitutional_validation") {
            return None;
        }
        let open = match entry.get("constitutional_validation") {
            Some(record) => Progress::of(record) == Progress::Open,
            None => tests.is_some_and(|record| is_true(record, "completed")),
        };
        open.then_some(Corridor::Constitution)
    }
}

/// A path with the workflow's folder put in; nothing if it wants one and there is none.
pub fn in_folder(path: &str, folder: Option<&str>) -> Option<String> {
    const FOLDER: &str = "{artifact_folder}";
    match folder {
        Some(folder) => Some(path.replace(FOLDER, folder)),
        None => (!path.contains(FOLDER)).then(|| path.to_owned()),
    }
}

/// The entry of a phase in a document, by any of its names.
fn phase_entry<'a>(document: &'a Document, phase: &str) -> Option<&'a Value> {
    phases::spellings(phase).find_map(|key| document.get(&["phases", key]))
}

/// How far a recorded iteration is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Open,
    Done,
    Escalated,
    Approved,
}

impl Progress {
    fn of(record: &Value) -> Self {
        let escalated = record.get("status").and_then(Value::as_str) == Some("escalated");
        match (escalated, is_true(record, "completed")) {
            (true, _) if is_true(record, "escalation_approved") => Self::Approved,
            (true, _) => Self::Escalated,
            (false, true) => Self::Done,
            (false, false) => Self::Open,
        }
    }
}

fn constitution(record: Option<&Value>) -> Option<String> {
    let Some(record) = record else {
        return Some("Constitutional validation not started.".to_owned());
    };
    match Progress::of(record) {
        Progress::Approved => None,
        Progress::Escalated => Some(
            "Constitutional validation escalated but not approved. Human decision required."
                .to_owned(),
        ),
        Progress::Open => Some("Constitutional validation incomplete.".to_owned()),
        Progress::Done if record.get("iterations_used").and_then(whole).unwrap_or(0) < 1 => Some(
            "Constitutional validation claims to be completed without an iteration.".to_owned(),
        ),
        Progress::Done => {
            let status = record
                .get("status")
                .and_then(Value::as_str)
                .unwrap_or("unknown");
            (status != "compliant").then(|| {
                format!("Constitutional validation status: {status}. Must be 'compliant'.")
            })
        }
    }
}

fn is_true(record: &Value, key: &str) -> bool {
    record.get(key) == Some(&Value::Bool(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const CONFIG: &str = r#"{"phase_requirements":{"06-implementation":{"timeout_minutes":90,
        "test_iteration":{"enabled":true,"max_iterations":10},
        "constitutional_validation":{"enabled":true,"articles":["I","II"]},
        "interactive_elicitation":{"enabled":true,"min_menu_interactions":3,"required_final_selection":["save"]},
        "artifact_validation":{"enabled":true,"paths":["docs/x/{artifact_folder}/a.md","docs/x/{artifact_folder}/b.md"]}},
        "12-test-deploy":{"timeout_minutes":7}},
        "workflow_overrides":{"fix":{"06-implementation":{"interactive_elicitation":{"enabled":false},
        "constitutional_validation":{"articles":["IX"]}}}}}"#;

    fn unmet(entry: &Value, workflow: &str) -> Vec<&'static str> {
        let requirements = Requirements::parse(Some(CONFIG), Some("{}")).unwrap();
        let state = json!({"active_workflow":{"artifact_folder":"REQ-1"},"phases":{"06-implementation":entry}});
        let document = Document::parse(state.to_string().as_bytes()).unwrap();
        let phase = requirements.of(workflow, "06-implementation");
        let there = |path: &str| path == "docs/x/REQ-1/b.md";
        phase
            .unmet(&document, "06-implementation", &there)
            .iter()
            .map(|u| u.requirement)
            .collect()
    }

    #[test]
    fn missing_evidence_satisfies_nothing() {
        assert_eq!(
            unmet(&json!({}), "feature"),
            [
                "test_iteration",
                "constitutional_validation",
                "interactive_elicitation"
            ]
        );
        assert_eq!(
            unmet(&json!({}), "fix"),
            ["test_iteration", "constitutional_validation"]
        );
    }

    #[test]
    fn ac_004a_ac_004b_ac_004c_each_requirement_has_its_evidence() {
        let done = json!({
            "constitutional_validation": {"completed": true, "status": "compliant", "iterations_used": 1},
            "iteration_requirements": {
                "test_iteration": {"completed": true, "last_test_result": "passed"},
                "interactive_elicitation": {"completed": true, "menu_interactions": 3, "final_selection": "Save"}}});
        assert!(unmet(&done, "feature").is_empty());
        for (pointer, value, missing) in [
            (
                "/iteration_requirements/test_iteration/completed",
                json!(false),
                "test_iteration",
            ),
            (
                "/constitutional_validation/status",
                json!("iterating"),
                "constitutional_validation",
            ),
            (
                "/constitutional_validation/iterations_used",
                json!(0),
                "constitutional_validation",
            ),
            (
                "/constitutional_validation/completed",
                json!("true"),
                "constitutional_validation",
            ),
            (
                "/iteration_requirements/interactive_elicitation/menu_interactions",
                json!(2),
                "interactive_elicitation",
            ),
            (
                "/iteration_requirements/interactive_elicitation/final_selection",
                json!("exit"),
                "interactive_elicitation",
            ),
        ] {
            let mut entry = done.clone();
            *entry.pointer_mut(pointer).unwrap() = value;
            assert_eq!(unmet(&entry, "feature"), [missing], "{pointer}");
        }
    }

    #[test]
    fn failing_tests_close_the_gate_even_where_nobody_asked_for_tests() {
        let state = json!({"phases":{"01-requirements":{"iteration_requirements":{
            "test_iteration":{"completed":false,"last_test_result":"failed","current_iteration":2,"max_iterations":5}}}}});
        let document = Document::parse(state.to_string().as_bytes()).unwrap();
        let phase = Requirements::built_in().of("feature", "01-requirements");
        let found = phase.unmet(&document, "01-requirements", &|_| false);
        assert_eq!(
            found[0].what,
            "Test iteration incomplete. 2/5 iterations used. Last result: FAILED."
        );
        assert_eq!(
            phase.corridor(&document, "01-requirements"),
            Some(Corridor::Tests)
        );
    }

    #[test]
    fn overrides_are_merged_deeply_and_old_keys_are_found() {
        let requirements = Requirements::parse(Some(CONFIG), None).unwrap();
        let fix = requirements.of("fix", "06-implementation");
        assert_eq!(fix.articles(), ["IX"]);
        assert_eq!(fix.timeout_minutes(), Some(90));
        assert_eq!(
            requirements
                .of("feature", "13-test-deploy")
                .timeout_minutes(),
            Some(7)
        );
    }
}
