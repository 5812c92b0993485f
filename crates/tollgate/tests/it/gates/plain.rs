//! In a plain repository git is not started to see what changed; wherever something is not plain,
//! it is. Either way the tree that a pass is bound to is git's own.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::{Gates, OK};
use crate::context::{git, write};

const EVERYWHERE: &str = "base_branch: main\nentry_points:\n  - path: .\n    checks: [ok]\n";

/// Who was asked what changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Git,
    Nobody,
}

/// A project in which git leaves a mark whenever it writes an index.
fn marked() -> Gates {
    let gates = Gates::raw(&[OK], EVERYWHERE);
    let hook = gates.file(
        ".git/hooks/post-index-change",
        "#!/bin/sh\n: > \"$(git rev-parse --git-common-dir)/asked\"\n",
    );
    std::fs::set_permissions(hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    gates
}

/// The tree that git itself makes of the work tree, under the settings of the gates.
fn tree_by_git(gates: &Gates, top: &Path) -> String {
    let place = tempfile::tempdir().unwrap();
    let index = place.path().join("index");
    let own = git(
        top,
        &["rev-parse", "--path-format=absolute", "--git-path", "index"],
    );
    std::fs::copy(own.trim(), &index).unwrap();
    let ask = |args: &[&str]| {
        let command = gates.command(&[]);
        let mut asked = std::process::Command::new("git");
        asked
            .args(args)
            .current_dir(top)
            .env("GIT_INDEX_FILE", &index);
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                asked.env(name, value);
            }
        }
        let output = asked.output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    ask(&[
        "add",
        "-A",
        "--ignore-errors",
        "--",
        ":/",
        ":(top,exclude)gauntlet_logs",
    ]);
    ask(&["write-tree"])
}

/// Runs the gates. The tree that the pass was seen on must be git's own, and in the repository.
#[track_caller]
fn holds(gates: &Gates, asked: Asked) {
    holds_in(gates, gates.project.root(), asked);
}

