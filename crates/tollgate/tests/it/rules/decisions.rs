//! What an agent is answered.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::{MIGRATIONS, answer, command, edit, journalled, ruled};
use crate::events::{Event as _, bash, named, stop, task, tool, write};
use crate::project::{Run, TestProject, put, run, running, with_branch};

#[test]
fn an_effect_is_blocked_however_it_is_written() {
    let project = ruled(MIGRATIONS);
    for text in [
        "rm db/migrations/001.sql",
        "rm -rf db",
        "echo x > db/migrations/002.sql",
        "cd db && echo x > migrations/002.sql",
        "bash -lc 'echo x >> db/migrations/002.sql'",
        "env X=1 sh -c \"sed -i s/a/b/ ./db/../db/migrations/001.sql\"",
        "cp new.sql db/migrations/",
        "mv db/migrations/001.sql old.sql",
        "cat > db/migrations/003.sql <<'E'\nx\nE",
        "tee db/migrations/004.sql < x",
    ] {
        let reason = project.hook(&command(text)).denies();
        assert!(reason.starts_with("RULE:migrations: "), "{text}: {reason}");
        assert!(
            reason.contains("Applied migrations are history."),
            "{reason}"
        );
        assert!(reason.contains("Next: Add a new migration"), "{reason}");
    }
    for path in ["db/migrations/001.sql", "./db/x/../migrations/001.sql"] {
        project.hook(&edit(path)).denies();
    }
    for text in [
        "cat db/migrations/001.sql",
        "grep -r rm db/migrations",
        "git commit -m 'rm db/migrations/001.sql'",
        "echo 'echo x > db/migrations/002.sql'",
        "rm -rf build",
        "echo x > db/schema.sql",
        "ls db/migrations",
    ] {
        assert_eq!(answer(&project.hook(&command(text))), None, "{text}");
    }
    project.hook(&edit("src/a.txt")).says_nothing();
}

/// A prompt is text; only a tool that fetches goes where it says.
#[test]
fn a_prompt_that_mentions_an_address_fetches_nothing() {
    let project = ruled("[[rule]]\nid = \"web\"\ndeny = { fetch = [\"*\", \"!docs.rs\"] }\n");
    let calls = |name, text: &str| tool(name, &json!({ "prompt": text })).in_session("s");
    let text = "summarise https://example.com/issue/1";
    for name in ["CronCreate", "SendMessage", "mcp__notion__query"] {
        project.hook(&calls(name, text)).says_nothing();
    }
    let reason = project.hook(&calls("web_fetch", text)).denies();
    assert!(reason.contains("fetching from example.com"), "{reason}");
    project
        .hook(&calls("web_fetch", "read https://docs.rs/x"))
        .says_nothing();
}

/// Agents search all day; what they search through is not what a rule about single files means.
#[test]
fn a_search_is_a_read_of_the_directory_that_it_names() {
    let project = ruled("[[rule]]\nid = \"keys\"\ndeny = { read = [\".env\", \"keys/**\"] }\n");
    project.file(".env", "KEY=1");
    project.file("keys/a", "1");
    for text in ["grep -r x .", "rg x", "cp -r . /tmp/copy", "cat README.md"] {
        assert_eq!(answer(&project.hook(&command(text))), None, "{text}");
    }
    let search = |input| tool("Grep", &input).in_session("s");
    project
        .hook(&search(json!({ "pattern": "x" })))
        .says_nothing();
    for text in ["cat .env", "grep x .env", "grep -r x keys", "rg x keys/"] {
        project.hook(&command(text)).denies();
    }
    project
        .hook(&search(json!({ "pattern": "x", "path": "keys" })))
        .denies();
}

