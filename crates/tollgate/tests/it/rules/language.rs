//! `[[rule]]` in `tollgate.toml`: what is right, and what is said about what is wrong.

use super::ruled;

const RULE: &str = "[[rule]]\nid = \"x\"\n";

#[test]
fn a_mistake_is_named_with_its_place_and_what_to_do() {
    let mut all = String::new();
    for (text, place, said) in [
        (
            "[[rule]]\ndeny = { run = [\"x\"] }\n",
            "tollgate.toml:1",
            "rule[0].id: missing",
        ),
        (
            "[[rule]]\nid = \"a b\"\ndeny = { run = [\"x\"] }\n",
            "tollgate.toml:2:6",
            "is not a valid id of a rule",
        ),
        (
            &format!("{RULE}deny = {{ wirte = [\"x\"] }}\n"),
            "tollgate.toml:3:10",
            "did you mean `write`?",
        ),
        (
            &format!("{RULE}deni = {{ write = [\"x\"] }}\n"),
            "tollgate.toml:3:1",
            "did you mean `deny`?",
        ),
        (RULE, "tollgate.toml:1", "it has no `deny`, `ask` or `warn`"),
        (
            &format!("{RULE}deny = {{}}\n"),
            "tollgate.toml:3",
            "there is no effect in it",
        ),
        (
            &format!("{RULE}deny = {{ write = [] }}\n"),
            "tollgate.toml:3",
            "it covers nothing",
        ),
        (
            &format!("{RULE}deny = {{ write = [\"!a\"] }}\n"),
            "tollgate.toml:3",
            "it covers nothing",
        ),
        (
            &format!("{RULE}deny = {{ run = [\"x\"] }}\nask = {{ run = [\"x\"] }}\n"),
            "tollgate.toml:1",
            "it has deny and ask",
        ),
        (
            &format!("{RULE}deny = {{ write = [\"a[\"] }}\n"),
            "tollgate.toml:3:19",
            "unclosed",
        ),
        (
            &format!("{RULE}deny = {{ write = [\"../a\"] }}\n"),
            "tollgate.toml:3:19",
            "cannot contain `..`",
        ),
        (
            &format!("{RULE}deny = {{ write = [\"~bob/a\"] }}\n"),
            "tollgate.toml:3:19",
            "home directory",
        ),
        (
            &format!("{RULE}deny = {{ write = \"a\" }}\n"),
            "tollgate.toml:3:18",
            "a list of texts",
        ),
        (
            &format!("{RULE}deny = {{ push = {{ froce = true }} }}\n"),
            "tollgate.toml:3:19",
            "did you mean `force`?",
        ),
        (
            &format!("{RULE}deny = {{ push = 3 }}\n"),
            "tollgate.toml:3:17",
            "expected true, a table",
        ),
        (
            &format!("{RULE}deny = {{ run = [\"x\"] }}\nmode = \"wach\"\n"),
            "tollgate.toml:4:8",
            "one of enforce, warn, watch",
        ),
        (
            &format!("{RULE}deny = {{ run = [\"x\"] }}\nunknown = \"allow\"\n"),
            "tollgate.toml:4:11",
            "one of pass, ask, deny",
        ),
        (
            &format!("{RULE}deny = {{ run = [\"x\"] }}\nuntil = \"2026-13-01\"\n"),
            "tollgate.toml:4:9",
            "is not a date",
        ),
        (
            &format!("{RULE}deny = {{ run = [\"x\"] }}\nwhen = {{ agent = [\"claud-code\"] }}\n"),
            "tollgate.toml:4",
            "did you mean `claude-code`?",
        ),
        (
            &format!("{RULE}deny = {{ run = [\"x\"] }}\nwhen = {{ brnch = [\"main\"] }}\n"),
            "tollgate.toml:4:10",
            "did you mean `branch`?",
        ),
        (
            &format!("{RULE}deny = {{ run = [\"x\"] }}\nmatch = [{{ branch = \"a\" }}]\n"),
            "tollgate.toml:4:10",
            "the example does nothing",
        ),
        (
            &format!(
                "{RULE}deny = {{ run = [\"x\"] }}\nmatch = [{{ run = \"x\", edit = \"y\" }}]\n"
            ),
            "tollgate.toml:4:10",
            "does two things",
        ),
        (
            &format!("{RULE}deny = {{ run = [\"x\"] }}\nchanged_with = [\"tests/**\"]\n"),
            "tollgate.toml:4",
            "only changes of files",
        ),
        (
            &format!("{RULE}deny = {{ run = [\"x\"] }}\n{RULE}deny = {{ run = [\"y\"] }}\n"),
            "tollgate.toml:5:6",
            "there is another rule",
        ),
    ] {
        let run = ruled(text).tollgate(&["validate"]).exits(1);
        let run = run.says(place).says(said);
        all = format!("{all}{text}{}\n", run.stderr);
    }
    insta::assert_snapshot!("mistakes", all);
}

