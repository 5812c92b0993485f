//! The escapes of `$'…'`, `echo -e` and `printf`.

/// The text with its escapes resolved. `\c` ends it, as it does for `echo`.
pub(crate) fn unescape(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let Some((&escape, after)) = after.split_first().filter(|_| byte == b'\\') else {
            out.push(byte);
            continue;
        };
        rest = after;
        match escape {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'a' | b'b' | b'e' | b'E' | b'f' | b'v' => out.push(7),
            b'\\' | b'"' | b'\'' | b'?' => out.push(escape),
            b'c' => break,
            b'x' => out.push(number(&mut rest, 16, 2, 0).to_le_bytes()[0]),
            b'u' | b'U' => {
                let most = if escape == b'u' { 4 } else { 8 };
                let letter = char::from_u32(number(&mut rest, 16, most, 0)).unwrap_or('\u{FFFD}');
                out.extend(letter.encode_utf8(&mut [0; 4]).bytes());
            }
            b'0'..=b'7' => {
                // `echo` wants a zero before up to three digits.
                let most = if escape == b'0' { 3 } else { 2 };
                let value = number(&mut rest, 8, most, u32::from(escape - b'0'));
                out.push(value.to_le_bytes()[0]);
            }
            _ => out.extend([b'\\', escape]),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Up to `most` further digits of a number that begins with `value`.
fn number(rest: &mut &[u8], radix: u32, most: usize, mut value: u32) -> u32 {
    for _ in 0..most {
        let Some((&byte, after)) = rest.split_first() else {
            break;
        };
        let Some(digit) = char::from(byte).to_digit(radix) else {
            break;
        };
        value = value.wrapping_mul(radix).wrapping_add(digit);
        *rest = after;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::unescape;

    #[test]
    fn escapes_become_what_they_stand_for() {
        for (text, expected) in [
            (r"a\nb", "a\nb"),
            (r"\x67\151t", "git"),
            (r"\u0063ommit", "commit"),
            (r"\0147it", "git"),
            (r"a\qb", r"a\qb"),
            (r"a\", r"a\"),
            (r"a\cb", "a"),
            ("é\\xc3\\xa9", "éé"),
        ] {
            assert_eq!(unescape(text), expected, "{text}");
        }
    }
}
