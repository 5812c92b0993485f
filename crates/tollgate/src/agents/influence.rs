//! What in an agent's settings affects Tollgate besides its registrations: variables
//! that its hooks are started with, and plugins, which can answer a tool call before any hook.

use serde_json::{Map, Value};

use super::Members;

/// Variables that decide whether and where a hook works, whatever follows in their names.
const PREFIXES: &[&str] = &["TOLLGATE_", "TASKIE_", "GAUNTLET_", "LD_", "DYLD_"];

/// The same, by their whole names.
const NAMES: &[&str] = &[
    "PATH",
    "HOME",
    "XDG_STATE_HOME",
    "XDG_CONFIG_HOME",
    "ISDLC_PROJECT",
    "CLAUDECODE",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "COPILOT_HOME",
    "BASH_ENV",
    "ENV",
];

/// What a file says besides its hooks, each as `NAME=value`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Influence {
    /// Variables that touch Tollgate.
    pub(crate) variables: Vec<String>,
    /// Plugins that it enables, and places that it takes plugins from.
    pub(crate) plugins: Vec<String>,
}

impl Influence {
    /// That of a settings file; `member` gives what is at its top.
    pub(super) fn of(member: &Members<'_>) -> Self {
        let policy = member("shell_environment_policy");
        let sets = [
            member("env"),
            policy.and_then(|policy| policy.get("set").cloned()),
        ];
        let variables = sets.iter().flatten().filter_map(Value::as_object).flatten();
        let variables = variables
            .filter(|(name, _)| touches_us(name))
            .map(|(name, value)| pair(name, value))
            .collect();
        let members = |key: &str| match member(key) {
            Some(Value::Object(members)) => members,
            Some(_) | None => Map::new(),
        };
        let mut plugins = members("enabledPlugins");
        plugins.retain(|_, enabled| *enabled != Value::Bool(false));
        plugins.extend(members("extraKnownMarketplaces"));
        Self {
            variables,
            plugins: plugins
                .iter()
                .map(|(name, value)| pair(name, value))
                .collect(),
        }
    }

    /// That of a file of lines such as `NAME=value`.
    pub(super) fn of_lines(text: &str) -> Self {
        let set = text.lines().filter_map(|line| {
            let (name, value) = line.trim().trim_start_matches("export ").split_once('=')?;
            touches_us(name.trim()).then(|| format!("{}={}", name.trim(), value.trim()))
        });
        Self {
            variables: set.collect(),
            plugins: Vec::new(),
        }
    }

    /// What is new since `before`, in words.
    pub(super) fn news_since(&self, before: &Self) -> Option<String> {
        let name = |pair: &String| pair.split('=').next().unwrap_or_default().to_owned();
        let new = |now: &[String], before: &[String]| {
            now.iter().find(|one| !before.contains(one)).map(name)
        };
        let variable = new(&self.variables, &before.variables);
        variable
            .map(|name| format!("it would set {name} for Tollgate's hooks"))
            .or_else(|| {
                let plugin = new(&self.plugins, &before.plugins)?;
                Some(format!(
                    "it would enable the plugin or marketplace {plugin}, which can answer before Tollgate's hooks"
                ))
            })
    }
}

fn pair(name: &str, value: &Value) -> String {
    format!("{name}={value}")
}

/// Whether a variable decides over Tollgate's hooks.
pub(crate) fn touches_us(name: &str) -> bool {
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
