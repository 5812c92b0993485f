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
