//! "Armed" is said only of an agent that has every registration, trusts them and was heard in this
//! session; otherwise what is known. Every display says the same.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::events::{Event as _, named, stop, task, write};
use crate::project::{TestProject, running};
use crate::registrations::REGISTRATIONS;

const GATES: &str = "[gates.test]\nrun = \"true\"\n";

/// A project with a gate, on a machine that has Tollgate and no agent.
fn project() -> TestProject {
    let project = TestProject::with_tollgate_on_path().with_repository();
    let path = format!("{}:/usr/bin:/bin", project.programs().display());
    let project = project.env("PATH", &path).with_toml(GATES);
    project.commit("first");
    project
}

/// What every display says about the agents: they agree.
#[track_caller]
fn state(project: &TestProject) -> String {
    let status = project.must(&["status", "--json"]).json();
    let said = status["agents"][0]["state"].as_str().unwrap().to_owned();
    let shown = project.must(&["status"]).stdout;
    let shown: Vec<&str> = shown.split_whitespace().collect();
    assert!(shown.join(" ").contains(&said), "{shown:?}: {said}");
    let report = project.must(&["report", "--json"]).json();
    assert_eq!(report["agents"][0]["state"], said.as_str(), "{report:#}");
    project.must(&["report", "--html"]).says(&said);
    let doctor = project.tollgate(&["doctor", "--json"]).json();
    assert_eq!(doctor["agents"][0]["state"], said.as_str(), "{doctor:#}");
    let is_armed = status["agents"][0]["armed"] == true;
    assert_eq!(is_armed, said.starts_with("armed"), "{said}");
    let short = if is_armed { "armed" } else { &said };
    let line = project.must(&["statusline"]).stdout;
    let cut = |text: &str| text.chars().take(40).collect::<String>();
    assert!(line.contains(&cut(short)), "{line}: {said}");
    said
}

#[track_caller]
fn findings(project: &TestProject) -> Vec<String> {
    let report = project.tollgate(&["doctor", "--json"]);
    let findings = report.json()["findings"].clone();
    let findings = findings.as_array().unwrap();
    assert_eq!(report.code, i32::from(!findings.is_empty()), "{report:?}");
    let name = |one: &Value| one["name"].as_str().unwrap().to_owned();
    findings.iter().map(name).collect()
}

#[test]
fn an_agent_is_armed_once_it_was_heard_and_no_longer_than_its_session() {
    let project = project();
    project
        .must(&["statusline"])
        .says("not registered with any agent");
    project.must(&["status"]).says("none is registered");
    project.install_for("project");
    assert_eq!(state(&project), "registered, no event heard yet");
    assert_eq!(findings(&project), Vec::<String>::new());
    project.hook(&named("SessionStart").in_session("s"));
    assert_eq!(state(&project), "armed, heard just now");
    // Another session's end is not this one's.
    project.hook(&named("SessionEnd").in_session("other"));
    assert_eq!(state(&project), "armed, heard just now");
    project.hook(&named("SessionEnd").in_session("s"));
    assert_eq!(state(&project), "registered, no event heard yet");
    let old = json!({ "session": "s", "at": "2026-01-01T00:00:00.000Z" }).to_string();
    project.file(".tollgate/local/heard/claude", old);
    let said = state(&project);
    assert!(said.starts_with("registered, last heard "), "{said}");
    project.hook(&stop().in_session("s"));
    assert_eq!(state(&project), "armed, heard just now");
}

#[test]
fn a_bare_event_of_the_specification_arms_nobody() {
    let project = project();
    project.install_for("project");
    project.hook(&named("SessionStart"));
    assert_eq!(state(&project), "registered, no event heard yet");
}

#[test]
fn what_is_missing_is_named_also_where_an_event_was_heard() {
    let project = project();
    project.install_for("project");
    project.hook(&named("SessionStart").in_session("s"));
    let whole = project.text(".claude/settings.json");
    let without = whole.replace("\"PreToolUse\"", "\"Notification\"");
    project.file(".claude/settings.json", without);
    assert_eq!(state(&project), "registered, PreToolUse is missing");
    assert_eq!(findings(&project), ["event-missing"]);
    let mut off: Value = serde_json::from_str(&whole).unwrap();
    off["disableAllHooks"] = json!(true);
    project.file(".claude/settings.json", off.to_string());
    let said = state(&project);
    assert!(said.starts_with("registered, hooks are off: "), "{said}");
    assert_eq!(findings(&project), ["hooks-off"]);
}

