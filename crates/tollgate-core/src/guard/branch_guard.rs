//! branch-guard: while a workflow has its own branch, no agent commits to main. Where the
//! project asks for it, only the last phase commits on the workflow's branch.
//!
//! What a command line would commit, and where, comes from reading it as a shell would
//! ([`tollgate_shell`], [`crate::git`]); git is started only to tell
//! whether a branch that is gone was merged. What cannot be seen through is
//! allowed: text may prove that a command commits, never that it does not.

use std::borrow::Cow;

use super::fields::PHASE;
use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample};
use crate::git::{Head, LastSeen, Repository};
use crate::next::{Next, Step};
use crate::project::ConfigFile;
use crate::text::{places, shell_word};
use crate::workflow::phases;
use crate::workflow::state::{GitBranch, Workflow};
use tollgate_shell as shell;

pub(super) const GUARD: Guard = Guard {
    name: "branch-guard",
    about: "blocks commits to main while a workflow has its own branch and, if configured, commits on that branch before the last phase",
    is_general: true,
    on: &[(EventKind::PreTool, Class::Shell)],
    codes: &[
        Code::blocks(
            "BG-001",
            "the command would commit to main, master or the branch that the work was begun from",
            "commit on the workflow's branch; finalize or cancel a workflow that is finished",
        ).instead("git switch {branch} && git commit -m x"),
        Code::blocks(
            "BG-002",
            "the command would commit on the workflow's branch before the last phase; only with `commit_in_last_phase_only` in `workflows.json`",
            "keep the changes until the last phase; `git stash` sets them aside",
        ).passes_with(&["active_workflow.current_phase = {last}"]).instead("git stash"),
        Code::warns(
            "BG-003",
            "the command would commit to main while a workflow runs whose branch was merged and deleted, or whose `git_branch.status` is not `active`",
            "end the workflow with `tollgate workflow finalize`",
        ).passes_with(&["active_workflow = null"]),
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

/// What a running workflow means for commits to main.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Main {
    /// Nothing: the workflow has no branch of its own.
    Free,
    /// The workflow's branch is merged or given up, which this says, and the workflow still runs.
    Open(String),
    /// The workflow's branch takes the commits.
    Closed(Closed),
}

/// Where work belongs while a workflow has its own branch: not on main.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    /// The branch that it belongs on.
    pub expected: String,
    /// What is odd about that branch.
    pub note: Option<String>,
}

/// Says whether all work of a branch, as it was last seen, is in another one.
type IsMerged<'a> = &'a dyn Fn(&LastSeen, &str) -> bool;

/// What a workflow means for commits to `main`, which is that branch or another that it closes. Git
/// is asked only about a branch that is gone.
pub fn main_branch(
    workflow: &Workflow<'_>,
    repository: &Repository,
    main: &str,
    is_merged: IsMerged<'_>,
) -> Main {
    let Some((branch, status)) = tracked(workflow) else {
        return Main::Free;
    };
    let expected = branch.name.as_deref().unwrap_or("feature branch");
    if !is_active(&status) {
        return Main::Open(format!(
            "the status of its branch '{expected}' is '{status}', not 'active'"
        ));
    }
    let missing = branch.name.is_some() && !repository.branch_exists(expected);
    let seen = missing.then(|| repository.last_seen(expected)).flatten();
    let into = branch.from.as_deref().filter(|from| *from != main);
    let merged = |seen: &LastSeen| {
        let mut places = std::iter::once(main).chain(into);
        places.any(|place| is_merged(seen, place))
    };
    if seen.as_ref().is_some_and(merged) {
        return Main::Open(format!(
            "its branch '{expected}' was merged and does not exist any more"
        ));
    }
    let note = missing.then(|| {
        format!(
            "Note: the branch '{expected}' does not exist in this repository, and git does not show \
             that it was merged. If the workflow is over, a person ends it in a terminal: `tollgate \
             workflow finalize`, or `tollgate workflow cancel --reason \"…\"`. Otherwise create the \
             branch first."
        )
    });
    Main::Closed(Closed {
        expected: expected.to_owned(),
        note,
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
    let commits = context.call.commits();
    if commits.is_empty() {
        return None;
    }
    let workflow = context.workflow()?;
    let (branch, status) = tracked(workflow)?;
    let ours = context.git.repository()?;
    // The command may start outside the project and come back to it, so the repository counts and
    // not how far it is from there.
    for commit in commits {
        let repository = commit.repository.as_ref().map(Repository::from);
        let Some(repository) = repository.filter(|there| there.same_repository(&ours)) else {
            continue;
        };
        for name in branches(context, commit, &repository) {
            if closes(workflow, &name) {
                let is_merged = |seen: &LastSeen, into: &str| {
                    context.git.was_merged(&repository.work_tree, seen, into)
                };
                match main_branch(workflow, &repository, &name, &is_merged) {
                    Main::Closed(closed) => {
                        let next = to_branch(context, &repository, &name, &branch);
                        let finding = to_main(context, &name, closed).next(next);
                        return Some(Decision::block(finding));
                    }
                    Main::Open(why) => return Some(Decision::warn([still_running(&name, &why)])),
                    Main::Free => {}
                }
            } else if is_active(&status)
                && branch.name.as_deref() == Some(name.as_ref())
                && let Some(finding) = too_early(context, workflow, &name)
            {
                return Some(Decision::block(finding));
            }
        }
    }
    None
}

/// The workflow's branch and its status. A branch without a status is not tracked.
fn tracked<'a>(workflow: &Workflow<'a>) -> Option<(GitBranch<'a>, Cow<'a, str>)> {
    let branch = workflow.git_branch()?;
    let status = branch.status.clone()?;
    Some((branch, status))
}

fn is_active(status: &str) -> bool {
    status.trim().eq_ignore_ascii_case("active")
}

/// The branches that a commit could land on.
fn branches<'c>(
    context: &EventContext<'_>,
    commit: &'c shell::Commit,
    repository: &Repository,
) -> Vec<Cow<'c, str>> {
    let named = commit.heads.iter().filter_map(|head| match head {
        Head::Branch(name) => Some(Cow::Borrowed(name.as_str())),
        Head::AskGit => context
            .git
            .ask_branch(&repository.work_tree)
            .map(Cow::Owned),
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
        .call
        .real(context.call.start_dir())
        .starts_with(context.call.real(there));
    let place = if is_here {
        String::new()
    } else {
        format!("-C {} ", shell_word(&there.to_string_lossy()))
    };
    let switch = Step::Run(format!("git {place}switch {new}{}", shell_word(expected)));
    let command = context.call.shell_command().unwrap_or_default();
    let head = context.call.world().files.head(&repository.clone().into());
    let goes_there =
        head != Head::Branch(current.to_owned()) || places(command, current).next().is_some();
    if goes_there {
        Next::instead([switch])
    } else {
        Next::retry([switch])
    }
}

fn to_main(context: &EventContext<'_>, current: &str, closed: Closed) -> Finding {
    let Closed { expected, note } = closed;
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
    if let Some(note) = note {
        text.push_str("\n\n");
        text.push_str(&note);
    }
    let reason = format!("Commit to '{current}' blocked, expected branch '{expected}'");
    Finding::new("BG-001", text, reason)
}

fn still_running(current: &str, why: &str) -> Finding {
    let text = format!(
        "[branch-guard] WARNING: a workflow still runs, but commits to '{current}' are not blocked, \
         because {why}. `tollgate workflow finalize` ends a workflow that is done."
    );
    let reason = format!("Commit to '{current}' not blocked: {why}");
    Finding::new("BG-003", text, reason)
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
