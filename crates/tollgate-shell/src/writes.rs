//! Would a command change one of these files?
//!
//! All answers come from its effects. Paths are compared as text after cleaning, with globs and
//! unknown parts in mind, and through symbolic links where the files exist. Reading, copying out and
//! mentioning a file are no changes. The answer is an early check; what counts in the end is what
//! happened to the file.

use std::path::Path;

use super::accesses::git_removes_ignored;
use super::effect::{Action, Certainty, Effect};
use super::git_call::GitCall;
use super::path::{is_device, join};
use super::run::{Mode, Run, Survey, program_name};
use super::target::{Covers, Extent, Gap, Target};
use super::word::{HOLE, Word};
use super::world::World;

/// What a command does to the files asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Touch {
    /// Nothing, or it only reads.
    None,
    /// It may change one: a part of the path, or what a program would unpack, is unknown.
    Unknown,
    /// It changes, replaces, moves or removes one.
    Writes,
}

/// Fewer letters than this say nothing of a path whose beginning is unknown.
const MIN_KNOWN: usize = 3;

/// Whether these effects change one of `targets`, given absolute or relative to `root`. A target
/// that ends with a slash is a directory with all that is in it.
pub fn touches(effects: &[Effect], targets: &[&Path], root: &Path, world: &World<'_>) -> Touch {
    let mut changed = changes(effects)
        .filter(|change| !says_little(change.target))
        .peekable();
    // Finding out what follows the targets costs more than this.
    if changed.peek().is_none() {
        return Touch::None;
    }
    let goals: Vec<Goal> = targets
        .iter()
        .filter_map(|target| Goal::new(target, root, world))
        .collect();
    let mut worst = Touch::None;
    for change in changed {
        worst = worst.max(change.touches(&goals, world));
        if worst == Touch::Writes {
            break;
        }
    }
    worst
}

/// A directory that is removed with all that is in it, if `inside` is in it or is it. `rm -rf /*`
/// removes `/`.
pub fn removed_around(effects: &[Effect], inside: &Path, world: &World<'_>) -> Option<String> {
    let real = world.files.canonical(inside);
    let trees = changes(effects).filter_map(|change| {
        let removes = matches!(change.program, Some("rm" | "grm"))
            && change.removes
            && change.target.extent() == Extent::Tree;
        // All that is in a directory.
        removes.then(|| change.target.whole()).flatten()
    });
    let holds = |path: &String| {
        let holds = |inside: &Path| inside.starts_with(path);
        holds(inside) || real.as_deref().is_some_and(holds)
    };
    trees.filter(holds).min_by_key(String::len)
}

/// Whether the command removes all files around `inside` that git ignores. `kept` is a name that it
/// may except.
pub fn removes_ignored(survey: &Survey, inside: &Path, kept: &str, world: &World<'_>) -> bool {
    let real = world.files.canonical(inside);
    let holds = |dir: &str| {
        let above = |inside: &Path| inside.starts_with(dir);
        above(inside) || real.as_deref().is_some_and(above)
    };
    let mut calls = survey.runs().filter(|run| run.program() == Some("git"));
    calls.any(|run| git_removes_ignored(run, kept).is_some_and(|dir| holds(&dir)))
}

/// The directories in which the commands work, as far as they are known; for git, those that its
/// options and variables name.
pub fn directories(survey: &Survey) -> Vec<String> {
    let of_run = |run: &Run| {
        let Some(call) = GitCall::read(run) else {
            return run.dir.iter().cloned().collect();
        };
        let named = [&call.git_dir, &call.work_tree].into_iter().flatten();
        let mut all: Vec<_> = named
            .filter_map(|word| Some(join(call.dir.as_deref()?, word.literal()?)))
            .collect();
        all.extend(call.dir);
        all
    };
    survey.runs().flat_map(of_run).collect()
}

/// The paths that are changed, absolute, where their names are known; a glob stands for what it
/// covers.
pub fn changed_paths(effects: &[Effect]) -> Vec<String> {
    let known = changes(effects).filter(|change| {
        change.target.extent() != Extent::Within && change.target.gap() != Gap::Unknown
    });
    known.map(|change| change.target.glob()).collect()
}

/// An effect that changes files.
struct Change<'e> {
    target: &'e Target,
    removes: bool,
    certainty: Certainty,
    program: Option<&'e str>,
}

/// What is changed but for devices.
fn changes(effects: &[Effect]) -> impl Iterator<Item = Change<'_>> {
    let changes = effects.iter().filter_map(|effect| {
        let (target, removes) = match &effect.action {
            Action::Write(target) => (target, false),
            Action::Delete(target) => (target, true),
            Action::Read(_)
            | Action::Run { .. }
            | Action::Fetch { .. }
            | Action::Commit { .. }
            | Action::Push { .. }
            | Action::Opaque => return None,
        };
        Some(Change {
            target,
            removes,
            certainty: effect.certainty,
            program: effect.source.split(' ').next().and_then(program_name),
        })
    });
    changes.filter(|change| !change.target.path().is_some_and(is_device))
}

/// Whether next to nothing is known of a path.
fn says_little(target: &Target) -> bool {
    let is_known = |letter: &char| letter.is_alphanumeric();
    target.directory().is_none() && target.glob().chars().filter(is_known).count() < MIN_KNOWN
}