/// Codex skips hooks that nobody trusts, without a word.
#[test]
fn hooks_that_codex_does_not_trust_are_not_armed() {
    let project = project();
    project.must(&["install", "--agent", "codex", "--yes"]);
    let event = named("SessionStart")
        .in_session("s")
        .with("turn_id", "t")
        .with("model", "m");
    project.run(
        &["hook", "--protocol", "codex"],
        event.to_string().as_bytes(),
    );
    let said = state(&project);
    assert!(
        said.starts_with("registered, not trusted by Codex: it does not trust this project"),
        "{said}"
    );
    assert_eq!(findings(&project), ["agent-untrusted"]);

    let root = project.root().to_str().unwrap().to_owned();
    let trusts = format!("[projects.\"{root}\"]\ntrust_level = \"trusted\"\n");
    project.at_home(".codex/config.toml", &trusts);
    let said = state(&project);
    assert!(
        said.contains("not trusted by Codex: PreToolUse, PostToolUse, "),
        "{said}"
    );

    let hooks: Value = serde_json::from_str(&project.text(".codex/hooks.json")).unwrap();
    let mut config = trusts;
    for (event, groups) in hooks["hooks"].as_object().unwrap() {
        let handler = &groups[0]["hooks"][0];
        let (command, seconds) = (handler["command"].as_str().unwrap(), &handler["timeout"]);
        let name = event
            .chars()
            .fold(String::new(), |name, letter| match letter {
                'A'..='Z' if !name.is_empty() => format!("{name}_{}", letter.to_ascii_lowercase()),
                _ => format!("{name}{}", letter.to_ascii_lowercase()),
            });
        let definition = format!(
            r#"{{"event_name":"{name}","hooks":[{{"async":false,"command":"{command}","timeout":{seconds},"type":"command"}}]}}"#
        );
        let hash = sha256(&definition);
        write!(
            config,
            "[hooks.state.\"{root}/.codex/hooks.json:{name}:0:0\"]\ntrusted_hash = \"sha256:{hash}\"\n"
        )
        .unwrap();
    }
    project.at_home(".codex/config.toml", &config);
    assert_eq!(state(&project), "armed, heard just now");
    assert_eq!(findings(&project), Vec::<String>::new());

    // Another definition at the place that was trusted, and one that the person switched off.
    let stop = config.replace(":stop:0:0\"]", ":stop:0:0\"]\nenabled = false");
    project.at_home(".codex/config.toml", &stop);
    let only_stop = "registered, not trusted by Codex: Stop; type `/hooks` there and trust them";
    assert_eq!(state(&project), only_stop);
    project.at_home(".codex/config.toml", &config);
    let slower = project.text(".codex/hooks.json").replace("900", "800");
    project.file(".codex/hooks.json", slower);
    assert_eq!(state(&project), only_stop);
}

fn sha256(text: &str) -> String {
    let digest = <sha2::Sha256 as sha2::Digest>::digest(text.as_bytes());
    digest.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

#[test]
fn doctor_says_where_there_is_nothing_to_guard() {
    let project = TestProject::with_tollgate_on_path().with_repository();
    let path = format!("{}:/usr/bin:/bin", project.programs().display());
    let project = project.env("PATH", &path);
    project.install_for("project");
    let said = project.tollgate(&["doctor"]).exits(1);
    said.says("nothing-to-guard").says("`tollgate init`");
    project.file("tollgate.toml", "");
    assert_eq!(findings(&project), ["nothing-to-guard"]);
    project.file(
        "tollgate.toml",
        "[workflow.w]\nphases = [{ name = \"a\" }]\n",
    );
    assert_eq!(findings(&project), Vec::<String>::new());
    project.file("tollgate.toml", GATES);
    assert_eq!(findings(&project), Vec::<String>::new());
}

/// Settings in the shape of specification 000 §5.
fn twenty() -> Value {
    let mut hooks = json!({});
    for (event, tool, guards) in REGISTRATIONS {
        let handler = |guard: &&str| json!({ "type": "command", "command": format!("tollgate hook --guard {guard}"), "timeout": 10 });
        let handlers: Vec<Value> = guards.iter().map(handler).collect();
        let mut group = json!({ "hooks": handlers });
        if !tool.is_empty() {
            group["matcher"] = json!(tool);
        }
        if hooks.get(event).is_none() {
            hooks[event] = json!([]);
        }
        hooks[event].as_array_mut().unwrap().push(group);
    }
    json!({ "hooks": hooks })
}

#[test]
fn the_registrations_of_specification_000_are_recognised_and_completed() {
    let project = project();
    project.file(".claude/settings.json", twenty().to_string());
    let said = state(&project);
    assert!(said.contains("SessionStart"), "{said}");
    assert!(said.contains("PreToolUse for"), "{said}");
    assert_eq!(findings(&project), ["guards-by-name"]);
    project
        .tollgate(&["doctor"])
        .says("20 registrations")
        .says("state-write-validator");
    project
        .tollgate(&["doctor", "--fix"])
        .exits(0)
        .says("guards-by-name");
    assert_eq!(state(&project), "registered, no event heard yet");
}

/// V7 and V8 under these settings, which register nothing before a Write: such a write is undone at
/// once, and blocked where `doctor --fix` completed them.
#[test]
fn a_stale_or_regressing_write_does_not_last_under_the_registrations_of_specification_000() {
    for content in [
        running("06-implementation", "pending"),
        running("06-implementation", "in_progress").with("state_version", 0),
    ] {
        let good = running("06-implementation", "in_progress");
        let project = TestProject::new().state(&good);
        let alone = |guard: &str, event: &Value| {
            project.guard(
                guard,
                &event
                    .clone()
                    .in_session("s")
                    .call("t")
                    .in_directory(project.root()),
            )
        };
        alone("skill-validator", &task("general-purpose", "x")).allows();
        let event = write(project.path(".isdlc/state.json"), &content.to_string());
        project.file(".isdlc/state.json", content.to_string());
        let told = alone("state-write-validator", &event.clone().done(json!({})));
        told.says("STATE RESTORED");
        let state: Value = serde_json::from_str(&project.text(".isdlc/state.json")).unwrap();
        assert_eq!(state["phases"], good["phases"]);
        assert_eq!(state["state_version"], good["state_version"]);
        // Registered before the write as well, it is blocked.
        alone("state-write-validator", &event).denies();
    }
}
