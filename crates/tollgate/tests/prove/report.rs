//! How hard a trial tries, and what it has to say afterwards.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How hard a trial tries.
pub(crate) struct Effort {
    /// Long: for so long. Short: a fixed number of rounds.
    time: Option<Duration>,
    /// From when that is counted.
    began: Instant,
    counts: Counts,
    pub(crate) seed: u64,
}

/// How often, where somebody wants so many and not so long.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) events: Option<u64>,
    pub(crate) kills: Option<u64>,
    pub(crate) steps: Option<u64>,
}

/// What a minute that was asked for is worth to a trial that counts: ten are 5,000, 200,000 and 10,000.
const KILLS_PER_MINUTE: f64 = 500.0;
const EVENTS_PER_MINUTE: f64 = 20_000.0;
const STEPS_PER_MINUTE: f64 = 1_000.0;

impl Effort {
    pub(crate) fn new(minutes: Option<f64>, counts: Counts, seed: u64) -> Self {
        Self {
            time: minutes.map(|minutes| Duration::from_secs_f64(minutes * 60.0)),
            began: Instant::now(),
            counts,
            seed,
        }
    }

    pub(crate) fn is_long(&self) -> bool {
        self.time.is_some() || self.counts.events.or(self.counts.kills).is_some()
    }

    /// How many kills: as many as were wished for, else what the minutes are worth.
    pub(crate) fn kills(&self, short: u64) -> u64 {
        self.number(self.counts.kills, KILLS_PER_MINUTE, short)
    }

    /// How many events, the same way.
    pub(crate) fn events(&self, short: u64) -> u64 {
        self.number(self.counts.events, EVENTS_PER_MINUTE, short)
    }

    /// How many steps, the same way.
    pub(crate) fn steps(&self, short: u64) -> u64 {
        self.number(self.counts.steps, STEPS_PER_MINUTE, short)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of minutes is small, and not below nothing"
    )]
    fn number(&self, wished: Option<u64>, per_minute: f64, short: u64) -> u64 {
        let worth = |time: Duration| (time.as_secs_f64() / 60.0 * per_minute).ceil() as u64;
        wished.or(self.time.map(worth)).unwrap_or(short)
    }

    /// Whether there is another round after so many: until the time is over, or for the short
    /// form's number.
    pub(crate) fn goes_on(&self, done: u64, short: u64) -> bool {
        match self.time {
            Some(time) => self.began.elapsed() < time,
            None => done < short,
        }
    }

    /// A fifth of the time.
    pub(crate) fn fifth(&self, short: Duration) -> Duration {
        self.time.map_or(short, |time| time / 5)
    }
}

/// What a trial did.
#[derive(Default)]
pub(crate) struct Report {
    counts: BTreeMap<String, u64>,
    notes: Vec<String>,
    pub(crate) defects: Vec<String>,
}

impl Report {
    pub(crate) fn count(&mut self, what: &str, more: u64) {
        *self.counts.entry(what.to_owned()).or_default() += more;
    }

    pub(crate) fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    /// A promise was broken. Twenty are enough to read.
    pub(crate) fn defect(&mut self, text: String) {
        if self.defects.len() < 20 {
            self.defects.push(text);
        }
    }

    pub(crate) fn check(&mut self, holds: bool, text: impl FnOnce() -> String) {
        self.count("checks", 1);
        if !holds {
            self.defect(text());
        }
    }

    /// What a trial's second process tells its first.
    pub(crate) fn told(&self) -> String {
        let told = (&self.counts, &self.notes, &self.defects);
        serde_json::to_string(&told).unwrap()
    }

    /// Takes that up; answers whether it was something.
    pub(crate) fn hear(&mut self, told: &str) -> bool {
        type Told = (BTreeMap<String, u64>, Vec<String>, Vec<String>);
        let Ok((counts, notes, defects)) = serde_json::from_str::<Told>(told) else {
            return false;
        };
        self.add(Self {
            counts,
            notes,
            defects,
        });
        true
    }

    /// Takes up what somebody beside this one has done.
    pub(crate) fn add(&mut self, other: Self) {
        for (what, count) in other.counts {
            self.count(&what, count);
        }
        self.notes.extend(other.notes);
        for defect in other.defects {
            self.defect(defect);
        }
    }

    pub(crate) fn line(&self) -> String {
        let counts = self
            .counts
            .iter()
            .map(|(what, count)| format!("{count} {what}"));
        counts
            .chain(self.notes.iter().cloned())
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// Random numbers, the same again for the same seed.
pub(crate) struct Chance(fastrand::Rng);

impl Chance {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0.u64(..limit)
    }

    pub(crate) fn of<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        &choices[self.0.usize(..choices.len())]
    }
}
