//! How each reviewer is started, and what of its output counts.

use serde_json::json;

use super::{Reviews, claude, fail, pass};

#[test]
fn claude_is_started_without_hooks_and_can_only_read() {
    let reviews = Reviews::by("claude", "model: opus");
    reviews.claude(&fail("bug"));
    reviews
        .review()
        .exits(1)
        .says("[FAIL]")
        .says("Found 1 violation(s)")
        .says("Review: gauntlet_logs/review_src_q_claude@1.1.json");
    let args = reviews.heard("claude", "args");
    for wanted in [
        "-p\n",
        "--output-format\njson\n",
        "--settings\n{\"disableAllHooks\":true}\n",
        "--setting-sources\nuser\n",
        "--tools\nRead,Grep,Glob\n",
        "--model\nopus\n",
        "--json-schema\n{",
    ] {
        assert!(args.contains(wanted), "{wanted}: {args}");
    }
    let env = reviews.heard("claude", "env");
    for wanted in ["TASKIE_HOOK_SKIP=true", "GAUNTLET_STOP_HOOK_ACTIVE=1"] {
        assert!(env.lines().any(|line| line == wanted), "{wanted}: {env}");
    }
    // The depth, and the word of the run that made the mark.
    let mut lines = env.lines();
    let mark = lines.find_map(|line| line.strip_prefix("TOLLGATE_DEPTH=1."));
    assert!(mark.is_some_and(|word| !word.is_empty()), "{env}");
    let asked = reviews.heard("claude", "asked");
    assert!(asked.starts_with("Look for bugs.\n"), "{asked}");
    assert!(
        asked.contains("\n--- DIFF ---\ndiff --git a/src/b.txt b/src/b.txt\n"),
        "{asked}"
    );
    let file = reviews.file("claude@1.1.json");
    assert_eq!(file["adapter"], "claude");
    assert_eq!(file["status"], "fail");
    assert_eq!(file["cost_usd"], json!(0.25));
    assert_eq!(file["input_tokens"], json!(100));
    assert_eq!(file["output_tokens"], json!(20));
    let finding = &file["violations"][0];
    assert_eq!(
        (finding["status"].as_str(), &finding["result"]),
        (Some("new"), &json!(null))
    );
    assert_eq!(finding["fix"], "mend it");
}

#[test]
fn each_of_them_can_pass_and_fail() {
    let object = |status: &str| json!({ "status": status, "violations": [] }).to_string();
    let codex = |status: &str| {
        let item = json!({ "type": "item.completed", "item": { "type": "agent_message", "text": object(status) } });
        format!(
            "{{\"type\":\"turn.started\"}}\n{item}\n{{\"type\":\"turn.completed\",\"usage\":{{}}}}"
        )
    };
    let gemini = |status: &str| {
        json!({ "response": format!("Done.\n```json\n{}\n```", object(status)), "stats": {} })
            .to_string()
    };
    let cursor = |status: &str| {
        json!({ "type": "result", "subtype": "success", "is_error": false, "result": object(status) }).to_string()
    };
    let printed = |name: &str, status: &str| match name {
        "codex" => codex(status),
        "gemini" => gemini(status),
        "cursor" => cursor(status),
        _ => format!("My review:\n\n{}", object(status)),
    };
    for (name, program, sure) in [
        ("codex", "codex", "--disable\nhooks\n"),
        ("gemini", "gemini", "--approval-mode\nplan\n"),
        ("github-copilot", "copilot", "--deny-tool=write\n"),
        ("cursor", "cursor-agent", "--trust\n"),
        ("cursor", "agent", "--trust\n"),
    ] {
        for status in ["pass", "fail"] {
            let reviews = Reviews::by(name, "");
            reviews.install(
                program,
                &format!("cat <<'END'\n{}\nEND", printed(name, status)),
            );
            let gate = reviews.gate();
            assert_eq!(gate["result"], status, "{name}: {gate:#}");
            let args = reviews.heard(program, "args");
            assert!(args.contains(sure), "{name}: {args}");
            let question = format!("{}{args}", reviews.heard(program, "asked"));
            assert!(question.contains("Look for bugs."), "{name}");
        }
    }
}

#[test]
fn any_program_can_review() {
    let reviews = Reviews::by(
        "command",
        "command: 'grep -q \"^+b$\" && echo \"{\\\"status\\\": \\\"pass\\\"}\"'",
    );
    reviews.comes_to("pass", "");
    // What is asked is data: nothing in it reaches the shell.
    let reviews = Reviews::by(
        "command",
        "command: 'cat > /dev/null; echo \"{\\\"status\\\": \\\"fail\\\"}\"'",
    );
    reviews
        .gates
        .file("src/b.txt", "$(touch pwned) `touch pwned`; touch pwned\n");
    reviews.comes_to("fail", "does not say what is wrong");
    assert!(!reviews.gates.exists("pwned") && !reviews.gates.exists("src/pwned"));
}

