//! Gates that run at the same time, all looked after by one thread.

use super::Gates;

/// Says that it is there, and waits for all of them. A gate that would only be started after another
/// one has ended would never see it.
fn meets(me: &str, all: &[&str]) -> String {
    let there = all.iter().map(|name| format!("test -e $M/{name}"));
    let there = there.collect::<Vec<_>>().join(" && ");
    format!("touch $M/{me}; until {there}; do sleep 0.02; done")
}

#[test]
fn checks_and_a_review_run_side_by_side() {
    let all = ["a", "b", "review"];
    // In `src`, and at the root.
    let check = |me| format!("command: M=../.git; {}\nparallel: true", meets(me, &all));
    let gates = Gates::raw(
        &[("a", &check("a")), ("b", &check("b"))],
        "base_branch: main\nmax_parallel: 3\ncli: { default_preference: [command] }\nentry_points:\n  - path: src\n    checks: [a, b]\n    reviews: [r]\n",
    );
    let answer = r#"echo "{\"status\":\"pass\",\"message\":\"fine\"}""#;
    let review = format!(
        "prompt: look\ncommand: |\n  M=.git; cat >/dev/null; {}\n  {answer}",
        meets("review", &all)
    );
    gates.file(".gauntlet/reviews/r.yml", &review);
    let run = gates.tollgate(&["run"]).exits(0);
    for line in [
        "check:src:a (",
        "check:src:b (",
        "review:src:r (command@1) (",
    ] {
        assert!(run.stderr.contains(line), "{line}: {run:?}");
    }
}

#[test]
fn what_prints_much_is_looked_through_beside_the_others() {
    // In two pieces, because the log says what is run, too.
    let rest = "a1B2".repeat(9);
    let secret = format!("ghp_{rest}");
    let much = format!(
        "command: p=ghp; i=0; while [ $i -lt 3000 ]; do echo \"$i here is ${{p}}_{rest} and more of it\"; i=$((i+1)); done\nparallel: true"
    );
    let quiet = ("quiet", "command: \"true\"\nparallel: true");
    let gates = Gates::new(&[("one", &much), quiet, ("two", &much)]);
    gates.tollgate(&["run"]).exits(0);
    for name in ["one", "two"] {
        let log = gates.read(&format!("gauntlet_logs/previous/check_src_{name}.1.log"));
        assert!(!log.contains(&secret), "{name}");
        assert!(
            log.contains("\n2999 here is [redacted] and more of it\n"),
            "{name}"
        );
        assert!(log.ends_with("Result: pass\n"), "{name}");
    }
}

#[test]
fn what_ended_is_told_while_another_runs_on() {
    let until = |what: &str| {
        format!(
            "command: until grep -q '{what}' ../gauntlet_logs/console.1.log; do sleep 0.02; done\ntimeout: 20"
        )
    };
    // Side by side, and where the next one takes the only place.
    for limit in ["max_parallel: 2", "max_parallel: 1"] {
        let parallel = "command: \"true\"\nparallel: true";
        let last = format!("{}\nparallel: true", until("PASS.*:src:b"));
        let gates = Gates::with_config(
            &[("a", parallel), ("b", parallel), ("c", &last)],
            &format!("{limit}\n"),
        );
        gates.tollgate(&["run"]).exits(0);
    }
}

#[test]
fn a_gate_is_told_to_start_before_it_is_told_to_end() {
    let names: Vec<String> = (0..50).map(|number| format!("c{number}")).collect();
    let check = "command: \"true\"\nparallel: true";
    let checks: Vec<_> = names.iter().map(|name| (name.as_str(), check)).collect();
    let gates = Gates::new(&checks);
    let run = gates.tollgate(&["run"]).exits(0);
    let console = gates.read("gauntlet_logs/previous/console.1.log");
    assert_eq!(console, run.stderr, "a person is told the same");
    for name in &names {
        let at = |what: &str| {
            let is_it = |line: &str| line == what || line.starts_with(&format!("{what} ("));
            let line = console.lines().position(is_it);
            line.unwrap_or_else(|| panic!("{what}: {console}"))
        };
        let start = at(&format!("[START] check:src:{name}"));
        assert!(start < at(&format!("[PASS]  check:src:{name}")), "{name}");
    }
}
