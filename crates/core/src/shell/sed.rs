//! `sed`: its scripts and files, and the commands that a script runs with `e`.

use super::Link;
use super::filter::Finder;
use super::syntax::HOLE;
use super::walk::{Call, Io, Scope, Walker};
use super::word::Word;

/// A call of `sed`.
pub(crate) struct Sed {
    pub(crate) in_place: bool,
    /// It refuses to run or write anything.
    sandbox: bool,
    pub(crate) scripts: Vec<Word>,
    /// The files that it reads.
    pub(crate) operands: Vec<Word>,
}

impl Sed {
    /// Reads the words after the program.
    pub(crate) fn read(words: &[Word]) -> Self {
        let mut sed = Self {
            in_place: false,
            sandbox: false,
            scripts: Vec::new(),
            operands: Vec::new(),
        };
        let mut scripted = false;
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            let text = word.raw();
            if let Some(option) = text.strip_prefix("--") {
                sed.in_place |= option.starts_with("in-place");
                sed.sandbox |= matches!(option, "sandbox" | "posix");
                let (name, joined) = match option.split_once('=') {
                    Some((name, value)) => (name, Some(Word::new(value))),
                    None => (option, None),
                };
                if matches!(name, "expression" | "file") {
                    scripted = true;
                    at += usize::from(joined.is_none());
                    let value = joined.or_else(|| words.get(at - 1).cloned());
                    sed.scripts.extend(value.filter(|_| name == "expression"));
                }
                continue;
            }
            let Some(cluster) = text.strip_prefix('-').filter(|cluster| !cluster.is_empty()) else {
                sed.operands.push(word.clone());
                continue;
            };
            // After `i` comes a suffix, after `e` and `f` a value.
            let Some(index) = cluster.find(['i', 'e', 'f', 'l']) else {
                continue;
            };
            let (_, tail) = cluster.split_at(index);
            let (option, joined) = tail.split_at(1);
            if option == "i" {
                sed.in_place = true;
            } else if option != "l" {
                scripted = true;
                at += usize::from(joined.is_empty());
                let value = if joined.is_empty() {
                    words.get(at - 1).cloned()
                } else {
                    Some(Word::new(joined))
                };
                sed.scripts.extend(value.filter(|_| option == "e"));
            }
        }
        if !scripted && !sed.operands.is_empty() {
            sed.scripts.push(sed.operands.remove(0));
        }
        sed
    }
}

/// Something that a script runs.
#[derive(Debug, PartialEq, Eq)]
enum Ran<'s> {
    /// `e command`
    Text(&'s str),
    /// `e`: the line itself.
    Line,
    /// `s/pattern/text/e`: the line with the text in it.
    Replaced { pattern: &'s str, text: &'s str },
}

impl Walker<'_> {
    /// What the scripts run, and what is left of the files they change.
    pub(crate) fn sed(&mut self, call: &Call, scope: &Scope) {
        let sed = Sed::read(call.words.get(1..).unwrap_or_default());
        self.note_edited(call, &sed);
        let size: usize = sed.scripts.iter().map(|script| script.raw().len()).sum();
        if sed.sandbox || self.spent(u32::try_from(size / 64).unwrap_or(u32::MAX)) {
            return;
        }
        let input = call.io.input.as_deref().filter(|text| !text.contains(HOLE));
        for script in &sed.scripts {
            for ran in runs(script.raw()) {
                let mut lines: Vec<String> = Vec::new();
                let known = input.unwrap_or_default().lines().take(32);
                match ran {
                    Ran::Text(text) => lines.push(text.to_owned()),
                    Ran::Line => lines.extend(known.map(str::to_owned)),
                    Ran::Replaced { pattern, text } => match Finder::new(pattern) {
                        Some(finder) if input.is_some() => lines.extend(known.filter_map(|line| {
                            let (from, to) = finder.find(line)?;
                            let (before, after) = (line.get(..from)?, line.get(to..)?);
                            Some(format!("{before}{text}{after}"))
                        })),
                        _ => lines.push(text.to_owned()),
                    },
                }
                for line in lines {
                    let mut inner = scope.clone();
                    inner.dir.clone_from(&call.dir);
                    self.enter(Link::Maybe);
                    self.nested(&line, &mut inner, &Io::default());
                    self.leave();
                }
            }
        }
    }
}

