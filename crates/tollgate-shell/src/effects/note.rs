//! Taking down what each command does, and how sure that is.

use std::path::Path;

use super::flow::Status;
use super::seen::{Presence, Seen};
use super::{Commit, Counts, Followed, MAX_SHELLS, Tracker};
use crate::accesses::{Access, Kind, Reach, When, accesses, hosts};
use crate::code::{Code, FileUse, Use, code_of, language};
use crate::effect::{Action, Argument, Certainty, Effect};
use crate::git_call::GitCall;
use crate::run::{Run, Survey, program_name};
use crate::target::{Extent, Target};
use crate::walk;
use crate::word::{HOLE, LOOSE, Word, has};
use crate::world::{Head, World};
use crate::writes::keeps_content;

/// Longer sources are cut.
const MAX_SOURCE: usize = 200;
/// After so many effects the rest is unknown.
const MAX_EFFECTS: usize = 4000;
/// A longer script of an interpreter is not read.
const MAX_SCRIPT: u64 = 64 * 1024;
/// More commands than this are not taken from one code.
const MAX_COMMANDS: usize = 16;

/// Programs whose success is an answer.
const QUESTIONS: &str = "test [ [[ grep egrep fgrep rg command which type hash pgrep cmp diff read \
                         id getopts let jq";

/// Files that are no files.
const DEVICES: &str = "/dev/null /dev/stdin /dev/stdout /dev/stderr /dev/tty /dev/zero \
                       /dev/urandom /dev/random /dev/full";

/// Whether a command is run for its answer.
pub(super) fn is_question(run: &Run) -> bool {
    let words = run.args();
    match run.program() {
        Some("git") => {
            let says = |option: &str| words.iter().any(|word| word.raw() == option);
            let verb = words.iter().find(|word| !word.starts_with("-"));
            says("--quiet") && verb.is_some_and(|verb| has("diff diff-index", verb.raw()))
                || verb.is_some_and(|verb| {
                    has(
                        "rev-parse show-ref merge-base ls-files check-ignore grep",
                        verb.raw(),
                    )
                })
        }
        Some(name) => has(QUESTIONS, name),
        None => false,
    }
}

/// What was noted so far.
pub(super) struct Notes<'w> {
    effects: Vec<Effect>,
    seen: Seen<'w>,
    /// Whether there were too many.
    full: bool,
}

impl<'w> Notes<'w> {
    pub(super) fn new(world: &World<'w>) -> Self {
        Self {
            effects: Vec::new(),
            seen: Seen::new(world),
            full: false,
        }
    }
}

