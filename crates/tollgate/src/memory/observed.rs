//! What a project has, as far as its loss matters: by names and digests.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_core::workflow::state::State;
use tollgate_store::fs;
use tollgate_store::json::Node;

use super::Notice;
use crate::agents::Places;
use crate::agents::claude::mods;
use crate::agents::read::{self, Reading};
use crate::agents::unregister_check::is_as_installed;
use crate::hash::digest;

const CAP: u64 = 64 << 20;

/// The text of a project's state.
pub(super) fn state_text(layout: &Layout) -> Option<String> {
    let text = fs::read_regular(&layout.state_file(None), CAP).ok()??;
    Some(text.into_text())
}

/// What a project has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Observed {
    /// The running workflow's names, the best first, and last its type. It gets some of them only later.
    workflow: Vec<String>,
    /// How workflows before it ended, by their names.
    ended: BTreeMap<String, String>,
    /// Whether Tollgate keeps what it last saw of the state.
    is_watched: bool,
    /// Whether there is a journal.
    has_journal: bool,
    /// Whether there is a configuration of gates.
    has_gates: bool,
    /// Tollgate's registrations: file and event, with a digest of what is said there. One that is as an
    /// install writes it has none.
    registered: BTreeMap<String, String>,
    /// What decides over Tollgate's hooks: switches, variables.
    influences: Vec<String>,
    /// What can answer before them: plugins, mods.
    plugins: Vec<String>,
}

impl Observed {
    /// What a project with this state has.
    pub(super) fn of(layout: &Layout, env: &Env, state: Option<&str>) -> Self {
        let mut observed = Self {
            is_watched: layout.store_home(None).join("lock").exists(),
            has_journal: layout.local().join("journal.jsonl").exists(),
            has_gates: layout.gates_config().exists(),
            ..Self::default()
        };
        if let Some(state) = state.and_then(|text| State::parse(text).ok()) {
            observed.take_workflow(&state);
        }
        let places = Places::around(layout.root().to_owned(), env, crate::environment::variable);
        observed.take_settings(&read::read(&places), &places);
        let mods = mods::find(&places);
        observed
            .plugins
            .extend(mods.iter().map(|found| places.shown(&found.directory)));
        observed
    }

    fn take_workflow(&mut self, state: &State<'_>) {
        let names = |get: &dyn Fn(&str) -> Option<String>| {
            let keys = ["artifact_folder", "id", "description"];
            let kind = get("type").unwrap_or_else(|| "without a name".to_owned());
            keys.into_iter().filter_map(get).chain([kind]).collect()
        };
        self.workflow = state.workflow().map_or_else(Vec::new, |workflow| {
            names(&|key| workflow.str(key).map(std::borrow::Cow::into_owned))
        });
        let history = state.get("workflow_history").and_then(Node::array);
        for entry in history.into_iter().flatten() {
            let get = |key: &str| {
                entry
                    .get(key)
                    .and_then(Node::str)
                    .map(std::borrow::Cow::into_owned)
            };
            if let Some(status) = get("status") {
                let why = get("cancellation_reason").map(|why| format!(": {why}"));
                let end = format!("{status}{}", why.unwrap_or_default());
                let names: Vec<String> = names(&get);
                let ended = telling(&names).iter().cloned();
                self.ended.extend(ended.map(|name| (name, end.clone())));
            }
        }
    }

    fn take_settings(&mut self, reading: &Reading, places: &Places) {
        for found in reading.hooks().filter(|found| found.effective) {
            let key = format!("{} {}", places.shown(&found.file), found.event);
            let said = if is_as_installed(found) {
                String::new()
            } else {
                digest((found.matcher.as_deref(), found.said()))
            };
            self.registered.insert(key, said);
        }
        for off in &reading.switched_off {
            let shown = places.shown(&off.file);
            self.influences.push(format!(
                "`{}` in {shown} switches all hooks of {} off",
                off.key, off.agent
            ));
        }
        for (_, file, influence) in &reading.influences {
            let shown = places.shown(file);
            let name = |pair: &String| pair.split('=').next().unwrap_or_default().to_owned();
            let set = influence.variables.iter().map(name);
            self.influences
                .extend(set.map(|name| format!("{shown} sets {name}")));
            let enabled = influence.plugins.iter().map(name);
            self.plugins
                .extend(enabled.map(|name| format!("{name} (enabled in {shown})")));
        }
    }

