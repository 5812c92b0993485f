//! `tollgate init`: looks at the project, shows every file that it would write, and writes on yes.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_store::fs::{self, Durability};

use super::install;
use super::wrap::wrap;
use super::{BOLD, CommandResult, DIM, GOOD, Trouble, WARN};
use crate::agents::AGENTS;
use crate::gate::config::Config;
use crate::init::{Action, Group, Nowhere, Part, Proposal, Survey, WrittenFiles};
use crate::plain::Plain;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Write without asking
    #[arg(short, long)]
    yes: bool,
    /// Show what would be written, and write nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Set up only this (may be repeated)
    #[arg(long, value_name = "WHAT")]
    only: Vec<Group>,
    /// Replace files that an earlier init wrote and nobody changed since; never any other
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let env = crate::environment::current();
    let survey = Survey::of(&env).map_err(|nowhere| trouble(&nowhere))?;
    let mut record = WrittenFiles::of(&survey.root);
    let groups = match arguments.only.as_slice() {
        [] => &Group::ALL,
        only => only,
    };
    let proposal = Proposal::of(&survey, &record, groups, arguments.force);
    if !arguments.json {
        show(&survey, &proposal);
    }
    let wanted = choose(arguments, &proposal)?;
    let done = write(&survey.root, &mut record, &wanted);
    if arguments.json {
        print_json(&survey, &proposal, &wanted);
    }
    let written = done?;
    if written > 0 {
        check(&survey.root, &env)?;
    }
    if !arguments.json {
        conclude(arguments, &proposal, written);
    }
    let is_set_up = written > 0 || proposal.changes().next().is_none();
    if is_set_up {
        register(arguments, &survey)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn trouble(nowhere: &Nowhere) -> Trouble {
    match nowhere {
        Nowhere::NoDirectory => Trouble::new("the current directory is gone"),
        Nowhere::NoRepository(here) => Trouble::new(format!(
            "{} is in no git repository, and without one nobody can tell what an agent changed",
            here.display()
        ))
        .hint("run `git init` at the project's root, then `tollgate init` again"),
    }
}

/// The parts that are to be written: all, none, or those that the person says yes to.
fn choose<'p>(arguments: &Arguments, proposal: &'p Proposal) -> Result<Vec<&'p Part>, Trouble> {
    let changing = proposal
        .parts
        .iter()
        .filter(|part| part.files.iter().any(|file| file.action.changes()));
    if arguments.dry_run {
        return Ok(vec![]);
    }
    if arguments.yes || proposal.changes().next().is_none() {
        return Ok(changing.collect());
    }
    if arguments.json || !std::io::stdin().is_terminal() {
        return Err(Trouble::new("nothing was written: there is nobody to ask")
            .hint("`tollgate init --yes` writes, `--dry-run` only shows"));
    }
    let mut chosen = Vec::new();
    for part in changing {
        if agrees(part)? {
            chosen.push(part);
        }
    }
    Ok(chosen)
}

fn agrees(part: &Part) -> Result<bool, Trouble> {
    let count = part.files.iter().filter(|file| file.action.changes());
    let files = count.count();
    let noun = if files == 1 { "file" } else { "files" };
    anstream::print!(
        "Write the {BOLD}{}{BOLD:#} ({files} {noun})? [Y/n] ",
        part.group.as_str()
    );
    let _shown = std::io::stdout().flush();
    let mut line = String::new();
    let read = std::io::stdin()
        .read_line(&mut line)
        .map_err(|error| Trouble::new(format!("standard input: {error}")))?;
    let word = line.trim().to_lowercase();
    Ok(read > 0 && (word.is_empty() || word == "y" || word == "yes"))
}

