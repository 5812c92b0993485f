//! The commands for people: one file each. The only place that prints, besides the hook.
//!
//! Exit codes: 0, 1 (it ran and the answer is no), 2 (it could not run).

#[macro_use]
mod screen;

mod allow;
mod completions;
mod config;
mod demo;
mod doctor;
mod explain;
mod export;
mod gates;
mod global;
mod guards;
mod help;
mod init;
mod install;
mod log;
mod made;
mod output;
mod phase;
mod plan;
mod question;
mod replay;
mod report;
mod rules;
mod serve;
mod simulate;
mod state;
mod status;
mod top;
mod trust;
mod try_review;
mod workflow;
mod workflow_context;
mod wrap;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use serde_json::{Value, json};
use tollgate_core::project::Layout;
use tollgate_core::workflow::transition::{Kind, Refusal};

use global::Global;

use crate::gate::config::Words;
use crate::plain::{self, BOLD, DIM, ERROR, GOOD, HINT, Plain, PlainLines, WARN};
use crate::project_view::Observer;

/// Your coding agent cannot stop while tests are red: gates, rules and a process for coding agents.
#[derive(Debug, Parser)]
#[command(name = "tollgate", version = env!("TOLLGATE_VERSION"))]
struct Arguments {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Decide an agent's event on standard input (what agents run)
    Hook(HookArguments),
    /// Play a session of an agent in a temporary repository
    Demo(demo::Arguments),
    /// Set up this project: gates, agents, rules; shows every file first
    Init(init::Arguments),
    /// Show the project on one screen: gates, agents, workflow, decisions
    Status(status::Arguments),
    /// Print one short line for an agent's status line
    Statusline,
    /// Decide an event without side effects, and show what each guard says
    Simulate(simulate::Arguments),
    /// Show the journal: blocks, warnings, faults, changes; or verify it
    Log(log::Arguments),
    /// Decide a recorded session again: what would be blocked now
    Replay(replay::Arguments),
    /// Show the history of the workflow's state, or undo a change
    #[command(subcommand)]
    State(state::Command),
    /// Explain a block: what each guard saw, and what would have passed
    Explain(explain::Arguments),
    /// Show the project as a live page in the browser, on this machine
    Serve(serve::Arguments),
    /// Write the page as one file, to keep or to attach
    Report(report::Arguments),
    /// Show the project in the terminal, continuously updated
    Top(top::Arguments),
    /// Send the journal to an OpenTelemetry collector
    #[command(subcommand)]
    Export(export::Command),
    /// List, test and change rules: what agents must not do
    #[command(subcommand)]
    Rules(rules::Command),
    /// List the guards: what each does, when it runs, and its codes
    Guards(guards::Arguments),
    /// Work on a plan: its steps, its status, what is next
    Plan(plan::Arguments),
    #[command(flatten)]
    Gates(gates::Command),
    /// Show the configuration and where it comes from, or change it
    #[command(subcommand)]
    Config(config::Command),
    /// Check the setup; `--fix` repairs it
    Doctor(doctor::Arguments),
    /// Register Tollgate with your agents; shows every change first
    Install(install::Arguments),
    /// Remove Tollgate from the agents' settings
    Uninstall(install::UninstallArguments),
    /// Start, watch, check and end a workflow
    #[command(subcommand)]
    Workflow(workflow::Command),
    /// Begin, complete, skip or redo a phase
    #[command(subcommand)]
    Phase(phase::Command),
    /// Show the commands that a project runs at a stop, and trust them
    Trust(trust::Arguments),
    /// Withdraw trust in a project's commands
    Untrust,
    /// Allow what a guard blocks, once or for a while (a person only)
    Allow(allow::Arguments),
    /// Review a diff outside of any project's gates, to try a prompt or a reviewer
    TryReview(try_review::Arguments),
    /// Print the completion script of a shell
    Completions(completions::CompletionsArguments),
    /// Print the manual page, or write all pages to a directory
    Man(completions::ManArguments),
    /// The reviewer in the demo's story
    #[command(name = "__demo-review", hide = true)]
    DemoReview,
}

