//! What a command would do, followed command by command from left to right: which parts run, what
//! is there by then, and which branch is checked out. The branch at hook time is not the branch at
//! commit time.
//!
//! Only `git commit`, by whatever route, is a [`Commit`]; other ways onto a branch (merge, rebase,
//! cherry-pick …) are none, but effects all the same, as far as text shows them.

mod arguments;
mod config;
mod flow;
mod note;
mod places;
mod push;
mod seen;
mod switch;
#[cfg(test)]
mod tests;

use std::path::Path;

use super::args::split_words;
use super::code::language;
use super::condition;
use super::effect::{Certainty, Effect, Relation};
use super::git_call::GitCall;
use super::path::changed;
use super::run::{Link, Run, Step, Survey};
use super::script::{MAX_DEPTH, Scripts, names_script};
use super::walk;
use super::word::{Word, branch_number, has, hole, is_branch, quoted};
use super::world::{Head, RepositoryPaths, World};
use arguments::{
    asks_for_help, brings_commit, git_status, is_builtin, is_dry_run, is_idle, plain_status,
};
use config::{Around, alias_keys};
use flow::{Ended, Flow, Part, Status};
use note::{Notes, is_question};
use places::Trees;
use switch::{Branches, Move, made_branch, movement};

/// More calls of git than this are not followed: each may read several files.
const MAX_CALLS: u32 = 500;
/// Aliases that lead to aliases, and shells that aliases start.
const MAX_ALIASES: u32 = 8;
const MAX_SHELLS: u32 = 4;
/// Branches that are names of branches.
const MAX_LINKS: usize = 8;
/// Programs that may make directories.
const BUILDERS: &str = "mkdir cp mv tar unzip gh mktemp rsync ln install";

/// One `git commit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The repository it lands in, as seen from where the command starts.
    pub relation: Relation,
    /// The repository; nothing when the command line itself makes it, or there is none.
    pub repository: Option<RepositoryPaths>,
    /// The branches it could land on, the likeliest first; more than one when a switch before it
    /// may or may not have happened.
    pub heads: Vec<Head>,
}

/// What following a command line finds.
#[derive(Debug, Default)]
pub struct Followed {
    /// What it would do, in order.
    pub effects: Vec<Effect>,
    /// Every commit that it would make, in order.
    pub commits: Vec<Commit>,
}

/// Follows a surveyed command that is started in this world.
pub fn follow(survey: &Survey, world: &World<'_>) -> Followed {
    tracked(survey, world, Counts::AnyChange)
}

/// What a command would do.
pub fn effects(survey: &Survey, world: &World<'_>) -> Vec<Effect> {
    follow(survey, world).effects
}

/// The same, without what changes only the modes and times of files.
pub fn content_effects(survey: &Survey, world: &World<'_>) -> Vec<Effect> {
    tracked(survey, world, Counts::Content).effects
}

fn tracked(survey: &Survey, world: &World<'_>, counts: Counts) -> Followed {
    // Most commands call no git; then it does not matter where its repositories are.
    let calls_git = survey.runs().any(may_call_git);
    let mut tracker = Tracker::new(world, calls_git);
    tracker.counts = counts;
    tracker.follow(survey, 0);
    tracker.into_followed(survey)
}

fn may_call_git(run: &Run) -> bool {
    let program = run.program().unwrap_or_default();
    program.starts_with("git") || names_script(run) || language(program).is_some()
}

/// Which changes of a file count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counts {
    AnyChange,
    Content,
}

/// The state of a conditional part's surroundings when it was entered.
struct Frame {
    part: Part,
    heads: Vec<Vec<Head>>,
    /// What may be the case instead, should the chain of `&&` before it have broken off.
    fallback: Option<Vec<Vec<Head>>>,
}

