//! Checks across all files: unknown names.

use std::collections::BTreeSet;
use std::path::Path;

use crate::gate::jobs::{each_directory, is_glob};
use crate::review::Reviewer;

use super::{Config, EntryPoint, Node, Reader, nearest};
use crate::config::Place;

/// Whether no path that git tells can be in this one.
fn leads_nowhere(path: &str) -> bool {
    let odd = |part: &str| matches!(part, "" | "." | "..");
    path != "." && path.split('/').any(odd)
}

/// Whether this was meant to be the name of something that is there, such as `app/[id]`, and is
/// read as a glob that does not match it.
fn is_mistaken_glob(root: &Path, path: &str) -> bool {
    is_glob(path)
        && each_directory(path).is_none()
        && root.join(path).exists()
        && !fast_glob::glob_match(path, path)
}

impl Reader<'_> {
    /// What only all files together can tell: names that lead nowhere.
    pub(super) fn cross_check(&mut self, config: &Config, file: &Path, node: &Node) {
        let list = node.get("entry_points");
        let entries = list.map(Node::items).unwrap_or_default();
        if entries.is_empty() && list.is_some() {
            let fix = Some("add `- path: \".\"` with the names of checks");
            self.examiner(file)
                .error(node.place, "entry_points", "the list is empty", fix);
        }
        let is_in_logs = |entry: &EntryPoint| {
            let path = entry.path.split(['*', '?', '[', '{']).next();
            let path = path.unwrap_or_default().trim_end_matches('/');
            config.root.join(path).starts_with(&config.log_dir)
        };
        if config.root.starts_with(&config.log_dir) || config.entry_points.iter().any(is_in_logs) {
            let place = node
                .get("log_dir")
                .map_or_else(Place::default, |node| node.place);
            let what = "the logs need a directory of their own";
            let fix = Some("for example `log_dir: gauntlet_logs`");
            self.examiner(file).error(place, "log_dir", what, fix);
        }
        for (index, (entry, read)) in entries.iter().zip(&config.entry_points).enumerate() {
            let key = format!("entry_points[{index}]");
            self.entry_path(config, file, (&key, entry), &read.path);
            let checks = config.checks.keys().map(String::as_str).collect();
            self.gate_names(file, (&key, entry), ("checks", "check", "yml"), &checks);
            let reviews = config.reviews.keys().map(String::as_str).collect();
            self.gate_names(file, (&key, entry), ("reviews", "review", "md"), &reviews);
        }
        self.reviewers(config, file, node);
    }

    /// Whether files can be in an entry point's path, which was read as `path`.
    fn entry_path(
        &mut self,
        config: &Config,
        file: &Path,
        (key, entry): (&str, &Node),
        path: &str,
    ) {
        let (what, fix) = if leads_nowhere(path) {
            (
                format!("no file can be in {path:?}, so its gates never run"),
                "write it relative to the project's root, for example `src`".to_owned(),
            )
        } else if is_mistaken_glob(&config.root, path) {
            let escaped = path.replace(['[', '{', '?', '*'], "?");
            (
                format!(
                    "{path:?} is read as a glob, and does not match what is there under this name"
                ),
                format!("write `{escaped}/**`, where `?` matches any character"),
            )
        } else {
            return;
        };
        let place = entry.get("path").map_or(entry.place, |node| node.place);
        self.examiner(file)
            .warn(place, &format!("{key}.path"), &what, Some(&fix));
    }

    /// Whether there are all the checks, or all the reviews, that an entry point names.
    fn gate_names(
        &mut self,
        file: &Path,
        (above, entry): (&str, &Node),
        (key, kind, extension): (&str, &str, &str),
        known: &BTreeSet<&str>,
    ) {
        let path = entry.get("path").and_then(Node::text).unwrap_or(".");
        for name in entry.get(key).map(Node::items).unwrap_or_default() {
            let Some(text) = name.text() else { continue };
            let home = file.with_file_name(key);
            if known.contains(text) || self.unread.contains(&home.join(text)) {
                continue;
            }
            let what =
                format!("Entry point \"{path}\" references non-existent {kind} gate: \"{text}\"");
            let fix = match nearest(text, known.iter().copied()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!(
                    "create {}/{text}.{extension}",
                    self.relative(&home).display()
                ),
            };
            self.examiner(file)
                .error(name.place, &format!("{above}.{key}"), &what, Some(&fix));
        }
    }

    fn reviewers(&mut self, config: &Config, file: &Path, node: &Node) {
        let names: Vec<&str> = Reviewer::names().collect();
        let cli = node.get("cli");
        let key = "cli.default_preference";
        let is_reviewed = |entry: &EntryPoint| !entry.reviews.is_empty();
        if config.reviewers.is_empty() && config.entry_points.iter().any(is_reviewed) {
            let place = cli.map_or_else(Place::default, |cli| cli.place);
            let fix = format!("name reviewers: {}", names.join(", "));
            self.examiner(file)
                .error(place, key, "missing, though there are reviews", Some(&fix));
        }
        let probe = cli.and_then(|cli| cli.get("check_usage_limit"));
        if let Some(probe) = probe.filter(|probe| probe.bool() == Some(true)) {
            // The original sent a prompt beforehand, which used up what it was to spare.
            let what =
                "this has no effect: a reviewer whose limit is used up is replaced by the next one";
            let fix = Some("remove the line");
            self.examiner(file)
                .warn(probe.place, "cli.check_usage_limit", what, fix);
        }
        let preference = cli.and_then(|cli| cli.get("default_preference"));
        for name in preference.map(Node::items).unwrap_or_default() {
            let Some(text) = name.text().filter(|text| !names.contains(text)) else {
                continue;
            };
            let fix = match nearest(text, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known: {}", names.join(", ")),
            };
            let what = format!("there is no reviewer {text:?}");
            self.examiner(file).warn(name.place, key, &what, Some(&fix));
        }
        for (name, review) in &config.reviews {
            let Some((file, place)) = self.preferences.get(name).cloned() else {
                continue;
            };
            for tool in &review.cli_preference {
                if !config.reviewers.is_empty() && !config.reviewers.contains(tool) {
                    let what = format!(
                        "Review \"{name}\" uses CLI tool \"{tool}\" which is not in the project-level allowed list (cli.default_preference)."
                    );
                    self.examiner(&file)
                        .error(place, "cli_preference", &what, None);
                }
            }
        }
    }
}
