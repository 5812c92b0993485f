//! Would a command change one of these files?
//!
//! Paths are compared as text after cleaning, with globs and unknown parts in mind, and through
//! symbolic links where the files exist. Reading, copying out and mentioning a file are no
//! changes. The answer is an early check; what counts in the end is what happened to the file.

use std::path::Path;

use super::accesses::{Access, Reach, changes, git_removes_ignored};
use super::code::{Code, Named, code_of};
use super::path::{is_device, join};
use super::run::{Mode, Run, Survey};
use super::script::{MAX_DEPTH, Scripts, any_behind};
use super::walk;
use super::word::{DEEP, EXCEPT, HOLE, Match, STAR, Word, has, is_mark, matches, matches_path};
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

/// Texts in code that lead to further code, at most so deep.
const MAX_CODE: u32 = 3;

/// Programs that make no directories.
const BUILDS_NOTHING: &str = "echo printf cat rm ls test [ true : jq sed";

/// After so many changes the rest is unknown.
const MAX_ACCESSES: u32 = 2000;

/// Whether the command changes files at all, as far as can be known. Most do not, and finding
/// out what follows the targets costs more than this.
pub fn changes_files(survey: &Survey, world: &World<'_>) -> bool {
    let does = |run: &Run| !changes(run).is_empty() || !code_of(run).0.is_empty();
    survey.runs().any(does) || any_behind(survey, world)
}

/// Whether the command would change one of `targets`, given absolute or relative to
/// `root`. A target that ends with a slash is a directory with all that is in it.
pub fn touches(survey: &Survey, targets: &[&Path], root: &Path, world: &World<'_>) -> Touch {
    asked(survey, targets, root, world, Counts::AnyChange)
}

/// A directory that the command removes with all that is in it, if `inside` is in it or is it.
/// `rm -rf /*` removes `/`. Only what the command itself says counts, not what a script does.
pub fn removed_around(survey: &Survey, inside: &Path, world: &World<'_>) -> Option<String> {
    let removers = survey
        .runs()
        .filter(|run| run.sure && matches!(run.program(), Some("rm" | "grm")));
    let trees = removers.flat_map(|run| {
        let trees = changes(run).into_iter();
        trees
            .filter(|access| access.reach == Reach::Tree)
            .filter_map(|access| {
                let path = access.path.raw();
                let path = path.trim_end_matches('/');
                // All that is in a directory.
                let path = match path.strip_suffix([STAR, DEEP]) {
                    Some("") => ".",
                    Some(above) if above.ends_with('/') => above,
                    Some(_) | None => path,
                };
                let path = if access.path.starts_with("/") {
                    join("/", path)
                } else {
                    join(run.dir.as_deref()?, path)
                };
                (!path.contains(is_mark)).then_some(path)
            })
    });
    let real = world.files.canonical(inside);
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

/// The paths that the command itself changes, absolute, where their names are known; a glob stands
/// for what it covers. What a script does, or unknown text would name, is not among them.
pub fn changed_paths(survey: &Survey) -> Vec<String> {
    let changed = survey.runs().flat_map(|run| {
        let known = changes(run).into_iter().filter_map(|access| {
            let path = access.path.raw().replace([STAR, DEEP], "*");
            let is_known = access.reach != Reach::Perhaps
                && !path.contains(is_mark)
                && !path.is_empty()
                && !is_device(&path);
            match run.dir.as_deref() {
                _ if !is_known => None,
                Some(dir) => Some(join(dir, &path)),
                None => path.starts_with('/').then(|| join("/", &path)),
            }
        });
        known.collect::<Vec<_>>()
    });
    changed.collect()
}

/// The same as [`touches`], of what is in the files: their modes and times may change.
pub fn rewrites(survey: &Survey, targets: &[&Path], root: &Path, world: &World<'_>) -> Touch {
    asked(survey, targets, root, world, Counts::Content)
}

fn asked(
    survey: &Survey,
    targets: &[&Path],
    root: &Path,
    world: &World<'_>,
    counts: Counts,
) -> Touch {
    if !changes_files(survey, world) {
        return Touch::None;
    }
    let goals = targets
        .iter()
        .filter_map(|target| Goal::new(target, root, world));
    let question = Question {
        goals: goals.collect(),
        root,
        world: *world,
        counts,
    };
    question.inspect(survey, 0, &mut Scripts::new(world))
}

/// Which changes of a file are asked about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counts {
    AnyChange,
    Content,
}

