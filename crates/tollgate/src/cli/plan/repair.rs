//! `tollgate plan repair`: a destroyed state is set aside and made again.

use std::process::ExitCode;

use super::super::plain::Plain;
use super::{CommandResult, GOOD, PlanContext, Trouble, WARN};
use crate::plan::home::{Plan, StateFile, Unwritten};
use crate::plan::rebuild::{self, Rebuilt};
use crate::plan::view::View;

pub(super) fn run(context: &PlanContext) -> CommandResult {
    if context.env.is_nested() {
        return Err(Trouble::new("a reviewer cannot repair a plan"));
    }
    let plan = context.plan()?;
    let view = View::of(&plan);
    match &view.found {
        StateFile::Read(state) => {
            out!("{GOOD}{}{GOOD:#}: state.json can be read", plan.id());
            for problem in &state.problems {
                out!("{WARN}warning{WARN:#}: {problem}");
            }
            return Ok(ExitCode::SUCCESS);
        }
        StateFile::Unusable(why) => return Err(not_ours(context, &plan, why)),
        StateFile::Corrupt(_) | StateFile::Absent => {}
    }
    let failed = |error: Unwritten| Trouble::new(error.to_string());
    let rebuilt = match rebuild::from_log(&plan, context.now).map_err(failed)? {
        Rebuilt::Unknown => rebuild::from_files(&plan, context.now, &view).map_err(failed)?,
        rebuilt @ (Rebuilt::Whole | Rebuilt::Back(_)) => rebuilt,
    };
    match rebuilt {
        Rebuilt::Back(back) => {
            let back = back.to_string();
            out!("{GOOD}{}{GOOD:#}: {}", plan.id(), Plain(&back));
        }
        Rebuilt::Whole | Rebuilt::Unknown => {
            out!("{GOOD}{}{GOOD:#}: state.json can be read", plan.id());
        }
    }
    out!("`tollgate plan next` says how to go on");
    Ok(ExitCode::SUCCESS)
}

/// Something is in the state's place that Tollgate does not touch.
pub(super) fn not_ours(context: &PlanContext, plan: &Plan, why: &str) -> Trouble {
    let hint = out_of_the_way(&context.seen_dir(plan));
    Trouble::new(format!("plan '{}': {why}", plan.id())).hint(hint)
}

/// What a person does about it.
pub(super) fn out_of_the_way(dir: &str) -> String {
    format!("move {dir}/state.json away, then `tollgate plan repair` makes one")
}
