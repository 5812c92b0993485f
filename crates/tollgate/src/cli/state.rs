//! `tollgate state`: every change of the state that Tollgate made, who made it, and the way back.

use std::process::ExitCode;

use serde_json::{Value, json};
use tollgate_core::workflow::audit::{self, Evidence};
use tollgate_core::workflow::unseen_evidence;
use tollgate_store::blobs::Blobs;
use tollgate_store::document::Document;
use tollgate_store::fs::Durability;
use tollgate_store::journal::{Entry as Line, Verdict};
use tollgate_store::patch;
use tollgate_store::store::{UpdateError, Written};
use tollgate_store::timestamp::iso;
use tollgate_store::version::version;

use super::plain::{Plain, cut};
use super::workflow::audit::own_lines;
use super::workflow_context::{WorkflowContext, unchanged};
use super::{BOLD, CommandResult, DIM, GOOD, Trouble, WARN};
use crate::journal::{self, Entry};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Show the changes of the state, newest first
    Log {
        /// How many of the last ones; 0 for all
        #[arg(short = 'n', long = "lines", default_value_t = 20)]
        lines: usize,
        /// Print JSON: one line per change
        #[arg(long)]
        json: bool,
    },
    /// Show the last change of a field (for example `active_workflow.current_phase`)
    Blame {
        /// The field, with dots between its keys
        field: String,
    },
    /// Print the state as it was at a version
    At {
        /// The version
        version: u64,
    },
    /// Revert the last change, as a new version
    Undo {
        /// Even if the workflow does not allow the resulting state
        #[arg(long)]
        force: bool,
    },
}

pub(super) fn run(command: &Command) -> CommandResult {
    let context = WorkflowContext::here()?;
    match command {
        Command::Log { lines, json } => Ok(log(&context, *lines, *json)),
        Command::Blame { field } => Ok(blame(&context, field)),
        Command::At { version } => at(&context, *version),
        Command::Undo { force } => undo(&context, *force),
    }
}

fn changes(context: &WorkflowContext) -> Vec<Entry> {
    let kinds = ["patch", "undone"];
    let is_change = |entry: &Entry| kinds.iter().any(|key| entry.value.get(key).is_some());
    let mut changes: Vec<Entry> = journal::entries(&context.layout.workflow_local())
        .filter(|entry| entry.version.is_some() && is_change(entry))
        .filter(|entry| entry.project.as_deref() == context.project_id())
        .collect();
    changes.reverse();
    // A change of very many fields is not in its line.
    let values = values(context);
    for key in ["patch", "undone"] {
        for patch in changes
            .iter_mut()
            .filter_map(|entry| entry.value.get_mut(key))
        {
            if let Some(whole) = patch
                .get("$kept")
                .and_then(|_| patch::whole(patch, &values))
            {
                *patch = whole;
            }
        }
    }
    changes
}

fn values(context: &WorkflowContext) -> Blobs {
    Blobs::values(&context.layout.workflow_local())
}

fn log(context: &WorkflowContext, lines: usize, json: bool) -> ExitCode {
    let changes = changes(context);
    let most = if lines == 0 { changes.len() } else { lines };
    for entry in changes.iter().take(most) {
        if json {
            anstream::println!("{}", entry.value);
        } else {
            print(entry, None);
        }
    }
    if changes.is_empty() {
        err!("{DIM}the journal has no change of this state{DIM:#}");
    }
    ExitCode::SUCCESS
}

fn steps<'e>(entry: &'e Entry, key: &str) -> &'e [Value] {
    let patch = entry.value.get(key).and_then(Value::as_array);
    patch.map(Vec::as_slice).unwrap_or_default()
}

fn keys(step: &Value) -> Vec<&str> {
    let path = step.get("path").and_then(Value::as_array);
    let keys = path.into_iter().flatten();
    keys.filter_map(Value::as_str).collect()
}

/// A change: version, moment, cause, and each field; with `only`, just what touches that field.
fn print(entry: &Entry, only: Option<&[&str]>) {
    let version = entry.version.unwrap_or(0);
    let ts = entry.moment();
    let id = entry.id.map(|id| format!("#{id}")).unwrap_or_default();
    let cause = [&entry.event, &entry.tool, &entry.session, &entry.reason];
    let cause = cause.into_iter().flatten();
    let cause: Vec<String> = cause.map(|text| Plain(text).to_string()).collect();
    out!(
        "{BOLD}v{version}{BOLD:#}  {DIM}{ts} {id}{DIM:#}  {}",
        cause.join("  ")
    );
    let wanted = |step: &&Value| only.is_none_or(|field| touches(&keys(step), field));
    for step in steps(entry, "patch").iter().filter(wanted) {
        out!("    {}", Plain(&described(step)));
    }
    for step in steps(entry, "undone").iter().filter(wanted) {
        out!("    {WARN}undone{WARN:#} {}", Plain(&described(step)));
    }
}

fn described(step: &Value) -> String {
    let place = keys(step).join(".");
    // Where more than the last key was made, what was there before was not at that key.
    let made = step.get("made").and_then(Value::as_u64);
    let before = step
        .get("before")
        .filter(|_| made.is_none_or(|made| made == keys(step).len() as u64));
    let shown = |value: Option<&Value>| value.map_or_else(|| "not set".to_owned(), short);
    if let Some(item) = step.get("pushed") {
        format!("{place} gets {}", short(item))
    } else {
        format!("{place}: {} -> {}", shown(before), shown(step.get("after")))
    }
}

/// Whether one path leads through the other.
fn touches(one: &[&str], other: &[&str]) -> bool {
    one.iter().zip(other).all(|(one, other)| one == other)
}

