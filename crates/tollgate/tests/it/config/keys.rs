//! Every key of `tollgate.toml`: what it does, and what is said if its value is wrong.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Own;
use crate::plans::toml as plans;
use crate::project::TestProject;

/// A key, a file in which its value is wrong with a part of what is said, and a test of what it does.
struct Case(&'static str, &'static str, &'static str, fn());

#[rustfmt::skip]
const CASES: &[Case] = &[
    Case("requires", "requires = \"new\"", "such as \">=0.2\"", requires),
    Case("gates", "gates = 3", "expected a table", || drop(Own::with("[gates.a]\nrun = \"true\"").must(&["run"]))),
    Case("gates.base", "[gates]\nbase = \"\"", "text that is not empty", base),
    Case("gates.exclude", "[gates]\nexclude = [\"[a\"]", "unclosed", exclude_everywhere),
    Case("gates.parallel", "[gates]\nparallel = 0", "at least 1", parallel_gates),
    Case("gates.max_retries", "[gates]\nmax_retries = -1", "at least 0", max_retries),
    Case("gates.reviewers", "[gates]\nreviewers = [\"claud\"]", "did you mean `claude`", reviewers),
    Case("gates.new_findings", "[gates]\nnew_findings = \"huge\"", "one of critical", new_findings),
    Case("gates.on_stop", "[gates]\non_stop = 1", "true or false", on_stop),
    Case("gates.deadline", "[gates]\ndeadline = 90", "write \"90s\"", deadline),
    Case("gates.loop_guard", "[gates]\nloop_guard = \"lax\"", "one of progress", loop_guard),
    Case("gates.keep_logs", "[gates]\nkeep_logs = \"all\"", "at least 0", keep_logs),
    Case("gates.NAME.run", "[gates.a]\nrun = 3", "put it in quotes", run),
    Case("gates.NAME.prompt", "[gates.a]\nprompt = \"\"\nreviewers = [\"claude\"]", "not empty", prompt),
    Case("gates.NAME.prompt_file", "[gates.a]\nprompt_file = \"no.md\"\nreviewers = [\"claude\"]", "there is no file", prompt_file),
    Case("gates.NAME.dir", "[gates.a]\nrun = \"x\"\ndir = \"../x\"", "not in the project", dir),
    Case("gates.NAME.inputs", "[gates.a]\nrun = \"x\"\ninputs = \"src/**\"", "a list of texts", inputs),
    Case("gates.NAME.exclude", "[gates.a]\nrun = \"x\"\nexclude = [\"!x\"]", "cannot be negated", exclude),
    Case("gates.NAME.timeout", "[gates.a]\nrun = \"x\"\ntimeout = \"10\"", "write \"10s\"", timeout),
    Case("gates.NAME.parallel", "[gates.a]\nrun = \"x\"\nparallel = \"yes\"", "true or false", parallel_gates),
    Case("gates.NAME.ci", "[gates.a]\nrun = \"x\"\nci = \"no\"", "true or false", ci),
    Case("gates.NAME.local", "[gates.a]\nrun = \"x\"\nlocal = 0", "true or false", local),
    Case("gates.NAME.fail_fast", "[gates.a]\nrun = \"x\"\nfail_fast = true\nparallel = true", "remove one", fail_fast),
    Case("gates.NAME.max_age", "[gates.a]\nrun = \"x\"\nmax_age = 7", "write \"7s\"", max_age),
    Case("gates.NAME.cache", "[gates.a]\nrun = \"x\"\ncache = \"no\"", "true or false", cache),
    Case("gates.NAME.fix", "[gates.a]\nrun = \"x\"\nfix = 1", "put it in quotes", fix),
    Case("gates.NAME.reviewers", "[gates.a]\nprompt = \"x\"\nreviewers = [\"command\"]", "has no program", reviewers),
    Case("gates.NAME.reviews", "[gates.a]\nprompt = \"x\"\nreviewers = [\"claude\"]\nreviews = 99", "at most 32", reviews),
    Case("gates.NAME.model", "[gates.a]\nprompt = \"x\"\nreviewers = [\"claude\"]\nmodel = 4", "put it in quotes", model),
    Case("gates.NAME.command", "[gates.a]\nprompt = \"x\"\nreviewers = [\"claude\"]\ncommand = \"y\"", "no reviewer runs this", prompt),
    Case("plans", "plans = []", "expected a table", plans::reviewer),
    Case("plans.reviewer", "[plans]\nreviewer = \"codx\"", "did you mean `codex`", plans::reviewer),
    Case("plans.timeout", "[plans]\ntimeout = 60", "write \"60s\"", plans::timeout),
    Case("plans.loop_guard", "[plans]\nloop_guard = true", "one of progress", plans::loop_guard),
    Case("workflow", "workflow = \"feature\"", "expected a table", workflow),
    Case("workflow.NAME.label", "[workflow.f]\nphases = [\"a\"]\nlabel = 1", "put it in quotes", workflow),
    Case("workflow.NAME.phases", "[workflow.f]\nphases = [\"a\", \"a\"]", "there twice", workflow),
    Case("workflow.NAME.phases[].name", "[workflow.f]\nphases = [{ writes = [] }]", "name: missing", workflow),
    Case("workflow.NAME.phases[].writes", "[workflow.f]\nphases = [{ name = \"a\", writes = [\"{a\"] }]", "unclosed", workflow),
    Case("workflow.NAME.phases[].needs", "[workflow.f]\nphases = [{ name = \"a\", needs = 1 }]", "a list of texts", workflow),
    Case("workflow.NAME.branch", "[workflow.f]\nphases = [\"a\"]\nbranch = \"no\"", "true or false", workflow),
    Case("workflow.NAME.gate_mode", "[workflow.f]\nphases = [\"a\"]\ngate_mode = \"lax\"", "one of strict", workflow),
    Case("workflow.NAME.branch_prefix", "[workflow.f]\nphases = [\"a\"]\nbranch_prefix = \"\"", "not empty", workflow),
    Case("rule", "rule = { id = \"x\" }", "a list of tables", rule),
];

/// The keys that the schema has.
fn schema_keys(schema: &Value, above: &str, keys: &mut BTreeSet<String>) {
    let inner = |schema: &Value, above: &str, keys: &mut BTreeSet<String>| {
        if let Some(each) = schema.get("additionalProperties").filter(|s| s.is_object()) {
            schema_keys(each, &format!("{above}.NAME"), keys);
        }
        for each in schema["items"]["anyOf"].as_array().into_iter().flatten() {
            schema_keys(each, &format!("{above}[]"), keys);
        }
        schema_keys(schema, above, keys);
    };
    for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
        let path = if above.is_empty() {
            key.clone()
        } else {
            format!("{above}.{key}")
        };
        inner(schema, &path, keys);
        keys.insert(path);
    }
}

