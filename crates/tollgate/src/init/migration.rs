//! From the files of version 0.1 under `.tollgate/` to one `tollgate.toml` that says the same.
//!
//! What the new file cannot say is a reason to write nothing: the old files go on working.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};
use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_store::fs;

use super::proposal::HEADER;
use super::toml_text::TomlText;
use crate::gate::config::{Check, Config, ConfigError, EntryPoint, Review};
use crate::gate::jobs::is_glob;
use crate::ledger::LoopGuard;

const GATES: &str = ".tollgate/config.yml";
const PLANS: &str = ".tollgate/plans.json";
const WORKFLOWS: &str = ".tollgate/workflow/config/workflows.json";

/// No file of these is larger.
const CAP: u64 = 1 << 20;

/// What `tollgate.toml` says by itself, and is left out of it.
const TIMEOUT: Duration = Duration::from_mins(5);
const PLAN_TIMEOUT: f64 = 840.0;

/// What would be done.
#[derive(Debug)]
pub(crate) struct Migration {
    /// The text of `tollgate.toml`.
    pub(crate) text: String,
    /// The files whose contents are in it now, relative to the root.
    pub(crate) old: Vec<PathBuf>,
    /// What had no effect, or has none any more.
    pub(crate) notes: Vec<String>,
    /// What the old files said about gates.
    gates: Option<Config>,
}

/// Why nothing is migrated.
#[derive(Debug)]
pub(crate) enum Unmigrated {
    /// There are no files of version 0.1.
    Nothing,
    /// The old files are broken.
    Broken(ConfigError),
    /// What `tollgate.toml` cannot say.
    Unsayable(Vec<String>),
}

impl Migration {
    /// Reads the old files of a project.
    pub(crate) fn of(layout: &Layout) -> Result<Self, Unmigrated> {
        let root = layout.root();
        let mut old = Vec::new();
        let mut notes = Vec::new();
        let mut unsayable = Unsayable::default();
        let mut text = TomlText::default();
        text.comment(HEADER);
        let mut gates = None;
        if layout.gates_home_name() == ".tollgate" && root.join(GATES).is_file() {
            // Without the person's own settings: those are not the project's.
            let config = Config::load(layout, &Env::default()).map_err(Unmigrated::Broken)?;
            write_gates(&mut text, &config, &mut unsayable, &mut notes);
            old.push(PathBuf::from(GATES));
            old.extend(gate_files(root, &config));
            gates = Some(config);
        }
        if let Some(plans) = object(root, PLANS, &mut unsayable) {
            write_plans(&mut text, &plans, &mut unsayable);
            old.push(PathBuf::from(PLANS));
        }
        if !layout.is_isdlc()
            && let Some(workflows) = object(root, WORKFLOWS, &mut unsayable)
        {
            write_workflows(&mut text, &workflows, &mut unsayable);
            old.push(PathBuf::from(WORKFLOWS));
        }
        if !unsayable.0.is_empty() {
            return Err(Unmigrated::Unsayable(unsayable.0));
        }
        if old.is_empty() {
            return Err(Unmigrated::Nothing);
        }
        Ok(Self {
            text: text.into_text(),
            old,
            notes,
            gates,
        })
    }

    /// What differs between the gates of the old files and those that `tollgate.toml` gives, for
    /// any of these files of the project. None: they are the same.
    pub(crate) fn difference(&self, new: &Config, files: &[String]) -> Option<String> {
        let old = self.gates.as_ref()?;
        super::same_gates::difference(old, new, files)
    }

    /// Whether it has gates.
    pub(crate) fn has_gates(&self) -> bool {
        self.gates.is_some()
    }
}

/// What `tollgate.toml` cannot say, each with its place.
#[derive(Default)]
struct Unsayable(Vec<String>);

impl Unsayable {
    fn note(&mut self, place: &str, what: &str) {
        self.0.push(format!("{place}: {what}"));
    }
}

/// The files of the gates, which the configuration was read from.
fn gate_files(root: &Path, config: &Config) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let checks = config.checks.keys().map(|name| ("checks", name));
    let reviews = config.reviews.keys().map(|name| ("reviews", name));
    for (directory, name) in checks.chain(reviews) {
        let places = ["yml", "yaml", "md"].map(|end| format!(".tollgate/{directory}/{name}.{end}"));
        let found = places.into_iter().find(|place| root.join(place).is_file());
        files.extend(found.map(PathBuf::from));
    }
    files
}

