//! Phases that a change of the state ends without the command that ends them.
//!
//! Writing `completed` into the state is a step that the originals' own prompts make, so it is
//! adopted like any legal one. But it goes through the same gate as `tollgate phase complete`.

use std::collections::BTreeMap;

use crate::context::Inputs;
use crate::project::ConfigFile;
use crate::workflow::definitions::{Definitions, GateMode, Home, Need};
use crate::workflow::evidence::{self, Evidence, PhaseRequirements};
use crate::workflow::manifest::Manifest;
use crate::workflow::phases;
use crate::workflow::requirements::Requirements;
use crate::workflow::state::State;
use tollgate_store::json::{Node, Object};

/// The phases that are over in `now` and were not in `before`: their status says so, or the
/// index went past them. In a workflow that has ended there are none.
pub(super) fn ended(before: &State<'_>, now: &State<'_>) -> Vec<String> {
    let (Some(was), Some(is)) = (before.workflow(), now.workflow()) else {
        return Vec::new();
    };
    let (from, to) = (was.phase_index(), is.phase_index());
    let (before, now) = (Filed::of(before), Filed::of(now));
    let listed = is.phases().into_iter().enumerate();
    let newly = listed.filter(|(at, key)| {
        let passed_by = from.is_some_and(|from| from <= *at) && to.is_some_and(|to| *at < to);
        !before.is_over(key) && (passed_by || now.is_over(key))
    });
    newly.map(|(_, key)| key).collect()
}

/// Why a phase could not end in this state: its gate is closed, as far as the project asks for
/// anything and the workflow is strict about it.
pub(super) fn closed(inputs: &Inputs, state: &State<'_>, phase: &str) -> Option<String> {
    let object = |file| inputs.config(file).0.map(|(_, object)| object);
    let workflow = state.workflow()?;
    let kind = workflow.str("type");
    let home = Home::of(inputs.layout());
    let definitions = match inputs.config(ConfigFile::Workflows) {
        (Some((text, _)), _) => Definitions::with(text, home).ok()?,
        (None, flaws) if flaws.is_empty() => Definitions::built_in(home),
        (None, _) => return None,
    };
    let definition = kind.as_deref().and_then(|kind| definitions.get(kind));
    if !GateMode::is_strict(workflow.str("gate_mode").as_deref(), definition) {
        return None;
    }
    // Whether gates are verified, an event cannot find out: that takes git.
    if definition.is_some_and(|definition| definition.needs(phase).contains(&Need::Gates)) {
        return Some(format!(
            "phase '{phase}' was marked as completed, but it needs verified gates. \
             `tollgate phase complete --summary \"…\"` completes it with them"
        ));
    }
    let asked = Requirements::of(&object(ConfigFile::Requirements)?, kind.as_deref(), phase)?;
    let manifest = match inputs.manifest().ok()? {
        Some(text) => Manifest::parse(text).unwrap_or_default(),
        None if inputs.layout().is_isdlc() => Manifest::default(),
        None => Manifest::built_in(),
    };
    let paths = object(ConfigFile::ArtifactPaths);
    let evidence = Evidence {
        state,
        manifest: &manifest,
        exists: &|path| inputs.has_artifact(path),
        since: &|tree| inputs.changed_since(tree).ok(),
    };
    let unmet = PhaseRequirements::new(asked, paths.as_ref(), phase).unmet(phase, &evidence);
    if unmet.is_empty() {
        return None;
    }
    if !inputs.layout().is_isdlc() {
        let why = evidence::closed_plainly(phase, &unmet);
        return Some(format!("phase '{phase}' was marked as completed. {why}"));
    }
    let lines: Vec<String> = unmet.iter().map(ToString::to_string).collect();
    Some(format!(
        "phase '{phase}' was marked as completed, but its gate is closed ({}). Meet what it asks \
         for first:\n{}",
        evidence::names(&unmet),
        lines.join("\n")
    ))
}

/// What the two places say about phases, by their keys: a state with many of them is cut once.
struct Filed<'a> {
    long: BTreeMap<String, Node<'a>>,
    short: BTreeMap<String, Node<'a>>,
}

impl<'a> Filed<'a> {
    fn of(state: &State<'a>) -> Self {
        let by_key = |object: Option<Object<'a>>| {
            let object = object.unwrap_or_default();
            let members = object.members();
            members.map(|(key, node)| (key.to_owned(), node)).collect()
        };
        let workflow = state.workflow();
        Self {
            long: by_key(state.root().object("phases")),
            short: by_key(workflow.and_then(|workflow| workflow.get("phase_status")?.object())),
        }
    }

    /// Whether either of the two places says that a phase is completed.
    fn is_over(&self, key: &str) -> bool {
        let long = phases::spellings(key).find_map(|key| self.long.get(key)?.object());
        let mut short = phases::spellings(key).filter_map(|key| self.short.get(key));
        long.is_some_and(|entry| entry.is("status", "completed"))
            || short.any(|status| status.str().is_some_and(|status| status == "completed"))
    }
}
