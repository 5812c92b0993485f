//! Rules outside of core: what deciding them needs besides the event, and the commands about them.
//!
//! The matcher and the decision are in `tollgate_core::rules`, reading and compiling in
//! [`crate::config::rules`].

pub(crate) mod foreign;
pub(crate) mod native;
pub(crate) mod packs;
pub(crate) mod session;

use std::cell::{OnceCell, RefCell};

use jiff::Timestamp;
use tollgate_core::context::{EventContext, Inputs};
use tollgate_core::decision::{Decision, Fault, Finding};
use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_core::protocol::EventKind;
use tollgate_core::rules::{self, Asked, Facts, Judged, Rules, STOP, Verdict};

use crate::config::Merged;
use crate::config::rules::changed;
use crate::gate::accepted;
use crate::overrides::Overrides;
use crate::project_commands;
use crate::trust::Registration;
use session::SessionEffects;

/// The code of the warning about rules that were weakened.
const CHANGED: &str = "RULES-CHANGED";

/// What the rules say to an event; nothing costs anything where there are none.
pub(crate) fn judge(
    context: &EventContext<'_>,
    inputs: &Inputs,
    registration: Registration,
    env: &Env,
    now: Timestamp,
) -> Judged {
    let kind = context.event.kind;
    if !matches!(
        kind,
        EventKind::PreTool | EventKind::Stop | EventKind::SessionStart
    ) {
        return Judged::default();
    }
    let Some(compiled) = inputs.rules() else {
        return Judged::default();
    };
    let mut faults: Vec<_> = compiled.fault.iter().cloned().collect();
    let layout = inputs.layout();
    let changed = if kind != EventKind::PreTool || compiled.is_new {
        changed_rules(layout, env, compiled.text.is_some())
    } else {
        None
    };
    let overrides = Overrides { layout, env, now };
    let lifted = RefCell::new(Vec::new());
    let trusted = OnceCell::new();
    let trusts = || project_commands::are_trusted(registration, layout, env);
    let session = OnceCell::new();
    let read = || SessionEffects::read(layout, context.event.session.as_deref());
    let mut asked = Asked {
        trusts_texts: &|| *trusted.get_or_init(trusts),
        was_noted: &|note| session.get_or_init(read).has(note),
        lift: &mut |block| overrides.lift(context.event, block, &mut lifted.borrow_mut()),
    };
    let Some(all) = compiled.text.as_deref().and_then(Rules::of) else {
        return Judged {
            decision: Decision {
                faults,
                warnings: changed.into_iter().collect(),
                ..Decision::default()
            },
            noted: Vec::new(),
        };
    };
    let mut judged = if kind == EventKind::Stop {
        at_stop(context, all, &mut asked)
    } else {
        rules::judge(context, all, &mut asked)
    };
    judged.decision.warnings.extend(changed);
    faults.extend(lifted.take());
    judged.decision.faults.extend(faults);
    judged
}

/// That rules were weakened since a person accepted them, if they were. However it was done, it is named
/// until a person accepts it.
fn changed_rules(layout: &Layout, env: &Env, has_rules: bool) -> Option<Finding> {
    if !has_rules && !accepted::had_rules(layout, env) {
        return None;
    }
    let merged = Merged::in_force(layout, env);
    let weakened = accepted::meet_rules(layout, env, &merged.rules).ok()?;
    if weakened.is_empty() {
        return None;
    }
    let words = accepted::words_of_rules(&weakened);
    Some(Finding::new(CHANGED, words.clone(), words).by(rules::NAME))
}

/// Rules about what must change together.
fn at_stop(context: &EventContext<'_>, all: Rules<'_>, asked: &mut Asked<'_>) -> Judged {
    if !all.has(&STOP.to_string()) {
        return Judged::default();
    }
    let Some(files) = context.git.changed_files(None) else {
        return Judged::default();
    };
    let root = context.layout().root();
    let effects: Vec<_> = files.iter().map(|file| changed(root, file)).collect();
    let decision = rules::at(context, all.folds, |places| {
        rules::decide_stop(all, &effects, places, &Facts::of(context), asked)
    });
    Judged {
        decision,
        noted: Vec::new(),
    }
}

/// Notes what an event that is not blocked means for the rest of its session.
pub(crate) fn remember(inputs: &Inputs, session: Option<&str>, judged: &Judged) -> Option<Fault> {
    let layout = inputs.layout();
    let ask = judged.decision.ask.as_ref();
    if ask.is_some_and(|ask| ask.guard == rules::NAME) {
        session::note_asked(layout);
    }
    let session = session.filter(|_| !judged.noted.is_empty())?;
    let added = SessionEffects::read(layout, Some(session)).add(&judged.noted);
    let text = format!(
        "rules with `after` do not know what this call did: {}",
        added.err()?
    );
    Some(Fault::new("rules-unnoted", text))
}

/// The word of a verdict, for people.
pub(crate) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Deny => "deny",
        Verdict::Ask => "ask",
        Verdict::Warn => "warn",
        Verdict::Watch => "watch",
    }
}

/// An id for a rule about this.
pub(crate) fn id_of(what: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    let name: String = what.chars().map(plain).collect();
    let parts: Vec<_> = name.split('-').filter(|part| !part.is_empty()).collect();
    let name: String = parts.join("-").chars().take(48).collect();
    if name.is_empty() {
        "rule".to_owned()
    } else {
        name
    }
}
