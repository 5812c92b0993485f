//! One meaning of green, in every output: in projects as `tollgate init` makes them.

use serde_json::{Value, json};

use super::unverified::{blocks, let_go, line, project, stop, stop_in, stop_with};
use crate::init::Repository;

const EVIDENCE: &str = ".tollgate/local/evidence.json";

/// What every output says: of all gates, and of each.
#[track_caller]
fn says(repository: &Repository, all: &str, each: &str) {
    let status: Value =
        serde_json::from_str(&repository.tollgate(&["status", "--json"]).stdout).unwrap();
    let gates = &status["gates"];
    assert_eq!(gates["verification"], all, "{gates:#}");
    for gate in gates["gates"].as_array().unwrap() {
        assert_eq!(gate["verification"], each, "{gates:#}");
    }
    let is_verified = all == "verified";
    let exit = repository.tollgate(&["status", "--exit-code"]).code;
    assert_eq!(exit == 0, is_verified, "{exit}");
    let line = line(repository);
    assert_eq!(line.contains("gates ✔"), is_verified, "{line}");
    let text = repository.tollgate(&["status"]).stdout;
    let gates = text.lines().find(|line| line.starts_with("gates")).unwrap();
    assert_eq!(gates.contains('✔'), is_verified, "{text}");
}

#[test]
fn a_gate_is_verified_on_what_it_passed_on_and_on_nothing_else() {
    let repository = project();
    says(&repository, "not_verified", "never_ran");
    repository.tollgate(&["run"]).exits(0).says("✔ verified");
    says(&repository, "verified", "verified");
    repository.file("b.go", "package x\n");
    says(&repository, "not_verified", "stale");
    repository.file("broken", "");
    repository.tollgate(&["run"]).exits(1);
    says(&repository, "not_verified", "failed");
    // What was seen green is green again, and nothing runs.
    std::fs::remove_file(repository.path("broken")).unwrap();
    std::fs::remove_file(repository.path("b.go")).unwrap();
    says(&repository, "verified", "verified");
    repository.calls();
    repository.tollgate(&["run"]).exits(0);
    assert_eq!(let_go(&stop(&repository, "p", false)), "");
    assert!(repository.calls().is_empty());
    // So it is on a branch, and when it is committed.
    repository.git(&["checkout", "-q", "-b", "other"]);
    repository.git(&["commit", "-q", "--allow-empty", "-m", "other"]);
    says(&repository, "verified", "verified");
}

#[test]
fn run_all_runs_what_is_verified_too() {
    let repository = project();
    repository.tollgate(&["run"]).exits(0);
    repository.calls();
    repository.tollgate(&["run", "--all"]).exits(0);
    assert_eq!(repository.calls().len(), 2);
    repository.tollgate(&["run", "-g", "lint"]).exits(0);
    assert_eq!(repository.calls().len(), 1);
}

