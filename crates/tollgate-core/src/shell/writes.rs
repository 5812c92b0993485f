//! Would a command change one of these files?
//!
//! Paths are compared as text after cleaning, with globs and unknown parts in mind, and through
//! symbolic links where the files exist. Reading, copying out and mentioning a file are no
//! changes. The answer is a help given early; what finally counts is what happened to the file.

use std::path::Path;

use super::code::{Named, deeds};
use super::code_given::Given;
use super::effects::{Args, Effect, Reach, effects};
use super::modes::keeps_content;
use super::syntax::{DEEP, HOLE, STAR};
use super::word::{Match, Word, is_mark, matches};
use super::{Looks, MAX_SCRIPT_DEPTH, Run, Start, Survey, any_behind, join, survey};
use crate::fs::canonical;

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

/// After so many changes the rest is unknown.
const MAX_EFFECTS: u32 = 2000;

/// Whether the command changes files at all, as far as can be told. Most do not, and finding
/// out what stands behind the targets costs more than this.
pub fn changes_files(survey: &Survey) -> bool {
    survey
        .runs()
        .any(|run| !effects(run).is_empty() || !code_of(run).is_empty())
        || any_behind(survey)
}

/// Whether the command would change one of `targets`, given absolute or relative to
/// `project_root`. A target that ends with a slash is a directory with all that is in it.
pub fn touches(survey: &Survey, targets: &[&Path], project_root: &Path) -> Touch {
    asked(survey, targets, project_root, false)
}

/// A directory that the command removes with all that is in it, if `inside` is in it or is it.
/// `rm -rf /*` removes `/`. Only what the command itself says counts, not what a script does.
pub fn removed_around(survey: &Survey, inside: &Path) -> Option<String> {
    let removers = survey
        .runs()
        .filter(|run| run.sure && matches!(run.program(), Some("rm" | "grm")));
    let trees = removers.flat_map(|run| {
        let trees = effects(run).into_iter();
        trees
            .filter(|effect| effect.reach == Reach::Tree)
            .filter_map(|effect| {
                let path = effect.path.raw();
                let path = path.trim_end_matches('/');
                // All that is in a directory.
                let path = match path.strip_suffix([STAR, DEEP]) {
                    Some("") => ".",
                    Some(above) if above.ends_with('/') => above,
                    Some(_) | None => path,
                };
                let path = if effect.path.starts_with("/") {
                    join("/", path)
                } else {
                    join(run.dir.as_deref()?, path)
                };
                (!path.contains(is_mark)).then_some(path)
            })
    });
    let real = canonical(inside).ok();
    let holds = |path: &String| {
        let holds = |inside: &Path| inside.starts_with(path);
        holds(inside) || real.as_deref().is_some_and(holds)
    };
    trees.filter(holds).min_by_key(String::len)
}

/// The same, of what is in the files: their modes and times may change.
pub(crate) fn rewrites(survey: &Survey, targets: &[&Path], project_root: &Path) -> Touch {
    asked(survey, targets, project_root, true)
}

fn asked(survey: &Survey, targets: &[&Path], root: &Path, content: bool) -> Touch {
    if !changes_files(survey) {
        return Touch::None;
    }
    let goals = targets.iter().filter_map(|target| Goal::new(target, root));
    let question = Question {
        goals: goals.collect(),
        root: Some(root),
        content,
    };
    question.inspect(survey, 0, &mut Looks::default())
}

/// What is asked about a command.
struct Question<'q> {
    goals: Vec<Goal>,
    /// The project, where a command is that failed to go elsewhere.
    root: Option<&'q Path>,
    /// Whether only what is in the files counts.
    content: bool,
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
    fn new(target: &Path, root: &Path) -> Option<Self> {
        let target = target.to_str()?;
        let kind = if target.ends_with('/') {
            GoalKind::Tree
        } else {
            GoalKind::File
        };
        let path = join(root.to_str()?, target);
        let mut paths = vec![path.clone()];
        if let Some(real) = real_path(&path) {
            // The file behind a link is the file, too.
            let is_link = Path::new(&real).symlink_metadata();
            let is_link = is_link.is_ok_and(|found| found.is_symlink());
            let file = is_link
                .then(|| Path::new(&real).canonicalize().ok())
                .flatten();
            let file = file.and_then(|file| file.to_str().map(str::to_owned));
            paths.extend([real].into_iter().chain(file).filter(|real| *real != path));
        }
        Some(Self { paths, kind })
    }

    fn base(&self) -> &str {
        self.paths
            .first()
            .and_then(|path| path.rsplit('/').next())
            .unwrap_or_default()
    }
}

