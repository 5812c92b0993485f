//! Detects changes of the state file that Tollgate did not make, at the next event, however they
//! were made.
//!
//! A legal step of the agent is adopted and journalled. An illegal one is undone: the file is kept
//! aside, the last good version is restored, and the agent reads what was wrong and how to do it
//! properly. A change that no command of the agent made, or that git explains, is a person's: it is
//! adopted with a notice, and so is a removal.

mod manual_completion;

use std::fmt::Display;
use std::path::Path;

use crate::context::Inputs;
use crate::decision::{Code, Fault, Finding, StateChange};
use crate::next::Next;
use crate::project::Layout;
use crate::workflow::definitions::Home;
use crate::workflow::state::State;
use crate::workflow::{phase_jump, regression, unseen_evidence};
use tollgate_store::blobs::Blobs;
use tollgate_store::document::Document;
use tollgate_store::edit::{self, Edit};
use tollgate_store::history::compared;
use tollgate_store::json::{Kind, Node, Object};
use tollgate_store::lock::{self, Acquired, Guard, HOOK_PATIENCE};
use tollgate_store::store::Store;
use tollgate_store::timestamp::iso;
use tollgate_store::version::version_in;
use tollgate_store::watch::{Changed, Comparison, Now, REJECTED, Watch};

/// The name that findings are reported under.
pub const NAME: &str = "state-watch";

/// What it does, in one line.
pub const ABOUT: &str = "undoes illegal changes of a state file, however they were made";

/// The codes of its findings, with what each means.
pub const CODES: &[Code] = &[
    Code::warns(
        "SW-001",
        "an illegal change of the state was undone",
        "change the workflow with its commands instead of editing the file",
    ),
    Code::warns(
        "SW-002",
        "a legal change by the agent was adopted (journal only)",
        "nothing; it is in the journal",
    ),
    Code::warns(
        "SW-003",
        "a change that was not made by a command of the agent was adopted",
        "nothing, if it was you",
    ),
    Code::warns(
        "SW-004",
        "evidence that Tollgate did not see was removed from the state",
        "do it where Tollgate sees it: run the tests, show the menu, delegate; a person approves escalations",
    ),
    Code::warns(
        "SW-005",
        "a workflow of the project is gone, or Tollgate's record of it",
        "restore the state file, or start the workflow again; nothing, if it was you",
    ),
    Code::warns(
        "SW-006",
        "the gates of the project are gone",
        "restore their configuration; nothing, if it was you",
    ),
    Code::warns(
        "SW-007",
        "a registration of Tollgate is gone or changed, or a setting overrides its hooks",
        "`tollgate install` restores registrations, `tollgate doctor` shows the rest",
    ),
    Code::warns(
        "SW-008",
        "a plugin can answer before Tollgate's hooks",
        "remove it if you did not install it, or register Tollgate in managed settings",
    ),
    Code::blocks_for_good(
        "SW-009",
        "a tool call took Tollgate out of the agent's settings; the session keeps the settings it had",
        "`tollgate install` restores the registrations; a person removes them with `tollgate uninstall`",
    )
    .instead("tollgate install --list"),
];

/// What came of comparing the state file.
#[derive(Debug, Default)]
pub struct Reconciled {
    /// What the agent and the person read.
    pub finding: Option<Finding>,
    /// A step of the agent's that was adopted, for the journal.
    pub adopted: Option<Finding>,
    /// What could not be done.
    pub fault: Option<Fault>,
    /// Whether files were put back, so that the project must be read again.
    pub restored: bool,
}

impl Reconciled {
    fn fault(path: &Path, why: &dyn Display) -> Self {
        let text = format!("{} cannot be guarded: {why}", path.display());
        Self {
            fault: Some(Fault::new("state-watch", text)),
            ..Self::default()
        }
    }
}

/// Who changed a state file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// A command of the agent's.
    Agent,
    /// Another program: no command of the agent was running, or git did it.
    Other,
}

