//! State is guarded by effect: a change of the state file that Tollgate did not make is found at
//! the next event, whatever route it took, and treated as a request.
//!
//! A legal step is adopted and journalled as the agent's. An illegal one is set aside, the last
//! good version is put back, and the agent is told what was wrong and how to do it properly. A
//! change between sessions is a person's: it is adopted, with a notice.

use jiff::Timestamp;

use crate::json::{Kind, Node, Object};
use crate::project::Layout;
use crate::protocol::EventKind;
use crate::scene::Sources;
use crate::state::document::Document;
use crate::state::edit::{self, Edit};
use crate::state::history::compared;
use crate::state::kept::Kept;
use crate::state::lock::{self, Acquired, Guard, HOOK_PATIENCE};
use crate::state::store::Store;
use crate::state::timestamp::iso;
use crate::state::version::version_in;
use crate::state::view::State;
use crate::state::watch::{Changed, Look, Now, Watch};
use crate::verdict::{Fault, Finding, Report, StateChange};
use crate::workflow::{by_hand, claims, course, regression};

/// The name that findings are reported under.
pub const NAME: &str = "state-watch";

/// What it does, in one line.
pub const ABOUT: &str = "undoes illegal changes of a state file, by whatever route they came";

/// The codes of its findings, with what each means.
pub const CODES: &[(&str, &str)] = &[
    ("SW-001", "an illegal change of the state was undone"),
    (
        "SW-002",
        "a legal change by the agent was adopted (journal only)",
    ),
    ("SW-003", "a change between sessions was adopted"),
    (
        "SW-004",
        "a claim of evidence that Tollgate did not see was taken back",
    ),
];

/// What came of a look at the state file.
#[derive(Debug, Default)]
pub struct Reconciled {
    /// What the agent and the person are told.
    pub told: Option<Report>,
    /// A step of the agent's that was adopted, for the journal.
    pub adopted: Option<Finding>,
    /// What could not be done.
    pub fault: Option<Fault>,
    /// Whether files were put back, so that the project must be looked at again.
    pub restored: bool,
}

/// Looks at the state file of an event's sources and deals with a foreign change.
pub fn reconcile(sources: &Sources, kind: EventKind) -> Reconciled {
    let (layout, store, now) = (sources.layout(), sources.store(), sources.now());
    let watch = Watch::new(layout.root(), store.home().to_owned());
    // The usual case costs a line and a `stat`, and no lock.
    if !matches!(watch.look(), Look::Changed(_)) {
        return Reconciled::default();
    }
    let held = lock::acquire(&store.home().join("lock"), HOOK_PATIENCE);
    let Ok(Acquired::Held(guard)) = held else {
        // Whoever holds the lock is writing; the next event looks again.
        return Reconciled::default();
    };
    // Somebody else may have dealt with it meanwhile.
    let Look::Changed(changed) = watch.look() else {
        return Reconciled::default();
    };
    let values = Kept::values(&layout.local());
    let gate = |state: &State<'_>, phase: &str| by_hand::closed(sources, state, phase);
    let done = deal(&watch, &guard, &changed, &values, (kind, &gate), now);
    done.unwrap_or_else(|error| Reconciled {
        fault: Some(Fault::new(
            "state-watch",
            format!("{} cannot be guarded: {error}", changed.path.display()),
        )),
        ..Reconciled::default()
    })
}

/// Remembers a state file that nothing is remembered about yet, from now on.
pub fn remember(layout: &Layout, store: &Store) -> Option<Fault> {
    let watch = Watch::new(layout.root(), store.home().to_owned());
    if watch.has_baseline() || !store.path().is_file() {
        return None;
    }
    let remembered = match lock::acquire(&store.home().join("lock"), HOOK_PATIENCE) {
        Ok(Acquired::Held(guard)) => watch.remember(&guard, store.path()),
        // Whoever holds the lock is writing; the next event begins the watch.
        Ok(Acquired::Busy) => Ok(()),
        Err(error) => Err(error),
    };
    let text = format!(
        "{} cannot be guarded by its effect: {}",
        store.path().display(),
        remembered.err()?
    );
    Some(Fault::new("state-watch", text))
}

