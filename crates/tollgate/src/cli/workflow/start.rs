//! `tollgate workflow start`: everything that can say no is asked first; then the branch, then
//! the state in one step, then the folder. If the state cannot be written the branch goes again.

use std::process::ExitCode;

use serde_json::{Value, json};
use tollgate_core::project::ProjectId;
use tollgate_core::workflow::transition::{Branch, Refusal, Start, Step, slug};
use tollgate_store::document::Document;

use super::branch::Repository;
use crate::cli::workflow_context::{Made, WorkflowContext, warn};
use crate::cli::{BOLD, CommandResult, DIM, Trouble};
use crate::git_guard::turns;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// Which workflow (see `tollgate workflow definitions`)
    #[arg(value_name = "TYPE")]
    workflow: String,
    /// What it is about
    description: String,
    /// Wait for a person's review after each phase
    #[arg(long)]
    supervised: bool,
    /// Leave out the phases that light work does not need
    #[arg(long)]
    light: bool,
    /// Start from this phase instead of the first
    #[arg(long, value_name = "PHASE")]
    from: Option<String>,
    /// Use this artifact folder instead of a new one
    #[arg(long, value_name = "NAME")]
    folder: Option<String>,
    /// Stay on the current branch
    #[arg(long)]
    no_branch: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A branch that was made for the workflow.
struct NewBranch {
    repository: Repository,
    name: String,
    from: String,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let context = WorkflowContext::here()?;
    let root = context.layout.root();
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    let start = Start {
        workflow: &arguments.workflow,
        description: &arguments.description,
        from: arguments.from.as_deref(),
        light: arguments.light,
        supervised: arguments.supervised,
        folder: arguments.folder.as_deref(),
        branch: None,
        project: context.project.as_ref().map_or(&name, ProjectId::as_str),
    };
    context.rehearse(&Step::Start(start.clone()))?;
    let document = context.document()?;
    require_constitution(&context, &document)?;
    let (folder, prefix) = context.with_rules(|rules| {
        let definition = start.definition(rules)?;
        let (_, folder) = start.artifact_folder(definition, &document)?;
        let wants_branch = definition.requires_branch && !arguments.no_branch;
        let prefix = wants_branch.then(|| definition.branch_prefix.clone());
        Ok::<_, Refusal>((folder, prefix))
    })??;
    let branch = match &prefix {
        Some(prefix) => Some(NewBranch::make(&context, prefix, &folder)?),
        None => None,
    };
    let step = Step::Start(Start {
        branch: branch.as_ref().map(|branch| Branch {
            name: &branch.name,
            from: &branch.from,
        }),
        ..start
    });
    let made = context.make_if(&step, |document| {
        if document.str(&["active_workflow", "artifact_folder"]) == Some(folder.as_str()) {
            Ok(())
        } else {
            Err(Refusal::raced(
                "another workflow was started at the same moment",
            ))
        }
    });
    let made = made.inspect_err(|_| {
        if let Some(branch) = &branch {
            branch.repository.forget(&branch.name, &branch.from);
        }
    })?;
    super::warn_of_git_guard(turns::workflow_started(&context.layout));
    let artifacts = root.join(&context.docs).join("requirements").join(&folder);
    if let Err(error) = std::fs::create_dir_all(&artifacts) {
        warn(&format!("{}: {error}", artifacts.display()));
    }
    if arguments.json {
        print_json(&made, arguments, &folder, branch.as_ref());
    } else {
        print(&made, &context.docs, &folder, branch.as_ref());
    }
    Ok(ExitCode::SUCCESS)
}

/// A project that enforces a constitution must have one.
fn require_constitution(context: &WorkflowContext, document: &Document) -> Result<(), Trouble> {
    let project = context.project.as_ref();
    let constitution = context.layout.document(project, "constitution.md");
    if document.bool(&["constitution", "enforced"]) != Some(true) || constitution.is_file() {
        return Ok(());
    }
    Err(Trouble::new(format!(
        "the project enforces a constitution, but {} is missing",
        constitution.display()
    ))
    .hint("write it, or set constitution.enforced to false in the state"))
}

fn phases(made: &Made) -> &[Value] {
    let phases = made.document.array(&["active_workflow", "phases"]);
    phases.unwrap_or_default()
}

fn print_json(made: &Made, arguments: &Arguments, folder: &str, branch: Option<&NewBranch>) {
    made.print_json(json!({
        "status": "init_complete", "workflow_type": arguments.workflow, "phases": phases(made),
        "artifact_folder": folder, "next_phase_index": 0,
        "git_branch": branch.map(|branch| &branch.name),
    }));
}

fn print(made: &Made, docs: &str, folder: &str, branch: Option<&NewBranch>) {
    made.print();
    out!("  artifacts: {docs}/requirements/{folder}/");
    if let Some(NewBranch { name, from, .. }) = branch {
        out!("  branch:    {name} {DIM}(from {from}){DIM:#}");
    }
    let list: Vec<&str> = phases(made).iter().filter_map(Value::as_str).collect();
    out!("  phases:    {}", list.join(" → "));
    out!(
        "  next: {BOLD}tollgate phase brief{BOLD:#}, and when the phase is done {BOLD}tollgate phase complete --summary \"…\"{BOLD:#}"
    );
}

impl NewBranch {
    /// The branch `feature/REQ-0001-x`, in a monorepo `api/feature/REQ-0001-x`.
    fn make(context: &WorkflowContext, prefix: &str, folder: &str) -> Result<Self, Trouble> {
        let repository = Repository::around(context.layout.root())?;
        let from = repository.current()?;
        repository.require_clean("commit or stash them, or start with `--no-branch`")?;
        let project = context.project.as_ref();
        let own = project.map(|id| format!("{}/", slug(id.as_str())));
        let name = format!("{}{prefix}/{folder}", own.unwrap_or_default());
        repository.create(&name)?;
        Ok(Self {
            repository,
            name,
            from,
        })
    }
}
