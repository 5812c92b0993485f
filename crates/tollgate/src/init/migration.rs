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
use crate::config::duration;
use crate::gate::config::{Check, Config, ConfigError, EntryPoint, IntervalRule, Review};
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

#[derive(Debug)]
pub(crate) struct Migration {
    pub(crate) text: String,
    /// The files whose contents are in it now, relative to the root.
    pub(crate) old: Vec<PathBuf>,
    /// What had no effect, or has none any more.
    pub(crate) notes: Vec<String>,
    /// What the old files said about gates.
    gates: Option<Config>,
}

#[derive(Debug)]
pub(crate) enum Unmigrated {
    Nothing,
    Broken(ConfigError),
    /// What `tollgate.toml` cannot say.
    Unsayable(Vec<String>),
}

impl Migration {
    pub(crate) fn of(layout: &Layout) -> Result<Self, Unmigrated> {
        let root = layout.root();
        let mut draft = Draft::default();
        draft.text.comment(HEADER);
        let mut gates = None;
        if layout.gates_home_name() == ".tollgate" && root.join(GATES).is_file() {
            // Without the person's own settings: those are not the project's.
            let config = Config::load(layout, &Env::default()).map_err(Unmigrated::Broken)?;
            draft.write_gates(&config);
            draft.old.push(PathBuf::from(GATES));
            draft.old.extend(gate_files(root, &config));
            gates = Some(config);
        }
        if let Some(plans) = draft.read(root, PLANS) {
            draft.write_plans(&plans);
        }
        if !layout.is_isdlc()
            && let Some(workflows) = draft.read(root, WORKFLOWS)
        {
            draft.write_workflows(&workflows);
        }
        if !draft.unsayable.is_empty() {
            return Err(Unmigrated::Unsayable(draft.unsayable));
        }
        if draft.old.is_empty() {
            return Err(Unmigrated::Nothing);
        }
        Ok(Self {
            text: draft.text.into_text(),
            old: draft.old,
            notes: draft.notes,
            gates,
        })
    }

    /// What differs between the gates of the old files and those that `tollgate.toml` gives, for
    /// any of these files of the project. None: they are the same.
    pub(crate) fn difference(&self, new: &Config, files: &[String]) -> Option<String> {
        let old = self.gates.as_ref()?;
        super::same_gates::difference(old, new, files)
    }

    pub(crate) fn has_gates(&self) -> bool {
        self.gates.is_some()
    }
}

/// The directory and the name of each gate, as the old files have them.
fn gate_names(config: &Config) -> impl Iterator<Item = (&'static str, &String)> {
    let checks = config.checks.keys().map(|name| ("checks", name));
    checks.chain(config.reviews.keys().map(|name| ("reviews", name)))
}

/// The files of the gates, which the configuration was read from.
fn gate_files(root: &Path, config: &Config) -> Vec<PathBuf> {
    let file = |(directory, name): (&str, &String)| {
        let places = ["yml", "yaml", "md"].map(|end| format!(".tollgate/{directory}/{name}.{end}"));
        let mut places = places.into_iter().map(PathBuf::from);
        places.find(|place| root.join(place).is_file())
    };
    gate_names(config).filter_map(file).collect()
}

#[derive(Default)]
struct Draft {
    text: TomlText,
    old: Vec<PathBuf>,
    notes: Vec<String>,
    /// What `tollgate.toml` cannot say, each with its place.
    unsayable: Vec<String>,
}

impl Draft {
    fn cannot_say(&mut self, place: &str, what: &str) {
        self.unsayable.push(format!("{place}: {what}"));
    }

    fn write_gates(&mut self, config: &Config) {
        self.text.blank();
        self.text.table(&["gates"]);
        self.write_settings(config);
        let has_gates =
            |entry: &&EntryPoint| !(entry.checks.is_empty() && entry.reviews.is_empty());
        let entries: Vec<&EntryPoint> = config.entry_points.iter().filter(has_gates).collect();
        let shared = match entries.as_slice() {
            [first, rest @ ..] if rest.iter().all(|entry| entry.exclude == first.exclude) => {
                self.patterns(".", &first.exclude)
            }
            _ => Vec::new(),
        };
        if !shared.is_empty() {
            self.text.list("exclude", &shared);
        }
        let mut used = BTreeSet::new();
        for entry in entries {
            self.write_entry(config, entry, shared.is_empty(), &mut used);
        }
        for (kind, name) in gate_names(config) {
            let is_named = |entry: &EntryPoint| match kind {
                "checks" => entry.checks.contains(name),
                _ => entry.reviews.contains(name),
            };
            if !config.entry_points.iter().any(is_named) {
                let what = "no entry point names it, so it never runs; remove the file, or name it";
                self.cannot_say(&format!(".tollgate/{kind}/{name}"), what);
            }
        }
        self.notes
            .extend(config.warnings.iter().map(ToString::to_string));
        let mut checks = config.checks.values();
        if checks.any(|check| check.fix_instructions.is_some()) {
            let note =
                "the texts of fix_instructions are in tollgate.toml now; their files stay, unused";
            self.notes.push(note.to_owned());
        }
    }

