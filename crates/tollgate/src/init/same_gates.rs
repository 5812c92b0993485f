//! Whether two configurations have the same gates: what they run, how, and which file of the project
//! calls for which.

use std::collections::BTreeSet;

use crate::gate::config::{Check, Config, Review};
use crate::gate::jobs::{Gate, Site, Which, plan};

pub(super) fn difference(old: &Config, new: &Config, files: &[String]) -> Option<String> {
    let settings = [settings(old), settings(new)];
    if let [old, new] = &settings
        && let Some((before, after)) = old.iter().zip(new).find(|(before, after)| before != after)
    {
        return Some(format!("{before} would become {after}"));
    }
    for file in files {
        let changed = std::slice::from_ref(file);
        for site in [Site::Local, Site::Ci] {
            let before = called(old, changed, site);
            let after = called(new, changed, site);
            if let Some(gate) = before.symmetric_difference(&after).next() {
                return Some(format!(
                    "a change of {file} would call for another gate: {gate}"
                ));
            }
        }
    }
    None
}

fn settings(config: &Config) -> Vec<String> {
    let stop = config.stop_hook;
    let most = if config.allow_parallel {
        config.max_parallel
    } else {
        Some(1)
    };
    vec![
        format!("base {}", config.base_branch),
        format!("parallel {most:?}"),
        format!("max_retries {}", config.max_retries),
        format!("keep_logs {}", config.max_previous_logs),
        format!("new_findings {}", config.rerun_new_issue_threshold),
        format!("reviewers {:?}", config.reviewers),
        format!("on_stop {}", stop.enabled),
        format!("deadline {:?}", stop.deadline),
        format!("loop_guard {:?}", stop.loop_guard),
    ]
}

/// The gates that a change calls for, in words.
fn called(config: &Config, changed: &[String], site: Site) -> BTreeSet<String> {
    let jobs = plan(config, changed, Which::All, site);
    let said = jobs.iter().map(|job| match &job.gate {
        Gate::Check { check, directory } => check_words(check, directory),
        Gate::Review(review) => review_words(config, review, &job.entry_point),
    });
    said.collect()
}

fn check_words(check: &Check, directory: &str) -> String {
    let Check {
        command,
        working_directory: _,
        parallel,
        run_in_ci: _,
        run_locally: _,
        timeout,
        fail_fast,
        fix_instructions,
        evidence: _,
    } = check;
    format!(
        "{command:?} in {directory:?}, parallel {parallel}, timeout {timeout:?}, \
         fail_fast {fail_fast}, fix {fix_instructions:?}"
    )
}

fn review_words(config: &Config, review: &Review, directory: &str) -> String {
    let reviewers = if review.cli_preference.is_empty() {
        &config.reviewers
    } else {
        &review.cli_preference
    };
    format!(
        "review of {directory:?} by {reviewers:?}, model {:?}, {} times, parallel {}, \
         timeout {:?}, command {:?}, prompt {:?}",
        review.model,
        review.num_reviews,
        review.parallel,
        review.timeout,
        review.command,
        review.prompt
    )
}
