//! What the journal keeps about an event and about gates, for those who look later.

use crate::events::{Event as _, bash};
use crate::gates::Gates;
use crate::project::{TestProject, with_branch};

#[test]
fn a_decision_is_filed_with_the_ids_that_join_it_to_the_agents_trace() {
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main")
        .env("TRACEPARENT", trace);
    let event = bash("git commit -m x")
        .in_session("s-1")
        .at_prompt("p-1")
        .call("toolu_7")
        .in_directory(project.root());
    project.hook(&event).denies();
    let journal = project.journal();
    let line = &journal[0];
    assert_eq!(line["verdict"], "block", "{line}");
    assert_eq!(line["session"], "s-1");
    assert_eq!(line["prompt"], "p-1");
    assert_eq!(line["call"], "toolu_7");
    assert_eq!(line["trace"], trace);
    assert!(line["ms"].as_f64().unwrap() > 0.0, "{line}");
}

#[test]
fn each_gate_that_ended_is_a_line_with_what_it_came_to() {
    let gates = Gates::new(&[("ok", "command: \"true\""), ("bad", "command: exit 3")]);
    gates.stop_in("s-2", "p-2", false);
    let lines: Vec<_> = gates
        .journal()
        .into_iter()
        .filter(|line| line["verdict"] == "gate")
        .collect();
    let mut told: Vec<_> = lines
        .iter()
        .map(|line| {
            (
                line["guard"].as_str().unwrap(),
                line["code"].as_str().unwrap(),
            )
        })
        .collect();
    told.sort_unstable();
    assert_eq!(told, [("check:src:bad", "fail"), ("check:src:ok", "pass")]);
    assert!(
        lines
            .iter()
            .all(|line| line["session"] == "s-2" && line["ms"].is_number())
    );
}
