//! Whatever an event meets, it is answered in time, and an answer that could not be a decision says so.

use std::io::Write as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::events::{Event as _, bash, write};
use crate::project::{Run, TestProject, run, running, wait_until, with_branch};

/// A project whose branch only git can tell, and a git that never does.
pub(crate) fn with_a_git_that_hangs() -> Option<TestProject> {
    let project = TestProject::new().state(&with_branch("active"));
    let made = Command::new("git")
        .args(["init", "-q", "-b", "main", "--ref-format=reftable"])
        .current_dir(project.root())
        .output();
    if !made.unwrap().status.success() {
        eprintln!("SKIPPED: this git knows no reftable");
        return None;
    }
    let pid = project.outside().join("git.pid");
    let script = format!("#!/bin/sh\necho $$ > '{}'\nexec sleep 60\n", pid.display());
    project.program("git", &script);
    Some(project)
}

/// Decides an event within the usual deadline.
fn decided(project: &TestProject, event: &Value) -> Run {
    let args = ["hook", "--deadline", "1s"];
    project.run(&args, event.to_string().as_bytes())
}

fn commit(project: &TestProject) -> Value {
    bash("git commit -m x")
        .in_session("s")
        .in_directory(project.root())
}

/// What the person reads in Claude Code, while the agent goes on.
#[track_caller]
fn warning(run: &Run) -> String {
    assert_eq!(run.code, 0, "{run:?}");
    let answer = run.json();
    let decision = &answer["hookSpecificOutput"]["permissionDecision"];
    assert!(decision.is_null(), "{run:?}");
    answer["systemMessage"].as_str().unwrap().to_owned()
}

#[test]
fn what_may_commit_and_is_not_decided_is_blocked_once() {
    let Some(project) = with_a_git_that_hangs() else {
        return;
    };
    let begun = Instant::now();
    let why = decided(&project, &commit(&project)).denies();
    let took = begun.elapsed();
    // A second, and what a busy machine needs to start the process.
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert!(why.contains("could not check this call in time"), "{why}");
    assert!(why.ends_with("Next: try again."), "{why}");
    // The same call is let through, with a warning; another one is not.
    let said = warning(&decided(&project, &commit(&project)));
    assert!(said.contains("Not decided in time (limit: 1 s)"), "{said}");
    let other = commit(&project).with_all(&bash("git commit -m y"));
    decided(&project, &other).denies();
    // Nor is the same one in another session.
    decided(&project, &commit(&project).in_session("t")).denies();
    assert_eq!(project.codes(), ["DL-001", "DL-002", "DL-001", "DL-001"]);
    let journal = project.journal();
    assert_eq!(journal[0]["verdict"], "block");
    assert_eq!(journal[0]["tool"], "Bash");
    assert_eq!(journal[1]["verdict"], "warn");
    // Nothing is left behind.
    let pid = std::fs::read_to_string(project.outside().join("git.pid")).unwrap();
    let git = format!("/proc/{}", pid.trim());
    wait_until("git was ended", Duration::from_secs(9), || {
        !std::path::Path::new(&git).exists()
    });
}

/// The deadline is a timer's signal, and a program inherits which signals are blocked or ignored.
#[test]
fn a_signal_that_was_blocked_or_ignored_keeps_no_answer() {
    let Some(project) = with_a_git_that_hangs() else {
        return;
    };
    for how in ["--ignore-signal=ALRM", "--block-signal=ALRM"] {
        let script = format!("exec env {how} \"$0\" hook --deadline 1s");
        let mut command = project.command_of("/bin/sh".as_ref(), &["-c", &script]);
        command
            .arg(crate::project::TOLLGATE)
            .env("CLAUDE_PROJECT_DIR", project.root());
        let event = commit(&project).in_session(how).to_string();
        let why = run(command, event.as_bytes()).denies();
        assert!(why.contains("could not check this call in time"), "{why}");
    }
}

#[test]
fn with_a_git_that_answers_the_event_is_decided() {
    let Some(project) = with_a_git_that_hangs() else {
        return;
    };
    std::fs::remove_file(project.programs().join("git")).unwrap();
    let why = decided(&project, &commit(&project)).denies();
    assert!(why.starts_with("COMMIT TO MAIN"), "{why}");
    assert_eq!(project.codes(), ["BG-001"]);
    // It may be slow, if the registration allows for that.
    let git =
        "#!/bin/sh\nsleep 1.2\nexec /usr/bin/env PATH=/usr/local/bin:/usr/bin:/bin git \"$@\"\n";
    project.program("git", git);
    decided(&project, &commit(&project)).denies();
    let args = ["hook", "--deadline", "8s"];
    let event = commit(&project).to_string();
    let why = project.run(&args, event.as_bytes()).denies();
    assert!(why.starts_with("COMMIT TO MAIN"), "{why}");
    assert_eq!(project.codes(), ["BG-001", "DL-001", "BG-001"]);
}

