//! What a project had, kept outside of its tree: so that a workflow, gates or registrations that are
//! gone is reported, whoever removed it.
//!
//! It is compared where an agent begins or rests (a session, a prompt, a stop), when its settings
//! change, and after a command that changed them; never before a tool call. What differs is a notice,
//! told once to every session of the next day, and then the new things are what the project has.
//! Nothing is put back here: that is `integrity`, by the copy that the store keeps. Only a change of
//! settings by a tool call of the same session is refused, where the agent asks.
//!
//! What this deliberately does not keep: contents of files.

mod author;
mod observed;
mod stamps;

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tollgate_core::context::Inputs;
use tollgate_core::decision::{Decision, Finding};
use tollgate_core::env::Env;
use tollgate_core::git;
use tollgate_core::integrity;
use tollgate_core::next::Next;
use tollgate_core::project::Layout;
use tollgate_core::protocol::{Event, EventKind, Protocol, ToolCall};
use tollgate_store::timestamp;

use crate::agents::Places;
use crate::agents::claude::mods;
use crate::asked;
use crate::journal;
use crate::user_store::{Repository, UserStore};
use observed::Observed;

/// The store's name.
const STORE: &str = "projects";

/// How long a hook waits for another one that writes.
const PATIENCE: Duration = Duration::from_secs(1);

/// A notice is repeated for so long, once to each session.
const TOLD_FOR: SignedDuration = SignedDuration::from_hours(24);

/// No more notices than this are kept.
const NOTICES: usize = 16;

/// Something that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Notice {
    code: &'static str,
    text: String,
}

impl Notice {
    fn new(code: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { code, text }
    }
}

/// What is remembered of one project.
#[derive(Clone, Debug, Default)]
struct Memory {
    had: Option<Observed>,
    /// As they are written: code, text, when, and the sessions that heard it.
    notices: Vec<Value>,
}

/// Compares what the project has with what it had, and says what differs.
pub(crate) fn follow(event: &Event<'_>, inputs: &Inputs, env: &Env, now: Timestamp) -> Decision {
    let layout = inputs.layout();
    let is_compared = match event.kind {
        EventKind::ConfigChange => true,
        EventKind::PostTool | EventKind::PostToolFailure => stamps::differ(event, layout),
        EventKind::SessionStart | EventKind::Prompt | EventKind::Stop => true,
        EventKind::PreTool | EventKind::SubagentStop | EventKind::SessionEnd | EventKind::Other => {
            false
        }
    };
    if !is_compared {
        return Decision::default();
    }
    let state = state_text(inputs);
    let refusal = refused(event, layout, env, state.as_deref());
    let mut decision = tell(event, layout, env, now, state.as_deref(), None);
    decision.block = refusal;
    if event.kind == EventKind::SessionStart {
        let places = Places::around(layout.root().to_owned(), env, crate::environment::variable);
        let present = mods::find(&places);
        decision
            .warnings
            .extend(mods::words(&present, &places).map(|text| finding("SW-008", &text)));
    }
    decision
}

/// A person changed registrations by a command of Tollgate: that is what the project has now, and
/// every session hears of it.
pub(crate) fn changed_by_person(layout: &Layout, env: &Env, now: Timestamp) {
    if read(layout, env).is_some_and(|memory| memory.had.is_some()) {
        let event = Event::new(Protocol::Isdlc, EventKind::Other);
        // Unwritten, the next rest finds it.
        let state = observed::state_text(layout);
        let _told = tell(&event, layout, env, now, state.as_deref(), None);
    }
}

/// The block of settings that a tool call of this session took Tollgate out of, without a person's
/// yes. Any other change is accepted, and named as far as something is gone.
fn refused(event: &Event<'_>, layout: &Layout, env: &Env, state: Option<&str>) -> Option<Finding> {
    if event.kind != EventKind::ConfigChange {
        return None;
    }
    let (file, transcript) = (event.settings.as_deref()?, event.transcript.as_deref()?);
    let had = read(layout, env)?.had?;
    let lost = Observed::of(layout, env, state).lacks(&had);
    let lost = lost.into_iter().find(|notice| notice.code == "SW-007")?;
    let call = author::of(Path::new(file), Path::new(transcript))?;
    if asked::agreed(env, layout, &call.id, journal::lines(&layout.local())) {
        return None;
    }
    let text = format!(
        "{}. A tool call of this session changed {file} ({}), so this session keeps the settings that it \
         had; the file was not changed back. If a person wants Tollgate removed, they end the session, \
         or run `tollgate uninstall` in a terminal of their own.",
        lost.text, call.shown
    );
    let reason = format!("{}; changed by {}", lost.text, call.shown);
    let finding = Finding::new("SW-009", text, reason).by(integrity::NAME);
    Some(finding.next(Next::run_instead("tollgate install --yes")))
}

/// A change of the state that was adopted although no command made it: every session hears
/// of it, not only the one whose event met it.
pub(crate) fn adopted(event: &Event<'_>, inputs: &Inputs, env: &Env, now: Timestamp, text: &str) {
    let notice = Notice::new("SW-003", text);
    let state = state_text(inputs);
    // Unwritten, it was said once.
    let _told = tell(
        event,
        inputs.layout(),
        env,
        now,
        state.as_deref(),
        Some(&notice),
    );
}