fn write_gates(
    text: &mut TomlText,
    config: &Config,
    unsayable: &mut Unsayable,
    notes: &mut Vec<String>,
) {
    text.blank();
    text.table(&["gates"]);
    write_settings(text, config, unsayable);
    let entries: Vec<&EntryPoint> = config
        .entry_points
        .iter()
        .filter(|entry| !(entry.checks.is_empty() && entry.reviews.is_empty()))
        .collect();
    let shared = match entries.as_slice() {
        [first, rest @ ..] if rest.iter().all(|entry| entry.exclude == first.exclude) => {
            patterns(".", &first.exclude, unsayable)
        }
        _ => Vec::new(),
    };
    if !shared.is_empty() {
        text.list("exclude", &shared);
    }
    let mut used: BTreeSet<String> = BTreeSet::new();
    for entry in entries {
        let path = entry.path.as_str();
        if is_glob(path) || !config.root.join(path).is_dir() {
            let what = "a gate has one directory; name it, and list the files in `inputs`";
            unsayable.note(&format!("{GATES}: entry point {path:?}"), what);
            continue;
        }
        let exclude = if shared.is_empty() {
            patterns(path, &entry.exclude, unsayable)
        } else {
            Vec::new()
        };
        let checks = entry.checks.iter().filter_map(|name| {
            let check = config.checks.get(name)?;
            Some((name, GateText::of_check(name, check, path, unsayable)))
        });
        let checks: Vec<_> = checks.collect();
        let reviews = entry.reviews.iter().filter_map(|name| {
            let review = config.reviews.get(name)?;
            Some((name, GateText::of_review(name, review, unsayable)))
        });
        for (name, gate) in checks.into_iter().chain(reviews.collect::<Vec<_>>()) {
            let name = unused(&used, path, name);
            text.blank();
            text.table(&["gates", &name]);
            gate.write(text, path, &exclude);
            used.insert(name);
        }
    }
    let named = |names: fn(&EntryPoint) -> &Vec<String>, name: &String| {
        config
            .entry_points
            .iter()
            .any(|entry| names(entry).contains(name))
    };
    let checks = config
        .checks
        .keys()
        .filter(|name| !named(|entry| &entry.checks, name));
    let reviews = config
        .reviews
        .keys()
        .filter(|name| !named(|entry| &entry.reviews, name));
    for (kind, name) in checks
        .map(|n| ("checks", n))
        .chain(reviews.map(|n| ("reviews", n)))
    {
        let what = "no entry point names it, so it never runs; remove the file, or name it";
        unsayable.note(&format!(".tollgate/{kind}/{name}"), what);
    }
    notes.extend(config.warnings.iter().map(ToString::to_string));
    if config
        .checks
        .values()
        .any(|check| check.fix_instructions.is_some())
    {
        let note =
            "the texts of fix_instructions are in tollgate.toml now; their files stay, unused";
        notes.push(note.to_owned());
    }
}

/// The settings that are not the default, by the names that they have now.
fn write_settings(text: &mut TomlText, config: &Config, unsayable: &mut Unsayable) {
    let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    text.set("base", config.base_branch.as_str());
    if !config.allow_parallel {
        text.set("parallel", 1);
    } else if let Some(most) = config.max_parallel {
        text.set("parallel", whole(most as u64));
    }
    if config.max_retries != 3 {
        text.set("max_retries", whole(config.max_retries));
    }
    if config.max_previous_logs != 3 {
        text.set("keep_logs", whole(config.max_previous_logs));
    }
    if config.rerun_new_issue_threshold != "high" {
        text.set("new_findings", config.rerun_new_issue_threshold.as_str());
    }
    if !config.reviewers.is_empty() {
        text.list("reviewers", &config.reviewers);
    }
    let stop = config.stop_hook;
    if !stop.enabled {
        text.set("on_stop", false);
    }
    if let Some(deadline) = stop.deadline {
        text.set("deadline", duration(deadline).unwrap_or_default());
    }
    if stop.loop_guard == LoopGuard::Strict {
        text.set("loop_guard", "strict");
    }
    if stop.interval_rule == crate::gate::config::IntervalRule::Letter {
        let what = "there is no interval any more: an unchanged tree costs nothing; remove it";
        unsayable.note(&format!("{GATES}: stop_hook.interval"), what);
    }
    if config.debug_log.is_some() {
        let what = "there is no debug log any more; remove it";
        unsayable.note(&format!("{GATES}: debug_log"), what);
    }
    if config.log_dir_name != Path::new(".tollgate/logs") {
        let what = "logs are in .tollgate/logs; remove it";
        unsayable.note(&format!("{GATES}: log_dir"), what);
    }
}

