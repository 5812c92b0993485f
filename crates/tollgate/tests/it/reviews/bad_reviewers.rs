//! Reviewers that answer nothing, nonsense, too much, too late or twice: never a pass, never a
//! fail.

use std::time::{Duration, Instant};

use super::{Reviews, claude, fail, pass};

#[test]
fn no_answer_is_neither_pass_nor_fail() {
    let good = claude(&pass());
    let draft = format!("cat <<'END'\n{good}\nEND\n");
    let is_error = good
        .to_string()
        .replace("\"is_error\":false", "\"is_error\":true");
    for (script, message) in [
        ("exit 0", "answered nothing"),
        ("echo 'Looks good to me!'", "gave no verdict"),
        (&format!("{draft}exit 3"), "ended with an error"),
        // Out of memory after the draft of a pass (the original took it for a pass).
        (
            &format!("{draft}kill -KILL $$"),
            "died before it had answered",
        ),
        (
            &format!("{draft}kill -TERM $$"),
            "died before it had answered",
        ),
        (&format!("echo '{is_error}'"), "ended with an error"),
        (
            "echo '{\"status\":\"pass\"} {\"status\":\"pass\"}'",
            "more than one verdict",
        ),
        (
            "echo '{\"status\":\"fail\",\"violations\":[{\"status\":\"pass\"}'",
            "cannot be read",
        ),
        // It began with a brace and went on in prose: the original span for ever.
        (
            "echo '{ ok } and then { \"a\": } prose }'",
            "cannot be read",
        ),
        ("printf '{\"status\":\"pass\"}\\377'", "no UTF-8"),
        (
            "head -c 10000000 /dev/zero | tr '\\0' '{'",
            "gave no verdict",
        ),
        (
            "head -c 20000000 /dev/zero | tr '\\0' 'x'; echo '{\"status\":\"pass\"}'",
            "printed too much",
        ),
        (
            "echo 'Claude AI usage limit reached' >&2; exit 1",
            "usage limit reached",
        ),
    ] {
        let reviews = Reviews::by("claude", "timeout: 60");
        reviews.install("claude", script);
        reviews.comes_to("inconclusive", message);
    }
}

/// A person may have set Claude Code to be verbose; then its answer is the last of a list.
#[test]
fn a_verbose_reviewer_is_heard() {
    for (object, result) in [(pass(), "pass"), (fail("bug"), "fail")] {
        let said = serde_json::json!([{ "type": "system", "cwd": "/p" }, claude(&object)]);
        let reviews = Reviews::by("claude", "timeout: 60");
        reviews.install("claude", &format!("cat <<'END'\n{said}\nEND"));
        assert_eq!(reviews.gate()["result"], result);
    }
}

/// D11: a fail that quotes a pass was a pass.
#[test]
fn d11_a_fail_beside_a_quoted_pass_never_passes() {
    let fail = fail("bug");
    let quoted = r#"{"status":"pass"}"#;
    for answer in [
        format!("{fail}\nThe code answers `{quoted}` in any case."),
        format!("{fail}\n```js\nreturn {quoted}\n```\n"),
        format!("It answers\n```json\n{quoted}\n```\nwhich is wrong:\n{fail}\n"),
        format!("{fail}\n{quoted}\n"),
    ] {
        let reviews = Reviews::by("command", "command: 'cat > /dev/null; cat answer'");
        reviews.gates.file("answer", &answer);
        assert_ne!(reviews.gate()["result"], "pass", "{answer}");
    }
}

