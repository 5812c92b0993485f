//! `console.N.log`: all that a run says, without colours.

use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

use super::logs::Logs;
use super::{Event, Observer};
use crate::ui::plain::{PlainLines, is_obeyed};

/// Writes everything that happens to `console.N.log`, and passes it on.
pub(super) struct Console<'r> {
    pub(super) file: Mutex<std::fs::File>,
    pub(super) logs: &'r Logs<'r>,
    pub(super) observer: &'r Observer<'r>,
}

impl Console<'_> {
    pub(super) fn tell(&self, event: &Event<'_>) {
        let lines = plain(event, self.logs);
        if !lines.is_empty() {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            // The console log repeats what the gates' own logs say; a full disk shows there.
            let _best_effort = file.write_all((lines.join("\n") + "\n").as_bytes());
        }
        (self.observer)(event);
    }
}

/// An event as plain lines. Gates and files may be called anything; a terminal only shows it.
pub(crate) fn plain(event: &Event<'_>, logs: &Logs<'_>) -> Vec<String> {
    let lines = match event {
        Event::Note(text) => vec![(*text).to_owned()],
        Event::Planned(..) => vec![],
        Event::Started(job) => vec![format!("[START] {}", job.id)],
        Event::Ended(_, result) => result.lines(logs),
        Event::Summary(lines) => lines.to_vec(),
    };
    lines
        .into_iter()
        .map(|line| {
            let is_simple = line.bytes().all(|byte| (b' '..=b'~').contains(&byte));
            if !is_simple && line.chars().any(is_obeyed) {
                PlainLines(&line).to_string()
            } else {
                line
            }
        })
        .collect()
}
