//! What the agent of a phase reads: the text of its delegation.
//!
//! It carries the `Phase key:` line that delegations are recognised by, the artifact folder,
//! what earlier phases left behind (and what they did not), the discovery where it matters, the
//! agent's skills, and what the gate will ask for.

use std::fmt::Write as _;

use jiff::Timestamp;
use serde_json::Value;

use super::definitions::{Home, Need};
use super::evidence::{PhaseRequirements, any_of, in_folder};
use super::phases;
use super::position::WorkflowPosition;
use super::transition::{Refusal, Rules};
use crate::project::under_docs;
use tollgate_store::document::{Document, whole};
use tollgate_store::timestamp;

/// A discovery older than this may no longer be true.
const FRESH_HOURS: i64 = 24;

/// The brief of a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brief {
    /// The phase.
    pub phase: String,
    /// Who it is for.
    pub agent: Option<String>,
    /// The text.
    pub text: String,
    /// What the person should know: each is in the text as well.
    pub warnings: Vec<String>,
}

/// Where artifacts are: their paths begin with `docs/`, which stands for `base`.
pub struct Artifacts<'a> {
    /// The directory of documents, relative to the root: `docs`, `docs/api`, `apps/api/docs`.
    pub base: &'a str,
    /// Whether a path relative to the root exists.
    pub exists: &'a dyn Fn(&str) -> bool,
}

impl Artifacts<'_> {
    /// A configured path, put under the project's documents.
    pub fn scoped(&self, path: &str) -> String {
        under_docs(self.base, path)
    }
}

/// The brief of the phase that is in progress, or of the next one.
pub fn write(
    document: &Document,
    rules: &Rules<'_>,
    artifacts: &Artifacts<'_>,
    now: Timestamp,
) -> Result<Brief, Refusal> {
    let position = WorkflowPosition::of(document)?;
    let place = position.doing()?.turn().ok_or_else(Refusal::finished)?;
    let requirements = rules.requirements.of(position.workflow, place.key);
    let folder = document.str(&["active_workflow", "artifact_folder"]);
    let words = Words::of(rules.definitions.home());
    let mut warnings = Vec::new();
    let mut text = (words.opening)(place.key, position.workflow);
    line(&mut text, "Phase key", place.key);
    if folder.is_none() {
        warnings.push("the workflow has no artifact folder".to_owned());
    }
    line(&mut text, "Artifact folder", folder.unwrap_or("none"));
    if let Some(description) = document.str(&["active_workflow", "description"]) {
        line(&mut text, "Description", description);
    }
    let definition = rules.definitions.get(position.workflow);
    let needs = definition.map(|definition| definition.needs(place.key));
    let needs = needs.unwrap_or_default();
    let mut own = paths(&requirements, folder, artifacts);
    own.extend(needs.iter().filter_map(|need| match need {
        Need::File(path) => Some(artifacts.scoped(&in_folder(path, folder)?)),
        Need::Gates | Need::Artifacts => None,
    }));
    if !own.is_empty() {
        line(&mut text, "Write", &own.join(", "));
    }
    let writes = definition.map(|one| one.writes(place.key));
    if let Some(writes) = writes.filter(|writes| !writes.is_empty()) {
        line(&mut text, "Change only", &writes.join(", "));
    }
    let earlier = earlier_documents(
        &mut warnings,
        (&position, place.at),
        rules,
        (folder, artifacts),
    );
    if !earlier.is_empty() {
        let _infallible = writeln!(text, "\n{}:\n{}", words.earlier, earlier.join("\n"));
    }
    discovery(&mut text, &mut warnings, document, place.key, now);
    if let Some(modifiers) = definition.and_then(|one| one.modifiers(place.key)) {
        line(&mut text, "\nWORKFLOW MODIFIERS", &modifiers.to_string());
    }
    let agent = rules.agent(place.key);
    let skills = agent.as_deref().map(|agent| rules.manifest.skills(agent));
    if let Some(skills) = skills.filter(|skills| !skills.is_empty()) {
        let _infallible = writeln!(text, "\nAVAILABLE SKILLS:\n- {}", skills.join("\n- "));
    }
    let _infallible = writeln!(text, "\n{}:", words.criteria);
    exit_criteria(&mut text, &requirements, &needs, (folder, artifacts));
    if position.is_under_review(place.key) {
        redo_guidance(&mut text, document);
    }
    if let Some(status @ ("approaching" | "exceeded")) =
        document.str(&["active_workflow", "budget_status"])
    {
        let advice = format!("{status}: prefer the shorter way");
        line(&mut text, "\nBUDGET", &advice);
    }
    let _infallible = writeln!(text, "\n{}", (words.closing)(place.key));
    Ok(Brief {
        phase: place.key.to_owned(),
        agent,
        text,
        warnings,
    })
}

/// The words of a home: the specification's, or our own.
struct Words {
    opening: fn(&str, &str) -> String,
    earlier: &'static str,
    criteria: &'static str,
    closing: fn(&str) -> String,
}

impl Words {
    fn of(home: Home) -> Self {
        match home {
            Home::Original => Self {
                opening: |phase, workflow| {
                    let (number, title) = (phases::gate_number(phase), phases::title(phase));
                    format!("Execute Phase {number} - {title} for {workflow} workflow.\n")
                },
                earlier: "PREDECESSOR ARTIFACTS",
                criteria: "GATE REQUIREMENTS",
                closing: |phase| {
                    let number = phases::gate_number(phase);
                    format!("Validate GATE-{number} on completion.")
                },
            },
            Home::Own => Self {
                opening: |phase, workflow| {
                    format!("Work on phase {phase} of the {workflow} workflow.\n")
                },
                earlier: "Documents of earlier phases",
                criteria: "Exit criteria",
                closing: |_| {
                    "When they are met: tollgate phase complete --summary \"…\"".to_owned()
                },
            },
        }
    }
}

