//! The answers of `test`, `[ … ]`, `[[ … ]]` and `grep -q`, where their words tell them.

use super::args::Args;
use super::run::Run;
use super::word::{DEEP, Match, QUERY, SOME_COMMIT, Word, activate, is_mark, matches};

/// Longer expressions are not taken apart.
const MAX_WORDS: usize = 64;

/// The answer of `test` and `[`, whose words end before `]`.
pub(crate) fn test(words: &[&str]) -> Option<bool> {
    Expression { patterns: false }.either(words)
}

/// The answer of `[[`, where the right side of `==` is a pattern.
pub(crate) fn double_test(words: &[&str]) -> Option<bool> {
    Expression { patterns: true }.either(words)
}

/// Whether a text fits a pattern of the shell.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    let every = |letter| {
        if letter == '*' {
            DEEP
        } else {
            activate(letter)
        }
    };
    let pattern: String = pattern.chars().map(every).collect();
    matches(&pattern, text) == Match::Yes
}

/// Which of the two kinds of expression it is.
#[derive(Clone, Copy)]
struct Expression {
    patterns: bool,
}

impl Expression {
    fn either(self, words: &[&str]) -> Option<bool> {
        if words.len() > MAX_WORDS {
            return None;
        }
        let mut answer = Some(false);
        for part in parts(words, ["||", "-o"]) {
            match self.both(part) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => answer = None,
            }
        }
        answer
    }

    fn both(self, words: &[&str]) -> Option<bool> {
        let mut answer = Some(true);
        for part in parts(words, ["&&", "-a"]) {
            match self.one(part) {
                Some(false) => return Some(false),
                Some(true) => {}
                None => answer = None,
            }
        }
        answer
    }

    fn one(self, words: &[&str]) -> Option<bool> {
        match words {
            ["!", rest @ ..] if !rest.is_empty() => return self.one(rest).map(|answer| !answer),
            ["(", rest @ .., ")"] => return self.either(rest),
            _ => {}
        }
        let unknown = |word: &&str| word.contains(is_mark) || word.contains(SOME_COMMIT);
        if words.iter().any(unknown) {
            return None;
        }
        let numbers = |a: &str, b: &str| Some((a.parse::<i64>().ok()?, b.parse::<i64>().ok()?));
        match words {
            [] => Some(false),
            ["-z", text] => Some(text.is_empty()),
            ["-n", text] => Some(!text.is_empty()),
            [text] => Some(!text.is_empty()),
            [a, "=" | "==", b] if self.patterns => Some(fits(b, a)),
            [a, "!=", b] if self.patterns => Some(!fits(b, a)),
            [a, "=~", b] if self.patterns => expression_fits(b, a),
            [a, "=" | "==", b] => Some(a == b),
            [a, "!=", b] => Some(a != b),
            [a, "-eq", b] => numbers(a, b).map(|(a, b)| a == b),
            [a, "-ne", b] => numbers(a, b).map(|(a, b)| a != b),
            [a, "-gt", b] => numbers(a, b).map(|(a, b)| a > b),
            [a, "-ge", b] => numbers(a, b).map(|(a, b)| a >= b),
            [a, "-lt", b] => numbers(a, b).map(|(a, b)| a < b),
            [a, "-le", b] => numbers(a, b).map(|(a, b)| a <= b),
            _ => None,
        }
    }
}

/// The words between operators that stand in no parentheses.
fn parts<'w, 't>(words: &'w [&'t str], operators: [&str; 2]) -> Vec<&'w [&'t str]> {
    // `[ -a file ]` asks for the file.
    if words.first().is_some_and(|first| operators.contains(first)) {
        return vec![words];
    }
    let mut depth = 0_u32;
    let parts = words.split(|word| {
        match *word {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && operators.contains(word)
    });
    parts.collect()
}

/// Whether a text holds what an extended regular expression of letters, groups, alternatives and
/// `.*` says; nothing for any other expression.
fn expression_fits(expression: &str, text: &str) -> Option<bool> {
    let mut found = Some(false);
    for part in alternatives(expression)? {
        // What has no end of its own may go on.
        let begins = part.strip_prefix('^');
        let part = begins.unwrap_or(&part);
        let ends = part.strip_suffix('$');
        let open = if begins.is_some() { "" } else { ".*" };
        let close = if ends.is_some() { "" } else { ".*" };
        let part = format!("{open}{}{close}", ends.unwrap_or(part));
        match glob_of(&part).map(|glob| matches(&glob, text) == Match::Yes) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => found = None,
        }
    }
    found
}

/// The alternatives of an expression, with those of its groups written out.
fn alternatives(expression: &str) -> Option<Vec<String>> {
    let mut open = vec![expression.to_owned()];
    let mut done = Vec::new();
    // The innermost group first; each turn takes one.
    for _ in 0..MAX_WORDS {
        let Some(text) = open.pop() else { break };
        let Some(end) = text.find(')') else {
            done.extend(text.split('|').map(str::to_owned));
            continue;
        };
        let (before, after) = (text.get(..end)?, text.get(end + 1..)?);
        let (before, group) = before.rsplit_once('(')?;
        open.extend(
            group
                .split('|')
                .map(|part| format!("{before}{part}{after}")),
        );
    }
    open.is_empty().then_some(done)
}

/// A regular expression as a pattern of this crate.
fn glob_of(expression: &str) -> Option<String> {
    let mut glob = String::new();
    let mut rest = expression;
    while let Some(letter) = rest.chars().next() {
        rest = rest.get(letter.len_utf8()..)?;
        let many = rest.strip_prefix('*');
        match letter {
            '.' if many.is_some() => {
                rest = many?;
                glob.push(DEEP);
            }
            '.' => glob.push(QUERY),
            '\\' if rest.starts_with(['.', '/', '-', '*']) => {
                glob.push(rest.chars().next()?);
                rest = rest.get(1..)?;
            }
            _ if many.is_some() || "\\[](){}+?^$|".contains(letter) => return None,
            _ => glob.push(letter),
        }
    }
    Some(glob)
}

