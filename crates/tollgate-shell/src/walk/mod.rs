//! The walk through a parsed script in the order it would run, with the values known so far.
//!
//! A [`Scope`] is what a subshell gets a copy of, a [`Trace`] takes down what is found, and
//! [`Written`] holds the texts of files that the command itself writes. Every step is paid for
//! from one [`Budget`], so that no script, however it calls itself, is walked for long.

mod compound;
mod doubt;
mod expand;
mod nested;
mod output;
mod parameter;
mod scope;
mod trace;
mod wrap;
mod wrappers;
mod written;

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

use super::parse::parse;
use super::run::{Ending, Link, Redirect, Run, Survey};
use super::syntax::{AndOr, Assign, Command, Join, Kind, List, Pipeline, RawWord};
use super::word::{BETWEEN, BETWEEN_TEXT, Word, hole, is_mark};
use super::world::World;
use doubt::Outcome;
use scope::Scope;
use trace::Trace;
use written::{Written, appends, is_stdout};

/// What a walk may cost; a simple command costs one.
const BUDGET: usize = 30_000;
/// The same for the script of a file: there may be several.
const SCRIPT_BUDGET: usize = 10_000;
/// Functions calling functions, shells starting shells.
const MAX_CALLS: u32 = 24;
/// A loop over literal words is walked for so many of them.
const MAX_TURNS: usize = 32;
/// A longer text is treated as unknown.
const MAX_TEXT: usize = 64 * 1024;

/// A script of a file, with what it is started with.
pub(crate) struct Script {
    pub(crate) text: String,
    /// `$0`
    pub(crate) name: String,
    pub(crate) args: Vec<String>,
    pub(crate) vars: Vec<(String, Word)>,
    pub(crate) dir: String,
}

/// What is left of what a walk may cost.
#[derive(Debug)]
struct Budget(Cell<usize>);

impl Budget {
    fn new(cost: usize) -> Rc<Self> {
        Rc::new(Self(Cell::new(cost)))
    }

    /// Pays for a step; true when there is nothing left.
    fn spend(&self, cost: usize) -> bool {
        self.0.set(self.0.get().saturating_sub(cost));
        self.0.get() == 0
    }
}

/// Standard input and output of a part of the script.
#[derive(Clone, Debug, Default)]
struct Io {
    /// The text a pipe or a heredoc supplies.
    input: Option<Rc<str>>,
    /// Whether the output's text is needed.
    wanted: bool,
    link: Option<Link>,
}

impl Io {
    fn capture() -> Self {
        Self {
            wanted: true,
            ..Self::default()
        }
    }

    /// The text on standard input, as far as it is known.
    fn text(&self) -> String {
        self.input.as_deref().map_or_else(hole, str::to_owned)
    }
}

/// A simple command on its way to becoming a [`Run`].
#[derive(Clone, Debug)]
struct Call {
    words: Vec<Word>,
    vars: Vec<(String, Word)>,
    redirects: Vec<Redirect>,
    dir: Option<String>,
    io: Io,
    /// Variables that it does not see: `env -u name`, and an empty name for `env -i`.
    without: Vec<String>,
    /// The number of the branch whose name it prints.
    branch: Option<usize>,
}

impl Call {
    /// The words after the program.
    fn args(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }

    /// The same call with other words.
    fn with_words(&self, words: Vec<Word>) -> Self {
        Self {
            words,
            vars: self.vars.clone(),
            redirects: self.redirects.clone(),
            dir: self.dir.clone(),
            io: self.io.clone(),
            without: self.without.clone(),
            branch: None,
        }
    }

    /// Whether it sees a variable of the shell that starts it.
    fn sees(&self, name: &str) -> bool {
        !self
            .without
            .iter()
            .any(|hidden| hidden.is_empty() || hidden == name)
    }

    /// What a copy of it costs.
    fn weight(&self) -> usize {
        (self.words.len() + self.redirects.len() + self.vars.len()) / 16
    }
}

/// The walk itself.
struct Walker<'a> {
    world: World<'a>,
    trace: Trace,
    written: Written,
    budget: Rc<Budget>,
    calls: u32,
    /// Texts of `trap … EXIT`.
    at_exit: Vec<String>,
}

/// Walks a whole command.
pub(crate) fn survey(command: &str, world: &World<'_>) -> Survey {
    let budget = Budget::new(BUDGET);
    let scope = Scope::new(world, Rc::clone(&budget));
    Walker::new(world, budget, Trace::of_command()).survey(&cleaned(command), scope)
}

/// Walks a script of a file. Marks in it stand for unknown text. `share` scripts share what one
/// may cost.
pub(crate) fn script_survey(script: &Script, world: &World<'_>, share: usize) -> Survey {
    let budget = Budget::new((SCRIPT_BUDGET / share.max(1)).max(200));
    let mut scope = Scope::new(world, Rc::clone(&budget));
    scope.args = Rc::new(script.args.clone());
    for (name, value) in &script.vars {
        scope.export(name, value.raw().to_owned());
    }
    for name in ["0", "BASH_SOURCE"] {
        scope.assign(name, script.name.clone());
    }
    Walker::new(world, budget, Trace::of_script()).survey(&script.text, scope)
}

