//! The guard on git's side: `tollgate git-guard`, started by git's `reference-transaction` hook
//! before any reference changes, and by its `pre-push` hook before anything is pushed, by whatever
//! command.
//!
//! While a workflow has a branch of its own, an agent does not move main: not by a commit, a
//! merge, a rebase, `update-ref` or a script that hides them. Rules about commits and pushes hold for
//! what is really committed and pushed. A person's own git is none of its business; whatever goes wrong
//! here lets git go on and is reported.

pub(crate) mod hook_file;
pub(crate) mod hooks;
mod merge;
mod rules;
mod script;
pub(crate) mod turns;

use std::ffi::{OsStr, OsString};
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
use rules::{Doing, Pushed};
use script::{PRE_PUSH, TRANSACTION};

/// What the hook calls. Taken away before arguments are parsed, like `hook`.
pub(crate) const COMMAND: &str = "git-guard";

/// What the journal calls the guard and its finding.
const GUARD: &str = "git-guard";
const CODE: &str = "GG-001";

/// The finding of branch-guard about the same on the agent's side: what a person allowed
/// there holds here.
const ALLOWED_AS: &str = "BG-001";

/// The moment at which git still lets itself be stopped.
const PREPARED: &str = "prepared";

/// More references than this are no agent's commit.
const MOST: u64 = 16 << 20;

/// What asks, and for whom.
struct Asker {
    env: Env,
    repository: Repository,
    /// The variable that shows that an agent runs this.
    mark: &'static str,
    now: Timestamp,
    /// What the journal calls what happens.
    event: &'static str,
}

