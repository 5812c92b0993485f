//! JavaScript and TypeScript: the scripts of `package.json` by the project's own package manager.

use serde_json::Value;

use super::super::directory::Directory;
use super::{Check, Role, Toolchain};

/// Names of scripts, by what they are for; the first that exists counts.
pub(super) const SCRIPTS: &[(Role, &[&str])] = &[
    (
        Role::Format,
        &[
            "format:check",
            "format-check",
            "fmt:check",
            "check:format",
            "check-format",
            "prettier:check",
        ],
    ),
    (Role::Lint, &["lint"]),
    (
        Role::Types,
        &[
            "typecheck",
            "type-check",
            "types",
            "check-types",
            "check:types",
            "tsc",
        ],
    ),
    (Role::Build, &["build"]),
    (Role::Test, &["test"]),
];

/// Lock files, and the package manager that writes each.
const LOCKS: &[(&str, &str)] = &[
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
];

/// How the scripts of a package are called.
pub(super) enum Caller<'c> {
    /// In the package's own directory.
    Here(&'static str),
    /// From the workspace's root, for the member at this path with this name.
    Member(&'static str, &'c str, &'c str),
    /// From the workspace's root, for every member that has the script.
    Members(&'static str),
}

pub(super) fn node(directory: &Directory<'_>) -> Option<Toolchain> {
    let manifest = Manifest::of(directory)?;
    let manager = manager(directory, &manifest.json);
    let checks = manifest.checks(&Caller::Here(manager));
    let name = manifest.name_with(manager);
    Some(Toolchain::new(name, "package.json", checks))
}

pub(super) fn lock(directory: &Directory<'_>) -> Option<&'static str> {
    let lock = LOCKS.iter().find(|(file, _)| directory.has(file));
    lock.map(|(file, _)| *file)
}

pub(super) struct Manifest {
    pub(super) json: Value,
    is_json: bool,
    /// Whether the package depends on the compiler.
    has_typescript: bool,
    /// Whether there is a `tsconfig.json`, and whether it has files of its own: one that only
    /// refers to others checks nothing.
    tsconfig: Option<bool>,
}

impl Manifest {
    pub(super) fn of(directory: &Directory<'_>) -> Option<Self> {
        let text = directory.text("package.json")?;
        let json = directory.json("package.json");
        let tsconfig = directory.text("tsconfig.json");
        Some(Self {
            is_json: json.is_some(),
            json: json.unwrap_or_default(),
            has_typescript: text.contains("\"typescript\""),
            tsconfig: tsconfig.map(|text| !text.contains("\"references\"")),
        })
    }

    /// The script of a role, if it does something: its name and what it runs.
    fn script(&self, names: &[&'static str]) -> Option<(&'static str, &str)> {
        let scripts = self.json.get("scripts")?.as_object()?;
        names.iter().find_map(|name| {
            let body = scripts.get(*name)?.as_str()?;
            is_real(body).then_some((*name, body))
        })
    }

    pub(super) fn checks(&self, caller: &Caller<'_>) -> Vec<Check> {
        let mut checks = Vec::new();
        let mut compiles = false;
        for (role, names) in SCRIPTS {
            let Some((name, body)) = self.script(names) else {
                continue;
            };
            compiles |= body.contains("tsc");
            // Left alone, these wait for a change of a file instead of ending.
            let waits = body.contains("react-scripts test") || body.contains("--watch");
            let once = if waits { "CI=true " } else { "" };
            checks.push(Check::new(*role, format!("{once}{}", caller.script(name))));
        }
        let has_types = checks.iter().any(|check| check.role == Role::Types);
        let can_compile = self.has_typescript && self.tsconfig == Some(true);
        if can_compile && !compiles && !has_types {
            let command = caller.program("tsc --noEmit");
            checks.extend(command.map(|command| Check::new(Role::Types, command)));
        }
        checks
    }

    /// What it is, for people.
    pub(super) fn name_with(&self, manager: &str) -> String {
        let is_typescript = self.tsconfig.is_some() || self.has_typescript;
        let language = if is_typescript {
            "TypeScript"
        } else {
            "JavaScript"
        };
        let flaw = if self.is_json {
            ""
        } else {
            ", whose scripts are not known: the file is not JSON"
        };
        format!("{language} with {manager}{flaw}")
    }
}

/// The script that `npm init` writes does nothing but fail.
fn is_real(body: &str) -> bool {
    !body.trim().is_empty() && !body.contains("no test specified")
}

impl Caller<'_> {
    pub(super) fn script(&self, name: &str) -> String {
        match *self {
            Self::Here(manager @ ("npm" | "pnpm" | "yarn")) if name == "test" => {
                format!("{manager} test")
            }
            Self::Here(manager) => format!("{manager} run {name}"),
            Self::Member("npm", path, _) => format!("npm run {name} --workspace {path}"),
            Self::Member("yarn", _, package) => format!("yarn workspace {package} run {name}"),
            Self::Member("bun", path, _) => format!("bun run --filter ./{path} {name}"),
            Self::Member(manager, path, _) => format!("{manager} --filter ./{path} run {name}"),
            Self::Members("npm") => format!("npm run {name} --workspaces --if-present"),
            Self::Members("yarn") => format!("yarn workspaces foreach --all run {name}"),
            Self::Members("bun") => format!("bun run --filter '*' {name}"),
            Self::Members(manager) => format!("{manager} --recursive run {name}"),
        }
    }

    /// The command that runs a program which the package depends on.
    fn program(&self, words: &str) -> Option<String> {
        match *self {
            Self::Here("npm") => Some(format!("npx --no-install {words}")),
            Self::Here("bun") => Some(format!("bunx --no-install {words}")),
            Self::Here("yarn") => Some(format!("yarn run {words}")),
            Self::Here(manager) => Some(format!("{manager} exec {words}")),
            Self::Member("npm", path, _) => Some(format!("npm exec --workspace {path} -- {words}")),
            Self::Member("yarn", _, package) => {
                Some(format!("yarn workspace {package} run {words}"))
            }
            Self::Member("pnpm", path, _) => Some(format!("pnpm --filter ./{path} exec {words}")),
            Self::Member(..) | Self::Members(_) => None,
        }
    }
}

/// By the manifest's own word, else by the lock file.
pub(super) fn manager(directory: &Directory<'_>, manifest: &Value) -> &'static str {
    let said = manifest
        .get("packageManager")
        .and_then(Value::as_str)
        .and_then(|text| text.split('@').next());
    ["npm", "pnpm", "yarn", "bun"]
        .into_iter()
        .find(|name| said == Some(name))
        .or_else(|| {
            let lock = LOCKS.iter().find(|(file, _)| directory.has(file));
            lock.map(|(_, manager)| *manager)
        })
        .unwrap_or("npm")
}
