//! What the gates look at: the contents of the work tree's files, as git's names of them, and one
//! digest per gate of those that it looks at.
//!
//! Every file that git does not ignore has its content's name in the snapshot's index, so nothing is
//! read twice here. A repository inside of the project counts for every gate, as a whole.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use gix_index::hash::ObjectId;
use sha2::{Digest as _, Sha256};
use tollgate_core::project::{lexical, names_state_file};
use tollgate_store::fs;

use super::super::config::{Config, EntryPoint, Words};
use super::super::jobs::{self, Gate, Instance};
use super::super::nested;
use super::super::record::{Key, VERSION};
use super::super::snapshot::Taken;
use crate::git::Git;
use crate::hash::hex;

/// A file that a command names and git does not know is read up to this size.
const CAP: u64 = 64 << 20;

/// Files that say how a command runs its work: whatever inputs a check names, these are among them.
const MANIFESTS: [&str; 16] = [
    "Cargo.lock",
    "Cargo.toml",
    "GNUmakefile",
    "Justfile",
    "Makefile",
    "build.gradle",
    "build.gradle.kts",
    "deno.json",
    "go.mod",
    "go.sum",
    "justfile",
    "makefile",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "tox.ini",
];

/// The files of a project as they are, and what is known about them so far.
pub(crate) struct Contents<'t> {
    config: &'t Config,
    files: Vec<File<'t>>,
    /// The inputs of gates so far, each with its digest. Most gates have the same.
    digests: Vec<(Inputs<'t>, String)>,
}

/// A file, or a repository inside of the project.
struct File<'t> {
    /// Relative to the project's root.
    path: Cow<'t, str>,
    mode: u32,
    id: ObjectId,
    is_repository: bool,
}

/// Which files a gate looks at.
struct Inputs<'c> {
    /// The path, `inputs` and `exclude` of each entry point.
    places: Vec<(&'c EntryPoint, String)>,
    /// Where a check runs: the manifests there and above count.
    directory: Option<String>,
    /// The files that its command names, relative to the project's root.
    named: Vec<String>,
}

impl<'t> Contents<'t> {
    pub(crate) fn of(git: &Git, taken: &'t Taken, config: &'t Config) -> Self {
        let below = git.root().strip_prefix(git.top()).unwrap_or(Path::new(""));
        let mut below = below.as_os_str().as_bytes().to_vec();
        if !below.is_empty() {
            below.push(b'/');
        }
        let logs = config.log_dir.strip_prefix(&config.root).ok();
        let logs = logs.map(Path::to_string_lossy);
        let files = taken.entries().filter_map(|entry| {
            let bytes = entry.path.strip_prefix(below.as_slice())?;
            let path = String::from_utf8_lossy(bytes);
            // A step of the workflow is no change of the work.
            let is_own = jobs::is_below(&path, ".tollgate/local")
                || names_state_file(Path::new(&*path))
                || logs
                    .as_ref()
                    .is_some_and(|logs| jobs::is_below(&path, logs));
            (!is_own).then(|| File {
                path,
                mode: entry.mode,
                id: if entry.is_repository {
                    nested::tree_of(git, Path::new(OsStr::from_bytes(bytes)), entry.id)
                } else {
                    entry.id
                },
                is_repository: entry.is_repository,
            })
        });
        Self {
            config,
            files: files.collect(),
            digests: Vec::new(),
        }
    }

    /// What evidence of a gate is about now.
    pub(crate) fn key(&mut self, gate: &Instance<'t>, definition: String) -> Key {
        let inputs = Inputs::of(self.config, gate);
        let others = outside(&inputs.named);
        let known = self.digests.iter().find(|(known, _)| *known == inputs);
        let mut digest = if let Some((_, digest)) = known {
            digest.clone()
        } else {
            let digest = self.digest(&inputs);
            self.digests.push((inputs, digest.clone()));
            digest
        };
        if !others.is_empty() {
            let mut hasher = Sha256::new();
            hasher.update(digest);
            for (path, content) in others {
                hasher.update(format!("\0{path}\0{content}"));
            }
            digest = hex(&hasher.finalize());
        }
        Key {
            schema: VERSION,
            gate: gate.job.evidence_id(),
            definition,
            inputs: digest,
            platform: format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH),
            tools: String::new(),
            environment: String::new(),
        }
    }

    /// The digest of all files that a gate looks at.
    fn digest(&self, inputs: &Inputs<'_>) -> String {
        let mut hasher = Sha256::new();
        let takes = |file: &&File<'_>| file.is_repository || inputs.take(self.config, &file.path);
        for file in self.files.iter().filter(takes) {
            hasher.update((file.path.len() as u64).to_le_bytes());
            hasher.update(file.path.as_bytes());
            hasher.update(file.mode.to_le_bytes());
            hasher.update(file.id.as_slice());
        }
        hex(&hasher.finalize())
    }
}