/// Decides what one of git's hooks has on standard input: exit 1 refuses it, everything else lets it
/// pass.
pub(crate) fn run(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let hook = args.next();
    // Git reports every step of every transaction, and most of them are a person's.
    let event = match hook.as_deref().and_then(OsStr::to_str) {
        Some(PREPARED) => TRANSACTION,
        Some(PRE_PUSH) => PRE_PUSH,
        Some(_) | None => return ExitCode::SUCCESS,
    };
    let Some(mark) = tollgate_core::protocol::agent_mark(crate::environment::variable) else {
        return ExitCode::SUCCESS;
    };
    let more = args.next().map(|more| more.to_string_lossy().into_owned());
    let env = crate::environment::current();
    let Some(repository) = repository(&env) else {
        return ExitCode::SUCCESS;
    };
    let asker = Asker {
        env,
        repository,
        mark,
        now: Timestamp::now(),
        event,
    };
    let goes_on = if event == PRE_PUSH {
        let references = lines(None, Pushed::read);
        asker.lets_push(more.as_deref(), &references)
    } else {
        // The hook's shell read this line to see whether there is a branch at all.
        let moved = lines(more.as_deref(), Move::read);
        asker.lets_move(&moved)
    };
    if goes_on {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

impl Asker {
    /// The projects that may have something against it.
    fn layouts(&self) -> Vec<Layout> {
        let layouts = layouts(&self.env, &self.repository);
        allow_on_panic(self.event, layouts.clone());
        layouts
    }

    /// Whether branches may move.
    fn lets_move(&self, moved: &[Move]) -> bool {
        if moved.is_empty() {
            return true;
        }
        self.layouts().iter().all(|layout| {
            self.leaves_main_open(layout, moved) && self.rules_allow_moves(layout, moved)
        })
    }

    /// Whether what git is about to push may go there.
    fn lets_push(&self, remote: Option<&str>, references: &[Pushed]) -> bool {
        let doing = Doing::Pushing(remote, references);
        references.is_empty()
            || self
                .layouts()
                .iter()
                .all(|layout| self.rules_allow(layout, &doing))
    }

    /// Whether a project's workflow lets branches move.
    fn leaves_main_open(&self, layout: &Layout, moved: &[Move]) -> bool {
        let closing = match judge(layout, &self.env, &self.repository, moved, self.now) {
            Ok(None) => return true,
            Ok(Some(closing)) => closing,
            Err(fault) => {
                self.not_decided(layout, &fault);
                return true;
            }
        };
        let reason = format!(
            "'{}' stays where it is: {} is set, and the workflow's branch is '{}'",
            closing.branch, self.mark, closing.closed.expected
        );
        if let Some(allowed) = self.lifted(&closing, layout) {
            let reason = format!("{reason}; but {}", allowed.words());
            self.write_down(layout, GUARD, Verdict::Warn, CODE, &reason);
            print_error(&format!("tollgate: {reason}\n"));
            return true;
        }
        self.write_down(layout, GUARD, Verdict::Block, CODE, &reason);
        print_error(&refusal(&closing));
        false
    }

    /// Whether a project's rules let branches move.
    fn rules_allow_moves(&self, layout: &Layout, moved: &[Move]) -> bool {
        let moved: Vec<&Move> = moved
            .iter()
            .filter(|change| change.is_real(&self.repository))
            .collect();
        moved.is_empty()
            || merge::is_held_open(layout)
            || self.rules_allow(layout, &Doing::Moving(&moved))
    }

    fn rules_allow(&self, layout: &Layout, doing: &Doing<'_>) -> bool {
        let (block, faults) = rules::refused(doing, layout, &self.env, self.mark, self.now);
        for fault in &faults {
            self.not_decided(layout, fault);
        }
        let Some(block) = block else {
            return true;
        };
        let by = tollgate_core::rules::NAME;
        self.write_down(layout, by, Verdict::Block, &block.code, &block.reason);
        let next = block.next.map(|next| format!("\n\nNext: {next}"));
        print_error(&format!("{}{}\n", block.text, next.unwrap_or_default()));
        false
    }

    /// What a person allowed for branch-guard holds for the effect of such a command, too.
    fn lifted(&self, closing: &Closing, layout: &Layout) -> Option<Allowed> {
        if !closing.is_commit {
            return None;
        }
        let overrides = Overrides {
            layout,
            env: &self.env,
            now: self.now,
        };
        let mut faults = Vec::new();
        let allowed = overrides.allowed_to_git(ALLOWED_AS, &mut faults);
        for fault in &faults {
            self.not_decided(layout, fault);
        }
        allowed
    }

    fn not_decided(&self, layout: &Layout, fault: &Fault) {
        not_decided(self.event, layout, fault, self.now);
    }

    fn write_down(&self, layout: &Layout, by: &str, verdict: Verdict, code: &str, reason: &str) {
        write_down(self.event, layout, by, verdict, (code, reason), self.now);
    }
}

struct Closing {
    branch: String,
    closed: Closed,
    /// All that is refused brings a branch to a commit; removing one is another matter.
    is_commit: bool,
}

fn not_decided(event: &str, layout: &Layout, fault: &Fault, now: Timestamp) {
    let said = (fault.kind, &*fault.text);
    write_down(event, layout, GUARD, Verdict::Fault, said, now);
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

/// What git's lines on standard input say, behind one that was read already.
fn lines<T>(first: Option<&str>, read: impl Fn(&str) -> Option<T>) -> Vec<T> {
    let mut found: Vec<T> = first.and_then(&read).into_iter().collect();
    let mut input = std::io::stdin().lock().take(MOST);
    let mut line = Vec::new();
    while input
        .read_until(b'\n', &mut line)
        .is_ok_and(|read| read > 0)
    {
        found.extend(read(&String::from_utf8_lossy(&line)));
        line.clear();
    }
    found
}

/// The repository that git is working on: it says so to its hooks.
fn repository(env: &Env) -> Option<Repository> {
    let cwd = env.cwd.as_deref()?;
    match crate::environment::variable("GIT_DIR") {
        Some(git_dir) => Repository::at(&cwd.join(git_dir), cwd),
        None => Repository::discover(cwd),
    }
}

/// The projects whose workflow or rules may be against it: where git runs, where the session started, and
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

fn write_down(
    event: &str,
    layout: &Layout,
    by: &str,
    verdict: Verdict,
    (code, reason): (&str, &str),
    now: Timestamp,
) {
    let entry = Entry {
        event: Some(event),
        tool: Some("git"),
        guard: Some(by),
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
fn allow_on_panic(event: &'static str, layouts: Vec<Layout>) {
    std::panic::set_hook(Box::new(move |info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let text = info.payload_as_str().unwrap_or("no message");
        let fault = Fault::new("panic", format!("a defect in Tollgate at {place}: {text}"));
        for layout in &layouts {
            not_decided(event, layout, &fault, Timestamp::now());
        }
    }));
}
