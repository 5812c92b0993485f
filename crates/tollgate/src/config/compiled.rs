//! What deciding an event needs of `tollgate.toml`, checked and compiled: two small files for each
//! project in the person's state directory, one with its workflows and one with its rules. To parse and
//! merge the sources takes longer than all the rest of an event.
//!
//! A compiled file counts for the texts that it was made from and for this version of the program. The
//! event that finds other texts compiles them and replaces the file. While they are broken, the rules
//! that were compiled last still hold, and the event says so.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;
use tollgate_core::context::{CompiledRules, Configuration};
use tollgate_core::decision::Fault;
use tollgate_core::env::Env;
use tollgate_core::git::Disk;
use tollgate_core::person;
use tollgate_core::project::{Layout, real_on};
use tollgate_store::fs::{self, Durability};
use tollgate_store::json::Object;

use super::{Merged, Texts, rules, workflow};
use crate::hash::digest;
use crate::user_store;

/// Where the compiled files are, in the person's state directory.
const DIRECTORY: &str = "compiled";

/// None is larger.
const CAP: u64 = 4 << 20;

/// How the compiled rules are written; a file of another form is none.
const FORM: u64 = 1;

/// The texts of `tollgate.toml` and its layers, as an event or a command meets them.
#[derive(Debug)]
struct Met {
    layout: Layout,
    env: Env,
    texts: Texts,
    disk: Disk,
    /// The project's real root, by which compiled files are named; none for commands, which compile for
    /// themselves.
    root: Option<PathBuf>,
}

/// For events: from compiled files, which are made where they are missing.
pub(crate) fn kept(layout: &Layout, env: &Env, disk: &Disk) -> Box<dyn Configuration> {
    let texts = Texts::of_event(layout, env);
    let root = real_on(disk, layout.root());
    Box::new(Met::new(layout, env, disk, texts, Some(root)))
}

/// For commands: from the sources alone.
pub(crate) fn fresh(layout: &Layout, env: &Env, disk: &Disk) -> Box<dyn Configuration> {
    Box::new(Met::new(layout, env, disk, Texts::read(layout, env), None))
}

impl Met {
    fn new(layout: &Layout, env: &Env, disk: &Disk, texts: Texts, root: Option<PathBuf>) -> Self {
        Self {
            layout: layout.clone(),
            env: env.clone(),
            texts,
            disk: disk.another(),
            root,
        }
    }

    fn sources(&self) -> String {
        digest((env!("CARGO_PKG_VERSION"), self.texts.digest()))
    }

    /// Where the compiled file of this kind would be, whoever made it.
    fn place(&self, kind: &str) -> Option<PathBuf> {
        let name = format!("{}.{kind}", digest(self.root.as_ref()?));
        Some(person::state_home(&self.env)?.join(DIRECTORY).join(name))
    }

    /// That file, if its directory can be believed about this project.
    fn file(&self, kind: &str) -> Option<PathBuf> {
        let place = self.place(kind)?;
        let root = self.root.as_ref()?;
        let believed = user_store::directory_on(&self.disk, &self.env, root, DIRECTORY);
        believed.is_ok().then_some(place)
    }

    /// Compiles the rules, and keeps them if they are right.
    fn compile_rules(
        &self,
        sources: &str,
        file: Option<&Path>,
        last: Option<String>,
    ) -> CompiledRules {
        let merged = Merged::of(self.texts.clone(), &self.env);
        if let Some(problem) = merged.rules_problem() {
            let held = merged.or_last_good(&self.layout, &self.env);
            let read = (!held.rules.is_empty()).then(|| self.text(&held, ""));
            let words = match (&last, &read) {
                (Some(_), _) => "the last good rules apply",
                (None, None) => "no rule applies",
                (None, Some(_)) if !held.is_wrong() => "the last good rules apply",
                // Better what could be read of broken rules than nothing.
                (None, Some(_)) => "the rules that could be read apply",
            };
            let held = last.or(read);
            let text = format!("{problem}: {words} until it is corrected (`tollgate validate`)");
            return CompiledRules {
                text: held,
                fault: Some(Fault::new("rules-broken", text)),
                is_new: false,
            };
        }
        let text = (!merged.rules.is_empty()).then(|| self.text(&merged, sources));
        if let Some(file) = file {
            // The next event compiles again; that is no reason to disturb the agent.
            let _unkept = match &text {
                Some(text) => keep(file, text),
                None => fs::unless_absent(fs::remove(file)).map_err(io::Error::other),
            };
        }
        CompiledRules {
            text,
            fault: None,
            is_new: true,
        }
    }

