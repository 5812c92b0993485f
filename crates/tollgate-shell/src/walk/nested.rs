//! Commands inside commands: what a shell is given as text, what `xargs` and `find` start, what
//! code in other languages runs.

use std::rc::Rc;

use super::output::{branch_answer, printed, printf};
use super::scope::Scope;
use super::{Call, Io, MAX_TURNS, Walker};
use crate::args::{Args, split_words};
use crate::code::{Language, commands, inline_code, language};
use crate::path::found_path;
use crate::run::{Ending, Link, Mode, Redirect, Run, program_name};
use crate::word::{HOLE, LOOSE, Word, as_script, branch_mark, has, hole};

/// Programs that read a text as commands.
const SHELLS: &str = "sh bash dash zsh ksh mksh ash rbash fish csh tcsh yash oksh xonsh elvish nu";

/// Builtins that no other program needs to know of.
const SILENT: &str = "export declare typeset local readonly";

/// Words of `find` and `fd` that start a command.
const FIND_ACTIONS: &str = "-exec -execdir -ok -okdir";
const FD_ACTIONS: &str = "-x -X --exec --exec-batch";

/// Long options of `xargs` whose value is the next word.
const XARGS: &[&str] = &[
    "arg-file",
    "delimiter",
    "max-args",
    "max-procs",
    "max-chars",
];