#[test]
fn every_key_has_a_case() {
    let schema = TestProject::empty()
        .tollgate(&["schema", "tollgate"])
        .json();
    let mut keys = BTreeSet::new();
    schema_keys(&schema, "", &mut keys);
    let cases: BTreeSet<String> = CASES.iter().map(|case| case.0.to_owned()).collect();
    assert_eq!(keys, cases);
}

#[test]
fn every_key_has_its_error() {
    let mut all = String::new();
    for Case(key, text, said, _) in CASES {
        let project = TestProject::empty().with_toml(text);
        let run = project.tollgate(&["validate"]).exits(1);
        let said = run.stderr.contains(said) && run.stderr.contains("error: tollgate.toml:");
        assert!(said, "{key}: {run:?}");
        let name = key.rsplit('.').next().unwrap();
        let names =
            run.stderr.contains(&format!("{name}:")) || run.stderr.contains(&format!("{name}["));
        assert!(names, "{key}: {run:?}");
        all = format!("{all}== {key}\n{}\n", run.stderr);
    }
    insta::assert_snapshot!("errors", all);
}

/// In three parts, which run side by side.
fn effects(part: usize) {
    let mut effects: Vec<fn()> = Vec::new();
    for Case(_, _, _, effect) in CASES {
        if !effects
            .iter()
            .any(|seen| std::ptr::fn_addr_eq(*seen, *effect))
        {
            effects.push(*effect);
        }
    }
    effects
        .iter()
        .skip(part)
        .step_by(3)
        .for_each(|effect| effect());
}

#[test]
fn every_key_has_its_effect_1() {
    effects(0);
}

#[test]
fn every_key_has_its_effect_2() {
    effects(1);
}

#[test]
fn every_key_has_its_effect_3() {
    effects(2);
}

/// Whether a gate is called for by a change of this file, after it passed.
fn is_called(toml: &str, file: &str) -> bool {
    let own = Own::with(toml);
    own.file("web/a.ts", "a\n");
    own.must(&["run"]);
    own.file(file, "changed\n");
    own.tollgate(&["detect"]).code == 0
}

