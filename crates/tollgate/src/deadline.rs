//! A tool event is answered in time, whatever happens: a huge command, a slow git, a disk that is away.
//!
//! When the time is almost over, a timer replaces the process by another `tollgate hook --late`, which reads the
//! same event and answers that it was not decided ([`crate::process::alarm`]). Asking the clock in every loop
//! would end no system call that waits for a disk.
//!
//! Replacing the process in the middle of the decision does no more harm than killing it does, and the store is
//! made for that. Only git would be left behind, so it is asked for half of the time at most ([`left`]).

use std::ffi::OsString;
use std::io::Write as _;
use std::sync::{OnceLock, mpsc};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::{Value, json};
use tollgate_core::decision::{Decision, Fault};
use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_core::protocol::{self, Answer, Event};
use tollgate_core::record::Record;
use tollgate_core::undecided as words;

use crate::hash::digest;
use crate::ledger::Ledger;
use crate::process::alarm;

/// How long a tool event may take, unless the registration says otherwise.
pub(crate) const USUAL: Duration = Duration::from_secs(1);

/// What a registration may say. An agent waits for 10 seconds.
pub(crate) const SHORTEST: Duration = Duration::from_millis(100);
pub(crate) const LONGEST: Duration = Duration::from_secs(8);

/// How long writing down that an event was not decided may take at least, however short the deadline.
const WRITING: Duration = Duration::from_millis(200);

/// The option of a process that only says that the event was not decided.
pub(crate) const LATE: &str = "--late";

/// The largest event of which the journal keeps an excerpt.
const MOST_KEPT: usize = 1 << 20;

/// How many calls a session remembers that were blocked because they were not decided.
const MOST_REMEMBERED: usize = 100;

/// What the ledger keeps of them.
const BLOCKED: &str = "not_decided";

static WATCH: OnceLock<Watch> = OnceLock::new();

/// When the decision began, and how long it may take.
#[derive(Debug)]
struct Watch {
    begun: Instant,
    limit: Duration,
}

/// An event that was not decided in time. The process ends with the answer, so all of it lives as long as that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Undecided {
    pub(crate) text: &'static str,
    pub(crate) event: &'static Event<'static>,
    pub(crate) env: &'static Env,
    pub(crate) limit: Duration,
}

/// Has the event answered by another process if this one does not answer in time. Where that is not possible,
/// the event is decided without a deadline.
pub(crate) fn watch(text: &'static str, limit: Duration) -> Result<(), Fault> {
    let begun = Instant::now();
    let ours = ["tollgate", "hook", LATE].map(OsString::from);
    let arguments = ours.into_iter().chain(std::env::args_os().skip(2));
    alarm::become_after(limit * 3 / 4, arguments, text).map_err(|error| {
        let text = format!("the deadline of this event cannot be set: {error}");
        Fault::new("no-deadline", text)
    })?;
    // There is one event in a process.
    let _first = WATCH.set(Watch { begun, limit });
    Ok(())
}

/// How long git may take, if it may take so long at most.
pub(crate) fn left(most: Duration) -> Duration {
    WATCH.get().map_or(most, |watch| {
        let until = watch.begun + watch.limit / 2;
        most.min(until.saturating_duration_since(Instant::now()))
    })
}

/// Gives the answer of a decision and ends the process; from now on it does not come too late. Freeing what the
/// decision needed would take as long as a good part of it.
#[expect(
    clippy::disallowed_methods,
    clippy::exit,
    reason = "an answered event has nothing left to do"
)]
pub(crate) fn give(answer: &Answer) -> ! {
    alarm::call_off();
    // One write each; an agent that went away is not our concern.
    if !answer.stderr.is_empty() {
        let _gone = std::io::stderr().write_all(answer.stderr.as_bytes());
    }
    if !answer.stdout.is_empty() {
        let _gone = std::io::stdout().write_all(answer.stdout.as_bytes());
    }
    std::process::exit(answer.exit.into())
}

/// The answer to an event that was not decided. Whatever keeps the decision may keep the journal, too,
/// which is then not waited for.
pub(crate) fn answer(undecided: Undecided) -> Answer {
    let (sender, answers) = mpsc::channel();
    std::thread::spawn(move || {
        // Nobody listens any more if it took too long.
        let _late = sender.send(written_down(undecided));
    });
    if let Ok(answer) = answers.recv_timeout(WRITING.max(undecided.limit / 5)) {
        return answer;
    }
    let text = "an event was not decided in time, and the journal's entry about it could not be written in time";
    let decision = Decision {
        faults: vec![Fault::new("journal-unwritable", text)],
        ..warned(undecided)
    };
    protocol::answer(undecided.event, &decision)
}

fn written_down(undecided: Undecided) -> Answer {
    let Undecided {
        text,
        event,
        env,
        limit,
    } = undecided;
    let cwd = event.cwd.as_deref().map(std::path::Path::new);
    let Some(layout) = Layout::find(env, cwd) else {
        return protocol::answer(event, &warned(undecided));
    };
    let mut decision = if words::may_matter(event) && is_new(&layout, event) {
        Decision::block(words::block(limit))
    } else {
        warned(undecided)
    };
    let record = Record::of(event).within(env.trace.as_deref()).after(limit);
    let record = if text.len() > MOST_KEPT {
        record
    } else {
        record.about(text, None)
    };
    record.write(&layout, &mut decision, Timestamp::now());
    protocol::answer(event, &decision)
}

fn warned(undecided: Undecided) -> Decision {
    Decision::warn([words::warning(undecided.event.kind, undecided.limit)])
}

/// Whether this call was not blocked in this session yet, which is remembered. A call that cannot be
/// remembered would be blocked for ever, so it is not new.
fn is_new(layout: &Layout, event: &Event<'_>) -> bool {
    let session = event.session.as_deref().unwrap_or_default();
    let mut ledger = Ledger::open(layout, event.protocol, session);
    let call = event.tool.as_ref().map(|tool| (&tool.name, &tool.call));
    let call = json!(digest(call));
    let known = ledger.recall(BLOCKED).and_then(Value::as_array);
    let mut known = known.cloned().unwrap_or_default();
    if known.contains(&call) {
        return false;
    }
    known.push(call);
    let over = known.len().saturating_sub(MOST_REMEMBERED);
    known.drain(..over);
    ledger.keep(BLOCKED, known.into());
    ledger.save().is_ok()
}
