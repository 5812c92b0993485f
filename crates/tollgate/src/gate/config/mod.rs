//! The gates' configuration: `config.yml`, `checks/`, `reviews/`, the person's own file and the
//! environment, read into one value.
//!
//! All problems of all files are collected before anything is said, each with file, line, key
//! and what to do. Unknown keys are warnings: what a newer or older version wrote still loads.

mod ci;
mod cross;
mod keys;
mod node;
mod reader;
mod review;
mod table;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use tollgate_core::env::Env;
use tollgate_core::project::{Layout, lexical};

pub(crate) use ci::{Ci, STARTER as CI_STARTER, Step};
pub(crate) use node::Node;
use reader::Reader;
pub(crate) use review::Review;
pub(crate) use table::{Problem, Weight, nearest};

/// When a stop that follows a block is let through.
pub(crate) use crate::ledger::LoopGuard;

/// How long a gate may take unless it says otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(5);

/// All that the files say.
#[derive(Debug)]
pub(crate) struct Config {
    /// The project's root: all paths are relative to it.
    pub(crate) root: PathBuf,
    /// `.gauntlet` or `.tollgate`.
    pub(crate) home: PathBuf,
    /// What Tollgate keeps for itself.
    pub(crate) local: PathBuf,
    /// Absolute.
    pub(crate) log_dir: PathBuf,
    /// As the configuration has it, for `Log:` lines.
    pub(crate) log_dir_name: PathBuf,
    pub(crate) base_branch: String,
    pub(crate) allow_parallel: bool,
    /// None: as many as there are cores.
    pub(crate) max_parallel: Option<usize>,
    pub(crate) max_retries: u64,
    pub(crate) max_previous_logs: u64,
    pub(crate) rerun_new_issue_threshold: String,
    pub(crate) reviewers: Vec<String>,
    pub(crate) entry_points: Vec<EntryPoint>,
    pub(crate) checks: BTreeMap<String, Check>,
    pub(crate) reviews: BTreeMap<String, Review>,
    /// Bytes at which the debug log is rotated; none: there is no debug log.
    pub(crate) debug_log: Option<u64>,
    pub(crate) stop_hook: StopHook,
    pub(crate) warnings: Vec<Problem>,
}

/// A path and the gates that guard it.
#[derive(Clone, Debug)]
pub(crate) struct EntryPoint {
    pub(crate) path: String,
    pub(crate) exclude: Vec<String>,
    pub(crate) checks: Vec<String>,
    pub(crate) reviews: Vec<String>,
}

/// A command that must succeed.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    pub(crate) command: String,
    pub(crate) working_directory: Option<String>,
    pub(crate) parallel: bool,
    pub(crate) run_in_ci: bool,
    pub(crate) run_locally: bool,
    /// None: it may take for ever.
    pub(crate) timeout: Option<Duration>,
    pub(crate) fail_fast: bool,
    /// The text that helps with a failure.
    pub(crate) fix_instructions: Option<String>,
}

/// How the agent's stop is gated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StopHook {
    pub(crate) enabled: bool,
    pub(crate) interval: Duration,
    pub(crate) interval_rule: IntervalRule,
    pub(crate) deadline: Option<Duration>,
    pub(crate) loop_guard: LoopGuard,
}

/// What the interval after a pass lets through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum IntervalRule {
    /// The tree and the branch that passed.
    #[default]
    SameTree,
    /// Every stop, as specification 003 has it.
    Letter,
}

/// Why there is no configuration.
#[derive(Debug)]
pub(crate) enum ConfigError {
    /// There is no `config.yml`.
    Missing(PathBuf),
    /// Errors, and the warnings that were found beside them.
    Wrong(Vec<Problem>),
}

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing(path) => write!(f, "Configuration file not found at {}", path.display()),
            Self::Wrong(problems) => {
                let errors = problems
                    .iter()
                    .filter(|problem| problem.weight == Weight::Error);
                let lines: Vec<_> = errors.map(ToString::to_string).collect();
                f.write_str(&lines.join("\n"))
            }
        }
    }
}

