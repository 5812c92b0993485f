//! Which files of the work tree a `git` command changes.

use super::{Accesses, Reach};
use crate::args::Args;
use crate::git_call::GitCall;
use crate::path::any_depth;
use crate::word::{DEEP, EXCEPT, Word};

/// The changes of one `git` call.
pub(crate) fn git(accesses: &mut Accesses<'_>) {
    let Some(call) = GitCall::read(accesses.run) else {
        return;
    };
    let Some(name) = call.subcommand.as_ref().and_then(Word::literal) else {
        return;
    };
    // Paths are relative to the directory after `-C`.
    let place = |word: &Word| match &call.dir {
        Some(dir) if !word.starts_with("/") => Word::new(format!("{dir}/{}", word.raw())),
        Some(_) | None => word.clone(),
    };
    let long = ["source", "pathspec-from-file", "message"];
    let args = Args::read(&call.args, "bBscmp", &long);
    let says = |names: &[&str]| args.long.iter().any(|long| names.contains(long));
    let everything = place(&Word::new("."));
    // What follows `--` are paths; without it, they are operands after the first few.
    let spelled = call.args.iter().position(|word| word.raw() == "--");
    let paths = |first: usize| match spelled {
        Some(at) => call.args.get(at + 1..).unwrap_or_default(),
        None => args.operands.get(first..).unwrap_or_default(),
    };
    match name {
        "checkout" => pathspecs(accesses, paths(0), place),
        "checkout-index" | "read-tree" => pathspecs(accesses, &args.operands, place),
        "restore" if !args.has('S', "staged") || args.has('W', "worktree") => {
            pathspecs(accesses, &args.operands, place);
        }
        "rm" | "mv" if !says(&["cached"]) && !args.has('n', "dry-run") => {
            for path in &args.operands {
                accesses.add(place(path), Reach::Tree);
            }
            // Into a directory.
            if let ("mv", [sources @ .., dest]) = (name, args.operands.as_slice()) {
                for source in sources {
                    let inside = format!("{}/{}", dest.raw(), source.file_name().raw());
                    accesses.file(place(&Word::new(inside)));
                }
            }
        }
        "clean" if args.has('f', "force") && !args.has('n', "dry-run") => {
            let args = Args::read(&call.args, "e", &["exclude"]);
            let mut all = everything.raw().to_owned();
            for (_, kept) in &args.values {
                all.push(EXCEPT);
                all.push_str(&any_depth(kept.raw()));
                all.push(DEEP);
            }
            if args.operands.is_empty() {
                accesses.add(Word::new(all), Reach::Perhaps);
            }
            pathspecs(accesses, &args.operands, place);
        }
        "stash" => match args.operands.first().map(Word::raw) {
            Some("list" | "show" | "drop" | "create" | "clear" | "branch") => {}
            Some("push" | "save") if !paths(1).is_empty() => pathspecs(accesses, paths(1), place),
            _ => accesses.add(everything, Reach::Perhaps),
        },
        "reset" if says(&["hard", "merge", "keep"]) => accesses.add(everything, Reach::Perhaps),
        "apply" | "am" if !says(&["check", "stat", "numstat", "summary", "cached"]) => {
            accesses.patched(1, call.dir.as_deref().map(Word::new).as_ref());
        }
        "archive" | "diff" | "log" | "show" | "format-patch" => {
            let args = Args::read(&call.args, "o", &["output"]);
            accesses.files(args.value(&["o", "output"]).map(place));
        }
        _ => {}
    }
}

/// The whole tree is too much to say: whether the file is tracked is not known here.
fn pathspecs(accesses: &mut Accesses<'_>, paths: &[Word], place: impl Fn(&Word) -> Word) {
    for path in paths {
        let raw = path
            .raw()
            .trim_start_matches(":(top)")
            .trim_start_matches(":/");
        let all = matches!(raw, "." | "" | "./" | "*");
        accesses.add(
            place(&Word::new(raw)),
            if all { Reach::Perhaps } else { Reach::Tree },
        );
    }
}
