//! Which files of the work tree a `git` command changes.

use super::{Effects, Reach};
use crate::args::Args;
use crate::git_call::GitCall;
use crate::path::any_depth;
use crate::word::{DEEP, EXCEPT, Word};

/// The changes of one `git` call.
pub(crate) fn git(effects: &mut Effects<'_>) {
    let Some(call) = GitCall::read(effects.run) else {
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
        "checkout" => pathspecs(effects, paths(0), place),
        "checkout-index" | "read-tree" => pathspecs(effects, &args.operands, place),
        "restore" if !args.has('S', "staged") || args.has('W', "worktree") => {
            pathspecs(effects, &args.operands, place);
        }
        "rm" | "mv" if !says(&["cached"]) && !args.has('n', "dry-run") => {
            for path in &args.operands {
                effects.add(place(path), Reach::Tree);
            }
            // Into a directory.
            if let ("mv", [sources @ .., dest]) = (name, args.operands.as_slice()) {
                for source in sources {
                    let inside = format!("{}/{}", dest.raw(), source.file_name().raw());
                    effects.file(place(&Word::new(inside)));
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
                effects.add(Word::new(all), Reach::Perhaps);
            }
            pathspecs(effects, &args.operands, place);
        }
        "stash" => match args.operands.first().map(Word::raw) {
            Some("list" | "show" | "drop" | "create" | "clear" | "branch") => {}
            Some("push" | "save") if !paths(1).is_empty() => pathspecs(effects, paths(1), place),
            _ => effects.add(everything, Reach::Perhaps),
        },
        "reset" if says(&["hard", "merge", "keep"]) => effects.add(everything, Reach::Perhaps),
        "apply" | "am" if !says(&["check", "stat", "numstat", "summary", "cached"]) => {
            effects.patched(1, call.dir.as_deref().map(Word::new).as_ref());
        }
        "archive" | "diff" | "log" | "show" | "format-patch" => {
            let args = Args::read(&call.args, "o", &["output"]);
            effects.files(args.value(&["o", "output"]).map(place));
        }
        _ => {}
    }
}

/// The directory in which a `git` command removes the files that git ignores, unless `kept` is
/// excepted: `git clean -fx`, `git stash --all`.
pub(crate) fn removes_ignored(run: &crate::run::Run, kept: &str) -> Option<String> {
    let call = GitCall::read(run)?;
    let args = Args::read(
        &call.args,
        "em",
        &["exclude", "message", "pathspec-from-file"],
    );
    let is_kept = |(_, value): &(_, Word)| value.raw().trim_matches('/').ends_with(kept);
    let removes = match call.subcommand.as_ref()?.literal()? {
        "clean" => {
            let is_forced = args.has('f', "force") && !args.has('n', "dry-run");
            let only_others = args
                .operands
                .iter()
                .any(|path| !matches!(path.raw(), "." | "./" | ":/"));
            is_forced
                && (args.has('x', "") || args.has('X', ""))
                && !only_others
                && !args.values.iter().any(is_kept)
        }
        "stash" => {
            let is_push = matches!(
                args.operands.first().map(Word::raw),
                None | Some("push" | "save")
            );
            is_push && args.has('a', "all")
        }
        _ => false,
    };
    call.dir.filter(|_| removes)
}

/// The whole tree is too much to say: whether the file is tracked is not known here.
fn pathspecs(effects: &mut Effects<'_>, paths: &[Word], place: impl Fn(&Word) -> Word) {
    for path in paths {
        let raw = path
            .raw()
            .trim_start_matches(":(top)")
            .trim_start_matches(":/");
        let all = matches!(raw, "." | "" | "./" | "*");
        effects.add(
            place(&Word::new(raw)),
            if all { Reach::Perhaps } else { Reach::Tree },
        );
    }
}
