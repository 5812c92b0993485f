//! Programs that only start another one: `env`, `nohup`, `timeout 5`, `sudo -u x` …
//!
//! A table says which of a wrapper's options take a value and how many operands stand before the
//! command. Wrappers whose command is a text (`sh -c`, `eval`) or comes from elsewhere (`xargs`,
//! `find`) are in `nested`.

use std::rc::Rc;

use super::syntax::HOLE;
use super::walk::{Call, Scope, Walker};
use super::word::Word;
use super::wrappers::{Wrapper, runner, wrapper};
use super::{Mode, Redirect, join, program_name};

/// More wrappers around each other than this are not followed.
const MAX_WRAPPERS: u32 = 64;

impl Walker<'_> {
    /// Follows wrappers to the command they start, then runs that.
    pub(crate) fn dispatch(&mut self, mut call: Call, scope: &mut Scope) -> String {
        let mut unwrapped = call
            .words
            .first()
            .is_some_and(|word| word.starts_with("\\"));
        let mut expanded: Vec<String> = Vec::new();
        for _ in 0..MAX_WRAPPERS {
            // Each turn copies the words that are left.
            if self.spent(1 + call.weight()) {
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
            let alias = scope
                .aliases
                .as_ref()
                .filter(|_| !unwrapped && !expanded.iter().any(|known| known == first))
                .and_then(|aliases| aliases.get(first));
            if let Some(text) = alias {
                let text = text.clone();
                if text.contains([';', '&', '|', '<', '>', '(', '$', '`', '\n']) {
                    return self.call_alias(first, &text, &call, scope);
                }
                expanded.push(first.to_owned());
                expand_alias(&text, &mut call, scope);
                continue;
            }
            if !unwrapped && let Some(body) = scope.functions.get(first).cloned() {
                return self.call_function(&body, &call, scope);
            }
            let hashed = scope.hashed.get(first).filter(|_| !unwrapped);
            if let Some(path) = hashed.filter(|path| *path != first) {
                let path = Word::new(path.as_str());
                call.words.splice(..1, [path]);
                continue;
            }
            if let Some(skip) = runner(name, &call.words) {
                call.words.drain(..skip);
                unwrapped = true;
                continue;
            }
            let Some(inner) = wrapper(name).and_then(|wrapper| Self::unwrap(wrapper, &call)) else {
                return self.perform(call, scope);
            };
            call = inner;
            unwrapped = true;
        }
        self.survey.opaque = true;
        self.emit(call, scope);
        String::from(HOLE)
    }

    /// The call inside a wrapper; nothing when there is none.
    fn unwrap(wrapper: &Wrapper, call: &Call) -> Option<Call> {
        let mut inner = call.clone();
        let words = &call.words;
        let mut at = 1;
        let mut operands = wrapper.operands;
        while let Some(word) = words.get(at) {
            let text = word.raw();
            if text == "--" {
                at += 1;
                if operands == 0 {
                    break;
                }
                continue;
            }
            // `env -` is `env -i`.
            if text == "-" && wrapper.name == "env" {
                hide("", &mut inner);
                at += 1;
                continue;
            }
            if let Some(option) = text.strip_prefix("--") {
                at += 1;
                let (name, mut value) = match option.split_once('=') {
                    Some((name, value)) => (name, Some(Word::new(value))),
                    None => (option, None),
                };
                if value.is_none() && wrapper.long.contains(&name) {
                    value = words.get(at).cloned();
                    at += 1;
                }
                match (wrapper.name, name) {
                    ("env", "ignore-environment") => hide("", &mut inner),
                    ("env", "unset") => hide(value.as_ref()?.raw(), &mut inner),
                    _ => {}
                }
                if name == "split-string" {
                    return split_env(value?.raw(), words.get(at..)?, inner);
                }
                let name = match (wrapper.name, name) {
                    ("unshare", "wd") | ("wsl", "cd") => "chdir",
                    ("stdbuf" | "prlimit", "output") => "",
                    _ => name,
                };
                option_effect(name, value.as_ref(), &mut inner);
                continue;
            }
            if let Some(cluster) = text.strip_prefix('-').filter(|cluster| !cluster.is_empty()) {
                at += 1;
                let index = cluster.find(|letter| wrapper.short.contains(letter));
                let (flags, tail) = cluster.split_at(index.unwrap_or(cluster.len()));
                let asks = match wrapper.name {
                    "command" => flags.contains(['v', 'V']),
                    "sudo" => flags.contains(['l', 'v', 'K', 'e']),
                    _ => false,
                };
                if asks {
                    return None;
                }
                if wrapper.name == "env" && flags.contains('i') {
                    hide("", &mut inner);
                }
                if tail.is_empty() {
                    continue;
                }
                let letter = tail.chars().next()?;
                let joined: String = tail.chars().skip(1).collect();
                let value = if joined.is_empty() {
                    at += 1;
                    words.get(at - 1).cloned()
                } else {
                    Some(Word::new(joined))
                };
                if letter == 'u' && wrapper.name == "env" {
                    hide(value.as_ref()?.raw(), &mut inner);
                }
                if letter == 'S' && wrapper.name == "env" {
                    return split_env(value?.raw(), words.get(at..)?, inner);
                }
                let name = match (wrapper.name, letter) {
                    ("env", 'C') | ("sudo" | "run0", 'D') | ("unshare", 'w') => "chdir",
                    ("strace" | "ltrace" | "time" | "gtime", 'o') => "output",
                    _ => "",
                };
                option_effect(name, value.as_ref(), &mut inner);
                continue;
            }
            if matches!(wrapper.name, "env" | "sudo" | "doas")
                && let Some((name, value)) = text.split_once('=')
            {
                inner.vars.push((name.to_owned(), Word::new(value)));
                at += 1;
                continue;
            }
            // `env $X git commit`: the unknown word is an assignment or nothing. Before an operand
            // (`timeout $T git commit`) it is most likely the operand.
            if word.may_vanish() {
                operands = operands.saturating_sub(1);
                at += 1;
                continue;
            }
            if operands > 0 {
                operands -= 1;
                at += 1;
                continue;
            }
            break;
        }
        inner.words = words.get(at..).filter(|rest| !rest.is_empty())?.to_vec();
        Some(inner)
    }

    /// An alias that is more than words: the rest of the command follows its text.
    fn call_alias(&mut self, name: &str, text: &str, call: &Call, scope: &mut Scope) -> String {
        let known = scope.aliases.clone();
        if let Some(aliases) = &mut scope.aliases {
            Rc::make_mut(aliases).remove(name);
        }
        let args = call.words.iter().skip(1).map(|word| word.raw().to_owned());
        let outer = std::mem::replace(&mut scope.args, Rc::new(args.collect()));
        let output = self.nested(&format!("{text} \"$@\""), scope, &call.io);
        scope.args = outer;
        scope.aliases = known;
        output
    }
}

