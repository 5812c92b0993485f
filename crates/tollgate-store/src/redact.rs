//! Secrets taken out of what is written to logs.
//!
//! A blocked command was found in a log, token and all, world-readable and not ignored by git.
//! So every text that goes to the journal or the log passes through [`redact`]. It knows the
//! shapes of common tokens and the names that secrets are assigned to; it reads the text once
//! from left to right and looks ahead only as far as a constant, so its time is linear.
//!
//! What this deliberately does not do: guess at randomness. A secret without shape or name
//! stays.

use std::borrow::Cow;

const REDACTED: &str = "[redacted]";

/// A token that is known by how it begins.
struct Shape {
    prefix: &'static str,
    /// How many characters must follow at least.
    least: usize,
    /// Which characters may follow.
    alphabet: fn(u8) -> bool,
    /// Words look like it, so there must be a digit among the first characters.
    needs_digit: bool,
}

const fn shape(prefix: &'static str, least: usize, alphabet: fn(u8) -> bool) -> Shape {
    Shape {
        prefix,
        least,
        alphabet,
        needs_digit: false,
    }
}

const SHAPES: &[Shape] = &[
    shape("sk-ant-", 8, is_url_base64),
    Shape {
        needs_digit: true,
        ..shape("sk-", 16, is_url_base64)
    },
    shape("sk_live_", 8, is_word),
    shape("sk_test_", 8, is_word),
    shape("rk_live_", 8, is_word),
    shape("ghp_", 16, is_word),
    shape("gho_", 16, is_word),
    shape("ghu_", 16, is_word),
    shape("ghs_", 16, is_word),
    shape("ghr_", 16, is_word),
    shape("github_pat_", 16, is_word),
    shape("glpat-", 16, is_url_base64),
    shape("npm_", 30, is_word),
    shape("pypi-", 32, is_url_base64),
    shape("xoxb-", 10, is_url_base64),
    shape("xoxp-", 10, is_url_base64),
    shape("xoxa-", 10, is_url_base64),
    shape("xapp-", 10, is_url_base64),
    shape("hf_", 24, is_word),
    shape("AIza", 30, is_url_base64),
    shape("AKIA", 16, is_upper),
    shape("ASIA", 16, is_upper),
    // A JSON object in base64: the head of a JWT, or something that was hidden on purpose.
    shape("eyJ", 14, is_jwt),
];

/// Names whose value is a secret, whatever precedes them; lower case.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "api_key",
    "api-key",
    "apikey",
    "access_key",
    "access-key",
    "private_key",
    "private-key",
    "secret_key",
    "secret-key",
    "credential",
    "credentials",
];

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

fn is_upper(b: u8) -> bool {
    b.is_ascii_uppercase() || b.is_ascii_digit()
}

fn is_url_base64(b: u8) -> bool {
    is_word(b) || b == b'-'
}

fn is_jwt(b: u8) -> bool {
    is_url_base64(b) || matches!(b, b'.' | b'=' | b'+' | b'/')
}

fn is_bearer(b: u8) -> bool {
    is_jwt(b) || b == b'~'
}

fn is_name(b: u8) -> bool {
    is_url_base64(b)
}

fn is_value(b: u8) -> bool {
    !b.is_ascii_whitespace()
        && !matches!(
            b,
            b'"' | b'\'' | b'`' | b';' | b'&' | b',' | b'|' | b')' | b'}' | b'<' | b'>'
        )
}

/// The text without secrets.
pub fn redact(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let (mut kept, mut at, mut name_start) = (0, 0, 0);
    while let Some(&byte) = bytes.get(at) {
        let starts_word = at == 0 || bytes.get(at - 1).is_none_or(|b| !is_word(*b));
        let name = bytes.get(name_start..at).unwrap_or_default();
        if !is_name(byte) {
            name_start = at + 1;
        }
        let secret = match byte {
            b'=' | b':' => assigned(bytes, name, at).or_else(|| url_password(bytes, at)),
            b'-' if starts_word => pem(text, at),
            // `"password": "x"`
            b'"' | b'\'' => assigned(bytes, name, at + 1),
            b' ' => flag(bytes, name, at).or_else(|| bearer(bytes, name, at)),
            _ if starts_word => token(bytes, at),
            _ => None,
        };
        if let Some((start, end)) = secret {
            out.push_str(text.get(kept..start).unwrap_or_default());
            out.push_str(REDACTED);
            (kept, at, name_start) = (end, end, end);
        } else {
            at += 1;
            // Inside of a word nothing begins.
            if is_word(byte) {
                at = run(bytes, at, is_word);
            }
        }
    }
    if kept == 0 && out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    Cow::Owned(out)
}

