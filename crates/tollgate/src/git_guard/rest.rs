//! When the hook is in place: a hook that `install` proposed is aside while no workflow runs, so
//! that people's git starts no program for it.
//!
//! Every command that starts or ends a workflow, every beginning of a session and every command of
//! an agent's asks anew. What cannot be read counts as a running workflow: only a state that says
//! so lets the hook step aside, and whatever is in doubt brings it back.

use std::io;
use std::path::{Path, PathBuf};

use tollgate_core::fs;
use tollgate_core::git::Repository;
use tollgate_core::project::Layout;
use tollgate_core::protocol::{Event, EventKind, ToolCall};
use tollgate_core::scene::MAX_FILE;
use tollgate_core::state::view::State;
use tollgate_core::verdict::Fault;

use super::script::Hooks;

/// Puts the hook back before an agent's command runs, if it is aside and a workflow runs.
pub(crate) fn wake_for(event: &Event<'_>, layout: &Layout) -> Option<Fault> {
    let is_command = || {
        let tool = event.tool.as_ref();
        tool.is_some_and(|tool| matches!(tool.call, ToolCall::Shell { .. }))
    };
    if event.kind != EventKind::SessionStart && !(event.kind == EventKind::PreTool && is_command())
    {
        return None;
    }
    let hooks = own_hooks(layout.root()).filter(Hooks::is_aside)?;
    if is_idle(layout) {
        return None;
    }
    let error = hooks.step_in().err()?;
    let text = format!(
        "the guard on git's side is not in place: {}: {error}; `tollgate install --git` puts it there",
        hooks.file().display()
    );
    Some(Fault::new("git-guard", text))
}

/// Puts the hook where it belongs after a workflow started or ended.
pub(crate) fn follow(layout: &Layout) -> io::Result<()> {
    let Some(repository) = Repository::discover(layout.root()) else {
        return Ok(());
    };
    let hooks = Hooks::own(&repository.common_dir);
    let idle = is_idle(layout) && work_trees(&repository).all(|tree| is_idle_at(&tree));
    if idle {
        hooks.step_aside()
    } else if hooks.is_aside() {
        hooks.step_in()
    } else {
        Ok(())
    }
}

/// Whether a workflow certainly runs in a project of this layout.
pub(crate) fn is_busy(layout: &Layout) -> bool {
    states(layout).any(|file| has_workflow(&file) == Some(true))
}

/// Whether certainly none does.
fn is_idle(layout: &Layout) -> bool {
    states(layout).all(|file| has_workflow(&file) == Some(false))
}

fn states(layout: &Layout) -> impl Iterator<Item = PathBuf> {
    let own = std::iter::once(layout.state_file(None));
    own.chain(layout.project_state_files())
}

fn is_idle_at(work_tree: &Path) -> bool {
    Layout::above(work_tree).is_none_or(|layout| is_idle(&layout))
}

/// Nothing where the state cannot be read.
fn has_workflow(state: &Path) -> Option<bool> {
    let Some(contents) = fs::read_regular(state, MAX_FILE).ok()? else {
        return Some(false);
    };
    let text = String::from_utf8_lossy(&contents.bytes);
    Some(State::parse(&text).ok()?.workflow().is_some())
}

/// The repository's hooks. Every command of an agent's asks, so nothing is read where the
/// repository's directory is here.
fn own_hooks(root: &Path) -> Option<Hooks> {
    let here = root.join(".git");
    let common_dir = if here.is_dir() {
        here
    } else {
        Repository::discover(root)?.common_dir
    };
    Some(Hooks::own(&common_dir))
}

/// The main work tree and the linked ones.
fn work_trees(repository: &Repository) -> impl Iterator<Item = PathBuf> {
    let main = repository.common_dir.parent().map(Path::to_owned);
    let linked = repository.common_dir.join("worktrees").read_dir();
    let linked = linked.into_iter().flatten().flatten().filter_map(|entry| {
        let file = std::fs::read_to_string(entry.path().join("gitdir")).ok()?;
        Some(Path::new(file.trim_end()).parent()?.to_owned())
    });
    main.into_iter().chain(linked)
}
