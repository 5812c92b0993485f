//! What is in the project: where it begins, what it is written in, what its work is compared
//! with, who works and who can review.

use std::path::{Path, PathBuf};

use tollgate_core::env::Env;
use tollgate_core::git::{Head, Repository};
use tollgate_core::project::Layout;

use super::directory::{Clues, Directory};
use super::languages::{self, Check, Role, Toolchain, Workspace};
use super::targets;
use crate::agents::{AGENTS, Agent, Places};
use crate::git::Git;
use crate::review::Reviewer;
use crate::review::cli::Health;

/// More parts than this are no parts but a collection.
const MOST_PARTS: usize = 8;

pub(crate) struct Survey {
    pub(crate) root: PathBuf,
    /// The root first, then directories with their own language.
    pub(crate) parts: Vec<Piece>,
    pub(crate) base: Base,
    /// The agents that are used here, and what shows it.
    pub(crate) agents: Vec<(Agent, String)>,
    pub(crate) reviewers: Vec<&'static str>,
    /// Programs that checks need and that are not here.
    pub(crate) missing: Vec<String>,
}

/// A directory of the project with what it is written in.
pub(crate) struct Piece {
    /// `.`, or a path below the root.
    pub(crate) path: String,
    pub(crate) found: Vec<Toolchain>,
}

/// What the work is compared with, and how that is known.
pub(crate) struct Base {
    pub(crate) name: String,
    pub(crate) why: &'static str,
}

/// Why there is no project to survey.
pub(crate) enum Nowhere {
    NoDirectory,
    NoRepository(PathBuf),
}

impl Survey {
    pub(crate) fn of(env: &Env) -> Result<Self, Nowhere> {
        let here = env.cwd.as_deref().ok_or(Nowhere::NoDirectory)?;
        let repository =
            Repository::discover(here).ok_or_else(|| Nowhere::NoRepository(here.to_owned()))?;
        // A home above the repository (in the person's own directory, say) is another project's.
        let top = repository.work_tree.clone();
        let layout = Layout::above(here).filter(|layout| layout.root().starts_with(&top));
        let root = layout.map_or(top, |layout| layout.root().to_owned());
        let search = env.path.clone().unwrap_or_default();
        let clues = Clues::of(&root, &search);
        let parts = parts(&Directory::new(&root, &clues));
        let is_ready = |name: &&str| {
            let reviewer = Reviewer::named(name, None);
            reviewer.is_some_and(|one| matches!(one.health(&search), Health::Ready(_)))
        };
        let programs = checks(&parts).map(Check::program);
        let is_missing = |name: &&str| !name.contains('/') && !clues.has_program(name);
        let missing = programs.filter(is_missing).map(str::to_owned);
        let mut missing: Vec<String> = missing.collect();
        missing.sort_unstable();
        missing.dedup();
        Ok(Self {
            base: base(&repository, &root),
            agents: agents(env),
            reviewers: Reviewer::names().filter(is_ready).collect(),
            root,
            parts,
            missing,
        })
    }
}

fn agents(env: &Env) -> Vec<(Agent, String)> {
    let places = Places::find(env, crate::environment::variable);
    let found = |agent: Agent| Some((agent, agent.found(places.as_ref()?)?));
    AGENTS.iter().copied().filter_map(found).collect()
}

fn checks(parts: &[Piece]) -> impl Iterator<Item = &Check> {
    let found = parts.iter().flat_map(|part| &part.found);
    found.flat_map(|found| &found.checks)
}

