//! Paths as text: joined and cleaned without asking the file system, and what `find` finds.

use super::word::{BELOW, DEEP, EXCEPT, HOLE, NAME, Word, activate, has};

/// Joins `path` to the absolute `dir` and removes `.`, `..` and doubled slashes. Marks for
/// unknown text are letters like any other, except that `..` after one makes it unknown.
pub(crate) fn join(dir: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let whole = if path.starts_with('/') {
        ["", path]
    } else {
        [dir, path]
    };
    for part in whole.iter().flat_map(|text| text.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let mut clean = String::with_capacity(dir.len() + path.len() + 1);
    for part in parts {
        clean.push('/');
        clean.push_str(part);
    }
    if clean.is_empty() {
        clean.push('/');
    }
    clean
}

/// Whether a path is below `/dev` and no file there keeps anything: all but shared memory, a directory
/// like any other.
pub(crate) fn is_device(path: &str) -> bool {
    path.starts_with("/dev/") && !path.starts_with("/dev/shm/")
}

/// A longer path is unknown: no system call takes it.
pub(crate) const MAX_PATH: usize = 4096;

/// The directory after a change to `to`; nothing when it is unknown.
pub(crate) fn changed(dir: Option<&str>, to: &Word) -> Option<String> {
    let to = to.literal()?;
    let dir = dir.or_else(|| to.starts_with('/').then_some("/"))?;
    Some(join(dir, to)).filter(|path| path.len() <= MAX_PATH)
}

/// Tests of `find` that let some files through, and it is unknown which.
const FILTERS: &str = "-size -empty -newer -mtime -mmin -atime -amin -ctime -cmin -perm -user -group \
    -uid -gid -regex -iregex -links -inum -samefile -xtype -readable -writable -executable -nouser \
    -nogroup -lname -newermt -newerct -newerat -anewer -cnewer -used -o -or -prune";

/// What `find` searches for.
#[derive(Default)]
struct Search<'w> {
    name: Option<&'w str>,
    path: Option<&'w str>,
    depth: Option<&'w str>,
    directories: bool,
    /// What is left out, as patterns over whole paths.
    except: Vec<String>,
    /// Whether something else is asked of the files.
    doubtful: bool,
}

impl<'w> Search<'w> {
    fn read(words: &'w [Word]) -> Self {
        let mut search = Self::default();
        for (at, word) in words.iter().enumerate() {
            let word_at = |at: usize| words.get(at).map_or("", Word::raw);
            let negated = at > 0 && matches!(word_at(at - 1), "!" | "-not");
            let value = word_at(at + 1);
            // `-path x -prune -o …` leaves out x and what is in it.
            let pruned = word_at(at + 2) == "-prune" && matches!(word_at(at + 3), "-o" | "-or");
            match word.raw() {
                "-name" | "-iname" if negated => search.except.push(any_depth(value)),
                "-name" | "-iname" if pruned => search.except.push(any_depth(value) + DEEP_TEXT),
                "-name" | "-iname" => search.name = Some(value),
                "-path" | "-wholename" if negated => search.except.push(crossing(value)),
                "-path" | "-wholename" if pruned => {
                    search.except.push(crossing(value) + DEEP_TEXT);
                }
                "-path" | "-wholename" => search.path = Some(value),
                "-maxdepth" => search.depth = Some(value),
                "-mindepth" => search.doubtful |= !matches!(value, "0" | "1"),
                "-type" => search.directories |= value != "f" || negated,
                "-prune" | "-o" | "-or" => {
                    let back = if word.raw() == "-prune" { 2 } else { 3 };
                    let tests = ["-name", "-iname", "-path", "-wholename"];
                    let known = at > back && tests.contains(&word_at(at - back));
                    search.doubtful |= !known;
                }
                test => search.doubtful |= negated || has(FILTERS, test),
            }
        }
        // Directories go with all that is in them, if anything can be said of their names.
        search.doubtful |= search.directories && search.name.is_none();
        search
    }
}

/// [`DEEP`], to be added to a text.
const DEEP_TEXT: &str = "\u{FDD5}";

/// A name as a pattern over whole paths.
pub(crate) fn any_depth(name: &str) -> String {
    let name: String = name.chars().map(activate).collect();
    format!("{DEEP}/{name}")
}

/// A pattern of `find -path`, where a star crosses directories.
fn crossing(path: &str) -> String {
    path.replace('*', DEEP_TEXT)
}

/// What `find` puts for `{}`: everything below the start, or what its tests let through. What they
/// leave out follows, each behind [`EXCEPT`].
pub(crate) fn found_path(start: &str, words: &[Word]) -> String {
    let search = Search::read(words);
    let name = search
        .name
        .map(|name| name.chars().map(activate).collect::<String>());
    // Behind the dot, unknown text would be a hidden name.
    let around = if start == "." { "./" } else { start };
    // A name is one component, at any depth or below the start only.
    let mut found = match (name, search.path, search.depth) {
        (Some(name), _, _) if search.doubtful => format!("{start}/{HOLE}{BELOW}{name}"),
        _ if search.doubtful => format!("{around}{HOLE}"),
        (Some(name), _, Some("1")) => format!("{start}/{name}"),
        (Some(name), _, _) => format!("{start}/{BELOW}{name}"),
        (None, Some(path), _) => crossing(path),
        (None, None, Some("0")) => start.to_owned(),
        (None, None, Some("1")) => format!("{start}/{NAME}"),
        (None, None, _) => format!("{start}/{DEEP}"),
    };
    for except in search.except {
        found.push(EXCEPT);
        found.push_str(&except);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn a_path_is_cleaned_like_realpath_would_without_links() {
        for (dir, path, expected) in [
            ("/a", "b", "/a/b"),
            ("/a", "./b//c/", "/a/b/c"),
            ("/a", "../b", "/b"),
            ("/a", "../../..", "/"),
            ("/a", "/x/./y", "/x/y"),
            ("/a", "", "/a"),
        ] {
            assert_eq!(join(dir, path), expected);
        }
    }
}
