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
use tollgate_core::project::Layout;
use tollgate_core::rules::CODE;
use tollgate_store::fs::{self, Durability};

use super::config::Target;
use super::{CommandResult, Trouble, gates, layout_here};
use crate::config::rules::RuleDefinition;
use crate::config::{Merged, nearest};

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
    /// Write a rule with its examples, after three questions
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

impl Where {
    fn target(self, env: &Env) -> Result<Target, Trouble> {
        Target::of(self.user, self.local, env, || layout_or_repository(env))
    }
}

/// Puts rules behind what a file has. A file that would have errors is not written: rules only ever
/// narrow what an agent may do, so anybody may add one.
fn append(place: Where, rules: &str) -> Result<PathBuf, Trouble> {
    let env = crate::environment::current();
    let target = place.target(&env)?;
    let text = target.text()?;
    let gap = match text.as_str() {
        "" => "",
        text if text.ends_with("\n\n") => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let changed = format!("{text}{gap}{}\n", rules.trim_end());
    let wrong = target.problems(&env, &changed);
    if !wrong.is_empty() && text.is_empty() {
        // It was made for these rules.
        let _gone = fs::remove(&target.path);
    }
    super::config::write_if_right(&target.path, &changed, &wrong)?;
    Ok(target.path)
}

/// The rule of this id, or that there is none.
pub(super) fn named<'m>(merged: &'m Merged, id: &str) -> Result<&'m RuleDefinition, Trouble> {
    let mut rules = merged.rules.iter();
    rules.find(|rule| rule.id == id).ok_or_else(|| {
        let near = nearest(id, merged.rules.iter().map(|rule| rule.id.as_str()));
        let near = near.map_or(String::new(), |near| {
            format!("; did you mean {CODE}{near}?")
        });
        Trouble::new(format!("there is no rule {id:?} here{near}"))
            .hint("`tollgate rules list` lists them")
    })
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
    fs::replace_shared(&file, b"", Durability::Lazy)
        .map_err(|fault| Trouble::about(&file, &fault))?;
    Layout::find(env, None).ok_or_else(super::no_project)
}

fn today() -> String {
    Timestamp::now().strftime("%Y-%m-%d").to_string()
}
