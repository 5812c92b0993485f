//! The only place where text becomes HTML.
//!
//! Markup is written in this program (`&'static str`); everything else goes through
//! [`Html::text`], so that what an agent named or said cannot become markup. What a browser would
//! obey or hide without it being markup (control characters, marks that turn the order of reading
//! around) is shown by name.

use std::fmt::{self, Display, Write as _};

use crate::ui::plain::is_obeyed;

/// A piece of a page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Html(String);

impl Html {
    /// Markup of this program's own.
    pub(crate) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Anything else, as text; also inside a quoted attribute. Ends of lines are kept.
    pub(crate) fn text(&mut self, text: impl Display) -> &mut Self {
        // Writing to a string does not fail.
        let _written = write!(Escaping(&mut self.0), "{text}");
        self
    }

    /// A number with so many digits, for a coordinate or a cell.
    pub(crate) fn number(&mut self, value: f64, digits: usize) -> &mut Self {
        let value = if value.is_finite() { value } else { 0.0 };
        let _written = write!(self.0, "{value:.digits$}");
        self
    }

    /// An element with text in it.
    pub(crate) fn element(&mut self, tag: &'static str, class: &'static str, text: impl Display) {
        self.raw("<").raw(tag);
        if !class.is_empty() {
            self.raw(" class=\"").raw(class).raw("\"");
        }
        self.raw(">").text(text).raw("</").raw(tag).raw(">");
    }

    /// Another piece.
    pub(crate) fn add(&mut self, other: &Self) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

struct Escaping<'s>(&'s mut String);

impl fmt::Write for Escaping<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\n' | '\t' => self.0.push(c),
                c if is_obeyed(c) => write!(self.0, "\\u{{{:x}}}", u32::from(c))?,
                c => self.0.push(c),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Html;

    #[test]
    fn text_stays_text() {
        let mut html = Html::default();
        html.raw("<p title=\"").text("\" onclick='x'").raw("\">");
        html.text("<script>alert(1)</script>&\u{1b}[31m\u{202e}\0\nü");
        assert_eq!(
            html.into_string(),
            "<p title=\"&quot; onclick=&#39;x&#39;\">&lt;script&gt;alert(1)&lt;/script&gt;&amp;\
             \\u{1b}[31m\\u{202e}\\u{0}\nü"
        );
    }
}
