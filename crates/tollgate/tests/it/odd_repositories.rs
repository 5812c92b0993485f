//! Repositories that are not as git makes them: they run nothing while Tollgate only asks, and nobody
//! waits for them.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::events::{Event as _, bash, named};
use crate::project::{TestProject, git, pipe, with_branch};

/// A project with a gate, a change, and a repository inside.
fn project() -> TestProject {
    let project = TestProject::new()
        .state(&with_branch("active"))
        .with_repository()
        .with_toml("[gates]\nbase = \"main\"\n\n[gates.test]\nrun = \"true\"\n")
        .with_change();
    project.git(&["init", "-q", "inner"]);
    project.file("inner/a", "a\n");
    let inner = project.path("inner");
    git(&inner, &["add", "-A"]);
    git(&inner, &["commit", "-q", "-m", "x"]);
    project.file("inner/a", "b\n");
    project.file(".gitattributes", "* filter=evil diff=evil\n");
    project.file("inner/.gitattributes", "* filter=evil diff=evil\n");
    project
}

/// All that only asks.
const ASKING: &[&[&str]] = &[
    &["status"],
    &["detect"],
    &["doctor"],
    &["statusline"],
    &["report", "--json"],
    &["config", "show"],
];

fn ask_everything(project: &TestProject) {
    for args in ASKING {
        project.tollgate(args);
    }
    for name in ["SessionStart", "UserPromptSubmit", "SessionEnd"] {
        project.hook(&named(name).in_session("s"));
    }
    let passed = bash("cargo test").in_session("s");
    project.hook(&passed);
    project.hook(&passed.printed("test result: ok. 3 passed; 0 failed"));
}

/// What a repository can configure that git runs: settings, by name, in which `PROGRAM` runs the program.
const PROGRAMS: &[&[(&str, &str)]] = &[
    &[("core.fsmonitor", "PROGRAM")],
    &[("filter.evil.clean", "PROGRAM")],
    &[
        ("filter.evil.clean", "PROGRAM"),
        ("filter.evil.required", "true"),
    ],
    &[("filter.evil.process", "PROGRAM")],
    &[("filter.evil.smudge", "PROGRAM")],
    &[("diff.evil.textconv", "PROGRAM")],
    &[
        ("diff.external", "PROGRAM"),
        ("diff.evil.command", "PROGRAM"),
    ],
    &[("core.hooksPath", "HOOKS")],
    &[("alias.add", "!PROGRAM"), ("alias.diff", "!PROGRAM")],
    &[
        ("credential.helper", "!PROGRAM"),
        ("core.askPass", "PROGRAM"),
    ],
    &[
        ("core.pager", "PROGRAM"),
        ("core.editor", "PROGRAM"),
        ("gpg.program", "PROGRAM"),
    ],
    &[("include.path", "INCLUDED")],
];

/// A program that leaves a mark, and the path of that mark.
fn marking(project: &TestProject) -> (PathBuf, PathBuf) {
    let mark = project.outside().join("mark");
    let script = format!("#!/bin/sh\necho \"$0\" >> '{}'\ncat\n", mark.display());
    (project.program("evil", &script), mark)
}

#[test]
fn asking_runs_nothing_that_a_repository_configures() {
    for settings in PROGRAMS {
        let project = project();
        let (program, mark) = marking(&project);
        let program = program.to_str().unwrap();
        let hooks = project.outside().join("hooks");
        std::fs::create_dir(&hooks).unwrap();
        for hook in ["post-index-change", "reference-transaction", "pre-commit"] {
            std::os::unix::fs::symlink(program, hooks.join(hook)).unwrap();
        }
        let included = project.outside().join("included");
        let text =
            format!("[filter \"evil\"]\n\tclean = {program}\n[core]\n\tfsmonitor = {program}\n");
        crate::project::put(&included, text);
        for (key, value) in *settings {
            let value = value
                .replace("PROGRAM", program)
                .replace("HOOKS", hooks.to_str().unwrap())
                .replace("INCLUDED", included.to_str().unwrap());
            for place in [project.root().to_owned(), project.path("inner")] {
                git(&place, &["config", key, &value]);
            }
        }
        project.file("src/b.txt", "changed\n");
        project.file("inner/a", "changed\n");
        let _gone = std::fs::remove_file(&mark);
        ask_everything(&project);
        let ran = std::fs::read_to_string(&mark);
        assert!(ran.is_err(), "{settings:?}: {ran:?}");
        // What the gates saw is known by the same name however it is asked for.
        project.must(&["run"]);
        project.must(&["status", "--exit-code"]);
        assert!(!mark.exists(), "{settings:?}");
    }
}

/// The marking program is run by git itself, so the settings are right.
#[test]
fn git_would_run_it() {
    let project = project();
    let (program, mark) = marking(&project);
    project.git(&["config", "filter.evil.clean", program.to_str().unwrap()]);
    project.file("src/b.txt", "changed\n");
    project.git(&["add", "src/b.txt"]);
    assert!(mark.exists());
}

