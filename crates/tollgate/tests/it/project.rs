//! A project in a temporary directory, and the hook run in it as an agent would.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::watchdog;

/// The program under test.
pub(crate) const TOLLGATE: &str = env!("CARGO_BIN_EXE_tollgate");

/// A manifest with the agents that the tests name.
pub(crate) const MANIFEST: &str = include_str!("manifest.json");

/// A person's machine in a temporary directory: `project`, where the program runs, `home`, and
/// `bin`, which is first on the search path. Nothing of the machine that runs the tests is seen.
pub(crate) struct TestProject {
    dir: tempfile::TempDir,
    root: PathBuf,
    program: PathBuf,
    env: Vec<(String, String)>,
}

/// What a run of the hook gave back.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

/// The arguments of a hook with the longest deadline there is, unless they name one: a busy machine
/// starts processes late, and what a test is about is decided all the same.
pub(crate) fn patient<'a>(args: &[&'a str]) -> Vec<&'a str> {
    match args {
        ["hook", rest @ ..] if !rest.contains(&"--deadline") => {
            [&["hook", "--deadline", "8s"], rest].concat()
        }
        _ => args.to_vec(),
    }
}

impl TestProject {
    /// A project of the original: it has `.isdlc/` and a manifest, and no state.
    pub(crate) fn new() -> Self {
        let project = Self::bare();
        project.file(".claude/hooks/config/skills-manifest.json", MANIFEST);
        project
    }

    /// A directory with an empty `.isdlc/`, and nothing else.
    pub(crate) fn bare() -> Self {
        let project = Self::empty();
        std::fs::create_dir(project.path(".isdlc")).unwrap();
        project
    }

    /// An empty directory: no project.
    pub(crate) fn empty() -> Self {
        Self::named("project")
    }

    /// An empty directory of this name.
    pub(crate) fn named(name: &str) -> Self {
        watchdog::watch();
        Self::unwatched(&watchdog::prefix(), name, TOLLGATE.into())
    }

