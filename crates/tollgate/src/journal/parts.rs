//! The journal's files, and their lines.

use std::fmt;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use tollgate_store::journal::NAMES;

/// No line of ours is nearly as long; what is longer is read in pieces that are no entries.
const LONGEST: u64 = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinePlace {
    pub(crate) file: &'static str,
    /// The line's number in it, from 1.
    pub(crate) line: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) place: LinePlace,
    /// Its text, without the newline.
    pub(crate) text: String,
    /// How many bytes it takes in the file.
    pub(crate) length: u64,
    /// Whether it has a newline. The last one of a file may be in the making, or torn.
    pub(crate) whole: bool,
}

/// One file of the journal as it was when it was opened.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) inode: u64,
    /// How long it was then; what comes later is not read.
    pub(super) length: u64,
    file: File,
}

/// The lines of the journal's files, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    parts: std::vec::IntoIter<Part>,
    current: Option<(BufReader<std::io::Take<File>>, LinePlace)>,
}

impl fmt::Display for LinePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The files that are there, oldest first.
pub(super) fn parts(local: &Path) -> Vec<Part> {
    // Opened newest first: a rotation meanwhile then shows a file twice and never hides one.
    let mut parts: Vec<Part> = Vec::new();
    for name in NAMES {
        let path = local.join(name);
        // Opening a pipe would hang, and a link may lead anywhere.
        let regular = path.symlink_metadata().is_ok_and(|found| found.is_file());
        let Some(file) = regular.then(|| File::open(&path).ok()).flatten() else {
            continue;
        };
        let Ok(metadata) = file.metadata() else {
            continue;
        };
        let inode = metadata.ino();
        if parts.iter().all(|part| part.inode != inode) {
            parts.push(Part {
                name,
                inode,
                length: metadata.len(),
                file,
            });
        }
    }
    parts.reverse();
    parts
}

impl Part {
    /// Its lines from a byte on; they are counted from there.
    pub(super) fn lines_from(mut self, start: u64) -> Lines {
        self.length = self.length.saturating_sub(start);
        match self.file.seek(SeekFrom::Start(start)) {
            Ok(_) => Lines::through(vec![self]),
            Err(_) => Lines::default(),
        }
    }
}

impl Lines {
    pub(crate) fn of(local: &Path) -> Self {
        Self::through(parts(local))
    }

    pub(super) fn through(parts: Vec<Part>) -> Self {
        Self {
            parts: parts.into_iter(),
            current: None,
        }
    }
}

impl Iterator for Lines {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        loop {
            if let Some((reader, place)) = &mut self.current {
                let mut bytes = Vec::new();
                let read = reader.by_ref().take(LONGEST).read_until(b'\n', &mut bytes);
                if read.is_ok_and(|count| count > 0) {
                    place.line += 1;
                    let length = bytes.len() as u64;
                    let whole = bytes.pop_if(|last| *last == b'\n').is_some();
                    let text = String::from_utf8(bytes).unwrap_or_else(|error| {
                        String::from_utf8_lossy(error.as_bytes()).into_owned()
                    });
                    return Some(Line {
                        place: *place,
                        text,
                        length,
                        whole,
                    });
                }
                self.current = None;
            }
            let Part {
                name, length, file, ..
            } = self.parts.next()?;
            let place = LinePlace {
                file: name,
                line: 0,
            };
            self.current = Some((BufReader::new(file.take(length)), place));
        }
    }
}
