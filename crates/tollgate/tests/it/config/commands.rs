//! `tollgate config set`, and the schema.

use super::Own;
use crate::project::TestProject;
use crate::terminal::Terminal;

const TOML: &str =
    "# Ours.\n[gates]\nbase = \"main\" # not origin\n\n[gates.a] # the only one\nrun = \"true\"\n";

/// What a person sets at a terminal: the screen and the exit code.
fn sets(project: &TestProject, args: &[&str]) -> (String, i32) {
    let args: Vec<&str> = ["config", "set"].iter().chain(args).copied().collect();
    Terminal::start(&project.command(&args)).ends()
}

#[test]
fn a_value_is_set_and_everything_else_is_kept() {
    let own = Own::new(TOML);
    let (screen, code) = sets(&own, &["gates.base", "work"]);
    assert_eq!(code, 0, "{screen}");
    assert_eq!(
        own.read("tollgate.toml"),
        TOML.replace("\"main\"", "\"work\"")
    );
    let (screen, code) = sets(&own, &["gates.a.timeout", "10m", "--local"]);
    assert_eq!(code, 0, "{screen}");
    assert_eq!(
        own.read("tollgate.local.toml"),
        "[gates.a]\ntimeout = \"10m\"\n"
    );
    let status = own.git(&["status", "--porcelain", "--ignored", "tollgate.local.toml"]);
    assert_eq!(status.trim(), "!! tollgate.local.toml");
    let (screen, code) = sets(&own, &["gates.max_retries", "5", "--user"]);
    assert_eq!(code, 0, "{screen}");
    let values = own.json(&["config", "show"])["values"]["gates"].clone();
    assert_eq!(
        (&values["max_retries"], &values["base"]),
        (&5.into(), &"work".into())
    );
    assert_eq!(values["a"]["timeout"], "10m", "{values}");
}

#[test]
fn what_would_be_wrong_is_not_written() {
    let own = Own::new(TOML);
    for (args, said) in [
        (&["gates.bse", "x"][..], "did you mean `base`?"),
        (&["gates.parallel", "0"], "at least 1"),
        (&["gates.a.prompt", "x"], "only one of run and prompt"),
        (&["gates.a.dir", "gone"], "there is no directory"),
        (&["gates.b.timeout", "1m"], "the gate does nothing"),
        (&["gates.a.timeout", "10"], "such as"),
        (&["gates", "x"], "not a single value"),
        (&["gates.max_retries", "no", "--user"], "at least 0"),
        (
            &["gates.a.run", "x", "--user"],
            "a gate belongs to one project",
        ),
    ] {
        let (screen, code) = sets(&own, args);
        assert_eq!(code, 2, "{screen}");
        assert!(screen.contains(said), "{args:?}: {screen}");
        assert_eq!(own.read("tollgate.toml"), TOML);
        assert!(!own.home().join(".config/tollgate/tollgate.toml").exists());
    }
    own.toml("[gates\n");
    let (screen, code) = sets(&own, &["gates.base", "x"]);
    assert_eq!(code, 2, "{screen}");
    assert_eq!(own.read("tollgate.toml"), "[gates\n");
}

#[test]
fn a_link_is_not_written_through() {
    let own = Own::new(TOML);
    let elsewhere = own.at_home("elsewhere.toml", TOML);
    std::fs::remove_file(own.path("tollgate.toml")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, own.path("tollgate.toml")).unwrap();
    let (screen, code) = sets(&own, &["gates.base", "work"]);
    assert_eq!(code, 2, "{screen}");
    assert_eq!(std::fs::read_to_string(elsewhere).unwrap(), TOML);
}

#[test]
fn an_agent_sets_nothing() {
    let own = Own::new(TOML);
    let args = ["config", "set", "gates.on_stop", "false"];
    own.tollgate(&args)
        .exits(2)
        .says("for a person at a terminal");
    let mut command = own.command(&args);
    command.env("CLAUDECODE", "1");
    let (screen, code) = Terminal::start(&command).ends();
    assert_eq!(code, 2, "{screen}");
    assert_eq!(own.read("tollgate.toml"), TOML);
}

#[test]
fn the_schema_knows_what_the_reader_knows() {
    let schema = TestProject::empty().must(&["schema", "tollgate"]).json();
    assert_eq!(schema["additionalProperties"], false);
    let gates = &schema["properties"]["gates"];
    assert_eq!(gates["properties"]["parallel"]["minimum"], 1);
    let gate = &gates["additionalProperties"];
    assert_eq!(gate["additionalProperties"], false);
    assert!(
        gate["properties"]["timeout"]["pattern"].is_string(),
        "{gate}"
    );
    assert!(gate["not"]["anyOf"].is_array(), "{gate}");
}
