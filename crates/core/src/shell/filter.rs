//! What filters make of a known text on its way through a pipe: `sed s/a/b/`, `head -1`, `tr a b`.
//!
//! Only plain forms are followed; of everything else the output is unknown.

use super::effects::Args;
use super::syntax::{HOLE, LOOSE};
use super::word::{Word, is_mark};

/// What `name` prints when it reads `input`; nothing when that cannot be told.
pub(crate) fn filtered(name: &str, args: &[Word], input: &str) -> Option<String> {
    if input.contains([HOLE, LOOSE]) {
        // Lines that hold the word, whatever else is in them.
        return match name {
            "grep" => wanted(args).map(|text| format!("{HOLE}{text}{HOLE}\n")),
            _ => None,
        };
    }
    let args = Args::read(args, valued(name), &["lines", "delimiter", "fields"]);
    let literal = |word: &Word| word.literal().map(str::to_owned);
    let lines = || input.lines();
    let count = || {
        let given = args.value(&["n", "lines"]).and_then(literal);
        let short = Some(args.flags.clone()).filter(|flags| !flags.is_empty());
        let number = given.or(short).unwrap_or_else(|| "10".to_owned());
        // `-n +2` counts from the start.
        (number.parse::<usize>().ok()).filter(|_| !number.starts_with('+'))
    };
    let reads_files = match name {
        "head" | "tail" | "sort" | "uniq" | "rev" | "tac" | "cut" | "base64" => {
            !args.operands.is_empty()
        }
        _ => false,
    };
    if reads_files {
        return None;
    }
    match name {
        "head" => Some(joined(lines().take(count()?))),
        "tail" => {
            let count = count()?;
            Some(joined(lines().skip(lines().count().saturating_sub(count))))
        }
        "rev" => {
            let turned = lines().map(|line| line.chars().rev().collect::<String>());
            Some(turned.flat_map(|line| [line, "\n".to_owned()]).collect())
        }
        "tac" => Some(joined(lines().rev())),
        "sort" if args.flags.is_empty() => {
            let mut sorted: Vec<&str> = lines().collect();
            sorted.sort_unstable();
            Some(joined(sorted.into_iter()))
        }
        "uniq" if args.flags.is_empty() => {
            let mut kept: Vec<&str> = lines().collect();
            kept.dedup();
            Some(joined(kept.into_iter()))
        }
        "grep" => {
            let pattern = args.operands.first().and_then(literal)?;
            let plain = args.flags.chars().all(|flag| "vEF".contains(flag));
            if !plain || args.operands.len() != 1 || !args.long.is_empty() {
                return None;
            }
            let finder = Finder::new(&pattern)?;
            let inverted = args.flags.contains('v');
            let kept = lines().filter(|line| finder.find(line).is_some() != inverted);
            Some(joined(kept))
        }
        "cut" => {
            let field: usize = args.value(&["f", "fields"])?.literal()?.parse().ok()?;
            let end = args.value(&["d", "delimiter"]).and_then(Word::literal);
            let end = end.unwrap_or("\t");
            let cut = lines().map(|line| {
                if line.contains(end) {
                    line.split(end).nth(field.saturating_sub(1)).unwrap_or("")
                } else {
                    line
                }
            });
            Some(joined(cut))
        }
        "tr" => translated(&args, input),
        "sed" | "gsed" => edited(&args, input),
        "base64" if args.flags.contains(['d', 'D']) || args.long.contains(&"decode") => {
            decoded(input)
        }
        _ => None,
    }
}

/// The options of a filter that take a value.
fn valued(name: &str) -> &'static str {
    match name {
        "head" | "tail" => "n",
        "cut" => "dfcb",
        "sed" | "gsed" => "ef",
        "grep" => "ABCefm",
        "sort" => "kt",
        _ => "",
    }
}

fn joined<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The plain word that `grep` lets through.
fn wanted(args: &[Word]) -> Option<String> {
    let args = Args::read(args, "ABCefm", &[]);
    let [pattern] = args.operands.as_slice() else {
        return None;
    };
    if !args.flags.chars().all(|flag| "EF".contains(flag)) || !args.long.is_empty() {
        return None;
    }
    let pattern = pattern.literal()?.replace("\\.", ".");
    let plain = pattern.replace('.', "x");
    let finder = Finder::new(&plain)?;
    (!finder.start && !finder.end).then_some(pattern)
}

/// A pattern without anything but plain letters and anchors.
pub(crate) struct Finder<'p> {
    text: &'p str,
    start: bool,
    end: bool,
}

