//! The guard on git's side: `tollgate git-guard`, started by git's `reference-transaction` hook
//! before any reference changes, by whatever command.
//!
//! While a workflow has a branch of its own, an agent does not move main: not by a commit, a
//! merge, a rebase, `update-ref` or a script that hides them. A person's own git is none of its
//! business; whatever goes wrong here lets git go on and is reported.

pub(crate) mod hooks;
mod merge;
mod script;
pub(crate) mod turns;

use std::ffi::OsString;
use std::io::{BufRead as _, Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use jiff::Timestamp;
use tollgate_core::context::{Inputs, MAX_FILE};
use tollgate_core::decision::Fault;
use tollgate_core::env::Env;
use tollgate_core::git::{LastSeen, Repository, Stands};
use tollgate_core::guard::{self, Closed, Main};
use tollgate_core::project::Layout;
use tollgate_core::workflow::state::State;
use tollgate_store::fs;
use tollgate_store::journal::{Entry, Journal, Verdict};

use crate::overrides::{Allowed, Overrides};
pub(crate) use merge::holding_open;

/// What the hook calls. Taken away before arguments are parsed, like `hook`.
pub(crate) const COMMAND: &str = "git-guard";

/// What the journal calls the guard and its finding.
const GUARD: &str = "git-guard";
const CODE: &str = "GG-001";
const EVENT: &str = "reference-transaction";

/// The finding of branch-guard about the same on the agent's side: what a person allowed
/// there holds here.
const ALLOWED_AS: &str = "BG-001";

/// The moment at which git still lets itself be stopped.
const PREPARED: &str = "prepared";

/// More references than this are no agent's commit.
const MOST: u64 = 16 << 20;

/// Decides the transaction on standard input: exit 1 refuses it, everything else lets it pass.
pub(crate) fn run(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    // Git reports every step of every transaction, and most of them are a person's.
    if args.next().is_none_or(|state| state != PREPARED) {
        return ExitCode::SUCCESS;
    }
    let Some(mark) = tollgate_core::protocol::agent_mark(crate::environment::variable) else {
        return ExitCode::SUCCESS;
    };
    // The hook's shell read this line to see whether there is a branch at all.
    let first = args.next().map(|line| line.to_string_lossy().into_owned());
    let moved = moves(first.as_deref());
    if moved.is_empty() {
        return ExitCode::SUCCESS;
    }
    let env = crate::environment::current();
    let Some(repository) = repository(&env) else {
        return ExitCode::SUCCESS;
    };
    let now = Timestamp::now();
    let layouts = layouts(&env, &repository);
    allow_on_panic(layouts.clone());
    for layout in layouts {
        match judge(&layout, &env, &repository, &moved, now) {
            Ok(None) => {}
            Ok(Some(closing)) => {
                let reason = format!(
                    "'{}' stays where it is: {mark} is set, and the workflow's branch is '{}'",
                    closing.branch, closing.closed.expected
                );
                let overrides = Overrides {
                    layout: &layout,
                    env: &env,
                    now,
                };
                if let Some(allowed) = lifted(&closing, overrides) {
                    let reason = format!("{reason}; but {}", allowed.words());
                    write_down(&layout, Verdict::Warn, CODE, &reason, now);
                    print_error(&format!("tollgate: {reason}\n"));
                    continue;
                }
                write_down(&layout, Verdict::Block, CODE, &reason, now);
                print_error(&refusal(&closing));
                return ExitCode::FAILURE;
            }
            Err(fault) => not_decided(&layout, &fault, now),
        }
    }
    ExitCode::SUCCESS
}

struct Closing {
    branch: String,
    closed: Closed,
    /// All that is refused brings a branch to a commit; removing one is another matter.
    is_commit: bool,
}

/// What a person allowed for branch-guard holds for the effect of such a command, too.
fn lifted(closing: &Closing, overrides: Overrides<'_>) -> Option<Allowed> {
    if !closing.is_commit {
        return None;
    }
    let mut faults = Vec::new();
    let allowed = overrides.allowed_to_git(ALLOWED_AS, &mut faults);
    for fault in &faults {
        not_decided(overrides.layout, fault, overrides.now);
    }
    allowed
}

fn not_decided(layout: &Layout, fault: &Fault, now: Timestamp) {
    write_down(layout, Verdict::Fault, fault.kind, &fault.text, now);
    print_error(&format!(
        "tollgate: the git guard could not decide: {}\n",
        fault.text
    ));
}

/// A line of git's: a branch that is to point elsewhere.
struct Move {
    old: String,
    new: String,
    branch: String,
}

impl Move {
    fn read(line: &str) -> Option<Self> {
        let mut words = line.trim_end().splitn(3, ' ');
        let (old, new, name) = (words.next()?, words.next()?, words.next()?);
        Some(Self {
            old: old.to_owned(),
            new: new.to_owned(),
            branch: name.strip_prefix("refs/heads/")?.to_owned(),
        })
    }

    /// Whether the branch is brought to a commit: not removed, not made a name for another.
    fn is_commit(&self) -> bool {
        self.new.bytes().all(|byte| byte.is_ascii_hexdigit())
            && self.new.bytes().any(|byte| byte != b'0')
    }

    /// Whether the branch really changes. Git also reports references that it merely packs: then
    /// the new commit is the one it has, or the file goes because the pack has the same.
    fn is_real(&self, repository: &Repository) -> bool {
        let is_none = |id: &str| id.bytes().all(|byte| byte == b'0');
        let is_at = |branch: &Stands, id: &str| matches!(branch, Stands::For(has) if has == id);
        let now = repository.branch_commit(&self.branch);
        if !is_none(&self.new) {
            return !is_at(&now, &self.new);
        }
        let pruned =
            !is_none(&self.old) && is_at(&repository.packed_commit(&self.branch), &self.old);
        now != Stands::Nothing && !pruned
    }
}

/// The branches that a transaction moves, from git's lines `old new reference`.
fn moves(first: Option<&str>) -> Vec<Move> {
    let mut moves: Vec<Move> = first.and_then(Move::read).into_iter().collect();
    let mut input = std::io::stdin().lock().take(MOST);
    let mut line = Vec::new();
    while input
        .read_until(b'\n', &mut line)
        .is_ok_and(|read| read > 0)
    {
        moves.extend(Move::read(&String::from_utf8_lossy(&line)));
        line.clear();
    }
    moves
}

/// The repository that git is working on: it says so to its hooks.
fn repository(env: &Env) -> Option<Repository> {
    let cwd = env.cwd.as_deref()?;
    match crate::environment::variable("GIT_DIR") {
        Some(git_dir) => Repository::at(&cwd.join(git_dir), cwd),
        None => Repository::discover(cwd),
    }
}

/// The projects whose workflow may close main: where git runs, where the session started, and
/// the main work tree, whose state a linked one may not have.
fn layouts(env: &Env, repository: &Repository) -> Vec<Layout> {
    let here = env.cwd.clone();
    let below = crate::environment::variable("GIT_PREFIX")
        .filter(|prefix| !prefix.is_empty())
        .and_then(|prefix| Some(env.cwd.as_ref()?.join(prefix)));
    let main = repository.common_dir.parent().map(Path::to_owned);
    let places = [below, here, env.project_dir.clone(), main];
    let mut found: Vec<Layout> = Vec::new();
    for layout in places
        .iter()
        .flatten()
        .filter_map(|place| Layout::above(place))
    {
        let same = Repository::discover(layout.root())
            .is_some_and(|theirs| theirs.same_repository(repository));
        if same && !found.contains(&layout) {
            found.push(layout);
        }
    }
    found
}

/// The branch that must not move, if one of them must not.
fn judge(
    layout: &Layout,
    env: &Env,
    repository: &Repository,
    moved: &[Move],
    now: Timestamp,
) -> Result<Option<Closing>, Fault> {
    let inputs = Inputs::new(layout.clone(), env.clone(), None, now);
    inputs.project().map_err(Clone::clone)?;
    let path = inputs.state_file();
    let unreadable = |text: String| Fault::new("state-unreadable", text);
    let contents = fs::read_regular(&path, MAX_FILE)
        .map_err(|fault| unreadable(format!("{}: {fault}", path.display())))?;
    let Some(contents) = contents else {
        return Ok(None);
    };
    let text = contents.into_text();
    let state =
        State::parse(&text).map_err(|flaw| unreadable(format!("{}: {flaw}", path.display())))?;
    let Some(workflow) = state.workflow() else {
        return Ok(None);
    };
    let stays =
        |change: &&Move| guard::closes(workflow, &change.branch) && change.is_real(repository);
    let Some(Move { branch, .. }) = moved.iter().find(stays) else {
        return Ok(None);
    };
    let is_merged =
        |seen: &LastSeen, into: &str| crate::changes::is_merged(layout.root(), seen, into);
    let Main::Closed(closed) = guard::main_branch(workflow, repository, branch, &is_merged) else {
        return Ok(None);
    };
    if merge::is_held_open(layout) {
        return Ok(None);
    }
    Ok(Some(Closing {
        branch: branch.clone(),
        closed,
        is_commit: moved.iter().filter(stays).all(Move::is_commit),
    }))
}

fn refusal(closing: &Closing) -> String {
    let Closing { branch, closed, .. } = closing;
    let expected = &closed.expected;
    let mut text = format!(
        "CHANGE OF MAIN BLOCKED: git was about to move '{branch}' while an active workflow has a \
         feature branch '{expected}'.\n\n\
         During an active workflow, all work goes to the feature branch to keep '{branch}' clean \
         until it is reviewed and merged.\n\n\
         To go on:\n\
         1. Switch to the feature branch: git checkout {expected}\n\
         2. Do it there. `tollgate workflow finalize --merge` merges it when the workflow is done\n"
    );
    if closing.is_commit {
        let lines = [
            "3. If it has to be here, ask the person for `tollgate allow ",
            ALLOWED_AS,
            " --once --reason \"…\"`\n",
        ];
        text.push_str(&lines.concat());
    }
    if let Some(note) = &closed.note {
        text.push('\n');
        text.push_str(note);
        text.push('\n');
    }
    text
}

fn write_down(layout: &Layout, verdict: Verdict, code: &str, reason: &str, now: Timestamp) {
    let entry = Entry {
        event: Some(EVENT),
        tool: Some("git"),
        guard: Some(GUARD),
        code: Some(code),
        reason: Some(reason),
        ..Entry::new(now, verdict)
    };
    if let Err(error) = Journal::new(layout.local()).append(&entry) {
        print_error(&format!(
            "tollgate: the journal cannot be written: {error}\n"
        ));
    }
}

fn print_error(text: &str) {
    let _gone = std::io::stderr().write_all(text.as_bytes());
}

/// A panic is a fault like any other: reported, and git goes on. The hook takes every exit code but
/// one for a yes, so nothing else has to be done.
fn allow_on_panic(layouts: Vec<Layout>) {
    std::panic::set_hook(Box::new(move |info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let text = info.payload_as_str().unwrap_or("no message");
        let fault = Fault::new("panic", format!("a defect in Tollgate at {place}: {text}"));
        for layout in &layouts {
            not_decided(layout, &fault, Timestamp::now());
        }
    }));
}
