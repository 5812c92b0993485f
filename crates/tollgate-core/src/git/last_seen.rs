//! The last commit that a branch was seen at. A branch that is deleted takes its own log along;
//! the logs of `HEAD` keep where it was whenever it was checked out.

use super::Stands;
use super::head::{REFLOG_TAIL, Repository, is_object_id};
use tollgate_store::fs::read_tail;

/// A branch as it was when it was last checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastSeen {
    /// Its last commit.
    pub tip: String,
    /// Its commit when it was first checked out; nothing if that was not seen.
    pub base: Option<String>,
}

impl Repository {
    /// Where a branch is, or was last if it is gone.
    pub fn seen(&self, name: &str) -> Option<LastSeen> {
        match self.branch_commit(name) {
            Stands::For(tip) => Some(LastSeen { tip, base: None }),
            Stands::Nothing | Stands::AskGit => self.last_seen(name),
        }
    }

    /// Where a branch was last, in any work tree of the repository.
    pub fn last_seen(&self, name: &str) -> Option<LastSeen> {
        let linked = std::fs::read_dir(self.common_dir.join("worktrees"));
        let linked = linked.into_iter().flatten().flatten().take(256);
        let linked = linked.map(|entry| entry.path());
        let homes = std::iter::once(self.common_dir.clone()).chain(linked);
        let logs = homes.filter_map(|home| {
            let log = read_tail(&home.join("logs/HEAD"), REFLOG_TAIL)?;
            in_log(&log, name)
        });
        logs.max_by_key(|(time, _)| *time).map(|(_, seen)| seen)
    }
}

/// The branch in one log, and when it was there last.
fn in_log(log: &str, name: &str) -> Option<(u64, LastSeen)> {
    let mut is_on = false;
    let (mut base, mut last) = (None, None);
    for line in log.lines().filter_map(Line::read) {
        if let Some((from, to)) = line.branches() {
            // The branch is left at the older commit.
            if from == Some(name) {
                last = Some((line.time, line.old));
            }
            is_on = to == name;
            if is_on {
                base.get_or_insert(line.new);
            }
        }
        if is_on {
            last = Some((line.time, line.new));
        }
    }
    let (time, tip) = last?;
    let (tip, base) = (tip.to_owned(), base.map(str::to_owned));
    Some((time, LastSeen { tip, base }))
}

/// A line of a log: two commits, who and when, and what was done.
struct Line<'a> {
    old: &'a str,
    new: &'a str,
    time: u64,
    what: &'a str,
}

impl<'a> Line<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let (who, what) = line.split_once('\t')?;
        let mut words = who.splitn(3, ' ');
        let (old, new) = (words.next()?, words.next()?);
        let (_, when) = words.next()?.rsplit_once("> ")?;
        let time = when.split(' ').next()?.parse().ok()?;
        let line = Self {
            old,
            new,
            time,
            what,
        };
        (is_object_id(old) && is_object_id(new)).then_some(line)
    }

    /// The branch that was left, where the line says it, and the one that is checked out from
    /// here on.
    fn branches(&self) -> Option<(Option<&'a str>, &'a str)> {
        let heads = |name: &'a str| name.strip_prefix("refs/heads/");
        let moved = self.what.strip_prefix("checkout: moving from ");
        let moved = moved.and_then(|rest| rest.split_once(" to "));
        let renamed = || {
            let (from, to) = self
                .what
                .strip_prefix("Branch: renamed ")?
                .split_once(" to ")?;
            Some((Some(heads(from)?), heads(to)?))
        };
        let rebased = || {
            let to = self.what.strip_prefix("rebase (finish): returning to ")?;
            Some((None, heads(to)?))
        };
        moved
            .map(|(from, to)| (Some(from), to))
            .or_else(renamed)
            .or_else(rebased)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(letter: char) -> String {
        letter.to_string().repeat(40)
    }

    fn log(lines: &[(char, char, &str)]) -> String {
        let lines = lines.iter().enumerate().map(|(time, (old, new, what))| {
            format!("{} {} A <a@b> {time} +0000\t{what}\n", id(*old), id(*new))
        });
        lines.collect()
    }

    fn found(lines: &[(char, char, &str)]) -> Option<(String, Option<String>)> {
        in_log(&log(lines), "feature/x").map(|(_, seen)| (seen.tip, seen.base))
    }

    #[test]
    fn the_last_commit_counts_that_was_checked_out_on_the_branch() {
        let worked = [
            ('a', 'a', "checkout: moving from main to feature/x"),
            ('a', 'b', "commit: one"),
            ('b', 'c', "commit (amend): two"),
            ('c', 'a', "checkout: moving from feature/x to main"),
            ('a', 'd', "pull: Fast-forward"),
        ];
        assert_eq!(found(&worked), Some((id('c'), Some(id('a')))));
    }

    #[test]
    fn a_branch_without_commits_is_where_it_began() {
        let empty = [
            ('a', 'a', "checkout: moving from main to feature/x"),
            ('a', 'a', "checkout: moving from feature/x to main"),
        ];
        assert_eq!(found(&empty), Some((id('a'), Some(id('a')))));
    }

    #[test]
    fn other_branches_are_not_taken_for_it() {
        let other = [
            ('a', 'a', "checkout: moving from main to feature"),
            ('a', 'b', "commit: feature/x"),
            ('b', 'a', "checkout: moving from feature to main"),
        ];
        assert_eq!(found(&other), None);
        assert_eq!(in_log("no log at all\n\t\n", "feature/x"), None);
    }

    #[test]
    fn a_rename_leaves_the_branch_and_a_rebase_returns_to_it() {
        let renamed = [
            ('a', 'b', "checkout: moving from main to feature/x"),
            (
                'b',
                'b',
                "Branch: renamed refs/heads/feature/x to refs/heads/y",
            ),
            ('b', 'c', "commit: on y"),
        ];
        assert_eq!(found(&renamed), Some((id('b'), Some(id('b')))));
        let rebased = [
            ('a', 'b', "checkout: moving from main to feature/x"),
            ('b', 'a', "checkout: moving from feature/x to main"),
            ('a', 'd', "rebase (start): checkout main"),
            (
                'd',
                'e',
                "rebase (finish): returning to refs/heads/feature/x",
            ),
        ];
        assert_eq!(found(&rebased), Some((id('e'), Some(id('b')))));
    }
}