#[track_caller]
fn holds_in(gates: &Gates, top: &Path, asked: Asked) {
    let mark = gates.path(".git/asked");
    let _none = std::fs::remove_file(&mark);
    let expected = tree_by_git(gates, top);
    let _none = std::fs::remove_file(&mark);
    let mut command = gates.command(&["run"]);
    command.current_dir(top);
    crate::context::run(command, b"").exits(0);
    let was_asked = if mark.exists() {
        Asked::Git
    } else {
        Asked::Nobody
    };
    let record = std::fs::read_to_string(top.join(".tollgate/local/gates.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    let tree = record["last"]["tree"]
        .as_str()
        .unwrap_or_else(|| panic!("{record}"));
    assert_eq!(tree, expected, "{was_asked:?}");
    assert_eq!(was_asked, asked);
    git(top, &["ls-tree", "-r", tree]);
}

/// Of many checks, what is read for the configuration is not read again for the tree: whatever
/// they are, and whether the index knows them or not.
#[test]
fn the_files_of_many_checks_are_in_the_tree_as_they_are() {
    let gates = marked();
    for number in 0..40 {
        gates.check(&format!("c{number}"), "command: \"true\"");
    }
    let check = |name: &str| gates.path(&format!(".gauntlet/checks/{name}.yml"));
    holds(&gates, Asked::Nobody);
    gates.commit("many");
    // As long as before, and within the second in which the index was written.
    gates.check("c1", "command: \"echo\"");
    gates.check("c2", "\u{feff}command: \"true\" # äö");
    let program = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(check("c3"), program).unwrap();
    std::fs::remove_file(check("c4")).unwrap();
    gates.file("elsewhere.yml", "command: \"true\"");
    symlink("../../elsewhere.yml", check("c4")).unwrap();
    std::fs::remove_file(check("c5")).unwrap();
    gates.check("new", "command: \"true\"");
    // Read for the configuration as well, but not one of its checks.
    gates.file(".gauntlet/help/c6.yml", "help");
    gates.check("c6", "command: \"true\"\nfix_instructions: help/c6.yml");
    holds(&gates, Asked::Nobody);
    gates.commit("changed");
    holds(&gates, Asked::Nobody);
}

#[test]
fn a_plain_repository_is_seen_without_git() {
    let gates = marked();
    gates.file("src/ü \n", "1");
    gates.file("src/.gitignore", "*.o\n!keep.o\n");
    gates.file("src/a.o", "1");
    gates.file("src/keep.o", "1");
    symlink("a.txt", gates.path("src/link")).unwrap();
    let program = gates.file("src/program", "#!/bin/sh\n");
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
    holds(&gates, Asked::Nobody);
    // With what is in the repository by now, and in the index.
    gates.commit("work");
    gates.file("src/a.txt", "other\n");
    gates.git(&["rm", "-q", "src/link"]);
    holds(&gates, Asked::Nobody);
    gates.git(&["gc", "-q"]);
    gates.file("src/c.txt", "c\n");
    holds(&gates, Asked::Nobody);
    assert_eq!(gates.git(&["fsck", "--strict", "--no-dangling"]).trim(), "");
}

#[test]
fn a_linked_work_tree_is_seen_without_git() {
    let gates = marked();
    let place = tempfile::tempdir().unwrap();
    let tree = place.path().canonicalize().unwrap().join("tree");
    gates.git(&["worktree", "add", "-q", tree.to_str().unwrap()]);
    write(&tree.join("new"), "1");
    holds_in(&gates, &tree, Asked::Nobody);
}

#[test]
fn a_project_in_a_directory_of_a_repository_is_seen_without_git() {
    let gates = marked();
    let config = gates.read(".gauntlet/config.yml");
    gates.file("app/.gauntlet/config.yml", &config);
    gates.file("app/.gauntlet/checks/ok.yml", OK.1);
    gates.commit("app");
    gates.git(&["branch", "-f", "main"]);
    gates.file("app/new", "1");
    gates.file("beside", "1");
    let app = gates.path("app").canonicalize().unwrap();
    let expected = tree_by_git(&gates, gates.project.root());
    std::fs::remove_file(gates.path(".git/asked")).unwrap();
    let mut command = gates.command(&["run", "--json"]);
    command.current_dir(&app);
    let run = crate::context::run(command, b"").exits(0);
    let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["changed_files"], 1, "{answer}");
    assert!(!gates.exists(".git/asked"));
    let record = gates.read("app/.tollgate/local/gates.json");
    assert!(record.contains(&expected), "{expected} {record}");
}

#[test]
fn the_index_and_the_files_stay_as_they_are() {
    let gates = marked();
    gates.file("src/staged", "1");
    gates.git(&["add", "src/staged"]);
    gates.file("src/staged", "2");
    let look = || {
        [".git/index", "src/staged", "src/b.txt"].map(|name| {
            let path = gates.path(name);
            (
                std::fs::read(&path).unwrap(),
                path.metadata().unwrap().modified().unwrap(),
            )
        })
    };
    let before = look();
    std::fs::remove_file(gates.path(".git/asked")).unwrap();
    gates.tollgate(&["run"]).exits(0);
    assert_eq!(look(), before);
    assert!(!gates.exists(".git/asked"));
}

/// Each of these has git see something else than the bytes of the files that are there.
#[test]
fn settings_that_change_what_git_sees_are_left_to_git() {
    type Setup = fn(&Gates);
    let cases: [(&str, Setup); 16] = [
        ("line ends", |gates| {
            gates.git(&["config", "core.autocrlf", "input"]);
            gates.file("src/crlf", "1\r\n2\r\n");
        }),
        ("attributes", |gates| {
            gates.file(".gitattributes", "*.txt text eol=lf\n");
            gates.file("src/crlf.txt", "1\r\n2\r\n");
        }),
        ("attributes that were deleted", |gates| {
            gates.file(".gitattributes", "*.txt text eol=lf\n");
            gates.git(&["add", ".gitattributes"]);
            std::fs::remove_file(gates.path(".gitattributes")).unwrap();
            gates.file("src/crlf.txt", "1\r\n2\r\n");
        }),
        ("attributes of the repository, with a filter", |gates| {
            gates.git(&["config", "filter.up.clean", "tr a-z A-Z"]);
            gates.file(".git/info/attributes", "*.txt filter=up\n");
        }),
        ("rights", |gates| {
            gates.git(&["config", "core.fileMode", "false"]);
            let path = gates.path("src/a.txt");
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }),
        ("capitals", |gates| {
            gates.git(&["config", "core.ignoreCase", "true"]);
            gates.file(".gitignore", "SRC/B.TXT\n");
        }),
        ("settings in another file", |gates| {
            gates.file(".git/more", "[core]\n\tautocrlf = input\n");
            gates.git(&["config", "include.path", "more"]);
            gates.file("src/crlf", "1\r\n2\r\n");
        }),
        ("a value over two lines", |gates| {
            let config = gates.read(".git/config");
            gates.file(".git/config", &format!("{config}\tautocrlf = in\\\nput\n"));
            gates.file("src/crlf", "1\r\n2\r\n");
        }),
        ("files that git was told not to look at", |gates| {
            gates.git(&["update-index", "--skip-worktree", "src/a.txt"]);
        }),
        ("files that git takes for unchanged", |gates| {
            gates.git(&["update-index", "--assume-unchanged", "src/a.txt"]);
        }),
        ("an index of another version", |gates| {
            gates.git(&["update-index", "--index-version", "4"]);
        }),
        ("an index in two files", |gates| {
            gates.git(&["update-index", "--split-index"]);
        }),
        ("files that are announced", |gates| {
            gates.git(&["add", "-N", "src/b.txt"]);
        }),
        ("another repository", |gates| {
            git(gates.project.root(), &["init", "-q", "src/inner"]);
            gates.file("src/inner/file", "1");
            git(&gates.path("src/inner"), &["add", "-A"]);
            git(&gates.path("src/inner"), &["commit", "-q", "-m", "x"]);
        }),
        ("rules behind a link", |gates| {
            gates.file("rules", "b.txt\n");
            symlink("../rules", gates.path("src/.gitignore")).unwrap();
        }),
        ("a pipe in the place of a file", |gates| {
            std::fs::remove_file(gates.path("src/a.txt")).unwrap();
            crate::context::pipe(&gates.path("src/a.txt"));
        }),
    ];
    for (name, setup) in cases {
        let gates = marked();
        setup(&gates);
        println!("{name}");
        holds(&gates, Asked::Git);
    }
}

#[test]
fn a_name_that_others_take_for_gits_own_is_left_to_git() {
    let gates = marked();
    gates.file("src/git~1", "1");
    gates.file("src/.GIT/x", "1");
    holds(&gates, Asked::Git);
}

#[test]
fn tracked_files_in_the_log_directory_are_left_to_git() {
    let gates = marked();
    gates.file("gauntlet_logs/kept", "1");
    gates.git(&["add", "-f", "gauntlet_logs/kept"]);
    gates.git(&["commit", "-q", "-m", "logs"]);
    holds(&gates, Asked::Git);
}

#[test]
fn the_settings_of_the_person_and_of_the_environment_count() {
    let gates = marked();
    gates.file("src/crlf", "1\r\n2\r\n");
    let settings = tempfile::tempdir().unwrap();
    let file = settings.path().join("config");
    let run = |variables: &[(&str, &str)]| {
        let _none = std::fs::remove_file(gates.path(".git/asked"));
        let mut command = gates.command(&["run"]);
        command.envs(variables.iter().copied());
        crate::context::run(command, b"").exits(0);
        if gates.exists(".git/asked") {
            Asked::Git
        } else {
            Asked::Nobody
        }
    };
    let global = [("GIT_CONFIG_GLOBAL", file.to_str().unwrap())];
    write(
        &file,
        "[user]\n\tname = x\n[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n",
    );
    assert_eq!(run(&global), Asked::Nobody);
    write(&file, "[core]\n\tautocrlf = true\n");
    assert_eq!(run(&global), Asked::Git);
    write(&file, "[never]\n\theard = of it\n");
    assert_eq!(run(&global), Asked::Git);
    let counted = [
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "core.autocrlf"),
        ("GIT_CONFIG_VALUE_0", "input"),
    ];
    assert_eq!(run(&counted), Asked::Git);
    assert_eq!(run(&[("GIT_AUTHOR_NAME", "x")]), Asked::Nobody);
    // A program in git's place has settings of its own.
    let script =
        "#!/bin/sh\nPATH=/usr/local/bin:/usr/bin:/bin exec git -c core.autocrlf=input \"$@\"\n";
    let program = settings.path().join("git");
    write(&program, script);
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let search = format!("{}:/usr/local/bin:/usr/bin:/bin", settings.path().display());
    assert_eq!(run(&[("PATH", &search)]), Asked::Git);
}

