//! The stream of what happens, as server-sent events: `decision` for each line of the journal,
//! `change` whenever another page can be expected.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::response::{HEADERS, Status};
use crate::project_view::Observer;

/// How often the files are checked: two people's blinks, and a few system calls.
const PAUSE: Duration = Duration::from_millis(400);

/// How often something is said although nothing happened, so that a client that went away is
/// noticed.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// Sends a client what happens until it goes away.
pub(super) fn stream(observer: &Mutex<Observer>, to: &mut impl Write) -> io::Result<()> {
    let head = format!(
        "{}Content-Type: text/event-stream\r\n{HEADERS}\r\nretry: 2000\n\n",
        Status::Fine.line()
    );
    let observer = || observer.lock().unwrap_or_else(PoisonError::into_inner);
    // Before the client knows that it is connected: it asks for the page then, and what happens
    // after that must be sent.
    let (mut seen, mut print) = {
        let mut observer = observer();
        (observer.poll(), observer.print())
    };
    to.write_all(head.as_bytes())?;
    let mut said = Instant::now();
    loop {
        std::thread::sleep(PAUSE);
        let (new, now) = {
            let mut observer = observer();
            let total = observer.poll();
            let new = observer.since(seen);
            seen = total;
            (new, observer.print())
        };
        let mut text = String::new();
        for decided in &new {
            let decided = serde_json::to_string(decided).unwrap_or_default();
            text.push_str(&event("decision", &decided));
        }
        if now != print {
            print = now;
            text.push_str(&event("change", "{}"));
        }
        if text.is_empty() && said.elapsed() >= SIGN_OF_LIFE {
            text.push_str(": still here\n\n");
        }
        if !text.is_empty() {
            to.write_all(text.as_bytes())?;
            to.flush()?;
            said = Instant::now();
        }
    }
}

/// JSON has no ends of lines, so it is one line of data.
fn event(name: &str, data: &str) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use tollgate_core::env::Env;
    use tollgate_core::project::Layout;

    use super::*;

    /// A client that sees something happen as soon as it is connected, and goes away when it is
    /// sent something.
    struct Client {
        journal: PathBuf,
        received: String,
    }

    impl Write for Client {
        #[expect(clippy::disallowed_methods, reason = "a journal's line, not a state")]
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.received.is_empty() {
                std::fs::write(
                    &self.journal,
                    "{\"verdict\":\"block\",\"code\":\"BG-001\"}\n",
                )?;
            }
            self.received.push_str(&String::from_utf8_lossy(bytes));
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    /// It was counted as sent, because it happened while the client was being answered.
    #[test]
    fn what_happens_at_the_very_beginning_is_told() {
        let place = tempfile::tempdir().unwrap();
        let local = place.path().join(".tollgate/local");
        std::fs::create_dir_all(&local).unwrap();
        let env = Env::read(|_| None, Some(place.path().to_owned()));
        let layout = Layout::find(&env, None).unwrap();
        let observer = Mutex::new(Observer::new(layout, env));
        let mut client = Client {
            journal: local.join("journal.jsonl"),
            received: String::new(),
        };
        stream(&observer, &mut client).unwrap_err();
        let sent = client.received.split("retry: 2000\n\n").nth(1).unwrap();
        assert!(sent.starts_with("event: decision"), "{sent}");
        assert!(sent.contains("BG-001"), "{sent}");
    }
}