fn requires() {
    let own = Own::new("requires = \">=99\"\nfuture = 1\n[gates.a]\nrun = \"true\"\n");
    let run = own.tollgate(&["run"]).exits(2);
    run.says("too old, so nothing is verified")
        .does_not_say("unknown key");
    own.toml("requires = \">=0.1\"\n[gates]\nbase = \"main\"\n[gates.a]\nrun = \"true\"\n");
    own.must(&["run"]);
}

fn base() {
    let own = Own::new("[gates]\nbase = \"nowhere\"\n[gates.a]\nrun = \"true\"\n");
    own.tollgate(&["run"])
        .exits(2)
        .says("\"nowhere\"")
        .does_not_say("config.yml");
}

fn exclude_everywhere() {
    let gate = "[gates.a]\nrun = \"true\"";
    assert!(is_called(gate, "src/x.txt"));
    assert!(!is_called(
        &format!("exclude = [\"*.txt\"]\n{gate}"),
        "src/x.txt"
    ));
}

/// Two gates that wait for each other pass only side by side.
fn parallel_gates() {
    let waits = |own: &str, other: &str, parallel: bool| {
        format!(
            "[gates.{own}]\nparallel = {parallel}\nrun = '''\n> \"$HOME/{own}\"\ni=0\nwhile [ ! -e \"$HOME/{other}\" ]; do\n  i=$((i + 1)); [ $i -gt 40 ] && exit 1; sleep 0.05\ndone'''\n"
        )
    };
    for (most, parallel, code) in [(2, true, 0), (1, true, 1), (2, false, 1)] {
        let (one, two) = (waits("one", "two", parallel), waits("two", "one", parallel));
        let own = Own::with(&format!("parallel = {most}\n{one}{two}"));
        own.tollgate(&["run"]).exits(code);
    }
}

fn max_retries() {
    let gates = |retries: u64| format!("max_retries = {retries}\n[gates.a]\nrun = \"false\"");
    let said = Own::with(&gates(0)).lets_go(false);
    assert!(said.contains("Retry limit exceeded"), "{said}");
    let own = Own::with(&gates(1));
    own.blocks(false);
    own.file("src/b.txt", "another\n");
    own.lets_go(true);
}

/// A review that answers with the file `answer`.
const REVIEW: &str = "[gates.q]\nprompt = \"Look for XYZ.\"\ncommand = \"cat > .tollgate/local/asked; cat answer\"\n";

fn reviewed(more: &str, review: &str) -> Own {
    let own = Own::with(&format!(
        "exclude = [\"/asked\", \"/answer\"]\n{more}\n{REVIEW}{review}"
    ));
    own.file("answer", "{\"status\": \"pass\"}");
    own
}

fn reviewers() {
    reviewed("reviewers = [\"command\"]", "")
        .must(&["run"])
        .says("by command@1");
    reviewed("reviewers = [\"claude\"]", "reviewers = [\"command\"]")
        .must(&["run"])
        .says("by command@1");
    let own = Own::with("[gates.q]\nprompt = \"x\"");
    own.tollgate(&["run"]).exits(2).says("no reviewer is named");
}

fn new_findings() {
    let finding = |status: &str, issue: &str, priority: &str| {
        json!({ "status": status, "message": null, "violations": [{ "id": null,
            "file": "src/b.txt", "line": 1, "issue": issue, "fix": "x", "priority": priority }] })
    };
    for (least, code) in [("low", 1), ("high", 0)] {
        let setting = format!("new_findings = \"{least}\"\nreviewers = [\"command\"]");
        let own = reviewed(&setting, "");
        own.file("answer", finding("fail", "first", "high").to_string());
        own.tollgate(&["run"]).exits(1);
        let logs = std::fs::read_dir(own.path(".tollgate/logs")).unwrap();
        let names = logs.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut files = names.filter(|name| name.starts_with("review_") && name.contains(".json"));
        let name = format!(".tollgate/logs/{}", files.next().unwrap());
        let mut file: Value = serde_json::from_str(&own.read(&name)).unwrap();
        file["violations"][0]["status"] = json!("fixed");
        file["violations"][0]["result"] = json!("done");
        own.file(&name, file.to_string());
        own.file("src/b.txt", "better\n");
        own.file("answer", finding("pass", "second", "medium").to_string());
        own.tollgate(&["run"]).exits(code);
    }
}

