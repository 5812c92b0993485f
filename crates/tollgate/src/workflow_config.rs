//! How a project's workflow is configured: definitions, requirements, the manifest of skills.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use tollgate_core::context::{Inputs, MAX_FILE};
use tollgate_core::env::Env;
use tollgate_core::git::Disk;
use tollgate_core::project::{ConfigFile, Layout, ProjectId};
use tollgate_core::workflow::definitions::{Definitions, Home};
use tollgate_core::workflow::evidence::ProjectRequirements;
use tollgate_core::workflow::transition::{Kind, Refusal};
use tollgate_store::fs;
use tollgate_store::json::Malformed;

/// The configuration of a project's workflow.
pub(crate) struct WorkflowConfig {
    pub(crate) layout: Layout,
    pub(crate) project: Option<ProjectId>,
    /// The directory of documents, relative to the root.
    pub(crate) docs: String,
    pub(crate) definitions: Definitions,
    pub(crate) requirements: ProjectRequirements,
    pub(crate) manifest: Option<String>,
}

impl WorkflowConfig {
    /// Reads it, or says what is wrong with it.
    pub(crate) fn read(layout: Layout, env: Env, now: Timestamp) -> Result<Self, Refusal> {
        let monorepo = contents(&layout.monorepo_file())?.map(fs::Contents::into_text);
        let in_toml = crate::config::compiled::fresh(&layout, &env, &Disk::default()).workflows();
        let inputs = Inputs::new(layout, env, None, now);
        let project = inputs.project().map_err(|fault| {
            let next = "correct monorepo.json, or name the project in ISDLC_PROJECT";
            wrong(fault.text.clone(), next)
        })?;
        let project = project.cloned();
        let layout = inputs.layout().clone();
        let config = |file| config(&layout, file);
        let (workflows, workflows_at) = config(ConfigFile::Workflows)?;
        let in_toml = in_toml.map_err(|why| {
            wrong(
                why,
                "correct it; `tollgate config show` shows the values in use",
            )
        })?;
        if workflows.is_some() && in_toml.is_some() {
            let (one, other) = (workflows_at.display(), layout.config_file());
            let what = format!("workflows are defined in {one} and in {}", other.display());
            return Err(wrong(what, "keep them in one of the two"));
        }
        let home = Home::of(&layout);
        let definitions = match workflows.or(in_toml) {
            None => Definitions::built_in(home),
            Some(text) => {
                let definitions = Definitions::with(&text, home);
                definitions.map_err(|flaw| corrupt(&workflows_at, &flaw))?
            }
        };
        let (asked, asked_at) = config(ConfigFile::Requirements)?;
        let (paths, _) = config(ConfigFile::ArtifactPaths)?;
        let requirements = ProjectRequirements::parse(asked.as_deref(), paths.as_deref())
            .map_err(|flaw| corrupt(&asked_at, &flaw))?;
        let (manifest, _) = config(ConfigFile::Manifest)?;
        Ok(Self {
            docs: ProjectId::docs_base(project.as_ref(), monorepo.as_deref()),
            project,
            definitions,
            requirements,
            manifest,
            layout,
        })
    }
}

/// A regular file of the workflow, if it is there.
pub(crate) fn contents(path: &Path) -> Result<Option<fs::Contents>, Refusal> {
    fs::read_regular(path, MAX_FILE).map_err(|fault| {
        let what = format!("{}: {fault}", path.display());
        wrong(what, "it must be a regular file that you may read")
    })
}

/// The first of a configuration file's places that has it, and where that is.
pub(crate) fn config(
    layout: &Layout,
    file: ConfigFile,
) -> Result<(Option<String>, PathBuf), Refusal> {
    let mut last = PathBuf::from(file.name());
    for path in layout.config_files(file) {
        if let Some(contents) = contents(&path)? {
            return Ok((Some(contents.into_text()), path));
        }
        last = path;
    }
    Ok((None, last))
}

pub(crate) fn corrupt(path: &Path, flaw: &Malformed) -> Refusal {
    let what = format!("{}: {flaw}", path.display());
    wrong(what, "restore it from version control, or correct it there")
}

/// Nothing can be done with it.
fn wrong(what: impl Into<String>, next: &str) -> Refusal {
    Refusal {
        kind: Kind::Misplaced,
        what: what.into(),
        next: next.to_owned(),
    }
}
