//! Finding words in prose and in the output of programs.
//!
//! The originals match with regular expressions; compiling one costs more than deciding a whole
//! event. Two ways are enough:
//!
//! * A *pattern* ([`places`], [`says`]) is its own text, in lower case, in which a blank stands
//!   for any blanks and `#` for a number: `phase # complete`. It matches whole words only, and a
//!   name that goes on behind a hyphen is another word: `gate` is in "pass the gate" and neither
//!   in "delegate" nor in "gate-blocker".
//! * A *phrase* ([`phrases`]) is words with any blanks between them, in any case, wherever they
//!   stand. Beside it are the numbers that programs print next to a label.

use std::borrow::Cow;

/// A word that a shell reads back as it is.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A letter, digit, underscore or hyphen: what a name goes on with.
pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// The places where `pattern` stands in `text`: what is before and what is behind it.
pub fn places<'t>(text: &'t str, pattern: &str) -> impl Iterator<Item = (&'t str, &'t str)> {
    let start = pattern
        .find([' ', '#'])
        .and_then(|end| pattern.get(..end))
        .unwrap_or(pattern);
    text.match_indices(start).filter_map(move |(at, _)| {
        let (before, here) = text.split_at_checked(at)?;
        let after = after_phrase(here, pattern)?;
        let whole = !before.ends_with(is_word) && !after.starts_with(is_word);
        whole.then_some((before, after))
    })
}

/// Whether `text` says one of the patterns and does not say it to deny it.
pub fn says(text: &str, patterns: &[&str]) -> bool {
    patterns
        .iter()
        .any(|pattern| places(text, pattern).any(|(before, _)| !is_denied(before)))
}

/// How far back a denial may be, in bytes.
const NEAR: usize = 160;

/// The last few words before a place, the nearest first, back to one of the characters `ends`. A long
/// text without any of them costs no more.
pub fn last_words<'t>(before: &'t str, ends: &'static [char]) -> impl Iterator<Item = &'t str> {
    let start = before.ceil_char_boundary(before.len().saturating_sub(NEAR));
    let near = before.get(start..).unwrap_or(before);
    let part = near.rsplit(ends).next().unwrap_or(near);
    part.split_whitespace().rev().take(5)
}

/// Whether a word turns what follows it into its opposite.
pub fn is_negation(word: &str) -> bool {
    matches!(word, "not" | "never" | "cannot") || word.ends_with("n't") || word.ends_with("n’t")
}

/// What follows the pattern or phrase, if `text` begins with it in any case.
pub fn after_phrase<'t>(text: &'t str, pattern: &str) -> Option<&'t str> {
    pattern.chars().try_fold(text, |text, c| match c {
        ' ' => skip(text, char::is_whitespace),
        '#' => skip(text, |c| c.is_ascii_digit()),
        _ => text.strip_prefix(|first: char| first.eq_ignore_ascii_case(&c)),
    })
}

/// `text` without the characters it begins with, of which there must be one.
fn skip(text: &str, of: impl Fn(char) -> bool) -> Option<&str> {
    let left = text.trim_start_matches(of);
    (left.len() < text.len()).then_some(left)
}

/// "Do not advance to the …": a denial a few words earlier in the same clause. Only there: in
/// "do not wait, advance" the denial is about something else.
fn is_denied(before: &str) -> bool {
    let goes_on = |word: &&str| !matches!(*word, "and" | "but" | "then" | "or" | "so");
    last_words(before, &['.', '!', '?', '\n', ';', ',', ':'])
        .take_while(goes_on)
        .any(is_negation)
}

/// The places where `words` stand one after the other, in any case and with any blanks between
/// them, as the matched text and what follows it. `words` are in lower case, with one blank
/// between them.
pub fn phrases<'t>(text: &'t str, words: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    let first = words.bytes().next().unwrap_or(b' ');
    let starts = text
        .bytes()
        .enumerate()
        .filter(move |(_, byte)| byte.eq_ignore_ascii_case(&first));
    starts.filter_map(move |(at, _)| {
        let rest = text.get(at..)?;
        let after = after_phrase(rest, words)?;
        rest.get(..rest.len() - after.len())
            .map(|found| (found, after))
    })
}

/// The first of [`phrases`], as it is in the text.
pub fn phrase<'t>(text: &'t str, words: &'t str) -> Option<&'t str> {
    phrases(text, words).next().map(|(found, _)| found)
}

/// Whether `text` has `words` in this way.
pub fn has(text: &str, words: &str) -> bool {
    phrases(text, words).next().is_some()
}

/// Where `word` (lower case) stands alone in `text`, in any case.
pub fn words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> {
    phrases(text, word).filter_map(|(found, after)| {
        let at = text.len() - after.len() - found.len();
        let before = text.get(..at).unwrap_or_default();
        (!before.ends_with(in_word) && !after.starts_with(in_word)).then_some(at)
    })
}

/// A letter, a digit or an underscore.
pub fn in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The whole number at the beginning of a text, and what follows it.
pub fn leading_number(text: &str) -> Option<(u64, &str)> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.get(..text.len() - rest.len())?;
    Some((digits.parse().ok()?, rest))
}

/// Whether a text has numbers in brackets, as the options of a menu: `[1]`, `[12]`.
pub fn has_numbered(text: &str) -> bool {
    text.split('[').skip(1).any(|rest| {
        let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        after.len() < rest.len() && after.starts_with(']')
    })
}

