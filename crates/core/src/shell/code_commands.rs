//! The commands that code of other languages runs, where they stand in it in full.

use super::code::{Code, SHELLS, Token};
use super::code_given::{Given, with_values};
use super::word::Word;

/// What must be known about a language to find what it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// A text in backticks is run: Perl, Ruby, PHP.
    Ticks,
    /// A line is run after `!`.
    Editor,
    /// A line is run after `exec` or `spawn`.
    Tcl,
    /// Only what is given to a call is run.
    Calls,
}

impl Language {
    pub(crate) fn of(program: &str) -> Self {
        match program {
            "ed" | "ex" | "vi" | "vim" | "nvim" => Self::Editor,
            "tclsh" | "expect" => Self::Tcl,
            _ if program.starts_with("pe") || program.starts_with("ph") => Self::Ticks,
            _ if program.starts_with("ruby") => Self::Ticks,
            _ => Self::Calls,
        }
    }
}

/// More commands than this are not taken from one code.
const MAX_COMMANDS: usize = 32;

/// The commands that code runs where they stand in full. Code that changes its directory is left
/// alone: they may be meant for another repository.
pub(crate) fn commands(code: &str, language: Language, vars: &[(String, Word)]) -> Vec<String> {
    if matches!(language, Language::Editor | Language::Tcl) {
        let run = |line: &str| {
            let line = line.trim_start_matches([':', '+', ' ', '\t']);
            let line = line.strip_prefix("silent ").unwrap_or(line);
            if language == Language::Editor {
                return line.strip_prefix('!').map(str::to_owned);
            }
            let mut verbs = ["exec ", "spawn "].iter();
            verbs.find_map(|verb| line.strip_prefix(verb).map(str::to_owned))
        };
        let lines = code.split(['\n', ';']).filter_map(run);
        return lines.take(MAX_COMMANDS).collect();
    }
    let mut code = Code::plain(code, language == Language::Ticks);
    let given = Given {
        args: &[],
        first: 0,
        vars,
    };
    code.tokens = with_values(code.tokens, &given);
    let moves = |token: &Token| matches!(token, Token::Name(name) if matches!(name.as_str(), "cwd" | "chdir"));
    if code.tokens.iter().any(moves) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (at, token) in code.tokens.iter().enumerate() {
        if let Token::Name(name) = token
            && SHELLS.contains(&name.as_str())
        {
            found.extend(code.command(at + 1..code.call_end(at)));
        }
        if found.len() >= MAX_COMMANDS {
            break;
        }
    }
    found.retain(|command| !command.contains(['{', '$', '%']));
    found
}
