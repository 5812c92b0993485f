//! Patterns of a rule: paths as `.gitignore` has them, and words in which `*` stands for any text.
//!
//! A compiled pattern begins with `+` or, where it takes out of what those before it cover, with `-`.
//! Then comes a glob: from the project's root on, or with `/` or `~/` in front from there on.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use tollgate_shell::{Covers, Extent, Gap, Target};

/// Whether something is covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Matched {
    /// It is not.
    No,
    /// It could be, but a part of it is unknown.
    Unknown,
    /// It is.
    Yes,
}

/// What paths are compared with: where the project and the person's home are, and how the file
/// system has them.
pub struct Places<'p> {
    /// The project's root.
    pub root: &'p Path,
    /// The same through its links.
    pub real_root: &'p Path,
    /// The person's home.
    pub home: Option<&'p Path>,
    /// Whether names that differ in case alone are the same here.
    pub folds: bool,
    /// A path through the links of its directories.
    pub real: &'p dyn Fn(&Path) -> PathBuf,
    /// Whether there is a file, in which nothing can lie.
    pub is_file: &'p dyn Fn(&Path) -> bool,
    /// What patterns see of the paths that were asked about, found once for all rules.
    pub seen: SeenPaths,
}

/// The forms of paths that patterns were compared with.
#[derive(Default)]
pub struct SeenPaths(RefCell<Vec<(Target, Rc<[Form]>)>>);

/// A path as patterns see it.
struct Form {
    absolute: String,
    /// From the root on; none outside of the project.
    relative: Option<String>,
    /// Whether it is all there is: no glob, and nothing below it.
    is_one: bool,
}

/// The pattern of a rule, as it is written, in its compiled form.
pub fn compiled(pattern: &str) -> String {
    let (sign, bare) = match pattern.strip_prefix('!') {
        Some(rest) => ('-', rest),
        None => ('+', pattern),
    };
    let bare = if bare == "/" {
        "/**"
    } else {
        bare.trim_end_matches('/')
    };
    let glob = if bare.starts_with('/') || bare.starts_with("~/") || bare == "~" {
        bare.to_owned()
    } else if let Some(anchored) = bare.strip_prefix("./") {
        anchored.to_owned()
    } else if bare.contains('/') || bare == "**" {
        bare.to_owned()
    } else {
        format!("**/{bare}")
    };
    format!("{sign}{glob}")
}

/// Whether a target is covered by a list of compiled patterns, and the one that decided it. The
/// last that matches counts.
pub fn covered(
    patterns: &[String],
    target: &Target,
    places: &Places<'_>,
) -> (Matched, Option<String>) {
    let mut best = (Matched::No, None);
    for form in &*places.seen(target) {
        let mut found = (Matched::No, None);
        for pattern in patterns {
            let (sign, glob) = pattern.split_at(1);
            let matched = places.matches(glob, form, target, sign == "-");
            if sign == "-" {
                if matched == Matched::Yes {
                    found = (Matched::No, None);
                }
            } else if matched > found.0 {
                found = (matched, Some(glob.to_owned()));
            }
        }
        if found.0 > best.0 {
            best = found;
        }
    }
    if best.0 == Matched::No && target.directory().is_none() {
        // Not even where it is is known.
        let first = patterns
            .iter()
            .find_map(|pattern| pattern.strip_prefix('+'));
        return (Matched::Unknown, first.map(str::to_owned));
    }
    best
}

