//! The files that a survey leads to: `tollgate.toml` and what keeps git away from runtime files,
//! each with its whole text and what would happen to it.

use std::path::Path;

use toml_edit::{Array, InlineTable, Value};

pub(crate) use tollgate_core::project::CONFIG;

use super::languages::Role;
use super::survey::Base;
use super::toml_text::TomlText;
use super::{Survey, WrittenFiles};

/// The first lines of the configuration.
pub(super) const HEADER: &str = "\
What Tollgate does in this project.
Every key, with its default: `tollgate schema --markdown`
";

/// Keeps what Tollgate writes while it works out of git.
pub(crate) const IGNORE: &str = ".tollgate/.gitignore";

pub(crate) const IGNORED: &str = "\
# What Tollgate writes while it works. Plans are part of the project.
/local/
/logs/
/workflow/**/state.json
/workflow/**/state-archive.json
";

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

pub(crate) struct Proposal {
    /// The parts that are there already and stay, in words.
    pub(crate) homes: Vec<(Group, String)>,
    pub(crate) gates: Vec<Gate>,
    pub(crate) files: Vec<File>,
}

pub(crate) struct Gate {
    pub(crate) name: String,
    /// The file that it was made from.
    pub(crate) from: String,
    pub(crate) role: Role,
    pub(crate) run: String,
    /// Where it runs; `.` is the root.
    pub(crate) dir: String,
    /// The files that call for it; empty: every file in `dir`.
    pub(crate) inputs: Vec<String>,
}

pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) action: Action,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Write,
    /// `init` wrote it, it was not changed, and `--force` was given.
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
        let home = |group| Some((group, existing(survey, group)?));
        let homes: Vec<_> = Group::ALL.into_iter().filter_map(home).collect();
        let wanted = |group: Group| {
            groups.contains(&group) && !homes.iter().any(|(there, _)| *there == group)
        };
        let gates = if wanted(Group::Gates) {
            gates(survey)
        } else {
            Vec::new()
        };
        let mut text = TomlText::default();
        text.comment(HEADER);
        let is_empty = !Group::ALL.into_iter().any(wanted);
        for group in Group::ALL.into_iter().filter(|group| wanted(*group)) {
            text.blank();
            match group {
                Group::Gates => write_gates(&mut text, survey, &gates),
                Group::Workflow => write_workflow(&mut text),
                Group::Plans => write_plans(&mut text, survey),
            }
        }
        let wanted = [(CONFIG, text.into_text()), (IGNORE, IGNORED.to_owned())];
        let files = wanted
            .into_iter()
            .filter(|_| !is_empty)
            .map(|(path, text)| judge(survey, record, force, path, text));
        Self {
            files: files.collect(),
            homes,
            gates,
        }
    }

    /// The files that would change. A configuration that stays leaves everything as it is.
    pub(crate) fn changes(&self) -> impl Iterator<Item = &File> {
        let files = self.files.iter().filter(|_| !self.is_refused());
        files.filter(|file| file.action.changes())
    }

    /// Whether a configuration is there that is not ours to replace.
    pub(crate) fn is_refused(&self) -> bool {
        let mut files = self.files.iter();
        files.any(|file| file.path == CONFIG && file.action == Action::Keep)
    }
}

fn judge(survey: &Survey, record: &WrittenFiles, force: bool, path: &str, text: String) -> File {
    let place = survey.root.join(path);
    let action = match std::fs::read_to_string(&place) {
        Ok(there) if there == text => Action::Same,
        Ok(there) if force && record.wrote(path, &there) => Action::Replace,
        Ok(_) => Action::Keep,
        Err(_) if place.symlink_metadata().is_ok() => Action::Keep,
        Err(_) => Action::Write,
    };
    File {
        path: path.to_owned(),
        text,
        action,
    }
}

/// The home that a part has already, in words.
fn existing(survey: &Survey, group: Group) -> Option<String> {
    let (original, earlier) = match group {
        Group::Gates => (".gauntlet/config.yml", ".tollgate/config.yml"),
        Group::Workflow => (".isdlc", ".tollgate/workflow/config/workflows.json"),
        Group::Plans => (".taskie", ".tollgate/plans.json"),
    };
    let there = |path: &str| survey.root.join(path).symlink_metadata().is_ok();
    if there(original) {
        return Some(format!("{original} is used as it is"));
    }
    there(earlier).then(|| {
        format!("{earlier} is used as it is; `tollgate init --migrate` moves it to {CONFIG}")
    })
}

/// The checks of all parts, each under its own name, in the order in which they run.
fn gates(survey: &Survey) -> Vec<Gate> {
    let mut gates: Vec<(usize, Gate)> = Vec::new();
    for (at, part) in survey.parts.iter().enumerate() {
        for found in &part.found {
            for check in &found.checks {
                let used: Vec<&str> = gates.iter().map(|(_, gate)| gate.name.as_str()).collect();
                let name = unused(&used, &part.path, &found.name, check.role);
                let from = Path::new(&part.path).join(&found.file);
                let from = from.strip_prefix(".").unwrap_or(&from);
                let is_rooted = !check.inputs.is_empty();
                let gate = Gate {
                    name,
                    from: from.display().to_string(),
                    role: check.role,
                    run: check.command.clone(),
                    dir: if is_rooted { "." } else { &part.path }.to_owned(),
                    inputs: check.inputs.clone(),
                };
                gates.push((at, gate));
            }
        }
    }
    gates.sort_by_key(|(part, gate)| (*part, gate.role));
    gates.into_iter().map(|(_, gate)| gate).collect()
}

