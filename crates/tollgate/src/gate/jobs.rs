//! Which gates the changes call for. Pure: paths in, jobs out.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use tollgate_core::env::Env;

use super::config::{Check, Config, EntryPoint, EvidenceRules, Review, Words};
use crate::hash::hash;

/// One gate at one place.
#[derive(Clone, Debug)]
pub(crate) struct Job<'c> {
    /// `lint`; in the specification's home `check:src:lint` or `review:.:quality`
    pub(crate) id: String,
    /// The gate's name.
    pub(crate) name: &'c str,
    /// The path it guards here.
    pub(crate) entry_point: String,
    pub(crate) gate: Gate<'c>,
    /// The log's name without run number and ending.
    pub(crate) log_stem: String,
}

/// A gate with all that leads to it.
#[derive(Clone, Debug)]
pub(crate) struct Instance<'c> {
    pub(crate) job: Job<'c>,
    /// Each entry point that it guards, as it is on disk.
    pub(crate) places: Vec<(&'c EntryPoint, String)>,
}

/// A check or a review.
#[derive(Clone, Debug)]
pub(crate) enum Gate<'c> {
    /// A command that must succeed.
    Check {
        check: &'c Check,
        /// Where it is meant to run, relative to the root.
        directory: String,
    },
    /// An independent review.
    Review(&'c Review),
}

/// Which gates are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    All,
    Checks,
    Reviews,
}

/// Where the gates run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Site {
    Local,
    Ci,
}

impl Site {
    pub(crate) fn of(env: &Env) -> Self {
        if env.ci { Self::Ci } else { Self::Local }
    }

    /// Whether a gate that says where it runs does so here.
    pub(super) fn runs(self, in_ci: bool, locally: bool) -> bool {
        match self {
            Self::Ci => in_ci,
            Self::Local => locally,
        }
    }
}

impl Job<'_> {
    /// Whether it may run beside others.
    pub(crate) fn is_parallel(&self) -> bool {
        match &self.gate {
            Gate::Check { check, .. } => check.parallel,
            Gate::Review(review) => review.parallel,
        }
    }

    /// Whether its failure keeps others from starting.
    pub(crate) fn is_fail_fast(&self) -> bool {
        match &self.gate {
            Gate::Check { check, .. } => check.fail_fast,
            Gate::Review(_) => false,
        }
    }

    /// What two jobs are the same by: a check of two entry points in one directory is one check.
    fn key(&self) -> (&'static str, &str, &str) {
        match &self.gate {
            Gate::Check { directory, .. } => ("check", self.name, directory),
            Gate::Review(_) => ("review", &self.entry_point, self.name),
        }
    }

    fn own_key(&self) -> [String; 3] {
        <[&str; 3]>::from(self.key()).map(str::to_owned)
    }

    /// What its evidence is kept under, whichever entry point led to it.
    pub(crate) fn evidence_id(&self) -> String {
        match &self.gate {
            Gate::Check { directory, .. } => format!("check:{directory}:{}", self.name),
            Gate::Review(_) => format!("review:{}:{}", self.entry_point, self.name),
        }
    }

    /// How long its evidence counts.
    pub(crate) fn evidence_rules(&self) -> EvidenceRules {
        match &self.gate {
            Gate::Check { check, .. } => check.evidence,
            Gate::Review(review) => review.evidence,
        }
    }

    /// `check` or `review`.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.gate {
            Gate::Check { .. } => "check",
            Gate::Review(_) => "review",
        }
    }
}

/// The jobs for these changed paths, `.` first, then in the order of the configuration.
pub(crate) fn plan<'c>(
    config: &'c Config,
    changed: &[String],
    which: Which,
    site: Site,
) -> Vec<Job<'c>> {
    let mut jobs = Vec::new();
    for (entry, path) in active(config, changed) {
        add(config, entry, &path, which, site, &mut jobs);
    }
    tidy(jobs)
}

