//! `tollgate config`: what holds and where it comes from, and changing one value.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tollgate_core::env::Env;
use tollgate_core::git::Repository;
use tollgate_core::person;
use tollgate_core::project::{LOCAL_CONFIG, Layout};
use tollgate_store::fs::{self, Durability};

use super::trust::a_person;
use super::{CommandResult, GOOD, Trouble, gates, layout_here};
use crate::config::show::{self, Origins};
use crate::config::{Layer, Merged, Problem, Texts, Weight, set};
use crate::gate::config::{Config, ConfigError};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Show the merged configuration as TOML
    Show {
        /// Show the file and the line of each value
        #[arg(long)]
        origin: bool,
        /// Print JSON, with the origin of each value
        #[arg(long)]
        json: bool,
    },
    /// Change one value, keeping comments and order (asks for a person at a terminal)
    Set(SetArguments),
}

#[derive(Debug, clap::Args)]
pub(super) struct SetArguments {
    /// The key, for example `gates.base` or `gates.test.timeout`
    key: String,
    /// The value; a text needs no quotes of its own
    value: String,
    /// Change tollgate.local.toml: for you, in this project
    #[arg(long, conflicts_with = "user")]
    local: bool,
    /// Change your own file for all projects
    #[arg(long)]
    user: bool,
}

pub(super) fn run(command: &Command) -> CommandResult {
    match command {
        Command::Show { origin, json } => show(*origin, *json),
        Command::Set(arguments) => change(arguments),
    }
}

fn show(origin: bool, as_json: bool) -> CommandResult {
    let env = crate::environment::current();
    let layout = layout_here()?;
    let merged = Merged::read(&layout, &env);
    merged.problems.iter().for_each(gates::report);
    if merged.is_wrong() {
        return Ok(ExitCode::from(2));
    }
    if as_json {
        anstream::println!("{:#}", show::as_json(&merged));
        return Ok(ExitCode::SUCCESS);
    }
    let origins = if origin {
        Origins::Shown
    } else {
        Origins::Hidden
    };
    anstream::print!("{}", show::as_toml(&merged, origins));
    Ok(ExitCode::SUCCESS)
}

fn change(arguments: &SetArguments) -> CommandResult {
    let env = crate::environment::current();
    let target = Target::of(arguments.user, arguments.local, &env, layout_here)?;
    // Gates are not the agent's to change.
    let _person = a_person("config set")?;
    let text = target.text()?;
    let SetArguments { key, value, .. } = arguments;
    let changed = set::set(&text, key, value).map_err(|(what, fix)| Trouble {
        next: fix,
        ..Trouble::new(what)
    })?;
    let wrong = target.problems(&env, &changed);
    write_if_right(&target.path, &changed, &wrong)?;
    out!("{GOOD}●{GOOD:#} {key} is set in {}", target.path.display());
    if target.layer == Layer::Local {
        ignore(&target.path)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Has git ignore a person's own file, in this clone alone: `.gitignore` is the project's.
fn ignore(path: &Path) -> Result<(), Trouble> {
    let directory = path.parent().unwrap_or(path);
    let Some(repository) = Repository::discover(directory) else {
        return Ok(());
    };
    let list = repository.common_dir.join("info/exclude");
    let text = std::fs::read_to_string(&list).unwrap_or_default();
    if text.lines().any(|line| line == LOCAL_CONFIG) {
        return Ok(());
    }
    let end = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    let text = format!("{text}{end}{LOCAL_CONFIG}\n");
    let written = std::fs::create_dir_all(repository.common_dir.join("info"))
        .map_err(|error| error.to_string())
        .and_then(|()| {
            fs::replace_shared(&list, text.as_bytes(), Durability::Lazy)
                .map_err(|fault| fault.to_string())
        });
    written.map_err(|why| Trouble::new(format!("git does not ignore {LOCAL_CONFIG} yet: {why}")))
}

/// Replaces a configuration file, unless its new text would have these errors.
pub(super) fn write_if_right(path: &Path, text: &str, wrong: &[Problem]) -> Result<(), Trouble> {
    if !wrong.is_empty() {
        wrong.iter().for_each(gates::report);
        return Err(Trouble::new(format!(
            "nothing was written: {} would have errors",
            path.display()
        )));
    }
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(|error| Trouble::about(parent, &error))?;
    }
    fs::replace_shared(path, text.as_bytes(), Durability::Synced)
        .map_err(|fault| Trouble::about(path, &fault))
}

/// A configuration file that a command changes.
pub(super) struct Target {
    pub(super) layer: Layer,
    pub(super) path: PathBuf,
    /// The project that it belongs to; a person's own file needs none.
    pub(super) layout: Option<Layout>,
}

impl Target {
    /// A person's own file, their own file in this project, or the project's.
    pub(super) fn of(
        user: bool,
        local: bool,
        env: &Env,
        project: impl FnOnce() -> Result<Layout, Trouble>,
    ) -> Result<Self, Trouble> {
        if user {
            let path = person::config_file(env).ok_or_else(|| {
                Trouble::new("HOME is not set, so your own configuration cannot be found")
                    .hint("set HOME and run this again")
            })?;
            return Ok(Self {
                layer: Layer::User,
                path,
                layout: Layout::find(env, None),
            });
        }
        let layout = project()?;
        let (layer, path) = if local {
            (Layer::Local, layout.local_config_file())
        } else {
            (Layer::Project, layout.config_file())
        };
        Ok(Self {
            layer,
            path,
            layout: Some(layout),
        })
    }

    pub(super) fn text(&self) -> Result<String, Trouble> {
        let about = |error: &dyn Display| Trouble::about(&self.path, &error);
        let contents = fs::read_own(&self.path, 1 << 20).map_err(|fault| about(&fault))?;
        let bytes = contents.map(|contents| contents.bytes).unwrap_or_default();
        String::from_utf8(bytes).map_err(|_| about(&"the file is not UTF-8 text"))
    }

    /// What holds if the file has this text.
    pub(super) fn merged(&self, env: &Env, text: &str) -> Merged {
        let text = text.trim_start_matches('\u{feff}');
        match &self.layout {
            // A person's own file is right or wrong by itself.
            Some(layout) if self.layer != Layer::User => {
                Merged::of(Texts::read(layout, env).with(self.layer, Some(text)), env)
            }
            Some(_) | None => Merged::of_user(env, text.to_owned()),
        }
    }

    /// What would be wrong with a file of this text.
    pub(super) fn problems(&self, env: &Env, text: &str) -> Vec<Problem> {
        let problems = self.merged(env, text).problems;
        let Some(layout) = self.layout.as_ref().filter(|_| self.layer != Layer::User) else {
            return problems;
        };
        let errors = |problems: Vec<Problem>| {
            let all = problems.into_iter();
            all.filter(|one| one.weight == Weight::Error)
                .collect::<Vec<_>>()
        };
        let wrong = errors(problems);
        if !wrong.is_empty() {
            return wrong;
        }
        let text = text.trim_start_matches('\u{feff}');
        let texts = Texts::read(layout, env).with(self.layer, Some(text));
        match Config::check(layout, env, &texts) {
            Err(ConfigError::Wrong(problems)) => errors(problems),
            Ok(_) | Err(ConfigError::Missing(_)) => Vec::new(),
        }
    }
}
