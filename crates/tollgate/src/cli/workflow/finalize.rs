//! `tollgate workflow finalize`: the branch, then the state in one step, then the archive.

use std::process::ExitCode;

use serde_json::{Value, json};

use tollgate_core::git::Stands;
use tollgate_core::workflow::archive;
use tollgate_core::workflow::transition::{Ending, Step, snapshot};
use tollgate_store::document::Document;

use super::branch::Repository;
use crate::cli::workflow_context::{WorkflowContext, warn};
use crate::cli::{CommandResult, Trouble};
use crate::gate::evidence::Verification;
use crate::git_guard::turns;
use crate::plain::Plain;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// Merge the workflow's branch into the one it was made from, with a merge commit
    #[arg(long, conflicts_with = "keep_branch")]
    merge: bool,
    /// Leave the branch as it is (this is the default)
    #[arg(long)]
    keep_branch: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let context = WorkflowContext::here()?;
    context.rehearse(&Step::Finalize(Ending::default()))?;
    let document = context.document()?;
    let merged = if arguments.merge {
        Some(merge(&context, &document)?)
    } else {
        merged_before(&context, &document)
    };
    let ending = Ending {
        merged_commit: merged.as_ref().map(|merged| merged.commit.as_str()),
    };
    let made = context.make(&Step::Finalize(ending))?;
    let history = made
        .document
        .array(&["workflow_history"])
        .unwrap_or_default();
    remember(&context, history);
    super::warn_of_git_guard(turns::settle(&context.layout));
    if let Some(merged) = &merged
        && let Some(repository) = &merged.repository
        && let Err(error) = repository.delete(&merged.branch)
    {
        warn(&format!(
            "{} is merged but could not be deleted: {error}",
            merged.branch
        ));
    }
    let entry = history.last();
    let verification = Verification::of(&context.layout, &crate::environment::current());
    if arguments.json {
        made.print_json(json!({ "history_entry": entry, "gates": verification.to_json() }));
        return Ok(ExitCode::SUCCESS);
    }
    made.print();
    if let Some(metrics) = entry.and_then(|entry| entry.get("metrics")) {
        let number = |key: &str| {
            metrics
                .get(key)
                .map(ToString::to_string)
                .unwrap_or_default()
        };
        out!(
            "  {} of {} phases completed in {} minutes",
            number("phases_completed"),
            number("total_phases"),
            number("total_duration_minutes"),
        );
    }
    if let Some(verified) = entry.and_then(verified) {
        out!("  {}", Plain(&verified));
    }
    out!("  {}", Plain(&verification.to_string()));
    match (
        &merged,
        document.str(&["active_workflow", "git_branch", "name"]),
    ) {
        (
            Some(Merged {
                commit,
                branch,
                repository,
            }),
            _,
        ) => {
            let commit = commit.chars().take(12).collect::<String>();
            let how = if repository.is_some() {
                "is merged as"
            } else {
                "was merged; its work is in"
            };
            out!("  {branch} {how} {commit}");
        }
        (None, Some(branch)) => out!("  {branch} is kept: merge it when you like"),
        (None, None) => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// Which of the phases that need verified gates were completed with them; nothing if none does.
fn verified(entry: &Value) -> Option<String> {
    let phases = entry.get("phase_snapshots")?.as_array()?;
    let named = |wanted: bool| {
        let phases = phases.iter();
        let phases = phases.filter(|phase| snapshot::verified(phase) == Some(wanted));
        let names = phases.filter_map(|phase| phase.get("key")?.as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    match (named(true), named(false)) {
        (yes, no) if yes.is_empty() && no.is_empty() => None,
        (yes, no) if no.is_empty() => Some(format!("verified when completed: {yes}")),
        (yes, no) if yes.is_empty() => Some(format!("completed, not verified: {no}")),
        (yes, no) => Some(format!(
            "verified when completed: {yes}; completed, not verified: {no}"
        )),
    }
}

/// The workflow's branch, merged.
struct Merged {
    /// The commit that has its work.
    commit: String,
    branch: String,
    /// Where it was merged by this command and is still to be deleted.
    repository: Option<Repository>,
}

/// The branch, if somebody merged it before and deleted it or said so: as a pull request, for example.
fn merged_before(context: &WorkflowContext, document: &Document) -> Option<Merged> {
    let field = |key: &str| document.str(&["active_workflow", "git_branch", key]);
    let (branch, into) = (field("name")?, field("created_from").unwrap_or("main"));
    let root = context.layout.root();
    let repository = tollgate_core::git::Repository::discover(root)?;
    if repository.branch_exists(branch) && field("status") != Some("merged") {
        return None;
    }
    let seen = repository.seen(branch)?;
    let Stands::For(commit) = repository.branch_commit(into) else {
        return None;
    };
    crate::changes::is_merged(root, &seen, into).then(|| Merged {
        commit,
        branch: branch.to_owned(),
        repository: None,
    })
}

/// Merges the workflow's branch into the one it came from.
fn merge(context: &WorkflowContext, document: &Document) -> Result<Merged, Trouble> {
    let field = |key: &str| document.str(&["active_workflow", "git_branch", key]);
    let (Some(branch), Some(from)) = (field("name"), field("created_from")) else {
        return Err(Trouble::new("the workflow has no branch to merge")
            .hint("finalize it without `--merge`"));
    };
    let repository = Repository::around(context.layout.root())?;
    repository.require_clean("commit or stash them, then finalize again")?;
    for name in [branch, from] {
        if !repository.has(name)? {
            return Err(Trouble::new(format!("there is no branch {name}"))
                .hint("finalize with `--keep-branch`"));
        }
    }
    let what = document
        .str(&["active_workflow", "description"])
        .unwrap_or_default();
    // The guard on git's side keeps an agent from moving main; this is the way it is meant to.
    let _open = crate::git_guard::holding_open(&context.layout);
    let commit = repository.merge(branch, from, &format!("Merge {branch}: {what}"))?;
    Ok(Merged {
        commit,
        branch: branch.to_owned(),
        repository: Some(repository),
    })
}

/// Adds what is missing to the archive. The state is done already, so a failure is a warning.
pub(super) fn remember(context: &WorkflowContext, history: &[Value]) {
    let path = context.layout.archive_file(context.project.as_ref());
    if let Err(error) = archive::remember(&path, history) {
        warn(&format!(
            "the workflow is in the history, but not in the archive: {error}"
        ));
    }
}
