//! Where settings can lie on this machine: the project, and a person's own directories.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tollgate_core::env::Env;
use tollgate_core::git::Repository;
use tollgate_core::person;
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
            state: person::state_home(env),
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

    /// Every program of this name on `PATH`, in its order; what links lead to counts once.
    pub(crate) fn programs(&self, name: &str) -> Vec<PathBuf> {
        let mut real = Vec::new();
        let search = self.path.as_deref().unwrap_or_default();
        let mut programs: Vec<PathBuf> = all(name, search).collect();
        programs.retain(|path| {
            let at = path.canonicalize().unwrap_or_else(|_| path.clone());
            let is_new = !real.contains(&at);
            real.push(at);
            is_new
        });
        programs
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
    all(name, search).next()
}

fn all(name: &str, search: &OsStr) -> impl Iterator<Item = PathBuf> {
    std::env::split_paths(search)
        .filter(|directory| directory.is_absolute())
        .map(move |directory| directory.join(name))
        .filter(|path| is_executable(path))
}

/// Whether it is a script that Node runs, as the command of an npm package is: an event through it
/// takes as long as Node takes to start.
pub(crate) fn is_node_script(path: &Path) -> bool {
    let mut start = [0; 64];
    let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut start));
    let start = start.get(..read.unwrap_or(0)).unwrap_or_default();
    let line = start.split(|byte| *byte == b'\n').next();
    line.is_some_and(|line| line.starts_with(b"#!") && line.ends_with(b"node"))
}

pub(crate) fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
