//! `tollgate plan`: the steps of a plan as commands, so that its JSON is never edited directly.
//!
//! A step that is refused exits with 1 and says what would be right.

mod act;
mod adjust;
mod how;
mod new;
mod next;
mod repair;
mod review;
mod status;
mod validate;

use std::process::ExitCode;

use clap::Subcommand;
use jiff::Timestamp;
use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_store::journal::{Entry, Journal, Verdict};

use super::{CommandResult, GOOD, JsonArguments, Trouble, WARN};
use crate::ledger::writes;
use crate::person;
use crate::plan::choice;
use crate::plan::home::{Plan, StateFile, Unwritten};
use crate::plan::phase::{Action, TaskId};
use crate::plan::state::State;
use crate::plan::transition::{Change, Refusal};
use crate::plan::view::View;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The plan [default: the pinned one, else the one that changed last]
    #[arg(long, value_name = "ID", global = true)]
    plan: Option<String>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Begin a new plan: its directory and its state
    New(new::Arguments),
    /// Begin an action: nothing is reviewed until it is done
    Begin(act::Arguments),
    /// Mark an action as done: its review is due
    Done(act::Arguments),
    /// Change a setting of the plan
    Set(adjust::Set),
    /// Leave the review loop
    Release,
    /// Show the plan's status: rounds, verdicts, models, costs, and what remains
    Status(JsonArguments),
    /// Show what to do next, and why
    Next(JsonArguments),
    /// Print the steps of an action
    How(how::Arguments),
    /// Choose the current plan
    Use(adjust::Use),
    /// Check the plan's files
    Validate(JsonArguments),
    /// Show the review that the next stop would run
    Review(review::Arguments),
    /// Rebuild a damaged state: the last good version, else from the plan's files
    Repair,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let context = PlanContext::find(arguments.plan.as_deref());
    match &arguments.command {
        Command::New(arguments) => new::run(&context, arguments),
        Command::Begin(arguments) => act::begin(&context, arguments),
        Command::Done(arguments) => act::done(&context, arguments),
        Command::Set(arguments) => adjust::set(&context, arguments),
        Command::Release => adjust::release(&context),
        Command::Status(arguments) => status::run(&context, arguments),
        Command::Next(arguments) => next::run(&context, arguments),
        Command::How(arguments) => Ok(how::run(arguments)),
        Command::Use(arguments) => adjust::choose(&context, arguments),
        Command::Validate(arguments) => validate::run(&context, arguments),
        Command::Review(arguments) => review::run(&context, arguments),
        Command::Repair => repair::run(&context),
    }
}

/// Where a command runs.
struct PlanContext {
    env: Env,
    now: Timestamp,
    layout: Option<Layout>,
    wanted: Option<String>,
}

impl PlanContext {
    fn find(wanted: Option<&str>) -> Self {
        let env = crate::environment::current();
        Self {
            layout: Layout::find(&env, env.cwd.as_deref()),
            env,
            now: Timestamp::now(),
            wanted: wanted.map(str::to_owned),
        }
    }

    fn layout(&self) -> Result<&Layout, Trouble> {
        self.layout.as_ref().ok_or_else(|| {
            Trouble::new("this directory is not in a project")
                .hint("`tollgate plan new ID` begins a plan here")
        })
    }

    /// A plan's directory as whoever runs the command reads it.
    fn seen_dir(&self, plan: &Plan) -> String {
        plan.seen_from(self.env.cwd.as_deref())
    }

    /// The plan that is meant.
    fn plan(&self) -> Result<Plan, Trouble> {
        let layout = self.layout()?;
        if let Some(id) = &self.wanted {
            return named(layout, id);
        }
        let chosen = choice::choose(layout, self.env.claude_session.as_deref());
        for note in &chosen.notes {
            err!("{WARN}note{WARN:#}: {note}");
        }
        chosen.plan.ok_or_else(|| {
            Trouble::new(format!("there is no plan in {}", layout.plans_home_name()))
                .hint("`tollgate plan new ID` begins one")
        })
    }

