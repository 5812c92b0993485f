//! What a person allowed although a guard blocks it: `tollgate allow`.
//!
//! Asked only when something blocks; then one question to the file system tells whether
//! anything was ever allowed here. An override lifts the block with one code in one project, for
//! once or for a while, and leaves a warning that says who allowed it. What protects the records
//! that all is decided from ([`Override::Nobody`]) is never lifted, whatever a file says.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tollgate_core::decision::{Code, Fault, Finding, Override};
use tollgate_core::env::Env;
use tollgate_core::guard;
use tollgate_core::project::Layout;
use tollgate_core::protocol::Event;
use tollgate_core::rules;
use tollgate_store::journal::{Entry, Journal, Verdict};
use tollgate_store::lock::HOOK_PATIENCE;

use crate::person::Person;
use crate::user_store::{Repository, UserStore, user_name};

const STORE: &str = "overrides";

/// How long a person's command waits for another process.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is allowed once must happen within this time.
pub(crate) const ONCE_WITHIN: SignedDuration = SignedDuration::from_hours(1);

/// Nothing is allowed for longer.
pub(crate) const LONGEST: SignedDuration = SignedDuration::from_hours(24);

/// What no guard says: rules, gates, plans and trust.
const OTHERS: &[Code] = &[
    Code::blocks(
        "GATE-FAILED",
        "a gate fails at the agent's stop",
        "repair what the gate's log shows",
    ),
    Code::warns(
        "GATE-NOTICE",
        "a stop was let go, and the reason says what is not verified",
        "`tollgate status` shows the gates, `tollgate run` runs them",
    ),
    Code::warns(
        "GATE-SKIPPED",
        "a person left a gate out of a run",
        "`tollgate run` runs it",
    ),
    Code::warns(
        "TRUST-001",
        "the project's commands are not trusted, so none was run",
        "a person reviews them with `tollgate trust`",
    ),
    Code::warns(
        "RULE-UNKNOWN",
        "a command's effects cannot be known, so that rules may not see what they forbid",
        "write the command out; `tollgate rules explain COMMAND` shows what can be known",
    ),
    Code::warns(
        "RULES-CHANGED",
        "rules were weakened since a person accepted them",
        "a person restores them, or accepts them with `tollgate validate --accept`",
    ),
    Code::blocks(
        "PLAN-REVIEW",
        "a plan's review waits for its answer",
        "answer the review as the message says",
    ),
    Code::blocks(
        "PLAN-RULES",
        "a plan's files break the rules",
        "correct the files that the message names",
    ),
    Code::warns(
        "PLAN-BUSY",
        "a plan's review is being made already",
        "stop again when it is done",
    ),
    Code::warns(
        "PLAN-LEFT",
        "a plan's review loop was left before two clean reviews in a row",
        "`tollgate plan next` says how to go on",
    ),
    Code::warns(
        "PLAN-LIMIT",
        "a plan has had as many reviews as it may have",
        "a person decides; `tollgate plan next` says how to go on",
    ),
    Code::warns(
        "PLAN-MOVED",
        "a plan's state changed while a stop was decided",
        "`tollgate plan next` says what to do",
    ),
    Code::warns(
        "PLAN-NO-REVIEW",
        "a plan's review could not be made",
        "do what the reason names, then stop again",
    ),
    Code::warns(
        "PLAN-PASSED",
        "a plan's review found nothing, and the plan went on",
        "`tollgate plan next` says what to do",
    ),
    Code::warns(
        "PLAN-RELEASED",
        "a stop was let go although a plan is not verified",
        "`tollgate plan next` says how to go on",
    ),
    Code::warns(
        "PLAN-SKIPPED",
        "reviews are switched off, so a plan went on without one",
        "`tollgate plan set max_reviews 4` switches them on",
    ),
    Code::warns(
        "PLAN-STEP",
        "a plan went on to another step",
        "`tollgate plan next` says what to do",
    ),
];

#[derive(Clone, Debug)]
pub(crate) struct Allowed {
    pub(crate) code: String,
    pub(crate) extent: Extent,
    pub(crate) until: Timestamp,
    pub(crate) by: String,
    pub(crate) reason: String,
    /// The event that used it up.
    used_by: Option<String>,
    /// Git used it, too: see [`Use::Git`].
    used_by_git: bool,
}

/// Who makes use of what is allowed.
#[derive(Clone, Copy, Debug)]
enum Use<'k> {
    /// An event, by what is the same about it however often it is delivered.
    Event(&'k str),
    /// The guard on git's side. A command that was let through comes by here when it commits, and
    /// git does not know which event it belongs to. So what is allowed once holds for one event
    /// and for one change by git; where git comes first, the event was not seen and gets nothing.
    Git,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Once,
    Always,
}

/// All that a project's overrides are asked with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overrides<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) env: &'a Env,
    pub(crate) now: Timestamp,
}

