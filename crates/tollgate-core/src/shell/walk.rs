//! The walk through a parsed script in the order it would run, with the values known so far.
//!
//! A [`Scope`] is what a subshell gets a copy of: variables, functions, the working directory.
//! Every step is paid for from one budget, so that no script, however it calls itself, is walked
//! for long.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use super::doubt::{Doubts, Outcome};
use super::files::{appends, is_stdout};
use super::lex::Cursor;
use super::parameter::with_element;
use super::script::Script;
use super::syntax::{AndOr, Assign, BETWEEN, Command, HOLE, Join, Kind, List, Pipeline};
use super::word::Word;
use super::{Link, Redirect, Run, Start, Step, Survey, join};

/// What a walk may cost; a simple command costs one.
const BUDGET: u32 = 100_000;
/// The same for the script of a file: there may be several.
const SCRIPT_BUDGET: u32 = 10_000;
/// Functions calling functions, shells starting shells.
const MAX_CALLS: u32 = 24;
/// More variables than this are not remembered.
const MAX_VARS: usize = 256;
/// A loop over literal words is walked for so many of them.
pub(crate) const MAX_TURNS: usize = 32;

/// The value of a variable.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) text: String,
    pub(crate) exported: bool,
    /// `declare -n`: the text is the name of the variable that is meant.
    pub(crate) refers: bool,
}

/// What a command sees and a subshell copies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    pub(crate) vars: Rc<BTreeMap<String, Value>>,
    pub(crate) functions: Rc<BTreeMap<String, Rc<Command>>>,
    /// Functions that `export -f` hands to other shells.
    pub(crate) shared: Rc<Vec<String>>,
    pub(crate) args: Rc<Vec<String>>,
    pub(crate) dir: Option<String>,
    pub(crate) old_dir: Option<String>,
    pub(crate) stack: Rc<Vec<Option<String>>>,
    pub(crate) export_all: bool,
    /// Names that were exported before they had a value.
    pub(crate) exports: Rc<Vec<String>>,
    /// Programs whose place `hash -p` told.
    pub(crate) hashed: Rc<BTreeMap<String, String>>,
    /// `shopt -s dotglob`
    pub(crate) dotglob: bool,
    /// `shopt -s expand_aliases`, and the aliases since then.
    pub(crate) aliases: Option<Rc<BTreeMap<String, String>>>,
}

impl Scope {
    /// The variable that a name means, through `declare -n`.
    pub(crate) fn meant<'s>(&'s self, mut name: &'s str) -> &'s str {
        for _ in 0..8 {
            match self.vars.get(name) {
                Some(value) if value.refers => name = &value.text,
                Some(_) | None => break,
            }
        }
        name
    }
}

/// Standard input and output of a part of the script.
#[derive(Clone, Debug, Default)]
pub(crate) struct Io {
    /// The text a pipe or a heredoc supplies.
    pub(crate) input: Option<Rc<str>>,
    /// Whether somebody wants the output's text.
    pub(crate) wanted: bool,
    pub(crate) link: Option<Link>,
}

impl Io {
    pub(crate) fn capture() -> Self {
        Self {
            input: None,
            wanted: true,
            link: None,
        }
    }
}

/// A simple command on its way to becoming a [`Run`].
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) words: Vec<Word>,
    pub(crate) vars: Vec<(String, Word)>,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) dir: Option<String>,
    pub(crate) io: Io,
    /// Variables that it does not see: `env -u name`, and an empty name for `env -i`.
    pub(crate) without: Vec<String>,
}

impl Call {
    /// The same call with other words.
    pub(crate) fn with_words(&self, words: Vec<Word>) -> Self {
        Self {
            words,
            vars: self.vars.clone(),
            redirects: self.redirects.clone(),
            dir: self.dir.clone(),
            io: self.io.clone(),
            without: self.without.clone(),
        }
    }

    /// Whether it sees a variable of the shell that starts it.
    pub(crate) fn sees(&self, name: &str) -> bool {
        !self
            .without
            .iter()
            .any(|hidden| hidden.is_empty() || hidden == name)
    }

    /// What a copy of it costs.
    pub(crate) fn weight(&self) -> u32 {
        let size = self.words.len() + self.redirects.len() + self.vars.len();
        u32::try_from(size / 16).unwrap_or(u32::MAX)
    }
}

/// The walk itself.
pub(crate) struct Walker<'a> {
    pub(crate) start: Start<'a>,
    pub(crate) survey: Survey,
    left: u32,
    calls: u32,
    /// Texts of `<(…)`, and of files written earlier in the same command.
    pub(crate) files: Vec<(String, String)>,
    pub(crate) streams: u32,
    /// Texts of `trap … EXIT`, and what each sees; nothing for one of the outermost shell, which
    /// sees what is there at its end.
    pub(crate) exits: Vec<(String, Option<Scope>)>,
    /// Conditions around what is walked now: how what stands before each ended.
    conditions: Vec<Outcome>,
    /// For the script of a file, how sure its parts are to run.
    pub(crate) doubts: Option<Doubts>,
}

