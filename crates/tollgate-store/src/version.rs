//! How often a state was written, as it says itself.

use serde_json::Value;

use crate::document::Document;
use crate::json::{Object, whole};

/// The member that holds it.
pub(super) const VERSION: &str = "state_version";

/// The version of a document.
pub fn version(document: &Document) -> u64 {
    document.get(&[VERSION]).map_or(0, counted)
}

/// The version in a text that is known to be a document.
pub fn version_in(text: &str) -> u64 {
    let state = Object::parse(text).ok();
    let version = state.and_then(|state| state.get(VERSION));
    version
        .and_then(|node| serde_json::from_str(node.text()).ok())
        .map_or(0, |value| counted(&value))
}

/// The version as the original counts it: a number above 0, or else 0.
fn counted(value: &Value) -> u64 {
    whole(value).unwrap_or_else(|| {
        let number = value.as_f64().unwrap_or(0.0).floor();
        format!("{:.0}", number.clamp(0.0, 1e15))
            .parse()
            .unwrap_or(0)
    })
}
