//! Commands as agents and people write them (`practice.jsonl`), with what each really does: bash runs
//! it in a scratch repository, and git's reflog and the state file say what came of it.
//!
//! `scripts/label-corpus` writes the labels; the test here runs a share of the rows again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::events::bash;
use crate::project::{TestProject, put, with_branch};

const CORPUS: &str = include_str!("../corpus/practice.jsonl");

/// `all` runs every row, `label` those without a label, and writes what came of it into the corpus.
const ORDER: &str = "TOLLGATE_CORPUS";
/// Without an order every row of this remainder is run.
const SHARE: usize = 16;
/// Some rows wait for what does not come.
const SECONDS: &str = "20";

/// What would lead out of the machine, or is there on some machines only. None of it runs here.
const ABSENT: &str = "cargo claude code codex curl docker fd gh hg hub jj just kubectl npm npx open \
    parallel podman pre-commit psql rg rsync screen sqlite3 ssh strace sudo svn tmux tree vagrant \
    watch zip";

/// Programs that rows need and that a machine may not have.
const NEEDED: &[&str] = &["python3", "node", "perl", "jq", "script", "make"];

/// One command and what it does.
#[derive(Clone)]
struct Row {
    fields: Value,
    command: String,
    does: Effect,
    /// Why the text is allowed to be wrong about it.
    exception: Option<String>,
}

/// What the guards are asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Effect {
    /// `git commit` moved main.
    commits: bool,
    /// The state file is another one, or gone.
    writes_state: bool,
}

fn rows() -> Vec<Row> {
    let fields = CORPUS
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let row = |fields: Value| Row {
        command: fields["command"].as_str().unwrap().to_owned(),
        does: Effect {
            commits: fields["commits"] == json!(true),
            writes_state: fields["writes_state"] == json!(true),
        },
        exception: fields["exception"].as_str().map(str::to_owned),
        fields,
    };
    fields.map(row).collect()
}

/// A repository on main with something staged, a running workflow, branches, aliases and a remote;
/// beside it a linked work tree and another repository.
fn scratch() -> TestProject {
    let project = TestProject::named("repo").state(&with_branch("active"));
    let project = project.on_branch("main");
    for branch in ["topic", "feature/x", "wt"] {
        project.git(&["branch", branch]);
    }
    project.git(&["tag", "v0"]);
    project.git(&["config", "alias.ci", "commit"]);
    project.git(&["config", "alias.lg", "log --oneline"]);
    project.git(&["worktree", "add", "-q", "../wt", "wt"]);
    project.git(&["init", "-q", "-b", "main", "../other"]);
    project.git(&[
        "-C",
        "../other",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "one",
    ]);
    project.git(&["init", "-q", "--bare", "-b", "main", "../remote.git"]);
    project.git(&["remote", "add", "origin", "../remote.git"]);
    project.git(&["push", "-q", "-u", "origin", "main"]);
    project.git(&["push", "-q", "origin", "topic:remote-topic"]);
    project.git(&["fetch", "-q", "origin"]);
    for name in ABSENT.split_whitespace() {
        let path = put(&project.programs().join(name), "#!/bin/sh\nexit 127\n");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(path, mode).unwrap();
    }
    // Git's samples would be copied for every row.
    for repository in ["repo/.git", "other/.git", "remote.git"] {
        let beside = project.root().parent().unwrap().join(repository);
        std::fs::remove_dir_all(beside.join("hooks")).unwrap();
    }
    project.file("sub/file.txt", "");
    project.file("a.txt", "a\n");
    project.git(&["add", "a.txt"]);
    project
}

/// A copy of the scratch repository and what lies beside it.
struct Copy {
    dir: tempfile::TempDir,
    /// Where the programs are that count as absent.
    absent: PathBuf,
}

impl Copy {
    fn of(project: &TestProject) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let from = project.root().parent().unwrap();
        let parts = ["repo", "wt", "other", "remote.git"].map(|name| from.join(name));
        let copied = Command::new("cp")
            .arg("-a")
            .args(parts)
            .arg(dir.path())
            .status();
        assert!(copied.unwrap().success());
        // A linked work tree and its repository name each other by their paths.
        let root = dir.path().to_str().unwrap();
        put(
            &dir.path().join("wt/.git"),
            format!("gitdir: {root}/repo/.git/worktrees/wt\n"),
        );
        put(
            &dir.path().join("repo/.git/worktrees/wt/gitdir"),
            format!("{root}/wt/.git\n"),
        );
        put(
            &dir.path().join("home/.gitconfig"),
            "[user]\n\tname = Test\n\temail = test@example.org\n",
        );
        std::fs::create_dir(dir.path().join("tmp")).unwrap();
        let absent = project.programs();
        Self { dir, absent }
    }

    fn repo(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    /// Commits on main, by its reflog: a merge or a reset is none.
    fn commits(&self) -> usize {
        let log = self.repo().join(".git/logs/refs/heads/main");
        let text = std::fs::read_to_string(log).unwrap_or_default();
        let message = |line: &str| {
            line.split_once('\t')
                .map(|(_, message)| message.starts_with("commit"))
        };
        text.lines()
            .filter_map(message)
            .filter(|commit| *commit)
            .count()
    }

    fn state(&self) -> Option<Vec<u8>> {
        std::fs::read(self.repo().join(".isdlc/state.json")).ok()
    }

    /// Runs a command here and says what came of it.
    fn run(&self, command: &str) -> Effect {
        let (commits, state) = (self.commits(), self.state());
        let path = |name: &str| self.dir.path().join(name).to_str().unwrap().to_owned();
        let status = Command::new("timeout")
            .args(["-k", "1", SECONDS, "bash", "-c", command])
            .current_dir(self.repo())
            .env_clear()
            .env(
                "PATH",
                format!("{}:/usr/local/bin:/usr/bin:/bin", self.absent.display()),
            )
            .env("HOME", path("home"))
            .env("TMPDIR", path("tmp"))
            .env("USER", "me")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_EDITOR", "true")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let _any = status.unwrap();
        // What was left in the background has a moment to end.
        if command.contains('&') && command.trim_end().ends_with('&') {
            std::thread::sleep(std::time::Duration::from_millis(500));
        }
        Effect {
            commits: self.commits() > commits,
            writes_state: self.state() != state,
        }
    }
}

