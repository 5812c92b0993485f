//! What `${name#…}`, `${name/…}`, `${name:1:2}`, `${name[1]}` and `${name,,}` make of a known value.

use crate::word::{BRACKET, DEEP, Match, activate, is_branch, is_mark, matches};

/// A pattern is tried at every place of a value, so long ones are unknown.
const MAX_VALUE: usize = 512;
const MAX_PATTERN: usize = 64;

/// The value after an operation, written as it stands behind the name; nothing when that is not
/// followed here.
pub(super) fn operate(value: &str, operation: &str) -> Option<String> {
    // `${name:?}`: the value, or the end.
    if operation.starts_with(":?") || operation.starts_with('?') {
        return Some(value.to_owned());
    }
    // The name of a branch without what precedes it: `${ref#refs/heads/}`.
    if let Some(prefix) = operation.strip_prefix('#')
        && value.contains(is_branch)
        && let Some(rest) = value.strip_prefix(prefix.trim_start_matches('#'))
    {
        return Some(rest.to_owned());
    }
    let long = value.len() > MAX_VALUE || operation.len() > MAX_VALUE;
    if long || value.contains(is_mark) || operation.contains(is_mark) {
        return None;
    }
    if operation.starts_with(['#', '%']) && operation.len() > MAX_PATTERN {
        return None;
    }
    if let Some(pattern) = operation.strip_prefix("##") {
        return Some(without(value, pattern, End::Start, true));
    }
    if let Some(pattern) = operation.strip_prefix('#') {
        return Some(without(value, pattern, End::Start, false));
    }
    if let Some(pattern) = operation.strip_prefix("%%") {
        return Some(without(value, pattern, End::Tail, true));
    }
    if let Some(pattern) = operation.strip_prefix('%') {
        return Some(without(value, pattern, End::Tail, false));
    }
    if let Some(rest) = operation.strip_prefix('/') {
        return replaced(value, rest);
    }
    if let Some(range) = operation.strip_prefix(':') {
        let letters: Vec<char> = value.chars().collect();
        return Some(slice(&letters, range, 0)?.iter().collect());
    }
    match operation {
        ",," | "@L" => Some(value.to_lowercase()),
        "^^" | "@U" => Some(value.to_uppercase()),
        "," => Some(first(value, |letter| letter.to_ascii_lowercase())),
        "^" | "@u" => Some(first(value, |letter| letter.to_ascii_uppercase())),
        "@Q" | "@E" | "@P" => Some(value.to_owned()),
        _ => None,
    }
}

/// `2`, `2:3`, `-1`: the part of a sequence whose first item has the number `base`.
pub(super) fn slice<'v, T>(items: &'v [T], range: &str, base: usize) -> Option<&'v [T]> {
    let (from, length) = match range.split_once(':') {
        Some((from, length)) => (from, Some(length.trim().parse::<i64>().ok()?)),
        None => (range, None),
    };
    let from: i64 = from.trim().parse().ok()?;
    let size = i64::try_from(items.len()).ok()?;
    let start = if from < 0 {
        size + from
    } else {
        (from - i64::try_from(base).ok()?).max(0)
    };
    let end = match length {
        Some(length) if length < 0 => size + length,
        Some(length) => start.saturating_add(length).min(size),
        None => size,
    };
    let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
    Some(items.get(start..end).unwrap_or_default())
}

/// The element of an array under an index or a key.
pub(super) fn element<'v>(elements: &'v [String], index: &str) -> Option<&'v str> {
    let keyed = format!("{index}]=");
    let named = elements
        .iter()
        .find_map(|item| item.strip_prefix(['[', BRACKET])?.strip_prefix(&keyed));
    if named.is_some() {
        return named;
    }
    let index: i64 = index.parse().ok()?;
    let size = i64::try_from(elements.len()).ok()?;
    let index = if index < 0 { size + index } else { index };
    let found = elements.get(usize::try_from(index).ok()?);
    Some(found.map(String::as_str).unwrap_or_default())
}

/// An element without the index it was written with: `[1]=x`.
pub(super) fn plain_element(text: &str) -> &str {
    let indexed = text.strip_prefix(['[', BRACKET]);
    indexed
        .and_then(|rest| rest.split_once("]="))
        .map_or(text, |(_, value)| value)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Start,
    Tail,
}

/// The value without the shortest or longest part at one end that the pattern covers.
fn without(value: &str, pattern: &str, end: End, longest: bool) -> String {
    let active = |letter| {
        if letter == '*' {
            DEEP
        } else {
            activate(letter)
        }
    };
    let pattern: String = pattern.chars().map(active).collect();
    let mut cuts: Vec<usize> = value.char_indices().map(|(at, _)| at).collect();
    cuts.push(value.len());
    // The shortest part first.
    if (end == End::Start) == longest {
        cuts.reverse();
    }
    for at in cuts {
        let (before, after) = value.split_at(at);
        let (part, rest) = match end {
            End::Start => (before, after),
            End::Tail => (after, before),
        };
        if matches(&pattern, part) == Match::Yes {
            return rest.to_owned();
        }
    }
    value.to_owned()
}

/// `pattern/text`, `/pattern/text` for all, `#` and `%` for one end; patterns without globs.
fn replaced(value: &str, rest: &str) -> Option<String> {
    let (all, rest) = match rest.strip_prefix('/') {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let (pattern, text) = rest.split_once('/').unwrap_or((rest, ""));
    if pattern.is_empty() || pattern.contains(['*', '?', '[', '\\']) {
        return None;
    }
    Some(match pattern.strip_prefix(['#', '%']) {
        Some(part) if pattern.starts_with('#') => match value.strip_prefix(part) {
            Some(rest) => format!("{text}{rest}"),
            None => value.to_owned(),
        },
        Some(part) => match value.strip_suffix(part) {
            Some(rest) => format!("{rest}{text}"),
            None => value.to_owned(),
        },
        None if all => value.replace(pattern, text),
        None => value.replacen(pattern, text, 1),
    })
}

fn first(value: &str, change: impl Fn(char) -> char) -> String {
    let mut letters = value.chars();
    let head = letters.next().map(change);
    head.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_do_what_a_shell_does() {
        for (value, operation, expected) in [
            ("a/b/c.txt", "#*/", Some("b/c.txt")),
            ("a/b/c.txt", "##*/", Some("c.txt")),
            ("a/b/c.txt", "%/*", Some("a/b")),
            ("a/b/c.txt", "%%/*", Some("a")),
            ("a.txt", "%.txt", Some("a")),
            ("a.txt", "%.md", Some("a.txt")),
            ("xcommit", "#?", Some("commit")),
            ("coXmit", "/X/m", Some("commit")),
            ("aXbX", "//X/", Some("ab")),
            ("Xa", "/#X/y", Some("ya")),
            ("aX", "/%X/y", Some("ay")),
            ("commitx", ":0:6", Some("commit")),
            ("xcommit", ":1", Some("commit")),
            ("commit", ": -3", Some("mit")),
            ("COMMIT", ",,", Some("commit")),
            ("commit", "^", Some("Commit")),
            ("commit", "/c*/x", None),
            ("commit", "@A", None),
        ] {
            assert_eq!(
                operate(value, operation).as_deref(),
                expected,
                "{value} {operation}"
            );
        }
    }
}
