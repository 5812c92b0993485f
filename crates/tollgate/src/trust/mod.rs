//! Trust: may the commands that a project names run?
//!
//! A person's own `tollgate run` is consent, as with make, and a registration inside of a project
//! is covered by the agent's own trust in it. A registration at user level meets every repository
//! that is opened: there (`hook --require-trust`) a project's commands and reviewers run at a
//! stop only after `tollgate trust`.
//!
//! There is one way to a child process that a project chose: [`crate::process::Children`], which
//! takes a [`Consent`], which only this module makes. Listing, checking and explaining a
//! configuration needs none and starts nothing.

mod commands;
mod store;

use std::path::Path;

use tollgate_core::decision::Finding;
use tollgate_core::env::Env;
use tollgate_core::project::Layout;

pub(crate) use commands::{Commands, Kind};
pub(crate) use store::Store;

use crate::agents::AGENTS;
use crate::user_store::Repository;

/// The code of the line that says what is missing.
pub(crate) const CODE: &str = "TRUST-001";

/// The name that the line is reported under.
pub(crate) const NAME: &str = "trust";

/// That a project's commands may run. Only this module makes it.
#[derive(Debug)]
pub(crate) struct Consent(Extent);

#[derive(Debug)]
enum Extent {
    /// To whatever the project names.
    Everything,
    /// To these commands.
    Exactly(Commands),
}

/// Whom a hook's registration meets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Registration {
    /// One project, which the agent trusts.
    #[default]
    OneProject,
    /// Every project (`--require-trust`).
    EveryProject,
}

/// Why a project's commands may not run.
#[derive(Debug)]
pub(crate) struct Untrusted {
    /// For the person, in one line.
    pub(crate) line: String,
    /// Whether gates would have run.
    pub(crate) has_gates: bool,
}

impl Untrusted {
    pub(crate) fn report(&self) -> Finding {
        Finding::new(CODE, self.line.clone(), self.line.clone()).by(NAME)
    }
}

/// What is known about a project's commands and the person's trust in them.
#[derive(Debug)]
pub(crate) enum TrustStatus {
    Nothing,
    /// A person trusts these, since then.
    Trusted(String),
    /// The environment pins these.
    Pinned,
    /// Nothing was ever trusted here.
    Never,
    /// Others were trusted; the newest of them.
    Changed(Commands),
    /// It belongs to this user, and that was not accepted.
    Stranger(u32),
    /// Trust cannot be kept or read, or the pin is not to be believed.
    Broken(String),
}

impl Consent {
    /// A person started the command that runs them.
    pub(crate) fn of_the_person() -> Self {
        Self(Extent::Everything)
    }

    /// Whether it holds for the commands as they were just read.
    pub(crate) fn covers(&self, read: impl FnOnce() -> Commands) -> bool {
        match &self.0 {
            Extent::Everything => true,
            Extent::Exactly(commands) => *commands == read(),
        }
    }
}

impl Registration {
    /// Whether all that the project names and says is trusted.
    pub(crate) fn trusts(
        self,
        layout: &Layout,
        env: &Env,
        read: impl FnOnce() -> Commands,
    ) -> bool {
        match self {
            Self::OneProject => true,
            Self::EveryProject => status(layout, env, &read()).is_consent(),
        }
    }

    /// Whether what the project names may run at this stop. `read` gives its commands, and whether
    /// gates would run.
    pub(crate) fn consent(
        self,
        layout: &Layout,
        env: &Env,
        read: impl FnOnce() -> (Commands, bool),
    ) -> Result<Consent, Untrusted> {
        match self {
            Self::OneProject => Ok(Consent(Extent::Everything)),
            Self::EveryProject => {
                let (commands, has_gates) = read();
                let status = status(layout, env, &commands);
                // Texts need trust to be shown, and not to run nothing.
                if status.is_consent() || !commands.has_commands() {
                    return Ok(Consent(Extent::Exactly(commands)));
                }
                Err(Untrusted {
                    line: status.line(&commands),
                    has_gates,
                })
            }
        }
    }
}

/// The line for gates that changed between being trusted and being run.
pub(crate) fn moved() -> String {
    "NOT verified: the project's commands changed while this stop was decided; nothing was run."
        .to_owned()
}

