//! What is kept about a person, outside of every project: a list for each project of each
//! repository, in files of the person's own state directory.
//!
//! The directory is named by the environment, and a project's settings for an agent can set the
//! environment. So a store inside of the repository that is asked about is none, and neither is
//! one that another user can write to.

mod kept;
mod repository;

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};
use tollgate_core::env::Env;
use tollgate_core::git::Disk;
use tollgate_core::person;
use tollgate_core::project::{Layout, real_on};
use tollgate_store::fs::{self, Durability};
use tollgate_store::lock::{self, Acquired};

pub(crate) use kept::{Kept, forget, kept};
pub(crate) use repository::Repository;

const CAP: u64 = 4 << 20;

/// What was neither read nor written for so long is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_hours(90 * 24);

/// A file that is read says when, to the day.
const RENEWED_AFTER: Duration = Duration::from_hours(24);

/// A directory with a file for each repository.
#[derive(Debug)]
pub(crate) struct UserStore<'r> {
    directory: PathBuf,
    repository: &'r Repository,
}

impl<'r> UserStore<'r> {
    /// The store of this name, if it can be believed about this repository.
    pub(crate) fn open(env: &Env, repository: &'r Repository, name: &str) -> Result<Self, String> {
        Ok(Self {
            directory: directory(env, &repository.top, name)?,
            repository,
        })
    }

    fn file(&self) -> PathBuf {
        self.directory.join(format!("{}.json", self.repository.key))
    }

    pub(crate) fn list(&self) -> Result<Vec<Value>, String> {
        Ok(self.take(&mut self.read()?))
    }

    /// The project's list, out of all that the file has.
    fn take(&self, content: &mut Map<String, Value>) -> Vec<Value> {
        let list = content
            .get_mut("projects")
            .and_then(|projects| projects.get_mut(&self.repository.project))
            .and_then(Value::as_array_mut);
        list.map(std::mem::take).unwrap_or_default()
    }

    /// Changes the project's list; no other process does meanwhile.
    pub(crate) fn change<T>(
        &self,
        patience: Duration,
        edit: impl FnOnce(&mut Vec<Value>) -> T,
    ) -> Result<T, String> {
        let failed = |error: io::Error| format!("{}: {error}", self.directory.display());
        fs::private_directory(&self.directory).map_err(failed)?;
        let lock = lock::acquire(&self.directory.join("lock"), patience).map_err(failed)?;
        let Acquired::Held(_lock) = lock else {
            return Err(format!(
                "{} is being written by another process; try again",
                self.directory.display()
            ));
        };
        let mut content = self.read()?;
        content.insert("repository".to_owned(), json!(self.repository.place));
        let mut list = self.take(&mut content);
        let done = edit(&mut list);
        let projects = content.entry("projects").or_insert_with(|| json!({}));
        if let Some(projects) = projects.as_object_mut() {
            projects.insert(self.repository.project.clone(), list.into());
        }
        let file = self.file();
        let text = format!("{:#}\n", Value::Object(content));
        fs::replace(&file, text.as_bytes(), Durability::Synced)
            .map_err(|fault| format!("{}: {fault}", file.display()))?;
        self.prune();
        Ok(done)
    }

    /// Forgets repositories that were not used for so long.
    fn prune(&self) {
        let is_old = |path: &Path| is_older(path, FORGOTTEN_AFTER);
        let names = fs::names(&self.directory).unwrap_or_default().into_iter();
        let files = names.map(|name| self.directory.join(name));
        for file in
            files.filter(|file| file.extension().is_some_and(|kind| kind == "json") && is_old(file))
        {
            // What cannot be removed is tried again.
            let _left = fs::remove(&file);
        }
    }

    fn read(&self) -> Result<Map<String, Value>, String> {
        let file = self.file();
        if let Some(why) = unsafe_place(&file) {
            return Err(why);
        }
        let contents = fs::read_own(&file, CAP);
        let Some(contents) = contents.map_err(|fault| format!("{}: {fault}", file.display()))?
        else {
            return Ok(Map::new());
        };
        if is_older(&file, RENEWED_AFTER) {
            // Where that fails, it is forgotten earlier.
            let opened = std::fs::File::open(&file);
            let _unchanged = opened.and_then(|file| file.set_modified(SystemTime::now()));
        }
        serde_json::from_slice(&contents.bytes).map_err(|error| {
            format!(
                "{} cannot be read ({error}); remove it and start again",
                file.display()
            )
        })
    }
}

