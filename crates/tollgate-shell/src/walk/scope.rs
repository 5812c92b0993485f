//! What a command sees and a subshell copies, and the builtins that change it: `cd`, `export`,
//! `set`, `read`, `alias`.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use super::parameter::plain_element;
use super::{Budget, Call};
use crate::args::Args;
use crate::path::{changed, join};
use crate::syntax::Command;
use crate::word::{BETWEEN, BETWEEN_TEXT, HOLE, LOOSE, Word, hole};
use crate::world::World;

/// More variables than this are not remembered.
const MAX_VARS: usize = 256;
/// The same for functions that are exported, aliases and directories.
const MAX_OTHERS: usize = 64;

/// The value of a variable.
#[derive(Clone, Debug)]
struct Value {
    text: String,
    exported: bool,
}

/// Variables, functions, the working directory.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    vars: Rc<BTreeMap<String, Value>>,
    functions: Rc<BTreeMap<String, Rc<Command>>>,
    /// Functions that `export -f` hands to other shells.
    shared: Rc<Vec<String>>,
    pub(super) args: Rc<Vec<String>>,
    pub(super) dir: Option<String>,
    old_dir: Option<String>,
    stack: Rc<Vec<Option<String>>>,
    /// `shopt -s dotglob`
    pub(super) dotglob: bool,
    /// `shopt -s expand_aliases`, and the aliases since then.
    pub(super) aliases: Option<Rc<BTreeMap<String, String>>>,
    budget: Rc<Budget>,
}

impl Scope {
    pub(super) fn new(world: &World<'_>, budget: Rc<Budget>) -> Self {
        let dir = world.dir.and_then(Path::to_str);
        let mut scope = Self {
            vars: Rc::default(),
            functions: Rc::default(),
            shared: Rc::default(),
            args: Rc::default(),
            dir: dir.map(|dir| join("/", dir)),
            old_dir: None,
            stack: Rc::default(),
            dotglob: false,
            aliases: None,
            budget,
        };
        if let Some(home) = world.home.and_then(Path::to_str) {
            scope.export("HOME", home.to_owned());
        }
        scope
    }

    /// The scope of a shell that this one starts: what is exported, and what the call sets.
    pub(super) fn inside(&self, call: &Call) -> Self {
        let mut inner = self.clone();
        inner.dir.clone_from(&call.dir);
        inner.aliases = None;
        Rc::make_mut(&mut inner.functions).retain(|name, _| self.shared.contains(name));
        Rc::make_mut(&mut inner.vars).retain(|name, value| value.exported && call.sees(name));
        for (name, value) in &call.vars {
            inner.export(name, value.raw().to_owned());
        }
        inner
    }

    /// The scope of a command that runs elsewhere.
    pub(super) fn at(&self, dir: Option<&str>) -> Self {
        Self {
            dir: dir.map(str::to_owned),
            ..self.clone()
        }
    }

    pub(super) fn assign(&mut self, name: &str, text: String) {
        let known = self.vars.get(name);
        if known.is_none() && self.vars.len() >= MAX_VARS || name.is_empty() {
            return;
        }
        let exported = known.is_some_and(|value| value.exported);
        // A shared table is copied here, which costs as much as it holds.
        let shared = Rc::strong_count(&self.vars) > 1;
        let cost = if shared { self.vars.len() } else { 0 };
        if !self.budget.spend(cost) {
            Rc::make_mut(&mut self.vars).insert(name.to_owned(), Value { text, exported });
        }
    }

    pub(super) fn export(&mut self, name: &str, text: String) {
        self.assign(name, text);
        self.mark(name, true);
    }

    fn mark(&mut self, name: &str, exported: bool) {
        if exported && !self.vars.contains_key(name) {
            self.assign(name, hole());
        }
        if self.vars.contains_key(name)
            && let Some(value) = Rc::make_mut(&mut self.vars).get_mut(name)
        {
            value.exported = exported;
        }
    }

