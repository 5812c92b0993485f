//! Is an agent under guard here? The one answer behind status, status line, page, report, `top`,
//! their JSON, and doctor.
//!
//! "Armed" is said only if every registration is there, the agent trusts them where it asks for
//! trust, and it was heard in this session. Otherwise what is known is said, and no more.

use jiff::Timestamp;
use serde::Serialize;
use tollgate_core::env::Env;
use tollgate_core::guard::GUARDS;
use tollgate_core::project::Layout;
use tollgate_core::protocol::EventKind;

use crate::agents::read::{self, Kind, Reading, Registered};
use crate::agents::registration::REGISTRATIONS;
use crate::agents::{AGENTS, Agent, Places};
use crate::heard;
use crate::plain::age;

/// One agent that Tollgate is registered with.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Arming {
    /// What people call it.
    pub(crate) agent: String,
    /// Where it is registered.
    pub(crate) file: String,
    pub(crate) armed: bool,
    /// What is known, in words.
    pub(crate) state: String,
    /// What keeps it from being armed, besides that it was not heard.
    pub(crate) lacks: Vec<String>,
}

impl Arming {
    /// What is known about it, with where it is registered.
    pub(crate) fn words(&self) -> String {
        format!("{} ({}): {}", self.agent, self.file, self.state)
    }
}

/// All of them in a few words.
pub(crate) fn summary(agents: &[Arming]) -> String {
    match (agents.iter().find(|one| one.armed), agents.first()) {
        (Some(_), _) => "armed".to_owned(),
        (None, Some(first)) => first.state.clone(),
        (None, None) => "not registered with any agent".to_owned(),
    }
}

/// Every agent that Tollgate is registered with, in the order of documentation.
pub(crate) fn all(
    places: &Places,
    reading: &Reading,
    layout: Option<&Layout>,
    now: Timestamp,
) -> Vec<Arming> {
    let of = |agent: &Agent| one(agent, places, reading, layout, now);
    AGENTS.iter().filter_map(of).collect()
}

/// The same for the project that an environment is in.
pub(crate) fn here(env: &Env, layout: &Layout, now: Timestamp) -> Vec<Arming> {
    let root = layout.root().to_owned();
    let places = Places::around(root, env, crate::environment::variable);
    all(&places, &read::read(&places), Some(layout), now)
}

fn one(
    agent: Agent,
    places: &Places,
    reading: &Reading,
    layout: Option<&Layout>,
    now: Timestamp,
) -> Option<Arming> {
    let own: Vec<&Registered> = reading
        .ours()
        .filter(|found| agent.runs(found.agent, found.scope))
        .collect();
    let mut files: Vec<String> = Vec::new();
    let plugin: Vec<_> = reading.plugin_of(agent).collect();
    let registered = own.iter().map(|found| &found.file);
    for file in plugin.iter().copied().chain(registered) {
        let shown = places.shown(file);
        if !files.contains(&shown) {
            files.push(shown);
        }
    }
    let heard = layout.and_then(|layout| heard::last(layout, agent.protocol));
    // One that would also run another's registrations may not be used here.
    let is_its = !plugin.is_empty() || own.iter().any(|found| found.agent == agent);
    if files.is_empty() || !(is_its || heard.is_some()) {
        return None;
    }
    let off = reading.switched_off.iter().filter(|off| off.agent == agent);
    let off = off.map(|off| {
        format!(
            "hooks are off: `{}` in {}",
            off.key,
            places.shown(&off.file)
        )
    });
    let mut lacks: Vec<String> = off.collect();
    if plugin.is_empty() {
        lacks.extend(missing(agent, &own));
    }
    lacks.extend(agent.lacks_trust(places, &own));
    let is_fresh = heard.is_some_and(|at| now.duration_since(at) <= heard::FRESH);
    let armed = lacks.is_empty() && is_fresh;
    let state = match heard.map(|at| age(at, now, [" min", " h", " d"])) {
        _ if !lacks.is_empty() => format!("registered, {}", lacks.join("; ")),
        None => "registered, no event heard yet".to_owned(),
        Some(None) => "armed, heard just now".to_owned(),
        Some(Some(age)) if is_fresh => format!("armed, heard {age} ago"),
        Some(Some(age)) => format!("registered, last heard {age} ago"),
    };
    Some(Arming {
        agent: agent.to_string(),
        file: files.join(", "),
        armed,
        state,
        lacks,
    })
}

/// What is not registered, in words. A registration for all guards and all tools covers its event; of
/// guards that are registered by name, as specification 000 has it, each tool needs its own.
pub(crate) fn missing(agent: Agent, own: &[&Registered]) -> Option<String> {
    let mut lacking: Vec<String> = Vec::new();
    for registration in REGISTRATIONS {
        let Some(event) = (agent.event)(registration.event) else {
            continue;
        };
        let here: Vec<&&Registered> = own.iter().filter(|found| found.event == event).collect();
        let is_whole = |found: &&&Registered| found.kind == Kind::Hook && found.is_for_all_tools();
        if here.iter().any(is_whole) {
            continue;
        }
        lacking.push(match absent_guards(registration.event, &here).as_slice() {
            _ if here.is_empty() => event.to_owned(),
            [] => continue,
            names => format!("{event} for {}", names.join(", ")),
        });
    }
    let verb = if lacking.len() == 1 { "is" } else { "are" };
    (!lacking.is_empty()).then(|| format!("{} {verb} missing", lacking.join(", ")))
}

/// The guards that watch the event and are not among what is registered for it.
fn absent_guards(event: EventKind, here: &[&&Registered]) -> Vec<&'static str> {
    let is_here = |name: &str| {
        here.iter().any(|found| match &found.kind {
            Kind::Hook => true,
            Kind::Guard(one) => one.strip_suffix(".cjs").unwrap_or(one) == name,
            Kind::Original(_) => false,
        })
    };
    let watching = GUARDS
        .iter()
        .filter(|guard| guard.on.iter().any(|(kind, _)| *kind == event) && !guard.codes.is_empty());
    let names = watching.map(|guard| guard.name);
    names.filter(|name| !is_here(name)).collect()
}
