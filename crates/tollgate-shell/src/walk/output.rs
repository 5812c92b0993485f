//! What a command prints, where its words already say it: `echo`, `printf`, `cat` of a heredoc.

use std::path::Path;

use super::written::Written;
use super::{Call, MAX_TEXT};
use crate::args::Args;
use crate::escape::unescape;
use crate::path::{changed, found_path};
use crate::word::{HOLE, NAME, SOME_COMMIT, STAR, Word, has, hole, is_branch, is_mark};
use crate::world::World;

/// Commands that print nothing.
const SILENT: &str =
    "cd pushd popd exit return true : false test [ mkdir touch rm sleep set shopt unset read trap";

/// The text on standard output; a mark for unknown text when it cannot be known.
pub(super) fn printed(name: &str, call: &Call, written: &Written, world: &World<'_>) -> String {
    let args = call.args();
    let first = args.first().and_then(Word::literal);
    let text = match name {
        "echo" => Some(echo(args)),
        "printf" => printf(args),
        "pwd" => call.dir.as_ref().map(|dir| format!("{dir}\n")),
        "cat" | "tee" => return copied(name, call, written),
        // Where a program lies does not matter to anybody here, only which it is.
        "which" | "command" | "type" => {
            let program = args.last().and_then(Word::literal);
            program.map(|program| format!("{program}\n"))
        }
        "basename" => first.map(|path| {
            let name = path.trim_end_matches('/').rsplit('/').next();
            let name = name.unwrap_or_default();
            let suffix = args.get(1).and_then(Word::literal).unwrap_or_default();
            format!("{}\n", name.strip_suffix(suffix).unwrap_or(name))
        }),
        "dirname" => first.map(|path| match path.trim_end_matches('/').rsplit_once('/') {
            Some(("", _)) => "/\n".to_owned(),
            Some((parent, _)) => format!("{parent}\n"),
            None => ".\n".to_owned(),
        }),
        // The names asked for, as far as they can be known.
        "ls" => Some(listed(args)),
        "mktemp" => Some(made_file(args)),
        "git" => reported(args, call.dir.as_deref(), world),
        "grep" => searched(args).or_else(|| filtered(name, call)),
        "find" | "gfind" => {
            let asks = |option: &str| args.iter().any(|word| word.raw() == option);
            let start = args.first().filter(|word| !word.starts_with("-"));
            let start = start.filter(|_| !asks("-exec") && !asks("-printf"));
            let end = if asks("-print0") { '\0' } else { '\n' };
            start.map(|start| format!("{}{end}", found_path(start.raw(), &call.words)))
        }
        _ if has(SILENT, name) => Some(String::new()),
        _ => filtered(name, call),
    };
    text.unwrap_or_else(hole)
}

fn copied(name: &str, call: &Call, written: &Written) -> String {
    if name == "tee" || call.args().is_empty() {
        return call.io.text();
    }
    let mut text = String::new();
    for word in call.args() {
        text += &match word.literal() {
            Some("-" | "/dev/stdin") => call.io.text(),
            Some(option) if option.starts_with('-') => return hole(),
            Some(name) => {
                let known = written.text(name, call.dir.as_deref());
                known.unwrap_or_else(hole)
            }
            None => hole(),
        };
    }
    text
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
    let all = args
        .iter()
        .any(|word| word.starts_with("-") && word.raw().contains(['a', 'A']));
    // Any name in the directory where it runs.
    match text.is_empty() {
        true if long => hole(),
        true if all => format!("{NAME}\n"),
        true => format!("{STAR}\n"),
        false => text,
    }
}

/// A new file or directory: its name is unknown, but it is none that was there before.
fn made_file(args: &[Word]) -> String {
    let template = args.iter().rev().find(|word| word.raw().contains("XXX"));
    match template.and_then(Word::literal) {
        Some(path) if path.contains('/') => format!("{path}\n"),
        _ => "/tmp/tmp.XXXXXXXXXX\n".to_owned(),
    }
}

