//! Events made from options and templates, for those who have no event at hand.

use clap::ValueEnum;
use serde_json::{Value, json};

/// What makes an event instead of a file.
#[derive(Debug, Default, clap::Args)]
#[group(multiple = true)]
pub(super) struct Made {
    /// An event of this kind, as the agent would send it
    #[arg(long, value_enum, conflicts_with = "file")]
    template: Option<Template>,
    /// The tool [default: what the other options are about]
    #[arg(long, conflicts_with_all = ["file", "template"])]
    tool: Option<String>,
    /// A shell command
    #[arg(long, conflicts_with_all = ["file", "template"])]
    command: Option<String>,
    /// The sub-agent that gets work
    #[arg(long, conflicts_with_all = ["file", "template"])]
    agent: Option<String>,
    /// Its prompt
    #[arg(long, conflicts_with_all = ["file", "template"])]
    prompt: Option<String>,
    /// The file that is written
    #[arg(long, conflicts_with_all = ["file", "template"])]
    path: Option<String>,
    /// What is written to it
    #[arg(long, conflicts_with_all = ["file", "template"])]
    content: Option<String>,
}

/// A usual event.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Template {
    /// `git commit`
    Commit,
    /// Work for the developer
    Delegate,
    /// A sub-agent is asked to advance to the next phase
    Advance,
    /// A write of the state file
    WriteState,
    /// A test run
    Test,
    /// The agent wants to stop
    Stop,
}

impl Made {
    /// The event; nothing if no option asks for one.
    pub(super) fn event(&self) -> Option<Value> {
        if let Some(template) = self.template {
            return Some(template.event());
        }
        let Self {
            tool,
            command,
            agent,
            prompt,
            path,
            content,
            ..
        } = self;
        let given = [tool, command, agent, prompt, path, content];
        if given.iter().all(|option| option.is_none()) {
            return None;
        }
        let usual = match (command, path) {
            (Some(_), _) => "Bash",
            (None, Some(_)) => "Write",
            (None, None) => "Agent",
        };
        let members = [
            ("command", command),
            ("subagent_type", agent),
            ("prompt", prompt),
            ("file_path", path),
            ("content", content),
        ];
        let input: serde_json::Map<String, Value> = members
            .into_iter()
            .filter_map(|(key, text)| Some((key.to_owned(), text.clone()?.into())))
            .collect();
        Some(before(tool.as_deref().unwrap_or(usual), &input.into()))
    }
}

impl Template {
    fn event(self) -> Value {
        match self {
            Self::Commit => before("Bash", &json!({ "command": "git commit -m 'a commit'" })),
            Self::Delegate => before(
                "Agent",
                &json!({ "subagent_type": "software-developer", "prompt": "implement it" }),
            ),
            Self::Advance => before(
                "Agent",
                &json!({ "subagent_type": "sdlc-orchestrator", "prompt": "advance to the next phase" }),
            ),
            Self::WriteState => before(
                "Write",
                &json!({ "file_path": ".isdlc/state.json", "content": "{}" }),
            ),
            Self::Test => before("Bash", &json!({ "command": "npm test" })),
            Self::Stop => {
                json!({ "hook_event_name": "Stop", "session_id": "simulated", "stop_hook_active": false })
            }
        }
    }
}

/// A call that is about to be made.
fn before(tool: &str, input: &Value) -> Value {
    json!({
        "hook_event_name": "PreToolUse", "session_id": "simulated", "permission_mode": "default",
        "tool_name": tool, "tool_input": input, "tool_use_id": "simulated",
    })
}
