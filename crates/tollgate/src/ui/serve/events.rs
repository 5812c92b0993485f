//! The stream of what happens, as server-sent events: `decision` for each line of the journal,
//! `change` whenever another page can be expected.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::answer::{HEADERS, Status};
use crate::ui::snapshot::{Decided, Observer};

/// How often the files are looked at: two people's blinks, and a few system calls.
const PAUSE: Duration = Duration::from_millis(400);

/// How often something is said although nothing happened, so that a client that went away is
/// noticed.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// Tells a client what happens until it goes away.
pub(super) fn stream(observer: &Mutex<Observer>, to: &mut impl Write) -> io::Result<()> {
    let head = format!(
        "{}Content-Type: text/event-stream\r\n{HEADERS}\r\nretry: 2000\n\n",
        Status::Fine.line()
    );
    to.write_all(head.as_bytes())?;
    let observer = || observer.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut seen, mut print) = {
        let mut observer = observer();
        (observer.poll(), observer.print())
    };
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
            text.push_str(&event("decision", &json(decided)));
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

fn json(decided: &Decided) -> String {
    serde_json::to_string(decided).unwrap_or_default()
}
