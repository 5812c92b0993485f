//! The plugin's own texts, for agents and reviewers that do not have the plugin.

use super::phase::{Action, Phase, Review};

/// What holds for every action.
pub(crate) const GROUND_RULES: &str = include_str!("../../plugin/ground-rules.md");

macro_rules! steps {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../plugin/actions/", $name, ".md")))),*]
    };
}

#[rustfmt::skip]
const STEPS: &[(&str, &str)] = steps!(
    "new-plan" "continue-plan" "create-tasks" "add-task"
    "next-task" "next-task-tdd" "continue-task" "complete-task" "complete-task-tdd"
    "plan-review" "tasks-review" "code-review" "all-code-review"
    "post-plan-review" "post-tasks-review" "post-code-review" "post-all-code-review"
);

/// How an action is performed, step by step.
pub(crate) fn steps(action: Action) -> &'static str {
    let row = STEPS.iter().find(|(name, _)| *name == action.as_str());
    row.map_or("", |(_, text)| text)
}

/// What reviewers must read: each file's place in the plugin, and its text.
pub(crate) fn for_reviewers() -> impl Iterator<Item = (String, &'static str)> {
    let reviews = Review::ALL.into_iter().map(|review| {
        let action = Action::Phase(Phase::Review(review));
        (format!("actions/{action}.md"), steps(action))
    });
    std::iter::once(("ground-rules.md".to_owned(), GROUND_RULES)).chain(reviews)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_has_its_steps() {
        for action in Action::all() {
            assert_ne!(steps(action), "", "{action}");
        }
    }
}