impl Change<'_> {
    fn touches(&self, goals: &[Goal], world: &World<'_>) -> Touch {
        let mut behind = Vec::new();
        if let (Some(path), Extent::Path) = (self.target.path(), self.target.extent()) {
            let real = real_path(path, world);
            // Opening a link opens what is behind it; removing it does not.
            let opened = real.as_deref().filter(|_| !self.removes);
            let opened = opened.and_then(|real| opened_path(real, world));
            behind.extend(real.iter().chain(&opened).map(|path| Target::file(path)));
        }
        let mut found = Covers::No;
        for target in std::iter::once(self.target).chain(&behind) {
            for goal in goals {
                // What a search leaves out is searched for, so only what is there counts.
                let is_meant =
                    |path: &&String| !target.leaves_out() || world.files.exists(Path::new(path));
                for path in goal.paths.iter().filter(is_meant) {
                    found = found.max(target.covers(path));
                    if goal.kind == GoalKind::Tree {
                        found = found.max(target.lies_in(path));
                    }
                }
            }
        }
        // What is brought into a tree need not be in the file's place.
        let brings = self.program == Some("rsync") && self.target.extent() == Extent::Tree;
        match found {
            Covers::No => Touch::None,
            Covers::Yes if !brings && self.certainty > Certainty::Unknown => Touch::Writes,
            Covers::Perhaps | Covers::Yes => Touch::Unknown,
        }
    }
}

/// A protected file, or a directory with all that is in it.
struct Goal {
    /// Its cleaned path, and the same through symbolic links where that differs.
    paths: Vec<String>,
    kind: GoalKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum GoalKind {
    File,
    Tree,
}

impl Goal {
    fn new(target: &Path, root: &Path, world: &World<'_>) -> Option<Self> {
        let target = target.to_str()?;
        let kind = if target.ends_with('/') {
            GoalKind::Tree
        } else {
            GoalKind::File
        };
        let mut paths = vec![join(root.to_str()?, target)];
        // The file behind a link is the file, too.
        let real = paths.first().and_then(|path| real_path(path, world));
        let opened = real.as_deref().and_then(|real| opened_path(real, world));
        for other in real.into_iter().chain(opened) {
            if !paths.contains(&other) {
                paths.push(other);
            }
        }
        Some(Self { paths, kind })
    }
}

/// A path with the links of its directories followed; nothing when they do not exist.
fn real_path(path: &str, world: &World<'_>) -> Option<String> {
    let path = Path::new(path);
    let parent = world.files.canonical(path.parent()?)?;
    parent.join(path.file_name()?).to_str().map(str::to_owned)
}

/// What is opened under a path, behind all links.
fn opened_path(path: &str, world: &World<'_>) -> Option<String> {
    let opened = world.files.canonical(Path::new(path))?;
    opened.to_str().map(str::to_owned)
}

/// Whether the command leaves its files as they are, and their owner able to read them.
pub(crate) fn keeps_content(run: &Run) -> bool {
    if run.redirects.iter().any(|file| file.mode == Mode::Write) {
        return false;
    }
    match run.program() {
        Some("touch" | "chgrp") => true,
        Some("chmod") => mode(run).is_some_and(keeps_readable),
        _ => false,
    }
}

/// The mode of a `chmod`; `chmod -w file` has it in the place of an option.
fn mode(run: &Run) -> Option<&str> {
    let words = run.args().iter().map(Word::raw);
    let is_option = |word: &str| match word.strip_prefix('-') {
        Some(option) => option.starts_with('-') || option.contains(['R', 'c', 'f', 'v']),
        None => false,
    };
    let mut words = words.skip_while(|word| is_option(word) && !word.starts_with("--reference"));
    words.next().filter(|mode| !mode.starts_with("--"))
}

/// Whether the owner may still read what has this mode, if it was so before.
fn keeps_readable(mode: &str) -> bool {
    if mode.contains(HOLE) {
        return false;
    }
    if let Ok(bits) = u32::from_str_radix(mode, 8) {
        return bits & 0o400 != 0;
    }
    mode.split(',').all(|clause| {
        let rights = clause.trim_start_matches(['u', 'g', 'o', 'a']);
        let who = clause.strip_suffix(rights).unwrap_or_default();
        if !who.is_empty() && !who.contains(['u', 'a']) {
            return true;
        }
        match rights.split_at_checked(1) {
            Some(("+", added)) => !added.contains(['-', '=']),
            Some(("-", taken)) => !taken.contains(['r', '=']),
            Some(("=", given)) => given.contains('r') && !given.contains('-'),
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_reads_on_unless_a_mode_takes_it_away() {
        for mode in [
            "600", "0644", "755", "444", "+x", "-w", "u+w", "go-rwx", "o=", "u=rw,g=", "a+r",
        ] {
            assert!(keeps_readable(mode), "{mode}");
        }
        for mode in [
            "000", "0", "200", "077", "-r", "a-r", "u-rw", "u=", "=", "a=x", "u+w-r", "go-w,u-r",
            "x",
        ] {
            assert!(!keeps_readable(mode), "{mode}");
        }
    }
}
