//! The files that a survey leads to, each with its whole text and what would happen to it.

use std::fmt::Write as _;
use std::path::Path;

use tollgate_core::project::Layout;

use super::languages::Role;
use super::{Survey, WrittenFiles};

/// What can be set up by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Group {
    /// Checks and reviews that must hold before an agent may stop
    Gates,
    /// Phases that are worked through in order
    Workflow,
    /// Plans that are reviewed until two reviews in a row find nothing
    Plans,
}

/// All that would be done.
pub(crate) struct Proposal {
    pub(crate) parts: Vec<Part>,
}

/// One group's files.
pub(crate) struct Part {
    pub(crate) group: Group,
    /// What is there already and stays, in words.
    pub(crate) as_it_is: Option<String>,
    pub(crate) files: Vec<File>,
}

/// A file of the proposal.
pub(crate) struct File {
    /// Relative to the root.
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) action: Action,
}

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Write,
    /// `init` wrote it, nobody changed it, and `--force` was given.
    Replace,
    /// It says so already.
    Same,
    /// A person's file is in its place.
    Keep,
}

impl Group {
    pub(crate) const ALL: [Self; 3] = [Self::Gates, Self::Workflow, Self::Plans];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Gates => "gates",
            Self::Workflow => "workflow",
            Self::Plans => "plans",
        }
    }
}

impl Action {
    /// Whether the file on disk will be another one.
    pub(crate) fn changes(self) -> bool {
        matches!(self, Self::Write | Self::Replace)
    }
}

impl Proposal {
    pub(crate) fn of(
        survey: &Survey,
        record: &WrittenFiles,
        groups: &[Group],
        force: bool,
    ) -> Self {
        let part = |group: &Group| {
            let (there, wanted) = match group {
                Group::Gates => gates(survey),
                Group::Workflow => workflow(survey),
                Group::Plans => plans(survey),
            };
            let files = wanted
                .into_iter()
                .map(|(path, text)| judge(survey, record, force, path, text));
            let files: Vec<File> = files.collect();
            // The first file is the one that holds the others together. Without it they would
            // change a configuration that somebody else made.
            let leads = files
                .first()
                .is_some_and(|file| file.action != Action::Keep);
            let is_ours = files
                .first()
                .is_some_and(|file| matches!(file.action, Action::Replace | Action::Same));
            let as_it_is = there.filter(|_| !(is_ours && force));
            let is_free = as_it_is.is_none() && leads;
            Part {
                group: *group,
                files: if is_free { files } else { vec![] },
                as_it_is: as_it_is.or_else(|| (!leads).then(|| "it is there already".to_owned())),
            }
        };
        Self {
            parts: groups.iter().map(part).collect(),
        }
    }

    /// The files that would change.
    pub(crate) fn changes(&self) -> impl Iterator<Item = &File> {
        let files = self.parts.iter().flat_map(|part| &part.files);
        files.filter(|file| file.action.changes())
    }
}

fn judge(survey: &Survey, record: &WrittenFiles, force: bool, path: String, text: String) -> File {
    let place = survey.root.join(&path);
    let action = match std::fs::read_to_string(&place) {
        Ok(there) if there == text => Action::Same,
        Ok(there) if force && record.wrote(&path, &there) => Action::Replace,
        Ok(_) => Action::Keep,
        Err(_) if place.symlink_metadata().is_ok() => Action::Keep,
        Err(_) => Action::Write,
    };
    File { path, text, action }
}

/// What of a group is there already, in words, and the files it would have.
type Wanted = (Option<String>, Vec<(String, String)>);

fn gates(survey: &Survey) -> Wanted {
    let home = survey
        .layout
        .as_ref()
        .map_or(".tollgate", Layout::gates_home_name);
    let config = survey.root.join(home).join("config.yml");
    let own = survey.layout.as_ref().map(Layout::config_file);
    let there = if config.exists() {
        Some(format!("{home}/config.yml is used as it is"))
    } else {
        let own = own.filter(|own| own.exists());
        own.map(|_| "tollgate.toml is used as it is".to_owned())
    };
    let mut files = Vec::new();
    let mut entries = String::new();
    let mut used: Vec<String> = Vec::new();
    let is_reviewed = !survey.reviewers.is_empty();
    for part in &survey.parts {
        let mut all: Vec<(Role, String)> = Vec::new();
        for found in &part.found {
            for check in &found.checks {
                let name = unused(&used, &part.path, &found.name, check.role);
                files.push((
                    format!("{home}/checks/{name}.yml"),
                    check_file(&found.file, &part.path, check.role, &check.command),
                ));
                used.push(name.clone());
                all.push((check.role, name));
            }
        }
        all.sort();
        let is_root = part.path == ".";
        if all.is_empty() && !is_root {
            continue;
        }
        let names: Vec<_> = all.into_iter().map(|(_, name)| name).collect();
        let path = scalar(&part.path);
        let _infallible = writeln!(entries, "  - path: {path}");
        if is_root {
            let exclude = excluded(survey);
            let _infallible = writeln!(entries, "    exclude: [{exclude}]");
        }
        if !names.is_empty() {
            let _infallible = writeln!(entries, "    checks: [{}]", names.join(", "));
        }
        if is_root && is_reviewed {
            entries.push_str("    reviews: [quality]\n");
        }
    }
    let reviewers = if is_reviewed {
        format!(
            "\n# Who reviews: the first that is installed and has quota left.\ncli:\n  default_preference: [{}]\n",
            survey.reviewers.join(", ")
        )
    } else {
        String::new()
    };
    let base = scalar(&survey.base.name);
    let text = format!(
        "# What must hold before an agent may stop. Keys: tollgate schema config\n\n# What the work is compared with.\nbase_branch: {base}\n{reviewers}\nentry_points:\n{entries}"
    );
    files.insert(0, (format!("{home}/config.yml"), text));
    if is_reviewed {
        files.push((format!("{home}/reviews/quality.md"), REVIEW.to_owned()));
    }
    (there, files)
}

