//! A review by another agent than `claude`, named in the settings.
//!
//! Such a reviewer only reads. It gives its review as text, and Tollgate writes the file and, in
//! the shape of the usual reviewer's answer, the verdict: from there on both are the same.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use tollgate_store::fs::{self, Durability};

use super::home::Plan;
use super::reviewer::{DECIDING, Job, Surroundings};
use super::state::{OPUS, SONNET};
use crate::review::Reviewer;
use crate::review::cli::objects;
use crate::review::cli::{self, Question};
use crate::trust::Consent;

const SCHEMA: &str = r#"{"type":"object","properties":{"verdict":{"type":"string","enum":["PASS","FAIL"]},"review":{"type":"string"}},"required":["verdict","review"],"additionalProperties":false}"#;

/// Asks, and writes the review. Says how long it took, in milliseconds, or why there is none.
pub(crate) fn review(
    reviewer: &Reviewer,
    job: &Job,
    plan: &Plan,
    (place, search): (&Surroundings<'_>, &OsStr),
    (mut output, log): (File, File),
    consent: &Consent,
) -> Result<u64, String> {
    let prompt = question(job, plan, &place.prompts);
    // The specification's two models are Claude's; others take turns with themselves.
    let model = Some(job.model.as_str()).filter(|model| ![OPUS, SONNET].contains(model));
    let question = Question {
        prompt: &prompt,
        schema: SCHEMA,
        model,
        root: place.root,
        search,
        timeout: Some(place.timeout),
    };
    let children = place.children(consent);
    let children = children.map_err(|error| error.to_string())?;
    let reply = cli::ask(reviewer, &question, &children, &log);
    let spoken = reply.answer.map_err(|why| why.to_string())?;
    let object = objects::sole(&spoken, DECIDING).map_err(|why| why.to_string())?;
    let text = object
        .get("review")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let name = job.files().into_iter().next().unwrap_or_default();
    let verdict = object.get("verdict").cloned().unwrap_or_default();
    let printed = json!({
        "is_error": false, "structured_output": { "verdict": verdict },
        "total_cost_usd": reply.usage.cost_usd,
    });
    let unwritten =
        |error: &dyn std::fmt::Display| format!("its review cannot be written: {error}");
    let path = plan.path(&name);
    if !fs::create(&path, text.as_bytes()).map_err(|fault| unwritten(&fault))? {
        fs::replace(&path, text.as_bytes(), Durability::Lazy).map_err(|fault| unwritten(&fault))?;
    }
    let said = output.write_all(printed.to_string().as_bytes());
    said.map_err(|error| unwritten(&error))?;
    Ok(u64::try_from(reply.took.as_millis()).unwrap_or(u64::MAX))
}

/// The specification's question, with the answer as text instead of a file.
pub(crate) fn question(job: &Job, plan: &Plan, prompts: &Path) -> String {
    let prompt = job.prompt(plan, prompts);
    let asked = prompt
        .split_once(" Write your review to ")
        .map_or(prompt.as_str(), |(asked, _)| asked);
    format!(
        "{asked} Be very critical. Change no file and write none: answer with one JSON object, `review` with the whole review as Markdown and `verdict` with \"PASS\" if nothing has to change and \"FAIL\" otherwise."
    )
}