/// A path with the links of its directories followed; nothing when they do not exist.
fn real_path(path: &str) -> Option<String> {
    let path = Path::new(path);
    let parent = canonical(path.parent()?).ok()?;
    parent.join(path.file_name()?).to_str().map(str::to_owned)
}

impl Question<'_> {
    fn inspect(&self, survey: &Survey, depth: u32, looks: &mut Looks) -> Touch {
        let goals = self.goals.as_slice();
        // What a script or code changes is where it says.
        let root = self.root.filter(|_| depth == 0);
        let mut worst = Touch::None;
        let mut links = Links::default();
        // Members packed earlier in the same command, which an extraction brings back.
        let mut packed: Vec<Word> = Vec::new();
        let mut made = Made::default();
        let mut left = MAX_EFFECTS;
        // Whether something before may have made directories.
        let mut builds = false;
        let counts = |run: &&Run| run.sure && !(self.content && keeps_content(run));
        for run in survey.runs().filter(counts) {
            // After `cd nowhere` the shell stays where it was.
            let stays = |dir: &str| {
                !builds
                    && root.is_some_and(|root| Path::new(dir) != root)
                    && !Path::new(dir).exists()
            };
            let dir = run.dir.as_deref();
            let other = root
                .and_then(Path::to_str)
                .filter(|_| dir.is_some_and(stays));
            builds |= makes_directories(run);
            for effect in effects(run) {
                // Each may be looked up in the file system.
                let Some(next) = left.checked_sub(1) else {
                    return worst.max(Touch::Unknown);
                };
                left = next;
                worst = worst.max(hits(&effect, run, dir, goals, &links));
                if other.is_some() {
                    worst = worst.max(hits(&effect, run, other, goals, &links));
                }
                if made.bring(&effect, dir, goals) {
                    return Touch::Writes;
                }
                made.note(&effect, dir);
                if effect.reach == Reach::Perhaps {
                    for member in &packed {
                        let path = Word::new(format!("{}/{}", effect.path.raw(), member.raw()));
                        worst = worst.max(hits(
                            &Effect {
                                path,
                                reach: Reach::Tree,
                                from: None,
                            },
                            run,
                            dir,
                            goals,
                            &links,
                        ));
                    }
                }
            }
            if depth < MAX_SCRIPT_DEPTH {
                for script in looks.behind(run, survey.home.as_deref()) {
                    // What cannot be told of a script says nothing about the command.
                    if self.inspect(&script, depth + 1, looks) == Touch::Writes {
                        worst = Touch::Writes;
                    }
                }
            }
            links.note(run);
            packed.extend(packed_members(run));
            for code in code_of(run) {
                worst = worst.max(self.code_touches(code.raw(), run, depth, looks));
            }
            if worst == Touch::Writes {
                break;
            }
        }
        worst
    }

    fn code_touches(&self, code: &str, run: &Run, depth: u32, looks: &mut Looks) -> Touch {
        let dir = run.dir.as_deref();
        let mut worst = Touch::None;
        for goal in &self.goals {
            let named = |text: &str| -> Named {
                let path = match dir {
                    Some(dir) => join(dir, text),
                    None => join("/", text),
                };
                if text.is_empty() || text.contains('\n') {
                    return Named::Other;
                }
                // `getcwd() + '/name'` names it, too.
                let relative = text.trim_start_matches("./").trim_start_matches('/');
                let suffix = goal
                    .paths
                    .iter()
                    .any(|goal| relative.contains('/') && goal.ends_with(&format!("/{relative}")));
                let inside = goal.kind == GoalKind::Tree
                    && goal
                        .paths
                        .iter()
                        .any(|goal| within(&path, goal) != Touch::None);
                if suffix
                    || inside
                    || goal
                        .paths
                        .iter()
                        .any(|goal| matches(&path, goal) != Match::No)
                {
                    Named::File
                } else if goal
                    .paths
                    .iter()
                    .any(|goal| Path::new(goal).starts_with(&path))
                    && text != "."
                    && text != "/"
                {
                    Named::Above
                } else if relative.rsplit('/').next() == Some(goal.base()) {
                    Named::Base
                } else {
                    Named::Other
                }
            };
            let found = deeds(code, &given(run), &named);
            if found.writes {
                return Touch::Writes;
            }
            if depth >= MAX_CODE {
                continue;
            }
            for command in found.commands.iter().take(16) {
                let start = Start {
                    dir: dir.map(Path::new),
                    home: None,
                };
                let found = survey(command, start);
                worst = worst.max(self.inspect(&found, depth + 1, looks));
            }
        }
        worst
    }
}