/// The commands about gates alone. The whole command line takes 0.2 ms more to put together: with
/// it, a run of one trivial check takes 8.1 times as long as a shell, without it 7.9 (the bar is 8).
#[derive(Debug, Parser)]
struct GatesArguments {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: gates::Command,
}

/// Shown in the help only: `main` takes `hook` away before arguments are parsed, because parsing
/// them costs a quarter of a process start.
#[derive(Debug, clap::Args)]
struct HookArguments {
    /// Run only this guard, for example branch-guard
    #[arg(long)]
    guard: Option<String>,
    /// The agent's protocol: claude, codex, gemini, copilot, cursor, isdlc, taskie or gauntlet
    #[arg(long)]
    protocol: Option<String>,
    /// The event's name, if the event does not contain it (for example `PostToolUse`)
    #[arg(long)]
    event: Option<String>,
    /// Run a project's commands and reviewers only if a person trusts them: for registrations that
    /// apply to every project (see `tollgate trust`)
    #[arg(long)]
    require_trust: bool,
    /// Block events that cannot be read or have no known protocol, instead of only reporting them
    #[arg(long)]
    strict: bool,
    /// The time limit for a tool event, for example `2s`; later, it is reported as not decided
    #[arg(long, value_name = "TIME", default_value = "1s")]
    deadline: String,
}

type CommandResult = Result<ExitCode, Trouble>;

#[derive(Debug)]
struct Trouble {
    what: String,
    next: Option<String>,
    kind: TroubleKind,
}

/// What a [`Trouble`] is called, and the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TroubleKind {
    Error,
    /// It ran, and the answer is no.
    Refused,
    /// A command about gates could not run; for programs (`json`) it says so on standard output, too.
    /// The original's exit code holds in its home.
    Gates {
        words: Words,
        json: bool,
    },
    /// The command could not run, and has said why.
    Reported,
}

impl Trouble {
    fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            next: None,
            kind: TroubleKind::Error,
        }
    }

    /// A step that is not made, and what would be right.
    fn refused(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            kind: TroubleKind::Refused,
            ..Self::new(what).hint(next)
        }
    }

    fn hint(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
    }

    fn about(path: &std::path::Path, error: &impl std::fmt::Display) -> Self {
        Self::new(format!("{}: {error}", path.display()))
    }

    /// Says it, and with what the command ends.
    fn print(self) -> ExitCode {
        let (style, word, label, code) = match self.kind {
            TroubleKind::Error => (ERROR, "error", "hint", 2),
            TroubleKind::Refused => (WARN, "refused", "next", 1),
            TroubleKind::Gates { words, .. } => match words {
                Words::Specification => (ERROR, "Error", "hint", 1),
                Words::Own => (ERROR, "error", "hint", 2),
            },
            TroubleKind::Reported => return ExitCode::from(2),
        };
        if matches!(self.kind, TroubleKind::Gates { json: true, .. }) {
            let value = json!({ "status": "error", "error": self.what });
            anstream::println!("{value:#}");
        }
        // Both quote what files say, and files may say anything.
        err!("{style}{word}{style:#}: {}", PlainLines(&self.what));
        if let Some(next) = &self.next {
            err!("{HINT}{label}{HINT:#}: {}", PlainLines(next));
        }
        ExitCode::from(code)
    }
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Self {
        match refusal.kind {
            // The step makes no sense here.
            Kind::Misplaced => Self::new(refusal.what).hint(refusal.next),
            // A gate says no.
            Kind::Closed => Self::refused(refusal.what, refusal.next),
        }
    }
}

/// Whether to print for programs.
#[derive(Debug, clap::Args)]
struct JsonArguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run() -> ExitCode {
    output::fail_in_words();
    let (global, command) = if let Ok(arguments) = GatesArguments::try_parse() {
        (arguments.global, Some(Command::Gates(arguments.command)))
    } else {
        match parse() {
            Ok(parsed) => parsed,
            Err(said) if said.kind() == ErrorKind::DisplayVersion => return version(),
            Err(said) => said.exit(),
        }
    };
    let done = global.apply().and_then(|()| match command {
        Some(command) => obey(command),
        None => Ok(status::with_next_step()),
    });
    done.unwrap_or_else(Trouble::print)
}

