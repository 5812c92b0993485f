//! The gates' configuration, read into one value: from `tollgate.toml` with its layers, or from
//! `config.yml`, `checks/`, `reviews/`, the person's own file and the environment.
//!
//! All problems of all files are collected before anything is said, each with file, line, key
//! and what to do. In YAML, unknown keys are warnings: what another version wrote still loads.

mod ci;
mod cross;
mod keys;
mod reader;
mod review;
mod toml;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tollgate_core::env::Env;
use tollgate_core::project::{Layout, lexical};

pub(crate) use crate::config::Node;
use crate::config::{Layer, Merged, Place, Texts, last_good};
pub(crate) use crate::config::{Problem, Weight, nearest};
pub(crate) use ci::{Ci, STARTER as CI_STARTER, Step};
use reader::Reader;
pub(crate) use review::Review;

/// When a stop that follows a block is let through.
pub(crate) use crate::ledger::LoopGuard;

/// What the work is compared with unless the configuration says otherwise.
pub(crate) const DEFAULT_BASE: &str = "origin/main";

/// How long a gate may take unless it says otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(5);

/// All that the files say.
#[derive(Debug)]
pub(crate) struct Config {
    /// The project's root: all paths are relative to it.
    pub(crate) root: PathBuf,
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
    pub(crate) words: Words,
    /// The text of the project's `tollgate.toml`, if that has gates.
    own_text: Option<String>,
    /// Set if the files are broken and this is what held before.
    pub(crate) held: Option<Held>,
    pub(crate) warnings: Vec<Problem>,
}

/// In whose words the gates speak: in those of the home that they are configured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    /// Specification 003's.
    Specification,
    /// Tollgate's own, where `tollgate.toml` configures them.
    Own,
}

/// Broken files, and what holds meanwhile.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) problems: Vec<Problem>,
    /// For the person.
    pub(crate) by: &'static str,
}

/// A path and the gates that guard it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EntryPoint {
    pub(crate) path: String,
    pub(crate) exclude: Vec<String>,
    /// Globs of the files that count; empty: all.
    pub(crate) inputs: Vec<String>,
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
    /// None: it may take forever.
    pub(crate) timeout: Option<Duration>,
    pub(crate) fail_fast: bool,
    /// The text that helps with a failure.
    pub(crate) fix_instructions: Option<String>,
    pub(crate) evidence: EvidenceRules,
}

/// How long evidence of a gate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EvidenceRules {
    /// An older pass is stale.
    pub(crate) max_age: Duration,
    /// Whether a pass counts at the next stop.
    pub(crate) is_cached: bool,
}

impl Default for EvidenceRules {
    fn default() -> Self {
        Self {
            max_age: Duration::from_hours(7 * 24),
            is_cached: true,
        }
    }
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
                    .filter(|problem| problem.weight != Weight::Warning);
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
            Self::Missing(_) => {
                Some("`tollgate init` proposes one for this project, and shows it first")
            }
            Self::Wrong(_) => None,
        }
    }

    /// Whether `tollgate.toml` or one of its layers is what is wrong.
    pub(crate) fn is_in_toml(&self) -> bool {
        match self {
            Self::Missing(_) => false,
            Self::Wrong(problems) => problems.iter().any(|problem| {
                let is_toml = problem.file.extension().is_some_and(|end| end == "toml");
                problem.weight == Weight::Error && is_toml
            }),
        }
    }
}

/// What is said where gates are configured twice.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TwoHomes {
    /// That is an error.
    Refused,
    /// Both apply.
    Both,
}

impl Config {
    /// Whether any entry point has gates.
    pub(crate) fn has_gates(&self) -> bool {
        let has = |entry: &EntryPoint| !(entry.checks.is_empty() && entry.reviews.is_empty());
        self.entry_points.iter().any(has)
    }

    /// Reads the configuration of a project.
    pub(crate) fn load(layout: &Layout, env: &Env) -> Result<Self, ConfigError> {
        let config = Self::in_force(layout, env)?;
        match config.held {
            Some(Held { problems, by }) => Err(ConfigError::Wrong(with_note(problems, layout, by))),
            None => Ok(config),
        }
    }

