//! What a project would run at an agent's stop and what its rules would say, and whether they may.
//!
//! Only what decides which program runs, and where, is in the set of commands, and what rules say to
//! the model. Comments, globs, prompts, limits and names may change without a question.

use serde_json::json;
use tollgate_core::env::Env;
use tollgate_core::project::{Layout, lexical};

use crate::config::{Layer, Merged};
use crate::gate::config::{Config, ConfigError};
use crate::plan;
use crate::review::Reviewer;
use crate::trust::{Commands, Consent, Registration, Untrusted};

/// Whether what the project names may run at this stop.
pub(crate) fn consent(
    registration: Registration,
    layout: &Layout,
    env: &Env,
) -> Result<Consent, Untrusted> {
    registration.consent(layout, env, || {
        let gates = Config::in_force(layout, env);
        let has_gates = match &gates {
            Ok(config) => config.stop_hook.enabled,
            // There are gates, and nobody knows which: that is not passed over in silence.
            Err(ConfigError::Wrong(_)) => true,
            Err(ConfigError::Missing(_)) => false,
        };
        (of(layout, env, gates.as_ref().ok()), has_gates)
    })
}

/// Whether what the project's rules say may be shown to the agent.
pub(crate) fn are_trusted(registration: Registration, layout: &Layout, env: &Env) -> bool {
    registration.trusts(layout, env, || {
        of(layout, env, Config::in_force(layout, env).ok().as_ref())
    })
}

/// The commands of a project's gates and plans, and the texts of its rules.
pub(crate) fn of(layout: &Layout, env: &Env, gates: Option<&Config>) -> Commands {
    let mut all = Commands::default();
    if let Some(config) = gates {
        add_gates(&mut all, config);
    }
    if layout.plans_home().is_dir() {
        let reviewer = plan::config::Config::load(layout, env).reviewer;
        let name = reviewer
            .as_ref()
            .map_or(plan::reviewer::PROGRAM, Reviewer::name);
        // The usual reviewer writes its review itself, so it may do anything.
        let how = if reviewer.is_some() {
            ", which only reads"
        } else {
            ", without asking for permissions"
        };
        all.add(
            &json!({ "plan_reviewer": name }),
            &format!("plan reviews  {name}{how}"),
        );
    }
    add_texts_of_rules(&mut all, layout, env);
    all
}

/// What the project's rules say to the model. Their effects need no trust, their words do.
fn add_texts_of_rules(all: &mut Commands, layout: &Layout, env: &Env) {
    let rules = Merged::in_force(layout, env).rules;
    // A repository can commit the person's own file of the project, too.
    for rule in rules.iter().filter(|rule| rule.place.layer != Layer::User) {
        let texts = ["reason", "instead"].map(|key| rule.text(key));
        if texts.iter().any(Option::is_some) {
            let words: Vec<&str> = texts.iter().flatten().copied().collect();
            let id = &rule.id;
            all.add(
                &json!({ "rule": id, "says": words }),
                &format!("rule {id} says  {}", words.join(" ")),
            );
        }
    }
}

fn add_gates(all: &mut Commands, config: &Config) {
    for (name, check) in &config.checks {
        let place = check.working_directory.as_deref();
        let shown = place.map_or(String::new(), |place| format!("  (in {place})"));
        all.add(
            &json!({ "run": check.command, "in": place }),
            &format!("check {name}  {}{shown}", check.command.trim()),
        );
    }
    for (name, review) in &config.reviews {
        let reviewers = if review.cli_preference.is_empty() {
            &config.reviewers
        } else {
            &review.cli_preference
        };
        let model = review.model.as_deref();
        for reviewer in reviewers {
            // Only the reviewer `command` runs the line.
            let line = review.command.as_deref().filter(|_| reviewer == "command");
            let by = line.map_or(reviewer.as_str(), str::trim);
            let with = model.map_or(String::new(), |model| format!("  (model {model})"));
            all.add(
                &json!({ "reviewer": reviewer, "model": model, "run": line }),
                &format!("review {name}  {by}{with}"),
            );
        }
    }
    // Where logs are written is no command, but files outside of the project are not its own.
    let logs = lexical(&config.log_dir);
    if !logs.starts_with(&config.root) {
        let logs = logs.display().to_string();
        all.add(&json!({ "logs": logs }), &format!("logs  {logs}"));
    }
}
