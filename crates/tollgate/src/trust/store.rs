//! Where trust is kept: one file per repository in the person's own state directory.
//!
//! The directory is named by the environment, and a project's settings for an agent can set the
//! environment. So a store inside of the repository that asks is none, and neither is one that
//! somebody else can write to.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tollgate_core::env::Env;
use tollgate_core::fs::{self, Durability};
use tollgate_core::project::{Layout, real};
use tollgate_core::state::lock::{self, Acquired};
use tollgate_core::state::timestamp::iso;

use super::commands::Commands;
use super::repository::Repository;

/// So many sets are remembered per project: branches that differ in their checks.
const SETS: usize = 16;

const CAP: u64 = 4 << 20;

/// How long somebody else may be writing.
const PATIENCE: Duration = Duration::from_secs(5);

/// The person's directory of trusted repositories.
#[derive(Debug)]
pub(crate) struct Store {
    directory: PathBuf,
}

/// A set that a person trusted.
#[derive(Debug)]
pub(crate) struct Trusted {
    pub(crate) commands: Commands,
    pub(crate) at: String,
    /// Who else owned a part of the repository then.
    pub(crate) stranger: Option<u32>,
}

impl Store {
    /// The store of the person, if it can be one for this repository.
    pub(crate) fn open(env: &Env, repository: &Repository) -> Result<Self, String> {
        let home = Layout::person(env).ok_or_else(|| {
            "there is no home directory to keep trust in (HOME is not set)".to_owned()
        })?;
        if let Some(top) = lies_in(&home, &repository.top) {
            return Err(format!(
                "{} lies in {}: a repository cannot hold its own trust (XDG_STATE_HOME or HOME points there)",
                home.display(),
                top.display()
            ));
        }
        let directory = home.join("trust");
        for path in [&home, &directory] {
            if let Some(why) = unsafe_place(path) {
                return Err(why);
            }
        }
        Ok(Self { directory })
    }

    pub(crate) fn file(&self, repository: &Repository) -> PathBuf {
        self.directory.join(format!("{}.json", repository.key))
    }

    /// What was trusted in this project, the newest last.
    pub(crate) fn trusted(&self, repository: &Repository) -> Result<Vec<Trusted>, String> {
        let content = self.read(repository)?;
        let sets = content
            .get("projects")
            .and_then(|projects| projects.get(&repository.project))
            .and_then(Value::as_array);
        let read = |set: &Value| {
            Some(Trusted {
                commands: Commands::from_json(set.get("commands")?)?,
                at: set.get("at")?.as_str()?.to_owned(),
                stranger: set
                    .get("owner")
                    .and_then(Value::as_u64)
                    .and_then(|uid| u32::try_from(uid).ok()),
            })
        };
        Ok(sets.into_iter().flatten().filter_map(read).collect())
    }

    /// Writes down that a set is trusted.
    pub(crate) fn add(
        &self,
        repository: &Repository,
        commands: &Commands,
        stranger: Option<u32>,
        now: Timestamp,
    ) -> Result<(), String> {
        let set = json!({
            "fingerprint": commands.fingerprint(), "at": iso(now), "owner": stranger,
            "commands": commands.to_json(),
        });
        self.change(repository, |sets| {
            sets.retain(|old| old.get("fingerprint") != set.get("fingerprint"));
            sets.push(set);
            let surplus = sets.len().saturating_sub(SETS);
            sets.drain(..surplus);
        })
    }

    /// Forgets all that was trusted in this project.
    pub(crate) fn forget(&self, repository: &Repository) -> Result<(), String> {
        self.change(repository, Vec::clear)
    }

    fn change(
        &self,
        repository: &Repository,
        edit: impl FnOnce(&mut Vec<Value>),
    ) -> Result<(), String> {
        let told = |error: io::Error| format!("{}: {error}", self.directory.display());
        fs::private_directory(&self.directory).map_err(told)?;
        let lock = lock::acquire(&self.directory.join("lock"), PATIENCE).map_err(told)?;
        let Acquired::Held(_lock) = lock else {
            return Err(format!(
                "{} is being written by somebody else; try again",
                self.directory.display()
            ));
        };
        let mut content = self.read(repository)?;
        content.insert("repository".to_owned(), json!(repository.place));
        let projects = content.entry("projects").or_insert_with(|| json!({}));
        if let Some(projects) = projects.as_object_mut() {
            let sets = projects
                .entry(&repository.project)
                .or_insert_with(|| json!([]));
            if let Some(sets) = sets.as_array_mut() {
                edit(sets);
            }
        }
        let file = self.file(repository);
        let text = format!("{:#}\n", Value::Object(content));
        fs::replace(&file, text.as_bytes(), Durability::Synced)
            .map_err(|fault| format!("{}: {fault}", file.display()))
    }

    fn read(&self, repository: &Repository) -> Result<Map<String, Value>, String> {
        let file = self.file(repository);
        if let Some(why) = unsafe_place(&file) {
            return Err(why);
        }
        let contents = fs::read_own(&file, CAP);
        let Some(contents) = contents.map_err(|fault| format!("{}: {fault}", file.display()))?
        else {
            return Ok(Map::new());
        };
        serde_json::from_slice(&contents.bytes).map_err(|error| {
            format!(
                "{} cannot be read ({error}); remove it and trust again",
                file.display()
            )
        })
    }
}

/// The repository above the project that a path lies in. A home directory that is itself under
/// version control is none: that is the person's own.
fn lies_in(path: &Path, top: &Path) -> Option<PathBuf> {
    let real = real(path);
    let holds = |above: &&Path| above.join(".git").exists() || *above == top;
    let around = top.ancestors().filter(holds);
    let mut around = around.filter(|above| real.starts_with(above));
    around
        .find(|above| home_of_user().as_deref() != Some(*above))
        .map(Path::to_owned)
}

/// The home directory that the system knows, whatever `HOME` says.
fn home_of_user() -> Option<PathBuf> {
    let us = rustix::process::geteuid().as_raw().to_string();
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let line = users
        .lines()
        .find(|line| line.split(':').nth(2) == Some(us.as_str()))?;
    PathBuf::from(line.split(':').nth(5)?).canonicalize().ok()
}

/// Why nothing can be trusted that lies there.
pub(crate) fn unsafe_place(path: &Path) -> Option<String> {
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