    /// The gates of an entry point, each under a name that no other has.
    fn write_entry(
        &mut self,
        config: &Config,
        entry: &EntryPoint,
        has_own_exclude: bool,
        used: &mut BTreeSet<String>,
    ) {
        let path = entry.path.as_str();
        if is_glob(path) || !config.root.join(path).is_dir() {
            let what = "a gate has one directory; name it, and list the files in `inputs`";
            return self.cannot_say(&format!("{GATES}: entry point {path:?}"), what);
        }
        let exclude = if has_own_exclude {
            self.patterns(path, &entry.exclude)
        } else {
            Vec::new()
        };
        for (name, check) in entry
            .checks
            .iter()
            .filter_map(|name| config.checks.get_key_value(name))
        {
            self.begin_gate(used, path, name);
            self.text.set("run", check.command.as_str());
            self.write_place(path, &exclude);
            self.write_check(name, check, path);
        }
        for (name, review) in entry
            .reviews
            .iter()
            .filter_map(|name| config.reviews.get_key_value(name))
        {
            self.begin_gate(used, path, name);
            self.text.set("prompt", review.prompt.as_str());
            self.write_place(path, &exclude);
            self.write_review(name, review);
        }
    }

    /// The settings that are not the default, by the names that they have now.
    fn write_settings(&mut self, config: &Config) {
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let text = &mut self.text;
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
            text.set("deadline", duration::words(deadline).unwrap_or_default());
        }
        if stop.loop_guard == LoopGuard::Strict {
            text.set("loop_guard", "strict");
        }
        if stop.interval_rule == IntervalRule::Letter {
            let what = "there is no interval any more: an unchanged tree costs nothing; remove it";
            self.cannot_say(&format!("{GATES}: stop_hook.interval"), what);
        }
        if config.debug_log.is_some() {
            let what = "there is no debug log any more; remove it";
            self.cannot_say(&format!("{GATES}: debug_log"), what);
        }
        if config.log_dir_name != Path::new(".tollgate/logs") {
            let what = "logs are in .tollgate/logs; remove it";
            self.cannot_say(&format!("{GATES}: log_dir"), what);
        }
    }

    /// The head of a gate's table: one check may have been that of several entry points.
    fn begin_gate(&mut self, used: &mut BTreeSet<String>, path: &str, name: &str) {
        let place = path.replace('/', "-");
        let first = [name.to_owned(), format!("{place}-{name}")].into_iter();
        let numbered = (2..).map(|number| format!("{place}-{name}-{number}"));
        let mut names = first.chain(numbered);
        let name = names.find(|name| !used.contains(name)).unwrap_or_default();
        self.text.blank();
        self.text.table(&["gates", &name]);
        used.insert(name);
    }

    fn write_place(&mut self, path: &str, exclude: &[String]) {
        if path != "." {
            self.text.set("dir", path);
        }
        if !exclude.is_empty() {
            self.text.list("exclude", exclude);
        }
    }

    fn write_check(&mut self, name: &str, check: &Check, path: &str) {
        let place = format!(".tollgate/checks/{name}");
        if let Some(directory) = check.working_directory.as_deref().filter(|d| *d != path) {
            let what = format!(
                "a gate runs in the directory whose files call for it, and this one runs in \
                 {directory:?} for files in {path:?}; write `cd` in front of the command"
            );
            self.cannot_say(&format!("{place}: working_directory"), &what);
        }
        self.write_timeout(&place, check.timeout);
        if check.parallel {
            self.text.set("parallel", true);
        }
        self.write_ci_and_local(check.run_in_ci, check.run_locally);
        if check.fail_fast {
            self.text.set("fail_fast", true);
        }
        if let Some(fix) = &check.fix_instructions {
            self.text.set("fix", fix.as_str());
        }
    }

    fn write_review(&mut self, name: &str, review: &Review) {
        if let Some(model) = &review.model {
            self.text.set("model", model.as_str());
        }
        if !review.cli_preference.is_empty() {
            let reviewers = review.cli_preference.iter().map(String::as_str);
            let reviewers = reviewers.collect::<toml_edit::Array>();
            self.text.set("reviewers", reviewers);
        }
        if let Some(command) = &review.command {
            self.text.set("command", command.as_str());
        }
        if review.num_reviews != 1 {
            let reviews = i64::try_from(review.num_reviews).unwrap_or(1);
            self.text.set("reviews", reviews);
        }
        self.write_timeout(&format!(".tollgate/reviews/{name}"), review.timeout);
        if !review.parallel {
            self.text.set("parallel", false);
        }
        self.write_ci_and_local(
            review.run_in_ci && review.enabled,
            review.run_locally && review.enabled,
        );
    }

    fn write_timeout(&mut self, place: &str, limit: Option<Duration>) {
        let limit = limit.unwrap_or(Duration::ZERO);
        match duration::words(limit) {
            _ if limit == TIMEOUT => {}
            Some(text) => self.text.set("timeout", text),
            None => self.cannot_say(&format!("{place}: timeout"), "it is below a millisecond"),
        }
    }

    fn write_ci_and_local(&mut self, ci: bool, local: bool) {
        if !ci {
            self.text.set("ci", false);
        }
        if !local {
            self.text.set("local", false);
        }
    }

    /// Globs and path prefixes from the root on, as patterns from a directory on.
    fn patterns(&mut self, dir: &str, exclude: &[String]) -> Vec<String> {
        let mut patterns = Vec::new();
        for pattern in exclude {
            let plain = pattern.strip_prefix("./").unwrap_or(pattern);
            let plain = plain.trim_end_matches('/');
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
                    let what =
                        format!("{pattern:?} is not about files in {dir:?}; remove it there");
                    self.cannot_say(&format!("{GATES}: exclude"), &what);
                }
            }
        }
        patterns
    }

    /// The JSON object in an old file, if it is there.
    fn read(&mut self, root: &Path, path: &str) -> Option<Map<String, Value>> {
        let read = fs::read_regular(&root.join(path), CAP).map_err(|fault| fault.to_string());
        let object = read.and_then(|contents| {
            let object = contents.map(|contents| serde_json::from_slice(&contents.bytes));
            object
                .transpose()
                .map_err(|error| format!("not a JSON object: {error}"))
        });
        match object {
            Ok(object) => {
                self.old
                    .extend(object.as_ref().map(|_| PathBuf::from(path)));
                object
            }
            Err(what) => {
                self.cannot_say(path, &what);
                None
            }
        }
    }

    fn write_plans(&mut self, plans: &Map<String, Value>) {
        self.text.blank();
        self.text.table(&["plans"]);
        for (key, value) in plans {
            match (key.as_str(), value) {
                ("reviewer", Value::String(name)) => self.text.set("reviewer", name.as_str()),
                ("timeout_seconds", Value::Number(seconds)) => {
                    let seconds = seconds.as_f64().unwrap_or(PLAN_TIMEOUT);
                    let time = Duration::try_from_secs_f64(seconds).ok();
                    match time.and_then(duration::words) {
                        _ if (seconds - PLAN_TIMEOUT).abs() < f64::EPSILON => {}
                        Some(time) => self.text.set("timeout", time),
                        None => self.cannot_say(PLANS, "timeout_seconds is not a time"),
                    }
                }
                ("loop_guard", Value::String(word)) if word == "progress" => {}
                ("loop_guard", Value::String(word)) => self.text.set("loop_guard", word.as_str()),
                (key, _) => self.cannot_say(PLANS, &format!("{key} is not a setting of plans")),
            }
        }
    }

    fn write_workflows(&mut self, file: &Map<String, Value>) {
        for key in file.keys().filter(|key| *key != "workflows") {
            self.cannot_say(WORKFLOWS, &format!("{key} has no place in tollgate.toml"));
        }
        let workflows = file.get("workflows").and_then(Value::as_object);
        for (name, workflow) in workflows.into_iter().flatten() {
            let place = format!("{WORKFLOWS}: {name}");
            let Some(workflow) = workflow.as_object() else {
                self.cannot_say(&place, "this is not an object");
                continue;
            };
            let text = &mut self.text;
            text.blank();
            text.table(&["workflow", name]);
            if let Some(label) = workflow.get("label").and_then(Value::as_str) {
                text.set("label", label);
            }
            let phases = workflow.get("phases").and_then(Value::as_array);
            let phases = phases.into_iter().flatten();
            text.list("phases", phases.filter_map(Value::as_str));
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
                self.cannot_say(&place, &format!("{key} has no place in tollgate.toml"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_from_the_root_become_patterns_from_the_directory() {
        let mut draft = Draft::default();
        let all = ["**/*.md", ".isdlc", "./docs/", "src/gen", "*.txt"].map(str::to_owned);
        let found = draft.patterns(".", &all);
        assert_eq!(found, ["**/*.md", "/.isdlc", "/docs", "src/gen", "/*.txt"]);
        let all = ["**/*.md", "web/dist", "web/a/b"].map(str::to_owned);
        let found = draft.patterns("web", &all);
        assert_eq!(found, ["**/*.md", "/dist", "a/b"]);
        assert!(draft.unsayable.is_empty());
        draft.patterns("web", &["api/x".to_owned()]);
        assert_eq!(draft.unsayable.len(), 1);
    }
}