impl Walker<'_> {
    /// Runs a call whose wrappers are gone.
    pub(super) fn perform(&mut self, mut call: Call, scope: &mut Scope) -> String {
        let literal = call.words.first().and_then(Word::literal);
        let Some(name) = literal.and_then(program_name).map(str::to_owned) else {
            return self.unnamed(call, scope);
        };
        self.trace.note_outcome(&name, &call.words);
        match name.as_str() {
            _ if has(SHELLS, &name) => return self.shell(&call, scope),
            "eval" => return self.eval(&call, scope),
            "source" | "." => return self.source(call, scope),
            "xargs" | "gxargs" => return self.xargs(&call, scope),
            "find" | "gfind" => self.find(&call, FIND_ACTIONS, scope),
            "fd" | "fdfind" => self.find(&call, FD_ACTIONS, scope),
            "su" | "script" | "npx" | "bunx" | "uvx" | "nix-shell" | "pwsh" => {
                self.text_option(&call, scope);
            }
            "npm" if matches!(call.words.get(1).map(Word::raw), Some("exec" | "x")) => {
                self.text_option(&call, scope);
            }
            "trap" => self.trap(call.args()),
            "flock" => self.flock(&call, scope),
            "sed" | "gsed" => self.written.note_edited(&call),
            "rm" | "unlink" | "shred" | "truncate" if self.trace.is_certain() => {
                self.written.note_gone(&call);
            }
            "tee" | "cp" | "mv" | "install" | "ln" => {
                self.written.note_copied(&name, &call);
                if name == "mv" && self.trace.is_certain() {
                    self.written.note_gone(&call);
                }
            }
            "printf" if call.words.get(1).is_some_and(|word| word.raw() == "-v") => {
                if let Some(variable) = call.words.get(2).and_then(Word::literal) {
                    let words = call.words.get(3..).unwrap_or_default();
                    scope.assign(variable, printf(words).unwrap_or_else(hole));
                }
            }
            _ => {
                scope.builtin(&name, &call);
                if has(SILENT, &name) {
                    if !call.redirects.is_empty() {
                        self.emit(call, scope);
                    }
                    self.trace.ends(Ending::Well);
                    return String::new();
                }
                if let Some(language) = language(&name) {
                    self.code(language, &call, scope);
                } else if !self.written.is_empty() {
                    self.written_program(&call, scope);
                }
            }
        }
        let output = if !call.io.wanted {
            String::new()
        } else if let Some(answer) = branch_answer(&name, &call) {
            let number = self.trace.next_branch();
            call.branch = Some(number);
            branch_mark(number).map_or_else(hole, |mark| answer.replace(HOLE, &mark.to_string()))
        } else {
            printed(&name, &call, &self.written, &self.world)
        };
        self.emit(call, scope);
        output
    }

    /// Nothing but redirections, or an unknown program.
    fn unnamed(&mut self, call: Call, scope: &Scope) -> String {
        self.trace.opaque |= !call.words.is_empty();
        // `$(<file)` is the file's text.
        let read = |file: &Redirect| file.mode == Mode::Read;
        let reads = call.words.is_empty() && call.redirects.iter().any(read);
        let text = if reads { call.io.text() } else { hole() };
        self.emit(call, scope);
        text
    }

    /// Parses and walks a text that this command hands to a shell.
    pub(super) fn nested(&mut self, text: &str, scope: &mut Scope, io: &Io) -> String {
        let text = as_script(text);
        if text.trim() == hole() {
            self.trace.opaque = true;
            return hole();
        }
        self.deeper(|walker| walker.script(&text, scope, io))
    }

    /// The same in its own shell.
    fn apart(&mut self, text: &str, scope: &mut Scope, io: &Io) -> String {
        self.within(Link::Shell, |walker| walker.nested(text, scope, io))
    }

    /// A program that this very command wrote.
    fn written_program(&mut self, call: &Call, scope: &Scope) {
        let path = call.words.first().and_then(Word::literal);
        let path = path.unwrap_or_default();
        let text = if path.contains('/') {
            self.written.text(path, call.dir.as_deref())
        } else {
            let named = scope.value("PATH").map(|_| self.written.named(path));
            named.flatten()
        };
        if let Some(text) = text {
            let mut inner = scope.at(call.dir.as_deref());
            let args = call.args().iter().map(|word| word.raw().to_owned());
            inner.args = Rc::new(args.collect());
            self.apart(&text, &mut inner, &call.io);
        }
    }

    /// `bash -c text`, `bash < file`, `… | sh`
    fn shell(&mut self, call: &Call, scope: &Scope) -> String {
        let mut words = call.args();
        // Unknown options.
        while let [first, rest @ ..] = words
            && first.may_vanish()
            && !rest.is_empty()
        {
            words = rest;
        }
        let (args, rest) = Args::leading(words, "oO", &["rcfile", "init-file"]);
        let asks = args.long.iter().any(|option| has("version help", option));
        // With `-n` only the syntax is checked.
        if asks || args.flags.contains('n') {
            self.emit(call.clone(), scope);
            return hole();
        }
        let rest = match rest {
            [dash, rest @ ..] if dash.raw() == "-" => rest,
            rest => rest,
        };
        let takes_text = args.flags.contains('c');
        let (text, operands) = match rest {
            [text, _, operands @ ..] if takes_text => (Some(text.raw().to_owned()), operands),
            [text] if takes_text => (Some(text.raw().to_owned()), [].as_slice()),
            [file, operands @ ..] if !args.flags.contains('s') => {
                (self.script_text(file, call), operands)
            }
            _ => (call.io.input.as_deref().map(str::to_owned), rest),
        };
        let mut inner = scope.inside(call);
        inner.args = Rc::new(operands.iter().map(|word| word.raw().to_owned()).collect());
        if let Some(zero) = rest.get(1).filter(|_| takes_text) {
            inner.assign("0", zero.raw().to_owned());
        }
        if !call.redirects.is_empty() || text.is_none() {
            // The shell itself opens these files.
            self.emit(call.clone(), scope);
        } else {
            self.trace.starts(&call.words);
        }
        let Some(mut text) = text else {
            return hole();
        };
        if args.flags.contains('e') {
            text.insert_str(0, "set -e\n");
        }
        let io = if takes_text {
            call.io.clone()
        } else {
            Io {
                wanted: call.io.wanted,
                ..Io::default()
            }
        };
        let output = self.apart(&text, &mut inner, &io);
        if self.trace.started_nothing() {
            self.trace.push(Run::empty(call.dir.clone()));
        }
        output
    }

    /// The text of a file that is run or sourced, when it is known.
    fn script_text(&self, file: &Word, call: &Call) -> Option<String> {
        match file.literal()? {
            "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" => {
                call.io.input.as_deref().map(str::to_owned)
            }
            name => self.written.text(name, call.dir.as_deref()),
        }
    }

    fn eval(&mut self, call: &Call, scope: &mut Scope) -> String {
        for (name, value) in &call.vars {
            scope.assign(name, value.raw().to_owned());
        }
        let spelled = call.words.get(1).is_some_and(|word| word.raw() == "--");
        let words = call.words.iter().skip(1 + usize::from(spelled));
        let text = words.map(Word::raw).collect::<Vec<_>>().join(" ");
        self.nested(&text, scope, &call.io)
    }

    /// `trap text EXIT` runs the text at the end; whether another signal comes cannot be known.
    fn trap(&mut self, words: &[Word]) {
        let operands = Args::read(words, "", &[]).operands;
        let ends = |word: &Word| matches!(word.raw(), "EXIT" | "exit" | "0");
        if !operands.iter().any(ends) {
            return;
        }
        if self.trace.is_certain() {
            self.at_exit.clear();
        }
        // `trap EXIT` takes the trap away, as `trap - EXIT` does.
        if let [text, _, ..] = operands.as_slice()
            && !matches!(text.raw(), "" | "-")
            && self.at_exit.len() < MAX_TURNS
        {
            self.at_exit.push(text.raw().to_owned());
        }
    }

    /// `flock file command`, `flock file -c text`
    fn flock(&mut self, call: &Call, scope: &Scope) {
        let (_, rest) = Args::leading(call.args(), "wE", &["timeout", "wait"]);
        let mut inner = scope.at(call.dir.as_deref());
        match rest.get(1..).unwrap_or_default() {
            [] => {}
            [option, text] if option.raw() == "-c" => {
                self.apart(text.raw(), &mut inner, &Io::default());
            }
            words => {
                let turn = call.with_words(words.to_vec());
                self.deeper(|walker| walker.dispatch(turn, &mut inner));
            }
        }
    }

    fn source(&mut self, call: Call, scope: &mut Scope) -> String {
        let file = call.words.get(1);
        let Some(text) = file.and_then(|file| self.script_text(file, &call)) else {
            self.emit(call, scope);
            return hole();
        };
        let io = Io {
            wanted: call.io.wanted,
            ..Io::default()
        };
        self.nested(&text, scope, &io)
    }

    fn xargs(&mut self, call: &Call, scope: &Scope) -> String {
        let (args, template) = Args::leading(call.args(), "InLPsdEaJ", XARGS);
        let Some((program, rest)) = template.split_first() else {
            self.emit(call.clone(), scope);
            return hole();
        };
        let cut = if args.has('0', "null") {
            Some('\0')
        } else {
            let given = args.value(&["d", "delimiter"]);
            given.and_then(|given| delimiter(given.raw()))
        };
        // `-i` and `--replace` may have their mark joined.
        let bare = args.flags.split_once('i').map(|(_, mark)| mark);
        let bare = bare.or_else(|| args.long.contains(&"replace").then_some(""));
        let mark = args.value(&["I", "J", "replace"]).map(Word::raw).or(bare);
        let input = call.io.text();
        let known = !input.contains([HOLE, LOOSE]);
        let mut turns = Vec::new();
        if let Some(mark) = mark {
            let mark = if mark.is_empty() { "{}" } else { mark };
            let lines: Vec<&str> = if known {
                input.split_terminator(cut.unwrap_or('\n')).collect()
            } else {
                vec!["\u{FDD0}"]
            };
            for line in lines.into_iter().take(MAX_TURNS) {
                // The program itself is not replaced.
                let line = line.trim_start();
                let rest = rest.iter().map(|word| replaced(word, mark, line));
                turns.push(std::iter::once(program.clone()).chain(rest).collect());
            }
        } else {
            let given = match cut {
                Some(end) if known => input.split_terminator(end).map(Word::new).collect(),
                _ if input.trim() == hole() => vec![Word::new(LOOSE)],
                _ => split_words(&input),
            };
            turns.push(template.iter().cloned().chain(given).collect());
        }
        let own = call.words.len() - template.len();
        self.trace.starts(call.words.get(..own).unwrap_or_default());
        if !known {
            self.trace.begin_found();
        }
        for words in turns {
            let mut turn = call.with_words(words);
            turn.io.input = None;
            self.deeper(|walker| walker.dispatch(turn, &mut scope.clone()));
        }
        if !known {
            self.trace.end_found();
        }
        hole()
    }

    fn find(&mut self, call: &Call, actions: &str, scope: &Scope) {
        let start = call.words.get(1).filter(|word| !word.starts_with("-"));
        // A file named by itself is what the action gets.
        let found = match start.filter(|_| actions == FIND_ACTIONS) {
            Some(path) => found_path(path.raw(), &call.words),
            None => hole(),
        };
        let mut rest = call.words.as_slice();
        while let Some((word, after)) = rest.split_first() {
            rest = after;
            if !has(actions, word.raw()) {
                continue;
            }
            let ends = |word: &Word| matches!(word.raw(), ";" | "+");
            let length = rest.iter().position(ends).unwrap_or(rest.len());
            let (action, after) = rest.split_at(length);
            rest = after;
            if self.budget.spend(1 + length / 16) {
                return;
            }
            let words = action.iter().map(|word| replaced(word, "{}", &found));
            let mut words: Vec<Word> = words.collect();
            // Without a mark `fd` adds what it found at the end.
            if actions == FD_ACTIONS && !action.iter().any(|word| word.raw().contains('{')) {
                words.push(Word::new(HOLE));
            }
            let mut inner = call.with_words(words);
            if word.raw().ends_with("dir") {
                inner.dir = None;
            }
            inner.io = Io {
                link: Some(Link::Maybe),
                ..Io::default()
            };
            self.trace.begin_found();
            self.deeper(|walker| walker.dispatch(inner, &mut scope.clone()));
            self.trace.end_found();
        }
    }

    /// Programs that take a command as the value of an option: `su -c`, `script -c`, `npx -c`. The
    /// first two start a shell without it, which reads standard input, the third the program it names.
    fn text_option(&mut self, call: &Call, scope: &mut Scope) {
        let args = Args::read(call.args(), "c", &["command", "call", "run"]);
        let given = args.value(&["c", "command", "call", "run"]);
        let text = match (given, call.words.first().map(Word::raw)) {
            (Some(text), _) => text.raw().to_owned(),
            (None, Some("su" | "script")) if call.io.input.is_some() => call.io.text(),
            (None, Some("npx" | "bunx" | "uvx")) => {
                if let Some(words) = packaged(call.args()) {
                    let inner = call.with_words(words);
                    self.trace.begin_found();
                    self.deeper(|walker| walker.dispatch(inner, scope));
                    self.trace.end_found();
                }
                return;
            }
            (None, _) => return,
        };
        let mut inner = scope.at(call.dir.as_deref());
        self.apart(&text, &mut inner, &Io::default());
    }

    /// The calls of git in the code that an interpreter is given. Only what is there in full
    /// is followed: with a variable in it, it may be meant for another directory.
    fn code(&mut self, language: Language, call: &Call, scope: &Scope) {
        let script = self.written.script(&call.words, call.dir.as_deref());
        let input = call.io.input.as_deref().map(Word::new);
        let codes = inline_code(language, call.args(), input.as_ref(), script.as_ref());
        if codes.is_empty() {
            return;
        }
        let exported = scope.exported("").filter(|(name, _)| call.sees(name));
        let exported = exported.map(|(name, text)| (name.to_owned(), Word::new(text)));
        let vars: Vec<(String, Word)> = exported.chain(call.vars.iter().cloned()).collect();
        let named = vars.iter().any(|(_, value)| value.raw().contains("git"));
        let speaks = |code: &&str| named || code.contains("git");
        for code in codes.iter().map(Word::raw).filter(speaks) {
            for command in commands(code, language, &vars) {
                let mut inner = scope.at(call.dir.as_deref());
                self.apart(&command, &mut inner, &Io::default());
            }
        }
    }
}

/// What `npx -y prettier@3 --write x` starts, if that can be had: the program of a package.
fn packaged(args: &[Word]) -> Option<Vec<Word>> {
    let (_, rest) = Args::leading(args, "p", &["package", "from", "with", "python"]);
    let (program, args) = rest.split_first()?;
    let versioned = program.raw().rsplit_once('@');
    let name = versioned.map_or(program.raw(), |(name, _)| name);
    Some(
        std::iter::once(Word::new(name))
            .chain(args.iter().cloned())
            .collect(),
    )
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

/// The word with something in place of a mark; unknown when that would be long.
fn replaced(word: &Word, mark: &str, value: &str) -> Word {
    let text = word.raw();
    let most = text.len() / mark.len().max(1) * value.len();
    if most > 1 << 20 && text.matches(mark).count() * value.len() > 1 << 16 {
        return Word::new(HOLE);
    }
    Word::new(text.replace(mark, value))
}
