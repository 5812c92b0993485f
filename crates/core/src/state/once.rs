//! Taking effect once: the same event may arrive twice, through a plugin and a settings file, or
//! once for each of twenty registrations.
//!
//! Everybody who wants to act appends a line to one file and then looks who was first. Appending
//! is atomic and ordered, so exactly one of many processes wins, without a lock.

use std::io;
use std::path::Path;

use crate::fs::{self, Appender};

/// How large the file grows before it is begun anew, and how much of its end is looked at. Old
/// lines matter to nobody: an event's copies arrive within a second of each other.
const LIMIT: u64 = 256 * 1024;
const RECENT: u64 = 32 * 1024;

/// For which of the keys the caller is the first to act. `nonce` tells callers apart.
pub fn are_first(directory: &Path, keys: &[u64], nonce: u64) -> io::Result<Vec<bool>> {
    let path = directory.join("effects");
    let lines: Vec<String> = keys
        .iter()
        .map(|key| format!("{key:016x} {nonce:016x}"))
        .collect();
    let log = match Appender::open(&path) {
        // The first event of a fresh project counts as well.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::private_directory(directory)?;
            Appender::open(&path)?
        }
        opened => opened?,
    };
    log.append(&lines.join("\n"))?;
    let size = log.size()?;
    let bytes = log.read_from(size.saturating_sub(RECENT))?;
    let text = String::from_utf8_lossy(&bytes);
    if size > LIMIT {
        let _kept = std::fs::remove_file(&path);
    }
    let is_first = |line: &String| {
        let key = line.split(' ').next().unwrap_or_default();
        // The first line of what is looked at may be cut; then it is nobody's.
        let first = text.lines().find(|other| other.starts_with(key));
        // Somebody has just begun the file anew: nobody else saw our line, so nobody else acts.
        first.is_none_or(|first| first == line)
    };
    Ok(lines.iter().map(is_first).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_first(directory: &Path, key: u64, nonce: u64) -> io::Result<bool> {
        are_first(directory, &[key], nonce).map(|first| first == [true])
    }

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
    fn each_key_has_its_own_first() {
        let directory = tempfile::tempdir().unwrap();
        let first = |keys: &[u64], nonce| are_first(directory.path(), keys, nonce).unwrap();
        assert_eq!(first(&[1, 2], 1), [true, true]);
        assert_eq!(first(&[2, 3], 2), [false, true]);
        assert_eq!(first(&[], 3), Vec::<bool>::new());
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
