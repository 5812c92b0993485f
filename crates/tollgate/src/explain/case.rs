//! An event, the project it happened in, and what would be different: decided as the hook would.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;
use tollgate_core::context::{EventContext, Inputs, Sources};
use tollgate_core::decision::{Decision, Fault, Finding};
use tollgate_core::env::Env;
use tollgate_core::guard::GUARDS;
use tollgate_core::project::Layout;
use tollgate_core::protocol::{self, Event, EventKind, Hints, Protocol};
use tollgate_core::rules::{self, Asked, Rules};
use tollgate_store::document::Document;

use super::Change;
use super::sandbox::{self, Sandbox};

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(super) root: PathBuf,
    pub(super) env: Env,
    /// The event as it was sent.
    pub(crate) event: Value,
    pub(super) protocol: Option<Protocol>,
    pub(super) name: Option<String>,
    /// The state file, by its way from the root.
    pub(super) state_file: PathBuf,
    /// What it says; nothing if there is none.
    state: Option<Document>,
    pub(super) files: BTreeMap<String, String>,
    pub(super) branch: Option<String>,
    pub(super) touched: Vec<String>,
    pub(super) now: Timestamp,
}

/// What the guards say to a case.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    /// Each guard that watches such an event, in their order.
    pub(crate) answers: Vec<(&'static str, Decision)>,
    pub(crate) faults: Vec<Fault>,
    /// The event's name as it was understood.
    pub(crate) event: String,
    pub(crate) tool: Option<String>,
    /// Whether gates and plans would be asked, too.
    pub(crate) is_stop: bool,
}

/// What is said of a stop: nothing here runs a gate.
pub(crate) const UNASKED: &str =
    "gates and plans are left out here: see `tollgate run` and `tollgate plan next`";

/// Why the guards cannot be asked. That is no answer of theirs.
#[derive(Debug)]
pub(crate) enum Unasked {
    /// It is no event.
    NoEvent(String),
    /// There is no place to try it in.
    NoCopy(String),
}

impl Judged {
    pub(crate) fn findings(&self, guard: &str) -> impl Iterator<Item = &Finding> {
        let said = self.answers.iter().filter(move |(name, _)| *name == guard);
        said.flat_map(|(_, said)| said.findings())
    }

    pub(crate) fn all_findings(&self) -> impl Iterator<Item = &Finding> {
        self.answers.iter().flat_map(|(_, said)| said.findings())
    }

    /// Asks every guard, in the order of their table, whatever another one says.
    pub(crate) fn of(event: &Event<'_>, inputs: &Inputs) -> Self {
        let context = EventContext::new(event, inputs);
        let watching = GUARDS.iter().filter(|guard| guard.watches(event));
        let guards = watching.map(|guard| (guard.name, guard.check(&context)));
        let ruled = inputs
            .rules()
            .and_then(|rules| Rules::of(rules.text.as_deref()?));
        let ruled = ruled
            .filter(|_| event.kind == EventKind::PreTool)
            .map(|all| {
                let mut asked = Asked {
                    trusts_texts: &|| true,
                    was_noted: &|note| !note.starts_with(rules::NOTED_UNSEEN),
                    lift: &mut |_| None,
                };
                (
                    rules::NAME,
                    rules::judge(&context, all, &mut asked).decision,
                )
            });
        let answers = ruled.into_iter().chain(guards).collect();
        let mut faults = context.take_faults();
        faults.extend(event.faults());
        Self {
            answers,
            faults,
            is_stop: event.kind == EventKind::Stop,
            event: event.name.to_string(),
            tool: event.tool.as_ref().map(|tool| tool.name.to_string()),
        }
    }
}

