//! What an agent's settings files looked like when they were last compared: inode and time of each, in
//! a small file of the project's. After a command it is enough to compare these, so that settings which
//! a script changed are named by the next event, and not only when the agent rests.

use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_core::protocol::{Event, Protocol, ToolCall};
use tollgate_store::fs::{self, Durability};

use crate::agents::{AGENTS, Places, Scope};

const CAP: u64 = 64 << 10;

fn file(layout: &Layout, protocol: Protocol) -> PathBuf {
    let name = format!("{}.settings", protocol.as_str());
    layout.local().join("heard").join(name)
}

/// Whether a command changed a settings file of its agent since they were compared. Where they never
/// were, they are when the agent rests.
pub(super) fn differ(event: &Event<'_>, layout: &Layout) -> bool {
    let Some(tool) = &event.tool else {
        return false;
    };
    // Tools that write files are checked before they do.
    if !matches!(tool.call, ToolCall::Shell { .. }) {
        return false;
    }
    let contents = fs::read_regular(&file(layout, event.protocol), CAP);
    let Some(contents) = contents.ok().flatten() else {
        return false;
    };
    let text = contents.into_text();
    let mut lines = text.lines();
    lines.any(|line| {
        let path = line.splitn(3, ' ').nth(2).unwrap_or_default();
        stamp(Path::new(path)) != line
    })
}

/// Remembers what they look like now.
pub(super) fn write(protocol: Protocol, layout: &Layout, env: &Env) {
    let Some(agent) = AGENTS.iter().find(|agent| agent.protocol == protocol) else {
        return;
    };
    let places = Places::around(layout.root().to_owned(), env, crate::environment::variable);
    let files = Scope::ALL
        .into_iter()
        .flat_map(|scope| agent.reads(scope, &places));
    let text = files.fold(String::new(), |mut text, file| {
        // Writing to memory does not fail.
        let _written = writeln!(text, "{}", stamp(&file));
        text
    });
    let file = file(layout, protocol);
    let before = fs::read_regular(&file, CAP).ok().flatten();
    if before.is_some_and(|before| before.bytes == text.as_bytes()) {
        return;
    }
    // Without it the next rest finds what changed.
    if let Some(Ok(())) = file.parent().map(fs::private_directory) {
        let _unwritten = fs::replace(&file, text.as_bytes(), Durability::Lazy);
    }
}

/// A line about a file: time, inode, path.
fn stamp(path: &Path) -> String {
    let (time, inode) = match path.metadata() {
        Ok(meta) => (meta.ctime_nsec() + meta.ctime() * 1_000_000_000, meta.ino()),
        Err(_) => (0, 0),
    };
    format!("{time} {inode} {}", path.display())
}
