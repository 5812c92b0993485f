//! Ways around Tollgate with the real Claude Code, in a project that `init` and `install` made: its
//! settings, its environment, mods, and the commands that only a person gives.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::agent::Agent;
use crate::fixture::{Fixture, Session, TASK, write};
use crate::model::{Conversation, Model, Turn};

const AGENT: Agent = Agent::Claude;
const SETTINGS: &str = ".claude/settings.json";
const STATE: &str = ".tollgate/workflow/state.json";

/// Puts a file system over `/etc`, so that the agent finds managed settings there and nobody else does.
const MANAGED: &str = r#"mount -t overlay overlay -o "lowerdir=/etc,upperdir=$1,workdir=$2" /etc && shift 2 && exec "$@""#;

/// A mod that answers every hook of the settings, and with them Tollgate's.
const MOD: &str = "export function register(on) { on('classic.*', async ($, e, next) => ({})); }\n";

fn call(command: &str) -> Turn {
    Turn::Call(vec![AGENT.shell(command)])
}

fn done() -> Turn {
    Turn::Say("Done.".to_owned())
}

/// A project with a running workflow and gates that fail.
fn project() -> Fixture {
    let fixture = Fixture::made_by_init(AGENT);
    fixture.project.git(&["config", "user.name", "Agent"]);
    fixture
        .project
        .git(&["config", "user.email", "agent@example.org"]);
    // Phases that may write every file, so that each route meets what it is about.
    let workflow = "\n[workflow.feature]\nphases = [{ name = \"requirements\" }, { name = \"implementation\" }]\n";
    let gates = fixture.project.read("tollgate.toml");
    write(
        &fixture.project.path("tollgate.toml"),
        &format!("{gates}{workflow}"),
    );
    fixture.project.git(&["commit", "-qam", "workflow"]);
    fixture.tollgate(&["workflow", "start", "feature", "shop cart"]);
    fixture
}

fn is_running(fixture: &Fixture) -> bool {
    !fixture
        .project
        .read(STATE)
        .contains("\"active_workflow\": null")
}

fn has(session: &Session, code: &str) -> bool {
    session.codes().contains(&format!("claude {code}"))
}

/// Writes a mod into a directory of skills.
fn bring_in_mod(skills: &Path) {
    let skill = skills.join("first");
    write(
        &skill.join(".claude-plugin/plugin.json"),
        r#"{"name":"first","version":"1.0.0"}"#,
    );
    write(
        &skill.join("hooks/hooks.json"),
        r#"{"modules":["./register.js"]}"#,
    );
    write(&skill.join("hooks/register.js"), MOD);
}

fn the_settings_are_not_written_over() {
    let fixture = project();
    let before = fixture.project.read(SETTINGS);
    let emptied = AGENT.write(&fixture.project.path(SETTINGS), "{}");
    let session = fixture.play(vec![
        Turn::Call(vec![emptied]),
        call("rm .claude/settings.json"),
        call("echo '{\"disableAllHooks\": true}' > .claude/settings.local.json"),
        done(),
    ]);
    assert_eq!(
        fixture.project.read(SETTINGS),
        before,
        "{}",
        session.story()
    );
    assert!(
        !fixture.project.exists(".claude/settings.local.json"),
        "{}",
        session.story()
    );
    let blocks = session.codes();
    let blocks = blocks.iter().filter(|code| code.ends_with("SFG-004"));
    assert_eq!(blocks.count(), 3, "{}", session.story());
}

/// Without `ConfigChange` the session would have no hook any more, and no stop would be gated.
fn a_script_that_empties_the_settings_ends_nothing() {
    let fixture = project();
    // A script is read, but not what it reads.
    fixture.project.file("where", SETTINGS);
    let script = "#!/bin/sh\necho '{}' > \"$(cat where)\"\nsleep 3\n";
    let forge = fixture.program("forge", script).display().to_string();
    let session = fixture.play(vec![
        call(&forge),
        call("echo work > src/work; sleep 1"),
        done(),
        done(),
    ]);
    assert!(has(&session, "SW-009"), "{}", session.story());
    assert!(has(&session, "SW-007"), "{}", session.story());
    // The stop is gated all the same.
    assert!(has(&session, "GATE-FAILED"), "{}", session.story());
}

