//! `console.N.log`: all that a run says, without colours.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use super::logs::Logs;
use super::{Event, Observer};
use crate::ui::plain::{PlainLines, is_obeyed};

/// Writes everything that happens to `console.N.log`, and passes it on.
pub(super) struct Console<'r> {
    pub(super) log: Mutex<PlainLog<std::fs::File>>,
    pub(super) logs: &'r Logs<'r>,
    pub(super) observer: &'r Observer<'r>,
}

impl Console<'_> {
    pub(super) fn tell(&self, event: &Event<'_>) {
        let lines = plain(event, self.logs);
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.tell(event, &lines);
        drop(log);
        (self.observer)(event, &lines);
    }
}

/// Lines that are written together, as soon as there is nothing more to tell for now. That they cannot
/// be written changes nothing: they repeat what the gates' own logs say, where a full disk shows.
#[derive(Debug)]
pub(crate) struct PlainLog<W> {
    to: W,
    unwritten: String,
}

impl<W: Write> PlainLog<W> {
    pub(crate) fn new(to: W) -> Self {
        Self {
            to,
            unwritten: String::new(),
        }
    }

    pub(crate) fn tell(&mut self, event: &Event<'_>, lines: &[String]) {
        for line in lines {
            self.unwritten.push_str(line);
            self.unwritten.push('\n');
        }
        let goes_on = matches!(event, Event::Started(_) | Event::Ended(..));
        if !goes_on && !self.unwritten.is_empty() {
            let _best_effort = self.to.write_all(self.unwritten.as_bytes());
            self.unwritten.clear();
        }
    }
}

/// An event as plain lines. Gates and files may be called anything; a terminal only shows it.
pub(super) fn plain(event: &Event<'_>, logs: &Logs<'_>) -> Vec<String> {
    let lines = match event {
        Event::Note(text) => vec![(*text).to_owned()],
        Event::Planned(..) | Event::Rest => vec![],
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
