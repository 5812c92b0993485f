//! One review by another process: its prompt, how it is started, what its answer means.
//!
//! The reviewer is `claude`, without memory of what was before, and with hooks off: its own stop
//! would ask for a review of the review. Its answer is one JSON object on standard output; the
//! review itself is the file it writes. This is the one place to change for other reviewers.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_store::fs::{self, Durability};

use super::home::Plan;
use super::phase::{Review, TaskId};
use super::prompts;
use crate::agents::claude::envelope;
use crate::process::{Child, Children, End, Ended, OUTPUT_CAP, Output, command};
use crate::review::cli::objects::{self, Deciding};
use crate::trust::Consent;

/// The program.
pub(crate) const PROGRAM: &str = "claude";

/// What the answer must look like.
pub(crate) const SCHEMA: &str = r#"{"type":"object","properties":{"verdict":{"type":"string","enum":["PASS","FAIL"]}},"required":["verdict"]}"#;

/// What tells the answer from other objects.
pub(crate) const DECIDING: Deciding = Deciding {
    key: "verdict",
    words: &["PASS", "FAIL"],
};

/// A review's own limit comes before the end of all that it started, so that the person hears
/// that it ran out of time.
pub(crate) const AFTER_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the list of task files in a prompt grows.
const LIST_CAP: usize = 48 << 10;

/// No hook runs in the reviewer's own session.
const NO_HOOKS: &str = r#"{"disableAllHooks":true}"#;

/// A review to be made.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) review: Review,
    pub(crate) task: Option<TaskId>,
    pub(crate) iteration: u64,
    pub(crate) model: String,
    /// The files of the tasks, for reviews of more than one.
    pub(crate) task_files: Vec<String>,
}

/// What a review came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReviewVerdict {
    Pass,
    Fail,
    /// It gave none, which counts as a fail.
    Missing,
}

/// The answer of a reviewer that ended well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ReviewAnswer {
    pub(crate) verdict: ReviewVerdict,
    pub(crate) cost_usd: Option<f64>,
}

impl ReviewVerdict {
    fn of(word: &str) -> Self {
        match word {
            "PASS" => Self::Pass,
            "FAIL" => Self::Fail,
            _ => Self::Missing,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Missing => "no verdict (counts as FAIL)",
        }
    }

    /// Whether a review that was written down with this word counts as a fail.
    pub(crate) fn is_fail(word: &str) -> bool {
        [Self::Fail, Self::Missing]
            .map(Self::as_str)
            .contains(&word)
    }
}

impl Job {
    /// The file that the review goes to, by all its names.
    pub(crate) fn files(&self) -> Vec<String> {
        self.review.files(self.task.as_ref(), self.iteration)
    }

    /// The arguments, the prompt last.
    pub(crate) fn arguments(&self, plan: &Plan, prompts: &Path) -> Vec<String> {
        let fixed = [
            "--print",
            "--model",
            &self.model,
            "--output-format",
            "json",
            "--json-schema",
            SCHEMA,
            "--dangerously-skip-permissions",
            "--settings",
            NO_HOOKS,
        ];
        let mut arguments: Vec<String> = fixed.into_iter().map(str::to_owned).collect();
        arguments.push(self.prompt(plan, prompts));
        arguments
    }

    /// The specification's prompt.
    pub(crate) fn prompt(&self, plan: &Plan, prompts: &Path) -> String {
        let root = prompts.display();
        let dir = plan.shown();
        let name = self.review.as_str();
        let file = self.files().into_iter().next().unwrap_or_default();
        let tasks = self.task_list(dir);
        let (what, action) = match self.review {
            Review::Plan => (
                format!("then read {dir}/plan.md. Perform the plan review action"),
                String::new(),
            ),
            Review::Tasks => (
                format!(
                    "then read {dir}/tasks.md and the task files: {tasks}. Perform the tasks review action"
                ),
                String::new(),
            ),
            Review::AllCode => (
                format!(
                    "then read {dir}/plan.md, {dir}/tasks.md, and the task files: {tasks}. Perform the all-code-review action"
                ),
                String::new(),
            ),
            Review::Code => {
                let task = self.task.as_ref().map(TaskId::file).unwrap_or_default();
                (
                    format!(
                        "then read the plan in {dir}/plan.md, then read {dir}/{task}. Now perform the code review action"
                    ),
                    " for this task".to_owned(),
                )
            }
        };
        format!(
            "Read the ground rules in {root}/ground-rules.md, {what} described in {root}/actions/{name}.md{action}. Write your review to {dir}/{file}. Be very critical."
        )
    }

