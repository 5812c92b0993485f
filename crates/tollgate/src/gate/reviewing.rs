//! The interface to reviews: the only place where gates know that reviewers exist.
//!
//! A review gate is run by [`run`]. The review gets the diff between the trees of the run, cut
//! to the gate's entry point, and answers with a verdict per reviewer and what became of the
//! findings. A review that could not be made is [`Outcome::Inconclusive`], which neither passes
//! nor fails.

use super::changes::{self, Newer, Pair};
use super::config::{Config, EntryPoint, Review};
use super::jobs::{self, Job};
use super::nested::{self, Link};
use super::result::GateResult;
use super::runner::Crew;
use crate::git::{Git, GitError};
use crate::hash::digest;
use crate::review::gate::Request;
use crate::review::kept::Seen;
use crate::review::outcome::Outcome;
use crate::review::{self, Priority, Reviewer};

/// So many paths go on one command line.
const AT_ONCE: usize = 400;

/// Runs a review gate to its end.
pub(super) fn run(crew: &Crew<'_>, job: &Job<'_>, review: &Review) -> GateResult {
    let names = if review.cli_preference.is_empty() {
        &crew.config.reviewers
    } else {
        &review.cli_preference
    };
    let command = review.command.as_deref();
    let reviewers: Vec<Reviewer> = names
        .iter()
        .filter_map(|name| Reviewer::named(name, command))
        .collect();
    let not_made = |why: &str| {
        let message = format!("no review was made: {why}");
        GateResult::new(job, Outcome::Inconclusive, message)
    };
    if reviewers.is_empty() {
        let asked = names.join(", ");
        return not_made(&format!("there is no reviewer to ask ({asked})"));
    }
    let Some(pair) = crew.pair else {
        return not_made("nothing was compared");
    };
    let diff = match diff(crew.git, pair, job, crew.config) {
        Ok(diff) => diff,
        Err(error) => return not_made(&error.to_string()),
    };
    // It runs again because it failed; that another part of the work has nothing to review says
    // nothing about that.
    if crew.is_narrowed && diff.trim().is_empty() {
        return not_made("nothing to review in the part that was asked for");
    }
    if let Err(error) = crew.logs.prepare() {
        return not_made(&format!("the log directory cannot be used: {error}"));
    }
    let seen = seen(crew, pair, job, review);
    let since = |before: &Seen| changed_since(crew, job, seen.as_ref()?, before);
    let threshold = Priority::named(&crew.config.rerun_new_issue_threshold);
    let reviewed = review::run(
        &Request {
            root: &crew.config.root,
            logs: crew.logs.directory(),
            stem: &job.log_stem,
            run: crew.run,
            reviewers: &reviewers,
            reviews: review.num_reviews,
            at_once: review.parallel && crew.config.allow_parallel,
            prompt: &review.prompt,
            diff: &diff,
            model: review.model.as_deref(),
            threshold: threshold.unwrap_or(Priority::High),
            timeout: review.timeout,
            search: crew.search,
            kept: &crew.record.findings(&crew.git.branch(), &job.id),
            seen: seen.clone(),
            since: &since,
        },
        crew.children,
    );
    let took = reviewed.slots.iter().map(|slot| slot.took).max();
    GateResult {
        took: took.unwrap_or_default(),
        slots: reviewed.slots,
        excerpt: reviewed.findings.open.clone(),
        findings: reviewed.findings,
        ..GateResult::new(job, reviewed.outcome, reviewed.message)
    }
}

/// What a review of the whole work sees; one of a part of it is not compared with others.
fn seen(crew: &Crew<'_>, pair: &Pair<'_>, job: &Job<'_>, review: &Review) -> Option<Seen> {
    let (base, tree) = sides(pair).ok()?;
    let entries = crew.config.entry_points.iter();
    let cut: Vec<_> = entries
        .map(|entry| (&entry.path, &entry.exclude, &entry.inputs))
        .collect();
    (!crew.is_narrowed).then(|| Seen {
        base: base.to_owned(),
        tree: tree.to_owned(),
        asked: digest((&review.prompt, &job.entry_point, cut)),
    })
}

