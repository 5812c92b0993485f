//! The one way a moment is written, and the ways it is read.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;

/// As JavaScript's `toISOString` writes it: `2026-02-08T20:00:00.000Z`.
pub fn iso(moment: Timestamp) -> String {
    format!("{moment:.3}")
}

/// Reads a moment. A model that writes state itself leaves out the zone, or the whole time of
/// day; such a moment is taken as UTC, as JavaScript takes a bare date.
pub fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    text.parse().ok().or_else(|| {
        let civil: DateTime = text.parse().ok()?;
        let zoned = civil.to_zoned(TimeZone::UTC).ok()?;
        Some(zoned.timestamp())
    })
}

/// The moment that a member of a document is.
pub fn of(value: Option<&Value>) -> Option<Timestamp> {
    parse(value?.as_str()?)
}

/// [`iso`] without characters that file names dislike: `20260208T200000.000Z`.
pub(crate) fn compact(moment: Timestamp) -> String {
    moment.strftime("%Y%m%dT%H%M%S.%3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_with_and_without_a_zone() {
        for (text, expected) in [
            ("2026-02-08T20:00:00.000Z", Some("2026-02-08T20:00:00.000Z")),
            (
                "2026-02-08T20:00:00+01:00",
                Some("2026-02-08T19:00:00.000Z"),
            ),
            (" 2026-02-08T20:00:00 ", Some("2026-02-08T20:00:00.000Z")),
            ("2026-02-08", Some("2026-02-08T00:00:00.000Z")),
            ("ISO", None),
            ("", None),
        ] {
            assert_eq!(parse(text).map(iso).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn milliseconds_are_always_there_and_cut_not_rounded() {
        for (given, expected) in [
            ("2026-02-08T20:00:00Z", "2026-02-08T20:00:00.000Z"),
            ("2026-02-08T20:00:00.9999Z", "2026-02-08T20:00:00.999Z"),
            ("1970-01-01T00:00:00.05Z", "1970-01-01T00:00:00.050Z"),
            ("1969-12-31T23:59:59.0001Z", "1969-12-31T23:59:59.000Z"),
            ("0999-12-31T23:59:59.999Z", "0999-12-31T23:59:59.999Z"),
            ("-000001-01-01T00:00:00Z", "-000001-01-01T00:00:00.000Z"),
            (
                "2026-02-08T20:00:00.123456789+02:00",
                "2026-02-08T18:00:00.123Z",
            ),
        ] {
            assert_eq!(iso(given.parse().unwrap()), expected);
        }
        assert_eq!(
            compact("2026-02-08T20:00:00Z".parse().unwrap()),
            "20260208T200000.000Z"
        );
    }
}
