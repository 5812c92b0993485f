//! Workspaces of npm, pnpm, yarn and bun: which packages belong to one, and which of them need
//! each other.
//!
//! A member's check runs from the root, because what it depends on lies outside of its directory:
//! the members that it needs, and the one lock file.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::directory::Directory;
use super::node::{self, Caller, Manifest};
use super::{Check, Role, Toolchain};

pub(crate) struct Workspace {
    manager: &'static str,
    /// By path from the root.
    members: BTreeMap<String, Member>,
    /// Files of the root that every member depends on.
    shared: Vec<String>,
}

struct Member {
    name: String,
    manifest: Manifest,
    needs: BTreeSet<String>,
}

impl Workspace {
    /// The workspace that a directory is the root of; `below` are the directories in it.
    pub(crate) fn of(root: &Directory<'_>, below: &[(String, Directory<'_>)]) -> Option<Self> {
        let manifest = root.json("package.json")?;
        let patterns = patterns(root, &manifest)?;
        let members = below.iter().filter(|(path, _)| is_member(&patterns, path));
        let members = members.filter_map(|(path, directory)| {
            let member = Member::of(path, Manifest::of(directory)?);
            Some((path.clone(), member))
        });
        let shared = ["package.json", "pnpm-workspace.yaml"].into_iter();
        let shared = shared.chain(node::lock(root)).filter(|file| root.has(file));
        Some(Self {
            manager: node::manager(root, &manifest),
            members: members.collect(),
            shared: shared.map(|file| format!("/{file}")).collect(),
        })
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.members.contains_key(path)
    }

    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    /// One member's checks, without those that the root's own scripts make.
    pub(crate) fn member(&self, path: &str, made: &[Role]) -> Option<Toolchain> {
        let member = self.members.get(path)?;
        let caller = Caller::Member(self.manager, path, &member.name);
        let mut checks = member.manifest.checks(&caller);
        checks.retain(|check| !made.contains(&check.role));
        for check in &mut checks {
            check.inputs = self.inputs(path);
        }
        let name = member.manifest.name_with(self.manager);
        Some(Toolchain::new(name, "package.json", checks))
    }

    /// What all members have checks for, as commands for all of them at once.
    pub(crate) fn all(&self, made: &[Role]) -> Vec<Check> {
        let caller = Caller::Members(self.manager);
        let mut checks: Vec<Check> = Vec::new();
        for check in self
            .members
            .values()
            .flat_map(|m| m.manifest.checks(&caller))
        {
            if !made.contains(&check.role) && !checks.contains(&check) {
                checks.push(check);
            }
        }
        checks
    }

    /// The files that a member's checks depend on, as patterns from the root on.
    fn inputs(&self, path: &str) -> Vec<String> {
        let mut paths = vec![path];
        let mut at = 0;
        while let Some(member) = paths.get(at).and_then(|path| self.members.get(*path)) {
            for (other, found) in &self.members {
                if member.needs.contains(&found.name) && !paths.contains(&other.as_str()) {
                    paths.push(other);
                }
            }
            at += 1;
        }
        let own = paths.into_iter().map(|path| format!("{path}/**"));
        own.chain(self.shared.iter().cloned()).collect()
    }
}

impl Member {
    fn of(path: &str, manifest: Manifest) -> Self {
        let name = manifest.json.get("name").and_then(Value::as_str);
        let name = name.unwrap_or(path).to_owned();
        let tables = [
            "dependencies",
            "devDependencies",
            "peerDependencies",
            "optionalDependencies",
        ];
        let tables = tables.iter().filter_map(|key| manifest.json.get(key));
        let needs = tables
            .filter_map(Value::as_object)
            .flat_map(|t| t.keys().cloned());
        Self {
            name,
            needs: needs.collect(),
            manifest,
        }
    }
}

fn patterns(root: &Directory<'_>, manifest: &Value) -> Option<Vec<String>> {
    #[derive(serde::Deserialize)]
    struct PnpmWorkspace {
        #[serde(default)]
        packages: Vec<String>,
    }
    if let Some(text) = root.text("pnpm-workspace.yaml") {
        let file: PnpmWorkspace = serde_saphyr::from_str(&text).ok()?;
        return Some(file.packages);
    }
    let said = manifest.get("workspaces")?;
    let list = said.get("packages").unwrap_or(said).as_array()?;
    let texts = list.iter().filter_map(Value::as_str);
    Some(texts.map(str::to_owned).collect())
}

fn is_member(patterns: &[String], path: &str) -> bool {
    let matches = |pattern: &str| {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        fast_glob::glob_match(pattern.trim_end_matches('/'), path)
    };
    let (not, yes): (Vec<&String>, Vec<&String>) = patterns
        .iter()
        .partition(|pattern| pattern.starts_with('!'));
    yes.iter().any(|pattern| matches(pattern))
        && !not
            .iter()
            .any(|pattern| matches(pattern.trim_start_matches('!')))
}
