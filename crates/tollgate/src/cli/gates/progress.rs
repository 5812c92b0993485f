//! What is seen of a run while it goes on: a line per running gate on a terminal, and each gate's lines
//! when it ended.
//!
//! In the home of specification 003 all of it is a log on standard error, as the original has it. In a
//! project of Tollgate's own, results are on standard output (`lines.rs`) and progress is on standard
//! error.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use unicode_width::UnicodeWidthStr as _;

use super::super::global::{Verbosity, verbosity};
use super::super::wrap;
use super::{annotations, lines};
use crate::gate::Event;
use crate::gate::config::{Config, Words};
use crate::gate::console;
use crate::gate::jobs::Which;
use crate::plain::{Plain, PlainLines, fit, is_utf8};

/// Names of gates are padded to the longest, unless that is longer than this.
const NAME: usize = 48;

/// Shows a run.
pub(super) struct Progress<'p> {
    which: Which,
    /// Standard output carries JSON and nothing else.
    is_json: bool,
    words: Words,
    root: &'p Path,
    /// Whether GitHub Actions reads standard output.
    is_annotated: bool,
    shown: Shown,
}

/// Where a run is seen.
enum Shown {
    /// On a terminal.
    Live(Live),
    /// Not on a terminal.
    Plain(std::io::Stderr),
}

struct Live {
    screen: MultiProgress,
    moving: RefCell<Moving>,
}

/// The lines at the bottom that move, and what they count.
#[derive(Default)]
struct Moving {
    bars: BTreeMap<String, ProgressBar>,
    /// How many gates ended; below the others, if there are several.
    count: Option<ProgressBar>,
    planned: usize,
    ended: usize,
    failed: usize,
    /// The columns of the longest name.
    widest: usize,
}

impl<'p> Progress<'p> {
    pub(super) fn new(config: &'p Config, which: Which, is_json: bool) -> Self {
        let stderr = std::io::stderr();
        let shown = if stderr.is_terminal() {
            Shown::Live(Live {
                screen: MultiProgress::new(),
                moving: RefCell::default(),
            })
        } else {
            Shown::Plain(stderr)
        };
        let progress = Self {
            which,
            is_json,
            words: config.words,
            root: &config.root,
            is_annotated: crate::environment::variable("GITHUB_ACTIONS")
                .is_some_and(|value| value == "true"),
            shown,
        };
        progress.say("Detecting changes...");
        progress
    }

    /// Shows one event.
    pub(super) fn tell(&self, event: &Event<'_>, lines: &[String]) {
        if let Event::Planned(jobs, changed) = event {
            self.say(&format!("Found {changed} changed files."));
            let noun = match self.which {
                Which::All => "gate(s)",
                Which::Checks => "check(s)",
                Which::Reviews => "review(s)",
            };
            self.say(&format!("Running {} {noun}...", jobs.len()));
        }
        match (&self.shown, self.words) {
            (Shown::Live(live), Words::Specification) => {
                live.follow(event);
                live.screen
                    .suspend(|| console::write(&std::io::stderr(), lines));
            }
            (Shown::Plain(stderr), Words::Specification) => console::write(stderr, lines),
            (Shown::Live(live), Words::Own) => {
                live.follow(event);
                live.screen.suspend(|| self.print(event));
            }
            (Shown::Plain(_), Words::Own) => self.print(event),
        }
    }

    /// Prints what there is to say about an event in Tollgate's own words.
    fn print(&self, event: &Event<'_>) {
        match event {
            Event::Ended(_, result) => {
                let columns = match &self.shown {
                    Shown::Live(_) => columns(),
                    Shown::Plain(_) => usize::MAX,
                };
                for line in lines::of_gate(result, self.root, columns) {
                    if self.is_json {
                        err!("{line}");
                    } else {
                        out!("{line}");
                    }
                }
                let note = annotations::of_gate(result, self.root);
                if let Some(note) = note.filter(|_| self.is_annotated && !self.is_json) {
                    anstream::println!("{note}");
                }
            }
            Event::Note(text) if verbosity() != Verbosity::Quiet => {
                err!("{}", PlainLines(text));
            }
            Event::Note(_)
            | Event::Planned(..)
            | Event::Started(_)
            | Event::Quiet
            | Event::Summary(_) => {}
        }
    }

    /// Takes the moving lines away.
    pub(super) fn finish(&self) {
        if let Shown::Live(live) = &self.shown {
            let _gone = live.screen.clear();
        }
    }

    /// `check` and `review` tell their steps on standard output, as the original does.
    fn say(&self, line: &str) {
        if self.which != Which::All && !self.is_json && self.words == Words::Specification {
            out!("{line}");
        }
    }
}

impl Live {
    /// Moves the lines at the bottom.
    fn follow(&self, event: &Event<'_>) {
        let mut moving = self.moving.borrow_mut();
        match event {
            Event::Planned(jobs, _) => {
                let widths = jobs.iter().map(|job| job.id.width());
                // The spinner, the time and blanks stand beside it.
                let room = columns().saturating_sub(10);
                moving.widest = widths.max().unwrap_or(0).min(NAME).min(room);
                moving.planned = jobs.len();
                if jobs.len() > 1 {
                    let count = self.screen.add(bar("{msg:.dim}"));
                    count.set_message(moving.tally());
                    moving.count = Some(count);
                }
            }
            Event::Started(job) => {
                let bar = bar("{spinner:.cyan} {msg} {elapsed:.dim}");
                let bar = match &moving.count {
                    Some(count) => self.screen.insert_before(count, bar),
                    None => self.screen.add(bar),
                };
                let room = moving.widest.max(columns().saturating_sub(10));
                let name = fit(&Plain(&job.id).to_string(), room);
                bar.set_message(format!("{name:<width$}", width = moving.widest));
                bar.enable_steady_tick(Duration::from_millis(100));
                moving.bars.insert(job.id.clone(), bar);
            }
            Event::Ended(job, result) => {
                if let Some(bar) = moving.bars.remove(&job.id) {
                    bar.finish_and_clear();
                }
                moving.ended += 1;
                if result.outcome.is_failure() {
                    moving.failed += 1;
                }
                if let Some(count) = &moving.count {
                    count.set_message(moving.tally());
                }
            }
            Event::Summary(_) => {
                if let Some(count) = moving.count.take() {
                    count.finish_and_clear();
                }
            }
            Event::Note(_) | Event::Quiet => {}
        }
    }
}

impl Moving {
    fn tally(&self) -> String {
        let failed = match self.failed {
            0 => String::new(),
            failed => format!(", {failed} failed"),
        };
        format!("  {} of {} ended{failed}", self.ended, self.planned)
    }
}

fn bar(template: &str) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    // `--color never` is not known to the library.
    let choice = anstream::AutoStream::choice(&std::io::stderr());
    let template = if choice == anstream::ColorChoice::Never {
        template.replace(".cyan", "").replace(".dim", "")
    } else {
        template.to_owned()
    };
    match ProgressStyle::with_template(&template) {
        Ok(style) if is_utf8() => bar.with_style(style),
        Ok(style) => bar.with_style(style.tick_chars("-\\|/ ")),
        Err(_) => bar,
    }
}

/// The width of the terminal.
fn columns() -> usize {
    wrap::columns(std::io::stderr())
}
