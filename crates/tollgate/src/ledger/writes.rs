//! Which files the tools of each session wrote lately, so that no session is blocked for another's work.
//!
//! One small file per session beside its ledger, a line for each write. Commands are not in it, but for
//! Tollgate's own on a plan: what they change counts as the session's own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tollgate_core::project::Layout;
use tollgate_core::protocol::Event;
use tollgate_store::fs;

/// A session whose last write is older is not editing.
const LATELY: Duration = Duration::from_mins(30);

/// No such file is read further.
const CAP: u64 = 1 << 20;

/// Notes the files that a tool wrote. Where sessions have no ledgers, only those
/// of plans are needed.
pub(crate) fn note(layout: &Layout, event: &Event<'_>) {
    let Some(session) = event.session.as_deref() else {
        return;
    };
    for path in event.files() {
        note_file(layout, session, Path::new(&*path));
    }
}

/// Notes one file that a session wrote.
pub(crate) fn note_file(layout: &Layout, session: &str, path: &Path) {
    let file = file(&layout.local(), session);
    let path = layout.root().join(path);
    let (Some(directory), Ok(inside)) = (file.parent(), path.strip_prefix(layout.root())) else {
        return;
    };
    let is_asked_for = directory.is_dir()
        || (Layout::is_in_plans(inside) && fs::private_directory(directory).is_ok());
    if is_asked_for {
        // What is not noted counts as the session's own.
        let _unnoted = fs::append_line(&file, &inside.to_string_lossy());
    }
}

/// The files that this session wrote.
pub(crate) fn by(local: &Path, session: &str) -> Vec<String> {
    read(&file(local, session))
}

/// The files that other sessions wrote lately and this one did not.
pub(crate) fn by_others(local: &Path, session: &str) -> BTreeSet<String> {
    by_others_within(local, session, LATELY)
}

/// The same for another time.
pub(crate) fn by_others_within(local: &Path, session: &str, time: Duration) -> BTreeSet<String> {
    let own = file(local, session);
    let Some(directory) = own.parent() else {
        return BTreeSet::new();
    };
    let is_lately = |path: &PathBuf| {
        let modified = path.metadata().and_then(|meta| meta.modified());
        let age = modified.ok().and_then(|time| time.elapsed().ok());
        age.is_some_and(|age| age < time)
    };
    let names = fs::names(directory).unwrap_or_default().into_iter();
    let files = names.map(|name| directory.join(name));
    let others = files
        .filter(|path| path.extension() == own.extension() && *path != own)
        .filter(is_lately);
    let mut written: BTreeSet<String> = others.flat_map(|path| read(&path)).collect();
    for path in read(&own) {
        written.remove(&path);
    }
    written
}

fn read(path: &Path) -> Vec<String> {
    let contents = fs::read_own(path, CAP).ok().flatten();
    let bytes = contents.map(|contents| contents.bytes).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.lines().map(str::to_owned).collect()
}

fn file(local: &Path, session: &str) -> PathBuf {
    super::file(local, session).with_extension("writes")
}
