//! Facts 1.23.

use serde_json::{Value, json};

use super::{finished, state, tells};
use crate::events::{Event as _, task};
use crate::project::{TestProject, running};

const NAME: &str = "menu-tracker";
const MENU: &str = "[A] Adjust\n[R] Refine\n[C] Continue\nYour choice:";

fn project() -> TestProject {
    TestProject::new().state(&running("01-requirements", "in_progress"))
}

fn record(project: &TestProject) -> Value {
    state(project)["phases"]["01-requirements"]["iteration_requirements"]["interactive_elicitation"]
        .clone()
}

fn said(text: &str) -> Value {
    finished("requirements-analyst", "elicit", text)
}

#[test]
fn a_menu_is_counted_from_two_signs_on() {
    let project = project();
    project.guard(NAME, &said(MENU)).says_nothing();
    let first = record(&project);
    assert_eq!(first["menu_interactions"], 1);
    assert_eq!(first["required"], true);
    assert_eq!(first["completed"], false);
    assert_eq!(first["selections"], json!([]));
    assert_eq!(first["steps_completed"], json!([]));
    assert!(first["started_at"].is_string() && first["last_menu_at"].is_string());
    project
        .guard(NAME, &said("[S]  save\nSelect an  option"))
        .says_nothing();
    assert_eq!(record(&project)["menu_interactions"], 2);
    project.guard(NAME, &said("[A] Adjust")).says_nothing();
    assert_eq!(record(&project)["menu_interactions"], 2);
}

#[test]
fn save_completes_and_says_so() {
    let project = project();
    let run = project.guard(NAME, &said("User selected: [S] Save"));
    tells(&run, "✅ INTERACTIVE ELICITATION COMPLETED");
    let record = record(&project);
    assert_eq!(record["completed"], true);
    assert_eq!(record["final_selection"], "save");
    assert_eq!(record["last_selection"], "save");
    assert_eq!(record["selections"].as_array().unwrap().len(), 1);
    assert!(record["completed_at"].is_string());
}

#[test]
fn exit_completes_with_a_warning_and_continue_counts() {
    let exited = project();
    let run = exited.guard(NAME, &said("selected: X"));
    tells(&run, "⚠️ INTERACTIVE ELICITATION EXITED");
    assert_eq!(record(&exited)["final_selection"], "exit");
    let went_on = project();
    let run = went_on.guard(
        NAME,
        &said(&format!("{MENU}\nThe user selected [C] Continue")),
    );
    tells(&run, "→ Proceeding to next step (1 interactions so far)");
    assert_eq!(record(&went_on)["completed"], false);
}

#[test]
fn a_choice_in_the_prompt_counts_and_the_results_goes_before_it() {
    let project = project();
    let event = finished("requirements-analyst", "User selected: [R] Refine", "ok");
    project.guard(NAME, &event).says_nothing();
    assert_eq!(record(&project)["last_selection"], "refine");
    let event = finished(
        "requirements-analyst",
        "User selected: [R] Refine",
        "selected: [A]",
    );
    project.guard(NAME, &event).says_nothing();
    assert_eq!(record(&project)["last_selection"], "adjust");
}

#[test]
fn a_step_is_finished_by_its_number_or_its_subject_and_the_last_one_is_noted() {
    for (text, step) in [
        ("Step 3: features done", "core_features"),
        ("Project discovery is complete.", "project_discovery"),
        ("User personas completed", "user_personas"),
        ("The core features are done", "core_features"),
        ("Non-functional requirements: complete", "nfr"),
        ("NFRs done", "nfr"),
        ("All user stories are complete", "user_stories"),
        ("Prioritization complete", "prioritization"),
        ("Finalization done", "finalization"),
    ] {
        let project = project();
        project.guard(NAME, &said(text)).says_nothing();
        let record = record(&project);
        assert_eq!(record["steps_completed"], json!([step]), "{text}");
        assert_eq!(record["last_step_completed"], step, "{text}");
    }
    let project = project();
    for text in [
        "The user stories are not complete",
        "user stories: incomplete",
        "Next: prioritization",
        "NFRs\ndone",
    ] {
        project.guard(NAME, &said(text)).says_nothing();
        assert_eq!(record(&project), json!(null), "{text}");
    }
    project.guard(NAME, &said("Step 1 done")).says_nothing();
    project
        .guard(NAME, &said("User personas done"))
        .says_nothing();
    let record = record(&project);
    assert_eq!(
        record["steps_completed"],
        json!(["project_discovery", "user_personas"])
    );
    assert_eq!(record["last_step_completed"], "user_personas");
}

#[test]
fn a_finished_step_is_noted_once() {
    let project = project();
    for _ in 0..2 {
        project
            .guard(NAME, &said("Step 3: core features done"))
            .says_nothing();
    }
    assert_eq!(
        record(&project)["steps_completed"],
        json!(["core_features"])
    );
}

/// Every mention used to be the start of a walk to the end of the line: minutes for this text.
#[test]
fn a_line_that_names_a_step_very_often_is_read_once() {
    let project = project();
    let often = "step 3 ".repeat(100_000);
    project
        .guard(NAME, &said(&format!("{often}\nstep 4 done")))
        .says_nothing();
    assert_eq!(record(&project)["steps_completed"], json!(["nfr"]));
}

/// F10: prose about selecting was taken for a choice in a menu.
#[test]
fn f10_prose_about_selecting_is_no_choice() {
    let project = project();
    let before = project.read(".isdlc/state.json");
    for prose in [
        "The user selects stories on the selection screen.",
        "Please select an option.",
        "Selected scenarios are saved; saving artifacts next.",
        "Enter selection: [A] [R] [C]",
    ] {
        project.guard(NAME, &said(prose)).allows();
    }
    assert_eq!(project.read(".isdlc/state.json"), before);
}

#[test]
fn only_the_running_requirements_phase_with_enforcement_is_tracked() {
    for mut state in [
        running("06-implementation", "in_progress"),
        running("01-requirements", "in_progress"),
        json!({ "current_phase": "01-requirements" }),
    ] {
        state["iteration_enforcement"] =
            json!({ "enabled": state["phases"].get("06-implementation").is_some() });
        let project = TestProject::new().state(&state);
        let before = project.read(".isdlc/state.json");
        project.guard(NAME, &said(MENU)).says_nothing();
        assert_eq!(project.read(".isdlc/state.json"), before);
    }
}

/// BUG-0006/0.11: menu-tracker crashed on a record of another type.
#[test]
fn bug_0006_0_11_a_record_of_another_kind_is_replaced_and_noted() {
    for wrong in [json!("x"), json!([]), json!(7)] {
        let mut state = running("01-requirements", "in_progress");
        state["phases"]["01-requirements"]["iteration_requirements"] = wrong;
        let project = TestProject::new().state(&state);
        project
            .guard(NAME, &said(MENU))
            .warns("[SELF-HEAL] menu-tracker: phases.01-requirements.iteration_requirements was");
        assert_eq!(record(&project)["menu_interactions"], 1);
    }
}

/// D3: a tool's result is `tool_response` in today's agents; the original read only `tool_result`.
#[test]
fn d3_the_agents_own_result_field_is_read() {
    let project = project();
    let said = json!([{ "type": "text", "text": "selected: [S] Save" }]);
    let event = task("requirements-analyst", "x").in_session("s");
    project.hook(&event.done(json!({ "status": "completed", "content": said })));
    assert_eq!(record(&project)["final_selection"], "save");
}