impl ConfigError {
    /// What to do about it, where the error itself does not say.
    pub(crate) fn next(&self) -> Option<&'static str> {
        match self {
            Self::Missing(path) if path.ends_with("ci.yml") => Some("`tollgate ci init` makes one"),
            Self::Missing(_) => Some(
                "`tollgate init --only gates` proposes one for this project, and shows it first",
            ),
            Self::Wrong(_) => None,
        }
    }
}

impl Config {
    /// Whether any entry point has gates.
    pub(crate) fn has_gates(&self) -> bool {
        let has = |entry: &EntryPoint| !(entry.checks.is_empty() && entry.reviews.is_empty());
        self.entry_points.iter().any(has)
    }

    /// Reads the configuration of a project.
    pub(crate) fn load(layout: &Layout, env: &Env) -> Result<Self, ConfigError> {
        let home = layout.gates_home();
        let file = home.join("config.yml");
        let mut reader = Reader::new(layout.root());
        let Some(text) = reader.text(&file) else {
            return Err(reader.without(file));
        };
        let node = reader.parse(&file, &text, &keys::CONFIG);
        let checks = reader.gates(&home.join("checks"), &["yml", "yaml"], |reader, file| {
            reader.check(file, &home)
        });
        let reviews = reader.gates(
            &home.join("reviews"),
            &["md", "yml", "yaml"],
            |reader, file| reader.review(file, &home),
        );
        let global = env.home.as_deref().and_then(|home| reader.global(home));
        let mut config = Self::assemble(
            layout,
            home,
            node.as_ref(),
            global.as_ref(),
            (checks, reviews),
        );
        config.stop_hook.apply(env);
        if let Some(node) = &node {
            reader.cross_check(&config, &file, node);
        }
        config.warnings = reader.warnings()?;
        Ok(config)
    }

    fn assemble(
        layout: &Layout,
        home: PathBuf,
        node: Option<&Node>,
        global: Option<&Node>,
        (checks, reviews): (BTreeMap<String, Check>, BTreeMap<String, Review>),
    ) -> Self {
        let get = |key: &str| node.and_then(|node| node.get(key));
        let text = |key: &str| get(key).and_then(Node::text).map(str::to_owned);
        let whole = |key: &str| get(key).and_then(Node::whole);
        let log_dir_name =
            PathBuf::from(text("log_dir").unwrap_or_else(|| layout.default_log_dir().to_owned()));
        let cli = get("cli");
        let entry_points = get("entry_points").map(Node::items).unwrap_or_default();
        Self {
            root: layout.root().to_owned(),
            home,
            local: layout.local(),
            log_dir: lexical(&layout.root().join(&log_dir_name)),
            log_dir_name,
            base_branch: text("base_branch").unwrap_or_else(|| "origin/main".to_owned()),
            allow_parallel: get("allow_parallel").and_then(Node::bool).unwrap_or(true),
            max_parallel: whole("max_parallel").and_then(|jobs| usize::try_from(jobs).ok()),
            max_retries: whole("max_retries").unwrap_or(3),
            max_previous_logs: whole("max_previous_logs").unwrap_or(3),
            rerun_new_issue_threshold: text("rerun_new_issue_threshold")
                .unwrap_or_else(|| "high".to_owned()),
            reviewers: cli
                .and_then(|cli| cli.get("default_preference"))
                .map(Node::texts)
                .unwrap_or_default(),
            entry_points: entry_points.iter().map(EntryPoint::read).collect(),
            checks,
            reviews,
            debug_log: debug_log(node, global),
            stop_hook: StopHook::read(node, global),
            warnings: Vec::new(),
        }
    }
}

/// A setting of the project, else the person's own.
fn setting<'n>(
    project: Option<&'n Node>,
    global: Option<&'n Node>,
    section: &str,
    key: &str,
) -> Option<&'n Node> {
    let mut nodes = [project, global].into_iter();
    nodes.find_map(|node| node?.get(section)?.get(key))
}

fn debug_log(project: Option<&Node>, global: Option<&Node>) -> Option<u64> {
    let find = |key: &str| setting(project, global, "debug_log", key);
    let megabytes = find("max_size_mb").and_then(Node::number).unwrap_or(10.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a size; what does not fit is very large anyway"
    )]
    let bytes = (megabytes * 1_048_576.0) as u64;
    find("enabled")
        .and_then(Node::bool)
        .unwrap_or(false)
        .then_some(bytes)
}