/// Follows a survey from command to command.
struct Tracker<'a> {
    world: World<'a>,
    trees: Trees<'a>,
    /// Branches that `git symbolic-ref` made names of others.
    links: Vec<(String, String)>,
    answers: Answers,
    /// What `git config` set earlier in the same command line.
    settings: Vec<(String, String)>,
    /// The texts of files that the command line writes.
    written: Vec<(String, String)>,
    /// Scripts of files around what runs now, and the files that may still be read.
    depth: u32,
    scripts: Scripts<'a>,
    /// Whether what runs now certainly does.
    sure: bool,
    /// Whether it may fail and nobody minds: `… || true`.
    may_fail: bool,
    /// Whether a switch to a branch of unknown name came before.
    unclear: bool,
    /// Which parts of the command line run.
    flow: Flow,
    /// The heads before a chain of `&&` whose success is uncertain. Within the chain they do not
    /// count, because what follows runs only if it succeeded; after it they may be the case.
    fallback: Option<Vec<Vec<Head>>>,
    commits: Vec<Commit>,
    notes: Notes<'a>,
    counts: Counts,
    calls: u32,
}

impl<'a> Tracker<'a> {
    fn new(world: &World<'a>, calls_git: bool) -> Self {
        let start = world.dir.filter(|_| calls_git);
        Self {
            world: *world,
            trees: Trees::new(start, world),
            links: Vec::new(),
            answers: Answers::default(),
            settings: Vec::new(),
            written: Vec::new(),
            depth: 0,
            scripts: Scripts::new(world),
            sure: true,
            may_fail: false,
            unclear: false,
            flow: Flow::new(),
            fallback: None,
            commits: Vec::new(),
            notes: Notes::new(world),
            counts: Counts::AnyChange,
            calls: 0,
        }
    }

    fn follow(&mut self, survey: &Survey, depth: u32) {
        self.written.extend(survey.written.iter().cloned());
        let mut frames = Vec::new();
        for (at, step) in survey.steps.iter().enumerate() {
            match step {
                Step::Enter(link) => frames.push(self.enter(*link)),
                Step::Leave => {
                    self.end_chain();
                    if let Some(frame) = frames.pop() {
                        self.leave(frame);
                    }
                }
                Step::Ends(_) if self.flow.is_over() => {}
                Step::Ends(ending) => self.flow.note(*ending),
                Step::Run(run) => {
                    let frame = match run.link {
                        Link::Then | Link::Pipe | Link::Shell | Link::Call => {
                            self.end_chain();
                            None
                        }
                        Link::And | Link::If | Link::Or | Link::Else | Link::Maybe => {
                            Some(self.enter(run.link))
                        }
                    };
                    let may_fail = self.may_fail;
                    self.may_fail |= is_or(survey.steps.get(at + 1));
                    self.run(run, depth);
                    self.may_fail = may_fail;
                    if let Some(frame) = frame {
                        self.leave(frame);
                    } else if self.flow.stops_at_failure
                        && self.flow.status == Status::Certain(false)
                        && !is_condition(survey.steps.get(at + 1))
                    {
                        self.flow.end(Ended::Shell);
                    }
                }
            }
        }
    }

    fn enter(&mut self, link: Link) -> Frame {
        if !matches!(link, Link::And | Link::If) {
            self.end_chain();
        }
        let part = self.flow.enter(link);
        let heads = match part.runs {
            Some(true) => Vec::new(),
            Some(false) | None => self.trees.heads(),
        };
        Frame {
            part,
            heads,
            fallback: self.fallback.take(),
        }
    }

    fn leave(&mut self, frame: Frame) {
        let Frame {
            part,
            heads,
            fallback,
        } = frame;
        match part.runs {
            Some(true) => self.fallback = fallback,
            None if part.likely => self.fallback = fallback.or(Some(heads)),
            Some(false) | None => {
                let inside = self.trees.heads();
                self.trees.set_heads(heads);
                self.trees.add_heads(inside);
                self.fallback = fallback;
            }
        }
        self.flow.leave(part);
    }

    fn end_chain(&mut self) {
        if let Some(heads) = self.fallback.take() {
            self.trees.add_heads(heads);
        }
    }

    fn run(&mut self, run: &Run, depth: u32) {
        if self.flow.is_over() {
            return;
        }
        let sure = self.sure;
        self.sure &= run.sure;
        if let Some(number) = run.branch {
            self.note_answer(number, run);
        }
        match self.answers.within(run) {
            Some(run) => self.run_one(&run, depth),
            None => self.run_one(run, depth),
        }
        self.sure = sure;
    }