/// Compares the state file of an event's inputs and deals with a foreign change. `author` is asked
/// only about one.
pub fn reconcile(inputs: &Inputs, author: impl FnOnce() -> Author) -> Reconciled {
    let (layout, store) = (inputs.layout(), inputs.store());
    let watch = Watch::new(layout.workflow_root(), store.home().to_owned());
    // The usual case costs a line and a `stat`, and no lock.
    if !matches!(watch.compare(), Comparison::Changed(_)) {
        return Reconciled::default();
    }
    let held = lock::acquire(&store.home().join("lock"), HOOK_PATIENCE);
    // Another process may have dealt with it meanwhile.
    let Comparison::Changed(changed) = watch.compare() else {
        return Reconciled::default();
    };
    let guard = match held {
        Ok(Acquired::Held(guard)) => guard,
        // A writer is done in a moment; this one was stopped, or another program has the lock. The
        // next event tries again.
        Ok(Acquired::Busy) => {
            let why = "it was changed, and another process holds its lock; the change is checked when \
                       the lock is free";
            return Reconciled::fault(&changed.path, &why);
        }
        Err(error) => {
            let lock = store.home().join("lock");
            return Reconciled::fault(&changed.path, &format!("{}: {error}", lock.display()));
        }
    };
    let case = Case {
        inputs,
        watch: &watch,
        guard: &guard,
        changed: &changed,
    };
    let by_git = || inputs.is_explained(&changed.path);
    let author = match author() {
        Author::Agent if !by_git() => Author::Agent,
        Author::Agent | Author::Other => Author::Other,
    };
    case.deal(author)
        .unwrap_or_else(|error| Reconciled::fault(&changed.path, &error))
}

/// Remembers a state file that nothing is remembered about yet, from now on.
pub fn remember(layout: &Layout, store: &Store) -> Option<Fault> {
    let watch = Watch::new(layout.workflow_root(), store.home().to_owned());
    if watch.has_baseline() || !store.path().is_file() {
        return None;
    }
    let remembered = match lock::acquire(&store.home().join("lock"), HOOK_PATIENCE) {
        // Of what is remembered, nothing is forgotten: only the file that was compared is taken.
        Ok(Acquired::Held(_)) if matches!(watch.compare(), Comparison::Changed(_)) => Ok(()),
        Ok(Acquired::Held(guard)) => watch.remember(&guard, store.path()),
        // The process that holds the lock is writing; the next event begins the watch.
        Ok(Acquired::Busy) => Ok(()),
        Err(error) => Err(error),
    };
    let text = format!(
        "changes of {} cannot be detected: {}",
        store.path().display(),
        remembered.err()?
    );
    Some(Fault::new("state-watch", text))
}

/// A change that must be dealt with, and what that takes.
struct Case<'a> {
    inputs: &'a Inputs,
    watch: &'a Watch,
    guard: &'a Guard,
    changed: &'a Changed,
}

