//! The words of a plan: its phases, the actions of an agent, the kinds of review.

use std::fmt;

/// What is reviewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Review {
    Plan,
    Tasks,
    Code,
    AllCode,
}

/// Where a plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Phase {
    NewPlan,
    CreateTasks,
    NextTask,
    NextTaskTdd,
    CompleteTask,
    CompleteTaskTdd,
    ContinueTask,
    Review(Review),
    PostReview(Review),
    Complete,
}

/// What an agent is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    ContinuePlan,
    AddTask,
    /// The work of a phase.
    Phase(Phase),
}

/// The id of a task. It becomes part of file names, so it cannot leave its directory: letters,
/// digits, `_` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TaskId(String);

/// Every phase, its name and the stage it belongs to.
pub(crate) const PHASES: &[(Phase, &str, &str)] = &[
    (Phase::NewPlan, "new-plan", "Planning"),
    (Phase::Review(Review::Plan), "plan-review", "Plan review"),
    (
        Phase::PostReview(Review::Plan),
        "post-plan-review",
        "Plan review",
    ),
    (Phase::CreateTasks, "create-tasks", "Task creation"),
    (Phase::Review(Review::Tasks), "tasks-review", "Task review"),
    (
        Phase::PostReview(Review::Tasks),
        "post-tasks-review",
        "Task review",
    ),
    (Phase::NextTask, "next-task", "Implementation"),
    (Phase::NextTaskTdd, "next-task-tdd", "Implementation"),
    (Phase::CompleteTask, "complete-task", "Implementation"),
    (
        Phase::CompleteTaskTdd,
        "complete-task-tdd",
        "Implementation",
    ),
    (Phase::ContinueTask, "continue-task", "Implementation"),
    (Phase::Review(Review::Code), "code-review", "Implementation"),
    (
        Phase::PostReview(Review::Code),
        "post-code-review",
        "Implementation",
    ),
    (
        Phase::Review(Review::AllCode),
        "all-code-review",
        "Final review",
    ),
    (
        Phase::PostReview(Review::AllCode),
        "post-all-code-review",
        "Final review",
    ),
    (Phase::Complete, "complete", "Complete"),
];

/// A word of the original's own prompts for a task that is under way.
const IMPLEMENTATION: &str = "implementation";

impl Phase {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        if name == IMPLEMENTATION {
            return Some(Self::ContinueTask);
        }
        let row = PHASES.iter().find(|(_, known, _)| *known == name);
        row.map(|(phase, _, _)| *phase)
    }

    pub(crate) fn as_str(self) -> &'static str {
        self.row().map_or("", |(_, name, _)| name)
    }

    /// The part of the plan's life it belongs to.
    pub(crate) fn stage(self) -> &'static str {
        self.row().map_or("", |(_, _, stage)| stage)
    }

    fn row(self) -> Option<&'static (Self, &'static str, &'static str)> {
        PHASES.iter().find(|(phase, _, _)| *phase == self)
    }

    /// The review that the hook runs in this phase.
    pub(crate) fn review(self) -> Option<Review> {
        let Self::Review(review) = self else {
            return None;
        };
        Some(review)
    }

    /// The phase of working on a task, in the plan's variant.
    pub(crate) fn complete_task(tdd: bool) -> Self {
        if tdd {
            Self::CompleteTaskTdd
        } else {
            Self::CompleteTask
        }
    }
}

impl Action {
    /// Nothing is to be done about a plan that is complete.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::all().find(|action| action.as_str() == name)
    }

    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let phases = PHASES.iter().map(|(phase, _, _)| *phase);
        let phases = phases.filter(|phase| *phase != Phase::Complete);
        let others = [Self::ContinuePlan, Self::AddTask];
        phases.map(Self::Phase).chain(others)
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::ContinuePlan => "continue-plan",
            Self::AddTask => "add-task",
            Self::Phase(phase) => phase.as_str(),
        }
    }

    /// The phase of the same name.
    pub(crate) fn phase(self) -> Option<Phase> {
        match self {
            Self::Phase(phase) => Some(phase),
            Self::ContinuePlan | Self::AddTask => None,
        }
    }

    /// Whether it begins work on a task.
    pub(crate) fn takes_a_task(self) -> bool {
        use Phase::{CompleteTask, CompleteTaskTdd, NextTask, NextTaskTdd};
        let phase = self.phase();
        phase.is_some_and(|phase| {
            [CompleteTask, CompleteTaskTdd, NextTask, NextTaskTdd].contains(&phase)
        })
    }
}

impl Review {
    pub(crate) const ALL: [Self; 4] = [Self::Plan, Self::Tasks, Self::Code, Self::AllCode];

    pub(crate) fn as_str(self) -> &'static str {
        Phase::Review(self).as_str()
    }

    /// The name of the phase in which the agent answers the review.
    pub(crate) fn post(self) -> &'static str {
        Phase::PostReview(self).as_str()
    }

    /// The file that a review writes, first the specification's name, then the historic ones.
    pub(crate) fn files(self, task: Option<&TaskId>, iteration: u64) -> Vec<String> {
        self.names(task, "review", iteration)
    }

    /// The file that the agent's answer to a review is in, by all its names.
    pub(crate) fn post_files(self, task: Option<&TaskId>, iteration: u64) -> Vec<String> {
        self.names(task, "post-review", iteration)
    }

    fn names(self, task: Option<&TaskId>, what: &str, iteration: u64) -> Vec<String> {
        match (self, task) {
            (Self::Plan, _) => vec![format!("plan-{what}-{iteration}.md")],
            (Self::Tasks, _) => vec![format!("tasks-{what}-{iteration}.md")],
            (Self::AllCode, _) => vec![format!("all-code-{what}-{iteration}.md")],
            // Three versions of the original had three names.
            (Self::Code, Some(task)) => vec![
                format!("task-{task}-{what}-{iteration}.md"),
                format!("task-{task}-code-{what}-{iteration}.md"),
                format!("code-{what}-{iteration}.md"),
            ],
            (Self::Code, None) => vec![],
        }
    }
}

impl TaskId {
    pub(crate) fn new(id: &str) -> Option<Self> {
        Self::is_one(id).then(|| Self(id.to_owned()))
    }

    /// Whether a text is a task's id.
    pub(crate) fn is_one(id: &str) -> bool {
        let safe = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        !id.is_empty() && id.len() <= 64 && id.bytes().all(safe)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The file that describes the task.
    pub(crate) fn file(&self) -> String {
        format!("task-{}.md", self.0)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Review {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_sixteen_phases_and_seventeen_actions_with_names_of_their_own() {
        assert_eq!(PHASES.len(), 16);
        assert_eq!(Action::all().count(), 17);
        for (phase, name, stage) in PHASES {
            assert_eq!(Phase::parse(name), Some(*phase));
            assert_eq!((phase.as_str(), phase.stage()), (*name, *stage));
        }
        for action in Action::all() {
            assert_eq!(Action::parse(action.as_str()), Some(action));
        }
        assert_eq!(Phase::parse("implementation"), Some(Phase::ContinueTask));
        assert_eq!(Action::parse("implementation"), None);
        assert_eq!(Phase::parse("implementing"), None);
    }

    /// C9: a task id such as `1/../..` led outside the plan.
    #[test]
    fn c9_a_task_id_cannot_leave_its_directory() {
        for bad in [
            "",
            "../x",
            "1/../../OUT",
            "a b",
            "a.b",
            "1\n",
            &"x".repeat(65),
        ] {
            assert_eq!(TaskId::new(bad), None, "{bad:?}");
        }
        assert!(TaskId::new("4-5_a").is_some());
    }
}
