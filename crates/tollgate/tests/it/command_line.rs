//! The options that every command has, and what describes the command line to other programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::project::{TOLLGATE, TestProject, put};

#[test]
fn completions_for_every_shell_know_commands_and_options() {
    let project = TestProject::empty();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = project.must(&["completions", shell]);
        for word in ["init", "statusline", "dry-run"] {
            assert!(ran.stdout.contains(word), "{shell}: {word}");
        }
        assert!(!ran.stdout.contains("__demo-review()"), "{shell}");
        assert_eq!(ran.stderr, "", "{shell}");
    }
}

/// bash itself reads what is made for it.
#[test]
fn bash_completes_a_command() {
    let project = TestProject::empty();
    let text = project.must(&["completions", "bash"]).stdout;
    project.file("tollgate.bash", text);
    let script = r#". ./tollgate.bash
        COMP_WORDS=(tollgate sta); COMP_CWORD=1
        _tollgate tollgate sta tollgate
        printf '%s\n' "${COMPREPLY[@]}""#;
    let mut bash = Command::new("bash");
    let output = bash
        .args(["-c", script])
        .current_dir(project.root())
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "status\nstatusline\nstate\n"
    );
}

#[test]
fn man_prints_the_page_and_writes_all_pages() {
    let project = TestProject::empty();
    let page = project.must(&["man"]).stdout;
    assert!(page.contains(".TH tollgate 1"), "{page}");
    assert_eq!(project.must(&["man", "share/man1"]).stdout, "");
    assert_eq!(project.read("share/man1/tollgate.1"), page);
    for name in ["tollgate-run.1", "tollgate-phase-complete.1"] {
        assert!(project.exists(&format!("share/man1/{name}")), "{name}");
    }
    assert!(!project.exists("share/man1/tollgate-__demo-review.1"));
    let wrong = project.tollgate(&["man", "share/man1/tollgate.1"]);
    assert_eq!(wrong.code, 2, "{wrong:?}");
}

#[test]
fn a_command_runs_in_the_directory_that_is_named() {
    let project = TestProject::empty().with_repository();
    project.file("inner/tollgate.toml", "[gates.test]\nrun = \"true\"\n");
    for words in [["-C", "inner", "list"], ["list", "-C", "inner"]] {
        let listed = project.must(&words);
        assert!(listed.stdout.contains("test  true"), "{words:?} {listed:?}");
    }
    let outer = project.tollgate(&["list"]);
    assert_ne!(outer.code, 0, "{outer:?}");
    let nowhere = project.tollgate(&["-C", "nowhere", "status"]);
    assert_eq!(
        (nowhere.code, nowhere.stdout.as_str()),
        (2, ""),
        "{nowhere:?}"
    );
    assert!(
        nowhere.stderr.contains("nowhere: No such file"),
        "{nowhere:?}"
    );
}

/// Options before `hook` do not keep it from deciding.
#[test]
fn a_hook_decides_in_the_directory_that_is_named() {
    let project = TestProject::empty().on_branch("main");
    project.file(
        "inner/tollgate.toml",
        "[[rule]]\nid = \"no-rm\"\ndeny = { run = [\"rm\"] }\n",
    );
    let event = serde_json::json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
        "tool_input": { "command": "rm x" }, "cwd": project.path("inner"),
    });
    let words = ["-C", "inner", "hook", "--deadline", "8s"];
    let ran = crate::project::run(project.command(&words), event.to_string().as_bytes());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("no-rm"), "{ran:?}");
}

#[test]
fn colours_are_used_when_they_are_asked_for() {
    let project = TestProject::empty();
    assert!(!project.must(&["guards"]).stdout.contains('\x1b'));
    assert!(
        !project
            .must(&["--color", "never", "guards"])
            .stdout
            .contains('\x1b')
    );
    assert!(
        project
            .must(&["guards", "--color", "always"])
            .stdout
            .contains('\x1b')
    );
    assert!(
        project
            .must(&["--color", "always", "--help"])
            .stdout
            .contains('\x1b')
    );
}

/// The script that finds the commit, compiled as Cargo would.
fn build_script(project: &TestProject) -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("build.rs");
    let program = project.path("build-script");
    let mut compiler = Command::new("rustc");
    compiler
        .args(["--edition", "2024", "-o"])
        .arg(&program)
        .arg(script);
    let status = compiler.env("CARGO_PKG_VERSION", "1.2.3").status().unwrap();
    assert!(status.success());
    program
}