fn variables_in_the_settings_switch_no_guard_off() {
    let fixture = project();
    // As if a person had committed it.
    let mut settings: Value = serde_json::from_str(&fixture.project.read(SETTINGS)).unwrap();
    settings["env"] = json!({
        "TOLLGATE_DEPTH": "1", "TASKIE_HOOK_SKIP": "true", "GAUNTLET_STOP_HOOK_ACTIVE": "1",
    });
    fixture.project.file(SETTINGS, settings.to_string());
    let session = fixture.play(vec![
        call("git checkout -q main && git commit -q --allow-empty -m x"),
        call("echo work > src/work"),
        done(),
    ]);
    assert!(has(&session, "BG-001"), "{}", session.story());
    let journal = fixture.project.journal();
    let said = journal
        .iter()
        .any(|line| line["code"] == "mark-unconfirmed");
    assert!(said, "{}", session.story());
}

fn uninstall_and_cancel_are_a_persons() {
    let fixture = project();
    let before = fixture.project.read(SETTINGS);
    let script = "#!/bin/sh\nenv -u CLAUDECODE tollgate uninstall --yes\nenv -u CLAUDECODE tollgate workflow cancel --reason x\n";
    let forge = fixture.program("forge", script).display().to_string();
    let session = fixture.play(vec![
        call("tollgate uninstall --yes"),
        call("env -u CLAUDECODE tollgate workflow cancel --reason x"),
        call("tollgate phase skip --reason x"),
        // What text does not show meets the command's own check.
        call(&format!("cat {forge} | sh 2>&1")),
        done(),
    ]);
    assert_eq!(
        fixture.project.read(SETTINGS),
        before,
        "{}",
        session.story()
    );
    assert!(is_running(&fixture), "{}", session.story());
    let blocks = session.codes();
    let blocks = blocks.iter().filter(|code| code.ends_with("PG-001"));
    assert!(blocks.count() >= 3, "{}", session.story());
}

