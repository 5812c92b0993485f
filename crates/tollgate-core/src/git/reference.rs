//! The commit that a branch, or `HEAD`, stands for, from files alone.
//!
//! Only what the files say without doubt is answered. A name that could mean several things, a
//! tag, a reftable or a file that is too large is [`Stands::AskGit`].

use std::path::Path;

use super::file::{MAX, read};
use super::head::{Repository, is_object_id, is_ref_name};

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stands {
    /// This commit.
    For(String),
    /// Nothing: there is no such branch, or it has no commit yet.
    Nothing,
    /// Only git can say.
    AskGit,
}

/// References may point to references; more than a few is a circle.
const DEPTH: u32 = 5;

impl Repository {
    /// The commit that is checked out.
    pub fn head_commit(&self) -> Stands {
        match self.head_text() {
            Some(text) => self.follow_text(text, DEPTH),
            None => Stands::AskGit,
        }
    }

    /// The commit at the end of a branch, of ours or of a remote (`main`, `origin/main`).
    pub fn commit_of(&self, name: &str) -> Stands {
        match self.head_commit() {
            Stands::AskGit => Stands::AskGit,
            Stands::For(_) | Stands::Nothing => self.end_of(name),
        }
    }

    /// The same where references are files, as that of `HEAD` is.
    fn end_of(&self, name: &str) -> Stands {
        let is_there = |path: &Path| path.symlink_metadata().is_ok();
        let is_linked = self.git_dir != self.common_dir;
        // What git would try first, and what it takes for an object's name.
        let is_other = !is_ref_name(name)
            || name == "@"
            || name.bytes().all(|byte| byte.is_ascii_hexdigit())
            || is_there(&self.git_dir.join(name))
            || (is_linked && is_there(&self.common_dir.join(name)))
            || is_there(&self.common_dir.join("refs").join(name))
            || self.resolve_packed(&format!("refs/{name}")) != Stands::Nothing
            || self.tag_exists(name);
        if is_other {
            return Stands::AskGit;
        }
        let remote = format!("refs/remotes/{name}");
        for reference in [&format!("refs/heads/{name}"), &remote] {
            match self.resolve(reference, DEPTH) {
                Stands::Nothing => {}
                found @ (Stands::For(_) | Stands::AskGit) => return found,
            }
        }
        // A remote by its name stands for its `HEAD`, and a name may be one of `git describe`.
        match self.resolve(&format!("{remote}/HEAD"), DEPTH) {
            Stands::Nothing if !is_described(name) => Stands::Nothing,
            Stands::For(_) | Stands::Nothing | Stands::AskGit => Stands::AskGit,
        }
    }

    /// The commit at the end of a local branch, whatever else bears its name.
    pub fn branch_commit(&self, name: &str) -> Stands {
        if self.head_commit() == Stands::AskGit {
            return Stands::AskGit;
        }
        self.resolve(&format!("refs/heads/{name}"), DEPTH)
    }

    /// The commit that `packed-refs` has for a local branch, whether or not its own file goes
    /// before it.
    pub fn packed_commit(&self, name: &str) -> Stands {
        self.resolve_packed(&format!("refs/heads/{name}"))
    }

    fn follow_text(&self, text: &str, depth: u32) -> Stands {
        let text = text.trim_end();
        match text.strip_prefix("ref:").map(str::trim) {
            Some("refs/heads/.invalid") => Stands::AskGit,
            Some(reference) if depth > 0 => self.resolve(reference, depth - 1),
            Some(_) => Stands::AskGit,
            None if is_object_id(text) => Stands::For(text.to_ascii_lowercase()),
            None => Stands::AskGit,
        }
    }

    fn resolve(&self, reference: &str, depth: u32) -> Stands {
        if !reference.starts_with("refs/") || !is_ref_name(reference) {
            return Stands::AskGit;
        }
        // Some references belong to one work tree (`refs/bisect`, `refs/worktree`).
        let own = self.git_dir != self.common_dir && self.git_dir.join(reference).exists();
        if own {
            return Stands::AskGit;
        }
        if let Some(text) = read(&self.common_dir.join(reference)) {
            return self.follow_text(&text, depth);
        }
        self.resolve_packed(reference)
    }

    fn resolve_packed(&self, reference: &str) -> Stands {
        let path = self.common_dir.join("packed-refs");
        if path.metadata().is_ok_and(|meta| meta.len() > MAX) {
            return Stands::AskGit;
        }
        let packed = read(&path).unwrap_or_default();
        match packed_references(&packed).find(|(_, name)| *name == reference) {
            Some((id, _)) if is_object_id(id) => Stands::For(id.to_owned()),
            Some(_) => Stands::AskGit,
            None => Stands::Nothing,
        }
    }
}

