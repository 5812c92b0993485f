//! What happened beside what was said.
//!
//! What does not count as having happened: all outside of the directory, and below `.git`; a file
//! that is there neither before nor after (a temporary one); the removal of a file that is there
//! afterwards (it is replaced, which is a write); the names in a directory being read;
//! what git reads to compare files with its index; what a program starts that is no shell and no
//! wrapper; and what an interpreter or `npm` looks for by itself.

use std::collections::BTreeSet;

use tollgate_shell::{Action, Certainty, Covers, Effect};

use crate::sandbox::Ran;
use crate::trace::{Did, STARTERS, Use, has};

/// Counts of one command line, or many.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) lines: usize,
    pub(crate) skipped: usize,
    /// Those that ended with an error, so that nothing was certain.
    pub(crate) failed: usize,
    pub(crate) certain: usize,
    pub(crate) wrong: Vec<String>,
    pub(crate) happened: usize,
    pub(crate) as_certain: usize,
    pub(crate) as_possible: usize,
    pub(crate) missed: Vec<String>,
}

impl Tally {
    pub(crate) fn skipped() -> Self {
        Self {
            skipped: 1,
            ..Self::default()
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.lines += other.lines;
        self.skipped += other.skipped;
        self.failed += other.failed;
        self.certain += other.certain;
        self.wrong.extend(other.wrong.iter().cloned());
        self.happened += other.happened;
        self.as_certain += other.as_certain;
        self.as_possible += other.as_possible;
        self.missed.extend(other.missed.iter().cloned());
    }

    pub(crate) fn reported(&self) -> usize {
        self.as_certain + self.as_possible
    }

    /// What was reported of what happened, in a hundred.
    #[expect(clippy::cast_precision_loss, reason = "a percentage of a few thousand")]
    pub(crate) fn share(&self) -> f64 {
        100.0 * self.reported() as f64 / self.happened.max(1) as f64
    }

    fn count(&mut self, said: Option<Certainty>, missed: impl FnOnce() -> String) {
        self.happened += 1;
        match said {
            Some(Certainty::Certain) => self.as_certain += 1,
            Some(Certainty::Possible) => self.as_possible += 1,
            Some(Certainty::Unknown) | None => self.missed.push(missed()),
        }
    }
}

/// Programs that look for files by themselves: their libraries, configuration and packages.
const SEARCHERS: &str = "node npm python3 perl ruby make git";
/// Commands that bash runs without starting a program.
const BUILTINS: &str = ". : [ [[ alias bg bind break builtin cd command compgen complete continue \
    declare dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs \
    kill let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt \
    source suspend test times trap true type typeset ulimit umask unalias unset wait time";

pub(crate) fn compare(command: &str, said: &[Effect], ran: &Ran) -> Tally {
    let mut tally = Tally {
        lines: 1,
        failed: usize::from(!ran.succeeded),
        ..Tally::default()
    };
    if ran.succeeded {
        for effect in said
            .iter()
            .filter(|effect| effect.certainty == Certainty::Certain)
        {
            let Some(happened) = happened(effect, ran) else {
                continue;
            };
            tally.certain += 1;
            if !happened {
                tally
                    .wrong
                    .push(format!("WRONG {}: {:?}", shown(command), effect.action));
            }
        }
    }
    files(command, said, ran, &mut tally);
    programs(command, said, ran, &mut tally);
    pushes(command, said, ran, &mut tally);
    for branch in &ran.commits {
        let covers = |effect: &&Effect| {
            matches!(&effect.action, Action::Commit { branches, .. }
                if branches.contains(&Some(branch.clone())))
        };
        let said = said
            .iter()
            .filter(covers)
            .map(|effect| effect.certainty)
            .max();
        tally.count(said, || {
            format!("MISSED {}: commit on {branch}", shown(command))
        });
    }
    tally
}

fn shown(command: &str) -> String {
    command.replace('\n', "⏎")
}

/// Whether an effect happened; nothing where that is not seen.
fn happened(effect: &Effect, ran: &Ran) -> Option<bool> {
    let any = |did: Did, target: &tollgate_shell::Target| {
        let uses = ran.trace.uses.iter();
        // What is read may be opened to write, too.
        let fits = |used: &&Use| used.did == did || did == Did::Read && used.did == Did::Write;
        uses.filter(fits)
            .any(|used| target.covers(&used.path) == Covers::Yes)
    };
    match &effect.action {
        Action::Write(target) => Some(any(Did::Write, target)),
        Action::Delete(target) => Some(any(Did::Delete, target)),
        Action::Read(target) => Some(any(Did::Read, target)),
        Action::Run { program, .. } => {
            let started = ran
                .trace
                .starts
                .iter()
                .any(|start| start.program == *program);
            (started || !has(BUILTINS, program)).then_some(started)
        }
        Action::Commit { branches, .. } => Some(
            branches
                .iter()
                .flatten()
                .any(|branch| ran.commits.contains(branch)),
        ),
        Action::Push { branches, tags, .. } => {
            let changed = changed(ran);
            let named = branches
                .iter()
                .flatten()
                .any(|branch| changed.contains(format!("refs/heads/{branch}").as_str()));
            let anything = branches.contains(&None) && !changed.is_empty();
            let tagged = *tags && changed.iter().any(|name| name.starts_with("refs/tags/"));
            Some(named || anything || tagged)
        }
        Action::Fetch { .. } | Action::Opaque => None,
    }
}

/// The remote's references that are others now, or gone.
fn changed(ran: &Ran) -> BTreeSet<&str> {
    let (before, after) = &ran.remote;
    let names = before.keys().chain(after.keys());
    let differs = |name: &&String| before.get(*name) != after.get(*name);
    names.filter(differs).map(String::as_str).collect()
}

fn files(command: &str, said: &[Effect], ran: &Ran, tally: &mut Tally) {
    let counts = |used: &&Use| {
        let inside = used
            .path
            .strip_prefix(&ran.work)
            .and_then(|path| path.strip_prefix('/'));
        let Some(inside) = inside else { return false };
        let internal = inside.split('/').any(|part| part == ".git");
        let was = ran.before.get(&used.path);
        let temporary = was.is_none() && !ran.after.contains_key(&used.path);
        let listed = used.did == Did::Read && was == Some(&true);
        let by = used.by.split(' ').next().unwrap_or_default();
        let searched = used.did == Did::Read
            && (by == "git" || has(SEARCHERS, by) && matches!(inside, "package.json" | "Makefile"));
        let replaced = used.did == Did::Delete && ran.after.contains_key(&used.path);
        !internal && !temporary && !listed && !searched && !replaced
    };
    let happened: BTreeSet<(Did, &str)> = ran
        .trace
        .uses
        .iter()
        .filter(counts)
        .map(|used| (used.did, used.path.as_str()))
        .collect();
    for (did, path) in happened {
        let covers = |effect: &&Effect| {
            let target = match (&effect.action, did) {
                (Action::Write(target), Did::Write)
                | (Action::Delete(target), Did::Delete)
                | (Action::Read(target), Did::Read) => Some(target),
                _ => None,
            };
            target.is_some_and(|target| target.covers(path) != Covers::No)
        };
        let said = said
            .iter()
            .filter(covers)
            .map(|effect| effect.certainty)
            .max();
        tally.count(said, || {
            format!("MISSED {}: {did:?} {path}", shown(command))
        });
    }
}

fn programs(command: &str, said: &[Effect], ran: &Ran, tally: &mut Tally) {
    let starts = ran
        .trace
        .starts
        .iter()
        .filter(|start| has(STARTERS, &start.by));
    let started: BTreeSet<&str> = starts.map(|start| start.program.as_str()).collect();
    for name in started {
        let runs = |effect: &&Effect| matches!(&effect.action, Action::Run { program, .. } if program == name);
        let said = said
            .iter()
            .filter(runs)
            .map(|effect| effect.certainty)
            .max();
        tally.count(said, || format!("MISSED {}: run {name}", shown(command)));
    }
}

fn pushes(command: &str, said: &[Effect], ran: &Ran, tally: &mut Tally) {
    let (_, after) = &ran.remote;
    for name in changed(ran) {
        let gone = !after.contains_key(name);
        let covers = |effect: &&Effect| match &effect.action {
            Action::Push {
                branches,
                delete,
                tags,
                ..
            } => {
                let named = match name.strip_prefix("refs/heads/") {
                    Some(branch) => {
                        branches.contains(&Some(branch.to_owned())) || branches.contains(&None)
                    }
                    None => *tags || branches.contains(&None),
                };
                named && (*delete || !gone)
            }
            Action::Write(_)
            | Action::Delete(_)
            | Action::Read(_)
            | Action::Run { .. }
            | Action::Fetch { .. }
            | Action::Commit { .. }
            | Action::Opaque => false,
        };
        let said = said
            .iter()
            .filter(covers)
            .map(|effect| effect.certainty)
            .max();
        tally.count(said, || format!("MISSED {}: push {name}", shown(command)));
    }
}
