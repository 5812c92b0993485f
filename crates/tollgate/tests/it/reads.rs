//! What one event costs in files: each is opened at most once, and only if a guard asks for it.
//! Counted by the kernel, through inotify.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use serde_json::json;

use crate::events::{bash, task};
use crate::project::{TestProject, running};

const STATE: &str = ".isdlc/state.json";
const MANIFEST: &str = ".claude/hooks/config/skills-manifest.json";
const REQUIREMENTS: &str = ".claude/hooks/config/iteration-requirements.json";
const WORKFLOWS: &str = ".isdlc/config/workflows.json";
const ARTIFACTS: &str = ".claude/hooks/config/artifact-paths.json";

/// Opened by every discovery of the repository.
const HEAD: &str = ".git/HEAD";
/// Opened by every survey of a command that runs it.
const SCRIPT: &str = "commit.sh";

/// How often each file was opened, and how often the state was replaced, while `work` ran.
fn counted(project: &TestProject, work: impl FnOnce()) -> BTreeMap<&'static str, usize> {
    let notices = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
    let mut names = BTreeMap::new();
    for file in [
        STATE,
        MANIFEST,
        REQUIREMENTS,
        WORKFLOWS,
        ARTIFACTS,
        HEAD,
        SCRIPT,
    ] {
        let watch = inotify::add_watch(&notices, project.path(file), WatchFlags::OPEN).unwrap();
        names.insert(watch, file);
    }
    let home = inotify::add_watch(&notices, project.path(".isdlc"), WatchFlags::MOVED_TO).unwrap();
    names.insert(home, "state written");
    work();
    let mut counts = BTreeMap::new();
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut reader = Reader::new(&notices, &mut buffer);
    loop {
        match reader.next() {
            Ok(event) if event.events().contains(ReadFlags::IGNORED) => {}
            Ok(event) => *counts.entry(names[&event.wd()]).or_insert(0) += 1,
            Err(Errno::AGAIN) => return counts,
            Err(error) => panic!("{error}"),
        }
    }
}

fn project() -> TestProject {
    let mut state = running("06-implementation", "in_progress");
    state["active_workflow"]["git_branch"] = json!({ "name": "feature/x", "status": "active" });
    let project = TestProject::new().state(&state).on_branch("feature/x");
    project.file("docs/isdlc/tasks.md", "");
    project.file(
        REQUIREMENTS,
        r#"{"phase_requirements":{"06-implementation":{"test_iteration":{"enabled":false}}}}"#,
    );
    project.file(
        WORKFLOWS,
        r#"{"workflows":{"feature":{"phases":["06-implementation","16-quality-loop"]}}}"#,
    );
    project.file(ARTIFACTS, r#"{"phases":{}}"#);
    project.file(SCRIPT, "git commit -m x\n");
    project
}

#[test]
fn a_delegation_opens_each_file_at_most_once_and_writes_at_most_once() {
    let project = project();
    for event in [
        task("software-developer", "build it"),
        task(
            "sdlc-orchestrator",
            "advance to the next phase through the gate",
        ),
        task("general-purpose", "phase complete, ready for gate"),
    ] {
        let counts = counted(&project, || {
            project.hook(&event);
        });
        assert!(counts.contains_key(STATE), "{counts:?}");
        for (file, count) in counts {
            assert_eq!(count, 1, "{file} for {event}");
        }
    }
}

#[test]
fn an_event_that_needs_no_file_opens_none() {
    let project = project();
    let counts = counted(&project, || project.hook(&bash("ls -la")).says_nothing());
    assert_eq!(counts, BTreeMap::new());
}

/// Also where the state is watched from this event on, and where the git guard's hook is looked for.
#[test]
fn a_blocked_commit_is_surveyed_once_and_its_repository_discovered_once() {
    let project = project();
    project.git(&["checkout", "-q", "main"]);
    let mut event = bash(&format!("sh {SCRIPT}"));
    event["hook_event_name"] = json!("PreToolUse");
    event["session_id"] = json!("s");
    let counts = counted(&project, || {
        let reason = project.hook(&event).denies();
        assert!(reason.starts_with("COMMIT TO MAIN BLOCKED"), "{reason}");
    });
    for file in [STATE, HEAD, SCRIPT] {
        assert_eq!(counts.get(file), Some(&1), "{file}: {counts:?}");
    }
}

#[test]
fn a_stop_reads_each_file_at_most_once() {
    let project = project();
    let event = json!({ "hook_event_name": "Stop", "session_id": "s", "stop_hook_active": false });
    let counts = counted(&project, || drop(project.hook(&event)));
    for (file, count) in counts {
        assert_eq!(count, 1, "{file}");
    }
}
