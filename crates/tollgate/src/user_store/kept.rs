//! Everything that is kept about a person outside of projects, and its end.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tollgate_store::fs;

use super::{CAP, unsafe_place};

/// One part of what is kept: a file or a directory of the state directory.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) path: PathBuf,
    /// What it is, for people.
    pub(crate) about: &'static str,
    pub(crate) files: usize,
    pub(crate) bytes: u64,
    /// The repositories that it is about.
    pub(crate) repositories: Vec<PathBuf>,
}

/// The parts that there are, in the order of their names.
pub(crate) fn kept(state: &Path) -> io::Result<Vec<Kept>> {
    let mut names = match fs::names(state) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        names => names?,
    };
    names.sort();
    let mut all = Vec::new();
    for name in names {
        let mut part = Kept {
            path: state.join(&name),
            about: about(&name.to_string_lossy()),
            files: 0,
            bytes: 0,
            repositories: Vec::new(),
        };
        count(&part.path.clone(), &mut part)?;
        part.repositories.sort();
        part.repositories.dedup();
        all.push(part);
    }
    Ok(all)
}

/// Removes all of it. What cannot be believed to be ours is not touched.
pub(crate) fn forget(state: &Path) -> Result<(), String> {
    let is_directory = match state.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(format!("{}: {error}", state.display())),
        Ok(meta) => meta.is_dir(),
    };
    if !is_directory {
        return Err(format!("{} is not a directory", state.display()));
    }
    if let Some(why) = unsafe_place(state) {
        return Err(why);
    }
    std::fs::remove_dir_all(state).map_err(|error| format!("{}: {error}", state.display()))
}

fn about(name: &str) -> &'static str {
    match name {
        "trust" => "the commands that you trust",
        "gates" => "the gates that you accepted",
        "overrides" => "what you allowed",
        "asked" => "questions in a chat that wait for your answer",
        "projects" => "what your projects had, to report what is gone",
        "secret" => "the key that signs the evidence of projects",
        "compiled" => "what your projects' tollgate.toml say, for deciding events",
        "install" => "your own settings as they were before the install",
        ".gitignore" => "keeps it out of git",
        _ => "memory and caches",
    }
}

fn count(path: &Path, part: &mut Kept) -> io::Result<()> {
    let meta = path.symlink_metadata()?;
    if meta.is_dir() {
        for name in fs::names(path)? {
            count(&path.join(name), part)?;
        }
        return Ok(());
    }
    part.files += 1;
    part.bytes += meta.len();
    part.repositories.extend(repository_of(path));
    Ok(())
}

fn repository_of(path: &Path) -> Option<PathBuf> {
    if path.extension()? != "json" {
        return None;
    }
    let contents = fs::read_own(path, CAP).ok()??;
    let list: Value = serde_json::from_slice(&contents.bytes).ok()?;
    Some(PathBuf::from(list.get("repository")?.as_str()?))
}
