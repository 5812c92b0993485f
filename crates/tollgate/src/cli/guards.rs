//! `tollgate guards`: what is guarded, from the same table that the hook runs.

use std::process::ExitCode;

use tollgate_core::decision::{Code, Override};
use tollgate_core::guard::{GUARDS, Guard};
use tollgate_core::project::Layout;
use tollgate_core::{integrity, undecided};

use super::{BOLD, CommandResult, DIM, Trouble};
use crate::config::nearest;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Only this guard, with what to do about each of its codes
    name: Option<String>,
    /// All guards, also those that act only in workflows with numbered phases
    #[arg(long)]
    all: bool,
    /// Print JSON, always of all guards
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print the page docs/guards.md
    #[arg(long)]
    markdown: bool,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    if let Some(name) = &arguments.name {
        let guard = named(name)?;
        if arguments.json {
            anstream::println!("{:#}", row(guard));
        } else {
            print_one(guard);
        }
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.json {
        let rows: Vec<_> = GUARDS.iter().map(row).collect();
        anstream::println!("{:#}", serde_json::Value::Array(rows));
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.markdown {
        anstream::print!("{}", reference());
        return Ok(ExitCode::SUCCESS);
    }
    if Layout::find(&crate::environment::current(), None).is_some_and(|here| here.is_isdlc()) {
        GUARDS.iter().for_each(print_row);
        return Ok(ExitCode::SUCCESS);
    }
    let (general, numbered): (Vec<_>, Vec<_>) = GUARDS.iter().partition(|one| one.is_general);
    general.into_iter().for_each(print_row);
    out!();
    if arguments.all {
        out!(
            "Only in `.isdlc/` projects, and in workflows with numbered phases (06-implementation):"
        );
        out!();
        numbered.into_iter().for_each(print_row);
    } else {
        let count = numbered.len();
        out!("{count} more act only in workflows with numbered phases: `tollgate guards --all`");
    }
    Ok(ExitCode::SUCCESS)
}

fn print_row(guard: &Guard) {
    let (name, events) = (guard.name, events(guard));
    out!("{BOLD}{name}{BOLD:#}  {DIM}{events}{DIM:#}");
    out!("  {}", guard.about);
    for code in guard.codes {
        out!("  {}  {}", code.id, code.meaning);
    }
}

fn named(name: &str) -> Result<&'static Guard, Trouble> {
    Guard::named(name).ok_or_else(|| {
        let near = nearest(name, GUARDS.iter().map(|guard| guard.name));
        let near = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
        Trouble::new(format!("there is no guard {name:?}{near}"))
            .hint("`tollgate guards` lists them")
    })
}

fn print_one(guard: &Guard) {
    let (name, events) = (guard.name, events(guard));
    out!("{BOLD}{name}{BOLD:#}  {DIM}{events}{DIM:#}");
    out!("This guard {}.", guard.about);
    for code in guard.codes {
        out!();
        print_code(code);
    }
}

/// All that is known about a code.
pub(super) fn print_code(code: &Code) {
    let lift = match code.lifted_by {
        Some(Override::Person) => format!("`tollgate allow {} --once --reason \"…\"`", code.id),
        Some(Override::Nobody) => "it cannot be lifted".to_owned(),
        None => "it does not block".to_owned(),
    };
    out!("{BOLD}{}{BOLD:#}  {}", code.id, code.meaning);
    for (label, text) in [("do", code.remedy), ("lift", &lift)] {
        out!("  {DIM}{label:<6}{DIM:#}{text}");
    }
}

fn events(guard: &Guard) -> String {
    let names = guard.on.iter();
    let names = names.map(|(kind, class)| format!("{}[{class}]", kind.as_str()));
    let mut names: Vec<String> = names.collect();
    names.dedup();
    names.join(", ")
}

fn row(guard: &Guard) -> serde_json::Value {
    let codes = guard.codes.iter();
    let codes = codes.map(|code| (code.id.to_owned(), code.meaning.into()));
    let codes: serde_json::Map<String, serde_json::Value> = codes.collect();
    serde_json::json!({
        "name": guard.name, "about": guard.about, "events": events(guard), "codes": codes,
    })
}

/// The reference: one section per guard, in the order in which an event meets them.
fn reference() -> String {
    let guards = GUARDS.iter();
    let guards = guards.map(|one| section(one.name, one.about, &events(one), one.codes));
    let (name, about) = (integrity::NAME, integrity::ABOUT);
    let watch = section(name, about, "every event", integrity::CODES);
    let (name, about) = (undecided::NAME, undecided::ABOUT);
    let deadline = section(name, about, "every event of a tool", undecided::CODES);
    INTRODUCTION.to_owned() + &guards.chain([watch, deadline]).collect::<Vec<_>>().concat()
}

fn section(name: &str, about: &str, events: &str, codes: &[Code]) -> String {
    let row = |code: &Code| {
        let allow = match code.lifted_by {
            Some(Override::Person) => format!("`tollgate allow {}`", code.id),
            Some(Override::Nobody) => "it cannot be lifted".to_owned(),
            None => "does not block".to_owned(),
        };
        let (id, meaning, remedy) = (code.id, code.meaning, code.remedy);
        format!("| {id} | {meaning} | {remedy} | {allow} |\n")
    };
    let rows = codes.iter().map(row).collect::<Vec<_>>().concat();
    format!(
        "\n## {name}\n\nThis guard {about}. It runs on {events}.\n\n\
         | Code | Finding | What to do | A person lifts it |\n|---|---|---|---|\n{rows}"
    )
}

const INTRODUCTION: &str = "\
<!-- Made by `tollgate guards --markdown`; a test keeps it true. -->

# Guards

A guard checks one event of an agent and allows it, warns, or blocks it. Guards run in the order of this page. The first
block ends the check; warnings add up. `tollgate hook --guard NAME` runs one guard alone.

**How a person overrides a guard.** Guards bind agents, not people: what you do in your own terminal is not checked, so
the quickest way past a block is to do that one thing yourself. To let the agent do it, run
`tollgate allow CODE --once --reason \"…\"` (or `--for 30m`) in your own terminal: the block becomes a warning.
`tollgate allow --list` shows recent blocks with their codes. See [trust.md](trust.md#overrides). Guards that protect the
state itself cannot be overridden; a state file that you change between two sessions is adopted with a notice. A workflow
that is in the way is ended with `tollgate workflow finalize` or `tollgate workflow cancel`.

**What a block says.** In `.isdlc/` projects the words are those of the specification, elsewhere Tollgate's own. For a real
agent the last line is `Next: …`: the steps that get it further, with the commands and paths of this project, or the
command that only a person can run. An agent that follows this line exactly meets no second block.

**Files.** The state is `.isdlc/state.json` or `.tollgate/workflow/state.json`. The task plan is `docs/isdlc/tasks.md` or
`.tollgate/workflow/tasks.md`. Configuration files such as `workflows.json` are in `config/` beside the state. In a
monorepo they are those of the project.
";
