//! What the journal tells: the last decisions, how many of which kind when, and what reviews,
//! gates and decisions cost in money and time.

use std::collections::{BTreeMap, VecDeque};

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::Value;
use tollgate_store::journal::Verdict;
use tollgate_store::timestamp::iso;

use super::Trouble;
use crate::journal::{Entry, Tail};
use crate::plain::{count, duration};

/// How many decisions are kept to be shown, and how many points a chart has at most.
const KEPT: usize = 200;
const POINTS: usize = 400;

/// From how many values on there is a 95th percentile below the largest one.
const ENOUGH: usize = 20;

const LATELY: SignedDuration = SignedDuration::from_hours(24);

/// How many columns a chart over time has.
const COLUMNS: usize = 40;

/// The last line about each gate.
pub(super) type LastOfGates = BTreeMap<String, Entry>;

/// The past of a project, as the journal has it.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Past {
    pub(crate) counts: Counts,
    pub(crate) last_24_hours: Tally,
    /// The newest first.
    pub(crate) recent: Vec<Entry>,
    /// Blocks, warnings and faults over the time of the journal.
    pub(crate) columns: Vec<Column>,
    pub(crate) cost: Spent,
    /// Seconds of gates and reviews, oldest first.
    pub(crate) gates: Vec<Point>,
    pub(crate) latency: Latency,
}

/// What happened in the last 24 hours.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Tally {
    pub(crate) counts: Counts,
    /// What reviewers said that they cost; none if none said.
    pub(crate) cost_usd: Option<f64>,
    /// There was more than was read.
    pub(crate) at_least: bool,
}

/// How many of each kind.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Counts {
    pub(crate) block: u64,
    pub(crate) warn: u64,
    pub(crate) fault: u64,
    /// Steps of the workflow and records in the state.
    pub(crate) change: u64,
    pub(crate) gate: u64,
    pub(crate) review: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, verdict: Verdict) {
        let count = match verdict {
            Verdict::Block => &mut self.block,
            Verdict::Ask | Verdict::Warn => &mut self.warn,
            Verdict::Fault => &mut self.fault,
            Verdict::Watch | Verdict::Change | Verdict::Record => &mut self.change,
            Verdict::Gate => &mut self.gate,
            Verdict::Review => &mut self.review,
        };
        *count += 1;
    }
}

/// What happened in one stretch of time.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Column {
    pub(crate) from: String,
    pub(crate) block: u64,
    pub(crate) warn: u64,
    pub(crate) fault: u64,
}

/// What reviews cost.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Spent {
    pub(crate) usd: f64,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    /// Reviews whose reviewer did not tell.
    pub(crate) unknown: u64,
    /// Dollars in total, after each review that reported a cost.
    pub(crate) points: Vec<Point>,
}

/// A value at a time.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Point {
    pub(crate) at: String,
    pub(crate) value: f64,
    pub(crate) what: String,
    /// Whether it came to a failure.
    pub(crate) failed: bool,
}

/// How long the hook took for events that were written down. Allowed events leave no trace.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Latency {
    pub(crate) count: u64,
    pub(crate) median_ms: f64,
    /// Nothing while there are too few events for it to mean anything.
    pub(crate) p95_ms: Option<f64>,
    pub(crate) max_ms: f64,
    /// Milliseconds, oldest first.
    pub(crate) points: Vec<Point>,
}

/// Takes the journal in line by line.
#[derive(Debug, Default)]
pub(super) struct Gatherer {
    total: u64,
    counts: Counts,
    recent: VecDeque<Entry>,
    /// Seconds since 1970 and the kind, for the columns.
    moments: Vec<(i64, Verdict)>,
    cost: Spent,
    times: VecDeque<Point>,
    latency: VecDeque<Point>,
    /// What happened in the last 24 hours before the newest entry.
    lately: VecDeque<(Timestamp, Verdict, Option<f64>)>,
    last_fault: Option<Entry>,
    /// The oldest entry that was read, where older ones were not.
    read_from: Option<Timestamp>,
    pub(super) gates: LastOfGates,
}

impl Gatherer {
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    pub(super) fn since(&self, seen: u64) -> Vec<Entry> {
        let new = usize::try_from(self.total.saturating_sub(seen)).unwrap_or(usize::MAX);
        let skip = self.recent.len().saturating_sub(new);
        self.recent.iter().skip(skip).cloned().collect()
    }

