//! `tollgate plan validate`: the rules for a plan's files, all findings at once.

use std::process::ExitCode;

use super::super::ERROR;
use super::super::JsonArguments;
use super::super::plain::Plain;
use super::{CommandResult, GOOD, PlanContext, WARN};
use crate::plan::home::StateFile;
use crate::plan::view::View;

pub(super) fn run(context: &PlanContext, arguments: &JsonArguments) -> CommandResult {
    let plan = context.plan()?;
    let view = View::of(&plan);
    let mut notes = view.report.notes.clone();
    notes.extend(view.tasks().unknown().map(|task| {
        format!(
            "tasks.md: the status of task {} is {:?}, which is not known and counts as open (known: pending, in-progress, done, cancelled, postponed)",
            task.id, task.status
        )
    }));
    notes.extend(view.lost_tasks());
    match &view.found {
        StateFile::Read(state) => notes.extend(state.problems.iter().cloned()),
        StateFile::Corrupt(why) | StateFile::Unusable(why) => notes.push(why.clone()),
        StateFile::Absent => {}
    }
    let errors = &view.report.errors;
    if arguments.json {
        let value = serde_json::json!({
            "plan": plan.id(), "valid": errors.is_empty(), "errors": errors, "warnings": notes,
        });
        anstream::println!("{value:#}");
    } else {
        for error in errors {
            out!("{ERROR}error{ERROR:#}: {}", Plain(error));
        }
        for note in &notes {
            out!("{WARN}warning{WARN:#}: {}", Plain(note));
        }
        if errors.is_empty() {
            let id = plan.id();
            out!("{GOOD}Plan '{id}' structure validated successfully{GOOD:#}");
        }
    }
    Ok(ExitCode::from(u8::from(!errors.is_empty())))
}
