//! JSON Schemas, from the tables of keys: for editors, which complete and check with them.

use serde_json::{Value, json};

use super::duration;
use super::keys::ROOT;
use super::table::{Kind, Need, Row, Table};

pub(crate) fn of_tollgate_toml() -> Value {
    let mut schema = ROOT.schema();
    let gate = schema.pointer_mut("/properties/gates/additionalProperties");
    if let Some(gate) = gate.and_then(Value::as_object_mut) {
        let one = |key: &str| json!({ "required": [key] });
        let kinds = [one("run"), one("prompt"), one("prompt_file")];
        // The person's own file may have a part of a gate only, so no kind is required.
        gate.insert("not".to_owned(), json!({ "anyOf": pairs(&kinds) }));
    }
    if let Some(object) = schema.as_object_mut() {
        object.insert("title".to_owned(), "tollgate.toml".into());
    }
    schema
}

fn pairs(all: &[Value]) -> Vec<Value> {
    let mut pairs = Vec::new();
    for (index, one) in all.iter().enumerate() {
        for other in all.iter().skip(index + 1) {
            pairs.push(json!({ "allOf": [one, other] }));
        }
    }
    pairs
}

impl Table {
    pub(crate) fn schema(&self) -> Value {
        let properties: serde_json::Map<_, _> = self
            .keys
            .iter()
            .map(|row| (row.key.to_owned(), row.schema()))
            .collect();
        let required: Vec<_> = self
            .keys
            .iter()
            .filter(|row| row.need == Need::Required)
            .map(|row| row.key)
            .collect();
        json!({
            "type": "object", "description": self.about, "properties": properties,
            "required": required, "additionalProperties": false,
        })
    }
}

impl Row {
    fn schema(&self) -> Value {
        let mut schema = match &self.kind {
            Kind::Text => json!({ "type": "string", "minLength": 1 }),
            Kind::Bool => json!({ "type": "boolean" }),
            Kind::Whole(least) => json!({ "type": "integer", "minimum": least }),
            Kind::Between(least, most) => {
                json!({ "type": "integer", "minimum": least, "maximum": most })
            }
            Kind::Amount => json!({ "type": "number", "minimum": 0 }),
            Kind::OneOf(words) => json!({ "enum": words }),
            Kind::Word(words) => json!({ "enum": words() }),
            Kind::Words(words) => json!({ "type": "array", "items": { "enum": words() } }),
            Kind::Duration => json!({ "type": "string", "pattern": duration::PATTERN }),
            Kind::Texts | Kind::Globs | Kind::Patterns => {
                json!({ "type": "array", "items": { "type": "string" } })
            }
            Kind::Map(table) => table.schema(),
            Kind::Maps(table) => json!({ "type": "array", "items": table.schema() }),
            Kind::NamesOrMaps(table) | Kind::Examples(table) => {
                let name = json!({ "type": "string", "minLength": 1 });
                json!({ "type": "array", "items": { "anyOf": [name, table.schema()] } })
            }
            Kind::Named { settings, each } => {
                let mut schema = settings.schema();
                if let Some(object) = schema.as_object_mut() {
                    object.insert("additionalProperties".to_owned(), each.schema());
                }
                schema
            }
            Kind::TrueOrMaps(table) => {
                let (one, is_true) = (table.schema(), json!({ "const": true }));
                let list = json!({ "type": "array", "items": one });
                json!({ "anyOf": [is_true, one, list] })
            }
            Kind::Anything => json!({}),
        };
        let mut about = self.about.to_owned();
        if !self.default.is_empty() {
            about = format!("{about} Default: {}.", self.default);
        }
        if let Some(object) = schema.as_object_mut() {
            object.insert("description".to_owned(), about.into());
            if self.need == Need::Ignored {
                object.insert("deprecated".to_owned(), true.into());
            }
        }
        schema
    }
}
