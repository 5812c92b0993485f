//! The texts that an event's facts are read from, and those who know what files do not tell.

use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::configs::{AskConfiguration, CompiledRules, Configs};
use crate::decision::Fault;
use crate::env::Env;
use crate::git::{Disk, LastSeen};
use crate::project::{ConfigFile, Layout, ProjectId, under_docs};
use crate::text_file::read;
use tollgate_store::json::Object;
use tollgate_store::store::Store;

/// The texts behind a context, each read at most once.
#[derive(Debug)]
pub struct Inputs {
    pub(super) layout: Layout,
    pub(super) env: Env,
    pub(super) cwd: Option<PathBuf>,
    monorepo: OnceCell<Result<Option<String>, Fault>>,
    project: OnceCell<Result<Option<ProjectId>, Fault>>,
    state: OnceCell<Result<Option<String>, Fault>>,
    pub(super) configs: Configs,
    pub(super) disk: Disk,
    pub(super) now: Timestamp,
    pub(super) sources: Sources,
    pub(super) notes: Notes,
}

/// What could not be read so far, and what guards say for debugging.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) faults: RefCell<Vec<Fault>>,
    pub(super) debug: RefCell<Vec<String>>,
}

/// Who answers what deciding an event does not find out itself: it starts no process, and does
/// without parsers that few events need. The caller passes those it has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sources {
    /// The branch of a repository that files do not tell (reftable).
    pub git: Option<AskGit>,
    /// Whether a branch that is gone was merged.
    pub merged: Option<AskMerged>,
    /// What changed on a branch.
    pub changes: Option<AskChanges>,
    /// The work as it is.
    pub work: Option<AskWork>,
    /// The workflows and rules of `tollgate.toml`.
    pub config: Option<AskConfiguration>,
    /// The agents' settings, only asked about a file that is named like one of them.
    pub settings: Option<AskSettings>,
    /// Whether git made a file what it is, only asked about a state that changed.
    pub explained: Option<fn(&Path) -> bool>,
    /// Where the running program lies, only asked about a change of a file that may be it.
    pub program: Option<AskProgram>,
    /// Whether reviews found something that is still open, only asked about `tollgate clean`.
    pub open_findings: Option<fn(&Layout, &Env) -> bool>,
}

/// The file of the running program.
pub type AskProgram = fn() -> Option<PathBuf>;

/// The branch checked out in a directory, from git itself.
pub type AskGit = fn(&Path) -> Option<String>;

/// Whether all work of a branch, as it was last seen in this repository, is in another one: by
/// ancestry, by its tree or by its patches. Only git can tell.
pub type AskMerged = fn(&Path, &LastSeen, &str) -> bool;

/// The files that differ from where the branch left another (its name, if the workflow knows
/// it), relative to the directory: committed, staged, changed or new. Only git can tell.
pub type AskChanges = fn(&Path, Option<&str>) -> Result<Vec<String>, String>;

/// The work as it is, from git: only where tests passed, and at the gate behind them.
#[derive(Clone, Copy, Debug)]
pub struct AskWork {
    /// The name of the tree that all files in a project together are.
    pub tree: fn(&Layout) -> Result<String, String>,
    /// The files that differ from such a tree, relative to the project.
    pub since: fn(&Layout, &str) -> Result<Vec<String>, String>,
}

/// What the agents' settings say about Tollgate.
#[derive(Clone, Copy, Debug)]
pub struct AskSettings {
    /// Every file that an agent takes hooks from, in the project and in the person's home.
    pub files: fn(&Layout, &Env) -> Vec<PathBuf>,
    /// How a change would take Tollgate out of such a file, in words; nothing if it would not.
    pub loss: fn(&Layout, &Env, &SettingsChange<'_>) -> Option<String>,
}

/// What would become of a settings file.
#[derive(Clone, Copy, Debug)]
pub struct SettingsChange<'a> {
    /// The file.
    pub file: &'a Path,
    /// What is in it; nothing if there is no file.
    pub before: Option<&'a str>,
    /// What will be in it; nothing if none of it stays.
    pub after: Option<&'a str>,
}

impl Inputs {
    /// The inputs of an event that happens now in `cwd`.
    pub fn new(layout: Layout, env: Env, cwd: Option<PathBuf>, now: Timestamp) -> Self {
        Self {
            layout,
            env,
            cwd,
            monorepo: OnceCell::new(),
            project: OnceCell::new(),
            state: OnceCell::new(),
            configs: Configs::default(),
            disk: Disk::default(),
            now,
            sources: Sources::default(),
            notes: Notes::default(),
        }
    }

