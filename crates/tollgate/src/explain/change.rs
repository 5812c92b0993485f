//! A change that would have let an event pass, as data.

use std::fmt;

use serde_json::{Value, json};

use crate::plain::cut;

/// One thing that would have to be different.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    /// A field of the state has this value; nothing: it is not there.
    State {
        path: Vec<String>,
        value: Option<Value>,
    },
    /// A field of the event has this value.
    Event {
        path: Vec<String>,
        value: Value,
    },
    /// A file of the project, by its way from the root, has this text.
    File {
        path: String,
        text: String,
    },
    Branch(String),
    /// These files were changed since the branch began.
    Touched(Vec<String>),
}

impl Change {
    pub(crate) fn as_json(&self) -> Value {
        match self {
            Self::State { path, value } => {
                json!({ "change": "state", "path": path, "value": value })
            }
            Self::Event { path, value } => {
                json!({ "change": "event", "path": path, "value": value })
            }
            Self::File { path, text } => json!({ "change": "file", "path": path, "text": text }),
            Self::Branch(name) => json!({ "change": "branch", "name": name }),
            Self::Touched(files) => json!({ "change": "touched", "files": files }),
        }
    }
}

/// In one line; a long text is cut.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |text: String| cut(&text, 120);
        match self {
            Self::State { path, value } => {
                let value = value
                    .as_ref()
                    .map_or("not set".to_owned(), Value::to_string);
                write!(f, "in the state, {} is {}", path.join("."), short(value))
            }
            Self::Event { path, value } => {
                let value = short(value.to_string());
                write!(f, "in the event, {} is {value}", path.join("."))
            }
            Self::File { path, text } => {
                let text = short(format!("{text:?}"));
                write!(f, "the file {path} is there and says {text}")
            }
            Self::Branch(name) => {
                write!(f, "the branch {name} is checked out (`git switch {name}`)")
            }
            Self::Touched(files) => write!(f, "these files are changed: {}", files.join(", ")),
        }
    }
}
