//! What changed: one pair of trees, and the paths that differ between them.
//!
//! The newer tree is the work tree as it is, with staged, unstaged and untracked files. It is
//! written with an index of its own, so the person's index, stash and files are never touched.
//! Its name also is the evidence that a pass is bound to.

use std::path::Path;

use super::config::Config;
use super::git::{Git, GitError};
use tollgate_core::env::Env;

/// What the work is compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    /// `-b`
    pub(crate) base_branch: Option<String>,
    /// `-c`: only what this commit changed.
    pub(crate) commit: Option<String>,
    /// `-u`: only what is not committed.
    pub(crate) uncommitted: bool,
}

/// Two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    /// The older one: a tree or a commit.
    pub(crate) base: String,
    /// The newer one: always a tree or a commit, never the work tree itself.
    pub(crate) head: String,
    /// How the base came about, for people.
    pub(crate) label: String,
}

/// The commit that is checked out, and what it has in common with the base.
#[derive(Debug)]
pub(crate) struct Ground {
    /// None before the first commit.
    pub(crate) commit: Option<String>,
    base: Base,
}

#[derive(Debug)]
enum Base {
    /// The last commit that both have.
    Common(String),
    /// There is none, as in a shallow clone: the base itself.
    Itself(String),
    /// There is no commit yet: everything is new.
    Nothing,
    Unknown(GitError),
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
        self.commit.is_some() || self.uncommitted
    }
}

