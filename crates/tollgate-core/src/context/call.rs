//! The event's tool call: what it would do, and where its paths lead.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use super::inputs::Inputs;
use crate::project::{lexical, real_on};
use crate::protocol::{Tool, ToolCall};
use crate::tool_effects::tool_effects;
use tollgate_shell::{self as shell, Commit, Effect, Followed, Survey, Touch, World};

/// The call of an event; one without a tool has no effects.
#[derive(Debug)]
pub struct CallContext<'a> {
    tool: Option<&'a Tool<'a>>,
    inputs: &'a Inputs,
    survey: OnceCell<Option<Survey>>,
    followed: OnceCell<Followed>,
}

impl<'a> CallContext<'a> {
    pub(super) fn new(tool: Option<&'a Tool<'a>>, inputs: &'a Inputs) -> Self {
        Self {
            tool,
            inputs,
            survey: OnceCell::new(),
            followed: OnceCell::new(),
        }
    }

    /// The shell command that the event is about.
    pub fn shell_command(&self) -> Option<&'a str> {
        let ToolCall::Shell { command } = &self.tool?.call else {
            return None;
        };
        Some(command)
    }

    /// What the event's shell command would find around it.
    pub fn world(&self) -> World<'_> {
        World {
            dir: Some(self.start_dir()),
            home: self.home(),
            files: &self.inputs.disk,
        }
    }

    /// What the event's shell command would do.
    pub fn survey(&self) -> Option<&Survey> {
        let survey = self
            .survey
            .get_or_init(|| Some(shell::survey(self.shell_command()?, &self.world())));
        survey.as_ref()
    }

    /// What the event's tool call would do, whichever tool it is. Computed only when needed.
    pub fn effects(&self) -> &[Effect] {
        &self.followed().effects
    }

    /// The commits that the event's shell command would make.
    pub fn commits(&self) -> &[Commit] {
        &self.followed().commits
    }

    fn followed(&self) -> &Followed {
        self.followed
            .get_or_init(|| match (self.survey(), self.tool) {
                (Some(survey), _) => shell::follow(survey, &self.world()),
                (None, Some(tool)) => Followed {
                    effects: tool_effects(tool, &|path| self.absolute(path)),
                    commits: Vec::new(),
                },
                (None, None) => Followed::default(),
            })
    }

    /// What the event's tool call does to some files.
    pub fn touches(&self, files: &[&Path]) -> Touch {
        let root = self.inputs.layout().root();
        shell::touches(self.effects(), files, root, &self.world())
    }

    /// Whether the event's shell command changes a file, or names it and may.
    pub fn may_touch(&self, file: &Path) -> bool {
        let name = file.file_name().and_then(|name| name.to_str());
        let named = || {
            self.shell_command()
                .zip(name)
                .is_some_and(|(text, name)| text.contains(name))
        };
        match self.touches(&[file]) {
            Touch::Writes => true,
            Touch::Unknown => named(),
            Touch::None => false,
        }
    }

    /// The directory that relative paths and shell commands of the event start from.
    pub fn start_dir(&self) -> &Path {
        let cwd = self.inputs.cwd.as_deref().filter(|cwd| cwd.is_absolute());
        cwd.unwrap_or_else(|| self.inputs.layout().root())
    }

    /// The person's home directory.
    pub fn home(&self) -> Option<&Path> {
        self.inputs.env.home.as_deref()
    }

    /// A path of the event, made absolute. Agents' tools take `~/` for the person's home.
    pub fn absolute(&self, path: &str) -> PathBuf {
        let at_home = path.strip_prefix("~/").zip(self.home());
        lexical(&match at_home {
            Some((rest, home)) => home.join(rest),
            None => self.start_dir().join(path),
        })
    }

    /// The path with the links of its directories followed, as far as they exist.
    pub fn real(&self, path: &Path) -> PathBuf {
        real_on(&self.inputs.disk, path)
    }
}