/// The success of `grep` over the text that it is given.
pub(crate) fn grep(run: &Run) -> Option<bool> {
    let args = Args::read(run.args(), "ABCmef", &["regexp"]);
    let given = args.value(&["e", "regexp"]);
    let pattern = given.or(args.operands.first())?.literal()?;
    let files = args.operands.len() - usize::from(given.is_none());
    let text = run.input.as_ref().filter(|_| files == 0)?.literal()?;
    if args.flags.contains(['f', 'i', 'P', 'c', 'L']) || !args.long.is_empty() {
        return None;
    }
    let extended = args.flags.contains('E') || run.program() == Some("egrep");
    let found = |line: &str| {
        if args.flags.contains('F') {
            return Some(line.contains(pattern));
        }
        // In a basic expression these mean something with a backslash only.
        let pattern = match extended {
            true => pattern.to_owned(),
            false if pattern.contains(['|', '(', ')', '+', '?']) => swapped(pattern)?,
            false => pattern.to_owned(),
        };
        if args.flags.contains('x') {
            expression_fits(&format!("^{pattern}$"), line)
        } else {
            expression_fits(&pattern, line)
        }
    };
    let inverted = args.flags.contains('v');
    let mut answer = Some(false);
    for line in text.lines() {
        match found(line).map(|found| found != inverted) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => answer = None,
        }
    }
    answer
}

/// A basic expression as an extended one, if all its signs have their backslash.
fn swapped(pattern: &str) -> Option<String> {
    let plain = pattern
        .replace("\\|", "|")
        .replace("\\(", "(")
        .replace("\\)", ")");
    let signs = |text: &str| text.matches(['|', '(', ')']).count();
    let marked = ["\\|", "\\(", "\\)"].iter();
    let marked: usize = marked.map(|sign| pattern.matches(sign).count()).sum();
    (signs(pattern) == marked && !pattern.contains(['+', '?'])).then_some(plain)
}

/// The words of a test without its brackets; nothing when a command is none.
pub(crate) fn answer(run: &Run) -> Option<bool> {
    let words = run.args().iter().map(Word::raw);
    match run.words.first()?.literal()? {
        "test" => test(&words.collect::<Vec<_>>()),
        "[" => test(&words.filter(|word| *word != "]").collect::<Vec<_>>()),
        "[[" => double_test(&words.collect::<Vec<_>>()),
        "grep" | "egrep" => grep(run),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_decided_by_known_words_alone() {
        for (words, expected) in [
            (vec!["-z", ""], Some(true)),
            (vec!["-n", ""], Some(false)),
            (vec!["!", "-n", ""], Some(true)),
            (vec!["a", "=", "a"], Some(true)),
            (vec!["a", "!=", "a"], Some(false)),
            (vec!["2", "-gt", "1"], Some(true)),
            (vec!["x", "-gt", "1"], None),
            (vec!["a", "==", "a*"], Some(false)),
            (vec!["-f", "a"], None),
            (vec!["-a", "a"], None),
            (vec!["a", "=", "b", "-o", "c", "=", "c"], Some(true)),
            (vec!["-f", "x", "-o", "c", "=", "c"], Some(true)),
            (vec!["-f", "x", "-a", "c", "=", "d"], Some(false)),
            (vec!["-f", "x", "-a", "c", "=", "c"], None),
            (vec!["\u{FDD0}"], None),
            (vec![], Some(false)),
        ] {
            assert_eq!(test(&words), expected, "{words:?}");
        }
    }

    #[test]
    fn a_double_test_has_patterns_and_expressions() {
        for (words, expected) in [
            (vec!["feature/a", "==", "feature/*"], Some(true)),
            (vec!["main", "!=", "m*n"], Some(false)),
            (
                vec![
                    "(", "a", "==", "b", "||", "a", "==", "a", ")", "&&", "b", "==", "b",
                ],
                Some(true),
            ),
            (vec!["main", "=~", "^(main|master)$"], Some(true)),
            (vec!["maintenance", "=~", "^(main|master)$"], Some(false)),
            (vec!["maintenance", "=~", "main"], Some(true)),
            (vec!["feature/x", "=~", "^feature/.*"], Some(true)),
            (vec!["fix/a", "=~", "^(feature|fix)/"], Some(true)),
            (vec!["main", "=~", "^(feature|fix)/"], Some(false)),
            (vec!["x", "=~", "[a-z]+"], None),
            (vec!["x", "=~", "((("], None),
        ] {
            assert_eq!(double_test(&words), expected, "{words:?}");
        }
    }

    #[test]
    fn grep_answers_for_the_text_that_it_is_given() {
        for (words, expected) in [
            ("-q main", Some(true)),
            ("-qx mai", Some(false)),
            ("-qx main", Some(true)),
            ("-q ^main$", Some(true)),
            ("-qE ^(main|master)$", Some(true)),
            ("-q main\\|master", Some(true)),
            ("-q main|master", None),
            ("-qv main", Some(false)),
            ("-qF mai", Some(true)),
            ("-qi MAIN", None),
            ("-q [m]ain", None),
            ("-q main file", None),
        ] {
            let words = words.split(' ').map(Word::new);
            let run = Run {
                words: std::iter::once(Word::new("grep")).chain(words).collect(),
                input: Some(Word::new("main\n")),
                ..Run::empty(None)
            };
            assert_eq!(grep(&run), expected, "{:?}", run.words);
        }
    }
}