impl EntryPoint {
    fn read(node: &Node) -> Self {
        let texts = |key: &str| node.get(key).map(Node::texts).unwrap_or_default();
        let path = node.get("path").and_then(Node::text).unwrap_or(".");
        let path = path.strip_prefix("./").unwrap_or(path);
        let path = path.trim_end_matches('/');
        Self {
            path: if path.is_empty() { "." } else { path }.to_owned(),
            exclude: texts("exclude"),
            checks: texts("checks"),
            reviews: texts("reviews"),
        }
    }
}

impl Check {
    fn read(node: &Node) -> Self {
        let text = |key: &str| node.get(key).and_then(Node::text).map(str::to_owned);
        let bool = |key: &str| node.get(key).and_then(Node::bool);
        Self {
            command: text("command").unwrap_or_default(),
            working_directory: text("working_directory"),
            parallel: bool("parallel").unwrap_or(false),
            run_in_ci: bool("run_in_ci").unwrap_or(true),
            run_locally: bool("run_locally").unwrap_or(true),
            timeout: timeout(node),
            fail_fast: bool("fail_fast").unwrap_or(false),
            fix_instructions: None,
        }
    }
}

/// A gate's own limit: the default if it names none, none if it says 0, or so much that it has no
/// end.
fn timeout(node: &Node) -> Option<Duration> {
    match node.get("timeout").and_then(Node::number) {
        None => Some(DEFAULT_TIMEOUT),
        Some(0.0) => None,
        // However short it is, it is a limit.
        Some(seconds) => Duration::try_from_secs_f64(seconds)
            .ok()
            .map(|limit| limit.max(Duration::from_nanos(1))),
    }
}

/// Minutes as the original reads them: a whole number, also as `1e1` or `0x10`.
fn minutes(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => node::as_whole(text.parse().ok()?),
    }
}

impl StopHook {
    fn read(project: Option<&Node>, global: Option<&Node>) -> Self {
        let find = |key: &str| setting(project, global, "stop_hook", key);
        let minutes = find("run_interval_minutes").and_then(Node::whole);
        let strict = find("loop_guard").and_then(Node::text) == Some("strict");
        let letter = find("interval").and_then(Node::text) == Some("letter");
        Self {
            enabled: find("enabled").and_then(Node::bool).unwrap_or(true),
            interval: Duration::from_secs(minutes.unwrap_or(10).saturating_mul(60)),
            interval_rule: if letter {
                IntervalRule::Letter
            } else {
                IntervalRule::SameTree
            },
            deadline: find("deadline_seconds")
                .and_then(Node::whole)
                .map(Duration::from_secs),
            loop_guard: if strict {
                LoopGuard::Strict
            } else {
                LoopGuard::Progress
            },
        }
    }

    /// The environment goes before all files. What it says in other words is ignored, as the
    /// original did.
    fn apply(&mut self, env: &Env) {
        let word = env
            .stop_hook_enabled
            .as_deref()
            .map(|v| v.trim().to_lowercase());
        match word.as_deref() {
            Some("true" | "1") => self.enabled = true,
            Some("false" | "0") => self.enabled = false,
            Some(_) | None => {}
        }
        let minutes = env.stop_hook_interval.as_deref();
        if let Some(minutes) = minutes.and_then(self::minutes) {
            self.interval = Duration::from_secs(minutes.saturating_mul(60));
        }
    }
}

/// The JSON Schemas of all files, by their names.
pub(crate) fn schemas() -> Vec<(&'static str, serde_json::Value)> {
    [
        ("config", &keys::CONFIG),
        ("check", &keys::CHECK),
        ("review", &keys::REVIEW),
        ("global", &keys::GLOBAL),
        ("ci", &keys::CI),
    ]
    .into_iter()
    .map(|(name, table)| {
        let mut schema = table.schema();
        if let Some(object) = schema.as_object_mut() {
            let draft = "https://json-schema.org/draft/2020-12/schema";
            object.insert("$schema".to_owned(), draft.into());
        }
        (name, schema)
    })
    .collect()
}