#[test]
fn every_agent_is_answered_in_its_own_words() {
    let project = ruled(MIGRATIONS);
    let patch =
        "*** Begin Patch\n*** Update File: db/migrations/1.sql\n@@\n-x\n+y\n*** End Patch\n";
    let cases = [
        (
            "codex",
            json!({ "hook_event_name": "PreToolUse", "session_id": "s", "turn_id": "t", "cwd": project.root(), "tool_name": "apply_patch", "tool_input": { "command": patch } }),
        ),
        (
            "gemini",
            json!({ "hook_event_name": "BeforeTool", "session_id": "s", "cwd": project.root(), "tool_name": "write_file", "tool_input": { "file_path": "db/migrations/1.sql", "content": "x" } }),
        ),
        (
            "copilot",
            json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": project.root(), "tool_name": "create", "tool_input": { "path": "db/migrations/1.sql", "file_text": "x" } }),
        ),
        (
            "cursor",
            json!({ "hook_event_name": "preToolUse", "conversation_id": "c", "cursor_version": "1", "workspace_roots": [project.root()], "tool_name": "Write", "tool_input": { "file_path": "db/migrations/1.sql", "content": "x" } }),
        ),
    ];
    for (agent, event) in cases {
        let args = ["hook", "--protocol", agent];
        let run = project.run(&args, event.to_string().as_bytes());
        run.says("RULE:migrations");
    }
}

#[test]
fn links_and_other_names_lead_to_the_same_files() {
    let project = ruled(MIGRATIONS);
    project.file("db/migrations/001.sql", "");
    symlink(project.path("db/migrations"), project.path("m")).unwrap();
    symlink(
        project.path("db/migrations/001.sql"),
        project.path("one.sql"),
    )
    .unwrap();
    project.hook(&command("echo x > m/002.sql")).denies();
    project.hook(&command("sed -i s/a/b/ m/001.sql")).denies();
    project
        .hook(&edit(project.path("m/001.sql").to_str().unwrap()))
        .denies();
    project.hook(&edit("one.sql")).denies();
    project.hook(&edit("two.sql")).says_nothing();
}

#[test]
fn ask_is_said_only_where_the_person_is_really_asked() {
    let project = ruled("[[rule]]\nid = \"r\"\nask = { run = [\"make deploy\"] }\n");
    let event = |mode: &str| command("make deploy").with("permission_mode", mode);
    for mode in ["default", "acceptEdits", "auto", "plan"] {
        assert_eq!(
            answer(&project.hook(&event(mode))).as_deref(),
            Some("ask"),
            "{mode}"
        );
    }
    for mode in ["bypassPermissions", "dontAsk", "another"] {
        assert_eq!(
            answer(&project.hook(&event(mode))).as_deref(),
            Some("deny"),
            "{mode}"
        );
    }
    let event = json!({ "hook_event_name": "PreToolUse", "session_id": "s", "turn_id": "t", "cwd": project.root(), "permission_mode": "default", "tool_name": "Bash", "tool_input": { "command": "make deploy" } });
    let run = project.run(
        &["hook", "--protocol", "codex"],
        event.to_string().as_bytes(),
    );
    assert_eq!(answer(&run).as_deref(), Some("deny"));
    assert_eq!(journalled(&project)[0], ("ask".into(), "RULE:r".into()));
}

#[test]
fn the_strictest_rule_counts_and_goes_before_the_guards() {
    let rules = |first: &str, second: &str| {
        format!(
            "[[rule]]\nid = \"one\"\n{first} = {{ run = [\"make\"] }}\n[[rule]]\nid = \"two\"\n{second} = {{ run = [\"make deploy\"] }}\n"
        )
    };
    for (first, second, said, code) in [
        ("warn", "deny", Some("deny"), "RULE:two"),
        ("deny", "warn", Some("deny"), "RULE:one"),
        ("ask", "deny", Some("deny"), "RULE:two"),
        ("warn", "ask", Some("ask"), "RULE:two"),
        ("warn", "warn", None, "RULE:one"),
    ] {
        let project = ruled(&rules(first, second));
        let run = project.hook(&command("make deploy"));
        assert_eq!(answer(&run).as_deref(), said, "{first} {second}");
        run.says(code);
    }
}

#[test]
fn a_mode_that_does_not_enforce_lets_go_and_says_or_writes_it_down() {
    let rule = |mode: &str| format!("{MIGRATIONS}mode = \"{mode}\"\n");
    let project = ruled(&rule("warn"));
    let run = project.hook(&command("rm db/migrations/1.sql"));
    assert_eq!(answer(&run), None);
    run.says("RULE:migrations");
    assert_eq!(
        journalled(&project),
        [("warn".into(), "RULE:migrations".into())]
    );
    let project = ruled(&rule("watch"));
    project
        .hook(&command("rm db/migrations/1.sql"))
        .says_nothing();
    assert_eq!(
        journalled(&project),
        [("watch".into(), "RULE:migrations".into())]
    );
}

