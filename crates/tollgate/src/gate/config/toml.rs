//! The gates of `tollgate.toml`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use tollgate_core::project::{Layout, lexical, stays_inside};
use tollgate_store::fs;

use super::{
    Check, Config, ConfigError, EntryPoint, EvidenceRules, IntervalRule, LoopGuard, Review,
    StopHook, Words,
};
use crate::config::keys::GATE;
use crate::config::node::Key;
use crate::config::table::Need;
use crate::config::{Layer, Merged, Node, Place, glob, toml};
use crate::gate::jobs::is_glob;

/// No prompt and no help with a failure is larger.
const CAP: u64 = 1 << 20;

/// The configuration that `tollgate.toml` and its layers describe.
pub(super) fn config(layout: &Layout, mut merged: Merged) -> Result<Config, ConfigError> {
    let settings = Settings::read(&merged);
    let gates = Gates::read(layout.root(), &mut merged, &settings);
    let own_text = merged.texts().text(Layer::Project).map(str::to_owned);
    let is_wrong = merged.is_wrong();
    let mut problems = merged.problems;
    problems.sort_by_key(|problem| {
        let Place {
            layer,
            line,
            column,
        } = problem.place;
        (layer, line, column)
    });
    if is_wrong {
        return Err(ConfigError::Wrong(problems));
    }
    let log_dir_name = Path::new(layout.default_log_dir()).to_owned();
    Ok(Config {
        root: layout.root().to_owned(),
        local: layout.local(),
        log_dir: lexical(&layout.root().join(&log_dir_name)),
        log_dir_name,
        base_branch: settings.base,
        allow_parallel: true,
        max_parallel: settings.parallel,
        max_retries: settings.max_retries,
        max_previous_logs: settings.keep_logs,
        rerun_new_issue_threshold: settings.new_findings,
        reviewers: settings.reviewers,
        entry_points: gates.entry_points,
        checks: gates.checks,
        reviews: gates.reviews,
        debug_log: None,
        stop_hook: settings.stop_hook,
        words: Words::Own,
        own_text,
        held: None,
        warnings: problems,
    })
}

/// All `[gates.NAME]`, each with its own entry point.
#[derive(Default)]
struct Gates {
    entry_points: Vec<EntryPoint>,
    checks: BTreeMap<String, Check>,
    reviews: BTreeMap<String, Review>,
}

impl Gates {
    fn read(root: &Path, merged: &mut Merged, settings: &Settings) -> Self {
        let mut all = Self::default();
        let gates: Vec<(Key, Node)> = merged.gates().cloned().collect();
        for (key, node) in &gates {
            let mut gate = GateReader {
                root,
                name: &key.name,
                place: key.place,
                node,
                merged,
            };
            let Some(kind) = gate.kind() else { continue };
            let dir = gate.dir();
            let mut entry = EntryPoint {
                exclude: gate.patterns("exclude", &dir),
                inputs: gate.patterns("inputs", &dir),
                path: dir,
                checks: vec![],
                reviews: vec![],
            };
            entry.exclude.extend(settings.exclude.iter().cloned());
            let name = key.name.clone();
            match kind {
                GateKind::Check => {
                    let check = gate.check(&entry.path);
                    entry.checks.push(name.clone());
                    all.checks.insert(name, check);
                }
                GateKind::Review => {
                    entry.reviews.push(name.clone());
                    all.reviews.insert(name, gate.review(settings));
                }
            }
            all.entry_points.push(entry);
        }
        all
    }
}

/// `[gates]`. Every default is in the table.
struct Settings {
    base: String,
    exclude: Vec<String>,
    parallel: Option<usize>,
    max_retries: u64,
    keep_logs: u64,
    new_findings: String,
    reviewers: Vec<String>,
    stop_hook: StopHook,
}

