//! What each command line prints, good and bad, and what is made of it.

use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use serde_json::json;

use super::objects::{Deciding, only, sole};
use super::*;
use crate::agents::reviewer::ARGUMENT_LIMIT;

const STATUS: Deciding = Deciding {
    key: "status",
    words: &["pass", "fail"],
};

/// What is understood of a reviewer that printed this and ended like that.
fn heard(name: &str, end: End, stdout: &[u8], stderr: &str) -> Reply {
    let reviewer = Reviewer::named(name, Some("x")).unwrap();
    let ended = Ended {
        end,
        took: Duration::ZERO,
        leaked: 0,
        kept: 0,
    };
    understand(&reviewer, &ended, stdout.to_vec(), stderr.to_owned())
}

const PASS: Result<&str, Kind> = Ok("pass");
const FAIL: Result<&str, Kind> = Ok("fail");

/// The verdict's word, or the kind of having none.
fn verdict(reply: &Reply) -> Result<&'static str, Kind> {
    let spoken = reply.answer.as_ref().map_err(|why| why.kind)?;
    let object = sole(spoken, STATUS).map_err(|why| why.kind)?;
    Ok(match object["status"].as_str().unwrap() {
        "pass" => "pass",
        _ => "fail",
    })
}

fn said(name: &str, code: i32, stdout: &str) -> Result<&'static str, Kind> {
    verdict(&heard(name, End::Exited(code), stdout.as_bytes(), ""))
}

/// A result of Claude Code 2.1, with these members changed.
fn claude(changes: &serde_json::Value) -> String {
    let mut result = json!({
        "type": "result", "subtype": "success", "is_error": false, "duration_ms": 5120,
        "duration_api_ms": 4800, "num_turns": 3, "stop_reason": "end_turn",
        "session_id": "0b5e", "total_cost_usd": 0.0421,
        "usage": { "input_tokens": 12, "cache_creation_input_tokens": 3000,
                   "cache_read_input_tokens": 9000, "output_tokens": 210 },
        "permission_denials": [], "terminal_reason": "completed", "uuid": "6f",
    });
    for (key, value) in changes.as_object().unwrap() {
        result[key] = value.clone();
    }
    result.to_string()
}

#[test]
fn claude_answers_in_its_structured_output() {
    let object = json!({ "status": "fail", "message": null, "violations": [] });
    let text = claude(&json!({ "structured_output": object, "result": object.to_string() }));
    let reply = heard("claude", End::Exited(0), text.as_bytes(), "a warning\n");
    assert_eq!(verdict(&reply), FAIL);
    assert_eq!(reply.usage.cost_usd, Some(0.0421));
    assert_eq!(reply.usage.input_tokens, Some(12_012));
    assert_eq!(reply.usage.output_tokens, Some(210));
}

#[test]
fn claude_without_an_answer_is_no_verdict() {
    let object = json!({ "status": "pass", "violations": [] });
    for (code, changes, kind) in [
        // The schema was never satisfied, which exits with 0 and says success.
        (0, json!({ "result": "Looks good to me!" }), Kind::NoObject),
        (0, json!({ "result": object.to_string() }), Kind::NoObject),
        // An API error says success too.
        (
            1,
            json!({ "is_error": true, "result": "API Error: 400 bad" }),
            Kind::Failed,
        ),
        (
            0,
            json!({ "is_error": true, "structured_output": object }),
            Kind::Failed,
        ),
        (
            1,
            json!({ "subtype": "error_max_turns", "is_error": true, "errors": ["Reached maximum number of turns (40)"] }),
            Kind::Failed,
        ),
        (
            1,
            json!({ "subtype": "error_max_budget_usd", "is_error": true, "errors": [] }),
            Kind::Failed,
        ),
        // A hook halted it.
        (
            0,
            json!({ "result": "", "terminal_reason": "hook_stopped" }),
            Kind::Silent,
        ),
        (1, json!({ "structured_output": object }), Kind::Failed),
        (0, json!({ "structured_output": ["pass"] }), Kind::NoObject),
        (
            0,
            json!({ "structured_output": { "status": "maybe" } }),
            Kind::NoObject,
        ),
        (
            1,
            json!({ "is_error": true, "result": "Claude AI usage limit reached|1760000000" }),
            Kind::UsageLimit,
        ),
    ] {
        assert_eq!(
            said("claude", code, &claude(&changes)),
            Err(kind),
            "{changes}"
        );
    }
    let reply = heard(
        "claude",
        End::Exited(1),
        b"",
        "Error: --json-schema is not a valid JSON Schema\n",
    );
    let why = reply.answer.unwrap_err().to_string();
    assert!(why.contains("not a valid JSON Schema"), "{why}");
}

