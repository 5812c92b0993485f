//! What a change touches: its files and the lines it added, from the diff that is reviewed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The changed files with their added lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    root: PathBuf,
    files: BTreeMap<String, BTreeSet<u64>>,
}

/// A reviewer counts lines a little differently, and a finding about a removed line has none of
/// its own.
const NEAR: u64 = 3;

impl Scope {
    /// Reads a unified diff, as git prints it.
    pub(crate) fn of(diff: &str, root: &Path) -> Self {
        let mut scope = Self {
            root: root.to_owned(),
            files: BTreeMap::new(),
        };
        let mut old = String::new();
        let mut file: Option<String> = None;
        let mut line = 0;
        // How many lines of the old and the new side the hunk still has: inside of it a line
        // `+++ x` is an added line `++ x`.
        let mut left = (0_u64, 0_u64);
        for text in diff.lines() {
            if left != (0, 0) {
                match text.as_bytes().first() {
                    Some(b'+') => {
                        if let Some(lines) =
                            file.as_ref().and_then(|name| scope.files.get_mut(name))
                        {
                            lines.insert(line);
                        }
                        line += 1;
                        left.1 = left.1.saturating_sub(1);
                    }
                    Some(b'-') => left.0 = left.0.saturating_sub(1),
                    Some(b'\\') => {}
                    Some(_) | None => {
                        line += 1;
                        left = (left.0.saturating_sub(1), left.1.saturating_sub(1));
                    }
                }
            } else if let Some(name) = text.strip_prefix("--- ") {
                old = path(name);
            } else if let Some(name) = text.strip_prefix("+++ ") {
                let new = path(name);
                // A removed file is known by its old name.
                let name = if new == "/dev/null" { old.clone() } else { new };
                scope.files.entry(name.clone()).or_default();
                file = Some(name);
            } else if let Some(name) = text.strip_prefix("rename to ") {
                scope.files.entry(unquote(name)).or_default();
            } else if let Some(hunk) = text.strip_prefix("@@ ") {
                let ((_, removed), (start, added)) = ranges(hunk).unwrap_or_default();
                line = start;
                left = (removed, added);
            }
        }
        scope
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The changed files.
    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// A path as the diff has it, whatever the reviewer made of it.
    pub(crate) fn normalise(&self, written: &str) -> String {
        let text = written.trim().trim_matches('`').replace('\\', "/");
        let absolute = Path::new(&text).strip_prefix(&self.root).ok();
        let text = absolute.and_then(Path::to_str).unwrap_or(&text);
        let text = text.trim_start_matches("./");
        let known = |name: &str| self.files.contains_key(name);
        if known(text) {
            return text.to_owned();
        }
        // `src/a.rs:12`, and the `b/` of the diff.
        let bare = text.split_once(':').map_or(text, |(file, _)| file);
        let stripped = bare
            .strip_prefix("b/")
            .or(bare.strip_prefix("a/"))
            .unwrap_or(bare);
        for candidate in [bare, stripped] {
            if known(candidate) {
                return candidate.to_owned();
            }
        }
        // Only the end of it, if that leaves no doubt.
        let tail = format!("/{bare}");
        let mut ends = self.files.keys().filter(|name| name.ends_with(&tail));
        match (ends.next(), ends.next()) {
            (Some(only), None) if !bare.is_empty() => only.clone(),
            (Some(_) | None, _) => text.to_owned(),
        }
    }

    /// Whether a finding there is about the change. One that does not say where is.
    pub(crate) fn covers(&self, file: Option<&str>, line: Option<u64>) -> bool {
        let Some(file) = file else { return true };
        let Some(lines) = self.files.get(file) else {
            return false;
        };
        line.is_none_or(|line| {
            let range = line.saturating_sub(NEAR)..=line.saturating_add(NEAR);
            lines.is_empty() || lines.range(range).next().is_some()
        })
    }
}

/// `-1,2 +3,4 @@` as ((1, 2), (3, 4)).
fn ranges(hunk: &str) -> Option<((u64, u64), (u64, u64))> {
    let mut sides = hunk.split(' ');
    let mut side = |mark: char| {
        let text = sides.next()?.strip_prefix(mark)?;
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    Some((side('-')?, side('+')?))
}

/// The path of a `---` or `+++` line.
fn path(name: &str) -> String {
    // git puts a tab behind a name with a blank.
    let name = unquote(name.trim_end_matches(['\t', '\r']));
    if name == "/dev/null" {
        return name;
    }
    let bare = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/"));
    bare.unwrap_or(&name).to_owned()
}

/// A name in git's quotes: `"a/\303\244.txt"`.
fn unquote(name: &str) -> String {
    let Some(inside) = name
        .strip_prefix('"')
        .and_then(|name| name.strip_suffix('"'))
    else {
        return name.to_owned();
    };
    let mut bytes = Vec::new();
    let mut rest = inside.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(first @ b'0'..=b'3') => {
                let digits = [Some(first), rest.next(), rest.next()];
                let value = digits.into_iter().flatten().fold(0_u32, |value, digit| {
                    value * 8 + u32::from(digit.saturating_sub(b'0'))
                });
                bytes.push(u8::try_from(value).unwrap_or(b'?'));
            }
            Some(b't') => bytes.push(b'\t'),
            Some(b'n') => bytes.push(b'\n'),
            Some(b'r') => bytes.push(b'\r'),
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
