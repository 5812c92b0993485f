//! What a review found, and whether it was found before.
//!
//! A review is prose. Its findings are taken to be its list items and its lower headings; two of
//! them are the same if they say the same words, whatever their numbers and marks.

use std::collections::BTreeSet;

/// One finding and what it is recognised by.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ReviewItem {
    text: String,
    key: String,
}

/// How many findings a message names.
const NAMED: usize = 5;

/// How much of a finding a message shows.
const SHOWN: usize = 160;

/// What is new in a review, and what returned, in words for the agent. None without findings.
pub(crate) fn compare(review: &str, before: Option<(&str, &str)>) -> Option<String> {
    let found = read(review);
    let (name, before) = before?;
    let known: BTreeSet<String> = read(before).into_iter().map(|found| found.key).collect();
    let (returned, new): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|found| known.contains(&found.key));
    if returned.is_empty() && new.is_empty() {
        return None;
    }
    let mut text = String::new();
    if !new.is_empty() {
        text = format!("New since {name}: {}.", list(&new));
    }
    if !returned.is_empty() {
        let gap = if text.is_empty() { "" } else { " " };
        text = format!(
            "{text}{gap}Returned unchanged from {name}: {}. What was done about these did not convince the reviewer: fix them differently, or say in the post-review file why they stay.",
            list(&returned)
        );
    }
    Some(text)
}

fn list(found: &[ReviewItem]) -> String {
    let named: Vec<_> = found
        .iter()
        .take(NAMED)
        .map(|found| format!("\"{}\"", found.text))
        .collect();
    match found.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{}, and {more} more", named.join(", ")),
    }
}

fn read(text: &str) -> Vec<ReviewItem> {
    let mut seen = BTreeSet::new();
    let mut fenced = false;
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let Some(item) = item(line) else {
            continue;
        };
        let key = key(item);
        // A heading of one word is the form of the review, not its content.
        if key.split(' ').count() > 1 && seen.insert(key.clone()) {
            let text: String = item.chars().take(SHOWN).collect();
            found.push(ReviewItem { text, key });
        }
    }
    found
}

/// The text of a list item or of a heading of the third level or below.
fn item(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("- ")
        .or_else(|| line.strip_prefix("* "))
        .or_else(|| {
            line.strip_prefix("###")
                .map(|rest| rest.trim_start_matches('#'))
        })
        .or_else(|| {
            let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
            (rest.len() < line.len())
                .then(|| rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")))
                .flatten()
        })?;
    Some(rest.trim()).filter(|rest| !rest.is_empty())
}

/// The words without marks and numbers: line numbers move, and lists are renumbered.
fn key(text: &str) -> String {
    let words = text
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.chars().any(|c| !c.is_ascii_digit()))
        .map(str::to_lowercase);
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_known_again_by_its_words() {
        let first = "# Review\n## Issues\n1. Minor: variable naming in a.rs:12\n2. No test for empty input\n";
        let second = "## Issues\n- No test for empty input.\n- **Minor**: variable naming in a.rs:40\n3) A new one here\n";
        let text = compare(second, Some(("round 1", first))).unwrap();
        assert!(
            text.starts_with("New since round 1: \"A new one here\"."),
            "{text}"
        );
        assert!(
            text.contains(
                "Returned unchanged from round 1: \"No test for empty input.\", \"**Minor**"
            ),
            "{text}"
        );
    }

    #[test]
    fn without_findings_or_a_round_before_there_is_nothing_to_say() {
        assert_eq!(
            compare("# Review\nAll fine.", Some(("round 1", "- a b"))),
            None
        );
        assert_eq!(compare("- a b", None), None);
        assert_eq!(compare("```\n- a b\n```", Some(("round 1", ""))), None);
    }
}
