//! `tollgate uninstall`: takes Tollgate out of the agents' settings and of git's hooks.

use std::process::ExitCode;

use jiff::Timestamp;
use tollgate_core::project::Layout;

use super::{
    BOLD, CommandResult, Consent, DIM, GOOD, Trouble, make, places, preview, purge, trouble,
};
use crate::agents::backup::Backup;
use crate::agents::change::{self, Change};
use crate::agents::read;
use crate::agents::{AGENTS, Agent, Places, Scope};
use crate::cli::trust::a_person;
use crate::memory;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// The agents, separated by commas [default: all]
    #[arg(long, value_enum, value_delimiter = ',')]
    agent: Vec<Agent>,
    /// The settings [default: the project's shared ones and your own in it]
    #[arg(long, value_enum)]
    scope: Option<Scope>,
    /// Remove only the guard on git's side
    #[arg(long, conflicts_with_all = ["agent", "scope"])]
    git: bool,
    /// Remove everything: all settings, the guard on git's side, and what is stored about you
    /// outside of projects (trust, overrides, backups of settings)
    #[arg(long, conflicts_with_all = ["agent", "scope", "git"])]
    purge: bool,
    /// Print what is removed as JSON
    #[arg(long, requires = "purge")]
    json: bool,
    #[command(flatten)]
    consent: Consent,
}

/// What a person took out is not missed.
fn remember() {
    let env = crate::environment::current();
    if let Some(layout) = Layout::find(&env, env.cwd.as_deref()) {
        memory::changed_by_person(&layout, &env, Timestamp::now());
    }
}

pub(in crate::cli) fn run(arguments: &Arguments) -> CommandResult {
    let places = places()?;
    if !arguments.consent.dry_run {
        // An agent's guard is not the agent's to remove.
        let _person = a_person("uninstall").map_err(|trouble| {
            trouble.hint(
                "run it in a terminal of your own, outside of the agent; a script can remove what `tollgate uninstall --dry-run` shows",
            )
        })?;
    }
    if arguments.purge {
        return purge::run(&places, arguments.consent, arguments.json);
    }
    if arguments.git {
        return super::git::uninstall(&places, arguments.consent);
    }
    if arguments.scope == Some(Scope::User) && places.home.is_none() {
        return Err(
            Trouble::new("HOME is not set, so your own settings cannot be found")
                .hint("set HOME and run this again"),
        );
    }
    let scopes = match arguments.scope {
        Some(scope) => vec![scope],
        None => vec![Scope::Project, Scope::Local],
    };
    let changes = plan(&arguments.agent, &scopes, &places)?;
    let all = arguments.agent.is_empty() && arguments.scope.is_none();
    let guarded = all && super::git::is_installed(&places);
    if changes.is_empty() && !guarded {
        err!("Tollgate is not registered {}", whereabouts(arguments));
        warn_of_user(arguments, &places);
        return Ok(ExitCode::SUCCESS);
    }
    if !preview::agree(&changes, &places, arguments.consent, &preview::UNREGISTER)? {
        return Ok(ExitCode::from(1));
    }
    let mut failed = None;
    if !arguments.consent.dry_run {
        let made = make(changes, &places);
        failed = made.failed;
        remember();
        for change in &made.done {
            out!(
                "{GOOD}●{GOOD:#} {BOLD}{}{BOLD:#} is no longer registered {DIM}({}){DIM:#}",
                change.agent,
                places.shown(&change.file)
            );
        }
    }
    warn_of_user(arguments, &places);
    if guarded {
        let taken = super::git::uninstall(&places, arguments.consent);
        return failed.map_or(taken, Err);
    }
    failed.map_or(Ok(ExitCode::SUCCESS), Err)
}

/// Every file that has something of Tollgate in it, or that an install remembers.
pub(super) fn plan(
    agents: &[Agent],
    scopes: &[Scope],
    places: &Places,
) -> Result<Vec<Change>, Trouble> {
    let mut changes = Vec::new();
    for &agent in AGENTS {
        if !agents.is_empty() && !agents.contains(&agent) {
            continue;
        }
        for scope in scopes {
            let backup = Backup::of(*scope, places);
            let mut files = agent.reads(*scope, places);
            // One that was removed since is still remembered.
            files.extend(
                agent
                    .settings(*scope, places)
                    .filter(|file| !files.contains(file)),
            );
            for file in files {
                let known = backup
                    .as_ref()
                    .is_some_and(|backup| backup.load(&file).is_some());
                if !known && !file.exists() {
                    continue;
                }
                changes.extend(change::uninstall(agent, *scope, &file, places).map_err(trouble)?);
            }
        }
    }
    Ok(changes)
}

fn whereabouts(arguments: &Arguments) -> &'static str {
    match arguments.scope {
        Some(Scope::User) => "in your own settings",
        Some(Scope::Project | Scope::Local) | None => "in this project",
    }
}

/// What stays because its removal was not asked for.
fn warn_of_user(arguments: &Arguments, places: &Places) {
    if arguments.scope.is_some() {
        return;
    }
    let reading = read::read(places);
    let stays = reading.hooks().find(|found| found.scope == Scope::User);
    if let Some(found) = stays {
        err!(
            "{DIM}your own settings still register it ({}): `tollgate uninstall --scope user`{DIM:#}",
            places.shown(&found.file)
        );
    }
}
