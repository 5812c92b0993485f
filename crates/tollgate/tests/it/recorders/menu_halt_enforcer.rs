//! Facts 1.26.

use super::finished;
use crate::project::{TestProject, running};

const NAME: &str = "menu-halt-enforcer";

fn after(menu: &str, length: usize) -> String {
    format!("{menu}\n{}", "x".repeat(length))
}

fn project() -> TestProject {
    TestProject::new().state(&running("01-requirements", "in_progress"))
}

#[test]
fn more_than_200_characters_after_each_kind_of_menu_are_too_many() {
    for (menu, kind) in [
        (
            "[A] Adjust\n[R] Refine\n[C]  Continue to next step",
            "arc-menu",
        ),
        ("[A] Adjust\n[R] Refine\n[C] Confirm", "arc-menu"),
        ("[1] One\n[2] Two\nEnter  selection (1-2):", "numbered-menu"),
        ("[1] One\n[O] Other", "backlog-picker"),
    ] {
        let project = project();
        project
            .guard(NAME, &finished("x", "x", &after(menu, 200)))
            .says_nothing();
        project.guard(NAME, &finished("x", "x", &after(menu, 201))).warns(&format!(
            "MENU HALT VIOLATION: Agent continued generating 201 characters of output after presenting an interactive menu ({kind})."
        ));
        assert_eq!(project.codes(), ["MHE-001"]);
    }
}

#[test]
fn text_without_a_menu_or_workflow_may_be_long() {
    let long = "x".repeat(1000);
    project()
        .guard(NAME, &finished("x", "x", &long))
        .says_nothing();
    let menu = after("[1] One\n[O] Other", 300);
    TestProject::new()
        .guard(NAME, &finished("x", "x", &menu))
        .says_nothing();
    // The last menu counts, and blanks do not.
    let twice = format!(
        "[1] One\n[O] Other\n{long}\n[1] One\n[O] Other\n{}",
        " ".repeat(300)
    );
    project()
        .guard(NAME, &finished("x", "x", &twice))
        .says_nothing();
}