#[test]
fn a_rule_that_is_over_does_not_hold() {
    for (until, said) in [("2000-01-01", None), ("2999-12-31", Some("deny"))] {
        let project = ruled(&format!("{MIGRATIONS}until = {until}\n"));
        let run = project.hook(&command("rm db/migrations/1.sql"));
        assert_eq!(answer(&run).as_deref(), said, "{until}");
    }
}

#[test]
fn conditions_are_about_branch_agent_and_sub_agent() {
    let rule = |condition: &str| format!("{MIGRATIONS}{condition}\n");
    for (condition, holds) in [
        ("when = { branch = [\"main\"] }", true),
        ("when = { branch = [\"release/*\"] }", false),
        ("unless = { branch = [\"main\"] }", false),
        ("unless = { branch = [\"dev\"] }", true),
        ("when = { agent = [\"claude-code\"] }", true),
        ("when = { agent = [\"codex\"] }", false),
        ("when = { subagent = [\"*\"] }", false),
        ("unless = { subagent = [\"*\"] }", true),
        ("when = { phase = [\"plan\"] }", false),
        ("when = { branch = [\"main\"], agent = [\"codex\"] }", false),
    ] {
        let project = ruled(&rule(condition));
        let run = project.hook(&command("rm db/migrations/1.sql"));
        assert_eq!(answer(&run).is_some(), holds, "{condition}");
    }
    let project = ruled(&rule("when = { subagent = [\"explore*\"] }"));
    let event = command("rm db/migrations/1.sql")
        .with("agent_id", "a1")
        .with("agent_type", "explorer");
    project.hook(&event).denies();
}

#[test]
fn a_person_lifts_a_rule_as_a_guard() {
    let project = ruled(MIGRATIONS);
    let event = |id: &str| command("rm db/migrations/1.sql").call(id);
    project.hook(&event("1")).denies();
    project.allow(&["rule:migrations", "--once"]);
    let run = project.hook(&event("2"));
    assert_eq!(answer(&run), None);
    run.says("allowed RULE:migrations once");
    project.hook(&event("3")).denies();
    project
        .tollgate(&["allow", "RULE:migration", "--once", "--reason", "x"])
        .exits(2)
        .says("did you mean RULE:migrations?");
}

#[test]
fn a_persons_own_rules_and_the_projects_hold_together() {
    let project = ruled(MIGRATIONS);
    project.at_home(
        ".config/tollgate/tollgate.toml",
        "[[rule]]\nid = \"mine\"\ndeny = { run = [\"make deploy\"] }\nreason = \"Not today.\"\n",
    );
    project
        .hook(&command("rm db/migrations/1.sql"))
        .says("RULE:migrations");
    project
        .hook(&command("make deploy"))
        .says("RULE:mine")
        .says("Not today.");
    project.file(
        "tollgate.local.toml",
        "[[rule]]\nid = \"local\"\nwarn = { run = [\"make\"] }\n",
    );
    project.hook(&command("make")).says("RULE:local");
    project.hook(&command("make deploy")).says("RULE:mine");
}

/// The words of a stranger's project do not reach the model before somebody trusts them.
#[test]
fn an_untrusted_projects_rules_decide_in_tollgates_own_words() {
    let project = ruled(MIGRATIONS);
    let ask = || {
        let event = command("rm db/migrations/1.sql").to_string();
        project
            .run(&["hook", "--require-trust"], event.as_bytes())
            .denies()
    };
    let reason = ask();
    assert!(reason.starts_with("RULE:migrations"), "{reason}");
    assert!(!reason.contains("history"), "{reason}");
    assert!(!reason.contains("make migration"), "{reason}");
    assert!(reason.contains("tollgate trust"), "{reason}");
    project
        .tollgate(&["trust", "--show"])
        .exits(1)
        .says("rule migrations says");
}

