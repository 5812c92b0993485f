//! Takes secrets out of a log when its writer has ended.
//!
//! A child writes to its log by itself, so what it prints is on the disk for as long as it runs,
//! in a file of ours alone. Afterwards logs are read, shown to agents and attached to reports.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use tollgate_store::redact::redact;

/// Takes secrets of known shape out of what is in the file from `start` on. What is no text stays
/// as it is.
pub(crate) fn take_out(log: &File, start: u64) -> io::Result<()> {
    let length = log.metadata()?.len().saturating_sub(start);
    if length == 0 {
        return Ok(());
    }
    let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
    log.read_exact_at(&mut bytes, start)?;
    let mut clean = Vec::new();
    let mut found = false;
    for chunk in bytes.utf8_chunks() {
        let text = redact(chunk.valid());
        found |= matches!(text, Cow::Owned(_));
        clean.extend_from_slice(text.as_bytes());
        clean.extend_from_slice(chunk.invalid());
    }
    if found {
        // What is opened for appending only appends.
        let file = super::log::reopen(log)?;
        file.write_all_at(&clean, start)?;
        file.set_len(start + clean.len() as u64)?;
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests plant files")]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_secret_goes_and_the_rest_stays_to_the_byte() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let secret = format!("ghp_{}", "a1B2".repeat(9));
        let text = [
            b"head ",
            secret.as_bytes(),
            b"\nline \xff\xfe ",
            secret.as_bytes(),
            b" end\n",
        ];
        std::fs::write(&path, text.concat()).unwrap();
        let log = File::options().read(true).append(true).open(&path).unwrap();
        take_out(&log, 5).unwrap();
        let now = std::fs::read(&path).unwrap();
        assert_eq!(now, b"head [redacted]\nline \xff\xfe [redacted] end\n");
        take_out(&log, 5).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), now);
    }
}