#[test]
fn a_model_is_a_name_and_not_a_flag() {
    let reviews = Reviews::by("claude", "model: --dangerously-skip-permissions");
    reviews.claude(&pass());
    reviews.comes_to("inconclusive", "is not the name of a model");
    assert_eq!(reviews.calls("claude"), 0);
}

#[test]
fn what_the_entry_point_excludes_is_not_shown() {
    let reviews = Reviews::by("claude", "");
    reviews.claude(&pass());
    reviews.gates.file("src/generated/x.txt", "secret words\n");
    reviews.gates.file("elsewhere.txt", "other words\n");
    reviews.comes_to("pass", "");
    let asked = reviews.heard("claude", "asked");
    assert!(asked.contains("+b\n"), "{asked}");
    assert!(
        !asked.contains("secret words") && !asked.contains("other words"),
        "{asked}"
    );
}

/// What an entry point matches is reviewed, however it says so: nobody passes unasked.
#[test]
fn a_reviewer_is_shown_text_whatever_attributes_say() {
    let reviews = Reviews::by("claude", "");
    reviews.claude(&json!({ "status": "pass", "violations": [] }));
    reviews
        .gates
        .file(".gitattributes", "*.rs -diff\n*.png binary\n");
    reviews.gates.file("src/hidden.rs", "fn hidden() {}\n");
    reviews.gates.file("src/shown.txt", "shown\n");
    reviews.gates.file("src/picture.png", "\u{0}PNG\u{0}");
    reviews.review().exits(0);
    let asked = reviews.heard("claude", "asked");
    assert!(asked.contains("+fn hidden() {}"), "{asked}");
    assert!(asked.contains("+shown"), "{asked}");
    assert!(asked.contains("b/src/picture.png differ"), "{asked}");
    assert_eq!(
        asked.matches("src/hidden.rs b/src/hidden.rs").count(),
        1,
        "{asked}"
    );
}

#[test]
fn a_reviewer_is_shown_what_git_would_show_something_else_for() {
    let reviews = Reviews::by("claude", "");
    reviews.claude(&json!({ "status": "pass", "violations": [] }));
    let gates = &reviews.gates;
    let before = gates.git(&["rev-parse", "HEAD:src/a.txt"]);
    gates.file("src/a.txt", "worse\n");
    let after = gates.git(&["hash-object", "-w", "src/a.txt"]);
    gates.git(&["replace", after.trim(), before.trim()]);
    reviews.review().exits(0);
    let asked = reviews.heard("claude", "asked");
    assert!(asked.contains("+worse"), "{asked}");
}

#[test]
fn a_reviewer_is_shown_what_changed_in_a_repository_inside() {
    let reviews = Reviews::by("claude", "");
    let gates = &reviews.gates;
    let plain = gates
        .read(".gauntlet/config.yml")
        .replace("    exclude: [src/generated]\n", "");
    reviews.claude(&json!({ "status": "pass", "violations": [] }));
    let inner = gates.path("src/sub");
    std::fs::create_dir(&inner).unwrap();
    crate::project::git(&inner, &["init", "-q", "-b", "main"]);
    gates.file("src/sub/a", "as it was\n");
    crate::project::git(&inner, &["add", "-A"]);
    crate::project::git(&inner, &["commit", "-q", "-m", "one"]);
    gates.commit("with a repository inside");
    gates.git(&["branch", "-q", "-f", "main", "work"]);
    // With something excluded the files are named one by one.
    for (before, text, is_plain) in [
        ("as it was", "edited", false),
        ("edited", "edited again", true),
    ] {
        if is_plain {
            gates.file(".gauntlet/config.yml", &plain);
        }
        gates.file("src/sub/a", format!("{text}\n"));
        reviews.review().exits(0);
        let asked = reviews.heard("claude", "asked");
        assert!(asked.contains("+++ b/src/sub/a\n"), "{asked}");
        assert!(asked.contains(&format!("\n-{before}\n")), "{asked}");
        assert!(asked.contains(&format!("\n+{text}\n")), "{asked}");
    }
}

#[test]
fn a_reviewer_is_shown_what_the_entry_points_match() {
    let config = |entries: &str| {
        format!(
            "base_branch: main\ncli: {{ default_preference: [claude] }}\nentry_points:\n{entries}"
        )
    };
    for entries in [
        "  - { path: \"{src,lib}/**\", reviews: [q] }\n",
        "  - { path: \"src/{a,b}.txt\", reviews: [q] }\n",
        "  - { path: \"src/**\", exclude: [\"**/*.{md,rst}\"], reviews: [q] }\n",
        // The first does not want the file, the second does.
        "  - { path: src, exclude: [\"**/*.txt\"], reviews: [q] }\n  - { path: src, reviews: [q] }\n",
    ] {
        let reviews = Reviews::by("claude", "");
        reviews.gates.file(".gauntlet/config.yml", config(entries));
        reviews.gates.file("src/no.md", "other words\n");
        reviews.claude(&fail("wrong"));
        reviews.comes_to("fail", "Found 1 violation");
        let asked = reviews.heard("claude", "asked");
        assert!(asked.contains("+b\n"), "{entries}: {asked}");
        if entries.contains("rst") {
            assert!(!asked.contains("other words"), "{asked}");
        }
    }
}