/// What a change of is no work to be checked.
fn excluded(survey: &Survey) -> String {
    let mut exclude = vec!["\"**/*.md\"", ".tollgate/workflow", ".tollgate/plans"];
    for home in [".isdlc", ".taskie"] {
        if survey.root.join(home).is_dir() {
            exclude.push(home);
        }
    }
    exclude.join(", ")
}

/// A name that no other check has: `test`, `web-test`, `python-test`.
fn unused(used: &[String], path: &str, language: &str, role: Role) -> String {
    let role = role.as_str();
    let plain = |text: &str| {
        let word = text.split([' ', '/']).next_back().unwrap_or(text);
        let kept = word.chars().filter(char::is_ascii_alphanumeric);
        kept.collect::<String>().to_lowercase()
    };
    let first = if path == "." {
        role.to_owned()
    } else {
        format!("{}-{role}", plain(path))
    };
    let language = language.split(' ').next().unwrap_or(language);
    let second = format!("{}-{first}", plain(language));
    let numbered = (2..).map(|number| format!("{second}-{number}"));
    let mut names = [first, second.clone()].into_iter().chain(numbered);
    names
        .find(|name| !used.contains(name))
        .unwrap_or_else(|| role.to_owned())
}

fn check_file(from: &str, path: &str, role: Role, command: &str) -> String {
    let from = Path::new(path).join(from);
    let from = from.strip_prefix(".").unwrap_or(&from).display();
    let command = scalar(command);
    let more = match role {
        Role::Test | Role::Build => "timeout: 600\n",
        Role::Format | Role::Lint | Role::Types => "parallel: true\n",
    };
    format!("# From {from}\ncommand: {command}\n{more}")
}

/// A text as YAML takes it for a text: quoted unless it is plain beyond doubt.
fn scalar(text: &str) -> String {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let safe = |c: char| c.is_ascii_alphanumeric() || " _-./=@+".contains(c);
    let words = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];
    let is_word = words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if begins && !text.ends_with(' ') && !is_word && text.chars().all(safe) {
        text.to_owned()
    } else {
        serde_json::Value::from(text).to_string()
    }
}

const REVIEW: &str = "---
timeout: 300
run_in_ci: false
---
Look for defects that you would block a pull request for: wrong results,
lost data, races, holes in security, swallowed errors, promises of the
change that it does not keep, and new behaviour that no test would notice.

Do not report style or naming, nor what a formatter, linter or compiler
finds.
";

fn workflow(survey: &Survey) -> Wanted {
    let layout = survey.layout.as_ref();
    let there = match layout.map(|layout| (layout.is_isdlc(), layout.workflow_home())) {
        Some((true, _)) => Some(".isdlc is used as it is".to_owned()),
        Some((false, home)) if home.is_dir() => {
            Some(".tollgate/workflow is used as it is".to_owned())
        }
        Some(_) | None => None,
    };
    let file = ".tollgate/workflow/config/workflows.json".to_owned();
    (there, vec![(file, WORKFLOWS.to_owned())])
}

/// Beside the built-in workflows, a short one to begin with.
const WORKFLOWS: &str = r#"{
  "workflows": {
    "change": {
      "label": "Small change",
      "phases": [
        "01-requirements",
        "06-implementation",
        "08-code-review"
      ],
      "requires_branch": true,
      "branch_prefix": "change"
    }
  }
}
"#;

fn plans(survey: &Survey) -> Wanted {
    let file = ".tollgate/plans.json";
    let there = if survey.root.join(".taskie").is_dir() {
        Some(".taskie is used as it is".to_owned())
    } else {
        let exists = survey.root.join(file).exists();
        exists.then(|| format!("{file} is used as it is"))
    };
    let reviewer = survey.reviewers.first().copied().unwrap_or("claude");
    let text = format!(
        "{{\n  \"reviewer\": \"{reviewer}\",\n  \"timeout_seconds\": 840,\n  \"loop_guard\": \"progress\"\n}}\n"
    );
    (there, vec![(file.to_owned(), text)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_checks_do_not_repeat() {
        let used = ["test".to_owned(), "python-test".to_owned()];
        assert_eq!(unused(&[], ".", "Rust", Role::Test), "test");
        assert_eq!(unused(&[], "apps/web", "Go", Role::Lint), "web-lint");
        assert_eq!(
            unused(&used[..1], ".", "Python with uv", Role::Test),
            "python-test"
        );
        assert_eq!(unused(&used, ".", "Python", Role::Test), "python-test-2");
    }

    #[test]
    fn what_yaml_could_misread_is_quoted() {
        for plain in ["main", "origin/main", "cargo fmt --all --check"] {
            assert_eq!(scalar(plain), plain);
        }
        for quoted in [
            ".",
            "on",
            "a: b",
            "x # y",
            "./mvnw -q",
            "-x",
            "CI=true && a",
        ] {
            assert!(scalar(quoted).starts_with('"'), "{quoted}");
        }
    }
}
