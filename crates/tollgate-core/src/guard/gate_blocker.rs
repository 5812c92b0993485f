//! gate-blocker: a phase is left only when its exit criteria are met.
//!
//! What is missing is not satisfied: the original took a phase without an entry for a fault of
//! the infrastructure and opened the gate, so deleting the entry was the way through.

use serde_json::json;

use super::fields::{PHASE, VALIDATION_RECORD};
use super::sample::{ADVANCE, REQUIREMENTS};
use super::{
    Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample, advance, in_order,
    self_heal, validation,
};
use crate::guard::escalation::Escalation;
use crate::next::{Next, Step};
use crate::project::ConfigFile;
use crate::text::shell_word;
use crate::workflow::evidence::{self, Evidence, PhaseRequirements, Unmet};
use crate::workflow::requirements::Requirements;
use crate::workflow::state::{State, Workflow};
use crate::workflow::{definitions, phases};
use tollgate_store::edit::Edit;
use tollgate_store::json::{Node, Object};
use tollgate_store::timestamp;

pub(super) const GUARD: Guard = Guard {
    name: NAME,
    about: "blocks passing a gate before the exit criteria of the phase are met",
    is_general: false,
    on: &[
        (EventKind::PreTool, Class::Delegate),
        (EventKind::PreTool, Class::Skill),
    ],
    codes: &[
        Code::blocks(
            "GB-001",
            "the exit criteria of the phase are not met",
            "do what the message lists, then advance again",
        ),
        Code::blocks(
            "GB-002",
            "the workflow's index and its phase contradict each other",
            "`tollgate workflow audit --repair` corrects the fields",
        )
        .passes_with(&["active_workflow.current_phase_index = {index}"]),
        Code::blocks(
            "GB-003",
            "the supervised review of the phase is not finished, or it was rejected",
            "wait for the review, or redo the phase as it asks",
        )
        .passes_with(&["active_workflow.supervised_review.status = \"approved\""]),
        Code::blocks(
            "GB-004",
            "the workflow is finished but was not ended",
            "`tollgate workflow finalize`, then start the next workflow",
        )
        .passes_with(&["active_workflow = null"]),
        self_heal::code("GB-100"),
    ],
    reads: &[
        PHASE,
        "active_workflow.current_phase_index",
        "active_workflow.phases",
        "active_workflow.status",
        "active_workflow.supervised_review",
        "phases.{}.iteration_requirements",
        VALIDATION_RECORD,
        "iteration_enforcement",
    ],
    sample: Some(Sample {
        state: r#"{"active_workflow":{"current_phase":"06-implementation"}}"#,
        files: &[REQUIREMENTS],
        event: ADVANCE,
        ..Sample::BLOCKED
    }),
    check,
};

const NAME: &str = "gate-blocker";

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let state = context.state()?;
    if !state.enforces_iterations() || !advance::is_attempt(context) {
        return None;
    }
    let phase = context.gate_phase()?;
    context.config(ConfigFile::Requirements)?;
    let early = context.workflow().and_then(|workflow| {
        out_of_step(context, workflow, &phase)
            .or_else(|| under_review(context, workflow, &phase))
            .or_else(|| over(context, workflow, &phase))
    });
    if let Some(finding) = early {
        return Some(Decision::block(finding.phase(&phase)));
    }
    let Some(requirements) = context.requirements() else {
        let what =
            format!("No requirements defined for phase '{phase}'. Allowing gate advancement.");
        return Some(self_heal::no_requirements(
            context, NAME, "GB-100", &phase, &what,
        ));
    };
    let decision = self_heal::renamed(NAME, "GB-100", &phase);
    // The list of artifacts is read only where it matters.
    let paths = requirements
        .enabled("artifact_validation")
        .and_then(|_| context.config(ConfigFile::ArtifactPaths));
    let evidence = Evidence {
        state,
        manifest: context.manifest(),
        exists: &|path| context.has_artifact(path),
        since: &|tree| context.git.changed_since(tree),
    };
    let asked = PhaseRequirements::new(requirements.clone(), paths, &phase);
    let unmet = asked.unmet(&phase, &evidence);
    if unmet.is_empty() {
        return Some(decision.editing(trigger(context, state, requirements, &phase)));
    }
    let own = evidence::closed_plainly(&phase, &unmet);
    let text = context.words(evidence::closed(&phase, &unmet), own);
    let names: Vec<&str> = unmet.iter().map(|one| one.requirement).collect();
    let detail = |one: &Unmet| json!({ "requirement": one.requirement, "reason": one.what });
    let details: Vec<_> = unmet.iter().map(detail).collect();
    let validation = json!({
        "status": "blocked",
        "blocked_at": timestamp::iso(context.now()),
        "blocking_requirements": names,
        "details": details,
    });
    let escalation = Escalation {
        kind: "gate_blocked",
        hook: NAME,
        phase: &phase,
        detail: &text,
    };
    let path = ["phases", state.phase_key(&phase), "gate_validation"];
    let edits = is_writable(state, &phase).then(|| Edit::set(&path, validation));
    let names = evidence::names(&unmet);
    let reason = format!("Iteration requirements not satisfied: {names}");
    let decision = decision.editing(edits.into_iter().chain(escalation.raise(context)));
    let missing = asked.missing_documents(&evidence);
    let ways = unmet
        .iter()
        .map(|one| way(context, one, &phase, &asked, &missing));
    let next = ways
        .reduce(Next::and)
        .unwrap_or_else(|| Next::allow("GB-001"));
    let finding = Finding::new("GB-001", text, reason).phase(&phase);
    Some(decision.blocking(finding.next(next)))
}