    /// What it had and has no more, and what came before Tollgate's hooks.
    pub(super) fn lacks(&self, had: &Self) -> Vec<Notice> {
        let lost = self.lost_workflow(had).into_iter();
        let lost = lost.chain(self.lost_files(had));
        lost.chain(self.lost_registrations(had))
            .chain(self.new_influences(had))
            .collect()
    }

    fn lost_workflow(&self, had: &Self) -> Option<Notice> {
        let names = telling(&had.workflow);
        let name = names.first()?;
        if names.iter().any(|name| self.workflow.contains(name)) {
            return None;
        }
        let text = match names.iter().find_map(|name| self.ended.get(name)) {
            Some(end) if end.starts_with("cancelled") => format!("the workflow {name} was {end}"),
            Some(_) => return None,
            None => format!(
                "the workflow {name} that this project had is gone: its state file has none, or is not there. \
                 If that was not intended, restore the file, or start the workflow again"
            ),
        };
        Some(Notice::new("SW-005", text))
    }

    fn lost_files(&self, had: &Self) -> impl Iterator<Item = Notice> {
        let lost =
            |had: bool, has: bool, code, text| (had && !has).then(|| Notice::new(code, text));
        [
            lost(
                had.is_watched && !self.workflow.is_empty(),
                self.is_watched,
                "SW-005",
                "what Tollgate kept about the state (.tollgate/local/state) was removed: whether \
                 the state was changed since is not known",
            ),
            lost(
                had.has_journal,
                self.has_journal,
                "SW-005",
                "the journal of this project was removed",
            ),
            lost(
                had.has_gates,
                self.has_gates,
                "SW-006",
                "the gates that this project had are gone: their configuration is not there, so \
                 nothing is verified. If that was not intended, restore it: `git checkout -- tollgate.toml`",
            ),
        ]
        .into_iter()
        .flatten()
    }

    fn lost_registrations(&self, had: &Self) -> Option<Notice> {
        let is_lost = |(key, said): &(&String, &String)| {
            let now = self.registered.get(*key);
            !now.is_some_and(|now| now.is_empty() || now == *said)
        };
        let mut lost = had.registered.iter().filter(is_lost);
        let (first, _) = lost.next()?;
        let more = match lost.count() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(Notice::new(
            "SW-007",
            format!(
                "Tollgate's registration {first}{more} is gone, or is not what it was: the agent may run \
                 unguarded. `tollgate install` restores it"
            ),
        ))
    }

    fn new_influences(&self, had: &Self) -> impl Iterator<Item = Notice> {
        let influences = self.influences.iter();
        let influences = influences.filter(|one| !had.influences.contains(one));
        let plugins = self.plugins.iter();
        let plugins = plugins.filter(|one| !had.plugins.contains(one));
        let influences = influences.map(|influence| {
            let text = format!("{influence}: Tollgate's hooks may not work any more");
            Notice::new("SW-007", text)
        });
        influences.chain(plugins.map(|plugin| {
            let text = format!("the plugin {plugin} is new and can answer before Tollgate's hooks");
            Notice::new("SW-008", text)
        }))
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "workflow": self.workflow, "ended": self.ended, "watched": self.is_watched,
            "journal": self.has_journal, "gates": self.has_gates, "registered": self.registered,
            "influences": self.influences, "plugins": self.plugins,
        })
    }

    pub(super) fn from_json(value: &Value) -> Option<Self> {
        let is = |key: &str| value.get(key).and_then(Value::as_bool);
        let list = |key: &str| {
            let items = value.get(key)?.as_array()?.iter();
            Some(
                items
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
                    .collect::<Vec<_>>(),
            )
        };
        let map = |key: &str| {
            let members = value.get(key)?.as_object()?.iter();
            let members =
                members.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
            Some(members.collect::<BTreeMap<_, _>>())
        };
        // An older program kept one name.
        let only = |name: &str| vec![name.to_owned()];
        let workflow = list("workflow").or_else(|| value.get("workflow")?.as_str().map(only));
        let workflow = workflow.unwrap_or_default();
        Some(Self {
            workflow,
            ended: map("ended")?,
            is_watched: is("watched")?,
            has_journal: is("journal")?,
            has_gates: is("gates")?,
            registered: map("registered")?,
            influences: list("influences")?,
            plugins: list("plugins")?,
        })
    }
}

/// The names that tell a workflow from others: a type does only where there is no other name.
fn telling(names: &[String]) -> &[String] {
    match names {
        [telling @ .., _] if !telling.is_empty() => telling,
        _ => names,
    }
}
