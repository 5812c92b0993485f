//! 3e: the current phase ends. The next one is not mentioned; beginning it is a separate step.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Change, Edits, Refusal, Rules, begin, cut, minutes, moment};
use crate::workflow::definitions::{Definition, GateMode, Home, Intensity, Need};
use crate::workflow::evidence::{self, Evidence, Since};
use crate::workflow::phases;
use crate::workflow::position::{Doing, PhasePlace, WorkflowPosition};
use crate::workflow::state::State;
use tollgate_store::document::Document;

/// How long a summary may be, and a reason in one.
pub(in crate::workflow) const SUMMARY: usize = 150;

/// The member of a phase that says whether its gates were verified when it was completed.
pub const GATES: &str = "gates";

/// How a phase ends.
#[derive(Clone)]
pub struct Completion<'a> {
    /// The phase, if it was named.
    pub phase: Option<&'a str>,
    /// What was done.
    pub summary: &'a str,
    /// What the agent reported about its way of working.
    pub report: Report,
    /// How much work the rest is, decided after the impact analysis.
    pub size: Option<Intensity>,
    /// Whether an artifact is there.
    pub exists: &'a dyn Fn(&str) -> bool,
    /// What is known about the gates; asked only if the phase needs them.
    pub gates: &'a dyn Fn() -> Gates,
    /// What changed since the tests passed.
    pub since: Since<'a>,
}

/// What is known about the project's gates when a phase ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gates {
    /// All are verified on the tree as it is.
    Verified,
    /// Why they are not.
    NotVerified(String),
    /// The project has none: a phase that needs them is completed, and not verified.
    NoneConfigured,
}

/// The figures of a `PHASE_TIMING_REPORT`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Rounds of debate.
    pub debate_rounds: u64,
    /// Parallel parts.
    pub fan_out_chunks: u64,
}

impl std::fmt::Debug for Completion<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Completion")
            .field("phase", &self.phase)
            .field("summary", &self.summary)
            .finish_non_exhaustive()
    }
}

pub(super) fn apply(
    completion: &Completion<'_>,
    document: &Document,
    rules: &Rules<'_>,
    now: Timestamp,
) -> Result<Change, Refusal> {
    let position = WorkflowPosition::of(document)?;
    let (place, redone) = match position.doing()? {
        Doing::Running(place) => (place, false),
        Doing::Redoing(place) => (place, true),
        Doing::Waiting(place) | Doing::Between { next: place, .. } => {
            let key = place.key;
            let what = format!("phase '{key}' has not begun, so it cannot be completed");
            return Err(Refusal::misplaced(what, "`tollgate phase begin` begins it"));
        }
        Doing::Finished(_) => return Err(Refusal::finished()),
    };
    begin::named(completion.phase, &position, place)?;
    let summary = cut(completion.summary, SUMMARY);
    if summary.is_empty() {
        return Err(Refusal::misplaced(
            "the summary is empty",
            "describe the result in one sentence: `--summary \"…\"`",
        ));
    }
    let definition = rules.definitions.get(position.workflow);
    let Findings {
        gates,
        passed,
        mut notes,
    } = examine(completion, document, &position, place, rules)?;

    let mut edits = Edits::default();
    let field = |name| position.entry(place.key, name);
    edits.set(&field("status"), "completed");
    edits.set(&field("summary"), summary.as_str());
    edits.set(&field("completed"), moment(now));
    // A permissive workflow goes on without having passed.
    let when = if passed { moment(now) } else { Value::Null };
    edits.set(&field("gate_passed"), when);
    if let Some(gates) = &gates {
        edits.set(&field(GATES), gates.to_json());
    }
    let validation = ["gate_validation", "status"];
    if passed && position.field(place.key, &validation).is_some() {
        let path = [&["phases", position.filed(place.key)], &validation[..]].concat();
        edits.set(&path, "passed");
    }
    timing(&mut edits, &position, place, completion.report, now);
    // A redone phase was counted when it was completed for the first time.
    let counted = position.index().filter(|_| redone);
    let index = counted.unwrap_or(place.at + usize::from(!redone));
    edits.set(&position.status_path(place.key), "completed");
    edits.set(&["active_workflow", "current_phase_index"], index);
    notes.extend(budget(&mut edits, document, place, definition, now));
    review(&mut edits, document, place);
    let verified = match gates {
        None => "",
        Some(Gates::Verified) => " and verified",
        Some(Gates::NotVerified(_) | Gates::NoneConfigured) => ", not verified",
    };
    let mut what = format!("phase {} is completed{verified}: {summary}", place.key);
    if let Some(size) = completion.size {
        let sized = (place, size, definition);
        let removed = sizing(&mut edits, &position, document, sized, now)?;
        if !removed.is_empty() {
            let (size, removed) = (size.as_str(), removed.join(", "));
            what = format!("{what} (sized {size}: without {removed})");
        }
    }
    Ok(Change {
        agent: rules.agent(place.key),
        notes,
        ..Change::new("phase complete", Some(place.key), what, edits)
    })
}

