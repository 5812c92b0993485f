//! Making edits in the text of a document, where that is possible without reading all of it.
//!
//! A hook that records one line would otherwise decode, copy and print years of history: three
//! times the cost of the whole process. A state file that Tollgate or the original wrote is
//! printed with two blanks per level, so the place of an edit is found by cutting the text into
//! members, and what is new is put there in the same print.
//!
//! What this deliberately does not do: anything unusual. Another print, a key that is there
//! twice, something in the way, a condition that does not hold: [`apply`] declines, and the
//! whole document is read, changed, and judged by `document`. Whatever it does not decline has
//! the very text that the long way would give (a property test holds it to that).

use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Map, Value};

use super::document::same;
use super::edit::{Edit, Op};
use crate::json::{Kind, Node, Object};

/// How a document begins that is printed with two blanks per level.
const PRINTED: &str = "{\n  \"";

/// The text with the edits made; borrowed if they change nothing. `None`: not this way.
pub(super) fn apply<'t>(text: &'t str, edits: &[Edit]) -> Option<Cow<'t, str>> {
    if !text.starts_with(PRINTED) {
        return None;
    }
    edits.iter().try_fold(Cow::Borrowed(text), |text, edit| {
        Some(match one(&text, edit)? {
            Step::Put(place, new) => Cow::Owned(replaced(&text, place, &new)),
            Step::Nothing => text,
        })
    })
}

/// What a path leads to.
enum Place<'t> {
    /// A value.
    Value(Node<'t>),
    /// Nothing: the object at this depth lacks the first of these keys.
    Missing { object: Node<'t>, depth: usize },
    /// `null`, where an object would have to be, at this depth.
    Null { null: Node<'t>, depth: usize },
}

/// What one edit comes to.
enum Step {
    /// It changes nothing.
    Nothing,
    /// It puts this text in that place.
    Put(Range<usize>, String),
}

/// What one edit puts where.
fn one(text: &str, edit: &Edit) -> Option<Step> {
    let path: Vec<&str> = edit.path.iter().map(String::as_str).collect();
    let place = find(text, &path)?;
    match &edit.op {
        Op::Require(wanted) => {
            let found = match place {
                Place::Value(node) => value(node)?,
                Place::Missing { .. } | Place::Null { .. } => Value::Null,
            };
            (found == *wanted).then_some(Step::Nothing)
        }
        Op::Remove => match place {
            Place::Value(_) => None,
            Place::Missing { .. } | Place::Null { .. } => Some(Step::Nothing),
        },
        Op::Set(new) => put(text, &path, &place, new),
        Op::Add(amount) => {
            let old = match place {
                Place::Value(node) => value(node)?.as_i64()?,
                Place::Missing { .. } | Place::Null { .. } => 0,
            };
            put(text, &path, &place, &old.saturating_add(*amount).into())
        }
        Op::Push { value, keep } => match place {
            Place::Value(node) if node.kind() == Kind::Array => {
                push(text, path.len(), node, value, *keep)
            }
            Place::Value(_) => None,
            Place::Missing { .. } | Place::Null { .. } => {
                if *keep == Some(0) {
                    return None;
                }
                put(text, &path, &place, &Value::Array(vec![value.clone()]))
            }
        },
    }
}

fn find<'t>(text: &'t str, path: &[&str]) -> Option<Place<'t>> {
    // Cutting it into members reads it; once is enough.
    let mut node = Node::unread(text);
    for (depth, key) in path.iter().enumerate() {
        match node.kind() {
            Kind::Object => {}
            Kind::Null => return Some(Place::Null { null: node, depth }),
            Kind::Bool | Kind::Number | Kind::String | Kind::Array => return None,
        }
        let members = Object::parse(node.text()).ok()?;
        let mut called = members.get_all(key);
        match (called.next(), called.next()) {
            (Some(found), None) => node = found,
            (None, _) => {
                return Some(Place::Missing {
                    object: node,
                    depth,
                });
            }
            (Some(_), Some(_)) => return None,
        }
    }
    Some(Place::Value(node))
}

