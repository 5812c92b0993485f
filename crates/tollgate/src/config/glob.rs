//! Patterns of paths, read as git reads those in `.gitignore`: a pattern without a slash holds at
//! every depth, one with a slash from the gate's directory on, and one that names a directory
//! holds for all that is in it.

/// Longer ones are not expected.
const LONGEST: usize = 1000;

/// Into how many plain patterns its braces may unfold one: each is tried for each file.
const MOST_UNFOLDED: usize = 256;

/// What is wrong with a pattern, and what to do about it.
pub(crate) fn check(pattern: &str) -> Result<(), (String, &'static str)> {
    let wrong = |what: &str, fix| Err((what.to_owned(), fix));
    if pattern.trim().is_empty() {
        return wrong("the pattern is empty", "write `**` for every file");
    }
    if pattern.len() > LONGEST {
        return wrong("the pattern is too long", "use several shorter ones");
    }
    if pattern.starts_with('!') {
        let fix = "name what does not count in `exclude`";
        return wrong("a pattern cannot be negated here", fix);
    }
    if pattern.split('/').any(|part| part == "..") {
        let fix = "write it relative to the gate's directory";
        return wrong("a pattern cannot leave its directory", fix);
    }
    if unfolded(pattern) > MOST_UNFOLDED {
        let fix = "use several simpler ones";
        return wrong("the pattern's braces stand for too many others", fix);
    }
    let fix = "put `\\\\` in front of a character that stands for itself";
    fast_glob::validate(pattern).map_err(|error| {
        let error = error.to_string();
        let what = error.split(" (").next().unwrap_or_default();
        (what.to_owned(), fix)
    })
}

/// The same for a pattern of a rule, which may be negated, and may begin with `/` or `~/`.
pub(crate) fn check_rule(pattern: &str) -> Result<(), (String, &'static str)> {
    let bare = pattern.strip_prefix('!').unwrap_or(pattern);
    if bare.starts_with('~') && bare != "~" && !bare.starts_with("~/") {
        let fix = "write `~/` for the home directory, `./~` for a file of that name";
        return Err((
            "only `~`, your own home directory, is supported".to_owned(),
            fix,
        ));
    }
    if bare.starts_with('!') {
        return Err(("the pattern is negated twice".to_owned(), "remove one `!`"));
    }
    if bare.split('/').any(|part| part == "..") {
        let fix = "write it relative to the project's root, or from `/` or `~/`";
        return Err(("a pattern cannot contain `..`".to_owned(), fix));
    }
    check(bare)
}

/// How many plain patterns one with braces stands for, at most.
fn unfolded(pattern: &str) -> usize {
    let groups = pattern.split('{').skip(1);
    groups
        .map(|group| 1 + group.matches(',').count())
        .fold(1, usize::saturating_mul)
}

/// The pattern from the project's root on, in the words of [`fast_glob`], for files in `dir`.
pub(crate) fn rooted(dir: &str, pattern: &str) -> [String; 2] {
    let inside = pattern.trim_end_matches('/');
    let inside = inside.strip_prefix("./").unwrap_or(inside);
    let is_anchored = inside.contains('/');
    let inside = inside.trim_start_matches('/');
    let depth = if is_anchored { "" } else { "**/" };
    let above = match dir {
        "." => String::new(),
        dir => format!("{}/", escaped(dir)),
    };
    let itself = format!("{above}{depth}{inside}");
    let below = format!("{itself}/**");
    [itself, below]
}

/// A path in which nothing stands for anything else.
fn escaped(path: &str) -> String {
    let mut text = String::new();
    for c in path.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!') {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_gitignore() {
        for (dir, pattern, file, expected) in [
            (".", "src/**", "src/a/b.rs", true),
            (".", "src/**", "web/src/a.rs", false),
            (".", "Cargo.*", "Cargo.toml", true),
            (".", "*.rs", "src/a/b.rs", true),
            (".", "/*.rs", "src/b.rs", false),
            (".", "/*.rs", "b.rs", true),
            (".", "target", "a/target/x/y", true),
            (".", "target/", "target/x", true),
            (".", "src", "src/a.rs", true),
            (".", "src/gen", "src/gen/x.rs", true),
            (".", "src/gen", "src/gen2/x.rs", false),
            (".", "{a,b}.md", "docs/b.md", true),
            (".", "**", "x/y/z", true),
            ("web", "src/**", "web/src/a.ts", true),
            ("web", "src/**", "src/a.ts", false),
            ("web", "*.ts", "web/a/b.ts", true),
            ("web", "*.ts", "a.ts", false),
            ("app/[id]", "*.ts", "app/[id]/x.ts", true),
            ("app/[id]", "*.ts", "app/i/x.ts", false),
        ] {
            let found = rooted(dir, pattern)
                .iter()
                .any(|glob| fast_glob::glob_match(glob, file));
            assert_eq!(found, expected, "{dir} {pattern} {file}");
        }
    }

    #[test]
    fn hostile_patterns_are_refused() {
        let many = "{a,b,c,d,e}".repeat(9);
        let long = "a".repeat(2000);
        let deep = "{".repeat(50);
        let bad = ["", " ", "!x", "../x", "a/../b", "[a", "{a", "a\\"];
        for bad in bad.into_iter().chain([many.as_str(), &long, &deep]) {
            assert!(check(bad).is_err(), "{bad}");
        }
        for good in ["**", "src/**/*.{rs,toml}", "a b", "[!a]*", "\\[x\\]"] {
            assert!(check(good).is_ok(), "{good}");
        }
    }
}
