//! The files that a patch in Codex's format touches.
//!
//! Only its headers are read (`*** Update File: path`); hunks are somebody else's business.

use std::borrow::Cow;

const HEADERS: [&str; 4] = [
    "*** Add File:",
    "*** Update File:",
    "*** Delete File:",
    "*** Move to:",
];

/// Every file the patch adds, updates, deletes or moves to, in its order, each once.
pub(super) fn files<'a>(text: &Cow<'a, str>) -> Vec<Cow<'a, str>> {
    let mut files: Vec<Cow<'a, str>> = Vec::new();
    let mut add = |file: Cow<'a, str>| {
        if !files.contains(&file) {
            files.push(file);
        }
    };
    match text {
        Cow::Borrowed(text) => names(text).for_each(|name| add(Cow::Borrowed(name))),
        Cow::Owned(text) => names(text).for_each(|name| add(Cow::Owned(name.to_owned()))),
    }
    files
}

/// Codex trims a header line before it looks at it, so an indented header is one too. A line of
/// a hunk begins with `+`, `-` or a blank; a context line that quotes a header is taken for one,
/// which names a file too many and never one too few.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let line = line.trim();
        HEADERS
            .iter()
            .find_map(|header| line.strip_prefix(header))
            .map(str::trim)
            .filter(|name| !name.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Cow<'_, str>> {
        files(&Cow::Borrowed(text))
    }

    #[test]
    fn all_four_headers_count() {
        let patch = "*** Begin Patch\n*** Add File: new.rs\n+fn main() {}\n\
                     *** Update File: src/a b.rs\n*** Move to: src/c.rs\n@@\n-x\n+y\n\
                     *** Delete File: old.rs\n*** End Patch\n";
        assert_eq!(of(patch), ["new.rs", "src/a b.rs", "src/c.rs", "old.rs"]);
    }

    #[test]
    fn added_lines_that_look_like_headers_are_content() {
        assert_eq!(
            of("*** Update File: a\n@@\n+*** Delete File: b\n-*** Add File: c"),
            ["a"]
        );
    }

    #[test]
    fn windows_line_ends_indents_and_repeats() {
        assert_eq!(
            of("  *** Update File: a\r\n*** Update File: a\r\n*** Add File:"),
            ["a"]
        );
    }
}
