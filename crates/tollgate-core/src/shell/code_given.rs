//! What the command line gives to code: `argv[1]`, `environ['F']`.

use super::code::Token;
use super::word::Word;

/// What the command line gives to the code.
pub(crate) struct Given<'r> {
    /// The words that follow the code.
    pub(crate) args: &'r [Word],
    /// The number of the first of them in the language's list of arguments.
    pub(crate) first: usize,
    /// The variables set before the command.
    pub(crate) vars: &'r [(String, Word)],
}

/// Puts the words of the command line where the code asks for them by number, and the values of
/// variables where it asks for them by name.
pub(crate) fn with_values(tokens: Vec<Token>, given: &Given<'_>) -> Vec<Token> {
    let asks = |token: &Token| matches!(token, Token::Name(name) if is_given(name));
    if !tokens.iter().any(asks) {
        return tokens;
    }
    let value = |name: &str, key: Option<&Token>| match key? {
        Token::Name(index) if name.ends_with("argv") || name.ends_with("ARGV") => {
            let index = index.parse::<usize>().ok()?.checked_sub(given.first)?;
            given.args.get(index)
        }
        Token::Name(key) | Token::Text(key) => {
            let known = given.vars.iter().rev().find(|(known, _)| known == key);
            known.map(|(_, value)| value)
        }
        Token::Sign(_) => None,
    };
    let mut out = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        // `argv[1]`, `environ['F']`, `env.F`, `getenv("F")`
        let opens = matches!(tokens.get(at), Some(Token::Sign('[' | '.' | '(' | '{')));
        match token {
            Token::Name(name) if opens && is_given(name) => match value(name, tokens.get(at + 1)) {
                Some(word) => {
                    out.push(Token::Text(word.raw().to_owned()));
                    let closed = !matches!(tokens.get(at), Some(Token::Sign('.')));
                    at += 2 + usize::from(closed);
                }
                None => out.push(token.clone()),
            },
            Token::Name(_) | Token::Text(_) | Token::Sign(_) => out.push(token.clone()),
        }
    }
    out
}

fn is_given(name: &str) -> bool {
    matches!(
        name,
        "argv" | "ARGV" | "$ARGV" | "environ" | "env" | "ENV" | "$ENV" | "getenv"
    )
}
