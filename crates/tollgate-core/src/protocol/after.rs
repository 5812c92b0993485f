//! What a file would hold after a call of a tool, as far as the call tells.

use super::{Replacement, Tool, ToolCall, Verb, patch};

/// What would be in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum After {
    /// This text.
    Text(String),
    /// Nothing of what is in it now: it is removed, moved away, or overwritten with what the call
    /// does not tell.
    Gone,
    /// The call does not tell.
    Unknown,
}

impl Tool<'_> {
    /// What `path`, one of [`Tool::files`], would hold after the call; `before` is what it holds
    /// now.
    pub fn after(&self, path: &str, before: Option<&str>) -> After {
        match &self.call {
            ToolCall::Write { content, .. } => match content {
                Some(content) => content
                    .str()
                    .map_or(After::Gone, |text| After::Text(text.into_owned())),
                None => After::Unknown,
            },
            ToolCall::Edit { edits, .. } => {
                edited(before, edits).map_or(After::Unknown, After::Text)
            }
            ToolCall::Patch { text } => patch::after(text, path, before),
            ToolCall::Delete { .. } => After::Gone,
            // Where there are no cells, what the cell is to hold is all there is.
            ToolCall::Notebook { source, path } if !path.ends_with(".ipynb") => {
                source.as_ref().map_or(After::Unknown, |text| {
                    After::Text(text.clone().into_owned())
                })
            }
            ToolCall::Other => match Verb::of(self) {
                Some(Verb::Deletes | Verb::Moves | Verb::Copies) => After::Gone,
                Some(Verb::Writes | Verb::Searches | Verb::Lists | Verb::Reads | Verb::Fetches)
                | None => After::Unknown,
            },
            ToolCall::Shell { .. }
            | ToolCall::Notebook { .. }
            | ToolCall::Delegate { .. }
            | ToolCall::Skill { .. } => After::Unknown,
        }
    }
}

/// The text after the edits; nothing if one of them does not apply, because then the tool will
/// refuse it, or if there is none that could be understood.
fn edited(before: Option<&str>, edits: &[Replacement<'_>]) -> Option<String> {
    // An edit that replaces nothing makes a new file.
    let (mut text, edits) = match (before, edits) {
        (None | Some(""), [first, rest @ ..]) if first.old.is_empty() => {
            (first.new.clone().into_owned(), rest)
        }
        (Some(text), [_, ..]) => (text.to_owned(), edits),
        (_, _) => return None,
    };
    for edit in edits {
        if edit.old.is_empty() || !text.contains(edit.old.as_ref()) {
            return None;
        }
        text = if edit.all {
            text.replace(edit.old.as_ref(), &edit.new)
        } else {
            text.replacen(edit.old.as_ref(), &edit.new, 1)
        };
    }
    Some(text)
}