/// From where to where a secret goes. Both lie beside ASCII characters or at an end of the text.
type Span = (usize, usize);

fn run(bytes: &[u8], from: usize, alphabet: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|b| alphabet(**b)).count()
}

fn token(bytes: &[u8], at: usize) -> Option<Span> {
    let rest = bytes.get(at..)?;
    let first = rest.first();
    let shape = SHAPES.iter().find(|shape| {
        let prefix = shape.prefix.as_bytes();
        // The first byte tells nearly always, and without a call.
        (prefix.first() == first)
            .then(|| rest.strip_prefix(prefix))
            .flatten()
            .is_some_and(|tail| {
                // Only as far as needed: what begins like a token a thousand times costs no more.
                let head = tail.get(..shape.least).unwrap_or_default();
                let near = tail.get(..tail.len().min(48)).unwrap_or_default();
                !head.is_empty()
                    && head.iter().all(|b| (shape.alphabet)(*b))
                    && (!shape.needs_digit
                        || near
                            .iter()
                            .take_while(|b| (shape.alphabet)(**b))
                            .any(u8::is_ascii_digit))
            })
    })?;
    Some((at, run(bytes, at + shape.prefix.len(), shape.alphabet)))
}

/// `-----BEGIN … KEY-----` up to and with its end line, or to the end of the text.
fn pem(text: &str, at: usize) -> Option<Span> {
    let rest = text.get(at..)?;
    let inside = rest.strip_prefix("-----BEGIN ")?;
    let end = match inside.find("-----END ") {
        Some(end) => {
            let tail = inside.get(end + 9..)?;
            let line = tail.find("-----").map_or(tail.len(), |n| n + 5);
            rest.len() - tail.len() + line
        }
        None => rest.len(),
    };
    Some((at, at + end))
}

/// `://user:password@` and `://token@`.
fn url_password(bytes: &[u8], colon: usize) -> Option<Span> {
    if bytes.get(colon..colon + 3)? != b"://" {
        return None;
    }
    let start = colon + 3;
    let end = run(bytes, start, |b| {
        !b.is_ascii_whitespace() && !matches!(b, b'/' | b'?' | b'#' | b'"' | b'\'')
    });
    let authority = bytes.get(start..end)?;
    let sign = authority.iter().rposition(|b| *b == b'@')?;
    let user = authority.get(..sign)?;
    match user.iter().position(|b| *b == b':') {
        Some(split) if split + 1 < sign => Some((start + split + 1, start + sign)),
        // Short names (`git@`) are users.
        None if sign >= 16 => Some((start, start + sign)),
        Some(_) | None => None,
    }
}

fn is_secret_name(name: &[u8]) -> bool {
    if [&b"_KEY"[..], b"_PASS", b"_PWD", b"_PAT", b"_AUTH"]
        .iter()
        .any(|end| name.ends_with(end))
    {
        return true;
    }
    NAMES.iter().any(|known| {
        name.len()
            .checked_sub(known.len())
            .and_then(|start| name.get(start..))
            .is_some_and(|end| end.eq_ignore_ascii_case(known.as_bytes()))
    })
}

/// `NAME=value`, `name: value`, with or without quotes around the value.
fn assigned(bytes: &[u8], name: &[u8], at: usize) -> Option<Span> {
    if !matches!(bytes.get(at), Some(b'=' | b':')) || !is_secret_name(name) {
        return None;
    }
    value(bytes, at + 1)
}

/// `--password value`.
fn flag(bytes: &[u8], name: &[u8], at: usize) -> Option<Span> {
    if name.starts_with(b"--") && is_secret_name(name) {
        value(bytes, at)
    } else {
        None
    }
}

fn value(bytes: &[u8], from: usize) -> Option<Span> {
    let start = from
        + bytes
            .get(from..)?
            .iter()
            .take(8)
            .take_while(|b| matches!(b, b' ' | b'\t'))
            .count();
    let first = *bytes.get(start)?;
    let span = match first {
        b'"' | b'\'' => {
            let start = start + 1;
            (start, run(bytes, start, |b| b != first && b != b'\n'))
        }
        // A reference to a secret is none: `$TOKEN`, `${TOKEN}`, `$(cat token)`.
        b'$' => return None,
        _ => (start, run(bytes, start, is_value)),
    };
    let is_reference = bytes.get(span.0) == Some(&b'$');
    (span.1 > span.0 && !is_reference).then_some(span)
}

