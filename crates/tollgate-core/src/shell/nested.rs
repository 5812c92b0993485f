//! Commands inside commands: what a shell is given as text, what `xargs` and `find` start, and
//! the builtins that change what later commands see.

use std::rc::Rc;

use super::expand::{activate, as_script};
use super::launch::runs_code;
use super::output::printf;
use super::state::{define_alias, hash, set, shopt};
use super::syntax::{BELOW, Command, DEEP, HOLE, LOOSE};
use super::walk::{Call, Io, MAX_TURNS, Scope, Walker};
use super::word::Word;
use super::wrap::split_words;
use super::{Link, Mode};

/// `find` actions that start a command.
const FIND_ACTIONS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

/// Long options of `flock`, `watch`, `parallel` and the like whose value is the next word.
const LONG_VALUES: [&str; 6] = [
    "timeout",
    "wait",
    "conflict-exit-code",
    "interval",
    "jobs",
    "max-args",
];

impl Walker<'_> {
    /// Runs a call whose wrappers are gone.
    pub(crate) fn perform(&mut self, call: Call, scope: &mut Scope) -> String {
        let literal = call.words.first().and_then(Word::literal);
        let Some(name) = literal.and_then(super::program_name).map(str::to_owned) else {
            // Nothing but redirections, or a program nobody can name.
            self.survey.opaque |= !call.words.is_empty();
            // `$(<file)` is the file's text.
            let reads = call.words.is_empty()
                && (call.redirects.iter()).any(|redirect| redirect.mode == Mode::Read);
            let text = call.io.input.clone().filter(|_| reads);
            self.emit(call, scope);
            return text.map_or_else(|| String::from(HOLE), |text| text.to_string());
        };
        self.note_outcome(&name, &call.words);
        match name.as_str() {
            "sh" | "bash" | "dash" | "zsh" | "ksh" | "mksh" | "ash" | "rbash" | "fish" | "csh"
            | "tcsh" | "yash" | "oksh" | "xonsh" | "elvish" | "nu" => {
                return self.shell(&call, 1, scope);
            }
            // What follows `--` is for a shell.
            "capsh" => {
                let at = call.words.iter().position(|word| word.raw() == "--");
                if let Some(at) = at {
                    return self.shell(&call, at + 1, scope);
                }
            }
            "busybox" | "toybox" => {
                let mut inner = call.clone();
                inner.words.remove(0);
                if !inner.words.is_empty() {
                    return self.deeper(|walker| walker.dispatch(inner, scope));
                }
            }
            "eval" => {
                for (name, value) in &call.vars {
                    self.assign(name, value.raw().to_owned(), scope);
                }
                let spelled = call.words.get(1).is_some_and(|word| word.raw() == "--");
                let text = joined(
                    call.words
                        .get(1 + usize::from(spelled)..)
                        .unwrap_or_default(),
                );
                return self.nested(&text, scope, &call.io);
            }
            "source" | "." => return self.source(call, scope),
            "xargs" | "gxargs" => return self.xargs(&call, scope),
            "find" | "gfind" | "fd" | "fdfind" => self.find(&call, scope),
            "parallel" => return self.parallel(&call, scope),
            "watch" | "tmux" => self.behind_options(&name, &call, scope),
            "trap" => self.trap(&call, scope),
            "hash" => hash(&call, scope),
            "sed" | "gsed" => self.note_edited(&call),
            "rm" | "unlink" | "shred" | "truncate" => self.note_gone(&call),
            "shopt" => shopt(&call, scope),
            "alias" => define_alias(&call, scope),
            "su" | "script" | "flock" | "nix-shell" | "npx" => {
                self.text_option(&name, &call, scope);
            }
            "npm" if matches!(call.words.get(1).map(Word::raw), Some("exec" | "x")) => {
                self.text_option(&name, &call, scope);
            }
            "cmd" | "powershell" | "pwsh" => self.windows(&name, &call, scope),
            "cd" | "pushd" | "popd" | "export" | "declare" | "typeset" | "local" | "readonly" => {
                if matches!(name.as_str(), "cd" | "pushd" | "popd") {
                    self.change_dir(&name, &call, scope);
                } else {
                    self.declare(&name, &call, scope);
                }
                if !call.redirects.is_empty() {
                    self.emit(call, scope);
                }
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
                let count = call.words.get(1).and_then(Word::literal);
                let count = count.and_then(|count| count.parse().ok()).unwrap_or(1);
                let args: &mut Vec<String> = Rc::make_mut(&mut scope.args);
                if count <= args.len() {
                    args.drain(..count);
                }
            }
            "printf" if call.words.get(1).is_some_and(|word| word.raw() == "-v") => {
                if let Some(variable) = call.words.get(2).and_then(Word::literal) {
                    let words = call.words.get(3..).unwrap_or_default();
                    let text = printf(words).unwrap_or_else(|| String::from(HOLE));
                    self.assign(variable, text, scope);
                }
            }
            "read" | "mapfile" | "readarray" => self.read(&call, scope),
            "tee" | "cp" | "mv" | "install" | "ln" => {
                self.note_copied(&name, &call);
                if name == "mv" {
                    self.note_gone(&call);
                }
            }
            _ if runs_code(&name) => self.code(&name, &call, scope),
            _ if self.files.is_empty() => {}
            _ => self.written_program(&call, scope),
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
    pub(crate) fn nested(&mut self, text: &str, scope: &mut Scope, io: &Io) -> String {
        let text = as_script(text);
        if text.trim() == HOLE.to_string() {
            self.survey.opaque = true;
            return String::from(HOLE);
        }
        self.deeper(|walker| walker.script(&text, scope, io))
    }

    /// A program that this very command wrote.
    fn written_program(&mut self, call: &Call, scope: &mut Scope) {
        let path = call.words.first().and_then(Word::literal);
        let path = path.unwrap_or_default();
        let text = if path.contains('/') {
            self.file_text(path, call.dir.as_deref())
        } else if scope.vars.contains_key("PATH") {
            self.file_named(path)
        } else {
            None
        };
        if let Some(text) = text {
            let mut inner = scope.clone();
            inner.dir.clone_from(&call.dir);
            let args = call.words.iter().skip(1).map(|word| word.raw().to_owned());
            inner.args = Rc::new(args.collect());
            self.nested(&text, &mut inner, &call.io);
        }
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
        for (name, value) in &call.vars {
            self.assign(name, value.raw().to_owned(), scope);
        }
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
        Rc::make_mut(&mut inner.functions).retain(|name, _| scope.shared.contains(name));
        if !inner.vars.is_empty() {
            Rc::make_mut(&mut inner.vars).retain(|name, value| value.exported && call.sees(name));
        }
        inner.hashed = Rc::default();
        for (name, value) in &call.vars {
            self.assign(name, value.raw().to_owned(), &mut inner);
            if let Some(value) = Rc::make_mut(&mut inner.vars).get_mut(name) {
                value.exported = true;
            }
        }
        // A script sources this file before anything else.
        if let Some(value) = inner.vars.get("BASH_ENV").filter(|value| value.exported)
            && let Some(text) = self.file_text(&value.text.clone(), call.dir.as_deref())
        {
            self.nested(&text, &mut inner, &Io::default());
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
        if let Some(zero) = operands.get(1).filter(|_| takes_text) {
            self.assign("0", zero.raw().to_owned(), &mut inner);
        }
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
        let mut cut = None;
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
                    let value = value.filter(|value| !value.is_empty());
                    replace = Some(value.unwrap_or("{}").to_owned());
                } else if name == "null" {
                    cut = Some('\0');
                } else if name == "delimiter" && value.is_some() {
                    cut = value.and_then(delimiter);
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
            let valued = option.find(['I', 'n', 'L', 'P', 's', 'd', 'E', 'a', 'J', 'i']);
            let (flags, tail) = option.split_at(valued.unwrap_or(option.len()));
            if flags.contains('0') {
                cut = Some('\0');
            }
            if tail.is_empty() {
                continue;
            }
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
            if letter == 'd' {
                cut = delimiter(&value);
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
        let mut inner = call.with_words(Vec::new());
        inner.io.input = None;
        if let Some(mark) = replace {
            let lines: Vec<&str> = if known {
                let end = cut.unwrap_or('\n');
                input.split_terminator(end).collect()
            } else {
                vec!["\u{FDD0}"]
            };
            for line in lines.into_iter().take(MAX_TURNS) {
                // The program itself is not replaced.
                let (program, rest) = template.split_at(1);
                let rest = rest
                    .iter()
                    .map(|word| Word::new(replaced(word.raw(), &mark, line.trim_start())));
                let turn = inner.with_words(program.iter().cloned().chain(rest).collect());
                self.deeper(|walker| walker.dispatch(turn, &mut scope.clone()));
            }
        } else {
            inner.words = template.to_vec();
            if known {
                inner.words.extend(match cut {
                    Some(end) => input.split_terminator(end).map(Word::new).collect(),
                    None => split_words(input),
                });
            } else if input.trim() == "\u{FDD0}" {
                inner.words.push(Word::new(LOOSE));
            } else {
                inner.words.extend(split_words(input));
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
            let words = rest
                .iter()
                .take(length)
                .map(|word| Word::new(replaced(word.raw(), "{}", &found)))
                .collect();
            let mut inner = call.with_words(words);
            if self.spent(1 + inner.weight()) {
                return;
            }
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
        for value in given.iter().take(MAX_TURNS) {
            let text = if text.is_empty() {
                value.clone()
            } else if text.contains("{}") {
                replaced(&text, "{}", value)
            } else {
                format!("{text} {value}")
            };
            let mut inner = scope.clone();
            inner.dir.clone_from(&call.dir);
            self.nested(&text, &mut inner, &Io::default());
        }
        String::from(HOLE)
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
        let takes_next = match option.strip_prefix('-') {
            Some(long) => LONG_VALUES.contains(&long),
            None => option.ends_with(|letter| valued.contains(letter)),
        };
        at += usize::from(takes_next);
    }
    words.get(at..).unwrap_or_default()
}

/// What `xargs -d` cuts at.
fn delimiter(text: &str) -> Option<char> {
    match text {
        "\\n" => Some('\n'),
        "\\t" => Some('\t'),
        "\\0" => Some('\0'),
        _ => text.chars().next(),
    }
}

/// The text with something in place of a mark; unknown when that would be long.
fn replaced(text: &str, mark: &str, value: &str) -> String {
    let most = text.len() / mark.len().max(1) * value.len();
    if most > 1 << 20 && text.matches(mark).count() * value.len() > 1 << 16 {
        return String::from(HOLE);
    }
    text.replace(mark, value)
}

pub(crate) fn joined(words: &[Word]) -> String {
    words.iter().map(Word::raw).collect::<Vec<_>>().join(" ")
}

/// Whether a word of `find` takes files out of what its tests let through, or tells cases apart.
fn excludes(word: &Word) -> bool {
    matches!(word.raw(), "-not" | "!" | "-prune" | "-o" | "-or")
}

/// What `find` puts for `{}`: everything below the start, or what its name test lets through.
pub(crate) fn found_path(start: &str, words: &[Word]) -> String {
    if words.iter().any(excludes) {
        return format!("{start}{HOLE}");
    }
    let value = |option: &str| {
        let at = words.iter().position(|word| word.raw() == option)?;
        Some(words.get(at + 1)?.raw())
    };
    if value("-type") == Some("d") {
        return format!("{start}{HOLE}");
    }
    let every = DEEP.encode_utf8(&mut [0; 4]).to_owned();
    if let Some(name) = value("-name").or_else(|| value("-iname")) {
        // A name is one component, at any depth.
        let name: String = name.chars().map(activate).collect();
        return format!("{start}/{BELOW}{name}");
    }
    match value("-path").or_else(|| value("-wholename")) {
        Some(path) => path.replace('*', &every),
        None => format!("{start}{every}"),
    }
}
