//! One `git` command line: its global options resolved, its subcommand and what is left.

use super::args::Args;
use super::path::changed;
use super::run::Run;
use super::word::{Word, has};

/// A call of git.
#[derive(Clone, Debug)]
pub(crate) struct GitCall {
    /// The subcommand as written; nothing when git only prints something about itself.
    pub(crate) subcommand: Option<Word>,
    /// The words after the subcommand.
    pub(crate) args: Vec<Word>,
    /// The directory git works in after `-C`; nothing when it is unknown.
    pub(crate) dir: Option<String>,
    /// `--git-dir` or `GIT_DIR`, as written, relative to [`GitCall::dir`].
    pub(crate) git_dir: Option<Word>,
    /// `--work-tree` or `GIT_WORK_TREE`.
    pub(crate) work_tree: Option<Word>,
    /// `GIT_CONFIG_GLOBAL`
    pub(crate) global: Option<Word>,
    /// Configuration given on the command line or in the environment, in order.
    pub(crate) config: Vec<(String, Word)>,
}

/// Global options whose value is the next word.
const VALUED: [&str; 6] = [
    "git-dir",
    "work-tree",
    "namespace",
    "config-env",
    "super-prefix",
    "attr-source",
];

/// Options of `git init` and `git clone` whose value is the next word.
const NEW_REPOSITORY: [&str; 10] = [
    "branch",
    "config",
    "depth",
    "filter",
    "initial-branch",
    "object-format",
    "origin",
    "reference",
    "separate-git-dir",
    "template",
];

/// Global options after which no subcommand is run. With a value, `--exec-path` is none.
const PRINTS: &str = "version help html-path man-path info-path list-cmds exec-path";

impl GitCall {
    /// Reads a simple command as a call of git; nothing when the program is another one.
    pub(crate) fn read(run: &Run) -> Option<Self> {
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
            call.options(run.args());
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

    fn options(&mut self, words: &[Word]) {
        let mut rest = words;
        // Each turn takes at least one word.
        for _ in 0..=words.len() {
            let (args, after) = Args::leading(rest, "Cc", &VALUED);
            let prints = args.long.iter().any(|option| has(PRINTS, option));
            if prints || args.flags.contains(['v', 'h']) {
                return;
            }
            for (name, value) in args.values {
                self.option(name, value);
            }
            match after {
                [] => return,
                // `git $FLAGS commit`: an unknown word outside quotes is an option or nothing.
                [word, after @ ..] if word.may_vanish() && !after.is_empty() => rest = after,
                [word, after @ ..] => {
                    self.subcommand = Some(word.clone());
                    self.args = after.to_vec();
                    return;
                }
            }
        }
    }

    fn option(&mut self, name: &str, value: Word) {
        match name {
            "C" => self.dir = changed(self.dir.as_deref(), &value),
            "git-dir" => self.git_dir = Some(value),
            "work-tree" => self.work_tree = Some(value),
            "c" => {
                let (key, value) = match value.raw().split_once('=') {
                    Some((key, value)) => (key.to_owned(), Word::new(value)),
                    None => (value.raw().to_owned(), Word::new("true")),
                };
                self.config.push((key, value));
            }
            _ => {}
        }
    }

    /// The directory in which `git init` or `git clone` makes a repository; nothing where they are
    /// not told.
    pub(crate) fn new_repository(&self) -> Option<Word> {
        let args = Args::read(&self.args, "bojuc", &NEW_REPOSITORY);
        let name = self.subcommand.as_ref()?.literal()?;
        match (name, args.operands.as_slice()) {
            ("clone", [url]) => {
                let last = url.raw().trim_end_matches('/').rsplit(['/', ':']).next();
                let last = last.unwrap_or_default();
                Some(Word::new(last.strip_suffix(".git").unwrap_or(last)))
            }
            ("clone", [_, path, ..]) | ("init", [path, ..]) => Some(path.clone()),
            _ => None,
        }
    }

    /// The value of a configuration key given with the call; keys do not depend on case.
    pub(crate) fn config(&self, key: &str) -> Option<&Word> {
        self.config
            .iter()
            .rev()
            .find(|(other, _)| other.eq_ignore_ascii_case(key))
            .map(|(_, value)| value)
    }
}

/// `GIT_CONFIG_COUNT` with its keys and values.
fn environment_config(run: &Run) -> Vec<(String, Word)> {
    let keys = run.vars.iter().filter_map(|(name, key)| {
        let wanted = format!("GIT_CONFIG_VALUE_{}", name.strip_prefix("GIT_CONFIG_KEY_")?);
        let (_, value) = run.vars.iter().find(|(name, _)| *name == wanted)?;
        Some((key.raw().to_owned(), value.clone()))
    });
    keys.collect()
}
