//! How plans are reviewed in a project: `[plans]` of `tollgate.toml`, or `.tollgate/plans.json` where
//! that exists. All of it is optional.

use std::time::Duration;

use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_store::fs;
use tollgate_store::json::Object;

use super::reviewer;
use crate::config::{Merged, Node};
use crate::ledger::LoopGuard;
use crate::review::Reviewer;

/// Registrations give a stop 900 s; the review ends before the host ends us.
const TIMEOUT: Duration = Duration::from_mins(14);

/// A stop is answered within 870 s, and what a review started ends a little after its limit.
const LONGEST: Duration = Duration::from_secs(865);

/// The settings.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// How long a review may take.
    pub(crate) timeout: Duration,
    /// Who reviews, if it is not `claude` as the specification has it.
    pub(crate) reviewer: Option<Reviewer>,
    /// What `stop_hook_active` means.
    pub(crate) loop_guard: LoopGuard,
    /// What could not be understood.
    pub(crate) problems: Vec<String>,
}

impl Config {
    /// Reads the settings. The existing file wins, and what is in both places is said.
    pub(crate) fn load(layout: &Layout, env: &Env) -> Self {
        let config = Self::read(layout, env);
        Self {
            timeout: config.timeout.min(LONGEST),
            ..config
        }
    }

    fn read(layout: &Layout, env: &Env) -> Self {
        let own = Merged::in_force(layout, env);
        if !layout.plans_config().exists() {
            return Self::of_toml(own.node.get("plans"));
        }
        let mut config = Self::of_json(layout);
        if own.own_part("plans").is_some() {
            config.problems.push(format!(
                "plans are configured in {} and in [plans] of tollgate.toml; the first applies until one of them is removed",
                layout.shown(&layout.plans_config()).display()
            ));
        }
        config
    }

    /// What is wrong in the file is said where it is read.
    fn of_toml(plans: Option<&Node>) -> Self {
        let get = |key: &str| plans.and_then(|plans| plans.get(key));
        let text = |key: &str| get(key).and_then(Node::text);
        let reviewer = text("reviewer").filter(|name| *name != reviewer::PROGRAM);
        Self {
            timeout: get("timeout")
                .and_then(Node::duration)
                .filter(|time| !time.is_zero())
                .unwrap_or(TIMEOUT),
            reviewer: reviewer.and_then(|name| Reviewer::named(name, None)),
            loop_guard: match text("loop_guard") {
                Some("strict") => LoopGuard::Strict,
                Some(_) | None => LoopGuard::Progress,
            },
            problems: Vec::new(),
        }
    }

    /// A wrong value is reported, and its default is used.
    fn of_json(layout: &Layout) -> Self {
        let mut config = Self {
            timeout: TIMEOUT,
            reviewer: None,
            loop_guard: LoopGuard::Progress,
            problems: Vec::new(),
        };
        let path = layout.plans_config();
        let text = match fs::read_regular(&path, 1 << 20) {
            Ok(None) => return config,
            Ok(Some(contents)) => String::from_utf8_lossy(&contents.bytes).into_owned(),
            Err(fault) => {
                config.problems.push(format!("{}: {fault}", path.display()));
                return config;
            }
        };
        let object = match Object::parse(&text) {
            Ok(object) => object,
            Err(error) => {
                config.problems.push(format!("{}: {error}", path.display()));
                return config;
            }
        };
        for (key, value) in object.members() {
            let wrong = match key {
                "timeout_seconds" => match value.f64().filter(|s| *s >= 0.1 && *s <= 86_400.0) {
                    Some(seconds) => {
                        config.timeout = Duration::from_secs_f64(seconds);
                        None
                    }
                    None => Some("is not a number of seconds"),
                },
                "loop_guard" => match value.str().as_deref() {
                    Some("strict") => {
                        config.loop_guard = LoopGuard::Strict;
                        None
                    }
                    Some("progress") => None,
                    Some(_) | None => Some("is neither \"progress\" nor \"strict\""),
                },
                "reviewer" => match value.str().as_deref() {
                    Some(reviewer::PROGRAM) => None,
                    Some(name) => {
                        config.reviewer = Reviewer::named(name, None);
                        let is_known = config.reviewer.is_some();
                        (!is_known).then_some("is not a reviewer; \"claude\" is used")
                    }
                    None => Some("is not the name of a reviewer; \"claude\" is used"),
                },
                _ => Some("is not a setting"),
            };
            if let Some(wrong) = wrong {
                config
                    .problems
                    .push(format!("in {}, `{key}` {wrong}", path.display()));
            }
        }
        config
    }
}