/// What a person configured for themselves, as Git LFS is, holds.
#[test]
fn a_persons_own_filter_runs() {
    let project = project();
    let (program, mark) = marking(&project);
    let own = format!("[filter \"evil\"]\n\tclean = {}\n", program.display());
    project.at_home(".gitconfig", own);
    project.must(&["detect"]);
    assert!(mark.exists());
}

/// An object that is not here is not fetched: whoever it would be fetched from, a program is started.
#[test]
fn asking_fetches_nothing() {
    for settings in [
        &[
            ("remote.origin.url", "ssh://x/y"),
            ("core.sshCommand", "PROGRAM"),
        ][..],
        &[
            ("remote.origin.url", "ext::PROGRAM"),
            ("protocol.ext.allow", "always"),
        ],
    ] {
        let project = project();
        let (program, mark) = marking(&project);
        let tree = project.git(&["rev-parse", "main^{tree}"]);
        let (directory, name) = tree.split_at(2);
        std::fs::remove_file(project.path(&format!(".git/objects/{directory}/{name}"))).unwrap();
        let promised = [
            ("core.repositoryformatversion", "1"),
            ("extensions.partialClone", "origin"),
            ("remote.origin.promisor", "true"),
        ];
        for (key, value) in promised.iter().chain(settings) {
            let value = value.replace("PROGRAM", program.to_str().unwrap());
            project.git(&["config", key, &value]);
        }
        ask_everything(&project);
        assert!(!mark.exists(), "{settings:?}");
    }
}

#[test]
fn a_work_tree_that_the_configuration_puts_elsewhere_is_not_the_project() {
    let project = project();
    let other = project.outside().join("other");
    crate::project::put(&other.join("elsewhere.txt"), "x\n");
    project.git(&["config", "core.worktree", other.to_str().unwrap()]);
    let detected = project.must(&["detect"]);
    assert!(!detected.stdout.contains("elsewhere.txt"), "{detected:?}");
    assert!(detected.stdout.contains("src/b.txt"), "{detected:?}");
    // Evidence is about the files that are here.
    project.must(&["run"]);
    project.must(&["status", "--exit-code"]);
    project.file("src/b.txt", "another\n");
    assert_eq!(project.tollgate(&["status", "--exit-code"]).code, 1);
}

const SPECIAL: &[&str] = &[
    ".git/HEAD",
    ".git/config",
    ".git/index",
    ".git/packed-refs",
    ".git/refs/heads/main",
    ".git/refs/heads/work",
    ".git/refs/heads/feature/x",
    ".git/logs/refs/stash",
    ".git/logs/HEAD",
    ".git/info/exclude",
    ".git/info/attributes",
    ".gitignore",
];

fn nobody_waits_for(place: &str, make: fn(&Path)) {
    let project = project();
    let path = project.path(place);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let _gone = std::fs::remove_file(&path);
    make(&path);
    let begun = Instant::now();
    ask_everything(&project);
    let took = begun.elapsed();
    // One question that git is left to hang over takes five seconds.
    assert!(took < Duration::from_secs(30), "{place}: {took:?}");
    let run = project.hook(&bash("git commit -m x").in_session("s"));
    assert_eq!(run.code, 0, "{place}: {run:?}");
}

#[test]
fn a_pipe_where_git_has_a_file_is_waited_for_by_nobody() {
    for place in SPECIAL {
        nobody_waits_for(place, pipe);
    }
}