#[test]
fn a_failing_example_is_an_error_that_names_the_effect_found() {
    let text =
        format!("{RULE}deny = {{ delete = [\"db/**\"] }}\nmatch = [\n  \"echo x > db/a\",\n]\n");
    ruled(&text)
        .tollgate(&["validate"])
        .exits(1)
        .says("tollgate.toml:5:3")
        .says("should match, and does not: `echo x > db/a`")
        .says("writing /home/you/project/db/a");
    let text = format!("{RULE}deny = {{ write = [\"db/**\"] }}\nnot_match = [\"touch db/a\"]\n");
    ruled(&text)
        .tollgate(&["validate"])
        .exits(1)
        .says("matches, and should not: `touch db/a`");
    // Whatever command loads the file.
    ruled(&text)
        .tollgate(&["config", "show"])
        .exits(2)
        .says("matches, and should not");
}

#[test]
fn examples_say_what_they_assume() {
    let text = format!(
        "{RULE}deny = {{ commit = {{ branch = [\"main\"] }} }}\nwhen = {{ phase = [\"plan\"] }}\nmatch = [\"git commit -m x\", {{ run = \"git commit -m x\", branch = \"main\", phase = \"plan\" }}]\nnot_match = [{{ run = \"git commit -m x\", branch = \"dev\" }}, {{ run = \"git commit -m x\", phase = \"build\" }}]\n"
    );
    let project = ruled(&text);
    project.git(&["checkout", "-q", "-b", "somewhere"]);
    project
        .must(&["rules", "test"])
        .says("4 examples of 1 rule")
        .says("all as expected");
}

#[test]
fn rules_are_shown_with_their_origin() {
    let text = format!("{RULE}deny = {{ run = [\"x\"] }}\n");
    let shown = ruled(&text).must(&["config", "show", "--origin"]);
    shown.says("tollgate.toml:1");
    ruled(&text)
        .must(&["schema", "tollgate"])
        .says("\"deny\"")
        .says("\"not_match\"");
}

#[test]
fn what_is_hardly_meant_is_told() {
    let text = "[[rule]]\nid = \"old\"\ndeny = { run = [\"x\"] }\nuntil = \"2000-01-01\"\nmatch = [\"x\"]\n\
                [[rule]]\nid = \"rooted\"\ndeny = { write = [\"/src/**\"] }\nmatch = [\"touch /src/a\"]\n\
                [[rule]]\nid = \"twin\"\nwarn = { run = [\"x\"] }\nuntil = \"2000-01-01\"\nmatch = [\"x\"]\n\
                [[rule]]\nid = \"bare\"\nwarn = { run = [\"y\"] }\n";
    for command in [&["rules", "list"][..], &["validate"]] {
        ruled(text)
            .must(command)
            .says("expired on 2000-01-01")
            .says("begin it with `./`")
            .says("is about the same as \"old\"")
            .says("has no example in `match`");
    }
}