/// `Bearer value` and `Basic value`, as in a header.
fn bearer(bytes: &[u8], name: &[u8], at: usize) -> Option<Span> {
    if !name.eq_ignore_ascii_case(b"bearer") && !name.eq_ignore_ascii_case(b"basic") {
        return None;
    }
    let start = run(bytes, at, |b| b == b' ');
    let end = run(bytes, start, is_bearer);
    let found = bytes.get(start..end)?;
    let is_word = found.len() < 20 && found.iter().all(u8::is_ascii_lowercase);
    (found.len() >= 6 && !is_word).then_some((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn secrets_of_known_shape_or_name_are_taken_out() {
        let pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----";
        for (text, expected) in [
            (
                "curl -H 'x-api-key: sk-ant-api03-AbC_d-12345678'",
                "curl -H 'x-api-key: [redacted]'",
            ),
            ("use sk-ant-api03-AbC_d-12345678!", "use [redacted]!"),
            ("sk-proj-abcdefghij0123456789", "[redacted]"),
            (
                "git push ghp_abcdefghijklmnopqrst0123456789",
                "git push [redacted]",
            ),
            ("gho_abcdefghijklmnopqrst0123456789.", "[redacted]."),
            ("github_pat_11ABCDEFG0123456789_abcdef", "[redacted]"),
            ("id AKIAIOSFODNN7EXAMPLE end", "id [redacted] end"),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.s_ig-1", "[redacted]"),
            (
                "git clone https://me:hunter2@host/x",
                "git clone https://me:[redacted]@host/x",
            ),
            (
                "https://abcdef0123456789abcd@github.com/a",
                "https://[redacted]@github.com/a",
            ),
            (
                "Authorization: Bearer abc.DEF-123",
                "Authorization: Bearer [redacted]",
            ),
            (
                "authorization: basic dXNlcjpwYXNz",
                "authorization: basic [redacted]",
            ),
            (
                "mysql --password=hunter2 -u me",
                "mysql --password=[redacted] -u me",
            ),
            (
                "mysql --password hunter2 -u me",
                "mysql --password [redacted] -u me",
            ),
            ("export NPM_TOKEN=abc", "export NPM_TOKEN=[redacted]"),
            (
                "OPENAI_API_KEY='a b' run",
                "OPENAI_API_KEY='[redacted]' run",
            ),
            ("AWS_SECRET=abc;ls", "AWS_SECRET=[redacted];ls"),
            (
                r#"{"password": "x y", "a": 1}"#,
                r#"{"password": "[redacted]", "a": 1}"#,
            ),
            ("?token=abc&x=1", "?token=[redacted]&x=1"),
            ("DB_PASS=ü1", "DB_PASS=[redacted]"),
        ] {
            assert_eq!(redact(text), expected);
        }
        assert_eq!(redact(&format!("a {pem} b")), "a [redacted] b");
        assert_eq!(
            redact("x\n-----BEGIN PRIVATE KEY-----\nMII"),
            "x\n[redacted]"
        );
    }

    #[test]
    fn what_is_no_secret_stays() {
        for text in [
            "git commit -m 'bearer authentication and tokens'",
            "echo $TOKEN; curl -H \"Authorization: Bearer $TOKEN\"",
            "PASSWORD=$(cat secret) GH_TOKEN=\"$T\" run",
            "pip install sk-learn-contrib-package",
            "ssh://git@github.com/x http://localhost:8080/a:b@c",
            "phase_key=06-implementation current_phase: 06",
            "the keyboard: x, monkey=1, ghp_short AKIASHORT eyJ",
            "--- a/file\n+++ b/file -----",
            "secret:",
            "",
        ] {
            assert_eq!(redact(text), text);
            assert!(matches!(redact(text), Cow::Borrowed(_)));
        }
    }

    #[test]
    fn hostile_texts_take_linear_time() {
        for unit in [
            "sk-",
            "eyJ-",
            "-----BEGIN ",
            "://a:",
            "token=",
            "\"password\"",
            "Bearer ",
            "--token ",
            "AKIA",
            "a://",
            "-----END ",
            "=\"",
            "token=\"",
        ] {
            let text = unit.repeat(400_000 / unit.len());
            let start = std::time::Instant::now();
            let _done = redact(&text);
            // Quadratic would be many minutes.
            assert!(
                start.elapsed().as_secs() < 5,
                "{unit:?}: {:?}",
                start.elapsed()
            );
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(sk-|eyJ|://|@|:|=|token|Bearer |\"|ü|😀|-----BEGIN |-----END |[a-z0-9]{0,20}| ){0,30}") {
            let _text = redact(&text);
        }
    }
}
