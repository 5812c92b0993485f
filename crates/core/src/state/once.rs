//! Taking effect once: the same event may arrive twice, through a plugin and a settings file, or
//! once for each of twenty registrations.
//!
//! Everybody who wants to act appends a line to one file and then looks who was first. Appending
//! is atomic and ordered, so exactly one of many processes wins, without a lock.

use std::io;
use std::path::Path;

use crate::fs;

/// How large the file grows before it is begun anew. Old lines matter to nobody: an event's
/// copies arrive within a second of each other.
const LIMIT: u64 = 256 * 1024;

/// Whether the caller is the first to act for `key`. `nonce` tells callers apart.
pub fn is_first(directory: &Path, key: u64, nonce: u64) -> io::Result<bool> {
    let path = directory.join("effects");
    let key = format!("{key:016x}");
    let line = format!("{key} {nonce:016x}");
    let size = match fs::append_line(&path, &line) {
        // The first event of a fresh project counts as well.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::private_directory(directory)?;
            fs::append_line(&path, &line)?
        }
        appended => appended?,
    };
    let contents = fs::read_own(&path, LIMIT * 2).map_err(io::Error::other)?;
    let bytes = contents.map(|contents| contents.bytes).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let first = text.lines().find(|other| other.starts_with(&key));
    if size > LIMIT {
        let _kept = std::fs::remove_file(&path);
    }
    // Somebody has just begun the file anew: nobody else saw our line, so nobody else acts.
    Ok(first.is_none_or(|first| first == line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_many_is_first() {
        let directory = tempfile::tempdir().unwrap();
        let winners: Vec<_> = (0..20)
            .filter(|nonce| is_first(directory.path(), 7, *nonce).unwrap())
            .collect();
        assert_eq!(winners, [0]);
        assert!(is_first(directory.path(), 8, 1).unwrap());
    }

    #[test]
    fn the_first_event_of_a_fresh_project_counts() {
        let project = tempfile::tempdir().unwrap();
        let directory = project.path().join(".tollgate/local");
        assert!(is_first(&directory, 7, 1).unwrap());
        assert!(!is_first(&directory, 7, 2).unwrap());
    }

    #[test]
    fn the_file_stays_small() {
        let directory = tempfile::tempdir().unwrap();
        for key in 0..9000 {
            assert!(is_first(directory.path(), key, 1).unwrap());
        }
        let size = std::fs::metadata(directory.path().join("effects")).map_or(0, |meta| meta.len());
        assert!(size <= LIMIT, "{size}");
    }
}
