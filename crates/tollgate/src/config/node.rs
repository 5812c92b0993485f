//! What a configuration file says, as a tree whose parts know where they are, whatever its format.

use std::time::Duration;

use serde_json::Value as Json;

use super::duration;

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// Counted from 1; 0 stands for the file as a whole.
    pub(crate) line: u64,
    /// Counted from 1, in characters; 0 where it is not known.
    pub(crate) column: u64,
    pub(crate) layer: Layer,
}

/// Where a value comes from. A later one goes before an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Layer {
    Default,
    /// The person's own file, for all projects.
    User,
    /// The project's file.
    #[default]
    Project,
    /// The person's own file in this project.
    Local,
    Environment,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// Null, true or false, a number, or a text.
    Scalar(Json),
    List(Vec<Node>),
    /// In the file's order.
    Map(Vec<(Key, Node)>),
}

#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) place: Place,
    pub(crate) name: String,
}

#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) place: Place,
    pub(crate) what: String,
    pub(crate) fix: Option<String>,
}

impl Place {
    /// A line of a file, without a column.
    pub(crate) fn at_line(line: u64) -> Self {
        Self {
            line,
            ..Self::default()
        }
    }

    /// Somewhere in a layer.
    pub(super) const fn in_layer(layer: Layer) -> Self {
        Self {
            line: 0,
            column: 0,
            layer,
        }
    }

    pub(super) fn node(self, value: Value) -> Node {
        Node { place: self, value }
    }

    pub(super) fn key(self, name: &str) -> Key {
        Key {
            place: self,
            name: name.to_owned(),
        }
    }
}

impl Node {
    /// The member of a map; null counts as absent.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let (_, node) = self.members().iter().find(|(name, _)| name.name == key)?;
        (!node.is_null()).then_some(node)
    }

    pub(crate) fn members(&self) -> &[(Key, Self)] {
        if let Value::Map(members) = &self.value {
            members
        } else {
            &[]
        }
    }

    pub(super) fn members_mut(&mut self) -> &mut [(Key, Self)] {
        if let Value::Map(members) = &mut self.value {
            members
        } else {
            &mut []
        }
    }

    pub(crate) fn is_map(&self) -> bool {
        matches!(self.value, Value::Map(_))
    }

    pub(crate) fn items(&self) -> &[Self] {
        if let Value::List(items) = &self.value {
            items
        } else {
            &[]
        }
    }

    /// What is neither a list nor a map.
    pub(super) fn scalar(&self) -> Option<&Json> {
        if let Value::Scalar(scalar) = &self.value {
            Some(scalar)
        } else {
            None
        }
    }

    pub(super) fn is_null(&self) -> bool {
        self.scalar().is_some_and(Json::is_null)
    }

    pub(crate) fn text(&self) -> Option<&str> {
        self.scalar()?.as_str()
    }

    pub(crate) fn bool(&self) -> Option<bool> {
        self.scalar()?.as_bool()
    }

    pub(crate) fn whole(&self) -> Option<u64> {
        let scalar = self.scalar()?;
        scalar.as_u64().or_else(|| as_whole(scalar.as_f64()?))
    }

    pub(crate) fn number(&self) -> Option<f64> {
        self.scalar()?.as_f64()
    }

    /// A time such as `"1h30m"`.
    pub(crate) fn duration(&self) -> Option<Duration> {
        duration::parse(self.text()?)
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        self.items()
            .iter()
            .filter_map(|item| item.text().map(Into::into))
            .collect()
    }

    pub(crate) fn to_json(&self) -> Json {
        match &self.value {
            Value::Scalar(scalar) => scalar.clone(),
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Map(members) => members
                .iter()
                .map(|(key, node)| (key.name.clone(), node.to_json()))
                .collect::<serde_json::Map<_, _>>()
                .into(),
        }
    }
}

/// A number without a fraction.
pub(crate) fn as_whole(number: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be whole and small"
    )]
    (number.fract() == 0.0 && (0.0..1e15).contains(&number)).then_some(number as u64)
}