    /// The whole value of a variable that the command sets, with the elements of an array.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(|value| value.text.as_str())
    }

    /// Exported variables whose names start with a prefix.
    pub(super) fn exported<'s>(
        &'s self,
        prefix: &'s str,
    ) -> impl Iterator<Item = (&'s str, &'s str)> {
        let named = self.vars.range(prefix.to_owned()..);
        named
            .take_while(move |(name, _)| name.starts_with(prefix))
            .filter(|(_, value)| value.exported)
            .map(|(name, value)| (name.as_str(), value.text.as_str()))
    }

    /// A variable's value; nothing when the command does not say.
    pub(super) fn lookup(&self, name: &str) -> Option<String> {
        if let Some(behind) = name.strip_prefix('!').filter(|name| !name.is_empty()) {
            return self.value(self.value(behind)?).map(str::to_owned);
        }
        let array = name.strip_suffix("[@]").or(name.strip_suffix("[*]"));
        if let Some(array) = array {
            let all = self.value(array)?.split(BETWEEN);
            return Some(all.map(plain_element).collect::<Vec<_>>().join(" "));
        }
        if let Some(text) = self.value(name) {
            // An array without an index is its first element.
            return text.split(BETWEEN).next().map(str::to_owned);
        }
        match name {
            "PWD" => self.dir.clone(),
            "OLDPWD" => self.old_dir.clone(),
            // The same for all of a command, and of no variable: more than there are.
            "$" => Some("4194305".to_owned()),
            "IFS" => Some(" \t\n".to_owned()),
            "@" | "*" => Some(self.args.join(" ")),
            "#" => Some(self.args.len().to_string()),
            _ => {
                let index: usize = name.parse().ok().filter(|index| *index > 0)?;
                Some(self.args.get(index - 1).cloned().unwrap_or_default())
            }
        }
    }

    /// The words that `"$@"` and `"${name[@]}"` stand for.
    pub(super) fn elements(&self, name: &str) -> Option<Rc<Vec<String>>> {
        if name == "@" {
            return Some(Rc::clone(&self.args));
        }
        let text = self.value(name.strip_suffix("[@]")?)?;
        let all = text.split(BETWEEN).filter(|_| !text.is_empty());
        Some(Rc::new(all.map(str::to_owned).collect()))
    }

    pub(super) fn function(&self, name: &str) -> Option<Rc<Command>> {
        self.functions.get(name).cloned()
    }

    pub(super) fn define(&mut self, name: &str, body: &Rc<Command>) {
        Rc::make_mut(&mut self.functions).insert(name.to_owned(), Rc::clone(body));
    }

    /// After a part that may not have run: where it went is not known.
    pub(super) fn forget_move(&mut self, before: Option<&str>) {
        if self.dir.as_deref() != before {
            self.dir = None;
        }
    }

    /// Runs a builtin that changes what later commands see; others change nothing.
    pub(super) fn builtin(&mut self, name: &str, call: &Call) {
        match name {
            "cd" | "pushd" | "popd" => self.change_dir(name, call),
            "export" | "declare" | "typeset" | "local" | "readonly" => self.declare(name, call),
            "read" => self.read(call),
            "set" => self.set(call.args()),
            "shift" => {
                let count = call.args().first().and_then(Word::literal);
                let count = count.and_then(|count| count.parse().ok()).unwrap_or(1);
                if count <= self.args.len() {
                    Rc::make_mut(&mut self.args).drain(..count);
                }
            }
            "unset" => {
                for name in call.args().iter().filter_map(Word::literal) {
                    Rc::make_mut(&mut self.vars).remove(name);
                    Rc::make_mut(&mut self.functions).remove(name);
                }
            }
            "shopt" => {
                let sets = call.args().iter().any(|word| word.raw() == "-s");
                for word in call.args() {
                    match word.raw() {
                        "expand_aliases" => {
                            self.aliases.get_or_insert_default();
                        }
                        "dotglob" => self.dotglob = sets,
                        _ => {}
                    }
                }
            }
            "alias" => self.define_aliases(call.args()),
            "hash" => self.rename_programs(call.args()),
            _ => {}
        }
    }

    fn change_dir(&mut self, name: &str, call: &Call) {
        let mut operands = call.args().iter();
        let operand =
            operands.find(|word| !matches!(word.raw(), "-L" | "-P" | "-e" | "-@" | "--" | "-n"));
        let here = self.dir.clone();
        let to = match (name, operand) {
            ("popd", _) => Rc::make_mut(&mut self.stack).pop().flatten(),
            ("pushd", None) => None,
            (_, None) => self.lookup("HOME").map(|home| join("/", &home)),
            (_, Some(word)) if word.raw() == "-" => self.old_dir.clone(),
            (_, Some(word)) if word.raw().is_empty() => here.clone(),
            (_, Some(word)) => changed(here.as_deref(), word),
        };
        if name == "pushd" {
            let stack = Rc::make_mut(&mut self.stack);
            stack.push(here.clone());
            stack.truncate(MAX_OTHERS);
        }
        self.old_dir = here;
        self.dir = to;
    }

    fn declare(&mut self, name: &str, call: &Call) {
        let options = call.args().iter().filter_map(|word| {
            let option = word.raw().strip_prefix('-')?;
            Some(option.to_owned())
        });
        let flags: String = options.collect();
        let hides = name == "export" && flags.contains('n');
        let exports = (name == "export" || flags.contains('x')) && !hides;
        for word in call.args().iter().filter(|word| !word.starts_with("-")) {
            let text = word.raw();
            if flags.contains('f') {
                if exports && self.shared.len() < MAX_OTHERS {
                    Rc::make_mut(&mut self.shared).push(text.to_owned());
                }
                continue;
            }
            let (variable, value) = match text.split_once('=') {
                Some((variable, value)) => (variable, Some(value)),
                None => (text, None),
            };
            if let Some(value) = value {
                let value = value.replace(LOOSE, HOLE.encode_utf8(&mut [0; 4]));
                self.assign(variable, value);
            }
            if exports || hides {
                self.mark(variable, exports);
            }
        }
    }

    fn read(&mut self, call: &Call) {
        let args = Args::read(call.args(), "dinNptu", &[]);
        let line = call.io.input.as_deref();
        let line = line.map(|text| text.lines().next().unwrap_or_default());
        let mut fields = line
            .map(|line| self.fields(line, call))
            .unwrap_or_default()
            .into_iter();
        // `read -a name` makes the fields elements of an array.
        let between = if args.flags.contains('a') {
            BETWEEN_TEXT
        } else {
            " "
        };
        for (index, name) in args.operands.iter().enumerate() {
            let last = index + 1 == args.operands.len();
            let value = match line {
                None => hole(),
                Some(_) if last => fields.by_ref().collect::<Vec<_>>().join(between),
                Some(_) => fields.next().unwrap_or_default(),
            };
            self.assign(name.raw(), value);
        }
    }

    /// The fields of a line, cut at `IFS`.
    fn fields(&self, line: &str, call: &Call) -> Vec<String> {
        let given = call.vars.iter().find(|(name, _)| name == "IFS");
        let given = given.map(|(_, value)| value.raw());
        match given.or_else(|| self.value("IFS")) {
            Some("") => vec![line.to_owned()],
            Some(separators) => {
                let parts = line.split(|letter| separators.contains(letter));
                parts.map(str::to_owned).collect()
            }
            None => line.split_whitespace().map(str::to_owned).collect(),
        }
    }

    fn define_aliases(&mut self, words: &[Word]) {
        // A shell that runs a command ignores aliases unless configured otherwise.
        let Some(aliases) = &mut self.aliases else {
            return;
        };
        for word in words {
            if let Some((name, text)) = word.literal().and_then(|word| word.split_once('='))
                && aliases.len() < MAX_OTHERS
            {
                Rc::make_mut(aliases).insert(name.to_owned(), text.to_owned());
            }
        }
    }

    /// `hash -p /usr/bin/git g`: from now on `g` is git.
    fn rename_programs(&mut self, words: &[Word]) {
        let words: Vec<&str> = words.iter().filter_map(Word::literal).collect();
        let aliases = Rc::make_mut(self.aliases.get_or_insert_default());
        match words.as_slice() {
            ["-p", path, names @ ..] if aliases.len() < MAX_OTHERS => {
                aliases.extend(names.iter().map(|name| ((*name).into(), (*path).into())));
            }
            ["-d", names @ ..] => aliases.retain(|name, _| !names.contains(&name.as_str())),
            _ => {}
        }
    }

    /// `set -- a b`, `set a b`
    fn set(&mut self, words: &[Word]) {
        let spelled = words.iter().position(|word| word.raw() == "--");
        let plain = |word: &Word| !word.starts_with("-") && !word.starts_with("+");
        let first = match spelled {
            Some(at) => at + 1,
            None if words.first().is_some_and(plain) => 0,
            None => return,
        };
        let args = words.iter().skip(first).map(|word| word.raw().to_owned());
        self.args = Rc::new(args.collect());
    }
}