impl<'p> Finder<'p> {
    pub(crate) fn new(pattern: &'p str) -> Option<Self> {
        let (start, rest) = match pattern.strip_prefix('^') {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        let (end, text) = match rest.strip_suffix('$') {
            Some(text) => (true, text),
            None => (false, rest),
        };
        let plain = !text.contains(['.', '*', '[', ']', '\\', '^', '$', '+', '?', '(', '{', '|']);
        plain.then_some(Self { text, start, end })
    }

    /// Where it stands in a line.
    pub(crate) fn find(&self, line: &str) -> Option<(usize, usize)> {
        let at = match (self.start, self.end) {
            (true, true) => (line == self.text).then_some(0),
            (true, false) => line.starts_with(self.text).then_some(0),
            (false, true) => line
                .ends_with(self.text)
                .then(|| line.len() - self.text.len()),
            (false, false) => line.find(self.text),
        };
        at.map(|at| (at, at + self.text.len()))
    }
}

/// `tr a-z A-Z`, `tr -d x`, `tr '\n' ' '`.
fn translated(args: &Args<'_>, input: &str) -> Option<String> {
    let set = |word: &Word| letters(word.literal()?);
    match (args.operands.as_slice(), args.flags.as_str()) {
        ([from, to], "") => {
            let (from, to) = (set(from)?, set(to)?);
            let last = *to.last()?;
            let change = |letter: char| match from.iter().position(|known| *known == letter) {
                Some(at) => to.get(at).copied().unwrap_or(last),
                None => letter,
            };
            Some(input.chars().map(change).collect())
        }
        ([from], "d") => {
            let from = set(from)?;
            Some(
                input
                    .chars()
                    .filter(|letter| !from.contains(letter))
                    .collect(),
            )
        }
        _ => None,
    }
}

/// The letters of a set of `tr`.
fn letters(text: &str) -> Option<Vec<char>> {
    match text {
        "[:upper:]" => return Some(('A'..='Z').collect()),
        "[:lower:]" => return Some(('a'..='z').collect()),
        _ => {}
    }
    let mut found = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        let letter = match letter {
            '\\' => match rest.next()? {
                'n' => '\n',
                't' => '\t',
                other => other,
            },
            '[' => return None,
            other => other,
        };
        let mut ahead = rest.clone();
        match (ahead.next(), ahead.next()) {
            (Some('-'), Some(high)) if letter.is_ascii() && high.is_ascii() => {
                found.extend(letter..=high);
                rest = ahead;
            }
            _ => found.push(letter),
        }
    }
    Some(found)
}

/// One command of `sed`.
enum Edit {
    Replace {
        pattern: String,
        text: String,
        all: bool,
        print: bool,
    },
    /// `3p`, `/x/p`, `p`
    Print(Where),
    /// `3d`, `/x/d`, `d`
    Delete(Where),
}

enum Where {
    All,
    Line(usize),
    Holding(String),
}

impl Where {
    fn holds(&self, number: usize, line: &str) -> bool {
        match self {
            Self::All => true,
            Self::Line(wanted) => *wanted == number,
            Self::Holding(pattern) => {
                Finder::new(pattern).is_some_and(|finder| finder.find(line).is_some())
            }
        }
    }
}

fn edited(args: &Args<'_>, input: &str) -> Option<String> {
    let quiet = args.flags.contains('n') || args.long.contains(&"quiet");
    if !args.flags.chars().all(|flag| "nErsu".contains(flag)) || args.value(&["f"]).is_some() {
        return None;
    }
    let given: Vec<&Word> = args.values.iter().map(|(_, value)| value).collect();
    let scripts: Vec<&Word> = match (given.is_empty(), args.operands.as_slice()) {
        (true, [script]) => vec![script],
        (false, []) => given,
        _ => return None,
    };
    let mut edits = Vec::new();
    for script in scripts {
        read_script(script.literal()?, &mut edits)?;
    }
    let mut out = String::new();
    for (index, line) in input.lines().enumerate() {
        edit_line(line, index + 1, quiet, &edits, &mut out);
        if out.len() > 64 * 1024 {
            return None;
        }
    }
    Some(out)
}

fn edit_line(line: &str, number: usize, quiet: bool, edits: &[Edit], out: &mut String) {
    let mut line = line.to_owned();
    for edit in edits {
        match edit {
            Edit::Replace {
                pattern,
                text,
                all,
                print,
            } => {
                let Some(finder) = Finder::new(pattern) else {
                    continue;
                };
                let Some((from, to)) = finder.find(&line) else {
                    continue;
                };
                if *all && !pattern.is_empty() && !finder.start && !finder.end {
                    line = line.replace(pattern.as_str(), text);
                } else {
                    line.replace_range(from..to, text);
                }
                if *print {
                    out.extend([line.as_str(), "\n"]);
                }
            }
            Edit::Print(place) if place.holds(number, &line) => out.extend([line.as_str(), "\n"]),
            Edit::Delete(place) if place.holds(number, &line) => return,
            Edit::Print(_) | Edit::Delete(_) => {}
        }
    }
    if !quiet {
        out.extend([line.as_str(), "\n"]);
    }
}

