//! For every code that blocks: projects in which an ordinary call meets it.

use serde_json::{Value, json};

use super::agent::skill;
use crate::deadline::with_a_git_that_hangs;
use crate::events::{Event as _, bash, stop, task, write};
use crate::project::{MANIFEST, TestProject, put, running, running_on_branch};

/// Where the workflow is at home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// `.isdlc/`
    Original,
    /// `tollgate.toml`
    Own,
}

/// A project and a call that is blocked in it.
pub(super) struct Case {
    pub(super) project: TestProject,
    pub(super) event: Value,
}

/// One code, and the cases of it. Those of a guard that is not asked in a home are none.
pub(super) type Row = (&'static str, fn(Home) -> Vec<Case>);

pub(super) const ROWS: &[Row] = &[
    ("IC-001", failing_tests),
    ("IC-002", open_validation),
    ("PSG-001", out_of_order),
    ("PLC-001", not_begun),
    ("PS-001", no_plan),
    ("GB-001", unmet),
    ("GB-002", contradiction),
    ("GB-003", under_review),
    ("GB-004", over),
    ("CV-001", called_complete),
    ("CIV-001", incomplete_record),
    ("TAB-001", few_tests),
    ("BRV-001", untouched_files),
    ("BG-001", commit_to_main),
    ("BG-002", early_commit),
    ("PG-001", persons_command),
    ("PG-002", made_up_event),
    ("SFG-001", state_by_shell),
    ("SFG-002", registry),
    ("SFG-003", own_files),
    ("SFG-004", settings),
    ("SFG-005", plugin),
    ("SFG-006", program),
    ("SW-009", settings_taken_out),
    ("ERE-001", exploring),
    ("PW-001", other_files),
    ("SWV-007", stale_write),
    ("SWV-008", going_back),
    ("DG-001", owed),
    ("DL-001", not_in_time),
];

const PHASE: &str = "06-implementation";
const PLAN: &str = "# Tasks\n";

impl Home {
    fn dir(self) -> &'static str {
        match self {
            Self::Original => ".isdlc",
            Self::Own => ".tollgate/workflow",
        }
    }

    pub(super) fn state_file(self) -> String {
        format!("{}/state.json", self.dir())
    }

    fn plan(self) -> &'static str {
        match self {
            Self::Original => "docs/isdlc/tasks.md",
            Self::Own => ".tollgate/workflow/tasks.md",
        }
    }

    /// A project with a task plan and this state.
    fn project(self, state: &Value) -> TestProject {
        let project = self.without_plan(state);
        project.file(self.plan(), PLAN);
        project
    }

    fn without_plan(self, state: &Value) -> TestProject {
        let project = TestProject::with_tollgate_on_path();
        match self {
            Self::Original => {
                project.file(".isdlc/config/skills-manifest.json", MANIFEST);
            }
            Self::Own => {
                project.file("tollgate.toml", "");
            }
        }
        project.file(&self.state_file(), format!("{state:#}"));
        project
    }

    /// The same where the phase must do this.
    fn requiring(self, state: &Value, phase: &str, required: &Value) -> TestProject {
        let project = self.project(state);
        let required = json!({ "phase_requirements": { phase: required } });
        self.config(&project, "iteration-requirements.json", &required);
        project
    }

    fn config(self, project: &TestProject, name: &str, content: &Value) {
        project.file(
            &format!("{}/config/{name}", self.dir()),
            content.to_string(),
        );
    }
}

fn case(project: TestProject, event: Value) -> Case {
    Case { project, event }
}

fn advance() -> Value {
    task("sdlc-orchestrator", "Advance to the next phase")
}

fn in_progress() -> Value {
    running(PHASE, "in_progress")
}

/// The state with this in the entry of the implementation.
fn with_entry(entry: &Value) -> Value {
    let mut state = in_progress();
    state["phases"][PHASE] = entry.clone();
    state["phases"][PHASE]["status"] = json!("in_progress");
    state
}

fn tests_and_validation() -> Value {
    json!({
        "test_iteration": { "enabled": true },
        "constitutional_validation": { "enabled": true, "articles": ["I", "II"] },
    })
}

fn tests(record: &Value) -> Value {
    json!({ "iteration_requirements": { "test_iteration": record } })
}

fn passed() -> Value {
    tests(&json!({ "completed": true, "current_iteration": 1, "last_test_result": "passed" }))
}

