//! What would change, as a unified diff, and the question whether it may.

use similar::TextDiff;

use super::{Consent, DIM, Trouble, WARN};
use crate::agents::Places;
use crate::agents::change::Change;
use crate::cli::question::{Default, agrees, can_ask};
use crate::plain::{Plain, PlainLines};

/// What a person is asked, and what an empty line means: what the command is for, unless that gives
/// protection up or reaches beyond this repository.
pub(super) struct Question(&'static str, Default);

pub(super) const REGISTER: Question = Question("Change these settings?", Default::Yes);
pub(super) const UNREGISTER: Question =
    Question("Remove Tollgate from these settings?", Default::No);
pub(super) const GUARD_GIT: Question = Question("Install these git hooks?", Default::Yes);
pub(super) const GUARD_GIT_ALWAYS: Question =
    Question("Install these git hooks, active at all times?", Default::No);
pub(super) const UNGUARD_GIT: Question = Question("Remove the git hooks?", Default::No);
pub(super) const PURGE: Question = Question("Remove all of this?", Default::No);

/// Shows the changes and asks. `--dry-run` counts as a yes; nothing is written.
pub(super) fn agree(
    changes: &[Change],
    places: &Places,
    consent: Consent,
    question: &Question,
) -> Result<bool, Trouble> {
    let real: Vec<&Change> = changes
        .iter()
        .filter(|change| !change.is_nothing())
        .collect();
    for change in changes {
        for note in &change.notes {
            let shown = places.shown(&change.file);
            err!("{WARN}note{WARN:#}: {shown}: {}", Plain(note));
        }
    }
    if consent.dry_run {
        for change in &real {
            anstream::print!("{}", diff(change, places));
        }
        if real.is_empty() {
            err!("{DIM}no settings would change{DIM:#}");
        }
        return Ok(true);
    }
    if real.is_empty() || consent.yes {
        return Ok(true);
    }
    for change in &real {
        anstream::eprint!("{}", diff(change, places));
    }
    ask(consent, question)
}

/// The question itself; without a terminal it is an error.
pub(super) fn ask(consent: Consent, &Question(text, default): &Question) -> Result<bool, Trouble> {
    if consent.yes || consent.dry_run {
        return Ok(true);
    }
    if !can_ask() {
        return Err(
            Trouble::new("nothing was changed: there is no terminal to ask at")
                .hint("`--yes` skips the question, `--dry-run` only shows what would change"),
        );
    }
    let yes = agrees(text, default);
    if !yes {
        err!("nothing was changed");
    }
    Ok(yes)
}

fn diff(change: &Change, places: &Places) -> String {
    let text = |bytes: &Option<Vec<u8>>| {
        String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned()
    };
    let (old, new) = (text(&change.before), text(&change.after));
    let name = |bytes: &Option<Vec<u8>>| match bytes {
        Some(_) => places.shown(&change.file),
        None => "/dev/null".to_owned(),
    };
    let diff = TextDiff::from_lines(&old, &new);
    let mut unified = diff.unified_diff();
    unified.header(&name(&change.before), &name(&change.after));
    // Settings of a project are anybody's; a line's end may be of two characters.
    let shown = unified.to_string().replace("\r\n", "\n");
    let mut shown = PlainLines(&shown).to_string();
    if change.target != change.file {
        let target = change.target.display();
        shown = format!("{} leads to {target}\n{shown}", places.shown(&change.file));
    }
    if old.is_empty() && new.is_empty() {
        shown = format!("--- {}\n+++ /dev/null\n", places.shown(&change.file));
    }
    shown
}
