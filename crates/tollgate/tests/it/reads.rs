//! What one event costs in files: each is opened at most once, and only if a guard asks for it.
//! Counted by the kernel, through inotify, in both homes of a workflow.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::path::PathBuf;
use std::process::Command;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use serde_json::{Value, json};

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
    /// Where two gates are configured, `same` for what does not change and `other` for what does.
    gates: &'static [(&'static str, &'static str)],
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
        gates: &[
            (
                ".gauntlet/config.yml",
                "base_branch: main\nstop_hook:\n  run_interval_minutes: 0\nentry_points:\n  - path: src/same\n    checks: [same]\n  - path: src/other\n    checks: [other]\n",
            ),
            (".gauntlet/checks/same.yml", "command: 'true'\n"),
            (".gauntlet/checks/other.yml", "command: '! grep red a'\n"),
        ],
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
        gates: &[(
            "tollgate.toml",
            "[workflow.feature]\nphases = [\"06-implementation\", \"16-quality-loop\"]\n[gates.same]\nrun = \"true\"\ninputs = [\"src/same/**\"]\n[gates.other]\nrun = \"! grep red src/other/a\"\ninputs = [\"src/other/**\"]\n",
        )],
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

    /// The same with gates that passed on work that has not changed since. Of the work, git sees
    /// only what lies in `src`.
    fn verified(&self) -> TestProject {
        let project = self.project();
        for (file, text) in self.gates {
            project.file(file, text);
        }
        project.file(".git/info/exclude", "/*\n!/src\n");
        project.file("src/same/a", "a\n");
        project.file("src/other/a", "a\n");
        project.must(&["run"]);
        project.hook(&stop("1"));
        project
    }

    /// How often each file was opened, and how often the state was replaced, while `work` ran.
    fn counted(&self, project: &TestProject, work: impl FnOnce()) -> BTreeMap<&'static str, usize> {
        let files = self.files.iter().map(|(file, _)| *file);
        let counts = opened(project, work);
        let known = files.chain([self.state, HEAD, SCRIPT, "state written"]);
        let count = |file: &'static str| Some((file, *counts.get(file)?));
        known.filter_map(count).collect()
    }
}

/// How often each file of the project and the person was opened, and how often the state was
/// replaced, while `work` ran. Files in directories that it made are not counted.
fn opened(project: &TestProject, work: impl FnOnce()) -> BTreeMap<String, usize> {
    let notices = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
    // The kernel merges equal notices in a row: a close between two opens keeps them apart.
    let notes = WatchFlags::OPEN | WatchFlags::CLOSE | WatchFlags::MOVED_TO;
    let mut directories = BTreeMap::new();
    let mut left = vec![project.root().to_owned(), project.home()];
    while let Some(directory) = left.pop() {
        let inside = std::fs::read_dir(&directory).unwrap();
        let inside = inside.map(|entry| entry.unwrap().path());
        left.extend(inside.filter(|path| path.is_dir() && !path.ends_with(".git/objects")));
        let watch = inotify::add_watch(&notices, &directory, notes).unwrap();
        directories.insert(watch, directory);
    }
    work();
    let mut counts = BTreeMap::new();
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut reader = Reader::new(&notices, &mut buffer);
    loop {
        let event = match reader.next() {
            Ok(event) => event,
            Err(Errno::AGAIN) => return counts,
            Err(error) => panic!("{error}"),
        };
        let Some(name) = event.file_name().map(|name| name.to_str().unwrap()) else {
            continue;
        };
        let name = if event.events().contains(ReadFlags::MOVED_TO) && name == "state.json" {
            "state written".to_owned()
        } else if event.events() == ReadFlags::OPEN {
            let file: PathBuf = directories[&event.wd()].join(name);
            let file = file.strip_prefix(project.root()).unwrap_or(&file);
            file.display().to_string()
        } else {
            continue;
        };
        *counts.entry(name).or_insert(0) += 1;
    }
}

/// A turn's stop.
fn stop(prompt: &str) -> Value {
    json!({
        "hook_event_name": "Stop", "session_id": "s", "prompt_id": prompt, "stop_hook_active": false,
    })
}

/// Has git write down what it is asked, and work on a copy of the repository: so whoever opens a
/// file of the repository itself is Tollgate. Gives the file that it writes.
fn watch_git(project: &TestProject) -> PathBuf {
    let copy = project.outside().join("copy");
    let mut cp = Command::new("cp");
    cp.arg("-r").arg(project.path(".git")).arg(&copy);
    assert!(cp.status().unwrap().success());
    let asked = project.outside().join("asked");
    let script = format!(
        "#!/bin/sh\necho \"$*\" >> {asked}\nexport PATH=/usr/local/bin:/usr/bin:/bin GIT_DIR={copy} GIT_WORK_TREE={root}\nexec git \"$@\"\n",
        asked = asked.display(),
        copy = copy.display(),
        root = project.root().display(),
    );
    project.program("git", &script);
    asked
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
        let counts = home.counted(&project, || drop(project.hook(&stop("1"))));
        assert!(counts.contains_key(home.state), "{counts:?}");
        assert!(counts.values().all(|count| *count == 1), "{counts:?}");
    }
}

/// And no question is put to git twice. When gates ran, the evidence is read again under its lock, to
/// be changed, and the journal has got a line from them before it gets one about the block.
#[test]
fn a_stop_with_gates_opens_the_repository_and_each_file_once() {
    const AGAIN: [&str; 4] = ["evidence.json", "secret", "journal.jsonl", "journal.tail"];
    for home in &HOMES {
        let project = home.verified();
        let asked = watch_git(&project);
        let stopped = |prompt: &str, is_blocked: bool| {
            let mut counts = opened(&project, || {
                let run = project.hook(&stop(prompt));
                assert_eq!(run.stdout.contains("\"block\""), is_blocked, "{run:?}");
            });
            // git opens what it finds in the work tree.
            counts.retain(|file, _| !file.starts_with("src/") && file != "README.md");
            assert_eq!(counts.get(HEAD), Some(&1), "{counts:?}");
            let questions = std::fs::read_to_string(&asked).unwrap();
            std::fs::remove_file(&asked).unwrap();
            let mut questions: Vec<_> = questions.lines().collect();
            questions.sort_unstable();
            assert!(
                questions.windows(2).all(|two| two[0] != two[1]),
                "{questions:#?}"
            );
            (counts, questions.len())
        };

        let (counts, questions) = stopped("2", false);
        assert!(counts.values().all(|count| *count == 1), "{counts:#?}");
        assert_eq!(questions, 1);

        project.file("src/other/a", "red\n");
        let (mut counts, questions) = stopped("3", true);
        counts.retain(|_, count| *count > 1);
        let is_known = |file: &String| AGAIN.iter().any(|name| file.ends_with(name));
        assert!(counts.keys().all(is_known), "{counts:#?}");
        assert!(counts.values().all(|count| *count == 2), "{counts:#?}");
        assert_eq!(questions, 3);
    }
}
