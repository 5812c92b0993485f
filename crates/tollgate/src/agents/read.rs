//! Which registrations exist, in which file, with which command, by any author.
//!
//! [`read`] reads every file that the agents take hooks from and changes nothing. A file that
//! cannot be read is a flaw, not "nothing registered".

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tollgate_store::fs;

use super::command::CommandLine;
use super::influence::Influence;
use super::original::Original;
pub(crate) use super::settings_file::Flaw;
use super::settings_file::{self, Entry};
use super::{AGENTS, Agent, Places, Scope};

/// Larger settings are not a person's.
pub(super) const MAX: u64 = 8 << 20;

#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// Hooks of Tollgate and of the originals, by agent, scope and order in the file.
    pub(crate) registered: Vec<Registered>,
    /// Files that cannot be read, and why.
    pub(crate) flaws: Vec<(Agent, PathBuf, Flaw)>,
    /// Files that switch all hooks of their agent off.
    pub(crate) switched_off: Vec<SwitchedOff>,
    /// Files that enable the plugin, which brings registrations of its own.
    pub(crate) plugin: Vec<(Agent, Scope, PathBuf)>,
    /// What files say besides that decides over Tollgate's hooks.
    pub(crate) influences: Vec<(Agent, PathBuf, Influence)>,
    /// Files that enable the original's plugin, and its name there.
    pub(crate) originals_plugins: Vec<(PathBuf, String)>,
}

/// The plugin's name in the marketplace of this repository. The original's has the same first half.
const PLUGIN: &str = "taskie@tollgate";

/// One hook of Tollgate, or of an original.
#[derive(Clone, Debug)]
pub(crate) struct Registered {
    /// Whose settings.
    pub(crate) agent: Agent,
    /// For whom they hold.
    pub(crate) scope: Scope,
    /// The file.
    pub(crate) file: PathBuf,
    /// The event, by the agent's own name.
    pub(crate) event: String,
    /// Which tools it is limited to, if the file says so.
    pub(crate) matcher: Option<String>,
    /// What is run, as a shell would read it.
    pub(crate) command: CommandLine,
    /// How long the agent waits, in the agent's own unit.
    pub(crate) timeout: Option<u64>,
    pub(crate) kind: Kind,
    /// The agent reads it: no member of the same name hides it.
    pub(crate) effective: bool,
    /// Its place among all handlers of the file.
    pub(super) at: usize,
    /// All that the file says about it.
    pub(super) handler: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `tollgate hook`: everything that watches the event.
    Hook,
    /// `tollgate hook --guard NAME`: one guard, registered by a person.
    Guard(String),
    /// An original's.
    Original(Original),
}

/// A file that switches all hooks of its agent off.
#[derive(Clone, Debug)]
pub(crate) struct SwitchedOff {
    /// Whose settings.
    pub(crate) agent: Agent,
    /// For whom they hold.
    pub(crate) scope: Scope,
    /// The file.
    pub(crate) file: PathBuf,
    /// The member that does it.
    pub(crate) key: &'static str,
}

pub(crate) fn read(places: &Places) -> Reading {
    let mut reading = Reading::default();
    for &agent in AGENTS {
        for scope in Scope::ALL {
            for file in agent.reads(scope, places) {
                reading.read(agent, scope, &file);
            }
        }
    }
    reading
}

impl Reading {
    pub(super) fn read(&mut self, agent: Agent, scope: Scope, file: &Path) {
        match fs::read_regular(file, MAX) {
            Ok(None) => {}
            Ok(Some(contents)) => self.take(agent, scope, file, &contents.bytes),
            Err(fault) => {
                let flaw = Flaw::new(fault.to_string());
                self.flaws.push((agent, file.to_owned(), flaw));
            }
        }
    }

    /// Reads what is, or might be, in a file.
    pub(super) fn take(&mut self, agent: Agent, scope: Scope, file: &Path, bytes: &[u8]) {
        let settings_file = match settings_file::parse(file, bytes, agent.shape) {
            Ok(settings_file) => settings_file,
            Err(flaw) => return self.flaws.push((agent, file.to_owned(), flaw)),
        };
        if let Some(key) = (agent.off)(&|key| settings_file.top(key)) {
            self.switched_off.push(SwitchedOff {
                agent,
                scope,
                file: file.to_owned(),
                key,
            });
        }
        for name in (agent.taskie_plugins)(&|key| settings_file.top(key)) {
            if name == PLUGIN {
                self.plugin.push((agent, scope, file.to_owned()));
            } else {
                self.originals_plugins.push((file.to_owned(), name));
            }
        }
        let influence = Influence::of(&|key| settings_file.top(key));
        if influence != Influence::default() {
            self.influences.push((agent, file.to_owned(), influence));
        }
        let found = settings_file.entries().into_iter().enumerate();
        let found = found.filter_map(|(at, entry)| {
            let (kind, command) = classify(&entry)?;
            Some(Registered {
                agent,
                scope,
                file: file.to_owned(),
                event: entry.event,
                matcher: entry.matcher,
                command,
                timeout: ["timeout", "timeoutSec"]
                    .iter()
                    .find_map(|key| entry.handler.get(*key)?.as_u64()),
                kind,
                effective: entry.effective,
                at,
                handler: entry.handler,
            })
        });
        self.registered.extend(found);
    }