    /// The same for another program, which may run for as long as it likes; the machine's directory
    /// has this prefix.
    pub(crate) fn unwatched(prefix: &str, name: &str, program: PathBuf) -> Self {
        let dir = tempfile::Builder::new().prefix(prefix).tempdir().unwrap();
        for name in [name, "home", "bin"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        Self {
            root: dir.path().join(name),
            dir,
            program,
            env: vec![],
        }
    }

    /// An empty directory on a machine that has `tollgate` among its programs.
    pub(crate) fn with_tollgate_on_path() -> Self {
        let mut project = Self::empty();
        project.program = project.programs().join("tollgate");
        std::os::unix::fs::symlink(TOLLGATE, &project.program).unwrap();
        project
    }

    /// With this state.
    pub(crate) fn state(self, state: &Value) -> Self {
        self.file(
            ".isdlc/state.json",
            serde_json::to_string_pretty(state).unwrap(),
        );
        self
    }

    /// With the setting that keeps commits for the last phase.
    pub(crate) fn commits_in_last_phase_only(self) -> Self {
        self.file(
            ".isdlc/config/workflows.json",
            r#"{ "commit_in_last_phase_only": true, "workflows": {} }"#,
        );
        self
    }

    /// A workflow of implementation and code review in one of them, with its branch `feature/x`
    /// and the setting that keeps commits for the last phase; `branch` is checked out.
    pub(crate) fn committing_late(phase: &str, branch: &str) -> Self {
        let mut state = with_branch("active");
        state["active_workflow"]["phases"] = json!(["06-implementation", "08-code-review"]);
        state["active_workflow"]["current_phase"] = json!(phase);
        Self::new()
            .state(&state)
            .commits_in_last_phase_only()
            .on_branch(branch)
    }

    /// With this variable in the hook's environment.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// On a machine that has these programs and no others, whatever the one that runs the tests has.
    pub(crate) fn with_only(self, programs: &[&str]) -> Self {
        for program in programs {
            let found = ["/usr/local/bin", "/usr/bin", "/bin"]
                .map(|directory| Path::new(directory).join(program))
                .into_iter()
                .find(|file| file.is_file());
            std::os::unix::fs::symlink(found.unwrap(), self.programs().join(program)).unwrap();
        }
        let path = self.programs().to_str().unwrap().to_owned();
        self.env("PATH", &path)
    }

    /// With the project itself as the home directory.
    pub(crate) fn at_home_in_project(self) -> Self {
        let root = self.root.to_str().unwrap().to_owned();
        self.env("HOME", &root)
    }

    /// With a git repository on `main` that has no commit.
    pub(crate) fn with_repository(self) -> Self {
        self.git(&["init", "-q", "-b", "main"]);
        self
    }

    /// With a git repository whose current branch is `branch`.
    pub(crate) fn on_branch(self, branch: &str) -> Self {
        let project = self.with_repository();
        project.file("README.md", "# Test\n");
        project.git(&["add", "README.md"]);
        project.git(&["commit", "-q", "-m", "init"]);
        if branch != "main" {
            project.git(&["checkout", "-q", "-b", branch]);
        }
        project
    }

    /// With these checks for `src` in a directory of gates, `.gauntlet` or `.tollgate`; `more` goes
    /// into `config.yml` as well.
    pub(crate) fn with_gates(self, home: &str, checks: &[(&str, &str)], more: &str) -> Self {
        for (name, yaml) in checks {
            self.file(&format!("{home}/checks/{name}.yml"), yaml);
        }
        let names: Vec<_> = checks.iter().map(|(name, _)| *name).collect();
        let names = names.join(", ");
        let config = format!(
            "base_branch: main\n{more}\nentry_points:\n  - path: src\n    checks: [{names}]\n"
        );
        self.file(&format!("{home}/config.yml"), config);
        self.file("src/a.txt", "a\n");
        self
    }

    /// With this `tollgate.toml`, and a file in `src`.
    pub(crate) fn with_toml(self, text: &str) -> Self {
        self.file("tollgate.toml", text);
        self.file("src/a.txt", "a\n");
        self
    }

    /// With all of this committed, and a change in `src` that no gate has seen.
    pub(crate) fn with_change(self) -> Self {
        self.commit("first");
        self.git(&["checkout", "-q", "-b", "work"]);
        self.file("src/b.txt", "b\n");
        self
    }

    /// With a valid plan of this name and these rows of tasks.
    pub(crate) fn with_plan(self, name: &str, rows: &str) -> Self {
        let home = format!(".taskie/plans/{name}");
        self.file(&format!("{home}/plan.md"), "# Plan\n\n## Overview\nText.\n");
        self.file(&format!("{home}/tasks.md"), tasks(rows));
        for task in 1..=rows.lines().count() {
            self.file(&format!("{home}/task-{task}.md"), "# Task\n");
        }
        self
    }

    /// With a workflow `t` of these phases and no branch, that can be started.
    pub(crate) fn with_workflow(self, phases: &[&str]) -> Self {
        let own = json!({ "workflows": { "t": { "phases": phases, "requires_branch": false,
            "sizing": { "light_skip_phases": ["03-architecture", "04-design"] } } } });
        self.file(".isdlc/config/workflows.json", own.to_string());
        self
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The machine's directory, around the project.
    pub(crate) fn outside(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root().join(relative)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.outside().join("home")
    }

    /// Where the programs of this machine are.
    pub(crate) fn programs(&self) -> PathBuf {
        self.outside().join("bin")
    }

    /// Writes a file, with the directories above it.
    pub(crate) fn file(&self, relative: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        put(&self.path(relative), bytes)
    }

    pub(crate) fn at_home(&self, relative: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        put(&self.home().join(relative), bytes)
    }

    /// A program on the search path.
    pub(crate) fn program(&self, name: &str, script: &str) -> PathBuf {
        let path = put(&self.programs().join(name), script);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// The text of a file; nothing where there is none.
    pub(crate) fn read(&self, relative: &str) -> String {
        std::fs::read_to_string(self.path(relative)).unwrap_or_default()
    }

    /// The text of a file that must be there.
    #[track_caller]
    pub(crate) fn text(&self, relative: &str) -> String {
        std::fs::read_to_string(self.path(relative)).unwrap()
    }

    pub(crate) fn exists(&self, relative: &str) -> bool {
        self.path(relative).exists()
    }

    /// Every line of the journal.
    pub(crate) fn journal(&self) -> Vec<Value> {
        let text = self.read(".tollgate/local/journal.jsonl");
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The codes in the journal.
    pub(crate) fn codes(&self) -> Vec<String> {
        let codes = self
            .journal()
            .into_iter()
            .filter_map(|line| line["code"].as_str().map(Into::into));
        codes.collect()
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        git(self.root(), args)
    }

    /// Commits everything.
    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    /// Runs `tollgate hook` on an event.
    pub(crate) fn hook(&self, event: &Value) -> Run {
        self.run(&["hook"], event.to_string().as_bytes())
    }

    /// The same, ended by the system after so many seconds of a processor: a busy machine does not matter.
    pub(crate) fn hook_within(&self, seconds: u32, event: &[u8]) -> Run {
        let limited = format!("ulimit -t {seconds} && exec \"$0\" \"$@\"");
        let program = self.program.to_str().unwrap();
        let args = [vec!["-c", &limited, program], patient(&["hook"])].concat();
        let mut command = self.command_of(Path::new("sh"), &args);
        command.env("CLAUDE_PROJECT_DIR", self.root());
        run(command, event)
    }

    /// Runs one guard on an event.
    pub(crate) fn guard(&self, name: &str, event: &Value) -> Run {
        self.run(&["hook", "--guard", name], event.to_string().as_bytes())
    }

    /// Runs the program with `CLAUDE_PROJECT_DIR` set, as Claude Code does.
    pub(crate) fn run(&self, args: &[&str], stdin: &[u8]) -> Run {
        let mut command = self.command(args);
        command.env("CLAUDE_PROJECT_DIR", self.root());
        run(command, stdin)
    }

    /// Runs the program as a person does, without standard input.
    pub(crate) fn tollgate(&self, args: &[&str]) -> Run {
        run(self.command(args), b"")
    }

    /// Runs a command that must work.
    #[track_caller]
    pub(crate) fn must(&self, args: &[&str]) -> Run {
        let ran = self.tollgate(args);
        assert_eq!(ran.code, 0, "{args:?} {ran:?}");
        ran
    }

    /// Registers Tollgate with Claude Code: `project`, `local` or `user`.
    #[track_caller]
    pub(crate) fn install_for(&self, scope: &str) -> Run {
        self.must(&[
            "install",
            "--agent",
            "claude-code",
            "--scope",
            scope,
            "--yes",
        ])
    }

    /// The program in the project's directory with a clean environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.command_of(&self.program, &patient(args))
    }

    /// The same with another program.
    pub(crate) fn command_of(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.programs().display());
        command
            .args(args)
            .current_dir(self.root())
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", path)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// Runs git without anybody's configuration.
pub(crate) fn git(directory: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=Test", "-c", "user.email=test@example.org"])
        .args(args)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env_remove("GIT_DIR")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Feeds a command and waits for it.
pub(crate) fn run(mut command: Command, stdin: &[u8]) -> Run {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A hook that approves before it reads closes the pipe; that is no failure of the test.
    let _closed = child.stdin.take().unwrap().write_all(stdin);
    let output = child.wait_with_output().unwrap();
    let run = Run {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap_or(-1),
    };
    words::check(&command, stdin, &run);
    run
}

/// What a project of Tollgate's own prints has no word of the systems that it replaces.
pub(crate) mod words {
    use std::path::Path;
    use std::process::Command;

    use super::Run;

    /// Those words.
    const OF_OTHERS: [&str; 5] = [
        "gauntlet",
        "isdlc",
        "taskie",
        "constitution",
        "orchestrator",
    ];

    /// Homes of those systems: there, their words are right.
    const HOMES: [&str; 6] = [
        ".isdlc",
        ".gauntlet",
        ".taskie",
        ".tollgate/config.yml",
        ".claude/hooks",
        ".git/isdlc",
    ];

    /// Commands that are about those systems wherever they run (the stop of specification 003, the list of
    /// all guards, the schemas of all files, their protocols), and one that quotes transcripts.
    const EXEMPT: [&str; 5] = ["stop-hook", "guards", "schema", "--protocol", "--replay"];

    /// Names that only an agent's settings, an environment or a registration of those systems can have brought in.
    const NAMES: [&str; 4] = [
        "gauntlet_stop_hook_active",
        "gauntlet_stop_hook_enabled",
        "taskie_hook_skip",
        "constitutional-iteration-validator",
    ];

    /// Checks all that a program printed. A name of its input (the event, the files of a workflow) is called
    /// what it is called there: a field, an agent, a skill. A word alone is a name only where it is quoted,
    /// or where the text around it is the input's, too.
    #[track_caller]
    pub(crate) fn check(command: &Command, stdin: &[u8], run: &Run) {
        let arguments: Vec<String> = command
            .get_args()
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect();
        let Some(directory) = command.get_current_dir() else {
            return;
        };
        let is_own = Path::new(command.get_program()).ends_with("tollgate")
            && directory.join("tollgate.toml").exists()
            && !HOMES.iter().any(|home| directory.join(home).exists())
            && !EXEMPT
                .iter()
                .any(|word| arguments.iter().any(|one| one == word));
        if !is_own {
            return;
        }
        let printed = format!("{}{}", run.stdout, run.stderr).to_lowercase();
        let printed = NAMES
            .iter()
            .fold(printed, |text, name| text.replace(name, ""));
        if !OF_OTHERS.iter().any(|word| printed.contains(word)) {
            return;
        }
        let mut input = String::from_utf8_lossy(stdin).into_owned();
        read_all(&directory.join(".tollgate/workflow"), &mut input);
        let input = input.to_lowercase();
        for word in OF_OTHERS {
            let mut said = printed.match_indices(word).map(|(at, _)| at);
            let said = said.find(|at| !is_given(&printed, *at, &input));
            let said = said.and_then(|at| printed.get(name_at(&printed, at)));
            assert_eq!(
                said, None,
                "tollgate {arguments:?} says {word:?}:\n{printed}"
            );
        }
    }

    /// The name around a place.
    fn name_at(text: &str, at: usize) -> std::ops::Range<usize> {
        let ends = |c: char| !(c.is_alphanumeric() || c == '_' || c == '-');
        let (before, behind) = text.split_at(at);
        let last = before.char_indices().rfind(|(_, c)| ends(*c));
        let start = last.map_or(0, |(at, c)| at + c.len_utf8());
        start..behind.find(ends).map_or(text.len(), |length| at + length)
    }

    fn is_given(printed: &str, at: usize, input: &str) -> bool {
        let range = name_at(printed, at);
        let (before, _) = printed.split_at(range.start);
        let (_, behind) = printed.split_at(range.end);
        let name = printed.get(range).unwrap_or_default();
        let is_whole = |(at, _): (usize, &str)| name_at(input, at).len() == name.len();
        if !input.match_indices(name).any(is_whole) {
            return false;
        }
        // A command of an agent has a slash.
        if before.ends_with("skill /") {
            return true;
        }
        let before = before.strip_suffix('/').unwrap_or(before);
        let quotes = ['`', '\'', '"'];
        name.contains(['_', '-'])
            || (before.ends_with(quotes) && behind.starts_with(quotes))
            || input.contains(&around(before, name, behind))
    }

    /// A name with the words beside it in its line.
    fn around(before: &str, name: &str, behind: &str) -> String {
        let line = before.rsplit('\n').next().unwrap_or_default();
        let start = line.trim_end().rfind(' ').map_or(0, |blank| blank + 1);
        let rest = behind.split('\n').next().unwrap_or_default();
        let end = rest.char_indices().filter(|(_, c)| *c == ' ').nth(1);
        let end = end.map_or(rest.len(), |(at, _)| at);
        let (_, line) = line.split_at(start);
        let (rest, _) = rest.split_at(end);
        format!("{line}{name}{rest}")
    }

    /// Adds what is in the files of a directory.
    fn read_all(directory: &Path, text: &mut String) {
        let entries = std::fs::read_dir(directory).into_iter().flatten();
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                read_all(&path, text);
            } else if path.is_file() {
                text.push_str(&String::from_utf8_lossy(&std::fs::read(&path).unwrap()));
                text.push('\n');
            }
        }
    }
}

/// Waits for something that must come to pass.
#[track_caller]
pub(crate) fn wait_until(what: &str, limit: Duration, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < limit, "not within {limit:?}: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Makes a named pipe, with the tool that every Unix has.
pub(crate) fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

/// A table of tasks with these rows.
pub(crate) fn tasks(rows: &str) -> String {
    format!("| Id | Status | Priority | Description |\n|---|---|---|---|\n{rows}")
}

/// Writes a file, with the directories above it.
#[expect(clippy::disallowed_methods, reason = "fixtures are not state")]
pub(crate) fn put(path: &Path, bytes: impl AsRef<[u8]>) -> PathBuf {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
    path.to_owned()
}

impl Run {
    /// Nothing on standard output, exit 0.
    #[track_caller]
    pub(crate) fn allows(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        self
    }

    /// Nothing at all to say.
    #[track_caller]
    pub(crate) fn says_nothing(self) {
        let run = self.allows();
        assert_eq!(run.stderr, "", "{run:?}");
    }

    /// A block in the specification's own shape; returns the reason.
    #[track_caller]
    pub(crate) fn blocks(self, prefix: &str) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        let answer = self.json();
        assert_eq!(answer["continue"], json!(false), "{self:?}");
        assert_eq!(answer.as_object().unwrap().len(), 2, "{self:?}");
        let reason = answer["stopReason"].as_str().unwrap();
        assert!(reason.starts_with(prefix), "{reason}");
        reason.to_owned()
    }

    /// A warning: allowed, with this at the beginning of a line on standard error.
    #[track_caller]
    pub(crate) fn warns(self, text: &str) -> String {
        let run = self.allows();
        let begins = run.stderr.starts_with(text) || run.stderr.contains(&format!("\n{text}"));
        assert!(begins, "{run:?}");
        run.stderr
    }

    /// The exit code, with everything shown if it is another.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        let said = format!("{}{}", self.stdout, self.stderr);
        assert!(said.contains(text), "{text:?} is not in {said}");
        self
    }

    #[track_caller]
    pub(crate) fn does_not_say(self, text: &str) -> Self {
        let said = format!("{}{}", self.stdout, self.stderr);
        assert!(!said.contains(text), "{text:?} is in {said}");
        self
    }

    /// Standard output, which must be JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// A deny in Claude Code's shape; returns the reason.
    #[track_caller]
    pub(crate) fn denies(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        let answer = self.json();
        let output = &answer["hookSpecificOutput"];
        assert_eq!(output["hookEventName"], "PreToolUse", "{self:?}");
        assert_eq!(output["permissionDecision"], "deny", "{self:?}");
        output["permissionDecisionReason"]
            .as_str()
            .unwrap()
            .to_owned()
    }
}

/// A running workflow in `phase` with this status.
pub(crate) fn running(phase: &str, status: &str) -> Value {
    json!({
        "state_version": 1,
        "current_phase": phase,
        "active_workflow": {
            "type": "feature",
            "current_phase": phase,
            "current_phase_index": 0,
            "phases": [phase, "16-quality-loop"],
            "phase_status": { phase: status },
        },
        "phases": { phase: { "status": status } },
    })
}

/// A running workflow with the feature branch `feature/x`.
pub(crate) fn with_branch(status: &str) -> Value {
    json!({ "active_workflow": { "git_branch": { "name": "feature/x", "status": status } } })
}

/// A running workflow in `phase` that has its own branch.
pub(crate) fn running_on_branch(phase: &str) -> Value {
    let mut state = running(phase, "in_progress");
    state["active_workflow"]["git_branch"] = json!({ "name": "feature/x", "status": "active" });
    state
}
