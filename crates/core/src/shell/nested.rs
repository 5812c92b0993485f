//! Commands inside commands: what a shell is given as text, what `xargs` and `find` start, and
//! the builtins that change what later commands see.

use std::rc::Rc;

use super::Link;
use super::expand::as_script;
use super::state::{define_alias, set};
use super::syntax::{Command, DEEP, HOLE, LOOSE};
use super::walk::{Call, Io, Scope, Walker};
use super::word::Word;
use super::wrap::split_words;

/// `find` actions that start a command.
const FIND_ACTIONS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

impl Walker<'_> {
    /// Runs a call whose wrappers are gone.
    pub(crate) fn perform(&mut self, call: Call, scope: &mut Scope) -> String {
        let literal = call.words.first().and_then(Word::literal);
        let Some(name) = literal.and_then(super::program_name).map(str::to_owned) else {
            // Nothing but redirections, or a program nobody can name.
            self.survey.opaque |= !call.words.is_empty();
            self.emit(call, scope);
            return String::from(HOLE);
        };
        match name.as_str() {
            "sh" | "bash" | "dash" | "zsh" | "ksh" | "mksh" | "ash" | "rbash" => {
                return self.shell(&call, 1, scope);
            }
            "busybox" | "toybox" => {
                let mut inner = call.clone();
                inner.words.remove(0);
                if !inner.words.is_empty() {
                    return self.deeper(|walker| walker.dispatch(inner, scope));
                }
            }
            "eval" => {
                let text = joined(call.words.get(1..).unwrap_or_default());
                return self.nested(&text, scope, &call.io);
            }
            "source" | "." => return self.source(call, scope),
            "xargs" | "gxargs" => return self.xargs(&call, scope),
            "find" | "gfind" | "fd" | "fdfind" => self.find(&call, scope),
            "parallel" => return self.parallel(&call, scope),
            "watch" => {
                let rest = operands(&call.words, "nqd", 1);
                self.nested(&joined(rest), &mut scope.clone(), &call.io);
            }
            "entr" => {
                let mut inner = call.clone();
                inner.words = operands(&call.words, "", 1).to_vec();
                self.deeper(|walker| walker.dispatch(inner, scope));
            }
            "trap" => self.trap(&call, scope),
            "tmux" | "screen" => {
                for word in call
                    .words
                    .iter()
                    .skip(1)
                    .filter(|word| word.raw().contains(' '))
                {
                    let text = word.raw().to_owned();
                    self.nested(&text, &mut scope.clone(), &Io::default());
                }
            }
            "shopt" if call.words.iter().any(|word| word.raw() == "expand_aliases") => {
                scope.aliases = Some(Rc::default());
            }
            "alias" => define_alias(&call, scope),
            "su" | "runuser" | "script" | "flock" | "nix-shell" | "hyperfine" | "npx" => {
                self.text_option(&name, &call, scope);
            }
            "cd" | "pushd" | "popd" => {
                self.change_dir(&name, &call, scope);
                return String::new();
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                self.declare(&name, &call, scope);
                return String::new();
            }
            "unset" => {
                for word in call.words.iter().skip(1) {
                    if let Some(name) = word.literal() {
                        Rc::make_mut(&mut scope.vars).remove(name);
                        Rc::make_mut(&mut scope.functions).remove(name);
                    }
                }
            }
            "set" => set(&call, scope),
            "shift" => {
                let args: &mut Vec<String> = Rc::make_mut(&mut scope.args);
                if !args.is_empty() {
                    args.remove(0);
                }
            }
            "read" | "mapfile" | "readarray" => self.read(&call, scope),
            _ => {
                let path = call
                    .words
                    .first()
                    .and_then(Word::literal)
                    .unwrap_or_default();
                if path.contains('/')
                    && let Some(text) = self.file_text(path, call.dir.as_deref())
                {
                    self.nested(&text, &mut scope.clone(), &call.io);
                }
            }
        }
        let output = if call.io.wanted {
            self.printed(&name, &call)
        } else {
            String::new()
        };
        self.emit(call, scope);
        output
    }

    /// Parses and walks a text that this command hands to a shell.
    fn nested(&mut self, text: &str, scope: &mut Scope, io: &Io) -> String {
        let text = as_script(text);
        if text.trim() == HOLE.to_string() {
            self.survey.opaque = true;
            return String::from(HOLE);
        }
        self.deeper(|walker| walker.script(&text, scope, io))
    }

    pub(crate) fn call_function(
        &mut self,
        body: &Command,
        call: &Call,
        scope: &mut Scope,
    ) -> String {
        let args = call
            .words
            .iter()
            .skip(1)
            .map(|word| word.raw().to_owned())
            .collect();
        let outer = std::mem::replace(&mut scope.args, Rc::new(args));
        let output = self.deeper(|walker| walker.function_body(body, scope, &call.io));
        scope.args = outer;
        if !call.redirects.is_empty() {
            let mut opened = call.clone();
            opened.words.clear();
            self.emit(opened, scope);
        }
        output
    }

    /// `bash -c text`, `bash < file`, `… | sh`; `at` is the first word after the shell's name.
    fn shell(&mut self, call: &Call, mut at: usize, scope: &mut Scope) -> String {
        let mut takes_text = false;
        let mut takes_stdin = false;
        while let Some(word) = call.words.get(at) {
            let text = word.raw();
            at += 1;
            if text == "--" || text == "-" {
                break;
            }
            if let Some(long) = text.strip_prefix("--") {
                if matches!(long, "version" | "help") {
                    self.emit(call.clone(), scope);
                    return String::from(HOLE);
                }
                if matches!(long, "rcfile" | "init-file") {
                    at += 1;
                }
            } else if let Some(cluster) = text.strip_prefix(['-', '+']) {
                takes_text |= cluster.contains('c') && text.starts_with('-');
                takes_stdin |= cluster.contains('s');
                if cluster.contains('n') && text.starts_with('-') {
                    // Only the syntax is checked.
                    self.emit(call.clone(), scope);
                    return String::new();
                }
                if cluster.ends_with(['o', 'O']) {
                    at += 1;
                }
            } else if word.may_vanish() && call.words.len() > at {
                // Unknown options.
            } else {
                at -= 1;
                break;
            }
        }
        let operands = call.words.get(at..).unwrap_or_default();
        let mut inner = scope.clone();
        inner.dir.clone_from(&call.dir);
        Rc::make_mut(&mut inner.functions).clear();
        for (name, value) in &call.vars {
            self.assign(name, value.raw().to_owned(), &mut inner);
            if let Some(value) = Rc::make_mut(&mut inner.vars).get_mut(name) {
                value.exported = true;
            }
        }
        let (text, args) = match operands.split_first() {
            Some((text, args)) if takes_text => (
                Some(text.raw().to_owned()),
                args.get(1..).unwrap_or_default(),
            ),
            Some((file, args)) if !takes_stdin => {
                let text = match file.literal() {
                    Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") => {
                        call.io.input.as_deref().map(str::to_owned)
                    }
                    Some(name) => self.file_text(name, call.dir.as_deref()),
                    None => None,
                };
                (text, args)
            }
            _ => (call.io.input.as_deref().map(str::to_owned), operands),
        };
        inner.args = Rc::new(args.iter().map(|word| word.raw().to_owned()).collect());
        if !call.redirects.is_empty() || text.is_none() {
            // The shell itself opens these files.
            self.emit(call.clone(), scope);
        }
        match text {
            Some(text) => {
                let io = Io {
                    wanted: call.io.wanted,
                    ..Io::default()
                };
                let io = if takes_text { call.io.clone() } else { io };
                self.nested(&text, &mut inner, &io)
            }
            None => String::from(HOLE),
        }
    }

    fn source(&mut self, call: Call, scope: &mut Scope) -> String {
        let text = match call.words.get(1).and_then(Word::literal) {
            Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" | "-") => {
                call.io.input.as_deref().map(str::to_owned)
            }
            Some(name) => self.file_text(name, call.dir.as_deref()),
            None => None,
        };
        let Some(text) = text else {
            self.emit(call, scope);
            return String::from(HOLE);
        };
        let io = Io {
            wanted: call.io.wanted,
            ..Io::default()
        };
        self.nested(&text, scope, &io)
    }

    fn xargs(&mut self, call: &Call, scope: &mut Scope) -> String {
        let mut replace: Option<String> = None;
        let mut at = 1;
        while let Some(word) = call.words.get(at) {
            let text = word.raw();
            let Some(option) = text.strip_prefix('-') else {
                break;
            };
            at += 1;
            if option == "-" {
                break;
            }
            if let Some(long) = option.strip_prefix('-') {
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (long, None),
                };
                if name == "replace" {
                    replace = Some(value.unwrap_or("{}").to_owned());
                } else if value.is_none()
                    && matches!(
                        name,
                        "arg-file"
                            | "delimiter"
                            | "max-args"
                            | "max-procs"
                            | "max-chars"
                            | "process-slot-var"
                    )
                {
                    at += 1;
                }
                continue;
            }
            let Some(index) = option.find(['I', 'n', 'L', 'P', 's', 'd', 'E', 'a', 'J', 'i'])
            else {
                continue;
            };
            let (_, tail) = option.split_at(index);
            let letter = tail.chars().next().unwrap_or('n');
            let mut value: String = tail.chars().skip(1).collect();
            if value.is_empty() && letter != 'i' {
                value = call
                    .words
                    .get(at)
                    .map(|word| word.raw().to_owned())
                    .unwrap_or_default();
                at += 1;
            }
            if matches!(letter, 'I' | 'J' | 'i') {
                replace = Some(if value.is_empty() {
                    "{}".to_owned()
                } else {
                    value
                });
            }
        }
        let template = call.words.get(at..).unwrap_or_default();
        if template.is_empty() {
            self.emit(call.clone(), scope);
            return String::from(HOLE);
        }
        let input = call.io.input.as_deref().unwrap_or("\u{FDD0}");
        let known = !input.contains([HOLE, LOOSE]);
        let mut inner = call.clone();
        inner.io.input = None;
        if let Some(mark) = replace {
            let lines: Vec<&str> = if known {
                input.lines().collect()
            } else {
                vec!["\u{FDD0}"]
            };
            for line in lines.into_iter().take(8) {
                inner.words = template
                    .iter()
                    .map(|word| Word::new(word.raw().replace(mark.as_str(), line.trim_start())))
                    .collect();
                let turn = inner.clone();
                self.deeper(|walker| walker.dispatch(turn, &mut scope.clone()));
            }
        } else {
            inner.words = template.to_vec();
            if known {
                inner.words.extend(split_words(input));
            } else {
                inner.words.push(Word::new(LOOSE));
            }
            self.deeper(|walker| walker.dispatch(inner, &mut scope.clone()));
        }
        String::from(HOLE)
    }

    fn find(&mut self, call: &Call, scope: &mut Scope) {
        let mut at = 0;
        while let Some(word) = call.words.get(at) {
            at += 1;
            let action = word.raw();
            let fd = matches!(action, "-x" | "-X" | "--exec" | "--exec-batch");
            if !FIND_ACTIONS.contains(&action) && !fd {
                continue;
            }
            let rest = call.words.get(at..).unwrap_or_default();
            let length = rest
                .iter()
                .position(|word| matches!(word.raw(), ";" | "+"))
                .unwrap_or(rest.len());
            at += length;
            let start = call.words.get(1).filter(|word| !word.starts_with("-"));
            let found = match start.map(Word::raw) {
                // A file named by itself is what the action gets.
                Some(path) if !fd => found_path(path, &call.words),
                _ => String::from(HOLE),
            };
            let mut inner = call.clone();
            inner.words = rest
                .iter()
                .take(length)
                .map(|word| Word::new(word.raw().replace("{}", &found)))
                .collect();
            if action.starts_with("-execdir") || action.starts_with("-okdir") {
                inner.dir = None;
            }
            inner.io = Io {
                link: Some(Link::Maybe),
                ..Io::default()
            };
            self.deeper(|walker| walker.dispatch(inner, &mut scope.clone()));
        }
    }

    fn parallel(&mut self, call: &Call, scope: &mut Scope) -> String {
        let rest = operands(&call.words, "jNnL", 1);
        let (command, values) = match rest.iter().position(|word| word.raw() == ":::") {
            Some(at) => (
                rest.get(..at).unwrap_or_default(),
                rest.get(at + 1..).unwrap_or_default(),
            ),
            None => (rest, [].as_slice()),
        };
        let text = joined(command);
        let given: Vec<String> = if values.is_empty() {
            vec![
                call.io
                    .input
                    .as_deref()
                    .unwrap_or("\u{FDD0}")
                    .trim_end()
                    .to_owned(),
            ]
        } else {
            values.iter().map(|word| word.raw().to_owned()).collect()
        };
        for value in given.iter().take(8) {
            let text = if text.is_empty() {
                value.clone()
            } else if text.contains("{}") {
                text.replace("{}", value)
            } else {
                format!("{text} {value}")
            };
            let mut inner = scope.clone();
            inner.dir.clone_from(&call.dir);
            self.nested(&text, &mut inner, &Io::default());
        }
        String::from(HOLE)
    }

    fn trap(&mut self, call: &Call, scope: &mut Scope) {
        let rest = operands(&call.words, "", 1);
        if rest.len() > 1
            && let Some(text) = rest.first().and_then(Word::literal)
            && text != "-"
        {
            self.nested(text, &mut scope.clone(), &Io::default());
        }
    }

    /// Programs that take a command as the value of an option, or after a file name.
    fn text_option(&mut self, name: &str, call: &Call, scope: &mut Scope) {
        let words = &call.words;
        let option = words.iter().position(|word| {
            matches!(
                word.raw(),
                "-c" | "--command" | "--run" | "--call" | "-lc" | "-qc" | "-qec" | "-ec" | "-qefc"
            )
        });
        let mut inner = scope.clone();
        inner.dir.clone_from(&call.dir);
        match option.and_then(|at| words.get(at + 1)) {
            Some(text) => {
                let text = text.raw().to_owned();
                self.nested(&text, &mut inner, &Io::default());
            }
            None if name == "flock" => {
                let mut turn = call.clone();
                turn.words = operands(words, "wE", 1)
                    .get(1..)
                    .unwrap_or_default()
                    .to_vec();
                if !turn.words.is_empty() {
                    self.deeper(|walker| walker.dispatch(turn, &mut inner));
                }
            }
            None if name == "hyperfine" => {
                for word in operands(words, "rwmMnpcL", 1) {
                    let text = word.raw().to_owned();
                    self.nested(&text, &mut inner, &Io::default());
                }
            }
            None => {}
        }
    }
}

