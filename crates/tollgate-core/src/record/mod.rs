//! Records what was decided about an event.
//!
//! Blocks, warnings and faults go to the journal; blocks and warnings also to the
//! specification's `hook-activity.log` where a project has one. An allowed event leaves no
//! trace and costs nothing.

pub mod activity;
pub mod excerpt;

use std::time::Duration;

use jiff::Timestamp;

use crate::decision::{Decision, Fault, Finding};
use crate::project::Layout;
use crate::protocol::{Event, Protocol};
use activity::{Activity, ActivityLog};
use tollgate_store::blobs::Blobs;
use tollgate_store::journal::{Draft, Entry, Journal, Verdict};

/// What is journalled about an event.
#[derive(Default)]
struct Lines {
    own: Vec<Draft>,
    /// Lines about the state, where that is the main work tree's: they are part of its history.
    history: Vec<Draft>,
}

/// The event that a record is about.
#[derive(Clone, Copy, Debug, Default)]
pub struct Record<'a> {
    /// What all its lines have in common.
    common: Entry<'a>,
    input: Option<&'a str>,
    state: Option<&'a str>,
    project: Option<&'a str>,
}

impl<'a> Record<'a> {
    /// A record about an event.
    pub fn of(event: &'a Event<'a>) -> Self {
        let common = Entry {
            session: event.session.as_deref(),
            prompt: event.prompt_id.as_deref(),
            call: event.tool.as_ref().and_then(|tool| tool.id.as_deref()),
            event: Some(&event.name),
            tool: event.tool.as_ref().map(|tool| tool.name.as_ref()),
            protocol: Some(event.protocol.as_str()),
            ..Entry::default()
        };
        Self {
            common,
            ..Self::default()
        }
    }

    /// A record about an event that could not be read.
    pub fn unread(protocol: Option<Protocol>) -> Self {
        let mut record = Self::default();
        record.common.protocol = protocol.map(Protocol::as_str);
        record
    }

    /// With the texts of the event and of the state it met. Of those that are blocked or warned
    /// about, enough is kept to explain it.
    #[must_use]
    pub fn about(self, input: &'a str, state: Option<&'a str>) -> Self {
        Self {
            input: Some(input),
            state,
            ..self
        }
    }

    /// With the project of a monorepo whose state it is about.
    #[must_use]
    pub fn in_project(self, project: Option<&'a str>) -> Self {
        Self { project, ..self }
    }

    /// With the agent's own trace, where it tells it.
    #[must_use]
    pub fn within(mut self, trace: Option<&'a str>) -> Self {
        self.common.trace = trace;
        self
    }

    /// With how long the decision took.
    #[must_use]
    pub fn after(mut self, took: Duration) -> Self {
        self.common.took = Some(took);
        self
    }

    /// Writes the outcome down. What cannot be written becomes a fault of the outcome; faults
    /// that this session has in its journal are taken out of it, so that a broken file is
    /// one message and not one per event.
    pub fn write(self, layout: &Layout, outcome: &mut Decision, now: Timestamp) {
        let journal = Journal::new(layout.local());
        // The journal remembers which faults this session has seen.
        let is_known = |fault: &Fault| {
            let session = self.common.session;
            session.is_some_and(|session| journal.has_fault(session, fault.kind, &fault.text))
        };
        let known: Vec<bool> = outcome.faults.iter().map(is_known).collect();
        let logged = log(layout, outcome, now);
        // All at one turn: were the journal's lock busy, each line alone would be waited for.
        let lines = self.lines(layout, outcome, now);
        let journalled = lines.and_then(|Lines { own, history }| {
            journal.append_all(&own)?;
            Journal::new(layout.workflow_local()).append_all(&history)
        });
        let mut known = known.into_iter();
        outcome.faults.retain(|_| !known.next().unwrap_or(false));
        if let Err(error) = journalled.and(logged) {
            let local = layout.local();
            let text = format!(
                "the journal in {} cannot be written: {error}",
                local.display()
            );
            outcome.faults.push(Fault::new("journal-unwritable", text));
        }
    }

