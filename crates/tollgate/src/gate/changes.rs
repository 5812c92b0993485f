//! What changed: one pair of trees, and the paths that differ between them.
//!
//! The newer tree is the work tree as it is, with staged, unstaged and untracked files
//! (`snapshot`). Its name also is the evidence that a pass is bound to.

use std::path::Path;

use super::config::{Config, DEFAULT_BASE, Words};
use super::nested::{self, Change};
use super::record::VerifiedTree;
use super::snapshot::{Snapshot, Taken};
use crate::git::{AT_ONCE, Asked, Git, GitError};
use tollgate_core::env::Env;
use tollgate_core::git::Stands;

/// How a comparison with the last verified tree is called.
pub(crate) const LAST_PASS: &str = "the last run that passed";

/// What the work is compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    /// `-b`
    pub(crate) base_branch: Option<String>,
    /// `-c`: only what this commit changed.
    pub(crate) commit: Option<String>,
    /// `-u`: only what is not committed.
    pub(crate) uncommitted: bool,
    /// `--since`: only what changed since this commit.
    pub(crate) since: Option<String>,
    /// `--files`: only these, relative to the project's root.
    pub(crate) files: Vec<String>,
}

/// Two trees.
#[derive(Debug)]
pub(crate) struct Pair<'t> {
    /// The older one: a tree or a commit.
    pub(crate) base: String,
    pub(crate) head: Newer<'t>,
    /// How the base came about, for people.
    pub(crate) label: String,
}

/// The newer one of two trees.
#[derive(Debug)]
pub(crate) enum Newer<'t> {
    /// A tree or a commit.
    Named(String),
    /// The work tree as it was taken. Checks do not need its name, so git writes it when somebody does.
    WorkTree(&'t Git, &'t Taken),
}

impl Newer<'_> {
    /// The name of a tree or commit that git has.
    pub(crate) fn name(&self) -> Result<&str, GitError> {
        match self {
            Self::Named(name) => Ok(name),
            Self::WorkTree(git, taken) => taken.tree(git),
        }
    }
}

impl Scope {
    /// The base's name: `-b`, that of the pull request, that of the configuration.
    pub(crate) fn base_name(&self, config: &Config, env: &Env) -> String {
        let pull_request = env.github_base_ref.clone().filter(|_| env.ci);
        self.base_branch
            .clone()
            .or(pull_request)
            .unwrap_or_else(|| config.base_branch.clone())
    }

    /// Whether something else than the whole of the work is asked for.
    pub(crate) fn is_narrowed(&self) -> bool {
        let Self {
            base_branch: _,
            commit,
            uncommitted,
            since,
            files,
        } = self;
        commit.is_some() || *uncommitted || since.is_some() || !files.is_empty()
    }
}

/// The commit that is checked out; none before the first one.
pub(crate) fn head(git: &Git) -> Option<String> {
    match git.head_commit() {
        Stands::For(commit) => Some(commit),
        Stands::Nothing => None,
        Stands::AskGit => git
            .ask(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
            .within(AT_ONCE)
            .line()
            .ok(),
    }
}

/// The older side of what a scope compares the work tree with, and how it came about. The base is
/// the last commit that it and `head` have in common, or if there is none, as in a shallow clone,
/// the base itself.
pub(crate) fn base(
    git: &Git,
    scope: &Scope,
    name: &str,
    head: Option<&str>,
) -> Result<(String, String), GitError> {
    let Some(head) = head else {
        return Ok((empty_tree(git)?, "nothing: no commit yet".to_owned()));
    };
    if scope.uncommitted {
        return Ok((head.to_owned(), "the last commit".to_owned()));
    }
    if let Some(since) = &scope.since {
        return Ok((commit_of(git, since)?, since.clone()));
    }
    let commit = commit_of(git, name)?;
    if commit == head {
        return Ok((commit, common_label(name, true)));
    }
    let common = common_commit(git, &commit, head);
    let label = common_label(name, common.is_ok());
    Ok((common.unwrap_or(commit), label))
}

/// What work on the base itself is compared with if the base has no upstream.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Before<'b> {
    /// The last trees of branches on which every gate was verified.
    pub(crate) verified: &'b [VerifiedTree],
    /// Where the base was when the session began.
    pub(crate) session_base: Option<&'b str>,
}

impl<'b> Before<'b> {
    /// The last verified tree of the branch that is checked out, whatever the gates were then: of
    /// what came after it, no review has seen anything.
    fn of_branch(&self, git: &Git) -> Option<&'b VerifiedTree> {
        if self.verified.is_empty() {
            return None;
        }
        let branch = git.branch();
        self.verified.iter().find(|tree| tree.branch == branch)
    }
}

