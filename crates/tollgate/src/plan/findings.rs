//! What a review found, and whether it was found before.
//!
//! A review is prose. Its findings are taken to be its list items and its lower headings; two of
//! them are the same if they say the same words and numbers, whatever their marks and their place
//! in a list.

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

/// What is new in a review since the one of this name, and what returned, in words for the agent.
/// None without findings.
pub(crate) fn compare(review: &str, (name, before): (&str, &str)) -> Option<String> {
    let found = read(review);
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
        // A heading of one word is the form of the review, not its content: "Issue 2".
        let words = key.split(' ').filter(|word| word.parse::<u64>().is_err());
        if words.count() > 1 && seen.insert(key.clone()) {
            let text: String = item.chars().take(SHOWN).collect();
            found.push(ReviewItem { text, key });
        }
    }
    found
}

/// The text of a list item or of a heading of the third level or below, without its number.
fn item(line: &str) -> Option<&str> {
    let marked = line
        .strip_prefix("- ")
        .or_else(|| line.strip_prefix("* "))
        .or_else(|| {
            line.strip_prefix("###")
                .map(|rest| rest.trim_start_matches('#'))
        })
        .map(str::trim_start);
    let numbered = marked.unwrap_or(line);
    let rest = numbered.trim_start_matches(|c: char| c.is_ascii_digit());
    let unnumbered = (rest.len() < numbered.len())
        .then(|| rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")))
        .flatten();
    let text = unnumbered.or(marked)?.trim();
    Some(text).filter(|text| !text.is_empty())
}

/// The words without marks.
fn key(text: &str) -> String {
    let words = text
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase);
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_known_again_by_its_words() {
        let first = "# Review\n## Issues\n1. Minor: variable naming in a.rs:12\n2. No test for empty input\n";
        let second = "## Issues\n- No test for empty input.\n### 2. **Minor**: variable naming in a.rs:12\n3) A new one here\n";
        let text = compare(second, ("round 1", first)).unwrap();
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
    fn two_findings_that_differ_in_a_number_are_two() {
        let first = "### Issue 1\n- Three retries of 30 s are too few\n";
        let second = "### Issue 2\n- Three retries of 60 s are too few\n";
        let text = compare(second, ("round 1", first)).unwrap();
        assert_eq!(
            text,
            "New since round 1: \"Three retries of 60 s are too few\"."
        );
    }

    #[test]
    fn without_findings_there_is_nothing_to_say() {
        assert_eq!(compare("# Review\nAll fine.", ("round 1", "- a b")), None);
        assert_eq!(compare("```\n- a b\n```", ("round 1", "")), None);
    }
}
