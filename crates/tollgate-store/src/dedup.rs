//! Taking effect once: the same event may arrive twice, through a plugin and a settings file, or
//! once for each of twenty registrations.
//!
//! Each process that wants to act appends a line to one file and then checks which line was first. Appending
//! is atomic and ordered, so exactly one of many processes wins, without a lock.

use std::io;
use std::path::Path;

use crate::fs::{self, Appender};

/// The file, and what it is called when another was begun.
const NAMES: [&str; 2] = ["delivered", "delivered.1"];

/// How large the file grows before another is begun, and how much of its end is read. Old
/// lines do not matter: an event's copies arrive within a second of each other.
const LIMIT: u64 = 256 * 1024;
const RECENT: u64 = 32 * 1024;

/// How long a line is: two numbers, a blank, the end.
const LINE: u64 = 34;

/// For which of the keys the caller is the first to act. `nonce` tells callers apart.
pub fn are_first(directory: &Path, keys: &[u64], nonce: u64) -> io::Result<Vec<bool>> {
    let [newest, older] = NAMES;
    let path = directory.join(newest);
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
    // Others append meanwhile: there may be more to read than there was.
    let start = size.saturating_sub(RECENT);
    let bytes = log.read_from(start)?;
    let text = String::from_utf8_lossy(&bytes);
    // A file just begun says little about the last second; the one before it does.
    let before = if size < RECENT {
        fs::read_tail(&directory.join(older), RECENT).unwrap_or_default()
    } else {
        String::new()
    };
    let ours = lines.first().and_then(|line| text.find(line.as_str()));
    let at = ours.map(|at| start + at as u64);
    // One of many begins the next: whose line reaches the limit. Were they killed, anybody may.
    let reaches = |at: u64| at <= LIMIT && at + lines.len() as u64 * LINE > LIMIT;
    if at.is_some_and(reaches) || (size > 2 * LIMIT && log.is_at(&path)) {
        let _kept = fs::rotate(directory, &NAMES);
    }
    let is_first = |line: &String| {
        let key = line.split(' ').next().unwrap_or_default();
        // The first line of what is read may be cut; then it is ignored.
        let first = before
            .lines()
            .chain(text.lines())
            .find(|other| other.starts_with(key));
        // The file was just begun again: no other process saw our line, so no other acts.
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
    fn others_may_append_while_one_looks() {
        let directory = tempfile::tempdir().unwrap();
        // The copies of an event come together, however busy the machine is.
        let together = std::sync::Barrier::new(8);
        let play = |nonce: u64| {
            let keys = 0..300;
            keys.filter(|key| {
                together.wait();
                is_first(directory.path(), *key, nonce).unwrap()
            })
            .count()
        };
        let first: usize = std::thread::scope(|scope| {
            let play = &play;
            let threads: Vec<_> = (0..8)
                .map(|nonce| scope.spawn(move || play(nonce)))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .sum()
        });
        assert_eq!(first, 300);
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
        for key in 0..20_000 {
            assert!(is_first(directory.path(), key, 1).unwrap());
        }
        for name in NAMES {
            let size = std::fs::metadata(directory.path().join(name))
                .unwrap()
                .len();
            assert!(size <= LIMIT + LINE, "{name}: {size}");
        }
    }

    #[test]
    fn an_events_copies_are_known_across_the_beginning_of_another_file() {
        let directory = tempfile::tempdir().unwrap();
        for key in 0..20_000 {
            assert!(is_first(directory.path(), key, 1).unwrap());
            // Its copies come a few events later.
            let earlier = key.saturating_sub(5);
            assert!(
                !is_first(directory.path(), earlier, 2).unwrap(),
                "{earlier}"
            );
        }
    }
}
