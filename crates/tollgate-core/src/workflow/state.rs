//! Reading a workflow's state: a typed view that borrows from the file's text and decodes only
//! what is asked for.
//!
//! The same fact stands in several fields of the original's state file (the phase in two, a
//! phase's status in two). Which one counts is decided here and nowhere else.

use std::borrow::Cow;

use crate::workflow::phases;
use tollgate_store::json::{self, Node, Object};

/// A state file.
#[derive(Clone, Debug)]
pub struct State<'a> {
    root: Object<'a>,
    workflow: Option<Workflow<'a>>,
}

/// `active_workflow`: the workflow that runs.
#[derive(Clone, Debug)]
pub struct Workflow<'a> {
    fields: Object<'a>,
}

/// `active_workflow.git_branch`.
#[derive(Clone, Debug)]
pub struct GitBranch<'a> {
    /// The workflow's branch.
    pub name: Option<Cow<'a, str>>,
    /// `active`, `merged`, `abandoned`, or any other text.
    pub status: Option<Cow<'a, str>>,
    /// The branch that it was made from.
    pub from: Option<Cow<'a, str>>,
}

/// What is wrong with a state file's text.
#[derive(Debug, thiserror::Error)]
pub enum Malformed {
    /// It is no JSON object.
    #[error(transparent)]
    Json(#[from] json::Malformed),
    /// It is empty.
    #[error("the file is empty")]
    Empty,
    /// `active_workflow` is there and is no object.
    #[error("`active_workflow` is {0}, not an object")]
    Workflow(json::Kind),
}

impl<'a> State<'a> {
    /// Reads the text of a state file.
    pub fn parse(text: &'a str) -> Result<Self, Malformed> {
        if text.trim().is_empty() {
            return Err(Malformed::Empty);
        }
        let root = Object::parse(text)?;
        let workflow = match root.get("active_workflow") {
            None => None,
            // The originals take every falsy value for "none".
            Some(node) if !node.truthy() => None,
            Some(node) => match node.object() {
                Some(fields) => Some(Workflow { fields }),
                None => return Err(Malformed::Workflow(node.kind())),
            },
        };
        Ok(Self { root, workflow })
    }

    /// The state's text, cut into its members.
    pub fn root(&self) -> &Object<'a> {
        &self.root
    }

    /// The workflow that runs, if one does.
    pub fn workflow(&self) -> Option<&Workflow<'a>> {
        self.workflow.as_ref()
    }

    /// A top-level field.
    pub fn get(&self, key: &str) -> Option<Node<'a>> {
        self.root.get(key)
    }

    /// The phase the project is in: that of the running workflow, else the top-level field.
    pub fn current_phase(&self) -> Option<Cow<'a, str>> {
        let running = self
            .workflow
            .as_ref()
            .and_then(|workflow| workflow.str("current_phase"));
        running.or_else(|| {
            self.root
                .str("current_phase")
                .filter(|phase| !phase.is_empty())
        })
    }

    /// `phases[key]`, filed under any name the phase has had.
    pub fn phase(&self, key: &str) -> Option<Object<'a>> {
        let filed = self.root.object("phases")?;
        phases::spellings(key).find_map(|key| filed.object(key))
    }

    /// The name under which `phases` files the phase, or would: the one of today.
    pub fn phase_key<'k>(&self, key: &'k str) -> &'k str {
        let filed = self.root.object("phases").unwrap_or_default();
        phases::spellings(key)
            .find(|key| filed.object(key).is_some())
            .unwrap_or_else(|| phases::canonical(key))
    }

    /// Whether the project wants its iterations enforced: yes, unless it says no.
    pub fn enforces_iterations(&self) -> bool {
        let setting = self.root.object("iteration_enforcement");
        setting.and_then(|setting| setting.get("enabled")?.bool()) != Some(false)
    }

    /// `phases[key].status`.
    pub fn phase_status(&self, key: &str) -> Option<Cow<'a, str>> {
        let status = self.phase(key)?.str("status");
        status.filter(|status| !status.is_empty())
    }
}

impl<'a> Workflow<'a> {
    /// A field of the workflow.
    pub fn get(&self, key: &str) -> Option<Node<'a>> {
        self.fields.get(key)
    }

    /// A field that is a string and not empty.
    pub fn str(&self, key: &str) -> Option<Cow<'a, str>> {
        self.fields.str(key).filter(|text| !text.is_empty())
    }

    /// The workflow's phases in order. Members that are no strings are passed over.
    pub fn phases(&self) -> Vec<String> {
        self.fields.texts("phases")
    }

    /// Where in [`Workflow::phases`] the workflow is, as far as it says so with a number that
    /// can be a place.
    pub fn phase_index(&self) -> Option<usize> {
        let index = self.fields.get("current_phase_index")?.u64()?;
        usize::try_from(index).ok()
    }

    /// The workflow's branch, where it tracks one.
    pub fn git_branch(&self) -> Option<GitBranch<'a>> {
        let branch = self.fields.object("git_branch")?;
        let text = |key| branch.str(key).filter(|text| !text.is_empty());
        Some(GitBranch {
            name: text("name"),
            status: text("status"),
            from: text("created_from"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TS-006: a stale `current_phase` at the top is not read where the workflow has its own.
    #[test]
    fn ts006_the_workflows_phase_goes_before_the_top_level_one() {
        let state = State::parse(
            r#"{"current_phase":"01-requirements","active_workflow":{"current_phase":"03-architecture"}}"#,
        );
        assert_eq!(state.unwrap().current_phase().unwrap(), "03-architecture");
        let state = State::parse(r#"{"current_phase":"01-requirements","active_workflow":{}}"#);
        assert_eq!(state.unwrap().current_phase().unwrap(), "01-requirements");
    }

    /// F6: what is recorded under an old key of a phase was not seen.
    #[test]
    fn f6_a_phase_is_found_under_its_old_name() {
        let state = State::parse(r#"{"phases":{"13-test-deploy":{"status":"in_progress"}}}"#);
        assert_eq!(
            state.unwrap().phase_status("12-test-deploy").unwrap(),
            "in_progress"
        );
    }

    /// E17: a workflow of another type counted as none.
    #[test]
    fn e17_a_workflow_of_another_type_is_malformed_not_absent() {
        for wrong in [r#""x""#, "[]", "7", "true"] {
            let text = format!(r#"{{"active_workflow":{wrong}}}"#);
            assert!(
                matches!(State::parse(&text), Err(Malformed::Workflow(_))),
                "{wrong}"
            );
        }
        for none in ["null", "false", "0", r#""""#] {
            let text = format!(r#"{{"active_workflow":{none}}}"#);
            assert!(State::parse(&text).unwrap().workflow().is_none(), "{none}");
        }
    }

    /// E9: `__proto__` and other unknown keys of the state are data.
    #[test]
    fn e9_unknown_keys_are_data() {
        let text = r#"{"__proto__":{"active_workflow":{}},"phases":{"__proto__":7}}"#;
        let state = State::parse(text).unwrap();
        assert!(state.workflow().is_none());
        assert!(state.phase("__proto__").is_none());
    }
}