/// Files that the command itself made.
#[derive(Default)]
struct Made(Vec<String>);

impl Made {
    fn note(&mut self, effect: &Effect, dir: Option<&str>) {
        if let Some((path, dir)) = effect.path.literal().zip(dir)
            && effect.reach == Reach::File
            && self.0.len() < 64
        {
            self.0.push(join(dir, path));
        }
    }

    /// Whether a directory whose content is brought elsewhere has what becomes one of the goals.
    fn bring(&self, effect: &Effect, dir: Option<&str>, goals: &[Goal]) -> bool {
        let from = effect.from.as_ref().and_then(Word::literal);
        let Some(((from, to), dir)) = from.zip(effect.path.literal()).zip(dir) else {
            return false;
        };
        let to = join(dir, to);
        let becomes = |goal: &String| {
            let Ok(below) = Path::new(goal).strip_prefix(&to) else {
                return false;
            };
            let source = join(dir, &format!("{from}/{}", below.display()));
            self.0.contains(&source) || Path::new(&source).exists()
        };
        goals.iter().flat_map(|goal| &goal.paths).any(becomes)
    }
}

/// Links that the command itself makes.
#[derive(Default)]
struct Links(Vec<(String, String)>);

impl Links {
    fn note(&mut self, run: &Run) {
        if run.program() != Some("ln") || self.0.len() >= 32 {
            return;
        }
        let args = Args::read(run.args(), "tS", &["target-directory"]);
        let ([source, rest @ ..], Some(dir)) = (args.operands.as_slice(), run.dir.as_deref())
        else {
            return;
        };
        let (Some(source), Some(base)) = (
            source.literal(),
            source.file_name().literal().map(str::to_owned),
        ) else {
            return;
        };
        let link = rest.first().and_then(Word::literal).unwrap_or(".");
        let symbolic = args.has('s', "symbolic");
        for link in [join(dir, link), join(dir, &format!("{link}/{base}"))] {
            let parent = link.rsplit_once('/').map_or("/", |(parent, _)| parent);
            let target = join(if symbolic { parent } else { dir }, source);
            self.0.push((link, target));
        }
    }

    /// The path behind a link made earlier, if the path goes through one.
    fn resolve(&self, path: &str, itself: bool) -> Option<String> {
        self.0.iter().find_map(|(link, target)| {
            let rest = path.strip_prefix(link.as_str())?;
            (rest.is_empty() && itself || rest.starts_with('/'))
                .then(|| join(target, rest.trim_start_matches('/')))
        })
    }
}

fn makes_directories(run: &Run) -> bool {
    !matches!(
        run.program(),
        None | Some(
            "echo" | "printf" | "cat" | "rm" | "ls" | "test" | "[" | "true" | ":" | "jq" | "sed"
        )
    )
}