    /// What these texts would be, for one who wants to write one of them.
    pub(crate) fn check(layout: &Layout, env: &Env, texts: &Texts) -> Result<Self, ConfigError> {
        Self::of(layout, env, texts, TwoHomes::Refused)
    }

    /// What `tollgate.toml` says, whatever other home there is.
    pub(crate) fn of_toml(layout: &Layout, env: &Env) -> Result<Self, ConfigError> {
        toml::config(layout, Merged::read(layout, env))
    }

    /// What holds at an agent's stop: what the files say, or while `tollgate.toml` is broken, what
    /// it said before. So breaking the file does not get past the gates.
    pub(crate) fn in_force(layout: &Layout, env: &Env) -> Result<Self, ConfigError> {
        let texts = Texts::read(layout, env);
        match Self::of(layout, env, &texts, TwoHomes::Refused) {
            Err(ConfigError::Wrong(problems)) if texts.has_own() => {
                match Self::held(layout, env, &texts) {
                    Some((config, by)) => Ok(Self {
                        held: Some(Held { problems, by }),
                        ..config
                    }),
                    None => Err(ConfigError::Wrong(with_note(
                        problems,
                        layout,
                        NOTHING_HOLDS,
                    ))),
                }
            }
            loaded => loaded,
        }
    }

    /// What holds while the files are broken, and what that is.
    fn held(layout: &Layout, env: &Env, texts: &Texts) -> Option<(Self, &'static str)> {
        if let Ok(config) = Self::of(layout, env, texts, TwoHomes::Both) {
            return Some((config, "both apply, as far as they can be read"));
        }
        let fallbacks = texts.fallbacks(layout);
        fallbacks.into_iter().find_map(|held| {
            let config = Self::of(layout, env, &held, TwoHomes::Both).ok()?;
            let by = if held.text(Layer::Project) == texts.text(Layer::Project) {
                "the project's tollgate.toml applies without tollgate.local.toml"
            } else {
                "the last tollgate.toml without errors applies"
            };
            Some((config, by))
        })
    }

    /// Keeps what the project's file says, if it was right, for when it is broken.
    pub(crate) fn remember(&self, layout: &Layout) -> std::io::Result<()> {
        match &self.own_text {
            Some(text) if self.held.is_none() => last_good::keep(layout, text),
            Some(_) | None => Ok(()),
        }
    }

    /// The configuration that these texts describe, with the files of an existing home.
    fn of(
        layout: &Layout,
        env: &Env,
        texts: &Texts,
        two_homes: TwoHomes,
    ) -> Result<Self, ConfigError> {
        let existing = Self::load_yaml(layout, env);
        if !texts.has_own() {
            return existing;
        }
        let merged = Merged::of(texts.clone(), env);
        if let Err(ConfigError::Missing(_)) = existing {
            return toml::config(layout, merged);
        }
        let Some(line) = merged.own_part("gates") else {
            // It is about other things; what is wrong with those keeps no gate from running.
            let mut config = existing?;
            config
                .warnings
                .extend(merged.problems.into_iter().map(|problem| Problem {
                    weight: Weight::Warning,
                    ..problem
                }));
            return Ok(config);
        };
        match two_homes {
            TwoHomes::Refused => {
                let mut merged = merged;
                let home = layout.gates_home_name();
                let what = format!("{home}/config.yml configures gates, too");
                let fix = format!("keep one of them: remove [gates] here, or {home}/config.yml");
                merged.error(line, "gates", &what, Some(&fix));
                if let Err(ConfigError::Wrong(problems)) = existing {
                    merged.problems.extend(problems);
                }
                Err(ConfigError::Wrong(merged.problems))
            }
            TwoHomes::Both => {
                let own = toml::config(layout, merged)?;
                let Ok(mut config) = existing else {
                    return Ok(own);
                };
                config.add(own);
                Ok(config)
            }
        }
    }

