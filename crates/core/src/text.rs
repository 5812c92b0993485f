//! Words in prose that people and agents write, matched by hand.
//!
//! A pattern is its own text, in lower case, in which a blank stands for any blanks and `#` for
//! a number: `phase # complete`. It matches whole words only, and a name that goes on behind a
//! hyphen is another word: `gate` is in "pass the gate" and neither in "delegate" nor in
//! "gate-blocker". Compiling one regular expression would cost more than a whole event.

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
        let after = rest(here, pattern)?;
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

/// How far back a denial is looked for, in bytes.
const NEAR: usize = 160;

/// What follows the pattern, if `text` begins with it.
fn rest<'t>(text: &'t str, pattern: &str) -> Option<&'t str> {
    pattern.chars().try_fold(text, |text, c| match c {
        ' ' => skip(text, char::is_whitespace),
        '#' => skip(text, |c| c.is_ascii_digit()),
        _ => text.strip_prefix(c),
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
    // A few words need no more, and a long text without a full stop costs no more.
    let start = before.ceil_char_boundary(before.len().saturating_sub(NEAR));
    let near = before.get(start..).unwrap_or(before);
    let clause = near
        .rsplit(['.', '!', '?', '\n', ';', ',', ':'])
        .next()
        .unwrap_or(near);
    let mut words = clause.split_whitespace().rev().take(5);
    let ends = |word: &&str| !matches!(*word, "and" | "but" | "then" | "or" | "so");
    words.by_ref().take_while(ends).any(|word| {
        matches!(word, "not" | "never" | "cannot") || word.ends_with("n't") || word.ends_with("n’t")
    })
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
        let text = "not advance ".repeat(200_000);
        let start = std::time::Instant::now();
        assert!(!says(&text, &["advance"]));
        assert!(start.elapsed() < std::time::Duration::from_secs(5));
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
}
