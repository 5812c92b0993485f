//! All that a guard may see.
//!
//! Each fact is read when the first guard asks for it, and at most once per event. [`Inputs`]
//! owns the texts, [`EventContext`] the views that borrow from them: the workflow itself, and in parts of
//! their own the tool call, the repository and Tollgate's own files. A fact that cannot be read is a
//! [`Fault`]: the guard sees nothing and allows, and the fault is reported.

mod call;
mod git;
mod inputs;
mod own_files;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

pub use self::call::CallContext;
pub use self::git::GitContext;
pub use self::inputs::{
    AskChanges, AskGit, AskMerged, AskProgram, AskSettings, AskWork, Inputs, SettingsChange,
    Sources,
};
pub use self::own_files::OwnFiles;
pub use crate::configs::{AskConfiguration, CompiledRules, Configuration};
use crate::decision::Fault;
use crate::project::{ConfigFile, Layout, under_docs};
use crate::protocol::{Event, Tool, ToolCall};
pub use crate::text_file::MAX_FILE;
use crate::text_file::read;
use crate::workflow::definitions::Home;
use crate::workflow::delegation::{self, Delegation};
use crate::workflow::manifest::Manifest;
use crate::workflow::phases;
use crate::workflow::requirements::Requirements;
use crate::workflow::state::{State, Workflow};
use tollgate_store::json::{Node, Object};

/// One event and the facts around it.
#[derive(Debug)]
pub struct EventContext<'a> {
    /// The event.
    pub event: &'a Event<'a>,
    /// Its tool call.
    pub call: CallContext<'a>,
    /// The project's repository.
    pub git: GitContext<'a>,
    /// Tollgate's own files.
    pub own_files: OwnFiles<'a>,
    inputs: &'a Inputs,
    is_alone: bool,
    state: OnceCell<Option<State<'a>>>,
    manifest: OnceCell<Manifest<'a>>,
    configs: [OnceCell<Option<Object<'a>>>; 3],
    delegation: OnceCell<Delegation>,
    requirements: OnceCell<Option<Requirements<'a>>>,
}

impl<'a> EventContext<'a> {
    /// The context of one event.
    pub fn new(event: &'a Event<'a>, inputs: &'a Inputs) -> Self {
        Self {
            event,
            call: CallContext::new(event.tool.as_ref(), inputs),
            git: GitContext { inputs },
            own_files: OwnFiles { inputs },
            inputs,
            is_alone: false,
            state: OnceCell::new(),
            manifest: OnceCell::new(),
            configs: Default::default(),
            delegation: OnceCell::new(),
            requirements: OnceCell::new(),
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

    /// The project's state; nothing if it has none or it cannot be read.
    pub fn state(&self) -> Option<&State<'a>> {
        let state = self.state.get_or_init(|| {
            let text = match self.inputs.state() {
                Ok(text) => text?,
                Err(fault) => return self.inputs.notes.fault(fault.clone()),
            };
            match State::parse(text) {
                Ok(state) => Some(state),
                Err(error) => self.inputs.notes.fault(Fault::new(
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
                self.inputs.notes.fault::<()>(Fault::new(
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
                self.inputs.notes.fault::<()>(fault);
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
            self.inputs.notes.faults.borrow_mut().extend(faults);
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
            self.inputs.notes.debug.borrow_mut().push(line);
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
        let lines = self.inputs.notes.debug.take();
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
        let keys = required.members().map(|(phase, _)| phase.to_owned());
        let defined = self.config(ConfigFile::Workflows);
        let defined = defined.and_then(|config| config.object("workflows"));
        let defined = defined.unwrap_or_default();
        let lists = defined
            .members()
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
        Home::of(self.layout()).words(specified, own)
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

    /// The text of a file that the event touches; nothing if it is absent or unreadable.
    pub fn file_text(&self, path: &Path) -> Option<String> {
        match read(path, "state-unreadable") {
            Ok(text) => text,
            Err(fault) => self.inputs.notes.fault(fault),
        }
    }

    /// What could not be read so far.
    pub fn take_faults(&self) -> Vec<Fault> {
        self.inputs.notes.faults.take()
    }
}
