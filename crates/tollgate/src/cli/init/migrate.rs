//! `tollgate init --migrate`: one `tollgate.toml` in place of the files of version 0.1.
//!
//! The old files go only after the new one was written, read back, and found to give the same
//! gates.

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_store::fs;

use super::{Arguments, print_text, write_one};
use crate::cli::question::{Default, agrees};
use crate::cli::{BOLD, CommandResult, ERROR, GOOD, Trouble, WARN};
use crate::gate::config::Config;
use crate::git::Git;
use crate::init::{Action, CONFIG, IGNORE, IGNORED, Migration, Unmigrated};
use crate::plain::Plain;

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let layout = crate::cli::layout_here()?;
    let place = layout.root().join(CONFIG);
    let migration = Migration::of(&layout).map_err(trouble)?;
    if place.symlink_metadata().is_ok() {
        let what = format!("{CONFIG} is there already, beside {}", list(&migration));
        let next = format!(
            "move {CONFIG} away, or remove the old files if it contains everything they say"
        );
        return Err(Trouble::refused(what, next));
    }
    if !arguments.json {
        show(&migration);
    }
    if !is_wanted(arguments)? {
        if arguments.json {
            print_json(&migration, false);
        } else {
            let why = if arguments.dry_run {
                " (--dry-run)"
            } else {
                ""
            };
            out!("Nothing was written{why}.");
        }
        return Ok(ExitCode::SUCCESS);
    }
    write(&layout, &place, &migration)?;
    remove(layout.root(), &migration)?;
    if arguments.json {
        print_json(&migration, true);
    } else {
        let count = migration.old.len();
        let noun = if count == 1 { "file" } else { "files" };
        out!("{GOOD}●{GOOD:#} {CONFIG} is written; {count} old {noun} removed.");
        out!("  {BOLD}git diff{BOLD:#} shows it; commit both together.");
    }
    Ok(ExitCode::SUCCESS)
}

fn trouble(unmigrated: Unmigrated) -> Trouble {
    match unmigrated {
        Unmigrated::Nothing => {
            Trouble::new("there is nothing to migrate: no files of version 0.1 are in .tollgate/")
                .hint("`tollgate init` makes a tollgate.toml from what is in the project")
        }
        Unmigrated::Broken(error) => Trouble::new(format!(
            "the old files have errors; nothing was written\n{error}"
        ))
        .hint("correct them; `tollgate validate` checks them"),
        Unmigrated::Unsayable(problems) => Trouble::refused(
            format!(
                "{CONFIG} cannot express everything in the old files; nothing was written\n{}",
                problems.join("\n")
            ),
            "change that in the old files first; they keep working as they are",
        ),
    }
}

fn is_wanted(arguments: &Arguments) -> Result<bool, Trouble> {
    if arguments.dry_run || arguments.yes {
        return Ok(arguments.yes);
    }
    if !arguments.can_ask() {
        return Err(
            Trouble::new("nothing was written: there is no terminal to ask at")
                .hint("`tollgate init --migrate --yes` writes, `--dry-run` only shows"),
        );
    }
    let question = format!("Write {BOLD}{CONFIG}{BOLD:#} and remove the old files?");
    Ok(agrees(&question, Default::Yes))
}

/// Writes the new file, reads it back and compares. What does not hold is taken back.
fn write(layout: &Layout, place: &Path, migration: &Migration) -> Result<(), Trouble> {
    write_one(place, &migration.text, Action::Write)
        .map_err(|error| Trouble::about(place, &error))?;
    let checked = check(layout, migration);
    if let Err(what) = checked {
        let _gone = fs::remove(place);
        return Err(Trouble::refused(
            format!("{CONFIG} would not give the same gates; nothing was changed\n{what}"),
            "the old files keep working; please report this and attach them",
        ));
    }
    let ignore = layout.root().join(IGNORE);
    if ignore.symlink_metadata().is_err() {
        write_one(&ignore, IGNORED, Action::Write)
            .map_err(|error| Trouble::about(&ignore, &error))?;
    }
    Ok(())
}

fn check(layout: &Layout, migration: &Migration) -> Result<(), String> {
    let new = Config::of_toml(layout, &Env::default()).map_err(|error| error.to_string())?;
    if !migration.has_gates() {
        return Ok(());
    }
    let files = Git::at(layout.root())
        .and_then(|git| {
            let listing = [
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ];
            git.ask(listing).paths()
        })
        .map_err(|error| error.to_string())?;
    migration.difference(&new, &files).map_or(Ok(()), Err)
}

/// Removes the old files, and the directories that nothing else is in.
fn remove(root: &Path, migration: &Migration) -> Result<(), Trouble> {
    for file in &migration.old {
        let path = root.join(file);
        fs::remove(&path).map_err(|error| {
            let hint = format!("{CONFIG} is written; remove {} yourself", list(migration));
            Trouble::about(&path, &error).hint(hint)
        })?;
    }
    for directory in [
        ".tollgate/checks",
        ".tollgate/reviews",
        ".tollgate/workflow/config",
    ] {
        // One with other files in it stays.
        let _kept = std::fs::remove_dir(root.join(directory));
    }
    Ok(())
}

fn list(migration: &Migration) -> String {
    let names = migration.old.iter().map(|file| file.display().to_string());
    names.collect::<Vec<_>>().join(", ")
}

fn show(migration: &Migration) {
    out!("{GOOD}+{GOOD:#} {CONFIG}");
    print_text(&migration.text);
    out!();
    for file in &migration.old {
        let file = file.display().to_string();
        out!("{ERROR}-{ERROR:#} {}", Plain(&file));
    }
    for note in &migration.notes {
        out!("{WARN}!{WARN:#} {}", Plain(note));
    }
    out!();
}

fn print_json(migration: &Migration, is_migrated: bool) {
    anstream::println!(
        "{:#}",
        json!({
            "writes": [{ "path": CONFIG, "text": migration.text }], "removes": migration.old,
            "notes": migration.notes, "migrated": is_migrated,
        })
    );
}