    /// The registrations of Tollgate that the agents take notice of.
    pub(crate) fn ours(&self) -> impl Iterator<Item = &Registered> {
        let all = self.registered.iter();
        all.filter(|found| found.effective && !matches!(found.kind, Kind::Original(_)))
    }

    pub(crate) fn plugin_of(&self, agent: Agent) -> impl Iterator<Item = &PathBuf> {
        let own = self
            .plugin
            .iter()
            .filter(move |(whose, ..)| *whose == agent);
        own.map(|(.., file)| file)
    }

    /// Those of them that an agent runs.
    pub(crate) fn hooks_of(&self, agent: Agent) -> impl Iterator<Item = &Registered> {
        self.hooks()
            .filter(move |found| agent.runs(found.agent, found.scope))
    }

    /// Whether a project's commands run only after `tollgate trust`: no registration runs them
    /// without. The plugin's asks for trust.
    pub(crate) fn asks_for_trust(&self) -> bool {
        let mut hooks = self.hooks().filter(|found| found.effective);
        self.is_registered() && hooks.all(|found| found.command.has("--require-trust"))
    }

    /// Whether any agent calls Tollgate here, by its settings or as its plugin.
    pub(crate) fn is_registered(&self) -> bool {
        self.hooks().any(|found| found.effective) || !self.plugin.is_empty()
    }

    /// The registrations of `tollgate hook` itself.
    pub(crate) fn hooks(&self) -> impl Iterator<Item = &Registered> {
        self.registered
            .iter()
            .filter(|found| found.kind == Kind::Hook)
    }
}

impl Registered {
    /// All that the file says about it, as a text.
    pub(crate) fn said(&self) -> String {
        Value::Object(self.handler.clone()).to_string()
    }

    /// Whether it stands for the other: it watches at least as much, and says the same of how.
    pub(super) fn replaces(&self, other: &Self) -> bool {
        self.covers(other) && self.handler == other.handler
    }

    /// Whether the line itself asks for the program first: without that, an agent may take a program
    /// that is not there for a no.
    pub(crate) fn goes_on_without_program(&self) -> bool {
        let lines = ["command", "bash"].into_iter();
        let mut lines = lines.filter_map(|key| self.handler.get(key).and_then(Value::as_str));
        lines.any(|line| line.contains("command -v "))
    }

    /// Whether no tool is left out.
    pub(crate) fn is_for_all_tools(&self) -> bool {
        matches!(self.matcher.as_deref(), None | Some("" | "*"))
    }

    /// Whether it watches at least as much as the other: the same event, the same tools or all, for
    /// the same guard or all.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.event == other.event
            && (self.is_for_all_tools() || self.matcher == other.matcher)
            && (self.kind == Kind::Hook || self.kind == other.kind)
    }
}

/// What an entry is, and the command that makes it so; nothing for another program's.
pub(super) fn classify(entry: &Entry) -> Option<(Kind, CommandLine)> {
    let commands = commands(&entry.handler);
    let ours = commands.iter().find(|command| command.is_tollgate());
    if let Some(command) = ours {
        let kind = match command.option("--guard") {
            Some(guard) => Kind::Guard(guard.to_owned()),
            None => Kind::Hook,
        };
        return Some((kind, command.clone()));
    }
    commands.into_iter().find_map(|command| {
        let original = Original::of(&command)?;
        Some((Kind::Original(original), command))
    })
}

/// What a handler runs besides Tollgate: the programs of a line that a person wrote for more than
/// that.
pub(super) fn company(handler: &Map<String, Value>) -> Vec<String> {
    let commands = commands(handler).into_iter();
    let others = commands.filter(|command| !command.is_tollgate() && !command.is_wrapper());
    others.map(|command| command.program).collect()
}

/// Everything that a handler would run.
fn commands(handler: &Map<String, Value>) -> Vec<CommandLine> {
    let text = |key: &str| handler.get(key).and_then(Value::as_str);
    if text("type").is_some_and(|kind| kind != "command") {
        return Vec::new();
    }
    if let (Some(program), Some(Value::Array(args))) = (text("command"), handler.get("args")) {
        let args = args.iter().filter_map(Value::as_str).map(str::to_owned);
        let line = CommandLine {
            program: program.to_owned(),
            args: args.collect(),
        };
        return CommandLine::in_shell(&line.for_shell());
    }
    let lines = ["command", "bash"].into_iter().filter_map(text);
    lines.flat_map(CommandLine::in_shell).collect()
}
