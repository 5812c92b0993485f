//! state-write-validator: an agent's own write of a state file must not be stale, move a phase
//! backwards, or claim what did not happen.
//!
//! Before the write, a stale version (V7) and a phase that goes backwards (V8) are blocked:
//! afterwards the file holds the new content and nothing is left to compare it with. After the
//! write, fabricated completions (V1–V3) and fields that contradict each other (V9) are warned
//! about. A bare event of the specification does not say which of the two it is; it gets both.

mod consistency;
mod fabrication;

use std::path::Path;

use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample, ToolCall};
use crate::next::{Next, Step};
use crate::protocol::{After, Tool};
use crate::workflow::definitions::Home;
use crate::workflow::regression;
use tollgate_store::json::{Kind, Node, Object};

pub(super) const GUARD: Guard = Guard {
    name: "state-write-validator",
    about: "blocks stale or regressing writes of a state file, warns about fabricated ones",
    is_general: true,
    on: &[
        (EventKind::PreTool, Class::File),
        (EventKind::PostTool, Class::File),
    ],
    codes: &[
        Code::warns(
            "SWV-001",
            "the check against the project's principles is marked as completed without a run (warning)",
            "run the validation, then record it with its iterations",
        )
        .passes_with(&["phases.{}.constitutional_validation.iterations_used = 1"]),
        Code::warns(
            "SWV-002",
            "an elicitation is marked as completed without a menu interaction (warning)",
            "hold the elicitation, then record it with its menu interactions",
        )
        .passes_with(&[
            "phases.{}.iteration_requirements.interactive_elicitation.menu_interactions = 1",
        ]),
        Code::warns(
            "SWV-003",
            "a test iteration is marked as completed without a test run (warning)",
            "run the tests; Tollgate records the runs",
        )
        .passes_with(&["phases.{}.iteration_requirements.test_iteration.current_iteration = 1"]),
        Code::blocks_for_good(
            "SWV-007",
            "the write has no version or an old one",
            "re-read the state and write it with its `state_version`",
        )
        .passes_with(&["state_version = {version}"]),
        Code::blocks_for_good(
            "SWV-008",
            "the write moves a phase or the workflow backwards",
            "move phases with `tollgate phase`; end a workflow with `tollgate workflow`",
        ),
        Code::warns(
            "SWV-009",
            "fields of the state contradict each other (warning)",
            "use `tollgate phase`, which writes all redundant fields at once",
        )
        .passes_with(&[
            "current_phase = {current}",
            "active_workflow.current_phase_index = {index}",
            "active_workflow.phase_status = null",
        ]),
    ],
    reads: &[
        "state_version",
        "active_workflow.current_phase_index",
        "active_workflow.phase_status",
    ],
    sample: Some(Sample {
        state: r#"{"state_version":2}"#,
        event: r#"{"tool_name":"Write","tool_input":{"file_path":".isdlc/state.json","content":"{\"state_version\":1}"}}"#,
        ..Sample::BLOCKED
    }),
    check,
};

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let tool = context.tool()?;
    let mut decision = Decision::allow();
    for path in tool.files() {
        let absolute = context.call.absolute(&path);
        if context.layout().is_state_file(&absolute) {
            let one = check_file(context, tool, &path, &absolute);
            decision.add(one.unwrap_or_default());
        }
    }
    Some(decision)
}

/// A patch may have several state files.
fn check_file(
    context: &EventContext<'_>,
    tool: &Tool<'_>,
    path: &str,
    absolute: &Path,
) -> Option<Decision> {
    let disk = context.file_text(absolute);
    let incoming = match tool.after(path, disk.as_deref()) {
        After::Text(text) => Some(text),
        After::Gone | After::Unknown => None,
    };
    if context.event.kind == EventKind::PreTool {
        let shown = context.layout().shown(absolute);
        if let (Some(disk), Some(incoming)) = (parse(disk.as_ref()), written(incoming.as_ref()))
            && let Some(finding) =
                regression::find(&disk, &incoming, shown, Home::of(context.layout()))
        {
            let next = way_out(&finding.code, &disk, &incoming, &shown.to_string_lossy());
            return Some(Decision::block(finding.next(next)));
        }
        if context.event.is_named {
            return None;
        }
    }
    // After the write the file is the truth, except that a bare Write is judged by what it
    // carries, as the specification has it.
    let is_write = matches!(tool.call, ToolCall::Write { .. });
    let carried = incoming.filter(|text| is_write && !text.is_empty());
    let left = carried.or(disk);
    let state = parse(left.as_ref())?;
    let mut findings = consistency::find(&state);
    findings.extend(fabrication::find(context, &state, path));
    Some(Decision::warn(findings))
}

/// How the write gets through, or what does it properly.
fn way_out(code: &str, disk: &Object<'_>, incoming: &Object<'_>, file: &str) -> Next {
    let read = Step::Read(file.to_owned());
    let version = disk.get("state_version");
    if let ("SWV-007", Some(version)) = (code, version) {
        let (key, value) = ("state_version", version.text().to_owned());
        return Next::retry([read, Step::Include { key, value }]);
    }
    let workflow = disk.object("active_workflow").unwrap_or_default();
    if incoming.object("active_workflow").is_some() {
        let status = Step::Run("tollgate workflow status".to_owned());
        return Next::instead([read, status]);
    }
    let index = workflow.get("current_phase_index").and_then(Node::u64);
    let count = u64::try_from(workflow.texts("phases").len()).unwrap_or(u64::MAX);
    if index.is_some_and(|index| index >= count) {
        Next::run_instead("tollgate workflow finalize")
    } else {
        Next::person("tollgate workflow cancel --reason \"…\"")
    }
}

fn parse(text: Option<&String>) -> Option<Object<'_>> {
    Object::parse(text?).ok()
}

/// What a write would leave. A list has none of the members of a state, as in the original, where
/// it is an object, too.
fn written(text: Option<&String>) -> Option<Object<'_>> {
    let is_list = |text: &&String| Node::parse(text).is_ok_and(|node| node.kind() == Kind::Array);
    parse(text).or_else(|| text.filter(is_list).map(|_| Object::default()))
}

fn warning(code: &'static str, text: String, phase: Option<&str>) -> Finding {
    let first = text.lines().next().unwrap_or_default();
    let reason = first
        .split_once("WARNING: ")
        .map_or(first, |(_, rest)| rest)
        .to_owned();
    Finding::new(code, text, reason).in_phase(phase)
}
