//! The JSON encoding of OTLP: names in lowerCamelCase, 64-bit integers as strings, ids in
//! hexadecimal.

use jiff::Timestamp;
use serde_json::{Value, json};

/// Attributes of a span, a data point or the resource.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes(Vec<Value>);

impl Attributes {
    pub(super) fn text(&mut self, key: &str, value: Option<&str>) -> &mut Self {
        self.put(key, value.map(|value| json!({ "stringValue": value })))
    }

    pub(super) fn integer(&mut self, key: &str, value: Option<u64>) -> &mut Self {
        self.put(
            key,
            value.map(|value| json!({ "intValue": value.to_string() })),
        )
    }

    pub(super) fn number(&mut self, key: &str, value: Option<f64>) -> &mut Self {
        let value = value.filter(|value| value.is_finite());
        self.put(key, value.map(|value| json!({ "doubleValue": value })))
    }

    fn put(&mut self, key: &str, value: Option<Value>) -> &mut Self {
        self.0
            .extend(value.map(|value| json!({ "key": key, "value": value })));
        self
    }

    pub(super) fn into_json(self) -> Value {
        Value::Array(self.0)
    }
}

/// Who sends: the project.
pub(super) fn resource(project: &str) -> Value {
    let mut attributes = Attributes::default();
    attributes
        .text("service.name", Some("tollgate"))
        .text("service.version", Some(env!("CARGO_PKG_VERSION")))
        .text("tollgate.project", Some(project));
    json!({ "attributes": attributes.into_json() })
}

pub(super) fn scope() -> Value {
    json!({ "name": "tollgate", "version": env!("CARGO_PKG_VERSION") })
}

/// Nanoseconds since 1970, as a string.
pub(super) fn nanos(moment: Timestamp) -> String {
    moment.as_nanosecond().max(0).to_string()
}
