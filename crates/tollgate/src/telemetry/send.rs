//! Sending what is new, batch by batch, and remembering what was taken over.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::cursor::Cursors;
use super::http::{Collector, Response};
use super::{metrics, span};
use crate::journal::{Entry, entries};

/// How many entries one request carries at most.
const BATCH: usize = 512;

/// How often a request is tried before it is given up.
const TRIES: u32 = 5;

/// A collector does not get to keep us waiting longer than this between two tries.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    Traces,
    Metrics,
}

/// Sends a project's journal to a collector.
#[derive(Debug)]
pub(crate) struct Sender<'a> {
    pub(crate) collector: &'a Collector,
    /// The pause before the second try; each one after is twice as long.
    pub(crate) pause: Duration,
    pub(crate) project: &'a str,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    /// Entries that were sent, as far as the collector took the request.
    pub(crate) sent: usize,
    /// Spans or points of them that it refused.
    pub(crate) rejected: u64,
    /// What it says about that.
    pub(crate) messages: Vec<String>,
    /// The journal is another one than last time; it was sent from its beginning.
    pub(crate) is_anew: bool,
}

impl Signal {
    pub(crate) const ALL: [Self; 2] = [Self::Traces, Self::Metrics];

    pub(crate) fn as_str(self) -> &'static str {
        self.names().0
    }

    /// Its name, its path below the endpoint, and where a collector says how many it refused.
    fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Traces => ("traces", "/v1/traces", "rejectedSpans"),
            Self::Metrics => ("metrics", "/v1/metrics", "rejectedDataPoints"),
        }
    }

    fn request(self, entries: &[Entry], project: &str) -> Value {
        match self {
            Self::Traces => span::request(entries, project),
            Self::Metrics => metrics::request(entries, project),
        }
    }
}

impl Sender<'_> {
    /// Sends what the endpoint does not have yet. What was taken over before an error stays so.
    pub(crate) fn send(
        &self,
        signal: Signal,
        local: &Path,
        cursors: &mut Cursors,
    ) -> Result<Report, String> {
        let name = &self.collector.endpoint;
        let mut report = Report::default();
        let mut last = cursors.get(name, signal.as_str());
        let newest = entries(local).filter_map(|entry| entry.id).max();
        if last > Some(newest.unwrap_or(0)) {
            // Its numbers begin again when the journal does.
            report.is_anew = true;
            last = None;
        }
        // Entries from before there were numbers come before all others.
        let is_new = |entry: &Entry| entry.id.map_or(last.is_none(), |id| Some(id) > last);
        let mut new = entries(local).filter(is_new).peekable();
        while new.peek().is_some() {
            let batch: Vec<Entry> = new.by_ref().take(BATCH).collect();
            let body = signal.request(&batch, self.project).to_string();
            let answer = self.deliver(signal, body.as_bytes())?;
            report.sent += batch.len();
            report.take(signal, &answer);
            // Entries without numbers count as taken over when all of them are: whoever is
            // interrupted before sends them again rather than never.
            let reached = batch.iter().filter_map(|entry| entry.id).max();
            if reached.is_some() || new.peek().is_none() {
                cursors
                    .set(name, signal.as_str(), reached.unwrap_or(0))
                    .map_err(|error| format!("sent, but it cannot be remembered: {error}"))?;
            }
        }
        Ok(report)
    }

    /// Sends one request, again and again while there is hope.
    fn deliver(&self, signal: Signal, body: &[u8]) -> Result<Response, String> {
        let mut pause = self.pause;
        let mut why = String::new();
        for attempt in 1..=TRIES {
            let mut wait = pause;
            match self.collector.post(signal.names().1, body) {
                Ok(answer) if (200..300).contains(&answer.status) => return Ok(answer),
                Ok(answer) if matches!(answer.status, 429 | 502 | 503 | 504) => {
                    why = format!("it answers {}", answer.status);
                    wait = answer.retry_after.unwrap_or(pause);
                }
                // The same request would be refused again.
                Ok(answer) => {
                    let said = String::from_utf8_lossy(&answer.body);
                    let said: String = said.chars().take(300).collect();
                    return Err(format!("it answers {} {said}", answer.status));
                }
                Err(error) => why = error.to_string(),
            }
            if attempt < TRIES {
                std::thread::sleep(wait.min(LONGEST_PAUSE));
                pause = pause.saturating_mul(2);
            }
        }
        Err(format!("{why}, {TRIES} times"))
    }
}

impl Report {
    /// A partial success is final: what was refused is not sent again.
    fn take(&mut self, signal: Signal, answer: &Response) {
        let Ok(value) = serde_json::from_slice::<Value>(&answer.body) else {
            return;
        };
        let Some(partial) = value.get("partialSuccess") else {
            return;
        };
        let rejected = partial.get(signal.names().2);
        // An integer of 64 bits is a string in this encoding; a number is understood, too.
        let rejected =
            rejected.and_then(|count| count.as_u64().or_else(|| count.as_str()?.parse().ok()));
        self.rejected += rejected.unwrap_or(0);
        let message = partial.get("errorMessage").and_then(Value::as_str);
        self.messages
            .extend(message.filter(|text| !text.is_empty()).map(str::to_owned));
    }
}
