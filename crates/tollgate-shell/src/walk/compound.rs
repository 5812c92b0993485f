//! Compound commands: groups, conditions, loops.

use super::doubt::Outcome;
use super::scope::Scope;
use super::{Io, MAX_TURNS, Walker, append};
use crate::condition::double_test;
use crate::run::{Ending, Link, Run};
use crate::syntax::{Kind, List, RawWord};
use crate::word::{Word, is_branch, is_mark};

/// The patterns of one arm of a `case`, and what it runs.
type Arm = (Vec<RawWord>, List);

impl Walker<'_> {
    pub(super) fn compound(&mut self, kind: &Kind, scope: &mut Scope, io: &Io) -> String {
        match kind {
            Kind::Simple { .. } => String::new(),
            Kind::Group(list) => self.list(list, scope, io),
            Kind::Subshell(list) => self.within(Link::Shell, |walker| {
                walker.list(list, &mut scope.clone(), io)
            }),
            Kind::If { arms, otherwise } => self.conditional(arms, otherwise, scope, io),
            Kind::While {
                condition,
                body,
                until,
            } => {
                let before = scope.dir.clone();
                let mut output = self.list(condition, scope, io);
                // How often it goes round is not known, nor whether it does.
                self.trace.set_outcome(Outcome::Asked);
                // `while read x` gets an unknown number of lines.
                let link = if *until { Link::Or } else { Link::If };
                let part = self.within(link, |walker| walker.list(body, scope, io));
                append(&mut output, &part, io);
                self.trace.ends(Ending::Unknown);
                scope.forget_move(before.as_deref());
                output
            }
            Kind::For { name, items, body } => {
                let items = match items {
                    Some(items) => self.expanding(scope).words(items),
                    None => scope.args.iter().map(|arg| Word::new(&**arg)).collect(),
                };
                self.for_each(name, &items, body, scope, io)
            }
            Kind::Case {
                subject,
                arms,
                falls,
            } => {
                let value = self.expanding(scope).text(subject);
                let unknown = |letter| is_mark(letter) && !is_branch(letter);
                if *falls || value.contains(unknown) {
                    self.case(arms, scope, io)
                } else {
                    self.known_case(&value, arms, scope, io)
                }
            }
            Kind::Function { name, body } => {
                scope.define(name, body);
                self.trace.ends(Ending::Well);
                String::new()
            }
            Kind::Test(words) => {
                let words: Vec<String> = words
                    .iter()
                    .map(|word| self.expanding(scope).text(word))
                    .collect();
                self.test(&words, scope);
                String::new()
            }
        }
    }

    /// `[[ … ]]`; of arithmetic only what is substituted in it is kept.
    fn test(&mut self, words: &[String], scope: &Scope) {
        if words.len() < 2 {
            self.trace.set_outcome(Outcome::Asked);
            self.trace.ends(Ending::Unknown);
            return;
        }
        let texts: Vec<&str> = words.iter().map(String::as_str).collect();
        let outcome = double_test(&texts).map_or(Outcome::Asked, Outcome::Known);
        let words = std::iter::once("[[").chain(texts).map(Word::new);
        self.trace.push(Run {
            words: words.collect(),
            ..Run::empty(scope.dir.clone())
        });
        self.trace.set_outcome(outcome);
    }

    fn for_each(
        &mut self,
        name: &str,
        items: &[Word],
        body: &List,
        scope: &mut Scope,
        io: &Io,
    ) -> String {
        let sure = items.iter().any(|item| !item.may_vanish());
        let before = scope.dir.clone();
        let mut output = String::new();
        if items.is_empty() {
            self.trace.ends(Ending::Well);
            return output;
        }
        if !sure {
            self.trace.enter(Link::Maybe);
        }
        for item in items.iter().take(MAX_TURNS) {
            scope.assign(name, item.raw().to_owned());
            let part = self.list(body, scope, io);
            append(&mut output, &part, io);
            if self.budget.spend(1) {
                break;
            }
        }
        if !sure {
            self.trace.leave(Link::Maybe);
            scope.forget_move(before.as_deref());
        }
        output
    }

    /// Of an unknown text any arm may be the one.
    fn case(&mut self, arms: &[Arm], scope: &mut Scope, io: &Io) -> String {
        let before = scope.dir.clone();
        let mut output = String::new();
        for (_, body) in arms {
            scope.dir.clone_from(&before);
            let part = self.within(Link::Maybe, |walker| walker.list(body, scope, io));
            append(&mut output, &part, io);
            if self.budget.spend(1) {
                break;
            }
        }
        self.trace.ends(Ending::Unknown);
        scope.forget_move(before.as_deref());
        output
    }

    /// A `case` over a known text, or the branch that is checked out, is a chain of `if [[ … ]]`.
    fn known_case(&mut self, value: &str, arms: &[Arm], scope: &mut Scope, io: &Io) -> String {
        let before = scope.dir.clone();
        let mut output = String::new();
        let mut entered = 0;
        for (patterns, body) in arms {
            let mut words = Vec::new();
            for pattern in patterns {
                let pattern = self.expanding(scope).text(pattern);
                if !words.is_empty() {
                    words.push("||".to_owned());
                }
                words.extend([value.to_owned(), "==".to_owned(), pattern]);
            }
            self.test(&words, scope);
            scope.dir.clone_from(&before);
            let part = self.within(Link::If, |walker| walker.list(body, scope, io));
            append(&mut output, &part, io);
            self.trace.enter(Link::Else);
            entered += 1;
            if self.budget.spend(1) {
                break;
            }
        }
        for _ in 0..entered {
            self.trace.leave(Link::Else);
        }
        self.trace.ends(Ending::Unknown);
        scope.forget_move(before.as_deref());
        output
    }

    fn conditional(
        &mut self,
        arms: &[(List, List)],
        otherwise: &List,
        scope: &mut Scope,
        io: &Io,
    ) -> String {
        let mut output = String::new();
        let mut entered = 0;
        let mut dirs = Vec::new();
        let mut before = None;
        for (index, (condition, body)) in arms.iter().enumerate() {
            if index > 0 {
                self.trace.enter(Link::Else);
                entered += 1;
                scope.dir.clone_from(&before);
            }
            let _printed = self.list(condition, scope, io);
            before.clone_from(&scope.dir);
            let answer = self.trace.outcome();
            let part = self.within(Link::If, |walker| walker.list(body, scope, io));
            append(&mut output, &part, io);
            self.trace.set_outcome(answer);
            dirs.push(scope.dir.clone());
            if self.budget.spend(1) {
                break;
            }
        }
        scope.dir = before;
        let part = self.within(Link::Else, |walker| walker.list(otherwise, scope, io));
        append(&mut output, &part, io);
        for _ in 0..entered {
            self.trace.leave(Link::Else);
        }
        for dir in dirs {
            scope.forget_move(dir.as_deref());
        }
        output
    }
}
