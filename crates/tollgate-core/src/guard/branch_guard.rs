//! branch-guard: while a workflow has a branch of its own, nobody commits to main. Where the
//! project asks for it, only the last phase commits on the workflow's branch.
//!
//! What a command line would commit, and where, comes from reading it as a shell would
//! ([`tollgate_shell`], [`crate::git`]); git is not started. What cannot be seen through is
//! allowed: text may prove that a command commits, never that it does not.

use std::borrow::Cow;

use super::fields::PHASE;
use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample};
use crate::git::{Head, Repository};
use crate::next::{Next, Step};
use crate::project::ConfigFile;
use crate::text::{places, shell_word};
use crate::workflow::phases;
use crate::workflow::state::{GitBranch, Workflow};
use tollgate_shell as shell;

pub(super) const GUARD: Guard = Guard {
    name: "branch-guard",
    about: "blocks commits to main while a workflow has its own branch and, if asked to, commits on that branch before the last phase",
    on: &[(EventKind::PreTool, Class::Shell)],
    codes: &[
        Code::blocks(
            "BG-001",
            "the command would commit to main, master or the branch that the work was begun from",
            "commit on the workflow's branch; finish or cancel a workflow that is over",
        ).instead("git switch {branch} && git commit -m x"),
        Code::blocks(
            "BG-002",
            "the command would commit on the workflow's branch before the last phase; only with `commit_in_last_phase_only` in `workflows.json`",
            "keep the changes until the last phase; `git stash` sets them aside",
        ).passes_with(&["active_workflow.current_phase = {last}"]).instead("git stash"),
    ],
    reads: &[
            PHASE,
            "active_workflow.git_branch.created_from",
            "active_workflow.git_branch.name",
            "active_workflow.git_branch.status",
            "active_workflow.phases",
        ],
    sample: Some(Sample {
        state: r#"{"active_workflow":{"git_branch":{"name":"x","status":"active"}}}"#,
        files: &[(".git/HEAD", "ref: refs/heads/main\n")],
        event: r#"{"tool_name":"Bash","tool_input":{"command":"env git -C . commit -m x"}}"#,
        ..Sample::BLOCKED
    }),
    check,
};

const PROTECTED: &[&str] = &["main", "master"];

/// What the workflow's branch is called where the state does not say it.
const UNNAMED: &str = "feature/work";

/// The setting in `workflows.json` that keeps commits for the last phase. Without it they are
/// free on the workflow's branch: that is where BG-001 sends them.
const LAST_ONLY: &str = "commit_in_last_phase_only";

/// Where work belongs while a workflow has a branch of its own: not on main.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    /// The branch that it belongs on.
    pub expected: String,
    /// What is odd about that branch, a paragraph each.
    pub notes: Vec<String>,
}

/// Whether main is closed: a workflow runs whose branch is neither merged nor given up.
pub fn closed(workflow: &Workflow<'_>, repository: &Repository) -> Option<Closed> {
    let (branch, doubt) = workflow.git_branch().and_then(guarded)?;
    let expected = branch.name.as_deref().unwrap_or("feature branch");
    let missing = branch.name.is_some() && !repository.branch_exists(expected);
    // Finished and forgotten in the state: main is where the work is now.
    if missing && repository.was_merged(expected) {
        return None;
    }
    let absent = missing.then(|| {
        format!(
            "Note: the branch '{expected}' does not exist in this repository and was not merged \
             here. If the workflow is over, finish or cancel it; otherwise create the branch first."
        )
    });
    Some(Closed {
        expected: expected.to_owned(),
        notes: absent.into_iter().chain(doubt).collect(),
    })
}

/// Whether a branch is closed together with main: itself, or the one that the workflow's branch
/// was made from.
pub fn closes(workflow: &Workflow<'_>, name: &str) -> bool {
    let branch = workflow.git_branch();
    let is_from = |branch: GitBranch<'_>| {
        branch.from.as_deref() == Some(name) && branch.name.as_deref() != Some(name)
    };
    PROTECTED.contains(&name) || branch.is_some_and(is_from)
}

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let command = context.shell_command()?;
    let survey = context.survey()?;
    if !shell::may_mention(command, "git") && !survey.runs().any(shell::runs_script) {
        return None;
    }
    let commits = shell::commits(survey, &context.world());
    if commits.is_empty() {
        return None;
    }
    let workflow = context.workflow()?;
    let (branch, _) = workflow.git_branch().and_then(guarded)?;
    let ours = context.repository()?;
    // The command may start outside the project and come back to it, so the repository counts and
    // not how far it is from there.
    for commit in &commits {
        let repository = commit.repository.as_ref().map(Repository::from);
        let Some(repository) = repository.filter(|there| there.same_repository(&ours)) else {
            continue;
        };
        for name in branches(context, commit, &repository) {
            if closes(workflow, &name) {
                if let Some(closed) = closed(workflow, &repository) {
                    let next = to_branch(context, &repository, &name, &branch);
                    let finding = to_main(context, &name, closed).next(next);
                    return Some(Decision::block(finding));
                }
            } else if branch.name.as_deref() == Some(name.as_ref())
                && let Some(finding) = too_early(context, workflow, &name)
            {
                return Some(Decision::block(finding));
            }
        }
    }
    None
}