/// What was found out about a phase that may be completed.
struct Findings {
    /// The gates, if the phase needs them.
    gates: Option<Gates>,
    /// Whether all that was asked for was seen. In a home of the original nothing may be asked for.
    passed: bool,
    /// What the person should know.
    notes: Vec<String>,
}

/// Compares the phase with its exit criteria and needs. What is not met refuses the step, or is noted
/// where the workflow is permissive. A project without gates is not locked out.
fn examine(
    completion: &Completion<'_>,
    document: &Document,
    position: &WorkflowPosition<'_>,
    place: PhasePlace<'_>,
    rules: &Rules<'_>,
) -> Result<Findings, Refusal> {
    let requirements = rules.requirements.of(position.workflow, place.key);
    let text = document.to_text();
    let state = State::parse(&text).map_err(|flaw| Refusal::contradiction(&flaw.to_string()))?;
    let evidence = Evidence {
        state: &state,
        manifest: rules.manifest,
        exists: completion.exists,
        since: completion.since,
    };
    let unmet = requirements.unmet(place.key, &evidence);
    let definition = rules.definitions.get(position.workflow);
    let needs = definition.map(|definition| definition.needs(place.key));
    let needs = needs.unwrap_or_default();
    let gates = needs.contains(&Need::Gates).then(completion.gates);
    let folder = document.str(&["active_workflow", "artifact_folder"]);
    let files = needs.iter().flat_map(|need| match need {
        Need::Gates => Vec::new(),
        Need::Artifacts => requirements.missing(&evidence),
        Need::File(path) => {
            let path = evidence::in_folder(path, folder).unwrap_or_else(|| (*path).to_owned());
            let is_there = (completion.exists)(&path);
            (!is_there).then_some(path).into_iter().collect()
        }
    });
    let red = gates.as_ref().and_then(Gates::lacking);
    let missing = files.map(|path| format!("- {path} does not exist"));
    let missing: Vec<String> = red.into_iter().chain(missing).collect();
    let mode = document.str(&["active_workflow", "gate_mode"]);
    let is_open = !unmet.is_empty() || !missing.is_empty();
    if is_open && GateMode::is_strict(mode, definition) {
        let closed = match rules.definitions.home() {
            Home::Original => evidence::closed,
            Home::Own => evidence::closed_plainly,
        };
        let what = match (unmet.as_slice(), missing.join("\n")) {
            ([], missing) => format!("phase '{}' is not done:\n{missing}", place.key),
            (unmet, missing) if missing.is_empty() => closed(place.key, unmet),
            (unmet, missing) => format!("{}\n{missing}", closed(place.key, unmet)),
        };
        return Err(Refusal::closed(
            what,
            "meet them and complete the phase again; a person may skip it with `tollgate phase skip --reason …`",
        ));
    }
    let lines = unmet.iter().map(ToString::to_string).chain(missing);
    let note = |line| format!("not met, but the workflow is permissive: {line}");
    let mut notes: Vec<String> = lines.map(note).collect();
    let seen = match (&gates, rules.definitions.home()) {
        (Some(gates), _) => *gates == Gates::Verified,
        (None, Home::Original) => true,
        (None, Home::Own) => requirements.asks() && state.enforces_iterations(),
    };
    if gates == Some(Gates::NoneConfigured) {
        notes.push(format!(
            "not verified: {NO_GATES}; `tollgate init` proposes some"
        ));
    }
    Ok(Findings {
        gates,
        passed: !is_open && seen,
        notes,
    })
}

/// What is said of a project without gates.
const NO_GATES: &str = "no gates are configured";

impl Gates {
    /// What a strict phase lacks of them, and what to do about it.
    fn lacking(&self) -> Option<String> {
        match self {
            Self::Verified | Self::NoneConfigured => None,
            Self::NotVerified(why) => Some(format!(
                "- gates are not verified: {why}; `tollgate run` runs them"
            )),
        }
    }

    /// As it is kept with the phase.
    fn to_json(&self) -> Value {
        match self {
            Self::Verified => json!({ "verified": true }),
            Self::NotVerified(why) => json!({ "verified": false, "why": cut(why, SUMMARY) }),
            Self::NoneConfigured => json!({ "verified": false, "why": NO_GATES }),
        }
    }
}

fn timing(
    edits: &mut Edits,
    position: &WorkflowPosition<'_>,
    place: PhasePlace<'_>,
    report: Report,
    now: Timestamp,
) {
    let filed = position.filed(place.key);
    let started = position.started(place.key);
    let spent = minutes(started, now).unwrap_or(0);
    if !begin::is_timed(position, place) {
        let started = started.cloned().unwrap_or_else(|| moment(now));
        let timing = json!({ "started_at": started, "retries": 0 });
        edits.set(&["phases", filed, "timing"], timing);
    }
    let mut set = |key: &str, value: Value| edits.set(&["phases", filed, "timing", key], value);
    set("completed_at", moment(now));
    set("wall_clock_minutes", spent.into());
    set("debate_rounds_used", report.debate_rounds.into());
    set("fan_out_chunks", report.fan_out_chunks.into());
}