/// The words after a program's options; `valued` are short options followed by a value.
pub(crate) fn operands<'w>(words: &'w [Word], valued: &str, from: usize) -> &'w [Word] {
    let mut at = from;
    while let Some(word) = words.get(at) {
        let text = word.raw();
        let Some(option) = text.strip_prefix('-').filter(|option| !option.is_empty()) else {
            break;
        };
        at += 1;
        if option == "-" {
            break;
        }
        if !option.starts_with('-') && option.ends_with(|letter| valued.contains(letter)) {
            at += 1;
        }
    }
    words.get(at..).unwrap_or_default()
}

fn joined(words: &[Word]) -> String {
    words.iter().map(Word::raw).collect::<Vec<_>>().join(" ")
}

/// What `find` puts for `{}`: everything below the start, or what its name test lets through.
fn found_path(start: &str, words: &[Word]) -> String {
    let value = |option: &str| {
        let at = words.iter().position(|word| word.raw() == option)?;
        Some(words.get(at + 1)?.raw())
    };
    let every = DEEP.encode_utf8(&mut [0; 4]).to_owned();
    if value("-type") == Some("d") {
        return format!("{start}{HOLE}");
    }
    if let Some(name) = value("-name").or_else(|| value("-iname")) {
        return format!("{start}/{every}{}", name.replace('*', &every));
    }
    match value("-path").or_else(|| value("-wholename")) {
        Some(path) => path.replace('*', &every),
        None => format!("{start}{every}"),
    }
}
