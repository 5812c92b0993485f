//! The one way a moment is written.

use jiff::Timestamp;

/// As JavaScript's `toISOString` writes it: `2026-02-08T20:00:00.000Z`.
pub fn iso(moment: Timestamp) -> String {
    moment.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

/// The same without characters that file names dislike: `20260208T200000.000Z`.
pub(crate) fn compact(moment: Timestamp) -> String {
    moment.strftime("%Y%m%dT%H%M%S.%3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_are_always_there_and_cut_not_rounded() {
        for (given, expected) in [
            ("2026-02-08T20:00:00Z", "2026-02-08T20:00:00.000Z"),
            ("2026-02-08T20:00:00.9999Z", "2026-02-08T20:00:00.999Z"),
            ("1970-01-01T00:00:00.05Z", "1970-01-01T00:00:00.050Z"),
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
