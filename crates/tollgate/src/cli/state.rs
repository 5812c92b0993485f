//! `tollgate state`: every change of the state that Tollgate made, who made it, and the way back.

use std::process::ExitCode;

use serde_json::Value;
use tollgate_core::fs::Durability;
use tollgate_core::project::ProjectId;
use tollgate_core::state::document::Document;
use tollgate_core::state::journal::{Decision, Entry as Line};
use tollgate_core::state::patch;
use tollgate_core::state::store::{UpdateError, Written};
use tollgate_core::state::timestamp::iso;
use tollgate_core::workflow::audit::{self, Evidence};

use super::plain::Plain;
use super::site::{Site, unchanged, warn};
use super::{Answer, BOLD, DIM, GOOD, HINT, Trouble, WARN};
use crate::journal::{self, Entry};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Show the changes of the state, newest first
    Log {
        /// The last so many; 0 for all
        #[arg(short = 'n', long = "lines", default_value_t = 20)]
        lines: usize,
        /// Print JSON: one line per change
        #[arg(long)]
        json: bool,
    },
    /// Show the last change of a field (for example `active_workflow.current_phase`)
    Blame {
        /// The field, with points between its keys
        field: String,
    },
    /// Print the state as it was at a version
    At {
        /// The version
        version: u64,
    },
    /// Take the last change back, as a new version
    Undo {
        /// Even if the state is then not one that the workflow allows
        #[arg(long)]
        force: bool,
    },
}

pub(super) fn run(command: &Command) -> Answer {
    let site = Site::here()?;
    match command {
        Command::Log { lines, json } => Ok(log(&site, *lines, *json)),
        Command::Blame { field } => Ok(blame(&site, field)),
        Command::At { version } => at(&site, *version),
        Command::Undo { force } => undo(&site, *force),
    }
}

/// The changes of this project's state, newest first.
fn changes(site: &Site) -> Vec<Entry> {
    let project = site.project.as_ref().map(ProjectId::as_str);
    let mut changes: Vec<Entry> = journal::entries(&site.layout.local())
        .filter(|entry| entry.version.is_some() && entry.value.get("patch").is_some())
        .filter(|entry| entry.project.as_deref() == project)
        .collect();
    changes.reverse();
    changes
}

fn log(site: &Site, lines: usize, json: bool) -> ExitCode {
    let changes = changes(site);
    let most = if lines == 0 { changes.len() } else { lines };
    for entry in changes.iter().take(most) {
        if json {
            anstream::println!("{}", entry.value);
        } else {
            print(entry, None);
        }
    }
    if changes.is_empty() {
        anstream::eprintln!("{DIM}the journal has no change of this state{DIM:#}");
    }
    ExitCode::SUCCESS
}

fn steps(entry: &Entry) -> &[Value] {
    let patch = entry.value.get("patch").and_then(Value::as_array);
    patch.map(Vec::as_slice).unwrap_or_default()
}

