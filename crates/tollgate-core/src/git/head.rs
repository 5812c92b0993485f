//! The repository a directory belongs to and the branch it is on, from files alone.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::Head;
use super::file::read;
use super::reference::packed_references;
use tollgate_store::fs::{canonical, read_tail};

/// How many symbolic branches are followed in a row.
const MAX_LINKS: usize = 5;
/// How much of the reflog is read.
pub(super) const REFLOG_TAIL: u64 = 256 * 1024;

/// A repository as seen from one of its work trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// The directory that holds `.git`.
    pub work_tree: PathBuf,
    /// Where this work tree's `HEAD` lies.
    pub git_dir: PathBuf,
    /// Where branches and configuration lie, shared by all work trees.
    pub common_dir: PathBuf,
    /// The text of `HEAD`, once it was read: it is not read again.
    head: OnceLock<Option<String>>,
}

impl Repository {
    /// The repository that `dir`, or the nearest directory above it, belongs to.
    pub fn discover(dir: &Path) -> Option<Self> {
        dir.ancestors().find_map(|work_tree| {
            let dot_git = work_tree.join(".git");
            Self::open(work_tree, &follow(&dot_git)?)
        })
    }

    /// The repository whose files lie in `git_dir`, as with `--git-dir`.
    pub fn at(git_dir: &Path, work_tree: &Path) -> Option<Self> {
        Self::open(work_tree, &follow(git_dir)?)
    }

    /// The one whose directories are known.
    pub fn of(work_tree: PathBuf, git_dir: PathBuf, common_dir: PathBuf) -> Self {
        Self {
            work_tree,
            git_dir,
            common_dir,
            head: OnceLock::new(),
        }
    }

    fn open(work_tree: &Path, git_dir: &Path) -> Option<Self> {
        let head = read(&git_dir.join("HEAD"))?;
        let common_dir = match read(&git_dir.join("commondir")) {
            Some(text) => git_dir.join(text.trim_end()),
            None => git_dir.to_owned(),
        };
        let common_dir = canonical(&common_dir).unwrap_or(common_dir);
        Some(Self {
            work_tree: work_tree.to_owned(),
            git_dir: git_dir.to_owned(),
            common_dir,
            head: OnceLock::from(Some(head)),
        })
    }

    /// What `HEAD` said when it was first asked, which is when the repository was discovered.
    pub(super) fn head_text(&self) -> Option<&str> {
        let text = self.head.get_or_init(|| read(&self.git_dir.join("HEAD")));
        text.as_deref()
    }

    /// The branch that is checked out in this work tree.
    pub fn head(&self) -> Head {
        let text = self.head_text();
        text.map_or(Head::None, |text| head_of(&self.git_dir.join("HEAD"), text))
    }

    /// The branch that a symbolic branch is a name of, through others that are; nothing when it
    /// is an ordinary branch.
    pub fn branch_behind(&self, name: &str) -> Option<String> {
        let mut found = None;
        for _ in 0..MAX_LINKS {
            let link = found.as_deref().unwrap_or(name);
            let file = self.common_dir.join("refs/heads").join(link);
            let text = Some(file)
                .filter(|_| is_ref_name(link))
                .and_then(|file| read(&file));
            let target = text.as_deref().and_then(|text| text.strip_prefix("ref:"));
            let Some(target) = target.and_then(|target| target.trim().strip_prefix("refs/heads/"))
            else {
                break;
            };
            found = Some(target.to_owned());
        }
        found
    }

    /// Whether a local branch of this name exists.
    pub fn branch_exists(&self, name: &str) -> bool {
        self.reference_exists(&format!("refs/heads/{name}"))
    }

    /// Whether a tag of this name exists.
    pub fn tag_exists(&self, name: &str) -> bool {
        self.reference_exists(&format!("refs/tags/{name}"))
    }

    /// Whether some remote is known to have a branch of this name, which `git checkout` then
    /// creates here.
    pub fn remote_branch_exists(&self, name: &str) -> bool {
        if !is_ref_name(name) {
            return false;
        }
        let remotes = std::fs::read_dir(self.common_dir.join("refs/remotes"));
        let loose = remotes
            .into_iter()
            .flatten()
            .flatten()
            .take(64)
            .any(|entry| is_reference(&entry.path().join(name)));
        loose
            || self.packed(|reference| {
                reference
                    .strip_prefix("refs/remotes/")
                    .and_then(|rest| rest.split_once('/'))
                    .is_some_and(|(_, branch)| branch == name)
            })
    }

