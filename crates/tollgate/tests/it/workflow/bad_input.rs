//! What somebody may do wrong: a clear message, exit 2, and the state as it was.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::bench::{Bench, STATE};
use crate::outputs::{assert_shows, filters, transcript};
use crate::project::TestProject;

#[test]
fn names_that_do_not_exist_are_guessed() {
    let bench = Bench::new();
    assert_shows!(
        bench,
        &[
            "workflow start featrue x",
            "workflow start feature x --from architecture",
            "workflow start feature x --folder ../../etc",
        ]
    );
    let said = bench.refused(2, &["workflow", "start", "feature", "  "]);
    assert!(said.contains("description is empty"), "{said}");
    assert!(!bench.exists(STATE));
    let bench = Bench::started(&["01-requirements", "06-implementation"]);
    let before = bench.text();
    assert_shows!(
        bench,
        &[
            "phase begin 06-implementatoin",
            "phase skip nonsense --reason x"
        ]
    );
    assert_eq!(bench.text(), before);
}

#[test]
fn steps_out_of_order() {
    let bench = Bench::with_phases(&["01-requirements", "06-implementation"]);
    for args in [
        &["phase", "begin"][..],
        &["phase", "complete", "--summary", "x"],
        &["phase", "redo", "--guidance", "x"],
        &["phase", "skip", "--reason", "x"],
        &["phase", "review", "--continue"],
        &["phase", "brief"],
        &["workflow", "finalize"],
        &["workflow", "cancel", "--reason", "x"],
    ] {
        let said = bench.refused(2, args);
        assert!(
            said.contains("no workflow is running")
                && said.contains("hint: `tollgate workflow start NAME"),
            "{said}"
        );
    }
    assert!(!bench.path(STATE).exists());
    bench.ok(&["workflow", "start", "t", "x"]);
    bench.refused(2, &["workflow", "start", "t", "y"]);
    bench.complete();
    let before = bench.text();
    assert_shows!(
        bench,
        &[
            "workflow start t y",
            "phase complete --summary x",
            "phase redo --guidance x",
            "workflow finalize",
            "phase begin 01-requirements",
        ]
    );
    assert_eq!(bench.text(), before);
}

/// Git waits for ever where one of its files is a pipe; a command does not.
#[test]
fn a_git_that_never_answers_is_not_waited_for() {
    let bench = Bench::fresh();
    let config = bench.path(".git/config");
    std::fs::remove_file(&config).unwrap();
    crate::project::pipe(&config);
    let said = bench.refused(2, &["workflow", "start", "fix", "x"]);
    assert!(
        said.contains(".git/config: it is a named pipe") && said.contains("`git status`"),
        "{said}"
    );
    // It is not taken for a place without a repository.
    assert!(!said.contains("not in a git repository"), "{said}");
    bench.ok(&["workflow", "start", "fix", "x", "--no-branch"]);
}

#[test]
fn repositories_that_are_dirty_missing_empty_or_in_the_way() {
    let start = &["workflow start fix x"];
    let bench = Bench::fresh();
    let before = bench.text();
    bench.file("README.md", "changed\n");
    let mut seen = vec![transcript(&bench, start)];
    assert_eq!(bench.read("README.md"), "changed\n");
    assert_eq!(bench.git(&["branch", "--show-current"]), "main");
    bench.git(&["checkout", "-q", "README.md"]);
    bench.git(&["branch", "bugfix/BUG-0001-x"]);
    seen.push(transcript(&bench, start));
    bench.git(&["checkout", "-q", "--detach"]);
    seen.push(transcript(&bench, &["workflow start fix y"]));
    assert_eq!(bench.text(), before);

    let project = TestProject::bare();
    seen.push(transcript(&project, start));
    project.git(&["init", "-q"]);
    seen.push(transcript(&project, start));
    assert!(!project.path(STATE).exists());
    seen.push(transcript(&TestProject::empty(), &["workflow status"]));
    let seen = seen.join("\n");
    filters(&bench).bind(|| {
        filters(&project).bind(|| insta::assert_snapshot!(seen));
    });
}

#[test]
fn a_branch_is_taken_back_if_the_state_cannot_be_written() {
    let bench = Bench::fresh();
    bench.file(".tollgate/local", "in the way\n");
    let said = bench.refused(2, &["workflow", "start", "fix", "x"]);
    assert!(said.contains("error:") && said.contains("hint:"), "{said}");
    assert_eq!(bench.git(&["branch", "--show-current"]), "main");
    assert_eq!(bench.git(&["branch", "--list", "bugfix/*"]), "");
}

#[test]
fn states_that_cannot_be_read_are_left_alone() {
    let bench = Bench::started(&["01-requirements"]);
    for text in [
        "",
        "{",
        "[]",
        "{\"active_workflow\": 7, \"state_version\": 1}",
    ] {
        bench.file(STATE, text);
        for args in [&["phase", "begin"][..], &["workflow", "start", "t", "x"]] {
            let run = bench.tollgate(args);
            assert_eq!(run.code, 2, "{text:?} {args:?}: {run:?}");
            assert_eq!(bench.text(), text);
        }
    }
    bench.file(STATE, "{");
    let run = bench.tollgate(&["workflow", "audit"]);
    assert!(
        run.code == 2 && run.stderr.contains("line 1, column"),
        "{run:?}"
    );
    bench.file(".isdlc/config/workflows.json", "{");
    let run = bench.tollgate(&["workflow", "definitions"]);
    assert!(
        run.code == 2 && run.stderr.contains("workflows.json"),
        "{run:?}"
    );
}

