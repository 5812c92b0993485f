//! What the team's rules say to a commit or a push that git is about to make for an agent.
//!
//! Only what must not happen is decided here: a rule that denies or asks. What a rule merely warns of or
//! watches was seen when the agent's command came, or is not worth a hook. Git knows neither the
//! sub-agent nor, with most agents, the session: a rule whose conditions ask for those is decided by the
//! agent's own events alone.

use jiff::Timestamp;
use serde_json::json;
use tollgate_core::context::{EventContext, Inputs, Sources};
use tollgate_core::decision::{Fault, Finding};
use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_core::protocol::{self, Hints, Protocol};
use tollgate_core::rules::{self, Asked, Fact, Facts, Question, Rules};
use tollgate_shell::{Action, Certainty, Effect, Relation};

use super::Move;
use crate::changes;
use crate::config::compiled;
use crate::git::{AT_ONCE, Git};
use crate::overrides::Overrides;
use crate::rules::session::{SessionEffects, was_asked};

/// More references than this are not compared one by one.
const COMPARED: usize = 64;

/// A reference that git is about to push.
pub(super) struct Pushed {
    local: String,
    remote_ref: String,
    remote: String,
}

impl Pushed {
    /// A line of git's: `local-ref local-id remote-ref remote-id`.
    pub(super) fn read(line: &str) -> Option<Self> {
        let mut words = line.trim_end().split(' ').skip(1);
        Some(Self {
            local: words.next()?.to_owned(),
            remote_ref: words.next()?.to_owned(),
            remote: words.next()?.to_owned(),
        })
    }
}

/// What git is about to do for an agent.
pub(super) enum Doing<'d> {
    /// Branches move.
    Moving(&'d [&'d Move]),
    /// References go to a remote of this name.
    Pushing(Option<&'d str>, &'d [Pushed]),
}

impl Doing<'_> {
    /// The letter of the rules that are about it.
    fn letter(&self) -> &'static str {
        match self {
            Self::Moving(_) => "c",
            Self::Pushing(..) => "p",
        }
    }

    fn effects(&self, git: &Git) -> Vec<Effect> {
        match self {
            Self::Moving(moves) => commits(git, moves),
            Self::Pushing(remote, references) => {
                let each = references.iter().enumerate();
                let effect = |(at, one): (usize, &Pushed)| push(git, *remote, one, at < COMPARED);
                each.map(effect).collect()
            }
        }
    }
}

/// The rule's block of what git is about to do, and what went wrong on the way.
pub(super) fn refused(
    doing: &Doing<'_>,
    layout: &Layout,
    env: &Env,
    mark: &str,
    now: Timestamp,
) -> (Option<Finding>, Vec<Fault>) {
    let sources = Sources {
        config: Some(compiled::kept),
        ..changes::SOURCES
    };
    let inputs = Inputs::new(layout.clone(), env.clone(), env.cwd.clone(), now).asking(sources);
    let text = inputs.rules().and_then(|rules| rules.text.as_deref());
    let Some(all) = text.and_then(Rules::of) else {
        return (None, Vec::new());
    };
    if !all.enforce(doing.letter()) {
        return (None, Vec::new());
    }
    let git = match Git::at(layout.root()) {
        Ok(git) => git,
        Err(error) => return (None, vec![Fault::new("git-silent", error.to_string())]),
    };
    let effects = doing.effects(&git);
    // The conditions of rules are asked as by an event.
    let event = json!({ "hook_event_name": "PreToolUse", "cwd": env.cwd, "tool_name": "Bash" });
    let event = event.to_string();
    let Ok(event) = protocol::parse(&event, &Hints::default()) else {
        return (None, Vec::new());
    };
    let context = EventContext::new(&event, &inputs);
    let overrides = Overrides { layout, env, now };
    let mut faults = Vec::new();
    let session = SessionEffects::read(layout, env.claude_session.as_deref());
    let mut asked = Asked {
        // Whoever installed the hook did so in this repository.
        trusts_texts: &|| true,
        was_noted: &|note| session.has(note),
        lift: &mut |block| {
            let allowed = overrides.allowed_to_git(&block.code, &mut faults)?;
            Some(Finding {
                reason: format!("{}; but {}", block.reason, allowed.words()),
                ..block.clone()
            })
        },
    };
    let facts = facts(&context, mark, was_asked(layout));
    let decision = rules::at(&context, all.folds, |places| {
        rules::decide(all, &effects, places, &facts, &mut asked).decision
    });
    (decision.block, faults)
}

