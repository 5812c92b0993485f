//! The reviewers that a project's gates and plans name: are they there, and is a user logged
//! in? Nothing is asked of them: a question would cost.

use std::collections::BTreeSet;

use tollgate_core::project::Layout;

use super::{Finding, Patient};
use crate::agents::AGENTS;
use crate::gate::config::Config;
use crate::plan;
use crate::review::Reviewer;
use crate::review::cli::Health;

pub(super) fn examine<'p>(patient: &'p Patient, layout: &'p Layout) -> Vec<Finding<'p>> {
    let mut findings = Vec::new();
    for name in wanted(patient, layout) {
        let Some(reviewer) = Reviewer::named(&name, None) else {
            continue; // `command` is the project's own, and wrong names are the gates' finding.
        };
        let search = patient.env.path.as_deref().unwrap_or_default();
        if let Health::Missing(programs) = reviewer.health(search) {
            findings.push(Finding::new(
                "reviewer-missing",
                format!(
                    "the reviewer {name} is not installed ({})",
                    programs.join(" or ")
                ),
                "install it, or name another one; until then its reviews do not run",
            ));
            continue;
        }
        if !is_logged_in(patient, &name) {
            findings.push(Finding::new(
                "reviewer-logged-out",
                format!("no login was found for {name}"),
                "start it once and log in, or set its key; if it keeps its login elsewhere, this is a false alarm",
            ));
        }
    }
    findings
}

/// The reviewers that gates and plans would ask.
fn wanted(patient: &Patient, layout: &Layout) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    if let Ok(config) = Config::load(layout, &patient.env) {
        for review in config.reviews.values().filter(|review| review.enabled) {
            let preference = if review.cli_preference.is_empty() {
                &config.reviewers
            } else {
                &review.cli_preference
            };
            names.extend(preference.iter().cloned());
        }
    }
    if plan::choice::choose(layout, None).plan.is_some() {
        let reviewer = plan::config::Config::load(layout, &patient.env).reviewer;
        let name = reviewer
            .as_ref()
            .map_or(plan::reviewer::PROGRAM, Reviewer::name);
        names.insert(name.to_owned());
    }
    names
}

/// A keychain does not tell, so only where logins are files.
fn is_logged_in(patient: &Patient, name: &str) -> bool {
    let mut rows = AGENTS
        .iter()
        .filter_map(|agent| Some((*agent, agent.reviewer.as_ref()?)));
    let Some((agent, reviewer)) = rows.find(|(_, reviewer)| reviewer.name == name) else {
        return true;
    };
    let has =
        |variable: &&str| crate::environment::variable(variable).is_some_and(|v| !v.is_empty());
    cfg!(target_os = "macos")
        || reviewer.login_variables.iter().any(has)
        || patient
            .places
            .home_of(agent)
            .is_some_and(|home| home.join(reviewer.login_file).is_file())
}
