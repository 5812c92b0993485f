//! How hard a rig tries, and what it has to say afterwards.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How hard a rig tries.
pub(crate) struct Effort {
    /// Long: until then. Short: a fixed number of rounds.
    until: Option<Instant>,
    pub(crate) counts: Counts,
    pub(crate) seed: u64,
}

/// How often, where somebody wants so many and not so long.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) events: Option<u64>,
    pub(crate) kills: Option<u64>,
}

impl Effort {
    pub(crate) fn new(minutes: Option<f64>, counts: Counts, seed: u64) -> Self {
        let until = minutes.map(|minutes| Instant::now() + Duration::from_secs_f64(minutes * 60.0));
        Self {
            until,
            counts,
            seed,
        }
    }

    pub(crate) fn is_long(&self) -> bool {
        self.until.is_some() || self.counts.events.or(self.counts.kills).is_some()
    }

    /// Whether there is another round after so many: until the number that was wished for, else
    /// until the time is over, else for the short form's number.
    pub(crate) fn goes_on_to(&self, wished: Option<u64>, done: u64, short: u64) -> bool {
        match wished {
            Some(wished) => done < wished,
            None => self.goes_on(done, short),
        }
    }

    /// Whether there is another round after so many.
    pub(crate) fn goes_on(&self, done: u64, short: u64) -> bool {
        match self.until {
            Some(until) => Instant::now() < until,
            None => done < short,
        }
    }
}

/// What a rig did.
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

    /// What a rig's second process tells its first.
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
        for (what, count) in counts {
            self.count(&what, count);
        }
        self.notes.extend(notes);
        for defect in defects {
            self.defect(defect);
        }
        true
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

/// A small generator of numbers (splitmix64).
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }

    pub(crate) fn of<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        let at = self.below(choices.len() as u64);
        &choices[usize::try_from(at).unwrap_or(0)]
    }
}