    /// The plan and its state, which must be readable.
    fn open(&self) -> Result<(Plan, View, State), Trouble> {
        let plan = self.plan()?;
        let view = View::of(&plan);
        let state = match &view.found {
            StateFile::Read(state) => state.clone(),
            StateFile::Absent => {
                return Err(
                    Trouble::new(format!("plan '{}' has no state.json", plan.id())).hint(format!(
                        "`tollgate plan repair --plan {}` makes one from its files",
                        plan.id()
                    )),
                );
            }
            StateFile::Corrupt(why) => {
                return Err(
                    Trouble::new(format!("plan '{}': {why}", plan.id())).hint(format!(
                        "`tollgate plan repair` keeps it and restores the last good one, or restore it with git (`git checkout -- {}/state.json`)",
                        self.seen_dir(&plan)
                    )),
                );
            }
            StateFile::Unusable(why) => return Err(repair::not_ours(self, &plan, why)),
        };
        for problem in &state.problems {
            err!("{WARN}warning{WARN:#}: {problem}");
        }
        Ok((plan, view, state))
    }

    /// Notes that the session that runs the command works on this plan.
    fn note(&self, plan: &Plan) {
        if let (Some(layout), Some(session)) = (&self.layout, &self.env.claude_session) {
            writes::note_file(layout, session, &plan.path("state.json"));
        }
    }

    /// Writes a step into the journal, and by whose command it was made.
    fn write_down(&self, plan: &Plan, said: &str) {
        let by = person::agent().map(|(mark, _)| format!(", by an agent ({mark} is set)"));
        let reason = format!("{}: {said}{}", plan.id(), by.unwrap_or_default());
        let entry = Entry {
            session: self.env.claude_session.as_deref(),
            guard: Some("plan"),
            code: Some("PLAN-STEP"),
            reason: Some(&reason),
            ..Entry::new(self.now, Verdict::Change)
        };
        let local = self.layout.as_ref().map(Layout::local);
        let written = local.map(|local| Journal::new(local).append(&entry));
        if let Some(Err(error)) = written {
            err!("the journal cannot be written: {error}");
        }
    }

    /// Makes a step, and says what it came to.
    fn make(&self, plan: &Plan, state: &State, change: &Change, said: &str) -> CommandResult {
        if self.env.is_nested() {
            // A reviewer follows the same texts as an agent; the hook makes its step.
            out!("this runs inside a review, where only the hook changes state.json");
            return Ok(ExitCode::SUCCESS);
        }
        if change.is_empty() {
            out!("state.json was not changed: {said}");
            return Ok(ExitCode::SUCCESS);
        }
        match plan.change(self.now, state, change) {
            Ok(()) => {
                crate::plan::review_run::forget(plan);
                self.note(plan);
                self.write_down(plan, said);
                out!("{GOOD}{}{GOOD:#}: {said}", plan.id());
                Ok(ExitCode::SUCCESS)
            }
            Err(error @ Unwritten::Moved(_)) => {
                Err(Trouble::new(error.to_string()).hint("run the command again"))
            }
            Err(error @ Unwritten::Failed(_)) => Err(Trouble::new(error.to_string())),
        }
    }
}

fn named(layout: &Layout, id: &str) -> Result<Plan, Trouble> {
    let plan = Plan::named(layout, id)
        .ok_or_else(|| Trouble::new(format!("{id:?} is not the name of a plan")))?;
    if plan.dir().is_dir() {
        return Ok(plan);
    }
    let mut notes = Vec::new();
    let known: Vec<_> = choice::all(layout, &mut notes)
        .iter()
        .map(|plan| plan.id().to_owned())
        .collect();
    let hint = if known.is_empty() {
        "`tollgate plan new ID` begins one".to_owned()
    } else {
        format!("the plans are: {}", known.join(", "))
    };
    Err(Trouble::new(format!("there is no plan {id:?}")).hint(hint))
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Self {
        Self::refused(refusal.what, refusal.next)
    }
}

fn action(name: &str) -> Result<Action, String> {
    Action::parse(name).ok_or_else(|| super::one_of(Action::all().map(Action::as_str)))
}

fn task(id: &str) -> Result<TaskId, String> {
    TaskId::new(id).ok_or_else(|| "a task's id has letters, digits, '_' and '-'".to_owned())
}
