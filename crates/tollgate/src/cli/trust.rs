//! `tollgate trust` and `tollgate untrust`: a person decides about what a project would run.

use std::process::ExitCode;

use jiff::Timestamp;
use serde_json::json;
use tollgate_core::env::Env;
use tollgate_core::guard::PersonsCommand;
use tollgate_core::project::Layout;

use super::{BOLD, CommandResult, DIM, GOOD, Trouble, WARN};
use crate::asked;
use crate::gate::config::{Config, ConfigError};
use crate::person::{Absent, Person};
use crate::project_commands;
use crate::trust::{self, Commands, Kind, Store, TrustStatus};
use crate::user_store::Repository;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Do not ask (it still needs a person at a terminal)
    #[arg(long, conflicts_with = "show")]
    yes: bool,
    /// Only show the commands and whether they are trusted; exit 1 if they are not
    #[arg(long)]
    show: bool,
    /// Print JSON (with --show)
    #[arg(long, requires = "show")]
    json: bool,
}

/// The project here and what it would run.
struct Here {
    env: Env,
    layout: Layout,
    commands: Commands,
    repository: Repository,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let here = Here::open()?;
    let status = trust::status(&here.layout, &here.env, &here.commands);
    if arguments.show {
        return Ok(here.show(&status, arguments.json));
    }
    if let TrustStatus::Nothing | TrustStatus::Trusted(_) = status {
        out!("{}", status.words(&here.commands));
        return Ok(ExitCode::SUCCESS);
    }
    let person = a_person("trust")?;
    let store = here.store()?;
    let known = store.trusted().map_err(Trouble::new)?;
    here.print(known.last().map(|set| &set.commands));
    let us = rustix::process::geteuid().as_raw();
    let stranger = here.repository.stranger(us);
    let question = "Trust these?";
    let agrees = match stranger {
        // That another user can change the commands is never accepted without a separate question.
        Some(owner) => person.agrees_at_terminal(&format!(
            "This project belongs to user {owner}, who can change what these commands do at any time. {question}"
        )),
        None if arguments.yes => Ok(true),
        None => person.agrees(question),
    };
    if !agrees.map_err(|error| Trouble::new(format!("the terminal: {error}")))? {
        out!("Not trusted; nothing changed.");
        return Ok(ExitCode::FAILURE);
    }
    store
        .add(&person, &here.commands, stranger, Timestamp::now())
        .map_err(Trouble::new)?;
    out!(
        "{GOOD}trusted{GOOD:#}  {} in {}",
        here.commands.count(),
        here.repository.place.display()
    );
    out!("{DIM}{}{DIM:#}", here.commands.fingerprint());
    if here.env.trust_pin.is_some() {
        err!("{WARN}warning{WARN:#}: TOLLGATE_TRUST is set and has priority");
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn untrust() -> CommandResult {
    let here = Here::open()?;
    let store = here.store()?;
    let known = store.trusted().map_err(Trouble::new)?;
    if known.is_empty() {
        out!("Nothing was trusted here.");
        return Ok(ExitCode::SUCCESS);
    }
    // Without trust no gate runs, so an agent must not take it back either.
    let person = a_person("untrust")?;
    store.forget(&person).map_err(Trouble::new)?;
    out!(
        "No longer trusted: {} in {}",
        match known.len() {
            1 => "1 set of commands".to_owned(),
            many => format!("{many} sets of commands"),
        },
        here.repository.place.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// Refuses what gives something up to an agent (its mark is on us, or on a process above us), unless a
/// person agreed in the chat.
pub(super) fn no_agent(what: &str) -> Result<(), Trouble> {
    match crate::person::agent() {
        None => Ok(()),
        Some((mark, pid)) => match asked::answered(what) {
            Some(_) => Ok(()),
            None => Err(for_a_person(what, &Absent::Agent(mark, pid))),
        },
    }
}

/// Who may do this.
pub(super) fn a_person(what: &str) -> Result<Person, Trouble> {
    Person::for_command(what).map_err(|absent| for_a_person(what, &absent))
}

/// Has a person say that they give up what this command gives up, by retyping a word.
pub(super) fn given_up_by_a_person(command: &PersonsCommand) -> Result<(), Trouble> {
    let what = command.name();
    let person = a_person(&what)?;
    let question = format!("`tollgate {what}` gives up {}.", command.gives_up);
    match person.retypes(&question) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Trouble::new("the word does not match; nothing was changed")),
        Err(error) => Err(Trouble::new(format!("the terminal: {error}"))),
    }
}

fn for_a_person(what: &str, absent: &Absent) -> Trouble {
    Trouble::new(format!(
        "`tollgate {what}` is for a person at a terminal: {absent}"
    ))
    .hint("run it in a terminal of your own, outside of the agent")
}

impl Here {
    fn open() -> Result<Self, Trouble> {
        let env = crate::environment::current();
        let layout = super::layout_here()?;
        let gates = match Config::load(&layout, &env) {
            Ok(config) => Some(config),
            Err(ConfigError::Missing(_)) => None,
            Err(error @ ConfigError::Wrong(_)) => {
                return Err(Trouble::new(error.to_string()).hint(
                    "correct the configuration first: `tollgate validate` lists its errors",
                ));
            }
        };
        let repository =
            Repository::of(&layout).map_err(|error| Trouble::about(layout.root(), &error))?;
        Ok(Self {
            commands: project_commands::of(&layout, &env, gates.as_ref()),
            repository,
            layout,
            env,
        })
    }

    fn store(&self) -> Result<Store<'_>, Trouble> {
        Store::open(&self.env, &self.repository).map_err(Trouble::new)
    }

    /// The commands and texts; after an earlier trust, only what differs from it.
    fn print(&self, before: Option<&Commands>) {
        let nothing = Commands::default();
        let before = before.unwrap_or(&nothing);
        let (added, gone) = (
            self.commands.without(before),
            before.without(&self.commands),
        );
        let place = self.layout.root().display();
        for (kind, does) in [
            (Kind::Command, "would run when an agent stops"),
            (Kind::Text, "would say to the agent"),
        ] {
            if added.shown(kind).chain(gone.shown(kind)).next().is_none() {
                continue;
            }
            out!("{BOLD}{place}{BOLD:#} {does}:");
            for line in added.shown(kind) {
                if before.is_empty() {
                    out!("    {line}");
                } else {
                    out!("  {GOOD}+{GOOD:#} {line}");
                }
            }
            for line in gone.shown(kind) {
                out!("  {WARN}-{WARN:#} {line}");
            }
        }
        if !before.is_empty() {
            let same = self.commands.len() - added.len();
            out!("    {DIM}{same} as you trusted before{DIM:#}");
        }
    }

    fn show(&self, status: &TrustStatus, as_json: bool) -> ExitCode {
        let is_trusted = status.is_consent();
        if as_json {
            let [commands, texts] = [Kind::Command, Kind::Text]
                .map(|kind| self.commands.shown(kind).collect::<Vec<_>>());
            anstream::println!(
                "{:#}",
                json!({
                    "trusted": is_trusted, "fingerprint": self.commands.fingerprint(),
                    "commands": commands, "texts": texts, "repository": self.repository.place,
                    "project": self.repository.project, "note": status.words(&self.commands),
                })
            );
        } else {
            for kind in [Kind::Command, Kind::Text] {
                for line in self.commands.shown(kind) {
                    out!("    {line}");
                }
            }
            out!("{}", status.words(&self.commands));
            out!("{DIM}{}{DIM:#}", self.commands.fingerprint());
        }
        ExitCode::from(u8::from(!is_trusted))
    }
}