    /// The same, with what deciding an event cannot find out itself.
    #[must_use]
    pub fn asking(self, sources: Sources) -> Self {
        Self { sources, ..self }
    }

    /// Where things are.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    fn monorepo(&self) -> Result<Option<&str>, &Fault> {
        let text = self
            .monorepo
            .get_or_init(|| read(&self.layout.monorepo_file(), "monorepo-unreadable"));
        text.as_ref().map(Option::as_deref)
    }

    /// The project of a monorepo that the event belongs to.
    pub fn project(&self) -> Result<Option<&ProjectId>, &Fault> {
        let resolved = self.project.get_or_init(|| {
            let Some(text) = self.monorepo().map_err(Clone::clone)? else {
                return Ok(None);
            };
            let cwd = self.cwd.as_deref().or(self.env.cwd.as_deref());
            let wanted = self.env.monorepo_project.as_deref();
            ProjectId::resolve(text, self.layout.root(), cwd, wanted)
        });
        resolved.as_ref().map(Option::as_ref)
    }

    /// The state file the event is about.
    pub fn state_file(&self) -> PathBuf {
        self.layout.state_file(self.project().ok().flatten())
    }

    /// What writes the state file the event is about.
    pub fn store(&self) -> Store {
        let project = self.project().ok().flatten();
        Store::new(
            self.layout.state_file(project),
            self.layout.store_home(project),
        )
    }

    /// Adds entries of the history to the archive beside the state, unless it has them.
    pub fn remember(&self, entries: &[serde_json::Value]) -> Result<(), String> {
        let project = self.project().ok().flatten();
        crate::workflow::archive::remember(&self.layout.archive_file(project), entries)
    }

    /// The state's text, as the guards saw it.
    pub fn state_text(&self) -> Option<&str> {
        self.state().ok().flatten()
    }

    /// The files that differ from the work as it was.
    pub fn changed_since(&self, tree: &str) -> Result<Vec<String>, String> {
        match self.sources.work {
            Some(ask) => (ask.since)(&self.layout, tree),
            None => Err("git is not available here".to_owned()),
        }
    }

    pub(super) fn state(&self) -> Result<Option<&str>, &Fault> {
        let text = self.state.get_or_init(|| {
            let project = self.project().map_err(Clone::clone)?;
            let file = self.layout.state_file(project);
            match (read(&file, "state-unreadable")?, project) {
                // Without this, one line in monorepo.json would switch every guard off.
                (None, Some(id)) => Err(Fault::new(
                    "state-missing",
                    format!(
                        "the monorepo's project '{}' has no state file at {}: guards that need it are off. Register the right project in monorepo.json, or start a workflow in it",
                        id.as_str(),
                        file.display()
                    ),
                )),
                (found, _) => Ok(found),
            }
        });
        text.as_ref().map(Option::as_deref)
    }

    /// Whether git made a file what it is, or took it away: a checkout, a pull.
    pub fn is_explained(&self, file: &Path) -> bool {
        self.sources.explained.is_some_and(|ask| ask(file))
    }

    /// When the event happens.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Whether an artifact of a configured path is there.
    pub(crate) fn has_artifact(&self, path: &str) -> bool {
        let path = under_docs(&self.docs_base(), path);
        self.layout.root().join(path).is_file()
    }

    pub(super) fn docs_base(&self) -> String {
        let project = self.project().ok().flatten();
        let monorepo = self.monorepo().ok().flatten();
        ProjectId::docs_base(project, monorepo)
    }

    fn around(&self) -> (&Layout, &Env, &Disk) {
        (&self.layout, &self.env, &self.disk)
    }

    /// A configuration file as a text and as an object, and what is wrong with its places.
    pub(crate) fn config(&self, file: ConfigFile) -> (Option<(&str, Object<'_>)>, Vec<Fault>) {
        let ask = self.sources.config;
        self.configs.object(self.around(), file, ask)
    }

    /// The compiled rules that hold here, and what is wrong with them.
    pub fn rules(&self) -> Option<&CompiledRules> {
        let ask = self.sources.config;
        self.configs.rules(self.around(), ask)
    }

    pub(crate) fn manifest(&self) -> Result<Option<&str>, Fault> {
        self.configs.manifest(&self.layout)
    }
}

impl Notes {
    /// Notes a fault, once. What could not be read is nothing.
    pub(super) fn fault<T>(&self, fault: Fault) -> Option<T> {
        let mut faults = self.faults.borrow_mut();
        if !faults.contains(&fault) {
            faults.push(fault);
        }
        None
    }
}