fn short(value: &Value) -> String {
    if value.get("$cut").is_some() {
        return "(not kept)".to_owned();
    }
    if let (Some(_), Some(bytes)) = (value.get("$kept"), value.get("bytes")) {
        return format!("({bytes} bytes, kept aside)");
    }
    cut(&value.to_string(), 100)
}

fn blame(context: &WorkflowContext, field: &str) -> ExitCode {
    let wanted: Vec<&str> = field.split('.').collect();
    let changes = changes(context);
    let touches = |step: &Value| touches(&keys(step), &wanted);
    let last = changes
        .iter()
        .find(|entry| steps(entry, "patch").iter().any(touches));
    let Some(entry) = last else {
        err!("{DIM}the journal has no change of {}{DIM:#}", Plain(field));
        return ExitCode::from(1);
    };
    print(entry, Some(&wanted));
    ExitCode::SUCCESS
}

/// The way back from the state as it is: the changes that left something in it, newest first.
struct Back {
    left: Vec<(Option<u64>, Value)>,
}

/// Those who write at once may write their lines in another order than their versions.
const AT_ONCE: usize = 8;

impl Back {
    fn through(changes: &[Entry]) -> Self {
        let patch = |entry: &Entry| Some((entry.version, entry.value.get("patch")?.clone()));
        Self {
            left: changes.iter().filter_map(patch).collect(),
        }
    }

    /// The last change that led to this version.
    fn take(&mut self, version: u64) -> Option<Value> {
        let mut near = self.left.iter().take(AT_ONCE);
        let at = near.position(|(known, _)| *known == Some(version))?;
        Some(self.left.remove(at).1)
    }

    /// Goes back to a version. One that the journal does not know was not made by Tollgate, and
    /// what came before it is not known.
    fn to(&mut self, document: &mut Document, wanted: u64, values: &Blobs) -> Result<(), String> {
        while version(document) > wanted {
            let now = version(document);
            let mut patch = self.take(now).ok_or_else(|| {
                format!(
                    "version {now} is not in the journal: it is older than what is kept, or was not made by Tollgate"
                )
            })?;
            // One write may carry several changes: those that waited for the lock, and its own.
            loop {
                patch::take_back(&patch, document, values)
                    .map_err(|why| format!("version {now}: {why}"))?;
                let next = (version(document) == now).then(|| self.take(now));
                let Some(next) = next.flatten() else { break };
                patch = next;
            }
            // A change that counted otherwise has put its own number back.
            if version(document) == now {
                document
                    .set(&["state_version"], now.saturating_sub(1))
                    .map_err(|fault| fault.to_string())?;
            }
        }
        Ok(())
    }
}

fn at(context: &WorkflowContext, wanted: u64) -> CommandResult {
    let mut document = context.document()?;
    let now = version(&document);
    if wanted > now || wanted == 0 {
        return Err(Trouble::new(format!(
            "there is no version {wanted}; the state is at {now}"
        ))
        .hint("`tollgate state log` shows the versions"));
    }
    match Back::through(&changes(context)).to(&mut document, wanted, &values(context)) {
        Ok(()) => {
            anstream::println!("{}", document.to_text().trim_end());
            Ok(ExitCode::SUCCESS)
        }
        Err(why) => {
            err!("{WARN}not known{WARN:#}: {why}");
            Ok(ExitCode::from(1))
        }
    }
}

fn undo(context: &WorkflowContext, force: bool) -> CommandResult {
    context.reconcile();
    let by_agent = crate::person::agent().is_some();
    let changes = changes(context);
    let journal = own_lines(context);
    let values = values(context);
    let mut done = None;
    let updated = context.with_rules(|rules| {
        let faults = |document: &Document, journal: &[Value]| -> Vec<String> {
            let evidence = Evidence { document, rules, journal, now: context.now };
            audit::audit(&evidence).iter().map(|finding| finding.id.to_owned()).collect()
        };
        context.store().update(context.now, |document| {
            let before = document.clone();
            let now = version(document);
            let patch = Back::through(&changes).take(now).ok_or_else(|| {
                format!("the last change of the state (version {now}) was not made by Tollgate, or is not in the journal")
            })?;
            patch::take_back(&patch, document, &values)?;
            let seen = unseen_evidence::put_back(&before, document);
            if by_agent && !seen.is_empty() {
                let fields: Vec<String> = seen.iter().map(|edit| edit.path.join(".")).collect();
                return Err(format!("that would remove what Tollgate recorded ({}); only a person may do that, in a terminal of their own", fields.join(", ")));
            }
            let known = faults(&before, &journal);
            let mut then = journal.clone();
            then.push(json!({
                "ts": iso(context.now), "verdict": "record", "event": audit::UNDONE, "version": now + 1,
            }));
            let mut new = faults(document, &then);
            new.retain(|id| !known.contains(id));
            if !new.is_empty() && !force {
                return Err(format!("the state would then violate {}; --force does it anyway", new.join(", ")));
            }
            done = Some(now);
            Ok(Durability::Synced)
        })
    })?;
    let updated = match updated {
        Ok(updated) => updated,
        Err(UpdateError::Refused(why)) => {
            let next = "`tollgate state log` shows what was changed";
            return Err(Trouble::refused(why, next));
        }
        Err(UpdateError::Store(error)) => return Err(unchanged(&error)),
    };
    let Some(undone) = done.filter(|_| updated.outcome == Written::Yes) else {
        return Err(Trouble::new("nothing was changed"));
    };
    let reason = format!("reverted version {undone}");
    let line = Line {
        event: Some(audit::UNDONE),
        reason: Some(&reason),
        ..Line::new(context.now, Verdict::Record)
    };
    context.write_history(&updated, &line);
    out!(
        "{GOOD}●{GOOD:#} {reason} {DIM}(state version {}){DIM:#}",
        updated.version
    );
    Ok(ExitCode::SUCCESS)
}