/// Gemini's and Cursor's own hooks cannot be switched off from the command line; the mark in the
/// environment makes ours approve whoever calls it.
#[test]
fn a_hook_inside_any_reviewer_approves_without_running_gates() {
    let tollgate = crate::project::TOLLGATE;
    for (name, program, event, answer) in [
        ("claude", "claude", "Stop", claude(&pass()).to_string()),
        (
            "gemini",
            "gemini",
            "AfterAgent",
            json!({ "response": pass().to_string() }).to_string(),
        ),
        ("cursor", "cursor-agent", "stop", pass().to_string()),
    ] {
        let reviews = Reviews::by(name, "");
        let event = format!(
            "{{\"hook_event_name\":\"{event}\",\"session_id\":\"s\",\"conversation_id\":\"s\"}}"
        );
        reviews.install(
            program,
            &format!(
                "echo '{event}' | '{tollgate}' stop-hook > \"$0.hook\"\necho '{event}' | '{tollgate}' hook > \"$0.bare\"\necho $? >> \"$0.bare\"\necho '{answer}'"
            ),
        );
        reviews.comes_to("pass", "");
        let told = reviews.heard(program, "hook");
        assert!(told.contains("stop_hook_active"), "{name}: {told}");
        assert_eq!(reviews.heard(program, "bare"), "0\n", "{name}");
        assert_eq!(reviews.calls(program), 1, "{name}");
    }
}

/// P15: braces in prose behind the answer kept the original searching for ever.
#[test]
fn p15_braces_behind_the_object_hold_nobody() {
    for (prose, result) in [
        ("That is all.", "pass"),
        ("} and { more } ", "inconclusive"),
    ] {
        let reviews = Reviews::by("command", "command: 'cat > /dev/null; cat answer'");
        let prose = prose.repeat(20_000);
        let answer = format!("{{\"status\": \"pass\"}}\n{prose}");
        reviews.gates.file("answer", &answer);
        let begun = std::time::Instant::now();
        assert_eq!(reviews.gate()["result"], result);
        assert!(begun.elapsed() < std::time::Duration::from_secs(30));
    }
}

/// P18: the reviewer's diff showed a file twice that was committed and changed again.
#[test]
fn p18_the_diff_is_one_and_net() {
    let reviews = Reviews::by("claude", "");
    reviews.claude(&pass());
    reviews.gates.file("src/a.txt", "first\n");
    reviews.gates.commit("first");
    reviews.gates.file("src/a.txt", "second\n");
    reviews.review().exits(0);
    let asked = reviews.heard("claude", "asked");
    assert_eq!(asked.matches("+++ b/src/a.txt").count(), 1, "{asked}");
    assert!(
        asked.contains("+second") && !asked.contains("+first"),
        "{asked}"
    );
}

#[test]
fn a_review_can_be_tried_out_alone() {
    let reviews = Reviews::by("claude", "");
    reviews.claude(&fail("bug"));
    reviews.gates.file("prompt.md", "Look for bugs.");
    reviews.gates.file(
        "change.diff",
        "--- a/src/b.txt\n+++ b/src/b.txt\n@@ -0,0 +1 @@\n+b\n",
    );
    let args = [
        "try-review",
        "change.diff",
        "--prompt",
        "prompt.md",
        "--reviewer",
        "claude",
        "--json",
    ];
    let run = reviews.tollgate(&args).exits(1);
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(value["open"], json!(["src/b.txt:1 bug"]));
    assert_eq!(value["usage"]["cost_usd"], json!(0.25));
    let run = reviews.tollgate(&[
        "try-review",
        "change.diff",
        "--prompt",
        "prompt.md",
        "--reviewer",
        "cluade",
    ]);
    run.exits(2).says("there is no reviewer");
}

#[test]
fn health_knows_who_can_be_asked() {
    let reviews = Reviews::by("claude, cursor, codex", "");
    reviews.claude(&pass()).install("agent", "");
    let run = reviews.tollgate(&["health", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let installed = |name: &str| value["reviewers"][name]["installed"].as_bool();
    assert_eq!(
        [installed("claude"), installed("cursor"), installed("codex")],
        [Some(true), Some(true), Some(false)]
    );
    assert_eq!(reviews.calls("claude"), 0, "nothing is started");
}
