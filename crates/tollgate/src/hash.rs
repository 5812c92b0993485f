//! Hashes of values, and how they are written.

use std::fmt::Write as _;
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
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to memory does not fail.
        let _written = write!(text, "{byte:02x}");
        text
    })
}
