//! The guard on git's side: `tollgate install --git`, what `tollgate install` proposes where a
//! workflow or a rule needs it, and out again.

use std::process::ExitCode;

use tollgate_core::project::Layout;

use super::{BOLD, CommandResult, Consent, DIM, GOOD, HINT, Trouble, WARN, preview, program};
use crate::agents::{Places, Scope};
use crate::cli::question::can_ask;
use crate::git_guard::hook_file::{HookFile, Position};
use crate::git_guard::hooks::{Hooks, Presence, Reach};
use crate::git_guard::turns;

/// `--git`: the guard is wanted, and stays in place until it is uninstalled.
pub(super) fn install(places: &Places, command: Option<&str>, consent: Consent) -> CommandResult {
    let hooks = hooks(places)?;
    put(places, command, consent, &hooks, Presence::Always)
}

/// Proposes the guard where a workflow or a rule needs it. A no is no failure: the agents are registered.
pub(super) fn propose(places: &Places, command: Option<&str>, consent: Consent) -> CommandResult {
    let is_needed = Layout::at(&places.root)
        .is_some_and(|layout| layout.workflow_home().is_dir() || turns::rules_need_guard(&layout));
    let Some(hooks) = Hooks::of(&places.root).ok().filter(|_| is_needed) else {
        return Ok(ExitCode::SUCCESS);
    };
    let offer = "`tollgate install --git` installs the guard on git's side";
    if hooks.reach != Reach::Repository {
        // Other people or other repositories would get it, too: that is for a person to say.
        err!("{DIM}{offer}; it is not proposed because of core.hooksPath{DIM:#}");
        return Ok(ExitCode::SUCCESS);
    }
    let presence = hooks.proposed_presence();
    let silent = !consent.yes && !consent.dry_run && !can_ask();
    if silent {
        if !is_installed(places) {
            err!("{DIM}{offer}, which sees what agents really commit and push{DIM:#}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    put(places, command, consent, &hooks, presence)?;
    Ok(ExitCode::SUCCESS)
}

fn put(
    places: &Places,
    command: Option<&str>,
    consent: Consent,
    hooks: &Hooks,
    presence: Presence,
) -> CommandResult {
    // Git hooks run with whatever search path the caller has.
    let program = program(command, Scope::Local, places)?;
    let program = match places.program(&program) {
        Some(path) if !program.contains('/') => path.display().to_string(),
        Some(_) | None => program,
    };
    let file = hooks.file();
    let shown = places.shown(&file);
    say_whom_it_concerns(hooks, places);
    let scripts = hooks.scripts(&program, presence);
    if hooks.are(&scripts) {
        out!("{GOOD}●{GOOD:#} the guard on git's side is there already {DIM}({shown}){DIM:#}");
        return Ok(ExitCode::SUCCESS);
    }
    if consent.dry_run || !consent.yes {
        let added = |(hook, script): &(HookFile, String)| {
            let lines = script.lines().map(|line| format!("+{line}\n"));
            let lines: String = lines.collect();
            format!("+++ {}\n{lines}", places.shown(&hook.path()))
        };
        let text: String = scripts.iter().map(added).collect();
        if consent.dry_run {
            anstream::print!("{text}");
            return Ok(ExitCode::SUCCESS);
        }
        anstream::eprint!("{text}");
    }
    let question = match presence {
        Presence::DuringTurns => preview::GUARD_GIT,
        Presence::Always => preview::GUARD_GIT_ALWAYS,
    };
    if !preview::ask(consent, &question)? {
        return Ok(ExitCode::from(1));
    }
    let trouble = |error| {
        Trouble::about(&file, &error)
            .hint("check the permissions of that directory; nothing was changed")
    };
    hooks.install(&program, presence).map_err(trouble)?;
    if let Some(layout) = Layout::at(&places.root) {
        turns::settle(&layout).map_err(trouble)?;
    }
    out!(
        "{GOOD}●{GOOD:#} {BOLD}git{BOLD:#} asks Tollgate before an agent moves main, commits or pushes {DIM}({shown}){DIM:#}"
    );
    out!("  - your own commits, merges, rebases and pushes are not checked");
    if presence == Presence::DuringTurns {
        out!("  - the hooks are active only while an agent works under a workflow or a rule");
    }
    err!("{HINT}to remove{HINT:#}: `tollgate uninstall --git`");
    Ok(ExitCode::SUCCESS)
}

/// Says what else the hooks reach, and what they meet.
fn say_whom_it_concerns(hooks: &Hooks, places: &Places) {
    for hook in hooks.each() {
        match hook.position() {
            Position::Absent | Position::InPlace | Position::Aside => {}
            Position::Foreign => err!(
                "{WARN}note{WARN:#}: {} is there already: it is kept and runs after the guard",
                places.shown(&hook.path())
            ),
        }
    }
    match hooks.reach {
        Reach::Repository => {}
        Reach::WorkTree => err!(
            "{WARN}note{WARN:#}: core.hooksPath is inside of the work tree: everybody with these files has the hook, and a linked work tree has it only with these files"
        ),
        Reach::Shared => err!(
            "{WARN}note{WARN:#}: core.hooksPath is outside of the repository: the hook runs in every repository that uses this directory, and acts only where a workflow or a rule needs it"
        ),
    }
}

pub(super) fn uninstall(places: &Places, consent: Consent) -> CommandResult {
    let hooks = hooks(places)?;
    let file = hooks.file();
    let shown = places.shown(&file);
    if !hooks.is_installed() {
        err!("there is no guard of Tollgate on git's side");
        return Ok(ExitCode::SUCCESS);
    }
    if consent.dry_run {
        anstream::println!("--- {shown}\n+++ /dev/null");
        return Ok(ExitCode::SUCCESS);
    }
    if !consent.yes {
        err!("{shown} is removed");
    }
    if !preview::ask(consent, &preview::UNGUARD_GIT)? {
        return Ok(ExitCode::from(1));
    }
    hooks
        .uninstall()
        .map_err(|error| Trouble::about(&file, &error))?;
    out!("{GOOD}●{GOOD:#} {BOLD}git{BOLD:#} no longer asks Tollgate {DIM}({shown}){DIM:#}");
    Ok(ExitCode::SUCCESS)
}

/// Whether there is something to take out.
pub(super) fn is_installed(places: &Places) -> bool {
    Hooks::of(&places.root).is_ok_and(|hooks| hooks.is_installed())
}

fn hooks(places: &Places) -> Result<Hooks, Trouble> {
    Hooks::of(&places.root).map_err(|what| {
        Trouble::new(what).hint("the guard on git's side needs a repository; `git init` makes one")
    })
}
