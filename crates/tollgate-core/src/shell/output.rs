//! What a command prints, where its words already say it: `echo`, `printf`, `cat` of a heredoc.

use std::path::Path;

use super::effects::Args;
use super::nested::found_path;
use super::syntax::{HOLE, STAR};
use super::walk::{Call, Walker};
use super::word::{Word, is_mark};

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
            "ls" => listed(args),
            "mktemp" => made_file(args),
            "git" => reported(args, call.dir.as_deref()),
            "grep" => searched(args).unwrap_or_else(|| String::from(HOLE)),
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

/// The names of files as they are asked for; of a directory, any name in it.
fn listed(args: &[Word]) -> String {
    let names = args.iter().filter(|word| !word.starts_with("-"));
    let long = args
        .iter()
        .any(|word| word.starts_with("-") && word.raw().contains('l'));
    let lines = names.map(|word| {
        let name = word.file_name();
        let is_file =
            name.raw().contains(is_mark) || name.raw().trim_start_matches('.').contains('.');
        if is_file || long {
            format!("{}\n", word.raw())
        } else {
            format!("{STAR}\n")
        }
    });
    let text: String = lines.collect();
    if text.is_empty() {
        String::from(HOLE)
    } else {
        text
    }
}

/// A new file or directory: nobody knows its name, but it is none that was there before.
fn made_file(args: &[Word]) -> String {
    let template = args.iter().rev().find(|word| word.raw().contains("XXX"));
    match template.and_then(Word::literal) {
        Some(path) if path.contains('/') => format!("{path}\n"),
        _ => "/tmp/tmp.XXXXXXXXXX\n".to_owned(),
    }
}

/// Stands for the name of a commit, which nobody knows here.
pub(crate) const SOME_COMMIT: &str = "0000000000000000000000000000000000000000";

/// `git ls-files path`, `git rev-parse HEAD`, `git rev-parse --show-toplevel`
fn reported(args: &[Word], dir: Option<&str>) -> String {
    match args.split_first() {
        Some((verb, rest)) if names_commit(verb.raw(), rest) => format!("{SOME_COMMIT}\n"),
        Some((verb, [option]))
            if verb.raw() == "rev-parse" && option.raw() == "--show-toplevel" =>
        {
            let above = dir.map(Path::new).into_iter().flat_map(Path::ancestors);
            let top = above.take(64).find(|above| above.join(".git").exists());
            match top.and_then(Path::to_str) {
                Some(top) => format!("{top}\n"),
                None => String::from(HOLE),
            }
        }
        Some((verb, paths)) if verb.raw() == "ls-files" => {
            let paths = paths.iter().filter(|word| !word.starts_with("-"));
            let any = format!("{HOLE}\n");
            let text: String = paths.flat_map(|word| [word.raw(), any.as_str()]).collect();
            if text.is_empty() {
                String::from(HOLE)
            } else {
                text
            }
        }
        _ => String::from(HOLE),
    }
}

/// Whether a command of git prints the number of a commit, and nothing else.
fn names_commit(verb: &str, args: &[Word]) -> bool {
    let options = || {
        args.iter()
            .map(Word::raw)
            .filter(|arg| arg.starts_with('-'))
    };
    let operands = args.iter().filter(|word| !word.starts_with("-")).count();
    let format = |option: &str| {
        let format = option
            .strip_prefix("--format=")
            .or_else(|| option.strip_prefix("--pretty="));
        let format = format.map(|format| format.trim_start_matches("format:"));
        matches!(format, Some("%H" | "%h"))
    };
    match verb {
        "rev-parse" => {
            let plain = |option: &str| {
                matches!(option, "--verify" | "-q" | "--quiet" | "--end-of-options")
                    || option.starts_with("--short")
            };
            operands == 1 && options().all(plain)
        }
        "merge-base" => operands == 2 && options().next().is_none(),
        "rev-list" => options().any(|option| matches!(option, "-1" | "-n1" | "--max-count=1")),
        "log" | "show" => options().any(format),
        _ => false,
    }
}

/// `grep word`: lines that hold the word, whatever else is in them. `grep -l`: the files it is given,
/// or what lies below them.
fn searched(args: &[Word]) -> Option<String> {
    let args = Args::read(args, "ABCefm", &[]);
    if !args.has('l', "files-with-matches") {
        let [pattern] = args.operands.as_slice() else {
            return None;
        };
        let word = pattern.literal()?.replace("\\.", ".");
        let plain = |letter: char| letter.is_alphanumeric() || "._-/ ".contains(letter);
        let shown = args.flags.is_empty() && args.long.is_empty() && word.chars().all(plain);
        return shown.then(|| format!("{HOLE}{word}{HOLE}\n"));
    }
    let given = args.value(&["e", "f"]).is_some();
    let files = args.operands.iter().skip(usize::from(!given));
    let below = args.flags.contains(['r', 'R']) || args.has('r', "recursive");
    let lines = files.map(|word| {
        if below {
            format!("{}/{HOLE}\n", word.raw())
        } else {
            format!("{}\n", word.raw())
        }
    });
    Some(lines.collect()).filter(|text: &String| !text.is_empty())
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

/// `printf` with `%s`, `%b`, `%c`, `%d` and `%%`; other conversions are not followed.
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
            if letters.peek() == Some(&'%') {
                letters.next();
                text.push('%');
                continue;
            }
            let conversion = letters.next()?;
            let value = values.first().map(Word::raw).unwrap_or_default();
            values = values.get(1..).unwrap_or_default();
            match conversion {
                's' | 'd' | 'i' | 'q' => text.push_str(value),
                'b' => text.push_str(&unescape(value)),
                'c' => text.extend(value.chars().next()),
                _ => return None,
            }
        }
        text.push_str(&unescape(&plain));
        if text.len() > 64 * 1024 {
            return None;
        }
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