/// An unpacked archive with a `.git` file, and what that names.
fn unpacked(link_back: fn(&Path)) {
    let project = TestProject::empty().with_toml("[gates.test]\nrun = \"true\"\n");
    project.file(".git", "gitdir: fake\n");
    project.file("fake/HEAD", "ref: refs/heads/main\n");
    project.file("fake/commondir", ".\n");
    link_back(&project.path("fake/gitdir"));
    let begun = Instant::now();
    for name in ["SessionStart", "UserPromptSubmit", "Stop"] {
        project.hook(&named(name).in_session("s"));
    }
    project.tollgate(&["status"]);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[test]
fn what_an_unpacked_archive_says_of_its_repository_is_waited_for_by_nobody() {
    unpacked(pipe);
    unpacked(|path| std::os::unix::fs::symlink("/dev/zero", path).unwrap());
}

#[test]
fn a_device_where_git_has_a_file_is_read_by_nobody() {
    for place in [".git/config", ".git/index", ".git/packed-refs"] {
        nobody_waits_for(place, |path| {
            std::os::unix::fs::symlink("/dev/zero", path).unwrap();
        });
    }
}

#[test]
fn what_is_in_the_way_of_git_is_named() {
    let project = project();
    std::fs::remove_file(project.path(".git/index")).unwrap();
    pipe(&project.path(".git/index"));
    let run = project.tollgate(&["detect"]).exits(2);
    assert!(
        run.stderr.contains(".git/index: it is a named pipe"),
        "{run:?}"
    );
    // Without it everything is as before.
    std::fs::remove_file(project.path(".git/index")).unwrap();
    project.must(&["detect"]);
}

/// No system call takes a path of that length; the project is found from where the agent started.
#[test]
fn a_working_directory_beyond_the_longest_path_keeps_nobody() {
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    let mut deep = project.root().to_owned();
    while deep.as_os_str().len() <= 5000 {
        deep.push("d".repeat(200));
    }
    let event = |command: &str| bash(command).in_session("s").in_directory(&deep);
    let why = project.hook(&event("cd - ; git commit -m x"));
    assert_eq!(why.code, 0, "{why:?}");
    let root = project.root().to_str().unwrap().to_owned();
    let commit = format!("git -C '{root}' commit -m x");
    let why = project.hook(&event(&commit)).denies();
    assert!(why.starts_with("COMMIT TO MAIN"), "{why}");
    project.hook(&event("ls")).says_nothing();
}

/// A few lines of YAML that are a billion values when their aliases are written out.
fn bomb() -> String {
    let line = |n: usize| {
        let value = n
            .checked_sub(1)
            .map_or("x".to_owned(), |below| format!("*a{below}"));
        format!("a{n}: &a{n} [{}]\n", vec![value; 10].join(", "))
    };
    (0..10).map(line).collect()
}

#[test]
fn a_few_aliases_that_are_a_billion_values_are_refused_at_once() {
    let project = TestProject::empty().on_branch("main").with_gates(
        ".gauntlet",
        &[("t", &format!("{}command: *a9\n", bomb()))],
        &bomb(),
    );
    let begun = Instant::now();
    for args in ASKING {
        project.tollgate(args);
    }
    let run = project.tollgate(&["validate"]).exits(1);
    assert!(run.stderr.contains("too many values"), "{run:?}");
    // Nobody has trusted the project yet.
    let args = ["hook", "--require-trust"];
    for name in ["SessionStart", "UserPromptSubmit"] {
        let event = named(name).in_session("s").to_string();
        assert_eq!(project.run(&args, event.as_bytes()).code, 0);
    }
    let event = crate::events::stop().in_session("s").to_string();
    project.run(&args, event.as_bytes()).says("NOT verified");
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
}

#[test]
fn aliases_that_are_few_values_are_written_out() {
    let config = "x-paths: &paths [src]\nbase_branch: main\nentry_points:\n  - path: src\n    checks: &names [t]\n  - path: .\n    checks: *names\n";
    let project = TestProject::empty().on_branch("main").with_gates(
        ".gauntlet",
        &[("t", "command: 'true'\n")],
        "",
    );
    project.file(".gauntlet/config.yml", config);
    let run = project.tollgate(&["validate"]);
    assert!(!run.stderr.contains("too many values"), "{run:?}");
}

/// A state of this many phases, in each place that has one entry for each.
fn crowded(phases: usize) -> TestProject {
    let keys: Vec<String> = (0..phases).map(|n| format!("p{n}")).collect();
    let all = |value: &str| -> serde_json::Map<String, serde_json::Value> {
        let entries = keys.iter().map(|key| (key.clone(), value.into()));
        entries.collect()
    };
    TestProject::new()
        .with_repository()
        .state(&serde_json::json!({
            "state_version": 4,
            "active_workflow": {
                "type": "feature", "current_phase": "p1", "current_phase_index": 1,
                "phases": keys, "phase_status": all("pending"),
            },
        }))
}

/// Comparing each phase with all others would take hours.
#[test]
fn a_state_with_more_phases_than_anybody_can_mean_is_refused_at_once() {
    let project = crowded(20_000);
    let begun = Instant::now();
    let run = project.tollgate(&["workflow", "audit"]).exits(1);
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(said.contains("20000 entries"), "{said}");
    project.tollgate(&["doctor"]).says("20000 entries");
    project.must(&["status"]);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
    // One with many is audited.
    let run = crowded(300).tollgate(&["workflow", "audit"]).exits(1);
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(!said.contains("nothing else was audited"), "{said}");
    assert!(said.contains("AC-"), "{said}");
}

/// Beyond the largest file that is read, nothing is.
#[test]
fn a_million_phases_are_more_than_is_read() {
    let project = crowded(1_000_000);
    let begun = Instant::now();
    for args in [
        &["workflow", "audit"][..],
        &["doctor"],
        &["status"],
        &["statusline"],
    ] {
        project.tollgate(args).does_not_say("panicked");
    }
    project.tollgate(&["workflow", "audit"]).says("larger than");
    project.hook(&bash("ls").in_session("s"));
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
}
