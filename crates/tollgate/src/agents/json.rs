//! A JSON settings file, edited in its concrete syntax tree: comments, layout, line ends and
//! unknown members stay as they are.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{
    CstArray, CstContainerNode, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode,
};
use serde_json::{Map, Value};

use super::Shape;
use super::settings_file::{Entry, Flaw, SettingsFile};

/// The member that holds every agent's list of hooks.
const HOOKS: &str = "hooks";

const BYTE_ORDER_MARK: &str = "\u{feff}";

pub(super) struct JsonFile {
    root: CstRootNode,
    /// The text began with a byte order mark.
    marked: bool,
    shape: Shape,
    /// The handlers as they were found, in the order of the file.
    places: Vec<HandlerPlace>,
}

struct HandlerPlace {
    event: String,
    matcher: Option<String>,
    handler: CstObject,
    effective: bool,
}

/// Comments and trailing commas are what agents' own readers bear; more is a mistake.
const LENIENT: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
};

impl JsonFile {
    pub(super) fn parse(text: &str, shape: Shape) -> Result<Self, Flaw> {
        let bare = text.strip_prefix(BYTE_ORDER_MARK);
        let root = CstRootNode::parse(bare.unwrap_or(text), &LENIENT).map_err(|error| Flaw {
            place: Some((error.line_display(), error.column_display())),
            what: error.kind().to_string(),
        })?;
        if root.value().is_some() && root.object_value().is_none() {
            return Err(Flaw::new("the file is not a JSON object"));
        }
        let mut file = Self {
            marked: bare.is_some(),
            root,
            shape,
            places: Vec::new(),
        };
        file.places = file.find();
        Ok(file)
    }

    /// Finds handlers in every member called `hooks`: in a file with two of them the agent
    /// reads the last, and an uninstall must leave nothing in either.
    fn find(&self) -> Vec<HandlerPlace> {
        let mut places = Vec::new();
        let Some(top) = self.root.object_value() else {
            return places;
        };
        for (hooks, read) in named(&top, HOOKS) {
            let Some(events) = hooks.object_value() else {
                continue;
            };
            for property in events.properties() {
                let Some(event) = name_of(&property) else {
                    continue;
                };
                let last = last(&events, &event).map(|last| last.property_index());
                let effective = read && last == Some(property.property_index());
                let Some(list) = property.array_value() else {
                    continue;
                };
                for object in objects(&list) {
                    let matcher = text_in(&object, "matcher");
                    let place = |handler: CstObject| HandlerPlace {
                        event: event.clone(),
                        matcher: matcher.clone(),
                        handler,
                        effective,
                    };
                    match self.shape {
                        Shape::Flat => places.push(place(object)),
                        Shape::Nested => {
                            let inner = last_array(&object, HOOKS);
                            let handlers = inner.iter().flat_map(objects);
                            places.extend(handlers.map(place));
                        }
                    }
                }
            }
        }
        places
    }

    /// A group whose list of handlers is gone: its matcher alone means nothing.
    fn is_spent_group(&self, node: &CstContainerNode) -> bool {
        self.group(node).is_some_and(|group| {
            let mut members = group.properties().into_iter();
            members.all(|property| has_name(&property, &["matcher", "sequential"]))
        })
    }

    /// The list of handlers in a group that stays because a person wrote something else into it:
    /// to an agent a group without its list is a mistake, one with an empty list is none.
    fn keeps_its_list(&self, node: &CstContainerNode, parent: &CstContainerNode) -> bool {
        let CstContainerNode::ObjectProp(list) = node else {
            return false;
        };
        let Some(group) = self.group(parent).filter(|_| has_name(list, &[HOOKS])) else {
            return false;
        };
        let mut members = group.properties().into_iter();
        parent.children().iter().any(CstNode::is_comment)
            || !members.all(|property| has_name(&property, &["matcher", "sequential", HOOKS]))
    }

    /// The object that a matcher and a list of handlers are in.
    fn group<'n>(&self, node: &'n CstContainerNode) -> Option<&'n CstObject> {
        let CstContainerNode::Object(object) = node else {
            return None;
        };
        let is_listed = node.parent().is_some_and(|parent| parent.is_array());
        (self.shape == Shape::Nested && is_listed).then_some(object)
    }
}

impl SettingsFile for JsonFile {
    fn entries(&self) -> Vec<Entry> {
        let entry = |place: &HandlerPlace| Entry {
            event: place.event.clone(),
            matcher: place.matcher.clone(),
            handler: match place.handler.to_serde_value() {
                Some(Value::Object(members)) => members,
                Some(_) | None => Map::new(),
            },
            effective: place.effective,
        };
        self.places.iter().map(entry).collect()
    }

    fn update(&mut self, entry: usize, members: &[(&str, Option<Value>)]) {
        let Some(place) = self.places.get(entry) else {
            return;
        };
        for (key, wanted) in members {
            let property = last(&place.handler, key);
            match (property, wanted) {
                (Some(property), Some(wanted)) => {
                    let now = property.value().and_then(|value| value.to_serde_value());
                    if now.as_ref() != Some(wanted) {
                        property.set_value(input(wanted));
                    }
                }
                (Some(property), None) => property.remove(),
                (None, Some(wanted)) => drop(place.handler.append(key, input(wanted))),
                (None, None) => {}
            }
        }
    }

