//! What is going on in a project, gathered from the files that are there.
//!
//! A view never fails: what cannot be read becomes a [`Trouble`] in it, because a person who
//! looks is most in need of it when something is broken. Texts are as they were written; a caller that
//! shows them escapes them.

mod gates;
mod journal;
mod plan;
mod workflow;

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::Serialize;
use tollgate_core::context::Inputs;
use tollgate_core::env::Env;
use tollgate_core::git::Repository;
use tollgate_core::project::Layout;
use tollgate_core::workflow::transition::Refusal;
use tollgate_store::timestamp::iso;

use crate::agents::Places;
use crate::agents::claude::mods;
use crate::agents::read;
use crate::armed::{self, Arming};
use crate::git::{AT_ONCE, PATIENCE};
use crate::journal::{Entry, Follower, Tail};
use crate::overrides::{Allowed, Overrides};
use crate::plain::count;
use crate::workflow_config::WorkflowConfig;

pub(crate) use gates::{Configured, Depth, Finding, Gate, Gates, Outputs, Reviewed};
pub(crate) use journal::{Past, Point, Tally};
pub(crate) use plan::Plan;
pub(crate) use workflow::{Phase, Running, Workflow};

/// How much of the journal is read for one view: a day of a busy project.
const LOOK_BACK: u64 = 256 << 10;

/// How often git is asked whether what the gates check has changed.
const ASKED_AFTER: Duration = Duration::from_secs(2);

/// A project at one moment.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ProjectView {
    pub(crate) at: String,
    /// The name of the project's directory.
    pub(crate) project: String,
    pub(crate) root: String,
    pub(crate) branch: Option<String>,
    /// Whose configuration and workflow rule here, where that is not plain.
    pub(crate) ruled_by: Vec<String>,
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

/// What the gates came to, without the past.
pub(crate) fn gates(layout: &Layout, env: &Env, depth: Depth) -> Gates {
    let past = journal::LastOfGates::default();
    gates::read(layout, env, &past, depth, &mut Vec::new()).0
}