    /// The end of a journal.
    pub(super) fn of_tail(tail: &Tail) -> Self {
        let mut gatherer = Self::default();
        tail.entries.iter().for_each(|entry| gatherer.add(entry));
        let first = tail.entries.first().filter(|_| tail.cut);
        gatherer.read_from = first.and_then(|entry| entry.ts);
        gatherer
    }

    pub(super) fn add(&mut self, entry: &Entry) {
        self.total += 1;
        self.counts.add(entry.verdict);
        if let Some(ts) = entry.ts {
            self.lately.push_back((ts, entry.verdict, entry.cost_usd));
            while self
                .lately
                .front()
                .is_some_and(|(at, ..)| !is_lately(*at, ts))
            {
                self.lately.pop_front();
            }
        }
        if entry.verdict == Verdict::Fault {
            self.last_fault = Some(entry.clone());
        }
        match entry.verdict {
            Verdict::Block | Verdict::Ask | Verdict::Warn | Verdict::Fault => {
                if let Some(ts) = entry.ts {
                    self.moments.push((ts.as_second(), entry.verdict));
                }
                // A stop waits for its gates; that is their time.
                let is_tool = entry.tool.is_some();
                if let Some(point) = point(entry).filter(|_| is_tool) {
                    push(&mut self.latency, point, POINTS);
                }
            }
            Verdict::Gate | Verdict::Review => {
                if let Some(mut point) = point(entry) {
                    point.value /= 1000.0;
                    push(&mut self.times, point, POINTS);
                }
                if entry.verdict == Verdict::Review {
                    self.spend(entry);
                }
                if let Some(id) = &entry.guard {
                    self.gates.insert(id.clone(), entry.clone());
                }
            }
            Verdict::Watch | Verdict::Change | Verdict::Record => {}
        }
        push(&mut self.recent, entry.clone(), KEPT);
    }

    fn spend(&mut self, entry: &Entry) {
        let number = |key: &str| entry.value.get(key).and_then(Value::as_u64).unwrap_or(0);
        let cost = &mut self.cost;
        cost.input_tokens += number("input_tokens");
        cost.output_tokens += number("output_tokens");
        match entry.cost_usd {
            Some(usd) => {
                cost.usd += usd;
                cost.points.push(Point {
                    at: entry.at(),
                    value: cost.usd,
                    what: entry.agent.clone().unwrap_or_default(),
                    failed: false,
                });
            }
            None => cost.unknown += 1,
        }
    }

    /// What was wrong lately that nobody may have read.
    pub(super) fn trouble(&self, now: Timestamp) -> Option<Trouble> {
        let faults = self.tally(now).counts.fault;
        let last = self.last_fault.as_ref().filter(|_| faults > 0)?;
        let reason = last.reason.as_deref().unwrap_or("of unknown kind");
        let faults = count(faults, "fault");
        Some(Trouble {
            what: format!("{faults} in the last 24 hours; the last: {reason}"),
            next: "`tollgate log --verdict fault` lists them".to_owned(),
        })
    }

    fn tally(&self, now: Timestamp) -> Tally {
        let mut tally = Tally::default();
        for (_, verdict, cost) in self.lately.iter().filter(|(at, ..)| is_lately(*at, now)) {
            tally.counts.add(*verdict);
            if let Some(cost) = cost {
                tally.cost_usd = Some(tally.cost_usd.unwrap_or(0.0) + cost);
            }
        }
        tally.at_least = self.read_from.is_some_and(|at| is_lately(at, now));
        tally
    }

    pub(super) fn finish(&self, now: Timestamp) -> Past {
        let mut cost = self.cost.clone();
        thin(&mut cost.points);
        Past {
            counts: self.counts,
            last_24_hours: self.tally(now),
            recent: self.recent.iter().rev().cloned().collect(),
            columns: columns(&self.moments),
            cost,
            gates: self.times.iter().cloned().collect(),
            latency: self.latency(),
        }
    }

    fn latency(&self) -> Latency {
        let mut sorted: Vec<f64> = self.latency.iter().map(|point| point.value).collect();
        sorted.sort_by(f64::total_cmp);
        Latency {
            count: sorted.len() as u64,
            median_ms: median(&sorted),
            p95_ms: p95(&sorted),
            max_ms: sorted.last().copied().unwrap_or_default(),
            points: self.latency.iter().cloned().collect(),
        }
    }
}