/// What is asked about a command.
struct Question<'q> {
    goals: Vec<Goal>,
    /// The project, where a command is that failed to go elsewhere.
    root: &'q Path,
    world: World<'q>,
    counts: Counts,
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

    /// What a string in code, run in `dir`, stands for.
    fn named(&self, text: &str, dir: Option<&str>) -> Named {
        if text.is_empty() || text.contains('\n') {
            return Named::Other;
        }
        let path = join(dir.unwrap_or("/"), text);
        // `getcwd() + '/name'` names it, too.
        let relative = text.trim_start_matches("./").trim_start_matches('/');
        let is_named = |goal: &String| {
            relative.contains('/') && goal.ends_with(&format!("/{relative}"))
                || self.kind == GoalKind::Tree && within(&path, goal) != Touch::None
                || matches(&path, goal) != Match::No
        };
        let is_below = |goal: &String| Path::new(goal).starts_with(&path);
        if self.paths.iter().any(is_named) {
            Named::File
        } else if self.paths.iter().any(is_below) && text != "." && text != "/" {
            Named::Above
        } else if relative.rsplit('/').next() == Some(self.base()) {
            Named::Base
        } else {
            Named::Other
        }
    }

    fn base(&self) -> &str {
        self.paths
            .first()
            .and_then(|path| path.rsplit('/').next())
            .unwrap_or_default()
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

impl Question<'_> {
    fn inspect(&self, survey: &Survey, depth: u32, scripts: &mut Scripts<'_>) -> Touch {
        let mut worst = Touch::None;
        let mut left = MAX_ACCESSES;
        // Whether something before may have made directories.
        let mut builds = false;
        let ignored = |run: &Run| self.counts == Counts::Content && keeps_content(run);
        for run in survey.runs().filter(|run| run.sure && !ignored(run)) {
            // After `cd nowhere` the shell stays where it was. What a script or code changes is
            // where it says.
            let stays = |dir: &&str| {
                let dir = Path::new(dir);
                depth == 0 && !builds && dir != self.root && !self.world.files.exists(dir)
            };
            let dir = run.dir.as_deref();
            let other = dir.filter(stays).and(self.root.to_str());
            builds |= !has(BUILDS_NOTHING, run.program().unwrap_or("true"));
            for access in changes(run) {
                // Each may be looked up in the file system.
                let Some(next) = left.checked_sub(1) else {
                    return worst.max(Touch::Unknown);
                };
                left = next;
                worst = worst.max(self.hits(&access, run, dir));
                if other.is_some() {
                    worst = worst.max(self.hits(&access, run, other));
                }
            }
            if depth < MAX_DEPTH {
                for script in scripts.behind(run) {
                    // What cannot be known of a script says nothing about the command.
                    if self.inspect(&script, depth + 1, scripts) == Touch::Writes {
                        worst = Touch::Writes;
                    }
                }
            }
            worst = worst.max(self.code_touches(run, depth, scripts));
            if worst == Touch::Writes {
                break;
            }
        }
        worst
    }

    fn code_touches(&self, run: &Run, depth: u32, scripts: &mut Scripts<'_>) -> Touch {
        let dir = run.dir.as_deref();
        let (codes, given) = code_of(run);
        let mut worst = Touch::None;
        for code in &codes {
            let mut code = Code::read(code.raw(), &given);
            let mut goals = self.goals.iter();
            if goals.any(|goal| code.writes(&|text| goal.named(text, dir))) {
                return Touch::Writes;
            }
            if depth >= MAX_CODE {
                continue;
            }
            for command in code.commands().into_iter().take(16) {
                let world = World {
                    home: None,
                    ..self.world.at(dir.map(Path::new))
                };
                let found = walk::survey(&command, &world);
                worst = worst.max(self.inspect(&found, depth + 1, scripts));
            }
        }
        worst
    }

    fn hits(&self, access: &Access, run: &Run, dir: Option<&str>) -> Touch {
        let raw = access.path.raw();
        // What `find` leaves out.
        let mut parts = raw.split(EXCEPT);
        let raw = parts.next().unwrap_or_default();
        let except = parts.map(|except| match dir {
            Some(dir) if !except.starts_with(DEEP) => join(dir, except),
            Some(_) | None => except.to_owned(),
        });
        let except: Vec<String> = except.collect();
        if raw.is_empty() || is_device(raw) {
            return Touch::None;
        }
        // A word of which next to nothing is known says nothing.
        let known = raw.chars().filter(|letter| letter.is_alphanumeric());
        if access.path.has_holes() && known.count() < 3 {
            return Touch::None;
        }
        let path = match dir {
            Some(dir) => join(dir, raw),
            None if raw.starts_with('/') || raw.starts_with(HOLE) => join("/", raw),
            None => join("/", &format!("{HOLE}/{raw}")),
        };
        let mut candidates = Vec::new();
        if !path.contains(is_mark) {
            candidates.extend(real_path(&path, &self.world));
            // Opening a link opens what is behind it; removing it does not.
            let removes = matches!(run.program(), Some("rm" | "unlink" | "mv" | "ln"));
            if access.reach == Reach::File && !removes {
                candidates.extend(opened_path(&path, &self.world));
            }
        }
        candidates.push(path);
        let mut worst = Touch::None;
        for goal in &self.goals {
            // What is copied from a file to an unknown place is no change of the file.
            if access.path.has_holes() && copies_from(run, goal) {
                continue;
            }
            let counts = |name: &&String| {
                let leaves_out = |except: &String| matches(except, name) == Match::Yes;
                // What is left out of a search is searched for, so only what is there counts.
                except.is_empty()
                    || !except.iter().any(leaves_out) && self.world.files.exists(Path::new(name))
            };
            for name in goal.paths.iter().filter(counts) {
                for path in &candidates {
                    worst = worst.max(compare(path, name, access.reach));
                    if goal.kind == GoalKind::Tree {
                        worst = worst.max(within(path, name));
                    }
                }
            }
        }
        worst
    }
}

