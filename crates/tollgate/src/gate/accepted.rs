//! What the gates were when a person accepted them: kept outside of the project, so that no session
//! and no edit in it makes one forget it.
//!
//! The first gates that are met count as accepted. What is only added is accepted with them; what
//! weakens them is named until a person accepts it.

use std::time::Duration;

use serde_json::{Value, json};
use tollgate_core::env::Env;
use tollgate_core::project::Layout;

use super::config::Config;
use super::definitions::Definitions;
use crate::user_store::{Repository, UserStore};

/// The store's name.
const STORE: &str = "gates";

/// How many accepted sets of gates are remembered: branches may have their own.
const KEPT: usize = 32;

/// How long a writer waits for another one.
const PATIENCE: Duration = Duration::from_secs(2);

/// What weakens the gates against what was accepted.
pub(crate) fn changes(layout: &Layout, env: &Env, config: &Config) -> Vec<String> {
    let all = all(layout, env).unwrap_or_default();
    weakened(&all, &Definitions::of(config))
}

/// Accepts the gates if they are the first, or only more than before. Says what weakens them.
pub(crate) fn meet(layout: &Layout, env: &Env, config: &Config) -> Result<Vec<String>, String> {
    let now = Definitions::of(config);
    let all = all(layout, env)?;
    let weakened = weakened(&all, &now);
    if weakened.is_empty() && !is_known(&all, &now) {
        accept(layout, env, config)?;
    }
    Ok(weakened)
}

/// A person accepts the gates as they are.
pub(crate) fn accept(layout: &Layout, env: &Env, config: &Config) -> Result<(), String> {
    let now = Definitions::of(config);
    let repository = Repository::of(layout).map_err(|error| error.to_string())?;
    UserStore::open(env, &repository, STORE)?.change(PATIENCE, |all| {
        all.retain(|one| one.get("digest") != Some(&json!(now.digest())));
        all.push(json!({ "digest": now.digest(), "gates": now.to_json() }));
        let beyond = all.len().saturating_sub(KEPT);
        all.drain(..beyond);
    })
}

/// What was accepted, the latest last.
fn all(layout: &Layout, env: &Env) -> Result<Vec<Value>, String> {
    let repository = Repository::of(layout).map_err(|error| error.to_string())?;
    UserStore::open(env, &repository, STORE)?.list()
}

/// The warning about weakened gates.
pub(crate) fn words(weakened: &[String]) -> String {
    format!(
        "the gates were changed: {}. A person accepts that with `tollgate validate --accept`",
        weakened.join("; ")
    )
}

fn is_known(all: &[Value], now: &Definitions) -> bool {
    let digest = json!(now.digest());
    all.iter().any(|one| one.get("digest") == Some(&digest))
}

fn weakened(all: &[Value], now: &Definitions) -> Vec<String> {
    if is_known(all, now) {
        return Vec::new();
    }
    let last = all.last().and_then(|one| one.get("gates"));
    let last = last.and_then(Definitions::from_json);
    last.map(|last| now.changes_since(&last))
        .unwrap_or_default()
}
