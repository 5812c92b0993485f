//! What is seen of a run while it goes on: a line per running gate on a terminal, a plain log
//! elsewhere.

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::super::{DIM, ERROR, GOOD, WARN};
use crate::gate::Event;
use crate::gate::console::plain;
use crate::gate::jobs::Which;
use crate::gate::logs::Logs;
use crate::gate::result::Outcome;

/// How many lines of a failing check's output a person is shown at once.
const TAIL: usize = 6;

/// Shows a run.
pub(super) struct Progress<'l> {
    logs: &'l Logs<'l>,
    which: Which,
    /// Standard output carries JSON and nothing else.
    quiet: bool,
    /// None where nobody watches.
    live: Option<Live>,
}

struct Live {
    screen: MultiProgress,
    bars: Mutex<BTreeMap<String, ProgressBar>>,
}

impl<'l> Progress<'l> {
    pub(super) fn new(logs: &'l Logs<'l>, which: Which, quiet: bool) -> Self {
        let progress = Self {
            logs,
            which,
            quiet,
            live: std::io::stderr().is_terminal().then(|| Live {
                screen: MultiProgress::new(),
                bars: Mutex::default(),
            }),
        };
        progress.say("Detecting changes...");
        progress
    }

    /// Shows one event. Called by several threads.
    pub(super) fn tell(&self, event: &Event<'_>) {
        if let Event::Planned(jobs, changed) = event {
            self.say(&format!("Found {changed} changed files."));
            let noun = match self.which {
                Which::All => "gate(s)",
                Which::Checks => "check(s)",
                Which::Reviews => "review(s)",
            };
            self.say(&format!("Running {} {noun}...", jobs.len()));
        }
        let lines = plain(event, self.logs);
        match &self.live {
            Some(live) => live.show(event, lines),
            None if lines.is_empty() => {}
            // One plain write: nobody's colours have to be asked for.
            None => {
                let text = lines.join("\n") + "\n";
                let _gone = std::io::stderr().write_all(text.as_bytes());
            }
        }
    }

    /// Takes the moving lines away.
    pub(super) fn finish(&self) {
        if let Some(live) = &self.live {
            let _gone = live.screen.clear();
        }
    }

    /// `check` and `review` tell their steps on standard output, as the original does.
    fn say(&self, line: &str) {
        if self.which != Which::All && !self.quiet {
            anstream::println!("{line}");
        }
    }
}

impl Live {
    fn show(&self, event: &Event<'_>, lines: Vec<String>) {
        let mut bars = self.bars.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Started(job) => {
                let bar = self.screen.add(ProgressBar::new_spinner());
                if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
                    bar.set_style(style);
                }
                bar.set_message(job.id.clone());
                bar.enable_steady_tick(Duration::from_millis(100));
                bars.insert(job.id.clone(), bar);
            }
            Event::Ended(job, result) => {
                if let Some(bar) = bars.remove(&job.id) {
                    bar.finish_and_clear();
                }
                self.print(
                    lines
                        .into_iter()
                        .map(|line| coloured(result.outcome, &line)),
                );
                let skip = result.tail.len().saturating_sub(TAIL);
                let tail = result.tail.iter().skip(skip);
                self.print(tail.map(|line| format!("      {DIM}│ {line}{DIM:#}")));
            }
            Event::Summary(_) => {
                let bold = lines.into_iter().map(|line| {
                    let Some(status) = line.strip_prefix("Status: ") else {
                        return line;
                    };
                    let style = if status.starts_with("Passed") {
                        GOOD
                    } else {
                        ERROR
                    };
                    format!("Status: {style}{status}{style:#}")
                });
                self.print(bold);
            }
            Event::Note(_) | Event::Planned(..) => self.print(lines.into_iter()),
        }
    }

    fn print(&self, lines: impl Iterator<Item = String>) {
        let lines: Vec<_> = lines.collect();
        if !lines.is_empty() {
            // Above the moving lines; `NO_COLOR` and the like are heeded by anstream.
            self.screen
                .suspend(|| anstream::eprintln!("{}", lines.join("\n")));
        }
    }
}

/// The word in brackets in its colour.
fn coloured(outcome: Outcome, line: &str) -> String {
    let style = match outcome {
        Outcome::Pass => GOOD,
        Outcome::Fail | Outcome::Error => ERROR,
        Outcome::Inconclusive | Outcome::NotRun => WARN,
    };
    match line.strip_prefix(outcome.tag()) {
        Some(rest) => format!("{style}{}{style:#}{rest}", outcome.tag()),
        None => line.to_owned(),
    }
}
