//! `requires = ">=0.2"`: whether this program is new enough for a file.

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unmet {
    Unreadable,
    TooOld,
}

/// Holds this program against a requirement.
pub(crate) fn check(requirement: &str) -> Result<(), Unmet> {
    let wanted = requirement.trim().strip_prefix(">=").and_then(numbers);
    match (wanted, numbers(VERSION)) {
        (Some(wanted), Some(own)) if own < wanted => Err(Unmet::TooOld),
        (Some(_), _) => Ok(()),
        (None, _) => Err(Unmet::Unreadable),
    }
}

pub(crate) fn words(requirement: &str) -> String {
    format!("needs Tollgate {requirement}, and this is {VERSION}: too old, so nothing is verified")
}

/// `0.2` is `0.2.0`.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let mut numbers = [0; 3];
    let mut parts = version.trim().split('.');
    for number in &mut numbers {
        match parts.next() {
            Some(part) => *number = part.parse().ok()?,
            None => break,
        }
    }
    (parts.next().is_none() && !version.trim().is_empty()).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_names_the_oldest_version() {
        assert_eq!(check(&format!(">={VERSION}")), Ok(()));
        assert_eq!(check(">=0.0.1"), Ok(()));
        assert_eq!(check(">= 0.1"), Ok(()));
        assert_eq!(check(">=99"), Err(Unmet::TooOld));
        for bad in ["0.2", "", ">=", "^1", ">=1.2.3.4", ">=x", ">=1."] {
            assert_eq!(check(bad), Err(Unmet::Unreadable), "{bad}");
        }
    }
}
