//! Commits that git's configuration leads to: aliases, and lists of repositories.

use std::path::Path;

use super::GitCall;
use super::commits::World;
use super::config::Around;
use crate::shell::{self, Run, Start, Word, join};

/// `git for-each-repo` around each other, and the repositories it goes to.
const MAX_EACH: u32 = 3;
const MAX_REPOSITORIES: usize = 8;

impl World<'_> {
    pub(super) fn alias(&mut self, name: &str, call: &GitCall) -> Option<String> {
        if let Some(value) = call.config(&format!("alias.{name}")) {
            if value.literal().is_none() {
                self.landings.opaque = true;
            }
            return value.literal().map(str::to_owned);
        }
        let key = format!("alias.{name}");
        let mut set = self.settings.iter().rev();
        if let Some((_, value)) = set.find(|(known, _)| known.eq_ignore_ascii_case(&key)) {
            return Some(value.clone());
        }
        let place = self.place(call);
        let repository = self
            .trees
            .get(place)
            .and_then(|tree| tree.repository.as_ref());
        let around = self.around(call);
        // A file that the command line itself includes.
        let base = repository.map(|repository| repository.common_dir.as_path());
        let given = call
            .config
            .iter()
            .filter_map(|(key, value)| Some((key, value.literal()?)));
        let set = self
            .settings
            .iter()
            .map(|(key, value)| (key, value.as_str()));
        let mut included = given.chain(set).filter(|(key, _)| *key == "include.path");
        let is_asked = |found: &str| found.eq_ignore_ascii_case(&key);
        let found = included.find_map(|(_, path)| {
            let path = base.unwrap_or(Path::new("/")).join(path);
            around
                .included(Path::new(&join("/", path.to_str()?)), &is_asked)
                .pop()
        });
        found.or_else(|| around.alias(name, repository))
    }

    fn around<'c>(&'c self, call: &'c GitCall) -> Around<'c> {
        Around {
            home: self.home,
            global: call.global.as_ref().and_then(Word::literal),
            written: &self.written,
        }
    }

    /// `!` aliases run in a shell at the top of the work tree, with the arguments appended.
    pub(super) fn shell_alias(&mut self, text: &str, call: &GitCall, depth: u32) {
        if depth >= 4 {
            self.landings.opaque = true;
            return;
        }
        let place = self.place(call);
        let root = self.trees.get(place).map(|tree| tree.root.clone());
        let args: Vec<String> = call.args.iter().map(Word::display).collect();
        let command = format!(
            "{text} {}",
            args.iter()
                .map(|arg| quote(arg))
                .collect::<Vec<_>>()
                .join(" ")
        );
        let start = Start {
            dir: root.as_deref(),
            home: self.home,
        };
        let survey = shell::survey(&command, start);
        self.follow(&survey, depth + 1);
    }

    /// `git for-each-repo --config=key command`: the command in every directory that the key
    /// lists.
    pub(super) fn each_repository(&mut self, run: &Run, call: &GitCall, depth: u32) {
        let mut words = call.args.iter();
        let mut key = None;
        let mut rest = Vec::new();
        while let Some(word) = words.next() {
            let text = word.raw();
            match text.strip_prefix("--config") {
                Some("") => key = words.next().and_then(Word::literal),
                Some(value) => key = value.strip_prefix('='),
                None if text == "--" || text == "--keep-going" => {}
                None => {
                    rest.push(word.clone());
                    rest.extend(words.by_ref().cloned());
                }
            }
        }
        let Some(key) = key.filter(|_| depth < MAX_EACH) else {
            return;
        };
        let place = self.place(call);
        let repository = self
            .trees
            .get(place)
            .and_then(|tree| tree.repository.as_ref());
        let is_asked = |found: &str| found.eq_ignore_ascii_case(key);
        let mut paths = self.around(call).values(&is_asked, repository);
        let set = self
            .settings
            .iter()
            .map(|(key, value)| (key, value.clone()));
        let given = call
            .config
            .iter()
            .map(|(key, value)| (key, value.raw().to_owned()));
        paths.extend(
            set.chain(given)
                .filter(|(key, _)| is_asked(key))
                .map(|(_, path)| path),
        );
        for path in paths.into_iter().take(MAX_REPOSITORIES) {
            let mut inner = run.clone();
            inner.words = vec![Word::new("git"), Word::new("-C"), Word::new(path)];
            inner.words.extend(rest.iter().cloned());
            inner.dir.clone_from(&call.dir);
            self.run(&inner, depth + 1);
        }
    }
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
