//! Ruby, PHP and Elixir.

use serde_json::Value;

use super::super::directory::Directory;
use super::{Check, Found, Role};

pub(super) fn ruby(directory: &Directory<'_>) -> Option<Found> {
    if !directory.has("Gemfile") {
        return None;
    }
    let mut checks = Vec::new();
    if directory.has(".rubocop.yml") {
        checks.push(Check::new(Role::Lint, "bundle exec rubocop"));
    }
    let test = if directory.first(&[".rspec", "spec"]).is_some() {
        Some("bundle exec rspec")
    } else if directory.has("bin/rails") {
        Some("bin/rails test")
    } else if directory.has("Rakefile") {
        Some("bundle exec rake test")
    } else {
        None
    };
    checks.extend(test.map(|command| Check::new(Role::Test, command)));
    Some(Found::new("Ruby", "Gemfile", checks))
}

pub(super) fn php(directory: &Directory<'_>) -> Option<Found> {
    if !directory.has("composer.json") {
        return None;
    }
    let manifest = directory.json("composer.json").unwrap_or_default();
    let has_script = |name: &str| {
        let script = manifest.get("scripts").and_then(|all| all.get(name));
        // A blank one would pass without having tested anything.
        let is_real = |line: &Value| line.as_str().is_some_and(|line| !line.trim().is_empty());
        match script {
            Some(Value::Array(lines)) => lines.iter().any(is_real),
            Some(line) => is_real(line),
            None => false,
        }
    };
    let mut checks = Vec::new();
    let analyser = directory.first(&["phpstan.neon", "phpstan.neon.dist"]);
    if has_script("lint") {
        checks.push(Check::new(Role::Lint, "composer run-script lint"));
    }
    if analyser.is_some() {
        checks.push(Check::new(Role::Types, "vendor/bin/phpstan analyse"));
    }
    let suite = directory.first(&["phpunit.xml", "phpunit.xml.dist"]);
    if has_script("test") {
        checks.push(Check::new(Role::Test, "composer run-script test"));
    } else if suite.is_some() {
        checks.push(Check::new(Role::Test, "vendor/bin/phpunit"));
    }
    Some(Found::new("PHP with Composer", "composer.json", checks))
}

pub(super) fn elixir(directory: &Directory<'_>) -> Option<Found> {
    if !directory.has("mix.exs") {
        return None;
    }
    let mut checks = Vec::new();
    if directory.has(".formatter.exs") {
        checks.push(Check::new(Role::Format, "mix format --check-formatted"));
    }
    if directory.has(".credo.exs") {
        checks.push(Check::new(Role::Lint, "mix credo"));
    }
    checks.push(Check::new(Role::Test, "mix test"));
    Some(Found::new("Elixir", "mix.exs", checks))
}
