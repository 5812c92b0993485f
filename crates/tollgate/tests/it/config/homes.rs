//! Where gates are configured, and in whose words they speak then.

use super::Own;
use crate::project::TestProject;

/// A project with gates in an existing home and in `tollgate.toml`.
fn two_homes(home: &str) -> Own {
    let project = TestProject::empty().with_repository();
    let yaml = [
        ("old", "command: touch $HOME/old"),
        ("same", "command: \"true\""),
    ];
    let project = project.with_gates(home, &yaml, "");
    project.file(
        "tollgate.toml",
        "[gates.new]\nrun = \"touch $HOME/new; false\"\n[gates.same]\nrun = \"true\"\n",
    );
    Own {
        project: project.with_change(),
    }
}

#[test]
fn gates_in_two_homes_are_an_error_and_both_apply() {
    for home in [".gauntlet", ".tollgate"] {
        let own = two_homes(home);
        let run = own.tollgate(&["run"]).exits(2);
        run.says(&format!(
            "tollgate.toml:1:8: gates: {home}/config.yml configures gates, too"
        ))
        .says("at an agent's stop, both apply");
        let reason = own.blocks(false);
        assert!(reason.contains("new: Exited with code 1"), "{reason}");
        assert!(reason.contains("configures gates, too"), "{reason}");
        assert!(own.home().join("old").exists() && own.home().join("new").exists());
    }
}

#[test]
fn a_broken_existing_home_does_not_switch_the_others_gates_off() {
    let own = two_homes(".gauntlet").env("TOLLGATE_BASE", "main");
    own.file(".gauntlet/config.yml", "entry_points: 3\n");
    own.tollgate(&["run"])
        .exits(2)
        .says(".gauntlet/config.yml:1");
    let reason = own.blocks(false);
    assert!(reason.contains("✗ new: "), "{reason}");
    assert!(reason.contains(".gauntlet/config.yml:1"), "{reason}");
}

#[test]
fn other_parts_may_be_in_tollgate_toml_beside_an_existing_home() {
    let project = TestProject::empty().with_repository();
    let project = project.with_gates(".gauntlet", &[("ok", "command: \"true\"")], "");
    project.file("tollgate.toml", "[plans]\nreviewer = \"codex\"\n");
    let project = project.with_change();
    project.must(&["run"]).does_not_say("warning");
    // Whatever is wrong there keeps no gate from running.
    project.file("tollgate.toml", "[plans]\nreviewer = \"nobody\"\n");
    project
        .must(&["run"])
        .says("warning: tollgate.toml:2:12: plans.reviewer");
}

#[test]
fn a_home_without_gates_leaves_them_to_tollgate_toml() {
    let own = Own::with("[gates.a]\nrun = \"false\"");
    std::fs::create_dir_all(own.path(".gauntlet")).unwrap();
    std::fs::create_dir_all(own.path(".tollgate")).unwrap();
    own.tollgate(&["run"]).exits(1).says("fail  a");
}

#[test]
fn the_files_of_version_0_1_are_read_and_the_way_on_is_named() {
    let project = TestProject::empty().with_repository();
    let project = project.with_gates(".tollgate", &[("ok", "command: \"true\"")], "");
    let project = project.with_change();
    for args in [["run"], ["list"]] {
        project.must(&args).says("`tollgate init --migrate`");
    }
    let project = TestProject::empty().with_repository();
    let project = project.with_gates(".gauntlet", &[("ok", "command: \"true\"")], "");
    project.with_change().must(&["run"]).does_not_say("migrate");
}

/// The words of other homes.
const FOREIGN: [&str; 9] = [
    "gauntlet",
    "config.yml",
    "checks/",
    "isdlc",
    "entry point",
    "base_branch",
    "stop_hook",
    "cli_preference",
    "rerun_new_issue_threshold",
];

#[track_caller]
fn speaks_plainly(said: &str) {
    // The event's own field has its name from the agent.
    let said = said.to_lowercase().replace("stop_hook_active", "");
    for word in FOREIGN {
        assert!(!said.contains(word), "{word}: {said}");
    }
}

#[test]
fn no_message_speaks_of_another_home() {
    let own = Own::with("[gates.a]\nrun = \"test -e fixed\"");
    let commands = [
        &["run"][..],
        &["check"],
        &["detect"],
        &["list"],
        &["validate"],
        &["health"],
        &["clean"],
        &["status"],
        &["review"],
    ];
    let said = |own: &Own, args: &[&str]| {
        let run = own.tollgate(args);
        format!("{}{}", run.stdout, run.stderr)
    };
    for args in commands {
        speaks_plainly(&said(&own, args));
    }
    speaks_plainly(&own.blocks(false));
    speaks_plainly(&own.lets_go(true));
    own.file("fixed", "");
    speaks_plainly(&own.lets_go(true));
    own.toml("[gates]\nbase = \"nowhere\"\nmax_retries = 0\n[gates.a]\nrun = \"false\"\n");
    for args in commands {
        speaks_plainly(&said(&own, args));
    }
    speaks_plainly(&own.lets_go(false));
    own.toml("[gates]\nbase = \"main\"\non_stop = false\n[gates.a]\nrun = \"false\"\n");
    speaks_plainly(&own.lets_go(false));
    own.toml("[gates]\nbase = 3\n");
    for args in commands {
        speaks_plainly(&said(&own, args));
    }
    speaks_plainly(&own.lets_go(false));
}

#[test]
fn init_proposes_no_second_home() {
    let own = Own::with("[gates.a]\nrun = \"true\"");
    own.file("package.json", r#"{ "scripts": { "test": "true" } }"#);
    let before = own.read("tollgate.toml");
    own.tollgate(&["init", "--yes"])
        .exits(1)
        .says("tollgate.toml exists already; nothing was written");
    assert_eq!(own.read("tollgate.toml"), before);
    assert!(!own.exists(".tollgate/config.yml"));
    own.must(&["run"]);
}

#[test]
fn there_is_no_interval() {
    let own = Own::with("[gates.a]\nrun = \"echo x >> $HOME/runs\"");
    own.lets_go(false);
    own.lets_go(false);
    let runs = || {
        std::fs::read_to_string(own.home().join("runs"))
            .unwrap()
            .lines()
            .count()
    };
    assert_eq!(runs(), 1);
    own.file("src/b.txt", "more\n");
    own.lets_go(false);
    assert_eq!(runs(), 2);
}

#[test]
fn jobs_for_ci_are_listed() {
    let own = Own::with("[gates.a]\nrun = \"true\"\n[gates.b]\nrun = \"true\"\nci = false");
    let matrix = own.must(&["ci", "list-jobs"]).json()["matrix"].clone();
    assert_eq!(matrix.as_array().unwrap().len(), 1, "{matrix}");
    assert_eq!(matrix[0]["command"], "true", "{matrix}");
    own.must(&["ci", "init"]).does_not_say("gauntlet");
    assert!(own.exists(".github/workflows/gates.yml"));
}

#[test]
fn a_subdirectory_belongs_to_the_project_and_a_nested_file_to_its_own() {
    let own = Own::with("[gates.a]\nrun = \"true\"");
    let list = |directory: &str| {
        let mut command = own.command(&["list"]);
        command.current_dir(own.path(directory));
        crate::project::run(command, b"").stdout
    };
    assert!(list("src").contains("check a  true"), "{}", list("src"));
    own.file("web/tollgate.toml", "[gates.inner]\nrun = \"true\"\n");
    assert!(list("web").contains("check inner  true"), "{}", list("web"));
}
