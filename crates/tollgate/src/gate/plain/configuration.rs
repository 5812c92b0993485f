//! git's files of settings, as far as they say nothing that would have it see other files, or read
//! them in another way. Everything that is not known to be harmless is a doubt.

use std::path::{Path, PathBuf};

use super::settings::text;

/// What the settings say that matters to a plain repository.
#[derive(Debug, Default)]
pub(super) struct Settings {
    /// `core.excludesFile`
    pub(super) excludes: Option<PathBuf>,
}

/// Sections that have nothing to do with it, whatever they say. Filters need attributes,
/// and submodules need a mark in the index.
const HARMLESS_SECTIONS: [&str; 61] = [
    "advice",
    "alias",
    "am",
    "author",
    "blame",
    "branch",
    "browser",
    "checkout",
    "clone",
    "color",
    "column",
    "commit",
    "committer",
    "credential",
    "delta",
    "diff",
    "difftool",
    "fetch",
    "filter",
    "format",
    "gc",
    "ghq",
    "github",
    "gpg",
    "grep",
    "gui",
    "help",
    "http",
    "hub",
    "init",
    "interactive",
    "lfs",
    "log",
    "maintenance",
    "merge",
    "mergetool",
    "notes",
    "pack",
    "pager",
    "protocol",
    "pull",
    "push",
    "rebase",
    "receive",
    "rerere",
    "safe",
    "sendemail",
    "sequence",
    "stash",
    "status",
    "submodule",
    "tag",
    "tig",
    "trailer",
    "transfer",
    "uploadpack",
    "url",
    "user",
    "versionsort",
    "web",
    "worktree",
];

/// Keys of `core` that have nothing to do with it.
const HARMLESS_KEYS: [&str; 16] = [
    "abbrev",
    "askpass",
    "commentchar",
    "commitgraph",
    "compression",
    "editor",
    "gitproxy",
    "hookspath",
    "logallrefupdates",
    "loosecompression",
    "multipackindex",
    "pager",
    "preloadindex",
    "quotepath",
    "sshcommand",
    "whitespace",
];

/// Keys of `core` that must say this, as they do where nobody wrote them.
const EXPECTED: [(&str, bool); 7] = [
    ("autocrlf", false),
    ("bare", false),
    ("filemode", true),
    ("ignorecase", false),
    ("precomposeunicode", false),
    ("sparsecheckout", false),
    ("symlinks", true),
];

impl Settings {
    /// Reads a file of settings; none if it says something that is not known to be harmless.
    pub(super) fn read(&mut self, path: &Path, home: &Path) -> Option<()> {
        let Some(text) = text(path)? else {
            return Some(());
        };
        let text = std::str::from_utf8(&text).ok()?;
        let mut section = None;
        for line in text.lines() {
            let line = line.trim_matches([' ', '\t', '\r']);
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            // A line that goes on in the next one is nothing to be guessed at.
            if line.ends_with('\\') {
                return None;
            }
            if line.starts_with('[') {
                section = Some(header(line)?);
                continue;
            }
            let (key, value) = match line.split_once('=') {
                Some((key, value)) => (key.trim(), Some(value.trim())),
                None => (line, None),
            };
            if !is_sound(value.unwrap_or_default()) {
                return None;
            }
            self.say(section.as_ref()?, &key.to_ascii_lowercase(), value, home)?;
        }
        Some(())
    }

    /// What one line says.
    fn say(
        &mut self,
        (section, is_divided): &(String, bool),
        key: &str,
        value: Option<&str>,
        home: &Path,
    ) -> Option<()> {
        let is_key = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if key.is_empty() || !key.bytes().all(is_key) {
            return None;
        }
        if HARMLESS_SECTIONS.contains(&section.as_str()) {
            return Some(());
        }
        if section == "remote" {
            // Objects that are not there yet.
            return (!matches!(key, "promisor" | "partialclonefilter")).then_some(());
        }
        if section != "core" || *is_divided {
            return None;
        }
        if HARMLESS_KEYS.contains(&key) {
            return Some(());
        }
        if key == "repositoryformatversion" {
            return (value == Some("0")).then_some(());
        }
        if key == "excludesfile" {
            let value = value?.trim_matches('"');
            let is_plain = !value.contains(['"', '\\', '#', ';', '%', '\'']);
            let path = match value.strip_prefix("~/") {
                Some(rest) => home.join(rest),
                None => PathBuf::from(value),
            };
            self.excludes = Some(path.clone());
            return (is_plain && path.is_absolute()).then_some(());
        }
        let (_, expected) = EXPECTED.iter().find(|(known, _)| *known == key)?;
        let is_set = match value {
            Some(value) => is_true(value)?,
            None => true,
        };
        (is_set == *expected).then_some(())
    }
}

/// The name of a section, and whether it has a part of its own. None if nothing but git reads it.
fn header(line: &str) -> Option<(String, bool)> {
    let inner = line.strip_prefix('[')?.strip_suffix(']')?;
    let (name, part) = match inner.split_once([' ', '\t']) {
        Some((name, part)) => (name, Some(part.trim())),
        None => (inner, None),
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let is_part = |part: &str| {
        let text = part
            .strip_prefix('"')
            .and_then(|part| part.strip_suffix('"'));
        text.is_some_and(|text| !text.contains(['"', '\\', ']']))
    };
    let is_known = name.bytes().all(is_name) && part.is_none_or(is_part);
    is_known.then(|| (name.to_ascii_lowercase(), part.is_some()))
}

/// Whether the quotes of a value have an end, and git knows what is behind each backslash.
fn is_sound(value: &str) -> bool {
    let mut is_quoted = false;
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => return true,
            '\\' if !letters.next().is_some_and(|next| "ntb\"\\".contains(next)) => return false,
            _ => {}
        }
    }
    !is_quoted
}

/// A yes or no, as people write it.
pub(super) fn is_true(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}