/// How the workflow is doing against its budget, and a note when it is close to it or over it.
fn budget(
    edits: &mut Edits,
    document: &Document,
    place: PhasePlace<'_>,
    definition: Option<&Definition>,
    now: Timestamp,
) -> Option<String> {
    let definition = definition?;
    let spent = minutes(document.get(&["active_workflow", "started_at"]), now)?;
    let total = definition.budget(intensity(document)).total;
    let (status, warning) = if spent > total {
        ("exceeded", Some("BUDGET_WARNING"))
    } else if spent.saturating_mul(10) > total.saturating_mul(8) {
        ("approaching", Some("BUDGET_APPROACHING"))
    } else {
        ("on_track", None)
    };
    edits.set(&["active_workflow", "budget_status"], status);
    let exceeded_at = ["active_workflow", "budget_exceeded_at_phase"];
    if status == "exceeded" && document.get(&exceeded_at).is_none_or(Value::is_null) {
        edits.set(&exceeded_at, place.key);
    }
    warning.map(|warning| format!("{warning}: {spent} of {total} minutes are spent"))
}

/// The intensity that the workflow was sized or started with.
pub(super) fn intensity(document: &Document) -> Intensity {
    let sized = document.str(&["active_workflow", "sizing", "effective_intensity"]);
    let light = document.bool(&["active_workflow", "flags", "light"]) == Some(true);
    sized.and_then(Intensity::from_name).unwrap_or(if light {
        Intensity::Light
    } else {
        Intensity::Standard
    })
}

/// In supervised mode a selected phase waits for a person.
fn review(edits: &mut Edits, document: &Document, place: PhasePlace<'_>) {
    if document.bool(&["supervised_mode", "enabled"]) != Some(true) {
        return;
    }
    let number = phases::gate_number(place.key);
    let selected = match document.get(&["supervised_mode", "review_phases"]) {
        Some(Value::Array(list)) => {
            let mut listed = list.iter().filter_map(Value::as_str);
            listed.any(|one| one == number || one == place.key)
        }
        Some(_) | None => true,
    };
    if !selected {
        return;
    }
    let open = document.str(&["active_workflow", "supervised_review", "phase"]);
    if open == Some(place.key) {
        let status = ["active_workflow", "supervised_review", "status"];
        edits.set(&status, "gate_presented");
    } else {
        let review = json!({ "phase": place.key, "status": "gate_presented", "paused_at": null, "resumed_at": null, "redo_count": 0, "redo_guidance_history": [] });
        edits.set(&["active_workflow", "supervised_review"], review);
    }
}

/// What the work turned out to be: light work leaves phases out. Once per workflow.
fn sizing<'a>(
    edits: &mut Edits,
    position: &WorkflowPosition<'a>,
    document: &Document,
    (place, size, definition): (PhasePlace<'_>, Intensity, Option<&Definition>),
    now: Timestamp,
) -> Result<Vec<&'a str>, Refusal> {
    let decided = ["active_workflow", "sizing", "decided_at"];
    if document.str(&decided).is_some() {
        return Err(Refusal::misplaced(
            "the workflow is sized already",
            "run it without --size",
        ));
    }
    let definition = definition.filter(|_| size == Intensity::Light);
    let skips = definition.map(|definition| definition.light_skips.as_slice());
    let is_left_out = |key: &&str| {
        let mut skips = skips.unwrap_or_default().iter();
        skips.any(|skip| phases::equal(skip, key))
            && matches!(position.status(key), None | Some("pending"))
    };
    let later = position.phases.iter().copied().skip(place.at + 1);
    let removed: Vec<&str> = later.filter(is_left_out).collect();
    remove(edits, position, &removed);
    let sizing = document.object(&["active_workflow", "sizing"]);
    let mut sizing = sizing.cloned().unwrap_or_default();
    sizing.insert("effective_intensity".to_owned(), size.as_str().into());
    sizing.insert("decided_at".to_owned(), moment(now));
    sizing.insert("removed_phases".to_owned(), removed.clone().into());
    edits.set(&["active_workflow", "sizing"], sizing);
    Ok(removed)
}

/// Takes phases that have not begun out of the three places that list them.
pub(super) fn remove<'a>(edits: &mut Edits, position: &WorkflowPosition<'a>, removed: &[&'a str]) {
    if removed.is_empty() {
        return;
    }
    let mut kept = position.phases.clone();
    kept.retain(|key| !removed.contains(key));
    edits.set(&["active_workflow", "phases"], kept);
    for key in removed {
        edits.remove(&position.status_path(key));
        edits.remove(&["phases", position.filed(key)]);
    }
}
