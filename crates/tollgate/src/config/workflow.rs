//! `[workflow.NAME]`: the definitions of a project's own workflows.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::node::{Node, Place};
use super::toml;

/// A workflow: phases in order.
#[derive(Clone, Debug)]
pub(crate) struct WorkflowDefinition {
    pub(crate) name: String,
    /// What people call it.
    pub(crate) label: String,
    pub(crate) phases: Vec<PhaseDefinition>,
    /// Whether the work has a branch of its own.
    pub(crate) has_branch: bool,
    pub(crate) branch_prefix: String,
}

/// One phase of it.
#[derive(Clone, Debug)]
pub(crate) struct PhaseDefinition {
    pub(crate) name: String,
    /// The files that may be written in it; none named: all.
    pub(crate) writes: Vec<String>,
    /// What must be there before it is completed.
    pub(crate) needs: Vec<String>,
    pub(crate) place: Place,
}

/// Definitions in the form of `workflows.json`; none without any.
pub(super) fn to_json(defined: &[WorkflowDefinition]) -> Option<String> {
    let one = |definition: &WorkflowDefinition| {
        let phases: Vec<&str> = definition.phases.iter().map(|p| p.name.as_str()).collect();
        let rules = definition.phases.iter().map(|phase| {
            // Without `writes` every file may be written; an empty list would allow none.
            let writes = Some(&phase.writes).filter(|writes| !writes.is_empty());
            let mut rules = Map::from_iter([("needs".to_owned(), json!(phase.needs))]);
            rules.extend(writes.map(|writes| ("writes".to_owned(), json!(writes))));
            (phase.name.clone(), rules.into())
        });
        let workflow = json!({
            "label": definition.label, "phases": phases,
            "requires_branch": definition.has_branch,
            "branch_prefix": definition.branch_prefix.trim_end_matches('/'),
            "phase_rules": rules.collect::<Map<String, Value>>(),
        });
        (definition.name.clone(), workflow)
    };
    let all: Map<_, _> = defined.iter().map(one).collect();
    (!all.is_empty()).then(|| json!({ "workflows": all }).to_string())
}

/// Something wrong: where, the key, what, and what to do about it.
type Wrong = (Place, String, String, &'static str);

/// Reads the definitions, of which the table was checked.
pub(super) fn read(root: &Node) -> (Vec<WorkflowDefinition>, Vec<Wrong>) {
    let mut wrong = Vec::new();
    let mut all = Vec::new();
    for (key, node) in root.get("workflow").map(Node::members).unwrap_or_default() {
        let text = |key: &str| node.get(key).and_then(Node::text).map(str::to_owned);
        let list = node.get("phases");
        let phases: Vec<_> = list.map(Node::items).unwrap_or_default().iter().collect();
        let phases: Vec<PhaseDefinition> = phases.into_iter().filter_map(phase).collect();
        let path = format!("workflow.{}.phases", toml::quoted(&key.name));
        if let Some(list) = list.filter(|_| phases.is_empty()) {
            let what = "there is no phase".to_owned();
            wrong.push((list.place, path.clone(), what, "name at least one"));
        }
        let mut seen = BTreeSet::new();
        for phase in &phases {
            if !seen.insert(phase.name.as_str()) {
                let what = format!("the phase {:?} is there twice", phase.name);
                wrong.push((phase.place, path.clone(), what, "remove one of the two"));
            }
        }
        all.push(WorkflowDefinition {
            label: text("label").unwrap_or_else(|| key.name.clone()),
            phases,
            has_branch: node.get("branch").and_then(Node::bool).unwrap_or(true),
            branch_prefix: text("branch_prefix").unwrap_or_else(|| format!("{}/", key.name)),
            name: key.name.clone(),
        });
    }
    (all, wrong)
}

fn phase(node: &Node) -> Option<PhaseDefinition> {
    let texts = |key: &str| node.get(key).map(Node::texts).unwrap_or_default();
    let name = node.text().or_else(|| node.get("name")?.text())?;
    Some(PhaseDefinition {
        name: name.to_owned(),
        writes: texts("writes"),
        needs: texts("needs"),
        place: node.place,
    })
}