/// What such a call would have been blocked for depends on a project that was not found in time.
#[test]
fn what_is_not_decided_outside_of_any_project_is_reported() {
    let Some(project) = with_a_git_that_hangs() else {
        return;
    };
    project.hook(&crate::events::named("SessionStart").in_session("p"));
    let mut command = project.command(&["hook", "--deadline", "1s"]);
    command.current_dir(project.outside());
    let event = bash("cd ./project && git commit -m x").in_session("s");
    let event = event.in_directory(project.outside()).to_string();
    let said = warning(&run(command, event.as_bytes()));
    assert!(said.contains("Not decided in time (limit: 1 s)"), "{said}");
}

/// A thread that waits for a lock looks at no clock: the answer is another's.
#[test]
fn a_decision_that_waits_in_the_system_does_not_keep_the_answer() {
    let project = TestProject::new().state(&running("06-implementation", "in_progress"));
    let start = crate::events::named("SessionStart").in_session("s");
    project.hook(&start).says_nothing();
    let mut state = running("06-implementation", "in_progress");
    state["active_workflow"]["current_phase_index"] = 1.into();
    let project = project.state(&state);
    let lock = std::fs::File::open(project.path(".tollgate/local/state/lock")).unwrap();
    lock.lock().unwrap();
    let run_with = |event: Value, deadline: &str| {
        let args = ["hook", "--deadline", deadline];
        project.run(&args, event.to_string().as_bytes())
    };
    // A machine that is too busy to write it down in time says so.
    let is_written = |said: &String| !said.contains("could not be written in time");
    let ls = bash("ls").in_session("s");
    let mut all = Vec::new();
    for event in [ls.clone(), ls.clone().printed("")] {
        all.push(warning(&run_with(event, "100ms")));
    }
    let other = write("src/a.rs", "git commit").in_session("s");
    all.push(warning(&run_with(other, "100ms")));
    let is_late = |said: &String| said.contains("Not decided in time (limit: 0.1 s)");
    assert!(all.iter().all(is_late), "{all:?}");
    let written = all.iter().filter(|said| is_written(said)).count();
    assert_eq!(project.codes(), vec!["DL-002"; written]);
    // Files that are ours are not changed unseen, where that can be remembered.
    let ours = |version: u32| {
        let text = format!("{{\"state_version\":{version}}}");
        write(project.path(".isdlc/state.json"), &text).in_session("s")
    };
    let is_denied = |run: &Run| run.json()["hookSpecificOutput"]["permissionDecision"] == "deny";
    let denied = (0..50).find(|version| is_denied(&run_with(ours(*version), "100ms")));
    let again = ours(denied.expect("one is blocked"));
    warning(&run_with(again, "100ms"));
    // With more time it is decided.
    let said = warning(&run_with(ls, "8s"));
    assert!(said.contains("another process holds its lock"), "{said}");
}

/// Whoever cannot remember a block must not block: it would never end.
#[test]
fn a_call_that_cannot_be_remembered_is_not_blocked() {
    let Some(project) = with_a_git_that_hangs() else {
        return;
    };
    project.file(".tollgate/local", "a file where a directory should be");
    let said = warning(&decided(&project, &commit(&project)));
    assert!(said.contains("Not decided in time"), "{said}");
    assert!(said.contains("cannot be written"), "{said}");
}

#[test]
fn a_deadline_that_nobody_can_mean_is_said_and_the_usual_one_holds() {
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    let event = commit(&project).to_string();
    for time in ["5", "1ms", "1h", "soon", ""] {
        let run = project.run(&["hook", "--deadline", time], event.as_bytes());
        let said = run.json()["systemMessage"].as_str().unwrap().to_owned();
        assert!(
            said.contains("a time between 100ms and 8s"),
            "{time}: {said}"
        );
        assert!(run.denies().starts_with("COMMIT TO MAIN"));
        std::fs::remove_dir_all(project.path(".tollgate")).unwrap();
    }
}