/// The text without NUL, and without the marks for unknown text, which cannot come from the
/// outside.
pub(crate) fn cleaned(text: &str) -> Cow<'_, str> {
    // A mark is three bytes that start with 0xEF; most texts hold no such byte at all.
    let bytes = text.as_bytes();
    let marked = bytes.contains(&0xEF) && text.contains(is_mark);
    if !marked && !bytes.contains(&0) {
        return Cow::Borrowed(text);
    }
    let kept = text.chars().filter(|letter| *letter != '\0');
    let clean = kept.map(|letter| if is_mark(letter) { '\u{FFFD}' } else { letter });
    Cow::Owned(clean.collect())
}

impl<'a> Walker<'a> {
    fn new(world: &World<'a>, budget: Rc<Budget>, trace: Trace) -> Self {
        Self {
            world: *world,
            trace,
            written: Written::default(),
            budget,
            calls: 0,
            at_exit: Vec::new(),
        }
    }

    fn survey(mut self, text: &str, mut scope: Scope) -> Survey {
        // A trap runs after `exit`.
        if text.contains("trap") {
            self.within(Link::Shell, |walker| {
                walker.script(text, &mut scope, &Io::default())
            });
        } else {
            self.script(text, &mut scope, &Io::default());
        }
        for text in std::mem::take(&mut self.at_exit) {
            self.nested(&text, &mut scope, &Io::default());
        }
        let spent = self.budget.spend(0);
        self.trace.into_survey(self.written.into_files(), spent)
    }
}