/// The `e` commands and flags of a script.
fn runs(script: &str) -> Vec<Ran<'_>> {
    let mut found = Vec::new();
    let mut rest = script;
    while found.len() < 32 {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}']);
        rest = after_address(rest);
        let mut letters = rest.chars();
        let Some(verb) = letters.next() else { break };
        let body = letters.as_str();
        // Looked for only where it matters: one line may hold many commands.
        let line = || body.split_at(body.find('\n').unwrap_or(body.len()));
        rest = match verb {
            'e' => {
                let (text, below) = line();
                let text = text.trim();
                found.push(if text.is_empty() {
                    Ran::Line
                } else {
                    Ran::Text(text)
                });
                below
            }
            // Text up to the end of a line that no backslash continues.
            'a' | 'i' | 'c' | 'r' | 'R' | 'w' | 'W' => {
                let mut end = 0;
                for line in body.split_inclusive('\n') {
                    end += line.len();
                    if !line.trim_end_matches('\n').ends_with('\\') {
                        break;
                    }
                }
                body.get(end..).unwrap_or_default()
            }
            's' | 'y' => {
                let Some((pattern, text, tail)) = parts(body) else {
                    break;
                };
                let flags = tail.find([';', '\n', '}', 'w']).unwrap_or(tail.len());
                let (flags, after) = tail.split_at(flags);
                if verb == 's' && flags.contains('e') && !text.contains(['&', '\\']) {
                    found.push(Ran::Replaced { pattern, text });
                }
                // A flag `w` takes the rest of the line for a file's name.
                if after.starts_with('w') {
                    let end = after.find('\n').unwrap_or(after.len());
                    after.get(end..).unwrap_or_default()
                } else {
                    after
                }
            }
            ':' | 'b' | 't' | 'T' => {
                let end = body.find([';', '\n', '}']).unwrap_or(body.len());
                body.get(end..).unwrap_or_default()
            }
            '#' => line().1,
            _ => body,
        };
    }
    found
}

/// What stands behind the address of a command: `3`, `$`, `/x/,/y/`, `2!`.
fn after_address(script: &str) -> &str {
    let mut rest = script;
    loop {
        let plain = |letter: char| letter.is_ascii_digit() || "$,+~! \t".contains(letter);
        let next = rest.trim_start_matches(plain);
        let opened = match next.strip_prefix('\\') {
            Some(custom) => custom,
            None if next.starts_with('/') => next,
            None => return next,
        };
        match closed(opened) {
            Some((_, after)) => rest = after.trim_start_matches(['I', 'M']),
            None => return "",
        }
    }
}

/// The text between two of the first letter, and what follows.
fn closed(text: &str) -> Option<(&str, &str)> {
    let end = text.chars().next()?;
    let inner = text.get(end.len_utf8()..)?;
    let mut escaped = false;
    let mut class = false;
    for (at, letter) in inner.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            _ if letter == end && !class => {
                return Some((inner.get(..at)?, inner.get(at + end.len_utf8()..)?));
            }
            _ => {}
        }
    }
    None
}

/// The two texts of `s` and `y`, and what follows.
fn parts(body: &str) -> Option<(&str, &str, &str)> {
    let (pattern, rest) = closed(body)?;
    let end = body.chars().next()?;
    let mut escaped = false;
    let at = rest.char_indices().find(|(_, letter)| {
        let plain = !escaped;
        escaped = plain && *letter == '\\';
        plain && *letter == end
    });
    let (at, _) = at?;
    Some((pattern, rest.get(..at)?, rest.get(at + end.len_utf8()..)?))
}

#[cfg(test)]
mod tests {
    use super::{Ran, runs};

    #[test]
    fn only_the_command_and_the_flag_run_something() {
        for (script, expected) in [
            ("1e git status", vec![Ran::Text("git status")]),
            ("e", vec![Ran::Line]),
            ("$!{e x\n}", vec![Ran::Text("x")]),
            ("/a/,/b/e x", vec![Ran::Text("x")]),
            ("s/a/b/", vec![]),
            ("s/e x/b/;p", vec![]),
            (
                "s/a/b/ge",
                vec![Ran::Replaced {
                    pattern: "a",
                    text: "b",
                }],
            ),
            ("s|a|b/e|;e y", vec![Ran::Text("y")]),
            ("s/[/]e/b/", vec![]),
            ("s/a/b/w e", vec![]),
            ("a\\\ne x\np", vec![]),
            ("i e x", vec![]),
            ("y/e/x/", vec![]),
            (":e;be", vec![]),
            ("# e x\nd", vec![]),
            ("/e x/d", vec![]),
            ("\\,e x,d", vec![]),
            ("s/\\/e x/b/", vec![]),
        ] {
            assert_eq!(runs(script), expected, "{script}");
        }
    }
}