/// Puts an alias's words in place of its name; after a blank at its end, the next word's as well.
fn expand_alias(text: &str, call: &mut Call, scope: &Scope) {
    let mut words = split_words(text);
    let next = call.words.get(1).and_then(Word::literal);
    let next = next.and_then(|next| scope.aliases.as_ref()?.get(next));
    let replaced = match next.filter(|_| text.ends_with([' ', '\t'])) {
        Some(next) => {
            words.extend(split_words(next));
            2
        }
        None => 1,
    };
    call.words.splice(..replaced, words);
}

/// `env -S 'git commit' -m x`.
fn split_env(text: &str, rest: &[Word], mut inner: Call) -> Option<Call> {
    let mut words = split_words(text);
    words.extend_from_slice(rest);
    while let Some((name, value)) = words.first().and_then(|word| word.raw().split_once('=')) {
        inner.vars.push((name.to_owned(), Word::new(value)));
        words.remove(0);
    }
    (!words.is_empty()).then(|| {
        inner.words = words;
        inner
    })
}

/// `env -u name`, and with an empty name `env -i`.
fn hide(name: &str, inner: &mut Call) {
    inner
        .vars
        .retain(|(known, _)| !name.is_empty() && known != name);
    inner.without.push(name.to_owned());
}

fn option_effect(name: &str, value: Option<&Word>, inner: &mut Call) {
    if name == "output"
        && let Some(target) = value
    {
        inner.redirects.push(Redirect {
            mode: Mode::Write,
            target: target.clone(),
        });
    }
    if name == "chdir" {
        inner.dir = match (value.and_then(Word::literal), &inner.dir) {
            (Some(path), Some(dir)) => Some(join(dir, path)),
            (Some(path), None) if path.starts_with('/') => Some(join("/", path)),
            _ => None,
        };
    }
}

/// Splits a text at blanks, honouring quotes and backslashes: what `env -S`, git's aliases and
/// `xargs` do.
pub(crate) fn split_words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut current = String::new();
    let mut started = false;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', None | Some('"')) => {
                current.extend(letters.next());
                started = true;
            }
            (_, Some(open)) if letter == open => quote = None,
            (_, Some(_)) => current.push(letter),
            ('\'' | '"', None) => {
                quote = Some(letter);
                started = true;
            }
            (_, None) if letter.is_whitespace() || letter == '\0' => {
                if started {
                    words.push(Word::new(std::mem::take(&mut current)));
                    started = false;
                }
            }
            (_, None) => {
                current.push(letter);
                started = true;
            }
        }
    }
    if started {
        words.push(Word::new(current));
    }
    words
}