impl Walker<'_> {
    /// Runs `inner` as a separate part.
    fn within(&mut self, link: Link, inner: impl FnOnce(&mut Self) -> String) -> String {
        self.trace.enter(link);
        let output = inner(self);
        self.trace.leave(link);
        output
    }

    /// Runs `inner` as one more call inside a call, unless there are too many.
    fn deeper(&mut self, inner: impl FnOnce(&mut Self) -> String) -> String {
        if self.calls >= MAX_CALLS {
            self.trace.opaque = true;
            return hole();
        }
        self.calls += 1;
        let output = inner(self);
        self.calls -= 1;
        output
    }

    /// Parses and walks a text.
    fn script(&mut self, text: &str, scope: &mut Scope, io: &Io) -> String {
        if self.budget.spend(text.len() / 64) {
            return String::new();
        }
        let script = parse(text);
        self.trace.opaque |= script.broken;
        self.list(&script.list, scope, io)
    }

    /// Walks a list and answers what it prints.
    fn list(&mut self, list: &List, scope: &mut Scope, io: &Io) -> String {
        let mut output = String::new();
        for and_or in &list.0 {
            let part = self.and_or(and_or, scope, io);
            append(&mut output, &part, io);
            if self.budget.spend(1) {
                break;
            }
        }
        output
    }

    fn and_or(&mut self, and_or: &AndOr, scope: &mut Scope, io: &Io) -> String {
        if and_or.background {
            let mut copy = scope.clone();
            let output = self.within(Link::Shell, |walker| walker.joined(and_or, &mut copy, io));
            self.trace.ends(Ending::Well);
            return output;
        }
        self.joined(and_or, scope, io)
    }

    fn joined(&mut self, and_or: &AndOr, scope: &mut Scope, io: &Io) -> String {
        let mut output = String::new();
        for (join, pipeline) in &and_or.pipelines {
            let part = match join {
                Join::Start => self.pipeline(pipeline, scope, io),
                Join::And => self.within(Link::And, |walker| walker.pipeline(pipeline, scope, io)),
                Join::Or => {
                    let before = scope.dir.clone();
                    let part = self.within(Link::Or, |walker| walker.pipeline(pipeline, scope, io));
                    scope.forget_move(before.as_deref());
                    // What printed something has hardly failed.
                    Some(part).filter(|_| output.is_empty()).unwrap_or_default()
                }
            };
            append(&mut output, &part, io);
        }
        output
    }

    fn pipeline(&mut self, pipeline: &Pipeline, scope: &mut Scope, io: &Io) -> String {
        let output = match pipeline.stages.as_slice() {
            [only] => self.command(only, scope, io),
            stages => self.stages(stages, scope, io),
        };
        if pipeline.negated {
            self.trace.ends(Ending::Inverted);
            if let Outcome::Known(well) = self.trace.outcome() {
                self.trace.set_outcome(Outcome::Known(!well));
            }
        }
        output
    }

    fn stages(&mut self, stages: &[Command], scope: &Scope, io: &Io) -> String {
        let mut asks_git = false;
        let mut text: Option<Rc<str>> = io.input.clone();
        for (index, stage) in stages.iter().enumerate() {
            let io = Io {
                input: text.take(),
                wanted: index + 1 < stages.len() || io.wanted,
                link: (index > 0).then_some(Link::Pipe),
            };
            let output = self.within(Link::Shell, |walker| {
                walker.command(stage, &mut scope.clone(), &io)
            });
            asks_git |= self.trace.outcome() == Outcome::AskedGit;
            text = Some(output.into());
        }
        if asks_git {
            self.trace.set_outcome(Outcome::AskedGit);
        }
        text.map(|text| text.to_string()).unwrap_or_default()
    }

    fn command(&mut self, command: &Command, scope: &mut Scope, io: &Io) -> String {
        if self.budget.spend(1) {
            return String::new();
        }
        let mut io = io.clone();
        let redirects = self.expanding(scope).redirects(&command.redirects, &mut io);
        let printed_elsewhere = command.redirects.iter().any(is_stdout);
        io.wanted |= printed_elsewhere;
        let output = if let Kind::Simple { assigns, words } = &command.kind {
            self.simple(assigns, words, redirects.clone(), scope, &io)
        } else {
            // The files of a compound command are opened before anything in it runs.
            if !redirects.is_empty() && !matches!(command.kind, Kind::Function { .. }) {
                let opens = Run {
                    redirects: redirects.clone(),
                    link: io.link.take().unwrap_or(Link::Then),
                    ..Run::empty(scope.dir.clone())
                };
                self.trace.push(opens);
            }
            self.compound(&command.kind, scope, &io)
        };
        if printed_elsewhere {
            let adds = command.redirects.iter().any(appends);
            self.written
                .note_output(&redirects, adds, &output, scope.dir.as_deref());
            return String::new();
        }
        output
    }

    fn assigned(&mut self, assign: &Assign, scope: &mut Scope) -> String {
        let text = match &assign.array {
            Some(words) => {
                let words = self.expanding(scope).words(words);
                let words: Vec<&str> = words.iter().map(Word::raw).collect();
                words.join(BETWEEN_TEXT)
            }
            None => self.expanding(scope).text(&assign.value),
        };
        if !assign.append {
            return text;
        }
        let mut whole = match scope.value(&assign.name) {
            Some(old) => old.to_owned(),
            // The environment holds texts, but no arrays.
            None if assign.array.is_some() => return text,
            None => hole(),
        };
        if assign.array.is_some() && !whole.is_empty() {
            whole.push(BETWEEN);
        }
        whole.push_str(&text);
        Some(whole)
            .filter(|whole| whole.len() <= MAX_TEXT)
            .unwrap_or_else(hole)
    }

    fn simple(
        &mut self,
        assigns: &[Assign],
        raw: &[RawWord],
        redirects: Vec<Redirect>,
        scope: &mut Scope,
        io: &Io,
    ) -> String {
        let words = self.expanding(scope).words(raw);
        let mut vars = Vec::new();
        for assign in assigns {
            let text = self.assigned(assign, scope);
            if words.is_empty() {
                scope.assign(&assign.name, text);
            } else {
                vars.push((assign.name.clone(), Word::new(text)));
            }
        }
        if words.is_empty() && redirects.is_empty() {
            let asks = |assign: &Assign| assign.value.runs_something();
            // `x=$(command)` ends as the command does.
            if !assigns.iter().any(asks) {
                self.trace.ends(Ending::Well);
            }
            return String::new();
        }
        let call = Call {
            words,
            vars,
            redirects,
            dir: scope.dir.clone(),
            io: io.clone(),
            without: Vec::new(),
            branch: None,
        };
        self.dispatch(call, scope)
    }

    /// Puts a call on the list.
    fn emit(&mut self, call: Call, scope: &Scope) {
        let is_given = |name: &str| call.vars.iter().any(|(other, _)| other == name);
        let exported = scope.exported("GIT_").filter(|(name, _)| call.sees(name));
        let mut vars: Vec<(String, Word)> = exported
            .filter(|(name, _)| !is_given(name))
            .map(|(name, text)| (name.to_owned(), Word::new(text)))
            .collect();
        vars.extend(call.vars);
        let dir = call.dir;
        let script = self.written.script(&call.words, dir.as_deref());
        self.trace.push(Run {
            words: call.words,
            vars,
            redirects: call.redirects,
            input: call.io.input.map(|text| Word::new(&*text)),
            script,
            link: call.io.link.unwrap_or(Link::Then),
            branch: call.branch,
            ..Run::empty(dir)
        });
    }
}

/// Adds to the output, if anybody wants it and it is not too long to be worth knowing.
fn append(output: &mut String, part: &str, io: &Io) {
    if !io.wanted || part.is_empty() {
        return;
    }
    if output.len() + part.len() > MAX_TEXT {
        *output = hole();
    } else {
        output.push_str(part);
    }
}
