//! `tollgate statusline`: one short line for an agent's status line.
//!
//! Agents ask for it after every step, so it goes the way of the hook: from `main` straight here,
//! a few files read, nothing written. Only git is started, and only where gates passed: whether that
//! pass is one of the tree as it is, nothing else can tell. What is wrong shows as `?`; it never
//! fails.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use jiff::Timestamp;

use tollgate_core::env::Env;
use tollgate_core::fs;
use tollgate_core::json::Object;
use tollgate_core::project::Layout;
use tollgate_core::scene::Sources;
use tollgate_core::state::view::State;
use tollgate_core::workflow::phases;

use crate::gate::config::Config;
use crate::gate::evidence::{Evidence, Pass};
use crate::journal::Tail;
use crate::plan::home::Found;
use crate::ui::plain::Plain;

/// How much of the journal is looked at: the last lines.
const LOOK_BACK: u64 = 8 << 10;

/// How long git may take. Agents ask again soon.
const PATIENCE: Duration = Duration::from_secs(2);

/// A block that is older is no news.
const NEWS: i64 = 15 * 60;

/// Between the parts.
const AND: &str = " · ";

/// Prints the line of the project that the agent on standard input works in.
pub(crate) fn run() -> ExitCode {
    let env = crate::hook::environment();
    let told = if std::io::stdin().is_terminal() {
        String::new()
    } else {
        crate::stdin::read().unwrap_or_default()
    };
    let text = layout(&env, &told).map(|layout| of(layout, env, Timestamp::now()));
    // Outside of a project there is nothing to say.
    if let Some(text) = text {
        let _gone = std::io::stdout().write_all(format!("{text}\n").as_bytes());
    }
    ExitCode::SUCCESS
}

/// Where the agent works: by what it says, else here.
fn layout(env: &Env, told: &str) -> Option<Layout> {
    let object = Object::parse(told).unwrap_or_default();
    let workspace = object.object("workspace").unwrap_or_default();
    let said = workspace
        .str("current_dir")
        .or_else(|| object.str("cwd"))
        .map(std::borrow::Cow::into_owned);
    Layout::find(env, said.as_deref().map(Path::new))
}

fn of(layout: Layout, env: Env, now: Timestamp) -> String {
    let mut parts = vec!["tollgate".to_owned()];
    parts.extend(gates(&layout, &env, now));
    parts.extend(plan(&layout));
    parts.extend(blocked(&layout, now));
    let sources = Sources::new(layout, env, None, now);
    if let Some(workflow) = workflow(&sources) {
        parts.insert(1, workflow);
    }
    shown(&parts.join(AND))
}

fn workflow(sources: &Sources) -> Option<String> {
    let file = sources.state_file();
    let contents = match fs::read_regular(&file, tollgate_core::scene::MAX_FILE) {
        Ok(found) => found?,
        Err(_) => return Some("workflow ?".to_owned()),
    };
    let text = String::from_utf8_lossy(&contents.bytes);
    let Ok(state) = State::parse(&text) else {
        return Some("workflow ?".to_owned());
    };
    let workflow = state.workflow()?;
    let all = workflow.phases();
    let phase = state.current_phase().unwrap_or_default();
    let kind = workflow.str("type").unwrap_or_default();
    let mut text = format!("{kind} {phase}");
    // Between two phases the index is one ahead of the phase that is named.
    let known = phases::canonical(&phase);
    if let Some(at) = all.iter().position(|key| phases::canonical(key) == known) {
        let _infallible = write!(text, " {}/{}", at + 1, all.len());
    }
    Some(text)
}

/// What is known about the gates: ✔ only if they passed on the tree as it is.
fn gates(layout: &Layout, env: &Env, now: Timestamp) -> Option<String> {
    let record = layout.local().join("gates.json");
    if !record.is_file() {
        return None;
    }
    let config = Config::load(layout, env).ok()?;
    let Evidence { last, pass } = Evidence::of(layout, &config, env, PATIENCE);
    let failed = last.filter(|last| !last.status.is_pass() || !last.failed.is_empty());
    let (sign, at) = match (pass, failed) {
        (Pass::Fresh { at }, _) => ("✔", Some(at)),
        (Pass::Unknown { .. }, _) => ("?", None),
        (Pass::Never | Pass::Stale { .. } | Pass::OtherGates { .. }, Some(last)) => {
            ("✖", Some(last.completed_at))
        }
        (Pass::Stale { at, .. } | Pass::OtherGates { at }, None) => ("stale", Some(at)),
        (Pass::Never, None) => return None,
    };
    let age = at.map(|at| format!(" {}", age_of(at, now)));
    Some(format!("gates {sign}{}", age.unwrap_or_default()))
}

fn plan(layout: &Layout) -> Option<String> {
    if !layout.plans_home().is_dir() {
        return None;
    }
    let plan = crate::plan::choice::choose(layout).plan?;
    match plan.state() {
        Found::Read(state) => {
            let made = state.phase_iteration.unwrap_or(0);
            let phase = state.phase_name();
            let round = (made > 0).then(|| format!(" {made}/{}", state.max_reviews));
            Some(format!(
                "{} {phase}{}",
                plan.id(),
                round.unwrap_or_default()
            ))
        }
        Found::Absent => None,
        Found::Corrupt(_) | Found::Unusable(_) => Some(format!("{} ?", plan.id())),
    }
}

/// The last block, while it is news.
fn blocked(layout: &Layout, now: Timestamp) -> Option<String> {
    let tail = Tail::of(&layout.local(), LOOK_BACK);
    let last = tail
        .entries
        .iter()
        .rev()
        .find(|entry| entry.verdict.as_str() == "block")?;
    let ts = last.ts?;
    let is_news = now.duration_since(ts).as_secs() < NEWS;
    let code = last.code.as_deref().unwrap_or("blocked");
    is_news.then(|| format!("✖ {code} {}", age_of(ts, now)))
}

fn age_of(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(then).as_secs().max(0);
    match seconds {
        0..60 => "now".to_owned(),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// One line in which nothing is obeyed by a terminal.
fn shown(text: &str) -> String {
    let text = Plain(text).to_string();
    let most = 160;
    if text.chars().count() <= most {
        return text;
    }
    let kept: String = text.chars().take(most - 1).collect();
    format!("{kept}…")
}
