//! Code of any language as names, strings and signs.

use super::Language;

/// A name, a string or a sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Name(String),
    Text(String),
    Sign(char),
}

/// Cuts code into tokens. The blocks of Python get braces, and where a text in backticks is run, it
/// stands behind `qx`.
pub(super) fn tokens(code: &str, language: Option<Language>) -> Vec<Token> {
    let ticks = matches!(language, Some(Language::Perl | Language::Php));
    let mut tokens = Vec::new();
    let mut indents = Indents::default();
    let mut letters = code.chars().peekable();
    let mut starts = language == Some(Language::Python);
    loop {
        if starts {
            indents.line(&mut letters, &mut tokens);
            starts = false;
        }
        let Some(letter) = letters.next() else { break };
        match letter {
            '\'' | '"' | '`' => {
                if ticks && letter == '`' {
                    tokens.push(Token::Name("qx".to_owned()));
                }
                tokens.push(Token::Text(string(letter, &mut letters)));
            }
            '/' if letters.peek() == Some(&'/') => skip_line(&mut letters),
            '#' => skip_line(&mut letters),
            _ if letter.is_alphanumeric() || letter == '_' || letter == '$' || letter == '@' => {
                let mut name = String::from(letter);
                while let Some(inner) =
                    letters.next_if(|inner| inner.is_alphanumeric() || *inner == '_')
                {
                    name.push(inner);
                }
                tokens.push(Token::Name(name));
            }
            '\n' => {
                tokens.push(Token::Sign('\n'));
                starts = language == Some(Language::Python) && indents.brackets == 0;
            }
            _ if letter.is_whitespace() => {}
            _ => {
                match letter {
                    '(' | '[' | '{' => indents.brackets += 1,
                    ')' | ']' | '}' => indents.brackets = indents.brackets.saturating_sub(1),
                    _ => {}
                }
                tokens.push(Token::Sign(letter));
            }
        }
    }
    tokens
}

type Letters<'c> = std::iter::Peekable<std::str::Chars<'c>>;

fn skip_line(letters: &mut Letters<'_>) {
    while letters.next_if(|inner| *inner != '\n').is_some() {}
}

/// The text up to the quote that closes it, or the three that do.
fn string(quote: char, letters: &mut Letters<'_>) -> String {
    let mut ahead = letters.clone();
    let triple = ahead.next() == Some(quote) && ahead.next() == Some(quote);
    if triple {
        *letters = ahead;
    }
    let mut text = String::new();
    while let Some(inner) = letters.next() {
        if inner == quote {
            let mut ahead = letters.clone();
            if !triple || ahead.next() == Some(quote) && ahead.next() == Some(quote) {
                if triple {
                    *letters = ahead;
                }
                break;
            }
        }
        if inner == '\\' {
            match letters.next() {
                Some('n') => text.push('\n'),
                Some(other) => text.push(other),
                None => {}
            }
        } else {
            text.push(inner);
        }
    }
    text
}

/// How far the blocks of Python are indented that are open.
#[derive(Default)]
struct Indents {
    open: Vec<usize>,
    /// Brackets that are open: lines in them begin no statement.
    brackets: usize,
}

impl Indents {
    /// Reads the blanks at the start of a line and puts braces where blocks begin and end.
    fn line(&mut self, letters: &mut Letters<'_>, tokens: &mut Vec<Token>) {
        let mut indent = 0;
        while letters
            .next_if(|letter| matches!(letter, ' ' | '\t'))
            .is_some()
        {
            indent += 1;
        }
        if matches!(letters.peek(), None | Some('\n' | '\r' | '#')) {
            return;
        }
        while self.open.pop_if(|open| *open > indent).is_some() {
            tokens.push(Token::Sign('}'));
        }
        if indent > self.open.last().copied().unwrap_or(0) {
            self.open.push(indent);
            // The line before is what the block belongs to.
            while tokens.pop_if(|token| *token == Token::Sign('\n')).is_some() {}
            tokens.push(Token::Sign('{'));
        }
    }
}
