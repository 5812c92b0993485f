//! What honest people do, and agents that do their work: nothing is restored, blocked or refused that
//! they did not want. A notice is fine where something is gone.

use super::machine::{Agent, STATE, Stage};
use super::{Step, route};
use Step::{Background, Edit, Event, Person, Shell, ShellOutside, Stop, Write};

/// What somebody does, and what must hold afterwards.
struct Scenario {
    what: &'static str,
    steps: &'static [Step],
    holds: Holds,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    /// Nothing is blocked, refused or put back.
    Free,
    /// The same, and nothing at all is said.
    Silent,
    /// The same, and this file is there with this text in it.
    Has(&'static str, &'static str),
    /// The same, and this file is not there.
    Lacks(&'static str),
}

use Holds::{Free, Has, Lacks, Silent};

const fn scenario(what: &'static str, steps: &'static [Step], holds: Holds) -> Scenario {
    Scenario { what, steps, holds }
}

const CLAUDE: &str = ".claude/settings.json";

const SCENARIOS: &[Scenario] = &[
    // The agent's own work.
    scenario(
        "an agent reads the state",
        &[Shell("cat .tollgate/workflow/state.json | head -3")],
        Silent,
    ),
    scenario(
        "an agent asks for the status",
        &[Shell("tollgate status; tollgate workflow status")],
        Silent,
    ),
    scenario(
        "an agent asks for help",
        &[Shell(
            "tollgate phase skip --help; tollgate uninstall --help",
        )],
        Silent,
    ),
    scenario(
        "an agent shows what an uninstall would do",
        &[Shell("tollgate uninstall --dry-run")],
        Silent,
    ),
    scenario(
        "an agent runs the gates",
        &[Shell("tollgate run || true")],
        Free,
    ),
    scenario(
        "an agent simulates an event",
        &[Shell(
            "echo '{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"}}' | tollgate simulate -",
        )],
        Silent,
    ),
    scenario(
        "an agent greps for the name",
        &[Shell("grep -rn 'tollgate workflow cancel' docs || true")],
        Silent,
    ),
    scenario(
        "an agent asks where the program is, and copies and deletes files",
        &[
            Shell("mkdir -p docs/tmp && echo x > docs/a"),
            Shell("which tollgate && cp docs/a docs/b"),
            Shell("command -v tollgate >/dev/null || exit; rm -rf docs/tmp"),
        ],
        Silent,
    ),
    scenario(
        "an agent extends a start-up file and deletes by a glob",
        &[Shell(
            "echo \"export X=$PWD\" >> ~/.bashrc; mkdir -p .cache; rm -rf .ca*",
        )],
        Silent,
    ),
    scenario(
        "an agent writes about the command",
        &[Write(
            "docs/notes.md",
            "run `tollgate uninstall` to take it out\n",
        )],
        Silent,
    ),
    scenario(
        "an agent commits a message that names it",
        &[Shell(
            "git commit -q --allow-empty -m 'docs: how to tollgate phase skip'",
        )],
        Silent,
    ),
    scenario(
        "an agent commits on the workflow's branch",
        &[
            Write("src/b.txt", "b\n"),
            Shell("git add src && git commit -qm work"),
        ],
        Silent,
    ),
    scenario(
        "an agent stashes its work and takes it back",
        &[Shell("echo c >> src/a.txt; git stash -q; git stash pop -q")],
        Has(STATE, "active_workflow"),
    ),
    scenario(
        "an agent stashes untracked files, too",
        &[
            Write("src/n.txt", "n\n"),
            Shell("git stash -u -q; git stash pop -q"),
        ],
        Has(STATE, "active_workflow"),
    ),
    scenario(
        "an agent cleans untracked files",
        &[Shell("touch junk; git clean -fdq")],
        Has(STATE, "active_workflow"),
    ),
    scenario(
        "an agent cleans ignored files, but for Tollgate's",
        &[Shell("git clean -fdxq -e .tollgate")],
        Has(STATE, "active_workflow"),
    ),
    scenario(
        "an agent shows what a clean would remove",
        &[Shell("git clean -ndx")],
        Silent,
    ),
    scenario(
        "an agent cleans ignored files of a subdirectory",
        &[Shell("git clean -fdxq src")],
        Silent,
    ),
    scenario(
        "an agent resets its work",
        &[Shell("echo x >> src/a.txt; git reset --hard -q")],
        Has(STATE, "active_workflow"),
    ),
    scenario(
        "an agent switches branches and back",
        &[Shell("git checkout -q main"), Shell("git checkout -q -")],
        Silent,
    ),
    scenario(
        "an agent changes another setting",
        &[Edit(
            CLAUDE,
            "{\n  \"hooks\"",
            "{\n  \"model\": \"opus\",\n  \"hooks\"",
        )],
        Silent,
    ),
    scenario(
        "an agent allows itself a tool in settings.local.json",
        &[Write(
            ".claude/settings.local.json",
            "{\"permissions\": {\"allow\": [\"Bash(ls:*)\"]}}",
        )],
        Silent,
    ),
    scenario(
        "an agent sets a variable of its own",
        &[Write(
            ".claude/settings.local.json",
            "{\"env\": {\"RUST_LOG\": \"debug\"}}",
        )],
        Silent,
    ),
    scenario(
        "an agent adds a hook of the project's own",
        &[Edit(
            CLAUDE,
            "{\n  \"hooks\": {",
            "{\n  \"hooks\": {\n    \"Notification\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"./bell.sh\" }] }],",
        )],
        Silent,
    ),
    scenario(
        "an agent writes a skill without hooks",
        &[Write(".claude/skills/review/SKILL.md", "# Review\n")],
        Silent,
    ),
    scenario(
        "an agent writes a script of a skill",
        &[Write(".claude/skills/review/scripts/run.sh", "#!/bin/sh\n")],
        Silent,
    ),
    scenario(
        "an agent writes a program of another name",
        &[Write("~/.local/bin/shop", "#!/bin/sh\n")],
        Silent,
    ),
    scenario(
        "an agent adds an alias of its own",
        &[Shell("echo 'alias ll=\"ls -l\"' >> ~/.bashrc")],
        Silent,
    ),
    scenario(
        "an agent upgrades another package",
        &[Shell("true npm uninstall -g shop")],
        Silent,
    ),
    scenario(
        "an agent adds a gate",
        &[Shell(
            "printf '\\n[gates.lint]\\nrun = \"true\"\\n' >> tollgate.toml",
        )],
        Free,
    ),
    scenario(
        "an agent writes a file outside of the project",
        &[Shell("echo x > $HOME/notes.txt")],
        Silent,
    ),
    scenario(
        "an agent works in another repository beside the project",
        &[ShellOutside(
            "mkdir -p other && cd other && git init -q && git -c user.name=a -c user.email=a@x commit -q --allow-empty -m x",
        )],
        Silent,
    ),
    scenario(
        "an agent makes a second work tree and commits there",
        &[Shell(
            "git worktree add -q -b feature/y ../w && git -C ../w commit -q --allow-empty -m x",
        )],
        Silent,
    ),
    scenario(
        "an agent removes a work tree",
        &[Shell(
            "git worktree add -q -b feature/y ../w; git worktree remove --force ../w",
        )],
        Silent,
    ),
    // People beside the agent.
    scenario(
        "a person stashes everything between two turns",
        &[Shell("ls"), Stop, Background("git stash --all -q")],
        Lacks(STATE),
    ),
    scenario(
        "a person cleans everything between two turns",
        &[Shell("ls"), Stop, Background("git clean -fdxq")],
        Lacks(STATE),
    ),
    scenario(
        "a person removes the state between two turns",
        &[
            Shell("ls"),
            Stop,
            Background("rm .tollgate/workflow/state.json"),
        ],
        Lacks(STATE),
    ),
    scenario(
        "a person edits the state between two turns",
        &[
            Shell("ls"),
            Stop,
            Background(
                "sed -i 's/shop cart/shop basket/; s/\"current_phase_index\": 0/\"current_phase_index\": 3/' .tollgate/workflow/state.json",
            ),
        ],
        Has(STATE, "\"current_phase_index\": 3"),
    ),
    scenario(
        "a person edits the state before the session is resumed",
        &[
            Stop,
            Background(
                "sed -i 's/\"current_phase_index\": 0/\"current_phase_index\": 3/' .tollgate/workflow/state.json",
            ),
            Event("SessionStart"),
        ],
        Has(STATE, "\"current_phase_index\": 3"),
    ),
    scenario(
        "a person cancels the workflow in another terminal",
        &[Stop, Person(&["workflow", "cancel", "--reason", "enough"])],
        Has(STATE, "\"active_workflow\": null"),
    ),
    scenario(
        "a person skips a phase in another terminal",
        &[Stop, Person(&["phase", "skip", "--reason", "enough"])],
        Has(STATE, "Skipped (enough)"),
    ),
    scenario(
        "a person removes Tollgate's files between two turns",
        &[Stop, Background("rm -rf .tollgate tollgate.toml")],
        Lacks("tollgate.toml"),
    ),
    scenario(
        "a person takes Tollgate out of the settings",
        &[Stop, Background("echo '{}' > .claude/settings.json")],
        Has(CLAUDE, "{}"),
    ),
    scenario(
        "an editor formats the settings anew",
        &[
            Stop,
            Background(
                "python3 -c \"import json; p='.claude/settings.json'; s=json.load(open(p)); json.dump(s, open(p, 'w'), indent=8)\"",
            ),
        ],
        Silent,
    ),
    scenario(
        "a person installs again",
        &[
            Stop,
            Background(
                "env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID tollgate install --agent claude-code --command $TOLLGATE --yes",
            ),
        ],
        Silent,
    ),
    scenario(
        "a person changes a timeout of ours",
        &[
            Stop,
            Background("sed -i 's/900/600/' .claude/settings.json"),
        ],
        Has(CLAUDE, "600"),
    ),
    scenario(
        "a person adds a hook of their own",
        &[
            Stop,
            Background(
                "python3 -c \"import json; p='.claude/settings.json'; s=json.load(open(p)); s['hooks']['Notification']=[{'hooks':[{'type':'command','command':'bell'}]}]; json.dump(s, open(p, 'w'))\"",
            ),
        ],
        Silent,
    ),
    scenario(
        "a person pulls in the middle of a session",
        &[
            Shell("ls"),
            Background(
                "git commit -q --allow-empty -m theirs && git reset -q --hard HEAD~1 && git merge -q ORIG_HEAD",
            ),
            Shell("ls"),
        ],
        Silent,
    ),
    scenario(
        "a person switches the branch in the middle of a session",
        &[
            Shell("ls"),
            Background("git checkout -q -b other"),
            Shell("ls"),
        ],
        Silent,
    ),
    scenario(
        "a person commits to main themselves",
        &[
            Shell("ls"),
            Stop,
            Background("env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID git checkout -q main"),
            Background(
                "env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID git commit -q --allow-empty -m mine",
            ),
        ],
        Silent,
    ),
    scenario(
        "a person changes a gate between two turns",
        &[
            Stop,
            Background("sed -i 's/make test/make -k test/' tollgate.toml"),
        ],
        Has("tollgate.toml", "make -k test"),
    ),
];

