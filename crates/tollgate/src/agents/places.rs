//! Where settings can lie on this machine: the project, and a person's own directories.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tollgate_core::env::Env;
use tollgate_core::git::Repository;
use tollgate_core::project::Layout;

use super::{AGENTS, Agent};

/// The directories that settings can be in.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// The project: where the agent is started.
    pub(crate) root: PathBuf,
    pub(crate) home: Option<PathBuf>,
    /// The agents' directories in it, or where a variable says.
    agents: Vec<(Agent, PathBuf)>,
    /// What Tollgate keeps about a person's own settings: `$XDG_STATE_HOME/tollgate`.
    pub(crate) state: Option<PathBuf>,
    path: Option<OsString>,
}

impl Places {
    /// The places around the current directory. `get` reads a variable.
    pub(crate) fn find(env: &Env, get: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let root = Layout::find(env, None)
            .map(|layout| layout.root().to_owned())
            .or_else(|| Some(Repository::discover(env.cwd.as_deref()?)?.work_tree))
            .or_else(|| env.cwd.clone())?;
        Some(Self::around(root, env, get))
    }

    pub(crate) fn around(root: PathBuf, env: &Env, get: impl Fn(&str) -> Option<OsString>) -> Self {
        let absolute = |name: &str| {
            get(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let home = env.home.clone().filter(|home| home.is_absolute());
        let home_of = |agent: Agent| {
            agent.home.iter().find_map(|(variable, name)| {
                let path = match *variable {
                    "HOME" => home.clone(),
                    other => absolute(other),
                }?;
                Some(match *name {
                    "" => path,
                    name => path.join(name),
                })
            })
        };
        let agents = AGENTS.iter().copied();
        Self {
            root,
            agents: agents
                .filter_map(|agent| Some((agent, home_of(agent)?)))
                .collect(),
            state: Layout::person(env),
            home,
            path: env.path.clone(),
        }
    }

    /// An agent's directory in the person's home.
    pub(crate) fn home_of(&self, agent: Agent) -> Option<&Path> {
        let mut homes = self.agents.iter();
        homes.find_map(|(whose, home)| (*whose == agent).then_some(home.as_path()))
    }

    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        find(name, self.path.as_ref()?)
    }

    /// A path as people read it: relative to the project, or with `~`.
    pub(crate) fn shown(&self, path: &Path) -> String {
        if let Ok(inside) = path.strip_prefix(&self.root) {
            return inside.display().to_string();
        }
        let home = self.home.as_deref();
        match home.and_then(|home| path.strip_prefix(home).ok()) {
            Some(inside) => format!("~/{}", inside.display()),
            None => path.display().to_string(),
        }
    }
}

/// A program in an absolute directory of `PATH`. A relative one would be the project's choice.
pub(crate) fn find(name: &str, search: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(search)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(|path| is_executable(path))
}

pub(crate) fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
