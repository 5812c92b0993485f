//! `tollgate install` and `tollgate uninstall`: registers Tollgate with the agents, and takes it
//! out again.

mod git;
mod list;
mod preview;
mod purge;
mod uninstall;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::global::{Verbosity, verbosity};
use super::{BOLD, CommandResult, DIM, GOOD, HINT, Trouble, WARN};
use crate::agents::change::{self, Change, Refusal, Timeouts, Wish};
use crate::agents::command::CommandLine;
use crate::agents::places::{is_executable, is_node_script};
use crate::agents::read::{self, Reading};
use crate::agents::{AGENTS, Agent, Places, Scope, Strictness};
pub(super) use uninstall::{Arguments as UninstallArguments, run as uninstall};

#[derive(Debug, Default, clap::Args)]
pub(super) struct Arguments {
    /// The agents, separated by commas [default: those that are found here]
    #[arg(long, value_enum, value_delimiter = ',')]
    agent: Vec<Agent>,
    /// For everybody in the project, for you in this project, or for you everywhere
    #[arg(long, value_enum, default_value = "project")]
    scope: Scope,
    /// Install the guard on git's side (and nothing else, unless `--agent` is given)
    #[arg(long)]
    git: bool,
    /// Do not propose the guard on git's side
    #[arg(long, conflicts_with = "git")]
    no_git_guard: bool,
    /// Stop the agent if the hook cannot run, in agents that support this
    #[arg(long)]
    strict: bool,
    /// Remove the Node, bun and bash registrations of iSDLC, Gauntlet and Taskie, and those of
    /// single guards
    #[arg(long)]
    replace_originals: bool,
    /// The program's name in the settings [default: `tollgate` in a project's shared settings, the
    /// full path elsewhere]
    #[arg(long, value_name = "PROGRAM")]
    command: Option<String>,
    /// List all registrations, and change nothing
    #[arg(long, conflicts_with_all = ["dry_run", "yes"])]
    list: bool,
    /// Print the list as JSON
    #[arg(long, requires = "list")]
    json: bool,
    #[command(flatten)]
    consent: Consent,
}

/// How a person says yes.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(super) struct Consent {
    /// Show what would change, and change nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let places = places()?;
    if arguments.list {
        return Ok(list::run(&places, arguments.json));
    }
    if arguments.git && arguments.agent.is_empty() {
        return git::install(&places, arguments.command.as_deref(), arguments.consent);
    }
    let scope = arguments.scope;
    let (changes, remarks) = plan(arguments, scope, &places)?;
    if verbosity() != Verbosity::Quiet {
        for remark in &remarks {
            err!("{DIM}{remark}{DIM:#}");
        }
    }
    if !preview::agree(&changes, &places, arguments.consent, &preview::REGISTER)? {
        return Ok(ExitCode::from(1));
    }
    let mut failed = None;
    if !arguments.consent.dry_run {
        let made = make(changes, &places);
        if !made.done.is_empty() {
            print_changes(&made.done, scope, &places);
        }
        failed = made.failed;
    }
    if arguments.git {
        let guarded = git::install(&places, arguments.command.as_deref(), arguments.consent);
        return failed.map_or(guarded, Err);
    }
    if !arguments.no_git_guard && scope != Scope::User {
        let proposed = git::propose(&places, arguments.command.as_deref(), arguments.consent);
        return failed.map_or(proposed, Err);
    }
    failed.map_or(Ok(ExitCode::SUCCESS), Err)
}

struct Made {
    done: Vec<Change>,
    /// What went wrong with the others, as one.
    failed: Option<Trouble>,
}

/// Makes every change that can be made: the files are independent of each other.
fn make(changes: Vec<Change>, places: &Places) -> Made {
    let mut done = Vec::new();
    let mut failed: Option<Trouble> = None;
    for change in changes {
        match change::make(&change, places) {
            Ok(()) => done.push(change),
            Err(refusal) => {
                let next = trouble(refusal);
                failed = Some(match failed {
                    Some(first) => Trouble {
                        what: format!("{}\n{}", first.what, next.what),
                        ..first
                    },
                    None => next,
                });
            }
        }
    }
    Made { done, failed }
}

