//! Would a change of a settings file take Tollgate out of it?
//!
//! A registration is kept if one is left that watches at least the same (the same event, the same
//! tools or all of them) and says nothing else of how: `async`, `if` or a timeout of a millisecond
//! leave a hook that decides nothing. What `install` would write is right, too. A file that the
//! agent could no longer read has no registrations. Besides them, no variable that decides over
//! the hooks is set, and no plugin enabled.

use std::path::{Path, PathBuf};

use tollgate_core::context::{AskSettings, SettingsChange};
use tollgate_core::env::Env;
use tollgate_core::project::Layout;

use super::influence::Influence;
use super::read::{Reading, Registered, read};
use super::registration::REGISTRATIONS;
use super::{AGENTS, Agent, Places, Scope, Strictness};

/// How an event's guards ask.
pub(crate) const ASK: AskSettings = AskSettings { files, loss };

fn files(layout: &Layout, env: &Env) -> Vec<PathBuf> {
    let places = places(layout, env);
    let mut files: Vec<PathBuf> = all(&places).map(|(.., file)| file).collect();
    files.dedup();
    let lines = environment_lines(&places);
    files.into_iter().chain(lines).collect()
}

/// Files of lines that set an agent's environment.
fn environment_lines(places: &Places) -> impl Iterator<Item = PathBuf> {
    let agents = AGENTS.iter().copied();
    agents.flat_map(move |agent| {
        let names = agent.environment_files.iter();
        let names = names.filter(|name| {
            Path::new(name)
                .file_name()
                .is_some_and(|name| name == ".env")
        });
        let home = places.home_of(agent);
        names.flat_map(move |name| {
            let own = home.map(|home| home.join(".env"));
            own.into_iter().chain([places.root.join(name)])
        })
    })
}

fn loss(layout: &Layout, env: &Env, change: &SettingsChange<'_>) -> Option<String> {
    let places = places(layout, env);
    let SettingsChange {
        file,
        before,
        after,
    } = *change;
    let Some((agent, scope, _)) = all(&places).find(|(.., known)| known == file) else {
        let says = |text: Option<&str>| Influence::of_lines(text.unwrap_or_default());
        return says(after).news_since(&says(before));
    };
    let says = |text: Option<&str>| {
        let mut reading = Reading::default();
        if let Some(text) = text {
            reading.take(agent, scope, file, text.as_bytes());
        }
        reading
    };
    let (before, after) = (says(before), says(after));
    let is_kept = |was: &Registered| {
        let mut now = after.ours();
        now.any(|is| {
            let is_repair = is.command.program == was.command.program && is_as_installed(is);
            is.replaces(was) || (is.covers(was) && is_repair)
        })
    };
    let lost: Vec<&Registered> = before.ours().filter(|was| !is_kept(was)).collect();
    if let [first, ..] = lost.as_slice()
        && after.flaws.is_empty()
        && after.ours().any(|is| is.covers(first))
    {
        let event = &first.event;
        return Some(format!("the registration for {event} would be another one"));
    }
    let lost: Vec<&str> = lost.iter().map(|was| was.event.as_str()).collect();
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
    let influence = |reading: &Reading| {
        let own = reading.influences.first();
        own.map(|(.., influence)| influence.clone())
            .unwrap_or_default()
    };
    let news = influence(&after).news_since(&influence(&before));
    if news.is_some() && is_registered(agent, &places) {
        return news;
    }
    let switch = after.switched_off.first()?;
    let is_new = before.switched_off.is_empty() && is_registered(agent, &places);
    is_new.then(|| format!("`{}` would switch off all hooks of {agent}", switch.key))
}

/// Whether a registration is what an install writes: putting it back takes nothing away.
pub(crate) fn is_as_installed(found: &Registered) -> bool {
    let agent = found.agent;
    let mut table = REGISTRATIONS.iter();
    let row = table.find(|row| (agent.event)(row.event) == Some(found.event.as_str()));
    let is_written = |row, strictness| {
        let command = agent.command(&found.command.program, found.scope, strictness);
        agent.handler_for(row, &command, strictness) == found.handler
    };
    row.is_some_and(|row| {
        is_written(row, Strictness::Lenient) || is_written(row, Strictness::Strict)
    })
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
