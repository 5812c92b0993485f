//! Which value holds, and where it comes from.

use super::Own;

const BASE: &str = "[gates]\nbase = \"main\"\n[gates.a]\nrun = \"true\"\n";

fn layered() -> Own {
    let own = Own::new(BASE);
    own.at_home(
        ".config/tollgate/tollgate.toml",
        "[gates]\nbase = \"elsewhere\"\nmax_retries = 7\nkeep_logs = 9\n",
    );
    own.file(
        "tollgate.local.toml",
        "[gates]\nkeep_logs = 8\nparallel = 3\n\n[gates.a]\ntimeout = \"1m\"\n",
    );
    own
}

#[test]
fn every_value_has_its_origin() {
    let own = layered()
        .env("TOLLGATE_PARALLEL", "2")
        .env("TOLLGATE_DEADLINE", "2m");
    let run = own.must(&["config", "show", "--origin"]);
    let shown = run.stdout.replace(own.home().to_str().unwrap(), "HOME");
    insta::assert_snapshot!(shown, @r#"
    [gates]
    base = "main"  # tollgate.toml:2
    exclude = []  # default
    parallel = 2  # TOLLGATE_PARALLEL
    max_retries = 7  # HOME/.config/tollgate/tollgate.toml:3
    reviewers = []  # default
    new_findings = "high"  # default
    on_stop = true  # default
    deadline = "2m"  # TOLLGATE_DEADLINE
    loop_guard = "progress"  # default
    keep_logs = 8  # tollgate.local.toml:2

    [gates.a]
    run = "true"  # tollgate.toml:4
    timeout = "1m"  # tollgate.local.toml:6

    [plans]
    reviewer = "claude"  # default
    timeout = "14m"  # default
    loop_guard = "progress"  # default
    "#);
    let answer = own.json(&["config", "show"]);
    assert_eq!(answer["values"]["gates"]["parallel"], 2, "{answer}");
    assert_eq!(
        answer["origins"]["gates.parallel"], "TOLLGATE_PARALLEL",
        "{answer}"
    );
    assert_eq!(
        answer["origins"]["gates.a.timeout"], "tollgate.local.toml:6",
        "{answer}"
    );
    assert_eq!(answer["origins"]["gates.a.ci"], "default", "{answer}");
}

#[test]
fn what_is_shown_is_a_valid_file_that_means_the_same() {
    let own = layered();
    own.file(
        "tollgate.local.toml",
        "[gates]\nexclude = [\"a b\", 'c\\[d\\]']\n",
    );
    let text = own.tollgate(&["config", "show"]).stdout;
    let before = own.json(&["config", "show"])["values"].clone();
    let other = Own::new(&text);
    assert_eq!(other.json(&["config", "show"])["values"], before);
}

#[test]
fn flags_go_before_everything() {
    let own = Own::new("[gates]\nbase = \"nowhere\"\n[gates.a]\nrun = \"true\"\n");
    own.tollgate(&["run"]).exits(2).says("nowhere");
    own.must(&["run", "-b", "main"]);
    // It counts, and a base that a variable changed is named until a person accepts it.
    let ran = own.env("TOLLGATE_BASE", "main").tollgate(&["run"]);
    ran.exits(1).says("base: \"nowhere\" became \"main\"");
}

#[test]
fn another_config_directory_counts() {
    let own = Own::new(BASE);
    let configs = own.home().join("configs");
    own.at_home(
        "configs/tollgate/tollgate.toml",
        "[gates]\nmax_retries = 5\n",
    );
    let own = own.env("XDG_CONFIG_HOME", configs.to_str().unwrap());
    let values = own.json(&["config", "show"])["values"].clone();
    assert_eq!(values["gates"]["max_retries"], 5, "{values}");
}

#[test]
fn a_persons_own_file_has_settings_only() {
    let own = Own::new(BASE);
    own.at_home(
        ".config/tollgate/tollgate.toml",
        "requires = \">=0.1\"\n[gates]\nmax_retries = 5\n[gates.mine]\nrun = \"true\"\n[workflow.f]\nphases = [\"a\"]\n",
    );
    // What is wrong in it stops nobody's work.
    insta::assert_snapshot!(own.problems(), @r#"
    warning: HOME/.config/tollgate/tollgate.toml:1:1: requires: this belongs to one project (it is not used until that is corrected)
        1 | requires = ">=0.1"
    warning: HOME/.config/tollgate/tollgate.toml:4:8: gates.mine: a gate belongs to one project (it is not used until that is corrected)
        4 | [gates.mine]
    warning: HOME/.config/tollgate/tollgate.toml:6:2: workflow: this belongs to one project (it is not used until that is corrected)
        6 | [workflow.f]
    "#);
    own.must(&["run"]).says("gates.mine");
    let values = own.json(&["config", "show"])["values"].clone();
    assert_eq!(values["gates"]["max_retries"], 3, "{values}");
}

#[test]
fn a_variable_that_makes_no_sense_is_named_and_not_used() {
    let own = Own::new(BASE)
        .env("TOLLGATE_ON_STOP", "maybe")
        .env("TOLLGATE_MAX_RETRIES", "-1");
    let run = own.must(&["run"]);
    run.says("TOLLGATE_ON_STOP: gates.on_stop: expected true or false, found the text \"maybe\"");
    let own = Own::new(&BASE.replace("true", "false")).env("TOLLGATE_ON_STOP", "0");
    own.lets_go(false);
}

#[test]
fn a_gate_of_the_local_file_alone_is_a_gate() {
    let own = Own::with("");
    own.file("tollgate.local.toml", "[gates.mine]\nrun = \"false\"\n");
    own.tollgate(&["run"]).exits(1).says("fail  mine");
}