/// The root, and what lies below it that no check of the root is about.
fn parts(root: &Directory<'_>) -> Vec<Piece> {
    let mut found = languages::find(root);
    let runner = targets::find(root);
    if let Some(runner) = &runner {
        // The project's own word for it goes before what the language suggests.
        let own = |role: Role| runner.checks.iter().any(|check| check.role == role);
        for language in &mut found {
            language.checks.retain(|check| !own(check.role));
        }
    }
    let is_test = |check: &Check| check.role == Role::Test;
    let tests_all = runner
        .iter()
        .any(|runner| runner.checks.iter().any(is_test));
    found.extend(runner);
    let below = root.below();
    let workspace = Workspace::of(root, &below).filter(|_| !tests_all);
    if let Some(workspace) = workspace.as_ref().filter(|all| all.len() > MOST_PARTS) {
        let mut found = found.iter_mut();
        if let Some(root) = found.find(|one| family(&one.name) == "JavaScript") {
            let made: Vec<Role> = root.checks.iter().map(|check| check.role).collect();
            root.checks.extend(workspace.all(&made));
        }
    }
    let mut parts = vec![Piece {
        path: ".".to_owned(),
        found,
    }];
    if tests_all {
        return parts;
    }
    let go_modules = languages::go_modules(root);
    for (path, directory) in below {
        let mut found = languages::find(&directory);
        for one in &mut found {
            let family = family(&one.name).to_owned();
            let made = roles_above(&parts, &path, &family);
            let is_apart = match family.as_str() {
                // The packages of a module end where the next module begins.
                "Go" => !go_modules
                    .iter()
                    .any(|module| module.trim_start_matches("./") == path),
                "JavaScript" => languages::is_locked(&directory),
                _ => false,
            };
            match &workspace {
                Some(workspace) if family == "JavaScript" && workspace.has(&path) => {
                    let member = workspace.member(&path, &made);
                    match member.filter(|_| workspace.len() <= MOST_PARTS) {
                        Some(member) => *one = member,
                        None => one.checks.clear(),
                    }
                }
                Some(_) | None if is_apart => {}
                Some(_) | None if matches!(family.as_str(), "JavaScript" | "Python") => {
                    one.checks.retain(|check| !made.contains(&check.role));
                }
                Some(_) | None if made.is_empty() => {}
                Some(_) | None => one.checks.clear(),
            }
        }
        found.retain(|one| !one.checks.is_empty());
        if !found.is_empty() && parts.len() <= MOST_PARTS {
            parts.push(Piece { path, found });
        }
    }
    parts
}

/// What the parts above a path have checks for in the same language: a manifest below one of the
/// same language belongs to it.
fn roles_above(parts: &[Piece], path: &str, family_name: &str) -> Vec<Role> {
    let is_above = |part: &&Piece| part.path == "." || Path::new(path).starts_with(&part.path);
    let found = parts.iter().filter(is_above).flat_map(|part| &part.found);
    let same = found.filter(|found| family(&found.name) == family_name);
    let checks = same.flat_map(|found| &found.checks);
    checks.map(|check| check.role).collect()
}

/// A language without its package manager; JavaScript and TypeScript are one.
fn family(name: &str) -> &str {
    let bare = name.split(" with ").next().unwrap_or(name);
    if bare == "TypeScript" {
        "JavaScript"
    } else {
        bare
    }
}

/// The remote's main branch where there is a remote, else the local one, else the one that is
/// checked out, with or without a commit on it.
fn base(repository: &Repository, root: &Path) -> Base {
    const USUAL: [&str; 4] = ["main", "master", "trunk", "develop"];
    if let Ok(git) = Git::at(root) {
        let default = [
            "symbolic-ref",
            "--quiet",
            "--short",
            "refs/remotes/origin/HEAD",
        ];
        if let Ok(name) = git.ask(default).line() {
            let why = "the remote's default branch";
            return Base { name, why };
        }
        let exists = |name: &str| {
            let spec = format!("refs/remotes/{name}^{{commit}}");
            let found = git.ask(["rev-parse", "--verify", "--quiet", &spec]);
            found.line().is_ok()
        };
        let remote = USUAL.iter().map(|name| format!("origin/{name}"));
        if let Some(name) = remote.into_iter().find(|name| exists(name)) {
            let why = "the remote's branch";
            return Base { name, why };
        }
    }
    if let Some(name) = USUAL.iter().find(|name| repository.branch_exists(name)) {
        let (name, why) = ((*name).to_owned(), "there is no remote");
        return Base { name, why };
    }
    let (name, why) = match repository.head() {
        Head::Branch(name) => (name, "the branch that is checked out"),
        Head::AskGit | Head::Detached | Head::None => ("main".to_owned(), "nothing else is known"),
    };
    Base { name, why }
}
