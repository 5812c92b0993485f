//! Brackets outside of strings, 64 bytes at a time.
//!
//! To pass over a value byte by byte is to guess wrong at the end of every short string, and a
//! wrong guess costs a processor more than the string. Here quotes and brackets of a whole block
//! become bits; which of them are inside of strings is arithmetic without a guess.

/// How many bytes a block has.
pub(super) const SIZE: usize = 64;

/// What of the bytes before a block matters for it.
#[derive(Clone, Copy, Default)]
pub(super) struct Before {
    /// A string is open.
    pub(super) in_string: bool,
    /// The next byte ends nothing, because it stands behind a backslash in a string.
    is_escaped: bool,
}

impl Before {
    /// The brackets outside of strings at the beginning of `text`, as one bit for each byte of a
    /// block. The next call is about the next block.
    pub(super) fn brackets(&mut self, text: &[u8]) -> u64 {
        let mut padded = [b' '; SIZE];
        let block = text.first_chunk().unwrap_or_else(|| {
            for (to, from) in padded.iter_mut().zip(text) {
                *to = *from;
            }
            &padded
        });
        let found = with::look(block);
        if found.backslashes != 0 || self.is_escaped {
            return self.one_by_one(block);
        }
        // Each bit is whether the number of quotes up to it is odd.
        let mut inside = found.quotes;
        for distance in [1, 2, 4, 8, 16, 32] {
            inside ^= inside << distance;
        }
        if self.in_string {
            inside = !inside;
        }
        self.in_string = inside >> (SIZE - 1) != 0;
        found.brackets & !inside
    }

    /// Backslashes are rare in what is passed over.
    fn one_by_one(&mut self, block: &[u8; SIZE]) -> u64 {
        let mut brackets = 0;
        for (at, byte) in block.iter().enumerate() {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = self.in_string,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'}' | b'[' | b']' if !self.in_string => brackets |= 1 << at,
                _ => {}
            }
        }
        brackets
    }
}

/// Which bytes of a block are what.
struct Found {
    quotes: u64,
    backslashes: u64,
    brackets: u64,
}

/// What every processor of the architecture has.
#[cfg(target_arch = "x86_64")]
mod with {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8,
    };

    use super::{Found, SIZE};

    pub(super) fn look(block: &[u8; SIZE]) -> Found {
        #[expect(unsafe_code, reason = "the compiler wants to be told of what it knows")]
        // SAFETY: SSE2 is part of x86-64.
        unsafe {
            look_with_sse2(block)
        }
    }

    #[target_feature(enable = "sse2")]
    fn look_with_sse2(block: &[u8; SIZE]) -> Found {
        let mut found = Found {
            quotes: 0,
            backslashes: 0,
            brackets: 0,
        };
        let (parts, _none) = block.as_chunks::<16>();
        for (number, part) in parts.iter().enumerate() {
            let (words, _none) = part.as_chunks::<8>();
            let [low, high] = words else { continue };
            let part = _mm_set_epi64x(i64::from_le_bytes(*high), i64::from_le_bytes(*low));
            // One bit makes a brace of a bracket.
            let braces = _mm_or_si128(part, all(b' '));
            let either = _mm_or_si128(equal(braces, b'{'), equal(braces, b'}'));
            let shift = number * 16;
            found.quotes |= bits(equal(part, b'"')) << shift;
            found.backslashes |= bits(equal(part, b'\\')) << shift;
            found.brackets |= bits(either) << shift;
        }
        found
    }

    #[target_feature(enable = "sse2")]
    fn all(byte: u8) -> __m128i {
        _mm_set1_epi8(byte.cast_signed())
    }

    #[target_feature(enable = "sse2")]
    fn equal(part: __m128i, byte: u8) -> __m128i {
        _mm_cmpeq_epi8(part, all(byte))
    }

    #[target_feature(enable = "sse2")]
    fn bits(marks: __m128i) -> u64 {
        u64::from(_mm_movemask_epi8(marks).cast_unsigned())
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod with {
    use super::{Found, SIZE};

    pub(super) fn look(block: &[u8; SIZE]) -> Found {
        let bits = |is: fn(u8) -> bool| {
            let marks = block.iter().enumerate();
            marks.fold(0, |bits, (at, byte)| bits | u64::from(is(*byte)) << at)
        };
        Found {
            quotes: bits(|byte| byte == b'"'),
            backslashes: bits(|byte| byte == b'\\'),
            brackets: bits(|byte| matches!(byte | 0x20, b'{' | b'}')),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn bits_are_what_a_look_at_every_byte_finds(
            text in "([a-z \u{e9};]{0,9}[\"\\\\{}\\[\\]]){0,60}",
        ) {
            let mut before = Before::default();
            let mut slow = Before::default();
            for block in text.as_bytes().chunks(SIZE) {
                let mut padded = [b' '; SIZE];
                padded[..block.len()].copy_from_slice(block);
                prop_assert_eq!(before.brackets(block), slow.one_by_one(&padded));
                prop_assert_eq!(before.in_string, slow.in_string);
            }
        }
    }
}
