//! The files that a patch in Codex's format touches, and what it makes of one of them.
//!
//! Which files it touches is in its headers alone (`*** Update File: path`).

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::After;

const ADD: &str = "*** Add File:";
const UPDATE: &str = "*** Update File:";
const DELETE: &str = "*** Delete File:";
const MOVE: &str = "*** Move to:";
const HEADERS: [&str; 4] = [ADD, UPDATE, DELETE, MOVE];

/// Every file the patch adds, updates, deletes or moves to, in its order, each once.
pub(super) fn files<'a>(text: &Cow<'a, str>) -> Vec<Cow<'a, str>> {
    let mut files: Vec<Cow<'a, str>> = Vec::new();
    // A patch can name very many.
    let mut known = BTreeSet::new();
    let mut add = |file: Cow<'a, str>| {
        if known.insert(file.clone()) {
            files.push(file);
        }
    };
    match text {
        Cow::Borrowed(text) => names(text).for_each(|name| add(Cow::Borrowed(name))),
        Cow::Owned(text) => names(text).for_each(|name| add(Cow::Owned(name.to_owned()))),
    }
    files
}

/// What a patch does with one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchChange<'p> {
    /// It is added or changed.
    Writes(&'p str),
    /// It is removed, or moved away.
    Deletes(&'p str),
}

/// What the patch does with each file that it names, in its order.
pub(super) fn changes(text: &str) -> Vec<PatchChange<'_>> {
    let mut found: Vec<PatchChange<'_>> = Vec::new();
    for line in text.lines().map(str::trim) {
        let named = |header: &str| line.strip_prefix(header).map(str::trim);
        if let Some(path) = named(ADD).or_else(|| named(UPDATE)) {
            found.push(PatchChange::Writes(path));
        } else if let Some(path) = named(DELETE) {
            found.push(PatchChange::Deletes(path));
        } else if let Some(path) = named(MOVE) {
            // The file that is updated goes away.
            if let Some(last) = found.last_mut()
                && let PatchChange::Writes(from) = *last
            {
                *last = PatchChange::Deletes(from);
            }
            found.push(PatchChange::Writes(path));
        }
    }
    found
}

/// Codex trims a header line before it parses it, so an indented header is one too. A line of
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

/// What one file holds after the patch; `before` is what it holds now.
pub(super) fn after(patch: &str, path: &str, before: Option<&str>) -> After {
    let mut now = before.map(str::to_owned);
    let mut is_touched = false;
    let mut lines = patch.lines();
    while let Some(line) = lines.next() {
        let named = |header: &str| {
            let name = line.trim().strip_prefix(header);
            name.is_some_and(|name| name.trim() == path)
        };
        let body = || lines.clone().take_while(|line| !is_header(line));
        if named(DELETE) {
            now = None;
        } else if named(ADD) {
            now = Some(text(body().filter_map(|line| line.strip_prefix('+'))));
        } else if named(UPDATE) {
            let next = lines.clone().find(|line| is_header(line));
            let is_moved = next.is_some_and(|next| next.trim().starts_with(MOVE));
            now = if is_moved {
                None
            } else {
                let body: Vec<&str> = body().collect();
                match now.and_then(|now| updated(&now, &body)) {
                    Some(text) => Some(text),
                    None => return After::Unknown,
                }
            };
        } else if named(MOVE) {
            return After::Gone;
        } else {
            continue;
        }
        is_touched = true;
    }
    match now {
        Some(text) if is_touched => After::Text(text),
        None if is_touched => After::Gone,
        Some(_) | None => After::Unknown,
    }
}

fn is_header(line: &str) -> bool {
    let line = line.trim();
    line == "*** End Patch" || HEADERS.iter().any(|header| line.starts_with(header))
}

const END_OF_FILE: &str = "*** End of File";