/// A session whose host asks the person, and answers like this.
fn chat(fixture: &Fixture, turns: Vec<Turn>, answer: &str) -> (Model, Vec<Value>) {
    let sign = TASK.to_owned();
    let model = Model::play(vec![Conversation { sign, turns }]);
    let usual = AGENT.command(fixture.home(), model.port, TASK);
    let mut command = Command::new(usual.get_program());
    let kept = usual.get_args().take_while(|arg| *arg != "--output-format");
    command.args(kept).args([
        "-p",
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--verbose",
        "--permission-prompt-tool",
        "stdio",
    ]);
    command.env_clear();
    let envs = usual.get_envs();
    command.envs(envs.filter_map(|(name, value)| Some((name, value?))));
    command
        .current_dir(fixture.project.root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut agent = command.spawn().unwrap();
    let mut input = agent.stdin.take();
    let mut say = |line: Value| {
        let input = input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
    };
    say(json!({
        "type": "control_request", "request_id": "1", "request": { "subtype": "initialize" },
    }));
    say(json!({
        "type": "user", "message": { "role": "user", "content": TASK },
        "parent_tool_use_id": null, "session_id": "",
    }));
    let mut asked = Vec::new();
    for line in BufReader::new(agent.stdout.take().unwrap()).lines() {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap_or_default();
        let request = &line["request"];
        if request["subtype"] == "can_use_tool" {
            asked.push(request.clone());
            let response = match answer {
                "yes" => json!({ "behavior": "allow", "updatedInput": request["input"] }),
                _ => json!({ "behavior": "deny", "message": "The person says no." }),
            };
            say(json!({
                "type": "control_response",
                "response": {
                    "subtype": "success", "request_id": line["request_id"], "response": response,
                },
            }));
        }
        if line["type"] == "result" {
            break;
        }
    }
    drop(input);
    let _ended = agent.wait().unwrap();
    (model, asked)
}

fn a_yes_in_the_chat_cancels_and_a_no_does_not() {
    for answer in ["no", "yes"] {
        let fixture = project();
        let turns = vec![call("tollgate workflow cancel --reason enough"), done()];
        let (model, asked) = chat(&fixture, turns, answer);
        let journal = fixture.project.journal();
        let story = format!("{asked:#?}\n{journal:#?}\n{:#?}", model.news(TASK));
        let [question] = asked.as_slice() else {
            panic!("{story}");
        };
        let reason = question["decision_reason"].as_str().unwrap_or_default();
        assert!(reason.contains("gives up the running workflow"), "{story}");
        assert_eq!(is_running(&fixture), answer == "no", "{story}");
        let agreed = journal.iter().any(|line| {
            let reason = line["reason"].as_str().unwrap_or_default();
            reason.contains("a person agreed: `tollgate workflow cancel`")
        });
        assert_eq!(agreed, answer == "yes", "{story}");
    }
}

/// Nobody can be asked in `-p`: the question is a refusal there, and the model reads how to go on.
fn without_anybody_to_ask_the_question_is_a_refusal() {
    let fixture = project();
    let sign = TASK.to_owned();
    let turns = vec![call("tollgate workflow cancel --reason enough"), done()];
    let model = Model::play(vec![Conversation { sign, turns }]);
    let usual = AGENT.command(fixture.home(), model.port, TASK);
    let mut command = Command::new(usual.get_program());
    let args = usual.get_args();
    command.args(args.filter(|arg| *arg != "--dangerously-skip-permissions"));
    command.env_clear();
    let envs = usual.get_envs();
    command.envs(envs.filter_map(|(name, value)| Some((name, value?))));
    command
        .current_dir(fixture.project.root())
        .stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(is_running(&fixture), "{output:?}");
    let news = model.news(TASK).join("\n");
    assert!(
        news.contains("tollgate workflow cancel --reason enough"),
        "{news}"
    );
    assert!(news.contains("in a terminal"), "{news}");
}

/// A person's mod is loaded before any hook: nothing can stop it but managed settings, and it is
/// named wherever people look.
fn a_mod_of_the_persons_is_named() {
    let fixture = project();
    bring_in_mod(&fixture.home().join(".claude/skills"));
    let named = |text: &str| text.contains("the mod ~/.claude/skills/first can");
    assert!(named(&fixture.tollgate(&["status"])));
    let mut doctor = fixture.project.command(&["doctor"]);
    let doctor = doctor.env("HOME", fixture.home()).output().unwrap();
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(named(&doctor), "{doctor}");
    let session = fixture.play(vec![call("echo work > src/work"), done()]);
    session.ends_well();
    // The mod answered in place of all hooks: no stop was gated.
    assert!(!has(&session, "GATE-FAILED"), "{}", session.story());
}

/// A mod of the project's is not loaded in a folder that nobody trusted, and named all the same.
fn a_mod_of_the_project_is_named_and_stops_no_guard() {
    let fixture = project();
    bring_in_mod(&fixture.project.path(".claude/skills"));
    let session = fixture.play(vec![call("tollgate uninstall --yes"), done()]);
    assert!(has(&session, "SW-008"), "{}", session.story());
    assert!(has(&session, "PG-001"), "{}", session.story());
}

/// The same person's mod, with Tollgate in managed settings: it goes before the mod.
fn managed_settings_go_before_a_mod() {
    let fixture = project();
    bring_in_mod(&fixture.home().join(".claude/skills"));
    let etc = tempfile::tempdir().unwrap();
    let (upper, work) = (etc.path().join("upper"), etc.path().join("work"));
    let managed = upper.join("claude-code/managed-settings.json");
    write(&managed, &fixture.project.read(SETTINGS));
    std::fs::create_dir_all(&work).unwrap();
    let sign = TASK.to_owned();
    let turns = vec![call("tollgate uninstall --yes"), done()];
    let model = Model::play(vec![Conversation { sign, turns }]);
    let usual = AGENT.command(fixture.home(), model.port, TASK);
    let mut command = Command::new("unshare");
    command
        .args(["-m", "sh", "-c", MANAGED, "sh"])
        .args([&upper, &work]);
    command.arg(usual.get_program()).args(usual.get_args());
    command.env_clear();
    let envs = usual.get_envs();
    command.envs(envs.filter_map(|(name, value)| Some((name, value?))));
    command
        .current_dir(fixture.project.root())
        .stdin(Stdio::null());
    let output = command.output().unwrap();
    if !output.status.success() && model.count(TASK) == 0 {
        let why = String::from_utf8_lossy(&output.stderr);
        crate::offline::say(&format!(
            "SKIPPED: managed settings: no file system can be put over /etc: {why}"
        ));
        return;
    }
    let journal = fixture.project.journal();
    let blocked = journal.iter().any(|line| line["code"] == "PG-001");
    assert!(blocked, "{output:?} {journal:#?}");
}

macro_rules! routes {
    ($($route:ident),* $(,)?) => {
        mod claude_code {
            $(#[test]
            fn $route() {
                let test = concat!("fence::claude_code::", stringify!($route));
                crate::offline::run(super::AGENT, test, super::$route);
            })*
        }
    };
}

routes! {
    the_settings_are_not_written_over,
    a_script_that_empties_the_settings_ends_nothing,
    variables_in_the_settings_switch_no_guard_off,
    uninstall_and_cancel_are_a_persons,
    a_yes_in_the_chat_cancels_and_a_no_does_not,
    without_anybody_to_ask_the_question_is_a_refusal,
    a_mod_of_the_persons_is_named,
    a_mod_of_the_project_is_named_and_stops_no_guard,
    managed_settings_go_before_a_mod,
}
