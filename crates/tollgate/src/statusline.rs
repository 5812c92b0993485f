//! `tollgate statusline`: one short line for an agent's status line.
//!
//! Agents ask for it after every step, so it goes the way of the hook: from `main` straight here,
//! a few files read, nothing written. Only git is started, and only where there is evidence: whether
//! that is about the work as it is, nothing else can tell. What is wrong shows as `?`; it never
//! fails.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use jiff::Timestamp;
use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_store::journal::Verdict;
use tollgate_store::json::Object;

use crate::armed;
use crate::gate::config::{Config, ConfigError};
use crate::gate::evidence::{GateVerification, SIGN, Verification};
use crate::gate::record::FILE;
use crate::journal::Tail;
use crate::plain::{Plain, age, cut, in_locale};
use crate::project_view::{self, Configured, Depth, Gate, Outputs, Workflow};

/// How long the line is at most.
const MOST: usize = 159;

/// How much of it says whether agents are under guard.
const AGENTS: usize = 48;

/// How much of the journal is read: the last lines.
const LOOK_BACK: u64 = 8 << 10;

/// Agents ask again soon, so git may not take long.
const DEPTH: Depth = Depth {
    patience: Duration::from_secs(2),
    outputs: Outputs::Failing,
};

/// A block that is older is no news.
const NEWS: i64 = 15 * 60;

/// Between the parts.
const AND: &str = " · ";

/// Prints the line of the project that the agent on standard input works in.
pub(crate) fn run() -> ExitCode {
    let env = crate::environment::current();
    let sent = if std::io::stdin().is_terminal() {
        String::new()
    } else {
        crate::stdin::read().unwrap_or_default()
    };
    let text = layout(&env, &sent).map(|layout| of(&layout, &env, Timestamp::now()));
    // Outside of a project there is nothing to say.
    if let Some(text) = text {
        let _gone = std::io::stdout().write_all(in_locale(format!("{text}\n")).as_bytes());
    }
    ExitCode::SUCCESS
}

/// Where the agent works: by what it says, else here.
fn layout(env: &Env, sent: &str) -> Option<Layout> {
    let object = Object::parse(sent).unwrap_or_default();
    let workspace = object.object("workspace").unwrap_or_default();
    let said = workspace
        .str("current_dir")
        .or_else(|| object.str("cwd"))
        .map(std::borrow::Cow::into_owned);
    Layout::find(env, said.as_deref().map(Path::new))
}

fn of(layout: &Layout, env: &Env, now: Timestamp) -> String {
    let agents = armed::here(env, layout, now);
    let mut parts = vec!["tollgate".to_owned(), cut(&armed::summary(&agents), AGENTS)];
    parts.extend(workflow(layout, env, now));
    parts.extend(gates(layout, env, now));
    parts.extend(plan(layout));
    parts.extend(blocked(layout, now));
    cut(&Plain(&parts.join(AND)).to_string(), MOST)
}

fn workflow(layout: &Layout, env: &Env, now: Timestamp) -> Option<String> {
    let (workflow, _) = project_view::workflow(layout, env, now, &mut Vec::new());
    let running = match workflow {
        Workflow::Idle { .. } => return None,
        Workflow::Broken { .. } => return Some("workflow ?".to_owned()),
        Workflow::Running(running) => running,
    };
    let (kind, all) = (&running.kind, &running.phases);
    let current = running.current.as_deref().unwrap_or("?");
    Some(match all.iter().position(|phase| phase.key == current) {
        Some(at) => format!("{kind} {current} {}/{}", at + 1, all.len()),
        None => format!("{kind} {current}"),
    })
}

/// What can be said about the gates and the work as it is.
fn gates(layout: &Layout, env: &Env, now: Timestamp) -> Option<String> {
    // Without evidence there is nothing to ask git about.
    if !layout.local().join(FILE).is_file() {
        return match Config::load(layout, env) {
            Ok(config) => config.has_gates().then(|| "gates never ran".to_owned()),
            Err(ConfigError::Missing(_)) => None,
            Err(ConfigError::Wrong(_)) => Some("gates ?".to_owned()),
        };
    }
    let gates = project_view::gates(layout, env, DEPTH);
    let verdict = match (gates.configured, &gates.verdict) {
        (Configured::Yes, Some(verdict)) => verdict,
        (Configured::Wrong, _) => return Some("gates ?".to_owned()),
        (Configured::No, _) | (Configured::Yes, None) => return None,
    };
    let is_failed = |gate: &&Gate| matches!(gate.now, GateVerification::Failed { .. });
    let failed = gates.all.iter().find(is_failed);
    let (sign, at) = match (verdict, failed) {
        (Verification::Verified { at }, _) => (SIGN, Some(*at)),
        (Verification::Unknown(_), _) => ("?", None),
        (Verification::Not(_), Some(gate)) => ("✖", gate.now.at()),
        (Verification::Not(_), None) => (gates.word(), None),
    };
    let age = at.map(|at| format!(" {}", age_of(at, now)));
    Some(format!("gates {sign}{}", age.unwrap_or_default()))
}

fn plan(layout: &Layout) -> Option<String> {
    let plan = project_view::plan(layout, &mut Vec::new())?;
    if plan.is_broken {
        return Some(format!("{} ?", plan.id));
    }
    let round = match plan.iteration {
        0 => String::new(),
        made => format!(" {made}/{}", plan.max_reviews),
    };
    Some(format!("{} {}{round}", plan.id, plan.phase?))
}

/// The last block, while it is news.
fn blocked(layout: &Layout, now: Timestamp) -> Option<String> {
    let tail = Tail::of(&layout.local(), LOOK_BACK);
    let last = tail
        .entries
        .iter()
        .rev()
        .find(|entry| entry.verdict == Verdict::Block)?;
    let ts = last.ts?;
    let is_news = now.duration_since(ts).as_secs() < NEWS;
    let code = last.code.as_deref().unwrap_or("blocked");
    is_news.then(|| format!("✖ {code} {}", age_of(ts, now)))
}

fn age_of(then: Timestamp, now: Timestamp) -> String {
    age(then, now, ["m", "h", "d"]).unwrap_or_else(|| "now".to_owned())
}