/// What a command prints that asks for the branch which is checked out, with a mark in place of its
/// name: `git branch --show-current`, and what filters leave of it.
pub(super) fn branch_answer(name: &str, call: &Call) -> Option<String> {
    let args: Vec<&str> = call.args().iter().map(Word::raw).collect();
    if name == "cat" {
        return (args == [".git/HEAD"]).then(|| format!("ref: refs/heads/{HOLE}\n"));
    }
    let (verb, args) = Some(name)
        .filter(|name| *name == "git")
        .and_then(|_| verb(&args))?;
    let operands = args.iter().filter(|arg| !arg.starts_with('-')).copied();
    let operands: Vec<&str> = operands.collect();
    let says = |option: &str| args.contains(&option);
    match (verb, operands.as_slice()) {
        ("branch", []) if says("--show-current") => Some(format!("{HOLE}\n")),
        ("branch", []) if args.is_empty() => Some(format!("* {HOLE}\n")),
        ("rev-parse", ["HEAD" | "@"]) if says("--abbrev-ref") => Some(format!("{HOLE}\n")),
        ("rev-parse", ["HEAD" | "@"]) if says("--symbolic-full-name") => {
            Some(format!("refs/heads/{HOLE}\n"))
        }
        ("symbolic-ref", ["HEAD"]) if says("--short") => Some(format!("{HOLE}\n")),
        ("symbolic-ref", ["HEAD"]) => Some(format!("refs/heads/{HOLE}\n")),
        ("status", []) if says("-sb") || says("-bs") => Some(format!("## {HOLE}\n")),
        _ => None,
    }
}

/// The subcommand of git and the words behind it.
fn verb<'w, 't>(words: &'w [&'t str]) -> Option<(&'t str, &'w [&'t str])> {
    match words {
        ["-C" | "-c", _, rest @ ..] => verb(rest),
        [option, rest @ ..] if option.starts_with('-') => verb(rest),
        [verb, rest @ ..] => Some((verb, rest)),
        [] => None,
    }
}

/// Programs that cut the name of a branch out of what git says.
const FILTERS: &str = "sed awk cut tr head tail grep egrep";

/// The name of a branch that a filter leaves of its input.
fn filtered(name: &str, call: &Call) -> Option<String> {
    let input = call.io.input.as_deref().filter(|_| has(FILTERS, name))?;
    let mut marks = input.chars().filter(|letter| is_branch(*letter));
    let mark = marks.next()?;
    marks.next().is_none().then(|| format!("{mark}\n"))
}

/// `git ls-files path`, `git rev-parse HEAD`, `git rev-parse --show-toplevel`
fn reported(args: &[Word], dir: Option<&str>, world: &World<'_>) -> Option<String> {
    if let [option, to, rest @ ..] = args
        && option.raw() == "-C"
    {
        return reported(rest, changed(dir, to).as_deref(), world);
    }
    let (verb, rest) = args.split_first()?;
    if names_commit(verb.raw(), rest) {
        return Some(format!("{SOME_COMMIT}\n"));
    }
    match (verb.raw(), rest) {
        ("rev-parse", [option]) => {
            let inside = match option.raw() {
                "--show-toplevel" => "",
                "--git-dir" | "--absolute-git-dir" | "--git-common-dir" => "/.git",
                _ => return None,
            };
            let above = Path::new(dir?).ancestors().take(64);
            let mut roots = above.filter(|above| world.files.exists(&above.join(".git")));
            Some(format!("{}{inside}\n", roots.next()?.to_str()?))
        }
        ("ls-files", paths) => {
            let paths = paths.iter().filter(|word| !word.starts_with("-"));
            // A star of git's own goes through directories.
            let text: String = paths
                .map(|word| match word.raw().find(['*', '?', '[', ':']) {
                    Some(at) => {
                        let (known, _) = word.raw().split_at(at);
                        let directory = known.rsplit_once('/').map_or(".", |(above, _)| above);
                        format!("{directory}/{HOLE}\n")
                    }
                    None => format!("{0}\n{0}/{HOLE}\n", word.raw()),
                })
                .collect();
            Some(text).filter(|text| !text.is_empty())
        }
        _ => None,
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

/// `grep -l`: the files it is given, or what lies below them.
fn searched(args: &[Word]) -> Option<String> {
    let args = Args::read(args, "ABCefm", &[]);
    if !args.has('l', "files-with-matches") {
        return None;
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
pub(super) fn printf(args: &[Word]) -> Option<String> {
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
        if text.len() > MAX_TEXT {
            return None;
        }
        if values.is_empty() || values.len() == before {
            break;
        }
    }
    Some(text)
}
