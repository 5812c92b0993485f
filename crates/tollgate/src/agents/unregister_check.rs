//! Would a change of a settings file take Tollgate out of it?
//!
//! A registration is kept if one is left that watches at least the same: of the same event, for
//! the same tools or all of them, for the same guard or all of them. Everything else about it may
//! change. A file that the agent could no longer read has no registrations.

use std::path::PathBuf;

use tollgate_core::context::{AskSettings, SettingsChange};
use tollgate_core::env::Env;
use tollgate_core::project::Layout;

use super::read::{Reading, read};
use super::{AGENTS, Agent, Places, Scope};

/// How an event's guards ask.
pub(crate) const ASK: AskSettings = AskSettings { files, loss };

fn files(layout: &Layout, env: &Env) -> Vec<PathBuf> {
    let places = places(layout, env);
    let mut files: Vec<PathBuf> = all(&places).map(|(.., file)| file).collect();
    files.dedup();
    files
}

fn loss(layout: &Layout, env: &Env, change: &SettingsChange<'_>) -> Option<String> {
    let places = places(layout, env);
    let SettingsChange {
        file,
        before,
        after,
    } = *change;
    let (agent, scope, _) = all(&places).find(|(.., known)| known == file)?;
    let says = |text: Option<&str>| {
        let mut reading = Reading::default();
        if let Some(text) = text {
            reading.take(agent, scope, file, text.as_bytes());
        }
        reading
    };
    let (before, after) = (says(before), says(after));
    let lost: Vec<&str> = before
        .ours()
        .filter(|was| !after.ours().any(|is| is.covers(was)))
        .map(|was| was.event.as_str())
        .collect();
    if let [first, rest @ ..] = lost.as_slice() {
        let flaw = after.flaws.first();
        return Some(match (flaw, rest.len()) {
            (Some((.., flaw)), _) => format!("{agent} could not read it any more ({flaw})"),
            (None, 0) => format!("the registration for {first} would be gone"),
            (None, more) => format!("the registrations for {first} and {more} more would be gone"),
        });
    }
    if !before.plugin.is_empty() && after.plugin.is_empty() {
        return Some("the plugin that registers it would be off".to_owned());
    }
    let switch = after.switched_off.first()?;
    let is_new = before.switched_off.is_empty() && is_registered(agent, &places);
    is_new.then(|| format!("`{}` would switch off all hooks of {agent}", switch.key))
}

fn places(layout: &Layout, env: &Env) -> Places {
    Places::around(layout.root().to_owned(), env, crate::environment::variable)
}

/// Every file that any agent takes hooks from.
fn all(places: &Places) -> impl Iterator<Item = (Agent, Scope, PathBuf)> {
    AGENTS.iter().copied().flat_map(move |agent| {
        Scope::ALL.into_iter().flat_map(move |scope| {
            let files = agent.reads(scope, places).into_iter();
            files.map(move |file| (agent, scope, file))
        })
    })
}

/// Whether any file of the agent registers Tollgate.
fn is_registered(agent: Agent, places: &Places) -> bool {
    let reading = read(places);
    let by_plugin = reading.plugin_of(agent).next().is_some();
    by_plugin || reading.ours().any(|found| found.agent == agent)
}
