//! Entries of the journal as metrics: how many, how long, how expensive. Each request counts its own
//! entries only (delta temporality), so requests add up and none has to know the ones before.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};
use tollgate_store::journal::Verdict;

use super::value::{Attributes, nanos, resource, scope};
use crate::journal::Entry;

/// `AGGREGATION_TEMPORALITY_DELTA`
const DELTA: u32 = 1;

/// Bounds of the hook's histogram, in milliseconds, and of the gates', in seconds.
const HOOK: [f64; 10] = [0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0, 1000.0];
const GATE: [f64; 9] = [0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 180.0, 600.0, 1800.0];

/// What a data point is about: its attributes, by name.
type Labels = Vec<(&'static str, String)>;

/// All values of the entries of one request.
#[derive(Debug, Default)]
struct Gathered {
    decisions: BTreeMap<Labels, u64>,
    hook: BTreeMap<Labels, Vec<f64>>,
    gate: BTreeMap<Labels, Vec<f64>>,
    cost: BTreeMap<Labels, f64>,
    tokens: BTreeMap<Labels, u64>,
}

/// The stretch of time that a request is about.
#[derive(Debug)]
struct Span {
    start: String,
    end: String,
}

pub(super) fn request(entries: &[Entry], project: &str) -> Value {
    let times = || entries.iter().filter_map(|entry| entry.ts);
    let first = times().min().unwrap_or(Timestamp::UNIX_EPOCH);
    let span = Span {
        start: nanos(first),
        end: nanos(times().max().unwrap_or(first)),
    };
    let mut gathered = Gathered::default();
    for entry in entries {
        gathered.add(entry);
    }
    json!({ "resourceMetrics": [{
        "resource": resource(project),
        "scopeMetrics": [{ "scope": scope(), "metrics": gathered.metrics(&span) }],
    }] })
}

impl Gathered {
    fn add(&mut self, entry: &Entry) {
        let word = |text: &Option<String>| text.clone().unwrap_or_default();
        let labels = vec![
            ("tollgate.verdict", entry.verdict.as_str().to_owned()),
            ("tollgate.guard", word(&entry.guard)),
            ("tollgate.code", word(&entry.code)),
        ];
        *self.decisions.entry(labels).or_default() += 1;
        let number = |key: &str| entry.value.get(key).and_then(Value::as_u64);
        match entry.verdict {
            Verdict::Gate | Verdict::Review => {
                let labels = vec![
                    ("tollgate.gate", word(&entry.guard)),
                    ("tollgate.result", word(&entry.code)),
                ];
                let seconds = entry.ms.map(|ms| ms / 1000.0);
                self.gate.entry(labels).or_default().extend(seconds);
                let by = || vec![("tollgate.agent", word(&entry.agent))];
                if let Some(usd) = entry.cost_usd {
                    *self.cost.entry(by()).or_default() += usd;
                }
                for kind in ["input", "output"] {
                    if let Some(count) = number(&format!("{kind}_tokens")) {
                        let mut labels = by();
                        labels.push(("gen_ai.token.type", kind.to_owned()));
                        *self.tokens.entry(labels).or_default() += count;
                    }
                }
            }
            Verdict::Block | Verdict::Ask | Verdict::Warn | Verdict::Watch | Verdict::Fault => {
                let labels = vec![("tollgate.event", word(&entry.event))];
                self.hook.entry(labels).or_default().extend(entry.ms);
            }
            Verdict::Change | Verdict::Record => {}
        }
    }

    fn metrics(self, span: &Span) -> Vec<Value> {
        let whole = |count: u64| json!({ "asInt": count.to_string() });
        let dollars = |usd: f64| json!({ "asDouble": usd });
        let Self {
            decisions,
            hook,
            gate,
            cost,
            tokens,
        } = self;
        let metrics = [
            sum(("tollgate.decisions", "{decision}"), span, decisions, whole),
            sum(("tollgate.review.cost", "USD"), span, cost, dollars),
            sum(("tollgate.review.tokens", "{token}"), span, tokens, whole),
            histogram(("tollgate.hook.duration", "ms"), span, &HOOK, hook),
            histogram(("tollgate.gate.duration", "s"), span, &GATE, gate),
        ];
        metrics.into_iter().flatten().collect()
    }
}

fn point(labels: &Labels, span: &Span, more: Value) -> Value {
    let mut attributes = Attributes::default();
    for (key, value) in labels {
        attributes.text(key, Some(value.as_str()).filter(|value| !value.is_empty()));
    }
    let mut point = json!({
        "attributes": attributes.into_json(),
        "startTimeUnixNano": span.start,
        "timeUnixNano": span.end,
    });
    if let (Some(point), Value::Object(more)) = (point.as_object_mut(), more) {
        point.extend(more);
    }
    point
}

/// None without a value.
fn sum<T>(
    (name, unit): (&str, &str),
    span: &Span,
    values: BTreeMap<Labels, T>,
    write: impl Fn(T) -> Value,
) -> Option<Value> {
    let points = values.into_iter();
    let point = |(labels, value): (Labels, T)| point(&labels, span, write(value));
    let points: Vec<Value> = points.map(point).collect();
    (!points.is_empty()).then(|| {
        json!({ "name": name, "unit": unit, "sum": {
            "dataPoints": points, "aggregationTemporality": DELTA, "isMonotonic": true,
        } })
    })
}

/// None without a value.
fn histogram(
    (name, unit): (&str, &str),
    span: &Span,
    bounds: &[f64],
    values: BTreeMap<Labels, Vec<f64>>,
) -> Option<Value> {
    let filled = values.into_iter().filter(|(_, values)| !values.is_empty());
    let points: Vec<Value> = filled
        .map(|(labels, values)| {
            let mut counts = vec![0u64; bounds.len() + 1];
            for value in &values {
                // A bucket reaches up to its bound, that included.
                let bucket = bounds.partition_point(|bound| bound < value);
                if let Some(count) = counts.get_mut(bucket) {
                    *count += 1;
                }
            }
            let counts: Vec<String> = counts.iter().map(ToString::to_string).collect();
            let more = json!({
                "count": values.len().to_string(),
                "sum": values.iter().sum::<f64>(),
                "min": values.iter().copied().fold(f64::INFINITY, f64::min),
                "max": values.iter().copied().fold(0.0, f64::max),
                "bucketCounts": counts,
                "explicitBounds": bounds,
            });
            point(&labels, span, more)
        })
        .collect();
    (!points.is_empty()).then(|| {
        json!({ "name": name, "unit": unit, "histogram": {
            "dataPoints": points, "aggregationTemporality": DELTA,
        } })
    })
}
