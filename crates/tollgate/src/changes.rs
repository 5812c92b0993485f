//! What changed on a branch, for the guards that must know: the only fact of an event for
//! which a process is started, and only at a gate.
//!
//! Git has a few seconds in all: an agent waits for the answer.

use std::path::Path;
use std::time::Duration;

use tollgate_core::context::{AskWork, Sources};
use tollgate_core::project::Layout;

use crate::gate::snapshot::{Snapshot, Taken};
use crate::git::{Asked, Git, GitError};

/// How long all of it may take. A hook has ten seconds.
const DEADLINE: Duration = Duration::from_secs(5);

/// Whom every event that is decided may ask.
pub(crate) const SOURCES: Sources = Sources {
    git: None,
    changes: Some(since),
    work: None,
    config: Some(crate::config::compiled::fresh),
    settings: Some(crate::agents::unregister_check::ASK),
};

/// Branches that work is usually taken from.
const TRUNKS: [&str; 2] = ["main", "master"];

/// The files in `directory` that differ from where the branch left `base`, or else the trunk:
/// committed, staged, changed or new.
pub(crate) fn since(directory: &Path, base: Option<&str>) -> Result<Vec<String>, String> {
    changed(directory, base).map_err(|error| error.to_string())
}

fn changed(directory: &Path, base: Option<&str>) -> Result<Vec<String>, GitError> {
    let git = Git::at(directory)?.wary(DEADLINE);
    let ask = |args: &[&str]| -> Asked { git.ask(args) };
    let mut start = "HEAD".to_owned();
    for name in base.into_iter().chain(TRUNKS) {
        match ask(&["merge-base", "HEAD", &format!("refs/heads/{name}")]).line() {
            Ok(commit) => {
                start = commit;
                break;
            }
            // Nothing in common, or no such branch.
            Err(error) if !error.is_silent() => {}
            Err(error) => return Err(error),
        }
    }
    let mut files = ask(&[
        "diff",
        "--name-only",
        "--relative",
        "--no-renames",
        "--no-ext-diff",
        "-z",
        &start,
        "--",
    ])
    .paths()?;
    files.extend(ask(&["ls-files", "--others", "--exclude-standard", "-z"]).paths()?);
    Ok(files)
}

/// The work as it is: which tree it is, and what changed since it was another one.
pub(crate) const WORK: AskWork = AskWork {
    tree: |layout| {
        let named = taken(layout).and_then(|(git, taken)| {
            let tree = taken.tree(&git);
            tree.name().map(str::to_owned)
        });
        named.map_err(|error| error.to_string())
    },
    since: |layout, tree| {
        let changed = taken(layout).and_then(|(git, taken)| taken.since(&git, tree));
        changed.map_err(|error| error.to_string())
    },
};

/// The same where nothing is written: it names nothing.
pub(crate) const READING: AskWork = AskWork {
    tree: |_| Err("nothing is written down".to_owned()),
    since: WORK.since,
};

fn taken(layout: &Layout) -> Result<(Git, Taken), GitError> {
    let git = Git::at(layout.root())?.wary(DEADLINE);
    let taken = Snapshot::begin_without(&git, &layout.local(), None)?.taken(&git)?;
    Ok((git, taken))
}
