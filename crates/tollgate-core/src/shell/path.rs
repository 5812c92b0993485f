//! Paths as text: joined and cleaned without asking the file system.

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
