//! The plugin's own texts, for agents and reviewers that do not have the plugin.

use super::phase::{Action, Review};

/// What holds for every action.
pub(crate) const GROUND_RULES: &str = include_str!("../../../../plugin/ground-rules.md");

macro_rules! action {
    ($name:literal) => {
        include_str!(concat!("../../../../plugin/actions/", $name, ".md"))
    };
}

/// How an action is performed, step by step.
pub(crate) fn steps(action: Action) -> &'static str {
    match action {
        Action::NewPlan => action!("new-plan"),
        Action::ContinuePlan => action!("continue-plan"),
        Action::CreateTasks => action!("create-tasks"),
        Action::AddTask => action!("add-task"),
        Action::NextTask => action!("next-task"),
        Action::NextTaskTdd => action!("next-task-tdd"),
        Action::ContinueTask => action!("continue-task"),
        Action::CompleteTask => action!("complete-task"),
        Action::CompleteTaskTdd => action!("complete-task-tdd"),
        Action::Review(Review::Plan) => action!("plan-review"),
        Action::Review(Review::Tasks) => action!("tasks-review"),
        Action::Review(Review::Code) => action!("code-review"),
        Action::Review(Review::AllCode) => action!("all-code-review"),
        Action::PostReview(Review::Plan) => action!("post-plan-review"),
        Action::PostReview(Review::Tasks) => action!("post-tasks-review"),
        Action::PostReview(Review::Code) => action!("post-code-review"),
        Action::PostReview(Review::AllCode) => action!("post-all-code-review"),
    }
}

/// What reviewers are told to read: each file's place in the plugin, and its text.
pub(crate) fn for_reviewers() -> impl Iterator<Item = (String, &'static str)> {
    let reviews = Review::ALL.into_iter().map(|review| {
        let action = Action::Review(review);
        (format!("actions/{action}.md"), steps(action))
    });
    std::iter::once(("ground-rules.md".to_owned(), GROUND_RULES)).chain(reviews)
}
