//! Reading the files, and collecting what is wrong with them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tollgate_core::project::{Layout, lexical};
use tollgate_store::fs;

use super::{Check, ConfigError, Node, Problem, Weight, keys};
use crate::config::table::{Examiner, Format, Table};
use crate::config::{Place, yaml};

/// No configuration file is larger.
const CAP: u64 = 1 << 20;

/// Reads files and collects what is wrong with them.
pub(super) struct Reader<'a> {
    root: &'a Path,
    pub(super) problems: Vec<Problem>,
    /// Gates whose file is there and could not be read, which is among the problems.
    pub(super) unread: BTreeSet<PathBuf>,
    /// Where each review names its reviewers.
    pub(super) preferences: BTreeMap<String, (PathBuf, Place)>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(root: &'a Path) -> Self {
        Self {
            root,
            problems: Vec::new(),
            unread: BTreeSet::new(),
            preferences: BTreeMap::new(),
        }
    }

    /// Why a file without which nothing goes has no text: it is not there, or it cannot be read.
    pub(super) fn without(self, file: PathBuf) -> ConfigError {
        if self.problems.is_empty() {
            ConfigError::Missing(file)
        } else {
            ConfigError::Wrong(self.problems)
        }
    }

    /// The warnings; what is wrong besides them is an error.
    pub(super) fn warnings(self) -> Result<Vec<Problem>, ConfigError> {
        let wrong = |problem: &Problem| problem.weight == Weight::Error;
        if self.problems.iter().any(wrong) {
            return Err(ConfigError::Wrong(self.problems));
        }
        Ok(self.problems)
    }

    /// A file's text; none if it is not there, or cannot be read, which is a problem then.
    pub(super) fn text(&mut self, file: &Path) -> Option<String> {
        let wrong = match fs::read_regular(file, CAP) {
            Ok(None) => return None,
            Ok(Some(contents)) => match String::from_utf8(contents.bytes) {
                // Some editors put a mark in front of a text.
                Ok(text) => return Some(text.trim_start_matches('\u{feff}').to_owned()),
                Err(_) => "the file is not UTF-8 text".to_owned(),
            },
            Err(fault) => fault.to_string(),
        };
        self.examiner(file)
            .error(Place::default(), "", &wrong, None);
        None
    }

    /// Parses a text and holds it against a table. None if it is no YAML.
    pub(super) fn parse(&mut self, file: &Path, text: &str, table: &Table) -> Option<Node> {
        let mut examiner = self.examiner(file);
        match yaml::parse(text) {
            Ok(node) => {
                examiner.examine(&node, table, "");
                Some(node)
            }
            Err(broken) => {
                let what = format!("not valid YAML: {}", broken.what);
                examiner.error(broken.place, "", &what, broken.fix.as_deref());
                None
            }
        }
    }

    /// The gates of a directory by their names, each as `read` reads its file.
    pub(super) fn gates<G>(
        &mut self,
        directory: &Path,
        extensions: &[&str],
        read: impl Fn(&mut Self, &Path) -> Option<G>,
    ) -> BTreeMap<String, G> {
        let mut gates = BTreeMap::new();
        for (name, file) in self.named_files(directory, extensions) {
            if let Some(gate) = read(self, &file) {
                gates.insert(name, gate);
            } else {
                self.unread.insert(file.with_extension(""));
            }
        }
        gates
    }

    pub(super) fn check(&mut self, file: &Path, home: &Path) -> Option<Check> {
        let text = self.text(file)?;
        let node = self.parse(file, &text, &keys::CHECK)?;
        let mut check = Check::read(&node);
        if let Some((what, fix)) = check.wrong_command() {
            let place = node.get("command").map_or(node.place, |node| node.place);
            self.examiner(file).error(place, "command", what, Some(fix));
        }
        if check.fail_fast && check.parallel {
            let place = node.get("fail_fast").map_or(node.place, |node| node.place);
            let what = "fail_fast can only be used when parallel is false";
            let fix = Some("remove one of the two");
            self.examiner(file).error(place, "fail_fast", what, fix);
        }
        if let Some(path) = node.get("fix_instructions") {
            check.fix_instructions = self.beside(home, file, "fix_instructions", path);
        }
        Some(check)
    }

    /// The text of a file that a configuration names, which must lie in the gates' home.
    pub(super) fn beside(
        &mut self,
        home: &Path,
        file: &Path,
        key: &str,
        node: &Node,
    ) -> Option<String> {
        let named = node.text()?;
        let label = match key {
            "fix_instructions" => "Fix instructions",
            _ => "Prompt",
        };
        let home_name = home.file_name().unwrap_or_default().to_string_lossy();
        let path = lexical(&home.join(named));
        let real = |path: &Path| path.canonicalize().ok();
        let outside = format!(
            "{label} path must stay within {home_name}/ directory and point to a file: {named}"
        );
        let what = if Path::new(named).is_absolute() {
            format!(
                "{label} path must be relative to {home_name}/ directory, got absolute path: {named}"
            )
        } else if path == home || !path.starts_with(home) {
            outside
        } else if let (Some(real_path), Some(real_home)) = (real(&path), real(home)) {
            if real_path.starts_with(real_home) {
                return self.text(&path);
            }
            outside
        } else {
            format!("{label} file not found: {}", path.display())
        };
        self.examiner(file).error(node.place, key, &what, None);
        None
    }

    /// The files of a directory by their stems, in the order of their names, so that it does not
    /// differ between file systems.
    pub(super) fn named_files(
        &mut self,
        directory: &Path,
        extensions: &[&str],
    ) -> Vec<(String, PathBuf)> {
        let mut names = fs::names(directory).unwrap_or_default();
        names.retain(|name| {
            let extension = Path::new(name).extension().and_then(|e| e.to_str());
            extension.is_some_and(|extension| extensions.contains(&extension))
        });
        names.sort();
        let mut named: Vec<(String, PathBuf)> = Vec::new();
        for name in names {
            let file = directory.join(&name);
            let Some(stem) = file.file_stem().map(|s| s.to_string_lossy().into_owned()) else {
                continue;
            };
            if let Some((_, first)) = named.iter().find(|(other, _)| *other == stem) {
                let what = format!(
                    "{} defines \"{stem}\" already",
                    self.relative(first).display()
                );
                let fix = Some("remove one of the two files");
                self.examiner(&file).error(Place::default(), "", &what, fix);
                continue;
            }
            named.push((stem, file));
        }
        named
    }

    /// A person's own file. A broken one must not stop anybody's work: it is warned about, and
    /// the defaults hold.
    pub(super) fn global(&mut self, home: &Path) -> Option<Node> {
        let file = Layout::global_gates_config(home);
        let mut own = Reader::new(self.root);
        let node = own
            .text(&file)
            .and_then(|text| own.parse(&file, &text, &keys::GLOBAL));
        let broken = own.problems.iter().any(|p| p.weight == Weight::Error);
        for mut problem in own.problems {
            if problem.weight == Weight::Error {
                problem.weight = Weight::Warning;
                problem.fix = Some("the defaults are used instead of this file".to_owned());
            }
            self.problems.push(problem);
        }
        node.filter(|_| !broken)
    }

    pub(super) fn examiner<'s>(&'s mut self, file: &'s Path) -> Examiner<'s> {
        Examiner {
            root: self.root,
            file,
            format: Format::Yaml,
            problems: &mut self.problems,
        }
    }

    pub(super) fn relative<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(self.root).unwrap_or(path)
    }
}
