//! The agents: one folder and one row each.
//!
//! A [`Row`] is all that Tollgate has to know about an agent besides its protocol, which is in
//! `tollgate_core::protocol`: where its settings live and how Tollgate is registered there, what
//! the person still has to do, what doctor checks, and how it is asked as a reviewer. To add an
//! agent, add a folder, and its module and row here.
//!
//! Beside them is what all share. What is to be registered comes from one table
//! ([`registration`]), so that every agent gets the same registrations. [`read`] answers which
//! registrations exist, by any author; [`change`] makes and unmakes them without touching
//! what is not Tollgate's.
//!
//! What this deliberately does not do: print, ask, or start an agent.

pub(crate) mod claude;
mod codex;
mod copilot;
mod cursor;
mod gemini;

pub(crate) mod backup;
pub(crate) mod change;
pub(crate) mod command;
pub(crate) mod duplicate;
pub(crate) mod influence;
mod json;
pub(crate) mod original;
pub(crate) mod places;
pub(crate) mod read;
pub(crate) mod registration;
pub(crate) mod reviewer;
mod settings_file;
mod toml;
pub(crate) mod unregister_check;

use std::fmt;
use std::path::PathBuf;

use clap::builder::PossibleValue;
use serde_json::{Map, Value, json};
use tollgate_core::protocol::{EventKind, Protocol};

use command::{CommandLine, PROTOCOL, STRICT};
pub(crate) use places::Places;
use registration::Registration;
use reviewer::ReviewerRow;

/// Every agent that Tollgate can be registered with, in the order of documentation.
pub(crate) static AGENTS: &[Agent] = &[
    &claude::ROW,
    &codex::ROW,
    &gemini::ROW,
    &copilot::ROW,
    &cursor::ROW,
];

pub(crate) type Agent = &'static Row;

/// For whom a registration holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Scope {
    // Everybody who works on the project: the file is part of the repository.
    #[default]
    Project,
    // This person in this project.
    Local,
    // This person in every project.
    User,
}

/// How an agent's list of hooks is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// `event: [{ matcher, hooks: [handler] }]`
    Nested,
    /// `event: [handler]`
    Flat,
}

/// Answers what a member of a settings file is.
type Members<'a> = dyn Fn(&str) -> Option<Value> + 'a;

/// How an agent counts the time that it waits for a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeUnit {
    Seconds,
    Milliseconds,
}

/// All that is peculiar about one agent.
#[derive(Debug)]
pub(crate) struct Row {
    /// What `--agent` calls it.
    pub(crate) name: &'static str,
    /// What `--agent` also takes for it.
    aliases: &'static [&'static str],
    /// What people call it.
    pub(crate) title: &'static str,
    /// How its events are spoken.
    pub(crate) protocol: Protocol,
    /// The registered command names the protocol.
    says_protocol: bool,
    /// The programs that start it.
    programs: &'static [&'static str],
    /// What in a project shows that it is used there.
    signs: &'static [&'static str],
    /// Its directory in a person's home: in the first of these variables that is set, under this
    /// name.
    home: &'static [(&'static str, &'static str)],
    /// The file of the project that Tollgate is registered in.
    project_file: &'static str,
    /// The file for one person in the project, if it has such a scope.
    local_file: Option<&'static str>,
    /// The file in its home.
    user_file: &'static str,
    /// A file beside these that hooks can be in, too. A person who keeps them there has Tollgate
    /// added there.
    toml_file: Option<&'static str>,
    /// Every file of a scope that it takes hooks from, if these are others.
    reads: Option<fn(Scope, &Places) -> Vec<PathBuf>>,
    /// It also runs what this one's settings of the project register.
    pub(crate) also_runs: Option<Agent>,
    /// It reads the settings of the directory that it starts in, not those above.
    pub(crate) reads_start_only: bool,
    /// Its settings set variables for the hooks.
    pub(crate) sets_variables: bool,
    /// Files through which a project sets the environment of it, and so of our hook.
    pub(crate) environment_files: &'static [&'static str],
    /// The member that switches all its hooks off, if it does. Asked for members of the file.
    off: fn(&Members<'_>) -> Option<&'static str>,
    /// The plugins called Taskie that a file enables, ours or the original's: they bring registrations
    /// of their own.
    taskie_plugins: fn(&Members<'_>) -> Vec<String>,
    /// What it calls an event; nothing for one that it does not have.
    pub(crate) event: fn(EventKind) -> Option<&'static str>,
    shape: Shape,
    /// Members of a file that Tollgate makes, besides `hooks`.
    preamble: &'static [(&'static str, u32)],
    /// The group around a handler gets the registration's matcher.
    says_matcher: bool,
    /// One handler; members that are null are left out.
    handler: fn(&Registration, &CommandLine, Strictness) -> Value,
    pub(crate) unit: TimeUnit,
    /// It can be set to stop when the hook itself cannot run.
    pub(crate) strict: bool,
    /// It takes a program that is not there for a no: measured, see `tests/agents`.
    pub(crate) blocks_without_program: bool,
    /// Why it does not run what is registered, where it asks for trust and does not have it.
    untrusted: fn(Agent, &Places, &[&read::Registered]) -> Option<String>,
    /// What the agent still needs from the person.
    needs: fn(Scope) -> Vec<&'static str>,
    /// It starts the program of a registration itself, without a shell.
    pub(crate) starts_program: bool,
    /// How it is asked as a reviewer, if it can be.
    pub(crate) reviewer: Option<ReviewerRow>,
}

