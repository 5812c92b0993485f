//! The agents: how each is started without a network, how hooks are registered with it, and what
//! its tools are called.

use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value, json};

use crate::model::{Call, Input};
use crate::offline;
use crate::project::{TOLLGATE, TestProject};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    Claude,
    Codex,
    Gemini,
    Copilot,
}

/// Every agent, in the order of the page.
pub(crate) const AGENTS: [Agent; 4] = [Agent::Claude, Agent::Codex, Agent::Gemini, Agent::Copilot];

/// The neutral events, and what Gemini calls those that it has.
const EVENTS: [(&str, Option<&str>); 8] = [
    ("SessionStart", Some("SessionStart")),
    ("UserPromptSubmit", Some("BeforeAgent")),
    ("PreToolUse", Some("BeforeTool")),
    ("PostToolUse", Some("AfterTool")),
    ("PostToolUseFailure", None),
    ("Stop", Some("AfterAgent")),
    ("SubagentStop", None),
    ("SessionEnd", Some("SessionEnd")),
];

/// In a home: what the agent needs to find its model.
const ENVIRONMENT: &str = "environment";

impl Agent {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Copilot => "Copilot CLI",
        }
    }

    /// What reviews call it.
    pub(crate) fn reviewer(self) -> &'static str {
        match self {
            Self::Copilot => "github-copilot",
            Self::Claude | Self::Codex | Self::Gemini => self.name(),
        }
    }

    /// A script that starts it, for whoever looks for it on `PATH`. Some agents keep what they were
    /// given from their hooks, so it is given again.
    pub(crate) fn launcher(self, home: &Path) -> String {
        let node = offline::node().filter(|_| self == Self::Gemini);
        let node = node.map(|node| format!("'{}' ", node.display()));
        let program = offline::program(self);
        let program = program.display();
        format!(
            "#!/bin/sh\n. '{}'\nexec {}'{program}' \"$@\"\n",
            home.join(ENVIRONMENT).display(),
            node.unwrap_or_default()
        )
    }

    /// Runs a shell command.
    pub(crate) fn shell(self, command: &str) -> Call {
        let (name, input) = match self {
            Self::Claude => (
                "Bash",
                json!({ "command": command, "description": "Run it" }),
            ),
            Self::Codex => ("exec_command", json!({ "cmd": command })),
            Self::Gemini => ("run_shell_command", json!({ "command": command })),
            Self::Copilot => (
                "bash",
                json!({ "command": command, "description": "Run it" }),
            ),
        };
        let input = Input::Object(input);
        Call { name, input }
    }

    /// Writes a new file.
    pub(crate) fn write(self, path: &Path, text: &str) -> Call {
        let (name, input) = match self {
            Self::Claude => ("Write", json!({ "file_path": path, "content": text })),
            Self::Gemini => ("write_file", json!({ "file_path": path, "content": text })),
            Self::Copilot => ("create", json!({ "path": path, "file_text": text })),
            Self::Codex => {
                let lines = text.lines().map(|line| format!("+{line}\n"));
                let lines = lines.collect::<Vec<_>>().concat();
                let path = path.display();
                let patch = format!("*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch");
                return Call {
                    name: "apply_patch",
                    input: Input::Text(patch),
                };
            }
        };
        let input = Input::Object(input);
        Call { name, input }
    }

    /// Registers `hook` and the probe for every event, in the project or in the user's home.
    pub(crate) fn register(self, project: &TestProject, home: &Path, probe: &Path) {
        let hook = format!("{TOLLGATE} hook");
        let mut events = Map::new();
        for (neutral, own) in EVENTS {
            let event = if self == Self::Gemini {
                own
            } else {
                Some(neutral)
            };
            let timeout = if neutral == "Stop" { 900 } else { 60 };
            let Some(event) = event else { continue };
            let one = |command: &str| match self {
                Self::Copilot => {
                    json!({ "type": "command", "bash": command, "timeoutSec": timeout })
                }
                Self::Gemini => {
                    json!({ "type": "command", "command": command, "timeout": timeout * 1000 })
                }
                Self::Claude | Self::Codex => {
                    json!({ "type": "command", "command": command, "timeout": timeout })
                }
            };
            let mut hooks = vec![one(&probe.display().to_string()), one(&hook)];
            if self == Self::Claude {
                hooks[1] = json!({ "type": "command", "command": TOLLGATE, "args": ["hook"], "timeout": timeout });
            }
            let registered = match self {
                Self::Copilot => json!(hooks),
                Self::Claude | Self::Codex | Self::Gemini => json!([{ "hooks": hooks }]),
            };
            events.insert(event.to_owned(), registered);
        }
        let file = |path: &str, value: Value| project.file(path, value.to_string());
        match self {
            Self::Claude => {
                file(".claude/settings.json", json!({ "hooks": events }));
            }
            Self::Copilot => {
                file(
                    ".github/hooks/tollgate.json",
                    json!({ "version": 1, "hooks": events }),
                );
            }
            Self::Codex => {
                let at = home.join("codex/hooks.json");
                crate::fixture::write(&at, &json!({ "hooks": events }).to_string());
            }
            Self::Gemini => {
                let settings = json!({
                    "security": { "auth": { "selectedType": "gemini-api-key" } },
                    "general": { "disableAutoUpdate": true, "disableUpdateNag": true },
                    "privacy": { "usageStatisticsEnabled": false },
                    "hooks": events,
                });
                crate::fixture::write(&home.join(".gemini/settings.json"), &settings.to_string());
            }
        }
    }

    /// What the agent itself needs before it runs in any project.
    pub(crate) fn prepare(self, home: &Path) {
        if self == Self::Gemini {
            let settings = json!({
                "security": { "auth": { "selectedType": "gemini-api-key" } },
                "general": { "disableAutoUpdate": true, "disableUpdateNag": true },
                "privacy": { "usageStatisticsEnabled": false },
            });
            crate::fixture::write(&home.join(".gemini/settings.json"), &settings.to_string());
        }
    }

    /// What `tollgate install --agent` calls it.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Claude => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
        }
    }

    /// Where the project's registration is.
    pub(crate) fn project_file(self) -> &'static str {
        match self {
            Self::Claude => ".claude/settings.json",
            Self::Codex => ".codex/hooks.json",
            Self::Gemini => ".gemini/settings.json",
            Self::Copilot => ".github/hooks/tollgate.json",
        }
    }

    /// The agent with a prompt, its model being on this port.
    pub(crate) fn command(self, home: &Path, port: u16, prompt: &str) -> Command {
        // Some agents try again for minutes when they do not like an answer.
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", "240"]);
        if self == Self::Gemini {
            command.arg(offline::node().unwrap());
        }
        command.arg(offline::program(self));
        match self {
            Self::Claude => command.args([
                "--output-format",
                "json",
                "--dangerously-skip-permissions",
                "-p",
                prompt,
            ]),
            Self::Codex => command.args([
                "exec",
                "--skip-git-repo-check",
                "--dangerously-bypass-approvals-and-sandbox",
                "--dangerously-bypass-hook-trust",
                prompt,
            ]),
            Self::Gemini => command.args([
                "--approval-mode",
                "yolo",
                "-m",
                "gemini-2.5-pro",
                "-p",
                prompt,
            ]),
            Self::Copilot => command.args(["--no-ask-user", "-p", prompt]),
        };
        self.environment(&mut command, home, port);
        command
    }

    /// Nothing of the caller's environment, and every address on loopback.
    fn environment(self, command: &mut Command, home: &Path, port: u16) {
        let url = format!("http://127.0.0.1:{port}");
        let node = offline::node().and_then(|node| Some(node.parent()?.display().to_string()));
        let path = format!(
            "{}:{}:/usr/local/bin:/usr/bin:/bin",
            home.join("bin").display(),
            node.unwrap_or_default()
        );
        command.env_clear().env("PATH", path).env("HOME", home);
        command.env("LANG", "C.UTF-8").env("SHELL", "/bin/bash");
        let variables: &[(&str, &str)] = match self {
            Self::Claude => &[
                ("ANTHROPIC_BASE_URL", &url),
                ("ANTHROPIC_API_KEY", "dummy"),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
                ("DISABLE_AUTOUPDATER", "1"),
                ("DISABLE_TELEMETRY", "1"),
                ("DISABLE_ERROR_REPORTING", "1"),
                ("IS_SANDBOX", "1"),
            ],
            Self::Codex => {
                let config = format!(
                    "model = \"gpt-5.5\"\nmodel_provider = \"mock\"\n[model_providers.mock]\nname = \"mock\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\nenv_key = \"MOCK_KEY\"\nrequest_max_retries = 0\nstream_max_retries = 0\n"
                );
                crate::fixture::write(&home.join("codex/config.toml"), &config);
                command.env("CODEX_HOME", home.join("codex"));
                &[("MOCK_KEY", "x")]
            }
            Self::Gemini => &[
                ("GEMINI_API_KEY", "dummy"),
                ("GOOGLE_GEMINI_BASE_URL", &url),
                ("GEMINI_CLI_NO_RELAUNCH", "true"),
                ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
            ],
            Self::Copilot => &[
                ("COPILOT_OFFLINE", "true"),
                ("COPILOT_PROVIDER_TYPE", "anthropic"),
                ("COPILOT_PROVIDER_BASE_URL", &url),
                ("COPILOT_PROVIDER_API_KEY", "dummy"),
                ("COPILOT_MODEL", "claude-sonnet-4.6"),
                ("COPILOT_AUTO_UPDATE", "false"),
                ("COPILOT_ALLOW_ALL", "true"),
            ],
        };
        command.envs(variables.iter().copied());
        // With this one Copilot runs a repository's hooks; Tollgate takes it from reviewers.
        let again = variables
            .iter()
            .filter(|(name, _)| *name != "COPILOT_ALLOW_ALL");
        let again = again.map(|(name, value)| format!("export {name}='{value}'\n"));
        crate::fixture::write(&home.join(ENVIRONMENT), &again.collect::<Vec<_>>().concat());
    }
}
