//! What must be said: which gates are verified, from what they were seen to say about which contents.
//!
//! The model knows nothing of git and nothing of the program's files. It reads the work tree, and what
//! the gates themselves wrote down outside of it.

use std::collections::BTreeMap;
use std::path::Path;

/// The gates: their names, and the directory that each guards. `every` has no inputs of its own, so that
/// every file is one.
pub(super) const GATES: [(&str, &str); 3] = [("a", "a"), ("b", "b"), ("every", "c")];

/// An input of every gate.
const SHARED: &str = "tollgate.toml";

/// The person's own configuration, which git ignores.
pub(super) const OWN: &str = "tollgate.local.toml";

/// How many keys of a gate are remembered.
const KEYS: usize = 16;

/// How long a pass counts, in seconds.
const MAX_AGE: i64 = 7 * 24 * 3_600;

/// What must be said of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    Verified,
    NotVerified,
    /// It was green, and nobody can know whether that is remembered: Tollgate was killed before it could
    /// say so, newer evidence may have taken its place, or only the person's own configuration differs
    /// and not this gate.
    Either,
}

/// The work tree as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tree {
    /// The contents, by path.
    files: BTreeMap<String, String>,
}

/// What was seen of one content.
#[derive(Clone, Debug)]
struct Seen {
    key: String,
    /// The person's own configuration at that time.
    own: String,
    passed: bool,
    at: i64,
    is_flaky: bool,
    is_sure: bool,
}

/// What the gates were seen to say.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// Oldest first.
    seen: BTreeMap<&'static str, Vec<Seen>>,
}

impl Tree {
    pub(super) fn read(root: &Path) -> Self {
        let mut files = BTreeMap::new();
        let mut left = vec![root.to_owned()];
        while let Some(directory) = left.pop() {
            for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
                let path = entry.path();
                let name = path.strip_prefix(root).unwrap().display().to_string();
                if matches!(name.as_str(), ".git" | ".tollgate" | "ignored") {
                    continue;
                }
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    left.push(path);
                } else {
                    let content = std::fs::read(&path).unwrap_or_default();
                    files.insert(name, String::from_utf8_lossy(&content).into_owned());
                }
            }
        }
        Self { files }
    }

    fn text(&self, path: &str) -> &str {
        self.files.get(path).map_or("", String::as_str)
    }

    /// The gate as it is, and all that it looks at.
    pub(super) fn key(&self, gate: &str) -> String {
        let below = format!("{gate}/");
        let is_input = |path: &str| match path {
            SHARED => true,
            OWN => false,
            path => gate == "every" || path.starts_with(&below),
        };
        let inputs = self.files.iter().filter(|(path, _)| is_input(path));
        let inputs: Vec<_> = inputs.collect();
        format!("{} {inputs:?}", self.is_weak(gate))
    }

    /// Whether a gate was weakened, which nobody accepts here.
    pub(super) fn is_weakened(&self) -> bool {
        GATES.iter().any(|(gate, _)| self.is_weak(gate))
    }

    /// Whether this gate was, so that it passes whatever there is.
    pub(super) fn is_weak(&self, gate: &str) -> bool {
        let weak = format!("gate {gate} weak\"");
        self.text(SHARED).contains(&weak) || self.text(OWN).contains(&weak)
    }

    /// Whether a gate, as it is configured, would fail on this.
    pub(super) fn is_red(&self, gate: &str, guards: &str) -> bool {
        let below = format!("{guards}/");
        let mut files = self.files.iter();
        let is_red = files.any(|(path, text)| path.starts_with(&below) && text.contains("RED"));
        is_red && !self.is_weak(gate)
    }
}

impl Model {
    /// A gate ran to its end. It is sure that this is remembered, unless Tollgate was killed meanwhile.
    pub(super) fn add(
        &mut self,
        gate: &'static str,
        tree: &Tree,
        passed: bool,
        at: i64,
        is_sure: bool,
    ) {
        let all = self.seen.entry(gate).or_default();
        let mut new = Seen {
            key: tree.key(gate),
            own: tree.text(OWN).to_owned(),
            passed,
            at,
            is_flaky: false,
            is_sure,
        };
        if let Some(old) = all.iter().position(|one| one.key == new.key) {
            let old = all.remove(old);
            let is_same = old.passed == passed && old.own == new.own;
            new.is_flaky = old.is_flaky || old.passed != passed;
            if !is_sure {
                // Either of the two may be what is remembered.
                let is_near = (old.at - at).abs() < 600;
                new.is_sure = is_same && old.is_sure && is_near;
                new.passed |= old.passed;
            }
        }
        all.push(new);
    }

    /// What must be said of a gate.
    pub(super) fn gate(&self, gate: &str, tree: &Tree, now: i64) -> Expected {
        let key = tree.key(gate);
        let all = self.seen.get(gate).map_or(&[][..], Vec::as_slice);
        let found = all.iter().rev().enumerate();
        let Some((newer, seen)) = found.into_iter().find(|(_, one)| one.key == key) else {
            return Expected::NotVerified;
        };
        let is_current = seen.at <= now && now - seen.at <= MAX_AGE;
        let is_kept = seen.is_sure && newer < KEYS && seen.own == tree.text(OWN);
        match (seen.passed, is_kept) {
            (false, _) => Expected::NotVerified,
            (true, true) if seen.is_flaky || !is_current => Expected::NotVerified,
            (true, true) => Expected::Verified,
            (true, false) if seen.is_sure && !is_current => Expected::NotVerified,
            (true, false) => Expected::Either,
        }
    }

    /// What must be said of the project.
    pub(super) fn project(&self, tree: &Tree, now: i64) -> Expected {
        let gates = GATES.map(|(gate, _)| self.gate(gate, tree, now));
        if tree.is_weakened() || gates.contains(&Expected::NotVerified) {
            Expected::NotVerified
        } else if gates.contains(&Expected::Either) {
            Expected::Either
        } else {
            Expected::Verified
        }
    }
}