/// Every gate that can run at a site, with all that leads to it, in the order of the configuration,
/// `.` first.
pub(crate) fn instances(config: &Config, site: Site) -> Vec<Instance<'_>> {
    let mut entries: Vec<&EntryPoint> = config.entry_points.iter().collect();
    entries.sort_by_key(|entry| entry.path != ".");
    let mut all: Vec<Instance<'_>> = Vec::new();
    let mut known = HashMap::new();
    for entry in entries {
        for path in on_disk(&config.root, &entry.path) {
            let mut jobs = Vec::new();
            add(config, entry, &path, Which::All, site, &mut jobs);
            for job in jobs {
                let at = *known.entry(job.own_key()).or_insert(all.len());
                match all.get_mut(at) {
                    Some(known) => known.places.push((entry, path.clone())),
                    None => all.push(Instance {
                        job,
                        places: vec![(entry, path.clone())],
                    }),
                }
            }
        }
    }
    all
}

/// An entry point as it is on disk: each directory of `dir/*`, in the order of their names, and
/// nothing for a path that does not exist.
pub(crate) fn on_disk(root: &Path, entry: &str) -> Vec<String> {
    if let Some(parent) = each_directory(entry) {
        let entries = std::fs::read_dir(root.join(parent));
        let mut names: Vec<String> = entries
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.path().is_dir())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        let path = |name| format!("{parent}/{name}");
        return names.into_iter().map(path).collect();
    }
    if is_glob(entry) || root.join(entry).exists() {
        vec![entry.to_owned()]
    } else {
        Vec::new()
    }
}

/// Both lists, each job once. What is in both has the id that it has in `more`:
/// what failed under one id must not be looked for in vain because it passes under another.
pub(crate) fn union<'c>(mut jobs: Vec<Job<'c>>, more: Vec<Job<'c>>) -> Vec<Job<'c>> {
    let keyed = more.into_iter().map(|job| (job.own_key(), job));
    let mut ids: BTreeMap<_, _> = keyed.collect();
    for job in &mut jobs {
        if let Some(same) = ids.remove(&job.own_key()) {
            *job = same;
        }
    }
    jobs.extend(ids.into_values());
    tidy(jobs)
}

/// Entry points with what of them changed.
pub(crate) fn active<'c>(config: &'c Config, changed: &[String]) -> Vec<(&'c EntryPoint, String)> {
    let mut entries: Vec<&EntryPoint> = config.entry_points.iter().collect();
    entries.sort_by_key(|entry| entry.path != ".");
    let mut found = Vec::new();
    for entry in entries {
        let counts = |path: &&String| is_input(entry, path);
        let mut paths: Vec<&str> = changed
            .iter()
            .filter(counts)
            .filter_map(|path| matched(&entry.path, path))
            .collect();
        paths.sort_unstable();
        paths.dedup();
        found.extend(paths.into_iter().map(|path| (entry, path.to_owned())));
    }
    found
}

/// The entry point's path, if `file` is in it; for `dir/*`, the directory that it is in.
fn matched<'p>(entry: &'p str, file: &'p str) -> Option<&'p str> {
    if let Some(parent) = each_directory(entry) {
        // A plain file beside the directories is none of them.
        let below = file.strip_prefix(parent)?.strip_prefix('/')?;
        let (directory, _) = below.split_once('/')?;
        return file.get(..parent.len() + 1 + directory.len());
    }
    let takes = if is_glob(entry) {
        fast_glob::glob_match(entry, file)
    } else {
        entry == "." || is_below(file, entry)
    };
    takes.then_some(entry)
}

/// Whether a path is a directory or lies in it.
pub(super) fn is_below(path: &str, directory: &str) -> bool {
    let rest = path.strip_prefix(directory);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a changed file makes an entry point lead to this path.
pub(super) fn leads(entry: &EntryPoint, path: &str, file: &str) -> bool {
    is_input(entry, file) && matched(&entry.path, file) == Some(path)
}

/// Whether an entry point can have led to this path.
pub(super) fn covers(entry: &EntryPoint, path: &str) -> bool {
    entry.path == path
        || each_directory(&entry.path).is_some_and(|parent| {
            path.strip_prefix(parent)
                .and_then(|rest| rest.strip_prefix('/'))
                .is_some_and(|rest| !rest.contains('/'))
        })
}

/// The parent of `parent/*`.
pub(crate) fn each_directory(entry: &str) -> Option<&str> {
    entry
        .strip_suffix("/*")
        .filter(|parent| !parent.is_empty() && !is_glob(parent))
}

pub(crate) fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '[', '{'])
}

/// Whether a file counts: it is among the inputs, if any are named, and not excluded.
fn is_input(entry: &EntryPoint, file: &str) -> bool {
    (entry.inputs.is_empty() || holds(&entry.inputs, file)) && !holds(&entry.exclude, file)
}

