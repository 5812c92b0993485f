//! A copy of a project in which things can be different: links to everything that stays as it
//! is, and files of its own for what does not. Nothing is written through a link.

use std::cell::RefCell;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use tollgate_core::context::AskWork;
use tollgate_core::decision::{Decision, Finding};
use tollgate_core::project::Layout;
use tollgate_core::project::lexical;
use tollgate_store::fs::{self, Durability};

use super::Case;

/// The copy; it is removed with the value.
#[derive(Debug)]
pub(super) struct Sandbox {
    directory: tempfile::TempDir,
    /// Where it is, without links on the way.
    root: PathBuf,
}

impl Sandbox {
    pub(super) fn of(case: &Case) -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix("tollgate-if-").tempdir()?;
        let root = directory.path().canonicalize()?;
        let sandbox = Self { directory, root };
        sandbox.link_all(&case.root, Path::new(""))?;
        if let Some(state) = case.state() {
            sandbox.place(&case.root, &case.state_file, &state.to_text())?;
        }
        if let Some(branch) = &case.branch {
            let head = format!("ref: refs/heads/{branch}\n");
            sandbox.place(&case.root, Path::new(".git/HEAD"), &head)?;
        }
        for (path, text) in &case.files {
            sandbox.place(&case.root, Path::new(path), text)?;
        }
        // A path through a link would lead out of the copy.
        for path in paths(&case.event, &case.root) {
            sandbox.own(&case.root, path.parent().unwrap_or(Path::new("")))?;
        }
        Ok(sandbox)
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// A text with the project's paths as they are in the copy.
    pub(super) fn inside(&self, text: &str, root: &Path) -> String {
        text.replace(&*root.to_string_lossy(), &self.root.to_string_lossy())
    }

    /// A decision with the paths as they are outside.
    pub(super) fn outside(&self, said: Decision, root: &Path) -> Decision {
        let back =
            |text: &str| text.replace(&*self.root.to_string_lossy(), &root.to_string_lossy());
        let finding = |finding: Finding| Finding {
            text: back(&finding.text),
            reason: back(&finding.reason),
            ..finding
        };
        Decision {
            block: said.block.map(finding),
            ask: said.ask.map(finding),
            warnings: said.warnings.into_iter().map(finding).collect(),
            ..said
        }
    }

    /// Links everything in a directory of the project that the copy has no file of its own for.
    fn link_all(&self, real: &Path, way: &Path) -> io::Result<()> {
        let Ok(entries) = std::fs::read_dir(real.join(way)) else {
            return Ok(());
        };
        for entry in entries {
            let entry = entry?;
            let link = self.root.join(way).join(entry.file_name());
            if link.symlink_metadata().is_err() {
                symlink(entry.path(), link)?;
            }
        }
        Ok(())
    }

    /// Makes a directory the copy's own, with all above it.
    fn own(&self, real: &Path, way: &Path) -> io::Result<()> {
        let mut done = PathBuf::new();
        for part in way.components() {
            let Component::Normal(name) = part else {
                return Err(io::Error::other("the path leaves the project"));
            };
            done.push(name);
            let place = self.root.join(&done);
            match place.symlink_metadata() {
                Ok(found) if found.is_dir() => continue,
                Ok(_) if !place.is_dir() => return Ok(()),
                Ok(_) => fs::remove(&place)?,
                Err(_) => {}
            }
            std::fs::create_dir(&place)?;
            self.link_all(real, &done)?;
        }
        Ok(())
    }

    fn place(&self, real: &Path, way: &Path, text: &str) -> io::Result<()> {
        self.own(real, way.parent().unwrap_or(Path::new("")))?;
        let place = self.root.join(way);
        if place.symlink_metadata().is_ok() {
            fs::remove(&place)?;
        }
        Ok(fs::replace(&place, text.as_bytes(), Durability::Lazy)?)
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // The links go, what they lead to stays: nothing is followed.
        let _swept_by_the_system = std::fs::remove_dir_all(self.directory.path());
    }
}

/// The paths that an event names, by their way from the root.
fn paths(event: &Value, root: &Path) -> Vec<PathBuf> {
    let input = event.get("tool_input").unwrap_or(event);
    let keys = ["file_path", "filePath", "path", "notebook_path"];
    let named = keys.iter().filter_map(|key| input.get(key)?.as_str());
    let cwd = event.get("cwd").and_then(Value::as_str).unwrap_or_default();
    named
        .filter_map(|path| {
            let path = lexical(&root.join(cwd).join(path));
            path.strip_prefix(root).map(Path::to_owned).ok()
        })
        .collect()
}

thread_local! {
    /// The real project and what else counts as changed in it: a fact about a directory that git
    /// must be asked for where it really is.
    static PRETENDED: RefCell<Option<(PathBuf, Vec<String>)>> = const { RefCell::new(None) };
}

/// Works with `root` as the place where git is asked, and with these files changed besides.
pub(super) fn pretending<T>(root: &Path, touched: &[String], work: impl FnOnce() -> T) -> T {
    PRETENDED.set(Some((root.to_owned(), touched.to_vec())));
    let done = work();
    PRETENDED.set(None);
    done
}

fn pretended() -> Result<(PathBuf, Vec<String>), String> {
    let pretended = PRETENDED.with_borrow(Clone::clone);
    pretended.ok_or_else(|| "the place is not given".to_owned())
}

/// What changed in the real project since its tests passed, and what is pretended to have.
pub(super) const WORK: AskWork = AskWork {
    tree: crate::changes::READING.tree,
    since: |_, tree| {
        let (root, touched) = pretended()?;
        let layout = Layout::at(&root).ok_or("there is no project any more")?;
        let mut changed = (crate::changes::WORK.since)(&layout, tree)?;
        changed.extend(touched);
        Ok(changed)
    },
};

/// What changed in the real project, and what is pretended to have.
pub(super) fn changes(_: &Path, base: Option<&str>) -> Result<Vec<String>, String> {
    let (root, touched) = pretended()?;
    let mut changed = match crate::changes::since(&root, base) {
        Ok(changed) => changed,
        Err(_) if !touched.is_empty() => Vec::new(),
        Err(error) => return Err(error),
    };
    changed.extend(touched);
    Ok(changed)
}