    /// Notes the name of the branch that a command asks for.
    fn note_answer(&mut self, number: usize, run: &Run) {
        let place = match GitCall::read(run) {
            Some(call) => self.trees.place(&call),
            None => run
                .dir
                .as_deref()
                .map_or(0, |dir| self.trees.find_place(Path::new(dir))),
        };
        let heads = self.trees.get(place).map(|tree| tree.heads.as_slice());
        let shows = |word: &Word| word.raw() == "--show-current";
        let name = match heads {
            Some([Head::Branch(name)]) => Some(name.clone()),
            Some([Head::Detached]) if run.words.iter().any(shows) => Some(String::new()),
            Some([Head::Detached]) => Some("HEAD".to_owned()),
            _ => None,
        };
        self.answers.note(number, name);
    }

    /// How a command ends that is none of git's, and what that means for those after it.
    fn other_status(&mut self, run: &Run) -> Status {
        let first = run.args().first();
        match run.program() {
            Some(name @ ("exit" | "return")) => {
                let well = first.map(|code| code.raw() == "0");
                let status = well.map_or(self.flow.status, Status::Certain);
                self.flow.end(if name == "exit" {
                    Ended::Shell
                } else {
                    Ended::Call
                });
                status
            }
            Some("break" | "continue") => {
                self.flow.left_loop = true;
                Status::Certain(true)
            }
            Some("set") => {
                let stops = |word: &Word| word.starts_with("-") && word.raw().contains('e');
                self.flow.stops_at_failure |= run.args().iter().any(stops);
                Status::Certain(true)
            }
            Some("cd" | "pushd") => {
                let to = first.filter(|word| !word.starts_with("-"));
                let to = to.and_then(|to| changed(run.dir.as_deref(), to));
                match to.map(|to| self.trees.exists(&to)) {
                    Some(true) => Status::Certain(true),
                    Some(false) if self.trees.is_untouched() => Status::Certain(false),
                    Some(false) | None => Status::Unknown,
                }
            }
            _ => match condition::answer(run) {
                Some(answer) => Status::Certain(answer),
                None => plain_status(run),
            },
        }
    }

    fn run_one(&mut self, run: &Run, depth: u32) {
        let asks = is_question(run);
        self.note_starters(run);
        let Some(mut call) = GitCall::read(run) else {
            self.note_run(run, depth);
            self.flow.status = self.other_status(run);
            self.flow.asks = asks;
            self.trees.busy |= !is_idle(run);
            self.trees.builds |= run.program().is_some_and(|name| has(BUILDERS, name));
            self.script(run, depth);
            return;
        };
        self.flow.status = Status::Unknown;
        self.flow.asks = asks;
        self.calls += 1;
        if self.calls > MAX_CALLS {
            self.note_opaque(run);
            return;
        }
        if self.trees.is_nowhere(run, &call) {
            self.flow.status = Status::Certain(false);
            return;
        }
        let mut run = run.clone();
        for _ in 0..MAX_ALIASES {
            let Some(word) = call.subcommand.clone() else {
                self.note_run(&run, depth);
                return;
            };
            let Some(name) = word.literal() else {
                self.note_run(&run, depth);
                self.note_opaque(&run);
                return;
            };
            if is_builtin(name) {
                let place = self.trees.place(&call);
                self.note_git(&run, &call, place);
                self.git(name, &call, place, &run);
                return;
            }
            self.note_run(&run, depth);
            let Some(alias) = self.setting(&alias_keys(name), &call) else {
                return;
            };
            // Git then says what the alias stands for.
            if call.args.first().is_some_and(|word| word.raw() == "--help") {
                return;
            }
            if let Some(text) = alias.strip_prefix('!') {
                self.shell_alias(text, &call, depth);
                return;
            }
            // An alias may start with global options: `-c x=y commit`.
            let mut inner = run.clone();
            inner.words = vec![Word::new("git")];
            inner.words.extend(split_words(&alias));
            inner.words.extend(call.args.iter().cloned());
            inner.dir.clone_from(&call.dir);
            let Some(next) = GitCall::read(&inner) else {
                return;
            };
            run = inner;
            let config = std::mem::take(&mut call.config);
            let git_dir = call.git_dir.take();
            call = next;
            call.config.extend(config);
            call.git_dir = call.git_dir.or(git_dir);
        }
    }

