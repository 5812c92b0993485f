//! A TOML file that is edited in place.

use toml_edit::{DocumentMut, Item, Table, TomlError};

/// What some editors put in front of a text.
const MARK: char = '\u{feff}';

/// A file that is edited, with what the parser forgets of it.
pub(crate) struct EditedToml {
    pub(crate) document: DocumentMut,
    /// It begins with a byte order mark.
    is_marked: bool,
    /// Most of its lines end with CRLF; the parser makes all ends the same.
    is_crlf: bool,
}

impl EditedToml {
    pub(crate) fn parse(text: &str) -> Result<Self, TomlError> {
        let lines = text.matches('\n').count();
        Ok(Self {
            document: text.parse()?,
            is_marked: text.starts_with(MARK),
            is_crlf: text.matches("\r\n").count() * 2 > lines,
        })
    }

    pub(crate) fn text(&self) -> String {
        let mut text = self.document.to_string();
        if self.is_crlf {
            text = text.replace("\r\n", "\n").replace('\n', "\r\n");
        }
        if self.is_marked && !text.is_empty() {
            text.insert(0, MARK);
        }
        text
    }
}

/// A table that is only written where it has values of its own.
pub(crate) fn implicit_table() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}