#[test]
fn contradicting_states_are_explained_and_mended() {
    let bench = Bench::started(&["01-requirements", "06-implementation"]);
    bench.complete();
    bench.edit(|state| state["phases"]["01-requirements"]["status"] = json!("in_progress"));
    let said = bench.refused(2, &["phase", "begin"]);
    assert!(
        said.contains("the state contradicts itself")
            && said.contains("tollgate workflow audit --repair"),
        "{said}"
    );
    bench.ok(&["workflow", "audit", "--repair"]);
    bench.begin();
}

#[test]
fn a_disk_that_cannot_be_written_changes_nothing() {
    let bench = Bench::started(&["01-requirements", "06-implementation"]);
    let home = bench.path(".isdlc");
    let lock =
        |mode| std::fs::set_permissions(&home, std::fs::Permissions::from_mode(mode)).unwrap();
    // Root may write anywhere; then a file in the place of the lock's directory does the same.
    lock(0o555);
    let probe = std::fs::create_dir(home.join("probe")).is_err();
    if probe {
        let said = bench.refused(2, &["phase", "complete", "--summary", "x"]);
        assert!(said.contains("nothing was changed"), "{said}");
    }
    lock(0o755);
    let limited = bench.command(&[]);
    let program = limited.get_program().to_owned();
    let before = bench.text();
    // A full disk: no file may grow beyond nothing.
    let mut command = std::process::Command::new("bash");
    command
        .arg("-c")
        .arg("trap '' XFSZ; ulimit -f 0; exec \"$0\" phase complete --summary x")
        .arg(program);
    command
        .current_dir(bench.root())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", bench.home());
    let run = crate::project::run(command, b"");
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("nothing was changed"), "{run:?}");
    assert_eq!(bench.text(), before);
    bench.complete();
    bench.clean();
}

#[test]
fn a_workflow_without_phases_can_be_ended() {
    let bench = Bench::started(&["01-requirements", "06-implementation"]);
    bench.edit(|state| {
        state["active_workflow"]
            .as_object_mut()
            .unwrap()
            .remove("phases");
    });
    for args in [
        &["workflow", "status"][..],
        &["phase", "begin"],
        &["phase", "complete", "--summary", "x"],
        &["workflow", "finalize"],
    ] {
        let said = bench.refused(2, args);
        assert!(
            said.contains("active_workflow.phases has no phases")
                && said.contains("`tollgate workflow cancel --reason …`"),
            "{said}"
        );
    }
    bench.gives_up(&["workflow", "cancel", "--reason", "its phases are lost"]);
    let state = bench.state();
    assert_eq!(state["active_workflow"], json!(null));
    let ended = &state["workflow_history"][0];
    assert_eq!(ended["cancellation_reason"], "its phases are lost");
    assert_eq!(ended["cancelled_at_phase"], json!(null));
    bench.ok(&["workflow", "start", "t", "once more"]);
}

#[test]
fn a_workflow_that_is_none_is_not_called_absent() {
    let bench = Bench::started(&["01-requirements"]);
    bench.edit(|state| state["active_workflow"] = json!(5));
    for args in [
        &["workflow", "status"][..],
        &["phase", "begin"],
        &["workflow", "cancel", "--reason", "x"],
        &["workflow", "start", "t", "x"],
    ] {
        let said = bench.refused(2, args);
        assert!(
            said.contains("active_workflow is 5, not an object")
                && said.contains("`tollgate workflow audit --repair` repairs it"),
            "{said}"
        );
    }
    for args in [&["status"][..], &["top", "--once"]] {
        let said = bench.ok(args);
        assert!(said.contains("active_workflow is 5"), "{said}");
        assert!(!said.contains("none is running"), "{said}");
    }
    bench.ok(&["workflow", "audit", "--repair"]);
    assert!(
        bench
            .ok(&["workflow", "status"])
            .contains("No workflow is running")
    );
    bench.edit(|state| state["active_workflow"] = json!(false));
    assert!(
        bench
            .ok(&["workflow", "status"])
            .contains("No workflow is running")
    );
}

#[test]
fn an_empty_state_is_called_empty() {
    let bench = Bench::started(&["01-requirements"]);
    bench.file(STATE, "");
    let said = bench.refused(2, &["workflow", "status"]);
    assert!(
        said.contains("state.json: line 1, column 0: the file is empty"),
        "{said}"
    );
}

#[test]
fn fields_that_are_not_there_leave_no_gap() {
    let bench = Bench::new();
    bench.file(
        STATE,
        json!({
            "state_version": 1,
            "active_workflow": {
                "type": "feature", "description": "Gift cards", "phases": ["01-requirements"],
                "current_phase": "01-requirements", "current_phase_index": 0,
            },
            "phases": { "01-requirements": { "status": "in_progress" } },
        })
        .to_string(),
    );
    let said = bench.ok(&["workflow", "status"]);
    assert!(
        said.starts_with("feature  Gift cards\n  budget on track\n"),
        "{said}"
    );
    let said = bench.ok(&["status"]);
    assert!(said.contains("feature: Gift cards"), "{said}");
}