/// The lines of a gate's table.
#[derive(Default)]
struct GateText(Vec<(&'static str, toml_edit::Value)>);

impl GateText {
    fn set(&mut self, key: &'static str, value: impl Into<toml_edit::Value>) {
        self.0.push((key, value.into()));
    }

    fn of_check(name: &str, check: &Check, path: &str, unsayable: &mut Unsayable) -> Self {
        let place = format!(".tollgate/checks/{name}");
        let mut gate = Self::default();
        gate.set("run", check.command.as_str());
        if let Some(directory) = check.working_directory.as_deref().filter(|d| *d != path) {
            let what = format!(
                "a gate runs in the directory whose files call for it, and this one runs in \
                 {directory:?} for files in {path:?}; write `cd` in front of the command"
            );
            unsayable.note(&format!("{place}: working_directory"), &what);
        }
        gate.timeout(&place, check.timeout, unsayable);
        if check.parallel {
            gate.set("parallel", true);
        }
        gate.places(check.run_in_ci, check.run_locally);
        if check.fail_fast {
            gate.set("fail_fast", true);
        }
        if let Some(fix) = &check.fix_instructions {
            gate.set("fix", fix.as_str());
        }
        gate
    }

    fn of_review(name: &str, review: &Review, unsayable: &mut Unsayable) -> Self {
        let place = format!(".tollgate/reviews/{name}");
        let mut gate = Self::default();
        gate.set("prompt", review.prompt.as_str());
        if let Some(model) = &review.model {
            gate.set("model", model.as_str());
        }
        if !review.cli_preference.is_empty() {
            let reviewers = review.cli_preference.iter().map(String::as_str);
            gate.set("reviewers", reviewers.collect::<toml_edit::Array>());
        }
        if let Some(command) = &review.command {
            gate.set("command", command.as_str());
        }
        if review.num_reviews != 1 {
            let reviews = i64::try_from(review.num_reviews).unwrap_or(1);
            gate.set("reviews", reviews);
        }
        gate.timeout(&place, review.timeout, unsayable);
        if !review.parallel {
            gate.set("parallel", false);
        }
        gate.places(
            review.run_in_ci && review.enabled,
            review.run_locally && review.enabled,
        );
        gate
    }

    fn timeout(&mut self, place: &str, limit: Option<Duration>, unsayable: &mut Unsayable) {
        let limit = limit.unwrap_or(Duration::ZERO);
        match duration(limit) {
            _ if limit == TIMEOUT => {}
            Some(text) => self.set("timeout", text),
            None => unsayable.note(&format!("{place}: timeout"), "it is below a millisecond"),
        }
    }

    fn places(&mut self, ci: bool, local: bool) {
        if !ci {
            self.set("ci", false);
        }
        if !local {
            self.set("local", false);
        }
    }

    fn write(self, text: &mut TomlText, path: &str, exclude: &[String]) {
        let mut values = self.0.into_iter();
        if let Some((key, value)) = values.next() {
            text.set(key, value);
        }
        if path != "." {
            text.set("dir", path);
        }
        if !exclude.is_empty() {
            text.list("exclude", exclude);
        }
        for (key, value) in values {
            text.set(key, value);
        }
    }
}

/// A name that no other gate has: one check may have been that of several entry points.
fn unused(used: &BTreeSet<String>, path: &str, name: &str) -> String {
    let place = path.replace('/', "-");
    let first = [name.to_owned(), format!("{place}-{name}")].into_iter();
    let numbered = (2..).map(|number| format!("{place}-{name}-{number}"));
    let mut names = first.chain(numbered);
    names.find(|name| !used.contains(name)).unwrap_or_default()
}

/// Globs and path prefixes from the root on, as patterns from a directory on.
fn patterns(dir: &str, exclude: &[String], unsayable: &mut Unsayable) -> Vec<String> {
    let mut patterns = Vec::new();
    for pattern in exclude {
        let plain = pattern
            .strip_prefix("./")
            .unwrap_or(pattern)
            .trim_end_matches('/');
        let inside = match dir {
            "." => Some(plain),
            _ if plain.starts_with("**/") => Some(plain),
            dir => plain
                .strip_prefix(dir)
                .and_then(|rest| rest.strip_prefix('/')),
        };
        match inside {
            // A pattern without a slash would hold at every depth.
            Some(inside) if !inside.contains('/') => patterns.push(format!("/{inside}")),
            Some(inside) => patterns.push(inside.to_owned()),
            None => {
                let what = format!("{pattern:?} is not about files in {dir:?}; remove it there");
                unsayable.note(&format!("{GATES}: exclude"), &what);
            }
        }
    }
    patterns
}

/// A time as people write it: `1m30s`. None if it is no number of milliseconds.
fn duration(time: Duration) -> Option<String> {
    let all = u64::try_from(time.as_millis()).ok()?;
    if Duration::from_millis(all) != time {
        return None;
    }
    let mut rest = all;
    let mut parts = Vec::new();
    for (unit, each) in [("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)] {
        if rest >= each {
            parts.push(format!("{}{unit}", rest / each));
            rest %= each;
        }
    }
    let text = parts.concat();
    Some(if text.is_empty() {
        "0s".to_owned()
    } else {
        text
    })
}

/// The JSON object in a file, if it is there.
fn object(root: &Path, path: &str, unsayable: &mut Unsayable) -> Option<Map<String, Value>> {
    let contents = match fs::read_regular(&root.join(path), CAP) {
        Ok(contents) => contents?,
        Err(fault) => {
            unsayable.note(path, &fault.to_string());
            return None;
        }
    };
    match serde_json::from_slice(&contents.bytes) {
        Ok(object) => Some(object),
        Err(error) => {
            unsayable.note(path, &format!("no JSON object: {error}"));
            None
        }
    }
}

fn write_plans(text: &mut TomlText, plans: &Map<String, Value>, unsayable: &mut Unsayable) {
    text.blank();
    text.table(&["plans"]);
    for (key, value) in plans {
        match (key.as_str(), value) {
            ("reviewer", Value::String(name)) => text.set("reviewer", name.as_str()),
            ("timeout_seconds", Value::Number(seconds)) => {
                let seconds = seconds.as_f64().unwrap_or(PLAN_TIMEOUT);
                let time = Duration::try_from_secs_f64(seconds).ok().and_then(duration);
                match time {
                    _ if (seconds - PLAN_TIMEOUT).abs() < f64::EPSILON => {}
                    Some(time) => text.set("timeout", time),
                    None => unsayable.note(PLANS, "timeout_seconds is no time"),
                }
            }
            ("loop_guard", Value::String(word)) if word == "progress" => {}
            ("loop_guard", Value::String(word)) => text.set("loop_guard", word.as_str()),
            (key, _) => unsayable.note(PLANS, &format!("{key} is no setting of plans")),
        }
    }
}

fn write_workflows(text: &mut TomlText, file: &Map<String, Value>, unsayable: &mut Unsayable) {
    for key in file.keys().filter(|key| *key != "workflows") {
        unsayable.note(WORKFLOWS, &format!("{key} has no place in tollgate.toml"));
    }
    let workflows = file.get("workflows").and_then(Value::as_object);
    for (name, workflow) in workflows.into_iter().flatten() {
        let place = format!("{WORKFLOWS}: {name}");
        let Some(workflow) = workflow.as_object() else {
            unsayable.note(&place, "this is no object");
            continue;
        };
        text.blank();
        text.table(&["workflow", name]);
        if let Some(label) = workflow.get("label").and_then(Value::as_str) {
            text.set("label", label);
        }
        let phases = workflow.get("phases").and_then(Value::as_array);
        let phases: Vec<&str> = phases
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        text.list("phases", phases.iter().copied());
        let has_branch = workflow.get("requires_branch") == Some(&Value::Bool(true));
        if !has_branch {
            text.set("branch", false);
        }
        let prefix = workflow.get("branch_prefix").and_then(Value::as_str);
        let prefix = prefix.unwrap_or("feature");
        if has_branch && prefix != name {
            text.set("branch_prefix", format!("{prefix}/"));
        }
        let known = ["label", "phases", "requires_branch", "branch_prefix"];
        for key in workflow.keys().filter(|key| !known.contains(&key.as_str())) {
            unsayable.note(&place, &format!("{key} has no place in tollgate.toml"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_people_write_them() {
        for (milliseconds, text) in [
            (0, "0s"),
            (600_000, "10m"),
            (90_000, "1m30s"),
            (1500, "1s500ms"),
            (3_600_000, "1h"),
        ] {
            let time = Duration::from_millis(milliseconds);
            assert_eq!(duration(time).as_deref(), Some(text));
        }
        assert_eq!(duration(Duration::from_nanos(1)), None);
    }

    #[test]
    fn patterns_from_the_root_become_patterns_from_the_directory() {
        let mut unsayable = Unsayable::default();
        let all = ["**/*.md", ".isdlc", "./docs/", "src/gen", "*.txt"].map(str::to_owned);
        let found = patterns(".", &all, &mut unsayable);
        assert_eq!(found, ["**/*.md", "/.isdlc", "/docs", "src/gen", "/*.txt"]);
        let all = ["**/*.md", "web/dist", "web/a/b"].map(str::to_owned);
        let found = patterns("web", &all, &mut unsayable);
        assert_eq!(found, ["**/*.md", "/dist", "a/b"]);
        assert!(unsayable.0.is_empty());
        patterns("web", &["api/x".to_owned()], &mut unsayable);
        assert_eq!(unsayable.0.len(), 1);
    }
}