/// So many files that they are looked through while the configuration is read.
fn many_files(gates: &Gates) {
    for number in 0..200 {
        gates.file(&format!("src/with a rather long name/{number}.txt"), "1\n");
    }
    gates.git(&["add", "-A"]);
    let index = gates.path(".git/index").metadata().unwrap();
    assert!(index.len() > 16 << 10, "{}", index.len());
}

#[test]
fn many_files_are_seen_as_few_are() {
    let gates = marked();
    many_files(&gates);
    gates.file("src/with a rather long name/7.txt", "more\n");
    holds(&gates, Asked::Nobody);
    gates.tollgate(&["run"]).exits(0).says("No changes");
    gates.file("src/with a rather long name/new", "2\n");
    holds(&gates, Asked::Nobody);
    gates.file(".gitattributes", "* text=auto\n");
    holds(&gates, Asked::Git);
}

#[test]
fn logs_at_another_place_are_no_work_where_there_are_many_files() {
    let gates = Gates::raw(&[OK], &format!("log_dir: out/logs\n{EVERYWHERE}"));
    many_files(&gates);
    // Where they would be by default is a directory like any other.
    gates.file("gauntlet_logs/a", "1\n");
    gates.tollgate(&["run"]).exits(0).says("[PASS]");
    gates.file("out/logs/b", "1\n");
    gates.tollgate(&["run"]).exits(0).says("No changes");
    gates.file("gauntlet_logs/a", "2\n");
    gates.tollgate(&["run"]).exits(0).says("[PASS]");
}