impl Ground {
    /// Finds the commit that is checked out and its base.
    pub(crate) fn survey(git: &Git, base: &str) -> Self {
        let head = git.ask(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
        let common = git.ask(["merge-base", "--end-of-options", base, "HEAD"]);
        let (head, common) = (head.line(), common.line());
        let Ok(commit) = head else {
            return Self {
                commit: None,
                base: Base::Nothing,
            };
        };
        let base = match common {
            Ok(common) => Base::Common(common),
            Err(_) => match resolve(git, base) {
                Ok(commit) => Base::Itself(commit),
                Err(error) => Base::Unknown(error),
            },
        };
        Self {
            commit: Some(commit),
            base,
        }
    }
}

/// A commit by its name. In continuous integration a branch often exists as `origin/…` only.
fn resolve(git: &Git, name: &str) -> Result<String, GitError> {
    for candidate in [name.to_owned(), format!("origin/{name}")] {
        let spec = format!("{candidate}^{{commit}}");
        let asked = git.ask([
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &spec,
        ]);
        if let Ok(commit) = asked.line() {
            return Ok(commit);
        }
    }
    Err(GitError::new(format!(
        "the base {name:?} does not exist in this repository; fetch it (`git fetch origin`), or name another one: `base_branch:` in config.yml, or -b"
    )))
}

/// The pair of trees that a scope asks for.
pub(crate) fn pair(
    git: &Git,
    ground: &Ground,
    scope: &Scope,
    env: &Env,
    config: &Config,
) -> Result<Pair, GitError> {
    if let Some(commit) = &scope.commit {
        let commit = resolve(git, commit)?;
        let parent = git
            .ask(["rev-parse", "--verify", "--quiet", &format!("{commit}^")])
            .line();
        return Ok(Pair {
            base: parent.or_else(|_| empty_tree(git))?,
            label: format!("the parent of {commit}"),
            head: commit,
        });
    }
    let mut pair = Pair {
        base: String::new(),
        head: String::new(),
        label: String::new(),
    };
    if scope.uncommitted {
        let head = ground.commit.clone();
        pair.base = head.map_or_else(|| empty_tree(git), Ok)?;
        "the last commit".clone_into(&mut pair.label);
    } else {
        let name = scope.base_name(config, env);
        (pair.base, pair.label) = match &ground.base {
            Base::Common(commit) => (commit.clone(), name),
            Base::Itself(commit) => (commit.clone(), format!("{name} (no common commit)")),
            Base::Nothing => (empty_tree(git)?, "nothing: no commit yet".to_owned()),
            Base::Unknown(error) => return Err(GitError::new(error.to_string())),
        };
    }
    pair.head = match (&env.github_sha, &ground.commit) {
        (Some(sha), Some(_)) if env.ci && !scope.uncommitted => {
            resolve(git, sha).or_else(|_| snapshot(git, &config.log_dir))?
        }
        (Some(_) | None, Some(_) | None) => snapshot(git, &config.log_dir)?,
    };
    Ok(pair)
}

/// Writes the work tree as it is into git's objects and says its name.
pub(crate) fn snapshot(git: &Git, log_dir: &Path) -> Result<String, GitError> {
    let trouble = |error: std::io::Error| {
        GitError::new(format!("a temporary index cannot be written: {error}"))
    };
    let directory = tempfile::Builder::new()
        .prefix("tollgate-index-")
        .tempdir()
        .map_err(trouble)?;
    let index = directory.path().join("index");
    // What the person's index knows about unchanged files need not be found out again. A copy
    // keeps the time of writing, which git compares with the files' times.
    if let Ok(mut from) = std::fs::File::open(git.index()) {
        let mut to = std::fs::File::create(&index).map_err(trouble)?;
        std::io::copy(&mut from, &mut to).map_err(trouble)?;
        if let Ok(modified) = from.metadata().and_then(|meta| meta.modified()) {
            let _best_effort = to.set_modified(modified);
        }
    }
    let mut args = vec![
        "add".to_owned(),
        "--all".to_owned(),
        "--ignore-errors".to_owned(),
    ];
    if let Ok(logs) = log_dir.strip_prefix(git.top()) {
        args.extend([
            "--".to_owned(),
            ":/".to_owned(),
            format!(":(top,exclude,literal){}", logs.display()),
        ]);
    }
    // A file that cannot be read is not part of the tree; the others are.
    git.ask_with_index(&index, &args).mostly()?;
    git.ask_with_index(&index, ["write-tree"]).line()
}

/// The paths, relative to the project's root and sorted, that differ between two trees.
pub(crate) fn between(git: &Git, pair: &Pair, config: &Config) -> Result<Vec<String>, GitError> {
    let asked = git.ask([
        "diff-tree",
        "-r",
        "-z",
        "--name-only",
        "--no-renames",
        "--relative",
        "--end-of-options",
        &pair.base,
        &pair.head,
    ]);
    let mut paths = asked.paths()?;
    tidy(&mut paths, config);
    Ok(paths)
}

/// The same as [`pair`] and [`between`] for a question that nothing depends on: git compares
/// with the work tree directly and in parallel, and no tree is written.
pub(crate) fn glance(
    git: &Git,
    scope: &Scope,
    env: &Env,
    config: &Config,
) -> Result<Vec<String>, GitError> {
    let others = git.ask(["ls-files", "-z", "--others", "--exclude-standard"]);
    let base = scope.base_name(config, env);
    let ground = Ground::survey(git, &base);
    if scope.commit.is_some() || (env.ci && env.github_sha.is_some()) {
        let _unneeded = others.mostly();
        let pair = pair(git, &ground, scope, env, config)?;
        return between(git, &pair, config);
    }
    let from = match (&ground.base, &ground.commit) {
        (_, None) | (Base::Nothing, _) => empty_tree(git)?,
        (_, Some(commit)) if scope.uncommitted => commit.clone(),
        (Base::Common(commit) | Base::Itself(commit), _) => commit.clone(),
        (Base::Unknown(error), _) => return Err(GitError::new(error.to_string())),
    };
    let tracked = git.ask([
        "diff",
        "--name-only",
        "-z",
        "--no-renames",
        "--no-ext-diff",
        "--relative",
        "--end-of-options",
        &from,
        "--",
    ]);
    let mut paths = others.paths()?;
    paths.extend(tracked.paths()?);
    tidy(&mut paths, config);
    Ok(paths)
}

/// Sorted, once each, without Tollgate's own files.
fn tidy(paths: &mut Vec<String>, config: &Config) {
    let logs = config.log_dir.strip_prefix(&config.root).ok();
    paths.retain(|path| {
        let path = Path::new(path);
        !logs.is_some_and(|logs| path.starts_with(logs)) && !path.starts_with(".tollgate/local")
    });
    paths.sort();
    paths.dedup();
}

/// git's name of the tree with nothing in it, which depends on the repository's hash.
fn empty_tree(git: &Git) -> Result<String, GitError> {
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

/// Whether a tree or commit is still there; git removes what nothing points to after a while.
pub(crate) fn exists(git: &Git, name: &str) -> bool {
    git.ask(["cat-file", "-e", name]).yes()
}

/// The tree of a commit.
pub(crate) fn tree_of(git: &Git, commit: &str) -> Option<String> {
    git.ask([
        "rev-parse",
        "--verify",
        "--quiet",
        &format!("{commit}^{{tree}}"),
    ])
    .line()
    .ok()
}

/// The commit that a name stands for.
pub(crate) fn commit_of(git: &Git, name: &str) -> Option<String> {
    resolve(git, name).ok()
}