impl Tracker<'_> {
    pub(super) fn into_followed(self, survey: &Survey) -> Followed {
        let mut effects = self.notes.effects;
        if survey.opaque || self.notes.full {
            effects.push(Effect {
                action: Action::Opaque,
                certainty: Certainty::Unknown,
                source: String::new(),
            });
        }
        Followed {
            effects,
            commits: self.commits,
        }
    }

    /// How sure it is that what runs now does.
    fn sureness(&self, run: &Run) -> Certainty {
        if self.sure && run.sure && !run.perhaps && !self.may_fail && self.flow.is_meant() {
            Certainty::Certain
        } else {
            Certainty::Possible
        }
    }

    pub(super) fn note(&mut self, run: &Run, action: Action, at_most: Certainty) {
        let certainty = self.sureness(run).min(at_most);
        if self.notes.effects.len() >= MAX_EFFECTS {
            self.notes.full = true;
            return;
        }
        let source = source(run);
        self.notes.effects.push(Effect {
            action,
            certainty,
            source,
        });
    }

    pub(super) fn note_opaque(&mut self, run: &Run) {
        self.note(run, Action::Opaque, Certainty::Unknown);
    }

    /// The programs that only start this one.
    pub(super) fn note_starters(&mut self, run: &Run) {
        for words in &run.starters {
            let starter = Run {
                words: words.clone(),
                sure: run.sure,
                perhaps: run.perhaps,
                ..Run::empty(run.dir.clone())
            };
            self.note_program(&starter);
            for access in accesses(&starter, None) {
                self.note_access(&starter, &access);
            }
        }
    }

    fn note_program(&mut self, run: &Run) {
        let Some(word) = run.words.first() else {
            return;
        };
        let Some(program) = word.literal().and_then(program_name) else {
            return;
        };
        let args = run.args().iter().map(|word| match word.literal() {
            Some(text) => Argument::Literal(text.to_owned()),
            None => Argument::Unknown,
        });
        let action = Action::Run {
            program: program.to_owned(),
            args: args.collect(),
        };
        self.note(run, action, Certainty::Certain);
    }

    /// What a command does that is none of git's.
    pub(super) fn note_run(&mut self, run: &Run, depth: u32) {
        self.note_program(run);
        let counts = self.counts == Counts::AnyChange || !keeps_content(run);
        for access in accesses(run, None).iter().filter(|_| counts) {
            self.note_access(run, access);
        }
        for host in hosts(run) {
            self.note(run, Action::Fetch { host }, Certainty::Possible);
        }
        self.note_code(run, depth);
    }

    /// What a command of git does, but for its commit.
    pub(super) fn note_git(&mut self, run: &Run, call: &GitCall, place: usize) {
        self.note_program(run);
        let root = self.trees.get(place).map(|tree| tree.root.clone());
        let root = root.as_deref().and_then(Path::to_str);
        for access in accesses(run, root) {
            self.note_access(run, &access);
        }
        let name = call.subcommand.as_ref().and_then(Word::literal);
        let first = call.args.iter().find(|word| !word.starts_with("-"));
        match name {
            Some("push") => self.note_push(run, call, place),
            Some("fetch" | "pull" | "ls-remote") => {
                let remote = first.map_or(Some("origin"), Word::literal);
                self.note_remote(run, call, remote);
            }
            Some("clone") => {
                let address = call
                    .args
                    .iter()
                    .find(|word| !word.starts_with("-") && word.raw().contains(['/', ':']));
                self.note_remote(run, call, address.and_then(Word::literal));
            }
            Some("remote" | "submodule") if first.is_some_and(|verb| verb.raw() == "update") => {
                self.note(run, Action::Fetch { host: None }, Certainty::Possible);
            }
            Some(_) | None => {}
        }
    }

    pub(super) fn note_commit(&mut self, commit: &Commit, run: &Run, at_most: Certainty) {
        let branches = commit.heads.iter().map(Head::branch);
        let action = Action::Commit {
            branches: branches.map(|name| name.map(str::to_owned)).collect(),
            repository: commit.repository.clone(),
            relation: commit.relation,
        };
        self.note(run, action, at_most);
    }

    /// The use of a file, where the command is, or would be if it could not go there.
    fn note_access(&mut self, run: &Run, access: &Access) {
        if has(DEVICES, access.path.raw()) || is_stream(access.path.raw()) {
            return;
        }
        let dir = run.dir.as_deref();
        let (certainty, presence) = self.occurs(access, dir);
        if let Some(certainty) = certainty {
            self.note_target(run, access, dir, certainty);
        }
        // After `cd nowhere` the shell stays where it was, unless something before may have made that.
        let stays = dir.is_some_and(|dir| {
            self.trees.is_untouched() && self.presence(dir) == Presence::Missing
        });
        let start = self.world.dir.and_then(Path::to_str);
        if stays && !access.path.starts_with("/") && dir != start {
            self.note_target(run, access, start, Certainty::Possible);
        } else if let (Some(certainty), Some(presence)) = (certainty, presence) {
            let certainty = certainty.min(self.sureness(run));
            let target = Target::named(&access.path, dir, Extent::Path);
            if let Some(path) = target.path() {
                let seen = &mut self.notes.seen;
                // A file that may be written is a file in either case.
                let sure = certainty == Certainty::Certain || seen.presence(path) == presence;
                seen.note(path, if sure { presence } else { Presence::Unknown });
            }
        }
    }

    fn note_target(&mut self, run: &Run, access: &Access, dir: Option<&str>, certainty: Certainty) {
        let extent = match access.reach {
            Reach::File => Extent::Path,
            Reach::Tree => Extent::Tree,
            Reach::Perhaps => Extent::Within,
        };
        let target = Target::named(&access.path, dir, extent);
        let vague = access.reach == Reach::Perhaps || target.path().is_none();
        if vague
            && access.kind != Kind::Read
            && let Some(path) = target.directory()
        {
            self.notes.seen.note_within(path);
        }
        let action = match access.kind {
            Kind::Read => Action::Read(target),
            Kind::Write | Kind::Make => Action::Write(target),
            Kind::Delete => Action::Delete(target),
        };
        self.note(run, action, certainty);
    }

    fn presence(&self, path: &str) -> Presence {
        self.notes.seen.presence(path)
    }

    /// How sure a use of a file is if its command runs, and what the path is afterwards; nothing
    /// if it does not happen.
    fn occurs(&self, access: &Access, dir: Option<&str>) -> (Option<Certainty>, Option<Presence>) {
        let at = |word: &Word| {
            let target = Target::named(word, dir, Extent::Path);
            target
                .path()
                .map_or(Presence::Unknown, |path| self.presence(path))
        };
        let here = at(&access.path);
        let certain = match &access.when {
            When::Always => Some(true),
            When::There => Some(here == Presence::File || here == Presence::Directory),
            When::IsPath => match here {
                Presence::Missing => None,
                Presence::File | Presence::Directory | Presence::Unknown => Some(false),
            },
            When::Missing => match here {
                Presence::File | Presence::Directory => None,
                Presence::Missing => Some(true),
                Presence::Unknown => Some(false),
            },
            When::Into(dest) => match at(dest) {
                Presence::Directory => Some(true),
                Presence::File => None,
                // In a world without files nothing is known.
                Presence::Missing if self.is_place(dest, dir) && !dest.raw().ends_with('/') => None,
                Presence::Missing | Presence::Unknown => Some(false),
            },
            When::Onto(dest) => match at(dest) {
                Presence::Directory => None,
                Presence::File => Some(true),
                Presence::Missing => Some(!dest.raw().ends_with('/')),
                Presence::Unknown => Some(false),
            },
            When::Perhaps => Some(false),
        };
        let Some(certain) = certain else {
            return (None, None);
        };
        let target = Target::named(&access.path, dir, Extent::Path);
        // A directory is not read as a file is, and no file is where there is no directory.
        let fits = match (access.kind, here) {
            (Kind::Read, Presence::Directory) => access.reach == Reach::Tree,
            (Kind::Read, _) => true,
            (Kind::Write, Presence::File | Presence::Directory) => true,
            (Kind::Delete, Presence::Directory) => access.reach == Reach::Tree,
            (Kind::Delete, _) => true,
            (Kind::Write | Kind::Make, _) => {
                let above = target
                    .path()
                    .and_then(|path| Path::new(path).parent()?.to_str());
                above.is_some_and(|above| self.presence(above) == Presence::Directory)
            }
        };
        let known = target.path().is_some() && access.reach != Reach::Perhaps;
        let certainty = if certain && fits && known {
            Certainty::Certain
        } else {
            Certainty::Possible
        };
        let after = match access.kind {
            Kind::Read => None,
            Kind::Write if access.reach == Reach::File => Some(match here {
                Presence::Directory => Presence::Directory,
                Presence::File | Presence::Missing | Presence::Unknown => Presence::File,
            }),
            // What is copied may be a directory.
            Kind::Write => Some(Presence::Unknown),
            Kind::Make => Some(Presence::Directory),
            Kind::Delete => Some(Presence::Missing),
        };
        (
            Some(certainty),
            after.filter(|_| access.reach != Reach::Perhaps),
        )
    }

    /// Whether the directory is there in which a path would be.
    fn is_place(&self, path: &Word, dir: Option<&str>) -> bool {
        let target = Target::named(path, dir, Extent::Path);
        let above = target
            .path()
            .and_then(|path| Path::new(path).parent()?.to_str());
        above.is_some_and(|above| self.presence(above) == Presence::Directory)
    }

    /// What the code of another language does, where it is plain.
    fn note_code(&mut self, run: &Run, depth: u32) {
        let Some(language) = run.program().and_then(language) else {
            return;
        };
        let (mut codes, given) = code_of(run);
        if codes.is_empty() {
            let asks =
                |word: &Word| matches!(word.raw(), "--version" | "-V" | "--help" | "-h" | "-v");
            let module = run.args().iter().any(|word| word.raw() == "-m");
            if run.args().iter().any(asks) || module {
                return;
            }
            codes.extend(self.script_code(run));
        }
        // Code from elsewhere, or none that can be read.
        let unseen = |code: &Word| code.raw().contains([HOLE, LOOSE]);
        if codes.is_empty() || codes.iter().any(unseen) {
            self.note_opaque(run);
        }
        for text in &codes {
            let code = Code::read(text.raw(), &given);
            for used in code.files(language) {
                self.note_use(run, &used);
            }
            // The walk has followed those that speak of git.
            if depth < MAX_SHELLS && !text.raw().contains("git") {
                for command in code.commands().into_iter().take(MAX_COMMANDS) {
                    let world = self.world.at(run.dir.as_deref().map(Path::new));
                    let survey = walk::survey(&command, &world);
                    self.follow_apart(&survey, depth + 1);
                    self.flow.status = Status::Unknown;
                }
            }
        }
    }

    /// The text of the file that an interpreter is given.
    fn script_code(&self, run: &Run) -> Option<Word> {
        let operand = run.args().iter().find(|word| !word.starts_with("-"))?;
        let path = crate::path::changed(run.dir.as_deref(), operand)?;
        let text = self.world.files.read(Path::new(&path), MAX_SCRIPT)?;
        Some(Word::new(walk::cleaned(&text)))
    }

    fn note_use(&mut self, run: &Run, used: &FileUse) {
        let reach = if used.tree { Reach::Tree } else { Reach::File };
        let access = |kind, when| Access {
            kind,
            path: match &used.path {
                Some(path) => Word::new(walk::cleaned(path)),
                None => Word::new(HOLE),
            },
            reach,
            when,
        };
        let sure = |when| if used.certain { when } else { When::Perhaps };
        let access = match used.how {
            Use::Reads => access(Kind::Read, sure(When::There)),
            Use::Writes => access(Kind::Write, sure(When::Always)),
            Use::Makes => access(Kind::Make, sure(When::Missing)),
            Use::Deletes => access(Kind::Delete, sure(When::There)),
        };
        if let Some(path) = &used.path {
            // What makes a directory may make those above it.
            let above = Path::new(path).ancestors().skip(1).filter_map(Path::to_str);
            for above in above.filter(|above| used.how == Use::Makes && !above.is_empty()) {
                let above = Access {
                    path: Word::new(walk::cleaned(above)),
                    when: When::Missing,
                    ..access.clone()
                };
                self.note_access(run, &above);
            }
            self.note_access(run, &access);
        } else {
            let target = Target::unknown();
            let action = match access.kind {
                Kind::Read => Action::Read(target),
                Kind::Write | Kind::Make => Action::Write(target),
                Kind::Delete => Action::Delete(target),
            };
            self.note(run, action, Certainty::Unknown);
        }
    }
}

/// A descriptor that only this command has, or standard input.
fn is_stream(path: &str) -> bool {
    matches!(path, "-" | "") || path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/")
}

/// The words of a command, bounded.
fn source(run: &Run) -> String {
    let mut text = String::new();
    for word in &run.words {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&word.display());
        if text.len() > MAX_SOURCE {
            let end = (0..=MAX_SOURCE).rev().find(|at| text.is_char_boundary(*at));
            text.truncate(end.unwrap_or(0));
            text.push('…');
            break;
        }
    }
    text
}