/// What git knows of the conditions.
fn facts<'f>(context: &'f EventContext<'_>, mark: &'f str, asks_hold: bool) -> Facts<'f> {
    let of_event = Facts::of(context);
    let fact = move |question| match question {
        Question::Agent => {
            let mut agents = Protocol::ALL.iter();
            let agent = agents.find(|agent| agent.row().marks.contains(&mark));
            agent.map_or(Fact::Unknown, |agent| {
                Fact::Known(agent.agent_name().to_owned())
            })
        }
        Question::Subagent => Fact::Unknown,
        Question::Branch | Question::Phase => (of_event.fact)(question),
    };
    Facts {
        fact: Box::new(fact),
        day: of_event.day,
        asks_hold,
    }
}

/// The commits that land on branches: those that no branch, tag or remote has yet. A branch that is
/// made, or moved to what is known, gets none.
fn commits(git: &Git, moves: &[&Move]) -> Vec<Effect> {
    let is_new = |commits: &[&str]| {
        let known = ["--not", "--branches", "--tags", "--remotes"];
        let args = ["rev-list", "--max-count=1"].into_iter();
        let args = args.chain(commits.iter().copied()).chain(known);
        let line = git.ask(args).within(AT_ONCE).line();
        line.map(|line| !line.is_empty())
    };
    let brought: Vec<&&Move> = moves.iter().filter(|change| change.is_commit()).collect();
    let all: Vec<&str> = brought.iter().map(|change| change.new.as_str()).collect();
    if all.is_empty() || is_new(&all).is_ok_and(|is_new| !is_new) {
        return Vec::new();
    }
    let effect = |(at, change): (usize, &&&Move)| {
        let found = (at < COMPARED).then(|| is_new(&[&change.new]));
        let certainty = match found {
            Some(Ok(true)) => Certainty::Certain,
            Some(Ok(false)) => return None,
            Some(Err(_)) | None => Certainty::Unknown,
        };
        let action = Action::Commit {
            branches: vec![Some(change.branch.clone())],
            repository: None,
            relation: Relation::Here,
        };
        Some(of_git(action, certainty))
    };
    brought.iter().enumerate().filter_map(effect).collect()
}

/// What a push does to one reference of the remote. It is forced if what the remote has is not part of
/// what it gets, whatever the command says.
fn push(git: &Git, remote: Option<&str>, pushed: &Pushed, is_compared: bool) -> Effect {
    let is_none = |id: &str| id.bytes().all(|byte| byte == b'0');
    let branch = pushed.remote_ref.strip_prefix("refs/heads/");
    let delete = is_none(&pushed.local);
    let is_new = is_none(&pushed.remote);
    let (force, certainty) = if delete || is_new {
        (false, Certainty::Certain)
    } else if branch.is_none() {
        (true, Certainty::Certain)
    } else if is_compared {
        let args = ["merge-base", "--is-ancestor", "--end-of-options"].into_iter();
        let args = args.chain([pushed.remote.as_str(), &pushed.local]);
        match git.ask(args).within(AT_ONCE).mostly() {
            Ok(is_part) => (!is_part, Certainty::Certain),
            Err(error) if error.is_silent() => (true, Certainty::Unknown),
            // A commit that is not here is not part of what is pushed.
            Err(_) => (true, Certainty::Certain),
        }
    } else {
        (true, Certainty::Unknown)
    };
    let action = Action::Push {
        remote: remote.map(str::to_owned),
        branches: branch
            .map(|branch| Some(branch.to_owned()))
            .into_iter()
            .collect(),
        force,
        delete,
        tags: pushed.remote_ref.starts_with("refs/tags/"),
        mirror: false,
    };
    of_git(action, certainty)
}

fn of_git(action: Action, certainty: Certainty) -> Effect {
    Effect {
        action,
        certainty,
        source: String::new(),
    }
}
