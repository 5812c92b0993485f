//! What the gates and the rules were when a person accepted them: kept outside of the project, so that no
//! session and no edit in it makes one forget it.
//!
//! The first that are met count as accepted. What is only added is accepted with them; what
//! weakens them is named until a person accepts it.

use std::time::Duration;

use serde_json::{Value, json};
use tollgate_core::env::Env;
use tollgate_core::project::Layout;

use super::config::Config;
use super::definitions::Definitions;
pub(crate) use super::definitions::Weakening;
use crate::config::rules::RuleDefinition;
use crate::user_store::{Repository, UserStore};

/// What is accepted, by the name of its store.
#[derive(Clone, Copy)]
enum Kind {
    Gates,
    Rules,
}

impl Kind {
    fn store(self) -> &'static str {
        match self {
            Self::Gates => "gates",
            Self::Rules => "rules",
        }
    }
}

/// How many accepted sets of gates are remembered: branches may have their own.
const KEPT: usize = 32;

/// How long a writer waits for another one.
const PATIENCE: Duration = Duration::from_secs(2);

/// What weakens the gates against what was accepted.
pub(crate) fn changes(layout: &Layout, env: &Env, config: &Config) -> Vec<Weakening> {
    let all = all(layout, env, Kind::Gates).unwrap_or_default();
    weakened(&all, &Definitions::of(config))
}

/// Whether rules were ever accepted here.
pub(crate) fn had_rules(layout: &Layout, env: &Env) -> bool {
    all(layout, env, Kind::Rules).is_ok_and(|all| !all.is_empty())
}

/// The same as [`meet`], of rules.
pub(crate) fn meet_rules(
    layout: &Layout,
    env: &Env,
    rules: &[RuleDefinition],
) -> Result<Vec<Weakening>, String> {
    meet_all(layout, env, Kind::Rules, &Definitions::of_rules(rules))
}

/// The same as [`accept`], of rules.
pub(crate) fn accept_rules(
    layout: &Layout,
    env: &Env,
    rules: &[RuleDefinition],
) -> Result<(), String> {
    add(
        layout,
        env,
        Kind::Rules,
        &Definitions::of_rules(rules),
        By::Person,
    )
}

/// Accepts the gates if they are the first, or only more than before. Says what weakens them.
pub(crate) fn meet(layout: &Layout, env: &Env, config: &Config) -> Result<Vec<Weakening>, String> {
    meet_all(layout, env, Kind::Gates, &Definitions::of(config))
}

fn meet_all(
    layout: &Layout,
    env: &Env,
    kind: Kind,
    now: &Definitions,
) -> Result<Vec<Weakening>, String> {
    let all = all(layout, env, kind)?;
    if is_accepted(&all, now) {
        return Ok(Vec::new());
    }
    let weakened = weakened(&all, now);
    if weakened.is_empty() {
        add(layout, env, kind, now, By::Meeting)?;
    }
    Ok(weakened)
}

/// A person accepts the gates as they are.
pub(crate) fn accept(layout: &Layout, env: &Env, config: &Config) -> Result<(), String> {
    add(
        layout,
        env,
        Kind::Gates,
        &Definitions::of(config),
        By::Person,
    )
}

/// Who accepted gates.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// They were the first, or only more than before.
    Meeting,
    Person,
}

fn add(layout: &Layout, env: &Env, kind: Kind, now: &Definitions, by: By) -> Result<(), String> {
    let repository = Repository::of(layout).map_err(|error| error.to_string())?;
    let digest = now.digest();
    UserStore::open(env, &repository, kind.store())?.change(PATIENCE, |all| {
        all.retain(|one| !is_about(one, &digest));
        all.push(json!({
            "digest": digest, "gates": now.to_json(), "by_person": by == By::Person,
        }));
        let beyond = all.len().saturating_sub(KEPT);
        all.drain(..beyond);
    })
}

/// What was accepted, the latest last.
fn all(layout: &Layout, env: &Env, kind: Kind) -> Result<Vec<Value>, String> {
    let repository = Repository::of(layout).map_err(|error| error.to_string())?;
    UserStore::open(env, &repository, kind.store())?.list()
}

/// The warning about weakened gates.
pub(crate) fn words(weakened: &[Weakening]) -> String {
    words_of("gates", weakened)
}

/// The warning about weakened rules.
pub(crate) fn words_of_rules(weakened: &[Weakening]) -> String {
    words_of("rules", weakened)
}

fn words_of(what: &str, weakened: &[Weakening]) -> String {
    format!(
        "the {what} were changed: {}. A person accepts that with `tollgate validate --accept`",
        listed(weakened)
    )
}

/// All of them in one line.
pub(crate) fn listed(weakened: &[Weakening]) -> String {
    let each: Vec<String> = weakened.iter().map(ToString::to_string).collect();
    each.join("; ")
}

fn is_about(accepted: &Value, digest: &str) -> bool {
    accepted.get("digest").and_then(Value::as_str) == Some(digest)
}

/// Whether just these gates are the latest that were accepted, or a person accepted them, now or before: a
/// branch may have its own.
fn is_accepted(all: &[Value], now: &Definitions) -> bool {
    let digest = now.digest();
    let by_person = |one: &Value| one.get("by_person") == Some(&json!(true));
    let mut rest = all.iter();
    rest.next_back().is_some_and(|one| is_about(one, &digest))
        || rest.any(|one| is_about(one, &digest) && by_person(one))
}

/// What weakens the gates against the latest that were accepted. That they were met so before does not
/// count: what was added since would go unseen.
fn weakened(all: &[Value], now: &Definitions) -> Vec<Weakening> {
    if is_accepted(all, now) {
        return Vec::new();
    }
    let last = all.last().and_then(|one| one.get("gates"));
    let last = last.and_then(Definitions::from_json);
    last.map(|last| now.changes_since(&last))
        .unwrap_or_default()
}
