//! The reviewers that a project's gates and plans name: are they there, and is somebody logged
//! in? Nothing is asked of them: a question would cost.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tollgate_core::project::Layout;

use super::{Finding, Patient};
use crate::agent::Places;
use crate::gate::config::Config;
use crate::plan;
use crate::review::Reviewer;
use crate::review::cli::Health;

/// How one can tell that somebody is logged in: a file in the agent's home, or a variable.
struct Login {
    reviewer: &'static str,
    home: fn(&Places) -> Option<&PathBuf>,
    file: &'static str,
    variables: &'static [&'static str],
}

const LOGINS: &[Login] = &[
    Login {
        reviewer: "claude",
        home: |places| places.claude.as_ref(),
        file: ".credentials.json",
        variables: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
        ],
    },
    Login {
        reviewer: "codex",
        home: |places| places.codex.as_ref(),
        file: "auth.json",
        variables: &["OPENAI_API_KEY", "CODEX_API_KEY"],
    },
    Login {
        reviewer: "gemini",
        home: |places| places.gemini.as_ref(),
        file: "oauth_creds.json",
        variables: &[
            "GEMINI_API_KEY",
            "GOOGLE_API_KEY",
            "GOOGLE_APPLICATION_CREDENTIALS",
        ],
    },
    Login {
        reviewer: "github-copilot",
        home: |places| places.copilot.as_ref(),
        file: "config.json",
        variables: &["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"],
    },
    Login {
        reviewer: "cursor",
        home: |places| places.cursor.as_ref(),
        file: "cli-config.json",
        variables: &["CURSOR_API_KEY"],
    },
];

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
                "install it, or name another one; until then its reviews are not made",
            ));
            continue;
        }
        if !is_logged_in(patient, &name) {
            findings.push(Finding::new(
                "reviewer-logged-out",
                format!("there is no sign that somebody is logged in to {name}"),
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
    if plan::choice::choose(layout).plan.is_some() {
        let reviewer = plan::config::Config::load(layout).reviewer;
        let name = reviewer.as_ref().map_or("claude", Reviewer::name);
        names.insert(name.to_owned());
    }
    names
}

/// A keychain does not tell, so only where logins are files.
fn is_logged_in(patient: &Patient, name: &str) -> bool {
    let Some(login) = LOGINS.iter().find(|login| login.reviewer == name) else {
        return true;
    };
    let has =
        |variable: &&str| crate::environment::variable(variable).is_some_and(|v| !v.is_empty());
    cfg!(target_os = "macos")
        || login.variables.iter().any(has)
        || (login.home)(&patient.places).is_some_and(|home| home.join(login.file).is_file())
}
