//! What agents do all day is not in the way of the packs that `init` proposes, and a month of it is
//! tried in seconds.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::ruled;
use crate::project::TestProject;

const PRACTICE: &str = include_str!("../../corpus/practice.jsonl");

/// Without an order a share is tried: the whole takes a minute without optimisation.
const ORDER: &str = "TOLLGATE_BENIGN";
const SHARE: usize = 6_000;
const ALL: usize = 50_000;

/// Command lines as people and agents write them; each `{}` is filled from the lists below.
const SHAPES: &[&str] = &[
    "ls -la {p}",
    "cat {f}",
    "sed -n '1,80p' {f}",
    "grep -rn \"{w}\" {p}",
    "rg {w} {p} --type rust",
    "git status",
    "git status --short",
    "git diff {f}",
    "git diff --stat",
    "git log --oneline -20",
    "git add {f}",
    "git add -A && git commit -m \"{w}: fix {w}\"",
    "git checkout -b {b}",
    "git switch {b}",
    "git push origin {b}",
    "git push -u origin {b}",
    "git pull --rebase",
    "git fetch --all",
    "git stash",
    "git stash pop",
    "git show HEAD:{f}",
    "git rebase main",
    "git merge {b}",
    "git branch -d {b}",
    "git restore {f}",
    "git reset HEAD {f}",
    "git commit --amend --no-edit",
    "git rev-parse HEAD",
    "npm ci",
    "npm install {w}",
    "npm run build",
    "npm test -- {f}",
    "npx tsc --noEmit",
    "yarn build",
    "pnpm install",
    "pnpm -r test",
    "cargo build",
    "cargo test {w}",
    "cargo fmt",
    "cargo clippy --all",
    "cargo run -- {w}",
    "go test ./...",
    "go build ./{p}",
    "python -m pytest {f} -q",
    "python {f}",
    "pip install -r requirements.txt",
    "uv run pytest",
    "make",
    "make test",
    "make -j4 {w}",
    "docker ps",
    "docker build -t {w} .",
    "docker compose up -d",
    "docker logs {w}",
    "docker rm {w}",
    "kubectl get pods -n {w}",
    "kubectl logs {w}",
    "kubectl apply -f {f}",
    "terraform plan",
    "curl -s http://localhost:8080/{w}",
    "curl -fsSL https://example.com/{w}.json | jq .",
    "rm -rf target",
    "rm -rf node_modules dist",
    "rm {f}",
    "rm -rf /tmp/{w}",
    "mkdir -p {p}",
    "mv {f} {p}/",
    "cp {f} {f}.bak",
    "touch {f}",
    "echo \"{w}\" >> {f}",
    "cat > {f} <<'EOF'\n{w}\nEOF",
    "find . -name '*.{w}' -not -path './node_modules/*'",
    "find {p} -type f | xargs wc -l",
    "sed -i 's/{w}/x/g' {f}",
    "awk '{print $1}' {f}",
    "head -50 {f}",
    "tail -f logs/{w}.log",
    "cd {p} && ls",
    "cd {p} && npm test",
    "bash -lc 'cargo test {w}'",
    "env CI=1 make test",
    "echo 'do not git push --force origin main'",
    "gh pr create --fill",
    "gh pr view {w}",
    "gh run list",
    "psql -c 'select 1'",
    "sqlite3 db.sqlite 'select * from {w}'",
    "redis-cli get {w}",
    "jq '.{w}' {f}",
    "tar czf {w}.tgz {p}",
    "unzip -l {w}.zip",
    "chmod +x {f}",
    "python -c \"print('{w}')\"",
    "node -e 'console.log(1)'",
    "for f in {p}/*; do echo $f; done",
    "test -f {f} && echo yes",
    "ps aux | grep {w}",
    "kill %1",
    "sleep 1",
    "which {w}",
    "env | sort",
    "date",
    "pwd",
    "tree -L 2 {p}",
    "git grep -n {w}",
    "git blame {f}",
    "git cherry-pick {w}",
    "git tag v1.{n}",
    "git clean -n",
];

const FILES: &[&str] = &[
    "src/main.rs",
    "src/app.ts",
    "README.md",
    "tests/test_api.py",
    "package.json",
    "docs/guide.md",
    "lib/util.js",
];
const PLACES: &[&str] = &["src", "tests", "docs", "lib", "crates/core", "web/app"];
const WORDS: &[&str] = &[
    "login", "parser", "cache", "retry", "user", "index", "report", "todo",
];
const BRANCHES: &[&str] = &["feature/login", "fix/parser", "agent/work-1", "chore/deps"];

