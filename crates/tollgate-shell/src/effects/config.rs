//! Git's configuration files: aliases, remotes, what a push without names pushes.

use std::path::{Path, PathBuf};

use crate::world::{RepositoryPaths, World};

/// Files that include files.
const MAX_DEPTH: u32 = 5;
/// More files than this are not read for one question.
const MAX_FILES: u32 = 16;
/// Longer files are not read.
const MAX_FILE: u64 = 1024 * 1024;

/// Where configuration comes from beside the repository.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) world: World<'a>,
    /// The file that `GIT_CONFIG_GLOBAL` names instead of those in the home directory.
    pub(super) global: Option<&'a str>,
    /// The texts of files that the command itself writes.
    pub(super) written: &'a [(String, String)],
}

/// Where it says what `git name` means: `[alias] ci = commit`, or in the newer spelling `[alias "ci"]
/// command = commit`.
pub(super) fn alias_keys(name: &str) -> [String; 2] {
    [format!("alias.{name}"), format!("alias.{name}.command")]
}

impl Around<'_> {
    /// The last value of one of these keys, which do not depend on case.
    pub(super) fn value(
        &self,
        keys: &[String],
        repository: Option<&RepositoryPaths>,
    ) -> Option<String> {
        let mut reading = Reading {
            around: *self,
            keys,
            found: None,
            left: MAX_FILES,
        };
        match (self.global, self.world.home) {
            (Some(path), _) => reading.file(Path::new(path), 0),
            (None, Some(home)) => {
                reading.file(&home.join(".config/git/config"), 0);
                reading.file(&home.join(".gitconfig"), 0);
            }
            (None, None) => {}
        }
        if let Some(repository) = repository {
            reading.file(&repository.common_dir.join("config"), 0);
            reading.file(&repository.git_dir.join("config.worktree"), 0);
        }
        reading.found
    }
}

/// One question, file by file.
struct Reading<'q> {
    around: Around<'q>,
    keys: &'q [String],
    /// The last value so far.
    found: Option<String>,
    left: u32,
}

impl Reading<'_> {
    fn file(&mut self, path: &Path, depth: u32) {
        let Some(left) = self.left.checked_sub(1) else {
            return;
        };
        self.left = left;
        let known = |file: &&(String, String)| Path::new(&file.0) == path;
        let written = self.around.written.iter().find(known);
        // What is written may be added to what is there.
        let text = self.around.world.files.read(path, MAX_FILE);
        let texts = text
            .into_iter()
            .chain(written.map(|(_, text)| text.clone()));
        for text in texts.collect::<Vec<_>>() {
            for (key, value) in entries(&text) {
                let includes = match key.split_once('.') {
                    Some(("include", "path")) => true,
                    Some(("includeif", rest)) => rest.rsplit('.').next() == Some("path"),
                    _ => false,
                };
                if self
                    .keys
                    .iter()
                    .any(|wanted| key.eq_ignore_ascii_case(wanted))
                {
                    self.found = Some(value);
                } else if includes && depth < MAX_DEPTH {
                    let included = self.included_path(path, &value);
                    self.file(&included, depth + 1);
                }
            }
        }
    }

    /// Where an included file is: beside the one that names it. Whether a condition for it holds
    /// is not asked; without it the alias would not exist, and git would refuse.
    fn included_path(&self, file: &Path, value: &str) -> PathBuf {
        match (value.strip_prefix("~/"), self.around.world.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => file.parent().unwrap_or(file).join(value),
        }
    }
}

/// The keys and values of a configuration text, in order. Sections and names are in lower case.
fn entries(text: &str) -> Vec<(String, String)> {
    let mut section = String::new();
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut line = line.trim();
        if let Some(rest) = line.strip_prefix('[') {
            let (header, after) = rest.split_once(']').unwrap_or((rest, ""));
            section = match header.split_once([' ', '.']) {
                Some((name, sub)) => {
                    let sub = sub.trim().trim_matches('"');
                    format!("{}.{sub}", name.trim().to_ascii_lowercase())
                }
                None => header.trim().to_ascii_lowercase(),
            };
            line = after.trim();
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        let mut value = value.trim().to_owned();
        while value.ends_with('\\') && !value.ends_with("\\\\") {
            value.pop();
            let Some(next) = lines.next() else { break };
            value.push_str(next.trim());
        }
        let key = format!("{section}.{}", key.trim().to_ascii_lowercase());
        found.push((key, unquote(&value)));
    }
    found
}

/// Takes the quotes, escapes and the trailing comment from a value.
fn unquote(value: &str) -> String {
    let mut out = String::new();
    let mut quoted = false;
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => quoted = !quoted,
            '\\' => match letters.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(other) => out.push(other),
                None => {}
            },
            '#' | ';' if !quoted => break,
            _ => out.push(letter),
        }
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_are_read_like_git_reads_them() {
        let text = "[user]\n\tname = x\n[alias]\n\tci = commit # c\n\tCo = \"checkout -q\"\n\
                    \tx = !git add . && \\\n\t  git commit\n[alias \"new\"]\n\tcommand = commit\n\
                    [other]\n\tci = nothing\n[include]\n\tpath = more\n";
        let more = "[alias]\n\tlate = commit\n[include]\n\tpath = more\n";
        let written = [
            ("/nowhere/config".to_owned(), text.to_owned()),
            ("/nowhere/more".to_owned(), more.to_owned()),
        ];
        let around = Around {
            world: World::unknown(),
            global: Some("/nowhere/config"),
            written: &written,
        };
        for (name, expected) in [
            ("ci", Some("commit")),
            ("co", Some("checkout -q")),
            ("x", Some("!git add . && git commit")),
            ("new", Some("commit")),
            ("late", Some("commit")),
            ("name", None),
        ] {
            let found = around.value(&alias_keys(name), None);
            assert_eq!(found.as_deref(), expected, "{name}");
        }
    }
}
