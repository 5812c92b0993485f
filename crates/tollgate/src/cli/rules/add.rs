//! `tollgate rules add`: a pack's rules, written into the file where they can be read and changed.

use std::process::ExitCode;

use super::super::{BOLD, CommandResult, GOOD, HINT, Trouble};
use super::{Where, append};
use crate::config::nearest;
use crate::rules::packs::{PACKS, Pack, proposed};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// The pack
    pack: Option<String>,
    /// What its rules do when they match
    #[arg(long, default_value = "enforce", value_parser = ["enforce", "warn", "watch"])]
    mode: String,
    #[command(flatten)]
    place: Where,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let Some(name) = arguments.pack.as_deref() else {
        for pack in PACKS {
            let rules = pack.text.matches("[[rule]]").count();
            out!(
                "{BOLD}{:<12}{BOLD:#}  {} ({rules} rules)",
                pack.name,
                pack.about
            );
        }
        return Ok(ExitCode::SUCCESS);
    };
    let pack = Pack::named(name).ok_or_else(|| {
        let near = nearest(name, PACKS.iter().map(|pack| pack.name));
        let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        Trouble::new(format!("there is no pack {name:?}{near}"))
            .hint("`tollgate rules add` lists the packs")
    })?;
    let text = pack.in_mode(&arguments.mode);
    if arguments.place.print {
        anstream::print!("{text}");
        return Ok(ExitCode::SUCCESS);
    }
    refuse_again(arguments.place, pack)?;
    let path = append(arguments.place, &text)?;
    let rules = pack.text.matches("[[rule]]").count();
    out!(
        "{GOOD}●{GOOD:#} {rules} rules of {name} are in {}, mode {}",
        path.display(),
        arguments.mode
    );
    out!("{HINT}next{HINT:#}: `tollgate rules try` shows what they would have done lately");
    Ok(ExitCode::SUCCESS)
}

/// A pack whose rules are in the file cannot be added: their ids would be there twice.
fn refuse_again(place: Where, pack: &Pack) -> Result<(), Trouble> {
    let env = crate::environment::current();
    let target = place.target(&env)?;
    let merged = target.merged(&env, &target.text()?);
    let ids: Vec<&str> = pack.ids().collect();
    let mut rules = merged.rules.iter();
    let Some(rule) =
        rules.find(|rule| rule.place.layer == target.layer && ids.contains(&rule.id.as_str()))
    else {
        return Ok(());
    };
    let what = format!(
        "the rules of {} are there already: {}",
        pack.name,
        merged.origin("rule", rule.place)
    );
    let next = "change their `mode` in that file: without a `mode` they are enforced";
    Err(Trouble::refused(what, next))
}

/// Adds the packs that every project is proposed, in a mode that blocks nothing.
pub(in crate::cli) fn watch_proposed() -> Result<(), Trouble> {
    let texts: Vec<String> = proposed().map(|pack| pack.in_mode("watch")).collect();
    let place = Where {
        user: false,
        local: false,
        print: false,
    };
    let path = append(place, &texts.join("\n"))?;
    out!(
        "{GOOD}●{GOOD:#} the rules are in {}, mode watch; `tollgate rules list` counts what they see",
        path.display()
    );
    Ok(())
}
