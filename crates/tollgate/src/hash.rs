//! Hashes of values, and how they are written.

use std::hash::{DefaultHasher, Hash, Hasher as _};

/// A short number for a value, the same in every process of one build; not for secrets.
pub(crate) fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The same as a text, for files.
pub(crate) fn digest(value: impl Hash) -> String {
    format!("{:016x}", hash(value))
}

/// Bytes as people and files have them.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}