fn is_lately(at: Timestamp, now: Timestamp) -> bool {
    now.duration_since(at) <= LATELY
}

/// The middle of sorted values; of an even number, between the two in the middle.
fn median(sorted: &[f64]) -> f64 {
    let (lower, upper) = (sorted.len().saturating_sub(1) / 2, sorted.len() / 2);
    let at = |index: usize| sorted.get(index).copied().unwrap_or_default();
    f64::midpoint(at(lower), at(upper))
}

/// The value that 95 of 100 do not exceed. Below twenty values that is the largest one, which says
/// nothing new.
fn p95(sorted: &[f64]) -> Option<f64> {
    let rank = (sorted.len() * 95).div_ceil(100);
    let is_enough = sorted.len() >= ENOUGH;
    sorted
        .get(rank.checked_sub(1)?)
        .copied()
        .filter(|_| is_enough)
}

impl Latency {
    /// What surrounds its median; with few events, of how many.
    pub(crate) fn spread(&self) -> String {
        let most = duration(self.max_ms);
        match self.p95_ms {
            Some(p95) => format!("95 % within {}, at most {most}", duration(p95)),
            None if self.count == 1 => "one event".to_owned(),
            None => format!("at most {most}, of {} events", self.count),
        }
    }

    /// The same with its median.
    pub(crate) fn words(&self) -> String {
        format!("median {}, {}", duration(self.median_ms), self.spread())
    }
}

/// How many milliseconds an entry took.
fn point(entry: &Entry) -> Option<Point> {
    Some(Point {
        at: entry.at(),
        value: entry.ms?,
        what: entry.guard.clone().unwrap_or_default(),
        failed: entry.is_failure(),
    })
}

fn push<T>(queue: &mut VecDeque<T>, item: T, most: usize) {
    if queue.len() >= most {
        queue.pop_front();
    }
    queue.push_back(item);
}

/// Keeps at most as many points as a chart has, the last one among them.
fn thin(points: &mut Vec<Point>) {
    let step = points.len().div_ceil(POINTS).max(1);
    let last = points.len().saturating_sub(1);
    let mut index = 0;
    points.retain(|_| {
        let keep = (last - index).is_multiple_of(step);
        index += 1;
        keep
    });
}

/// The moments in equal stretches of time from the first to the last.
fn columns(moments: &[(i64, Verdict)]) -> Vec<Column> {
    let first = moments.iter().map(|(at, _)| *at).min();
    let last = moments.iter().map(|(at, _)| *at).max();
    let (Some(first), Some(last)) = (first, last) else {
        return Vec::new();
    };
    let count = i64::try_from(COLUMNS).unwrap_or(1);
    let width = ((last - first) / count + 1).max(1);
    let mut columns: Vec<Column> = (0..count)
        .map(|n| Column {
            from: Timestamp::from_second(first + n * width)
                .map(iso)
                .unwrap_or_default(),
            ..Column::default()
        })
        .collect();
    for (at, decision) in moments {
        let index = usize::try_from((at - first) / width).unwrap_or(0);
        let Some(column) = columns.get_mut(index) else {
            continue;
        };
        match decision {
            Verdict::Block => column.block += 1,
            Verdict::Ask | Verdict::Warn => column.warn += 1,
            Verdict::Fault => column.fault += 1,
            Verdict::Watch
            | Verdict::Change
            | Verdict::Record
            | Verdict::Gate
            | Verdict::Review => {}
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_few_values_are_not_made_up() {
        let values = |count: u32| -> Vec<f64> { (1..=count).map(f64::from).collect() };
        for (count, middle, high) in [
            (0, 0.0, None),
            (1, 1.0, None),
            (2, 1.5, None),
            (3, 2.0, None),
            (19, 10.0, None),
            (20, 10.5, Some(19.0)),
            (100, 50.5, Some(95.0)),
            (400, 200.5, Some(380.0)),
        ] {
            let sorted = values(count);
            assert!((median(&sorted) - middle).abs() < 1e-9, "{count}");
            assert_eq!(p95(&sorted), high, "{count}");
        }
    }
}
