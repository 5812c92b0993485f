//! Programs that hand a text to a shell: `su -c`, `watch`, `tmux`, `cmd /c` …

use super::Link;
use super::code_commands::commands;
use super::nested::{joined, operands};
use super::walk::{Call, Io, Scope, Walker};
use super::word::Word;
use super::writes::inline_code;

impl Walker<'_> {
    /// Programs that take a command as the value of an option, or after a file name.
    pub(crate) fn text_option(&mut self, name: &str, call: &Call, scope: &mut Scope) {
        let words = &call.words;
        let given = words.iter().enumerate().skip(1).find_map(|(at, word)| {
            let next = || words.get(at + 1).map(|word| word.raw().to_owned());
            let option = word.raw().strip_prefix('-')?;
            let Some(long) = option.strip_prefix('-') else {
                let (_, joined) = option.split_once('c')?;
                return if joined.is_empty() {
                    next()
                } else {
                    Some(joined.to_owned())
                };
            };
            match long.split_once('=') {
                Some(("command" | "run" | "call", text)) => Some(text.to_owned()),
                None if matches!(long, "command" | "run" | "call") => next(),
                _ => None,
            }
        });
        let mut inner = scope.clone();
        inner.dir.clone_from(&call.dir);
        if let Some(text) = given {
            self.nested(&text, &mut inner, &Io::default());
            return;
        }
        let rest = match name {
            "flock" => operands(words, "wE", 1).get(1..).unwrap_or_default(),
            _ => &[],
        };
        if !rest.is_empty() {
            let turn = call.with_words(rest.to_vec());
            self.deeper(|walker| walker.dispatch(turn, &mut inner));
        } else if matches!(name, "su" | "script")
            // Without a command they start a shell, which reads standard input.
            && let Some(text) = call.io.input.clone()
        {
            self.nested(&text, &mut inner, &Io::default());
        }
    }

    /// `watch`, `tmux`: the text that they run stands behind their own words.
    pub(crate) fn behind_options(&mut self, name: &str, call: &Call, scope: &Scope) {
        let words = &call.words;
        let mut inner = scope.clone();
        inner.dir.clone_from(&call.dir);
        let text = match name {
            "watch" => joined(operands(words, "nq", 1)),
            _ => joined(operands(operands(words, "cfLS", 1), "ceFnstxy", 1)),
        };
        self.nested(&text, &mut inner, &call.io);
    }

    /// `cmd /c …` and `powershell -Command …`, whose text is near enough to a shell's.
    pub(crate) fn windows(&mut self, name: &str, call: &Call, scope: &Scope) {
        let gives = |word: &Word| {
            let text = word.raw().to_ascii_lowercase();
            match name {
                "cmd" => matches!(text.as_str(), "/c" | "//c" | "/k" | "//k"),
                _ => matches!(text.as_str(), "-c" | "-command" | "--command" | "/c"),
            }
        };
        let Some(at) = call.words.iter().position(gives) else {
            return;
        };
        let mut inner = scope.clone();
        inner.dir.clone_from(&call.dir);
        let rest = call.words.get(at + 1..).unwrap_or_default();
        // Many words are words; a single one is a text.
        if rest.len() > 1 {
            let turn = call.with_words(rest.to_vec());
            self.deeper(|walker| walker.dispatch(turn, &mut inner));
        } else {
            self.nested(&joined(rest), &mut inner, &Io::default());
        }
    }

    /// The calls of git in the code that an interpreter is given. Only what stands there in full
    /// is followed: with a variable in it, it may be meant for another directory.
    pub(crate) fn code(&mut self, name: &str, call: &Call, scope: &Scope) {
        let args = call.words.get(1..).unwrap_or_default();
        let operand = args.iter().find(|word| !word.starts_with("-"));
        let script = operand
            .filter(|_| !self.files.is_empty())
            .and_then(|word| self.file_text(word.literal()?, call.dir.as_deref()))
            .map(Word::new);
        let input = call.io.input.as_deref().map(Word::new);
        let codes = inline_code(name, args, input.as_ref(), script.as_ref());
        let exported = scope.vars.iter().filter(|(_, value)| value.exported);
        let exported = exported.map(|(name, value)| (name.clone(), Word::new(&*value.text)));
        let vars: Vec<(String, Word)> = exported
            .filter(|(name, _)| call.sees(name))
            .chain(call.vars.iter().cloned())
            .collect();
        let named = vars.iter().any(|(_, value)| value.raw().contains("git"));
        for code in codes
            .iter()
            .map(Word::raw)
            .filter(|code| named || code.contains("git"))
        {
            for command in commands(code, name, &vars) {
                let mut inner = scope.clone();
                inner.dir.clone_from(&call.dir);
                self.enter(Link::Maybe);
                self.nested(&command, &mut inner, &Io::default());
                self.leave();
            }
        }
    }
}

/// Whether a program runs code that could start another one.
pub(crate) fn runs_code(name: &str) -> bool {
    match name.as_bytes().first() {
        Some(b'b') => name == "bun",
        Some(b'd') => name == "deno",
        Some(b'n') => matches!(name, "node" | "nodejs"),
        Some(b'p') => ["python", "pypy", "perl", "php"]
            .iter()
            .any(|known| name.starts_with(known)),
        Some(b'r') => name.starts_with("ruby"),
        _ => false,
    }
}