/// The branch, if its status calls for guarding, and why in doubt. A branch that nobody gave a
/// status is not tracked. An unknown word must not switch the guard off.
fn guarded(branch: GitBranch<'_>) -> Option<(GitBranch<'_>, Option<String>)> {
    let status = branch.status.clone()?;
    match status.trim().to_ascii_lowercase().as_str() {
        "active" => Some((branch, None)),
        "merged" | "abandoned" => None,
        _ => {
            let doubt = format!(
                "Note: git_branch.status is '{status}', which is none of 'active', 'merged' and \
                 'abandoned', so the branch counts as active."
            );
            Some((branch, Some(doubt)))
        }
    }
}

/// The branches that a commit could land on.
fn branches<'c>(
    context: &EventContext<'_>,
    commit: &'c shell::Commit,
    repository: &Repository,
) -> Vec<Cow<'c, str>> {
    let named = commit.heads.iter().filter_map(|head| match head {
        Head::Branch(name) => Some(Cow::Borrowed(name.as_str())),
        Head::AskGit => context.ask_branch(&repository.work_tree).map(Cow::Owned),
        Head::Detached | Head::None => None,
    });
    named.collect()
}

/// The way to the workflow's branch. A command that goes to main itself would do so again.
fn to_branch(
    context: &EventContext<'_>,
    repository: &Repository,
    current: &str,
    branch: &GitBranch<'_>,
) -> Next {
    let expected = branch.name.as_deref().unwrap_or(UNNAMED);
    if repository.checked_out_elsewhere(expected) {
        return Next::go_on(format!(
            "branch {expected} is checked out in another work tree, commit there"
        ));
    }
    let new = if repository.branch_exists(expected) {
        ""
    } else {
        "-c "
    };
    let there = &repository.work_tree;
    let is_here = context
        .real(context.start_dir())
        .starts_with(context.real(there));
    let place = if is_here {
        String::new()
    } else {
        format!("-C {} ", shell_word(&there.to_string_lossy()))
    };
    let switch = Step::Run(format!("git {place}switch {new}{}", shell_word(expected)));
    let command = context.shell_command().unwrap_or_default();
    let goes_there = repository.head() != Head::Branch(current.to_owned())
        || places(command, current).next().is_some();
    if goes_there {
        Next::instead([switch])
    } else {
        Next::retry([switch])
    }
}

fn to_main(context: &EventContext<'_>, current: &str, closed: Closed) -> Finding {
    let Closed { expected, notes } = closed;
    // The name comes from a file that a repository may bring along, and the agent may run this.
    let plain = |c: char| c.is_alphanumeric() || " -_./+@%=:,".contains(c);
    let target = if expected.chars().all(plain) {
        expected.clone()
    } else {
        format!("'{}'", expected.replace('\'', r"'\''"))
    };
    let own = format!(
        "This would commit to '{current}', and the running workflow has its own branch \
         '{expected}'. Commits belong on that branch until the work is merged.\n\n\
         Current branch:  {current}\nExpected branch: {expected}"
    );
    let text = format!(
        "COMMIT TO MAIN BLOCKED: You are attempting to commit to '{current}' while an active \
         workflow has a feature branch '{expected}'.\n\n\
         During an active workflow, all commits should go to the feature branch to keep \
         main/master clean until the work is reviewed and merged.\n\n\
         To fix this:\n\
         1. Switch to the feature branch: git checkout {target}\n\
         2. Then commit your changes there\n\n\
         Current branch:  {current}\nExpected branch: {expected}"
    );
    let mut text = context.words(text, own);
    for note in notes {
        text.push_str("\n\n");
        text.push_str(&note);
    }
    let reason = format!("Commit to '{current}' blocked, expected branch '{expected}'");
    Finding::new("BG-001", text, reason)
}

fn too_early(context: &EventContext<'_>, workflow: &Workflow<'_>, branch: &str) -> Option<Finding> {
    let config = context.config(ConfigFile::Workflows)?;
    config.get(LAST_ONLY).filter(|set| set.truthy())?;
    let phase = context.current_phase()?;
    let listed = workflow.phases();
    let last = listed.last()?;
    if phases::same(&phase, last) {
        return None;
    }
    let text = format!(
        "COMMIT BLOCKED (Phase: {phase}): Commits are not allowed on the workflow branch during \
         intermediate phases.\n\n\
         The orchestrator commits when the workflow is finalized, after the last phase has \
         passed its gate. Until then keep your changes in the working tree; to set them aside \
         use git stash.\n\n\
         Current phase:  {phase}\nCurrent branch: {branch}\nFinal phase:    {last}"
    );
    let own = format!(
        "This would commit on '{branch}' in phase '{phase}', and this project commits only in the \
         last phase, '{last}' (commit_in_last_phase_only)."
    );
    let next = Next::go_on(format!(
        "leave the changes uncommitted, phase {last} commits them"
    ));
    let reason = format!("Commit on '{branch}' blocked in phase '{phase}', before '{last}'");
    let finding = Finding::new("BG-002", context.words(text, own), reason);
    Some(finding.next(next).phase(&phase))
}
