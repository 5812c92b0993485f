//! Making edits in the text of a document, where that is possible without reading all of it.
//!
//! A hook that records one line would otherwise decode, copy and print years of history: three
//! times the cost of the whole process. A state file that Tollgate or the original wrote is
//! printed with two blanks per level, so the place of an edit is found by cutting the text into
//! members, and what is new is put there in the same print.
//!
//! What this deliberately does not do: anything unusual. Another print, a key that is there
//! twice, something in the way, a condition that does not hold: [`Spliced`] declines, and the
//! whole document is read, changed, and judged by `document`. Whatever it does not decline has
//! the very text that the long way would give (a property test holds it to that).

use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Map, Value};

use super::document::same;
use super::edit::{Edit, Op};
use super::patch::at_most;
use crate::fs::Pieces;
use crate::json::{Kind, Node, Object, PRINTED};

/// How much a text may grow by small edits before it is copied again.
const SPARE: usize = 1 << 10;

/// A document's text, cut into its members once however many edits are made in it.
///
/// The first edit of a member is only noted: what is written in the end is the old text in pieces,
/// with the new ones between them, and nothing of it is copied. Whoever wants more (to change the
/// same member again, to put a new one in) works on a copy in which that was done.
pub(super) struct Spliced<'t> {
    text: Cow<'t, str>,
    members: Vec<Member<'t>>,
    /// What is to be put where in the text, and is not yet.
    noted: Vec<(Range<usize>, String)>,
}

/// One member of the document: its key, and where its value is.
struct Member<'t> {
    key: Cow<'t, str>,
    place: Range<usize>,
    /// Whether a change inside of it is noted.
    is_noted: bool,
}

impl<'t> Spliced<'t> {
    /// Cuts a text, unless somebody has (`root`). `None`: not this way.
    pub(super) fn cut(text: &'t str, root: Option<&Object<'t>>) -> Option<Self> {
        if !text.starts_with(PRINTED) {
            return None;
        }
        let root = match root {
            Some(root) => root.clone(),
            None => Object::parse(text).ok()?,
        };
        let members = root.into_members();
        let members = members.into_iter().map(|(key, node)| {
            let place = range(text, node)?;
            Some(Member {
                key,
                place,
                is_noted: false,
            })
        });
        Some(Self {
            members: members.collect::<Option<_>>()?,
            text: Cow::Borrowed(text),
            noted: Vec::new(),
        })
    }

    /// Makes edits. `None`: not this way, and what was made so far is worth nothing.
    pub(super) fn apply(&mut self, edits: &[Edit]) -> Option<()> {
        edits.iter().try_for_each(|edit| {
            let path: Vec<&str> = edit.path.iter().map(String::as_str).collect();
            self.settle_for(path.first()?)?;
            match self.one(&path, &edit.op)? {
                Step::Nothing => Some(()),
                Step::Put(place, new) => self.put(&path, place, new),
            }
        })
    }