    /// Takes the gates of another home in. One of the same name has its home's name behind it.
    fn add(&mut self, other: Self) {
        let known = |config: &Self, name: &str| {
            config.checks.contains_key(name) || config.reviews.contains_key(name)
        };
        let taken: Vec<String> = other
            .checks
            .keys()
            .chain(other.reviews.keys())
            .cloned()
            .collect();
        let taken: Vec<_> = taken.into_iter().filter(|name| known(self, name)).collect();
        let renamed = |name: String| {
            if taken.contains(&name) {
                format!("{name}-toml")
            } else {
                name
            }
        };
        let names = |names: Vec<String>| names.into_iter().map(renamed).collect();
        self.entry_points
            .extend(other.entry_points.into_iter().map(|entry| EntryPoint {
                checks: names(entry.checks),
                reviews: names(entry.reviews),
                ..entry
            }));
        let checks = other.checks.into_iter();
        self.checks
            .extend(checks.map(|(name, check)| (renamed(name), check)));
        let reviews = other.reviews.into_iter().map(|(name, mut review)| {
            if review.cli_preference.is_empty() {
                review.cli_preference.clone_from(&other.reviewers);
            }
            (renamed(name), review)
        });
        self.reviews.extend(reviews);
    }

    /// Reads the files of an existing home.
    fn load_yaml(layout: &Layout, env: &Env) -> Result<Self, ConfigError> {
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
        let mut config = Self::assemble(layout, node.as_ref(), global.as_ref(), (checks, reviews));
        config.stop_hook.apply(env);
        if let Some(node) = &node {
            reader.cross_check(&config, &file, node);
        }
        config.warnings = reader.warnings()?;
        Ok(config)
    }

    /// The original's defaults for a directory that has no configuration.
    pub(crate) fn of_nothing(directory: &Path) -> Self {
        let layout = Layout::bare(directory);
        let config = Self::assemble(&layout, None, None, Default::default());
        let log_dir_name = PathBuf::from(Layout::ORIGINAL_LOGS);
        Self {
            log_dir: directory.join(&log_dir_name),
            log_dir_name,
            ..config
        }
    }

    fn assemble(
        layout: &Layout,
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
            local: layout.local(),
            log_dir: lexical(&layout.root().join(&log_dir_name)),
            log_dir_name,
            base_branch: text("base_branch").unwrap_or_else(|| DEFAULT_BASE.to_owned()),
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
            words: Words::Specification,
            own_text: None,
            held: None,
            warnings: Vec::new(),
        }
    }
}

/// What is said if nothing held before.
const NOTHING_HOLDS: &str = "no gate can run until that is corrected";

/// The problems, and what holds meanwhile.
fn with_note(mut problems: Vec<Problem>, layout: &Layout, by: &str) -> Vec<Problem> {
    let file = layout.config_file();
    problems.push(Problem {
        weight: Weight::Note,
        file: layout.shown(&file).to_owned(),
        place: Place::default(),
        text: None,
        key: String::new(),
        what: format!("at an agent's stop, {by}"),
        fix: None,
    });
    problems
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
            inputs: Vec::new(),
            checks: texts("checks"),
            reviews: texts("reviews"),
        }
    }
}

impl Check {
    /// What is wrong with a command that a shell would run as nothing, and so pass. An empty text
    /// is a separate error.
    fn wrong_command(&self) -> Option<(&'static str, &'static str)> {
        let is_comment = |line: &str| line.is_empty() || line.starts_with('#');
        let does_nothing = self.command.lines().map(str::trim).all(is_comment);
        (does_nothing && !self.command.trim().is_empty())
            .then_some(("a comment runs nothing", "write the command that checks"))
    }

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
            evidence: EvidenceRules::default(),
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
        None => crate::config::node::as_whole(text.parse().ok()?),
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
    .map(|(name, table)| (name, table.schema()))
    .chain([("tollgate", crate::config::schema::of_tollgate_toml())])
    .map(|(name, mut schema)| {
        if let Some(object) = schema.as_object_mut() {
            let draft = "https://json-schema.org/draft/2020-12/schema";
            object.insert("$schema".to_owned(), draft.into());
        }
        (name, schema)
    })
    .collect()
}