impl Places<'_> {
    fn seen(&self, target: &Target) -> Rc<[Form]> {
        let known = |(one, forms): &(Target, Rc<[Form]>)| (one == target).then(|| Rc::clone(forms));
        if let Some(forms) = self.seen.0.borrow().iter().find_map(known) {
            return forms;
        }
        let forms: Rc<[Form]> = self.forms(target).into();
        let seen = (target.clone(), Rc::clone(&forms));
        self.seen.0.borrow_mut().push(seen);
        forms
    }

    /// The path itself, and where links on the way to it lead. A glob or unknown text is stood for by
    /// an unused name.
    fn forms(&self, target: &Target) -> Vec<Form> {
        let Some(directory) = target.directory() else {
            return Vec::new();
        };
        let glob = target.glob();
        let is_root = [self.root, self.real_root].contains(&Path::new(directory));
        let sample = match target.gap() {
            // Something in it, whatever that is.
            Gap::None if target.extent() == Extent::Within && !is_root => format!("{glob}/{ANY}"),
            Gap::None => glob,
            Gap::Glob | Gap::Unknown => sample(&glob),
        };
        let real = (self.real)(Path::new(directory));
        let rest = sample.strip_prefix(directory).unwrap_or_default();
        let real = format!("{}{rest}", real.display());
        let is_one = target.gap() == Gap::None && target.extent() == Extent::Path;
        let mut forms = vec![self.form(sample, is_one)];
        if forms.iter().all(|form| form.absolute != real) {
            forms.push(self.form(real, is_one));
        }
        forms
    }

    fn form(&self, absolute: String, is_one: bool) -> Form {
        let path = Path::new(&absolute);
        let mut inside = [self.root, self.real_root]
            .into_iter()
            .filter_map(|root| path.strip_prefix(root).ok());
        let relative = inside
            .next()
            .map(|path| path.to_string_lossy().into_owned());
        Form {
            absolute,
            relative,
            is_one,
        }
    }

    fn matches(&self, glob: &str, form: &Form, target: &Target, is_negated: bool) -> Matched {
        let is_tree = target.extent() == Extent::Tree;
        let expanded;
        let (glob, path) = if let Some(below) = glob.strip_prefix('~') {
            let Some(home) = self.home else {
                return Matched::No;
            };
            expanded = format!("{}{below}", home.display());
            (expanded.as_str(), Some(form.absolute.as_str()))
        } else if glob.starts_with('/') {
            (glob, Some(form.absolute.as_str()))
        } else {
            (glob, form.relative.as_deref())
        };
        if let Some(path) = path {
            let path = path.trim_start_matches('/');
            let glob = glob.trim_start_matches('/');
            let around = glob.strip_suffix("/**").filter(|_| is_tree);
            let is_in = if path.is_empty() {
                // The root itself: all, or something, that is in it.
                target.extent() != Extent::Path && is_negated && glob == "**"
            } else {
                self.holds(glob, path) || around.is_some_and(|glob| self.is_same(glob, path))
            };
            if is_in {
                return Matched::Yes;
            }
        }
        if is_negated || form.is_one {
            return Matched::No;
        }
        self.reaches(glob, target)
    }

    /// Whether a target that is not covered itself covers what the pattern names.
    fn reaches(&self, glob: &str, target: &Target) -> Matched {
        let is_tree = target.extent() == Extent::Tree;
        let named = named_part(glob);
        let is_literal = named.len() == glob.trim_end_matches('/').len();
        let whole = if glob.starts_with('/') {
            Path::new("/").join(named)
        } else if named.is_empty() {
            // Joined with nothing, it would end with a slash.
            self.root.to_owned()
        } else {
            self.root.join(named)
        };
        // Of a name at any depth, the one beside what the target names is tried.
        let beside = glob
            .strip_prefix("**/")
            .filter(|name| named_part(name) == *name);
        let beside = beside.zip(target.directory());
        let beside = beside.map(|(name, directory)| Path::new(directory).join(name));
        let of_whole = (is_tree || is_literal && !named.is_empty()).then_some(whole);
        let tried = of_whole
            .into_iter()
            .chain(beside.filter(|_| target.gap() != Gap::None));
        let found = tried.filter_map(|path| Some(target.covers(path.to_str()?)));
        match found.max_by_key(|found| *found as u8) {
            Some(Covers::Yes) => Matched::Yes,
            Some(Covers::Perhaps) => Matched::Unknown,
            Some(Covers::No) | None => self.lies_in(glob, target),
        }
    }

    /// Whether what a target leaves open may be something in the directory that a pattern names:
    /// `db/migr*/1.sql`, all that `find db -name '*.sql'` finds, and an archive that is unpacked in `db`,
    /// of `db/migrations/**`. What goes through the whole project is about no part of it.
    fn lies_in(&self, glob: &str, target: &Target) -> Matched {
        let named = named_part(glob);
        let is_named = !named.is_empty() && !glob.starts_with(['/', '~']);
        let is_open = target.gap() != Gap::None || target.extent() == Extent::Within;
        let is_literal = named.len() == glob.trim_end_matches('/').len();
        let is_file = || is_literal && (self.is_file)(&self.root.join(named));
        if !is_named || !is_open || is_file() {
            return Matched::No;
        }
        let whole = target.glob();
        let below = target.directory().map(Path::new);
        let is_part = below.is_some_and(|below| below != self.root && below.starts_with(self.root));
        let goes_deep = target.extent() == Extent::Within || whole.contains("**");
        let is_all = target.gap() != Gap::Unknown && goes_deep && !is_part;
        if is_all {
            return Matched::No;
        }
        let name = match target.extent() {
            Extent::Within => "*",
            Extent::Path | Extent::Tree => whole.rsplit('/').next().unwrap_or("*"),
        };
        let inside = format!("{named}/{}", sample(name));
        if !self.holds(glob, &inside) {
            return Matched::No;
        }
        match self
            .root
            .join(&inside)
            .to_str()
            .map(|path| target.covers(path))
        {
            Some(Covers::Yes) => Matched::Yes,
            Some(Covers::Perhaps) => Matched::Unknown,
            Some(Covers::No) | None => Matched::No,
        }
    }

    /// Whether the glob matches the path, or a directory that it lies in.
    fn holds(&self, glob: &str, path: &str) -> bool {
        if self.is_same(glob, path) {
            return true;
        }
        !glob.ends_with("/**")
            && Path::new(path)
                .ancestors()
                .skip(1)
                .filter_map(Path::to_str)
                .any(|above| !above.is_empty() && self.is_same(glob, above))
    }

    fn is_same(&self, glob: &str, path: &str) -> bool {
        if self.folds {
            fast_glob::glob_match(glob.to_lowercase(), path.to_lowercase())
        } else {
            fast_glob::glob_match(glob, path)
        }
    }
}