/// Whether one of the globs or path prefixes holds for a file.
fn holds(patterns: &[String], file: &str) -> bool {
    patterns.iter().any(|pattern| {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        if is_glob(pattern) {
            fast_glob::glob_match(pattern, file)
        } else {
            is_below(file, pattern.trim_end_matches('/'))
        }
    })
}

fn add<'c>(
    config: &'c Config,
    entry: &'c EntryPoint,
    path: &str,
    which: Which,
    site: Site,
    jobs: &mut Vec<Job<'c>>,
) {
    let mut push = |kind: &str, name: &'c str, gate: Gate<'c>| {
        let place = format!("{kind}:{path}:{name}");
        jobs.push(Job {
            log_stem: stem(&place),
            id: match config.words {
                Words::Specification => place,
                // There is one gate of a name.
                Words::Own => name.to_owned(),
            },
            name,
            entry_point: path.to_owned(),
            gate,
        });
    };
    if which != Which::Reviews {
        for name in &entry.checks {
            if let Some(check) = config.checks.get(name)
                && site.runs(check.run_in_ci, check.run_locally)
            {
                let own = if is_glob(path) { "." } else { path };
                let directory = check.working_directory.clone();
                let directory = directory.unwrap_or_else(|| own.to_owned());
                push("check", name, Gate::Check { check, directory });
            }
        }
    }
    if which != Which::Checks {
        for name in &entry.reviews {
            if let Some(review) = config.reviews.get(name)
                && review.enabled
                && site.runs(review.run_in_ci, review.run_locally)
            {
                push("review", name, Gate::Review(review));
            }
        }
    }
}

/// Each job once, each with its own log.
fn tidy(mut jobs: Vec<Job<'_>>) -> Vec<Job<'_>> {
    let mut seen = HashSet::new();
    let is_first: Vec<bool> = jobs.iter().map(|job| seen.insert(job.key())).collect();
    let mut is_first = is_first.into_iter();
    jobs.retain(|_| is_first.next() == Some(true));
    let mut stems = HashSet::new();
    for job in &mut jobs {
        if !stems.insert(job.log_stem.clone()) {
            // `check:a_b:c` and `check:a:b_c` would share a file.
            job.log_stem = told_apart(&job.log_stem, &job.id);
            stems.insert(job.log_stem.clone());
        }
    }
    jobs
}

/// What the files of a job begin with: the same in every run, because a review finds its earlier
/// findings by it. Of a name beyond ASCII too little is left to know it by.
fn stem(id: &str) -> String {
    let stem = sanitised(id);
    if id.is_ascii() {
        stem
    } else {
        told_apart(&stem, id)
    }
}

fn told_apart(stem: &str, id: &str) -> String {
    format!("{stem}-{:04x}", hash(id) & 0xffff)
}

/// As the original names its files.
pub(crate) fn sanitised(id: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    id.replace(|c| !safe(c), "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, exclude: &[&str]) -> EntryPoint {
        EntryPoint {
            path: path.to_owned(),
            exclude: exclude.iter().map(|text| (*text).to_owned()).collect(),
            inputs: vec![],
            checks: vec![],
            reviews: vec![],
        }
    }

    #[test]
    fn entry_points_match_as_documented() {
        for (path, file, expected) in [
            (".", "a", Some(".")),
            ("src", "src/a.rs", Some("src")),
            ("src", "src2/a.rs", None),
            ("src", "src", Some("src")),
            ("packages/*", "packages/ui/x/y.ts", Some("packages/ui")),
            ("packages/*", "packages/README.md", None),
            ("src*", "src-gen", Some("src*")),
            ("*.md", "README.md", Some("*.md")),
            ("docs/**/*.md", "docs/a/b.md", Some("docs/**/*.md")),
            ("ünï", "ünï/f.txt", Some("ünï")),
        ] {
            assert_eq!(matched(path, file), expected, "{path} {file}");
        }
    }

    #[test]
    fn excluded_files_do_not_count() {
        let entry = entry("src", &["**/*.md", "src/generated", "./src/x/"]);
        for (file, excluded) in [
            ("src/a.md", true),
            ("src/generated/a.rs", true),
            ("src/generated2/a.rs", false),
            ("src/x/y", true),
            ("src/a.rs", false),
        ] {
            assert_eq!(!is_input(&entry, file), excluded, "{file}");
        }
    }
}
