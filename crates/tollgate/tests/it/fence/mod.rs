//! The fence: every route around Tollgate that was thought of, played against the real binary in a
//! project that `init` and `install` made, with what happens. `docs/fence.md` is made from the same
//! tables, and what stays possible is named in SECURITY.md. What honest people do is beside it.

mod chat;
mod config_change;
mod honest;
mod machine;
mod routes;

use std::fmt::Write as _;

use machine::{Agent, Stage};
use routes::CLASSES;

/// A group of routes.
pub(crate) struct Class {
    pub(crate) title: &'static str,
    /// What the routes have in common, in a sentence.
    pub(crate) about: &'static str,
    pub(crate) routes: &'static [Route],
}

/// One way that an agent may take.
pub(crate) struct Route {
    /// Its name here, in `docs/fence.md` and in SECURITY.md.
    id: &'static str,
    /// What is done, in words.
    what: &'static str,
    /// Whose events and settings it is played with.
    agents: &'static [Agent],
    steps: &'static [Step],
    end: End,
}

/// What happens on a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A block with this code before anything happened.
    Stopped(&'static str),
    /// The command itself refuses; nothing happened.
    Refused,
    /// It happened, was undone at the next event and reported with this code.
    Undone(&'static str),
    /// It happened, and a later event of the session, or the next session, reports it with this code.
    Said(&'static str),
    /// The same, in a line of the journal that has this text.
    Names(&'static str, &'static str),
    /// It happened, no event reports it, and this command finds it.
    Found(&'static str),
    /// It happened, and no event reports it.
    Possible,
}

/// A step on a route. `$ROOT`, `$HOME` and `$TOLLGATE` in texts are the machine's.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// The agent's shell tool: the event before it, the command unless that blocked it, the event
    /// after it.
    Shell(&'static str),
    /// The same in a directory beside the project, without `CLAUDE_PROJECT_DIR`.
    ShellOutside(&'static str),
    /// A command that text does not show: the events name another one.
    Hidden(&'static str),
    /// A process of the agent's that goes on between its tool calls: no event is around it.
    Background(&'static str),
    /// A person gives something up with a command of Tollgate in a terminal of their own.
    Person(&'static [&'static str]),
    /// The agent's tool that writes a whole file.
    Write(&'static str, &'static str),
    /// The agent's tool that replaces a text in a file.
    Edit(&'static str, &'static str, &'static str),
    /// From here on the hook's environment has this variable.
    HookEnv(&'static str, &'static str),
    /// The agent changes its permission mode, its directory or the like: a member of all further
    /// events.
    Says(&'static str, &'static str),
    /// Another event of this name.
    Event(&'static str),
    /// The agent stops.
    Stop,
}

pub(crate) const CLAUDE: &[Agent] = &[Agent::Claude];
pub(crate) const ALL: &[Agent] = Agent::ALL;

/// A route of Claude Code.
pub(crate) const fn route(
    id: &'static str,
    what: &'static str,
    steps: &'static [Step],
    end: End,
) -> Route {
    Route {
        id,
        what,
        agents: CLAUDE,
        steps,
        end,
    }
}

/// A route of all agents.
pub(crate) const fn route_of_all(
    id: &'static str,
    what: &'static str,
    steps: &'static [Step],
    end: End,
) -> Route {
    Route {
        agents: ALL,
        ..route(id, what, steps, end)
    }
}

impl Route {
    pub(crate) const fn of(self, agents: &'static [Agent]) -> Self {
        Self { agents, ..self }
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stopped(code) => write!(f, "stopped ({code})"),
            Self::Refused => f.write_str("stopped (the command refuses)"),
            Self::Undone(code) => write!(f, "undone ({code})"),
            Self::Said(code) | Self::Names(code, _) => write!(f, "said ({code})"),
            Self::Found(command) => write!(f, "said (by `{command}`)"),
            Self::Possible => f.write_str("possible"),
        }
    }
}

/// Plays all routes of a class; all that end otherwise are named.
#[track_caller]
fn play(title: &str) {
    let class = CLASSES.iter().find(|class| class.title == title).unwrap();
    let mut wrong = String::new();
    for agent in Agent::ALL {
        let mut stage = None;
        let routes = class.routes.iter();
        for route in routes.filter(|route| route.agents.contains(agent)) {
            let stage = stage.get_or_insert_with(|| Stage::new(*agent));
            let (end, story) = stage.before(route.steps).play(route.steps, route.end);
            if end != route.end {
                let (id, what, expected) = (route.id, route.what, route.end);
                let _ = writeln!(
                    wrong,
                    "{id} ({agent}): {what}\n  expected {expected}, got {end}\n{story}"
                );
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

macro_rules! classes {
    ($($name:ident: $title:literal,)*) => {
        $(#[test]
        fn $name() {
            play($title);
        })*

        const PLAYED: &[&str] = &[$($title),*];
    };
}

classes! {
    state: "State",
    clean_and_stash: "Clean and stash",
    marks: "Marks and environment",
    settings: "Settings",
    mods: "Mods and plugins",
    commands: "Commands of a person",
    events: "Forged events",
    program: "The program",
    place: "Finding the project",
    gates: "Gates and evidence",
    journal: "Journal",
}

#[test]
fn every_class_is_played_and_every_id_is_there_once() {
    let titles: Vec<_> = CLASSES.iter().map(|class| class.title).collect();
    assert_eq!(titles, PLAYED);
    let mut ids: Vec<_> = all().map(|route| route.id).collect();
    assert!(ids.len() >= 150, "{} routes", ids.len());
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

fn all() -> impl Iterator<Item = &'static Route> {
    CLASSES.iter().flat_map(|class| class.routes)
}

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The page that is made from the tables.
fn page() -> String {
    let count = |matches: fn(End) -> bool| all().filter(|route| matches(route.end)).count();
    let stopped = count(|end| matches!(end, End::Stopped(_) | End::Refused));
    let undone = count(|end| matches!(end, End::Undone(_)));
    let said = count(|end| matches!(end, End::Said(_) | End::Names(..) | End::Found(_)));
    let possible = count(|end| end == End::Possible);
    let mut page = format!(
        "# The fence\n\n\
         Made from the tests in `crates/tollgate/tests/it/fence/`, which play each of these routes \
         against the real program in a project that `tollgate init` and `tollgate install` made.\n\n\
         Of {} routes {stopped} are stopped before they change anything, {undone} are undone at the \
         next event, {said} are reported, and {possible} stay possible; \
         `SECURITY.md` names these with the reason.\n\n\
         - **stopped**: the call is blocked, or the command refuses; nothing happened. What a person \
         can agree to in the chat (PG-001, SFG-004, SFG-005) is a question in Claude Code where its \
         mode asks: nothing happens without a yes, and a yes is journalled.\n\
         - **undone**: it happened; the next event puts it back and says so.\n\
         - **said**: it happened; the person and the agent read about it at a later event of the \
         session, when the next one begins, or from the command that is named.\n\
         - **possible**: nothing notices it.\n",
        all().count()
    );
    for class in CLASSES {
        let _ = write!(
            page,
            "\n## {}\n\n{}\n\n| | Route | Agents | What happens |\n|---|---|---|---|\n",
            class.title, class.about
        );
        for route in class.routes {
            let agents: Vec<_> = route.agents.iter().map(ToString::to_string).collect();
            let agents = if route.agents.len() == Agent::ALL.len() {
                "all".to_owned()
            } else {
                agents.join(", ")
            };
            let what = route.what.replace('|', "\\|");
            let _ = writeln!(page, "| {} | {what} | {agents} | {} |", route.id, route.end);
        }
    }
    page
}

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fence.md");

#[test]
fn the_page_is_what_the_tests_show() {
    let written = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert!(
        written == page(),
        "make it anew: cargo test -p tollgate --test it -- --ignored write_the_page"
    );
}

#[test]
#[ignore = "it writes docs/fence.md"]
fn write_the_page() {
    crate::project::put(std::path::Path::new(PAGE), page());
}

#[test]
fn what_stays_possible_is_named_in_the_security_document() {
    let security = std::fs::read_to_string(format!("{ROOT}/SECURITY.md")).unwrap();
    let unnamed: Vec<_> = all()
        .filter(|route| route.end == End::Possible)
        .filter(|route| !security.contains(&format!("`{}`", route.id)))
        .map(|route| route.id)
        .collect();
    assert!(unnamed.is_empty(), "SECURITY.md lacks {unnamed:?}");
}