pub(crate) fn status(layout: &Layout, env: &Env, commands: &Commands) -> TrustStatus {
    if commands.is_empty() {
        return TrustStatus::Nothing;
    }
    let repository = match Repository::of(layout) {
        Ok(repository) => repository,
        Err(error) => return TrustStatus::Broken(format!("{}: {error}", layout.root().display())),
    };
    if let Some(pin) = &env.trust_pin {
        return pinned(pin, &repository, layout, commands);
    }
    let store = Store::open(env, &repository);
    let sets = match store.and_then(|store| store.trusted()) {
        Ok(sets) => sets,
        Err(why) => return TrustStatus::Broken(why),
    };
    let us = rustix::process::geteuid().as_raw();
    let stranger = repository.stranger(us);
    let found = sets.iter().find(|set| set.commands == *commands);
    match (found, stranger) {
        (Some(set), stranger) if stranger.is_none() || set.stranger == stranger => {
            TrustStatus::Trusted(set.at.clone())
        }
        (_, Some(stranger)) => TrustStatus::Stranger(stranger),
        (_, None) => match sets.into_iter().next_back() {
            Some(last) => TrustStatus::Changed(last.commands),
            None => TrustStatus::Never,
        },
    }
}

/// Files through which a project sets the environment of an agent, and so of our hook.
fn environment_files() -> impl Iterator<Item = &'static str> {
    let own = AGENTS.iter().flat_map(|agent| agent.environment_files);
    own.copied().chain([".env"])
}

/// `TOLLGATE_TRUST` pins exactly one set. It counts only where the project cannot have set it.
fn pinned(pin: &str, repository: &Repository, layout: &Layout, commands: &Commands) -> TrustStatus {
    let root = layout.root().canonicalize();
    let root = root.as_deref().unwrap_or(layout.root());
    let mut places = root
        .ancestors()
        .take_while(|place| place.starts_with(&repository.top));
    if let Some(file) = places.find_map(sets_pin) {
        return TrustStatus::Broken(format!(
            "TOLLGATE_TRUST is set in {file}, and a project cannot trust itself"
        ));
    }
    if pin.eq_ignore_ascii_case(&commands.fingerprint()) {
        TrustStatus::Pinned
    } else {
        TrustStatus::Broken(format!(
            "TOLLGATE_TRUST pins another set of commands; this one is {}",
            commands.fingerprint()
        ))
    }
}

fn sets_pin(place: &Path) -> Option<String> {
    let names = |file: &Path| {
        let text = tollgate_store::fs::read_regular(file, 64 << 20)
            .ok()
            .flatten();
        text.is_some_and(|file| holds(&file.bytes, b"TOLLGATE_TRUST"))
    };
    let files = environment_files().map(|name| place.join(name));
    let mut files = files.filter(|file| names(file));
    files.next().map(|file| file.display().to_string())
}

fn holds(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part == word)
}

impl TrustStatus {
    pub(crate) fn is_consent(&self) -> bool {
        match self {
            Self::Nothing | Self::Trusted(_) | Self::Pinned => true,
            Self::Never | Self::Changed(_) | Self::Stranger(_) | Self::Broken(_) => false,
        }
    }

    pub(crate) fn words(&self, commands: &Commands) -> String {
        let count = commands.count();
        let are = if commands.len() == 1 { "is" } else { "are" };
        match self {
            Self::Nothing => "there is nothing to run".to_owned(),
            Self::Trusted(at) => format!("{count} trusted since {at}"),
            Self::Pinned => format!("{count} pinned by TOLLGATE_TRUST"),
            Self::Never => format!("the project's {count} {are} not trusted yet"),
            Self::Changed(before) => {
                let (added, gone) = (commands.without(before), before.without(commands));
                let what = if added.has_commands() || gone.has_commands() {
                    "commands"
                } else {
                    "texts of rules"
                };
                let count = added.len().max(gone.len());
                format!("the project's {what} changed since you trusted them ({count} differ)")
            }
            Self::Stranger(owner) => {
                format!("the project belongs to user {owner}, who can change what it runs")
            }
            Self::Broken(why) => format!("the project's {count} {are} not trusted ({why})"),
        }
    }

    /// The one line that a stop says about it.
    fn line(&self, commands: &Commands) -> String {
        let why = self.words(commands);
        format!(
            "NOT verified: {why}, so none was run. A person reviews them with `tollgate trust`."
        )
    }
}
