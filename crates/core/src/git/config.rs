//! The `[alias]` section of git's configuration files.

use std::path::Path;

use super::Repository;
use super::file::read;

impl Repository {
    /// What `git name` is configured to mean, from the repository's and the person's files.
    pub fn alias(&self, name: &str, home: Option<&Path>) -> Option<String> {
        let own = [
            self.git_dir.join("config.worktree"),
            self.common_dir.join("config"),
        ];
        own.iter()
            .find_map(|path| alias_in(&read(path)?, name))
            .or_else(|| home_alias(name, home))
    }
}

/// What `git name` means to this person in any repository.
pub(crate) fn home_alias(name: &str, home: Option<&Path>) -> Option<String> {
    [".gitconfig", ".config/git/config"]
        .iter()
        .find_map(|path| alias_in(&read(&home?.join(path))?, name))
}

/// The last value of `alias.name` in a configuration text; names do not depend on case.
fn alias_in(text: &str, name: &str) -> Option<String> {
    let mut inside = false;
    let mut sub: Option<String> = None;
    let mut found = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut line = line.trim();
        if let Some(rest) = line.strip_prefix('[') {
            let (header, after) = rest.split_once(']').unwrap_or((rest, ""));
            let (section, subsection) = match header.split_once([' ', '.']) {
                Some((section, subsection)) => (section, Some(subsection)),
                None => (header, None),
            };
            inside = section.trim().eq_ignore_ascii_case("alias");
            sub = subsection.map(|text| text.trim().trim_matches('"').to_owned());
            line = after.trim();
        }
        if !inside || line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        // `[alias "ci"] command = commit` is the newer spelling of `[alias] ci = commit`.
        let key = match &sub {
            Some(sub) if key.trim().eq_ignore_ascii_case("command") => sub.as_str(),
            Some(_) => continue,
            None => key.trim(),
        };
        let mut value = value.trim().to_owned();
        while value.ends_with('\\') && !value.ends_with("\\\\") {
            value.pop();
            value.push_str(lines.next().unwrap_or_default().trim());
        }
        if key.eq_ignore_ascii_case(name) {
            found = Some(unquote(&value));
        }
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
                    [other]\n\tci = nothing\n";
        for (name, expected) in [
            ("ci", Some("commit")),
            ("co", Some("checkout -q")),
            ("x", Some("!git add . && git commit")),
            ("new", Some("commit")),
            ("name", None),
        ] {
            assert_eq!(alias_in(text, name).as_deref(), expected, "{name}");
        }
    }
}