/// Whether a gate looks at one of these files.
pub(crate) fn looks_at(config: &Config, gate: &Instance<'_>, paths: &[String]) -> bool {
    if paths.is_empty() {
        return false;
    }
    let inputs = Inputs::of(config, gate);
    paths.iter().any(|path| inputs.take(config, path))
}

impl PartialEq for Inputs<'_> {
    /// Entry points are the same if they are one: each may name hundreds of gates.
    fn eq(&self, other: &Self) -> bool {
        let is_same = |((one, path), (other, other_path)): (
            &(&EntryPoint, String),
            &(&EntryPoint, String),
        )| { std::ptr::eq(*one, *other) && path == other_path };
        self.places.len() == other.places.len()
            && self.places.iter().zip(&other.places).all(is_same)
            && self.directory == other.directory
            && self.named == other.named
    }
}

impl<'c> Inputs<'c> {
    fn of(config: &Config, gate: &Instance<'c>) -> Self {
        let (directory, named) = match &gate.job.gate {
            Gate::Check { check, directory } => (
                Some(directory.clone()),
                named(config, &check.command, directory),
            ),
            Gate::Review(_) => (None, Vec::new()),
        };
        Self {
            places: gate.places.clone(),
            directory,
            named,
        }
    }

    /// Whether a file is among them. Whatever is declared, the configuration is, and so are the
    /// manifests of the runner and the files that the command names.
    fn take(&self, config: &Config, file: &str) -> bool {
        let mut places = self.places.iter();
        places.any(|(entry, path)| jobs::leads(entry, path, file))
            || is_configuration(config, file)
            || self.is_manifest(file)
            || self.named.iter().any(|named| named == file)
    }

    fn is_manifest(&self, file: &str) -> bool {
        let (parent, name) = file.rsplit_once('/').unwrap_or((".", file));
        let is_above = |directory: &String| {
            parent == "." || parent == directory || {
                let rest = directory.strip_prefix(parent);
                rest.is_some_and(|rest| rest.starts_with('/'))
            }
        };
        MANIFESTS.contains(&name) && self.directory.as_ref().is_some_and(is_above)
    }
}

/// Those of some files that lie outside of the project, each with what is in it.
fn outside(named: &[String]) -> Vec<(String, String)> {
    let outside = named.iter().filter(|path| Path::new(path).is_absolute());
    let read = outside.filter_map(|path| {
        let content = fs::read_regular(Path::new(path), CAP).ok()??;
        Some((path.clone(), hex(&Sha256::digest(&content.bytes))))
    });
    read.collect()
}

/// The files that a command names, relative to the project's root; absolute outside of it. What it only
/// writes to by `>` is none of them.
fn named(config: &Config, command: &str, directory: &str) -> Vec<String> {
    let is_sign = |c: char| c.is_whitespace() || "\"'`;|&()<=".contains(c);
    let redirected = command.replace('>', " > ");
    let words = redirected.split(is_sign).filter(|word| !word.is_empty());
    let mut is_target = false;
    let mut named: Vec<String> = words
        .filter(|word| {
            let was_target = std::mem::replace(&mut is_target, *word == ">");
            !was_target && *word != ">"
        })
        .map(|word| lexical(&config.root.join(directory).join(word)))
        .filter(|path| path.is_file())
        .map(|path| {
            let inside = path.strip_prefix(&config.root).unwrap_or(&path);
            inside.to_string_lossy().into_owned()
        })
        .collect();
    named.sort();
    named.dedup();
    named
}

/// Whether a file is one of the project's configuration. In an existing home, the gate's definition
/// says all of it that matters.
fn is_configuration(config: &Config, path: &str) -> bool {
    config.words == Words::Own && matches!(path, "tollgate.toml" | "tollgate.local.toml")
}