/// Reads `s/a/b/g; 3d; /x/p`; nothing when there is anything else in it.
fn read_script(script: &str, edits: &mut Vec<Edit>) -> Option<()> {
    let mut rest = script.trim_start_matches([' ', ';', '\n']);
    while !rest.is_empty() {
        if edits.len() >= 32 {
            return None;
        }
        if let Some(body) = rest.strip_prefix('s') {
            let end = body.chars().next().filter(|end| !end.is_alphanumeric())?;
            let mut parts = body.get(end.len_utf8()..)?.splitn(3, end);
            let (pattern, text, tail) = (parts.next()?, parts.next()?, parts.next()?);
            let length = tail.find([';', '\n']).unwrap_or(tail.len());
            let (flags, after) = tail.split_at(length);
            let flags = flags.trim();
            if !flags.chars().all(|flag| "gp".contains(flag)) || text.contains(['&', '\\']) {
                return None;
            }
            Finder::new(pattern)?;
            edits.push(Edit::Replace {
                pattern: pattern.to_owned(),
                text: text.to_owned(),
                all: flags.contains('g'),
                print: flags.contains('p'),
            });
            rest = after;
        } else {
            let length = rest.find([';', '\n']).unwrap_or(rest.len());
            let (command, after) = rest.split_at(length);
            let command = command.trim();
            let verb = command.chars().next_back()?;
            let place = command.get(..command.len() - verb.len_utf8())?;
            let place = match place
                .strip_prefix('/')
                .and_then(|text| text.strip_suffix('/'))
            {
                Some(pattern) => {
                    Finder::new(pattern)?;
                    Where::Holding(pattern.to_owned())
                }
                None if place.is_empty() => Where::All,
                None => Where::Line(place.parse().ok()?),
            };
            edits.push(match verb {
                'p' => Edit::Print(place),
                'd' => Edit::Delete(place),
                _ => return None,
            });
            rest = after;
        }
        rest = rest.trim_start_matches([' ', ';', '\n']);
    }
    Some(())
}

/// The text behind base64.
fn decoded(input: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0_u32);
    for byte in input.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => break,
            _ => return None,
        };
        held = (held << 6 | u32::from(value)) & 0xFFFF;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(held >> bits & 0xFF).ok()?);
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    // What stands for unknown text cannot come from the outside.
    (!text.contains(is_mark)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::filtered;
    use crate::shell::split_words;

    #[test]
    fn filters_do_what_the_programs_do() {
        for (name, args, input, expected) in [
            ("head", "-1", "a\nb\n", Some("a\n")),
            ("head", "-n 1", "a\nb\n", Some("a\n")),
            ("tail", "-n1", "a\nb\n", Some("b\n")),
            ("tail", "-n 0", "a\nb\n", Some("")),
            ("tail", "-n +2", "a\nb\n", None),
            ("head", "-1 f", "a\n", None),
            ("grep", "b", "ab\nc\n", Some("ab\n")),
            ("grep", "-v b", "ab\nc\n", Some("c\n")),
            ("grep", "^a", "ab\nca\n", Some("ab\n")),
            ("grep", "a.b", "ab\n", None),
            ("grep", "-c a", "a\n", None),
            ("sed", "s/a/b/", "aa\n", Some("ba\n")),
            ("sed", "s/a/b/g", "aa\n", Some("bb\n")),
            ("sed", "'s/^# //'", "# x\n", Some("x\n")),
            ("sed", "-e s/a/b/ -e s/b/c/", "a\n", Some("c\n")),
            ("sed", "-n 's/^r //p'", "r x\ny\n", Some("x\n")),
            ("sed", "-n 2p", "a\nb\n", Some("b\n")),
            ("sed", "1d", "a\nb\n", Some("b\n")),
            ("sed", "/a/d", "a\nb\n", Some("b\n")),
            ("sed", "'s/$/ x/;s/a/b/'", "a\n", Some("b x\n")),
            ("sed", "'s/a.*/b/'", "a\n", None),
            ("sed", "'s/a/&&/'", "a\n", None),
            ("sed", "-i s/a/b/ f", "a\n", None),
            ("sed", "y/a/b/", "a\n", None),
            ("tr", "A-Z a-z", "AbC", Some("abc")),
            ("tr", "[:upper:] [:lower:]", "AbC", Some("abc")),
            ("tr", "'\\n' ' '", "a\nb\n", Some("a b ")),
            ("tr", "-d x", "axb", Some("ab")),
            ("cut", "-d, -f2", "a,b\n", Some("b\n")),
            ("cut", "-d ; -f 1", "a;b\n", Some("a\n")),
            ("rev", "", "ab\n", Some("ba\n")),
            ("sort", "", "b\na\n", Some("a\nb\n")),
            ("sort", "-r", "b\na\n", None),
            ("base64", "-d", "Z2l0Cg==", Some("git\n")),
            ("base64", "", "git", None),
            ("grep", "a", "\u{FDD0}", Some("\u{FDD0}a\u{FDD0}\n")),
            ("sed", "s/a/b/", "\u{FDD0}", None),
        ] {
            let found = filtered(name, &split_words(args), input);
            assert_eq!(found.as_deref(), expected, "{name} {args}");
        }
    }
}