/// The way to meet one requirement.
fn way(
    context: &EventContext<'_>,
    unmet: &Unmet,
    phase: &str,
    asked: &PhaseRequirements<'_>,
    missing: &[Vec<String>],
) -> Next {
    let state = context.state();
    let entry = state
        .and_then(|state| state.phase(phase))
        .unwrap_or_default();
    let agent = || in_order::agent_of(context, phase);
    let allow = || Next::allow("GB-001");
    match unmet.requirement {
        evidence::TESTS => {
            let tests = evidence::test_iteration(&entry).unwrap_or_default();
            if evidence::is_escalated(&tests) {
                return allow();
            }
            Next::retry([Step::Tests(evidence::test_command(&entry))])
        }
        evidence::CONSTITUTION => validation::next(context, "GB-001", phase, &asked.articles()),
        evidence::ELICITATION => match agent() {
            Some(agent) => Next::retry([Step::Menu(agent)]),
            None => allow(),
        },
        evidence::DELEGATION => match agent() {
            Some(agent) => Next::retry([Step::Delegate(agent)]),
            None => allow(),
        },
        _ => {
            let first = missing.iter().filter_map(|names| names.first());
            Next::retry(first.map(|path| Step::Write {
                what: "the artifact of the phase",
                path: context.artifact(path),
            }))
        }
    }
}

/// Whether there is room for the phase's data. One field of a wrong kind must not void the
/// whole change.
fn is_writable(state: &State<'_>, phase: &str) -> bool {
    let room =
        |node: Option<Node<'_>>| node.is_none_or(|node| node.is_null() || node.object().is_some());
    let filed = state.get("phases");
    room(filed) && room(filed.and_then(|filed| filed.get(state.phase_key(phase))))
}

/// The index points at another phase than the current one.
fn out_of_step(
    context: &EventContext<'_>,
    workflow: &Workflow<'_>,
    phase: &str,
) -> Option<Finding> {
    let index = workflow.phase_index()?;
    let mut listed = workflow.phases();
    let kind = workflow.str("type")?;
    if listed.is_empty() {
        listed = defined_phases(context, &kind);
    }
    let expected = phases::out_of_step(&listed, index, phase)?;
    // For an undefined type it is not known what its index counts.
    if !definitions::is_built_in(&kind) && definition(context, &kind).is_none() {
        return None;
    }
    let text = format!(
        "GATE BLOCKED: Workflow state mismatch. Expected phase '{expected}' at index {index} but \
         current is '{phase}'.\n\n\
         active_workflow.current_phase_index and active_workflow.current_phase contradict each \
         other. `tollgate workflow audit` tells which one is right and `tollgate workflow audit \
         --repair` corrects the other; then advance again."
    );
    let own = format!(
        "The workflow's state contradicts itself: its index {index} means phase '{expected}', \
         and its current phase is '{phase}'."
    );
    let reason = format!("Expected phase '{expected}' at index {index}, current is '{phase}'");
    let repair = Step::Run("tollgate workflow audit --repair".to_owned());
    let finding = Finding::new("GB-002", context.words(text, own), reason);
    Some(finding.next(Next::retry([repair])))
}

