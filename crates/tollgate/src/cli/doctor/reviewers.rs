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

/// How one can tell that somebody is logged in: a file, or a variable.
struct Login {
    reviewer: &'static str,
    files: fn(&Places) -> Vec<PathBuf>,
    variables: &'static [&'static str],
}

const LOGINS: &[Login] = &[
    Login {
        reviewer: "claude",
        files: |places| below(places.claude.as_ref(), &[".credentials.json"]),
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
        files: |places| below(places.codex.as_ref(), &["auth.json"]),
        variables: &["OPENAI_API_KEY", "CODEX_API_KEY"],
    },
    Login {
        reviewer: "gemini",
        files: |places| below(places.gemini.as_ref(), &["oauth_creds.json"]),
        variables: &[
            "GEMINI_API_KEY",
            "GOOGLE_API_KEY",
            "GOOGLE_APPLICATION_CREDENTIALS",
        ],
    },
    Login {
        reviewer: "github-copilot",
        files: |places| below(places.copilot.as_ref(), &["config.json"]),
        variables: &["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"],
    },
    Login {
        reviewer: "cursor",
        files: |places| below(places.cursor.as_ref(), &["cli-config.json"]),
        variables: &["CURSOR_API_KEY"],
    },
];

fn below(home: Option<&PathBuf>, names: &[&str]) -> Vec<PathBuf> {
    let join = |home: &PathBuf| names.iter().map(|name| home.join(name)).collect();
    home.map(join).unwrap_or_default()
}

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
    let has = |variable: &&str| crate::hook::variable(variable).is_some_and(|v| !v.is_empty());
    cfg!(target_os = "macos")
        || login.variables.iter().any(has)
        || (login.files)(&patient.places)
            .iter()
            .any(|file| file.is_file())
}