    /// A member's value as it is now, if there is exactly one of that name.
    pub(super) fn get(&mut self, key: &str) -> Option<Node<'_>> {
        self.settle_for(key)?;
        self.value_of(key)
    }

    fn value_of(&self, key: &str) -> Option<Node<'_>> {
        let mut called = self.members.iter().filter(|member| member.key == key);
        let (Some(found), None) = (called.next(), called.next()) else {
            return None;
        };
        self.text.get(found.place.clone()).map(Node::unread)
    }

    /// Whether an edit changed something.
    pub(super) fn is_changed(&self) -> bool {
        matches!(self.text, Cow::Owned(_)) || !self.noted.is_empty()
    }

    /// The text as it is now, if an edit changed it; it may still be the old one otherwise.
    pub(super) fn changed(mut self) -> Option<Pieces<'t>> {
        self.noted.sort_by_key(|(place, _)| place.start);
        match self.text {
            Cow::Borrowed(_) if self.noted.is_empty() => None,
            Cow::Borrowed(text) => Pieces::replaced(text, self.noted),
            Cow::Owned(text) => Some(text.into()),
        }
    }

    /// Does what is noted, if somebody is about to look at what that changes: the member of this
    /// name, or, if it is to be a new one, the end of the document.
    fn settle_for(&mut self, key: &str) -> Option<()> {
        let mut called = self.members.iter().filter(|member| member.key == key);
        let concerned = match called.next() {
            Some(first) => first.is_noted || called.any(|member| member.is_noted),
            None => true,
        };
        if concerned { self.settle() } else { Some(()) }
    }

    /// Does what is noted, the last first: so the places of the others stay where they are.
    fn settle(&mut self) -> Option<()> {
        let mut noted = std::mem::take(&mut self.noted);
        noted.sort_by_key(|(place, _)| place.start);
        for (place, new) in noted.into_iter().rev() {
            self.replace(&place, &new)?;
        }
        for member in &mut self.members {
            member.is_noted = false;
        }
        Some(())
    }

    /// Puts a text in a place: now, or when it is written.
    fn put(&mut self, path: &[&str], place: Range<usize>, new: String) -> Option<()> {
        if matches!(self.text, Cow::Borrowed(_)) {
            let mut members = self.members.iter_mut();
            if let Some(member) = members.find(|member| member.place.contains(&place.start)) {
                member.is_noted = true;
                self.noted.push((place, new));
                return Some(());
            }
        }
        let is_inside = self.replace(&place, &new)?;
        if !is_inside {
            // A new member: the only thing that is put outside of all of them.
            let key = (*path.first()?).to_owned();
            let behind_key = new.find(&quoted(&key))? + quoted(&key).len() + ": ".len();
            self.members.push(Member {
                key: Cow::Owned(key),
                place: place.start + behind_key..place.start + new.len(),
                is_noted: false,
            });
        }
        Some(())
    }

    /// Replaces a part of the text, and moves the members behind it. Says whether the part was
    /// inside of a member.
    fn replace(&mut self, place: &Range<usize>, new: &str) -> Option<bool> {
        let moved = |at: usize| (at + new.len()).checked_sub(place.len());
        let mut is_inside = false;
        for member in &mut self.members {
            let Range { start, end } = &mut member.place;
            if (*start..*end).contains(&place.start) {
                is_inside = true;
                *end = moved(*end)?;
            } else if place.end <= *start {
                *start = moved(*start)?;
                *end = moved(*end)?;
            }
        }
        let text = match &mut self.text {
            Cow::Owned(text) => text,
            Cow::Borrowed(text) => {
                // Room for this one and for the next ones.
                let mut owned = String::with_capacity(text.len() + new.len() + SPARE);
                owned.push_str(text);
                self.text = Cow::Owned(owned);
                self.text.to_mut()
            }
        };
        text.replace_range(place.clone(), new);
        Some(is_inside)
    }

    /// What one edit puts where.
    fn one(&self, path: &[&str], op: &Op) -> Option<Step> {
        let text = self.text.as_ref();
        let place = self.find(path)?;
        match op {
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
            Op::Set(new) => put(text, path, &place, new),
            Op::Add(amount) => {
                let old = match place {
                    Place::Value(node) => value(node)?.as_i64()?,
                    Place::Missing { .. } | Place::Null { .. } => 0,
                };
                put(text, path, &place, &old.saturating_add(*amount).into())
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
                    put(text, path, &place, &Value::Array(vec![value.clone()]))
                }
            },
        }
    }

    fn find(&self, path: &[&str]) -> Option<Place<'_>> {
        let (first, rest) = path.split_first()?;
        if !self.members.iter().any(|member| member.key == *first) {
            let object = Node::unread(&self.text);
            return Some(Place::Missing { object, depth: 0 });
        }
        let mut node = self.value_of(first)?;
        for (depth, key) in (1..).zip(rest) {
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
    if at_most(array) < keep {
        return behind_last(text, array, depth, &item);
    }
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

#[cfg(test)]
#[path = "splice_tests.rs"]
mod tests;
