//! What a stop says in a project of Tollgate's own, one outcome after the other.

use serde_json::{Value, json};

use super::filters;
use crate::events::{Event as _, stop};
use crate::project::TestProject;

const GATES: &str =
    "[gates]\nbase = \"main\"\nmax_retries = 1\n[gates.test]\nrun = \"sh test.sh\"\n";

/// A project whose test fails while `src/broken` is there.
fn project(more: &str) -> TestProject {
    let project = TestProject::empty()
        .with_repository()
        .with_toml(&format!("{GATES}{more}"));
    project.file(
        "test.sh",
        "test ! -e src/broken || { echo 'src/a.txt:1: expected 5, found 4'; exit 1; }\n",
    );
    project.with_change()
}

/// A stop of a real agent: what the agent reads, what the person sees.
fn stopped(project: &TestProject, is_again: bool) -> String {
    let mut event = stop().in_session("s").in_directory(project.root());
    event["stop_hook_active"] = json!(is_again);
    let run = project.hook(&event);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    let mut text = String::new();
    for key in ["decision", "reason", "systemMessage"] {
        if let Some(said) = answer[key].as_str() {
            text = format!("{text}{key}: {said}\n");
        }
    }
    if !run.stderr.is_empty() {
        text = format!("{text}standard error: {}\n", run.stderr);
    }
    text
}

#[test]
fn every_outcome_of_a_stop_has_its_words() {
    let mut all = String::new();
    let mut tell = |what: &str, project: &TestProject, text: String| {
        let text = text.replace(project.outside().to_str().unwrap(), "[machine]");
        all = format!("{all}== {what}\n{text}\n");
    };
    let green = project("");
    tell("passed", &green, stopped(&green, false));
    tell("nothing changed", &green, stopped(&green, false));

    let red = project("");
    red.file("src/broken", "");
    tell("failed", &red, stopped(&red, false));
    tell("failed, and nothing was changed", &red, stopped(&red, true));
    red.file("src/b.txt", "more\n");
    tell("failed again", &red, stopped(&red, true));
    red.file("src/b.txt", "and more\n");
    tell("retries are used up", &red, stopped(&red, true));

    let weakened = project("");
    weakened.file("src/broken", "");
    stopped(&weakened, false);
    weakened.file("tollgate.toml", GATES.replace("sh test.sh", "true"));
    tell("the gate was weakened", &weakened, stopped(&weakened, true));

    let broken = project("");
    stopped(&broken, false);
    broken.file("tollgate.toml", GATES.replace("run = ", "rnu = "));
    broken.file("src/b.txt", "more\n");
    tell(
        "the configuration is broken",
        &broken,
        stopped(&broken, false),
    );

    let off = project("");
    off.file(
        "tollgate.toml",
        GATES.replace("[gates.test]", "on_stop = false\n[gates.test]"),
    );
    tell("gates are off at stops", &off, stopped(&off, false));

    let missing = project("");
    missing.file(
        "tollgate.toml",
        GATES.replace("sh test.sh", "no-such-program"),
    );
    tell("the program is missing", &missing, stopped(&missing, false));

    let slow = project("");
    let text = GATES.replace("[gates.test]", "deadline = \"1s\"\n[gates.test]");
    slow.file("tollgate.toml", text.replace("sh test.sh", "sleep 60"));
    tell("there was no time", &slow, stopped(&slow, false));

    let ruled = project(
        "[[rule]]\nid = \"tests-with-src\"\ndeny = { write = [\"src/**\"] }\n\
         changed_with = [\"tests/**\"]\nreason = \"Code without a test is not done.\"\n",
    );
    ruled.file("src/c.txt", "c\n");
    tell("a rule about changes", &ruled, stopped(&ruled, false));

    let untrusted = project("");
    let mut event = stop().in_session("s").in_directory(untrusted.root());
    event["stop_hook_active"] = json!(false);
    let run = untrusted.run(&["hook", "--require-trust"], event.to_string().as_bytes());
    tell("nobody trusts the gates", &untrusted, run.stdout);
    let plain = filters(&green);
    plain.bind(|| insta::assert_snapshot!(all));
}
