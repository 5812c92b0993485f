//! `tollgate rules`: what agents must not do here, seen, tried and changed.

mod add;
mod explain;
mod export;
mod import;
mod list;
mod new;
mod test;
mod trial;

pub(super) use add::watch_proposed;

use std::path::PathBuf;

use jiff::Timestamp;
use tollgate_core::env::Env;
use tollgate_core::person;
use tollgate_core::project::Layout;
use tollgate_store::fs::{self, Durability};

use super::{CommandResult, Trouble, gates, layout_here};
use crate::config::{Layer, Merged, Problem, Texts, Weight};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// List the rules in use: their origin, their counts, and doubts about them
    List(super::JsonArguments),
    /// Run every example of every rule with the tools of every agent
    Test(super::JsonArguments),
    /// Count what the rules would have done with recorded sessions of Claude Code and Codex
    Try(trial::Arguments),
    /// Show the effects of a command line, and the rules that match
    Explain(explain::Arguments),
    /// Add a pack of rules to tollgate.toml; without a name, list the packs
    Add(add::Arguments),
    /// Write a rule with its examples, after four questions
    New(new::Arguments),
    /// Import rules from Claude Code's permissions, Codex's .rules or hookify
    Import(import::Arguments),
    /// Write the rules as an agent's own permissions, as far as these support them
    Export(export::Arguments),
}

pub(super) fn run(command: &Command) -> CommandResult {
    match command {
        Command::List(arguments) => list::run(arguments.json),
        Command::Test(arguments) => test::run(arguments.json),
        Command::Try(arguments) => trial::run(arguments),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Add(arguments) => add::run(arguments),
        Command::New(arguments) => new::run(arguments),
        Command::Import(arguments) => import::run(arguments),
        Command::Export(arguments) => export::run(arguments),
    }
}

/// The project with its configuration.
struct Project {
    layout: Layout,
    env: Env,
    merged: Merged,
}

impl Project {
    fn here() -> Result<Self, Trouble> {
        let env = crate::environment::current();
        let layout = layout_here()?;
        let merged = Merged::read(&layout, &env);
        Ok(Self {
            layout,
            env,
            merged,
        })
    }

    /// The same, if nothing is wrong with it.
    fn right() -> Result<Self, Trouble> {
        let project = Self::here()?;
        project.merged.problems.iter().for_each(gates::report);
        if project.merged.is_wrong() {
            return Err(Trouble::new("tollgate.toml has errors")
                .hint("correct what is named above; the last good rules apply meanwhile"));
        }
        Ok(project)
    }
}

/// A file that rules are added to.
#[derive(Clone, Copy, Debug, clap::Args)]
struct Where {
    /// Write to your own file for all projects
    #[arg(long)]
    user: bool,
    /// Write to tollgate.local.toml: for you, in this project
    #[arg(long, conflicts_with = "user")]
    local: bool,
    /// Print the rules and write nothing
    #[arg(long)]
    print: bool,
}

/// Puts rules behind what a file has. A file that would have errors is not written: rules only ever
/// narrow what an agent may do, so anybody may add one.
fn append(place: Where, rules: &str) -> Result<PathBuf, Trouble> {
    let env = crate::environment::current();
    let (layer, path, layout) = if place.user {
        let path = person::config_file(&env).ok_or_else(|| {
            Trouble::new("HOME is not set, so your own configuration cannot be found")
                .hint("set HOME and run this again")
        })?;
        (Layer::User, path, Layout::find(&env, None))
    } else {
        let layout = layout_or_repository(&env)?;
        let (layer, path) = if place.local {
            (Layer::Local, layout.local_config_file())
        } else {
            (Layer::Project, layout.config_file())
        };
        (layer, path, Some(layout))
    };
    let contents = fs::read_own(&path, 1 << 20).map_err(|fault| Trouble::about(&path, &fault))?;
    let text = contents.map(fs::Contents::into_text).unwrap_or_default();
    let gap = match text.as_str() {
        "" => "",
        text if text.ends_with("\n\n") => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let changed = format!("{text}{gap}{}\n", rules.trim_end());
    let merged = match &layout {
        Some(layout) if layer != Layer::User => {
            Merged::of(Texts::read(layout, &env).with(layer, Some(&changed)), &env)
        }
        Some(_) | None => Merged::of_user(&env, changed.clone()),
    };
    let is_wrong = |one: &Problem| one.weight == Weight::Error || layer == Layer::User;
    let wrong: Vec<Problem> = merged.problems.into_iter().filter(is_wrong).collect();
    if !wrong.is_empty() && text.is_empty() {
        // It was made for these rules.
        let _gone = fs::remove(&path);
    }
    super::config::write_if_right(&path, &changed, &wrong)?;
    Ok(path)
}

/// The project here, or the one that a `tollgate.toml` makes of this directory.
fn layout_or_repository(env: &Env) -> Result<Layout, Trouble> {
    if let Some(layout) = Layout::find(env, None) {
        return Ok(layout);
    }
    let here = env.cwd.clone().ok_or_else(super::no_project)?;
    let top = here.ancestors().find(|place| place.join(".git").exists());
    let root = top.map_or_else(|| here.clone(), std::path::Path::to_path_buf);
    let file = root.join("tollgate.toml");
    fs::replace(&file, b"", Durability::Lazy).map_err(|fault| Trouble::about(&file, &fault))?;
    Layout::find(env, None).ok_or_else(super::no_project)
}

fn today() -> String {
    Timestamp::now().strftime("%Y-%m-%d").to_string()
}
