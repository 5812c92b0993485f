//! JavaScript and TypeScript: the scripts of `package.json` by the project's own package manager.

use serde_json::Value;

use super::super::directory::Directory;
use super::{Check, Role, Toolchain};

/// Names of scripts, by what they are for; the first that exists counts.
const SCRIPTS: &[(Role, &[&str])] = &[
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
    (Role::Test, &["test"]),
];

pub(super) fn node(directory: &Directory<'_>) -> Option<Toolchain> {
    let text = directory.text("package.json")?;
    let manifest = directory.json("package.json");
    let flaw = match manifest {
        Some(_) => "",
        None => ", whose scripts are not known: the file is no JSON",
    };
    let manifest = manifest.unwrap_or_default();
    let manager = manager(directory, &manifest);
    let scripts = manifest.get("scripts").and_then(Value::as_object);
    let script = |name: &str| scripts.and_then(|all| all.get(name)?.as_str());
    let mut checks = Vec::new();
    for (role, names) in SCRIPTS {
        let known = names
            .iter()
            .find_map(|name| Some((name, script(name).filter(|body| is_real(body))?)));
        let Some((name, body)) = known else { continue };
        // Left alone, these wait for a change of a file instead of ending.
        let waits = body.contains("react-scripts test") || body.contains("--watch");
        let once = if waits { "CI=true " } else { "" };
        let run = match (manager, *name) {
            ("npm" | "pnpm" | "yarn", "test") => format!("{manager} test"),
            _ => format!("{manager} run {name}"),
        };
        checks.push(Check::new(*role, format!("{once}{run}")));
    }
    // A project that has neither is at least built.
    if checks.is_empty() && script("build").is_some_and(is_real) {
        checks.push(Check::new(Role::Build, format!("{manager} run build")));
    }
    let language = if directory.has("tsconfig.json") || text.contains("\"typescript\"") {
        "TypeScript"
    } else {
        "JavaScript"
    };
    let name = format!("{language} with {manager}{flaw}");
    Some(Toolchain::new(name, "package.json", checks))
}

/// The script that `npm init` writes does nothing but fail.
fn is_real(body: &str) -> bool {
    !body.trim().is_empty() && !body.contains("no test specified")
}

/// By the manifest's own word, else by the lock file.
fn manager(directory: &Directory<'_>, manifest: &Value) -> &'static str {
    const LOCKS: &[(&str, &str)] = &[
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("bun.lock", "bun"),
        ("bun.lockb", "bun"),
        ("package-lock.json", "npm"),
    ];
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