/// What a build in this directory calls the version.
fn version_of(script: &Path, directory: &Path, more: &[(&str, &str)]) -> String {
    let mut command = Command::new(script);
    command.current_dir(directory).env_clear();
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command
        .env("CARGO_MANIFEST_DIR", directory)
        .env("PROFILE", "release");
    let output = command.envs(more.iter().copied()).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let version = text
        .lines()
        .find_map(|line| line.strip_prefix("cargo::rustc-env=TOLLGATE_VERSION="));
    version.unwrap().to_owned()
}

#[test]
fn the_version_names_its_commit_where_there_is_one() {
    let project = TestProject::empty();
    let script = build_script(&project);
    let commit = "0123456789abcdef0123456789abcdef01234567";
    // A directory with neither git nor an archive's file.
    std::fs::create_dir(project.path("plain")).unwrap();
    let plain = project.path("plain");
    assert_eq!(version_of(&script, &plain, &[]), "1.2.3");
    assert_eq!(version_of(&script, &plain, &[("PATH", "")]), "1.2.3");
    let given = version_of(&script, &plain, &[("TOLLGATE_COMMIT", commit)]);
    assert_eq!(given, "1.2.3 (0123456789)");
    assert_eq!(
        version_of(&script, &plain, &[("TOLLGATE_COMMIT", "x y")]),
        "1.2.3"
    );
    // A crate's archive.
    let info = format!("{{\n  \"git\": {{\n    \"sha1\": \"{commit}\"\n  }}\n}}\n");
    project.file("archive/.cargo_vcs_info.json", info);
    let archive = project.path("archive");
    assert_eq!(
        version_of(&script, &archive, &[("PATH", "")]),
        "1.2.3 (0123456789)"
    );
    // A checkout of Tollgate, and an archive without its file inside of another repository.
    let project = project.on_branch("main");
    project.file("crates/tollgate/Cargo.toml", "");
    let head = project.git(&["rev-parse", "HEAD"]);
    let inside = version_of(&script, &project.path("crates/tollgate"), &[]);
    assert_eq!(inside, format!("1.2.3 ({})", head.get(..10).unwrap()));
    assert_eq!(version_of(&script, &plain, &[]), "1.2.3");
    let debug = [("PROFILE", "debug")];
    assert_eq!(
        version_of(&script, &project.path("crates/tollgate"), &debug),
        "1.2.3"
    );
    let said = project.must(&["--version"]).stdout;
    let own = concat!("tollgate ", env!("CARGO_PKG_VERSION"));
    assert!(said.trim_end().starts_with(own), "{said}");
}

/// A package leaves a line about itself beside the program; cargo leaves its own list.
#[test]
fn the_version_says_how_the_program_was_installed() {
    let project = TestProject::empty();
    let prefix = project.path("a prefix");
    let program = project.file("a prefix/bin/tollgate", "");
    std::fs::copy(TOLLGATE, &program).unwrap();
    let said = |option: &str| {
        let output = Command::new(&program).arg(option).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    assert_eq!(said("-V").lines().count(), 1);
    assert!(said("--version").contains("\ninstalled by no package\n"));
    put(&prefix.join(".crates.toml"), "");
    assert!(
        said("--version").contains("\ninstalled by cargo; update with `cargo install tollgate`\n")
    );
    let line = "npm; update with `npm install tollgate@latest`";
    put(
        &prefix.join("share/tollgate/installed-by"),
        format!("{line}\n"),
    );
    let expected = format!("\ninstalled by {line}\nat {}\n", program.display());
    assert!(
        said("--version").ends_with(&expected),
        "{}",
        said("--version")
    );
}

#[test]
fn a_code_and_a_guard_are_explained_by_their_names() {
    let project = TestProject::empty();
    let code = project.must(&["explain", "BG-001"]).stdout;
    for said in [
        "would commit to main",
        "tollgate allow BG-001 --once",
        "tollgate guards branch-guard",
    ] {
        assert!(code.contains(said), "{said}: {code}");
    }
    let guard = project.must(&["guards", "branch-guard"]).stdout;
    assert!(
        guard.contains("BG-001") && guard.contains("BG-003"),
        "{guard}"
    );
    assert!(!guard.contains("PG-001"), "{guard}");
    let typo = project.tollgate(&["guards", "branch-gaurd"]);
    assert_eq!(typo.code, 2, "{typo:?}");
    assert!(typo.stderr.contains("branch-guard"), "{typo:?}");
}

#[test]
fn the_bare_program_shows_the_status_and_the_next_step() {
    let project = TestProject::empty().with_repository();
    let (screen, code) = project.terminal(&[]).ends();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("tollgate init"), "{screen}");
    project.file("tollgate.toml", "[gates.test]\nrun = \"true\"\n");
    let (screen, _) = project.terminal(&[]).ends();
    assert!(
        screen.contains("never ran") && screen.contains("tollgate"),
        "{screen}"
    );
}