#[test]
fn a_huge_command_is_answered() {
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    for unit in ["eval \"$(echo a)\"; ", "cat <<A\n", "a|", "$((", "{a,"] {
        let command = format!("{}\ngit commit -m x", unit.repeat(200_000));
        let event = bash(&command).in_session("s").in_directory(project.root());
        let ran = project.hook_within(2, event.to_string().as_bytes());
        assert_eq!(ran.code, 0, "{unit}");
    }
}

/// Starts the hook and hands it the event; its standard input stays open.
fn unclosed(project: &TestProject, pieces: &[&str], pause: Duration) -> (Child, ChildStdin) {
    let mut command = project.command(&["hook"]);
    command
        .env("CLAUDE_PROJECT_DIR", project.root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for piece in pieces {
        stdin.write_all(piece.as_bytes()).unwrap();
        std::thread::sleep(pause);
    }
    (child, stdin)
}

fn output(child: Child) -> Run {
    let output = child.wait_with_output().unwrap();
    Run {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap_or(-1),
    }
}

#[test]
fn an_event_on_a_standard_input_that_stays_open_is_decided_at_once() {
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    for (text, prefix) in [
        (bash("git commit -m x").to_string(), Some("COMMIT TO MAIN")),
        (
            format!("\u{feff}{}\n\n", bash("git commit")),
            Some("COMMIT TO MAIN"),
        ),
        (bash("echo }").to_string(), None),
    ] {
        let begun = Instant::now();
        let (child, held) = unclosed(&project, &[&text], Duration::ZERO);
        let ran = output(child);
        drop(held);
        // Without the object's end it is waited for 5 seconds.
        assert!(begun.elapsed() < Duration::from_secs(4), "{text}");
        match prefix {
            Some(prefix) => drop(ran.blocks(prefix)),
            None => ran.says_nothing(),
        }
    }
}

#[test]
fn an_event_that_comes_in_drops_is_decided_when_it_is_whole() {
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    let text = bash("echo } && git commit -m '}'").to_string();
    let pieces: Vec<&str> = text.split_inclusive('}').collect();
    assert!(pieces.len() > 3);
    // Each pause is long enough for what came so far to be examined.
    let (child, held) = unclosed(&project, &pieces, Duration::from_millis(60));
    output(child).blocks("COMMIT TO MAIN");
    drop(held);
}

#[test]
fn half_an_event_is_given_up_and_said() {
    let project = TestProject::new().state(&with_branch("active"));
    let text = bash("git commit -m x").to_string();
    let (half, _) = text.split_at(text.len() / 2);
    let begun = Instant::now();
    let (child, held) = unclosed(&project, &[half], Duration::ZERO);
    let ran = output(child).allows();
    drop(held);
    assert!(begun.elapsed() < Duration::from_secs(9));
    assert!(ran.stderr.contains("no event arrived"), "{ran:?}");
    assert_eq!(project.codes(), ["event-late"]);
}

/// The limit is inherited by all that a shell starts; the signal that comes with it ends a program.
fn under_a_file_limit(project: &TestProject, event: &Value) -> Run {
    let mut command =
        project.command_of("/bin/sh".as_ref(), &["-c", "ulimit -f 0; exec \"$0\" hook"]);
    command
        .arg(crate::project::TOLLGATE)
        .env("CLAUDE_PROJECT_DIR", project.root());
    run(command, event.to_string().as_bytes())
}

#[test]
fn a_limit_on_the_size_of_files_is_a_fault_and_the_decision_still_comes() {
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    let ran = under_a_file_limit(&project, &commit(&project));
    let said = ran.json()["systemMessage"].as_str().unwrap().to_owned();
    assert!(
        said.contains("journal") && said.contains("too large"),
        "{said}"
    );
    assert!(ran.denies().starts_with("COMMIT TO MAIN"));
    under_a_file_limit(&project, &bash("ls").in_session("s")).says_nothing();
    // It is the limit that is in the way, nothing else.
    decided(&project, &commit(&project)).denies();
    assert_eq!(project.codes(), ["BG-001"]);
}

#[test]
fn an_agent_that_does_not_listen_any_more_kills_no_decision() {
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    let mut command = project.command(&["hook"]);
    command
        .env("CLAUDE_PROJECT_DIR", project.root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    let mut stdin = child.stdin.take().unwrap();
    stdin
        .write_all(commit(&project).to_string().as_bytes())
        .unwrap();
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(project.codes(), ["BG-001"]);
}
