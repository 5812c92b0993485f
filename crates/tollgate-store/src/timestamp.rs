//! The one way a moment is written, and the ways it is read.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// As JavaScript's `toISOString` writes it: `2026-02-08T20:00:00.000Z`.
pub fn iso(moment: Timestamp) -> String {
    plain(moment).unwrap_or_else(|| moment.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string())
}

/// The same by hand, which takes a tenth of the time, for years of four digits: every line of
/// every log begins with it.
fn plain(moment: Timestamp) -> Option<String> {
    let civil = TimeZone::UTC.to_datetime(moment);
    let year = u32::try_from(civil.year())
        .ok()
        .filter(|year| *year > 999)?;
    let mut text = *b"0000-00-00T00:00:00.000Z";
    let mut places = text.iter_mut().filter(|byte| **byte == b'0');
    let mut put = |number: u32, digits: u32| {
        for place in (0..digits).rev() {
            let digit = number / 10_u32.pow(place) % 10;
            *places.next()? = b"0123456789".get(digit as usize).copied()?;
        }
        Some(())
    };
    put(year, 4)?;
    for part in [
        civil.month(),
        civil.day(),
        civil.hour(),
        civil.minute(),
        civil.second(),
    ] {
        put(part.unsigned_abs().into(), 2)?;
    }
    put(civil.millisecond().unsigned_abs().into(), 3)?;
    String::from_utf8(text.to_vec()).ok()
}

/// Reads a moment. A model that writes state by hand leaves out the zone, or the whole time of
/// day; such a moment is taken as UTC, as JavaScript takes a bare date.
pub fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    text.parse().ok().or_else(|| {
        let civil: DateTime = text.parse().ok()?;
        let zoned = civil.to_zoned(TimeZone::UTC).ok()?;
        Some(zoned.timestamp())
    })
}

/// The same without characters that file names dislike: `20260208T200000.000Z`.
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
    fn by_hand_it_is_the_same() {
        let moments = (0..4000_i64).map(|n| n * n * 5_000_011 - 62_000_000_000_123);
        for moment in moments.filter_map(|n| Timestamp::from_millisecond(n).ok()) {
            let expected = moment.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string();
            assert_eq!(iso(moment), expected);
        }
        for text in [
            "0999-12-31T23:59:59.999Z",
            "-000001-01-01T00:00:00Z",
            "9999-12-30T21:59:59Z",
        ] {
            let moment: Timestamp = text.parse().unwrap();
            let expected = moment.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string();
            assert_eq!(iso(moment), expected);
        }
    }

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
