//! What a command prints, where its words already say it: `echo`, `printf`, `cat` of a heredoc.

use super::nested::found_path;
use super::syntax::HOLE;
use super::walk::{Call, Walker};
use super::word::Word;

impl Walker<'_> {
    /// The text on standard output; a mark for unknown text when it cannot be told.
    pub(crate) fn printed(&self, name: &str, call: &Call) -> String {
        let args = call.words.get(1..).unwrap_or_default();
        match name {
            "echo" => echo(args),
            "printf" => printf(args).unwrap_or_else(|| String::from(HOLE)),
            "pwd" => call.dir.clone().unwrap_or_else(|| String::from(HOLE)) + "\n",
            "cat" | "tee" => {
                let mut text = String::new();
                if name == "tee" || args.is_empty() {
                    return call.io.input.as_deref().unwrap_or("\u{FDD0}").to_owned();
                }
                for word in args {
                    match word.literal() {
                        Some("-" | "/dev/stdin") => {
                            text.push_str(call.io.input.as_deref().unwrap_or("\u{FDD0}"));
                        }
                        Some(option) if option.starts_with('-') => return String::from(HOLE),
                        Some(name) => match self.file_text(name, call.dir.as_deref()) {
                            Some(known) => text.push_str(&known),
                            None => text.push(HOLE),
                        },
                        None => text.push(HOLE),
                    }
                }
                text
            }
            // Where a program lies does not matter to anybody here, only which it is.
            "which" | "command" | "type" => match args.last().and_then(Word::literal) {
                Some(program) => format!("{program}\n"),
                None => String::from(HOLE),
            },
            "basename" => match args.first().and_then(Word::literal) {
                Some(path) => {
                    let name = path
                        .trim_end_matches('/')
                        .rsplit('/')
                        .next()
                        .unwrap_or_default();
                    let suffix = args.get(1).and_then(Word::literal).unwrap_or_default();
                    format!("{}\n", name.strip_suffix(suffix).unwrap_or(name))
                }
                None => String::from(HOLE),
            },
            "dirname" => match args.first().and_then(Word::literal) {
                Some(path) => match path.trim_end_matches('/').rsplit_once('/') {
                    Some(("", _)) => "/\n".to_owned(),
                    Some((parent, _)) => format!("{parent}\n"),
                    None => ".\n".to_owned(),
                },
                None => String::from(HOLE),
            },
            // The names asked for, as far as they can be told.
            "ls" => {
                let names = args.iter().filter(|word| !word.starts_with("-"));
                let text: String = names.flat_map(|word| [word.raw(), "\n"]).collect();
                if text.is_empty() {
                    String::from(HOLE)
                } else {
                    text
                }
            }
            "find" | "gfind" => {
                let asks = |option: &str| args.iter().any(|word| word.raw() == option);
                match args.first().filter(|word| !word.starts_with("-")) {
                    Some(start) if !asks("-exec") && !asks("-printf") => {
                        let end = if asks("-print0") { '\0' } else { '\n' };
                        format!("{}{end}", found_path(start.raw(), &call.words))
                    }
                    _ => String::from(HOLE),
                }
            }
            "true" | ":" | "false" | "test" | "[" | "mkdir" | "touch" | "rm" | "sleep" | "set"
            | "shopt" | "unset" | "read" | "trap" => String::new(),
            _ => String::from(HOLE),
        }
    }
}

fn echo(args: &[Word]) -> String {
    let mut newline = true;
    let mut escapes = false;
    let mut rest = args;
    while let Some((first, tail)) = rest.split_first() {
        let flags = first
            .raw()
            .strip_prefix('-')
            .filter(|flags| !flags.is_empty());
        let Some(flags) = flags.filter(|flags| flags.chars().all(|flag| "neE".contains(flag)))
        else {
            break;
        };
        newline &= !flags.contains('n');
        escapes |= flags.contains('e');
        rest = tail;
    }
    let mut text = rest.iter().map(Word::raw).collect::<Vec<_>>().join(" ");
    if escapes {
        text = unescape(&text);
    }
    if newline {
        text.push('\n');
    }
    text
}

/// `printf` with `%s`, `%b`, `%d` and `%%`; other conversions are not followed.
pub(crate) fn printf(args: &[Word]) -> Option<String> {
    let mut args = args;
    if args.first().is_some_and(|word| word.raw() == "--") {
        args = args.get(1..)?;
    }
    if args.first()?.raw() == "-v" {
        return Some(String::new());
    }
    let (format, mut values) = args.split_first()?;
    let mut text = String::new();
    // The format is used again while values are left.
    for _ in 0..64 {
        let before = values.len();
        let mut letters = format.raw().chars().peekable();
        let mut plain = String::new();
        while let Some(letter) = letters.next() {
            if letter == '\\' {
                plain.push(letter);
                plain.extend(letters.next());
                continue;
            }
            if letter != '%' {
                plain.push(letter);
                continue;
            }
            text.push_str(&unescape(&std::mem::take(&mut plain)));
            let conversion = letters.next()?;
            if conversion == '%' {
                text.push('%');
                continue;
            }
            let value = values.first().map(Word::raw).unwrap_or_default();
            values = values.get(1..).unwrap_or_default();
            match conversion {
                's' | 'd' | 'i' => text.push_str(value),
                'b' => text.push_str(&unescape(value)),
                'q' => text.push_str(value),
                _ => return None,
            }
        }
        text.push_str(&unescape(&plain));
        if values.is_empty() || values.len() == before {
            break;
        }
    }
    Some(text)
}

/// The escapes of `echo -e` and of a `printf` format.
fn unescape(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('a' | 'b' | 'e' | 'E' | 'f' | 'v') => out.push(' '),
            Some('c') => break,
            Some('x') => out.extend(number(&mut letters, 16, 2, 0)),
            Some(digit @ '0'..='7') => {
                let first = digit.to_digit(8).unwrap_or(0);
                let most = if digit == '0' { 3 } else { 2 };
                out.extend(number(&mut letters, 8, most, first));
            }
            Some(other) if matches!(other, '\\' | '"' | '\'') => out.push(other),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
            None => out.push('\\'),
        }
    }
    out
}

fn number(
    letters: &mut std::iter::Peekable<std::str::Chars<'_>>,
    radix: u32,
    most: usize,
    first: u32,
) -> Option<char> {
    let mut value = first;
    for _ in 0..most {
        let Some(digit) = letters.peek().and_then(|letter| letter.to_digit(radix)) else {
            break;
        };
        value = value.wrapping_mul(radix).wrapping_add(digit);
        letters.next();
    }
    char::from_u32(value)
}