/// Whether a name has the end that `git describe` gives to a commit.
fn is_described(name: &str) -> bool {
    let id = name.rsplit_once("-g").map_or("", |(_, id)| id);
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The lines of `packed-refs`: each object and the reference that points at it.
pub(super) fn packed_references(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines()
        .filter(|line| !line.starts_with(['#', '^']))
        .filter_map(|line| line.split_once(' '))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn git(dir: &Path, args: &[&str]) -> String {
        let output = Command::new("git")
            .arg("-C")
            .arg(dir)
            .args(["-c", "user.name=t", "-c", "user.email=t@t"])
            .args(args)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?} {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn repository() -> (tempfile::TempDir, Repository) {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "-q", "-b", "main"]);
        let repository = Repository::discover(dir.path()).unwrap();
        (dir, repository)
    }

    #[test]
    fn a_branch_is_followed_wherever_it_lies() {
        let (dir, repository) = repository();
        assert_eq!(repository.head_commit(), Stands::Nothing);
        assert_eq!(repository.commit_of("main"), Stands::Nothing);
        git(dir.path(), &["commit", "-q", "--allow-empty", "-m", "1"]);
        let first = Stands::For(git(dir.path(), &["rev-parse", "HEAD"]));
        git(
            dir.path(),
            &["update-ref", "refs/remotes/origin/main", "HEAD"],
        );
        git(dir.path(), &["checkout", "-q", "-b", "feature/x"]);
        git(dir.path(), &["commit", "-q", "--allow-empty", "-m", "2"]);
        let second = Stands::For(git(dir.path(), &["rev-parse", "HEAD"]));
        let repository = Repository::discover(dir.path()).unwrap();
        for round in 0..2 {
            assert_eq!(repository.head_commit(), second, "{round}");
            assert_eq!(repository.commit_of("main"), first, "{round}");
            assert_eq!(repository.commit_of("origin/main"), first, "{round}");
            assert_eq!(repository.commit_of("feature/x"), second, "{round}");
            assert_eq!(repository.branch_commit("main"), first, "{round}");
            let packed = if round == 0 {
                Stands::Nothing
            } else {
                first.clone()
            };
            assert_eq!(repository.packed_commit("main"), packed, "{round}");
            git(dir.path(), &["pack-refs", "--all"]);
        }
        let linked = dir.path().join("linked");
        let path = linked.to_str().unwrap();
        git(
            dir.path(),
            &["worktree", "add", "-q", "--detach", path, "main"],
        );
        let linked = Repository::discover(&linked).unwrap();
        assert_eq!(linked.head_commit(), first);
        assert_eq!(linked.commit_of("feature/x"), second);
    }

    #[test]
    fn what_could_mean_something_else_is_gits_to_say() {
        let (dir, repository) = repository();
        git(dir.path(), &["commit", "-q", "--allow-empty", "-m", "1"]);
        git(dir.path(), &["tag", "v1"]);
        git(dir.path(), &["branch", "v1"]);
        git(dir.path(), &["branch", "abc123"]);
        git(
            dir.path(),
            &["symbolic-ref", "refs/remotes/up/HEAD", "refs/heads/v1"],
        );
        for name in [
            "v1",
            "v1-0-gabc123",
            "up",
            "abc123",
            "HEAD",
            "main~1",
            "main@{1}",
            "@",
            "",
            "../main",
            "-x",
            "refs/heads/main",
        ] {
            assert_eq!(repository.commit_of(name), Stands::AskGit, "{name}");
        }
        git(dir.path(), &["pack-refs", "--all"]);
        for name in ["heads/main", "v1", "up"] {
            assert_eq!(repository.commit_of(name), Stands::AskGit, "{name}");
        }
        for name in ["nowhere", "origin/main", "a-gate"] {
            assert_eq!(repository.commit_of(name), Stands::Nothing, "{name}");
        }
        // Where it is known to be a branch's name, a tag of the same name does not matter.
        let first = Stands::For(git(dir.path(), &["rev-parse", "HEAD"]));
        assert_eq!(repository.branch_commit("v1"), first);
        assert_eq!(repository.branch_commit("nowhere"), Stands::Nothing);
        assert_eq!(repository.branch_commit("../main"), Stands::AskGit);
    }
}
