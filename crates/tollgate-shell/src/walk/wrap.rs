//! Programs that only start another one: `env`, `nohup`, `timeout 5`, `sudo -u x` …
//!
//! Wrappers whose command is a text (`sh -c`, `eval`) or comes from elsewhere (`xargs`, `find`)
//! are in `nested`.

use std::rc::Rc;

use super::scope::Scope;
use super::wrappers::{Wrapper, runner, wrapper};
use super::{Call, Walker};
use crate::args::{Args, split_words};
use crate::path::changed;
use crate::run::{Link, Mode, Redirect, program_name};
use crate::syntax::Command;
use crate::word::{Word, hole};

/// More wrappers around each other than this are not followed.
const MAX_WRAPPERS: u32 = 64;

impl Walker<'_> {
    /// Follows wrappers to the command they start, then runs that.
    pub(super) fn dispatch(&mut self, mut call: Call, scope: &mut Scope) -> String {
        let first = call.words.first();
        let mut unwrapped = first.is_some_and(|word| word.starts_with("\\"));
        for _ in 0..MAX_WRAPPERS {
            // Each turn copies the words that are left.
            if self.budget.spend(1 + call.weight()) {
                return String::new();
            }
            // An unknown word outside quotes before a command is most often nothing (`$SUDO git`).
            let unknown = call.words.iter().take_while(|word| word.may_vanish());
            let unknown = unknown.count().min(call.words.len().saturating_sub(1));
            call.words.drain(..unknown);
            // In `$PREFIX/bin/git` only the directory is unknown.
            if let Some(word) = call.words.first_mut()
                && let Some(name) = word.program_behind()
            {
                *word = name;
            }
            let first = call.words.first().and_then(Word::literal);
            let Some((first, name)) = first.and_then(|first| Some((first, program_name(first)?)))
            else {
                return self.perform(call, scope);
            };
            if !unwrapped {
                let alias = scope.aliases.as_ref().and_then(|known| known.get(first));
                if let Some(text) = alias.cloned() {
                    return self.call_alias(first, &text, &call, scope);
                }
                if let Some(body) = scope.function(first) {
                    return self.call_function(&body, &call, scope);
                }
            }
            unwrapped = true;
            if let Some(skip) = runner(name, &call.words) {
                let starter: Vec<Word> = call.words.drain(..skip).collect();
                self.trace.starts(&starter);
                continue;
            }
            let replaces = name == "exec";
            let inner = wrapper(name).and_then(|wrapper| unwrap(wrapper, &call));
            if let Some(inner) = &inner {
                let own = call.words.len().saturating_sub(inner.words.len());
                let own = call.words.get(..own.max(1)).unwrap_or_default();
                self.trace.starts(own);
            }
            match inner {
                // Nothing runs after a program that takes the shell's place.
                Some(inner) if replaces => {
                    let exit = inner.with_words(vec![Word::new("exit")]);
                    let output = self.deeper(|walker| walker.dispatch(inner, scope));
                    self.emit(exit, scope);
                    return output;
                }
                Some(inner) => call = inner,
                None => return self.perform(call, scope),
            }
        }
        self.trace.opaque = true;
        self.emit(call, scope);
        hole()
    }

    /// The rest of the command follows the alias's text.
    fn call_alias(&mut self, name: &str, text: &str, call: &Call, scope: &mut Scope) -> String {
        let known = scope.aliases.clone();
        if let Some(aliases) = &mut scope.aliases {
            Rc::make_mut(aliases).remove(name);
        }
        // After a blank at its end, the next word may be an alias as well.
        let next = call.words.get(1).and_then(Word::literal);
        let next = next.filter(|_| text.ends_with([' ', '\t']));
        let next = next.and_then(|next| scope.aliases.as_ref()?.get(next).cloned());
        let skipped = if next.is_some() { "${@:2}" } else { "$@" };
        let text = format!("{text} {} \"{skipped}\"", next.unwrap_or_default());
        let output = self.with_args(call, scope, |walker, scope| {
            walker.nested(&text, scope, &call.io)
        });
        scope.aliases = known;
        output
    }

    fn call_function(&mut self, body: &Command, call: &Call, scope: &mut Scope) -> String {
        let output = self.with_args(call, scope, |walker, scope| {
            walker.within(Link::Call, |walker| {
                walker.deeper(|walker| walker.command(body, scope, &call.io))
            })
        });
        if !call.redirects.is_empty() {
            self.emit(call.with_words(Vec::new()), scope);
        }
        output
    }

    /// Runs `inner` with what the call gives: its variables, and its words as `$1` and so on.
    fn with_args(
        &mut self,
        call: &Call,
        scope: &mut Scope,
        inner: impl FnOnce(&mut Self, &mut Scope) -> String,
    ) -> String {
        for (name, value) in &call.vars {
            scope.assign(name, value.raw().to_owned());
        }
        let args = call.args().iter().map(|word| word.raw().to_owned());
        let outer = std::mem::replace(&mut scope.args, Rc::new(args.collect()));
        let output = inner(self, scope);
        scope.args = outer;
        output
    }
}

/// The call inside a wrapper; nothing when there is none.
fn unwrap(wrapper: &Wrapper, call: &Call) -> Option<Call> {
    let mut inner = call.with_words(Vec::new());
    let mut operands = wrapper.operands;
    let split: Vec<Word>;
    let mut rest = match call.args() {
        // `env -S 'git commit' -m x`
        [option, text, after @ ..] if wrapper.name == "env" && option.raw() == "-S" => {
            let words = split_words(text.raw()).into_iter();
            split = words.chain(after.iter().cloned()).collect();
            &split
        }
        words => words,
    };
    // Each turn takes at least one word.
    for _ in 0..=rest.len() {
        let (args, after) = Args::leading(rest, wrapper.short, wrapper.long);
        // With these it starts nothing.
        let asks = match wrapper.name {
            "command" => args.flags.contains(['v', 'V']),
            "sudo" => args.flags.contains(['l', 'v', 'K', 'e']),
            _ => false,
        };
        if asks {
            return None;
        }
        if wrapper.name == "env" && args.has('i', "ignore-environment") {
            hide("", &mut inner);
        }
        for (option, value) in &args.values {
            match (wrapper.name, *option) {
                ("env", "C" | "chdir") | ("sudo", "D" | "chdir") => {
                    inner.dir = changed(inner.dir.as_deref(), value);
                }
                ("env", "u" | "unset") => hide(value.raw(), &mut inner),
                ("strace" | "time" | "gtime", "o" | "output") => inner.redirects.push(Redirect {
                    mode: Mode::Write,
                    target: value.clone(),
                }),
                _ => {}
            }
        }
        rest = after;
        let Some(word) = rest.first() else { break };
        let assigns = matches!(wrapper.name, "env" | "sudo" | "doas");
        match word.raw().split_once('=').filter(|_| assigns) {
            Some((name, value)) => inner.vars.push((name.to_owned(), Word::new(value))),
            None if wrapper.name == "env" && word.raw() == "-" => hide("", &mut inner),
            // `env $X git commit`: the unknown word is an assignment or nothing. Before an operand
            // (`timeout $T git commit`) it is most likely the operand.
            None if operands > 0 || word.may_vanish() => operands = operands.saturating_sub(1),
            None => break,
        }
        rest = rest.get(1..)?;
    }
    inner.words = rest.to_vec();
    (!rest.is_empty()).then_some(inner)
}

/// `env -u name`, and with an empty name `env -i`.
fn hide(name: &str, inner: &mut Call) {
    inner
        .vars
        .retain(|(known, _)| !name.is_empty() && known != name);
    inner.without.push(name.to_owned());
}