fn hits(effect: &Effect, run: &Run, dir: Option<&str>, goals: &[Goal], links: &Links) -> Touch {
    let raw = effect.path.raw();
    if raw.is_empty() || raw.starts_with("/dev/") {
        return Touch::None;
    }
    // A word of which next to nothing is known says nothing.
    let known = raw
        .chars()
        .filter(|letter| letter.is_alphanumeric())
        .count();
    if effect.path.has_holes() && known < 3 {
        return Touch::None;
    }
    let path = match dir {
        Some(dir) => join(dir, raw),
        None if raw.starts_with('/') || raw.starts_with(HOLE) => join("/", raw),
        None => join("/", &format!("{HOLE}/{raw}")),
    };
    let mut candidates = vec![path];
    if let Some(path) = candidates.first().filter(|path| !path.contains(is_mark)) {
        let real = real_path(path);
        // Removing a link leaves what is behind it; removing through one does not.
        let behind = links.resolve(path, !removes(run));
        // Opening a link opens what is behind it; removing it does not.
        let opened = canonical(Path::new(path)).ok();
        let opened = opened.and_then(|path| path.to_str().map(str::to_owned));
        let opened = opened.filter(|_| effect.reach == Reach::File && !removes(run));
        candidates.extend(real.into_iter().chain(behind).chain(opened));
    }
    let mut worst = Touch::None;
    for goal in goals {
        // What is copied from a file to a place that nobody knows is no change of the file.
        if effect.path.has_holes() && copies_from(run, goal) {
            continue;
        }
        for name in &goal.paths {
            for path in &candidates {
                worst = worst.max(compare(path, name, effect.reach));
                if goal.kind == GoalKind::Tree {
                    worst = worst.max(within(path, name));
                }
            }
        }
    }
    worst
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

fn removes(run: &Run) -> bool {
    matches!(run.program(), Some("rm" | "unlink" | "mv" | "ln"))
}

fn compare(path: &str, name: &str, reach: Reach) -> Touch {
    let found = match reach {
        Reach::File => matches(path, name),
        Reach::Tree | Reach::Perhaps => Path::new(name)
            .ancestors()
            .filter_map(Path::to_str)
            .map(|above| matches(path, above))
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

/// What `tar -c` packs.
fn packed_members(run: &Run) -> Vec<Word> {
    if !matches!(run.program(), Some("tar" | "gtar" | "bsdtar")) {
        return Vec::new();
    }
    let args = Args::read(run.args(), "fCTXIgb", &["file", "directory", "exclude"]);
    let first = run.args().first().map(Word::raw).unwrap_or_default();
    let bare = !first.starts_with('-') && first.contains('c');
    if !bare && !args.has('c', "create") {
        return Vec::new();
    }
    args.operands
        .into_iter()
        .skip(if bare { 2 } else { 0 })
        .collect()
}

/// The code an interpreter is given on its command line, on standard input, or in a file that
/// the command wrote.
pub(crate) fn inline_code(
    program: &str,
    args: &[Word],
    input: Option<&Word>,
    script: Option<&Word>,
) -> Vec<Word> {
    let is = |names: &[&str]| names.iter().any(|name| program.starts_with(name));
    if !is(&[
        "python", "pypy", "node", "nodejs", "deno", "bun", "ruby", "perl", "php",
    ]) {
        return Vec::new();
    }
    let takes_code = |text: &str| match text.strip_prefix('-') {
        Some("-eval" | "-print" | "-command") => true,
        Some(cluster) if cluster.starts_with('-') || cluster.is_empty() => false,
        Some(cluster) => {
            let letters = if is(&["python", "pypy"]) {
                "c"
            } else if is(&["php"]) {
                "r"
            } else {
                "eEp"
            };
            let perl_loop = is(&["perl", "ruby"]) && !cluster.contains(['e', 'E']);
            cluster.ends_with(|letter: char| letters.contains(letter)) && !perl_loop
        }
        None => is(&["deno"]) && text == "eval",
    };
    let mut codes = Vec::new();
    let mut scripted = false;
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let text = word.raw();
        if takes_code(text) {
            codes.extend(words.next().cloned());
            scripted = true;
        } else if let Some(code) = text.strip_prefix("--eval=") {
            codes.push(Word::new(code));
            scripted = true;
        } else if text == "-" {
            break;
        } else if !text.starts_with('-') {
            scripted = true;
            break;
        }
    }
    if !scripted {
        codes.extend(input.cloned());
    }
    if codes.is_empty() {
        codes.extend(script.cloned());
    }
    codes
}

/// The same for a command of a survey.
fn code_of(run: &Run) -> Vec<Word> {
    let program = run.program().unwrap_or_default();
    inline_code(program, run.args(), run.input.as_ref(), run.script.as_ref())
}

/// What the code of a command is given beside its text.
fn given(run: &Run) -> Given<'_> {
    let args = run.args();
    let program = run.program().unwrap_or_default();
    let node = ["node", "bun", "deno"]
        .iter()
        .any(|name| program.starts_with(name));
    let perl = ["perl", "ruby"]
        .iter()
        .any(|name| program.starts_with(name));
    // Code on the command line stands behind an option, a script is the first operand; `-` is
    // standard input.
    let coded = |word: &Word| matches!(word.raw(), "-c" | "-e" | "-E" | "-p" | "-pe" | "--eval");
    let coded = args.iter().position(coded);
    let script = coded.is_none();
    let file = || {
        args.iter()
            .position(|word| word.raw() == "-" || !word.starts_with("-"))
    };
    let at = coded.map(|at| at + 2).or_else(|| Some(file()? + 1));
    let at = at.unwrap_or(args.len());
    let first = match (node, perl) {
        (_, true) => 0,
        (true, _) if script => 2,
        _ => 1,
    };
    Given {
        args: args.get(at..).unwrap_or_default(),
        first,
        vars: &run.vars,
    }
}
