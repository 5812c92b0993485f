//! Random bytes that cannot be guessed.

use std::fs::File;
use std::io::{self, Read as _};

/// From the system, where every Unix has them.
pub(crate) fn bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}
