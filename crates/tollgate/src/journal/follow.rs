//! New entries as they come, across rotations.

use std::path::{Path, PathBuf};

use super::parts::{Part, parts};
use super::{Entry, Line, Lines};

/// Where a reader is.
#[derive(Debug)]
pub(crate) struct Follower {
    local: PathBuf,
    /// The file and the byte in it.
    read: Option<(u64, u64)>,
}

impl Follower {
    /// The entries so far, and a follower of what comes after them.
    pub(crate) fn with_past(local: &Path) -> (impl Iterator<Item = Entry> + use<>, Self) {
        let parts = parts(local);
        let follower = Self {
            local: local.to_owned(),
            read: parts.last().map(|part| (part.inode, part.length)),
        };
        let past = Lines::through(parts).filter_map(|line| Entry::parse(&line));
        (past, follower)
    }

    /// What was added since the last time. A line in the making waits for its end.
    pub(crate) fn poll(&mut self) -> Vec<Entry> {
        let mut parts = parts(&self.local);
        let Some(newest) = parts.last().map(|part| part.inode) else {
            return Vec::new();
        };
        let mut start = 0;
        if let Some((inode, at)) = self.read
            && let Some(index) = parts.iter().position(|part| part.inode == inode)
        {
            parts.drain(..index);
            start = at;
        }
        let mut found = Vec::new();
        for part in parts {
            let Part { inode, length, .. } = part;
            if length < start {
                // It was truncated: what is there was read before.
                start = length;
            }
            let lines: Vec<Line> = part.lines_from(start).collect();
            let torn = lines.iter().filter(|line| !line.whole);
            let torn: u64 = torn.map(|line| line.length).sum();
            if inode == newest {
                self.read = Some((inode, length - torn));
            }
            let whole = lines.iter().filter(|line| line.whole);
            found.extend(whole.filter_map(Entry::parse));
            start = 0;
        }
        found
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests plant files")]
mod tests {
    use super::*;

    /// A line in the making may end within a character.
    #[test]
    fn a_line_that_ends_within_a_character_is_read_when_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(tollgate_store::journal::NAMES[0]);
        let line = r#"{"ts":"2026-01-01T00:00:00.000Z","verdict":"change","reason":"é"}"#;
        let (_, mut follower) = Follower::with_past(dir.path());
        let cut = line.find('é').unwrap() + 1;
        for end in [1, cut] {
            std::fs::write(&file, &line.as_bytes()[..end]).unwrap();
            assert_eq!(follower.poll().len(), 0);
        }
        std::fs::write(&file, b"\xc3").unwrap();
        assert_eq!(follower.poll().len(), 0);
        std::fs::write(&file, format!("{line}\n")).unwrap();
        assert_eq!(follower.poll().len(), 1);
        assert_eq!(follower.poll().len(), 0);
    }
}
