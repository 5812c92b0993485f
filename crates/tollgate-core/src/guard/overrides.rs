//! Which blocks a person can lift (`tollgate allow`), and which nobody can.

/// Who can lift a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Override {
    /// A person, for once or for a while.
    Person,
    /// Nobody: it protects the records that everything else is decided from.
    Nobody,
}

/// The codes that block, with who can lift them. All others only warn or note.
const BLOCKING: &[(&str, Override)] = &[
    ("IC-001", Override::Person),
    ("IC-002", Override::Person),
    ("PSG-001", Override::Person),
    ("PLC-001", Override::Person),
    ("PS-001", Override::Person),
    ("GB-001", Override::Person),
    ("GB-002", Override::Person),
    ("GB-003", Override::Person),
    ("GB-004", Override::Person),
    ("CV-001", Override::Person),
    ("CIV-001", Override::Person),
    ("TAB-001", Override::Person),
    ("BRV-001", Override::Person),
    ("BG-001", Override::Person),
    ("BG-002", Override::Person),
    ("ERE-001", Override::Person),
    ("DG-001", Override::Person),
    ("SFG-001", Override::Nobody),
    ("SFG-002", Override::Nobody),
    ("SFG-003", Override::Nobody),
    ("SFG-004", Override::Person),
    ("SWV-007", Override::Nobody),
    ("SWV-008", Override::Nobody),
];

/// Who can lift a block with this code; none if it never blocks.
pub fn override_of(code: &str) -> Option<Override> {
    BLOCKING
        .iter()
        .find(|(known, _)| *known == code)
        .map(|(_, by)| *by)
}

/// Every code that blocks.
pub fn blocking() -> impl Iterator<Item = &'static str> {
    BLOCKING.iter().map(|(code, _)| *code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::GUARDS;

    #[test]
    fn only_codes_of_guards_are_listed() {
        let known = |code| {
            let mut codes = GUARDS.iter().flat_map(|guard| guard.codes);
            codes.any(|(known, _)| *known == code)
        };
        for code in blocking() {
            assert!(known(code), "{code}");
        }
    }

    /// A guard whose word is "blocks" has a code here, and one that only warns has none.
    #[test]
    fn every_guard_that_blocks_is_listed() {
        for guard in GUARDS {
            let listed = guard
                .codes
                .iter()
                .any(|(code, _)| override_of(code).is_some());
            let says = guard.about.starts_with("blocks ");
            assert_eq!(listed, says, "{}: {}", guard.name, guard.about);
        }
    }
}
