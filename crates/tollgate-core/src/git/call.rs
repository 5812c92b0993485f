//! One `git` command line: its global options resolved, its subcommand and what is left.

use crate::shell::{Run, Word, join};

/// A call of git.
#[derive(Clone, Debug)]
pub struct GitCall {
    /// The subcommand as written; nothing when git only prints something about itself.
    pub subcommand: Option<Word>,
    /// The words after the subcommand.
    pub args: Vec<Word>,
    /// The directory git works in after `-C`; nothing when it is unknown.
    pub dir: Option<String>,
    /// `--git-dir` or `GIT_DIR`, as written, relative to [`GitCall::dir`].
    pub git_dir: Option<Word>,
    /// `--work-tree` or `GIT_WORK_TREE`.
    pub work_tree: Option<Word>,
    /// `GIT_CONFIG_GLOBAL`
    pub global: Option<Word>,
    /// Configuration given on the command line or in the environment, in order.
    pub config: Vec<(String, Word)>,
}

/// A longer directory is unknown.
const MAX_PATH: usize = 4096;

/// Global options whose value is the next word.
const VALUED: [&str; 8] = [
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--config-env",
    "--super-prefix",
    "--attr-source",
];

/// Global options after which no subcommand is run.
const PRINTS: [&str; 8] = [
    "--version",
    "-v",
    "--help",
    "-h",
    "--html-path",
    "--man-path",
    "--info-path",
    "--list-cmds",
];

impl GitCall {
    /// Reads a simple command as a call of git; nothing when the program is another one.
    pub fn read(run: &Run) -> Option<Self> {
        let program = run.program()?;
        if let Some(subcommand) = program.strip_prefix("git-") {
            // `/usr/lib/git-core/git-commit`
            let mut call = Self::start(run);
            call.subcommand = Some(Word::new(subcommand));
            call.args = run.args().to_vec();
            return Some(call);
        }
        (program == "git").then(|| {
            let mut call = Self::start(run);
            call.options(run);
            call
        })
    }

    fn start(run: &Run) -> Self {
        let var = |name: &str| {
            run.vars
                .iter()
                .rev()
                .find(|(other, _)| other == name)
                .map(|(_, value)| value.clone())
        };
        Self {
            subcommand: None,
            args: Vec::new(),
            dir: run.dir.clone(),
            git_dir: var("GIT_DIR"),
            work_tree: var("GIT_WORK_TREE"),
            global: var("GIT_CONFIG_GLOBAL"),
            config: environment_config(run),
        }
    }

    fn options(&mut self, run: &Run) {
        let words = run.args();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            let text = word.raw();
            // `git $FLAGS commit`: an unknown word outside quotes is an option or nothing.
            if word.may_vanish() && words.get(at).is_some() {
                continue;
            }
            if !text.starts_with('-') {
                self.subcommand = Some(word.clone());
                self.args = words.get(at..).unwrap_or_default().to_vec();
                return;
            }
            let (name, mut value) = match text.split_once('=') {
                Some((name, value)) if text.starts_with("--") => (name, Some(Word::new(value))),
                _ => (text, None),
            };
            // Without a value `--exec-path` prints where git's programs lie.
            if PRINTS.contains(&name) || text == "--exec-path" {
                return;
            }
            if value.is_none() && VALUED.contains(&name) {
                value = words.get(at).cloned();
                at += 1;
            }
            if let Some(value) = value {
                self.option(name, value, &run.vars);
            }
        }
    }

    fn option(&mut self, name: &str, value: Word, vars: &[(String, Word)]) {
        match name {
            "-C" => {
                self.dir = match (value.literal(), &self.dir) {
                    (Some(path), Some(dir)) => Some(join(dir, path)),
                    (Some(path), None) if path.starts_with('/') => Some(join("/", path)),
                    _ => None,
                };
                // No system call takes a longer path.
                self.dir = self.dir.take().filter(|dir| dir.len() <= MAX_PATH);
            }
            "--git-dir" => self.git_dir = Some(value),
            "--work-tree" => self.work_tree = Some(value),
            "-c" => {
                let (key, value) = match value.raw().split_once('=') {
                    Some((key, value)) => (key.to_owned(), Word::new(value)),
                    None => (value.raw().to_owned(), Word::new("true")),
                };
                self.config.push((key, value));
            }
            "--config-env" => {
                if let Some((key, name)) = value.raw().split_once('=') {
                    let given = vars.iter().rev().find(|(known, _)| known == name);
                    let given = given.map_or_else(Word::unknown, |(_, value)| value.clone());
                    self.config.push((key.to_owned(), given));
                }
            }
            _ => {}
        }
    }

    /// The value of a configuration key given with the call; keys do not depend on case.
    pub fn config(&self, key: &str) -> Option<&Word> {
        self.config
            .iter()
            .rev()
            .find(|(other, _)| other.eq_ignore_ascii_case(key))
            .map(|(_, value)| value)
    }
}

/// `GIT_CONFIG_COUNT` with its keys and values, and `GIT_CONFIG_PARAMETERS`.
fn environment_config(run: &Run) -> Vec<(String, Word)> {
    let mut config = Vec::new();
    for (name, key) in &run.vars {
        if let Some(index) = name.strip_prefix("GIT_CONFIG_KEY_") {
            let wanted = format!("GIT_CONFIG_VALUE_{index}");
            let value = run.vars.iter().find(|(name, _)| *name == wanted);
            if let Some((_, value)) = value {
                config.push((key.raw().to_owned(), value.clone()));
            }
        } else if name == "GIT_CONFIG_PARAMETERS" {
            // 'alias.x=commit' or 'alias.x'='commit'
            for part in crate::shell::split_words(key.raw()) {
                if let Some((key, value)) = part.raw().split_once('=') {
                    config.push((key.to_owned(), Word::new(value)));
                }
            }
        }
    }
    config
}
