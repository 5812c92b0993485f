//! What only all files together can tell: names that lead nowhere.

use std::collections::BTreeSet;
use std::path::Path;

use crate::gate::jobs::{each_directory, is_glob};
use crate::review::Reviewer;

use super::{Config, EntryPoint, Node, Reader, nearest};

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
        let entries = node
            .get("entry_points")
            .map(Node::items)
            .unwrap_or_default();
        if entries.is_empty() && node.get("entry_points").is_some() {
            self.examiner(file).error(
                node.line,
                "entry_points",
                "the list is empty".to_owned(),
                Some("add `- path: \".\"` with the names of checks".to_owned()),
            );
        }
        let is_in_logs = |entry: &EntryPoint| {
            let path = entry.path.split(['*', '?', '[', '{']).next();
            let path = path.unwrap_or_default().trim_end_matches('/');
            config.root.join(path).starts_with(&config.log_dir)
        };
        if config.root.starts_with(&config.log_dir) || config.entry_points.iter().any(is_in_logs) {
            self.examiner(file).error(
                node.get("log_dir").map_or(0, |node| node.line),
                "log_dir",
                "the logs need a directory of their own".to_owned(),
                Some("for example `log_dir: gauntlet_logs`".to_owned()),
            );
        }
        let checks: BTreeSet<&str> = config.checks.keys().map(String::as_str).collect();
        let reviews: BTreeSet<&str> = config.reviews.keys().map(String::as_str).collect();
        let mut reviewed = false;
        for (index, entry) in entries.iter().enumerate() {
            let path = entry.get("path").and_then(Node::text).unwrap_or(".");
            let read = config.entry_points.get(index);
            if let Some(read) = read.filter(|read| leads_nowhere(&read.path)) {
                self.examiner(file).warn(
                    entry.get("path").map_or(entry.line, |node| node.line),
                    &format!("entry_points[{index}].path"),
                    format!("no file is ever in {:?}, so its gates never run", read.path),
                    Some("write it from the project's root on, for example `src`".to_owned()),
                );
            }
            if let Some(read) = read.filter(|read| is_mistaken_glob(&config.root, &read.path)) {
                let escaped = read.path.replace(['[', '{', '?', '*'], "?");
                self.examiner(file).warn(
                    entry.get("path").map_or(entry.line, |node| node.line),
                    &format!("entry_points[{index}].path"),
                    format!(
                        "{:?} is read as a glob, and does not match what is there under this name",
                        read.path
                    ),
                    Some(format!(
                        "write `{escaped}/**`, where `?` stands for any sign"
                    )),
                );
            }
            for (key, kind, known) in [
                ("checks", "check", &checks),
                ("reviews", "review", &reviews),
            ] {
                for name in entry.get(key).map(Node::items).unwrap_or_default() {
                    let Some(text) = name.text() else { continue };
                    reviewed |= key == "reviews";
                    let is_unread = || {
                        let file = config.home.join(key).join(text);
                        self.unread.contains(&file)
                    };
                    if known.contains(text) || is_unread() {
                        continue;
                    }
                    let extension = if key == "checks" { "yml" } else { "md" };
                    let fix = nearest(text, known.iter().copied()).map_or_else(
                        || {
                            format!(
                                "create {}/{key}/{text}.{extension}",
                                self.relative(&config.home).display()
                            )
                        },
                        |near| format!("did you mean \"{near}\"?"),
                    );
                    self.examiner(file).error(
                        name.line,
                        &format!("entry_points[{index}].{key}"),
                        format!(
                            "Entry point \"{path}\" references non-existent {kind} gate: \"{text}\""
                        ),
                        Some(fix),
                    );
                }
            }
        }
        self.reviewers(config, file, node, reviewed);
    }

    fn reviewers(&mut self, config: &Config, file: &Path, node: &Node, reviewed: bool) {
        let names: Vec<&str> = Reviewer::names().collect();
        let preference = node
            .get("cli")
            .and_then(|cli| cli.get("default_preference"));
        if reviewed && config.reviewers.is_empty() {
            self.examiner(file).error(
                node.get("cli").map_or(0, |cli| cli.line),
                "cli.default_preference",
                "missing, though there are reviews".to_owned(),
                Some(format!("name reviewers: {}", names.join(", "))),
            );
        }
        let probe = node.get("cli").and_then(|cli| cli.get("check_usage_limit"));
        if let Some(probe) = probe.filter(|probe| probe.bool() == Some(true)) {
            // The original sent a prompt beforehand, which used up what it was to spare.
            self.examiner(file).warn(
                probe.line,
                "cli.check_usage_limit",
                "this does nothing: a reviewer whose limit is used up is noticed when it is asked, and the next one takes its place".to_owned(),
                Some("remove the line".to_owned()),
            );
        }
        for name in preference.map(Node::items).unwrap_or_default() {
            let Some(text) = name.text().filter(|text| !names.contains(text)) else {
                continue;
            };
            let fix = nearest(text, names.iter().copied()).map_or_else(
                || format!("known: {}", names.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            let what = format!("there is no reviewer {text:?}");
            self.examiner(file)
                .warn(name.line, "cli.default_preference", what, Some(fix));
        }
        for (name, review) in &config.reviews {
            for tool in &review.cli_preference {
                if !config.reviewers.is_empty() && !config.reviewers.contains(tool) {
                    let what = format!(
                        "Review \"{name}\" uses CLI tool \"{tool}\" which is not in the project-level allowed list (cli.default_preference)."
                    );
                    self.examiner(&review.file).error(
                        review.preference_line,
                        "cli_preference",
                        what,
                        None,
                    );
                }
            }
        }
    }
}
