//! A change of the document as data.
//!
//! A guard that wants the state changed says so with edits rather than with code, because code
//! cannot wait in a file while another process holds the lock. An edit says what is to happen to
//! the document as it will be *then* ("add one", "append"), not what the document should look
//! like as it was seen *now*; and [`Op::Require`] lets a late change step back if the workflow
//! has moved on.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::document::{Document, InTheWay, join};
use crate::patch::Step;

/// One change at one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edit {
    /// The keys that lead there.
    pub path: Vec<String>,
    /// What is done there.
    pub op: Op,
}

/// What an edit does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Puts a value, whatever was there.
    Set(Value),
    /// Takes the value away; nothing there is fine.
    Remove,
    /// Appends to an array.
    Push {
        /// What is appended.
        value: Value,
        /// How many of the last items stay.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keep: Option<usize>,
    },
    /// Adds to a whole number.
    Add(i64),
    /// Changes nothing, but without this value there (`null`: or nothing) none of the edits it
    /// came with is made.
    Require(Value),
}

/// Why edits were not made. None of them was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditFault {
    /// Something of the wrong kind is there.
    #[error(transparent)]
    InTheWay(#[from] InTheWay),
    /// The document is no longer what the edits were made for.
    #[error("`{path}` is no longer {wanted}")]
    MovedOn {
        /// Where.
        path: String,
        /// The value, as JSON, that was required.
        wanted: String,
    },
}

impl Edit {
    /// Puts a value.
    pub fn set(path: &[&str], value: impl Into<Value>) -> Self {
        Self::new(path, Op::Set(value.into()))
    }

    /// Takes a value away.
    pub fn remove(path: &[&str]) -> Self {
        Self::new(path, Op::Remove)
    }

    /// Appends to an array.
    pub fn push(path: &[&str], value: impl Into<Value>) -> Self {
        let value = value.into();
        Self::new(path, Op::Push { value, keep: None })
    }

    /// Appends to an array of which the last `keep` items stay.
    pub fn push_capped(path: &[&str], value: impl Into<Value>, keep: usize) -> Self {
        let (value, keep) = (value.into(), Some(keep));
        Self::new(path, Op::Push { value, keep })
    }

    /// Adds to a whole number.
    pub fn add(path: &[&str], amount: i64) -> Self {
        Self::new(path, Op::Add(amount))
    }

    /// Makes the edits it comes with depend on a value.
    pub fn require(path: &[&str], value: impl Into<Value>) -> Self {
        Self::new(path, Op::Require(value.into()))
    }

    fn new(path: &[&str], op: Op) -> Self {
        Self {
            path: path.iter().map(|key| (*key).to_owned()).collect(),
            op,
        }
    }

    /// The member of the document that must be decoded for it. A list that is a member itself grows
    /// without that.
    pub(super) fn reads(&self) -> Option<&str> {
        match (self.path.as_slice(), &self.op) {
            ([_], Op::Push { .. }) | ([], _) => None,
            ([first, ..], _) => Some(first),
        }
    }

    /// Makes the edit and says what that changed, if it changed anything.
    fn make(&self, document: &mut Document) -> Result<Option<Step>, EditFault> {
        let path = &self.path;
        // A list that was there is taken back item by item.
        let grows = matches!(self.op, Op::Push { .. }) && document.has_list(path);
        let mut step = if grows {
            Step::new(path)
        } else {
            Step::at(path, document)
        };
        match &self.op {
            Op::Set(value) => {
                document.set(path, value.clone())?;
                step.after = Some(value.clone());
            }
            Op::Remove => {
                if document.remove(path).is_none() {
                    return Ok(None);
                }
            }
            Op::Push { value, keep } => {
                step.dropped = document.push(path, value.clone(), *keep)?;
                step.pushed = Some(value.clone());
            }
            Op::Add(amount) => {
                document.add(path, *amount)?;
                step.after = document.get(path).cloned();
            }
            Op::Require(wanted) => {
                if document.get(path).unwrap_or(&Value::Null) != wanted {
                    return Err(EditFault::MovedOn {
                        path: join(path),
                        wanted: wanted.to_string(),
                    });
                }
                return Ok(None);
            }
        }
        Ok(Some(step).filter(Step::is_change))
    }
}

/// Makes all the edits in their order, or none of them. Says what that changed.
pub fn apply(edits: &[Edit], document: &mut Document) -> Result<Vec<Step>, EditFault> {
    let mut edited = document.clone();
    let steps = make(edits, &mut edited)?;
    *document = edited;
    Ok(steps)
}

/// Makes the edits in their order. If one cannot be made, those before it stay, so this is for a
/// document that is thrown away then.
pub(crate) fn make(edits: &[Edit], document: &mut Document) -> Result<Vec<Step>, EditFault> {
    let made = edits.iter().map(|edit| edit.make(document));
    made.filter_map(Result::transpose).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document(text: &str) -> Document {
        Document::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn edits_survive_being_written_down() {
        let edits = vec![
            Edit::require(&["active_workflow", "started_at"], "2026"),
            Edit::set(&["a"], json!({"n": 1.0})),
            Edit::remove(&["b"]),
            Edit::push(&["c"], 1),
            Edit::push_capped(&["c"], json!([]), 7),
            Edit::add(&["d"], -1),
        ];
        let text = serde_json::to_string(&edits).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Edit>>(&text).unwrap(), edits);
    }

    #[test]
    fn all_or_none() {
        let mut state = document(r#"{"a":1,"s":"x"}"#);
        let edits = [Edit::add(&["a"], 1), Edit::push(&["s"], 1)];
        assert!(matches!(
            apply(&edits, &mut state),
            Err(EditFault::InTheWay(_))
        ));
        assert!(!state.is_changed());
        assert_eq!(state.u64(&["a"]), Some(1));
    }

    #[test]
    fn a_late_edit_steps_back_when_the_workflow_has_moved_on() {
        let edits = [
            Edit::require(&["phase"], "06-implementation"),
            Edit::add(&["iterations"], 1),
        ];
        let mut now = document(r#"{"phase":"06-implementation"}"#);
        apply(&edits, &mut now).unwrap();
        assert_eq!(now.u64(&["iterations"]), Some(1));
        let mut later = document(r#"{"phase":"08-code-review"}"#);
        let refusal = apply(&edits, &mut later).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "`phase` is no longer \"06-implementation\""
        );
        assert!(!later.is_changed());
        apply(&[Edit::require(&["none"], Value::Null)], &mut later).unwrap();
    }
}
