//! The record of a requirement in the state, `phases[p].iteration_requirements[name]`, as edits
//! that are right however late they are made.

use serde_json::{Value, json};

use crate::context::EventContext;
use crate::decision::Finding;
use tollgate_store::edit::Edit;
use tollgate_store::json::{Kind, Node, Object};
use tollgate_store::timestamp;

/// One record: what it says now, and what is to become of it.
#[derive(Debug)]
pub(super) struct RequirementRecord<'a> {
    path: Vec<String>,
    seen: Object<'a>,
    edits: Vec<Edit>,
    healed: Option<String>,
}

impl<'a> RequirementRecord<'a> {
    /// The record of a requirement of `phase`. Something of another kind in its place (or above
    /// it) is replaced, for otherwise nothing could ever be recorded again.
    pub(super) fn open(context: &EventContext<'a>, phase: &str, requirement: &str) -> Self {
        let mut record = Self {
            path: vec!["phases".to_owned()],
            seen: Object::default(),
            edits: Vec::new(),
            healed: None,
        };
        let filed = context
            .state()
            .map_or(phase, |state| state.phase_key(phase));
        let mut place = context.state().and_then(|state| state.get("phases"));
        let mut steps = [filed, "iteration_requirements", requirement].into_iter();
        loop {
            let fits = place.is_none_or(|node| matches!(node.kind(), Kind::Object | Kind::Null));
            if !fits {
                let found = place.map_or(Kind::Null, Node::kind);
                record.healed = Some(format!("{} was {found}", record.path.join(".")));
                record.edits.push(Edit::set(&record.keys(), json!({})));
                place = None;
            }
            let Some(step) = steps.next() else { break };
            record.path.push(step.to_owned());
            place = place.and_then(|node| node.get(step));
        }
        if let Some(seen) = place.and_then(Node::object) {
            record.seen = seen;
        }
        record
    }

    pub(super) fn is_new(&self) -> bool {
        self.seen.is_empty()
    }

    pub(super) fn get(&self, key: &str) -> Option<Node<'a>> {
        self.seen.get(key)
    }

    /// A count of the record; what is no count is 0.
    pub(super) fn number(&self, key: &str) -> u64 {
        self.get(key).and_then(Node::u64).unwrap_or(0)
    }

    pub(super) fn set(&mut self, key: &str, value: impl Into<Value>) {
        let edit = Edit::set(&self.place(key), value);
        self.edits.push(edit);
    }

    pub(super) fn remove(&mut self, key: &str) {
        if self.get(key).is_some() {
            let edit = Edit::remove(&self.place(key));
            self.edits.push(edit);
        }
    }

    /// Adds to a count, as it will be then.
    pub(super) fn add(&mut self, key: &str, amount: u32) {
        let countable = |node: Node<'_>| node.is_null() || node.u64().is_some();
        let edit = if self.get(key).is_none_or(countable) {
            Edit::add(&self.place(key), amount.into())
        } else {
            Edit::set(&self.place(key), amount)
        };
        self.edits.push(edit);
    }

    /// Appends to a list, as it will be then.
    pub(super) fn push(&mut self, key: &str, value: Value, keep: usize) {
        let is_list = |node: Node<'_>| matches!(node.kind(), Kind::Null | Kind::Array);
        let edit = if self.get(key).is_none_or(is_list) {
            Edit::push_capped(&self.place(key), value, keep)
        } else {
            Edit::set(&self.place(key), json!([value]))
        };
        self.edits.push(edit);
    }

    /// Puts an empty list where there is none, for those who count its items.
    pub(super) fn list(&mut self, key: &str) {
        if self.get(key).is_none() {
            self.set(key, json!([]));
        }
    }

    /// The moment of the event, as the state writes it.
    pub(super) fn moment(context: &EventContext<'_>) -> Value {
        Value::String(timestamp::iso(context.now()))
    }

    /// The edits, and a note if something had to make way.
    pub(super) fn close(self, guard: &str, code: &'static str) -> (Vec<Edit>, Option<Finding>) {
        let note = self.healed.map(|what| {
            let text = format!("[SELF-HEAL] {guard}: {what}; began a new record");
            Finding::new(code, text, what)
        });
        (self.edits, note)
    }

    fn keys(&self) -> Vec<&str> {
        self.path.iter().map(String::as_str).collect()
    }

    fn place<'k>(&'k self, key: &'k str) -> Vec<&'k str> {
        let mut keys = self.keys();
        keys.push(key);
        keys
    }
}
