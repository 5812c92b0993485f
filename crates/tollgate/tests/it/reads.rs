//! What one event costs in files: each is opened at most once, and only if a guard asks for it.
//! Counted by the kernel, through inotify, in both homes of a workflow.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use serde_json::json;

use crate::events::{bash, task};
use crate::project::{TestProject, running_on_branch};

/// Opened by every discovery of the repository.
const HEAD: &str = ".git/HEAD";
/// Opened by every survey of a command that runs it.
const SCRIPT: &str = "commit.sh";

/// Where a project keeps its workflow.
struct Home {
    state: &'static str,
    /// The files beside the state that an event may read, with what is in them.
    files: &'static [(&'static str, &'static str)],
    /// How a commit on main is blocked.
    block: &'static str,
}

/// The original's, and that of a new project.
const HOMES: [Home; 2] = [
    Home {
        state: ".isdlc/state.json",
        files: &[
            (
                ".claude/hooks/config/skills-manifest.json",
                r#"{"ownership":{"software-developer":{"agent_id":"05","phase":"06-implementation"}}}"#,
            ),
            (
                ".claude/hooks/config/iteration-requirements.json",
                r#"{"phase_requirements":{"06-implementation":{"test_iteration":{"enabled":false}}}}"#,
            ),
            (
                ".isdlc/config/workflows.json",
                r#"{"workflows":{"feature":{"phases":["06-implementation","16-quality-loop"]}}}"#,
            ),
            (
                ".claude/hooks/config/artifact-paths.json",
                r#"{"phases":{}}"#,
            ),
        ],
        block: "COMMIT TO MAIN BLOCKED",
    },
    Home {
        state: ".tollgate/workflow/state.json",
        files: &[
            (
                "tollgate.toml",
                "[workflow.feature]\nphases = [\"06-implementation\", \"16-quality-loop\"]\n",
            ),
            ("tollgate.local.toml", ""),
        ],
        block: "This would commit to 'main'",
    },
];

impl Home {
    /// A project with this home, on the branch of its running workflow.
    fn project(&self) -> TestProject {
        let project = TestProject::empty();
        project.file(
            self.state,
            running_on_branch("06-implementation").to_string(),
        );
        for (file, text) in self.files {
            project.file(file, text);
        }
        project.file("docs/isdlc/tasks.md", "");
        project.file(SCRIPT, "git commit -m x\n");
        project.on_branch("feature/x")
    }

    /// How often each file was opened, and how often the state was replaced, while `work` ran.
    fn counted(&self, project: &TestProject, work: impl FnOnce()) -> BTreeMap<&'static str, usize> {
        let notices = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
        let mut names = BTreeMap::new();
        let files = self.files.iter().map(|(file, _)| *file);
        for file in files.chain([self.state, HEAD, SCRIPT]) {
            // The kernel merges equal notices in a row: a close between two opens keeps them apart.
            let notes = WatchFlags::OPEN | WatchFlags::CLOSE_NOWRITE;
            let watch = inotify::add_watch(&notices, project.path(file), notes).unwrap();
            names.insert(watch, file);
        }
        let home = project.path(self.state);
        let home = home.parent().map(Path::to_owned).unwrap();
        let home = inotify::add_watch(&notices, home, WatchFlags::MOVED_TO).unwrap();
        names.insert(home, "state written");
        work();
        let mut counts = BTreeMap::new();
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(&notices, &mut buffer);
        loop {
            match reader.next() {
                Ok(event)
                    if event
                        .events()
                        .intersects(ReadFlags::IGNORED | ReadFlags::CLOSE_NOWRITE) => {}
                Ok(event) => *counts.entry(names[&event.wd()]).or_insert(0) += 1,
                Err(Errno::AGAIN) => return counts,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn a_delegation_opens_each_file_at_most_once_and_writes_at_most_once() {
    for home in &HOMES {
        let project = home.project();
        for event in [
            task("software-developer", "build it"),
            task(
                "sdlc-orchestrator",
                "advance to the next phase through the gate",
            ),
            task("general-purpose", "phase complete, ready for gate"),
        ] {
            let counts = home.counted(&project, || {
                project.hook(&event);
            });
            assert!(counts.contains_key(home.state), "{counts:?}");
            assert!(
                counts.values().all(|count| *count == 1),
                "{counts:?} for {event}"
            );
        }
    }
}

/// But for `tollgate.toml` and the person's own: rules in them hold for every tool.
#[test]
fn an_event_that_needs_no_file_opens_none() {
    for home in &HOMES {
        let project = home.project();
        let counts = home.counted(&project, || project.hook(&bash("ls -la")).says_nothing());
        let mut others = counts.keys().filter(|file| !file.contains(".toml"));
        assert_eq!(others.next(), None);
        assert!(counts.values().all(|count| *count == 1), "{counts:?}");
    }
}

/// Also where the state is watched from this event on, and where the git guard's hook is looked for.
#[test]
fn a_blocked_commit_is_surveyed_once_and_its_repository_discovered_once() {
    for home in &HOMES {
        let project = home.project();
        project.git(&["checkout", "-q", "main"]);
        let mut event = bash(&format!("sh {SCRIPT}"));
        event["hook_event_name"] = json!("PreToolUse");
        event["session_id"] = json!("s");
        let counts = home.counted(&project, || {
            let reason = project.hook(&event).denies();
            assert!(reason.starts_with(home.block), "{reason}");
        });
        for file in [home.state, HEAD, SCRIPT] {
            assert_eq!(counts.get(file), Some(&1), "{file}: {counts:?}");
        }
        assert!(counts.values().all(|count| *count == 1), "{counts:?}");
    }
}

#[test]
fn a_stop_reads_each_file_at_most_once() {
    for home in &HOMES {
        let project = home.project();
        let event =
            json!({ "hook_event_name": "Stop", "session_id": "s", "stop_hook_active": false });
        let counts = home.counted(&project, || drop(project.hook(&event)));
        assert!(counts.contains_key(home.state), "{counts:?}");
        assert!(counts.values().all(|count| *count == 1), "{counts:?}");
    }
}