fn is_there(program: &str) -> bool {
    let asked = Command::new("sh")
        .args(["-c", &format!("command -v {program} >/dev/null")])
        .status();
    asked.unwrap().success()
}

/// What bash makes of each row, in order; nothing where a program is missing.
fn found(rows: &[Row]) -> Vec<Option<Effect>> {
    let project = scratch();
    let missing: Vec<&str> = NEEDED
        .iter()
        .copied()
        .filter(|program| !is_there(program))
        .collect();
    let found = Mutex::new(BTreeMap::new());
    let left = Mutex::new(rows.iter().enumerate());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((at, row)) = { left.lock().unwrap().next() } {
                    let runs = !missing.iter().any(|program| row.command.contains(program));
                    let effect = runs.then(|| Copy::of(&project).run(&row.command));
                    found.lock().unwrap().insert(at, effect);
                }
            });
        }
    });
    found.into_inner().unwrap().into_values().collect()
}

/// The labels are what bash does, of a share of the rows or of all.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the order is for this test alone"
)]
fn labels_are_what_bash_does() {
    let order = std::env::var(ORDER).unwrap_or_default();
    let all = rows();
    if order == "label" {
        return label(all);
    }
    let turn = std::process::id() as usize % SHARE;
    let share = all.iter().enumerate();
    let share = share.filter(|(at, _)| order == "all" || at % SHARE == turn);
    let share: Vec<Row> = share.map(|(_, row)| row.clone()).collect();
    let found = found(&share);
    let ran = found.iter().flatten().count();
    let pairs = share.iter().zip(&found);
    let wrong = pairs.filter_map(|(row, found)| {
        let found = (*found)?;
        (found != row.does).then(|| format!("{found:?}, not {:?}: {}", row.does, row.command))
    });
    let wrong: Vec<String> = wrong.collect();
    println!(
        "{ran} of {} rows run by bash, {} labels wrong",
        all.len(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Writes down what bash makes of the rows that have no label.
fn label(mut rows: Vec<Row>) {
    let is_new = |row: &&mut Row| row.fields["commits"].is_null();
    let new: Vec<&mut Row> = rows.iter_mut().filter(is_new).collect();
    let commands: Vec<Row> = new.iter().map(|row| (**row).clone()).collect();
    for (row, found) in new.into_iter().zip(found(&commands)) {
        let does = found.expect("a program that the row needs");
        row.fields["commits"] = json!(does.commits);
        row.fields["writes_state"] = json!(does.writes_state);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/practice.jsonl");
    let lines = rows.iter().map(|row| format!("{}\n", row.fields));
    put(&path, lines.collect::<String>());
}

/// What the text alone decides, through the hook. At most 2 % are missed, at most 1 % are false
/// alarms, and each of them says why.
#[test]
fn text_decides_as_bash_does() {
    let project = scratch();
    let rows = rows();
    let mut lines = Vec::new();
    let (mut acting, mut missed, mut alarms) = (0, 0, 0);
    let mut wrong = Vec::new();
    for row in &rows {
        let run = project.hook(&bash(&row.command));
        assert_eq!(run.code, 0, "{} {run:?}", row.command);
        let acts = row.does.commits || row.does.writes_state;
        let blocked = !run.stdout.is_empty();
        acting += usize::from(acts);
        missed += usize::from(acts && !blocked);
        alarms += usize::from(!acts && blocked);
        let kind = match (acts, blocked) {
            (true, false) => "missed",
            (false, true) => "false alarm",
            _ => "right",
        };
        match (&row.exception, kind) {
            (None, "right") => {}
            (Some(reason), "missed" | "false alarm") => {
                lines.push(format!("{kind}: {}\n    {reason}", row.command));
            }
            (Some(_), _) => wrong.push(format!("no exception any more: {}", row.command)),
            (None, kind) => wrong.push(format!("{kind}: {}", row.command)),
        }
    }
    let idle = rows.len() - acting;
    // What else git's side stops, `install::git_side_corpus` runs.
    let unexplained = rows
        .iter()
        .filter(|row| row.does.commits && is_missed_by_both(row));
    wrong.extend(unexplained.map(|row| format!("missed by both: {}", row.command)));
    println!(
        "{} rows: {missed} of {acting} missed by the text, {alarms} of {idle} false alarms\n{}",
        rows.len(),
        lines.join("\n")
    );
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(rows.len() >= 600, "only {} rows", rows.len());
    assert!(missed * 100 <= acting * 2, "{missed} of {acting} missed");
    assert!(alarms * 100 <= idle, "{alarms} of {idle} false alarms");
}

/// Whether an exception is a commit that the guard on git's side is not tried with.
fn is_missed_by_both(row: &Row) -> bool {
    let exception = row.exception.as_deref();
    exception.is_some_and(|reason| !reason.contains("[unseen]"))
}