impl Scenario {
    fn play(&self, stage: &mut Stage) -> Result<(), String> {
        let machine = stage.before(self.steps);
        let route = route("honest", self.what, self.steps, super::End::Possible);
        let (end, story) = machine.play(route.steps, route.end);
        let wrong = |why: String| Err(format!("{}: {why}\n{story}", self.what));
        if matches!(end, super::End::Stopped(_) | super::End::Refused) {
            return wrong(format!("{end}"));
        }
        let codes = machine.warned();
        if let Some(code) = codes
            .iter()
            .find(|code| matches!(code.as_str(), "SW-001" | "SW-004"))
        {
            return wrong(format!("something was put back ({code})"));
        }
        match self.holds {
            Free => Ok(()),
            Silent if end == super::End::Possible => Ok(()),
            Silent => wrong(format!("{end}")),
            Has(file, text) if machine.project.read(file).contains(text) => Ok(()),
            Lacks(file) if !machine.project.exists(file) => Ok(()),
            Has(file, _) | Lacks(file) => {
                wrong(format!("{file}: {:?}", machine.project.read(file)))
            }
        }
    }
}

#[test]
fn honest_people_are_left_alone() {
    assert!(SCENARIOS.len() >= 40, "{} scenarios", SCENARIOS.len());
    let mut stage = Stage::new(Agent::Claude);
    let wrong: Vec<String> = SCENARIOS
        .iter()
        .filter_map(|scenario| scenario.play(&mut stage).err())
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
