//! The text of a file as guards read it, and whether it is the very text.

use std::path::Path;

use crate::fs::{self, Contents, Identity, Mark};
use crate::scene::MAX_FILE;
use crate::verdict::Fault;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A file that was read.
#[derive(Debug)]
pub(crate) struct TextFile {
    pub(crate) text: String,
    /// Which file has this very text, and what tells whether it still has.
    pub(crate) exact: Option<(Identity, Option<Mark>)>,
}

/// The text of a file, if it exists; what else it may be is a fault of this kind.
pub(crate) fn read(path: &Path, kind: &'static str) -> Result<Option<String>, Fault> {
    Ok(read_file(path, kind)?.map(|file| file.text))
}

/// The same, with which file it is.
pub(crate) fn read_file(path: &Path, kind: &'static str) -> Result<Option<TextFile>, Fault> {
    match fs::read_regular(path, MAX_FILE) {
        Ok(None) => Ok(None),
        Ok(Some(Contents {
            bytes,
            identity,
            mark,
        })) => Ok(Some(match String::from_utf8(bytes) {
            // Some editors begin with it. What is left is not the very text, so nobody writes it.
            Ok(text) if text.starts_with(BYTE_ORDER_MARK) => TextFile {
                text: text.trim_start_matches(BYTE_ORDER_MARK).to_owned(),
                exact: None,
            },
            Ok(text) => TextFile {
                text,
                exact: Some((identity, mark)),
            },
            // Not the very bytes, so nobody may write them back.
            Err(error) => TextFile {
                text: String::from_utf8_lossy(error.as_bytes()).into_owned(),
                exact: None,
            },
        })),
        Err(error) => {
            let text = format!(
                "{}: {error}. Guards that need it are off until it is mended",
                path.display()
            );
            Err(Fault::new(kind, text))
        }
    }
}