#[test]
fn run_can_be_about_some_files_or_some_commits() {
    let repository = Repository::with(&[("a/x", "1\n"), ("b/x", "1\n")]);
    repository.file(
        "tollgate.toml",
        "[gates]\nbase = \"main\"\n[gates.a]\nrun = \"true\"\ninputs = [\"a/**\"]\n[gates.b]\nrun = \"true\"\ninputs = [\"b/**\"]\n",
    );
    repository.commit("gates");
    repository.tollgate(&["run"]).exits(0);
    let ran = |args: &[&str]| -> Vec<String> {
        let run = repository.tollgate(&[&["run", "--json"], args].concat());
        let result: Value = serde_json::from_str(&run.stdout).unwrap();
        let gates = result["gates"].as_array().unwrap().iter();
        gates
            .map(|gate| gate["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ran(&["--files", "a/x"]), ["a"]);
    assert_eq!(ran(&["--files", "a/x", "b/x"]), ["a", "b"]);
    assert!(ran(&["--files", "c"]).is_empty());
    repository.file("b/x", "2\n");
    repository.commit("two");
    assert_eq!(ran(&["--since", "HEAD~1"]), ["b"]);
    repository
        .tollgate(&["run", "--since", "nowhere"])
        .exits(2)
        .says("nowhere");
}

/// The file that a check itself writes counted as an input as soon as it was there, so that the gate
/// was "changed" although nobody had touched `tollgate.toml`.
#[test]
fn the_output_of_a_check_is_none_of_its_inputs() {
    let repository = Repository::with(&[
        ("src/x", "1\n"),
        (".gitignore", "*.log\n*.xml\n.tollgate\n"),
    ]);
    repository.file("check.sh", "echo checked > report.xml\n");
    repository.file(
        "tollgate.toml",
        "[gates]\nbase = \"main\"\n[gates.a]\nrun = \"sh check.sh > out.log 2>&1\"\ninputs = [\"src/**\"]\n[gates.b]\nrun = \"sh check.sh --junitxml=report.xml\"\ninputs = [\"src/**\"]\n",
    );
    repository.commit("gates");
    for _ in 0..2 {
        repository
            .tollgate(&["run", "--all"])
            .exits(0)
            .says("✔ verified");
    }
    repository.tollgate(&["status", "--exit-code"]).exits(0);
    // The program that it runs is one, also where only what changed is asked about.
    let run = repository.tollgate(&["run", "--files", "check.sh", "--json"]);
    assert_eq!(run.json()["gates"].as_array().unwrap().len(), 2, "{run:?}");
    repository.file("check.sh", "echo again > report.xml\n");
    repository.tollgate(&["status", "--exit-code"]).exits(1);
}

#[test]
fn detect_says_of_each_gate_why_it_would_run_or_not() {
    let repository = Repository::with(&[("a/x", "1\n"), ("b/x", "1\n")]);
    repository.file(
        "tollgate.toml",
        "[gates.a]\nrun = \"true\"\ninputs = [\"a/**\"]\n[gates.b]\nrun = \"true\"\ninputs = [\"b/**\"]\n[gates.c]\nrun = \"true\"\nlocal = false\n",
    );
    repository.commit("gates");
    repository.tollgate(&["run"]).exits(0);
    repository.file("a/x", "2\n");
    repository
        .tollgate(&["detect"])
        .exits(0)
        .says("Would run 1 gate(s):\n  check a  stale: its inputs changed since it passed")
        .says("Would not run:\n  check b  verified")
        .says("  gate c  not applicable: it runs in CI only");
}

#[test]
fn evidence_that_is_torn_forged_of_another_version_or_moved_is_not_believed() {
    let repository = project();
    repository.tollgate(&["run"]).exits(0);
    let good = repository.read(EVIDENCE);
    let forged = good.replace("\\\"pass\\\"", "\\\"fail\\\"");
    assert_ne!(forged, good);
    let other = json!({ "version": 7, "gates": {} }).to_string();
    let (half, _) = good.split_at(good.len() / 2);
    for bad in [half, &forged, &other, "", "[]", "{}"] {
        repository.file(EVIDENCE, bad);
        says(&repository, "not_verified", "never_ran");
        repository
            .tollgate(&["status"])
            .says("the evidence in evidence.json is not used");
    }
    repository.file(EVIDENCE, &good);
    says(&repository, "verified", "verified");
    // The gates run, and write it anew.
    repository.file(EVIDENCE, &forged);
    repository.calls();
    repository.tollgate(&["run"]).exits(0);
    assert_eq!(repository.calls().len(), 2);
    says(&repository, "verified", "verified");
    // Another person's, or that of another place, is none.
    let theirs = repository.read(EVIDENCE);
    let other = project();
    other.file(EVIDENCE, &theirs);
    says(&other, "not_verified", "never_ran");
}

#[test]
fn a_gate_that_passes_and_fails_on_the_same_inputs_is_flaky() {
    let repository = project();
    repository.program("go", "#!/bin/sh\nexit 1\n");
    repository.tollgate(&["run"]).exits(1);
    says(&repository, "not_verified", "failed");
    repository.program("go", "#!/bin/sh\nexit 0\n");
    repository
        .tollgate(&["run"])
        .exits(1)
        .says("passed and failed on the same inputs (flaky)");
    says(&repository, "not_verified", "flaky");
    // The agent can do nothing about it: it is let go, and it is said.
    let said = let_go(&stop(&repository, "p", false));
    assert!(
        said.contains("NOT verified: lint, test: passed and failed"),
        "{said}"
    );
    // An agent does not accept it.
    repository
        .tollgate(&["validate", "--accept"])
        .says("terminal");
    says(&repository, "not_verified", "flaky");
    // Another content is another matter.
    repository.file("b.go", "package x\n");
    repository.tollgate(&["run"]).exits(0);
    says(&repository, "verified", "verified");
}

#[test]
fn manifests_and_files_that_a_command_names_are_inputs_whatever_is_declared() {
    let repository = Repository::with(&[("src/a", "1\n"), ("check.sh", "true\n")]);
    repository.file("package.json", "{}\n");
    repository.file(
        "tollgate.toml",
        "[gates.a]\nrun = \"sh check.sh\"\ninputs = [\"src/**\"]\n",
    );
    repository.commit("gates");
    repository.file("other", "1\n");
    repository.tollgate(&["run"]).exits(0);
    repository.file("other", "2\n");
    says(&repository, "verified", "verified");
    for (file, text) in [
        ("package.json", "{ \"scripts\": { \"test\": \"true\" } }\n"),
        ("check.sh", "exit 0\n"),
        ("src/a", "2\n"),
    ] {
        let before = repository.read(file);
        repository.file(file, text);
        says(&repository, "not_verified", "stale");
        repository.file(file, &before);
        says(&repository, "verified", "verified");
    }
}

#[test]
fn a_tree_that_git_cannot_read_in_time_is_unknown() {
    let repository = project();
    repository.tollgate(&["run"]).exits(0);
    let head = repository.read(".git/HEAD");
    std::fs::remove_file(repository.path(".git/HEAD")).unwrap();
    let status = repository.tollgate(&["status", "--exit-code"]);
    assert_eq!(status.code, 2, "{status:?}");
    assert!(!status.stdout.contains("gates      ✔"), "{status:?}");
    assert!(!line(&repository).contains('✔'));
    repository.file(".git/HEAD", &head);
    says(&repository, "verified", "verified");
}

#[test]
fn a_script_asks_one_command_whether_the_work_was_verified() {
    let repository = project();
    repository.file("broken", "");
    let result: Value =
        serde_json::from_str(&repository.tollgate(&["run", "--json"]).exits(1).stdout).unwrap();
    assert_eq!(result["verification"], "not_verified", "{result:#}");
    repository.tollgate(&["status", "--exit-code"]).exits(1);
    std::fs::remove_file(repository.path("broken")).unwrap();
    let result: Value =
        serde_json::from_str(&repository.tollgate(&["run", "--json"]).exits(0).stdout).unwrap();
    assert_eq!(result["verification"], "verified", "{result:#}");
    repository.tollgate(&["status", "--exit-code"]).exits(0);
    repository.file("tollgate.toml", "[gates\n");
    repository.tollgate(&["status", "--exit-code"]).exits(2);
}

#[test]
fn a_weakened_gate_is_named_in_every_output_across_sessions() {
    let repository = project();
    repository.tollgate(&["run"]).exits(0);
    let toml = repository.read("tollgate.toml");
    let weak = toml.replace("run = \"go test ./...\"", "run = \"true\"");
    assert_ne!(weak, toml, "{toml}");
    repository.file("tollgate.toml", &weak);
    let name = "gate test: run changed";
    for session in ["s", "t", "t"] {
        let said = let_go(&stop_in(&repository, session, "p", false, &json!({})));
        assert!(said.contains(name), "{said}");
    }
    repository.tollgate(&["run"]).exits(1).says(name);
    let warned = "not verified (the gates were changed: ";
    repository.tollgate(&["run", "--all"]).exits(1).says(warned);
    repository.tollgate(&["status"]).says(name);
    let status = repository.tollgate(&["status", "--exit-code"]).exits(1);
    assert!(!status.stdout.contains("✔ test"), "{status:?}");
    assert!(!line(&repository).contains('✔'));
    // Put back, it is what was accepted.
    repository.file("tollgate.toml", &toml);
    says(&repository, "verified", "verified");
}

/// The gates are then what they were in the beginning, and less than what was accepted since.
#[test]
fn a_gate_that_was_added_and_taken_away_again_is_named() {
    let repository = project();
    repository.tollgate(&["run"]).exits(0);
    let toml = repository.read("tollgate.toml");
    let more = format!("{toml}\n[gates.extra]\nrun = \"true\"\n");
    repository.file("tollgate.toml", &more);
    repository.tollgate(&["run"]).exits(0);
    says(&repository, "verified", "verified");
    repository.file("tollgate.toml", &toml);
    let name = "gate extra: removed";
    let said = let_go(&stop(&repository, "p", false));
    assert!(said.contains(name), "{said}");
    repository
        .tollgate(&["status", "--exit-code"])
        .exits(1)
        .says(name);
    // With it, the gates are what was accepted.
    repository.file("tollgate.toml", &more);
    says(&repository, "verified", "verified");
}

#[test]
fn a_red_tree_that_the_turn_did_not_touch_is_shown_and_blocks_nobody() {
    let repository = project();
    repository.file("broken", "");
    blocks(&stop(&repository, "p", false));
    assert!(let_go(&stop(&repository, "p", true)).contains("NOT verified"));
    repository.calls();
    let said = let_go(&stop(&repository, "p2", false));
    assert!(said.contains("NOT verified: lint, test: failed"), "{said}");
    assert!(repository.calls().is_empty(), "nothing ran");
    repository.file("b.go", "package x\n");
    blocks(&stop(&repository, "p3", false));
}

/// What the person edits between two turns is not the agent's: the prompt is when its turn begins.
#[test]
fn a_turn_begins_with_the_prompt() {
    let repository = project();
    repository.tollgate(&["run"]).exits(0);
    assert_eq!(let_go(&stop(&repository, "p", false)), "");
    repository.file("broken", "");
    let prompt = json!({ "hook_event_name": "UserPromptSubmit", "prompt": "explain" });
    stop_with(&repository, "p2", false, &prompt);
    let said = let_go(&stop(&repository, "p2", false));
    assert!(said.contains("NOT verified"), "{said}");
    // A second prompt in the middle of a turn does not hide what the turn did.
    stop_with(&repository, "p3", false, &prompt);
    repository.file("b.go", "package x\n");
    stop_with(&repository, "p3", false, &prompt);
    blocks(&stop(&repository, "p3", false));
}

#[test]
fn a_session_is_blocked_twenty_times_an_hour_at_most() {
    let repository = project();
    repository.file("broken", "");
    for turn in 0..20 {
        repository.file("work", turn.to_string());
        blocks(&stop(&repository, &turn.to_string(), false));
    }
    repository.file("work", "20");
    let said = let_go(&stop(&repository, "20", false));
    assert!(said.contains("blocked 20 times in an hour"), "{said}");
    assert!(said.contains("NOT verified"), "{said}");
    // Another session has its own.
    repository.file("work", "21");
    blocks(&stop_in(&repository, "t", "p", false, &json!({})));
}

#[test]
fn files_of_another_session_are_named_and_hold_nobody_alone() {
    let repository = project();
    repository.tollgate(&["run"]).exits(0);
    let edit = |session: &str, file: &str| {
        let event = json!({
            "hook_event_name": "PostToolUse", "tool_name": "Write",
            "tool_input": { "file_path": repository.path(file), "content": "" },
            "tool_response": {},
        });
        stop_in(&repository, session, "p", false, &event);
        repository.file(file, session);
    };
    let start = json!({ "hook_event_name": "SessionStart", "source": "startup" });
    stop_in(&repository, "theirs", "p", false, &start);
    edit("theirs", "theirs.go");
    stop_in(&repository, "s", "p", false, &start);
    edit("theirs", "broken");
    edit("s", "mine.go");
    let reason = blocks(&stop(&repository, "p", false));
    assert!(
        reason.contains("Another session changed files meanwhile: broken"),
        "{reason}"
    );
}

/// Without a home there is no key to sign evidence with: nothing is verified for long, and the gates
/// hold all the same.
#[test]
fn without_a_home_the_gates_hold_and_nothing_is_verified() {
    let repository = project();
    let homeless = |args: &[&str], input: &[u8]| {
        let mut command = repository.command(args);
        command.env_remove("HOME");
        crate::project::run(command, input)
    };
    homeless(&["run"], b"").exits(0);
    let status = homeless(&["status", "--exit-code"], b"").exits(1);
    assert!(
        status.stdout.contains("is not used: there is no home"),
        "{status:?}"
    );
    repository.file("broken", "");
    let stop = json!({
        "hook_event_name": "Stop", "session_id": "s", "prompt_id": "p",
        "cwd": repository.root(), "stop_hook_active": false,
    });
    blocks(&homeless(&["hook"], stop.to_string().as_bytes()));
}

/// A file that comes while a gate runs and is gone afterwards was seen by the gate, or was not.
#[test]
fn a_new_file_in_the_middle_of_a_run_is_a_change_of_its_inputs() {
    let repository = Repository::with(&[("a", "1\n")]);
    // A directory that git does not know.
    std::fs::create_dir(repository.path("src")).unwrap();
    repository.file(
        "tollgate.toml",
        "[gates]\nbase = \"main\"\n[gates.a]\nrun = \": > src/new\"\ninputs = [\"src/**\"]\n\
         [gates.red]\nrun = \"exit 1\"\n",
    );
    repository.commit("gates");
    let ran = repository.tollgate(&["run"]).exits(1).says("not verified");
    // Also where a gate failed: nobody would know why the others never ran.
    ran.says("Files changed while the gates ran (src/new)");
    std::fs::remove_file(repository.path("src/new")).unwrap();
    says(&repository, "not_verified", "never_ran");
}

/// unittest before Python 3.12 and `node --test` call it a success when they find no test.
#[test]
fn a_test_runner_that_ran_no_test_is_no_pass() {
    let repository = Repository::with(&[("a", "1\n")]);
    repository.file(
        "tollgate.toml",
        "[gates]\nbase = \"main\"\n[gates.test]\nrun = \"cat result\"\n",
    );
    repository.file("result", "Ran 0 tests in 0.000s\n\nOK\n");
    repository.commit("gates");
    let ran = repository.tollgate(&["run"]).exits(1);
    ran.says("No test ran: \"Ran 0 tests in 0.000s\"");
    says(&repository, "not_verified", "inconclusive");
    repository.file("b", "2\n");
    let said = let_go(&stop(&repository, "p", false));
    assert!(said.contains("NOT verified: test: No test ran"), "{said}");
    repository.file("result", "Ran 1 test in 0.000s\n\nOK\n");
    repository.tollgate(&["run"]).exits(0);
    says(&repository, "verified", "verified");
}