    fn lines(&self, layout: &Layout, outcome: &Decision, now: Timestamp) -> std::io::Result<Lines> {
        let mut lines = Lines::default();
        let is_elsewhere = layout.workflow_local() != layout.local();
        let mut push = |finding: &Finding, draft: Draft| {
            let is_history = is_elsewhere && finding.state.is_some();
            let lines = if is_history {
                &mut lines.history
            } else {
                &mut lines.own
            };
            lines.push(draft);
        };
        let is_finding = outcome.findings().next().is_some() || !outcome.watched.is_empty();
        let input = self.input.filter(|_| is_finding).and_then(excerpt::event);
        // What cannot be kept cannot be explained later; that is no fault of the decision.
        let state = self.state.filter(|_| is_finding);
        let state = state.and_then(|text| Blobs::states(&layout.local()).keep(text).ok());
        let warnings = outcome.warnings.iter().map(|one| (Verdict::Warn, one));
        let watched = outcome.watched.iter().map(|one| (Verdict::Watch, one));
        let ask = outcome.ask.iter().map(|one| (Verdict::Ask, one));
        let block = outcome.block.iter().map(|one| (Verdict::Block, one));
        let all = watched.chain(warnings).chain(ask).chain(block);
        for (verdict, finding) in all {
            let line = Entry {
                input: input.as_ref(),
                state: state.as_deref(),
                ..self.entry(now, verdict, finding)
            };
            push(finding, line.draft()?);
        }
        for change in &outcome.changes {
            let line = Entry {
                code: Some(&change.code),
                reason: Some(&change.text),
                ..self.history(change, &self.blank(now, Verdict::Change))
            };
            push(change, line.draft()?);
        }
        for fault in &outcome.faults {
            let line = Entry {
                code: Some(fault.kind),
                reason: Some(&fault.text),
                ..self.blank(now, Verdict::Fault)
            };
            lines.own.push(line.draft()?);
        }
        Ok(lines)
    }

    fn entry<'e>(&'e self, now: Timestamp, verdict: Verdict, finding: &'e Finding) -> Entry<'e> {
        Entry {
            guard: Some(finding.guard),
            code: Some(&finding.code),
            phase: finding.phase.as_deref(),
            agent: finding.agent.as_deref(),
            reason: Some(&finding.reason),
            ..self.history(finding, &self.blank(now, verdict))
        }
    }

    /// The entry with what became of the state, if the finding is about that.
    fn history<'e>(&'e self, finding: &'e Finding, entry: &Entry<'e>) -> Entry<'e> {
        let Some(state) = &finding.state else {
            return *entry;
        };
        Entry {
            project: self.project,
            version: Some(state.version),
            patch: state.patch.as_ref(),
            undone: state.undone.as_ref(),
            ..*entry
        }
    }

    fn blank(&self, now: Timestamp, verdict: Verdict) -> Entry<'_> {
        Entry {
            ts: now,
            verdict,
            ..self.common
        }
    }
}

/// Writes the specification's log, where the project has one. A line that cannot be written
/// keeps none of the others from it.
fn log(layout: &Layout, outcome: &Decision, now: Timestamp) -> std::io::Result<()> {
    let Some(path) = layout.activity_log() else {
        return Ok(());
    };
    let log = ActivityLog::new(path, &layout.local());
    let notes = outcome.notes.iter().map(|one| (noted(one), one));
    let warnings = outcome.warnings.iter().map(|one| ("warn", one));
    let block = outcome.block.iter().map(|one| ("block", one));
    let append = |(event, finding)| log.append(now, &activity(event, finding));
    let all = notes.chain(warnings).chain(block).map(append);
    all.fold(Ok(()), std::io::Result::and)
}

/// What the specification's log calls a note.
fn noted(finding: &Finding) -> &'static str {
    match &*finding.code {
        "PLC-100" => "same-phase-bypass",
        _ => "self-heal",
    }
}

fn activity<'a>(event: &'a str, finding: &'a Finding) -> Activity<'a> {
    Activity {
        hook: Some(finding.guard),
        event: Some(event),
        phase: finding.phase.as_deref(),
        agent: finding.agent.as_deref(),
        reason: Some(&finding.reason),
    }
}