    fn text(&self, merged: &Merged, sources: &str) -> String {
        let head = json!({
            "form": FORM, "sources": sources, "folds": folds_case(self.layout.root()),
        });
        rules::compiled(&head, &merged.rules)
    }
}

impl Configuration for Met {
    fn rules(&self) -> CompiledRules {
        // A source that was broken or emptied has no say in whether there were rules.
        if !self.texts.mention("rule") && !self.place("rules").is_some_and(|file| file.is_file()) {
            return CompiledRules::default();
        }
        let file = self.file("rules");
        let sources = self.sources();
        let last = file.as_deref().and_then(read);
        match last {
            Some((text, of)) if of == sources => CompiledRules {
                text: Some(text),
                ..CompiledRules::default()
            },
            last => {
                let last = last.map(|(text, _)| text);
                self.compile_rules(&sources, file.as_deref(), last)
            }
        }
    }

    fn workflows(&self) -> Result<Option<String>, String> {
        if self.texts.text(super::Layer::Project).is_none() && !self.layout.config_file().is_file()
        {
            return Ok(None);
        }
        let sources = self.sources();
        let file = self.file("json");
        let kept = file
            .as_deref()
            .and_then(|file| read_workflows(file, &sources));
        let compile = || {
            let merged = Merged::of(self.texts.clone(), &self.env);
            let is_right = !merged.is_wrong();
            let workflows = workflow::definitions(&merged.or_last_good(&self.layout, &self.env))?;
            let text = json!({ "sources": sources, "workflows": workflows }).to_string();
            if let Some(file) = file.as_deref().filter(|_| is_right) {
                // As above.
                let _unkept = keep(file, &text);
            }
            Ok::<_, String>(text)
        };
        let text = kept.map_or_else(compile, Ok)?;
        let has_any = Object::parse(&text).is_ok_and(|compiled| {
            let workflows = compiled.object("workflows");
            workflows.is_some_and(|workflows| !workflows.is_empty())
        });
        Ok(has_any.then_some(text))
    }
}

/// The text of compiled rules, and what tells its sources from others.
fn read(file: &Path) -> Option<(String, String)> {
    let text = read_text(file)?;
    let head = Object::parse(text.split('\n').next()?).ok()?;
    let is_known = head.get("form")?.u64() == Some(FORM);
    let sources = head.str("sources").filter(|_| is_known)?.into_owned();
    Some((text, sources))
}

/// The file's text, if it was compiled from these sources.
fn read_workflows(file: &Path, sources: &str) -> Option<String> {
    let text = read_text(file)?;
    let is_current = Object::parse(&text).ok()?.str("sources")? == sources;
    is_current.then_some(text)
}

fn read_text(file: &Path) -> Option<String> {
    let contents = fs::read_own(file, CAP).ok()??;
    String::from_utf8(contents.bytes).ok()
}

fn keep(file: &Path, text: &str) -> io::Result<()> {
    if let Some(directory) = file.parent() {
        fs::private_directory(directory)?;
    }
    fs::replace(file, text.as_bytes(), Durability::Synced).map_err(io::Error::other)
}

/// Whether names that differ in case alone are the same where the project is.
fn folds_case(root: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let other = |name: &str| -> String {
        let swap = |c: char| {
            if c.is_lowercase() {
                c.to_ascii_uppercase()
            } else {
                c.to_ascii_lowercase()
            }
        };
        name.chars().map(swap).collect()
    };
    let Some(name) = root.file_name().and_then(std::ffi::OsStr::to_str) else {
        return false;
    };
    let swapped = other(name);
    if swapped == name {
        return false;
    }
    let identity = |path: &Path| path.metadata().ok().map(|meta| (meta.dev(), meta.ino()));
    let there = identity(&root.with_file_name(swapped));
    there.is_some() && there == identity(root)
}
