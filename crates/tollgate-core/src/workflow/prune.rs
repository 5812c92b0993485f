//! Keeping the state small once a workflow is over: edits that shorten its lists and clear what
//! belonged to the workflow, right even if another process appends to a list meanwhile.

use serde_json::{Value, json};

use tollgate_store::document::Document;
use tollgate_store::edit::Edit;

/// How many entries `workflow_history` keeps.
pub const MAX_WORKFLOWS: usize = 50;
/// How many entries `history` keeps.
pub const MAX_HISTORY: usize = 100;
/// How many entries `skill_usage_log` keeps.
pub const MAX_SKILL_LOG: usize = 50;
/// How long a text in a kept entry may be.
const MAX_TEXT: usize = 200;

/// A field, and what it is without a workflow.
pub(crate) type Transient = (&'static str, fn() -> Value);

/// The fields that belong to a running workflow, and what they are without one.
pub(crate) const TRANSIENT: [Transient; 6] = [
    ("current_phase", || Value::Null),
    ("active_agent", || Value::Null),
    ("phases", || json!({})),
    ("blockers", || json!([])),
    ("pending_escalations", || json!([])),
    ("pending_delegation", || Value::Null),
];

/// The edits that prune a document without a running workflow.
pub fn edits(document: &Document) -> Vec<Edit> {
    let mut edits = Vec::new();
    branches(document, &mut edits);
    edits.extend(lists(document, MAX_WORKFLOWS));
    edits.extend(transient());
    edits
}

/// The edits that keep the lists short, with at most this many entries of workflows.
pub(super) fn lists(document: &Document, workflows: usize) -> Vec<Edit> {
    let mut edits = Vec::new();
    // By index, so before anything is taken away.
    shorten(document, "history", "action", &mut edits);
    shorten(document, "workflow_history", "description", &mut edits);
    trim(document, "skill_usage_log", MAX_SKILL_LOG, &mut edits);
    trim(document, "history", MAX_HISTORY, &mut edits);
    trim(document, "workflow_history", workflows, &mut edits);
    edits
}

/// The edits that clear what belonged to the workflow.
pub(super) fn transient() -> impl Iterator<Item = Edit> {
    TRANSIENT
        .iter()
        .map(|(key, value)| Edit::set(&[key], value()))
}

/// Takes the first entry away as often as there are too many: a process that appends meanwhile loses
/// nothing.
fn trim(document: &Document, list: &str, most: usize, edits: &mut Vec<Edit>) {
    let length = document.array(&[list]).map_or(0, <[Value]>::len);
    let first = std::iter::repeat_with(|| Edit::remove(&[list, "0"]));
    edits.extend(first.take(length.saturating_sub(most)));
}

fn shorten(document: &Document, list: &str, key: &str, edits: &mut Vec<Edit>) {
    let entries = document.array(&[list]).unwrap_or_default();
    for (index, entry) in entries.iter().enumerate() {
        let long = entry.get(key).and_then(Value::as_str);
        if let Some(text) = long.filter(|text| text.chars().count() > MAX_TEXT + "...".len()) {
            let short: String = text.chars().take(MAX_TEXT).collect();
            let place = [list, &index.to_string(), key];
            edits.push(Edit::set(&place, format!("{short}...")));
        }
    }
}

/// Of a branch only its name is worth keeping.
fn branches(document: &Document, edits: &mut Vec<Edit>) {
    let entries = document.array(&["workflow_history"]).unwrap_or_default();
    for (index, entry) in entries.iter().enumerate() {
        let branch = entry.get("git_branch").and_then(Value::as_object);
        let name = branch.and_then(|branch| branch.get("name"));
        if let Some(name) = name.filter(|_| branch.is_some_and(|branch| branch.len() > 1)) {
            let place = ["workflow_history", &index.to_string(), "git_branch"];
            edits.push(Edit::set(&place, json!({ "name": name })));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_store::edit::apply;

    /// R18: history entries that lack snapshots are completed, and lists cut to 50, 100 and 50.
    #[test]
    fn r18_lists_keep_50_100_and_50_and_their_texts_200() {
        let list = |n: u64, key: &str| -> Value {
            (0..n)
                .map(|i| json!({ key: format!("{i} {}", "x".repeat(300)) }))
                .collect()
        };
        let state = json!({
            "skill_usage_log": list(60, "agent"), "history": list(130, "action"),
            "workflow_history": [{"description": "d", "git_branch": {"name": "f", "status": "merged"}}],
            "phases": {"01-requirements": {}}, "current_phase": "01-requirements",
        });
        let mut document = Document::parse(state.to_string().as_bytes()).unwrap();
        let edits = edits(&document);
        // An entry that comes before the edits are made stays.
        document
            .push(&["skill_usage_log"], json!({"agent": "late"}), None)
            .unwrap();
        apply(&edits, &mut document).unwrap();
        let log = document.array(&["skill_usage_log"]).unwrap();
        assert_eq!(log.len(), 51);
        assert_eq!(log[50]["agent"], "late");
        let history = document.array(&["history"]).unwrap();
        assert_eq!(history.len(), 100);
        assert!(history[0]["action"].as_str().unwrap().starts_with("30 "));
        assert_eq!(history[0]["action"].as_str().unwrap().len(), 203);
        assert_eq!(
            document.get(&["workflow_history", "0", "git_branch"]),
            Some(&json!({"name": "f"}))
        );
        assert_eq!(document.get(&["phases"]), Some(&json!({})));
        assert_eq!(document.get(&["current_phase"]), Some(&Value::Null));
    }
}
