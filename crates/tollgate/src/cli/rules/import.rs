//! `tollgate rules import`: rules in another tool's words, and what could not be taken over.

use std::path::PathBuf;
use std::process::ExitCode;

use super::super::plain::{Plain, count};
use super::super::{CommandResult, GOOD, Trouble, WARN, read_text};
use super::{Where, append};
use crate::rules::foreign::{self, Imported};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// Claude Code's settings.json, a .rules file of Codex, or a rule of hookify (.local.md)
    file: PathBuf,
    #[command(flatten)]
    place: Where,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let text = read_text(&arguments.file)?;
    // What is in place of bytes that are no text would be a pattern that nothing matches.
    if let Some(line) = text
        .lines()
        .position(|line| line.contains(char::REPLACEMENT_CHARACTER))
    {
        let place = format!("{}:{}", arguments.file.display(), line + 1);
        return Err(Trouble::new(format!("{place}: it is not UTF-8 text")));
    }
    let name = arguments.file.to_string_lossy();
    let Imported {
        rules, left_out, ..
    } = foreign::import(&name, &text).map_err(|why| {
        Trouble::new(format!("{}: {why}", arguments.file.display()))
            .hint("Claude Code's settings.json, Codex's .rules and hookify's .local.md can be read")
    })?;
    for (what, why) in &left_out {
        err!("{WARN}left out{WARN:#}: {}: {}", Plain(what), Plain(why));
    }
    let written = count(rules.len(), "rule");
    let missing = left_out.len();
    if rules.is_empty() {
        out!("No rule was imported; {missing} left out.");
        return Ok(ExitCode::FAILURE);
    }
    let text = rules.join("\n");
    if arguments.place.print {
        anstream::print!("{text}");
        return Ok(ExitCode::SUCCESS);
    }
    let path = append(arguments.place, &text)?;
    out!(
        "{GOOD}●{GOOD:#} {written} imported into {}, {missing} left out",
        path.display()
    );
    Ok(ExitCode::SUCCESS)
}