/// An answer is the last object of the reply, alone or in a fence, with no verdict around it.
#[test]
fn a_quotation_is_no_verdict() {
    let quoted = r#"{"status":"pass","violations":[]}"#;
    let fenced = format!("```json\n{quoted}\n```");
    let cases = [
        (
            format!("I cannot review this. The answer would have this shape:\n{fenced}\n"),
            "says \\\"cannot\\\"",
        ),
        (
            format!("{quoted}\nVerdict: fail, the lock is never released.\n"),
            "says \\\"fail\\\"",
        ),
        (
            format!("The handler returns {quoted} for every request.\n"),
            "part of a quotation",
        ),
        (
            format!("{quoted}\nIt was tried with\n{{\"a\": 1}}\n"),
            "another object follows",
        ),
        (format!("{quoted}\n{quoted}\n"), "more than one verdict"),
    ];
    for (answer, why) in &cases {
        let reviews = Reviews::by("command", "command: 'cat > /dev/null; cat answer'");
        reviews.gates.file("answer", answer);
        let gate = reviews.gate();
        assert_eq!(gate["result"], "inconclusive", "{answer}");
        assert!(gate["message"].to_string().contains(why), "{gate:#}");
    }
    for (answer, result) in [
        (fenced.clone(), "pass"),
        (format!("I read both files.\n\n{fenced}\n\nDone.\n"), "pass"),
        (format!("Here is my review.\n{}\n", fail("bug")), "fail"),
    ] {
        let reviews = Reviews::by("command", "command: 'cat > /dev/null; cat answer'");
        reviews.gates.file("answer", &answer);
        assert_eq!(reviews.gate()["result"], result, "{answer}");
    }
}

#[test]
fn a_reviewer_that_never_ends_is_ended_with_all_it_started() {
    let reviews = Reviews::by("claude", "timeout: 1");
    let draft = claude(&pass());
    reviews.install(
        "claude",
        &format!("trap '' TERM\ncat <<'END'\n{draft}\nEND\nsleep 300 & echo $! > \"$0.pid\"\nwhile :; do sleep 1; done"),
    );
    let begun = Instant::now();
    reviews.comes_to("inconclusive", "did not answer in time: Timed out after 1s");
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
    let pid = reviews.heard("claude", "pid");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    assert!(
        stat.is_err() || stat.unwrap().contains(") Z "),
        "{pid} lives"
    );
}

#[test]
fn noise_on_standard_error_is_no_part_of_the_answer() {
    let reviews = Reviews::by("claude", "");
    let answer = claude(&pass());
    reviews.install(
        "claude",
        &format!("echo '{{\"status\":\"fail\"}}' >&2\nhead -c 3000000 /dev/zero | tr '\\0' 'n' >&2\necho '{answer}'"),
    );
    reviews.comes_to("pass", "");
}

#[test]
fn without_any_reviewer_installed_nothing_is_said_about_the_work() {
    let reviews = Reviews::by("claude, codex", "");
    reviews.comes_to(
        "inconclusive",
        "claude (claude is not in PATH); codex (codex is not in PATH)",
    );
    // The next one is asked, if there is one.
    reviews.install("codex", "echo '{\"status\":\"pass\"}'");
    reviews.comes_to("pass", "");
}

#[test]
fn a_program_in_the_project_is_not_found_through_a_relative_path() {
    let reviews = Reviews::by("claude", "");
    reviews
        .gates
        .file("claude", "#!/bin/sh\necho '{\"status\":\"pass\"}'\n");
    let mut command = reviews.gates.command(&["run"]);
    command.env("PATH", ".:/usr/bin:/bin");
    crate::project::run(command, b"")
        .exits(1)
        .says("claude is not in PATH");
}

#[test]
fn a_used_up_reviewer_makes_way_for_the_next() {
    let reviews = Reviews::by("claude, codex", "");
    reviews.install("claude", "echo 'You have hit your usage limit' >&2; exit 1");
    let text = fail("bug").to_string();
    reviews.install("codex", &format!("echo '{text}'"));
    let gate = reviews.gate();
    assert_eq!(gate["result"], "fail", "{gate:#}");
    assert_eq!(gate["slots"][0]["reviewer"], "codex@1");
    assert_eq!((reviews.calls("claude"), reviews.calls("codex")), (1, 1));
}

#[test]
fn a_change_that_is_too_large_is_not_half_reviewed() {
    let reviews = Reviews::by("claude", "");
    reviews.claude(&pass());
    reviews.gates.file("src/big.txt", "line\n".repeat(2 << 20));
    reviews.comes_to("inconclusive", "too large for one review");
    assert_eq!(reviews.calls("claude"), 0);
}

#[test]
fn a_pass_that_cannot_be_recorded_is_no_pass() {
    let reviews = Reviews::by("codex", "");
    let file = reviews
        .gates
        .path("gauntlet_logs/review_src_q_codex@1.1.json");
    let (file, text) = (file.display(), pass().to_string());
    reviews.install("codex", &format!("mkdir -p '{file}'; echo '{text}'"));
    reviews.comes_to("inconclusive", "its file cannot be written");
}