fn keys(step: &Value) -> Vec<&str> {
    let path = step.get("path").and_then(Value::as_array);
    path.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// A change: version, moment, cause, and each field; with `only`, just what touches that field.
fn print(entry: &Entry, only: Option<&[&str]>) {
    let version = entry.version.unwrap_or(0);
    let ts = entry.ts.map(iso).unwrap_or_default();
    let id = entry.id.map(|id| format!("#{id}")).unwrap_or_default();
    let cause = [&entry.event, &entry.tool, &entry.session, &entry.reason];
    let cause: Vec<String> = cause
        .into_iter()
        .flatten()
        .map(|text| Plain(text).to_string())
        .collect();
    anstream::println!(
        "{BOLD}v{version}{BOLD:#}  {DIM}{ts} {id}{DIM:#}  {}",
        cause.join("  ")
    );
    for step in steps(entry)
        .iter()
        .filter(|step| only.is_none_or(|field| touches(&keys(step), field)))
    {
        let place = keys(step).join(".");
        let shown = |name: &str| step.get(name).map_or_else(|| "not set".to_owned(), short);
        let text = if step.get("pushed").is_some() {
            format!("{place} gets {}", shown("pushed"))
        } else {
            format!("{place}: {} -> {}", shown("before"), shown("after"))
        };
        anstream::println!("    {}", Plain(&text));
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
    let text = value.to_string();
    let cut: String = text.chars().take(100).collect();
    if cut.len() < text.len() {
        cut + "…"
    } else {
        cut
    }
}

fn blame(site: &Site, field: &str) -> ExitCode {
    let wanted: Vec<&str> = field.split('.').collect();
    let changes = changes(site);
    let last = changes.iter().find(|entry| {
        steps(entry)
            .iter()
            .any(|step| touches(&keys(step), &wanted))
    });
    let Some(entry) = last else {
        anstream::eprintln!(
            "{DIM}no change that the journal knows touched {}{DIM:#}",
            Plain(field)
        );
        return ExitCode::from(1);
    };
    print(entry, Some(&wanted));
    ExitCode::SUCCESS
}

fn version(document: &Document) -> u64 {
    document.u64(&["state_version"]).unwrap_or(0)
}

/// Goes back from the state as it is, change by change. A version that the journal does not know
/// was not made by Tollgate, and what came before it cannot be told.
fn back_to(changes: &[Entry], document: &mut Document, wanted: u64) -> Result<(), String> {
    while version(document) > wanted {
        let now = version(document);
        let entry = changes.iter().find(|entry| entry.version == Some(now));
        let entry = entry.ok_or_else(|| {
            format!("version {now} is not in the journal: it is older than what is kept, or was not made by Tollgate")
        })?;
        let patch = entry.value.get("patch").unwrap_or(&Value::Null);
        patch::take_back(patch, document).map_err(|why| format!("version {now}: {why}"))?;
        document
            .set(&["state_version"], now.saturating_sub(1))
            .map_err(|fault| fault.to_string())?;
    }
    Ok(())
}

fn at(site: &Site, wanted: u64) -> Answer {
    let mut document = site.document()?;
    let now = version(&document);
    if wanted > now || wanted == 0 {
        return Err(Trouble::new(format!(
            "there is no version {wanted}; the state is at {now}"
        ))
        .hint("`tollgate state log` shows the versions"));
    }
    match back_to(&changes(site), &mut document, wanted) {
        Ok(()) => {
            anstream::println!("{}", document.to_text().trim_end());
            Ok(ExitCode::SUCCESS)
        }
        Err(why) => {
            anstream::eprintln!("{WARN}not known{WARN:#}: {why}");
            Ok(ExitCode::from(1))
        }
    }
}

fn undo(site: &Site, force: bool) -> Answer {
    let changes = changes(site);
    let journal = site.journal().lines();
    let mut done = None;
    let updated = site.with_rules(|rules| {
        let faults = |document: &Document| -> Vec<String> {
            let evidence = Evidence { document, rules, journal: &journal, now: site.now };
            audit::audit(&evidence).iter().map(|finding| finding.id.to_owned()).collect()
        };
        site.store().update(site.now, |document| {
            let before = document.clone();
            let now = version(document);
            let entry = changes.first().filter(|entry| entry.version == Some(now)).ok_or_else(|| {
                format!("the last change of the state (version {now}) was not made by Tollgate, or is not in the journal")
            })?;
            let patch = entry.value.get("patch").unwrap_or(&Value::Null);
            patch::take_back(patch, document)?;
            let known = faults(&before);
            let new: Vec<String> = faults(document).into_iter().filter(|id| !known.contains(id)).collect();
            if !new.is_empty() && !force {
                return Err(format!("the state would then break {}; --force does it all the same", new.join(", ")));
            }
            done = Some((now, patch::between(&before, document)));
            Ok(Durability::Synced)
        })
    })?;
    let updated = match updated {
        Ok(updated) => updated,
        Err(UpdateError::Refused(why)) => {
            anstream::eprintln!("{WARN}refused{WARN:#}: {}", Plain(&why));
            anstream::eprintln!("{HINT}next{HINT:#}: `tollgate state log` shows what was changed");
            return Ok(ExitCode::from(1));
        }
        Err(UpdateError::Store(error)) => return Err(unchanged(&error)),
    };
    let Some((undone, patch)) = done.filter(|_| updated.outcome == Written::Yes) else {
        return Err(Trouble::new("nothing was changed"));
    };
    let reason = format!("took version {undone} back");
    let line = Line {
        event: Some("state undo"),
        reason: Some(&reason),
        project: site.project.as_ref().map(ProjectId::as_str),
        version: Some(updated.version),
        patch: Some(&patch),
        ..Line::new(site.now, Decision::Record)
    };
    if let Err(error) = site.journal().append(&line) {
        warn(&format!(
            "the change is made, but the journal cannot be written: {error}"
        ));
    }
    anstream::println!(
        "{GOOD}✔{GOOD:#} {reason} {DIM}(state version {}){DIM:#}",
        updated.version
    );
    Ok(ExitCode::SUCCESS)
}
