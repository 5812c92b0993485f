//! The commands that code of other languages runs, where they stand in it in full.

use super::code::{Code, SHELLS, Token};
use super::code_given::{Given, with_values};
use super::word::Word;

/// Whether a language runs a text in backticks: Perl, Ruby, PHP.
fn runs_ticks(program: &str) -> bool {
    ["perl", "ruby", "php"]
        .iter()
        .any(|name| program.starts_with(name))
}

/// More commands than this are not taken from one code.
const MAX_COMMANDS: usize = 32;

/// The commands that code runs where they stand in full. Code that changes its directory is left
/// alone: they may be meant for another repository.
pub(crate) fn commands(code: &str, program: &str, vars: &[(String, Word)]) -> Vec<String> {
    let mut code = Code::plain(code, runs_ticks(program));
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