/// Offers a person at a terminal to register with the agents that are found here.
pub(super) fn offer() -> CommandResult {
    run(&Arguments::default())
}

/// Whether any agent runs a hook of Tollgate's here.
pub(super) fn is_registered() -> Result<bool, Trouble> {
    let reading = read::read(&places()?);
    let mut agents = AGENTS.iter();
    Ok(agents.any(|agent| reading.hooks_of(agent).next().is_some()))
}

/// The agents that are found here and run no hook of Tollgate's yet.
pub(super) fn unregistered() -> Result<Vec<Agent>, Trouble> {
    let places = places()?;
    let reading = read::read(&places);
    let mut agents = AGENTS.to_vec();
    agents
        .retain(|agent| agent.found(&places).is_some() && reading.hooks_of(agent).next().is_none());
    Ok(agents)
}

/// What would be registered where, and what is said before the preview, one line each. Nothing is
/// written before every file could be read.
fn plan(
    arguments: &Arguments,
    scope: Scope,
    places: &Places,
) -> Result<(Vec<Change>, Vec<String>), Trouble> {
    let reading = read::read(places);
    let mut remarks = Vec::new();
    let named = &arguments.agent;
    let agents = if named.is_empty() {
        found(scope, places, &reading, &mut remarks)?
    } else {
        let all = AGENTS.iter().copied();
        all.filter(|agent| named.contains(agent)).collect()
    };
    let program = program(arguments.command.as_deref(), scope, places)?;
    if scope == Scope::Project && arguments.command.is_none() && program.contains('/') {
        remarks.push(
            "tollgate is not on your PATH as a native program, so its full path is registered, which is different on other machines. Put it on your PATH and run this again, or register it for yourself with `--scope local`"
                .to_owned(),
        );
    }
    let strictness = if arguments.strict {
        Strictness::Strict
    } else {
        Strictness::Lenient
    };
    let mut changes = Vec::new();
    for agent in agents {
        let wish = Wish {
            agent,
            scope,
            program: &program,
            strictness,
            replace_originals: arguments.replace_originals,
            timeouts: Timeouts::Keep,
        };
        changes.push(change::install(&wish, places).map_err(trouble)?);
        if arguments.replace_originals {
            changes.extend(change::without_originals(&wish, places).map_err(trouble)?);
        }
        if arguments.strict && !agent.strict {
            remarks.push(format!(
                "{agent} has no strict mode: it continues when the hook cannot run"
            ));
        }
    }
    for (file, name) in &reading.originals_plugins {
        remarks.push(format!(
            "{} enables the original's plugin {name}, whose hook would run beside Tollgate's: `/plugin disable {name}`",
            places.shown(file)
        ));
    }
    Ok((changes, remarks))
}

/// The agents that are used here and have settings of this scope.
fn found(
    scope: Scope,
    places: &Places,
    reading: &Reading,
    remarks: &mut Vec<String>,
) -> Result<Vec<Agent>, Trouble> {
    let mut agents: Vec<Agent> = Vec::new();
    for &agent in AGENTS {
        let Some(why) = agent.found(places) else {
            continue;
        };
        if agent.settings(scope, places).is_none() {
            remarks.push(format!("{agent} is left out: it has no `{scope}` settings"));
            continue;
        }
        if let Some(file) = reading.plugin_of(agent).next() {
            remarks.push(format!(
                "{agent} is left out: {} enables the plugin, which registers Tollgate itself",
                places.shown(file)
            ));
            continue;
        }
        if let Some(other) = agents.iter().find(|other| agent.runs(other, scope)) {
            remarks.push(format!(
                "{agent} is left out: it runs what {other}'s settings of the project register"
            ));
            continue;
        }
        remarks.push(format!("found {agent}: {why}"));
        agents.push(agent);
    }
    if agents.is_empty() {
        let names: Vec<_> = AGENTS.iter().map(|agent| agent.name).collect();
        let names = names.join(", ");
        let mut lines = vec!["no agent was found to register with".to_owned()];
        lines.append(remarks);
        return Err(Trouble::new(lines.join("\n  ")).hint(format!(
            "`tollgate install --agent NAME` registers one of {names}"
        )));
    }
    Ok(agents)
}

