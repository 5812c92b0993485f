//! Swift packages, Dart and Flutter.

use super::super::directory::Directory;
use super::{Check, Found, Role};

pub(super) fn swift(directory: &Directory<'_>) -> Option<Found> {
    if !directory.has("Package.swift") {
        return None;
    }
    let mut checks = Vec::new();
    if directory.has(".swiftlint.yml") {
        checks.push(Check::new(Role::Lint, "swiftlint lint --strict"));
    }
    let test = if directory.has("Tests") {
        Check::new(Role::Test, "swift test")
    } else {
        Check::new(Role::Build, "swift build")
    };
    checks.push(test);
    Some(Found::new("Swift", "Package.swift", checks))
}

pub(super) fn dart(directory: &Directory<'_>) -> Option<Found> {
    let flutter = directory.says("pubspec.yaml", "sdk: flutter");
    if !directory.has("pubspec.yaml") {
        return None;
    }
    let (name, program) = if flutter {
        ("Flutter", "flutter")
    } else {
        ("Dart", "dart")
    };
    let mut checks = vec![Check::new(Role::Lint, format!("{program} analyze"))];
    if directory.has("test") {
        checks.push(Check::new(Role::Test, format!("{program} test")));
    }
    Some(Found::new(name, "pubspec.yaml", checks))
}