/// Writes the files, and remembers which. Says how many.
fn write(root: &Path, record: &mut WrittenFiles, parts: &[&Part]) -> Result<usize, Trouble> {
    let mut written = 0;
    let files = parts.iter().flat_map(|part| &part.files);
    let mut failed = None;
    for file in files.filter(|file| file.action.changes()) {
        let path = root.join(&file.path);
        match write_one(&path, &file.text, file.action) {
            Ok(()) => {
                record.note(&file.path, &file.text);
                written += 1;
            }
            Err(error) => {
                failed = Some(Trouble::about(&path, &error));
                break;
            }
        }
    }
    if written > 0
        && let Some(layout) = Layout::at(root)
    {
        record
            .save(&layout)
            .map_err(|error| Trouble::about(&layout.local(), &error))?;
    }
    failed.map_or(Ok(written), Err)
}

fn write_one(path: &Path, text: &str, action: Action) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let written = if action == Action::Replace {
        fs::replace(path, text.as_bytes(), Durability::Lazy).map(|()| true)
    } else {
        fs::create(path, text.as_bytes())
    };
    match written {
        Ok(true) => Ok(()),
        // A file that appeared since we looked is somebody else's.
        Ok(false) => Err(std::io::ErrorKind::AlreadyExists.into()),
        Err(fault) => Err(std::io::Error::other(fault.to_string())),
    }
}

/// What was written must be what `validate` and `run` accept.
fn check(root: &Path, env: &Env) -> Result<(), Trouble> {
    let Some(layout) = Layout::at(root).filter(|layout| layout.gates_config().is_file()) else {
        return Ok(());
    };
    Config::load(&layout, env).map(drop).map_err(|error| {
        Trouble::new(format!("the gates' configuration is not valid: {error}"))
            .hint("`tollgate validate` says more; correct the files it names")
    })
}

fn show(survey: &Survey, proposal: &Proposal) {
    anstream::println!("{BOLD}project{BOLD:#}    {}", survey.root.display());
    for part in &survey.parts {
        for found in &part.found {
            let file = Path::new(&part.path).join(&found.file);
            let file = file.strip_prefix(".").unwrap_or(&file).display();
            let file = file.to_string();
            anstream::println!("           {} {DIM}({}){DIM:#}", found.name, Plain(&file));
        }
    }
    anstream::println!(
        "{BOLD}base{BOLD:#}       {} {DIM}({}){DIM:#}",
        Plain(&survey.base.name),
        survey.base.why
    );
    for (index, (agent, why)) in survey.agents.iter().enumerate() {
        let label = if index == 0 { "agents" } else { "" };
        anstream::println!("{BOLD}{label:<9}{BOLD:#}  {agent} {DIM}({why}){DIM:#}");
    }
    if !survey.reviewers.is_empty() {
        anstream::println!("{BOLD}reviewers{BOLD:#}  {}", survey.reviewers.join(", "));
    }
    for part in &proposal.parts {
        anstream::println!("\n{BOLD}{}{BOLD:#}", part.group.as_str());
        if let Some(there) = &part.as_it_is {
            anstream::println!("  {DIM}={DIM:#} {}", Plain(there));
        }
        for file in &part.files {
            let (sign, style, word) = match file.action {
                Action::Write => ("+", GOOD, ""),
                Action::Replace => ("~", WARN, "  replaces what init wrote before"),
                Action::Same => ("=", DIM, "  is so already"),
                Action::Keep => ("=", DIM, "  is there and stays as it is"),
            };
            let path = Plain(&file.path);
            anstream::println!("  {style}{sign}{style:#} {path}{DIM}{word}{DIM:#}");
            if file.action.changes() {
                for line in file.text.lines() {
                    let indent = if line.is_empty() { "" } else { "      " };
                    anstream::println!("{indent}{DIM}{}{DIM:#}", Plain(line));
                }
            }
        }
        if part.group == Group::Gates && part.as_it_is.is_none() {
            notes(survey);
        }
    }
    anstream::println!();
}

