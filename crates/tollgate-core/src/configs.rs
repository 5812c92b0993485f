//! The files of the workflow's configuration, each read at most once and only if needed.
//!
//! Each has two places in a project of the original. Of the manifest the first that is there
//! counts. Of the others the first that can be read does, as the specification has it: what is
//! broken in one place does not hide the other, and is reported.

use std::cell::OnceCell;
use std::fmt;
use std::path::Path;

use crate::decision::Fault;
use crate::env::Env;
use crate::git::Disk;
use crate::project::{ConfigFile, Layout};
use crate::text_file::MAX_FILE;
use tollgate_store::fs;
use tollgate_store::json::Object;

/// What a place holds, or why that cannot be read.
type Text = Result<Option<String>, String>;

/// What `tollgate.toml` and its layers say, read once. Deciding an event has no parser for them.
pub trait Configuration: fmt::Debug {
    /// The compiled rules.
    fn rules(&self) -> CompiledRules;

    /// The workflows that it defines, in the form of `workflows.json`.
    fn workflows(&self) -> Result<Option<String>, String>;
}

/// The rules for [`crate::rules::Rules::of`].
#[derive(Clone, Debug, Default)]
pub struct CompiledRules {
    /// Their text; none if there is no rule.
    pub text: Option<String>,
    /// What is wrong with the sources, and what holds meanwhile.
    pub fault: Option<Fault>,
    /// Whether the sources are others than those of the event before.
    pub is_new: bool,
}

/// Reads the configuration of a project.
pub type AskConfiguration = fn(&Layout, &Env, &Disk) -> Box<dyn Configuration>;

/// Where the configuration is looked for.
type Around<'i> = (&'i Layout, &'i Env, &'i Disk);

/// The texts of the configuration, by file and place.
#[derive(Debug, Default)]
pub(crate) struct Configs {
    texts: [[OnceCell<Text>; 2]; 4],
    asked: OnceCell<Box<dyn Configuration>>,
    workflows: OnceCell<Text>,
    rules: OnceCell<CompiledRules>,
}

impl Configs {
    pub(crate) fn manifest(&self, layout: &Layout) -> Result<Option<&str>, Fault> {
        let file = ConfigFile::Manifest;
        let places = layout.config_files(file);
        let mut texts = places
            .iter()
            .enumerate()
            .map(|(place, path)| self.text(file, path, place).transpose());
        let first = texts.find_map(|text| text).transpose();
        first.map_err(|flaw| off(file, flaw))
    }

    /// Another file as a text and as an object, and what is wrong with the places where it was
    /// looked for.
    pub(crate) fn object<'a>(
        &'a self,
        (layout, env, disk): Around<'_>,
        file: ConfigFile,
        ask: Option<AskConfiguration>,
    ) -> (Option<(&'a str, Object<'a>)>, Vec<Fault>) {
        let places = layout.config_files(file);
        let mut flaws = Vec::new();
        // Before the other place: a file that is put there does not replace `tollgate.toml`.
        if file == ConfigFile::Workflows
            && !layout.is_isdlc()
            && let Some(ask) = ask
        {
            let configuration = self.asked.get_or_init(|| ask(layout, env, disk));
            match self.workflows.get_or_init(|| configuration.workflows()) {
                Ok(Some(text)) => match Object::parse(text) {
                    Ok(object) => return (Some((text, object)), Vec::new()),
                    Err(error) => flaws.push(format!("tollgate.toml cannot be read ({error})")),
                },
                Ok(None) => {}
                Err(flaw) => flaws.push(flaw.clone()),
            }
        }
        let found = places.iter().enumerate().find_map(|(place, path)| {
            match self.text(file, path, place) {
                Ok(text) => match (text?, Object::parse(text?)) {
                    (text, Ok(object)) => return Some((text, object, path)),
                    (_, Err(error)) => {
                        flaws.push(format!("{} cannot be read ({error})", path.display()));
                    }
                },
                Err(flaw) => flaws.push(flaw.to_owned()),
            }
            None
        });
        let fault = |flaw: String| match &found {
            Some((_, _, path)) => Fault::new(
                file.unreadable(),
                format!("{flaw}: {} is used instead", path.display()),
            ),
            None => off(file, &flaw),
        };
        let faults = flaws.into_iter().map(fault).collect();
        (found.map(|(text, object, _)| (text, object)), faults)
    }

    /// The rules of `tollgate.toml` and the person's own.
    pub(crate) fn rules(
        &self,
        (layout, env, disk): Around<'_>,
        ask: Option<AskConfiguration>,
    ) -> Option<&CompiledRules> {
        let ask = ask?;
        let configuration = self.asked.get_or_init(|| ask(layout, env, disk));
        Some(self.rules.get_or_init(|| configuration.rules()))
    }

    fn text(&self, file: ConfigFile, path: &Path, place: usize) -> Result<Option<&str>, &str> {
        let [manifest, requirements, workflows, artifact_paths] = &self.texts;
        let cells = match file {
            ConfigFile::Manifest => manifest,
            ConfigFile::Requirements => requirements,
            ConfigFile::Workflows => workflows,
            ConfigFile::ArtifactPaths => artifact_paths,
        };
        let Some(cell) = cells.get(place) else {
            return Ok(None);
        };
        let text = cell.get_or_init(|| match fs::read_regular(path, MAX_FILE) {
            Ok(found) => Ok(found.map(fs::Contents::into_text)),
            Err(error) => Err(format!("{}: {error}", path.display())),
        });
        text.as_ref().map(Option::as_deref).map_err(String::as_str)
    }
}

fn off(file: ConfigFile, flaw: &str) -> Fault {
    Fault::new(
        file.unreadable(),
        format!("{flaw}: guards that need it are off until it is repaired"),
    )
}