/// The text after the hunks of an update; nothing if one of them does not fit.
fn updated(before: &str, body: &[&str]) -> Option<String> {
    let lines: Vec<&str> = before.lines().collect();
    let mut done: Vec<&str> = Vec::new();
    let mut added: Vec<&str> = Vec::new();
    let mut at = 0;
    for hunk in body.chunk_by(|_, next| !next.starts_with("@@")) {
        let context = hunk.first().and_then(|line| line.strip_prefix("@@"));
        let context = context.map(str::trim).filter(|text| !text.is_empty());
        let from = match context {
            Some(text) => find(&lines, at, &[text])? + 1,
            None => at,
        };
        let without = |sign: char| -> Vec<&str> {
            let lines = hunk
                .iter()
                .filter(|line| !line.starts_with(sign) && !is_mark(line));
            lines
                .map(|line| line.strip_prefix([' ', '-', '+']).unwrap_or(line))
                .collect()
        };
        let (old, new) = (without('+'), without('-'));
        // Lines that are only added go to the end.
        if old.is_empty() {
            added.extend(new);
            continue;
        }
        let ends = hunk.iter().any(|line| line.trim() == END_OF_FILE);
        let from = if ends {
            lines.len().saturating_sub(old.len()).max(from)
        } else {
            from
        };
        let start = find(&lines, from, &old)?;
        done.extend(lines.get(at..start).unwrap_or_default());
        done.extend(new);
        at = start + old.len();
    }
    done.extend(lines.get(at..).unwrap_or_default());
    done.extend(added);
    Some(text(done.into_iter()))
}

fn is_mark(line: &str) -> bool {
    line.starts_with("@@") || line.trim() == END_OF_FILE
}

/// Where the lines are, from a line on. Codex is content with lines that differ in the blanks at
/// their end, and then with any that differ in those around them.
fn find(lines: &[&str], from: usize, wanted: &[&str]) -> Option<usize> {
    let readings: [fn(&str) -> &str; 3] = [|line| line, str::trim_end, str::trim];
    readings.iter().find_map(|read| {
        let same = |found: &[&str]| found.iter().zip(wanted).all(|(a, b)| read(a) == read(b));
        let mut windows = lines.get(from..)?.windows(wanted.len());
        windows.position(same).map(|index| from + index)
    })
}

/// Lines as a text that ends with one.
fn text<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    lines.flat_map(|line| [line, "\n"]).collect()
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

    #[test]
    fn what_a_file_holds_after_a_patch() {
        let text = |text: &str| After::Text(text.to_owned());
        for (body, expected) in [
            ("*** Add File: f\n+x\n+y\n", text("x\ny\n")),
            (
                "*** Update File: f\n@@\n a\n-b\n+B\n c\n",
                text("a\nB\nc\nd\n"),
            ),
            (
                "*** Update File: f\n@@ a\n-b\n@@\n c\n-d\n*** Update File: g\n@@\n-a\n",
                text("a\nc\n"),
            ),
            (
                "*** Update File: f\n@@\n+e\n*** End of File\n",
                text("a\nb\nc\nd\ne\n"),
            ),
            (
                "*** Update File: f\n@@\n-b  \n+B\n@@\n-\td\n+D\n",
                text("a\nB\nc\nD\n"),
            ),
            (
                "*** Update File: f\n@@ c\n+e\n@@\n-a\n+A\n",
                text("A\nb\nc\nd\ne\n"),
            ),
            (
                "*** Update File: f\n@@\n-d\n+D\n*** End of File\n",
                text("a\nb\nc\nD\n"),
            ),
            (
                "*** Update File: f\n@@\n-a\n+A\n*** End of File\n",
                After::Unknown,
            ),
            ("*** Update File: f\n@@ b\n-a\n+A\n", After::Unknown),
            ("*** Delete File: f\n*** Add File: f\n+x\n", text("x\n")),
            ("*** Delete File: f\n", After::Gone),
            ("*** Update File: f\n*** Move to: g\n@@\n-a\n", After::Gone),
            ("*** Update File: g\n*** Move to: f\n@@\n-a\n", After::Gone),
            ("*** Update File: f\n@@\n-z\n", After::Unknown),
            ("*** Update File: g\n@@\n-a\n", After::Unknown),
        ] {
            let patch = format!("*** Begin Patch\n{body}*** End Patch\n");
            assert_eq!(after(&patch, "f", Some("a\nb\nc\nd\n")), expected, "{body}");
        }
    }
}