impl Settings {
    fn read(merged: &Merged) -> Self {
        let gates = merged.node.get("gates");
        let get = |key: &str| gates.and_then(|gates| gates.get(key));
        let text = |key: &str| get(key).and_then(Node::text).unwrap_or_default().to_owned();
        let whole = |key: &str| get(key).and_then(Node::whole);
        let texts = |key: &str| get(key).map(Node::texts).unwrap_or_default();
        let exclude = texts("exclude");
        Self {
            base: text("base"),
            exclude: exclude.iter().flat_map(|p| glob::rooted(".", p)).collect(),
            parallel: whole("parallel").and_then(|most| usize::try_from(most).ok()),
            max_retries: whole("max_retries").unwrap_or_default(),
            keep_logs: whole("keep_logs").unwrap_or_default(),
            new_findings: text("new_findings"),
            reviewers: texts("reviewers"),
            stop_hook: StopHook {
                enabled: get("on_stop").and_then(Node::bool) != Some(false),
                // An unchanged tree costs nothing, so there is nothing to wait for.
                interval: Duration::ZERO,
                interval_rule: IntervalRule::SameTree,
                deadline: get("deadline").and_then(Node::duration),
                loop_guard: match text("loop_guard").as_str() {
                    "strict" => LoopGuard::Strict,
                    _ => LoopGuard::Progress,
                },
            },
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum GateKind {
    Check,
    Review,
}

/// Reads one `[gates.NAME]`, and notes what only its keys together show.
struct GateReader<'g> {
    root: &'g Path,
    name: &'g str,
    place: Place,
    node: &'g Node,
    merged: &'g mut Merged,
}

impl GateReader<'_> {
    fn error(&mut self, key: &str, what: &str, fix: &str) {
        let place = self.node.get(key).map_or(self.place, |node| node.place);
        let path = format!("gates.{}", toml::quoted(self.name));
        let path = if key.is_empty() {
            path
        } else {
            format!("{path}.{key}")
        };
        self.merged.error(place, &path, what, Some(fix));
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.node.get(key)?.text()
    }

    fn bool(&self, key: &str) -> Option<bool> {
        self.node.get(key)?.bool()
    }

    /// A check or a review, by the one key that says so.
    fn kind(&mut self) -> Option<GateKind> {
        let marks = ["run", "prompt", "prompt_file"];
        let found: Vec<_> = marks
            .into_iter()
            .filter(|key| self.node.get(key).is_some())
            .collect();
        let (kind, others) = match found.as_slice() {
            ["run"] => (GateKind::Check, Need::OfReview),
            ["prompt" | "prompt_file"] => (GateKind::Review, Need::OfCheck),
            [] => {
                let what = "the gate does nothing";
                let fix = "add `run` for a check, or `prompt` or `prompt_file` for a review";
                self.error("", what, fix);
                return None;
            }
            [_, second, ..] => {
                let what = format!("a gate has only one of {}", found.join(" and "));
                self.error(second, &what, "make two gates of it, or remove one");
                return None;
            }
            [_] => return None,
        };
        let wrong = GATE.keys.iter().filter(|row| row.need == others);
        for row in wrong
            .filter(|row| self.node.get(row.key).is_some())
            .collect::<Vec<_>>()
        {
            let (what, fix) = match kind {
                GateKind::Check => ("only a review has this", "remove it: this gate is a check"),
                GateKind::Review => ("only a check has this", "remove it: this gate is a review"),
            };
            self.error(row.key, what, fix);
        }
        Some(kind)
    }

    /// The gate's directory, `.` or a path without dots.
    fn dir(&mut self) -> String {
        let named = self.text("dir").unwrap_or(".").to_owned();
        let dir = lexical(Path::new(&named));
        let dir = dir.to_string_lossy().into_owned();
        let fix = "name a directory of the project, such as `web`";
        if dir.is_empty() {
            return ".".to_owned();
        }
        if Path::new(&named).is_absolute() || !stays_inside(&dir) {
            self.error("dir", "the directory is not in the project", fix);
        } else if is_glob(&dir) {
            let fix = "name one directory; several need a gate each";
            self.error("dir", "patterns are not supported here", fix);
        } else if !self.root.join(&dir).is_dir() {
            self.error("dir", &format!("there is no directory {dir:?}"), fix);
        }
        dir
    }

    fn patterns(&self, key: &str, dir: &str) -> Vec<String> {
        let patterns = self.node.get(key).map(Node::texts).unwrap_or_default();
        patterns.iter().flat_map(|p| glob::rooted(dir, p)).collect()
    }

    /// None: it may take forever.
    fn timeout(&self) -> Option<Duration> {
        let limit = self.node.get("timeout").and_then(Node::duration);
        limit.filter(|limit| !limit.is_zero())
    }

    fn check(&mut self, dir: &str) -> Check {
        let parallel = self.bool("parallel").unwrap_or(false);
        let fail_fast = self.bool("fail_fast").unwrap_or(false);
        if parallel && fail_fast {
            let what = "`fail_fast` has no effect with `parallel`";
            self.error("fail_fast", what, "remove one of the two");
        }
        let check = Check {
            command: self.text("run").unwrap_or_default().to_owned(),
            working_directory: (dir != ".").then(|| dir.to_owned()),
            parallel,
            run_in_ci: self.bool("ci").unwrap_or(true),
            run_locally: self.bool("local").unwrap_or(true),
            timeout: self.timeout(),
            fail_fast,
            fix_instructions: self.fix(),
            evidence: self.evidence(),
        };
        if let Some((what, fix)) = check.wrong_command() {
            self.error("run", what, fix);
        }
        check
    }

    fn evidence(&self) -> EvidenceRules {
        let default = EvidenceRules::default();
        let max_age = self.node.get("max_age").and_then(Node::duration);
        EvidenceRules {
            max_age: max_age.unwrap_or(default.max_age),
            is_cached: self.bool("cache").unwrap_or(default.is_cached),
        }
    }

    /// The text that helps with a failure, or that of the file it names.
    fn fix(&mut self) -> Option<String> {
        let fix = self.text("fix")?.to_owned();
        if fix.contains('\n') || !stays_inside(&fix) || !self.root.join(&fix).is_file() {
            return Some(fix);
        }
        self.file("fix", &fix)
    }

    fn review(&mut self, settings: &Settings) -> Review {
        let prompt = match self.text("prompt_file").map(str::to_owned) {
            Some(file) => self.file("prompt_file", &file),
            None => self.text("prompt").map(str::to_owned),
        };
        let own = self
            .node
            .get("reviewers")
            .map(Node::texts)
            .unwrap_or_default();
        let reviewers = if own.is_empty() {
            &settings.reviewers
        } else {
            &own
        };
        let command = self.text("command").map(str::to_owned);
        let by_command = reviewers.iter().any(|name| name == "command");
        if reviewers.is_empty() {
            let fix =
                "add `reviewers = [\"claude\"]` here or in [gates]; `tollgate health` lists them";
            self.error("", "no reviewer is named", fix);
        } else if by_command && command.is_none() {
            let fix = "add `command`, the program that reviews";
            self.error("reviewers", "the reviewer `command` has no program", fix);
        } else if command.is_some() && !by_command {
            let fix = "add \"command\" to `reviewers`, or remove it";
            self.error("command", "no reviewer runs this", fix);
        }
        Review {
            prompt: prompt.unwrap_or_default(),
            model: self.text("model").map(str::to_owned),
            cli_preference: own,
            num_reviews: self.node.get("reviews").and_then(Node::whole).unwrap_or(1),
            parallel: self.bool("parallel").unwrap_or(true),
            run_in_ci: self.bool("ci").unwrap_or(true),
            run_locally: self.bool("local").unwrap_or(true),
            enabled: true,
            timeout: self.timeout(),
            command,
            evidence: self.evidence(),
        }
    }

    /// The text of a file of the project.
    fn file(&mut self, key: &str, named: &str) -> Option<String> {
        let path = self.root.join(named);
        let inside = || {
            Some(
                path.canonicalize()
                    .ok()?
                    .starts_with(self.root.canonicalize().ok()?),
            )
        };
        let fix = "name a text file of the project, relative to its root";
        if !stays_inside(named) || inside() == Some(false) {
            self.error(key, "the file is not in the project", fix);
            return None;
        }
        let what = match fs::read_regular(&path, CAP) {
            Ok(None) => format!("there is no file {named:?}"),
            Err(fault) => format!("{named}: {fault}"),
            Ok(Some(contents)) => match String::from_utf8(contents.bytes) {
                Ok(text) if !text.trim().is_empty() => return Some(text),
                Ok(_) => format!("{named} is empty"),
                Err(_) => format!("{named} is not UTF-8 text"),
            },
        };
        self.error(key, &what, fix);
        None
    }
}
