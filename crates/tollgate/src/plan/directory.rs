//! The rules for the files of a plan, all findings at once, from one scan of its directory.
//!
//! Rules 1 to 7 are the specification's, with three decisions: a table of tasks without a task is
//! an error; names are judged by themselves (a plan called `peer-review` used to switch a rule
//! off); Windows line ends and a byte order mark are accepted with a note. Files that are not Markdown are
//! ignored, Tollgate's own leftovers included.

use std::collections::HashSet;
use std::path::Path;

use super::phase::TaskId;
use super::tasks::FEWEST_ROWS;

/// The names in a plan's directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    /// Markdown files at the top, without hidden ones, in no order: five hundred are sorted only
    /// when something is to be said about them.
    markdown: Vec<String>,
    /// Whether a directory below has Markdown files.
    nested: bool,
}

/// What is wrong with a plan's directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// In the order of the rules; each is a reason to block.
    pub(crate) errors: Vec<String>,
    /// Worth knowing, no reason to block.
    pub(crate) notes: Vec<String>,
}

/// How deep directories are searched for stray files.
const DEPTH: usize = 16;

impl Listing {
    /// Reads a directory once. What cannot be read is not there.
    pub(crate) fn scan(dir: &Path) -> Self {
        let mut listing = Self::default();
        let Ok(entries) = dir.read_dir() else {
            return listing;
        };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_dir() {
                listing.nested = listing.nested || has_markdown(&entry.path(), DEPTH);
            } else if kind.is_file() {
                let name = entry.file_name();
                let bytes = name.as_encoded_bytes();
                if bytes.ends_with(b".md") && !bytes.starts_with(b".") {
                    let lossy = |name: std::ffi::OsString| name.to_string_lossy().into_owned();
                    listing
                        .markdown
                        .push(name.into_string().unwrap_or_else(lossy));
                }
            }
        }
        listing
    }

    /// Whether nothing was written yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.markdown.is_empty()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.markdown.iter().any(|known| known == name)
    }

    /// The first of several names that is there.
    pub(crate) fn first_of(&self, names: Vec<String>) -> Option<String> {
        names.into_iter().find(|name| self.has(name))
    }

    /// The files that describe tasks, by name.
    pub(crate) fn tasks(&self) -> Vec<&str> {
        let names = self.markdown.iter().map(String::as_str);
        let mut tasks: Vec<&str> = names.filter(|name| is_task(name)).collect();
        tasks.sort_unstable();
        tasks
    }

    /// Holds the directory to the rules. `tasks` is the text of `tasks.md`.
    pub(crate) fn check(&self, tasks: Option<&str>) -> Report {
        let mut report = Report::default();
        let errors = &mut report.errors;
        if !self.has("plan.md") {
            errors.push("Missing required file: plan.md".to_owned());
        }
        errors.extend(
            self.found(|name| (!is_known(name)).then(|| format!("Invalid filename: {name}"))),
        );
        if self.nested {
            errors.push("Files found in nested directories".to_owned());
        }
        errors.extend(self.found(|name| self.lacks_base(name)));
        errors.extend(self.lacking_reviews());
        if !self.has("tasks.md") && self.markdown.iter().any(|name| is_task(name)) {
            errors.push("Task files exist but tasks.md is missing".to_owned());
        }
        if let Some(text) = tasks.filter(|_| self.has("tasks.md")) {
            check_table(text, &mut report);
        }
        report
    }

    /// Rule 4: a review of the plan, the design or the tasks needs what it reviews.
    fn lacks_base(&self, name: &str) -> Option<String> {
        let base = cut_number(name)?.strip_suffix("-review")?;
        let base = ["plan", "design", "tasks"]
            .into_iter()
            .find(|known| *known == base)?;
        let file = format!("{base}.md");
        (!self.has(&file)).then(|| format!("{name} requires {file}"))
    }

    /// Rule 5: an answer to a review needs the review.
    fn lacking_reviews(&self) -> Vec<String> {
        let answers = self
            .markdown
            .iter()
            .filter(|name| cut_number(name).is_some_and(|stem| stem.ends_with("-post-review")));
        let mut answers: Vec<&String> = answers.collect();
        if answers.is_empty() {
            return vec![];
        }
        answers.sort_unstable();
        let known: HashSet<&str> = self.markdown.iter().map(String::as_str).collect();
        let lacks = |name: &String| {
            let review = name.replacen("-post-review-", "-review-", 1);
            (!known.contains(review.as_str())).then(|| format!("{name} requires {review}"))
        };
        answers.into_iter().filter_map(lacks).collect()
    }

    /// What a rule finds, in the order of the files' names.
    fn found(&self, rule: impl Fn(&str) -> Option<String>) -> Vec<String> {
        let names = self.markdown.iter();
        let mut found: Vec<(&String, String)> =
            names.filter_map(|name| Some((name, rule(name)?))).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, error)| error).collect()
    }
}

