//! review-reminder: reminds a team at every commit that its code review is off.

use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample};
use tollgate_shell as shell;
use tollgate_store::json::Node;

pub(super) const GUARD: Guard = Guard {
    name: "review-reminder",
    about: "reminds a team after a commit that its manual code review is off",
    is_general: false,
    on: &[
        (EventKind::PostTool, Class::Shell),
        (EventKind::PostToolFailure, Class::Shell),
    ],
    codes: &[Code::warns(
        "RR-001",
        "a commit was made while code review is off and the team has several members",
        "have the commit reviewed, or set `code_review.enabled` in the state",
    )
    .passes_with(&["code_review.enabled = true"])],
    reads: &["code_review.enabled", "code_review.team_size"],
    sample: Some(Sample {
        state: r#"{"code_review":{"enabled":false,"team_size":3}}"#,
        files: &[(".git/HEAD", "ref: refs/heads/main\n")],
        event: r#"{"tool_name":"Bash","tool_input":{"command":"git commit -m x"},"tool_result":"ok"}"#,
        ..Sample::WARNED
    }),
    check,
};

const TEXT: &str = "Manual code review is currently bypassed. The team has more than one member, \
                    so consider code_review.enabled: true in the project's state, or ask a \
                    colleague to read this commit.";

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let review = context.state().and_then(|state| state.get("code_review"));
    let review = review.and_then(Node::object).unwrap_or_default();
    let is_on = review.get("enabled").is_some_and(Node::is_true);
    let team = review.get("team_size").and_then(Node::f64).unwrap_or(1.0);
    if is_on || team <= 1.0 {
        return None;
    }
    let mut commits = context.call.commits().iter();
    let ours = |commit: &shell::Commit| commit.relation != shell::Relation::Elsewhere;
    if !commits.any(ours) {
        return None;
    }
    let reason = "Commit while manual code review is bypassed";
    Some(Decision::warn([Finding::new("RR-001", TEXT, reason)]))
}