impl Case<'_> {
    fn deal(&self, author: Author) -> std::io::Result<Reconciled> {
        let changed = self.changed;
        let text = match &changed.now {
            Now::Same => {
                self.watch.restore_mode(changed)?;
                self.watch.adopt(self.guard, changed)?;
                return Ok(Reconciled::default());
            }
            Now::Text(text) => Ok(text),
            Now::Gone => Err("the file was removed".to_owned()),
            Now::Unreadable(why) => Err(why.clone()),
        };
        if author == Author::Other && matches!(changed.now, Now::Gone) {
            self.watch.forget(self.guard)?;
            return Ok(self.removed());
        }
        let Some(good) = &changed.good else {
            return self.unjudged(text.err().as_deref());
        };
        let good = good.clone().into_text();
        let flaw = match text {
            Ok(text) => {
                let home = Home::of(self.inputs.layout());
                illegal(&good, text, self.watch.shown(&changed.path), home)
            }
            Err(ref why) => Some(why.clone()),
        };
        match flaw {
            None => {
                if author == Author::Agent
                    && let Ok(text) = text
                {
                    let claims = Claims::in_change(&good, text);
                    // Claims open no gate.
                    let left = claims.as_ref().map_or(text, |claims| &claims.held);
                    if let Some(why) = through_a_closed_gate(&good, left, self.inputs) {
                        return self.restored(&good, &why);
                    }
                    if let Some(claims) = claims {
                        return self.taken_back(&claims, &good);
                    }
                }
                self.watch.adopt(self.guard, changed)?;
                Ok(self.adopted(&good, author))
            }
            // A person who edits the file knows what they do, as long as what they leave behind
            // can be read.
            Some(_) if author == Author::Other && readable(changed) => {
                self.watch.adopt(self.guard, changed)?;
                Ok(self.adopted(&good, author))
            }
            Some(why) => self.restored(&good, &why),
        }
    }

    /// A change that cannot be judged, because the copy of the last good version is gone.
    fn unjudged(&self, unreadable: Option<&str>) -> std::io::Result<Reconciled> {
        let changed = self.changed;
        let why = match unreadable {
            None => {
                self.watch.adopt(self.guard, changed)?;
                "it was changed, and the copy of its last good version is gone or damaged, so \
                 it is unknown whether the change is legal; it is accepted as it is. `tollgate \
                 state` and `git diff` show what it says now"
                    .to_owned()
            }
            Some(why) => format!(
                "{why}, and the copy of its last good version is gone or damaged: restore it from \
                 version control, or start the workflow again"
            ),
        };
        Ok(Reconciled::fault(&changed.path, &why))
    }

    /// A removal that is not the agent's: the file is not put back, and not watched any more.
    fn removed(&self) -> Reconciled {
        let path = self.changed.path.display();
        let text = format!(
            "[{NAME}] NOTICE: {path} was removed, not by a command of the agent; it is not restored."
        );
        let reason = format!("{path} was removed, not by a command of the agent");
        Reconciled {
            finding: Some(Finding::new("SW-003", text, reason).by(NAME)),
            ..Reconciled::default()
        }
    }

    fn adopted(&self, good: &str, author: Author) -> Reconciled {
        let path = self.changed.path.display();
        let state = match &self.changed.now {
            Now::Text(text) => self.state_change(good, text),
            Now::Gone | Now::Unreadable(_) | Now::Same => self.state_change(good, ""),
        };
        if author == Author::Other {
            let text = format!(
                "[{NAME}] NOTICE: {path} was changed, not by a command of the agent; the change was adopted."
            );
            let reason = format!("{path} was changed, not by a command of the agent, and adopted");
            let finding = Finding::new("SW-003", text, reason).with_state(state);
            return Reconciled {
                finding: Some(finding.by(NAME)),
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

    fn restored(&self, good: &str, why: &str) -> std::io::Result<Reconciled> {
        let content = self.changed.good.as_ref();
        let aside = self.put_back(content.map_or(good.as_bytes(), |good| &good.bytes))?;
        let path = self.changed.path.display();
        let text = format!(
            "STATE RESTORED: {path} was changed in a way that the workflow does not allow, and the \
             last good version was put back.\n\n\
             What was wrong: {why}\n{aside}\n\
             To move the workflow use its commands: `tollgate phase begin`, `tollgate phase \
             complete`, `tollgate workflow status`. To change other fields, re-read the file and \
             write it as a whole with its state_version."
        );
        let first = why.split_once(". ").map_or(why, |(first, _)| first);
        let reason = format!("Illegal change of the state undone: {first}");
        let state = self.state_change(good, good);
        let finding = Finding::new("SW-001", text, reason);
        let finding = finding.next(Next::run_instead("tollgate workflow status"));
        Ok(Self::undone(finding, state))
    }

    /// Keeps the change but for its claims.
    fn taken_back(&self, claims: &Claims, good: &str) -> std::io::Result<Reconciled> {
        let aside = self.put_back(claims.held.as_bytes())?;
        let fields = claims.edits.iter().map(|edit| edit.path.join("."));
        let fields = fields.collect::<Vec<_>>().join(", ");
        let text = format!(
            "STATE RESTORED: {} was changed to claim what Tollgate did not see. That part was put \
             back; the rest of the change was kept.\n\n\
             Put back: {fields}\n{aside}\n\
             Evidence is only what was observed: run the tests (their result is recorded), present \
             the menu to the person, delegate to the agent. An escalation is approved, and \
             enforcement switched off, by a person between sessions.",
            self.changed.path.display(),
        );
        let reason = format!("Claims of evidence taken back: {fields}");
        let state = self.state_change(good, &claims.held);
        let next = Next::go_on("Tollgate records evidence when it sees it");
        let finding = Finding::new("SW-004", text, reason).next(next);
        Ok(Self::undone(finding, state))
    }

    fn undone(finding: Finding, state: StateChange) -> Reconciled {
        Reconciled {
            finding: Some(finding.by(NAME).with_state(state)),
            restored: true,
            ..Reconciled::default()
        }
    }

    /// Puts a content in the place of what was found, and says where that is now.
    fn put_back(&self, content: &[u8]) -> std::io::Result<String> {
        let name = format!(
            "{REJECTED}{}.json",
            iso(self.inputs.now()).replace([':', '.'], "-")
        );
        let kept = (self.watch).restore(self.guard, self.changed, content, &name)?;
        Ok(kept.map_or_else(String::new, |kept| {
            format!("The rejected version is kept at {}.\n", kept.display())
        }))
    }

    /// What a change did to the state: what stays of it, and what was undone. `left` is the text
    /// that is there now.
    fn state_change(&self, good: &str, left: &str) -> StateChange {
        let something = |patch: &serde_json::Value| *patch != serde_json::json!([]);
        let values = Blobs::values(&self.inputs.layout().workflow_local());
        let compared = |one: &str, other: &str| compared(one.as_bytes(), other.as_bytes(), &values);
        let undone = match &self.changed.now {
            Now::Text(text) if text == left => None,
            Now::Text(text) if Document::parse(text.as_bytes()).is_ok() => {
                Some(compared(left, text))
            }
            // Nothing that has fields: the finding says what it was, and it is kept aside.
            Now::Text(_) | Now::Gone | Now::Unreadable(_) | Now::Same => {
                Some(serde_json::json!([]))
            }
        };
        StateChange {
            version: version_in(left),
            patch: Some(compared(good, left)).filter(something),
            undone,
        }
    }
}

fn readable(changed: &Changed) -> bool {
    matches!(&changed.now, Now::Text(text) if Document::parse(text.as_bytes()).is_ok())
}

/// Why a change is no legal step, if it is none.
fn illegal(good: &str, text: &str, file: &Path, home: Home) -> Option<String> {
    // As strictly as the store reads it: the lazy view does not look inside of values that nobody
    // asks for, and what the store cannot read, no command can change.
    if let Err(flaw) = Document::parse(text.as_bytes()) {
        return Some(format!("the new content is not a JSON object ({flaw})"));
    }
    let incoming = Object::parse(text).unwrap_or_default();
    // What was there before the watch began may have been broken too; then nothing is lost.
    let disk = Object::parse(good).ok()?;
    // A workflow of another type than the guards can read would switch them off.
    for key in ["active_workflow", "phases"] {
        let kind = |state: &Object<'_>| state.get(key).map_or(Kind::Null, Node::kind);
        if kind(&incoming) != kind(&disk) && !matches!(kind(&incoming), Kind::Null | Kind::Object) {
            return Some(format!("{key} is {}, not an object", kind(&incoming)));
        }
    }
    if let Some(finding) = regression::find(&disk, &incoming, file, home) {
        return Some(finding.text);
    }
    phase_jump::left(&disk, &incoming)
}

/// Why a change may not end the phases that it ends.
fn through_a_closed_gate(good: &str, text: &str, inputs: &Inputs) -> Option<String> {
    let (before, now) = (State::parse(good).ok()?, State::parse(text).ok()?);
    let ended = manual_completion::ended(&before, &now);
    let closed = |phase: &String| manual_completion::closed(inputs, &now, phase);
    ended.iter().find_map(closed)
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
        let edits = unseen_evidence::put_back(&good, &held);
        if edits.is_empty() {
            return None;
        }
        edit::apply(&edits, &mut held).ok()?;
        let held = held.to_text();
        Some(Self { edits, held })
    }
}

#[cfg(test)]
mod tests {
    use super::{Home, illegal};

    #[test]
    fn a_step_forward_is_legal_and_nothing_else() {
        let at = |version: u64, index: u64| {
            format!(
                r#"{{"state_version":{version},"active_workflow":{{"current_phase_index":{index}}}}}"#
            )
        };
        let flaw = |good: &str, text: &str| {
            let file = std::path::Path::new(".isdlc/state.json");
            illegal(good, text, file, Home::Original)
        };
        assert_eq!(flaw(&at(1, 5), &at(1, 5)), None);
        assert_eq!(flaw(&at(1, 5), &at(2, 6)), None);
        for bad in [
            at(1, 4),
            at(0, 5),
            at(1, 7),
            "{}".to_owned(),
            String::new(),
            "[]".to_owned(),
        ] {
            assert!(flaw(&at(1, 5), &bad).is_some(), "{bad}");
        }
    }
}