/// Puts a value at a place that a path led to.
fn put(text: &str, path: &[&str], place: &Place<'_>, new: &Value) -> Option<Step> {
    match *place {
        Place::Value(node) => {
            if same(&value(node)?, new) {
                return Some(Step::Nothing);
            }
            Some(Step::Put(range(text, node)?, printed(new, path.len())))
        }
        Place::Missing { object, depth } => {
            let (key, rest) = path.get(depth..)?.split_first()?;
            let member = format!(
                "{}: {}",
                quoted(key),
                printed(&nested(rest, new), depth + 1)
            );
            behind_last(text, object, depth, &member)
        }
        Place::Null { null, depth } => {
            let keys = path.get(depth..)?;
            Some(Step::Put(
                range(text, null)?,
                printed(&nested(keys, new), depth),
            ))
        }
    }
}

/// Appends to an array that is `depth` levels deep.
fn push(
    text: &str,
    depth: usize,
    array: Node<'_>,
    new: &Value,
    keep: Option<usize>,
) -> Option<Step> {
    let item = printed(new, depth + 1);
    let Some(keep) = keep else {
        return behind_last(text, array, depth, &item);
    };
    let items = array.array()?;
    if items.len() < keep {
        return behind_last(text, array, depth, &item);
    }
    let Step::Put(end, new) = behind_last(text, array, depth, &item)? else {
        return None;
    };
    let start = range(text, *items.first()?)?.start;
    // What stays, and the new one behind it.
    let tail = match items.get(items.len() + 1 - keep) {
        Some(stays) => format!("{}{new}", text.get(range(text, *stays)?.start..end.start)?),
        None if keep == 1 => item,
        None => return None,
    };
    Some(Step::Put(start..end.end, tail))
}

/// Where a new member or item goes in an object or an array, and its text with what separates
/// it. Only in a container that is printed as we print.
fn behind_last(text: &str, container: Node<'_>, depth: usize, new: &str) -> Option<Step> {
    let whole = range(text, container)?;
    let inner = container
        .text()
        .get(1..container.text().len().checked_sub(1)?)?;
    let outer = indent(depth);
    let ours = indent(depth + 1);
    if inner.is_empty() {
        let at = whole.start + 1;
        return Some(Step::Put(at..at, format!("{ours}{new}{outer}")));
    }
    let content = inner.strip_suffix(outer.as_str())?;
    if !content.starts_with(ours.as_str()) || content.ends_with(char::is_whitespace) {
        return None;
    }
    let at = whole.start + 1 + content.len();
    Some(Step::Put(at..at, format!(",{ours}{new}")))
}

/// Objects around a value, one for each key.
fn nested(keys: &[&str], value: &Value) -> Value {
    keys.iter().rev().fold(value.clone(), |value, key| {
        Value::Object(Map::from_iter([((*key).to_owned(), value)]))
    })
}

/// A value as it stands in a document, `depth` levels deep.
fn printed(value: &Value, depth: usize) -> String {
    // A `Value` can always be printed, and a string in it has no bare line breaks.
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.replace('\n', &indent(depth))
}

fn quoted(key: &str) -> String {
    Value::from(key).to_string()
}

fn indent(depth: usize) -> String {
    format!("\n{}", "  ".repeat(depth))
}

fn value(node: Node<'_>) -> Option<Value> {
    serde_json::from_str(node.text()).ok()
}

/// Where a node is in the text it was cut from.
fn range(text: &str, node: Node<'_>) -> Option<Range<usize>> {
    let start = (node.text().as_ptr().addr()).checked_sub(text.as_ptr().addr())?;
    let end = start.checked_add(node.text().len())?;
    (end <= text.len()).then_some(start..end)
}

fn replaced(text: &str, place: Range<usize>, new: &str) -> String {
    let mut out = String::with_capacity(text.len() + new.len());
    out.push_str(text.get(..place.start).unwrap_or_default());
    out.push_str(new);
    out.push_str(text.get(place.end..).unwrap_or_default());
    out
}

#[cfg(test)]
#[path = "splice_tests.rs"]
mod tests;
