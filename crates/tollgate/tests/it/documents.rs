//! Documents that are made from the code cannot drift from it.

mod book;

use serde_json::Value;

use crate::project::TestProject;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn document(name: &str) -> String {
    std::fs::read_to_string(format!("{ROOT}/{name}")).unwrap()
}

#[test]
fn the_reference_of_guards_is_what_the_program_says() {
    let made = TestProject::empty().run(&["guards", "--markdown"], b"");
    assert_eq!(made.code, 0, "{made:?}");
    assert_eq!(
        made.stdout,
        document("docs/guards.md"),
        "make it anew: cargo run -q -- guards --markdown > docs/guards.md"
    );
}

#[test]
fn the_reference_of_the_configuration_is_what_the_program_says() {
    let made = TestProject::empty().run(&["schema", "--markdown"], b"");
    assert_eq!(made.code, 0, "{made:?}");
    assert_eq!(
        made.stdout,
        document("docs/config.md"),
        "make it anew: cargo run -q -- schema --markdown > docs/config.md"
    );
}

#[test]
fn every_guard_and_code_has_its_place_in_the_reference() {
    let listed = TestProject::empty().run(&["guards", "--json"], b"");
    let guards: Value = serde_json::from_str(&listed.stdout).unwrap();
    let reference = document("docs/guards.md");
    for guard in guards.as_array().unwrap() {
        let name = guard["name"].as_str().unwrap();
        assert!(
            reference.contains(&format!("\n## {name}\n")),
            "docs/guards.md lacks {name}"
        );
        for code in guard["codes"].as_object().unwrap().keys() {
            assert!(reference.contains(code), "docs/guards.md lacks {code}");
        }
    }
}
