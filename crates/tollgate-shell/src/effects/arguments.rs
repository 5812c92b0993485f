//! What the arguments of git's subcommands, and a few other programs, say about a commit.

use super::flow::Status;
use super::switch::Branches;
use crate::effect::Certainty;
use crate::git_call::GitCall;
use crate::run::Run;
use crate::word::{Word, has};

/// Git's own subcommands, which no alias can replace.
const BUILTINS: &str = "add am annotate apply archimport archive bisect blame branch bugreport bundle cat-file \
    check-attr check-ignore check-mailmap check-ref-format checkout checkout--worker \
    checkout-index cherry cherry-pick citool clean clone column commit commit-graph commit-tree \
    config count-objects credential credential-cache credential-cache--daemon credential-store \
    cvsexportcommit cvsimport cvsserver daemon describe diagnose diff diff-files diff-index \
    diff-tree difftool difftool--helper fast-export fast-import fetch fetch-pack filter-branch \
    fmt-merge-msg for-each-ref for-each-repo format-patch fsck fsck-objects fsmonitor--daemon gc \
    get-tar-commit-id gitk grep gui hash-object help hook http-backend http-fetch http-push \
    imap-send index-pack init init-db instaweb interpret-trailers lfs log ls-files ls-remote \
    ls-tree mailinfo mailsplit maintenance merge merge-base merge-file merge-index merge-octopus \
    merge-one-file merge-ours merge-recursive merge-recursive-ours merge-recursive-theirs \
    merge-resolve merge-subtree merge-tree mergetool mktag mktree multi-pack-index mv name-rev \
    notes p4 pack-objects pack-redundant pack-refs patch-id pickaxe prune prune-packed pull push \
    quiltimport range-diff read-tree rebase receive-pack reflog refs remote remote-ext remote-fd \
    remote-ftp remote-ftps remote-http remote-https repack replace replay request-pull rerere \
    reset restore rev-list rev-parse revert rm send-email send-pack sh-i18n--envsubst shell \
    shortlog show show-branch show-index show-ref sparse-checkout stage stash status stripspace \
    submodule submodule--helper subtree svn switch symbolic-ref tag unpack-file unpack-objects \
    update-index update-ref update-server-info upload-archive upload-archive--writer upload-pack \
    var verify-commit verify-pack verify-tag version web--browse whatchanged worktree write-tree";

/// Commands that make no directory and start nothing that could.
const IDLE: &str =
    "echo printf true : false test [ [[ ls cat sleep pwd cd pushd popd exit return set grep";

/// Whether git itself answers to this name.
pub(super) fn is_builtin(name: &str) -> bool {
    has(BUILTINS, name)
}

/// How commands end whose success is not in doubt, or hardly.
pub(super) fn plain_status(run: &Run) -> Status {
    match run.program() {
        Some("false") => Status::Certain(false),
        Some("true" | ":" | "echo" | "printf") => Status::Certain(true),
        Some("mkdir" | "export" | "pwd" | "sleep" | "touch") => Status::Likely(true),
        _ => Status::Unknown,
    }
}

/// Whether a command makes no directory and starts nothing that could.
pub(super) fn is_idle(run: &Run) -> bool {
    run.program().is_none_or(|program| has(IDLE, program))
}

/// The success of a git command that leaves `HEAD` alone, where it is hardly in doubt.
pub(super) fn git_status(name: &str, args: &[Word], branches: &Branches<'_>) -> Option<bool> {
    let says = |option: &str| args.iter().any(|word| word.raw() == option);
    match name {
        "add" | "stash" | "fetch" | "status" | "config" | "rm" | "mv" | "tag" | "init" | "log" => {
            Some(true)
        }
        "branch" if args.iter().all(|word| !word.starts_with("-")) => Some(true),
        // The usual question whether a branch exists.
        "rev-parse" | "show-ref" if name == "show-ref" || says("--verify") => {
            let asked = args
                .iter()
                .rev()
                .find(|word| !word.starts_with("-"))?
                .literal()?;
            let branch = asked.strip_prefix("refs/heads/").unwrap_or(asked);
            let plain = !matches!(branch, "HEAD" | "@") && !branch.contains(['~', '^', '@', ':']);
            (plain && !branch.starts_with("refs/")).then(|| branches.exists(branch))
        }
        _ => None,
    }
}

pub(super) fn asks_for_help(call: &GitCall) -> bool {
    matches!(call.args.first().map(Word::raw), Some("--help" | "-h"))
}

/// How likely a command other than `git commit` makes commits on the branch that is checked out; nothing
/// where it makes none. Whether a merge or rebase only moves the branch on, git alone knows.
pub(super) fn brings_commit(name: &str, args: &[Word]) -> Option<Certainty> {
    let says = |options: &str| args.iter().any(|word| has(options, word.raw()));
    let (not, certainty) = match name {
        "merge" if says("--no-ff --continue") => (NO_MERGE, Certainty::Possible),
        "merge" | "pull" | "rebase" => (NO_MERGE, Certainty::Unknown),
        "cherry-pick" | "revert" | "am" => (NO_PICK, Certainty::Possible),
        _ => return None,
    };
    (!says(not)).then_some(certainty)
}

const NO_MERGE: &str = "--ff-only --no-commit --squash --abort --quit --dry-run";
const NO_PICK: &str = "-n --no-commit --abort --quit --skip";

/// Options of `git commit` that take the next word.
const COMMIT_VALUES: &str = "--message --file --reuse-message --reedit-message --author --date \
    --template --cleanup --fixup --squash --trailer --pathspec-from-file";

/// Options of `git commit` with which it only shows what it would do.
const COMMIT_SHOWS: &str = "--short --porcelain --long";

/// Whether git takes a word for one of these long options: any beginning that is long enough.
fn abbreviates(options: &str, text: &str) -> bool {
    let mut options = options.split_ascii_whitespace();
    text.len() > 3 && options.any(|option| option.starts_with(text))
}

/// Whether `git commit` would only show what it would do.
pub(super) fn is_dry_run(args: &[Word]) -> bool {
    let mut args = args.iter();
    let mut dry = false;
    while let Some(word) = args.next() {
        let text = word.raw();
        match text {
            "--" => break,
            "--null" | "--help" | "-h" => return true,
            _ if abbreviates(COMMIT_SHOWS, text) => return true,
            "--no-dry-run" => dry = false,
            _ if abbreviates("--dry-run", text) => dry = true,
            _ if abbreviates(COMMIT_VALUES, text) => {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::split_words;

    #[test]
    fn a_dry_run_is_told_from_a_message_that_says_so() {
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
            assert_eq!(is_dry_run(&split_words(args)), dry, "{args}");
        }
    }
}