/// Walks a whole command.
pub(crate) fn survey(command: &str, start: Start<'_>) -> Survey {
    let walker = Walker::new(start, None);
    let scope = walker.first_scope();
    walker.survey(&cleaned(command), scope)
}

/// Walks a script of a file, started with these arguments and variables. Marks in it stand for
/// unknown text. So many share what one may cost.
pub(crate) fn script_survey(script: &Script, start: Start<'_>, share: u32) -> Survey {
    let mut walker = Walker::new(start, Some(Doubts::default()));
    walker.left = (SCRIPT_BUDGET / share.max(1)).max(200);
    let mut scope = walker.first_scope();
    scope.args = Rc::new(script.args.clone());
    for (name, value) in &script.vars {
        walker.assign(name, value.raw().to_owned(), &mut scope);
        if let Some(value) = Rc::make_mut(&mut scope.vars).get_mut(name) {
            value.exported = true;
        }
    }
    for name in ["0", "BASH_SOURCE"] {
        walker.assign(name, script.name.clone(), &mut scope);
    }
    walker.survey(&script.text, scope)
}

/// The text without NUL, and without the marks for unknown text, which cannot come from the
/// outside.
pub(crate) fn cleaned(text: &str) -> Cow<'_, str> {
    let is_ours = |letter: char| ('\u{FDD0}'..='\u{FDD6}').contains(&letter);
    // A mark is three bytes that start with 0xEF; most texts hold no such byte at all.
    let bytes = text.as_bytes();
    let marked = bytes.contains(&0xEF) && text.contains(is_ours);
    if !marked && !bytes.contains(&0) {
        return Cow::Borrowed(text);
    }
    let kept = text.chars().filter(|letter| *letter != '\0');
    let clean = kept.map(|letter| if is_ours(letter) { '\u{FFFD}' } else { letter });
    Cow::Owned(clean.collect())
}

impl<'a> Walker<'a> {
    fn new(start: Start<'a>, doubts: Option<Doubts>) -> Self {
        Self {
            start,
            survey: Survey::default(),
            left: BUDGET,
            calls: 0,
            files: Vec::new(),
            streams: 63,
            exits: Vec::new(),
            conditions: Vec::new(),
            doubts,
        }
    }

    fn first_scope(&self) -> Scope {
        let dir = self.start.dir.and_then(|dir| dir.to_str());
        Scope {
            dir: dir.map(|dir| join("/", dir)),
            ..Scope::default()
        }
    }

    fn survey(mut self, text: &str, mut scope: Scope) -> Survey {
        let _output = self.script(text, &mut scope, &Io::default());
        for (text, inner) in std::mem::take(&mut self.exits) {
            let mut scope = inner.unwrap_or_else(|| scope.clone());
            self.nested(&text, &mut scope, &Io::default());
        }
        let mut written = self.files;
        written.retain(|(path, _)| !path.starts_with("/dev/"));
        Survey {
            written,
            home: self.start.home.map(Path::to_owned),
            ..self.survey
        }
    }
}

