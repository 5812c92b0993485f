//! A repository in which workflows are run with the commands.

use serde_json::Value;

use crate::project::TestProject;

/// A project in a git repository, and the commands in it.
pub(crate) struct Bench {
    pub(crate) project: TestProject,
    home: &'static str,
}

impl std::ops::Deref for Bench {
    type Target = TestProject;

    fn deref(&self) -> &TestProject {
        &self.project
    }
}

pub(crate) const STATE: &str = ".isdlc/state.json";

impl Bench {
    /// A project of the original on `main`, with its own workflows where they are given.
    pub(crate) fn new() -> Self {
        let project = TestProject::new().on_branch("main");
        Self::of(project, STATE)
    }

    pub(crate) fn of(project: TestProject, home: &'static str) -> Self {
        // The commands run git themselves, so it must know who commits.
        project.git(&["config", "user.name", "Test"]);
        project.git(&["config", "user.email", "test@example.org"]);
        Self { project, home }
    }

    /// A new project: no `.isdlc`, only `.tollgate`.
    pub(crate) fn fresh() -> Self {
        let project = TestProject::empty().on_branch("main");
        std::fs::create_dir(project.path(".tollgate")).unwrap();
        Self::of(project, ".tollgate/workflow/state.json")
    }

    /// The same with a workflow `t` of these phases and no branch.
    pub(crate) fn with_phases(phases: &[&str]) -> Self {
        let project = TestProject::new().on_branch("main").with_workflow(phases);
        Self::of(project, STATE)
    }

    /// The same, started.
    pub(crate) fn started(phases: &[&str]) -> Self {
        let bench = Self::with_phases(phases);
        bench.ok(&["workflow", "start", "t", "Add a shop"]);
        bench
    }

    /// Runs a command that must succeed; gives its standard output.
    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        self.must(args).stdout
    }

    /// Runs a command that must fail with this code and leave the state alone; gives what it said.
    #[track_caller]
    pub(crate) fn refused(&self, code: i32, args: &[&str]) -> String {
        let before = self.text();
        let run = self.tollgate(args);
        assert_eq!(run.code, code, "{args:?}: {run:?}");
        assert_eq!(self.text(), before, "{args:?} changed the state");
        run.stderr
    }

    pub(crate) fn text(&self) -> String {
        self.project.read(self.home)
    }

    #[track_caller]
    pub(crate) fn state(&self) -> Value {
        serde_json::from_str(&self.text()).unwrap()
    }

    /// Changes the state as somebody would who edits the file.
    pub(crate) fn edit(&self, change: impl FnOnce(&mut Value)) {
        let mut state = self.state();
        change(&mut state);
        self.project
            .file(self.home, serde_json::to_string_pretty(&state).unwrap());
    }

    pub(crate) fn json(&self, args: &[&str]) -> Value {
        self.tollgate(args).json()
    }

    pub(crate) fn begin(&self) {
        self.ok(&["phase", "begin"]);
    }

    /// Writes what the phase's brief asks for.
    pub(crate) fn write_documents(&self) {
        write_documents(&self.project);
    }

    pub(crate) fn complete(&self) {
        self.ok(&["phase", "complete", "--summary", "done"]);
    }

    /// The ids that the audit finds.
    pub(crate) fn audit(&self) -> Vec<String> {
        let answer = self.json(&["workflow", "audit", "--json"]);
        let findings = answer["findings"].as_array().unwrap();
        findings
            .iter()
            .map(|finding| finding["id"].as_str().unwrap().to_owned())
            .collect()
    }

    #[track_caller]
    pub(crate) fn clean(&self) {
        let run = self.tollgate(&["workflow", "audit"]);
        assert_eq!(run.code, 0, "{run:?}\n{}", self.text());
    }
}

/// Writes what the brief of a project's phase asks for.
pub(crate) fn write_documents(project: &TestProject) {
    let brief = project.must(&["phase", "brief"]).stdout;
    let written = brief.lines().find_map(|line| line.strip_prefix("Write: "));
    for path in written.into_iter().flat_map(|paths| paths.split(", ")) {
        project.file(path, "# Written\n");
    }
}
