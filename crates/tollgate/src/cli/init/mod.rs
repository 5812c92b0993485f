//! `tollgate init`: reads the project, shows the file that it would write, and writes on yes.

mod migrate;

use std::path::Path;
use std::process::ExitCode;

use clap::Parser as _;
use serde_json::json;

use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_store::fs::{self, Durability};

use super::global::{Verbosity, verbosity};
use super::install;
use super::question::{Default, agrees, can_ask};
use super::{BOLD, CommandResult, DIM, GOOD, Trouble, WARN, gates, rules};
use crate::agents::AGENTS;
use crate::config::Merged;
use crate::gate::config::{Config, Words};
use crate::init::{Action, CONFIG, File, Group, Nowhere, Proposal, Survey, WrittenFiles};
use crate::plain::Plain;
use crate::rules::packs::proposed;

const ADD_A_GATE: &str = "tollgate config set gates.test.run \"make test\"";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Write without asking
    #[arg(short, long)]
    yes: bool,
    /// Show what would be written, and write nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Add a workflow: phases that are worked through in order
    #[arg(long)]
    workflow: bool,
    /// Add plans: reviewed until two reviews in a row find nothing
    #[arg(long)]
    plans: bool,
    /// Set up only this (may be repeated)
    #[arg(long, value_name = "WHAT", hide = true)]
    only: Vec<Group>,
    /// Convert the files of version 0.1 in .tollgate/ to one tollgate.toml
    #[arg(long, conflicts_with_all = ["workflow", "plans", "only", "force"])]
    migrate: bool,
    /// Replace files that an earlier init wrote, if nobody edited them since
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Arguments {
    fn groups(&self) -> Vec<Group> {
        if !self.only.is_empty() {
            return self.only.clone();
        }
        let workflow = self.workflow.then_some(Group::Workflow);
        let plans = self.plans.then_some(Group::Plans);
        let groups = [Some(Group::Gates), workflow, plans];
        groups.into_iter().flatten().collect()
    }

    fn can_ask(&self) -> bool {
        !self.yes && !self.json && can_ask()
    }
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    if arguments.migrate {
        return migrate::run(arguments);
    }
    let env = crate::environment::current();
    let survey = Survey::of(&env).map_err(|nowhere| trouble(&nowhere))?;
    let mut record = WrittenFiles::of(&survey.root);
    let groups = arguments.groups();
    let proposal = Proposal::of(&survey, &record, &groups, arguments.force);
    let is_short = arguments.yes && verbosity() == Verbosity::Quiet;
    let is_told = !arguments.json && !is_short;
    if is_told {
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
    let gates = gates_of(&survey);
    if !arguments.json {
        conclude(arguments, &proposal, &wanted, gates.as_deref());
    }
    let is_set_up = written > 0 || proposal.changes().next().is_none();
    if is_set_up && is_told && !arguments.dry_run {
        next_steps(arguments, &survey, gates.as_deref())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn trouble(nowhere: &Nowhere) -> Trouble {
    match nowhere {
        Nowhere::NoDirectory => Trouble::new("the current directory is gone"),
        Nowhere::NoRepository(here) => Trouble::new(format!(
            "{} is not in a git repository, so Tollgate cannot find out what an agent changed",
            here.display()
        ))
        .hint("run `git init` at the project's root, then `tollgate init` again"),
    }
}

/// The files that are to be written: all, or none.
fn choose<'p>(arguments: &Arguments, proposal: &'p Proposal) -> Result<Vec<&'p File>, Trouble> {
    if arguments.dry_run {
        return Ok(vec![]);
    }
    if proposal.is_refused() {
        let what = format!("{CONFIG} exists already; nothing was written");
        let next = "`tollgate config set KEY VALUE` changes a value; `tollgate init --force` replaces the file if nobody edited it; `tollgate init --dry-run` shows what would be written";
        return Err(Trouble::refused(what, next));
    }
    let files: Vec<&File> = proposal.changes().collect();
    if arguments.yes || files.is_empty() {
        return Ok(files);
    }
    if !arguments.can_ask() {
        return Err(
            Trouble::new("nothing was written: there is no terminal to ask at")
                .hint("`tollgate init --yes` writes, `--dry-run` only shows"),
        );
    }
    let question = format!("Write {BOLD}{CONFIG}{BOLD:#}?");
    Ok(if agrees(&question, Default::Yes) {
        files
    } else {
        vec![]
    })
}

/// Writes the files, and remembers which. Says how many.
fn write(root: &Path, record: &mut WrittenFiles, files: &[&File]) -> Result<usize, Trouble> {
    let mut written = 0;
    let mut failed = None;
    // The configuration last: it makes the project.
    for file in files.iter().rev() {
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
    if action == Action::Replace {
        fs::replace(path, text.as_bytes(), Durability::Lazy)?;
    } else if !fs::create(path, text.as_bytes())? {
        // A file that appeared since it was read is not ours.
        return Err(std::io::ErrorKind::AlreadyExists.into());
    }
    Ok(())
}

/// What was written must be what `validate` and `run` accept.
fn check(root: &Path, env: &Env) -> Result<(), Trouble> {
    let Some(layout) = Layout::at(root).filter(|layout| layout.gates_config().is_file()) else {
        return Ok(());
    };
    Config::load(&layout, env).map(drop).map_err(|error| {
        Trouble::new(format!("the gates' configuration is not valid: {error}"))
            .hint("`tollgate validate` lists the errors with file and line")
    })
}

fn show(survey: &Survey, proposal: &Proposal) {
    out!("{BOLD}project{BOLD:#}    {}", survey.root.display());
    for part in &survey.parts {
        for found in &part.found {
            let file = Path::new(&part.path).join(&found.file);
            let file = file.strip_prefix(".").unwrap_or(&file).display();
            let file = file.to_string();
            out!("           {} {DIM}({}){DIM:#}", found.name, Plain(&file));
        }
    }
    out!(
        "{BOLD}base{BOLD:#}       {} {DIM}({}){DIM:#}",
        Plain(&survey.base.name),
        survey.base.why
    );
    for (index, (agent, why)) in survey.agents.iter().enumerate() {
        let label = if index == 0 { "agents" } else { "" };
        out!("{BOLD}{label:<9}{BOLD:#}  {agent} {DIM}({why}){DIM:#}");
    }
    if !survey.reviewers.is_empty() {
        out!("{BOLD}reviewers{BOLD:#}  {}", survey.reviewers.join(", "));
    }
    for (at, (group, there)) in proposal.homes.iter().enumerate() {
        let label = if at == 0 { "\n" } else { "" };
        let group = group.as_str();
        out!("{label}{BOLD}{group:<9}{BOLD:#}  {}", Plain(there));
    }
    for file in &proposal.files {
        let (sign, style, word) = match file.action {
            Action::Write => ("+", GOOD, ""),
            Action::Replace => ("~", WARN, "  replaces what an earlier init wrote"),
            Action::Same => ("=", DIM, "  unchanged"),
            Action::Keep => ("=", DIM, "  exists, is kept"),
        };
        let path = Plain(&file.path);
        out!("\n{style}{sign}{style:#} {path}{DIM}{word}{DIM:#}");
        // What would be written instead of a file that stays is what `--dry-run` is asked for.
        if file.action != Action::Same {
            print_text(&file.text);
        }
    }
    if proposal.changes().next().is_some() {
        notes(survey, proposal);
    }
    out!();
}

/// Prints the text of a file that would be written.
fn print_text(text: &str) {
    for line in text.lines() {
        let indent = if line.is_empty() { "" } else { "    " };
        // Data: a line that is broken would read as two.
        anstream::println!("{indent}{DIM}{}{DIM:#}", Plain(line));
    }
}

fn notes(survey: &Survey, proposal: &Proposal) {
    let mut homes = proposal.homes.iter();
    if homes.any(|(group, _)| *group == Group::Gates) {
        return;
    }
    if proposal.gates.is_empty() {
        note(&format!(
            "no command that tests or lints this project was found; edit the example in {CONFIG}, or run `{ADD_A_GATE}`"
        ));
    }
    if survey.reviewers.is_empty() {
        let reviewers = AGENTS.iter().filter_map(|agent| agent.reviewer.as_ref());
        let programs = reviewers.filter_map(|row| row.programs.first().copied());
        let programs: Vec<&str> = programs.collect();
        note(&format!(
            "no reviewer is installed ({}), so no review is proposed; with one, \
             `tollgate init --dry-run` shows the gate to add",
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
    out!("\n{WARN}!{WARN:#} {}", Plain(text));
}

fn conclude(
    arguments: &Arguments,
    proposal: &Proposal,
    written: &[&File],
    gates: Option<&[String]>,
) {
    if arguments.dry_run {
        out!("Nothing was written (--dry-run).");
    } else if !written.is_empty() {
        let names: Vec<&str> = written.iter().map(|file| file.path.as_str()).collect();
        out!("{GOOD}●{GOOD:#} Written: {}", names.join(", "));
    } else if proposal.changes().next().is_some() {
        out!("Nothing was written.");
    } else if gates.is_some_and(<[String]>::is_empty) {
        out!("Nothing was written: the files are there, and there is no gate yet.");
    } else {
        out!("{GOOD}●{GOOD:#} Everything is set up; nothing was written.");
    }
}

/// The steps that follow: registering with the agents that do not know of Tollgate yet, rules to watch
/// them by, and a first run. A person is asked about the first two (with the file: three questions);
/// everybody else gets the commands.
fn next_steps(
    arguments: &Arguments,
    survey: &Survey,
    gates: Option<&[String]>,
) -> Result<(), Trouble> {
    let strangers = install::unregistered()?;
    let is_registered = strangers.is_empty() && !survey.agents.is_empty();
    if arguments.can_ask() {
        if !strangers.is_empty() {
            out!();
            // Whatever the person answers, the project is set up.
            let _registered = install::offer()?;
        }
        // The guard on git's side was the third question.
        let is_full = !strangers.is_empty()
            && Layout::at(&survey.root).is_some_and(|layout| layout.workflow_home().is_dir());
        if !has_rules(survey) && is_full {
            propose_rules();
        } else if !has_rules(survey) {
            let names: Vec<&str> = proposed().map(|pack| pack.name).collect();
            let question = format!(
                "Add the rules {BOLD}{}{BOLD:#} in watch mode (nothing is blocked)?",
                names.join(" and ")
            );
            out!();
            if agrees(&question, Default::Yes) {
                rules::watch_proposed()?;
            }
        }
        if gates.is_some_and(|gates| !gates.is_empty()) {
            out!("\nRunning the gates once ({BOLD}tollgate run{BOLD:#}):");
            run_gates()?;
        }
        return last_words(gates);
    }
    if !is_registered {
        let names: Vec<String> = strangers.iter().map(ToString::to_string).collect();
        let whom = if names.is_empty() {
            "your agent".to_owned()
        } else {
            names.join(", ")
        };
        propose(
            "tollgate install",
            &format!("register Tollgate with {whom}"),
        );
    }
    if gates.is_some_and(<[String]>::is_empty) {
        propose(ADD_A_GATE, "add a gate");
    } else {
        propose("tollgate run", "run the gates once");
    }
    if !has_rules(survey) {
        propose_rules();
    }
    Ok(())
}

fn propose_rules() {
    let what = "count force pushes and the like, block nothing";
    propose("tollgate rules add git-safety --mode watch", what);
}

/// A command that comes next, and what it does.
fn propose(command: &str, what: &str) {
    out!("  {BOLD}{command}{BOLD:#}  {DIM}# {what}{DIM:#}");
}

/// What holds from now on, and how to see it.
fn last_words(gates: Option<&[String]>) -> Result<(), Trouble> {
    let Some(gates) = gates else {
        return Ok(());
    };
    let names = gates.join(", ");
    let is_registered = install::is_registered()?;
    out!();
    match (gates, is_registered) {
        ([], _) => out!("There are no gates yet: `{ADD_A_GATE}` adds one."),
        (_, true) => out!(
            "{GOOD}●{GOOD:#} Your agent cannot stop while these are red: {BOLD}{}{BOLD:#}.\n  \
             Try it: break a test, ask your agent to change a comment, and watch it go on until the test passes.",
            Plain(&names)
        ),
        (_, false) => out!(
            "No agent is registered, so nothing is enforced yet: `tollgate install` registers one.\n\
             Then your agent cannot stop while these are red: {BOLD}{}{BOLD:#}.",
            Plain(&names)
        ),
    }
    Ok(())
}

/// The names of the project's gates. None where `tollgate.toml` is not the place to add one.
fn gates_of(survey: &Survey) -> Option<Vec<String>> {
    let layout = Layout::at(&survey.root)?;
    let config = Config::load(&layout, &crate::environment::current()).ok()?;
    let names = config.checks.keys().chain(config.reviews.keys());
    let names: Vec<String> = names.cloned().collect();
    (config.words == Words::Own || !names.is_empty()).then_some(names)
}

/// Whether the project has rules already.
fn has_rules(survey: &Survey) -> bool {
    let layout = Layout::at(&survey.root);
    let env = crate::environment::current();
    layout.is_some_and(|layout| !Merged::in_force(&layout, &env).rules.is_empty())
}

/// The first run, as if the person had typed it. What it says is not what `init` came to.
fn run_gates() -> Result<(), Trouble> {
    let arguments = super::GatesArguments::try_parse_from(["tollgate", "run"]);
    let arguments = arguments.map_err(|error| Trouble::new(error.to_string()))?;
    let _result = gates::run(&arguments.command)?;
    Ok(())
}

fn print_json(survey: &Survey, proposal: &Proposal, written: &[&File]) {
    let languages = survey.parts.iter().flat_map(|part| {
        let found = part.found.iter();
        found.map(|found| json!({ "path": part.path, "name": found.name, "file": found.file }))
    });
    let languages: Vec<_> = languages.collect();
    let agents: Vec<_> = survey.agents.iter().map(|(agent, _)| agent.name).collect();
    let gates = proposal.gates.iter().map(|gate| {
        json!({
            "name": gate.name, "run": gate.run, "dir": gate.dir, "inputs": gate.inputs,
            "from": gate.from,
        })
    });
    let gates: Vec<_> = gates.collect();
    let files = proposal.files.iter().map(|file| {
        json!({
            "path": file.path, "text": file.text,
            "action": match file.action {
                Action::Write => "write",
                Action::Replace => "replace",
                Action::Same => "same",
                Action::Keep => "keep",
            },
            "written": written.iter().any(|one| one.path == file.path),
        })
    });
    let files: Vec<_> = files.collect();
    let homes: serde_json::Map<_, _> = proposal
        .homes
        .iter()
        .map(|(group, there)| (group.as_str().to_owned(), json!(there)))
        .collect();
    anstream::println!(
        "{:#}",
        json!({
            "root": survey.root, "base_branch": survey.base.name, "languages": languages,
            "agents": agents, "reviewers": survey.reviewers, "missing_programs": survey.missing,
            "homes": homes, "gates": gates, "files": files,
        })
    );
}
