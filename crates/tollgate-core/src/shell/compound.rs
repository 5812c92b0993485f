//! Compound commands: groups, conditions, loops.

use std::rc::Rc;

use super::Link;
use super::doubt::{Outcome, decided};
use super::syntax::{HOLE, Kind, List};
use super::walk::{Io, MAX_TURNS, Scope, Walker, append};
use super::word::{Match, Word, matches};

impl Walker<'_> {
    pub(crate) fn compound(&mut self, kind: &Kind, scope: &mut Scope, io: &Io) -> String {
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
                self.set_outcome(Outcome::Asked);
                // `while read x` gets lines nobody can count.
                self.enter(if *until { Link::Or } else { Link::And });
                let part = self.list(body, scope, io);
                append(&mut output, &part, io);
                self.leave();
                if scope.dir != before {
                    scope.dir = None;
                }
                output
            }
            Kind::For { name, items, body } => {
                let items = match items {
                    Some(items) => self.words(items, scope),
                    None => scope
                        .args
                        .iter()
                        .map(|arg| Word::new(arg.as_str()))
                        .collect(),
                };
                let sure = items.iter().any(|item| !item.may_vanish());
                let before = scope.dir.clone();
                let mut output = String::new();
                if !sure {
                    self.enter(Link::Maybe);
                }
                for item in items.iter().take(MAX_TURNS) {
                    self.assign(name, item.raw().to_owned(), scope);
                    let part = self.list(body, scope, io);
                    append(&mut output, &part, io);
                    if self.spent(1) {
                        break;
                    }
                }
                if !sure {
                    self.leave();
                    if scope.dir != before {
                        scope.dir = None;
                    }
                }
                output
            }
            Kind::Case { subject, arms } => {
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
                    self.enter(Link::Maybe);
                    if let Some(doubts) = self.doubts.as_mut().filter(|_| !value.contains(HOLE)) {
                        match (chosen, fits) {
                            (Match::Yes, _) | (_, Match::No) => doubts.decide(false),
                            (Match::No, Match::Yes) => doubts.decide(true),
                            (Match::Maybe, _) | (_, Match::Maybe) => {}
                        }
                    }
                    chosen = chosen.max(fits);
                    let part = self.list(body, scope, io);
                    append(&mut output, &part, io);
                    self.leave();
                    if self.spent(1) {
                        break;
                    }
                }
                if scope.dir != before {
                    scope.dir = None;
                }
                output
            }
            Kind::Function { name, body } => {
                Rc::make_mut(&mut scope.functions).insert(name.clone(), Rc::clone(body));
                String::new()
            }
            Kind::Test(words) => {
                let words: Vec<String> = words.iter().map(|word| self.text(word, scope)).collect();
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                // Of arithmetic only what is substituted in it is kept.
                let answer = Some(words).filter(|words| words.len() > 1);
                let answer = answer.and_then(|words| decided(&words));
                self.set_outcome(answer.map_or(Outcome::Asked, Outcome::Known));
                String::new()
            }
            Kind::Coproc(command) => self.command(command, &mut scope.clone(), io),
        }
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
                self.enter(Link::Else);
                entered += 1;
                scope.dir.clone_from(&before);
            }
            let _printed = self.list(condition, scope, io);
            before.clone_from(&scope.dir);
            let answer = self.outcome();
            self.enter(Link::And);
            let part = self.list(body, scope, io);
            append(&mut output, &part, io);
            self.leave();
            self.set_outcome(answer);
            dirs.push(scope.dir.clone());
            if self.spent(1) {
                break;
            }
        }
        scope.dir.clone_from(&before);
        self.enter(Link::Else);
        let part = self.list(otherwise, scope, io);
        append(&mut output, &part, io);
        self.leave();
        for _ in 0..entered {
            self.leave();
        }
        if dirs.iter().any(|dir| *dir != scope.dir) {
            scope.dir = None;
        }
        output
    }
}
