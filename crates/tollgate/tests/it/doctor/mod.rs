//! `tollgate doctor`: every planted fault is found by its name, and what can be repaired is.

mod agents;
mod duplicates;
mod project;

use std::cell::Cell;

use serde_json::Value;

use crate::outputs::filters;
use crate::project::TestProject;
use crate::project::git;

thread_local! {
    /// How many findings a test has seen.
    static FOUND: Cell<u32> = const { Cell::new(1) };
}

/// A project in a repository that Claude Code works on with Tollgate, all of it healthy.
pub(super) struct Ward {
    project: TestProject,
}

impl std::ops::Deref for Ward {
    type Target = TestProject;

    fn deref(&self) -> &TestProject {
        &self.project
    }
}

impl Ward {
    pub(super) fn new() -> Self {
        let ward = Self::empty();
        ward.must(&["install", "--agent", "claude-code", "--yes"]);
        ward
    }

    /// With a workflow that runs.
    pub(super) fn at_work() -> Self {
        let ward = Self::new();
        ward.must(&["workflow", "start", "feature", "Pay by invoice"]);
        ward
    }

    /// Nothing is registered.
    pub(super) fn empty() -> Self {
        // Only what this machine has to have: an agent that stands elsewhere is not found.
        let project = TestProject::with_tollgate_on_path().with_repository();
        let path = format!("{}:/usr/bin:/bin", project.programs().display());
        let project = project.env("PATH", &path);
        std::fs::create_dir_all(project.path(".tollgate/workflow")).unwrap();
        project.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
        Self { project }
    }

    pub(super) fn env(self, name: &str, value: &str) -> Self {
        Self {
            project: self.project.env(name, value),
        }
    }

    pub(super) fn settings(&self) -> String {
        self.text(".claude/settings.json")
    }

    /// Changes the settings that Claude Code reads.
    pub(super) fn tamper(&self, edit: impl Fn(String) -> String) {
        let before = self.settings();
        let after = edit(before.clone());
        assert_ne!(before, after);
        self.file(".claude/settings.json", &after);
    }

    pub(super) fn report(&self, args: &[&str]) -> (Value, i32) {
        let mut all = vec!["doctor", "--json"];
        all.extend(args);
        let run = self.tollgate(&all);
        (run.json(), run.code)
    }

    /// The names of all findings.
    pub(super) fn names(&self) -> Vec<String> {
        names(&self.report(&[]).0)
    }

    /// Exactly this is found, and it says what to do.
    #[track_caller]
    pub(super) fn has(&self, name: &str) {
        let (report, code) = self.report(&[]);
        assert_eq!(names(&report), [name], "{report:#}");
        assert_eq!(code, 1, "{report:#}");
        for finding in report["findings"].as_array().unwrap() {
            assert!(finding["next"].as_str().unwrap().len() > 10, "{report:#}");
        }
        // Under the test's name: one kind of finding has several texts.
        let thread = std::thread::current();
        let test = thread
            .name()
            .unwrap()
            .rsplit("::")
            .next()
            .unwrap()
            .to_owned();
        let text = self.tollgate(&["doctor", "-q"]).stdout;
        let count = FOUND.with(|count| count.replace(count.get() + 1));
        let shown = || insta::assert_snapshot!(format!("{name}-{test}-{count}"), text);
        filters(&self.project).bind(shown);
    }

    /// The same, and `--fix` repairs it.
    #[track_caller]
    pub(super) fn has_and_repairs(&self, name: &str) {
        self.has(name);
        let (report, code) = self.report(&["--fix"]);
        assert_eq!(code, 0, "{report:#}");
        let repairs = report["repairs"].as_array().unwrap();
        let done = |one: &Value| one["name"] == name && one["repaired"] == true;
        assert!(repairs.iter().any(done), "{report:#}");
        self.is_healthy();
    }

    #[track_caller]
    pub(super) fn is_healthy(&self) {
        let (report, code) = self.report(&[]);
        assert_eq!(names(&report), Vec::<String>::new(), "{report:#}");
        assert_eq!(code, 0, "{report:#}");
    }
}

fn names(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap();
    let name = |finding: &Value| finding["name"].as_str().unwrap().to_owned();
    findings.iter().map(name).collect()
}

#[test]
fn a_healthy_project_is_healthy() {
    let ward = Ward::new();
    ward.is_healthy();
    let run = ward.tollgate(&["doctor"]);
    assert!(
        run.stdout.contains("guards block their sample event"),
        "{run:?}"
    );
    assert!(run.stdout.contains("healthy"), "{run:?}");
}

#[test]
fn doctor_leaves_no_trace() {
    let ward = Ward::new();
    let status = || {
        git(
            ward.root(),
            &["status", "--porcelain", "--ignored", "-uall"],
        )
    };
    let before = status();
    ward.report(&[]);
    assert_eq!(status(), before);
    assert!(std::fs::read_dir(ward.home()).unwrap().next().is_none());
}

#[test]
fn findings_are_told_in_words() {
    let ward = Ward::new();
    ward.tamper(|text| text.replace("\"timeout\": 900", "\"timeout\": 900000"));
    let run = ward.tollgate(&["doctor"]);
    assert_eq!(run.code, 1, "{run:?}");
    let guards = vec![(r"\d+ of \d+ guards", "[ALL] guards")];
    insta::with_settings!({ filters => guards.clone() }, {
        insta::assert_snapshot!(run.stdout, @r"
        timeout-unit  .claude/settings.json gives Stop a timeout of 900000, which Claude Code takes for seconds
          `tollgate uninstall` and `tollgate install` write it in the agent's unit
        agent  Claude Code (.claude/settings.json): registered, no event heard yet
        guards [ALL] guards block their sample event
        1 finding(s); `tollgate doctor --fix` repairs 1 of them
        ");
    });
    let run = ward.tollgate(&["doctor", "--fix"]);
    assert_eq!(run.code, 0, "{run:?}");
    insta::with_settings!({ filters => guards }, {
        insta::assert_snapshot!(run.stdout, @r"
        fixed  timeout-unit  registered tollgate in .claude/settings.json
        agent  Claude Code (.claude/settings.json): registered, no event heard yet
        guards [ALL] guards block their sample event
        healthy
        ");
    });
}

/// The page lists every finding there is.
#[test]
fn every_finding_is_documented() {
    let page = include_str!("../../../../../docs/doctor.md");
    let sources = [
        include_str!("../../../src/cli/doctor/mod.rs"),
        include_str!("../../../src/cli/doctor/canary.rs"),
        include_str!("../../../src/cli/doctor/project.rs"),
        include_str!("../../../src/cli/doctor/registrations.rs"),
        include_str!("../../../src/cli/doctor/reviewers.rs"),
    ];
    let mut count = 0;
    for source in sources {
        for part in source.split("Finding::new(").skip(1) {
            let Some(name) = part.trim_start().strip_prefix('"') else {
                continue;
            };
            let name = name.split('"').next().unwrap();
            assert!(page.contains(&format!("`{name}`")), "{name}");
            count += 1;
        }
    }
    assert!(count >= 25, "{count}");
}