/// The tests fail, with and without a recorded command, and the validation is open as well.
fn failing_tests(home: Home) -> Vec<Case> {
    let failed =
        json!({ "completed": false, "last_test_result": "failed", "current_iteration": 2 });
    let mut named = failed.clone();
    named["last_test_command"] = json!("npm test");
    let of = |record: &Value, required: &Value| {
        case(
            home.requiring(&with_entry(&tests(record)), PHASE, required),
            advance(),
        )
    };
    vec![
        of(&named, &json!({ "test_iteration": { "enabled": true } })),
        of(&failed, &json!({ "test_iteration": { "enabled": true } })),
        of(&named, &tests_and_validation()),
    ]
}

fn open_validation(home: Home) -> Vec<Case> {
    let project = || home.requiring(&with_entry(&passed()), PHASE, &tests_and_validation());
    vec![
        case(project(), advance()),
        case(project(), skill("advance")),
    ]
}

/// To another phase: of one that runs, of one that did not begin, and of one that is over.
fn out_of_order(home: Home) -> Vec<Case> {
    let ask = || task("qa-engineer", "Review the code.");
    let mut over = running(PHASE, "completed");
    over["active_workflow"]["current_phase_index"] = json!(1);
    let mut to_next = over.clone();
    to_next["active_workflow"]["phases"] = json!([PHASE, "08-code-review"]);
    vec![
        case(home.project(&in_progress()), ask()),
        case(home.project(&running(PHASE, "pending")), ask()),
        case(home.without_plan(&running(PHASE, "pending")), ask()),
        case(home.project(&over), ask()),
        case(home.without_plan(&to_next), ask()),
    ]
}

/// The phase has not begun; there is no plan either; and escalations wait.
fn not_begun(home: Home) -> Vec<Case> {
    let ask = || task("software-developer", "Implement it.");
    let pending = running(PHASE, "pending");
    let mut waiting = pending.clone();
    waiting["pending_escalations"] =
        json!([{ "type": "gate_blocked", "hook": "gate-blocker", "phase": PHASE, "detail": "x" }]);
    vec![
        case(home.project(&pending), ask()),
        case(home.without_plan(&pending), ask()),
        case(home.project(&waiting), ask()),
    ]
}

fn no_plan(home: Home) -> Vec<Case> {
    let ask = task("software-developer", "Implement it.");
    vec![case(home.without_plan(&in_progress()), ask)]
}

/// One requirement after the other, all of them at once, and one that waits for a person.
fn unmet(home: Home) -> Vec<Case> {
    let artifacts =
        json!({ "enabled": true, "paths": ["docs/design/plan.md", "docs/api/plan.md"] });
    let all = json!({
        "test_iteration": { "enabled": true },
        "constitutional_validation": { "enabled": true, "articles": ["I"] },
        "agent_delegation_validation": { "enabled": true },
        "artifact_validation": artifacts,
    });
    let of = |required: &Value| case(home.requiring(&in_progress(), PHASE, required), advance());
    let mut cases = vec![of(&all)];
    for (name, part) in all.as_object().unwrap() {
        cases.push(of(&json!({ name: part })));
    }
    let menu =
        json!({ "interactive_elicitation": { "enabled": true, "min_menu_interactions": 2 } });
    let first = running("01-requirements", "in_progress");
    cases.push(case(
        home.requiring(&first, "01-requirements", &menu),
        advance(),
    ));
    let escalated = tests(&json!({ "completed": true, "status": "escalated" }));
    let required = json!({ "test_iteration": { "enabled": true } });
    let project = home.requiring(&with_entry(&escalated), PHASE, &required);
    cases.push(case(project, advance()));
    cases
}

fn contradiction(home: Home) -> Vec<Case> {
    let mut state = in_progress();
    state["active_workflow"]["phases"] = json!(["05-test-strategy", PHASE, "16-quality-loop"]);
    state["active_workflow"]["phase_status"]["05-test-strategy"] = json!("completed");
    state["phases"]["05-test-strategy"] = json!({ "status": "completed" });
    vec![case(home.requiring(&state, PHASE, &json!({})), advance())]
}

fn under_review(home: Home) -> Vec<Case> {
    let of = |status: &str, phase: &str| {
        let mut state = running(PHASE, phase);
        state["active_workflow"]["current_phase_index"] = json!(usize::from(phase == "completed"));
        state["active_workflow"]["supervised_review"] =
            json!({ "status": status, "phase": PHASE, "rejection_reason": "it's unclear" });
        case(home.requiring(&state, PHASE, &json!({})), advance())
    };
    vec![
        of("reviewing", "completed"),
        of("rejected", "completed"),
        of("rejected", "in_progress"),
    ]
}

