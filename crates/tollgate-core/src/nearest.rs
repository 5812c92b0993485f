//! The most likely name behind a misspelt one.

/// The candidate that is closest to `name`, if it is close enough to be meant.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let best = candidates
        .into_iter()
        .map(|candidate| (score(&name, &candidate.to_lowercase()), candidate))
        .min_by_key(|(score, _)| *score)?;
    (best.0 <= (name.len() / 3).max(2)).then_some(best.1)
}

/// How far apart two names are; a part of the other (`design` of `04-design`) is near.
fn score(name: &str, candidate: &str) -> usize {
    let part = name.len() >= 3 && (candidate.contains(name) || name.contains(candidate));
    if part {
        1
    } else {
        strsim::damerau_levenshtein(name, candidate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_are_recognised_and_other_words_are_not() {
        let names = ["feature", "fix", "upgrade", "test-run"];
        assert_eq!(nearest("featrue", names), Some("feature"));
        assert_eq!(nearest("FIXX", names), Some("fix"));
        assert_eq!(nearest("test_run", names), Some("test-run"));
        assert_eq!(nearest("deploy-all", names), None);
        assert_eq!(
            nearest("design", ["03-architecture", "04-design"]),
            Some("04-design")
        );
    }
}
