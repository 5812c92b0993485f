//! `tollgate install --git`: the guard on git's side, and out again.

use std::process::ExitCode;

use super::{Answer, BOLD, Consent, DIM, GOOD, HINT, Trouble, WARN, preview, program};
use crate::agent::{Places, Scope};
use crate::git_guard::script::{Hooks, Reach, Standing};

pub(super) fn install(places: &Places, command: Option<&str>, consent: Consent) -> Answer {
    let hooks = hooks(places)?;
    let mut remarks = Vec::new();
    // Git hooks run with whatever search path the caller has.
    let program = program(command, Scope::Local, places, &mut remarks)?;
    let program = match places.program(&program) {
        Some(path) if !program.contains('/') => path.display().to_string(),
        Some(_) | None => program,
    };
    let file = hooks.file();
    let shown = places.shown(&file);
    match hooks.standing() {
        Standing::Absent | Standing::Ours => {}
        Standing::Other => anstream::eprintln!(
            "{WARN}note{WARN:#}: {shown} is there already: it is kept and runs after the guard"
        ),
    }
    match hooks.reach {
        Reach::Repository => {}
        Reach::WorkTree => anstream::eprintln!(
            "{WARN}note{WARN:#}: core.hooksPath leads into the work tree: whoever gets these files \
             gets the hook, and a linked work tree has it only if it has them"
        ),
        Reach::Shared => anstream::eprintln!(
            "{WARN}note{WARN:#}: core.hooksPath leads out of the repository: the hook holds for \
             every repository that uses it, and acts only where a workflow runs"
        ),
    }
    let script = hooks.script(&program);
    let now = std::fs::read_to_string(&file).unwrap_or_default();
    if now == script {
        anstream::println!(
            "{GOOD}✔{GOOD:#} the guard on git's side is there already {DIM}({shown}){DIM:#}"
        );
        return Ok(ExitCode::SUCCESS);
    }
    if consent.dry_run || !consent.yes {
        let lines = script.lines().map(|line| format!("+{line}\n"));
        let preview: Vec<String> = lines.collect();
        let text = format!("+++ {shown}\n{}", preview.concat());
        if consent.dry_run {
            anstream::print!("{text}");
            return Ok(ExitCode::SUCCESS);
        }
        anstream::eprint!("{text}");
    }
    if !preview::ask(consent)? {
        return Ok(ExitCode::from(1));
    }
    hooks.install(&program).map_err(|error| {
        Trouble::about(&file, &error).hint("check that you may write there; git is as it was")
    })?;
    anstream::println!(
        "{GOOD}✔{GOOD:#} {BOLD}git{BOLD:#} asks Tollgate before an agent moves main {DIM}({shown}){DIM:#}"
    );
    anstream::println!("  - your own commits, merges and rebases are none of its business");
    anstream::eprintln!("{HINT}out again{HINT:#}: `tollgate uninstall --git`");
    Ok(ExitCode::SUCCESS)
}

pub(super) fn uninstall(places: &Places, consent: Consent) -> Answer {
    let hooks = hooks(places)?;
    let file = hooks.file();
    let shown = places.shown(&file);
    if hooks.standing() != Standing::Ours {
        anstream::eprintln!("there is no guard of Tollgate on git's side");
        return Ok(ExitCode::SUCCESS);
    }
    if consent.dry_run {
        anstream::println!("--- {shown}\n+++ /dev/null");
        return Ok(ExitCode::SUCCESS);
    }
    if !consent.yes {
        anstream::eprintln!("{shown} is taken out");
    }
    if !preview::ask(consent)? {
        return Ok(ExitCode::from(1));
    }
    hooks
        .uninstall()
        .map_err(|error| Trouble::about(&file, &error))?;
    anstream::println!(
        "{GOOD}✔{GOOD:#} {BOLD}git{BOLD:#} no longer asks Tollgate {DIM}({shown}){DIM:#}"
    );
    Ok(ExitCode::SUCCESS)
}

/// Whether there is something to take out.
pub(super) fn is_installed(places: &Places) -> bool {
    Hooks::of(&places.root).is_ok_and(|hooks| hooks.standing() == Standing::Ours)
}

fn hooks(places: &Places) -> Result<Hooks, Trouble> {
    Hooks::of(&places.root)
        .map_err(|what| Trouble::new(what).hint("the guard needs a git repository with hooks"))
}