/// The same for an event in a directory that is in no project: it may have been in one.
pub(crate) fn without_project(event: &Event<'_>, env: &Env, now: Timestamp) -> Decision {
    let is_shell = event
        .tool
        .as_ref()
        .is_some_and(|tool| matches!(tool.call, ToolCall::Shell { .. }));
    let is_after = matches!(event.kind, EventKind::PostTool | EventKind::PostToolFailure);
    if !(is_rest(event.kind) || is_after && is_shell) {
        return Decision::default();
    }
    let cwd = event.cwd.as_deref().map(Path::new);
    let places = [env.project_dir.as_deref(), cwd];
    let mut tops = places
        .into_iter()
        .flatten()
        .filter_map(|place| Some(git::Repository::discover(place)?.work_tree));
    let Some(top) = tops.next() else {
        return Decision::default();
    };
    let layout = Layout::of_root(&top);
    match read(&layout, env) {
        Some(memory) if memory.had.is_some() || !memory.notices.is_empty() => {
            let state = observed::state_text(&layout);
            tell(event, &layout, env, now, state.as_deref(), None)
        }
        Some(_) | None => Decision::default(),
    }
}

fn is_rest(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::SessionStart | EventKind::Prompt | EventKind::Stop
    )
}

/// Writes down what differs, and says what this session has not heard.
fn tell(
    event: &Event<'_>,
    layout: &Layout,
    env: &Env,
    now: Timestamp,
    state: Option<&str>,
    more: Option<&Notice>,
) -> Decision {
    let Ok(repository) = Repository::of(layout) else {
        return Decision::default();
    };
    let Ok(store) = UserStore::open(env, &repository, STORE) else {
        return Decision::default();
    };
    let Ok(list) = store.list() else {
        return Decision::default();
    };
    let has = Observed::of(layout, env, state);
    stamps::write(event.protocol, layout, env);
    // A person's command is no session, and has heard nothing.
    let session = event.session.as_deref();
    let session = session.or((event.kind != EventKind::Other).then_some(""));
    // What an event's own finding says is said; the rest is left to the comparison behind it.
    let (heard, session) = match more {
        Some(notice) => (Some((notice, session)), None),
        None => (None, session),
    };
    let compare = |list: &mut Vec<Value>| {
        let (memory, said) = Memory::of(list).follow(&has, heard, session, now);
        *list = vec![memory];
        said
    };
    // Mostly nothing differs, and that needs no lock. Otherwise, what other sessions wrote counts.
    let mut unlocked = list.clone();
    let said = compare(&mut unlocked);
    let warnings = if unlocked == list {
        said
    } else {
        // Unwritten, it is compared with the old again at the next rest.
        store.change(PATIENCE, compare).unwrap_or(said)
    };
    Decision {
        warnings,
        ..Decision::default()
    }
}

impl Memory {
    /// What is remembered in a project's list.
    fn of(list: &[Value]) -> Self {
        let Some(kept) = list.first() else {
            return Self::default();
        };
        let notices = kept.get("notices").and_then(Value::as_array);
        Self {
            had: kept.get("had").and_then(Observed::from_json),
            notices: notices.cloned().unwrap_or_default(),
        }
    }

    /// What is remembered from now on, and what this session has not heard. `heard` is a notice that a
    /// session has heard already.
    fn follow(
        mut self,
        has: &Observed,
        heard: Option<(&Notice, Option<&str>)>,
        session: Option<&str>,
        now: Timestamp,
    ) -> (Value, Vec<Finding>) {
        let lacks = self.had.as_ref().map(|had| has.lacks(had));
        let news = lacks.unwrap_or_default();
        self.notices.retain(|notice| is_fresh(notice, now));
        let news = news.iter().map(|notice| (notice, Vec::new()));
        let heard = heard.map(|(notice, session)| (notice, Vec::from_iter(session)));
        let news = news.chain(heard).map(|(Notice { code, text }, told)| {
            json!({ "code": code, "text": text, "at": timestamp::iso(now), "told": told })
        });
        self.notices.extend(news);
        let surplus = self.notices.len().saturating_sub(NOTICES);
        self.notices.drain(..surplus);
        let mut said = Vec::new();
        for notice in &mut self.notices {
            let text = notice
                .get("text")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            let code = notice.get("code").and_then(Value::as_str).and_then(known);
            let told = notice.get_mut("told").and_then(Value::as_array_mut);
            if let (Some(code), Some(told), Some(session)) = (code, told, session)
                && !told.iter().any(|known| known == session)
            {
                told.push(json!(session));
                said.push(finding(code, &text));
            }
        }
        let kept = json!({ "had": has.to_json(), "notices": self.notices });
        (kept, said)
    }
}

/// The text of the project's state; where that is a monorepo, of the state that is no project's of it.
fn state_text(inputs: &Inputs) -> Option<Cow<'_, str>> {
    match inputs.project() {
        Ok(None) => inputs.state_text().map(Cow::Borrowed),
        Ok(Some(_)) | Err(_) => observed::state_text(inputs.layout()).map(Cow::Owned),
    }
}

/// The code of this name.
fn known(code: &str) -> Option<&'static str> {
    let mut codes = integrity::CODES.iter();
    codes.find_map(|known| (known.id == code).then_some(known.id))
}

fn finding(code: &'static str, text: &str) -> Finding {
    let said = format!(
        "[{}] NOTICE: {text} (`tollgate explain {code}`)",
        integrity::NAME
    );
    Finding::new(code, said, text).by(integrity::NAME)
}

fn is_fresh(notice: &Value, now: Timestamp) -> bool {
    let at = notice.get("at").and_then(Value::as_str);
    let at = at.and_then(timestamp::parse);
    at.is_some_and(|at| now.duration_since(at) < TOLD_FOR)
}

/// What is remembered; nothing where there is no place for it.
fn read(layout: &Layout, env: &Env) -> Option<Memory> {
    let repository = Repository::of(layout).ok()?;
    let list = UserStore::open(env, &repository, STORE).ok()?.list().ok()?;
    Some(Memory::of(&list))
}