/// A reader that looks at a project, perhaps repeatedly: the journal is read once, and then only
/// what was added to it.
#[derive(Debug)]
pub(crate) struct Observer {
    layout: Layout,
    env: Env,
    past: journal::Gatherer,
    /// None if the project is looked at once.
    follower: Option<Follower>,
    depth: Depth,
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
            follower: Some(follower),
            depth: Depth {
                patience: AT_ONCE,
                outputs: Outputs::All,
            },
            watched: Vec::new(),
            inputs: None,
        }
    }

    /// For one view, soon: reads the end of the journal, and the output of failing gates alone.
    pub(crate) fn brief(layout: Layout, env: Env) -> Self {
        Self {
            past: journal::Gatherer::of_tail(&Tail::of(&layout.local(), LOOK_BACK)),
            layout,
            env,
            follower: None,
            depth: Depth {
                patience: PATIENCE,
                outputs: Outputs::Failing,
            },
            watched: Vec::new(),
            inputs: None,
        }
    }

    /// Reads what was added to the journal. Says how many decisions there are now, in total.
    pub(crate) fn poll(&mut self) -> u64 {
        for entry in self.follower.iter_mut().flat_map(Follower::poll) {
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
        let mut troubles: Vec<Trouble> = self.past.trouble(now).into_iter().collect();
        let agents = agents(&self.env, &self.layout, now, &mut troubles);
        let (workflow, state_file) = workflow(&self.layout, &self.env, now, &mut troubles);
        let workflow = limits(&self.layout, &self.env, now, workflow, &mut troubles);
        let journal = self.past.finish(now);
        let overrides = Overrides {
            layout: &self.layout,
            env: &self.env,
            now,
        };
        // A project in no repository has none.
        let allowed = overrides.list().unwrap_or_default();
        let (gates, mut watched) = gates::read(
            &self.layout,
            &self.env,
            &self.past.gates,
            self.depth,
            &mut troubles,
        );
        let (plan, files) = plan::read(&self.layout, &mut troubles);
        watched.extend(files);
        watched.push(state_file);
        self.watched = watched;
        let root = self.layout.root();
        let troubles = seen_from(root, troubles);
        let repository = Repository::discover(root);
        ProjectView {
            at: iso(now),
            project: root
                .file_name()
                .unwrap_or(root.as_os_str())
                .to_string_lossy()
                .into_owned(),
            root: root.display().to_string(),
            branch: repository.and_then(|one| one.head().branch().map(str::to_owned)),
            ruled_by: ruled_by(&self.layout),
            agents,
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

/// Who runs Tollgate here, and what is wrong with their settings.
fn agents(env: &Env, layout: &Layout, now: Timestamp, troubles: &mut Vec<Trouble>) -> Vec<Arming> {
    let places = Places::around(layout.root().to_owned(), env, crate::environment::variable);
    let reading = read::read(&places);
    let mut wrong = |what: String| {
        troubles.push(Trouble {
            what,
            next: "`tollgate doctor` says more".to_owned(),
        });
    };
    for off in &reading.switched_off {
        let file = places.shown(&off.file);
        wrong(format!(
            "{} runs no hooks: `{}` in {file}",
            off.agent, off.key
        ));
    }
    for (agent, file, flaw) in &reading.flaws {
        let file = places.shown(file);
        wrong(format!("{agent}: {file} cannot be read: {flaw}"));
    }
    mods::words(&mods::find(&places), &places).for_each(wrong);
    armed::all(&places, &reading, Some(layout), now)
}

/// What the project's own limits say about its workflow.
fn limits(
    layout: &Layout,
    env: &Env,
    now: Timestamp,
    workflow: Workflow,
    troubles: &mut Vec<Trouble>,
) -> Workflow {
    // A project without the workflow's home has nothing to be asked for.
    if !layout.workflow_home().is_dir() {
        return workflow;
    }
    let config = match WorkflowConfig::read(layout.clone(), env.clone(), now) {
        Ok(config) => config,
        Err(Refusal { what, next, .. }) => {
            let broken = Workflow::Broken { what: what.clone() };
            troubles.push(Trouble { what, next });
            return broken;
        }
    };
    if let Workflow::Running(running) = &workflow {
        let stale = running.stale(&config.requirements);
        let stale = running.due.as_ref().zip(stale);
        let stale = stale.map(|(due, (minutes, limit))| {
            let phase = &due.phase;
            format!("phase {phase} has been running for {minutes} minutes (more than {limit})")
        });
        let waiting = (running.escalations > 0).then(|| {
            let waiting = count(running.escalations, "escalation");
            let verb = if running.escalations == 1 {
                "waits"
            } else {
                "wait"
            };
            format!("{waiting} {verb} for a person")
        });
        troubles.extend(stale.into_iter().chain(waiting).map(|what| Trouble {
            what,
            next: "`tollgate workflow status` shows what can be done".to_owned(),
        }));
    }
    workflow
}

/// As seen from the project, and once each: agents share files.
fn seen_from(root: &Path, mut troubles: Vec<Trouble>) -> Vec<Trouble> {
    let root = format!("{}/", root.display());
    for trouble in &mut troubles {
        trouble.what = trouble.what.replace(&root, "");
    }
    let mut seen = BTreeSet::new();
    troubles.retain(|trouble| seen.insert(trouble.what.clone()));
    troubles
}

/// What rules in a linked work tree, and in a project inside of another one.
fn ruled_by(layout: &Layout) -> Vec<String> {
    let root = layout.root();
    let file = layout.config_file();
    let mut said = Vec::new();
    if !file.starts_with(root) {
        said.push(format!("of the main work tree: {}", file.display()));
    }
    let main = layout.workflow_root();
    if main != root {
        said.push(format!(
            "workflow of the main work tree: {}",
            main.display()
        ));
    }
    let top = Repository::discover(root).map(|repository| repository.work_tree);
    let above = root.ancestors().skip(1);
    let above = above.take_while(|place| top.as_ref().is_some_and(|top| place.starts_with(top)));
    let mut above = above.filter_map(Layout::at);
    if let Some(outer) = above.find(|outer| outer.config_file().exists()) {
        let outer = outer.config_file();
        said.push(format!(
            "the nearest tollgate.toml, not {}",
            outer.display()
        ));
    }
    said
}