    /// The task files one after the other. The kernel takes no argument beyond 128 KB, so a list
    /// that is too long ends with a word about the rest.
    fn task_list(&self, dir: &str) -> String {
        let mut list = String::new();
        for file in &self.task_files {
            if list.len() > LIST_CAP {
                list.push_str(" and all others that tasks.md lists");
                break;
            }
            if !list.is_empty() {
                list.push(' ');
            }
            list.push_str(dir);
            list.push('/');
            list.push_str(file);
        }
        list
    }

    /// Runs the reviewer to its end.
    pub(crate) fn run(
        &self,
        plan: &Plan,
        place: &Surroundings<'_>,
        (stdout, stderr): (File, File),
        consent: &Consent,
    ) -> std::io::Result<Ended> {
        let mut program = command(&place.program);
        program
            .args(self.arguments(plan, &place.prompts))
            .current_dir(place.root);
        Ok(place.children(consent)?.run(Child {
            program,
            input: None,
            output: Output::Apart {
                stdout,
                stderr,
                cap: OUTPUT_CAP,
            },
            timeout: Some(place.timeout),
        }))
    }
}

/// Where and how long a reviewer runs.
#[derive(Debug)]
pub(crate) struct Surroundings<'a> {
    pub(crate) root: &'a Path,
    pub(crate) program: PathBuf,
    pub(crate) prompts: PathBuf,
    pub(crate) timeout: Duration,
}

impl Surroundings<'_> {
    /// What a review runs in. All that it starts ends a little after its limit, or with the host
    /// that ends us.
    pub(crate) fn children(&self, consent: &Consent) -> std::io::Result<Children> {
        let cut_off = Instant::now() + self.timeout + AFTER_TIMEOUT;
        let children = Children::open(consent, Some(cut_off))?.cancel_when_unread();
        children.cancel_on_signals()?;
        Ok(children)
    }
}

/// What the reviewer's end and output mean. An error says why it is no review at all.
pub(crate) fn judge(ended: &Ended, stdout: &str) -> Result<ReviewAnswer, String> {
    match ended.end {
        End::Exited(0) => answer(stdout),
        End::Exited(_)
        | End::Signalled(_)
        | End::TimedOut(_)
        | End::Cancelled
        | End::NotStarted(_) => Err(ended.describe()),
    }
}

/// What was printed by a reviewer that returned 0.
pub(crate) fn answer(stdout: &str) -> Result<ReviewAnswer, String> {
    let none = ReviewAnswer {
        verdict: ReviewVerdict::Missing,
        cost_usd: None,
    };
    let Some(value) = envelope(stdout) else {
        return Ok(none);
    };
    if value.get("is_error").and_then(Value::as_bool) == Some(true) {
        let said = value.get("result").and_then(Value::as_str);
        let said: String = said.unwrap_or("no message").chars().take(200).collect();
        return Err(format!("it reported an error: {said}"));
    }
    let cost = ["total_cost_usd", "cost_usd"]
        .into_iter()
        .find_map(|key| value.get(key).and_then(Value::as_f64));
    Ok(ReviewAnswer {
        verdict: verdict(&value),
        cost_usd: cost.filter(|cost| cost.is_finite() && *cost >= 0.0),
    })
}

/// Where versions of the program put the verdict, best first. The first place that has one
/// decides, whatever it says.
fn verdict(value: &Value) -> ReviewVerdict {
    let word = |value: &Value| {
        let word = value.get("verdict").filter(|word| !word.is_null())?;
        Some(
            word.as_str()
                .map_or(ReviewVerdict::Missing, ReviewVerdict::of),
        )
    };
    let structured = value.get("structured_output").and_then(word);
    let result = value.get("result");
    structured
        .or_else(|| result.and_then(word))
        .or_else(|| result.and_then(Value::as_str).and_then(spoken))
        .unwrap_or(ReviewVerdict::Missing)
}