/// What changed since an earlier review of the same work. None where it was asked about something
/// else, or git cannot tell any more.
fn changed_since(crew: &Crew<'_>, job: &Job<'_>, now: &Seen, before: &Seen) -> Option<String> {
    if (&now.base, &now.asked) != (&before.base, &before.asked) {
        return None;
    }
    let pair = Pair {
        base: before.tree.clone(),
        head: Newer::Named(now.tree.clone()),
        label: String::new(),
    };
    diff(crew.git, &pair, job, crew.config).ok()
}

/// What changed below an entry point, without what it excludes. An empty text means that nothing
/// did: a review passes on it.
fn diff(git: &Git, pair: &Pair<'_>, job: &Job<'_>, config: &Config) -> Result<String, GitError> {
    let path = &job.entry_point;
    let reviews = |entry: &&EntryPoint| entry.reviews.iter().any(|name| name == job.name);
    let entries: Vec<&EntryPoint> = config
        .entry_points
        .iter()
        .filter(|entry| jobs::covers(entry, path))
        .filter(reviews)
        .collect();
    let takes_all = |entry: &&EntryPoint| entry.exclude.is_empty() && entry.inputs.is_empty();
    let is_plain = !jobs::is_glob(path) && entries.iter().all(takes_all);
    if is_plain {
        return show(git, pair, &[format!(":(literal){path}")]);
    }
    // git reads globs in another way than entry points do (it knows no `{a,b}`), so it gets the
    // files that they match.
    let mut changed = changes::between(git, sides(pair)?, config)?;
    changed.retain(|file| entries.iter().any(|entry| jobs::leads(entry, path, file)));
    let count = changed.len();
    let mut text = String::new();
    for link in links(git, sides(pair)?, &[])? {
        let inside =
            |file: &String| Some(file.strip_prefix(&link.path)?.strip_prefix('/')?.to_owned());
        let files: Vec<String> = changed.iter().filter_map(inside).collect();
        changed.retain(|file| inside(file).is_none());
        for some in files.chunks(AT_ONCE) {
            let paths: Vec<String> = some.iter().map(|file| pathspec(file)).collect();
            text.push_str(&show_inner(git, &link, "", &paths)?);
        }
    }
    for some in changed.chunks(AT_ONCE) {
        let paths: Vec<String> = some.iter().map(|file| pathspec(file)).collect();
        text.push_str(&show(git, pair, &paths)?);
    }
    if text.is_empty() && count > 0 {
        return Err(GitError::new(format!(
            "git shows nothing of {count} changed file(s)"
        )));
    }
    Ok(text)
}

/// The older and the newer side of a diff.
type Sides<'s> = (&'s str, &'s str);

fn sides<'p>(pair: &'p Pair<'_>) -> Result<Sides<'p>, GitError> {
    Ok((&pair.base, pair.head.name()?))
}

/// The diff of some paths.
fn show(git: &Git, pair: &Pair<'_>, paths: &[String]) -> Result<String, GitError> {
    show_in(git, sides(pair)?, "", paths)
}

/// The diff of some paths of a repository whose files' names begin with `prefix`; of all if none
/// is named.
fn show_in(
    git: &Git,
    sides: Sides<'_>,
    prefix: &str,
    paths: &[String],
) -> Result<String, GitError> {
    let mut shown = git_diff(git, sides, prefix, &[], paths)?;
    let has = |shown: &[u8], begins: &[&[u8]]| {
        let mut lines = shown.split(|byte| *byte == b'\n');
        lines.any(|line| begins.iter().any(|begin| line.starts_with(begin)))
    };
    if has(&shown, &[b"Binary files "]) {
        // Attributes may say of any file that it is not a text. The reviewer sees it if it is.
        let mut texts = called_binary(git, sides, paths)?;
        texts.retain(|file| is_text(git, sides, file));
        if !texts.is_empty() {
            let besides = texts.iter().map(|file| format!(":(exclude,literal){file}"));
            let besides: Vec<String> = paths.iter().cloned().chain(besides).collect();
            let texts: Vec<String> = texts.iter().map(|file| pathspec(file)).collect();
            shown = git_diff(git, sides, prefix, &[], &besides)?;
            shown.extend(git_diff(git, sides, prefix, &["--text"], &texts)?);
        }
    }
    let mut text = String::from_utf8_lossy(&shown).into_owned();
    if has(&shown, &[b"+Subproject commit ", b"-Subproject commit "]) {
        for link in links(git, sides, paths)? {
            text.push_str(&show_inner(git, &link, prefix, &[])?);
        }
    }
    Ok(text)
}