/// Rule 7: `tasks.md` is a table and nothing else.
fn check_table(text: &str, report: &mut Report) {
    let is_row = |line: &str| line.len() > 1 && line.starts_with('|') && line.ends_with('|');
    let mut rows = 0_usize;
    let mut has_prose = false;
    let marked = text.strip_prefix('\u{feff}');
    if marked.is_some() {
        let note = "tasks.md begins with a byte order mark".to_owned();
        report.notes.push(note);
    }
    let text = marked.unwrap_or(text);
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        rows += usize::from(line.starts_with('|'));
        has_prose |= !is_row(line);
    }
    if text.contains("\r\n") {
        report
            .notes
            .push("tasks.md has Windows line ends".to_owned());
    }
    let error = if has_prose {
        "tasks.md contains non-table content"
    } else if rows == 0 {
        "tasks.md has no table rows"
    } else if rows < FEWEST_ROWS {
        "tasks.md has no task rows (header-only table)"
    } else {
        return;
    };
    report.errors.push(error.to_owned());
}

/// Rule 2: the names that a plan's files have.
fn is_known(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(".md") else {
        return false;
    };
    if ["plan", "design", "tasks"].contains(&stem) {
        return true;
    }
    let reviewed = cut_number(name).and_then(|stem| {
        stem.strip_suffix("-post-review")
            .or_else(|| stem.strip_suffix("-review"))
    });
    if let Some(base) = reviewed
        && (["plan", "design", "tasks", "all-code", "code"].contains(&base) || is_task_stem(base))
    {
        return true;
    }
    is_task_stem(stem)
}

fn is_task_stem(stem: &str) -> bool {
    let id = stem.strip_prefix("task-");
    id.is_some_and(TaskId::is_one)
}

/// A file that describes a task, not a review of it.
fn is_task(name: &str) -> bool {
    name.starts_with("task-") && !name.contains("review")
}

/// A name without its `-<number>.md`.
fn cut_number(name: &str) -> Option<&str> {
    let (rest, number) = name.strip_suffix(".md")?.rsplit_once('-')?;
    let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    digits.then_some(rest)
}

fn has_markdown(dir: &Path, depth: usize) -> bool {
    let Ok(entries) = dir.read_dir() else {
        return false;
    };
    entries.flatten().any(|entry| {
        let Ok(kind) = entry.file_type() else {
            return false;
        };
        let is_markdown = || entry.file_name().as_encoded_bytes().ends_with(b".md");
        (kind.is_file() && is_markdown())
            || (kind.is_dir() && depth > 0 && has_markdown(&entry.path(), depth - 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(names: &[&str], tasks: Option<&str>) -> Vec<String> {
        let listing = Listing {
            markdown: names.iter().map(|name| (*name).to_owned()).collect(),
            nested: false,
        };
        listing.check(tasks).errors
    }

    #[test]
    fn names_that_are_fine() {
        for name in [
            "plan-review-0.md",
            "plan-review-01.md",
            "design.md",
            "task-4-5.md",
            "task-a_b.md",
            "task-1-review-2.md",
            "task-1-post-review-2.md",
            "all-code-review-1.md",
            "all-code-post-review-1.md",
            "code-review-1.md",
            "code-post-review-1.md",
            "task-1-code-review-3.md",
            "task-1-code-post-review-3.md",
            "tasks-post-review-9.md",
        ] {
            assert!(is_known(name), "{name}");
        }
    }

    #[test]
    fn names_that_are_not() {
        for name in [
            "Plan.md",
            "task-.md",
            "task-a.b.md",
            "task-1 .md",
            "notes.md",
            "plan-review-.md",
            "review-1.md",
        ] {
            assert!(!is_known(name), "{name}");
        }
    }

    /// B5: two finished rounds of reviews are fine; the original then asked for impossible files.
    #[test]
    fn b5_two_finished_rounds_are_fine() {
        let names = [
            "plan.md",
            "tasks.md",
            "task-1.md",
            "task-1-code-review-1.md",
            "task-1-code-post-review-1.md",
            "task-1-code-review-2.md",
            "task-1-code-post-review-2.md",
        ];
        let table = "| Id | Status |\n|--|--|\n| 1 | done |\n";
        assert_eq!(check(&names, Some(table)), [""; 0]);
    }

    #[test]
    fn all_findings_in_the_order_of_the_rules() {
        assert_eq!(
            check(
                &[
                    "x.md",
                    "design-review-1.md",
                    "tasks-post-review-2.md",
                    "task-1.md"
                ],
                None
            ),
            [
                "Missing required file: plan.md",
                "Invalid filename: x.md",
                "design-review-1.md requires design.md",
                "tasks-post-review-2.md requires tasks-review-2.md",
                "Task files exist but tasks.md is missing",
            ]
        );
    }

    #[test]
    fn tables() {
        let check = |text: &str| {
            let mut report = Report::default();
            check_table(text, &mut report);
            (report.errors.join(";"), report.notes.len())
        };
        let (no, header) = (
            "tasks.md contains non-table content",
            "tasks.md has no task rows (header-only table)",
        );
        assert_eq!(check("|a|b|\n|-|-|\n|1|x|"), (String::new(), 0));
        assert_eq!(check("|a|b|\r\n|-|-|\r\n|1|x|\r\n"), (String::new(), 1));
        assert_eq!(check("|a|b|\n|-|-|\n"), (header.to_owned(), 0));
        assert_eq!(check(""), ("tasks.md has no table rows".to_owned(), 0));
        for bad in ["prose", " |a|b|", "|a|b| ", "|", "|a|b|\n  \n"] {
            assert_eq!(check(bad).0, no, "{bad:?}");
        }
    }
}
