//! Documents that are made from the code cannot drift from it.

use serde_json::Value;

use crate::context::Project;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn document(name: &str) -> String {
    std::fs::read_to_string(format!("{ROOT}/{name}")).unwrap()
}

#[test]
fn the_reference_of_guards_is_what_the_program_says() {
    let made = Project::empty().run(&["guards", "--markdown"], b"");
    assert_eq!(made.code, 0, "{made:?}");
    assert_eq!(
        made.stdout,
        document("docs/guards.md"),
        "make it anew: cargo run -q -- guards --markdown > docs/guards.md"
    );
}

#[test]
fn every_guard_has_its_section_and_the_readme_its_row() {
    let listed = Project::empty().run(&["guards", "--json"], b"");
    let guards: Value = serde_json::from_str(&listed.stdout).unwrap();
    let (reference, readme) = (document("docs/guards.md"), document("README.md"));
    for guard in guards.as_array().unwrap() {
        let name = guard["name"].as_str().unwrap();
        assert!(
            reference.contains(&format!("\n## {name}\n")),
            "docs/guards.md lacks {name}"
        );
        assert!(
            readme.contains(&format!("| {name} |")),
            "README.md lacks {name}"
        );
        for code in guard["codes"].as_object().unwrap().keys() {
            assert!(reference.contains(code), "docs/guards.md lacks {code}");
        }
    }
}

#[test]
fn the_readmes_session_is_what_the_program_prints() {
    let project = Project::empty();
    let file = format!("{ROOT}/examples/out-of-order.json");
    let place = format!("{ROOT}/examples/shop");
    let run = project.run(&["simulate", &file, "--project", &place], b"");
    let printed: Vec<_> = run.stdout.lines().skip(1).map(str::trim_end).collect();
    assert!(
        document("README.md").contains(&printed.join("\n")),
        "{}",
        run.stdout
    );
}
