//! Rust, Go, .NET, Zig, and what `CMake` builds.

use super::super::directory::Directory;
use super::{Check, Found, Role};

pub(super) fn rust(directory: &Directory<'_>) -> Option<Found> {
    let manifest = directory.text("Cargo.toml")?;
    let whole = if manifest.contains("[workspace]") {
        " --workspace"
    } else {
        ""
    };
    let clues = directory.clues;
    let mut checks = Vec::new();
    let formats = directory
        .first(&["rustfmt.toml", ".rustfmt.toml"])
        .is_some();
    if formats || clues.ci_runs("cargo fmt") || clues.has_program("cargo-fmt") {
        checks.push(Check::new(Role::Format, "cargo fmt --all --check"));
    }
    let lints = directory.first(&["clippy.toml", ".clippy.toml"]).is_some();
    if lints || clues.ci_runs("cargo clippy") || clues.has_program("cargo-clippy") {
        checks.push(Check::new(
            Role::Lint,
            format!("cargo clippy{whole} --all-targets"),
        ));
    }
    checks.push(Check::new(Role::Test, format!("cargo test{whole}")));
    Some(Found::new("Rust", "Cargo.toml", checks))
}

pub(super) fn go(directory: &Directory<'_>) -> Option<Found> {
    let file = directory.first(&["go.mod", "go.work"])?;
    let linter = directory.first(&[
        ".golangci.yml",
        ".golangci.yaml",
        ".golangci.toml",
        ".golangci.json",
    ]);
    let lint = if linter.is_some() {
        "golangci-lint run"
    } else {
        "go vet ./..."
    };
    let checks = vec![
        Check::new(Role::Lint, lint),
        Check::new(Role::Test, "go test ./..."),
    ];
    Some(Found::new("Go", file, checks))
}

pub(super) fn dotnet(directory: &Directory<'_>) -> Option<Found> {
    let file = directory
        .with_extension(&["sln", "slnx"])
        .or_else(|| directory.with_extension(&["csproj", "fsproj", "vbproj"]))?;
    let mut checks = Vec::new();
    if directory.clues.ci_runs("dotnet format") {
        checks.push(Check::new(
            Role::Format,
            "dotnet format --verify-no-changes",
        ));
    }
    checks.push(Check::new(Role::Test, "dotnet test"));
    Some(Found::new(".NET", file, checks))
}

pub(super) fn zig(directory: &Directory<'_>) -> Option<Found> {
    let build = directory.text("build.zig")?;
    // A build without that step would fail, whatever the code is like.
    let command = if build.contains("\"test\"") {
        Check::new(Role::Test, "zig build test")
    } else {
        Check::new(Role::Build, "zig build")
    };
    Some(Found::new("Zig", "build.zig", vec![command]))
}

pub(super) fn cmake(directory: &Directory<'_>) -> Option<Found> {
    let lists = directory.text("CMakeLists.txt")?;
    let build = "cmake -S . -B build && cmake --build build";
    let check = if lists.contains("enable_testing") || lists.contains("include(CTest)") {
        Check::new(
            Role::Test,
            format!("{build} && ctest --test-dir build --output-on-failure"),
        )
    } else {
        Check::new(Role::Build, build)
    };
    Some(Found::new("CMake", "CMakeLists.txt", vec![check]))
}
