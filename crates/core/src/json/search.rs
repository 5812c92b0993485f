//! Searching bytes with what every machine of an architecture has.
//!
//! `memchr` asks the processor what else it has before its first search. The answer is ten
//! `cpuid`, and in a virtual machine each of them leaves the machine: 0.1 ms, a fifth of a whole
//! event, for searches that take microseconds either way.

#[cfg(target_arch = "x86_64")]
mod with {
    use memchr::arch::x86_64::sse2::memchr::{One, Two};

    pub(super) fn byte(text: &[u8], wanted: u8) -> Option<usize> {
        match One::new(wanted) {
            Some(one) => one.find(text),
            None => memchr::memchr(wanted, text),
        }
    }

    pub(super) fn either(text: &[u8], wanted: [u8; 2]) -> Option<usize> {
        let [one, other] = wanted;
        match Two::new(one, other) {
            Some(two) => two.find(text),
            None => memchr::memchr2(one, other, text),
        }
    }

    pub(super) fn count(text: &[u8], wanted: u8) -> usize {
        match One::new(wanted) {
            Some(one) => one.count(text),
            None => memchr::memchr_iter(wanted, text).count(),
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod with {
    pub(super) fn byte(text: &[u8], wanted: u8) -> Option<usize> {
        memchr::memchr(wanted, text)
    }

    pub(super) fn either(text: &[u8], wanted: [u8; 2]) -> Option<usize> {
        let [one, other] = wanted;
        memchr::memchr2(one, other, text)
    }

    pub(super) fn count(text: &[u8], wanted: u8) -> usize {
        memchr::memchr_iter(wanted, text).count()
    }
}

/// Where a byte is first.
pub(super) fn byte(text: &[u8], wanted: u8) -> Option<usize> {
    with::byte(text, wanted)
}

/// Where one of two bytes is first.
pub(super) fn either(text: &[u8], wanted: [u8; 2]) -> Option<usize> {
    with::either(text, wanted)
}

/// How often a byte is there.
pub(crate) fn count(text: &[u8], wanted: u8) -> usize {
    with::count(text, wanted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_found_is_what_a_look_at_every_byte_finds(
            text in "[ab\n }]{0,100}",
        ) {
            let text = text.as_bytes();
            let at = |is: &dyn Fn(u8) -> bool| text.iter().position(|byte| is(*byte));
            prop_assert_eq!(byte(text, b'a'), at(&|byte| byte == b'a'));
            prop_assert_eq!(either(text, *b"}\n"), at(&|byte| byte == b'}' || byte == b'\n'));
            prop_assert_eq!(count(text, b'b'), memchr::memchr_iter(b'b', text).count());
        }
    }
}
