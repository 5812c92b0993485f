//! What the gates are: compared with what a person accepted, so that no gate is weakened unseen, and
//! between a pass and now, so that a pass is one of this gate.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::config::{Check, Config, EntryPoint, IntervalRule, Review, StopHook, Words};
use super::jobs::{Gate, Instance};
use crate::config::rules::RuleDefinition;
use crate::hash::hex;
use crate::ledger::LoopGuard;

/// How a gate, a rule or a setting was weakened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Weakening {
    /// Its name among the [`Definitions`].
    about: String,
    what: String,
}

impl Weakening {
    /// Whether it concerns the gate of this name. A setting or an entry point concerns all of them.
    pub(crate) fn concerns(&self, gate: &str) -> bool {
        match self.about.split_once(' ') {
            Some(("check" | "review" | "gate", name)) => name == gate,
            Some(_) | None => true,
        }
    }
}

impl std::fmt::Display for Weakening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.about, self.what)
    }
}

impl serde::Serialize for Weakening {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Everything whose change can weaken the gates, by the name that a person knows it by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Definitions(BTreeMap<String, Value>);

impl Definitions {
    /// Those of a configuration.
    pub(crate) fn of(config: &Config) -> Self {
        let StopHook {
            enabled,
            interval,
            interval_rule,
            deadline,
            loop_guard,
        } = config.stop_hook;
        let interval_rule = match interval_rule {
            IntervalRule::SameTree => "same_tree",
            IntervalRule::Letter => "letter",
        };
        let loop_guard = match loop_guard {
            LoopGuard::Progress => "progress",
            LoopGuard::Strict => "strict",
        };
        let deadline = deadline.map(|limit| limit.as_secs());
        let threshold = &config.rerun_new_issue_threshold;
        if config.words == Words::Own {
            return Self::in_own_words(config, deadline, loop_guard);
        }
        let settings = [
            ("base_branch", json!(config.base_branch)),
            ("max_retries", json!(config.max_retries)),
            // What changes there is no change.
            ("log_dir", json!(config.log_dir_name)),
            ("rerun_new_issue_threshold", json!(threshold)),
            ("stop_hook.enabled", json!(enabled)),
            (
                "stop_hook.run_interval_minutes",
                json!(interval.as_secs() / 60),
            ),
            ("stop_hook.interval", json!(interval_rule)),
            ("stop_hook.deadline_seconds", json!(deadline)),
            ("stop_hook.loop_guard", json!(loop_guard)),
            ("cli.default_preference", json!(config.reviewers)),
        ];
        let mut all = BTreeMap::from(settings.map(|(name, value)| (name.to_owned(), value)));
        for (index, entry) in config.entry_points.iter().enumerate() {
            let before = config.entry_points.iter().take(index);
            // A path may be there twice, and then each of the two counts.
            let name = match before.filter(|other| other.path == entry.path).count() {
                0 => format!("entry point {}", entry.path),
                more => format!("entry point {} (no. {})", entry.path, more + 1),
            };
            all.insert(name, of_entry(entry));
        }
        for (name, review) in &config.reviews {
            all.insert(format!("review {name}"), of_review(review));
        }
        for (name, check) in &config.checks {
            all.insert(format!("check {name}"), of_check(check));
        }
        Self(all)
    }

    /// Those of `tollgate.toml`, by its keys.
    fn in_own_words(config: &Config, deadline: Option<u64>, loop_guard: &str) -> Self {
        let settings = [
            ("base", json!(config.base_branch)),
            ("max_retries", json!(config.max_retries)),
            ("new_findings", json!(config.rerun_new_issue_threshold)),
            ("reviewers", json!(config.reviewers)),
            ("on_stop", json!(config.stop_hook.enabled)),
            ("deadline", json!(deadline)),
            ("loop_guard", json!(loop_guard)),
        ];
        let mut all = BTreeMap::from(settings.map(|(name, value)| (name.to_owned(), value)));
        for entry in &config.entry_points {
            let files = [
                ("dir", json!(entry.path)),
                ("inputs", json!(entry.inputs)),
                ("exclude", json!(entry.exclude)),
            ];
            let checks = entry.checks.iter().filter_map(|name| {
                let check = config.checks.get(name)?;
                Some((
                    name,
                    json!({
                        "run": check.command, "ci": check.run_in_ci, "local": check.run_locally,
                        "timeout": check.timeout.map(|limit| limit.as_secs_f64()),
                        "max_age": check.evidence.max_age.as_secs(), "cache": check.evidence.is_cached,
                    }),
                ))
            });
            let reviews = entry.reviews.iter().filter_map(|name| {
                let review = config.reviews.get(name)?;
                Some((
                    name,
                    json!({
                        "prompt": review.prompt, "model": review.model,
                        "reviewers": review.cli_preference, "reviews": review.num_reviews,
                        "ci": review.run_in_ci, "local": review.run_locally,
                        "timeout": review.timeout.map(|limit| limit.as_secs_f64()),
                        "command": review.command,
                        "max_age": review.evidence.max_age.as_secs(),
                        "cache": review.evidence.is_cached,
                    }),
                ))
            });
            let gates = checks.chain(reviews);
            for (name, mut gate) in gates {
                for (key, value) in &files {
                    put(&mut gate, key, value.clone());
                }
                all.insert(format!("gate {name}"), gate);
            }
        }
        Self(all)
    }