/// What happens when the hook itself cannot run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// The agent goes on.
    Lenient,
    /// The agent is stopped, where it knows how to.
    Strict,
}

impl Row {
    /// What most agents have in common.
    const PLAIN: Self = Self {
        name: "",
        aliases: &[],
        title: "",
        protocol: Protocol::Claude,
        says_protocol: true,
        programs: &[],
        signs: &[],
        home: &[],
        project_file: "",
        local_file: None,
        user_file: "",
        toml_file: None,
        reads: None,
        also_runs: None,
        reads_start_only: false,
        sets_variables: false,
        environment_files: &[],
        off: |_| None,
        taskie_plugins: |_| vec![],
        event: |event| {
            let is_shared = !matches!(event, EventKind::ConfigChange | EventKind::Other);
            is_shared.then(|| event.as_str())
        },
        shape: Shape::Nested,
        preamble: &[],
        says_matcher: false,
        handler: |_, _, _| Value::Null,
        unit: TimeUnit::Seconds,
        strict: false,
        blocks_without_program: false,
        untrusted: |_, _, _| None,
        needs: |_| Vec::new(),
        starts_program: false,
        reviewer: None,
    };

    /// The files of a scope that hooks can be in, the usual one first.
    fn files(&'static self, scope: Scope, places: &Places) -> Vec<PathBuf> {
        let file = match scope {
            Scope::Project => Some(places.root.join(self.project_file)),
            Scope::Local => self.local_file.map(|name| places.root.join(name)),
            Scope::User => places.home_of(self).map(|home| home.join(self.user_file)),
        };
        let beside = |file: &PathBuf| Some(file.with_file_name(self.toml_file?));
        let toml = file.as_ref().and_then(beside);
        file.into_iter().chain(toml).collect()
    }

    /// The file that Tollgate is registered in; nothing where the agent has no such scope.
    pub(crate) fn settings(&'static self, scope: Scope, places: &Places) -> Option<PathBuf> {
        let files = self.files(scope, places);
        let usual = files.first()?;
        let is_better = |toml: &&PathBuf| !usual.exists() && toml::holds_hooks(toml);
        files.get(1).filter(is_better).or(Some(usual)).cloned()
    }

    pub(crate) fn reads(&'static self, scope: Scope, places: &Places) -> Vec<PathBuf> {
        match self.reads {
            Some(reads) => reads(scope, places),
            None => self.files(scope, places),
        }
    }

    fn handler_for(
        &self,
        registration: &Registration,
        command: &CommandLine,
        strictness: Strictness,
    ) -> Map<String, Value> {
        let handler = (self.handler)(registration, command, strictness);
        let members = handler.as_object().into_iter().flatten();
        let set = members.filter(|(_, value)| !value.is_null());
        set.map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }

    /// What it still needs from the person after an install.
    pub(crate) fn needs_after_install(&self, scope: Scope) -> Vec<&'static str> {
        let mut needs = (self.needs)(scope);
        if scope == Scope::User {
            needs.push(
                "a repository's own checks and reviewers run only after `tollgate trust` there",
            );
        }
        needs
    }

    /// Why it does not run what is registered, if that is for want of trust.
    pub(crate) fn lacks_trust(
        &'static self,
        places: &Places,
        registered: &[&read::Registered],
    ) -> Option<String> {
        (!registered.is_empty())
            .then(|| (self.untrusted)(self, places, registered))
            .flatten()
    }

    /// Why it seems to be used here; nothing if there is no sign of it.
    pub(crate) fn found(&'static self, places: &Places) -> Option<String> {
        let sign = self
            .signs
            .iter()
            .find(|sign| places.root.join(sign).exists());
        if let Some(sign) = sign {
            return Some(format!("the project has {sign}"));
        }
        let program = self.programs.iter().find_map(|name| places.program(name));
        if let Some(program) = program {
            return Some(places.shown(&program));
        }
        places
            .home_of(self)
            .filter(|home| home.is_dir())
            .map(|home| format!("{} is there", places.shown(home)))
    }

    /// Whether it runs what this agent's settings of this scope register.
    pub(crate) fn runs(&self, whose: Agent, scope: Scope) -> bool {
        self == whose || (self.also_runs == Some(whose) && scope != Scope::User)
    }

    /// The command line that its settings get. `program` is a name or a path.
    pub(crate) fn command(
        &self,
        program: &str,
        scope: Scope,
        strictness: Strictness,
    ) -> CommandLine {
        let mut options = Vec::new();
        if self.says_protocol {
            options.extend([PROTOCOL, self.protocol.as_str()]);
        }
        // A registration of the person's own meets every repository that is opened.
        if scope == Scope::User {
            options.push("--require-trust");
        }
        if strictness == Strictness::Strict {
            options.push(STRICT);
        }
        CommandLine::hook(program, &options)
    }
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title)
    }
}

impl clap::ValueEnum for Agent {
    fn value_variants<'a>() -> &'a [Self] {
        AGENTS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name).aliases(self.aliases))
    }
}

impl Scope {
    /// All of them, the widest last.
    pub(crate) const ALL: [Self; 3] = [Self::Project, Self::Local, Self::User];

    /// What `--scope` calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Local => "local",
            Self::User => "user",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