fn write_gates(text: &mut TomlText, survey: &Survey, gates: &[Gate]) {
    text.table(&["gates"]);
    let Base { name, why } = &survey.base;
    text.comment(&format!("What the work is compared with ({why})."));
    text.set("base", name.as_str());
    text.comment("A change of these files alone calls for no gate.");
    text.list("exclude", excluded(survey));
    if !survey.reviewers.is_empty() {
        text.comment("Who reviews: the first that is installed and has quota left.");
        text.list("reviewers", survey.reviewers.iter().copied());
    }
    for gate in gates {
        text.blank();
        text.comment(&format!("From {}", gate.from));
        text.table(&["gates", &gate.name]);
        text.set("run", gate.run.as_str());
        if gate.dir != "." {
            text.set("dir", gate.dir.as_str());
        }
        if !gate.inputs.is_empty() {
            text.list("inputs", &gate.inputs);
        }
        match gate.role {
            Role::Test | Role::Build => text.set("timeout", "10m"),
            Role::Format | Role::Lint | Role::Types => text.set("parallel", true),
        }
    }
    if gates.is_empty() {
        text.blank();
        text.comment(
            "Nothing was found here that tests or lints this project. A gate is a command:\n\n\
             [gates.test]\nrun = \"make test\"\ntimeout = \"10m\"",
        );
    }
    if !survey.reviewers.is_empty() {
        text.blank();
        text.comment("An independent agent reads what changed.");
        text.table(&["gates", "review"]);
        text.set("prompt", REVIEW);
        text.set("timeout", "5m");
        text.set("ci", false);
    }
}

/// What a change of is no work to be checked.
fn excluded(survey: &Survey) -> Vec<&'static str> {
    let mut exclude = vec!["**/*.md", ".tollgate/**"];
    for (home, pattern) in [(".isdlc", ".isdlc/**"), (".taskie", ".taskie/**")] {
        if survey.root.join(home).is_dir() {
            exclude.push(pattern);
        }
    }
    exclude
}

/// A name that no other gate has: `test`, `web-test`, `python-test`.
pub(super) fn unused(used: &[&str], path: &str, language: &str, role: Role) -> String {
    let role = role.as_str();
    let plain = |text: &str| {
        let word = text.split([' ', '/']).next_back().unwrap_or(text);
        let kept = word.chars().filter(char::is_ascii_alphanumeric);
        kept.collect::<String>().to_lowercase()
    };
    let first = match plain(path).as_str() {
        "" => role.to_owned(),
        place => format!("{place}-{role}"),
    };
    let language = language.split(' ').next().unwrap_or(language);
    let second = format!("{}-{first}", plain(language));
    let numbered = (2..).map(|number| format!("{second}-{number}"));
    let mut names = [first, second.clone()].into_iter().chain(numbered);
    names
        .find(|name| !used.contains(&name.as_str()))
        .unwrap_or_else(|| role.to_owned())
}

const REVIEW: &str = "\
Look for defects that you would block a pull request for: wrong results,
lost data, races, holes in security, swallowed errors, promises of the
change that it does not keep, and new behaviour that no test would notice.

Do not report style or naming, nor what a formatter, linter or compiler
finds.
";

fn write_workflow(text: &mut TomlText) {
    text.comment("Work in phases, in order: `tollgate workflow start change \"…\"`.");
    text.table(&["workflow", "change"]);
    text.set("label", "Small change");
    let phase = |name: &str, key: &str, value: &str| {
        let members = [
            ("name", Value::from(name)),
            (key, Array::from_iter([value]).into()),
        ];
        members.into_iter().collect::<InlineTable>()
    };
    text.list(
        "phases",
        [
            phase("plan", "writes", "docs/**"),
            phase("implement", "needs", "gates"),
            phase("review", "needs", "gates"),
        ],
    );
}

fn write_plans(text: &mut TomlText, survey: &Survey) {
    let reviewer = survey.reviewers.first().copied().unwrap_or("claude");
    text.comment("Plans in .tollgate/plans are reviewed until two reviews find nothing.");
    text.table(&["plans"]);
    text.set("reviewer", reviewer);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_gates_do_not_repeat() {
        let used = ["test", "python-test"];
        assert_eq!(unused(&[], ".", "Rust", Role::Test), "test");
        assert_eq!(unused(&[], "apps/web", "Go", Role::Lint), "web-lint");
        assert_eq!(
            unused(&used[..1], ".", "Python with uv", Role::Test),
            "python-test"
        );
        assert_eq!(unused(&used, ".", "Python", Role::Test), "python-test-2");
        assert_eq!(unused(&[], "日本", "Go", Role::Test), "test");
    }
}
