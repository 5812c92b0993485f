//! `tollgate workflow start`: everything that can say no is asked first; then the branch, then
//! the state in one step, then the folder. If the state cannot be written the branch goes again.

use std::process::ExitCode;

use tollgate_core::project::ProjectId;
use tollgate_core::workflow::transition::{Branch, Refusal, Start, Step, slug};

use super::branch::Repository;
use crate::cli::site::{self, Site, warn};
use crate::cli::{Answer, BOLD, DIM, Trouble};
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

pub(super) fn run(arguments: &Arguments) -> Answer {
    let site = Site::here()?;
    let name = site
        .layout
        .root()
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let start = Start {
        workflow: &arguments.workflow,
        description: &arguments.description,
        from: arguments.from.as_deref(),
        light: arguments.light,
        supervised: arguments.supervised,
        folder: arguments.folder.as_deref(),
        branch: None,
        project: site.project.as_ref().map_or(&name, ProjectId::as_str),
    };
    if let Err(refusal) = site.rehearse(&Step::Start(start.clone()))? {
        return site::refuse(refusal);
    }
    let document = site.document()?;
    if document.bool(&["constitution", "enforced"]) == Some(true) {
        let constitution = site
            .layout
            .document(site.project.as_ref(), "constitution.md");
        if !constitution.is_file() {
            return Err(Trouble::new(format!(
                "the project enforces a constitution, but {} is missing",
                constitution.display()
            ))
            .hint("write it, or set constitution.enforced to false in the state"));
        }
    }
    let plan = site.with_rules(|rules| {
        let definition = start.definition(rules)?;
        let (_, folder) = start.artifact_folder(definition, &document)?;
        Ok::<_, Refusal>((
            folder,
            definition.requires_branch,
            definition.branch_prefix.clone(),
        ))
    })?;
    let (folder, wants_branch, prefix) = match plan {
        Ok(plan) => plan,
        Err(refusal) => return site::refuse(refusal),
    };
    let made_branch = if wants_branch && !arguments.no_branch {
        Some(make_branch(&site, &prefix, &folder)?)
    } else {
        None
    };
    let branch = made_branch
        .as_ref()
        .map(|(_, name, from)| Branch { name, from });
    let step = Step::Start(Start { branch, ..start });
    let made = site.make_if(&step, |document| {
        if document.str(&["active_workflow", "artifact_folder"]) == Some(folder.as_str()) {
            Ok(())
        } else {
            Err(Refusal::raced(
                "another workflow was started at the same moment",
            ))
        }
    });
    let made = match made {
        Ok(Ok(made)) => made,
        Ok(Err(refusal)) => {
            take_back(made_branch.as_ref());
            return site::refuse(refusal);
        }
        Err(trouble) => {
            take_back(made_branch.as_ref());
            return Err(trouble);
        }
    };
    super::warn_of_git_guard(turns::workflow_started(&site.layout));
    let artifacts = site
        .layout
        .root()
        .join(&site.docs)
        .join("requirements")
        .join(&folder);
    if let Err(error) = std::fs::create_dir_all(&artifacts) {
        warn(&format!("{}: {error}", artifacts.display()));
    }
    let phases = made
        .document
        .array(&["active_workflow", "phases"])
        .unwrap_or_default();
    if arguments.json {
        let mut value = site::as_json(&made);
        if let Some(value) = value.as_object_mut() {
            value.insert("status".to_owned(), "init_complete".into());
            value.insert(
                "workflow_type".to_owned(),
                arguments.workflow.as_str().into(),
            );
            value.insert("phases".to_owned(), phases.to_vec().into());
            value.insert("artifact_folder".to_owned(), folder.into());
            value.insert("next_phase_index".to_owned(), 0.into());
            value.insert(
                "git_branch".to_owned(),
                made_branch.map(|(_, name, _)| name).into(),
            );
        }
        anstream::println!("{value:#}");
        return Ok(ExitCode::SUCCESS);
    }
    site::tell_made(&made);
    anstream::println!("  artifacts: {}/requirements/{folder}/", site.docs);
    if let Some((_, name, from)) = &made_branch {
        anstream::println!("  branch:    {name} {DIM}(from {from}){DIM:#}");
    }
    let list: Vec<&str> = phases
        .iter()
        .filter_map(serde_json::Value::as_str)
        .collect();
    anstream::println!("  phases:    {}", list.join(" → "));
    anstream::println!(
        "  next: {BOLD}tollgate phase brief{BOLD:#}, and when the phase is done {BOLD}tollgate phase complete --summary \"…\"{BOLD:#}"
    );
    Ok(ExitCode::SUCCESS)
}

/// The branch `feature/REQ-0001-x`, in a monorepo `api/feature/REQ-0001-x`.
fn make_branch(
    site: &Site,
    prefix: &str,
    folder: &str,
) -> Result<(Repository, String, String), Trouble> {
    let repository = Repository::around(site.layout.root())?;
    let from = repository.current()?;
    repository.require_clean("commit or stash them, or start with `--no-branch`")?;
    let own = site
        .project
        .as_ref()
        .map(|id| format!("{}/", slug(id.as_str())))
        .unwrap_or_default();
    let name = format!("{own}{prefix}/{folder}");
    repository.create(&name)?;
    Ok((repository, name, from))
}

fn take_back(branch: Option<&(Repository, String, String)>) {
    if let Some((repository, name, from)) = branch {
        repository.forget(name, from);
    }
}