    /// Those of rules: what each covers, and what it does.
    pub(crate) fn of_rules(rules: &[RuleDefinition]) -> Self {
        let name = |rule: &RuleDefinition| format!("rule {}", rule.id);
        Self(
            rules
                .iter()
                .map(|rule| (name(rule), rule.substance()))
                .collect(),
        )
    }

    /// One word for all of it.
    pub(crate) fn digest(&self) -> String {
        digest(self.0.iter())
    }

    /// What changed since `earlier`: `check lint: command changed`, `review q: removed`. What was only
    /// added cannot weaken anything.
    pub(crate) fn changes_since(&self, earlier: &Self) -> Vec<Weakening> {
        let what = |name: &String, before: &Value| match (before, self.0.get(name)) {
            (_, None) => Some("removed".to_owned()),
            (before, Some(now)) if now == before => None,
            (Value::Object(before), Some(Value::Object(now))) => {
                let keys = before
                    .iter()
                    .filter(|(key, value)| now.get(*key) != Some(value));
                let keys: Vec<_> = keys.map(|(key, _)| key.as_str()).collect();
                Some(format!("{} changed", keys.join(", ")))
            }
            (before, Some(now)) => Some(format!("{before} became {now}")),
        };
        let changes = earlier.0.iter().filter_map(|(name, before)| {
            Some(Weakening {
                what: what(name, before)?,
                about: name.clone(),
            })
        });
        changes.collect()
    }

    pub(crate) fn to_json(&self) -> Value {
        json!(self.0)
    }

    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        let members = value.as_object()?.clone();
        Some(Self(members.into_iter().collect()))
    }
}

/// One word for what a gate is: what its evidence depends on, beside its inputs.
pub(crate) fn of_gate(config: &Config, gate: &Instance<'_>) -> String {
    let places: Vec<Value> = gate
        .places
        .iter()
        .map(|(entry, path)| json!([path, entry.inputs, entry.exclude]))
        .collect();
    let definition = match &gate.job.gate {
        Gate::Check { check, .. } => of_check(check),
        Gate::Review(review) => json!([
            of_review(review),
            config.reviewers,
            config.rerun_new_issue_threshold
        ]),
    };
    let text = Value::from(vec![Value::from(places), definition]).to_string();
    hex(&Sha256::digest(text.as_bytes()))
}

fn digest<'d>(members: impl Iterator<Item = (&'d String, &'d Value)>) -> String {
    let mut hasher = DefaultHasher::new();
    for (name, value) in members {
        (name, value.to_string()).hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

fn put(object: &mut Value, key: &str, value: Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(key.to_owned(), value);
    }
}

fn of_entry(entry: &EntryPoint) -> Value {
    let mut value =
        json!({ "exclude": entry.exclude, "checks": entry.checks, "reviews": entry.reviews });
    if !entry.inputs.is_empty() {
        put(&mut value, "inputs", json!(entry.inputs));
    }
    value
}

/// What of a check can weaken it.
fn of_check(check: &Check) -> Value {
    let Check {
        command,
        working_directory,
        parallel: _,
        run_in_ci,
        run_locally,
        timeout,
        fail_fast: _,
        fix_instructions: _,
        evidence: _,
    } = check;
    json!({
        "command": command, "working_directory": working_directory, "run_in_ci": run_in_ci,
        "run_locally": run_locally, "timeout": timeout.map(|limit| limit.as_secs_f64()),
    })
}

fn of_review(review: &Review) -> Value {
    json!({
        "prompt": review.prompt, "model": review.model, "cli_preference": review.cli_preference,
        "num_reviews": review.num_reviews, "run_in_ci": review.run_in_ci,
        "run_locally": review.run_locally, "enabled": review.enabled,
        "timeout": review.timeout.map(|limit| limit.as_secs_f64()), "command": review.command,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::config::EvidenceRules;
    use std::time::Duration;

    /// Passes and sessions of earlier versions are held against it.
    #[test]
    fn a_check_is_written_as_ever() {
        let check = Check {
            command: "echo \"ü\" \\ \u{1}".to_owned(),
            working_directory: Some("a/b".to_owned()),
            parallel: true,
            run_in_ci: false,
            run_locally: true,
            timeout: Some(Duration::from_millis(1500)),
            fail_fast: false,
            fix_instructions: None,
            evidence: EvidenceRules::default(),
        };
        let text = |timeout: Option<u64>| {
            let timeout = timeout.map(Duration::from_millis);
            let check = Check {
                timeout,
                ..check.clone()
            };
            of_check(&check).to_string()
        };
        let rest = r#"{"command":"echo \"ü\" \\ \u0001","working_directory":"a/b","run_in_ci":false,"run_locally":true,"timeout":"#;
        for (timeout, written) in [
            (None, "null"),
            (Some(0), "0.0"),
            (Some(1500), "1.5"),
            (Some(300_000), "300.0"),
        ] {
            assert_eq!(text(timeout), format!("{rest}{written}}}"));
        }
    }
}
