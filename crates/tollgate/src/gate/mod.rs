//! Gates: what must hold before an agent may stop. Checks are commands; reviews are made by
//! independent agents.
//!
//! [`config`] reads what gates there are, [`changes`] what changed, [`jobs`] (pure) which gates
//! that calls for; [`evidence`] says which of them are verified, and [`record`] keeps what that rests
//! on. [`runner`] runs the others, and [`run`] is a whole run: lock, number, logs, record,
//! archive. [`crate::stop`] decides an agent's stop with it. Nothing here prints:
//! a caller that shows progress passes an [`Observer`].

pub(crate) mod accepted;
pub(crate) mod changes;
mod check;
pub(crate) mod config;
pub(crate) mod console;
mod debug_lines;
pub(crate) mod definitions;
pub(crate) mod detect;
pub(crate) mod evidence;
pub(crate) mod excerpt;
mod index;
pub(crate) mod jobs;
mod journalled;
pub(crate) mod logs;
mod nested;
mod no_tests;
pub(crate) mod record;
mod request;
pub(crate) mod reset;
pub(crate) mod result;
mod reviewing;
pub(crate) mod run;
mod runner;
pub(crate) mod snapshot;
pub(crate) mod status;
mod summary;
mod work;

pub(crate) use changes::Scope;
pub(crate) use status::Status;

use jobs::Job;
use result::GateResult;

/// What happens while gates run.
#[derive(Debug)]
pub(crate) enum Event<'e> {
    /// A line to say before gates start.
    Note(&'e str),
    /// These gates will run, because so many files changed.
    Planned(&'e [Job<'e>], usize),
    /// A gate started.
    Started(&'e Job<'e>),
    /// A gate ended, or was never started.
    Ended(&'e Job<'e>, &'e GateResult),
    /// No gate ended for a moment, or all did.
    Quiet,
    /// All gates ended; the summary's lines.
    Summary(&'e [String]),
}

/// Receives each event of a run, with its lines for a plain log.
pub(crate) type Observer<'o> = dyn Fn(&Event<'_>, &[String]) + 'o;