fn over(home: Home) -> Vec<Case> {
    let of = |status: &str| {
        let mut state = running(PHASE, "completed");
        state["active_workflow"]["phases"] = json!([PHASE]);
        state["active_workflow"]["current_phase_index"] = json!(1);
        state["active_workflow"]["status"] = json!(status);
        case(home.requiring(&state, PHASE, &json!({})), advance())
    };
    vec![of("completed"), of("cancelled")]
}

fn called_complete(home: Home) -> Vec<Case> {
    let ask = || task("general-purpose", "The implementation is complete.");
    let required = json!({ "constitutional_validation": { "enabled": true, "articles": ["I"] } });
    let of = |record: &Value| {
        let state = with_entry(&json!({ "constitutional_validation": record }));
        case(home.requiring(&state, PHASE, &required), ask())
    };
    vec![
        case(home.requiring(&in_progress(), PHASE, &required), ask()),
        of(&json!({ "status": "iterating", "iterations_used": 1 })),
        of(&json!({ "status": "escalated", "iterations_used": 5, "completed": true })),
    ]
}

fn incomplete_record(home: Home) -> Vec<Case> {
    let state = with_entry(&json!({ "constitutional_validation": { "completed": true } }));
    vec![case(home.project(&state), skill("gate-check"))]
}

fn few_tests(home: Home) -> Vec<Case> {
    let mut state = running("15-upgrade-plan", "in_progress");
    state["discovery_context"] = json!({ "coverage_summary": { "total_tests": 0 } });
    vec![case(
        home.project(&state),
        task("upgrade-engineer", "Upgrade it."),
    )]
}

fn untouched_files(home: Home) -> Vec<Case> {
    let mut state = in_progress();
    state["active_workflow"]["artifact_folder"] = json!("REQ-1");
    let project = home.project(&state);
    project.file("src/old.rs", "");
    project.file("src/a.rs", "");
    project.file("src/parts/a.rs", "");
    project.file(
        "docs/requirements/REQ-1/impact-analysis.md",
        "| `src/a.rs` | MODIFY |\n| `src/b.rs` | CREATE |\n| `src/old.rs` | DELETE |\n| `src/parts/` | MODIFY |\n",
    );
    let project = project.with_repository();
    project.commit("first");
    vec![case(project, advance())]
}

/// The branch is there or not, and the command goes to main or is there already.
fn commit_to_main(home: Home) -> Vec<Case> {
    let project = |branch: Option<&str>| {
        let project = home.project(&running_on_branch(PHASE)).with_repository();
        project.commit("first");
        if let Some(branch) = branch {
            project.git(&["branch", "feature/x"]);
            project.git(&["switch", "-q", branch]);
        }
        project
    };
    let commit = || bash("git commit --allow-empty -m x");
    vec![
        case(project(Some("main")), commit()),
        case(project(None), commit()),
        case(
            project(Some("feature/x")),
            bash("git switch main && git commit --allow-empty -m x"),
        ),
    ]
}

fn early_commit(home: Home) -> Vec<Case> {
    let project = home
        .project(&running_on_branch(PHASE))
        .on_branch("feature/x");
    let late = json!({ "commit_in_last_phase_only": true, "workflows": {} });
    home.config(&project, "workflows.json", &late);
    vec![case(project, bash("git commit -m x"))]
}

fn state_by_shell(home: Home) -> Vec<Case> {
    let file = home.state_file();
    let of = |command: &str| case(home.project(&in_progress()), bash(command));
    vec![
        of(&format!("echo '{{}}' > {file}")),
        of(&format!("rm {file}")),
        of("rm -rf ."),
        case(
            home.project(&in_progress()).with_repository(),
            bash("git clean -fdx"),
        ),
    ]
}

fn persons_command(home: Home) -> Vec<Case> {
    let of = |command: &str| case(home.project(&in_progress()), bash(command));
    vec![
        of("tollgate phase skip 06-implementation --reason 'it is late'"),
        of("tollgate workflow cancel --reason x"),
        of("cd src; tollgate uninstall --yes"),
    ]
}

fn made_up_event(home: Home) -> Vec<Case> {
    let command = "echo '{}' | tollgate hook";
    vec![case(home.project(&in_progress()), bash(command))]
}

fn plugin(home: Home) -> Vec<Case> {
    let project = || home.project(&in_progress());
    vec![
        case(project(), write(".claude/skills/a/hooks/hooks.json", "{}")),
        case(project(), bash("claude plugin install a@b")),
    ]
}

