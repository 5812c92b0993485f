//! A short number for a value, the same in every process of one build; not for secrets.

use std::hash::{DefaultHasher, Hash, Hasher as _};

/// It.
pub(crate) fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
