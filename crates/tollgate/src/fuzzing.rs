//! What the fuzzers in `/fuzz` reach: a few functions of text, so that no module becomes public
//! for them. Only with the feature `fuzzing`, which nothing that ships has.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tollgate_core::env::Env;
use tollgate_core::project::Layout;

use crate::agents::backup::Backup;
use crate::agents::change::{self, Timeouts, Wish};
use crate::agents::read::read;
use crate::agents::registration::REGISTRATIONS;
use crate::agents::{AGENTS, Agent, Places, Scope, Strictness};
use crate::gate::config::Config;
use crate::plan::tasks::{Tasks, is_finished};
use crate::process::{End, Ended};
use crate::review::answer;
use crate::review::cli::{Reviewer, understand};

/// The commands of a project's checks; otherwise what is wrong with the configuration.
pub fn check_commands(layout: &Layout, env: &Env) -> Result<Vec<String>, String> {
    let config = Config::load(layout, env).map_err(|error| error.to_string())?;
    let checks = config.checks.values();
    Ok(checks.map(|check| check.command.clone()).collect())
}

/// What a plan's task list says.
#[derive(Debug)]
pub struct PlanTasks {
    /// So many are done.
    pub done: usize,
    /// So many there are.
    pub all: usize,
    /// The files of the tasks.
    pub files: Vec<String>,
}

/// Reads a task list, and the same text as a task's own file.
pub fn plan_tasks(text: &str) -> PlanTasks {
    let tasks = Tasks::parse(text);
    let (done, all) = tasks.progress();
    let _any = (
        tasks.first_open(),
        tasks.has_open_besides(None),
        is_finished(text),
    );
    PlanTasks {
        done,
        all,
        files: tasks.files(|_| true),
    }
}

/// What a reviewer's output is understood as.
#[derive(Debug, PartialEq, Eq)]
pub enum Review {
    /// It gave no answer that can be read.
    NotHeard,
    /// It answered something else than a pass.
    NoPass,
    /// It passed the work, with so many findings that cannot be read.
    Pass(usize),
}

/// The names of the reviewers.
pub fn reviewers() -> Vec<&'static str> {
    Reviewer::names().collect()
}

/// Understands what a reviewer of this name printed before it ended with this code.
pub fn review(name: &str, code: i32, stdout: Vec<u8>, stderr: String) -> Option<Review> {
    let reviewer = Reviewer::named(name, Some("true"))?;
    let ended = Ended {
        end: End::Exited(code),
        took: Duration::ZERO,
        leaked: 0,
        kept: 0,
    };
    let Ok(spoken) = understand(&reviewer, &ended, stdout, stderr).answer else {
        return Some(Review::NotHeard);
    };
    Some(match answer::read(&spoken) {
        Ok(answer) if answer.status == answer::Status::Pass => Review::Pass(answer.unreadable),
        Ok(_) | Err(_) => Review::NoPass,
    })
}

/// An agent's settings file in a project, and how Tollgate is to be registered there.
#[derive(Debug)]
pub struct Settings {
    agent: Agent,
    places: Places,
    strictness: Strictness,
    replaces_originals: bool,
    /// Where the file is, which need not be the one that an install chooses.
    pub file: PathBuf,
}

/// A change of a settings file that was not made yet.
#[derive(Debug)]
pub struct SettingsChange(change::Change);

/// How Tollgate is to be registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// The agent goes on where Tollgate fails.
    Lenient,
    /// It does not.
    Strict,
}

/// The settings files that Tollgate can be registered in. Codex has a second one, in TOML.
fn files(places: &Places) -> Vec<(Agent, PathBuf)> {
    let of = |agent: Agent| {
        let others = agent.reads(Scope::Project, places).into_iter();
        let toml = others.filter(|file| file.extension().is_some_and(|kind| kind == "toml"));
        let files = agent.settings(Scope::Project, places).into_iter();
        files.chain(toml).map(move |file| (agent, file))
    };
    AGENTS.iter().copied().flat_map(of).collect()
}

/// All of them, around a project.
pub fn settings_files(env: &Env) -> Vec<PathBuf> {
    let places = Places::find(env, |_| None);
    let found = places.map(|places| files(&places)).unwrap_or_default();
    found.into_iter().map(|(_, file)| file).collect()
}

/// Why a change is not made: what is wrong, and what to do next.
type Refused = (String, String);

fn refused(refusal: change::Refusal) -> Refused {
    (refusal.what, refusal.next)
}

impl Settings {
    /// The file that a number means, around a project.
    pub fn nth(number: usize, manner: Manner, env: &Env) -> Option<Self> {
        let places = Places::find(env, |_| None)?;
        let files = files(&places);
        let (agent, file) = files.get(number.checked_rem(files.len())?)?.clone();
        Some(Self {
            agent,
            places,
            strictness: match manner {
                Manner::Lenient => Strictness::Lenient,
                Manner::Strict => Strictness::Strict,
            },
            replaces_originals: false,
            file,
        })
    }

    /// An install also takes out the registrations of the originals.
    #[must_use]
    pub fn replacing_originals(mut self) -> Self {
        self.replaces_originals = true;
        self
    }

    /// Whether it does.
    pub fn replaces_originals(&self) -> bool {
        self.replaces_originals
    }

    /// What an install would change.
    pub fn install(&self) -> Result<SettingsChange, Refused> {
        let wish = Wish {
            agent: self.agent,
            scope: Scope::Project,
            program: "tollgate",
            strictness: self.strictness,
            replace_originals: self.replaces_originals,
            timeouts: Timeouts::Keep,
        };
        let change = change::install(&wish, &self.places);
        change.map(SettingsChange).map_err(refused)
    }

    /// What an uninstall would change in a file; nothing if nothing of Tollgate's is there.
    pub fn uninstall(&self, file: &Path) -> Result<Option<SettingsChange>, Refused> {
        let change = change::uninstall(self.agent, Scope::Project, file, &self.places);
        let change = change.map_err(refused)?;
        Ok(change.map(SettingsChange))
    }

    /// Makes a change.
    pub fn make(&self, change: &SettingsChange) -> Result<(), Refused> {
        change::make(&change.0, &self.places).map_err(refused)
    }

    /// Forgets what was in a file before Tollgate came.
    pub fn forget(&self, file: &Path) -> std::io::Result<()> {
        match Backup::of(Scope::Project, &self.places) {
            Some(backup) => backup.forget(file),
            None => Err(std::io::ErrorKind::NotFound.into()),
        }
    }

    /// How many registrations the agent can have.
    pub fn wanted(&self) -> usize {
        let known = |event| (self.agent.event)(event).is_some();
        let known = REGISTRATIONS.iter().filter(|row| known(row.event));
        known.count()
    }

    /// How many registrations of Tollgate the agent reads.
    pub fn effective(&self) -> usize {
        let reading = read(&self.places);
        let hooks = reading.hooks();
        hooks
            .filter(|hook| hook.agent == self.agent && hook.effective)
            .count()
    }
}

impl SettingsChange {
    /// The file.
    pub fn file(&self) -> &Path {
        &self.0.file
    }

    /// What is in it; nothing if there is no file.
    pub fn before(&self) -> Option<&[u8]> {
        self.0.before.as_deref()
    }

    /// What will be in it; nothing if it will be removed.
    pub fn after(&self) -> Option<&[u8]> {
        self.0.after.as_deref()
    }

    /// Whether there is nothing to do.
    pub fn is_nothing(&self) -> bool {
        self.0.is_nothing()
    }
}