/// What is missing, and what to do about it.
fn notes(survey: &Survey) {
    if !survey.has_checks() {
        note(
            "nothing was found that tests or lints this project; a check is a file such as \
             .tollgate/checks/test.yml with `command: …`, named in config.yml",
        );
    }
    if survey.reviewers.is_empty() {
        let reviewers = AGENTS.iter().filter_map(|agent| agent.reviewer.as_ref());
        let programs: Vec<&str> = reviewers
            .filter_map(|row| row.programs.first().copied())
            .collect();
        note(&format!(
            "no reviewer is installed ({}), so no review is proposed; with one, \
             `tollgate init --force` adds it",
            programs.join(", ")
        ));
    }
    for program in &survey.missing {
        note(&format!(
            "`{program}` is not on PATH here; its checks will fail until it is"
        ));
    }
}

fn note(text: &str) {
    for (index, line) in wrap(text, 76).iter().enumerate() {
        let sign = if index == 0 { "!" } else { " " };
        anstream::println!("  {WARN}{sign}{WARN:#} {}", Plain(line));
    }
}

fn conclude(arguments: &Arguments, proposal: &Proposal, written: usize) {
    if arguments.dry_run {
        anstream::println!("Nothing was written (--dry-run).");
        return;
    }
    if written == 0 && proposal.changes().next().is_some() {
        anstream::println!("Nothing was written.");
        return;
    }
    if written == 0 {
        anstream::println!("{GOOD}✔{GOOD:#} Everything is there; nothing was written.");
    } else {
        let noun = if written == 1 { "file" } else { "files" };
        anstream::println!("{GOOD}✔{GOOD:#} {written} {noun} written.");
    }
    anstream::println!("  {BOLD}tollgate run{BOLD:#} runs the gates on what changed.");
}

/// Registers with the agents that are found and do not know of Tollgate yet: asks a person, and
/// tells everybody else the command.
fn register(arguments: &Arguments, survey: &Survey) -> Result<(), Trouble> {
    if arguments.dry_run || arguments.json {
        return Ok(());
    }
    let strangers = install::unregistered()?;
    if strangers.is_empty() && !survey.agents.is_empty() {
        return Ok(());
    }
    let is_asked = !arguments.yes && std::io::stdin().is_terminal();
    if is_asked && !strangers.is_empty() {
        anstream::println!();
        // Whatever the person answers, the project is set up.
        return install::offer().map(drop);
    }
    let names: Vec<String> = strangers.iter().map(ToString::to_string).collect();
    let whom = if names.is_empty() {
        "your agent".to_owned()
    } else {
        names.join(", ")
    };
    anstream::println!("  {BOLD}tollgate install{BOLD:#} registers it with {whom}.");
    Ok(())
}

fn print_json(survey: &Survey, proposal: &Proposal, wanted: &[&Part]) {
    let languages: Vec<_> = survey
        .parts
        .iter()
        .flat_map(|part| {
            let found = part.found.iter();
            found.map(|found| json!({ "path": part.path, "name": found.name, "file": found.file }))
        })
        .collect();
    let agents: Vec<_> = survey.agents.iter().map(|(agent, _)| agent.name).collect();
    let files: Vec<_> = proposal
        .parts
        .iter()
        .flat_map(|part| {
            let is_wanted = wanted.iter().any(|wanted| wanted.group == part.group);
            part.files.iter().map(move |file| {
                json!({
                    "group": part.group.as_str(), "path": file.path, "text": file.text,
                    "action": match file.action {
                        Action::Write => "write",
                        Action::Replace => "replace",
                        Action::Same => "same",
                        Action::Keep => "keep",
                    },
                    "written": is_wanted && file.action.changes(),
                })
            })
        })
        .collect();
    let homes: Vec<_> = proposal
        .parts
        .iter()
        .map(|part| json!({ "group": part.group.as_str(), "as_it_is": part.as_it_is }))
        .collect();
    anstream::println!(
        "{:#}",
        json!({
            "root": survey.root, "base_branch": survey.base.name, "languages": languages,
            "agents": agents, "reviewers": survey.reviewers, "missing_programs": survey.missing,
            "groups": homes, "files": files,
        })
    );
}
