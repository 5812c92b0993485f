//! Which plan is meant: the pinned one, else the one that changed last, without those that other
//! sessions work on.
//!
//! After a fresh clone all files have about the same time. Then the plan whose state has work
//! open goes before the others.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tollgate_core::project::Layout;
use tollgate_store::fs::{self, Durability};

use super::home::{LONGEST_NAME, Plan, StateFile};
use crate::ledger::writes;

/// Changes within this time of each other are one checkout, not two people's work.
pub(crate) const ONE_CHECKOUT: Duration = Duration::from_secs(1);

/// The choice, and what should be known about it.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) plan: Option<Plan>,
    pub(crate) notes: Vec<String>,
}

/// Chooses among the plans of a project, for a session of an agent where one asks.
pub(crate) fn choose(layout: &Layout, session: Option<&str>) -> Chosen {
    let mut chosen = Chosen::default();
    if let Some(id) = pinned(layout) {
        let plan = Plan::named(layout, &id).filter(|plan| plan.dir().is_dir());
        if plan.is_some() {
            chosen.plan = plan;
            return chosen;
        }
        chosen.notes.push(format!(
            "the pinned plan {id:?} is gone; `tollgate plan use` chooses another"
        ));
    }
    let plans = all(layout, &mut chosen.notes);
    chosen.plan = if let [only] = plans.as_slice() {
        // Nothing to compare, so nothing is measured, not even whether it has begun.
        Some(only.clone())
    } else {
        let taken = session.map(|session| taken(layout, session));
        let is_taken = |plan: &Plan| taken.as_ref().is_some_and(|all| all.contains(plan.id()));
        let (others, free): (Vec<Plan>, Vec<Plan>) = plans.into_iter().partition(is_taken);
        newest(&free).or_else(|| newest(&others))
    };
    chosen
}

/// The plans that other sessions wrote and this one did not. To a session that has its own plan,
/// a session that wrote another one has that; to one that has none, only those who write now.
fn taken(layout: &Layout, session: &str) -> BTreeSet<String> {
    let plan_of = |file: &String| {
        let inside = Path::new(file)
            .strip_prefix(layout.plans_home_name())
            .ok()?;
        let name = inside.components().next()?.as_os_str();
        Some(name.to_string_lossy().into_owned())
    };
    let own = writes::by(&layout.local(), session);
    let own: BTreeSet<String> = own.iter().filter_map(plan_of).collect();
    let written = if own.is_empty() {
        writes::by_others(&layout.local(), session)
    } else {
        writes::by_others_within(&layout.local(), session, Duration::MAX)
    };
    let others: BTreeSet<String> = written.iter().filter_map(plan_of).collect();
    others.difference(&own).cloned().collect()
}

/// All plans of a project by name.
pub(crate) fn all(layout: &Layout, notes: &mut Vec<String>) -> Vec<Plan> {
    let Ok(entries) = layout.plans_home().read_dir() else {
        return vec![];
    };
    let mut plans = Vec::new();
    for entry in entries.flatten() {
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let name = entry.file_name();
        match name.to_str().and_then(|name| Plan::named(layout, name)) {
            Some(plan) => plans.push(plan),
            None if name.as_encoded_bytes().starts_with(b".") => {}
            None => notes.push(format!(
                "the directory {} is skipped: a plan's name is one line of at most {LONGEST_NAME} bytes of text",
                name.to_string_lossy().escape_debug()
            )),
        }
    }
    plans.sort_by(|a, b| a.id().cmp(b.id()));
    plans
}

fn newest(plans: &[Plan]) -> Option<Plan> {
    let mut timed: Vec<(SystemTime, &Plan)> = plans
        .iter()
        .filter_map(|plan| Some((changed(plan.dir())?, plan)))
        .collect();
    // Newest first; of the same time by name, because the sort keeps their order.
    timed.sort_by(|(a, _), (b, _)| b.cmp(a));
    let (latest, first) = *timed.first()?;
    let tied = timed.iter().take_while(|(time, _)| {
        latest
            .duration_since(*time)
            .is_ok_and(|apart| apart <= ONE_CHECKOUT)
    });
    let open = tied
        .map(|(_, plan)| *plan)
        .find(|plan| matches!(plan.state(), StateFile::Read(state) if state.is_open()));
    Some(open.unwrap_or(first).clone())
}

/// When a plan's Markdown or state last changed; none if it has neither.
fn changed(dir: &Path) -> Option<SystemTime> {
    let entries = dir.read_dir().ok()?.flatten();
    let files = entries.filter(|entry| {
        is_planned(&entry.file_name()) && entry.file_type().is_ok_and(|kind| kind.is_file())
    });
    files
        .filter_map(|entry| entry.metadata().ok()?.modified().ok())
        .max()
}

fn is_planned(name: &std::ffi::OsStr) -> bool {
    name == "state.json" || name.as_encoded_bytes().ends_with(b".md")
}

fn pin(layout: &Layout) -> PathBuf {
    layout.plans_local().join("pinned")
}

/// The plan that a person chose.
pub(crate) fn pinned(layout: &Layout) -> Option<String> {
    let contents = fs::read_own(&pin(layout), 4096).ok()??;
    let id = String::from_utf8(contents.bytes).ok()?;
    Some(id.trim_end_matches('\n').to_owned()).filter(|id| !id.is_empty())
}

/// Chooses this plan, whatever changes, or none in particular.
pub(crate) fn set_pinned(layout: &Layout, id: Option<&str>) -> std::io::Result<()> {
    fs::private_directory(&layout.plans_local())?;
    let text = id.map(|id| format!("{id}\n")).unwrap_or_default();
    fs::replace(&pin(layout), text.as_bytes(), Durability::Lazy).map_err(std::io::Error::other)
}
