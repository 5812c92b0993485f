//! Patterns with wildcards, as git matches them: `*`, `?`, `[…]`, `\x` and `**`.

/// What a star may stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stars {
    /// Anything: the text is a name.
    All,
    /// Anything but a slash, unless there are two of them between slashes: the text is a path.
    Components,
}

/// How a match went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    Yes,
    No,
    /// The text ended, so that no longer star can help.
    Never,
    /// A slash is in the way of a single star; one before a `**` may help.
    NotHere,
}

/// Whether all of a text matches a pattern.
pub(super) fn matches(pattern: &[u8], text: &[u8], stars: Stars) -> bool {
    fit(pattern, 0, text, stars) == Fit::Yes
}

/// Matches `text` with what follows in `pattern` after `at`.
fn fit(pattern: &[u8], mut at: usize, mut text: &[u8], stars: Stars) -> Fit {
    while let Some(&letter) = pattern.get(at) {
        let here = text.first().copied();
        if here.is_none() && letter != b'*' {
            return Fit::Never;
        }
        match letter {
            b'*' => return star(pattern, at, text, stars),
            b'?' => {
                if stars == Stars::Components && here == Some(b'/') {
                    return Fit::No;
                }
            }
            b'[' => match class(pattern, at + 1, here.unwrap_or_default()) {
                Some((is_in, end)) => {
                    if !is_in || (stars == Stars::Components && here == Some(b'/')) {
                        return Fit::No;
                    }
                    at = end;
                }
                None => return Fit::Never,
            },
            b'\\' => {
                at += 1;
                // A backslash at the end stands for nothing that a text has.
                if pattern.get(at).copied() != here {
                    return Fit::No;
                }
            }
            plain => {
                if here != Some(plain) {
                    return Fit::No;
                }
            }
        }
        at += 1;
        text = text.get(1..).unwrap_or_default();
    }
    if text.is_empty() { Fit::Yes } else { Fit::No }
}

/// Matches from the first of one or more stars on.
fn star(pattern: &[u8], first: usize, mut text: &[u8], stars: Stars) -> Fit {
    let mut at = first;
    while pattern.get(at) == Some(&b'*') {
        at += 1;
    }
    let is_double = at - first >= 2;
    let follows = pattern.get(at).copied();
    let before = first.checked_sub(1).and_then(|at| pattern.get(at).copied());
    let crosses = match stars {
        Stars::All => true,
        Stars::Components if is_double => {
            let is_alone = matches!(before, None | Some(b'/'))
                && (matches!(follows, None | Some(b'/'))
                    || (follows == Some(b'\\') && pattern.get(at + 1) == Some(&b'/')));
            // `**/` may stand for no directory at all.
            if is_alone && follows == Some(b'/') && fit(pattern, at + 1, text, stars) == Fit::Yes {
                return Fit::Yes;
            }
            is_alone
        }
        Stars::Components => false,
    };
    let Some(follows) = follows else {
        // At the end, a star takes all there is.
        return if !crosses && text.contains(&b'/') {
            Fit::NotHere
        } else {
            Fit::Yes
        };
    };
    if !crosses && follows == b'/' {
        // A star takes all up to the next slash.
        let Some(slash) = text.iter().position(|byte| *byte == b'/') else {
            return Fit::Never;
        };
        let rest = text.get(slash + 1..).unwrap_or_default();
        return fit(pattern, at + 1, rest, stars);
    }
    while let Some((&here, rest)) = text.split_first() {
        match fit(pattern, at, text, stars) {
            Fit::No => {
                if !crosses && here == b'/' {
                    return Fit::NotHere;
                }
            }
            Fit::NotHere if crosses => {}
            other @ (Fit::Yes | Fit::Never | Fit::NotHere) => return other,
        }
        text = rest;
    }
    Fit::Never
}

/// Whether a byte is in the class that begins after the bracket at `at - 1`, and where that ends.
/// None if the class has no end.
fn class(pattern: &[u8], mut at: usize, byte: u8) -> Option<(bool, usize)> {
    let is_negated = matches!(pattern.get(at)?, b'!' | b'^');
    if is_negated {
        at += 1;
    }
    let mut is_in = false;
    let mut previous = 0;
    let mut is_first = true;
    loop {
        let letter = *pattern.get(at)?;
        if letter == b']' && !is_first {
            return Some((is_in != is_negated, at));
        }
        is_first = false;
        match letter {
            b'\\' => {
                at += 1;
                let literal = *pattern.get(at)?;
                is_in |= literal == byte;
                previous = literal;
            }
            b'-' if previous != 0 && pattern.get(at + 1).is_some_and(|next| *next != b']') => {
                at += 1;
                let mut last = *pattern.get(at)?;
                if last == b'\\' {
                    at += 1;
                    last = *pattern.get(at)?;
                }
                is_in |= (previous..=last).contains(&byte);
                previous = 0;
            }
            b'[' if pattern.get(at + 1) == Some(&b':') => {
                let begin = at + 2;
                let close = begin
                    + pattern
                        .get(begin..)?
                        .iter()
                        .position(|byte| *byte == b']')?;
                if close > begin && pattern.get(close - 1) == Some(&b':') {
                    is_in |= is_of(pattern.get(begin..close - 1)?, byte)?;
                    at = close;
                    previous = 0;
                } else {
                    // No name of a class: a bracket like any other letter.
                    is_in |= byte == b'[';
                    previous = b'[';
                }
            }
            literal => {
                is_in |= literal == byte;
                previous = literal;
            }
        }
        at += 1;
    }
}

/// Whether a byte is of a named kind. None if there is no such kind.
fn is_of(kind: &[u8], byte: u8) -> Option<bool> {
    Some(match kind {
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"alpha" => byte.is_ascii_alphabetic(),
        b"blank" => byte == b' ' || byte == b'\t',
        b"cntrl" => byte.is_ascii_control(),
        b"digit" => byte.is_ascii_digit(),
        b"graph" => byte.is_ascii_graphic(),
        b"lower" => byte.is_ascii_lowercase(),
        b"print" => byte.is_ascii_graphic() || byte == b' ',
        b"punct" => byte.is_ascii_punctuation(),
        // git knows no other white space.
        b"space" => matches!(byte, b' ' | b'\t' | b'\n' | b'\r'),
        b"upper" => byte.is_ascii_uppercase(),
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => return None,
    })
}