fn on_stop() {
    let own = Own::with("on_stop = false\n[gates.a]\nrun = \"false\"");
    let said = own.lets_go(false);
    assert!(said.contains("NOT verified"), "{said}");
}

fn deadline() {
    let own = Own::with("deadline = \"1s\"\n[gates.a]\nrun = \"sleep 60\"");
    let begun = std::time::Instant::now();
    let said = own.lets_go(false);
    assert!(begun.elapsed().as_secs() < 30, "{said}");
    assert!(said.contains("(`deadline`)"), "{said}");
}

fn loop_guard() {
    for (guard, is_gated) in [("strict", false), ("progress", true)] {
        let own = Own::with(&format!(
            "loop_guard = \"{guard}\"\n[gates.a]\nrun = \"false\""
        ));
        own.blocks(false);
        own.file("src/b.txt", "another\n");
        if is_gated {
            own.blocks(true);
        } else {
            own.lets_go(true);
        }
    }
}

fn keep_logs() {
    for (keep, is_kept) in [(0, false), (1, true)] {
        let own = Own::with(&format!("keep_logs = {keep}\n[gates.a]\nrun = \"true\""));
        own.must(&["run"]);
        assert_eq!(own.exists(".tollgate/logs/previous"), is_kept, "{keep}");
    }
}

fn run() {
    let own = Own::with("[gates.a]\nrun = \"echo $BASE_BRANCH > $HOME/base; exit 3\"");
    own.tollgate(&["run"]).exits(1).says("Exited with code 3");
    let base = std::fs::read_to_string(own.home().join("base")).unwrap();
    assert_eq!(base, "main\n");
}

fn prompt() {
    let own = reviewed("reviewers = [\"command\"]", "");
    own.must(&["run"]);
    assert!(
        own.read(".tollgate/local/asked").contains("Look for XYZ."),
        "{}",
        own.read(".tollgate/local/asked")
    );
}

fn prompt_file() {
    let own = Own::with(
        "[gates.q]\nprompt_file = \"docs/look.md\"\nreviewers = [\"command\"]\ncommand = \"cat > .tollgate/local/asked; echo '{\\\"status\\\": \\\"pass\\\"}'\"",
    );
    own.file("docs/look.md", "Look for races.\n");
    own.must(&["run"]);
    assert!(
        own.read(".tollgate/local/asked")
            .contains("Look for races."),
        "{}",
        own.read(".tollgate/local/asked")
    );
}

fn dir() {
    let gate = "[gates.a]\nrun = \"test -e a.ts\"\ndir = \"web\"";
    assert!(is_called(gate, "web/b.ts"));
    assert!(!is_called(gate, "src/b.txt"));
    let own = Own::with("[gates.a]\nrun = \"true\"\ndir = \"gone\"");
    own.tollgate(&["run"])
        .exits(2)
        .says("there is no directory \"gone\"");
}

fn inputs() {
    let gate = "[gates.a]\nrun = \"sh web/test.sh || true\"\ninputs = [\"src/**\", \"*.md\"]";
    for (file, expected) in [
        ("src/deep/x.txt", true),
        ("docs/x.md", true),
        ("web/a.ts", false),
        // Whatever is named: what says how the command does its work.
        ("package.json", true),
        ("web/package.json", false),
    ] {
        assert_eq!(is_called(gate, file), expected, "{file}");
    }
    let own = Own::with(gate);
    own.file("web/test.sh", "true\n");
    own.must(&["run"]);
    own.file("web/test.sh", "exit 0\n");
    own.tollgate(&["detect"]).exits(0);
}

fn exclude() {
    let gate = "[gates.a]\nrun = \"true\"\ndir = \"src\"\nexclude = [\"generated\"]";
    assert!(is_called(gate, "src/x.txt"));
    assert!(!is_called(gate, "src/a/generated/x.txt"));
}

fn timeout() {
    let own = Own::with("[gates.a]\nrun = \"sleep 60\"\ntimeout = \"200ms\"");
    own.tollgate(&["run"]).exits(1).says("Timed out");
    Own::with("[gates.a]\nrun = \"true\"\ntimeout = \"0s\"").must(&["run"]);
}

/// The names of the gates that would run.
fn wanted(own: &Own) -> Vec<String> {
    let gates = own.json(&["detect"])["gates"].clone();
    let names = gates.as_array().unwrap().iter();
    names
        .map(|gate| gate["name"].as_str().unwrap().to_owned())
        .collect()
}

