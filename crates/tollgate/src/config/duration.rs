//! Times as people write them: `"90s"`, `"10m"`, `"1h30m"`.

use std::time::Duration;

/// The units, and how many milliseconds each has.
const UNITS: [(&str, u64); 6] = [
    ("ms", 1),
    ("s", 1000),
    ("m", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
    ("w", 7 * 86_400_000),
];

/// What an editor checks it with.
pub(crate) const PATTERN: &str = "^([0-9]+(ms|s|m|h|d|w))+$";

/// Reads a time: numbers, each with its unit.
pub(crate) fn parse(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = 0_u64;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, behind) = rest.split_at(digits);
        let letters = behind.find(|c: char| !c.is_ascii_lowercase());
        let (unit, behind) = behind.split_at(letters.unwrap_or(behind.len()));
        let (_, each) = UNITS.iter().find(|(name, _)| *name == unit)?;
        total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(*each)?)?;
        rest = behind;
    }
    (!text.is_empty()).then(|| Duration::from_millis(total))
}

/// Writes a time in the same way. None if it is no number of milliseconds.
pub(crate) fn words(time: Duration) -> Option<String> {
    let mut rest = u64::try_from(time.as_millis()).ok()?;
    if Duration::from_millis(rest) != time {
        return None;
    }
    if rest == 0 {
        return Some("0s".to_owned());
    }
    let mut text = String::new();
    for (unit, each) in UNITS
        .iter()
        .rev()
        .filter(|(unit, _)| !matches!(*unit, "d" | "w"))
    {
        if rest >= *each {
            text = format!("{text}{}{unit}", rest / each);
            rest %= each;
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_units() {
        for (text, seconds) in [
            ("90s", Some(90.0)),
            ("10m", Some(600.0)),
            ("1h30m", Some(5400.0)),
            ("1500ms", Some(1.5)),
            ("2d", Some(172_800.0)),
            ("1w", Some(604_800.0)),
            ("0s", Some(0.0)),
            ("10", None),
            ("m", None),
            ("", None),
            ("10 m", None),
            ("-5m", None),
            ("1.5h", None),
            ("10M", None),
            ("99999999999999999999h", None),
            ("99999999999999999h", None),
        ] {
            assert_eq!(
                parse(text).map(|time| time.as_secs_f64()),
                seconds,
                "{text}"
            );
        }
    }

    #[test]
    fn times_are_written_as_people_write_them() {
        for (milliseconds, text) in [
            (0, "0s"),
            (600_000, "10m"),
            (90_000, "1m30s"),
            (1500, "1s500ms"),
            (3_600_000, "1h"),
        ] {
            let time = Duration::from_millis(milliseconds);
            assert_eq!(words(time).as_deref(), Some(text));
        }
        assert_eq!(words(Duration::from_nanos(1)), None);
    }
}