/// What the person typed; help, the version and mistakes are an error that prints itself.
fn parse() -> Result<(Global, Option<Command>), clap::Error> {
    global::color_of_help();
    let matches = command_line().try_get_matches()?;
    let arguments = Arguments::from_arg_matches(&matches)?;
    Ok((arguments.global, arguments.command))
}

/// `--version` also says where the program comes from; `-V` is one line.
fn version() -> ExitCode {
    out!(concat!("tollgate ", env!("TOLLGATE_VERSION")));
    let is_long = std::env::args_os().any(|argument| argument == "--version");
    if let Some((program, by)) = crate::installation::here().filter(|_| is_long) {
        out!("installed by {}", Plain(&by));
        out!("at {}", Plain(&program.display().to_string()));
    }
    ExitCode::SUCCESS
}

/// The whole command line, described.
fn command_line() -> clap::Command {
    help::complete(Arguments::command())
}

fn obey(command: Command) -> CommandResult {
    match command {
        // Only reached with options before `hook`.
        Command::Hook(_) => {
            let mut arguments = std::env::args_os();
            let _before = arguments.find(|argument| argument == "hook");
            Ok(crate::hook::run(arguments))
        }
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Completions(arguments) => completions::completions(&arguments),
        Command::Man(arguments) => completions::man(&arguments),
        Command::DemoReview => demo::review(),
        Command::Init(arguments) => init::run(&arguments),
        Command::Status(arguments) => status::run(&arguments),
        // Only reached with options before it, as with `hook`.
        Command::Statusline => Ok(crate::statusline::run()),
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::Log(arguments) => log::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::State(command) => state::run(&command),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Top(arguments) => top::run(&arguments),
        Command::Export(command) => export::run(&command),
        Command::Rules(command) => rules::run(&command),
        Command::Guards(arguments) => guards::run(&arguments),
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Gates(command) => gates::run(&command),
        Command::Config(command) => config::run(&command),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Install(arguments) => install::run(&arguments),
        Command::Uninstall(arguments) => install::uninstall(&arguments),
        Command::Workflow(command) => workflow::run(&command),
        Command::Phase(command) => phase::run(&command),
        Command::Trust(arguments) => trust::run(&arguments),
        Command::Untrust => trust::untrust(),
        Command::Allow(arguments) => allow::run(&arguments),
        Command::TryReview(arguments) => try_review::run(&arguments),
    }
}

/// Becomes true when the command should end (Ctrl-C and similar signals), which then can tidy up.
fn interrupted() -> std::io::Result<Arc<AtomicBool>> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&interrupted))?;
    }
    Ok(interrupted)
}

/// What is said of a word that is none of these.
fn one_of<'n>(names: impl Iterator<Item = &'n str>) -> String {
    format!("one of {}", names.collect::<Vec<_>>().join(", "))
}

/// An object with more members behind its own.
fn with_members(mut value: Value, more: Value) -> Value {
    if let (Some(value), Value::Object(more)) = (value.as_object_mut(), more) {
        value.extend(more);
    }
    value
}

/// A command that needs a project was given none.
fn no_project() -> Trouble {
    Trouble::new("this directory is not in a project")
        .hint("`tollgate init` sets one up; it shows every file before it writes")
}

fn layout_here() -> Result<Layout, Trouble> {
    Layout::find(&crate::environment::current(), None).ok_or_else(no_project)
}

fn observer() -> Result<Observer, Trouble> {
    Ok(Observer::new(layout_here()?, crate::environment::current()))
}

/// A file's text, or standard input's for `-`.
fn read_text(path: &PathBuf) -> Result<String, Trouble> {
    let bytes = if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    let bytes = bytes.map_err(|error| Trouble::about(path, &error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