/// What the phase must show.
fn exit_criteria(
    text: &mut String,
    requirements: &PhaseRequirements<'_>,
    needs: &[Need<'_>],
    (folder, artifacts): (Option<&str>, &Artifacts<'_>),
) {
    let own = || paths(requirements, folder, artifacts).join(", ");
    let needs = needs.iter().map(|need| match need {
        Need::Gates => "gates: verified on the tree as it is (`tollgate run`)".to_owned(),
        Need::Artifacts => format!("artifacts: {}", own()),
        Need::File(path) => {
            let path = in_folder(path, folder).unwrap_or_else(|| (*path).to_owned());
            format!("artifacts: {}", artifacts.scoped(&path))
        }
    });
    let lines: Vec<String> = needs.chain(requirements.lines()).collect();
    if lines.is_empty() {
        text.push_str("- none beyond a summary of what was done\n");
    }
    for mut requirement in lines {
        if let Some((name @ "artifact_validation", _)) = requirement.split_once(": ") {
            let paths = paths(requirements, folder, artifacts).join(", ");
            requirement = format!("{name}: {paths}");
        }
        let _infallible = writeln!(text, "- {requirement}");
    }
}

/// What the person wants changed, if the phase is done again.
fn redo_guidance(text: &mut String, document: &Document) {
    let history = [
        "active_workflow",
        "supervised_review",
        "redo_guidance_history",
    ];
    for guidance in document.array(&history).unwrap_or_default() {
        let guidance = guidance.as_str().unwrap_or_default();
        line(text, "\nREDO GUIDANCE", guidance);
    }
}

fn line(text: &mut String, name: &str, value: &str) {
    let _infallible = writeln!(text, "{name}: {value}");
}

fn paths(
    requirements: &PhaseRequirements<'_>,
    folder: Option<&str>,
    artifacts: &Artifacts<'_>,
) -> Vec<String> {
    let paths = requirements
        .artifacts
        .iter()
        .filter_map(|path| in_folder(path, folder));
    paths.map(|path| artifacts.scoped(&path)).collect()
}

/// What earlier phases of this workflow were to leave behind. Nothing is taken for granted:
/// what is missing is said, and the phase goes on without it.
fn earlier_documents(
    warnings: &mut Vec<String>,
    (position, at): (&WorkflowPosition<'_>, usize),
    rules: &Rules<'_>,
    (folder, artifacts): (Option<&str>, &Artifacts<'_>),
) -> Vec<String> {
    let mut lines = Vec::new();
    let definition = rules.definitions.get(position.workflow);
    for key in position.phases.iter().take(at) {
        let asked = rules.requirements.of(position.workflow, key);
        let needs = definition.map(|one| one.needs(key)).unwrap_or_default();
        let files = needs.iter().filter_map(|need| match need {
            Need::File(path) => Some(vec![in_folder(path, folder)?]),
            Need::Gates | Need::Artifacts => None,
        });
        for names in asked.documents(folder).into_iter().chain(files) {
            let names: Vec<String> = names.iter().map(|path| artifacts.scoped(path)).collect();
            let there = names.iter().filter(|path| (artifacts.exists)(path));
            let there: Vec<String> = there.map(|path| format!("- {key}: {path}")).collect();
            if let (true, Some(name)) = (there.is_empty(), any_of(&names)) {
                let warning = format!("{name} of phase {key} is missing");
                lines.push(format!("- WARNING: {warning}; go on without it"));
                warnings.push(warning);
            }
            lines.extend(there);
        }
    }
    lines
}

/// Phases 02 and 03 build on what a discovery found out, as long as it is fresh.
fn discovery(
    text: &mut String,
    warnings: &mut Vec<String>,
    document: &Document,
    phase: &str,
    now: Timestamp,
) {
    if !phase.starts_with("02-") && !phase.starts_with("03-") {
        return;
    }
    let Some(context) = document.object(&["discovery_context"]) else {
        return;
    };
    let completed = context.get("completed_at");
    let moment = timestamp::of(completed);
    let fresh = moment.is_some_and(|at| now.duration_since(at).as_hours() < FRESH_HOURS);
    let shown = Value::Object(context.clone()).to_string();
    if fresh {
        line(text, "\nDISCOVERY CONTEXT", &shown);
    } else {
        let warning = format!(
            "the discovery of {} is older than {FRESH_HOURS} hours",
            completed.and_then(Value::as_str).unwrap_or("unknown date")
        );
        line(text, "\nDISCOVERY CONTEXT (STALE)", &shown);
        let advice = format!("{warning}; verify before relying on it");
        line(text, "WARNING", &advice);
        warnings.push(warning);
    }
}

/// The size that an impact analysis reports in its last block of JSON: files, and whether the
/// risk is high.
pub fn measured(analysis: &str) -> Option<(u64, bool)> {
    let (_, block) = analysis.rsplit_once("```json")?;
    let (block, _) = block.split_once("```")?;
    let value: Value = serde_json::from_str(block.trim()).ok()?;
    let count = |key: &str| {
        let given = value.get(key)?;
        let listed = given.as_array().map(|list| list.len() as u64);
        listed.or_else(|| whole(given))
    };
    let keys = [
        "files_directly_affected",
        "files_affected",
        "affected_files",
        "file_count",
    ];
    let files = keys.iter().find_map(|key| count(key))?;
    let mut risks = ["risk_level", "risk"].iter();
    let risk = risks.find_map(|key| value.get(key)?.as_str());
    let is_high = risk.is_some_and(|risk| risk.eq_ignore_ascii_case("high"));
    Some((files, is_high))
}
