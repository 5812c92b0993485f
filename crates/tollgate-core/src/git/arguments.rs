//! What the arguments of git's subcommands, and a few other programs, say about a commit.

use super::switch::Ground;
use super::{GitCall, Landing};
use crate::shell::{Run, Word};

/// Commands whose success is not in doubt.
pub(crate) fn plain_status(run: &Run) -> Option<bool> {
    match run.program()? {
        "true" | ":" | "echo" | "printf" | "mkdir" | "export" | "pwd" | "sleep" | "touch" => {
            Some(true)
        }
        "false" => Some(false),
        _ => None,
    }
}

/// Commands that make no directory and start nothing that could.
pub(crate) fn is_idle(run: &Run) -> bool {
    matches!(
        run.program(),
        None | Some(
            "echo"
                | "printf"
                | "true"
                | ":"
                | "false"
                | "test"
                | "["
                | "ls"
                | "cat"
                | "sleep"
                | "pwd"
        )
    )
}

/// The success of a git command that leaves `HEAD` alone, where it is hardly in doubt.
pub(crate) fn git_status(name: &str, args: &[Word], ground: &Ground<'_>) -> Option<bool> {
    match name {
        "add" | "stash" | "fetch" | "status" | "config" | "rm" | "mv" | "tag" | "init" | "log" => {
            Some(true)
        }
        "branch" if args.iter().all(|word| !word.starts_with("-")) => Some(true),
        // The usual question whether a branch exists.
        "rev-parse" | "show-ref" if args.iter().any(|word| word.raw() == "--verify") => {
            let asked = args
                .iter()
                .rev()
                .find(|word| !word.starts_with("-"))?
                .literal()?;
            let branch = asked.strip_prefix("refs/heads/").unwrap_or(asked);
            let plain = !matches!(branch, "HEAD" | "@") && !branch.contains(['~', '^', '@', ':']);
            (plain && !branch.starts_with("refs/")).then(|| ground.exists(branch))
        }
        _ => None,
    }
}

/// Inline code of an interpreter that speaks of a commit.
pub(crate) fn hides_commit(run: &Run) -> bool {
    let interpreter = run.program().is_some_and(|program| {
        [
            "python",
            "node",
            "perl",
            "ruby",
            "php",
            "lua",
            "awk",
            "gawk",
            "deno",
            "bun",
            "osascript",
            "expect",
            "vim",
            "ex",
            "make",
        ]
        .iter()
        .any(|name| program.starts_with(name))
    });
    interpreter
        && run
            .words
            .iter()
            .chain(run.input.as_ref())
            .chain(run.script.as_ref())
            .any(|word| word.raw().contains("git") && word.raw().contains("commit"))
}

pub(crate) fn asks_for_help(call: &GitCall) -> bool {
    matches!(call.args.first().map(Word::raw), Some("--help" | "-h"))
}

/// Options of `git commit` that take the next word.
const COMMIT_VALUES: [&str; 12] = [
    "--message",
    "--file",
    "--reuse-message",
    "--reedit-message",
    "--author",
    "--date",
    "--template",
    "--cleanup",
    "--fixup",
    "--squash",
    "--trailer",
    "--pathspec-from-file",
];

/// Whether `git commit` would only show what it would do.
pub(crate) fn is_dry_run(args: &[Word]) -> bool {
    let mut args = args.iter();
    let mut dry = false;
    while let Some(word) = args.next() {
        let text = word.raw();
        match text {
            "--" => break,
            "--null" | "--help" | "-h" => return true,
            _ if text.len() > 3
                && ["--short", "--porcelain", "--long"]
                    .iter()
                    .any(|long| long.starts_with(text)) =>
            {
                return true;
            }
            "--no-dry-run" => dry = false,
            _ if text.len() > 3 && "--dry-run".starts_with(text) => dry = true,
            // git takes a long option by any beginning of it that is long enough.
            _ if text.len() > 3 && COMMIT_VALUES.iter().any(|long| long.starts_with(text)) => {
                args.next();
            }
            _ if text.starts_with("--") || !text.starts_with('-') => {}
            _ => {
                // In `-am msg` the last letter takes the next word; in `-mmsg` the rest is its
                // value, as it always is with `-u` and `-S`.
                match text.find(['m', 'F', 'C', 'c', 't', 'u', 'S']) {
                    Some(at) if at + 1 == text.len() && !text.ends_with(['u', 'S']) => {
                        args.next();
                    }
                    None if text.contains(['h', 'z']) => return true,
                    Some(_) | None => {}
                }
            }
        }
    }
    dry
}

pub(crate) fn landing(name: &str, args: &[Word]) -> Option<Landing> {
    let has = |flags: &[&str]| args.iter().any(|word| flags.contains(&word.raw()));
    match name {
        "merge" | "pull" | "subtree" => Some(Landing::Merge),
        "rebase" => Some(Landing::Rebase),
        "cherry-pick" | "revert" | "am" => Some(Landing::Apply),
        "reset" | "update-ref" | "fast-import" | "filter-branch" | "replace" => Some(Landing::Move),
        "branch" if has(&["-f", "--force", "-M", "-C"]) => Some(Landing::Move),
        "checkout" if has(&["-B"]) => Some(Landing::Move),
        "switch" if has(&["-C", "--force-create"]) => Some(Landing::Move),
        "fetch" | "push"
            if args
                .iter()
                .any(|word| word.raw().contains(':') && !word.raw().contains("://")) =>
        {
            Some(Landing::Transfer)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell;

    #[test]
    fn a_dry_run_is_told_from_a_message_that_says_so() {
        let words = |text: &str| shell::split_words(text);
        for (args, dry) in [
            ("-m x", false),
            ("--dry-run", true),
            ("--dry", true),
            ("-m --dry-run", false),
            ("-am --dry-run", false),
            ("-mfoo --dry-run", true),
            ("--message --short", false),
            ("--mess --dry-run", false),
            ("-z -m x", true),
            ("-mz", false),
            ("--porcelain", true),
            ("--por", true),
            ("--sh -m x", true),
            ("-- --dry-run", false),
            ("-uno --dry-run", true),
            ("-h", true),
        ] {
            assert_eq!(is_dry_run(&words(args)), dry, "{args}");
        }
    }
}