/// What changed in an inner repository. Where it cannot be known since when, all of it is shown.
fn show_inner(git: &Git, link: &Link, prefix: &str, paths: &[String]) -> Result<String, GitError> {
    let inner = nested::at(git, &git.root().join(&link.path));
    let (Some(inner), Some(new)) = (inner, &link.new) else {
        return Ok(String::new());
    };
    let prefix = format!("{prefix}{}/", link.path);
    if let Some(old) = &link.old
        && let Ok(text) = show_in(&inner, (old, new), &prefix, paths)
    {
        return Ok(text);
    }
    let nothing = changes::empty_tree(&inner)?;
    show_in(&inner, (&nothing, new), &prefix, paths)
}

/// The inner repositories among some paths in which something changed.
fn links(git: &Git, sides: Sides<'_>, paths: &[String]) -> Result<Vec<Link>, GitError> {
    let options = ["--raw", "-z", "--no-abbrev", "--no-renames"];
    let raw = git_diff(git, sides, "", &options, paths)?;
    let changes = nested::read(&raw).into_iter();
    Ok(changes.filter_map(|change| change.link).collect())
}

fn git_diff(
    git: &Git,
    (old, new): Sides<'_>,
    prefix: &str,
    options: &[&str],
    paths: &[String],
) -> Result<Vec<u8>, GitError> {
    let prefixes = [
        format!("--src-prefix=a/{prefix}"),
        format!("--dst-prefix=b/{prefix}"),
    ];
    let args = [
        "diff",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=none",
        "--submodule=short",
        "--relative",
    ];
    let args = args
        .into_iter()
        .chain(prefixes.iter().map(String::as_str))
        .chain(options.iter().copied())
        .chain(["--end-of-options", old, new, "--"])
        .chain(paths.iter().map(String::as_str));
    git.ask(args).bytes()
}

/// The files among some paths that git shows no text of.
fn called_binary(git: &Git, sides: Sides<'_>, paths: &[String]) -> Result<Vec<String>, GitError> {
    let options = ["--numstat", "-z", "--no-renames"];
    let counted = git_diff(git, sides, "", &options, paths)?;
    let counted = String::from_utf8_lossy(&counted);
    let files = counted
        .split('\0')
        .filter_map(|line| line.strip_prefix("-\t-\t"));
    Ok(files.map(str::to_owned).collect())
}

/// Whether a file is text by git's own rule, whatever attributes say: there is no zero in its
/// beginning.
fn is_text(git: &Git, (old, new): Sides<'_>, file: &str) -> bool {
    /// Larger files are not reviewed.
    const MOST: u64 = 4 << 20;
    const BEGINNING: usize = 8000;
    let of_side = |side: &str| {
        let name = format!("{side}:./{file}");
        let size = git.ask(["cat-file", "-s", &name]).line().ok()?;
        size.parse().ok().filter(|size: &u64| *size <= MOST)?;
        let bytes = git.ask(["cat-file", "blob", &name]).bytes().ok()?;
        Some(!bytes.iter().take(BEGINNING).any(|byte| *byte == 0))
    };
    of_side(new).or_else(|| of_side(old)) == Some(true)
}

/// One file for git. What of its name is no UTF-8 was replaced; there git looks for anything.
fn pathspec(file: &str) -> String {
    if !file.contains(char::REPLACEMENT_CHARACTER) {
        return format!(":(literal){file}");
    }
    let mut glob = String::from(":(glob)");
    for c in file.chars() {
        match c {
            char::REPLACEMENT_CHARACTER => glob.push('*'),
            '*' | '?' | '[' | '\\' => glob.extend(['\\', c]),
            c => glob.push(c),
        }
    }
    glob
}
