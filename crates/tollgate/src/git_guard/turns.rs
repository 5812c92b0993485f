//! When the hooks are in place: those that `install` proposed are there only while an agent is at
//! work, so that people's git starts no program for them between an agent's turns.
//!
//! A turn begins with a session's first command (or another tool that may start git) while a
//! workflow runs or a rule about commits or pushes is enforced, and ends with a stop that is let go and names no background work, or with the
//! session. Each session at work has an empty file in the directory [`Hooks::turns`]; its time is that
//! of the session's last command. The hooks go aside when the last of these files goes, so a session
//! whose file is there finds them in place.
//!
//! An agent that is killed leaves its file behind, and the hooks stay in place until another event
//! finds the file too old: slower for a person, never open to an agent. A state that cannot be read
//! counts as a running workflow.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use tollgate_core::context::{CompiledRules, Inputs, MAX_FILE};
use tollgate_core::decision::{Decision, Fault};
use tollgate_core::git::{Disk, Repository};
use tollgate_core::project::Layout;
use tollgate_core::protocol::{Event, EventKind, Tool, ToolCall};
use tollgate_core::rules::Rules;
use tollgate_core::workflow::state::State;
use tollgate_store::fs::{self, Durability};

use super::hooks::Hooks;
use crate::config::compiled;

/// A session whose last command is older is over.
const ENDED_AFTER: Duration = Duration::from_mins(30);

/// How old a session's file gets before a command renews it.
const RENEWED_AFTER: Duration = Duration::from_mins(1);

/// Puts the hook in place before an agent's command, and aside when no agent is at work any more.
pub(crate) fn follow(event: &Event<'_>, inputs: &Inputs, now: Timestamp, outcome: &mut Decision) {
    let layout = inputs.layout();
    let step = match event.kind {
        EventKind::PreTool if event.tool.as_ref().is_some_and(may_run_git) => Turns::begin,
        // The turn goes on.
        EventKind::Stop if outcome.block.is_some() => return,
        EventKind::Stop if event.has_background_work => Turns::begin,
        EventKind::Stop | EventKind::SessionEnd => Turns::end,
        // Not the end of a turn: an agent that compacts its context begins its session anew, too.
        EventKind::SessionStart => |turns: &Turns, _: &Path, need: &Need<'_>| turns.settle(need),
        EventKind::PreTool
        | EventKind::PostTool
        | EventKind::PostToolFailure
        | EventKind::Prompt
        | EventKind::SubagentStop
        | EventKind::ConfigChange
        | EventKind::Other => return,
    };
    let Some(turns) = Turns::of(layout, now) else {
        return;
    };
    let session = turns.file(event.session.as_deref());
    let need = Need {
        layout,
        rules: &|| need_guard(inputs.rules()),
    };
    if let Err(error) = step(&turns, &session, &need) {
        let text = format!(
            "the guard on git's side could not be switched on or off: {}: {error}; \
             the next command or stop tries again",
            turns.hooks.file().display()
        );
        outcome.faults.push(Fault::new("git-guard", text));
    }
}

/// Whether a session is at work, since its first command and until it stops; nothing where that is not
/// written down.
pub(crate) fn is_at_work(event: &Event<'_>, layout: &Layout, now: Timestamp) -> Option<bool> {
    let turns = Turns::of(layout, now)?;
    let session = turns.file(event.session.as_deref());
    Some(turns.is_younger(&session, ENDED_AFTER))
}

/// Whether any session is at work in the repository, as far as that is written down.
pub(crate) fn is_any_at_work(layout: &Layout, now: Timestamp) -> bool {
    Turns::of(layout, now).is_some_and(|turns| {
        let sessions = turns.sessions().unwrap_or_default();
        let mut sessions = sessions.iter();
        sessions.any(|session| turns.is_younger(session, ENDED_AFTER))
    })
}

/// Commands do, a skill's text can hold some, and a server's tool may start anything.
fn may_run_git(tool: &Tool<'_>) -> bool {
    match tool.call {
        ToolCall::Shell { .. } | ToolCall::Skill { .. } => true,
        ToolCall::Other => tool.name.starts_with("mcp"),
        ToolCall::Write { .. }
        | ToolCall::Edit { .. }
        | ToolCall::Patch { .. }
        | ToolCall::Delete { .. }
        | ToolCall::Notebook { .. }
        | ToolCall::Delegate { .. } => false,
    }
}

/// Puts the hook where it belongs after a workflow started: in place if an agent started it, whose
/// command may go on to use git.
pub(crate) fn workflow_started(layout: &Layout) -> io::Result<()> {
    let Some(turns) = Turns::of(layout, Timestamp::now()) else {
        return Ok(());
    };
    if tollgate_core::protocol::agent_mark(crate::environment::variable).is_none() {
        return settle(layout);
    }
    let _lock = turns.hooks.lock()?;
    turns.hooks.put_in_place()
}

/// Puts the hook aside unless an agent is at work under a workflow: after one ended, and after an
/// installation.
pub(crate) fn settle(layout: &Layout) -> io::Result<()> {
    let Some(turns) = Turns::of(layout, Timestamp::now()) else {
        return Ok(());
    };
    turns.settle(&Need {
        layout,
        rules: &|| rules_need_guard(layout),
    })
}