    /// A value of git's configuration under one of these keys: given with the call, set before on the
    /// command line, or found in the files.
    fn setting(&mut self, keys: &[String], call: &GitCall) -> Option<String> {
        if let Some(value) = keys.iter().find_map(|key| call.config(key)) {
            return value.literal().map(str::to_owned);
        }
        let is_asked = |known: &str| keys.iter().any(|key| known.eq_ignore_ascii_case(key));
        let mut set = self.settings.iter().rev();
        if let Some((_, value)) = set.find(|(known, _)| is_asked(known)) {
            return Some(value.clone());
        }
        let place = self.trees.place(call);
        let tree = self.trees.get(place);
        let around = Around {
            world: self.world,
            global: call.global.as_ref().and_then(Word::literal),
            written: &self.written,
        };
        around.value(keys, tree.and_then(|tree| tree.repository.as_ref()))
    }

    /// `!` aliases run in a shell at the top of the work tree, with the arguments appended.
    fn shell_alias(&mut self, text: &str, call: &GitCall, depth: u32) {
        if depth >= MAX_SHELLS {
            return;
        }
        let place = self.trees.place(call);
        let root = self.trees.get(place).map(|tree| tree.root.clone());
        let args: Vec<String> = call.args.iter().map(|arg| quoted(&arg.display())).collect();
        let command = format!("{text} {}", args.join(" "));
        let survey = walk::survey(&command, &self.world.at(root.as_deref()));
        self.follow_apart(&survey, depth + 1);
    }

    /// Follows what another shell runs.
    fn follow_apart(&mut self, survey: &Survey, depth: u32) {
        let part = self.flow.enter(Link::Shell);
        let answers = std::mem::take(&mut self.answers);
        self.follow(survey, depth);
        self.answers = answers;
        self.flow.leave(part);
    }

    fn git(&mut self, name: &str, call: &GitCall, place: usize, run: &Run) {
        if asks_for_help(call) {
            return;
        }
        match name {
            "commit" => self.commit(call, place, run),
            "config" => {
                let pairs = call.args.windows(2).filter_map(|pair| match pair {
                    [key, value] => Some((key.literal()?, value.literal()?)),
                    _ => None,
                });
                let pairs = pairs.filter(|(key, _)| !key.starts_with('-') && key.contains('.'));
                let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
                self.settings.extend(pairs);
                self.flow.status = Status::Likely(true);
            }
            "init" | "clone" => {
                self.trees.new_repository(call);
                self.flow.status = Status::Likely(true);
            }
            "worktree" => {
                self.trees.new_worktree(call, place);
                self.flow.status = Status::Likely(true);
            }
            _ => {
                if let Some(certainty) = brings_commit(name, &call.args)
                    && let Some(commit) = self.commit_in(place)
                {
                    self.note_commit(&commit, run, certainty);
                }
                self.switch(name, call, place);
            }
        }
    }

    /// A commit that is made in a work tree now.
    fn commit_in(&mut self, place: usize) -> Option<Commit> {
        let tree = self.trees.get(place)?;
        Some(Commit {
            relation: tree.relation,
            repository: tree.repository.clone(),
            heads: tree.heads.clone(),
        })
    }

    fn commit(&mut self, call: &GitCall, place: usize, run: &Run) {
        if is_dry_run(&call.args) {
            return;
        }
        let Some(commit) = self.commit_in(place) else {
            return;
        };
        self.note_commit(&commit, run, Certainty::Certain);
        // A script counts only where nothing about it is in doubt.
        let there = call
            .dir
            .as_deref()
            .is_some_and(|dir| self.trees.exists(dir));
        let doubtful = !self.sure || self.unclear || commit.heads.len() > 1 || !there;
        if self.depth > 0 && doubtful {
            return;
        }
        self.commits.push(commit);
    }