/// The definition of a workflow of this type in the project's own file.
fn definition<'a>(context: &EventContext<'a>, kind: &str) -> Option<Object<'a>> {
    let config: &Object<'_> = context.config(ConfigFile::Workflows)?;
    config.object("workflows")?.object(kind)
}

/// The phases of a workflow of this type, from its definition.
fn defined_phases(context: &EventContext<'_>, kind: &str) -> Vec<String> {
    let phases = definition(context, kind).map(|one| one.texts("phases"));
    phases.unwrap_or_default()
}

/// A person reviews the phase, or has said no.
fn under_review(
    context: &EventContext<'_>,
    workflow: &Workflow<'_>,
    phase: &str,
) -> Option<Finding> {
    let review = workflow.get("supervised_review")?.object()?;
    let (text, own, reason) = match review.str("status").as_deref() {
        Some("reviewing") => (
            format!(
                "GATE BLOCKED: Supervised review in progress for phase '{phase}'. Wait until \
                 the person has finished the review and chosen how to go on."
            ),
            format!("A person is reviewing phase '{phase}' and has not finished."),
            "Supervised review in progress".to_owned(),
        ),
        Some("rejected") => {
            let mut said = ["rejection_reason", "reason"]
                .iter()
                .filter_map(|key| review.str(key));
            let why = said.find(|why| !why.trim().is_empty());
            let why = why.as_deref().unwrap_or("not given").trim();
            let why = why.trim_end_matches('.');
            (
                format!(
                    "GATE BLOCKED: Supervised review rejected for phase '{phase}'. Reason: \
                     {why}. Redo the phase with this in mind and have it reviewed again."
                ),
                format!("The review of phase '{phase}' rejected it: {why}."),
                format!("Supervised review rejected: {why}"),
            )
        }
        _ => return None,
    };
    let status = context.state().and_then(|state| state.phase_status(phase));
    let is_redone = review.is("status", "rejected") && status.as_deref() == Some("completed");
    let next = if is_redone {
        let guidance = shell_word(&reason);
        Next::run_instead(format!("tollgate phase redo --guidance {guidance}"))
    } else {
        Next::person("tollgate phase review --continue")
    };
    let finding = Finding::new("GB-003", context.words(text, own), reason);
    Some(finding.next(next))
}

/// A workflow that ended and was not put away has no gates to pass.
fn over(context: &EventContext<'_>, workflow: &Workflow<'_>, phase: &str) -> Option<Finding> {
    let status = workflow.str("status")?;
    if !matches!(status.as_ref(), "completed" | "cancelled") {
        return None;
    }
    let text = format!(
        "GATE BLOCKED: The workflow is already {status}, but phase '{phase}' is still its \
         current phase.\n\n\
         Finalize or cancel the workflow so that it moves to workflow_history, then start a new \
         one. There is no gate left to pass in this one."
    );
    let own = format!(
        "The workflow is {status} and was not ended: phase '{phase}' is still its current phase, \
         and nothing is left to pass."
    );
    let next = if status == "completed" {
        Next::run_instead("tollgate workflow finalize")
    } else {
        Next::person("tollgate workflow cancel --reason \"…\"")
    };
    let reason = format!("The workflow is {status}");
    Some(Finding::new("GB-004", context.words(text, own), reason).next(next))
}

/// A gate that was passed may call for the configuration of the cloud, once.
fn trigger(
    context: &EventContext<'_>,
    state: &State<'_>,
    requirements: &Requirements<'_>,
    phase: &str,
) -> Option<Edit> {
    const LIST: &str = "pending_triggers";
    let asked = requirements.section("on_gate_pass");
    asked.enabled("trigger_cloud_config")?;
    let cloud = state.get("cloud_configuration");
    let provider = cloud.and_then(|cloud| cloud.get("provider")?.str());
    if provider.is_some_and(|provider| !matches!(provider.as_ref(), "" | "undecided")) {
        return None;
    }
    let listed = state.get(LIST);
    let pending = listed.and_then(Node::array).unwrap_or_default();
    let is_known = pending.iter().any(|entry| {
        entry.get("trigger").and_then(Node::str).as_deref() == Some("cloud_configuration")
    });
    let is_list = listed.is_none_or(|node| node.is_null() || node.array().is_some());
    let entry = json!({
        "trigger": "cloud_configuration",
        "triggered_at": timestamp::iso(context.now()),
        "phase": phase,
    });
    (!is_known && is_list).then(|| Edit::push(&[LIST], entry))
}
