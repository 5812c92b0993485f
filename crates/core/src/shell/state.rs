//! Builtins that change what later commands see: `cd`, `export`, `set`, `read`, `alias`.

use std::rc::Rc;

use super::join;
use super::nested::operands;
use super::syntax::{HOLE, LOOSE};
use super::walk::{Call, Scope, Walker};
use super::word::Word;

/// A longer working directory is unknown.
const MAX_PATH: usize = 4096;

impl Walker<'_> {
    pub(crate) fn change_dir(&mut self, name: &str, call: &Call, scope: &mut Scope) {
        let operand = call
            .words
            .iter()
            .skip(1)
            .find(|word| !matches!(word.raw(), "-L" | "-P" | "-e" | "-@" | "--" | "-n"));
        let here = scope.dir.clone();
        let to = match (name, operand.map(Word::raw)) {
            ("popd", _) => scope.stack.pop().flatten(),
            ("pushd", None) => None,
            (_, None) => self.lookup("HOME", scope).map(|home| join("/", &home)),
            (_, Some("-")) => scope.old_dir.clone(),
            (_, Some(path)) => match (operand.and_then(Word::literal), &here) {
                (Some(path), Some(dir)) => Some(join(dir, path)),
                (Some(path), None) if path.starts_with('/') => Some(join("/", path)),
                _ if path.is_empty() => here.clone(),
                _ => None,
            },
        };
        if name == "pushd" {
            scope.stack.push(here.clone());
            scope.stack.truncate(64);
        }
        scope.old_dir = here;
        // No system call takes a longer path.
        scope.dir = to.filter(|path| path.len() <= MAX_PATH);
    }

    pub(crate) fn declare(&mut self, name: &str, call: &Call, scope: &mut Scope) {
        let mut exports = name == "export";
        for word in call.words.iter().skip(1) {
            let text = word.raw();
            if let Some(flags) = text.strip_prefix('-') {
                exports |= flags.contains('x');
                if name == "export" && flags.contains('n') {
                    exports = false;
                }
                continue;
            }
            let variable = match text.split_once('=') {
                Some((variable, value)) => {
                    let value = value.replace(LOOSE, HOLE.encode_utf8(&mut [0; 4]));
                    let (variable, value) = match variable.strip_suffix('+') {
                        Some(variable) => {
                            let old = self.lookup(variable, scope).unwrap_or_default();
                            (variable, format!("{old}{value}"))
                        }
                        None => (variable, value),
                    };
                    self.assign(variable, value, scope);
                    variable
                }
                None => text,
            };
            if exports && let Some(value) = Rc::make_mut(&mut scope.vars).get_mut(variable) {
                value.exported = true;
            }
        }
    }

    pub(crate) fn read(&mut self, call: &Call, scope: &mut Scope) {
        let names = operands(&call.words, "dinNptu", 1);
        let line = call
            .io
            .input
            .as_deref()
            .and_then(|text| text.lines().next())
            .map(str::to_owned);
        let mut fields = line
            .as_deref()
            .map(|line| line.split_whitespace())
            .into_iter()
            .flatten();
        for (index, name) in names.iter().enumerate() {
            let last = index + 1 == names.len();
            let value = match &line {
                None => String::from(HOLE),
                Some(_) if last => fields.by_ref().collect::<Vec<_>>().join(" "),
                Some(_) => fields.next().unwrap_or_default().to_owned(),
            };
            self.assign(name.raw(), value, scope);
        }
    }
}

pub(crate) fn define_alias(call: &Call, scope: &mut Scope) {
    // A shell that runs a command ignores aliases unless it is told otherwise.
    let Some(aliases) = &mut scope.aliases else {
        return;
    };
    for word in call.words.iter().skip(1) {
        if let Some((name, text)) = word.literal().and_then(|word| word.split_once('='))
            && aliases.len() < 64
        {
            Rc::make_mut(aliases).insert(name.to_owned(), text.to_owned());
        }
    }
}

pub(crate) fn set(call: &Call, scope: &mut Scope) {
    let words = call.words.get(1..).unwrap_or_default();
    for (index, word) in words.iter().enumerate() {
        match word.raw() {
            "--" => {
                let args = words
                    .iter()
                    .skip(index + 1)
                    .map(|word| word.raw().to_owned());
                scope.args = Rc::new(args.collect());
                return;
            }
            "-a" | "allexport" => scope.export_all = true,
            "+a" => scope.export_all = false,
            _ => {}
        }
    }
    if words
        .first()
        .is_some_and(|word| !word.starts_with("-") && !word.starts_with("+"))
    {
        scope.args = Rc::new(words.iter().map(|word| word.raw().to_owned()).collect());
    }
}