fn ci() {
    let gates = "[gates.a]\nrun = \"true\"\nci = false\n[gates.b]\nrun = \"true\"";
    assert_eq!(wanted(&Own::with(gates)), ["a", "b"]);
    assert_eq!(wanted(&Own::with(gates).env("CI", "true")), ["b"]);
}

fn local() {
    let gates = "[gates.a]\nrun = \"true\"\nlocal = false\n[gates.b]\nrun = \"true\"";
    assert_eq!(wanted(&Own::with(gates)), ["b"]);
}

fn max_age() {
    for (max_age, verification) in [("0s", "stale"), ("1h", "verified")] {
        let own = Own::with(&format!(
            "[gates.a]\nrun = \"true\"\nmax_age = \"{max_age}\""
        ));
        own.tollgate(&["run"]);
        let status: Value = own.json(&["status"]);
        let gate = &status["gates"]["gates"][0];
        assert_eq!(gate["verification"], verification, "{max_age}: {gate}");
    }
}

fn cache() {
    for (cache, runs) in [("true", 1), ("false", 2)] {
        let own = Own::with(&format!(
            "[gates.a]\nrun = \"echo x >> $HOME/ran\"\ncache = {cache}"
        ));
        own.tollgate(&["run"]).exits(0);
        own.tollgate(&["run"]).exits(0);
        let ran = std::fs::read_to_string(own.home().join("ran")).unwrap();
        assert_eq!(ran.lines().count(), runs, "{cache}");
    }
}

fn fail_fast() {
    for (fail_fast, ran) in [(true, false), (false, true)] {
        let own = Own::with(&format!(
            "parallel = 1\n[gates.a]\nrun = \"false\"\nfail_fast = {fail_fast}\n[gates.b]\nrun = \"touch $HOME/ran\""
        ));
        own.tollgate(&["run"]).exits(1);
        assert_eq!(own.home().join("ran").exists(), ran, "{fail_fast}");
    }
}

fn fix() {
    for fix in ["Use the left hand.", "docs/help.md"] {
        let own = Own::with(&format!("[gates.a]\nrun = \"false\"\nfix = \"{fix}\""));
        own.file("docs/help.md", "Use the left hand.\n");
        own.tollgate(&["run"]).exits(1);
        let log = own.read(".tollgate/logs/check_._a.1.log");
        assert!(log.contains("Use the left hand."), "{log}");
    }
}

fn reviews() {
    let own = reviewed("reviewers = [\"command\"]", "reviews = 2");
    own.must(&["run"]).says("by command@1").says("by command@2");
}

fn model() {
    let own = reviewed("reviewers = [\"claude\"]\n", "model = \"small\"");
    // Nobody but the reviewer `command` needs a program.
    let text = own.read("tollgate.toml").replace(
        "command = \"cat > .tollgate/local/asked; cat answer\"\n",
        "",
    );
    own.toml(&text);
    own.tollgate(&["trust", "--show"]).says("(model small)");
}

/// What `writes` and `needs` do is in `workflow::toml`.
fn workflow() {
    let text = "[gates]\nbase = \"main\"\n[workflow.f]\nlabel = \"Feature\"\nphases = [\"plan\", { name = \"build\", writes = [\"src/**\"], needs = [\"gates\"] }]\nbranch = false\nbranch_prefix = \"f/\"\ngate_mode = \"permissive\"\n";
    let own = Own::new(text);
    let values = own.json(&["config", "show"])["values"]["workflow"]["f"].clone();
    assert_eq!(values["phases"][1]["needs"], json!(["gates"]), "{values}");
    assert_eq!(
        (&values["label"], &values["branch"]),
        (&json!("Feature"), &json!(false))
    );
    own.must(&["workflow", "start", "f", "a thing"])
        .says("plan → build")
        .does_not_say("branch:");
    own.gives_up(&["workflow", "cancel", "--reason", "once more"]);
    own.toml(&text.replace("branch = false", "branch = true"));
    own.commit("clean");
    own.must(&["workflow", "start", "f", "a thing"])
        .says("branch:    f/");
}

fn rule() {
    let own = Own::with(
        "[gates.a]\nrun = \"true\"\n[[rule]]\nid = \"x\"\ndeny = { write = [\"db/**\"] }",
    );
    let shown = own.json(&["rules", "list"]);
    assert_eq!(shown["rules"][0]["id"], "x", "{shown}");
}