/// The same for reviews: work on the base itself is compared with what is published of it, else with
/// the last verified tree, else with where it was when the session began. The upstream comes first,
/// because others' work that was pulled is not this project's work to review.
fn base_of_reviews(
    git: &Git,
    scope: &Scope,
    name: &str,
    (head, before): (Option<&str>, Before<'_>),
) -> Result<Older, GitError> {
    let (commit, label) = base(git, scope, name, head)?;
    if Some(commit.as_str()) != head || scope.is_narrowed() {
        return Ok((commit, label));
    }
    let upstream = ["rev-parse", "--verify", "--quiet", "@{upstream}^{commit}"];
    let upstream = git.ask(upstream).within(AT_ONCE).line().ok();
    let common = upstream.and_then(|upstream| common_commit(git, &upstream, &commit).ok());
    if let Some(common) = common {
        return Ok(if common == commit {
            (commit, label)
        } else {
            (common, format!("the upstream of {name}"))
        });
    }
    if let Some(verified) = before.of_branch(git) {
        return Ok((verified.tree.clone(), LAST_PASS.to_owned()));
    }
    let began = before.session_base;
    Ok(
        match began.filter(|began| is_ancestor(git, began, &commit)) {
            Some(began) => (began.to_owned(), "the session's start".to_owned()),
            None => (commit, label),
        },
    )
}

fn common_commit(git: &Git, one: &str, other: &str) -> Result<String, GitError> {
    git.ask(["merge-base", "--end-of-options", one, other])
        .line()
}

/// How a base came about, for people.
fn common_label(name: &str, is_common: bool) -> String {
    if is_common {
        name.to_owned()
    } else {
        format!("{name} (no common commit)")
    }
}

/// A commit by its name, from files where they say it. In continuous integration a branch often exists
/// as `origin/…` only.
pub(crate) fn commit_of(git: &Git, name: &str) -> Result<String, GitError> {
    for candidate in [name.to_owned(), format!("origin/{name}")] {
        match git.commit_of(&candidate) {
            Stands::For(commit) => return Ok(commit),
            Stands::Nothing => continue,
            Stands::AskGit => {}
        }
        let spec = format!("{candidate}^{{commit}}");
        let asked = git.ask([
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &spec,
        ]);
        if let Ok(commit) = asked.within(AT_ONCE).line() {
            return Ok(commit);
        }
    }
    Err(GitError::new(format!(
        "the base {name:?} does not exist in this repository; fetch it (`git fetch origin`), or name another one in the gates' configuration, or with -b"
    )))
}

/// The pair of trees where both are commits: `-c`, or the commit that continuous integration
/// tests. None if the newer one is the work tree.
pub(crate) fn committed_pair(
    git: &Git,
    scope: &Scope,
    env: &Env,
    name: &str,
) -> Result<Option<Pair<'static>>, GitError> {
    if let Some(commit) = &scope.commit {
        let commit = commit_of(git, commit).map_err(|_base| {
            GitError::new(format!(
                "the commit {commit:?} (-c) does not exist in this repository; `git log` shows those that do"
            ))
        })?;
        let parent = git
            .ask(["rev-parse", "--verify", "--quiet", &format!("{commit}^")])
            .line();
        return Ok(Some(Pair {
            base: parent.or_else(|_| empty_tree(git))?,
            label: format!("the parent of {commit}"),
            head: Newer::Named(commit),
        }));
    }
    let tested = env
        .github_sha
        .as_ref()
        .filter(|_| env.ci && !scope.uncommitted);
    let Some(head) = tested.and_then(|sha| commit_of(git, sha).ok()) else {
        return Ok(None);
    };
    // The commit that is tested need not be the one that is checked out.
    let base = commit_of(git, name)?;
    let common = common_commit(git, &base, &head);
    Ok(Some(Pair {
        label: common_label(name, common.is_ok()),
        base: common.unwrap_or(base),
        head: Newer::Named(head),
    }))
}

/// The paths, relative to the project's root and sorted, that differ between two trees.
pub(crate) fn between(
    git: &Git,
    (older, newer): (&str, &str),
    config: &Config,
) -> Result<Vec<String>, GitError> {
    let raw = diff_tree(git, older, newer).bytes()?;
    let mut paths = nested::paths(git, nested::read(&raw))?;
    tidy(&mut paths, config);
    Ok(paths)
}

/// Asks for what differs between two trees or commits, with what their entries are.
pub(super) fn diff_tree(git: &Git, base: &str, head: &str) -> Asked {
    git.ask([
        "diff-tree",
        "-r",
        "-z",
        "--raw",
        "--no-renames",
        "--relative",
        "--end-of-options",
        base,
        head,
    ])
}

/// What the work tree is compared with: its branch's last verified tree, else the base.
pub(super) struct Comparison<'c> {
    pub(super) scope: &'c Scope,
    pub(super) config: &'c Config,
    /// The base's name.
    pub(super) base: &'c str,
    /// The commit that is checked out.
    pub(super) head: Option<&'c str>,
    pub(super) before: Before<'c>,
    /// What the gates are, as a digest.
    pub(super) definitions: &'c str,
}