impl Case {
    /// The case of an event that happened in this project. Of a state that cannot be read nothing
    /// is known, as for the guards.
    pub(crate) fn new(
        layout: &Layout,
        env: Env,
        event: Value,
        state: Option<&str>,
        now: Timestamp,
    ) -> Self {
        let inputs = Inputs::new(layout.clone(), env.clone(), None, now);
        let state_file = inputs.state_file();
        let state_file = state_file
            .strip_prefix(layout.root())
            .map_or_else(|_| state_file.clone(), Path::to_owned);
        Self {
            root: layout.root().to_owned(),
            env,
            event,
            protocol: None,
            name: None,
            state_file,
            state: state.and_then(|text| Document::parse(text.as_bytes()).ok()),
            files: BTreeMap::new(),
            branch: None,
            touched: Vec::new(),
            now,
        }
    }

    /// The same, with what the registration said about the event.
    pub(crate) fn asked_by(self, protocol: Option<Protocol>, name: Option<&str>) -> Self {
        Self {
            protocol,
            name: name.map(str::to_owned),
            ..self
        }
    }

    /// The same case with these changes; nothing if one of them cannot be made.
    pub(super) fn with(&self, changes: &[Change]) -> Option<Self> {
        let mut case = self.clone();
        for change in changes {
            match change {
                Change::State { path, value } => {
                    let state = case.state.get_or_insert_default();
                    match value {
                        Some(value) => state.set(path, value.clone()).ok()?,
                        None => drop(state.remove(path)),
                    }
                }
                Change::Event { path, value } => {
                    let (last, way) = path.split_last()?;
                    let mut place = &mut case.event;
                    for key in way {
                        place = place.get_mut(key)?;
                    }
                    place.as_object_mut()?.insert(last.clone(), value.clone());
                }
                Change::File { path, text } => {
                    case.files.insert(path.clone(), text.clone());
                }
                Change::Branch(name) => case.branch = Some(name.clone()),
                Change::Touched(files) => case.touched.extend(files.iter().cloned()),
            }
        }
        Some(case)
    }

    /// What the state says; nothing if there is none.
    pub(crate) fn state(&self) -> Option<&Document> {
        self.state.as_ref()
    }

    pub(super) fn input(&self, key: &str) -> String {
        let input = self.event.get("tool_input");
        let text = input.and_then(|input| input.get(key)?.as_str());
        text.unwrap_or_default().to_owned()
    }

    /// What a file of the project says in this case.
    pub(super) fn text_of(&self, path: &str) -> String {
        let full = self.root.join(path);
        match (self.files.get(path), &self.state) {
            (Some(text), _) => text.clone(),
            (None, Some(state)) if full == self.root.join(&self.state_file) => state.to_text(),
            (None, _) => std::fs::read_to_string(full).unwrap_or_default(),
        }
    }

    pub(crate) fn judge(&self) -> Result<Judged, Unasked> {
        let sandbox = Sandbox::of(self).map_err(|error| Unasked::NoCopy(error.to_string()))?;
        let text = sandbox.inside(&self.event.to_string(), &self.root);
        let hints = |event| Hints {
            protocol: self.protocol,
            event,
            gemini_env: self.env.gemini,
        };
        let parse = |event| {
            let parsed = protocol::parse(&text, &hints(event));
            parsed.map_err(|why| Unasked::NoEvent(why.to_string()))
        };
        let mut event = parse(None)?;
        // What the registration named is said again only where the event does not say it.
        if let Some(name) = self.name.as_deref().filter(|name| *name != event.name) {
            event = parse(Some(name))?;
        }
        let layout = Layout::at(sandbox.root())
            .ok_or_else(|| Unasked::NoCopy("it has no project in it".to_owned()))?;
        let cwd = event.cwd.as_deref().map(PathBuf::from);
        let inputs = Inputs::new(layout, self.env.clone(), cwd, self.now).asking(Sources {
            changes: Some(sandbox::changes),
            work: Some(sandbox::WORK),
            ..crate::changes::SOURCES
        });
        let judged = sandbox::pretending(&self.root, &self.touched, || Judged::of(&event, &inputs));
        Ok(Judged {
            answers: judged
                .answers
                .into_iter()
                .map(|(guard, said)| (guard, sandbox.outside(said, &self.root)))
                .collect(),
            ..judged
        })
    }
}