/// The verdict of a model that was not held to the schema.
fn spoken(text: &str) -> Option<ReviewVerdict> {
    let object = objects::only(text, DECIDING).ok()?;
    let word = object.get("verdict").and_then(Value::as_str);
    word.map(ReviewVerdict::of)
}

/// The program on `PATH`.
pub(crate) fn find_program(env: &Env) -> Option<PathBuf> {
    crate::agents::places::find(PROGRAM, env.path.as_deref()?)
}

/// Where the reviewer finds its texts: in the plugin, or in files that are made here.
pub(crate) fn prompts(layout: &Layout, env: &Env) -> std::io::Result<PathBuf> {
    if let Some(root) = &env.plugin_root
        && prompts::for_reviewers().all(|(name, _)| root.join(name).is_file())
    {
        return Ok(root.clone());
    }
    let root = layout.plans_local().join("prompts");
    fs::private_directory(&root.join("actions"))?;
    for (name, text) in prompts::for_reviewers() {
        let path = root.join(name);
        let is_there = fs::read_own(&path, 1 << 20)
            .is_ok_and(|found| found.is_some_and(|found| found.bytes == text.as_bytes()));
        if !is_there {
            fs::replace(&path, text.as_bytes(), Durability::Lazy).map_err(std::io::Error::other)?;
        }
    }
    Ok(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(stdout: &str) -> ReviewVerdict {
        answer(stdout).unwrap().verdict
    }

    #[test]
    fn decision_20_the_verdict_is_where_versions_put_it() {
        use ReviewVerdict::{Fail, Missing, Pass};
        for (stdout, expected) in [
            (
                r#"{"structured_output":{"verdict":"PASS"},"result":"{\"verdict\":\"FAIL\"}"}"#,
                Pass,
            ),
            (r#"{"result":{"verdict":"PASS"}}"#, Pass),
            (r#"{"result":"{\"verdict\":\"PASS\"}"}"#, Pass),
            (
                r#"{"result":"Done.\n```json\n{\"verdict\":\"PASS\"}\n```"}"#,
                Pass,
            ),
            (r#"{"result":{"verdict":"FAIL"}}"#, Fail),
            (
                r#"[{"type":"system"},{"type":"result","structured_output":{"verdict":"PASS"}}]"#,
                Pass,
            ),
            (
                r#"[{"type":"result","structured_output":{"verdict":"PASS"}},{"type":"result"}]"#,
                Missing,
            ),
            (r#"[{"structured_output":{"verdict":"PASS"}}]"#, Missing),
            (
                r#"{"structured_output":{"verdict":"MAYBE"},"result":{"verdict":"PASS"}}"#,
                Missing,
            ),
            (
                r#"{"structured_output":{"verdict":null},"result":{"verdict":"PASS"}}"#,
                Pass,
            ),
            (
                r#"{"result":"As in\n```json\n{\"verdict\":\"PASS\"}\n```\nbut\n```json\n{\"verdict\":\"FAIL\"}\n```"}"#,
                Missing,
            ),
            (r#"{"result":"I say {\"verdict\":\"PASS\"}."}"#, Missing),
            (
                r#"{"result":"{\"verdict\":\"FAIL\",\"verdict\":\"PASS\"}"}"#,
                Missing,
            ),
            (r#"{"result":"VERDICT: PASS"}"#, Missing),
            (r#"{"result":{"verdict":"pass"}}"#, Missing),
            (
                r#"{"structured_output":{"verdict":"PASS"}} {"x":1}"#,
                Missing,
            ),
            (r#"{"structured_output":null,"result":""}"#, Missing),
            ("PASS", Missing),
            ("", Missing),
        ] {
            assert_eq!(word(stdout), expected, "{stdout}");
        }
    }

    #[test]
    fn an_error_is_no_review_whatever_it_says() {
        let error = answer(
            r#"{"is_error":true,"result":"API Error: 400","structured_output":{"verdict":"PASS"}}"#,
        );
        assert_eq!(error.unwrap_err(), "it reported an error: API Error: 400");
    }
}
