//! Whether the journal's lines are all there and as they were written.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::path::Path;

use tollgate_store::chain::{self, Hash, Link, Tail};
use tollgate_store::journal::{Journal, NAMES};
use tollgate_store::lock::{self, Acquired, HOOK_PATIENCE};

use super::parts::{Part, parts};
use super::{Line, LinePlace, Lines};

/// What came of checking the chain.
#[derive(Debug, Default)]
pub(crate) struct Verified {
    /// How many lines are intact with the one before them.
    pub(crate) chained: u64,
    /// How many lines are from before there was a chain.
    pub(crate) unchained: u64,
    /// Where the first chained line is, if lines without a chain come before it.
    pub(crate) begins: Option<LinePlace>,
    /// Lines that were cut off while they were written, and are no sign of anything else.
    pub(crate) torn: Vec<LinePlace>,
    pub(crate) head: Tail,
    /// How many lines wait to be chained: nothing vouches for them yet.
    pub(crate) waiting: usize,
    /// How many lines the tail record is behind: its writer was killed.
    pub(crate) behind: u64,
    pub(crate) problems: Vec<Problem>,
}

/// One thing that no killed writer leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The line at which it shows; nothing if there is none.
    pub(crate) place: Option<LinePlace>,
    pub(crate) what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// The line's text is not the one its hash was made for, or the line before is another.
    Altered { n: u64 },
    /// The lines with these numbers are gone from before this one.
    Removed { first: u64, last: u64 },
    /// A line that was there before, or one out of its order.
    Misplaced { n: u64, after: u64 },
    /// A line that begins a file and was not written as the first, or the other way round.
    Moved { n: u64 },
    /// A whole line without a chain after lines that have one.
    Inserted,
    /// The lines with these numbers are gone from the end.
    CutOff { first: u64, last: u64 },
    /// The last line is not the one that was recorded.
    OtherEnd { n: u64 },
    /// There are chained lines and no record of the last one.
    NoRecord,
    /// The kept hash is in no line.
    Unknown,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = |f: &mut fmt::Formatter<'_>, first: u64, last: u64| {
            if first == last {
                write!(f, "line #{first} was removed")
            } else {
                write!(f, "lines #{first} to #{last} were removed")
            }
        };
        match *self {
            Self::Altered { n } => write!(f, "line #{n} or the one before it was altered"),
            Self::Removed { first, last } => {
                lines(f, first, last)?;
                f.write_str(" before this one")
            }
            Self::Misplaced { n, after } => write!(f, "line #{n} comes after line #{after}"),
            Self::Moved { n } => write!(
                f,
                "line #{n} is not where it was written: lines before it were inserted or removed"
            ),
            Self::Inserted => f.write_str(
                "a line without a hash among lines that have one: it was inserted or altered",
            ),
            Self::CutOff { first, last } => {
                lines(f, first, last)?;
                f.write_str(" from the end (or lost with the machine's power)")
            }
            Self::OtherEnd { n } => {
                write!(f, "line #{n} is not the one that was recorded as the last")
            }
            Self::NoRecord => write!(
                f,
                "the record of the last line, {}, was removed or altered",
                chain::TAIL
            ),
            Self::Unknown => f.write_str(
                "no line has the hash that was kept: the journal was rewritten, or has been \
                 rotated past it",
            ),
        }
    }
}

/// Checks the journal in a private directory; `kept` is a hash that was kept elsewhere.
pub(crate) fn verify(local: &Path, kept: Option<Hash>) -> Verified {
    let (parts, recorded) = snapshot(local);
    let kept_parts = parts.iter().filter(|part| part.length > 0);
    let names: BTreeSet<&str> = kept_parts.map(|part| part.name).collect();
    let mut check = Check {
        done: Verified {
            waiting: Journal::new(local).waiting().len(),
            ..Verified::default()
        },
        last: None,
        kept,
        recorded,
    };
    for line in Lines::through(parts) {
        check.line(&line, &names);
    }
    check.end()
}

/// The files and the record of one moment: writers wait meanwhile, readers of the lines do not
/// make them wait.
fn snapshot(local: &Path) -> (Vec<Part>, Recorded) {
    let path = local.join(chain::TAIL);
    if !path.symlink_metadata().is_ok_and(|found| found.is_file()) {
        return (parts(local), Recorded::Gone);
    }
    let held = lock::acquire(&path, HOOK_PATIENCE);
    let record = match File::open(&path).map(|file| Tail::read(&file)) {
        Ok(Some(tail)) => Recorded::Last(tail),
        Ok(None) => Recorded::Nothing,
        Err(_) => Recorded::Gone,
    };
    let parts = parts(local);
    if let Ok(Acquired::Held(guard)) = held {
        drop(guard);
    }
    (parts, record)
}

