//! The agents: where each one's settings live, how Tollgate is registered there, and what the
//! agent then still needs from the person.
//!
//! One file per agent holds its [`Dialect`] as data. What is to be registered comes from one
//! table ([`registration`]), so that no agent is told less than another. [`read`] answers which
//! registrations exist, whoever wrote them; [`change`] makes and unmakes them without touching
//! what is not Tollgate's.
//!
//! What this deliberately does not do: print, ask, or start an agent.

pub(crate) mod backup;
pub(crate) mod change;
mod claude;
mod codex;
pub(crate) mod command;
mod copilot;
mod cursor;
pub(crate) mod duplicate;
mod gemini;
mod json;
pub(crate) mod original;
pub(crate) mod places;
pub(crate) mod read;
pub(crate) mod registration;
mod settings_file;
mod toml;
pub(crate) mod unregister_check;

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tollgate_core::protocol::{EventKind, Protocol};

use command::CommandLine;
pub(crate) use places::Places;
use registration::Registration;

/// An agent that Tollgate can be registered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Agent {
    #[value(alias = "claude")]
    ClaudeCode,
    Codex,
    #[value(alias = "gemini-cli")]
    Gemini,
    #[value(alias = "copilot-cli")]
    Copilot,
    Cursor,
}

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

/// Everything about one agent that an installer has to know.
struct Dialect {
    /// What `--agent` calls it.
    name: &'static str,
    /// What people call it.
    title: &'static str,
    /// How its events are spoken.
    wire: Protocol,
    /// The programs that start it.
    programs: &'static [&'static str],
    /// What in a project shows that somebody uses it there.
    signs: &'static [&'static str],
    /// Its directory in a person's home.
    home: fn(&Places) -> Option<&Path>,
    /// The file that Tollgate is registered in; nothing where the agent has no such scope.
    settings: fn(Scope, &Places) -> Option<PathBuf>,
    /// Every file of a scope that it takes hooks from.
    reads: fn(Scope, &Places) -> Vec<PathBuf>,
    /// The member that switches all its hooks off, if it does. Asked for members of the file.
    off: fn(&Members<'_>) -> Option<&'static str>,
    /// What it calls an event; nothing for one that it does not have.
    event: fn(EventKind) -> Option<&'static str>,
    /// How its list of hooks is built.
    shape: Shape,
    /// Members of a file that Tollgate makes, besides `hooks`.
    preamble: &'static [(&'static str, u32)],
    /// The group around a handler gets the registration's matcher.
    says_matcher: bool,
    /// One handler; members that are null are left out.
    handler: fn(&Registration, &CommandLine, Strictness) -> Value,
    /// It can be told to stop when the hook itself cannot run.
    strict: bool,
    /// What the agent still needs from the person.
    needs: fn(Scope) -> Vec<&'static str>,
}

/// What happens when the hook itself cannot run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// The agent goes on.
    Lenient,
    /// The agent is stopped, where it knows how to.
    Strict,
}

impl Agent {
    /// All of them, in the order of documentation.
    pub(crate) const ALL: [Self; 5] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::Copilot,
        Self::Cursor,
    ];

    fn dialect(self) -> &'static Dialect {
        match self {
            Self::ClaudeCode => &claude::DIALECT,
            Self::Codex => &codex::DIALECT,
            Self::Gemini => &gemini::DIALECT,
            Self::Copilot => &copilot::DIALECT,
            Self::Cursor => &cursor::DIALECT,
        }
    }

    /// What `--agent` calls it.
    pub(crate) fn name(self) -> &'static str {
        self.dialect().name
    }

    /// What people call it.
    pub(crate) fn title(self) -> &'static str {
        self.dialect().title
    }

    /// The dialect of its events.
    pub(crate) fn wire(self) -> Protocol {
        self.dialect().wire
    }

    /// The file that Tollgate is registered in for this scope; nothing where the agent has no
    /// such file.
    pub(crate) fn settings(self, scope: Scope, places: &Places) -> Option<PathBuf> {
        (self.dialect().settings)(scope, places)
    }

    /// Every file of a scope that it takes hooks from.
    pub(crate) fn reads(self, scope: Scope, places: &Places) -> Vec<PathBuf> {
        (self.dialect().reads)(scope, places)
    }

    /// What it calls an event of the table; nothing for one that it does not have.
    pub(crate) fn event(self, event: EventKind) -> Option<&'static str> {
        (self.dialect().event)(event)
    }

    /// Whether it can be told to stop when the hook itself cannot run.
    pub(crate) fn knows_strictness(self) -> bool {
        self.dialect().strict
    }

    /// The handler for an event.
    fn handler(
        self,
        registration: &Registration,
        command: &CommandLine,
        strictness: Strictness,
    ) -> Map<String, Value> {
        let handler = (self.dialect().handler)(registration, command, strictness);
        let members = handler.as_object().into_iter().flatten();
        let set = members.filter(|(_, value)| !value.is_null());
        set.map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }

    /// What it still needs from the person after an install.
    pub(crate) fn needs(self, scope: Scope) -> Vec<&'static str> {
        let mut needs = (self.dialect().needs)(scope);
        if scope == Scope::User {
            needs.push(
                "a repository's own checks and reviewers run only after `tollgate trust` there",
            );
        }
        needs
    }

    /// Why somebody would think that it is used here; nothing if there is no sign of it.
    pub(crate) fn found(self, places: &Places) -> Option<String> {
        let dialect = self.dialect();
        let sign = dialect
            .signs
            .iter()
            .find(|sign| places.root.join(sign).exists());
        if let Some(sign) = sign {
            return Some(format!("the project has {sign}"));
        }
        let program = dialect
            .programs
            .iter()
            .find_map(|name| places.program(name));
        if let Some(program) = program {
            return Some(places.shown(&program));
        }
        (dialect.home)(places)
            .filter(|home| home.is_dir())
            .map(|home| format!("{} is there", places.shown(home)))
    }

    /// The command line that its settings get. `program` is a name or a path.
    pub(crate) fn command(self, program: &str, scope: Scope) -> CommandLine {
        let mut options = Vec::new();
        // Copilot and Cursor run what is in Claude Code's files, so those must not name a wire.
        if self != Self::ClaudeCode {
            options.extend(["--wire", self.wire().as_str()]);
        }
        // A registration of the person's own meets every repository that is opened.
        if scope == Scope::User {
            options.push("--require-trust");
        }
        CommandLine::hook(program, &options)
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
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
