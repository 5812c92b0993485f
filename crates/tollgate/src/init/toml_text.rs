//! Text of a `tollgate.toml`, line by line, with the comments that tell a newcomer what it says.

use toml_edit::{Array, Value};

use crate::config::toml::quoted;

/// A list that would be longer than this is written over several lines.
const WIDTH: usize = 80;

#[derive(Debug, Default)]
pub(super) struct TomlText(String);

impl TomlText {
    pub(super) fn into_text(self) -> String {
        self.0
    }

    fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    pub(super) fn blank(&mut self) {
        self.0.push('\n');
    }

    pub(super) fn comment(&mut self, text: &str) {
        for line in text.lines() {
            self.line(format!("# {line}").trim_end());
        }
    }

    /// The head of a table: `[gates.web-test]`.
    pub(super) fn table(&mut self, path: &[&str]) {
        let keys: Vec<_> = path.iter().map(|key| quoted(key)).collect();
        self.line(&format!("[{}]", keys.join(".")));
    }

    pub(super) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.line(&format!("{key} = {}", value.into()));
    }

    pub(super) fn list<V: Into<Value>>(&mut self, key: &str, items: impl IntoIterator<Item = V>) {
        let items: Vec<Value> = items.into_iter().map(Into::into).collect();
        let array: Array = items.iter().cloned().collect();
        let line = format!("{key} = {array}");
        if line.len() <= WIDTH {
            self.line(&line);
            return;
        }
        self.line(&format!("{key} = ["));
        for item in items {
            self.line(&format!("    {item},"));
        }
        self.line("]");
    }
}