fn is_older(file: &Path, than: Duration) -> bool {
    let modified = file.symlink_metadata().and_then(|meta| meta.modified());
    let age = modified.ok().and_then(|modified| modified.elapsed().ok());
    age.is_some_and(|age| age > than)
}

/// What only this person's programs can read: it signs what is kept in projects. Made when it is first
/// asked for.
pub(crate) fn secret(env: &Env, layout: &Layout) -> Result<String, String> {
    let file = directory(env, layout.root(), "secret")?;
    let failed = |what: &dyn std::fmt::Display| format!("{}: {what}", file.display());
    let read = || fs::read_own(&file, CAP).map_err(|fault| failed(&fault));
    let mut contents = read()?;
    if contents.is_none() {
        let bytes = crate::random::bytes::<32>().map_err(|error| failed(&error))?;
        let home = file.parent().unwrap_or(Path::new("/"));
        fs::private_directory(home).map_err(|error| failed(&error))?;
        // The first process makes it.
        let _is_first = fs::create_private(&file, crate::hash::hex(&bytes).as_bytes())
            .map_err(|fault| failed(&fault))?;
        contents = read()?;
    }
    let contents = contents.ok_or_else(|| failed(&"it is gone"))?;
    String::from_utf8(contents.bytes).map_err(|error| failed(&error))
}

/// The directory of this name, if what lies in it can be believed about the work tree `top`.
pub(crate) fn directory(env: &Env, top: &Path, name: &str) -> Result<PathBuf, String> {
    directory_on(&Disk::default(), env, top, name)
}

/// The same on a disk that was asked before.
pub(crate) fn directory_on(
    disk: &Disk,
    env: &Env,
    top: &Path,
    name: &str,
) -> Result<PathBuf, String> {
    let home = person::state_home(env)
        .ok_or_else(|| "there is no home directory to keep it in: HOME is not set".to_owned())?;
    if let Some(top) = lies_in(disk, &home, top) {
        return Err(format!(
            "{} lies in {}: a repository cannot hold its own trust (XDG_STATE_HOME or HOME points there)",
            home.display(),
            top.display()
        ));
    }
    let directory = home.join(name);
    for path in [&home, &directory] {
        if let Some(why) = unsafe_place(path) {
            return Err(why);
        }
    }
    Ok(directory)
}

/// The repository above the project that a path lies in. A home directory that is itself under
/// version control is none: that is the person's own.
fn lies_in(disk: &Disk, path: &Path, top: &Path) -> Option<PathBuf> {
    let real = real_on(disk, path);
    let holds = |above: &&Path| above.join(".git").exists() || *above == top;
    let around = top.ancestors().filter(|above| real.starts_with(above));
    let mut around = around.filter(holds);
    around
        .find(|above| home_of_user().as_deref() != Some(*above))
        .map(Path::to_owned)
}

/// The home directory that the system knows, whatever `HOME` says.
fn home_of_user() -> Option<PathBuf> {
    PathBuf::from(user(5)?).canonicalize().ok()
}

/// The person's name, as the system knows it.
pub(crate) fn user_name() -> String {
    user(0).unwrap_or_else(|| format!("user {}", rustix::process::geteuid().as_raw()))
}

/// A field of the user's line in the system's list.
fn user(field: usize) -> Option<String> {
    let us = rustix::process::geteuid().as_raw().to_string();
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let mut lines = users.lines();
    let line = lines.find(|line| line.split(':').nth(2) == Some(us.as_str()))?;
    line.split(':').nth(field).map(str::to_owned)
}

/// Why nothing can be believed that lies there.
fn unsafe_place(path: &Path) -> Option<String> {
    let meta = path.symlink_metadata().ok()?;
    let us = rustix::process::geteuid().as_raw();
    if meta.uid() != us {
        let owner = meta.uid();
        return Some(format!("{} belongs to user {owner}", path.display()));
    }
    if !meta.is_symlink() && meta.mode() & 0o022 != 0 {
        let path = path.display();
        return Some(format!(
            "others can write to {path}; run `chmod go-w {path}`"
        ));
    }
    None
}
