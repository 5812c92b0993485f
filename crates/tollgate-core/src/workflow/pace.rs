//! Whether a workflow took markedly longer than those of its size before it.

use serde_json::{Value, json};

use tollgate_store::document::whole;

/// How many earlier workflows are compared, at most and at least.
const WINDOW: usize = 5;
const LEAST: usize = 2;

/// How much longer than the average is too long, in percent.
const TOLERANCE: u64 = 20;

/// A workflow that took too long, as the history records it.
#[derive(Clone, Debug, PartialEq)]
pub struct Regression {
    /// `regression_check` of the entry.
    pub record: Value,
    /// In words.
    pub what: String,
}

/// Compares `minutes`, the time a workflow of size `intensity` took, with the history before it.
pub fn check(minutes: u64, intensity: Option<&str>, before: &[Value]) -> Option<Regression> {
    let size = |entry: &Value| {
        let sizing = entry.get("sizing")?.get("effective_intensity")?;
        sizing.as_str().map(str::to_owned)
    };
    let times: Vec<u64> = before
        .iter()
        .rev()
        .filter(|entry| size(entry).as_deref() == intensity)
        .filter_map(|entry| whole(entry.get("metrics")?.get("total_duration_minutes")?))
        .take(WINDOW)
        .collect();
    if times.len() < LEAST {
        return None;
    }
    let average =
        times.iter().copied().fold(0, u64::saturating_add) / u64::try_from(times.len()).ok()?;
    let hundredfold = minutes.saturating_mul(100);
    if hundredfold <= average.saturating_mul(100 + TOLERANCE) {
        return None;
    }
    let percent = hundredfold
        .checked_div(average)
        .map(|share| share.saturating_sub(100));
    Some(Regression {
        record: json!({
            "regressed": true, "average_minutes": average, "actual_minutes": minutes,
            "percent_over": percent, "compared_with": times.len(),
        }),
        what: format!(
            "The workflow took {minutes} minutes; the last {} of its size took {average} on \
             average",
            times.len()
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_over_the_average_of_the_same_size_is_a_regression() {
        let took = |minutes: u64, size: &str| json!({"sizing": {"effective_intensity": size}, "metrics": {"total_duration_minutes": minutes}});
        let before = [
            took(100, "standard"),
            took(10, "light"),
            took(100, "standard"),
        ];
        assert_eq!(check(120, Some("standard"), &before), None);
        let found = check(121, Some("standard"), &before).unwrap();
        assert_eq!(found.record["percent_over"], 21);
        assert_eq!(check(500, Some("light"), &before), None);
        assert_eq!(check(500, None, &before), None);
    }
}