fn filled(shape: &str, random: &mut fastrand::Rng) -> String {
    let mut pick = |list: &[&str]| list[random.usize(..list.len())].to_owned();
    let text = shape
        .replace("{f}", &pick(FILES))
        .replace("{p}", &pick(PLACES));
    let text = text
        .replace("{w}", &pick(WORDS))
        .replace("{b}", &pick(BRANCHES));
    let number = random.u16(..).to_string();
    text.replace("{n}", &number)
}

/// So many lines: those of the corpus first.
fn lines(count: usize) -> Vec<String> {
    let mut random = fastrand::Rng::with_seed(26);
    let practice = PRACTICE.lines().map(|line| {
        let row: Value = serde_json::from_str(line).unwrap();
        row["command"].as_str().unwrap().to_owned()
    });
    let mut all: Vec<String> = practice.collect();
    while all.len() < count {
        let shape = SHAPES[random.usize(..SHAPES.len())];
        all.push(filled(shape, &mut random));
    }
    all.truncate(count);
    all
}

/// A transcript of Claude Code with these commands.
fn transcript(root: &Path, commands: &[String]) -> String {
    let now = jiff::Timestamp::now().to_string();
    let mut text = String::new();
    for (number, command) in commands.iter().enumerate() {
        let line = json!({
            "type": "assistant", "sessionId": format!("s{}", number / 200), "cwd": root, "timestamp": now,
            "message": { "content": [{ "type": "tool_use", "id": format!("t{number}"), "name": "Bash", "input": { "command": command } }] },
        });
        writeln!(text, "{line}").unwrap();
    }
    text
}

fn with_default_packs() -> TestProject {
    let project = ruled("");
    for pack in ["git-safety", "destructive"] {
        project.must(&["rules", "add", pack]);
    }
    for place in PLACES {
        project.file(&format!("{place}/x"), "");
    }
    project
}

/// Kinds of hits that are meant, in lines of the corpus that are not as benign as the rest: it was made
/// to try what hides a commit, and some of that throws work away.
const EXPLAINED: &[(&str, &str)] = &[
    (
        "git-reset-hard",
        "rows that take back a commit with `git reset --hard`",
    ),
    (
        "git-discard-all",
        "rows that throw changes away with `git checkout .` or drop a stash",
    ),
    ("git-clean", "rows that tidy up with `git clean -f`"),
    (
        "git-rewrite-shared-history",
        "rows that filter a branch or remove a reference",
    ),
    ("git-force-push", "rows that push `--force` or `--mirror`"),
    (
        "delete-outside",
        "rows that remove a directory beside the repository",
    ),
    ("disks", "a row that shreds the state file"),
    (
        "delete-project",
        "rows that remove `.git` or all of the project",
    ),
];

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the order is for this test alone"
)]
fn of_what_agents_do_all_day_hardly_anything_meets_the_default_packs() {
    let count = match std::env::var(ORDER) {
        Ok(_) => ALL,
        Err(_) => SHARE,
    };
    let project = with_default_packs();
    project.file("t/all.jsonl", transcript(project.root(), &lines(count)));
    let tried = project
        .must(&["rules", "try", "--replay", "t", "--json"])
        .json();
    assert_eq!(tried["calls"], count, "{tried}");
    let hits: BTreeMap<String, u64> = tried["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| {
            let verdicts = rule["verdicts"].as_object().unwrap().values();
            (
                rule["id"].as_str().unwrap().to_owned(),
                verdicts.filter_map(Value::as_u64).sum(),
            )
        })
        .collect();
    for (id, count) in hits.iter().filter(|(_, count)| **count > 0) {
        let is_explained = EXPLAINED.iter().any(|(known, _)| known == id);
        assert!(is_explained, "{id} {count}: {:#}", tried["rules"]);
    }
    let total: u64 = hits.values().sum();
    let all = &tried["rules"];
    assert!(total <= count as u64 / 200, "{total} of {count}: {all:#}");
}

#[test]
fn a_month_of_transcripts_is_tried_in_seconds() {
    let project = with_default_packs();
    // Without optimisation a call takes more than ten times as long.
    let (calls, limit) = if cfg!(debug_assertions) {
        (1_000, 10)
    } else {
        (100_000, 10)
    };
    let all = lines(calls);
    for (day, part) in all.chunks(calls / 30 + 1).enumerate() {
        project.file(&format!("t/{day}.jsonl"), transcript(project.root(), part));
    }
    let begun = Instant::now();
    project
        .must(&["rules", "try", "--replay", "t", "--since", "30d"])
        .says(&format!("{calls} calls"));
    assert!(
        begun.elapsed() < Duration::from_secs(limit),
        "{:?}",
        begun.elapsed()
    );
}