    pub(super) fn reference_exists(&self, reference: &str) -> bool {
        is_ref_name(reference)
            && (is_reference(&self.common_dir.join(reference))
                || self.packed(|packed| packed == reference))
    }

    fn packed(&self, wanted: impl Fn(&str) -> bool) -> bool {
        let text = read(&self.common_dir.join("packed-refs")).unwrap_or_default();
        packed_references(&text).any(|(_, reference)| wanted(reference))
    }

    /// Whether both are work trees of one repository.
    pub fn same_repository(&self, other: &Self) -> bool {
        self.common_dir == other.common_dir
    }

    /// Whether the repository knows this linked work tree. What a `.git` file claims proves nothing: any
    /// archive may bring one.
    pub fn confirms_work_tree(&self) -> bool {
        let confirms = || {
            let git_dir = canonical(&self.git_dir)?;
            let back = self
                .git_dir
                .join(read(&self.git_dir.join("gitdir"))?.trim_end());
            let is_back = canonical(&back)? == canonical(&self.work_tree.join(".git"))?;
            Some(is_back && git_dir.starts_with(self.common_dir.join("worktrees")))
        };
        confirms() == Some(true)
    }

    /// Whether a branch is checked out in another work tree, which keeps it from being checked
    /// out here.
    pub fn checked_out_elsewhere(&self, name: &str) -> bool {
        let linked = std::fs::read_dir(self.common_dir.join("worktrees"));
        let others = linked
            .into_iter()
            .flatten()
            .flatten()
            .take(256)
            .map(|entry| entry.path());
        let wanted = format!("ref: refs/heads/{name}");
        std::iter::once(self.common_dir.clone())
            .chain(others)
            .any(|git_dir| {
                let mine =
                    git_dir == self.git_dir || canonical(&git_dir) == canonical(&self.git_dir);
                !mine && read(&git_dir.join("HEAD")).is_some_and(|text| text.trim_end() == wanted)
            })
    }

    /// What was checked out `back` switches ago: `git checkout -` goes back one.
    pub fn previous_branch(&self, back: usize) -> Option<String> {
        let text = read_tail(&self.git_dir.join("logs/HEAD"), REFLOG_TAIL)?;
        let mut switches = text.lines().rev().filter_map(|line| {
            line.split_once('\t')?
                .1
                .strip_prefix("checkout: moving from ")?
                .split_once(" to ")
        });
        Some(switches.nth(back.checked_sub(1)?)?.0.to_owned())
    }
}

/// What a `HEAD` with this text says.
fn head_of(file: &Path, text: &str) -> Head {
    let text = text.trim_end();
    match text.strip_prefix("ref:").map(str::trim) {
        Some("refs/heads/.invalid") => Head::AskGit,
        Some(reference) => match reference.strip_prefix("refs/heads/") {
            Some(name) if !name.is_empty() => Head::Branch(name.to_owned()),
            Some(_) => Head::None,
            // HEAD may point outside refs/heads; a commit then moves no branch.
            None if reference.starts_with("refs/") => Head::Detached,
            None => Head::None,
        },
        None => head_link(file).unwrap_or(if is_object_id(text) {
            Head::Detached
        } else {
            Head::None
        }),
    }
}

/// Old repositories keep `HEAD` as a symbolic link, whose text is then the branch's commit.
fn head_link(path: &Path) -> Option<Head> {
    let target = std::fs::read_link(path).ok()?;
    let name = target.strip_prefix("refs/heads").ok()?.to_str()?;
    Some(Head::Branch(name.to_owned()))
}

/// The directory a `.git` stands for: itself, or where a `gitdir:` file points.
fn follow(dot_git: &Path) -> Option<PathBuf> {
    let kind = std::fs::metadata(dot_git).ok()?;
    if kind.is_dir() {
        return Some(dot_git.to_owned());
    }
    let text = read(dot_git)?;
    let target = text.strip_prefix("gitdir:")?.trim();
    Some(dot_git.parent()?.join(target))
}

