//! Reading the event: file descriptor 0 to its end, or to the end of the event where the agent keeps
//! it open, within bounds.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tollgate_core::decision::Fault;
use tollgate_store::json::Node;

/// An agent writes at once. A person who runs the hook at a terminal, or an agent that
/// hangs in the middle of an event, is not waited for longer than this.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Nor is one that keeps writing and never ends: an agent would give us up then, and take that for
/// what it likes. We answer before it does.
const WHOLE: Duration = Duration::from_secs(8);

/// How long a writer may pause before what came so far is examined. An agent that closes standard
/// input does so at once, so other events do not pay for the examination.
const PAUSE: Duration = Duration::from_millis(20);

/// The largest event that is read. A 6 MB write was seen as 12 MB.
const MAX_EVENT: usize = 64 * 1024 * 1024;

/// Room for an event of the usual size, and for each further read.
const FIRST: usize = 16 * 1024;

/// The event's text: without a byte order mark, and with what is no UTF-8 replaced, so that a
/// stray byte in a commit message does not hide the commit.
pub(crate) fn read() -> Result<String, Fault> {
    let stdin = rustix::stdio::stdin();
    let mut bytes: Vec<u8> = Vec::with_capacity(FIRST);
    let mut begun = None;
    loop {
        if !is_ready(PAUSE) {
            if is_complete(&bytes) {
                break;
            }
            if !is_ready(PATIENCE) {
                return Err(late("no event arrived", PATIENCE));
            }
        }
        // Most events come at once; only of the others the time is taken.
        if !bytes.is_empty() && begun.get_or_insert_with(Instant::now).elapsed() > WHOLE {
            if is_complete(&bytes) {
                break;
            }
            return Err(late("the event did not end", WHOLE));
        }
        if bytes.len() == bytes.capacity() {
            // A large event. Memory that is not touched costs nothing; growing step by step would
            // touch it twice.
            bytes.reserve(MAX_EVENT);
            ask_for_large_pieces(stdin);
        }
        match rustix::io::read(stdin, rustix::buffer::spare_capacity(&mut bytes)) {
            Ok(0) => break,
            Ok(_) if bytes.len() > MAX_EVENT => {
                let text = format!("the event is larger than {} MB", MAX_EVENT >> 20);
                return Err(Fault::new("event-too-large", text));
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => {
                let text = format!("the event cannot be read from standard input: {error}");
                return Err(Fault::new("event-unreadable", text));
            }
        }
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// Lets the agent write 1 MB at a time instead of 64 KB. Some agents use a socket, which has no such
/// size.
#[cfg(target_os = "linux")]
fn ask_for_large_pieces(stdin: rustix::fd::BorrowedFd<'_>) {
    let _unchanged = rustix::pipe::fcntl_setpipe_size(stdin, 1 << 20);
}

#[cfg(not(target_os = "linux"))]
fn ask_for_large_pieces(_stdin: rustix::fd::BorrowedFd<'_>) {}

/// Whether there is something to read, its end or an error within this time.
pub(crate) fn is_ready(patience: Duration) -> bool {
    let stdin = rustix::stdio::stdin();
    let timeout = Timespec::try_from(patience).ok();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    // Whatever else poll has to say, the read will say better.
    poll(&mut fds, timeout.as_ref()) != Ok(0)
}

/// Whether these bytes are a whole JSON object, behind which nothing more has to come.
fn is_complete(bytes: &[u8]) -> bool {
    bytes.trim_ascii_end().ends_with(b"}") && {
        // As the event is read afterwards: what is no UTF-8 ends no object.
        let text = String::from_utf8_lossy(bytes);
        Node::parse(text.trim_start_matches('\u{feff}').trim()).is_ok()
    }
}

fn late(what: &str, patience: Duration) -> Fault {
    let text = format!(
        "{what} on standard input within {} seconds; `tollgate hook` is run by an agent, which writes one JSON event to it (to try it yourself: `tollgate simulate`)",
        patience.as_secs()
    );
    Fault::new("event-late", text)
}
