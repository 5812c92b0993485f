//! A text in pieces, one behind the other: what an edit leaves of a large text is written from
//! where it is and never copied.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, IoSlice};

use rustix::io::Errno;

/// A text in pieces.
#[derive(Clone, Debug, Default)]
pub struct Pieces<'t>(Vec<Cow<'t, str>>);

/// The kernel takes 1,024 at a time.
const AT_ONCE: usize = 512;

impl<'t> Pieces<'t> {
    /// A text with some parts of it replaced. Those are given from left to right and do not overlap;
    /// `None` if they do, or cut a character.
    pub(crate) fn replaced(
        text: &'t str,
        parts: impl IntoIterator<Item = (std::ops::Range<usize>, String)>,
    ) -> Option<Self> {
        let mut pieces = Vec::new();
        let mut at = 0;
        for (place, new) in parts {
            pieces.push(Cow::Borrowed(text.get(at..place.start)?));
            pieces.push(Cow::Owned(new));
            at = place.end;
        }
        pieces.push(Cow::Borrowed(text.get(at..)?));
        Some(Self(pieces))
    }

    /// How many bytes it has.
    pub fn len(&self) -> usize {
        self.0.iter().map(|piece| piece.len()).sum()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its bytes, in pieces.
    pub(crate) fn bytes(&self) -> Vec<&[u8]> {
        self.0.iter().map(|piece| piece.as_bytes()).collect()
    }

    /// In one piece.
    pub fn joined(&self) -> Cow<'_, str> {
        match self.0.as_slice() {
            [piece] => Cow::Borrowed(piece),
            pieces => Cow::Owned(pieces.concat()),
        }
    }

    /// In one piece that borrows from nobody.
    pub(crate) fn into_owned(self) -> Pieces<'static> {
        Pieces::from(self.joined().into_owned())
    }
}

impl From<String> for Pieces<'_> {
    fn from(text: String) -> Self {
        Self(vec![Cow::Owned(text)])
    }
}

impl PartialEq for Pieces<'_> {
    /// The same text, however it is cut.
    fn eq(&self, other: &Self) -> bool {
        self.joined() == other.joined()
    }
}

impl Eq for Pieces<'_> {}

/// Writes pieces one behind the other, from the start of a file on.
pub(super) fn write_all(file: &File, pieces: &[&[u8]], from: u64) -> io::Result<()> {
    let mut slices: Vec<IoSlice<'_>> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
    let mut left = slices.as_mut_slice();
    // Empty ones at the front would be taken for the end of what can be written.
    IoSlice::advance_slices(&mut left, 0);
    let mut at = from;
    while !left.is_empty() {
        let now = left.get(..left.len().min(AT_ONCE)).unwrap_or_default();
        match rustix::io::pwritev(file, now, at) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                at += written as u64;
                IoSlice::advance_slices(&mut left, written);
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_written_one_behind_the_other_however_many() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let texts: Vec<String> = (0..3000).map(|n| "x".repeat(n % 7)).collect();
        let pieces: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        write_all(file.as_file(), &pieces, 0).unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap(), pieces.concat());
        write_all(file.as_file(), &[b"", b"ab", b"", b"c"], 1).unwrap();
        let written = std::fs::read(file.path()).unwrap();
        assert!(written.starts_with(b"xabcx"));
        write_all(file.as_file(), &[b"", b""], 0).unwrap();
        write_all(file.as_file(), &[], 0).unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap(), written);
    }

    #[test]
    fn parts_are_replaced_where_they_fit() {
        let made = |parts: &[(std::ops::Range<usize>, &str)]| {
            let parts = parts
                .iter()
                .map(|(place, new)| (place.clone(), (*new).to_owned()));
            Pieces::replaced("0123456789", parts).map(|pieces| pieces.joined().into_owned())
        };
        assert_eq!(made(&[]).as_deref(), Some("0123456789"));
        assert_eq!(
            made(&[(0..1, "a"), (5..5, "b"), (9..10, "")]).as_deref(),
            Some("a1234b5678")
        );
        assert_eq!(made(&[(3..5, "a"), (4..6, "b")]), None);
        assert_eq!(made(&[(3..50, "a")]), None);
    }
}
