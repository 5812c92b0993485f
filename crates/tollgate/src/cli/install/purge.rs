//! `tollgate uninstall --purge`: lists all that Tollgate has outside of the project's files, and
//! takes it out: registrations of every scope, the guard on git's side, and what is kept about
//! the person.

use std::process::ExitCode;

use serde_json::json;

use super::{BOLD, CommandResult, Consent, DIM, GOOD, Trouble, make, preview, uninstall};
use crate::agents::change::Change;
use crate::agents::{Places, Scope};
use crate::git_guard::hooks::Hooks;
use crate::plain::{self, Plain};
use crate::user_store::{self, Kept};

struct Traces {
    settings: Vec<Change>,
    hooks: Option<Hooks>,
    kept: Vec<Kept>,
}

pub(super) fn run(places: &Places, consent: Consent, as_json: bool) -> CommandResult {
    let traces = Traces::find(places)?;
    if as_json {
        if !consent.dry_run && !consent.yes {
            return Err(Trouble::new("nothing was removed: `--json` does not ask")
                .hint("add `--yes`, or `--dry-run` to see what would be removed"));
        }
    } else {
        traces.show(places);
        if traces.is_empty() || consent.dry_run {
            return Ok(ExitCode::SUCCESS);
        }
        if !preview::ask(consent, &preview::PURGE)? {
            return Ok(ExitCode::from(1));
        }
    }
    let listed = traces.to_json();
    let failed = if consent.dry_run {
        None
    } else {
        traces.remove(places)
    };
    if as_json {
        let is_removed = !consent.dry_run && failed.is_none();
        anstream::println!("{:#}", json!({ "found": listed, "removed": is_removed }));
    } else if failed.is_none() {
        out!("{GOOD}●{GOOD:#} nothing of Tollgate is left outside of the project");
    }
    failed.map_or(Ok(ExitCode::SUCCESS), Err)
}

impl Traces {
    fn find(places: &Places) -> Result<Self, Trouble> {
        let mut scopes = vec![Scope::Project, Scope::Local];
        scopes.extend(places.home.is_some().then_some(Scope::User));
        let hooks = Hooks::of(&places.root).ok();
        let kept = match &places.state {
            Some(state) => {
                user_store::kept(state).map_err(|error| Trouble::about(state, &error))?
            }
            None => Vec::new(),
        };
        Ok(Self {
            settings: uninstall::plan(&[], &scopes, places)?,
            hooks: hooks.filter(Hooks::is_installed),
            kept,
        })
    }

    fn is_empty(&self) -> bool {
        self.settings.is_empty() && self.hooks.is_none() && self.kept.is_empty()
    }

    fn show(&self, places: &Places) {
        if self.is_empty() {
            out!("nothing of Tollgate was found outside of the project");
        }
        if !self.settings.is_empty() {
            out!("{BOLD}registrations{BOLD:#}");
        }
        for change in &self.settings {
            let file = places.shown(&change.file);
            let (agent, scope) = (change.agent, change.scope);
            out!("  {} {DIM}({agent}, {scope}){DIM:#}", Plain(&file));
        }
        if let Some(hooks) = &self.hooks {
            let file = places.shown(&hooks.file());
            out!("{BOLD}guard on git's side{BOLD:#}\n  {}", Plain(&file));
        }
        if !self.kept.is_empty() {
            out!("{BOLD}stored about you{BOLD:#}");
        }
        for part in &self.kept {
            let path = places.shown(&part.path);
            let files = plain::count(part.files as u64, "file");
            let about = part.about;
            out!("  {} {DIM}({about}: {files}){DIM:#}", Plain(&path));
            for repository in &part.repositories {
                let repository = repository.display().to_string();
                out!("    {DIM}about {}{DIM:#}", Plain(&repository));
            }
        }
        out!(
            "{DIM}tollgate.toml, .tollgate/ and ~/.config/tollgate/ are yours and stay; so do \
             the settings of other projects{DIM:#}"
        );
    }

    fn to_json(&self) -> serde_json::Value {
        let settings = self.settings.iter().map(|change| {
            let scope = change.scope.to_string();
            json!({ "agent": change.agent.name, "scope": scope, "file": change.file })
        });
        let kept = self.kept.iter().map(|part| {
            json!({
                "path": part.path, "about": part.about, "files": part.files, "bytes": part.bytes,
                "repositories": part.repositories,
            })
        });
        json!({
            "settings": settings.collect::<Vec<_>>(),
            "git_hook": self.hooks.as_ref().map(Hooks::file),
            "kept": kept.collect::<Vec<_>>(),
        })
    }

    /// Takes all of it out. The settings go first: what they were before is among what is kept.
    fn remove(self, places: &Places) -> Option<Trouble> {
        if let Some(trouble) = make(self.settings, places).failed {
            return Some(trouble.hint("nothing else was removed; correct it and run this again"));
        }
        if let Some(hooks) = &self.hooks
            && let Err(error) = hooks.uninstall()
        {
            return Some(Trouble::about(&hooks.file(), &error));
        }
        let state = places.state.as_ref()?;
        let what = user_store::forget(state).err()?;
        Some(Trouble::new(what).hint("remove it yourself; everything else is removed"))
    }
}
