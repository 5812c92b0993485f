//! Every environment variable that deciding an event may read, declared once.
//!
//! The process reads them at its rim; tests pass other values. Nothing else asks the
//! environment.

use std::ffi::OsString;
use std::path::PathBuf;

/// What the environment says.
#[derive(Clone, Debug, Default)]
pub struct Env {
    /// `CLAUDE_PROJECT_DIR`: where the agent's session started.
    pub project_dir: Option<PathBuf>,
    /// `ISDLC_PROJECT`: the project of a monorepo.
    pub monorepo_project: Option<String>,
    /// `HOME`
    pub home: Option<PathBuf>,
    /// The directory of the process.
    pub cwd: Option<PathBuf>,
    /// The variable that says that a child of Tollgate's own is asking, see [`Env::is_nested`].
    pub nested: Option<&'static str>,
    /// `TOLLGATE_DEPTH`: how deep, and a word that only the one who started it knows.
    pub depth: Option<String>,
    /// `CLAUDE_CODE_SESSION_ID`: a real Claude Code is asking, whatever it sent.
    pub claude_session: Option<String>,
    /// Gemini's variables are set.
    pub gemini: bool,
    /// `CLAUDE_PLUGIN_ROOT`: the plugin that registered the hook.
    pub plugin_root: Option<PathBuf>,
    /// `PATH`: where reviewers are found.
    pub path: Option<OsString>,
    /// `GAUNTLET_STOP_HOOK_ENABLED`: goes before the gates' configuration.
    pub stop_hook_enabled: Option<String>,
    /// `GAUNTLET_STOP_HOOK_INTERVAL_MINUTES`: goes before the gates' configuration.
    pub stop_hook_interval: Option<String>,
    /// `TRACEPARENT`: the agent's own trace, where it keeps one.
    pub trace: Option<String>,
    /// `CI=true` or `GITHUB_ACTIONS=true`
    pub ci: bool,
    /// `GITHUB_BASE_REF`: what a pull request goes into.
    pub github_base_ref: Option<String>,
    /// `GITHUB_SHA`: what is being tested.
    pub github_sha: Option<String>,
    /// `XDG_CONFIG_HOME`, where it is a full path.
    pub config_home: Option<PathBuf>,
    /// The settings of `[gates]` that variables name, see [`SETTINGS`].
    pub settings: Vec<(&'static str, String)>,
    /// `XDG_STATE_HOME`, where it is a full path; the standard has it ignored otherwise.
    pub state_home: Option<PathBuf>,
    /// `SKILL_VALIDATOR_DEBUG=true`: print what the guards do on standard error.
    pub debug: bool,
    /// `TOLLGATE_TRUST`: the one set of commands that may run here.
    pub trust_pin: Option<String>,
}

/// Set for every child that Tollgate starts.
pub const DEPTH: &str = "TOLLGATE_DEPTH";

/// The variables that say that Tollgate started the one who asks: its own, and those of the
/// originals.
pub const NESTED: [&str; 3] = [DEPTH, "TASKIE_HOOK_SKIP", "GAUNTLET_STOP_HOOK_ACTIVE"];

/// Names gates that a person leaves out of a run, with commas. A stop runs them all the same.
pub const SKIP: &str = "TOLLGATE_SKIP";

/// The variables that go before a setting of `[gates]` in `tollgate.toml`.
pub const SETTINGS: [(&str, &str); 5] = [
    ("TOLLGATE_BASE", "base"),
    ("TOLLGATE_PARALLEL", "parallel"),
    ("TOLLGATE_MAX_RETRIES", "max_retries"),
    ("TOLLGATE_ON_STOP", "on_stop"),
    ("TOLLGATE_DEADLINE", "deadline"),
];

impl Env {
    /// Reads the variables through `get`.
    pub fn read(get: impl Fn(&str) -> Option<OsString>, cwd: Option<PathBuf>) -> Self {
        let text = |name: &str| get(name).and_then(|v| v.into_string().ok());
        let path = |name: &str| get(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        Self {
            project_dir: path("CLAUDE_PROJECT_DIR"),
            monorepo_project: text("ISDLC_PROJECT").filter(|v| !v.is_empty()),
            home: path("HOME"),
            path: get("PATH"),
            cwd,
            nested: NESTED.into_iter().find(|name| {
                text(name).is_some_and(|value| match *name {
                    "TASKIE_HOOK_SKIP" => value == "true",
                    DEPTH => !value.is_empty() && value != "0",
                    _ => !value.is_empty(),
                })
            }),
            depth: text(DEPTH).filter(|v| !v.is_empty()),
            claude_session: text("CLAUDE_CODE_SESSION_ID"),
            gemini: get("GEMINI_SESSION_ID").is_some() || get("GEMINI_PROJECT_DIR").is_some(),
            plugin_root: path("CLAUDE_PLUGIN_ROOT"),
            stop_hook_enabled: text("GAUNTLET_STOP_HOOK_ENABLED"),
            stop_hook_interval: text("GAUNTLET_STOP_HOOK_INTERVAL_MINUTES"),
            trace: text("TRACEPARENT").filter(|v| !v.is_empty()),
            ci: ["CI", "GITHUB_ACTIONS"]
                .into_iter()
                .any(|name| text(name).is_some_and(|v| v == "true")),
            github_base_ref: text("GITHUB_BASE_REF").filter(|v| !v.is_empty()),
            github_sha: text("GITHUB_SHA").filter(|v| !v.is_empty()),
            config_home: path("XDG_CONFIG_HOME").filter(|path| path.is_absolute()),
            settings: SETTINGS
                .into_iter()
                .filter_map(|(name, key)| Some((key, text(name).filter(|v| !v.is_empty())?)))
                .collect(),
            state_home: path("XDG_STATE_HOME").filter(|path| path.is_absolute()),
            debug: text("SKILL_VALIDATOR_DEBUG").is_some_and(|v| v == "true"),
            trust_pin: text("TOLLGATE_TRUST").filter(|v| !v.is_empty()),
        }
    }

    /// Whether the environment says that the hook was started from inside a reviewer or check that
    /// Tollgate runs: a review must not review itself forever. An agent's settings can say so, too,
    /// so it is believed only when a Tollgate that runs above confirms it.
    pub fn is_nested(&self) -> bool {
        self.nested.is_some()
    }
}