fn is_reference(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|kind| kind.is_file())
}

pub(super) fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The part of git's rules for names that keeps a name inside its directory.
pub(super) fn is_ref_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(['/', '-'])
        && !name.ends_with('/')
        && !name.contains("..")
        && !name.contains("//")
        && !name.contains("@{")
        && !name.contains(|letter: char| letter.is_control() || " ~^:?*[\\".contains(letter))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::git::Stands;

    /// A repository made of the files alone, so that odd shapes can be written down.
    fn repository(head: &str) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let git = dir.path().join(".git");
        fs::create_dir_all(git.join("refs/heads/feature")).unwrap();
        put(&git.join("HEAD"), head);
        put(
            &git.join("refs/heads/feature/x"),
            "0123456789012345678901234567890123456789\n",
        );
        put(
            &git.join("packed-refs"),
            "# pack-refs with: peeled\n0123456789012345678901234567890123456789 refs/heads/topic\n\
             0123456789012345678901234567890123456789 refs/remotes/origin/far\n",
        );
        dir
    }

    #[expect(clippy::disallowed_methods, reason = "a fixture, not state")]
    fn put(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn head_is_read_in_every_shape() {
        let branch = |name: &str| Head::Branch(name.to_owned());
        for (text, expected) in [
            ("ref: refs/heads/main\n", branch("main")),
            ("ref: refs/heads/feature/x\n", branch("feature/x")),
            ("ref:refs/heads/main", branch("main")),
            ("0123456789012345678901234567890123456789\n", Head::Detached),
            ("ref: refs/heads/.invalid\n", Head::AskGit),
            ("ref: refs/bisect/x\n", Head::Detached),
            ("garbage", Head::None),
            ("", Head::None),
        ] {
            let dir = repository(text);
            let sub = dir.path().join("a/b");
            fs::create_dir_all(&sub).unwrap();
            assert_eq!(
                Repository::discover(&sub).unwrap().head(),
                expected,
                "{text:?}"
            );
        }
    }

    #[test]
    fn branches_are_found_loose_and_packed() {
        let dir = repository("ref: refs/heads/main\n");
        let found = Repository::discover(dir.path()).unwrap();
        for (name, exists) in [
            ("topic", true),
            ("feature/x", true),
            ("feature", false),
            ("none", false),
            ("../HEAD", false),
        ] {
            assert_eq!(found.branch_exists(name), exists, "{name}");
        }
        assert!(found.remote_branch_exists("far"));
        assert!(!found.remote_branch_exists("topic"));
    }

    #[test]
    fn a_branch_is_found_at_the_end_of_a_large_packed_refs() {
        let dir = repository("ref: refs/heads/main\n");
        let id = "0123456789012345678901234567890123456789";
        let tags = (0..30_000).map(|tag| format!("{id} refs/tags/{tag}\n"));
        let packed = tags.chain([
            format!("{id} refs/heads/last\n"),
            format!("{id} refs/remotes/origin/furthest\n"),
        ]);
        put(
            &dir.path().join(".git/packed-refs"),
            &packed.collect::<String>(),
        );
        let found = Repository::discover(dir.path()).unwrap();
        assert!(found.branch_exists("last"));
        assert!(found.remote_branch_exists("furthest"));
        assert_eq!(found.packed_commit("last"), Stands::For(id.to_owned()));
    }

    #[test]
    fn the_reflog_tells_what_was_checked_out() {
        let dir = repository("ref: refs/heads/main\n");
        put(
            &dir.path().join(".git/logs/HEAD"),
            "0 1 a <a> 0 +0\tcheckout: moving from topic to main\n1 2 a <a> 0 +0\tmerge feature/y: Fast-forward\n",
        );
        let found = Repository::discover(dir.path()).unwrap();
        assert_eq!(found.previous_branch(1).as_deref(), Some("topic"));
    }

    #[test]
    fn a_fifo_is_no_repository_and_costs_no_time() {
        let dir = tempfile::tempdir().unwrap();
        let git = dir.path().join(".git");
        fs::create_dir_all(&git).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(
            rustix::fs::CWD,
            git.join("HEAD"),
            rustix::fs::FileType::Fifo,
            mode,
            0,
        )
        .unwrap();
        assert_eq!(Repository::discover(dir.path()), None);
    }
}