/// A tree or commit, and how it came about, for people.
pub(super) type Older = (String, String);

/// git, while it says what differs from the older side.
pub(super) struct Differing {
    older: Older,
    asked: Asked,
}

impl Differing {
    /// Waits for the work tree, and asks what changed in it since.
    pub(super) fn of(
        git: &Git,
        snapshot: Snapshot,
        older: Older,
    ) -> Result<(Taken, Self), GitError> {
        let (taken, asked) = snapshot.taken_and_compared(git, &older.0)?;
        Ok((taken, Self { older, asked }))
    }

    /// Asks what changed in the work tree since.
    pub(super) fn ask(git: &Git, taken: &Taken, older: Older) -> Self {
        let asked = taken.ask_changes(git, &older.0);
        Self { older, asked }
    }
}

impl Comparison<'_> {
    /// The older side.
    pub(super) fn older(&self, git: &Git) -> Result<Older, GitError> {
        match self.last_pass(git) {
            Some(tree) => Ok((tree.to_owned(), LAST_PASS.to_owned())),
            None => self.with_base(git, self.before),
        }
    }

    /// Whether there is an older side, for one who need not know it yet.
    pub(super) fn check(&self, git: &Git) -> Result<(), GitError> {
        let is_sure = self.last_pass(git).is_some() || self.head.is_none() || self.needs_no_base();
        if is_sure {
            Ok(())
        } else {
            commit_of(git, self.base).map(drop)
        }
    }

    /// The last verified tree of the branch that is checked out, by the gates as they are.
    fn last_pass(&self, git: &Git) -> Option<&str> {
        if self.scope.is_narrowed() {
            return None;
        }
        let verified = self.before.of_branch(git)?;
        (verified.definitions == self.definitions).then_some(&verified.tree)
    }

    /// What changed since, and since what.
    pub(super) fn changes(
        &self,
        git: &Git,
        taken: &Taken,
        differing: Differing,
    ) -> Result<(Older, Vec<Change>), GitError> {
        let Differing { older, asked } = differing;
        match asked.bytes() {
            Ok(raw) => Ok((older, nested::read(&raw))),
            // git removes a tree that nothing points to after some weeks; then the base it is.
            Err(_) if older.1 == LAST_PASS => {
                let before = Before {
                    verified: &[],
                    ..self.before
                };
                let older = self.with_base(git, before)?;
                let changes = taken.changes(git, &older.0)?;
                Ok((older, changes))
            }
            Err(error) => Err(error),
        }
    }

    /// Whether it can do without the base. Checks are about contents: in a repository that was never
    /// published, there is nothing more to compare them with.
    fn needs_no_base(&self) -> bool {
        self.config.words == Words::Own
            && self.config.reviews.is_empty()
            && self.base == DEFAULT_BASE
            && !self.scope.is_narrowed()
    }

    fn with_base(&self, git: &Git, before: Before<'_>) -> Result<Older, GitError> {
        let Self {
            scope,
            config,
            base: name,
            head,
            ..
        } = *self;
        let found = if config.reviews.is_empty() {
            base(git, scope, name, head)
        } else {
            base_of_reviews(git, scope, name, (head, before))
        };
        match (found, head) {
            (Err(_), Some(head)) if self.needs_no_base() => {
                Ok((head.to_owned(), "the last commit".to_owned()))
            }
            (found, _) => found,
        }
    }
}

/// What changed since the base, and what that is.
pub(crate) fn since_base(
    git: &Git,
    taken: &Taken,
    (name, before): (&str, Before<'_>),
    config: &Config,
) -> Result<(Vec<String>, String), GitError> {
    let head = head(git);
    let head = (head.as_deref(), before);
    let (older, label) = base_of_reviews(git, &Scope::default(), name, head)?;
    let mut paths = taken.since(git, &older)?;
    tidy(&mut paths, config);
    Ok((paths, label))
}

/// Sorted, once each, without Tollgate's own files.
pub(crate) fn tidy(paths: &mut Vec<String>, config: &Config) {
    let logs = config.log_dir.strip_prefix(&config.root).ok();
    paths.retain(|path| {
        let path = Path::new(path);
        !logs.is_some_and(|logs| path.starts_with(logs)) && !path.starts_with(".tollgate/local")
    });
    paths.sort();
    paths.dedup();
}

/// git's name of the tree with nothing in it, which depends on the repository's hash.
pub(super) fn empty_tree(git: &Git) -> Result<String, GitError> {
    git.ask(["hash-object", "-t", "tree", "--stdin"]).line()
}

/// Whether a commit is part of another.
pub(crate) fn is_ancestor(git: &Git, commit: &str, of: &str) -> bool {
    git.ask([
        "merge-base",
        "--is-ancestor",
        "--end-of-options",
        commit,
        of,
    ])
    .yes()
}
