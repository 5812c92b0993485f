//! Compound commands: groups, conditions, loops.

use super::doubt::{Outcome, decided};
use super::scope::Scope;
use super::{Io, MAX_TURNS, Walker, append};
use crate::run::Link;
use crate::syntax::{Kind, List, RawWord};
use crate::word::{HOLE, Match, Word, matches};

/// The patterns of one arm of a `case`, and what it runs.
type Arm = (Vec<RawWord>, List);

impl Walker<'_> {
    pub(super) fn compound(&mut self, kind: &Kind, scope: &mut Scope, io: &Io) -> String {
        match kind {
            Kind::Simple { .. } => String::new(),
            Kind::Group(list) => self.list(list, scope, io),
            Kind::Subshell(list) => self.list(list, &mut scope.clone(), io),
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
                // `while read x` gets lines nobody can count.
                self.trace.enter(if *until { Link::Or } else { Link::And });
                let part = self.list(body, scope, io);
                append(&mut output, &part, io);
                self.trace.leave();
                scope.forget_move(before.as_deref());
                output
            }
            Kind::For { name, items, body } => {
                let items = match items {
                    Some(items) => self.words(items, scope),
                    None => scope.args.iter().map(|arg| Word::new(&**arg)).collect(),
                };
                self.for_each(name, &items, body, scope, io)
            }
            Kind::Case { subject, arms } => self.case(subject, arms, scope, io),
            Kind::Function { name, body } => {
                scope.define(name, body);
                String::new()
            }
            Kind::Test(words) => {
                let words: Vec<String> = words.iter().map(|word| self.text(word, scope)).collect();
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                // Of arithmetic only what is substituted in it is kept.
                let answer = Some(words).filter(|words| words.len() > 1);
                let answer = answer.and_then(|words| decided(&words));
                let outcome = answer.map_or(Outcome::Asked, Outcome::Known);
                self.trace.set_outcome(outcome);
                String::new()
            }
        }
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
            self.trace.leave();
            scope.forget_move(before.as_deref());
        }
        output
    }

    fn case(&mut self, subject: &RawWord, arms: &[Arm], scope: &mut Scope, io: &Io) -> String {
        let value = self.text(subject, scope);
        let before = scope.dir.clone();
        let mut output = String::new();
        let mut chosen = Match::No;
        for (patterns, body) in arms {
            let mut fits = Match::No;
            for pattern in patterns {
                let pattern = self.target(pattern, scope);
                fits = fits.max(matches(pattern.raw(), &value));
            }
            scope.dir.clone_from(&before);
            self.trace.enter(Link::Maybe);
            if let Some(doubts) = self.trace.doubts.as_mut().filter(|_| !value.contains(HOLE)) {
                match (chosen, fits) {
                    (Match::Yes, _) | (_, Match::No) => doubts.decide(false),
                    (Match::No, Match::Yes) => doubts.decide(true),
                    (Match::Maybe, _) | (_, Match::Maybe) => {}
                }
            }
            chosen = chosen.max(fits);
            let part = self.list(body, scope, io);
            append(&mut output, &part, io);
            self.trace.leave();
            if self.budget.spend(1) {
                break;
            }
        }
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
            self.trace.enter(Link::And);
            let part = self.list(body, scope, io);
            append(&mut output, &part, io);
            self.trace.leave();
            self.trace.set_outcome(answer);
            dirs.push(scope.dir.clone());
            if self.budget.spend(1) {
                break;
            }
        }
        scope.dir = before;
        self.trace.enter(Link::Else);
        let part = self.list(otherwise, scope, io);
        append(&mut output, &part, io);
        self.trace.leave();
        for _ in 0..entered {
            self.trace.leave();
        }
        for dir in dirs {
            scope.forget_move(dir.as_deref());
        }
        output
    }
}
