//! `[workflow.NAME]`: the definitions of a project's own workflows.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::Merged;
use super::glob::rooted;
use super::node::{Node, Place};
use super::toml;

/// A workflow: phases in order.
#[derive(Clone, Debug)]
pub(crate) struct WorkflowDefinition {
    pub(crate) name: String,
    /// Its name for people.
    pub(crate) label: String,
    pub(crate) phases: Vec<PhaseDefinition>,
    /// Whether the workflow has its own branch.
    pub(crate) has_branch: bool,
    pub(crate) branch_prefix: String,
    /// Whether a phase that lacks what it needs is completed all the same.
    pub(crate) is_permissive: bool,
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

/// The workflows of a project's `tollgate.toml`, in the form of the original's `workflows.json`, by
/// their names.
pub(super) fn definitions(merged: &Merged) -> Result<Map<String, Value>, String> {
    if merged.is_wrong() {
        let why = "tollgate.toml is broken; `tollgate validate` says where";
        return Err(why.to_owned());
    }
    Ok(merged.workflows.iter().map(definition).collect())
}

fn definition(workflow: &WorkflowDefinition) -> (String, Value) {
    let names: Vec<&str> = workflow.phases.iter().map(|phase| &*phase.name).collect();
    let rules = workflow.phases.iter().map(|phase| {
        let mut rules = Map::new();
        if !phase.writes.is_empty() {
            let globs = phase.writes.iter().flat_map(|glob| rooted(".", glob));
            rules.insert("writes".to_owned(), json!(phase.writes));
            rules.insert("globs".to_owned(), globs.collect());
        }
        rules.insert("needs".to_owned(), json!(phase.needs));
        (phase.name.clone(), Value::Object(rules))
    });
    let value = json!({
        "label": workflow.label,
        "phases": names,
        "gate_mode": if workflow.is_permissive { "permissive" } else { "strict" },
        "requires_branch": workflow.has_branch,
        "branch_prefix": workflow.branch_prefix.trim_end_matches('/'),
        "phase_rules": rules.collect::<Map<_, _>>(),
    });
    (workflow.name.clone(), value)
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
            is_permissive: text("gate_mode").as_deref() == Some("permissive"),
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