    fn add(
        &mut self,
        event: &str,
        matcher: Option<&str>,
        handler: &Map<String, Value>,
    ) -> Result<(), Flaw> {
        let top = self.root.object_value_or_set();
        let events = member(&top, HOOKS, || CstInputValue::Object(Vec::new()));
        let events = events
            .object_value()
            .ok_or_else(|| Flaw::new(format!("`{HOOKS}` is not an object")))?;
        let list = member(&events, event, || CstInputValue::Array(Vec::new()));
        let list = list
            .array_value()
            .ok_or_else(|| Flaw::new(format!("`{HOOKS}.{event}` is not a list")))?;
        list.ensure_multiline();
        let handler = Value::Object(handler.clone());
        let element = match self.shape {
            Shape::Flat => handler,
            Shape::Nested => {
                let mut group = Map::new();
                if let Some(matcher) = matcher {
                    group.insert("matcher".to_owned(), matcher.into());
                }
                group.insert(HOOKS.to_owned(), vec![handler].into());
                Value::Object(group)
            }
        };
        list.append(input(&element));
        Ok(())
    }

    fn remove(&mut self, entries: &[usize]) {
        for entry in entries {
            let Some(place) = self.places.get(*entry) else {
                continue;
            };
            let mut node = CstContainerNode::Object(place.handler.clone());
            // Up to the member `hooks` itself: what the handler leaves empty goes with it.
            while let Some(parent) = node.parent() {
                if self.keeps_its_list(&node, &parent) {
                    break;
                }
                node.remove();
                let is_empty = match &parent {
                    CstContainerNode::Array(list) => list.elements().is_empty(),
                    CstContainerNode::Object(object) => object.properties().is_empty(),
                    CstContainerNode::ObjectProp(_) => true,
                    CstContainerNode::Root(_) => false,
                };
                let holds_comment = parent.children().iter().any(CstNode::is_comment);
                let is_file = parent.parent().is_some_and(|above| above.is_root());
                if is_file || !(is_empty || self.is_spent_group(&parent)) || holds_comment {
                    break;
                }
                node = match parent.parent() {
                    // A member goes as a whole.
                    Some(property @ CstContainerNode::ObjectProp(_)) => property,
                    Some(_) | None => parent,
                };
            }
        }
    }

    fn top(&self, key: &str) -> Option<Value> {
        let property = last(&self.root.object_value()?, key)?;
        property.value()?.to_serde_value()
    }

    fn ensure(&mut self, key: &str, value: u32) {
        let top = self.root.object_value_or_set();
        if last(&top, key).is_none() {
            top.insert(0, key, input(&value.into()));
        }
    }

    fn is_bare(&self, besides: &[(&str, u32)]) -> bool {
        let top = self.root.object_value();
        let nodes = self.root.children().into_iter();
        let inner = top.iter().flat_map(CstObject::children);
        let comments = nodes.chain(inner).any(|node| node.is_comment());
        let members = top.map(|top| top.properties()).unwrap_or_default();
        let known = |property: &CstObjectProp| {
            name_of(property).is_some_and(|name| besides.iter().any(|(key, _)| *key == name))
        };
        !comments && members.iter().all(known)
    }

    fn text(&self) -> String {
        let mark = if self.marked { BYTE_ORDER_MARK } else { "" };
        format!("{mark}{}", self.root)
    }
}

/// The last member of this name, which is the one that counts.
fn last(object: &CstObject, name: &str) -> Option<CstObjectProp> {
    let mut properties = object.properties().into_iter().rev();
    properties.find(|property| name_of(property).as_deref() == Some(name))
}

/// All members of this name, and whether each is the one that counts.
fn named(object: &CstObject, name: &str) -> Vec<(CstObjectProp, bool)> {
    let mut properties = object.properties();
    properties.retain(|property| name_of(property).as_deref() == Some(name));
    let found = properties.into_iter().map(|property| (property, false));
    let mut found: Vec<_> = found.collect();
    if let Some((_, counts)) = found.last_mut() {
        *counts = true;
    }
    found
}

fn has_name(property: &CstObjectProp, names: &[&str]) -> bool {
    name_of(property).is_some_and(|name| names.contains(&name.as_str()))
}

fn name_of(property: &CstObjectProp) -> Option<String> {
    property.name()?.decoded_value().ok()
}

fn text_in(object: &CstObject, name: &str) -> Option<String> {
    let value = last(object, name)?.value()?.to_serde_value()?;
    value.as_str().map(str::to_owned)
}

fn last_array(object: &CstObject, name: &str) -> Option<CstArray> {
    last(object, name)?.array_value()
}

fn objects(list: &CstArray) -> Vec<CstObject> {
    let elements = list.elements();
    elements.iter().filter_map(CstNode::as_object).collect()
}

/// A member; made if it is not there or `null`.
fn member(object: &CstObject, name: &str, empty: fn() -> CstInputValue) -> CstObjectProp {
    let Some(property) = last(object, name) else {
        return object.append(name, empty());
    };
    let value = property.value();
    if value.is_some_and(|value| value.as_null_keyword().is_some()) {
        property.set_value(empty());
    }
    property
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| (key.clone(), input(value));
            CstInputValue::Object(members.iter().map(member).collect())
        }
    }
}