/// How settings name the program.
///
/// A file that is part of the repository is read on other machines, so it gets the bare name;
/// what is a person's own gets the full path, because agents are started with other search
/// paths. A link on the path is kept: it still leads to the program after an upgrade. npm's command is
/// a script of Node, which no event should wait for: the program behind it is this one.
pub(super) fn program(
    wanted: Option<&str>,
    scope: Scope,
    places: &Places,
) -> Result<String, Trouble> {
    if let Some(wanted) = wanted {
        let there = if wanted.contains('/') {
            Path::new(wanted).is_absolute() && is_executable(Path::new(wanted))
        } else {
            places.program(wanted).is_some()
        };
        if !there {
            return Err(
                Trouble::new(format!("--command {wanted}: there is no such program"))
                    .hint("give a name that is on your PATH, or an absolute path"),
            );
        }
        if !CommandLine::hook(wanted, &[]).is_tollgate() {
            return Err(Trouble::new(format!(
                "--command {wanted}: a registration is recognised by the program's name"
            ))
            .hint("the file must be called `tollgate`, or `tollgate-` and something"));
        }
        return Ok(wanted.to_owned());
    }
    let myself = std::env::current_exe()
        .map_err(|error| Trouble::new(format!("this program cannot be located: {error}")))?;
    let on_path = places
        .program("tollgate")
        .filter(|path| !is_node_script(path));
    let same = |path: &PathBuf| path.canonicalize().ok() == myself.canonicalize().ok();
    let path = match (on_path, scope) {
        (Some(_), Scope::Project) => return Ok("tollgate".to_owned()),
        (Some(path), Scope::Local | Scope::User) if same(&path) => path,
        (Some(_) | None, _) => myself,
    };
    path.into_os_string().into_string().map_err(|path| {
        Trouble::new(format!(
            "{} is not a path that settings can contain",
            path.display()
        ))
        .hint("install the program in another directory")
    })
}

fn print_changes(changes: &[Change], scope: Scope, places: &Places) {
    for change in changes {
        if change.agent.settings(scope, places).as_ref() != Some(&change.file) {
            out!(
                "{GOOD}●{GOOD:#} {BOLD}{}{BOLD:#} no longer runs the originals' hooks {DIM}({}){DIM:#}",
                change.agent,
                places.shown(&change.file)
            );
            continue;
        }
        let said = if change.is_nothing() {
            "was registered already"
        } else {
            "is registered"
        };
        out!(
            "{GOOD}●{GOOD:#} {BOLD}{}{BOLD:#} {said} {DIM}({}){DIM:#}",
            change.agent,
            places.shown(&change.file)
        );
        for need in change.agent.needs_after_install(scope) {
            out!("  - {need}");
        }
    }
    let after = read::read(places);
    for &agent in AGENTS {
        let mut files: Vec<&Path> = Vec::new();
        for found in after.hooks_of(agent) {
            if !files.contains(&found.file.as_path()) {
                files.push(&found.file);
            }
        }
        if let [first, second, ..] = files.as_slice() {
            err!(
                "{WARN}warning{WARN:#}: {agent} runs Tollgate twice: {} and {} both register it",
                places.shown(first),
                places.shown(second)
            );
        }
    }
    for off in &after.switched_off {
        if changes.iter().any(|change| change.agent == off.agent) {
            err!(
                "{WARN}warning{WARN:#}: {} runs no hooks at all: `{}` in {} switches them off",
                off.agent,
                off.key,
                places.shown(&off.file)
            );
        }
    }
    if verbosity() != Verbosity::Quiet {
        let scope = match scope {
            Scope::Project | Scope::Local => "",
            Scope::User => " --scope user",
        };
        err!("{HINT}to remove{HINT:#}: `tollgate uninstall{scope}`");
    }
}

/// Where settings are, seen from here.
pub(super) fn places() -> Result<Places, Trouble> {
    let env = crate::environment::current();
    Places::find(&env, crate::environment::variable)
        .ok_or_else(|| Trouble::new("the current directory cannot be found"))
}

fn trouble(refusal: Refusal) -> Trouble {
    Trouble::new(format!("{}: {}", refusal.file.display(), refusal.what)).hint(refusal.next)
}