fn copies_from(run: &Run, goal: &Goal) -> bool {
    let source = |word: &Word| {
        let path = run.dir.as_deref().map(|dir| join(dir, word.raw()));
        path.is_some_and(|path| goal.paths.contains(&path))
    };
    matches!(
        run.program(),
        Some("cp" | "gcp" | "install" | "rsync" | "scp")
    ) && run.args().iter().any(source)
}

fn compare(path: &str, name: &str, reach: Reach) -> Touch {
    let found = match reach {
        Reach::File => matches_path(path, name),
        Reach::Tree | Reach::Perhaps => Path::new(name)
            .ancestors()
            .filter_map(Path::to_str)
            .map(|above| matches_path(path, above))
            .max()
            .unwrap_or(Match::No),
    };
    match (found, reach) {
        (Match::No, _) => Touch::None,
        (Match::Maybe, _) | (Match::Yes, Reach::Perhaps) => Touch::Unknown,
        (Match::Yes, Reach::File | Reach::Tree) => Touch::Writes,
    }
}

/// Whether a path lies in a directory.
fn within(path: &str, directory: &str) -> Touch {
    let above = Path::new(path).ancestors().skip(1).filter_map(Path::to_str);
    match above.map(|above| matches(above, directory)).max() {
        Some(Match::Yes) => Touch::Writes,
        Some(Match::Maybe) => Touch::Unknown,
        Some(Match::No) | None => Touch::None,
    }
}

/// Whether the command leaves its files as they are, and their owner able to read them.
fn keeps_content(run: &Run) -> bool {
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
    use crate::code::READ;

    #[test]
    fn code_is_cut_up_once_however_many_files_are_asked_about() {
        let command = "python3 -c \"import os; open('a/x', 'w'); os.system('rm a/y')\"";
        let world = World::unknown().at(Some(Path::new("/p")));
        let survey = walk::survey(command, &world);
        for (targets, expected) in [
            (&["b/1", "b/2", "b/3", "b/4"][..], Touch::None),
            (&["b/1", "b/2", "b/3", "a/x"][..], Touch::Writes),
            (&["b/1", "b/2", "b/3", "a/y"][..], Touch::Writes),
        ] {
            let targets: Vec<&Path> = targets.iter().map(Path::new).collect();
            let before = READ.get();
            let found = touches(&survey, &targets, Path::new("/p"), &world);
            assert_eq!(found, expected, "{targets:?}");
            assert_eq!(READ.get() - before, 1, "{targets:?}");
        }
    }

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
