//! Which files of the work tree a `git` command changes.

use super::{Effects, Reach};
use crate::shell::args::Args;
use crate::shell::git_call::GitCall;
use crate::shell::word::Word;

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
    let args = Args::read(
        &call.args,
        "bBscmp",
        &["source", "pathspec-from-file", "message"],
    );
    let spelled = call.args.iter().position(|word| word.raw() == "--");
    let after = |at: usize| call.args.get(at + 1..).unwrap_or_default().to_vec();
    match name {
        "checkout" => {
            let paths = match spelled {
                Some(at) => after(at),
                None => args.operands.clone(),
            };
            pathspecs(effects, &paths, place);
        }
        "restore" if !args.has('S', "staged") || args.has('W', "worktree") => {
            pathspecs(effects, &args.operands, place);
        }
        "rm" | "mv" if !args.long.contains(&"cached") && !args.has('n', "dry-run") => {
            for path in &args.operands {
                effects.add(place(path), Reach::Tree);
            }
            // Into a directory.
            if name == "mv"
                && let [sources @ .., dest] = args.operands.as_slice()
            {
                for source in sources {
                    let inside = format!("{}/{}", dest.raw(), source.file_name().raw());
                    effects.file(place(&Word::new(inside)));
                }
            }
        }
        "clean" if args.has('f', "force") && !args.has('n', "dry-run") => {
            if args.operands.is_empty() {
                effects.add(place(&Word::new(".")), Reach::Perhaps);
            }
            pathspecs(effects, &args.operands, place);
        }
        "stash" => match args.operands.first().map(Word::raw) {
            Some("list" | "show" | "drop" | "create" | "clear" | "branch") => {}
            Some("push" | "save") if spelled.is_some() || args.operands.len() > 1 => {
                let paths = match spelled {
                    Some(at) => after(at),
                    None => args.operands.get(1..).unwrap_or_default().to_vec(),
                };
                pathspecs(effects, &paths, place);
            }
            _ => effects.add(place(&Word::new(".")), Reach::Perhaps),
        },
        "reset"
            if args
                .long
                .iter()
                .any(|long| matches!(*long, "hard" | "merge" | "keep")) =>
        {
            effects.add(place(&Word::new(".")), Reach::Perhaps);
        }
        "apply" | "am" => {
            let reads = ["check", "stat", "numstat", "summary", "cached"];
            if !args.long.iter().any(|long| reads.contains(long)) {
                effects.patched(1, call.dir.as_deref().map(Word::new).as_ref());
            }
        }
        "checkout-index" | "read-tree" => pathspecs(effects, &args.operands, place),
        "archive" | "diff" | "log" | "show" | "format-patch" => {
            let output = Args::read(&call.args, "o", &["output"])
                .value(&["o", "output"])
                .cloned();
            if let Some(path) = output {
                effects.file(place(&path));
            }
        }
        _ => {}
    }
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