fn program(home: Home) -> Vec<Case> {
    let project = home.project(&in_progress());
    vec![case(project, bash("cargo uninstall tollgate"))]
}

fn registry(home: Home) -> Vec<Case> {
    let command = format!("echo '{{}}' > {}/monorepo.json", home.dir());
    vec![case(home.project(&in_progress()), bash(&command))]
}

fn own_files(home: Home) -> Vec<Case> {
    let project = || home.project(&in_progress());
    vec![
        case(project(), bash("rm -r .tollgate/local")),
        case(project(), write(".tollgate/local/journal.jsonl", "")),
    ]
}

fn settings(home: Home) -> Vec<Case> {
    let project = || {
        let project = home.project(&in_progress());
        project.install_for("project");
        project
    };
    vec![
        case(project(), bash("rm .claude/settings.json")),
        case(project(), write(".claude/settings.json", "{}")),
    ]
}

/// A command of the session empties the settings, and the agent tells that they changed.
fn settings_taken_out(home: Home) -> Vec<Case> {
    let project = home.project(&in_progress());
    project.install_for("project");
    let start = json!({ "hook_event_name": "SessionStart", "source": "startup" });
    project.hook(&start.in_session("s").in_directory(project.root()));
    project.file(".claude/settings.json", "{}");
    let call = json!({
        "type": "assistant", "timestamp": jiff::Timestamp::now().to_string(),
        "message": { "content": [
            { "type": "tool_use", "id": "c", "name": "Bash", "input": { "command": "make" } },
        ] },
    });
    let transcript = project.outside().join("transcript.jsonl");
    put(&transcript, format!("{call}\n"));
    let event = json!({
        "hook_event_name": "ConfigChange", "source": "project_settings",
        "file_path": project.path(".claude/settings.json"), "transcript_path": transcript,
    });
    vec![case(project, event)]
}

fn exploring(home: Home) -> Vec<Case> {
    let state = json!({ "state_version": 1, "chat_explore_active": true });
    vec![case(home.project(&state), write("src/lib.rs", "x"))]
}

/// A file of the next phase, of a later one, and of none.
fn other_files(home: Home) -> Vec<Case> {
    if home == Home::Original {
        return Vec::new();
    }
    let of = |path: &str| {
        let project = TestProject::with_tollgate_on_path();
        project.file(
            "tollgate.toml",
            "[workflow.change]\nbranch = false\nphases = [\n  { name = \"plan\", writes = [\"docs/**\"] },\n  \
             { name = \"build\", writes = [\"src/**\"] },\n  { name = \"ship\", writes = [\"dist/**\"] },\n]\n",
        );
        project.must(&["workflow", "start", "change", "a change"]);
        project.must(&["phase", "begin"]);
        case(project, write(path, "x"))
    };
    vec![of("src/lib.rs"), of("dist/a"), of("other/a")]
}

fn stale_write(home: Home) -> Vec<Case> {
    let mut state = in_progress();
    state["state_version"] = json!(7);
    let of = |version: &Value| {
        let mut content = state.clone();
        content["note"] = json!("new");
        content["state_version"] = version.clone();
        let event = write(home.state_file(), &content.to_string());
        case(home.project(&state), event)
    };
    vec![of(&json!(3)), of(&Value::Null)]
}

/// A status that goes back, and a workflow that is thrown away, over or not.
fn going_back(home: Home) -> Vec<Case> {
    let of = |state: &Value, content: &Value| {
        let event = write(home.state_file(), &content.to_string());
        case(home.project(state), event)
    };
    let state = in_progress();
    let mut none = state.clone();
    none["active_workflow"] = Value::Null;
    let mut over = running(PHASE, "completed");
    over["active_workflow"]["phases"] = json!([PHASE]);
    over["active_workflow"]["current_phase_index"] = json!(1);
    vec![
        of(&state, &running(PHASE, "pending")),
        of(&state, &none),
        of(&over, &none),
    ]
}

fn owed(home: Home) -> Vec<Case> {
    let now = jiff::Timestamp::now().to_string();
    let state = json!({ "state_version": 1, "pending_delegation": {
        "skill": "isdlc", "args": "feature x", "required_agent": "sdlc-orchestrator", "invoked_at": now,
    } });
    vec![case(home.project(&state), stop())]
}

/// A git that knows no reftable has no such case.
fn not_in_time(home: Home) -> Vec<Case> {
    let project = (home == Home::Original).then(with_a_git_that_hangs);
    let project = project.flatten().into_iter();
    project
        .map(|project| case(project, bash("git commit -m x")))
        .collect()
}