/// Whether a rule that holds here needs the guard on git's side: one that stops commits or pushes.
pub(crate) fn rules_need_guard(layout: &Layout) -> bool {
    let env = crate::environment::current();
    need_guard(Some(
        &compiled::fresh(layout, &env, &Disk::default()).rules(),
    ))
}

fn need_guard(rules: Option<&CompiledRules>) -> bool {
    let rules = rules.and_then(|rules| Rules::of(rules.text.as_deref()?));
    rules.is_some_and(|rules| rules.enforce("cp"))
}

/// What may need the hooks in a project.
struct Need<'n> {
    layout: &'n Layout,
    /// Whether a rule does.
    rules: &'n dyn Fn() -> bool,
}

/// The sessions at work in a repository whose hook is not always in place.
struct Turns {
    hooks: Hooks,
    now: Timestamp,
}

impl Turns {
    /// Every command of an agent's asks, so nothing is read where the repository's directory is
    /// here: two calls of `stat` where there is no such hook.
    fn of(layout: &Layout, now: Timestamp) -> Option<Self> {
        let here = layout.root().join(".git");
        let common_dir = if here.is_dir() {
            here
        } else {
            Repository::discover(layout.root())?.common_dir
        };
        let hooks = Hooks::own(&common_dir);
        hooks.turns().is_dir().then_some(Self { hooks, now })
    }

    fn file(&self, session: Option<&str>) -> PathBuf {
        let name = format!("{:016x}", crate::hash::hash(session));
        self.hooks.turns().join(name)
    }

    /// A file that is gone or whose time cannot be read is that of no session.
    fn is_younger(&self, file: &Path, limit: Duration) -> bool {
        let age = || {
            let modified = file.symlink_metadata().ok()?.modified().ok()?;
            let modified = Timestamp::try_from(modified).ok()?;
            Some(self.now.duration_since(modified).unsigned_abs())
        };
        age().is_some_and(|age| age < limit)
    }

    /// The session is at work: the hook is in place first, then its file.
    fn begin(&self, session: &Path, need: &Need<'_>) -> io::Result<()> {
        if self.is_younger(session, RENEWED_AFTER) || !need.is_there() {
            return Ok(());
        }
        let _lock = self.hooks.lock()?;
        self.hooks.put_in_place()?;
        Ok(fs::replace(session, b"", Durability::Lazy)?)
    }

    /// The session is not at work any more.
    fn end(&self, session: &Path, _: &Need<'_>) -> io::Result<()> {
        let _lock = self.hooks.lock()?;
        fs::unless_absent(fs::remove(session))?;
        self.put_aside_unless(|session| self.is_younger(session, ENDED_AFTER))
    }

    /// Nothing may be known of any session.
    fn settle(&self, need: &Need<'_>) -> io::Result<()> {
        let is_needed = need.is_there();
        let _lock = self.hooks.lock()?;
        self.put_aside_unless(|session| is_needed && self.is_younger(session, ENDED_AFTER))
    }

    /// First the sessions' files go, then the hook.
    fn put_aside_unless(&self, is_at_work: impl Fn(&Path) -> bool) -> io::Result<()> {
        let sessions = self.sessions()?;
        if sessions.iter().any(|session| is_at_work(session)) {
            return Ok(());
        }
        for session in &sessions {
            fs::unless_absent(fs::remove(session))?;
        }
        self.hooks.put_aside()
    }

    fn sessions(&self) -> io::Result<Vec<PathBuf>> {
        let directory = self.hooks.turns();
        let names = fs::names(&directory)?.into_iter();
        // The lock and what hides the directory from git.
        let names = names.filter(|name| !name.as_encoded_bytes().starts_with(b"."));
        Ok(names.map(|name| directory.join(name)).collect())
    }
}

impl Need<'_> {
    /// Whether a workflow may be running in a work tree of the repository, or a rule needs the hooks.
    fn is_there(&self) -> bool {
        let others = || {
            let repository = Repository::discover(self.layout.root());
            let trees = repository.iter().flat_map(work_trees);
            let mut layouts = trees.filter_map(|tree| Layout::above(&tree));
            layouts.any(|other| other != *self.layout && !is_idle(&other))
        };
        !is_idle(self.layout) || (self.rules)() || others()
    }
}

/// Whether certainly no workflow runs in a project of this layout.
fn is_idle(layout: &Layout) -> bool {
    let own = std::iter::once(layout.state_file(None));
    let mut states = own.chain(layout.project_state_files());
    states.all(|file| has_workflow(&file) == Some(false))
}

/// Nothing where the state cannot be read.
fn has_workflow(state: &Path) -> Option<bool> {
    let Some(contents) = fs::read_regular(state, MAX_FILE).ok()? else {
        return Some(false);
    };
    let state = contents.into_text();
    Some(State::parse(&state).ok()?.workflow().is_some())
}

/// The main work tree and the linked ones.
fn work_trees(repository: &Repository) -> impl Iterator<Item = PathBuf> + use<> {
    let main = repository.common_dir.parent().map(Path::to_owned);
    let linked = repository.common_dir.join("worktrees").read_dir();
    let linked = linked.into_iter().flatten().flatten().filter_map(|entry| {
        let file = fs::read_regular(&entry.path().join("gitdir"), MAX_FILE).ok()??;
        Some(Path::new(file.into_text().trim_end()).parent()?.to_owned())
    });
    main.into_iter().chain(linked)
}