#[derive(Clone, Copy, Debug)]
enum Recorded {
    Gone,
    /// Nothing that could be read.
    Nothing,
    Last(Tail),
}

struct Check {
    done: Verified,
    last: Option<Tail>,
    kept: Option<Hash>,
    recorded: Recorded,
}

impl Check {
    fn line(&mut self, line: &Line, names: &BTreeSet<&str>) {
        let Some(link) = Link::of(&line.text) else {
            self.without_link(line);
            return;
        };
        if self.kept == Some(link.tail.hash) {
            self.kept = None;
        }
        let (n, place) = (link.tail.n, line.place);
        match self.last {
            None => {
                self.first(&link, line, names);
                if self.done.unchained > 0 {
                    self.done.begins = Some(place);
                }
            }
            Some(last) if n == last.n + 1 => {
                // At the head of a file the hash before is written out as well.
                let carried = link.prev.is_none_or(|prev| prev == last.hash);
                if link.follows(last.hash) && carried {
                    self.done.chained += 1;
                } else {
                    self.problem(place, What::Altered { n });
                }
            }
            Some(last) if n > last.n + 1 => {
                let (first, last) = (last.n + 1, n - 1);
                self.problem(place, What::Removed { first, last });
            }
            Some(last) => self.problem(place, What::Misplaced { n, after: last.n }),
        }
        // The first line of a file, and no other, says what it comes after.
        if link.prev.is_some() != (place.line == 1) {
            self.problem(place, What::Moved { n });
        }
        // What is recorded was written with its newline.
        if !line.whole && matches!(self.recorded, Recorded::Last(tail) if tail.n >= n) {
            self.problem(place, What::Altered { n });
        }
        self.last = Some(link.tail);
    }

    /// The first line of all: rotation may have dropped those before it, nothing else may.
    fn first(&mut self, link: &Link<'_>, line: &Line, names: &BTreeSet<&str>) {
        let n = link.tail.n;
        let rotated = NAMES.iter().skip(1).all(|name| names.contains(name))
            && NAMES.last() == Some(&line.place.file)
            && line.place.line == 1
            && self.done.unchained == 0;
        if n > 1 && !rotated {
            let (first, last) = (1, n - 1);
            self.problem(line.place, What::Removed { first, last });
        } else if link.prev.is_some_and(|prev| link.follows(prev))
            && (n > 1 || link.prev == Some(Hash::default()))
        {
            self.done.chained += 1;
        } else if n == 1 && link.prev.is_none() && link.follows(Hash::default()) {
            // The first line after those of an older version is not the first of its file.
            self.done.chained += 1;
        } else {
            self.problem(line.place, What::Altered { n });
        }
    }

    fn without_link(&mut self, line: &Line) {
        let is_object = serde_json::from_str::<serde_json::Value>(&line.text)
            .is_ok_and(|value| value.is_object());
        match (is_object, self.last) {
            (true, None) => self.done.unchained += 1,
            (true, Some(_)) => self.problem(line.place, What::Inserted),
            // Half a line takes no number, so if it was more than that, its number is missed.
            (false, _) => self.done.torn.push(line.place),
        }
    }

    fn problem(&mut self, place: LinePlace, what: What) {
        self.done.problems.push(Problem {
            place: Some(place),
            what,
        });
    }

    /// Compares the last line with the record.
    fn end(mut self) -> Verified {
        let last = self.last.unwrap_or_default();
        self.done.head = last;
        let what = match self.recorded {
            Recorded::Gone if self.last.is_some() => Some(What::NoRecord),
            Recorded::Gone => None,
            // A writer killed at its first line leaves an empty record.
            Recorded::Nothing if last.n > 1 => Some(What::NoRecord),
            Recorded::Nothing => None,
            Recorded::Last(tail) if tail.n > last.n => Some(What::CutOff {
                first: last.n + 1,
                last: tail.n,
            }),
            Recorded::Last(tail) if tail.n == last.n && tail.hash != last.hash => {
                Some(What::OtherEnd { n: last.n })
            }
            Recorded::Last(tail) => {
                self.done.behind = last.n - tail.n;
                None
            }
        };
        let unknown = self.kept.map(|_| What::Unknown);
        let without_place = |what| Problem { place: None, what };
        self.done
            .problems
            .extend(what.into_iter().chain(unknown).map(without_place));
        self.done
    }
}