#[test]
fn sending_after_reading_a_secret_is_blocked_in_that_session_only() {
    let project = ruled(
        "[[rule]]\nid = \"leak\"\ndeny = { fetch = [\"*\"] }\nafter = { read = [\".env\"] }\nmatch = [\"curl https://example.com\"]\nnot_match = [{ run = \"curl https://example.com\", after = false }]\n",
    );
    let send = || command("curl https://example.com");
    project.hook(&send()).says_nothing();
    project.hook(&command("cat .env")).says_nothing();
    project.hook(&send()).denies();
    project
        .hook(&command("curl https://example.com").in_session("other"))
        .says_nothing();
    let kept = project.path(".tollgate/local/rule-sessions");
    let texts = std::fs::read_dir(kept).unwrap().flatten();
    for file in texts {
        if file.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let text = std::fs::read_to_string(file.path()).unwrap();
        assert_eq!(text, "leak\n", "no path, no contents");
    }
}

#[test]
fn tests_must_change_with_code_before_the_agent_stops() {
    let project = ruled(
        "[[rule]]\nid = \"tests\"\ndeny = { write = [\"src/**\"] }\nchanged_with = [\"tests/**\"]\nreason = \"Code changed without a test.\"\nmatch = [{ changed = [\"src/a.rs\"] }]\nnot_match = [{ changed = [\"src/a.rs\", \"tests/a.rs\"] }]\n",
    );
    project.commit("all");
    let event = || stop().with("session_id", "s");
    assert!(!project.hook(&event()).stdout.contains("RULE:tests"));
    project.file("src/b.txt", "b");
    // Before the stop nobody minds.
    project.hook(&edit("src/b.txt")).says_nothing();
    let run = project.hook(&event());
    assert_eq!(run.json()["decision"], "block", "{run:?}");
    run.says("RULE:tests").says("Code changed without a test.");
    project.file("tests/b.txt", "b");
    assert!(!project.hook(&event()).stdout.contains("RULE:tests"));
}

#[test]
fn what_nobody_can_see_through_passes_asks_or_is_denied() {
    let rule = |unknown: &str| format!("{MIGRATIONS}unknown = \"{unknown}\"\n");
    for (unknown, said) in [("pass", None), ("ask", Some("ask")), ("deny", Some("deny"))] {
        let project = ruled(&rule(unknown));
        let run = project.hook(&command("rm \"$FILE\""));
        assert_eq!(answer(&run).as_deref(), said, "{unknown}");
    }
    // Once for each session and rule: an agent may do so all day.
    let unknown = || ("watch".into(), "RULE-UNKNOWN".into());
    let project = ruled(MIGRATIONS);
    for _ in 0..3 {
        project.hook(&command("rm \"$FILE\"")).says_nothing();
    }
    assert_eq!(journalled(&project), [unknown()]);
    let another = bash("rm \"$FILE\"").in_session("t");
    project.hook(&another).says_nothing();
    assert_eq!(journalled(&project), [unknown(), unknown()]);
    let add = "\n[[rule]]\nid = \"keys\"\ndeny = { delete = [\"*.pem\"] }\n";
    project.file("tollgate.toml", format!("{MIGRATIONS}{add}"));
    project.hook(&command("rm \"$FILE\"")).says_nothing();
    let reason = project.journal().pop().unwrap()["reason"].clone();
    let reason = reason.as_str().unwrap();
    assert!(reason.ends_with(", which keys may cover"), "{reason}");
}

#[test]
fn explain_says_which_effect_met_which_pattern_and_what_would_pass() {
    let project = ruled(MIGRATIONS);
    project
        .hook(&command("ls && rm db/migrations/1.sql"))
        .denies();
    project
        .must(&["explain"])
        .says("RULE:migrations")
        .says("delete db/migrations/**")
        .says("It would have passed")
        .says("ls");
}

#[test]
fn pages_logs_and_telemetry_know_rules() {
    let project = ruled(MIGRATIONS);
    project.hook(&command("rm db/migrations/1.sql")).denies();
    project.must(&["log"]).says("RULE:migrations");
    project.must(&["status"]).says("RULE:migrations");
    project.must(&["report", "--html", "page.html"]);
    assert!(project.read("page.html").contains("RULE:migrations"));
}