fn codex(events: &[serde_json::Value]) -> String {
    let lines: Vec<String> = events.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

fn message(text: &str) -> serde_json::Value {
    json!({ "type": "item.completed", "item": { "id": "1", "type": "agent_message", "text": text } })
}

#[test]
fn codex_answers_with_the_last_message_of_a_completed_turn() {
    let start = [
        json!({ "type": "thread.started", "thread_id": "t" }),
        json!({ "type": "turn.started" }),
        json!({ "type": "item.completed", "item": { "id": "0", "type": "error", "message": "a warning" } }),
        message(r#"{"status":"pass"}"#),
    ];
    let end = json!({ "type": "turn.completed", "usage": { "input_tokens": 900, "cached_input_tokens": 100, "output_tokens": 30 } });
    let whole = codex(&[&start[..], &[message(r#"{"status":"fail"}"#), end.clone()]].concat());
    let reply = heard("codex", End::Exited(0), whole.as_bytes(), "noise");
    assert_eq!(verdict(&reply), FAIL);
    assert_eq!(reply.usage.input_tokens, Some(900));

    // A draft of a turn that did not end, that failed, or that ended in prose is nothing.
    assert_eq!(said("codex", 0, &codex(&start)), Err(Kind::Failed));
    let failed = json!({ "type": "turn.failed", "error": { "message": "stream disconnected" } });
    assert_eq!(
        said("codex", 1, &codex(&[&start[..], &[failed]].concat())),
        Err(Kind::Failed)
    );
    let prose = codex(
        &[
            &start[..],
            &[message("All fine: {\"status\":\"pass\"}"), end.clone()],
        ]
        .concat(),
    );
    assert_eq!(said("codex", 0, &prose), Err(Kind::Unreadable));
    let silent = codex(&[&start[..2], &[end]].concat());
    assert_eq!(said("codex", 0, &silent), Err(Kind::Silent));
    let limit =
        json!({ "type": "turn.failed", "error": { "message": "You've hit your usage limit." } });
    assert_eq!(
        said("codex", 1, &codex(&[&start[..], &[limit]].concat())),
        Err(Kind::UsageLimit)
    );
}

#[test]
fn gemini_answers_inside_its_response() {
    let stats = json!({ "models": { "pro": { "tokens": { "prompt": 100, "candidates": 7 } },
                                    "flash": { "tokens": { "prompt": 20, "candidates": 1 } } } });
    let text = json!({ "session_id": "s", "response": "```json\n{\"status\":\"pass\"}\n```", "stats": stats });
    let reply = heard(
        "gemini",
        End::Exited(0),
        text.to_string().as_bytes(),
        "Loaded cached credentials.\n",
    );
    assert_eq!(verdict(&reply), PASS);
    assert_eq!(reply.usage.input_tokens, Some(120));
    assert_eq!(reply.usage.output_tokens, Some(8));

    // A retried turn has all attempts in it.
    let twice = json!({ "response": "{\"status\":\"fail\"}\n{\"status\":\"pass\"}" });
    assert_eq!(
        said("gemini", 0, &twice.to_string()),
        Err(Kind::SeveralObjects)
    );
    let error = json!({ "response": "{\"status\":\"pass\"}", "error": { "type": "x", "message": "boom", "code": 1 } });
    assert_eq!(said("gemini", 1, &error.to_string()), Err(Kind::Failed));
    assert_eq!(said("gemini", 0, &error.to_string()), Err(Kind::Failed));
    let reply = heard("gemini", End::Exited(55), b"", "");
    assert!(
        reply.answer.unwrap_err().to_string().contains("trust"),
        "the folder"
    );
    let quota = json!({ "error": { "message": "RESOURCE_EXHAUSTED: try later", "code": 429 } });
    assert_eq!(said("gemini", 1, &quota.to_string()), Err(Kind::UsageLimit));
}

#[test]
fn cursor_and_copilot_answer_in_text() {
    let result = |text: &str, is_error: bool| {
        json!({ "type": "result", "subtype": "success", "is_error": is_error, "duration_ms": 1,
                "result": text, "session_id": "s", "request_id": "r",
                "usage": { "inputTokens": 5, "outputTokens": 6 } })
        .to_string()
    };
    let reply = heard(
        "cursor",
        End::Exited(0),
        result("{\"status\":\"pass\"}", false).as_bytes(),
        "",
    );
    assert_eq!(verdict(&reply), PASS);
    assert_eq!(reply.usage.output_tokens, Some(6));
    assert_eq!(
        said("cursor", 0, &result("{\"status\":\"pass\"}", true)),
        Err(Kind::Failed)
    );
    assert_eq!(said("cursor", 1, ""), Err(Kind::Failed));
    assert_eq!(
        said("github-copilot", 0, "I looked.\n\n{\"status\":\"fail\"}\n"),
        FAIL
    );
    assert_eq!(
        said("github-copilot", 0, "You have no premium requests left"),
        Err(Kind::UsageLimit)
    );
}

#[test]
fn whatever_the_reviewer_bad_ends_are_no_verdict() {
    for name in Reviewer::names() {
        let good = "{\"status\":\"pass\"}";
        assert_eq!(
            said(name, 0, good),
            PASS,
            "{name}: a wrapper may print the bare answer"
        );
        for (end, kind) in [
            (End::Exited(3), Kind::Failed),
            (End::Signalled(9), Kind::Killed),
            (End::TimedOut(Duration::from_secs(3)), Kind::TimedOut),
            (End::Cancelled, Kind::Cancelled),
            (End::NotStarted(io::Error::other("no")), Kind::NotStarted),
        ] {
            let reply = heard(name, end, good.as_bytes(), "");
            assert_eq!(verdict(&reply), Err(kind), "{name}");
        }
        for (stdout, kind) in [
            (&b""[..], Kind::Silent),
            (b" \n\n", Kind::Silent),
            (b"LGTM", Kind::NoObject),
            (b"{\"status\":\"pass\"}\xff", Kind::Unreadable),
            (b"\xff\xfe\x00garbage", Kind::Unreadable),
            (
                b"{\"status\":\"pass\"}{\"status\":\"pass\"}",
                Kind::SeveralObjects,
            ),
            (b"{\"status\":\"pass\"", Kind::Unreadable),
            (b"[{\"status\":\"pass\"}]", Kind::NoObject),
            (b"\"pass\"", Kind::NoObject),
            (b"{\"status\":\"PASS\"}", Kind::NoObject),
            (b"{\"status\":true}", Kind::NoObject),
        ] {
            let reply = heard(name, End::Exited(0), stdout, "");
            assert_eq!(
                verdict(&reply),
                Err(kind),
                "{name}: {}",
                stdout.escape_ascii()
            );
        }
    }
}

fn found(text: &str) -> Result<&'static str, Kind> {
    let object = only(text, STATUS).map_err(|why| why.kind)?;
    Ok(match object["status"].as_str().unwrap() {
        "pass" => "pass",
        _ => "fail",
    })
}

#[test]
fn an_answer_is_found_in_prose_and_fences() {
    for text in [
        r#"{"status":"fail","violations":[]}"#,
        "Here is my review:\n\n```json\n{\n  \"status\": \"fail\"\n}\n```\nThat is all.",
        "I found a problem.\n{\"status\":\"fail\"}\nThanks!",
        "The code `fn main() { let x = {}; }` is odd.\n{\"status\":\"fail\"}",
        "Objects such as {\"a\": {\"b\": 1}} are fine.\n{\"status\":\"fail\"}",
        // Quotations inside the answer are its text.
        r#"{"status":"fail","violations":[{"issue":"returns {\"status\":\"pass\"} always"}]}"#,
        "{\"status\":\"ok\"} is what the API says.\n{\"status\":\"fail\"}",
    ] {
        assert_eq!(found(text), FAIL, "{text}");
    }
}

#[test]
fn what_could_be_a_quotation_or_a_part_is_no_answer() {
    let real = r#"{"status":"fail","violations":[]}"#;
    let quoted = r#"{"status":"pass"}"#;
    for (text, kind) in [
        (
            format!("{real}\nThe handler returns `{quoted}`."),
            Kind::SeveralObjects,
        ),
        (
            format!("The handler returns `{quoted}`.\n{real}"),
            Kind::SeveralObjects,
        ),
        (
            format!("```json\n{quoted}\n```\n{real}"),
            Kind::SeveralObjects,
        ),
        (format!("{real}\n{real}"), Kind::SeveralObjects),
        (
            format!("{{\"result\":{{\"status\":\"fail\"}}}}\n{real}"),
            Kind::SeveralObjects,
        ),
        (
            r#"{"status":"fail","status":"pass"}"#.to_owned(),
            Kind::SeveralObjects,
        ),
        (
            format!("It always returns `{quoted}`, I cannot say more."),
            Kind::NoObject,
        ),
        (format!("I found a problem. {real} Thanks!"), Kind::NoObject),
        (
            format!("{real}\nThe parser was tried with\n{{\"a\":1}}"),
            Kind::NoObject,
        ),
        (format!("+    {quoted}"), Kind::NoObject),
        (format!("> {quoted}"), Kind::NoObject),
        (format!("```js\n{quoted}\n```"), Kind::NoObject),
        (format!("~~~rust\n{quoted}\n~~~"), Kind::NoObject),
        (format!("const x = {{ a: {quoted} }}"), Kind::NoObject),
        (format!("[{quoted}, 1]"), Kind::NoObject),
        (format!(r#"{{"answer":{quoted}}}"#), Kind::NoObject),
        // An answer that breaks off, with an object inside.
        (
            format!(r#"{{"status":"fail","violations":[{quoted}"#),
            Kind::Unreadable,
        ),
        (
            format!(r#"{{"status":"fail","issue":"use "x"","violations":[{quoted}]}}"#),
            Kind::Unreadable,
        ),
        (format!("{{\"a\": nonsense}}\n{quoted}"), Kind::Unreadable),
    ] {
        assert_eq!(found(&text), Err(kind), "{text}");
    }
}

#[test]
fn an_object_beside_a_verdict_in_words_is_no_answer() {
    let quoted = r#"{"status":"pass","violations":[]}"#;
    let fenced = format!("```json\n{quoted}\n```");
    for text in [
        format!("I cannot review this change. The answer has this shape:\n{quoted}"),
        format!("I can’t open the files, so this is only an outline:\n{fenced}"),
        format!("I'm unable to help with that.\n\n{fenced}\n"),
        format!("An example:\n{fenced}"),
        format!("{quoted}\nThat would be the answer if the tests were there."),
        format!("Verdict: FAIL, see below.\n{fenced}"),
        format!("It does not **pass**.\n{quoted}"),
        format!("{fenced}\nThe change fails on empty input."),
    ] {
        assert_eq!(found(&text), Err(Kind::NoObject), "{text}");
    }
    for text in [
        format!("I read src/a.rs and did not find a problem.\n{quoted}"),
        format!("The password check and the passage on failover are sound.\n{fenced}\nDone."),
    ] {
        assert_eq!(found(&text), PASS, "{text}");
    }
}

#[test]
fn ten_megabytes_are_read_in_one_pass() {
    let begun = std::time::Instant::now();
    for text in [
        "{".repeat(10 << 20),
        "{ ".repeat(1 << 20),
        "{}".repeat(1 << 19),
        "{\"a\":".repeat(2 << 20),
        format!("{}{{\"status\":\"pass\"", "x ".repeat(5 << 20)),
    ] {
        assert!(found(&text).is_err());
    }
    let long = format!("{}\n{{\"status\":\"pass\"}}", "words { ".repeat(1 << 20));
    assert_eq!(found(&long), PASS);
    assert!(
        begun.elapsed() < Duration::from_mins(1),
        "{:?}",
        begun.elapsed()
    );
    let reply = heard("command", End::Exited(0), &vec![b'x'; 17 << 20], "");
    assert_eq!(verdict(&reply), Err(Kind::Unreadable));
}

#[test]
fn a_review_about_limits_is_no_limit() {
    let page = format!("{}\nThe usage limit check is wrong.", "prose ".repeat(1000));
    assert_eq!(said("command", 0, &page), Err(Kind::NoObject));
    let object = r#"{"status":"fail","violations":[{"issue":"quota exceeded is not handled"}]}"#;
    assert_eq!(said("command", 0, object), FAIL);
}

#[test]
fn models_are_names_and_programs_are_found_in_absolute_places() {
    for (name, is_one) in [
        ("opus", true),
        ("gpt-5.2-codex", true),
        ("provider/model:tag", true),
        ("--dangerously-skip-permissions", false),
        ("a b", false),
        ("a\nb", false),
        ("", false),
    ] {
        assert_eq!(is_model(name), is_one, "{name}");
    }
    assert!(find("sh", OsStr::new("/bin")).is_some());
    assert_eq!(find("sh", OsStr::new("bin:.:")), None);
    assert_eq!(
        find("etc", OsStr::new("/")),
        None,
        "a directory is no program"
    );
}

#[test]
fn no_command_line_may_run_hooks_or_write() {
    let root = Path::new("/");
    for (name, wanted) in [
        (
            "claude",
            &["{\"disableAllHooks\":true}", "Read,Grep,Glob", "dontAsk"][..],
        ),
        ("codex", &["--disable", "hooks", "read-only", "-"]),
        ("gemini", &["--approval-mode", "plan"]),
        ("github-copilot", &["--no-ask-user", "--deny-tool=write"]),
        ("cursor", &["--trust", "-p"]),
    ] {
        let question = Question {
            prompt: "review",
            schema: "{}",
            model: Some("some-model"),
            root,
            search: OsStr::new("/bin"),
            timeout: None,
        };
        let reviewer = Reviewer::named(name, None).unwrap();
        let mut invocation = Invocation {
            program: Command::new("x"),
            input: None,
            files: vec![],
            trouble: None,
        };
        (reviewer.row().unwrap().prepare)(&question, &mut invocation);
        let args: Vec<_> = invocation
            .program
            .get_args()
            .map(|arg| arg.to_str().unwrap())
            .collect();
        for word in wanted {
            assert!(args.contains(word), "{name}: {args:?}");
        }
        assert!(args.contains(&"some-model"), "{name}: {args:?}");
        for never in [
            "--force",
            "--yolo",
            "--dangerously-skip-permissions",
            "--skip-trust",
        ] {
            assert!(!args.contains(&never), "{name}: {args:?}");
        }
        // Too long for an argument.
        let prompt = "x".repeat(ARGUMENT_LIMIT + 1);
        let question = Question {
            prompt: &prompt,
            ..question
        };
        let mut invocation = Invocation {
            program: Command::new("x"),
            input: None,
            files: vec![],
            trouble: None,
        };
        (reviewer.row().unwrap().prepare)(&question, &mut invocation);
        assert_eq!(invocation.input.as_deref(), Some(prompt.as_str()), "{name}");
    }
}

/// Pieces that answers, drafts, code and garbage are made of.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        &br#"{"status":"pass"}"#[..],
        &br#"{"status":"pass","violations":[]}"#[..],
        &br#"{"status":"fail"}"#[..],
        &b"\n"[..],
        &b" "[..],
        &b"```json\n"[..],
        &b"```\n"[..],
        &b"{"[..],
        &b"}"[..],
        &b"\""[..],
        &b"["[..],
        &br#"{"a":"#[..],
        &br#"{"type":"result","subtype":"success","is_error":false,"structured_output":"#[..],
        &br#"{"type":"turn.completed"}"#[..],
        &br#"{"type":"item.completed","item":{"type":"agent_message","text":"{\"status\":\"pass\"}"}}"#[..],
        &br#"{"response":"{\"status\":\"pass\"}"}"#[..],
        &b"\xff"[..],
        &b"prose"[..],
    ]);
    let built = prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat());
    prop_oneof![8 => built, 1 => prop::collection::vec(any::<u8>(), 0..64)]
}

proptest! {
    #[test]
    fn a_pass_is_one_object_that_says_so_and_a_clean_end(
        stdout in pieces(),
        code in prop_oneof![3 => Just(0), 1 => 1..300],
        name in prop::sample::select(Reviewer::names().collect::<Vec<_>>()),
    ) {
        let reply = heard(name, End::Exited(code), &stdout, "");
        if verdict(&reply) == PASS {
            prop_assert_eq!(code, 0);
            let text = String::from_utf8(stdout).unwrap();
            // Only one thing in it says pass, bare or as the text that a command line wraps, and
            // nothing says fail. (Codex may change its mind before its turn is complete.)
            let bare = text.matches(r#""status":"pass""#).count();
            let wrapped = text.matches(r#"\"status\":\"pass\""#).count();
            let is_codex = name == "codex" && text.contains("turn.completed");
            prop_assert!(is_codex || bare == 1 || (bare == 0 && wrapped == 1), "{name}: {text}");
            prop_assert!(is_codex || !text.contains(r#""status":"fail""#), "{name}: {text}");
        }
    }
}