impl Walker<'_> {
    /// Pays for a step; true when there is nothing left.
    pub(crate) fn spent(&mut self, cost: u32) -> bool {
        self.left = self.left.saturating_sub(cost);
        if self.left == 0 {
            self.survey.opaque = true;
        }
        self.left == 0
    }

    /// Whether nothing is called or conditional around what is walked now.
    pub(crate) fn is_outermost(&self) -> bool {
        self.calls == 0 && self.is_certain()
    }

    /// Whether no condition is around what is walked now.
    pub(crate) fn is_certain(&self) -> bool {
        self.conditions.is_empty()
    }

    /// Runs `inner` as one more call inside a call, unless there are too many.
    pub(crate) fn deeper(&mut self, inner: impl FnOnce(&mut Self) -> String) -> String {
        if self.calls >= MAX_CALLS {
            self.survey.opaque = true;
            return String::from(HOLE);
        }
        self.calls += 1;
        let output = inner(self);
        self.calls -= 1;
        output
    }

    /// Parses and walks a text.
    pub(crate) fn script(&mut self, text: &str, scope: &mut Scope, io: &Io) -> String {
        let cost = u32::try_from(text.len() / 64).unwrap_or(u32::MAX);
        if self.spent(cost) {
            return String::new();
        }
        let mut cursor = Cursor::new(text.as_bytes(), 0);
        let list = cursor.script();
        self.survey.opaque |= cursor.broken;
        self.list(&list, scope, io)
    }

    pub(crate) fn enter(&mut self, link: Link) {
        self.survey.steps.push(Step::Enter(link));
        self.conditions.push(self.outcome());
        if let Some(doubts) = &mut self.doubts {
            doubts.enter(link);
        }
    }

    pub(crate) fn leave(&mut self) {
        let before = self.conditions.pop().unwrap_or_default();
        if let Some(doubts) = &mut self.doubts {
            doubts.leave(before);
        }
        // An empty part is no part; one command carries its condition itself.
        match self.survey.steps.as_mut_slice() {
            [.., Step::Enter(_)] => {
                self.survey.steps.pop();
                return;
            }
            [.., Step::Enter(link), Step::Run(run)] if run.link == Link::Then => {
                run.link = *link;
                let run = self.survey.steps.pop();
                self.survey.steps.pop();
                self.survey.steps.extend(run);
                return;
            }
            _ => {}
        }
        self.survey.steps.push(Step::Leave);
    }

    /// Walks a list and answers what it prints.
    pub(crate) fn list(&mut self, list: &List, scope: &mut Scope, io: &Io) -> String {
        let mut output = String::new();
        for and_or in &list.0 {
            let part = self.and_or(and_or, scope, io);
            append(&mut output, &part, io);
            if self.spent(1) {
                break;
            }
        }
        output
    }

    fn and_or(&mut self, and_or: &AndOr, scope: &mut Scope, io: &Io) -> String {
        let mut copy;
        let scope = if and_or.background {
            copy = scope.clone();
            &mut copy
        } else {
            scope
        };
        let mut output = String::new();
        for (join, pipeline) in &and_or.pipelines {
            let part = match join {
                Join::Start => self.pipeline(pipeline, scope, io),
                Join::And => {
                    self.enter(Link::And);
                    let part = self.pipeline(pipeline, scope, io);
                    self.leave();
                    part
                }
                Join::Or => {
                    self.enter(Link::Or);
                    let before = scope.dir.clone();
                    let part = self.pipeline(pipeline, scope, io);
                    // Whether the right side ran cannot be told, so neither can the directory.
                    if scope.dir != before {
                        scope.dir = None;
                    }
                    self.leave();
                    part
                }
            };
            append(&mut output, &part, io);
        }
        output
    }

    fn pipeline(&mut self, pipeline: &Pipeline, scope: &mut Scope, io: &Io) -> String {
        let output = self.stages(pipeline, scope, io);
        if let (true, Outcome::Known(well)) = (pipeline.negated, self.outcome()) {
            self.set_outcome(Outcome::Known(!well));
        }
        output
    }

    fn stages(&mut self, pipeline: &Pipeline, scope: &mut Scope, io: &Io) -> String {
        if let [only] = pipeline.stages.as_slice() {
            return self.command(only, scope, io);
        }
        let mut asks_git = false;
        let last = pipeline.stages.len().saturating_sub(1);
        let mut text: Option<Rc<str>> = io.input.clone();
        for (index, stage) in pipeline.stages.iter().enumerate() {
            let mut inner = scope.clone();
            let io = Io {
                input: text.clone(),
                wanted: index < last || io.wanted,
                link: (index > 0).then_some(Link::Pipe),
            };
            let output = self.command(stage, &mut inner, &io);
            asks_git |= self.outcome() == Outcome::AskedGit;
            text = Some(output.into());
        }
        if asks_git {
            self.set_outcome(Outcome::AskedGit);
        }
        text.map(|text| text.to_string()).unwrap_or_default()
    }

    pub(crate) fn command(&mut self, command: &Command, scope: &mut Scope, io: &Io) -> String {
        if self.spent(1) {
            return String::new();
        }
        let mut io = io.clone();
        let redirects = self.redirects(&command.redirects, scope, &mut io);
        let printed_elsewhere = command.redirects.iter().any(is_stdout);
        let adds = command.redirects.iter().any(appends);
        io.wanted |= printed_elsewhere;
        if let Kind::Simple { assigns, words } = &command.kind {
            let output = self.simple(assigns, words, redirects.clone(), scope, &io);
            if printed_elsewhere {
                self.note_written(&redirects, adds, &output, scope);
                return String::new();
            }
            return output;
        }
        // The files of a compound command are opened before anything in it runs.
        if !redirects.is_empty() && !matches!(command.kind, Kind::Function { .. }) {
            let link = io.link.take().unwrap_or(Link::Then);
            self.survey.steps.push(Step::Run(Run {
                words: Vec::new(),
                dir: scope.dir.clone(),
                vars: Vec::new(),
                redirects: redirects.clone(),
                input: None,
                script: None,
                sure: self.is_sure(),
                link,
            }));
        }
        let output = self.compound(&command.kind, scope, &io);
        if printed_elsewhere {
            self.note_written(&redirects, adds, &output, scope);
            return String::new();
        }
        output
    }

    /// The body of a function that is being called.
    pub(crate) fn function_body(&mut self, body: &Command, scope: &mut Scope, io: &Io) -> String {
        self.command(body, scope, io)
    }

    pub(crate) fn assign(&mut self, name: &str, text: String, scope: &mut Scope) {
        let name = scope.meant(name).to_owned();
        let name = name.as_str();
        let known = scope.vars.get(name);
        if known.is_none() && scope.vars.len() >= MAX_VARS || name.is_empty() {
            return;
        }
        let exported = match known {
            Some(value) => value.exported,
            None => scope.exports.iter().any(|export| export == name),
        };
        let exported = exported || scope.export_all;
        // A shared table is copied here, which costs as much as it holds.
        let cost = if Rc::strong_count(&scope.vars) > 1 {
            scope.vars.len()
        } else {
            0
        };
        if !self.spent(u32::try_from(cost).unwrap_or(u32::MAX)) {
            let value = Value {
                text,
                exported,
                refers: false,
            };
            Rc::make_mut(&mut scope.vars).insert(name.to_owned(), value);
        }
    }

    fn assigned(&mut self, assign: &Assign, scope: &mut Scope) -> String {
        let mut text = match &assign.array {
            Some(words) => {
                let words = self.words(words, scope);
                words
                    .iter()
                    .map(Word::raw)
                    .collect::<Vec<_>>()
                    .join(&String::from(BETWEEN))
            }
            None => self.text(&assign.value, scope),
        };
        if assign.append {
            let old = scope.vars.get(&assign.name).map(|value| value.text.clone());
            let mut old = old.unwrap_or_else(|| String::from(HOLE));
            if assign.array.is_some() && !old.is_empty() {
                old.push(BETWEEN);
            }
            old.push_str(&text);
            text = if old.len() > 64 * 1024 {
                String::from(HOLE)
            } else {
                old
            };
        } else if let Some(index) = &assign.index {
            let old = scope.vars.get(&assign.name);
            let old = old.map_or("", |value| value.text.as_str());
            text = with_element(old, index, &text);
        }
        text
    }

    fn simple(
        &mut self,
        assigns: &[Assign],
        raw: &[super::syntax::RawWord],
        redirects: Vec<Redirect>,
        scope: &mut Scope,
        io: &Io,
    ) -> String {
        let words = self.words(raw, scope);
        let mut vars = Vec::new();
        for assign in assigns {
            let text = self.assigned(assign, scope);
            if words.is_empty() {
                self.assign(&assign.name, text, scope);
            } else {
                vars.push((assign.name.clone(), Word::new(text)));
            }
        }
        if words.is_empty() && redirects.is_empty() {
            return String::new();
        }
        let call = Call {
            words,
            vars,
            redirects,
            dir: scope.dir.clone(),
            io: io.clone(),
            without: Vec::new(),
        };
        self.dispatch(call, scope)
    }

    /// Puts a call on the list.
    pub(crate) fn emit(&mut self, call: Call, scope: &Scope) {
        let sees = |name: &str| call.sees(name);
        let given: Vec<(String, Word)> = scope
            .vars
            .range("GIT_".to_owned().."GIT`".to_owned())
            .filter(|(name, value)| value.exported && sees(name))
            .map(|(name, value)| (name.clone(), Word::new(value.text.as_str())))
            .collect();
        let Call {
            words,
            vars,
            redirects,
            dir,
            io,
            without: _,
        } = call;
        let mut all = given;
        all.retain(|(name, _)| !vars.iter().any(|(other, _)| other == name));
        all.extend(vars);
        let operand = words.iter().skip(1).find(|word| !word.starts_with("-"));
        let script = operand
            .filter(|_| !self.files.is_empty())
            .and_then(|word| self.file_text(word.literal()?, dir.as_deref()));
        self.survey.steps.push(Step::Run(Run {
            words,
            dir,
            vars: all,
            redirects,
            input: io.input.map(|text| Word::new(&*text)),
            script: script.map(Word::new),
            sure: self.is_sure(),
            link: io.link.unwrap_or(Link::Then),
        }));
    }
}

/// Adds to the output, if anybody wants it and it is not too long to be worth knowing.
pub(crate) fn append(output: &mut String, part: &str, io: &Io) {
    if !io.wanted || part.is_empty() {
        return;
    }
    if output.len() + part.len() > 64 * 1024 {
        *output = String::from(HOLE);
    } else {
        output.push_str(part);
    }
}