    /// The script of a file that a command runs.
    fn script(&mut self, run: &Run, depth: u32) {
        if self.depth >= MAX_DEPTH {
            return;
        }
        for survey in self.scripts.behind(run) {
            self.depth += 1;
            let fallback = self.fallback.take();
            self.follow_apart(&survey, depth);
            self.end_chain();
            self.fallback = fallback;
            self.depth -= 1;
            self.flow.status = Status::Unknown;
        }
    }

    fn switch(&mut self, name: &str, call: &GitCall, place: usize) {
        let unknown = |word: &Word| word.literal().is_none();
        self.unclear |= matches!(name, "checkout" | "switch") && call.args.iter().any(unknown);
        let Some((tree, made)) = self.trees.with_made(place) else {
            return;
        };
        let head = tree.heads.first().cloned().unwrap_or(Head::None);
        let branches = Branches {
            files: self.world.files,
            repository: tree.repository.as_ref(),
            made,
            previous: &tree.previous,
            head: &head,
        };
        let change = movement(name, call, &branches);
        self.flow.status = match change {
            Move::To(new) => {
                // From no branch there is no way back by name.
                let before = head.branch().unwrap_or_default().to_owned();
                tree.previous.push(before);
                let behind = |name: &str| {
                    let repository = tree.repository.as_ref()?;
                    self.world.files.branch_behind(repository, name)
                };
                let new = linked(new, &self.links);
                let behind = new.branch().and_then(behind);
                tree.heads = vec![behind.map_or(new, Head::Branch)];
                Status::Likely(true)
            }
            Move::Fails => Status::Likely(false),
            Move::Links(name, target) => {
                made.push(name.clone());
                self.links.push((name, target));
                Status::Likely(true)
            }
            Move::Stays => Status::likely(git_status(name, &call.args, &branches)),
        };
        if self.flow.status != Status::Likely(false) {
            made.extend(made_branch(name, &call.args));
        }
    }
}

/// The names of branches that commands asked for, by their numbers.
#[derive(Default)]
struct Answers(Vec<Option<String>>);

impl Answers {
    fn note(&mut self, number: usize, name: Option<String>) {
        self.0.resize(number, None);
        self.0.push(name);
    }

    /// A command with the names of branches in it; nothing when it holds none.
    fn within(&self, run: &Run) -> Option<Run> {
        let holds = |word: &Word| word.literal().is_none() && word.raw().contains(is_branch);
        if !run.words.iter().chain(&run.input).any(holds) {
            return None;
        }
        let named = |word: &Word| {
            let letter = |letter: char| match branch_number(letter) {
                Some(number) => self.0.get(number).cloned().flatten().unwrap_or_else(hole),
                None => letter.to_string(),
            };
            Word::new(word.raw().chars().map(letter).collect::<String>())
        };
        Some(Run {
            words: run.words.iter().map(named).collect(),
            input: run.input.as_ref().map(named),
            ..run.clone()
        })
    }
}

/// The branch behind a name that may stand for another.
fn linked(head: Head, links: &[(String, String)]) -> Head {
    let mut head = head;
    // A link may lead back to itself; none is followed twice.
    for _ in 0..=links.len().min(MAX_LINKS) {
        let Head::Branch(name) = &head else { break };
        let Some((_, target)) = links.iter().rev().find(|(link, _)| link == name) else {
            break;
        };
        head = Head::Branch(target.clone());
    }
    head
}

/// Whether this step runs if the command before it fails.
fn is_or(next: Option<&Step>) -> bool {
    match next {
        Some(Step::Enter(link) | Step::Run(Run { link, .. })) => *link == Link::Or,
        Some(Step::Ends(_) | Step::Leave) | None => false,
    }
}

/// Whether the command before this step is a condition, and so may fail under `set -e`.
fn is_condition(next: Option<&Step>) -> bool {
    match next {
        Some(Step::Enter(link) | Step::Run(Run { link, .. })) => {
            matches!(
                link,
                Link::And | Link::If | Link::Or | Link::Else | Link::Pipe
            )
        }
        Some(Step::Ends(_) | Step::Leave) => true,
        None => false,
    }
}