/// Everything that guards, gates and plans can say.
pub(crate) fn codes() -> impl Iterator<Item = &'static Code> {
    guard::codes().chain(OTHERS)
}

/// A code as decisions have it, from one that a person wrote: in capitals, but the name of a rule is
/// as its file has it.
pub(crate) fn canonical(code: &str) -> String {
    match code.split_once(':') {
        Some((kind, id)) => format!("{}:{id}", kind.to_uppercase()),
        None => code.to_uppercase(),
    }
}

/// Who can lift a block with this code; none if it never blocks.
pub(crate) fn override_of(id: &str) -> Option<Override> {
    if id.starts_with(rules::CODE) {
        return Some(Override::Person);
    }
    codes().find(|code| code.id == id)?.lifted_by
}

pub(crate) fn meaning(id: &str) -> &'static str {
    if id.starts_with(rules::CODE) {
        return "a rule of the project or your own";
    }
    let found = codes().find(|code| code.id == id);
    found.map_or("", |code| code.meaning)
}

impl Overrides<'_> {
    /// Puts a warning in a block's place, if a person allowed it. What cannot be read allows
    /// nothing and is a fault.
    pub(crate) fn lift(
        self,
        event: &Event<'_>,
        block: &Finding,
        faults: &mut Vec<Fault>,
    ) -> Option<Finding> {
        let words = self.allowed(event, &block.code, faults)?.words();
        let lifted = format!("{}; but {words}", block.reason);
        Some(Finding {
            text: lifted.clone(),
            reason: lifted,
            ..block.clone()
        })
    }

    /// The override that holds for this event, which is then used up if it holds once.
    pub(crate) fn allowed(
        self,
        event: &Event<'_>,
        code: &str,
        faults: &mut Vec<Fault>,
    ) -> Option<Allowed> {
        self.ask(code, Use::Event(&self.key(event)), faults)
    }

    /// The same for a change that git is about to make.
    pub(crate) fn allowed_to_git(self, code: &str, faults: &mut Vec<Fault>) -> Option<Allowed> {
        self.ask(code, Use::Git, faults)
    }

    fn ask(self, code: &str, by: Use<'_>, faults: &mut Vec<Fault>) -> Option<Allowed> {
        if override_of(code) != Some(Override::Person) || !self.is_there() {
            return None;
        }
        self.take(code, by).unwrap_or_else(|why| {
            let text = format!("what was allowed with `tollgate allow` is not known: {why}");
            faults.push(Fault::new("overrides-unreadable", text));
            None
        })
    }

    /// Whether anything was ever allowed by this person.
    fn is_there(self) -> bool {
        tollgate_core::person::state_home(self.env).is_some_and(|home| home.join(STORE).is_dir())
    }

    /// An override that holds for this use. One that holds once is used up by it.
    fn take(self, code: &str, by: Use<'_>) -> Result<Option<Allowed>, String> {
        let repository = self.repository()?;
        let store = UserStore::open(self.env, &repository, STORE)?;
        let holds = |allowed: &Allowed| {
            allowed.code == code && allowed.until > self.now && allowed.is_free_for(by)
        };
        let all = store.list()?;
        let all: Vec<Allowed> = all.iter().filter_map(Allowed::read).filter(holds).collect();
        if let Some(always) = all.iter().find(|one| one.extent == Extent::Always) {
            return Ok(Some(always.clone()));
        }
        if all.is_empty() {
            return Ok(None);
        }
        store.change(HOOK_PATIENCE, |list| {
            self.forget_over(list);
            // Another hook may have been quicker. What an event used already goes first.
            let find = |list: &[Value], is_used: bool| {
                list.iter().position(|value| {
                    Allowed::read(value)
                        .is_some_and(|one| holds(&one) && one.used_by.is_some() == is_used)
                })
            };
            let at = find(list, true).or_else(|| find(list, false))?;
            let value = list.get_mut(at)?;
            let members = value.as_object_mut()?;
            match by {
                Use::Event(key) => {
                    members.insert("used_by".to_owned(), key.into());
                }
                Use::Git => {
                    members.entry("used_by").or_insert_with(|| "git".into());
                    members.insert("used_by_git".to_owned(), true.into());
                }
            }
            Allowed::read(value)
        })
    }

    /// Gives back what an event used up that was blocked all the same, by another code.
    pub(crate) fn give_back(self, event: &Event<'_>) -> Option<Fault> {
        if !self.is_there() {
            return None;
        }
        let key = self.key(event);
        let is_its_own = |value: &Value| {
            let one = Allowed::read(value);
            one.is_some_and(|one| one.used_by.as_ref() == Some(&key) && !one.used_by_git)
        };
        let given_back = || -> Result<(), String> {
            let repository = self.repository()?;
            let store = UserStore::open(self.env, &repository, STORE)?;
            if !store.list()?.iter().any(is_its_own) {
                return Ok(());
            }
            store.change(HOOK_PATIENCE, |list| {
                for value in list.iter_mut().filter(|value| is_its_own(value)) {
                    if let Some(members) = value.as_object_mut() {
                        members.shift_remove("used_by");
                    }
                }
            })
        };
        let text = |why| format!("what the blocked call did not use stays used up: {why}");
        let failed = given_back().err();
        failed.map(|why| Fault::new("overrides-unwritten", text(why)))
    }

    /// What is the same about one event however often it is delivered. One without an id is
    /// delivered once.
    fn key(self, event: &Event<'_>) -> String {
        let id = event.tool.as_ref().and_then(|tool| tool.id.as_deref());
        let id = id.map_or_else(|| self.now.to_string(), str::to_owned);
        let session = event.session.as_deref().unwrap_or_default();
        format!("{session} {} {id}", event.kind.as_str())
    }

    fn forget_over(self, list: &mut Vec<Value>) {
        // What a newer program wrote stays its own.
        list.retain(|value| Allowed::read(value).is_none_or(|one| one.until > self.now));
    }

    /// A person allows something.
    pub(crate) fn allow(
        self,
        _person: &Person,
        code: &str,
        extent: Extent,
        until: Timestamp,
        reason: &str,
    ) -> Result<Allowed, String> {
        let allowed = Allowed {
            code: code.to_owned(),
            extent,
            until,
            by: user_name(),
            reason: reason.to_owned(),
            used_by: None,
            used_by_git: false,
        };
        let repository = self.repository()?;
        let store = UserStore::open(self.env, &repository, STORE)?;
        store.change(PATIENCE, |list| {
            self.forget_over(list);
            list.push(allowed.to_json());
        })?;
        Ok(allowed)
    }

    pub(crate) fn list(self) -> Result<Vec<Allowed>, String> {
        let repository = self.repository()?;
        let list = UserStore::open(self.env, &repository, STORE)?.list()?;
        let all = list.iter().filter_map(Allowed::read);
        let holds = |one: &Allowed| one.until > self.now && one.used_by.is_none();
        Ok(all.filter(holds).collect())
    }

    /// Takes back what is allowed under a code; how many that were.
    pub(crate) fn revoke(self, code: &str) -> Result<usize, String> {
        let repository = self.repository()?;
        let store = UserStore::open(self.env, &repository, STORE)?;
        let holds = |value: &Value| {
            Allowed::read(value).is_some_and(|one| {
                let is_used = one.used_by.is_some() && one.used_by_git;
                one.code == code && one.until > self.now && !is_used
            })
        };
        if !store.list()?.iter().any(holds) {
            return Ok(0);
        }
        store.change(PATIENCE, |list| {
            let before = list.len();
            list.retain(|value| Allowed::read(value).is_none_or(|one| one.code != code));
            before - list.len()
        })
    }

    /// Writes down that something was allowed, or taken back.
    pub(crate) fn write_down(self, code: &str, text: &str) -> std::io::Result<()> {
        let entry = Entry {
            guard: Some("allow"),
            code: Some(code),
            reason: Some(text),
            ..Entry::new(self.now, Verdict::Change)
        };
        Journal::new(self.layout.local()).append(&entry)
    }

    fn repository(self) -> Result<Repository, String> {
        Repository::of(self.layout)
            .map_err(|error| format!("{}: {error}", self.layout.root().display()))
    }
}

