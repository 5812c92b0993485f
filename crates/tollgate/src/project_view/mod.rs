//! What is going on in a project, gathered from the files that are there.
//!
//! A view never fails: what cannot be read becomes a [`Trouble`] in it, because a person who
//! looks is most in need of it when something is broken. Texts are as they were written; a caller that
//! shows them escapes them.

mod gates;
mod journal;
mod plan;
mod workflow;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::Serialize;
use tollgate_core::context::Inputs;
use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_store::timestamp::iso;

use crate::armed::{self, Arming};
use crate::journal::{Entry, Follower};
use crate::overrides::{Allowed, Overrides};

pub(crate) use gates::{Configured, Finding, Gate, Gates, GatesNow, Reviewed};
pub(crate) use journal::{Counts, Past, Point};
pub(crate) use plan::Plan;
pub(crate) use workflow::{Phase, Running, Workflow};

/// How often git is asked whether what the gates check has changed.
const ASKED_AFTER: Duration = Duration::from_secs(2);

/// A project at one moment.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ProjectView {
    pub(crate) at: String,
    /// The name of the project's directory.
    pub(crate) project: String,
    pub(crate) root: String,
    /// Agents that Tollgate is registered with, and whether they are under guard.
    pub(crate) agents: Vec<Arming>,
    pub(crate) workflow: Workflow,
    pub(crate) gates: Gates,
    pub(crate) plan: Option<Plan>,
    pub(crate) journal: Past,
    /// What a person allowed for now, in words.
    pub(crate) allowed: Vec<String>,
    /// Whether overrides can be given here: only on a page that a person started at a terminal.
    #[serde(skip)]
    pub(crate) can_allow: bool,
    /// What is wrong now, and what to do about it.
    pub(crate) troubles: Vec<Trouble>,
}

/// Something that is wrong, for a person.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Trouble {
    pub(crate) what: String,
    pub(crate) next: String,
}

/// The plan that the project works on.
pub(crate) fn plan(layout: &Layout, troubles: &mut Vec<Trouble>) -> Option<Plan> {
    plan::read(layout, troubles).0
}

/// The project's workflow, and the file that says it.
pub(crate) fn workflow(
    layout: &Layout,
    env: &Env,
    now: Timestamp,
    troubles: &mut Vec<Trouble>,
) -> (Workflow, PathBuf) {
    let inputs = Inputs::new(layout.clone(), env.clone(), None, now);
    if let Err(fault) = inputs.project() {
        troubles.push(Trouble {
            what: fault.text.clone().into_owned(),
            next: "correct monorepo.json, or name the project in ISDLC_PROJECT".to_owned(),
        });
    }
    let file = inputs.state_file();
    (workflow::read(&file, now, troubles), file)
}

/// A reader that looks at a project repeatedly: the journal is read once, and then only what
/// was added to it.
#[derive(Debug)]
pub(crate) struct Observer {
    layout: Layout,
    env: Env,
    past: journal::Gatherer,
    follower: Follower,
    /// What the last view was made from, besides the journal.
    watched: Vec<PathBuf>,
    /// The state of the gates' inputs, and when it was last asked for.
    inputs: Option<(Instant, Option<String>)>,
}

impl Observer {
    pub(crate) fn new(layout: Layout, env: Env) -> Self {
        let local = layout.local();
        let (entries, follower) = Follower::with_past(&local);
        let mut past = journal::Gatherer::default();
        for entry in entries {
            past.add(&entry);
        }
        Self {
            layout,
            env,
            past,
            follower,
            watched: Vec::new(),
            inputs: None,
        }
    }

    /// Reads what was added to the journal. Says how many decisions there are now, in total.
    pub(crate) fn poll(&mut self) -> u64 {
        for entry in self.follower.poll() {
            self.past.add(&entry);
        }
        self.past.total()
    }

    /// The decisions after the first `seen`, oldest first, as far as they are kept.
    pub(crate) fn since(&self, seen: u64) -> Vec<Entry> {
        self.past.since(seen)
    }

    /// Another number when another view can be expected.
    pub(crate) fn print(&mut self) -> u64 {
        let is_old = |(at, _): &(Instant, _)| at.elapsed() >= ASKED_AFTER;
        if self.inputs.as_ref().is_none_or(is_old) {
            let mark = gates::mark(&self.layout, &self.env);
            self.inputs = Some((Instant::now(), mark));
        }
        let mut hasher = DefaultHasher::new();
        self.past.total().hash(&mut hasher);
        self.inputs.as_ref().map(|(_, mark)| mark).hash(&mut hasher);
        for path in &self.watched {
            let seen = path.metadata().ok();
            let seen = seen.map(|meta| (meta.len(), meta.modified().ok()));
            seen.hash(&mut hasher);
        }
        hasher.finish()
    }

    /// The project as it is now.
    pub(crate) fn view(&mut self, now: Timestamp) -> ProjectView {
        self.poll();
        let mut troubles = Vec::new();
        let (workflow, state_file) = workflow(&self.layout, &self.env, now, &mut troubles);
        let journal = self.past.finish();
        let overrides = Overrides {
            layout: &self.layout,
            env: &self.env,
            now,
        };
        // A project in no repository has none.
        let allowed = overrides.list().unwrap_or_default();
        let (gates, mut watched) =
            gates::read(&self.layout, &self.env, &self.past.gates, &mut troubles);
        let (plan, files) = plan::read(&self.layout, &mut troubles);
        watched.extend(files);
        watched.push(state_file);
        self.watched = watched;
        let root = self.layout.root();
        ProjectView {
            at: iso(now),
            project: root
                .file_name()
                .unwrap_or(root.as_os_str())
                .to_string_lossy()
                .into_owned(),
            root: root.display().to_string(),
            agents: armed::here(&self.env, &self.layout, now),
            workflow,
            gates,
            plan,
            journal,
            allowed: allowed.iter().map(Allowed::words).collect(),
            can_allow: false,
            troubles,
        }
    }
}
