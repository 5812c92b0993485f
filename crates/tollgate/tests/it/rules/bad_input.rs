//! Rules that are broken, huge, hostile, or changed by the agent.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::{MIGRATIONS, answer, command, ruled};

#[test]
fn while_the_file_is_broken_the_last_good_rules_hold_and_that_is_said() {
    let project = ruled(MIGRATIONS);
    project.hook(&command("rm db/migrations/1.sql")).denies();
    let failing = MIGRATIONS.replace("cat db", "touch db");
    for broken in ["[[rule]\n", "", "[[rule]]\nid = 3\n", &failing, "x = 1\n"] {
        project.file("tollgate.toml", broken);
        let run = project.hook(&command("rm db/migrations/1.sql").clone());
        if broken.is_empty() {
            // That is no mistake: there are no rules any more.
            assert_eq!(answer(&run), None);
            project.file("tollgate.toml", MIGRATIONS);
            project.hook(&command("rm db/migrations/1.sql")).denies();
            continue;
        }
        assert_eq!(answer(&run).as_deref(), Some("deny"), "{broken:?}");
        assert!(
            project.codes().iter().any(|code| code == "rules-broken"),
            "{broken:?}"
        );
    }
    assert_eq!(answer(&project.hook(&command("ls"))), None);
    project.file("tollgate.toml", MIGRATIONS.replace("db/migrations", "sql"));
    assert_eq!(
        answer(&project.hook(&command("rm db/migrations/1.sql"))),
        None
    );
}

#[test]
fn a_persons_own_broken_file_stops_nobody_and_is_named() {
    let project = ruled(MIGRATIONS);
    project.at_home(
        ".config/tollgate/tollgate.toml",
        "[[rule]]\nid = \"m\"\ndeny = { run = [\"a\"] }\nmatch = [\"b\"]\n",
    );
    project.hook(&command("rm db/migrations/1.sql")).denies();
    project
        .must(&["validate"])
        .says("it is not used until that is corrected");
}

#[test]
fn ten_thousand_rules_are_refused_at_once() {
    let mut text = String::new();
    for number in 0..10_000 {
        let _ = writeln!(
            text,
            "[[rule]]\nid = \"r{number}\"\ndeny = {{ run = [\"a{number}\"] }}"
        );
    }
    let project = ruled(&text);
    let begun = Instant::now();
    project
        .tollgate(&["validate"])
        .exits(1)
        .says("there are 10000 rules, more than 2000");
    project.hook(&command("ls")).says("more than 2000");
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn a_huge_file_is_named_and_lets_the_agent_go_on() {
    let project = ruled(&format!("{MIGRATIONS}# {}\n", "x".repeat(2 << 20)));
    project.tollgate(&["validate"]).exits(1);
    assert_eq!(answer(&project.hook(&command("ls"))), None);
    assert!(project.codes().iter().any(|code| code == "rules-broken"));
}

#[test]
fn hostile_patterns_are_refused_or_answered_in_time() {
    let braces = "{a,b,c,d,e}".repeat(9);
    ruled(&format!(
        "[[rule]]\nid = \"x\"\ndeny = {{ write = [\"{braces}\"] }}\n"
    ))
    .tollgate(&["validate"])
    .exits(1)
    .says("too many");
    let stars = "**/*a".repeat(60);
    let words = "*a".repeat(400);
    let project = ruled(&format!(
        "[[rule]]\nid = \"x\"\ndeny = {{ write = [\"{stars}\"], run = [\"{words}\"] }}\n"
    ));
    let long = "a".repeat(3000);
    let event = command(&format!("touch {long}/{long}b && {long}b")).to_string();
    project.hook_within(4, event.as_bytes()).allows();
}

#[test]
fn many_events_at_once_meet_a_change_and_all_decide_by_it() {
    let project = ruled(MIGRATIONS);
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..12)
            .map(|_| scope.spawn(|| project.hook(&command("rm db/migrations/1.sql"))))
            .collect();
        for one in all {
            assert_eq!(answer(&one.join().unwrap()).as_deref(), Some("deny"));
        }
    });
    let kept = project.home().join(".local/state/tollgate/compiled");
    let entries = std::fs::read_dir(kept).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    let names: Vec<_> = names.filter(|name| !name.starts_with('.')).collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

#[test]
fn control_characters_in_a_rules_texts_reach_no_terminal() {
    let project =
        ruled("[[rule]]\nid = \"x\"\ndeny = { run = [\"make\"] }\nreason = \"a\\u001b[31mb\"\n");
    let listed = project.must(&["rules", "list"]);
    assert!(!listed.stdout.contains('\u{1b}'), "{listed:?}");
}

/// A file of another tool is refused as one, however large it is.
#[test]
fn a_hostile_file_to_import_is_refused_in_time_with_its_place() {
    let project = ruled("");
    let entries = vec!["\"Bash(rm -rf /x:*)\""; 50_000].join(",");
    project.file(
        "a.json",
        format!("{{\"permissions\":{{\"deny\":[{entries}]}}}}"),
    );
    let rule = "prefix_rule(pattern=[\"rm\"], decision=\"forbidden\")\n";
    project.file("a.rules", rule.repeat(50_000));
    let choices = vec!["[\"a\", \"b\"]"; 64].join(", ");
    let rule = format!("prefix_rule(pattern=[{choices}], decision=\"forbidden\")\n");
    project.file("b.rules", rule);
    project.file("b.json", b"{\"permissions\":\n{\"deny\":[\"Read(\xff)\"]}}");
    for (file, code, said) in [
        ("a.json", 2, "it has more than 2000 rules"),
        ("a.rules", 2, "it has more than 2000 rules"),
        ("b.rules", 1, "its pattern cannot be read"),
        ("b.json", 2, "b.json:2: it is not UTF-8 text"),
    ] {
        let begun = Instant::now();
        project
            .tollgate(&["rules", "import", file])
            .exits(code)
            .says(said);
        assert!(begun.elapsed() < Duration::from_secs(20), "{file}");
    }
    // With a mark in front and lines as Windows ends them, it is read.
    let text = "\u{feff}{\r\n\"permissions\":\r\n{\"deny\":[\"Read(./.env)\"]}}\r\n";
    project.file("c.json", text);
    project
        .must(&["rules", "import", "c.json"])
        .says("1 rule imported");
    project.file("tollgate.toml", b"# a\n# \xff\n");
    project
        .tollgate(&["rules", "list"])
        .exits(2)
        .says("the file is not UTF-8 text: line 2");
}
