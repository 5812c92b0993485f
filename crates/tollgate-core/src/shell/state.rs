//! Builtins that change what later commands see: `cd`, `export`, `set`, `read`, `alias`, `trap`.

use std::rc::Rc;

use super::join;
use super::nested::operands;
use super::syntax::{BETWEEN_TEXT, HOLE, LOOSE};
use super::walk::{Call, Scope, Walker};
use super::word::Word;

/// A longer working directory is unknown.
const MAX_PATH: usize = 4096;
/// More traps than this are not remembered.
const MAX_EXITS: usize = 32;

impl Walker<'_> {
    /// `trap text EXIT` runs the text at the end; whether another signal comes cannot be told.
    pub(crate) fn trap(&mut self, call: &Call, scope: &Scope) {
        let rest = operands(&call.words, "", 1);
        let exit = |word: &Word| matches!(word.raw(), "EXIT" | "exit" | "0");
        if !rest.iter().any(exit) {
            return;
        }
        if self.is_certain() {
            self.exits.clear();
        }
        // `trap EXIT` takes the trap away, as `trap - EXIT` does.
        let text = rest.first().and_then(Word::literal).unwrap_or_default();
        if rest.len() > 1 && !matches!(text, "" | "-") && self.exits.len() < MAX_EXITS {
            let inner = (!self.is_outermost()).then(|| scope.clone());
            self.exits.push((text.to_owned(), inner));
        }
    }

    pub(crate) fn change_dir(&mut self, name: &str, call: &Call, scope: &mut Scope) {
        let operand = call
            .words
            .iter()
            .skip(1)
            .find(|word| !matches!(word.raw(), "-L" | "-P" | "-e" | "-@" | "--" | "-n"));
        let here = scope.dir.clone();
        let to = match (name, operand.map(Word::raw)) {
            ("popd", _) => Rc::make_mut(&mut scope.stack).pop().flatten(),
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
            let stack = Rc::make_mut(&mut scope.stack);
            stack.push(here.clone());
            stack.truncate(64);
        }
        scope.old_dir = here;
        // No system call takes a longer path.
        scope.dir = to.filter(|path| path.len() <= MAX_PATH);
    }

    pub(crate) fn declare(&mut self, name: &str, call: &Call, scope: &mut Scope) {
        let mut exports = name == "export";
        let mut functions = false;
        let mut hides = false;
        let mut lower = false;
        let mut refers = false;
        for word in call.words.iter().skip(1) {
            let text = word.raw();
            if let Some(flags) = text.strip_prefix('-') {
                exports |= flags.contains('x');
                functions |= flags.contains('f');
                lower |= flags.contains('l');
                if name == "export" && flags.contains('n') {
                    exports = false;
                    hides = true;
                }
                refers |= flags.contains('n') && name != "export";
                continue;
            }
            if functions {
                if exports && scope.shared.len() < 64 {
                    Rc::make_mut(&mut scope.shared).push(text.to_owned());
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
                    let value = if lower { value.to_lowercase() } else { value };
                    self.assign(variable, value, scope);
                    variable
                }
                None => text,
            };
            if exports && !scope.vars.contains_key(variable) && scope.exports.len() < 64 {
                Rc::make_mut(&mut scope.exports).push(variable.to_owned());
            }
            if (exports || hides || refers)
                && let Some(value) = Rc::make_mut(&mut scope.vars).get_mut(variable)
            {
                value.exported = exports;
                value.refers = refers;
            }
        }
    }

    pub(crate) fn read(&mut self, call: &Call, scope: &mut Scope) {
        let lines = call.words.first().and_then(Word::literal) != Some("read");
        let valued = if lines { "dnOsuCc" } else { "dinNptu" };
        let names = operands(&call.words, valued, 1);
        let input = call.io.input.as_deref();
        let options = call.words.iter().skip(1).map(Word::raw);
        let mut options = options.take_while(|option| option.starts_with('-'));
        if lines || options.any(|option| option.contains('a')) {
            let elements = match input {
                None => String::from(HOLE),
                Some(text) if lines => text.lines().collect::<Vec<_>>().join(BETWEEN_TEXT),
                Some(text) => {
                    let line = text.lines().next().unwrap_or_default();
                    split_fields(line, call, scope).join(BETWEEN_TEXT)
                }
            };
            let name = names.first().map_or("MAPFILE", Word::raw);
            self.assign(name, elements, scope);
            return;
        }
        let line = input.and_then(|text| text.lines().next());
        let fields = line.map(|line| split_fields(line, call, scope));
        let mut fields = fields.into_iter().flatten();
        for (index, name) in names.iter().enumerate() {
            let last = index + 1 == names.len();
            let value = match &line {
                None => String::from(HOLE),
                Some(_) if last => fields.by_ref().collect::<Vec<_>>().join(" "),
                Some(_) => fields.next().unwrap_or_default(),
            };
            self.assign(name.raw(), value, scope);
        }
    }
}

/// The fields of a line, cut at `IFS`.
fn split_fields(line: &str, call: &Call, scope: &Scope) -> Vec<String> {
    let given = call.vars.iter().find(|(name, _)| name == "IFS");
    let separators = match given {
        Some((_, value)) => Some(value.raw()),
        None => scope.vars.get("IFS").map(|value| value.text.as_str()),
    };
    match separators {
        Some("") => vec![line.to_owned()],
        Some(separators) => {
            let parts = line.split(|letter| separators.contains(letter));
            parts.map(str::to_owned).collect()
        }
        None => line.split_whitespace().map(str::to_owned).collect(),
    }
}

pub(crate) fn shopt(call: &Call, scope: &mut Scope) {
    let sets = call.words.iter().any(|word| word.raw() == "-s");
    for word in call.words.iter().skip(1) {
        match word.raw() {
            "expand_aliases" if scope.aliases.is_none() => scope.aliases = Some(Rc::default()),
            "dotglob" => scope.dotglob = sets,
            _ => {}
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

/// `hash -p /usr/bin/git g`: from now on `g` is git.
pub(crate) fn hash(call: &Call, scope: &mut Scope) {
    let words: Vec<&str> = call
        .words
        .iter()
        .skip(1)
        .filter_map(Word::literal)
        .collect();
    let hashed = Rc::make_mut(&mut scope.hashed);
    match words.as_slice() {
        ["-p", path, names @ ..] if hashed.len() < 64 => {
            let names = names.iter().filter(|name| !name.contains('/'));
            hashed.extend(names.map(|name| ((*name).to_owned(), (*path).to_owned())));
        }
        ["-d", names @ ..] => hashed.retain(|name, _| !names.contains(&name.as_str())),
        ["-r", ..] => hashed.clear(),
        _ => {}
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
