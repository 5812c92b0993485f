//! `tollgate plan new`: a directory and its first state.

use std::process::ExitCode;

use tollgate_core::project::Layout;

use super::{CommandResult, GOOD, PlanContext, Trouble, WARN};
use crate::agents::read;
use crate::gate::config::Config;
use crate::plan::home::{Plan, StateFile, Unwritten};
use crate::plan::transition;
use crate::{project_commands, trust};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The plan's name: letters, digits, '.', '_' and '-'
    id: String,
}

pub(super) fn run(context: &PlanContext, Arguments { id }: &Arguments) -> CommandResult {
    if context.env.is_nested() {
        return Err(Trouble::new("a reviewer cannot begin a plan"));
    }
    let safe = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    let begins = id.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
    if !begins || id.len() > 64 || !id.bytes().all(safe) {
        return Err(Trouble::new(format!("{id:?} is not a name for a new plan"))
            .hint("letters, digits, '.', '_' and '-', beginning with a letter or digit"));
    }
    let layout = match &context.layout {
        Some(layout) => layout.clone(),
        None => begin_here(context)?,
    };
    let plan = Plan::named(&layout, id).ok_or_else(|| Trouble::new("not the name of a plan"))?;
    std::fs::create_dir_all(plan.dir()).map_err(|error| Trouble::about(plan.dir(), &error))?;
    if let StateFile::Corrupt(why) | StateFile::Unusable(why) = plan.state() {
        return Err(Trouble::new(format!("plan '{id}': {why}"))
            .hint(format!("`tollgate plan repair --plan {id}` repairs it")));
    }
    match plan.create(context.now, &transition::first(None)) {
        Ok(()) => {
            context.note(&plan);
            let dir = context.seen_dir(&plan);
            out!("{GOOD}{id}{GOOD:#}: begun in {dir}");
            out!(
                "write {dir}/plan.md, then run `tollgate plan done new-plan`: its review follows when you stop"
            );
            warn_of_no_review(context, &layout)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(Unwritten::Moved(_)) => Err(Trouble::new(format!("plan '{id}' exists already"))
            .hint(format!("`tollgate plan next --plan {id}` goes on with it"))),
        Err(error @ Unwritten::Failed(_)) => Err(Trouble::new(error.to_string())),
    }
}

/// No review is promised that a missing registration or trust keeps from running.
fn warn_of_no_review(context: &PlanContext, layout: &Layout) -> Result<(), Trouble> {
    let reading = read::read(&super::super::install::places()?);
    if !reading.is_registered() {
        out!(
            "{WARN}no review runs before `tollgate install` registers Tollgate with an agent{WARN:#}"
        );
    } else if reading.asks_for_trust() {
        let gates = Config::in_force(layout, &context.env).ok();
        let commands = project_commands::of(layout, &context.env, gates.as_ref());
        let status = trust::status(layout, &context.env, &commands);
        if !status.is_consent() {
            out!(
                "{WARN}no review runs before a person runs `tollgate trust`{WARN:#}: {}",
                status.words(&commands)
            );
        }
    }
    Ok(())
}

/// The first plan of a directory makes it a project.
fn begin_here(context: &PlanContext) -> Result<Layout, Trouble> {
    let nowhere = || Trouble::new("the current directory is gone");
    let root = context.env.cwd.as_deref().ok_or_else(nowhere)?;
    let home = root.join(".tollgate");
    std::fs::create_dir_all(&home).map_err(|error| Trouble::about(&home, &error))?;
    Layout::at(root).ok_or_else(nowhere)
}