/// The number in front of `label` in a list such as `2 failed, 3 passed`: a whole word, with a
/// number and one blank before it.
pub fn count(line: &str, label: &str) -> Option<u64> {
    let mut words = line.split(|c: char| c.is_whitespace() || ",;|()".contains(c));
    let mut before = "";
    loop {
        let word = words.next()?;
        if word.is_empty() {
            continue;
        }
        if word
            .trim_end_matches(['.', ':'])
            .eq_ignore_ascii_case(label)
            && let Ok(number) = before.parse()
        {
            return Some(number);
        }
        before = word;
    }
}

/// The number behind `label`, blanks between allowed: `Failures: 0`.
pub fn number_after(line: &str, label: &str) -> Option<u64> {
    let (_, rest) = line.split_once(label)?;
    leading_number(rest.trim_start()).map(|(number, _)| number)
}

/// The percentage that a text begins with: `85.71%`.
pub fn leading_percent(text: &str) -> Option<f64> {
    let (number, _) = text.split_once('%')?;
    // `nan%` is what a tool prints that had nothing to divide by.
    let number = number.trim().parse::<f64>().ok();
    number.filter(|number| number.is_finite())
}

/// Output as a person reads it: without colours, and with plain line ends.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(['\u{1b}', '\r']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => match letters.next() {
                Some('[') => drop(letters.find(|c| ('\u{40}'..='\u{7e}').contains(c))),
                // A title or a link: up to the bell or the string terminator.
                Some(']') => {
                    while let Some(c) = letters.next() {
                        if c == '\u{7}' || (c == '\u{1b}' && letters.next_if_eq(&'\\').is_some()) {
                            break;
                        }
                    }
                }
                Some(_) | None => {}
            },
            '\r' => {
                if letters.peek() != Some(&'\n') {
                    out.push('\n');
                }
            }
            other => out.push(other),
        }
    }
    Cow::Owned(out)
}

/// At most this many characters of a text.
pub fn cut(text: &str, most: usize) -> &str {
    text.char_indices()
        .nth(most)
        .and_then(|(at, _)| text.get(..at))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_and_blanks_are_any() {
        for (text, pattern, expected) in [
            ("pass the gate now", "gate", true),
            ("delegate", "gate", false),
            ("gates", "gate", false),
            ("the gate-blocker", "gate", false),
            ("validate gate-06.", "gate-#", true),
            ("gate-check", "gate-#", false),
            ("next \n phase", "next phase", true),
            ("nextphase", "next phase", false),
            ("next phases", "next phase", false),
            ("phase 06 complete", "phase # complete", true),
            ("phase complete", "phase # complete", false),
            ("grüße, gate", "gate", true),
            ("", "gate", false),
        ] {
            assert_eq!(places(text, pattern).count() > 0, expected, "{text}");
        }
    }

    #[test]
    fn a_hostile_text_takes_linear_time() {
        // The processor's time, not the clock's: other tests run beside this one.
        let spent = || {
            let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
            std::time::Duration::try_from(time).unwrap()
        };
        let text = "not advance ".repeat(200_000);
        let start = spent();
        assert!(!says(&text, &["advance"]));
        assert!(spent() < start + std::time::Duration::from_secs(5));
        assert!(says(&format!("{}advance", "ü ".repeat(999)), &["advance"]));
    }

    #[test]
    fn a_denial_reaches_to_the_end_of_its_clause() {
        for text in [
            "do not advance",
            "don't advance to the gate",
            "fix it. never advance",
            "you cannot yet advance",
        ] {
            assert!(!says(text, &["advance", "gate"]), "{text}");
        }
        for text in [
            "do not wait, advance",
            "don't stop and advance",
            "not done. advance",
            "without delay advance",
        ] {
            assert!(says(text, &["advance"]), "{text}");
        }
    }

    #[test]
    fn phrases_are_found_in_any_case_and_with_any_blanks() {
        assert_eq!(
            phrase(
                "Ok.  Would you\n LIKE to proceed?",
                "would you like to proceed"
            ),
            Some("Would you\n LIKE to proceed")
        );
        assert_eq!(phrase("wouldyou", "would you"), None);
        assert_eq!(phrase("é would", "would"), Some("would"));
        assert_eq!(phrases("a b a  b", "a b").count(), 2);
        assert_eq!(words("incomplete", "complete").count(), 0);
        assert_eq!(words("Step: complete.", "complete").count(), 1);
    }

    #[test]
    fn counts_belong_to_whole_labels() {
        let line = "=== 2 failed, 13 passed, 1 xfailed in 0.12s ===";
        assert_eq!(count(line, "failed"), Some(2));
        assert_eq!(count(line, "passed"), Some(13));
        assert_eq!(count(line, "skipped"), None);
        assert_eq!(count("Tests  1 failed | 2 passed (3)", "passed"), Some(2));
        assert_eq!(number_after("Failures: 3, Errors: 0", "Errors:"), Some(0));
        assert_eq!(leading_percent("85.71% of"), Some(85.71));
    }

    #[test]
    fn colours_and_carriage_returns_go() {
        assert_eq!(plain("\u{1b}[1;31mFAIL\u{1b}[0m a\r\nb"), "FAIL a\nb");
        assert_eq!(plain("10%\r20%\r\n"), "10%\n20%\n");
        assert_eq!(
            plain("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{1b}\\"),
            "link"
        );
        assert_eq!(cut("äöü", 2), "äö");
    }
}