fn deal(
    watch: &Watch,
    guard: &Guard,
    changed: &Changed,
    values: &Kept,
    (kind, gate): (EventKind, Gate<'_>),
    now: Timestamp,
) -> std::io::Result<Reconciled> {
    let text = match &changed.now {
        Now::Same => {
            watch.restore_mode(changed)?;
            watch.remember(guard, &changed.path)?;
            return Ok(Reconciled::default());
        }
        Now::Text(text) => Ok(text),
        Now::Gone => Err("the file was removed".to_owned()),
        Now::Unreadable(why) => Err(why.clone()),
    };
    let flaw = match text {
        Ok(text) => illegal(&changed.good, text),
        Err(ref why) => Some(why.clone()),
    };
    match flaw {
        None => {
            if kind != EventKind::SessionStart
                && let Ok(text) = text
            {
                let claims = Claims::in_change(&changed.good, text);
                // Claims open no gate.
                let left = claims.as_ref().map_or(text, |claims| &claims.held);
                if let Some(why) = through_a_closed_gate(&changed.good, left, gate) {
                    return restored(watch, guard, changed, values, &why, now);
                }
                if let Some(claims) = claims {
                    return claims.taken_back(watch, guard, changed, values, now);
                }
            }
            watch.remember(guard, &changed.path)?;
            Ok(adopted(changed, values, kind))
        }
        // A person who edits or removes the file between sessions knows what they do, as long
        // as what they leave behind can be read.
        Some(_) if kind == EventKind::SessionStart && readable(changed) => {
            watch.remember(guard, &changed.path)?;
            Ok(adopted(changed, values, kind))
        }
        Some(why) => restored(watch, guard, changed, values, &why, now),
    }
}

fn readable(changed: &Changed) -> bool {
    matches!(&changed.now, Now::Text(text) if Object::parse(text).is_ok())
}

/// Why a change is no legal step, if it is none.
fn illegal(good: &str, text: &str) -> Option<String> {
    let incoming = match Object::parse(text) {
        Ok(object) => object,
        Err(error) => return Some(format!("the new content is no JSON object ({error})")),
    };
    // What was there before the watch began may have been broken too; then nothing is lost.
    let disk = Object::parse(good).ok()?;
    // A workflow of another type than the guards can read would switch them off.
    for key in ["active_workflow", "phases"] {
        let kind = |state: &Object<'_>| state.get(key).map_or(Kind::Null, Node::kind);
        if kind(&incoming) != kind(&disk) && !matches!(kind(&incoming), Kind::Null | Kind::Object) {
            return Some(format!("{key} is {}, not an object", kind(&incoming)));
        }
    }
    if let Some(finding) = regression::find(&disk, &incoming) {
        return Some(finding.text);
    }
    course::left(&disk, &incoming)
}

/// Tells why a phase's gate is closed, if it is.
type Gate<'g> = &'g dyn Fn(&State<'_>, &str) -> Option<String>;

/// Why a change may not end the phases that it ends.
fn through_a_closed_gate(good: &str, text: &str, gate: Gate<'_>) -> Option<String> {
    let (before, now) = (State::parse(good).ok()?, State::parse(text).ok()?);
    let ended = by_hand::ended(&before, &now);
    ended.iter().find_map(|phase| gate(&now, phase))
}

/// What a change did to the state: what stays of it, and what was undone. `left` is the text that
/// is there now.
fn told(changed: &Changed, left: &str, values: &Kept) -> StateChange {
    let good = changed.good.as_bytes();
    let something = |patch: &serde_json::Value| *patch != serde_json::json!([]);
    let undone = match &changed.now {
        Now::Text(text) if text == left => None,
        Now::Text(text) if Object::parse(text).is_ok() => {
            Some(compared(left.as_bytes(), text.as_bytes(), values))
        }
        // Nothing that has fields: the finding says what it was, and it is kept aside.
        Now::Text(_) | Now::Gone | Now::Unreadable(_) | Now::Same => Some(serde_json::json!([])),
    };
    StateChange {
        version: version_in(left),
        patch: Some(compared(good, left.as_bytes(), values)).filter(something),
        undone,
    }
}

fn adopted(changed: &Changed, values: &Kept, kind: EventKind) -> Reconciled {
    let path = changed.path.display();
    let state = match &changed.now {
        Now::Text(text) => told(changed, text, values),
        Now::Gone | Now::Unreadable(_) | Now::Same => told(changed, "", values),
    };
    if kind == EventKind::SessionStart {
        let text = format!(
            "[{NAME}] NOTICE: {path} was changed since the last session; the change was adopted."
        );
        let reason = "State changed between sessions, adopted";
        let finding = Finding::new("SW-003", text, reason).with_state(state);
        return Reconciled {
            told: Some(Report {
                guard: NAME,
                finding,
            }),
            ..Reconciled::default()
        };
    }
    let reason = "State changed by the agent, adopted";
    let finding = Finding::new("SW-002", format!("{path}: {reason}"), reason);
    Reconciled {
        adopted: Some(finding.with_state(state)),
        ..Reconciled::default()
    }
}

fn restored(
    watch: &Watch,
    guard: &Guard,
    changed: &Changed,
    values: &Kept,
    why: &str,
    now: Timestamp,
) -> std::io::Result<Reconciled> {
    let kept = watch.restore(guard, changed, &changed.good, &rejected(now))?;
    let path = changed.path.display();
    let aside = kept_at(kept);
    let text = format!(
        "STATE RESTORED: {path} was changed in a way that the workflow does not allow, and the \
         last good version was put back.\n\n\
         What was wrong: {why}\n{aside}\n\
         To move the workflow use its commands: `tollgate phase begin`, `tollgate phase \
         complete`, `tollgate workflow status`. To change other fields, re-read the file and \
         write it as a whole with its state_version."
    );
    let reason = format!(
        "Illegal change of the state undone: {}",
        first_sentence(why)
    );
    Ok(Reconciled {
        told: Some(Report {
            guard: NAME,
            finding: Finding::new("SW-001", text, reason).with_state(told(
                changed,
                &changed.good,
                values,
            )),
        }),
        restored: true,
        ..Reconciled::default()
    })
}

/// The edits that take back what a change claims.
struct Claims {
    edits: Vec<Edit>,
    held: String,
}

impl Claims {
    /// What a change claims to have been seen, if it claims anything.
    fn in_change(good: &str, text: &str) -> Option<Self> {
        let good = Document::parse(good.as_bytes()).ok()?;
        let mut held = Document::parse(text.as_bytes()).ok()?;
        let edits = claims::put_back(&good, &held);
        edit::apply(&edits, &mut held).ok()?;
        (!edits.is_empty()).then(|| Self {
            edits,
            held: held.to_text(),
        })
    }

    /// Keeps the change but for its claims.
    fn taken_back(
        &self,
        watch: &Watch,
        guard: &Guard,
        changed: &Changed,
        values: &Kept,
        now: Timestamp,
    ) -> std::io::Result<Reconciled> {
        let kept = watch.restore(guard, changed, &self.held, &rejected(now))?;
        let fields: Vec<String> = self.edits.iter().map(|edit| edit.path.join(".")).collect();
        let text = format!(
            "STATE RESTORED: {} was changed to claim what Tollgate did not see. That part was put \
             back; the rest of the change was kept.\n\n\
             Put back: {}\n{}\n\
             Evidence is only what was observed: run the tests (their result is recorded), present \
             the menu to the person, delegate to the agent. An escalation is approved, and \
             enforcement switched off, by a person between sessions.",
            changed.path.display(),
            fields.join(", "),
            kept_at(kept)
        );
        let reason = format!("Claims of evidence taken back: {}", fields.join(", "));
        Ok(Reconciled {
            told: Some(Report {
                guard: NAME,
                finding: Finding::new("SW-004", text, reason)
                    .with_state(told(changed, &self.held, values)),
            }),
            restored: true,
            ..Reconciled::default()
        })
    }
}

fn rejected(now: Timestamp) -> String {
    format!("rejected-{}.json", iso(now).replace([':', '.'], "-"))
}

fn kept_at(kept: Option<std::path::PathBuf>) -> String {
    kept.map_or_else(String::new, |kept| {
        format!("The rejected version is kept at {}.\n", kept.display())
    })
}

fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text, |(first, _)| first)
}

#[cfg(test)]
mod tests {
    use super::illegal;

    #[test]
    fn a_step_forward_is_legal_and_nothing_else() {
        let at = |version: u64, index: u64| {
            format!(
                r#"{{"state_version":{version},"active_workflow":{{"current_phase_index":{index}}}}}"#
            )
        };
        assert_eq!(illegal(&at(1, 5), &at(1, 5)), None);
        assert_eq!(illegal(&at(1, 5), &at(2, 6)), None);
        for bad in [
            at(1, 4),
            at(0, 5),
            at(1, 7),
            "{}".to_owned(),
            String::new(),
            "[]".to_owned(),
        ] {
            assert!(illegal(&at(1, 5), &bad).is_some(), "{bad}");
        }
    }
}
