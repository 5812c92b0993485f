//! All that a guard may see.
//!
//! Each fact is read when the first guard asks for it, and at most once per event. [`Inputs`]
//! owns the texts, [`EventContext`] the views that borrow from them. A fact that cannot be read is a
//! [`Fault`]: the guard sees nothing and allows, and the fault is reported.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::configs::Configs;
pub use crate::configs::{AskConfiguration, CompiledRules, Configuration};
use crate::decision::Fault;
use crate::env::Env;
use crate::git::{Disk, LastSeen, Repository, Stands};
use crate::project::{ConfigFile, Layout, ProjectId, lexical, real_on, under_docs};
use crate::protocol::{Event, Tool, ToolCall};
pub use crate::text_file::MAX_FILE;
use crate::text_file::read;
use crate::tool_effects::tool_effects;
use crate::workflow::delegation::{self, Delegation};
use crate::workflow::manifest::Manifest;
use crate::workflow::phases;
use crate::workflow::requirements::Requirements;
use crate::workflow::state::{State, Workflow};
use tollgate_shell::{self as shell, Effect, Survey, World};
use tollgate_store::json::{Node, Object};
use tollgate_store::store::Store;

/// The texts behind a context, each read at most once.
#[derive(Debug)]
pub struct Inputs {
    layout: Layout,
    env: Env,
    cwd: Option<PathBuf>,
    monorepo: OnceCell<Result<Option<String>, Fault>>,
    project: OnceCell<Result<Option<ProjectId>, Fault>>,
    state: OnceCell<Result<Option<String>, Fault>>,
    configs: Configs,
    disk: Disk,
    now: Timestamp,
    sources: Sources,
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

/// One event and the facts around it.
#[derive(Debug)]
pub struct EventContext<'a> {
    /// The event.
    pub event: &'a Event<'a>,
    inputs: &'a Inputs,
    is_alone: bool,
    state: OnceCell<Option<State<'a>>>,
    manifest: OnceCell<Manifest<'a>>,
    configs: [OnceCell<Option<Object<'a>>>; 3],
    delegation: OnceCell<Delegation>,
    requirements: OnceCell<Option<Requirements<'a>>>,
    survey: OnceCell<Option<Survey>>,
    effects: OnceCell<Vec<Effect>>,
    faults: RefCell<Vec<Fault>>,
    debug: RefCell<Vec<String>>,
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
        }
    }

    /// The same, with a way to ask git.
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

    fn state(&self) -> Result<Option<&str>, &Fault> {
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

    fn docs_base(&self) -> String {
        let project = self.project().ok().flatten();
        let monorepo = self.monorepo().ok().flatten();
        Layout::docs_base(project, monorepo)
    }

    /// A configuration file as a text and as an object, and what is wrong with its places.
    pub(crate) fn config(&self, file: ConfigFile) -> (Option<(&str, Object<'_>)>, Vec<Fault>) {
        let ask = self.sources.config;
        self.configs.object(&self.layout, &self.env, file, ask)
    }

    /// The compiled rules that hold here, and what is wrong with them.
    pub fn rules(&self) -> Option<&CompiledRules> {
        let ask = self.sources.config;
        self.configs.rules(&self.layout, &self.env, ask)
    }

    pub(crate) fn manifest(&self) -> Result<Option<&str>, Fault> {
        self.configs.manifest(&self.layout)
    }
}

impl<'a> EventContext<'a> {
    /// The context of one event.
    pub fn new(event: &'a Event<'a>, inputs: &'a Inputs) -> Self {
        Self {
            event,
            inputs,
            is_alone: false,
            state: OnceCell::new(),
            manifest: OnceCell::new(),
            configs: Default::default(),
            delegation: OnceCell::new(),
            requirements: OnceCell::new(),
            survey: OnceCell::new(),
            effects: OnceCell::new(),
            faults: RefCell::default(),
            debug: RefCell::default(),
        }
    }

    /// The same for one guard that is asked by its name.
    #[must_use]
    pub fn alone(self) -> Self {
        Self {
            is_alone: true,
            ..self
        }
    }

    /// Where things are.
    pub fn layout(&self) -> &'a Layout {
        &self.inputs.layout
    }

    /// The tool call of the event.
    pub fn tool(&self) -> Option<&'a Tool<'a>> {
        self.event.tool.as_ref()
    }

    /// The shell command that the event is about.
    pub fn shell_command(&self) -> Option<&'a str> {
        let ToolCall::Shell { command } = &self.tool()?.call else {
            return None;
        };
        Some(command)
    }

    /// The project's state; nothing if it has none or it cannot be read.
    pub fn state(&self) -> Option<&State<'a>> {
        let state = self.state.get_or_init(|| {
            let text = match self.inputs.state() {
                Ok(text) => text?,
                Err(fault) => return self.note(fault.clone()),
            };
            match State::parse(text) {
                Ok(state) => Some(state),
                Err(error) => self.note(Fault::new(
                    "state-corrupt",
                    format!(
                        "{} cannot be read ({error}): guards that need it are off. Restore it from version control or correct it",
                        self.inputs.state_file().display()
                    ),
                )),
            }
        });
        state.as_ref()
    }

    /// The workflow that runs, if one does.
    pub fn workflow(&self) -> Option<&Workflow<'a>> {
        self.state()?.workflow()
    }

    /// The phase of the workflow that runs. Without a running workflow there is none.
    pub fn current_phase(&self) -> Option<Cow<'a, str>> {
        self.workflow()?;
        self.state()?.current_phase()
    }

    /// The phase whose gate is asked about. Without a running workflow a guard that is asked alone
    /// goes by the project's own `current_phase`; where all are asked there is none.
    pub fn gate_phase(&self) -> Option<Cow<'a, str>> {
        if self.is_alone {
            return self.state()?.current_phase();
        }
        self.current_phase()
    }

    /// Who owns which phase. A project without a manifest knows no agents; a new project has
    /// the built-in ones while the workflow has the phases they work in. In phases of other names
    /// anybody may work.
    pub fn manifest(&self) -> &Manifest<'a> {
        let is_known = self.manifest.get().is_some();
        let manifest = self.manifest.get_or_init(|| match self.inputs.manifest() {
            Ok(Some(text)) => Manifest::parse(text).unwrap_or_else(|error| {
                self.note::<()>(Fault::new(
                    "manifest-corrupt",
                    format!("skills-manifest.json cannot be read ({error}): delegations to its agents are not recognised"),
                ));
                Manifest::default()
            }),
            Ok(None) if !self.layout().is_isdlc() && self.has_numbered_phases() => {
                Manifest::built_in()
            }
            Ok(None) => Manifest::default(),
            Err(fault) => {
                self.note::<()>(fault);
                Manifest::default()
            }
        });
        let is_there = || self.inputs.manifest().is_ok_and(|text| text.is_some());
        self.debug_config(ConfigFile::Manifest, is_known, is_there);
        manifest
    }

    /// Whether the workflow that runs has phases of the specification.
    fn has_numbered_phases(&self) -> bool {
        let listed = self.workflow().map(Workflow::phases).unwrap_or_default();
        let current = self.current_phase().map(Cow::into_owned);
        let mut all = listed.into_iter().chain(current);
        all.any(|phase| phases::is_numbered(&phase))
    }

    /// A configuration file as an object; nothing if there is none or it cannot be read.
    pub fn config(&self, file: ConfigFile) -> Option<&Object<'a>> {
        let [requirements, workflows, artifact_paths] = &self.configs;
        let cell = match file {
            ConfigFile::Manifest => return None,
            ConfigFile::Requirements => requirements,
            ConfigFile::Workflows => workflows,
            ConfigFile::ArtifactPaths => artifact_paths,
        };
        let is_known = cell.get().is_some();
        let config = cell.get_or_init(|| {
            let (found, faults) = self.inputs.config(file);
            self.faults.borrow_mut().extend(faults);
            found.map(|(_, object)| object)
        });
        self.debug_config(file, is_known, || config.is_some());
        config.as_ref()
    }

    /// Notes the use of a configuration file in the words of specification 004: a missing one is
    /// looked for anew each time there.
    fn debug_config(&self, file: ConfigFile, is_known: bool, is_there: impl FnOnce() -> bool) {
        self.debug(|| {
            let name = file.name().trim_end_matches(".json");
            match (is_there(), is_known) {
                (true, true) => format!("Config cache HIT: {name}"),
                (true, false) => format!("Config cache MISS: {name} (first load)"),
                (false, _) => format!("Config cache ERROR: {name} -- not found or not readable"),
            }
        });
    }

    /// Notes what happens, if debugging is on.
    pub(crate) fn debug(&self, line: impl FnOnce() -> String) {
        if self.inputs.env.debug {
            let line = line();
            self.debug.borrow_mut().push(line);
        }
    }

    /// What was noted for debugging the guards, in the shape of specification 000, §2.3;
    /// nothing if debugging is off.
    pub fn debug_lines(&self) -> String {
        if !self.inputs.env.debug {
            return String::new();
        }
        if self.state().is_none() {
            self.debug(|| "No state.json, allowing (fail-open)".to_owned());
        } else if self.workflow().is_none() {
            self.debug(|| "No active workflow, allowing".to_owned());
        }
        let lines = self.debug.take();
        let lines = lines
            .iter()
            .map(|line| format!("[skill-validator] {line}\n"));
        lines.collect()
    }

    /// What the current phase must have done, with the running workflow's overrides.
    pub fn requirements(&self) -> Option<&Requirements<'a>> {
        let requirements = self.requirements.get_or_init(|| {
            let phase = self.gate_phase()?;
            let kind = self.workflow().and_then(|workflow| workflow.str("type"));
            let config = self.config(ConfigFile::Requirements)?;
            Requirements::of(config, kind.as_deref(), &phase)
        });
        requirements.as_ref()
    }

    /// The text of the state file, for guards that compute a new one from it.
    pub fn state_text(&self) -> Option<&'a str> {
        self.state()?;
        self.inputs.state().ok().flatten()
    }

    /// The state file the event is about.
    pub fn state_file(&self) -> PathBuf {
        self.inputs.state_file()
    }

    /// What the event's shell command would find around it.
    pub fn world(&self) -> World<'_> {
        World {
            dir: Some(self.start_dir()),
            home: self.home(),
            files: &self.inputs.disk,
        }
    }

    /// The repository of the project.
    pub fn repository(&self) -> Option<Repository> {
        self.inputs.disk.discover(self.layout().root())
    }

    /// The branch that is checked out in the project; nothing if none is, or it is unknown.
    pub fn branch(&self) -> Option<String> {
        let repository = self.inputs.disk.discover(self.layout().root())?;
        match repository.head() {
            shell::Head::Branch(name) => Some(name),
            shell::Head::AskGit => self.ask_branch(&repository.work_tree),
            shell::Head::Detached | shell::Head::None => None,
        }
    }

    /// Whether the event's shell command may change one of these files.
    pub fn may_touch(&self, files: &[&Path]) -> bool {
        let root = self.layout().root();
        self.survey().is_some_and(|survey| {
            shell::touches(survey, files, root, &self.world()) != shell::Touch::None
        })
    }

    /// What the event's shell command would do.
    pub fn survey(&self) -> Option<&Survey> {
        let survey = self
            .survey
            .get_or_init(|| Some(shell::survey(self.shell_command()?, &self.world())));
        survey.as_ref()
    }

    /// What the event's tool call would do, whichever tool it is. Computed only when needed.
    pub fn effects(&self) -> &[Effect] {
        self.effects
            .get_or_init(|| match (self.survey(), self.tool()) {
                (Some(survey), _) => shell::effects(survey, &self.world()),
                (None, Some(tool)) => tool_effects(tool, &|path| self.absolute(path)),
                (None, None) => Vec::new(),
            })
    }

    /// When the event happens.
    pub fn now(&self) -> Timestamp {
        self.inputs.now
    }

    /// What the event's delegation means for the workflow.
    pub fn delegation(&self) -> &Delegation {
        self.delegation
            .get_or_init(|| match self.tool().map(|tool| &tool.call) {
                Some(ToolCall::Delegate {
                    agent,
                    prompt,
                    description,
                }) => {
                    let detect = |known: &[String]| {
                        delegation::detect(agent, prompt, description, self.manifest(), known)
                    };
                    let mut known = self.workflow().map(Workflow::phases).unwrap_or_default();
                    match detect(&known) {
                        // Only an unknown key is worth reading the configuration for.
                        Delegation::UnknownPhase(_) => {
                            known.extend(self.configured_phases());
                            detect(&known)
                        }
                        found @ (Delegation::None | Delegation::Phase(_)) => found,
                    }
                }
                _ => Delegation::None,
            })
    }

    /// The phases that the project's own workflows and requirements name.
    fn configured_phases(&self) -> Vec<String> {
        let required = self.config(ConfigFile::Requirements);
        let required = required.and_then(|config| config.object("phase_requirements"));
        let required = required.unwrap_or_default();
        let keys = required.iter().map(|(phase, _)| phase.to_owned());
        let defined = self.config(ConfigFile::Workflows);
        let defined = defined.and_then(|config| config.object("workflows"));
        let defined = defined.unwrap_or_default();
        let lists = defined
            .iter()
            .filter_map(|(_, one)| one.get("phases")?.array());
        let listed = lists.flatten().filter_map(Node::str).map(Cow::into_owned);
        keys.chain(listed).collect()
    }

    /// The state file as messages name it.
    pub fn shown_state_file(&self) -> String {
        let file = self.state_file();
        self.layout().shown(&file).display().to_string()
    }

    /// A message in the words of the workflow's home: the specification's in the original's home,
    /// Tollgate's own everywhere else.
    pub fn words(&self, specified: String, own: String) -> String {
        if self.layout().is_isdlc() {
            specified
        } else {
            own
        }
    }

    /// Where `name`, a document of the workflow, is or belongs.
    pub fn document(&self, name: &str) -> PathBuf {
        self.layout()
            .document(self.inputs.project().ok().flatten(), name)
    }

    /// Where the documents of the work itself are.
    pub fn docs(&self) -> PathBuf {
        self.layout().root().join(self.inputs.docs_base())
    }

    /// Where an artifact of a configured path is or belongs, relative to the root.
    pub fn artifact(&self, path: &str) -> String {
        under_docs(&self.inputs.docs_base(), path)
    }

    /// Whether an artifact of a configured path is there.
    pub fn has_artifact(&self, path: &str) -> bool {
        self.inputs.has_artifact(path)
    }

    /// The files that differ from where the branch left `base`; nothing if it is unknown.
    pub fn changed_files(&self, base: Option<&str>) -> Option<Vec<String>> {
        match self.inputs.sources.changes?(self.layout().root(), base) {
            Ok(files) => Some(files),
            Err(error) => self.note(Fault::new(
                "git-unavailable",
                format!("git cannot tell what changed ({error}): guards that need it are off"),
            )),
        }
    }

    /// The name of the work as it is; nothing if it is unknown, as without git.
    pub fn work_tree(&self) -> Option<String> {
        let ask = self.inputs.sources.work?;
        (ask.tree)(self.layout()).ok()
    }

    /// The files that differ from the work as it was; nothing if it is unknown.
    pub fn changed_since(&self, tree: &str) -> Option<Vec<String>> {
        match self.inputs.changed_since(tree) {
            Ok(files) => Some(files),
            Err(error) => self.note(Fault::new(
                "git-unavailable",
                format!(
                    "git cannot tell what changed since the tests passed ({error}): the pass \
                     counts as it is"
                ),
            )),
        }
    }

    /// Every file that an agent takes hooks from.
    pub fn settings_files(&self) -> Vec<PathBuf> {
        let Inputs { layout, env, .. } = self.inputs;
        let ask = self.inputs.sources.settings;
        ask.map(|ask| (ask.files)(layout, env)).unwrap_or_default()
    }

    /// How a change would take Tollgate out of a settings file; nothing if it would not.
    pub fn settings_loss(&self, change: &SettingsChange<'_>) -> Option<String> {
        let Inputs { layout, env, .. } = self.inputs;
        (self.inputs.sources.settings?.loss)(layout, env, change)
    }

    /// Whether reviews found something in the project that is still open.
    pub fn has_open_findings(&self) -> bool {
        let Inputs { layout, env, .. } = self.inputs;
        self.inputs
            .sources
            .open_findings
            .is_some_and(|ask| ask(layout, env))
    }

    /// Whether a person is really asked if this event is answered with a question.
    pub fn asks_hold(&self) -> bool {
        self.event.protocol.holds_to_ask(self.event)
    }

    /// The running program.
    pub fn running_program(&self) -> Option<PathBuf> {
        self.inputs.sources.program.and_then(|ask| ask())
    }

    /// The running program and every place where another one of its name would be started in its
    /// stead: on the search path, and where login shells look first.
    pub fn programs(&self) -> Vec<PathBuf> {
        let running = self.running_program();
        let directories = self.inputs.env.path.iter().flat_map(std::env::split_paths);
        let home = self.home().into_iter();
        let first = home.flat_map(|home| [".local/bin", "bin"].map(|name| home.join(name)));
        let named = directories.filter(|directory| directory.is_absolute());
        let named = named
            .chain(first)
            .map(|directory| directory.join("tollgate"));
        running.into_iter().chain(named).collect()
    }

    /// The directory that relative paths and shell commands of the event start from.
    pub fn start_dir(&self) -> &Path {
        let cwd = self.inputs.cwd.as_deref().filter(|cwd| cwd.is_absolute());
        cwd.unwrap_or_else(|| self.layout().root())
    }

    /// The person's home directory.
    pub fn home(&self) -> Option<&Path> {
        self.inputs.env.home.as_deref()
    }

    /// What Tollgate keeps about the person.
    pub fn person(&self) -> Option<PathBuf> {
        Layout::person(&self.inputs.env)
    }

    /// The branch of a repository that only git can read.
    pub fn ask_branch(&self, work_tree: &Path) -> Option<String> {
        self.inputs.sources.git.and_then(|ask| ask(work_tree))
    }

    /// Whether all work of a branch that is gone is in another one, as far as it can be known.
    pub fn was_merged(&self, work_tree: &Path, seen: &LastSeen, into: &str) -> bool {
        let ask = self.inputs.sources.merged;
        ask.is_some_and(|ask| ask(work_tree, seen, into))
    }

    /// The commit of a branch that has all work of another one, whether that is gone or not.
    pub fn commit_with(&self, branch: &str, into: &str) -> Option<String> {
        let repository = self.repository()?;
        let seen = repository.seen(branch)?;
        let Stands::For(commit) = repository.branch_commit(into) else {
            return None;
        };
        self.was_merged(&repository.work_tree, &seen, into)
            .then_some(commit)
    }

    /// A path of the event, made absolute. Agents' tools take `~/` for the person's home.
    pub fn absolute(&self, path: &str) -> PathBuf {
        let at_home = path.strip_prefix("~/").zip(self.home());
        lexical(&match at_home {
            Some((rest, home)) => home.join(rest),
            None => self.start_dir().join(path),
        })
    }

    /// The path with the links of its directories followed, as far as they exist.
    pub fn real(&self, path: &Path) -> PathBuf {
        real_on(&self.inputs.disk, path)
    }

    /// The text of a file that the event touches; nothing if it is absent or unreadable.
    pub fn file_text(&self, path: &Path) -> Option<String> {
        match read(path, "state-unreadable") {
            Ok(text) => text,
            Err(fault) => self.note(fault),
        }
    }

    /// What could not be read so far.
    pub fn take_faults(&self) -> Vec<Fault> {
        self.faults.take()
    }

    fn note<T>(&self, fault: Fault) -> Option<T> {
        let mut faults = self.faults.borrow_mut();
        if !faults.contains(&fault) {
            faults.push(fault);
        }
        None
    }
}
