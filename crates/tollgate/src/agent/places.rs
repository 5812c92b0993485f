//! Where settings can lie on this machine: the project, and a person's own directories.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tollgate_core::env::Env;
use tollgate_core::git::Repository;
use tollgate_core::project::Layout;

/// The directories that settings are looked for in.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// The project: where the agent is started.
    pub(crate) root: PathBuf,
    /// `HOME`
    pub(crate) home: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`, else `~/.claude`
    pub(crate) claude: Option<PathBuf>,
    /// `CODEX_HOME`, else `~/.codex`
    pub(crate) codex: Option<PathBuf>,
    /// `.gemini` in `GEMINI_CLI_HOME`, else in the home
    pub(crate) gemini: Option<PathBuf>,
    /// `COPILOT_HOME`, else `~/.copilot`
    pub(crate) copilot: Option<PathBuf>,
    /// `~/.cursor`
    pub(crate) cursor: Option<PathBuf>,
    /// What Tollgate keeps about a person's own settings: `$XDG_STATE_HOME/tollgate`.
    pub(crate) state: Option<PathBuf>,
    /// `PATH`
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

    /// The places around a project.
    pub(crate) fn around(root: PathBuf, env: &Env, get: impl Fn(&str) -> Option<OsString>) -> Self {
        let absolute = |name: &str| {
            get(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let home = env.home.clone().filter(|home| home.is_absolute());
        let below = |name: &str| home.as_ref().map(|home| home.join(name));
        Self {
            root,
            claude: absolute("CLAUDE_CONFIG_DIR").or_else(|| below(".claude")),
            codex: absolute("CODEX_HOME").or_else(|| below(".codex")),
            gemini: absolute("GEMINI_CLI_HOME")
                .map(|home| home.join(".gemini"))
                .or_else(|| below(".gemini")),
            copilot: absolute("COPILOT_HOME").or_else(|| below(".copilot")),
            cursor: below(".cursor"),
            state: Layout::person(env),
            home,
            path: env.path.clone(),
        }
    }

    /// The first program of this name on `PATH`.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        crate::review::cli::find(name, self.path.as_ref()?)
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

/// Whether this is a file that can be started.
pub(crate) fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