#[test]
fn a_project_without_rules_reads_no_compiled_rules() {
    let project = TestProject::empty()
        .on_branch("main")
        .with_toml("[gates.a]\nrun = \"true\"\n");
    project.hook(&command("ls")).says_nothing();
    let kept = project.home().join(".local/state/tollgate/compiled");
    assert!(!kept.exists(), "nothing was compiled");
}

#[test]
fn tools_that_read_files_meet_rules_about_reading() {
    let project = ruled("[[rule]]\nid = \"env\"\ndeny = { read = [\".env\"] }\n");
    let read = |path: &str| tool("Read", &json!({ "file_path": path })).in_session("s");
    project.hook(&read(".env")).denies();
    project.hook(&read(".envrc")).says_nothing();
    project.hook(&command("cat .env | head")).denies();
}

/// Whoever weakens the rules: it is named until a person accepts it.
#[test]
fn rules_that_were_weakened_are_named_until_a_person_accepts_them() {
    let project = ruled(MIGRATIONS);
    let start = || named("SessionStart").with("session_id", "s");
    let stop = || stop().with("session_id", "s");
    project.hook(&start()).says_nothing();
    let more = format!("{MIGRATIONS}\n[[rule]]\nid = \"more\"\ndeny = {{ run = [\"x\"] }}\n");
    project.file("tollgate.toml", &more);
    project.hook(&stop()).says_nothing();
    // The agent takes the new one away again, then the teeth of the old one.
    project.file("tollgate.toml", MIGRATIONS);
    project.hook(&stop()).says("rule more: removed");
    project.file("tollgate.toml", format!("{MIGRATIONS}mode = \"watch\"\n"));
    project.hook(&command("ls")).says("rule migrations: ");
    project
        .hook(&stop())
        .says("the rules were changed")
        .says("tollgate validate --accept");
    project.file("tollgate.toml", "");
    project.hook(&stop()).says("rule migrations: removed");
    project.file("tollgate.toml", &more);
    project.hook(&stop()).says_nothing();
}

/// A clone's `tollgate.local.toml` may have come with it.
#[test]
fn a_local_file_that_a_repository_commits_is_untrusted_too() {
    for home in ["tollgate.toml", ".tollgate/plans/.keep"] {
        let project = TestProject::empty().on_branch("main");
        project.file("tollgate.local.toml", MIGRATIONS);
        project.file(home, "");
        let event = command("rm db/migrations/1.sql").to_string();
        let reason = project
            .run(&["hook", "--require-trust"], event.as_bytes())
            .denies();
        assert!(reason.starts_with("RULE:migrations"), "{reason}");
        assert!(!reason.contains("history"), "{reason}");
        assert!(reason.contains("tollgate trust"), "{reason}");
    }
}

/// A project with a workflow, whose recorders act once per event, and a rule with `after`.
fn ruled_with_workflow() -> TestProject {
    let state = running("06-implementation", "in_progress");
    TestProject::new().state(&state).with_toml(
        "[[rule]]\nid = \"leak\"\ndeny = { run = [\"curl\"] }\nafter = { read = [\".env\"] }\n",
    )
}

#[test]
fn an_after_and_an_event_delivered_twice_are_both_noticed_in_one_project() {
    let delegated = || {
        task("software-developer", "implement")
            .in_session("s")
            .call("t1")
            .done(json!({}))
    };
    let leaks = |project: &TestProject| {
        project.hook(&command("cat .env")).says_nothing();
        let reason = project.hook(&command("curl https://x.example")).denies();
        assert!(reason.starts_with("RULE:leak"), "{reason}");
    };
    let acts_once = |project: &TestProject| {
        for _ in 0..2 {
            project.hook(&delegated());
        }
        let state: Value = serde_json::from_str(&project.text(".isdlc/state.json")).unwrap();
        assert_eq!(state["skill_usage_log"].as_array().unwrap().len(), 1);
    };
    let first = ruled_with_workflow();
    leaks(&first);
    acts_once(&first);
    let second = ruled_with_workflow();
    acts_once(&second);
    leaks(&second);
}

