//! What a person sees of the demo: eighty columns, one line per decision, at reading speed.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::Ended;
use super::stage::{Decided, Said};
use crate::cli::wrap::wrap;
use crate::cli::{BOLD, DIM, ERROR, GOOD, WARN, interrupted};
use crate::plain::{duration, fit, in_locale};

/// How wide it is, whatever the terminal: it is read top to bottom.
const WIDTH: usize = 80;

/// Where texts begin.
const INDENT: usize = 6;

/// The length of the longest tool's name.
const TOOL: usize = 5;

/// The length of a long time, such as `103.4 ms`: a busy machine cuts no other text.
const TIME: usize = 8;

/// How often a pause checks whether it was interrupted.
const TICK: Duration = Duration::from_millis(40);

pub(super) struct Screen {
    is_paced: bool,
    interrupted: Arc<AtomicBool>,
    parts: usize,
}

impl Screen {
    /// Ctrl-C and similar signals end the demo instead of the process, so that it can tidy up.
    pub(super) fn new(is_paced: bool) -> io::Result<Self> {
        Ok(Self {
            is_paced,
            interrupted: interrupted()?,
            parts: 0,
        })
    }

    pub(super) fn opening(&self, title: &str, text: &str) -> Result<(), Ended> {
        self.line(&format!("{BOLD}{title}{BOLD:#}"))?;
        self.note(text)?;
        self.pause(2500)
    }

    pub(super) fn part(&mut self, title: &str) -> Result<(), Ended> {
        self.parts += 1;
        self.line("")?;
        self.line(&format!("{BOLD}{}. {title}{BOLD:#}", self.parts))?;
        self.pause(1200)
    }

    /// The agent is about to do something: time to read on.
    pub(super) fn wait(&self) -> Result<(), Ended> {
        self.pause(1100)
    }

    /// What the agent did, what came of it and how long that took, and what the agent reads.
    pub(super) fn decided(&self, tool: &str, what: &str, decided: &Decided) -> Result<(), Ended> {
        let (sign, word, style) = match &decided.said {
            Said::Allowed => ("●", "allowed", GOOD),
            Said::Stopped(_) => ("✖", "stopped", ERROR),
            Said::Warned(_) => ("!", "undone", WARN),
        };
        let took = took(decided.took);
        let room = WIDTH - INDENT - TOOL - 2 - TIME;
        let what = fit(what, room);
        self.line(&format!(
            "   {style}{sign}{style:#}  {BOLD}{tool:<TOOL$}{BOLD:#} {what:<room$} {DIM}{took:>TIME$}{DIM:#}"
        ))?;
        let (Said::Stopped(text) | Said::Warned(text)) = &decided.said else {
            return Ok(());
        };
        if let Some((code, guard)) = &decided.by {
            self.line(&format!(
                "      {style}{word}{style:#} {DIM}by{DIM:#} {guard} {DIM}({code}){DIM:#}"
            ))?;
        }
        let lines = self.quote(text)?;
        self.pause(1400 + 500 * lines)
    }

    /// The beginning of what the agent reads, how much more there is, and what it says to do next.
    fn quote(&self, text: &str) -> Result<u64, Ended> {
        let mut paragraphs = text.split("\n\n");
        let mut shown = 0;
        for paragraph in paragraphs.by_ref() {
            for line in paragraph.lines().flat_map(wrap_kept) {
                self.line(&format!("      {DIM}│{DIM:#} {line}"))?;
                shown += 1;
            }
            // A heading alone says nothing.
            if shown > 1 {
                break;
            }
        }
        let (next, others): (Vec<&str>, Vec<&str>) =
            paragraphs.partition(|paragraph| paragraph.starts_with("Next: "));
        let rest: usize = others.iter().map(|other| other.lines().count()).sum();
        if rest > 0 {
            let lines = if rest == 1 { "line" } else { "lines" };
            self.line(&format!("      {DIM}│ … {rest} more {lines}{DIM:#}"))?;
        }
        for line in next.into_iter().flat_map(wrap_kept) {
            self.line(&format!("      {DIM}│{DIM:#} {line}"))?;
            shown += 1;
        }
        Ok(shown)
    }

    /// A remark beside the story.
    pub(super) fn note(&self, text: &str) -> Result<(), Ended> {
        for line in wrap(text, WIDTH) {
            self.line(&format!("{DIM}{line}{DIM:#}"))?;
        }
        Ok(())
    }

    pub(super) fn ending(&self, text: &str) -> Result<(), Ended> {
        self.line("")?;
        self.line(&format!("{GOOD}{text}{GOOD:#}"))
    }

    fn line(&self, text: &str) -> Result<(), Ended> {
        let mut out = anstream::stdout().lock();
        writeln!(out, "{}", in_locale(text.to_owned()))?;
        out.flush()?;
        self.check()
    }

    fn check(&self) -> Result<(), Ended> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(Ended::Left);
        }
        Ok(())
    }

    fn pause(&self, milliseconds: u64) -> Result<(), Ended> {
        let mut left = Duration::from_millis(if self.is_paced { milliseconds } else { 0 });
        while !left.is_zero() {
            let step = left.min(TICK);
            std::thread::sleep(step);
            left -= step;
            self.check()?;
        }
        self.check()
    }
}

/// A time as people read it.
pub(super) fn took(time: Duration) -> String {
    duration(time.as_secs_f64() * 1000.0)
}

/// A line of a quotation, with its own indentation kept.
fn wrap_kept(line: &str) -> Vec<String> {
    let indent = line.chars().take_while(|c| *c == ' ').count();
    let pad = " ".repeat(indent);
    let wrapped = wrap(line, WIDTH - INDENT - 2 - indent);
    wrapped.iter().map(|line| format!("{pad}{line}")).collect()
}