impl Allowed {
    fn read(value: &Value) -> Option<Self> {
        let text = |key: &str| Some(value.get(key)?.as_str()?.to_owned());
        let until: Timestamp = text("until")?.parse().ok()?;
        Some(Self {
            code: text("code")?,
            extent: if value.get("once") == Some(&Value::Bool(false)) {
                Extent::Always
            } else {
                Extent::Once
            },
            until,
            by: text("by")?,
            reason: text("reason")?,
            used_by: text("used_by"),
            used_by_git: value.get("used_by_git") == Some(&Value::Bool(true)),
        })
    }

    /// Whether it was not used up, or by this use itself.
    fn is_free_for(&self, by: Use<'_>) -> bool {
        match (&self.used_by, by) {
            (_, Use::Git) => !self.used_by_git,
            (None, Use::Event(_)) => true,
            // The agent delivers an event to each registration.
            (Some(used), Use::Event(key)) => used == key,
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "code": self.code, "once": self.extent == Extent::Once,
            "until": self.until.to_string(), "by": self.by, "reason": self.reason,
        })
    }

    /// Who allowed it, how often, and why.
    pub(crate) fn words(&self) -> String {
        let until = self.until.strftime("%Y-%m-%d %H:%M UTC");
        let how = match self.extent {
            Extent::Once => format!("once, until {until}"),
            Extent::Always => format!("until {until}"),
        };
        format!("{} allowed {} {how}: {}", self.by, self.code, self.reason)
    }
}