/// A name that nothing has.
pub(super) const ANY: &str = "__any__";

/// A path that a glob could stand for.
fn sample(glob: &str) -> String {
    let mut path = String::with_capacity(glob.len());
    let mut letters = glob.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '*' => {
                while letters.next_if_eq(&'*').is_some() {}
                path.push_str(ANY);
            }
            '?' => path.push('_'),
            other => path.push(other),
        }
    }
    path
}

/// What of a glob is literal: its leading components without a sign.
fn named_part(glob: &str) -> &str {
    let is_sign = |c: char| matches!(c, '*' | '?' | '[' | '{' | '\\' | '!');
    match glob.find(is_sign) {
        None => glob,
        Some(at) => {
            let (known, _) = glob.split_at(at);
            known
                .rsplit_once('/')
                .map_or("", |(directory, _)| directory)
        }
    }
}

/// Whether a word is like a pattern, in which `*` stands for any text.
pub fn is_like(pattern: &str, word: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = word.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some((_, behind)) = rest.split_once(part) else {
            return false;
        };
        rest = behind;
    }
    rest.ends_with(last)
}

/// Whether a word is in a list of them, of which the last that is like it counts; `!` takes out.
/// What is not known may be.
pub(super) fn is_listed(patterns: &[String], word: Option<&str>) -> (Matched, Option<String>) {
    let Some(word) = word else {
        let first = patterns.iter().find(|pattern| !pattern.starts_with('!'));
        // `*` is for whatever it is.
        let is_any = patterns.len() == 1 && first.is_some_and(|pattern| pattern == "*");
        let matched = if is_any {
            Matched::Yes
        } else {
            Matched::Unknown
        };
        return (matched, first.cloned());
    };
    let mut found = (Matched::No, None);
    for pattern in patterns {
        match pattern.strip_prefix('!') {
            Some(out) if is_like(out, word) => found = (Matched::No, None),
            None if is_like(pattern, word) => found = (Matched::Yes, Some(pattern.clone())),
            Some(_) | None => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_shell::Action;

    fn places(folds: bool) -> Places<'static> {
        Places {
            root: Path::new("/p"),
            real_root: Path::new("/p"),
            home: Some(Path::new("/home/ada")),
            folds,
            real: &|path| path.to_owned(),
            is_file: &|path| path == Path::new("/p/config/prod.yaml"),
            seen: SeenPaths::default(),
        }
    }

    fn found(patterns: &[&str], target: &Target) -> Matched {
        let patterns: Vec<_> = patterns.iter().map(|pattern| compiled(pattern)).collect();
        covered(&patterns, target, &places(false)).0
    }

    #[test]
    fn files_are_covered_as_git_ignores_them() {
        for (patterns, path, expected) in [
            (&["db/migrations/**"][..], "/p/db/migrations/1.sql", true),
            (&["db/migrations/**"], "/p/db/migrations2/1.sql", false),
            (&["db/migrations"], "/p/db/migrations/a/1.sql", true),
            (&["db/migrations/"], "/p/db/migrations/a/1.sql", true),
            (&["*.sql"], "/p/a/b.sql", true),
            (&["./*.sql"], "/p/a/b.sql", false),
            (&["./*.sql"], "/p/b.sql", true),
            (&[".env"], "/p/web/.env", true),
            (&[".env"], "/p/web/.env.example", false),
            (&[".env"], "/other/.env", false),
            (&["/etc/**"], "/etc/passwd", true),
            (&["/etc/**"], "/p/etc/passwd", false),
            (&["~/.ssh/**"], "/home/ada/.ssh/id", true),
            (&["~/.ssh/**"], "/home/bob/.ssh/id", false),
            (&["**", "!build/**"], "/p/build/x", false),
            (&["**", "!build/**"], "/p/src/x", true),
            (&["**", "!build/**", "build/keep"], "/p/build/keep", true),
            (&["/**", "!./**"], "/p/src/x", false),
            (&["/**", "!./**"], "/var/x", true),
            (&["**"], "/var/x", false),
        ] {
            let matched = found(patterns, &Target::file(path));
            assert_eq!(matched == Matched::Yes, expected, "{patterns:?} {path}");
        }
    }

    #[test]
    fn a_tree_covers_what_lies_in_it() {
        for (patterns, path, expected) in [
            (&["db/migrations/**"][..], "/p/db", true),
            (&["db/migrations/**"], "/p/db/migrations", true),
            (&["db/migrations/*.sql"], "/p/db", true),
            (&["db/migrations/**"], "/p", true),
            (&["db/migrations/**"], "/", true),
            (&["db/migrations/**"], "/p/src", false),
            (&["*.sql"], "/p", true),
            (&["*.sql"], "/p/src", false),
            (&["**", "!build/**"], "/p/build", false),
            (&["**", "!build/**"], "/p/builds", true),
            (&["/**", "!./**"], "/p/x", false),
            (&["/**", "!./**"], "/p", false),
            (&["/**", "!./**"], "/", true),
            (&["/**", "!./**"], "/home/ada", true),
        ] {
            let matched = found(patterns, &Target::tree(path));
            assert_eq!(matched == Matched::Yes, expected, "{patterns:?} {path}");
        }
    }

    /// What a command in `/p` writes or removes first.
    fn target_of(command: &str) -> Target {
        let unknown = tollgate_shell::World::unknown();
        let world = unknown.at(Some(Path::new("/p")));
        let effects = tollgate_shell::effects(&tollgate_shell::survey(command, &world), &world);
        let mut targets = effects
            .into_iter()
            .filter_map(|effect| match effect.action {
                Action::Write(target) | Action::Delete(target) => Some(target),
                Action::Read(_)
                | Action::Run { .. }
                | Action::Fetch { .. }
                | Action::Commit { .. }
                | Action::Push { .. }
                | Action::Opaque => None,
            });
        targets.next().unwrap()
    }

    #[test]
    fn globs_and_unpacked_archives_are_covered_where_they_reach() {
        const HISTORY: &[&str] = &["db/migrations/**"];
        const PROD: &[&str] = &["config/prod.yaml"];
        for (patterns, command, expected) in [
            (HISTORY, "rm db/migr*/1.sql", Matched::Yes),
            (HISTORY, "rm */migrations/1.sql", Matched::Yes),
            (HISTORY, "find db -name '*.sql' -delete", Matched::Yes),
            (HISTORY, "find db -type f -delete", Matched::Yes),
            (HISTORY, "find db -maxdepth 2 -type f -delete", Matched::Yes),
            (HISTORY, "find ./db -type f | xargs rm", Matched::Yes),
            (HISTORY, "find dbs -type f -delete", Matched::No),
            (HISTORY, "find d -type f -delete", Matched::No),
            (HISTORY, "find . -type f -delete", Matched::No),
            (HISTORY, "tar -xf x.tar -C db/migrations", Matched::Yes),
            (HISTORY, "tar -xf x.tar -C db", Matched::Unknown),
            (HISTORY, "rm \"db/$X\"", Matched::Unknown),
            (HISTORY, "rm db/s*/1.sql", Matched::No),
            (HISTORY, "tar -xf x.tar -C dbs", Matched::No),
            // What goes through all of the project is about no part of it.
            (HISTORY, "find . -name '*.pyc' -delete", Matched::No),
            (HISTORY, "git checkout other -- .", Matched::No),
            // Nothing lies in a file.
            (PROD, "find config -name '*.bak' -delete", Matched::No),
            (
                PROD,
                "find config -type f -newer x -delete",
                Matched::Unknown,
            ),
            (PROD, "find config -name '*.yaml' -delete", Matched::Yes),
            (PROD, "rm \"config/$X/a\"", Matched::No),
            (&["config/prod"], "rm con*/prod/a", Matched::Yes),
            (
                &["db/migrations/*.sql"],
                "find db -name '*.pyc' -delete",
                Matched::No,
            ),
            (&["**", "!build/**"], "tar -xf x.tar -C build", Matched::No),
            (&["/**", "!./**"], "git switch topic", Matched::No),
            (&["/**", "!./**"], "tar -xf x.tar", Matched::No),
            (&["/**", "!./**"], "tar -xf x.tar -C /opt", Matched::Yes),
        ] {
            assert_eq!(
                found(patterns, &target_of(command)),
                expected,
                "{patterns:?} {command}"
            );
        }
    }

    #[test]
    fn case_counts_as_the_file_system_has_it() {
        let patterns = [compiled("db/Migrations/**")];
        let file = Target::file("/p/DB/migrations/1.sql");
        assert_eq!(covered(&patterns, &file, &places(false)).0, Matched::No);
        assert_eq!(covered(&patterns, &file, &places(true)).0, Matched::Yes);
    }

    #[test]
    fn a_star_in_a_word_stands_for_any_text() {
        for (pattern, word, expected) in [
            ("main", "main", true),
            ("main", "mains", false),
            ("release/*", "release/1/x", true),
            ("*.example.com", "a.b.example.com", true),
            ("*.example.com", "example.com", false),
            ("*", "", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c", false),
            ("a*a", "a", false),
        ] {
            assert_eq!(is_like(pattern, word), expected, "{pattern} {word}");
        }
    }
}
