//! What holds while `tollgate.toml` is broken.

use super::Own;

const FIXABLE: &str = "[gates]\nbase = \"main\"\n[gates.a]\nrun = \"test -e fixed\"\n";

#[test]
fn a_stop_is_held_to_the_last_good_file() {
    let own = Own::new(FIXABLE);
    own.blocks(false);
    own.toml("[gates.a]\nrun = true\n");
    own.file("src/b.txt", "more\n");
    let reason = own.blocks(true);
    assert!(reason.contains("✗ a: "), "{reason}");
    assert!(reason.contains("The configuration is broken"), "{reason}");
    assert!(
        reason.contains("tollgate.toml:2:7: gates.a.run: expected a text"),
        "{reason}"
    );
    assert!(
        own.codes().contains(&"gates-configuration".to_owned()),
        "{:?}",
        own.codes()
    );
    // A pass of the last good file is said with the same words.
    own.file("fixed", "");
    let said = own.lets_go(true);
    assert_eq!(said.matches("configuration is broken").count(), 1, "{said}");
    assert!(
        said.contains("the last tollgate.toml without errors applies"),
        "{said}"
    );
    for args in [&["validate"][..], &["status"], &["doctor"]] {
        own.tollgate(args).says("gates.a.run");
    }
    own.tollgate(&["validate"])
        .says("at an agent's stop, the last tollgate.toml without errors applies");
    own.tollgate(&["run"]).exits(2);
    // Corrected, nothing is said about it any more.
    own.toml(FIXABLE);
    let said = own.lets_go(true);
    assert!(!said.contains("broken"), "{said}");
}

#[test]
fn a_file_that_was_never_right_verifies_nothing() {
    let own = Own::new("[gates.a]\nrun = 3\n");
    let said = own.lets_go(false);
    assert!(said.contains("NOT verified"), "{said}");
    assert!(said.contains("gates.a.run"), "{said}");
    assert!(
        said.contains("no gate can run until that is corrected"),
        "{said}"
    );
    assert!(
        own.codes().contains(&"gates-not-run".to_owned()),
        "{:?}",
        own.codes()
    );
}

#[test]
fn a_newer_file_does_not_switch_the_gates_off() {
    let own = Own::new(FIXABLE);
    own.blocks(false);
    own.toml(&format!("requires = \">=99\"\n{FIXABLE}"));
    own.file("src/b.txt", "more\n");
    let reason = own.blocks(true);
    assert!(
        reason.contains("too old, so nothing is verified"),
        "{reason}"
    );
}

#[test]
fn a_broken_local_file_is_left_out() {
    let own = Own::new(FIXABLE);
    own.file("tollgate.local.toml", "[gates.a]\nrn = \"true\"\n");
    let reason = own.blocks(false);
    assert!(
        reason.contains("tollgate.local.toml:2:1: gates.a.rn: unknown key"),
        "{reason}"
    );
    assert!(
        reason.contains("applies without tollgate.local.toml"),
        "{reason}"
    );
    own.tollgate(&["run"]).exits(2);
}

#[test]
fn gates_that_a_session_weakens_are_named() {
    let own = Own::new(FIXABLE);
    own.blocks(false);
    own.toml(&FIXABLE.replace("test -e fixed", "true"));
    let said = own.lets_go(true);
    assert!(said.contains("gate a: run changed"), "{said}");
    own.file(
        "tollgate.local.toml",
        "[gates]\non_stop = false\n[gates.a]\ninputs = [\"x\"]\n",
    );
    let said = own.lets_go(true);
    assert!(said.contains("on_stop: true became false"), "{said}");
    assert!(said.contains("gate a: run, inputs changed"), "{said}");
}

#[test]
fn an_agent_does_not_write_the_last_good_file() {
    use crate::events::{self, Event as _};
    let own = Own::new(FIXABLE);
    own.blocks(false);
    let path = own.path(".tollgate/local/tollgate.toml");
    assert!(path.is_file());
    for event in [
        events::write(&path, "[gates]\n"),
        events::bash("echo > .tollgate/local/tollgate.toml"),
    ] {
        let event = event.in_session("s").in_directory(own.root());
        let reason = own.hook(&event).denies();
        assert!(reason.contains(".tollgate/local"), "{reason}");
        assert_eq!(own.codes().last().unwrap(), "SFG-003");
    }
}

#[test]
fn what_the_last_good_file_runs_needs_trust() {
    let own = Own::new("[gates]\nbase = \"main\"\n[gates.a]\nrun = \"touch $HOME/ran\"\n");
    // Somebody put it there; nobody trusts it.
    own.file(".tollgate/local/tollgate.toml", own.read("tollgate.toml"));
    own.toml("[gates.a]\nrun = 1\n");
    let event = serde_json::json!({ "hook_event_name": "Stop", "session_id": "s",
        "stop_hook_active": false, "cwd": own.root() });
    let run = own.run(&["hook", "--require-trust"], event.to_string().as_bytes());
    run.exits(0).says("not trusted yet");
    assert!(!own.home().join("ran").exists());
}
