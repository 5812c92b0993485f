//! Several reviews of one change.

use serde_json::json;

use super::{Reviews, claude, fail, pass};

fn plain(object: &serde_json::Value) -> String {
    format!("echo '{object}'")
}

#[test]
fn reviews_go_round_the_reviewers_that_are_there() {
    let reviews = Reviews::by("claude, gemini, codex", "num_reviews: 3");
    reviews.claude(&pass()).install("codex", &plain(&pass()));
    let gate = reviews.gate();
    let labels: Vec<_> = gate["slots"]
        .as_array()
        .unwrap()
        .iter()
        .map(|slot| slot["reviewer"].clone())
        .collect();
    assert_eq!(labels, ["claude@1", "codex@2", "claude@3"], "{gate:#}");
    assert_eq!(gate["result"], "pass");
}

#[test]
fn one_fail_is_a_fail_of_all_and_no_answer_is_no_pass() {
    let reviews = Reviews::by("claude, codex", "num_reviews: 2");
    reviews
        .claude(&pass())
        .install("codex", &plain(&fail("bug")));
    reviews.comes_to("fail", "Found 1 violation(s)");
    let reviews = Reviews::by("claude, codex", "num_reviews: 2");
    reviews.claude(&pass()).install("codex", "exit 1");
    reviews.comes_to("inconclusive", "ended with an error");
    let reviews = Reviews::by("claude, codex", "num_reviews: 2\nparallel: false");
    reviews.claude(&fail("bug")).install("codex", "exit 1");
    reviews.comes_to("fail", "Found 1 violation(s)");
}

/// P19: a review slot that had passed was reviewed again when its adapter changed.
#[test]
fn p19_a_slot_that_passed_is_not_reviewed_again_while_another_is() {
    // Also when it would be another reviewer's turn now.
    let reviews = Reviews::by("claude, codex", "num_reviews: 2");
    reviews
        .claude(&pass())
        .install("codex", &plain(&fail("bug")));
    reviews.review().exits(1);
    reviews.gates.file("src/b.txt", "better\n");
    reviews
        .review()
        .exits(1)
        .says("Skipped: passed in iteration 1");
    reviews.gates.file("src/b.txt", "better still\n");
    reviews
        .review()
        .exits(1)
        .says("Skipped: passed in iteration 1");
    assert_eq!((reviews.calls("claude"), reviews.calls("codex")), (1, 3));
    let file = reviews.file("claude@1.3.json");
    assert_eq!(
        (file["status"].as_str(), &file["passIteration"]),
        (Some("skipped_prior_pass"), &json!(1))
    );
}

/// P16: parallel reviews of one adapter exchanged their prompts.
#[test]
fn p16_reviews_at_once_do_not_mix_up_their_questions() {
    // The original's reviewers read each other's questions, from files that were named alike when
    // two of them began in one millisecond: a question must have no name at all.
    let reviews = Reviews::by("command", "");
    let config = reviews.gates.read(".gauntlet/config.yml");
    let config = config.replace("reviews: [q]", "reviews: [q, r]");
    reviews.gates.file(".gauntlet/config.yml", &config);
    let questions = reviews.gates.path("questions").display().to_string();
    for (name, word) in [("q", "apples"), ("r", "pears")] {
        let front = format!(
            "num_reviews: 4\ncommand: 'readlink /proc/$$/fd/0 >> \"{questions}\"; grep -qx \"Look for {word}.\" && echo \"{{\\\"status\\\": \\\"pass\\\"}}\"'"
        );
        let text = format!("---\n{front}\n---\nLook for {word}.\n");
        reviews
            .gates
            .file(&format!(".gauntlet/reviews/{name}.md"), &text);
    }
    let run = reviews.review().exits(0);
    assert_eq!(
        run.stdout.matches("[PASS]").count() + run.stderr.matches("[PASS]").count(),
        8,
        "{run:?}"
    );
    let questions = std::fs::read_to_string(questions).unwrap();
    assert_eq!(questions.lines().count(), 8);
    for question in questions.lines() {
        assert!(question.ends_with("(deleted)"), "{question}");
    }
}

/// The names of their files differ in nothing that a file's name keeps.
#[test]
fn reviews_of_places_beyond_ascii_keep_their_findings_apart() {
    let reviews = Reviews::by("claude", "parallel: false");
    let config = reviews.gates.read(".gauntlet/config.yml");
    let config = config.replace("path: src", "path: \"pkg/*\"");
    reviews.gates.file(".gauntlet/config.yml", &config);
    reviews.gates.file("pkg/文档/x", "x\n");
    let bad = reviews.gates.file("pkg/测试/x", "bad\n");
    let mut found = fail("it is wrong");
    found["violations"][0]["file"] = json!("pkg/测试/x");
    let (found, fine) = (claude(&found), claude(&pass()));
    reviews.install(
        "claude",
        &format!("if grep -q +bad \"$0.asked\"; then cat <<'END'\n{found}\nEND\nelse cat <<'END'\n{fine}\nEND\nfi"),
    );
    reviews.review().exits(1);
    // The other place is as it was, and the finding has no answer.
    std::fs::remove_dir_all(reviews.gates.path("pkg/文档")).unwrap();
    assert!(bad.exists());
    reviews.claude(&pass());
    reviews.comes_to("fail", "Found 1 violation(s)");
}

#[test]
fn fewer_reviews_lose_no_finding() {
    let reviews = Reviews::by("claude, codex", "num_reviews: 2");
    reviews
        .claude(&pass())
        .install("codex", &plain(&fail("bug")));
    reviews.review().exits(1);
    reviews.gates.file(
        ".gauntlet/reviews/q.md",
        "---\nnum_reviews: 1\n---\nLook for bugs.\n",
    );
    reviews.comes_to("fail", "Found 1 violation(s)");
}
