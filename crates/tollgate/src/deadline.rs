//! A tool event is answered in time, whatever happens: a huge command, a slow git, a disk that is away.
//!
//! A thread sleeps beside the one that decides, and answers in its place if that takes too long. It
//! costs a fifth of `/bin/true` (measured: an event without it takes 0.64 of one, with it 0.91, of which a part
//! is other work), which is over the bar; a timer whose handler writes a prepared answer would be cheaper.
//! Asking the clock in every loop ends no system call that waits for a disk.
//!
//! Who answers first is the only one who answers. Ending the process in the middle of the decision does
//! no more harm than killing it does, and the store is made for that. Only git would be left behind, so
//! it is asked for half of the time at most ([`left`]).

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{Builder, Thread};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::{Value, json};
use tollgate_core::decision::{Decision, Fault};
use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_core::protocol::{self, Answer, Event};
use tollgate_core::record::Record;
use tollgate_core::undecided;

use crate::hash::digest;
use crate::ledger::Ledger;

/// How long a tool event may take, unless the registration says otherwise.
pub(crate) const USUAL: Duration = Duration::from_secs(1);

/// What a registration may say. An agent waits for 10 seconds.
pub(crate) const SHORTEST: Duration = Duration::from_millis(100);
pub(crate) const LONGEST: Duration = Duration::from_secs(8);

/// How long writing down that an event was not decided may take at least, however short the deadline.
const WRITING: Duration = Duration::from_millis(200);

/// Neither thread that answers late needs more: the event is read already.
const STACK: usize = 256 * 1024;

/// The largest event of which the journal keeps an excerpt.
const MOST_KEPT: usize = 1 << 20;

/// How many calls a session remembers that were blocked because they were not decided.
const MOST_REMEMBERED: usize = 100;

/// What the ledger keeps of them.
const BLOCKED: &str = "not_decided";

static WATCH: OnceLock<Watch> = OnceLock::new();
static IS_ANSWERED: AtomicBool = AtomicBool::new(false);

/// The thread that sleeps beside the decision.
#[derive(Debug)]
struct Watch {
    thread: Thread,
    begun: Instant,
    limit: Duration,
    is_given_up: AtomicBool,
}

/// An event that must be answered in time. The process ends with the answer, so all of it lives as long
/// as that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub(crate) text: &'static str,
    pub(crate) event: &'static Event<'static>,
    pub(crate) env: &'static Env,
    pub(crate) limit: Duration,
}

/// Answers the event if there is no answer in time. Where no thread can be had, the event is decided
/// without a deadline.
pub(crate) fn watch(pending: Pending) -> Result<(), Fault> {
    let begun = Instant::now();
    let thread = Builder::new().stack_size(STACK).spawn(move || {
        sleep(begun, pending.limit);
        if is_first() {
            end(&in_time(pending, begun));
        }
    });
    let thread = thread.map_err(|error| {
        let text =
            format!("there is no deadline for this event: no thread could be started: {error}");
        Fault::new("no-deadline", text)
    })?;
    // There is one event in a process.
    let _first = WATCH.set(Watch {
        thread: thread.thread().clone(),
        begun,
        limit: pending.limit,
        is_given_up: AtomicBool::new(false),
    });
    Ok(())
}

/// Sleeps until only the time for an answer is left, or the decision is given up.
fn sleep(begun: Instant, limit: Duration) {
    let until = begun + limit * 3 / 4;
    let is_given_up = || {
        let watch = WATCH.get();
        watch.is_some_and(|watch| watch.is_given_up.load(Ordering::Acquire))
    };
    while !is_given_up() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::park_timeout(left);
    }
}

/// How long git may take, if it may take so long at most.
pub(crate) fn left(most: Duration) -> Duration {
    WATCH.get().map_or(most, |watch| {
        let until = watch.begun + watch.limit / 2;
        most.min(until.saturating_duration_since(Instant::now()))
    })
}

/// Gives a decision up that cannot be made without what did not come in time.
pub(crate) fn give_up() {
    if let Some(watch) = WATCH.get() {
        watch.is_given_up.store(true, Ordering::Release);
        watch.thread.unpark();
        wait(watch.limit);
    }
}

/// Whether there is no answer yet. The thread that gets a yes answers.
fn is_first() -> bool {
    !IS_ANSWERED.swap(true, Ordering::AcqRel)
}

/// Gives the answer of a decision, unless it comes too late.
pub(crate) fn give(answer: &Answer) -> ExitCode {
    if !is_first() {
        // The other thread ends the process.
        wait(LONGEST);
    }
    write(answer);
    ExitCode::from(answer.exit)
}

fn wait(most: Duration) {
    let until = Instant::now() + most;
    while Instant::now() < until {
        std::thread::park_timeout(most);
    }
}

/// One write each; an agent that went away is not our concern.
fn write(answer: &Answer) {
    if !answer.stderr.is_empty() {
        let _gone = std::io::stderr().write_all(answer.stderr.as_bytes());
    }
    if !answer.stdout.is_empty() {
        let _gone = std::io::stdout().write_all(answer.stdout.as_bytes());
    }
}

#[expect(
    clippy::disallowed_methods,
    clippy::exit,
    reason = "the thread that decides may hang in the system"
)]
fn end(answer: &Answer) -> ! {
    write(answer);
    std::process::exit(answer.exit.into())
}

/// The answer to an event that was not decided. Whatever keeps the decision may keep the journal, too,
/// which is then not waited for.
fn in_time(pending: Pending, begun: Instant) -> Answer {
    let (sender, answers) = mpsc::channel();
    let told = Builder::new().stack_size(STACK).spawn(move || {
        // The receiver is gone if it took too long.
        let _late = sender.send(written_down(pending, begun));
    });
    let answer = told.map(|_| answers.recv_timeout(WRITING.max(pending.limit / 5)));
    if let Ok(Ok(answer)) = answer {
        return answer;
    }
    let text = "an event was not decided in time, and that could not be recorded in time either";
    let decision = Decision {
        faults: vec![Fault::new("journal-unwritable", text)],
        ..warned(pending)
    };
    protocol::answer(pending.event, &decision)
}

fn written_down(pending: Pending, begun: Instant) -> Answer {
    let Pending {
        text, event, env, ..
    } = pending;
    let cwd = event.cwd.as_deref().map(std::path::Path::new);
    let Some(layout) = Layout::find(env, cwd) else {
        return protocol::answer(event, &Decision::allow());
    };
    let mut decision = if undecided::may_matter(event) && is_new(&layout, event) {
        Decision::block(undecided::block(pending.limit))
    } else {
        warned(pending)
    };
    let record = Record::of(event)
        .within(env.trace.as_deref())
        .after(begun.elapsed());
    let record = if text.len() > MOST_KEPT {
        record
    } else {
        record.about(text, None)
    };
    record.write(&layout, &mut decision, Timestamp::now());
    protocol::answer(event, &decision)
}

fn warned(pending: Pending) -> Decision {
    Decision::warn([undecided::warning(pending.event.kind, pending.limit)])
}

/// Whether this call was not blocked in this session yet, which is remembered. A call that cannot be
/// remembered would be blocked forever, so it is not new.
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
