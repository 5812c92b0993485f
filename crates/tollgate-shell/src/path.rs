//! Paths as text: joined and cleaned without asking the file system, and what `find` finds.

use super::word::{BELOW, DEEP, HOLE, Word, activate};

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

/// A longer path is unknown: no system call takes it.
const MAX_PATH: usize = 4096;

/// The directory after a change to `to`; nothing when it is unknown.
pub(crate) fn changed(dir: Option<&str>, to: &Word) -> Option<String> {
    let to = to.literal()?;
    let dir = dir.or_else(|| to.starts_with('/').then_some("/"))?;
    Some(join(dir, to)).filter(|path| path.len() <= MAX_PATH)
}

/// Whether a word of `find` takes files out of what its tests let through, or tells cases apart.
fn excludes(word: &Word) -> bool {
    matches!(word.raw(), "-not" | "!" | "-prune" | "-o" | "-or")
}

/// What `find` puts for `{}`: everything below the start, or what its name test lets through.
pub(crate) fn found_path(start: &str, words: &[Word]) -> String {
    if words.iter().any(excludes) {
        return format!("{start}{HOLE}");
    }
    let value = |option: &str| {
        let at = words.iter().position(|word| word.raw() == option)?;
        Some(words.get(at + 1)?.raw())
    };
    if value("-type") == Some("d") {
        return format!("{start}{HOLE}");
    }
    let every = DEEP.encode_utf8(&mut [0; 4]).to_owned();
    if let Some(name) = value("-name").or_else(|| value("-iname")) {
        // A name is one component, at any depth.
        let name: String = name.chars().map(activate).collect();
        return format!("{start}/{BELOW}{name}");
    }
    match value("-path").or_else(|| value("-wholename")) {
        Some(path) => path.replace('*', &every),
        None => format!("{start}{every}"),
    }
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