#[test]
fn an_after_that_cannot_be_noted_is_reported() {
    let project = ruled_with_workflow();
    project.file(".tollgate/local/rule-sessions", "in the way");
    project
        .hook(&command("cat .env"))
        .says("rules with `after` do not know what this call did");
    assert_eq!(project.codes(), ["rules-unnoted"]);
    let other = ruled_with_workflow();
    std::fs::create_dir_all(other.path(".tollgate/local/delivered")).unwrap();
    let event = task("software-developer", "implement").in_session("s");
    other.hook(&event.call("t1").done(json!({})));
    assert!(other.codes().contains(&"dedup-unwritable".to_owned()));
}

/// What a session says that is in another directory of the machine.
fn from_elsewhere(project: &TestProject, place: &str, event: Value) -> Run {
    let place = project.outside().join(place);
    let mut command = project.command(&["hook"]);
    command.current_dir(&place);
    let event = event.in_session("s").in_directory(&place);
    run(command, event.to_string().as_bytes())
}

#[test]
fn a_projects_rules_hold_for_a_session_that_is_elsewhere() {
    let project = ruled(
        "[[rule]]\nid = \"db\"\ndeny = { write = [\"db/**\"], delete = [\"db/**\"], push = { force = true } }\n\
         [[rule]]\nid = \"docs\"\nwarn = { write = [\"docs/**\"] }\n\
         [[rule]]\nid = \"deploy\"\nask = { run = [\"make deploy\"] }\n",
    );
    project.hook(&named("SessionStart").in_session("p"));
    put(&project.outside().join("other/tollgate.toml"), "");
    for place in ["", "other"] {
        let up = if place.is_empty() { "" } else { "../" };
        for text in [
            format!("echo x > {up}project/db/a"),
            format!("cd {up}project && echo x > db/a"),
            format!("cd {up}project/src; cd ..; echo x > db/a"),
            format!("pushd {up}project; echo x > db/a"),
            format!("git -C {up}project push --force"),
            format!("git --git-dir {up}project/.git push --force"),
            format!("env --chdir={up}project git push --force"),
            format!("rm -rf {up}project"),
        ] {
            let reason = from_elsewhere(&project, place, bash(&text)).denies();
            assert!(reason.starts_with("RULE:db"), "{place} {text}: {reason}");
        }
        let file = project.path("db/a");
        let reason = from_elsewhere(&project, place, write(&file, "x")).denies();
        assert!(reason.starts_with("RULE:db"), "{place}: {reason}");
        // Nobody can be asked about a project that the agent does not work in.
        let text = format!("cd {up}project && make deploy");
        let reason = from_elsewhere(&project, place, bash(&text)).denies();
        assert!(reason.starts_with("RULE:deploy"), "{place}: {reason}");
        // A warning comes through as well, and what no rule is about says nothing.
        let file = project.path("docs/a");
        let warned = from_elsewhere(&project, place, write(&file, "x"));
        assert_eq!(answer(&warned), None);
        warned.says("RULE:docs");
        let text = format!("cat {up}project/db/a");
        from_elsewhere(&project, place, bash(&text)).says_nothing();
    }
}

/// Corrupt is not absent, wherever the session is.
#[test]
fn a_commit_from_elsewhere_meets_the_last_good_state_of_the_project() {
    for place in ["", "other"] {
        let project = TestProject::new()
            .state(&with_branch("active"))
            .on_branch("main");
        std::fs::create_dir_all(project.outside().join("other/.isdlc")).unwrap();
        project.hook(&named("SessionStart").in_session("p"));
        project.file(".isdlc/state.json", "{broken");
        let root = project.root().display().to_string();
        let commit = format!("git -C {root} commit -m x");
        let run = from_elsewhere(&project, place, bash(&commit));
        let reason = run.denies();
        assert!(reason.starts_with("COMMIT TO MAIN"), "{reason}");
        assert_ne!(project.text(".isdlc/state.json"), "{broken");
        // Without a good one to put back, it is said that the guards are off.
        let fresh = TestProject::new().on_branch("main");
        std::fs::create_dir_all(fresh.outside().join("other/.isdlc")).unwrap();
        std::fs::create_dir_all(fresh.path(".tollgate/local")).unwrap();
        fresh.file(".isdlc/state.json", "{broken");
        let commit = format!("git -C {} commit -m x", fresh.root().display());
        from_elsewhere(&fresh, place, bash(&commit)).says("cannot be read");
    }
}
