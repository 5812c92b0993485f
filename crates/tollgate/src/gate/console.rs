//! `console.N.log`: all that a run says, without colours.

use std::io::Write;

use super::logs::Logs;
use super::{Event, Observer};
use crate::plain::PlainLines;

/// Writes everything that happens to `console.N.log`, and passes it on.
pub(super) struct Console<'r> {
    pub(super) log: std::fs::File,
    pub(super) logs: &'r Logs<'r>,
    pub(super) observer: &'r Observer<'r>,
}

impl Console<'_> {
    pub(super) fn tell(&self, event: &Event<'_>) {
        let lines = plain(event, self.logs);
        write(&self.log, &lines);
        (self.observer)(event, &lines);
    }
}

/// Writes lines. That they cannot be written changes nothing: they repeat what the gates' own logs
/// say, where a full disk shows.
pub(crate) fn write(mut to: impl Write, lines: &[String]) {
    if !lines.is_empty() {
        let _best_effort = to.write_all((lines.join("\n") + "\n").as_bytes());
    }
}

/// An event as plain lines. Gates and files may be called anything; a terminal only shows it.
pub(super) fn plain(event: &Event<'_>, logs: &Logs<'_>) -> Vec<String> {
    let lines = match event {
        Event::Note(text) => vec![(*text).to_owned()],
        Event::Planned(..) | Event::Quiet => vec![],
        Event::Started(job) => vec![format!("[START] {}", job.id)],
        Event::Ended(_, result) => result.lines(logs),
        Event::Summary(lines) => lines.to_vec(),
    };
    let lines = lines.iter().map(|line| PlainLines(line).to_string());
    lines.collect()
}
