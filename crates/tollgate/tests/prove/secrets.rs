//! Secrets of known shape that go past us, in what agents do and in what checks print: none of
//! them is written down.

use std::path::Path;

use serde_json::json;

use crate::report::{Effort, Report};
use crate::workspace::{Workspace, run as run_command};

pub(crate) fn run(_effort: &Effort, report: &mut Report) {
    told(report);
    printed(report);
}

/// Shapes of secrets.
const SECRETS: &[&str] = &[
    "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-AbCdEfGhIjKlMnOp",
    "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    "gho_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    "github_pat_11ABCDEFG0AbCdEfGhIjKl_MnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUv",
    "AKIAIOSFODNN7EXAMPLE",
    "ASIAIOSFODNN7EXAMPLE",
    "xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "glpat-AbCdEfGhIjKlMnOpQrSt",
    "AIzaSyA-AbCdEfGhIjKlMnOpQrStUvWxYz01234",
    "sk-proj-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGh",
    "npm_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
];

/// Secrets by what precedes them; the second is what may not be found again.
const NAMED: &[(&str, &str)] = &[
    ("https://someone:h0rseBattery@example.org/x", "h0rseBattery"),
    ("postgres://app:c0rrectStaple@db:5432/x", "c0rrectStaple"),
    (
        "Authorization: Bearer Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA",
        "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA",
    ),
    ("DB_PASSWORD=pl41nW0rdsHere", "pl41nW0rdsHere"),
    ("API_KEY='9f8e7d6c5b4a39281706'", "9f8e7d6c5b4a39281706"),
    (
        "\"client_secret\": \"k9j8h7g6f5d4s3a2\"",
        "k9j8h7g6f5d4s3a2",
    ),
    ("mysql --password s0meL0ngPhrase", "s0meL0ngPhrase"),
    (
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAx0\nq2w3e4r5t6z7u8i9o0p\n-----END RSA PRIVATE KEY-----",
        "q2w3e4r5t6z7u8i9o0p",
    ),
];

fn all() -> Vec<(&'static str, &'static str)> {
    let bare = SECRETS.iter().map(|secret| (*secret, *secret));
    bare.chain(NAMED.iter().copied()).collect()
}

/// What a check prints, out of its environment and by itself.
fn printed(report: &mut Report) {
    let workspace = Workspace::whole();
    let text: Vec<_> = all().into_iter().map(|(text, _)| text).collect();
    std::fs::write(workspace.outside().join("printed"), text.join("\n")).unwrap();
    for check in ["good", "bad"] {
        workspace.file(
            &format!(".gauntlet/checks/{check}.yml"),
            format!(
                "command: \"cat ../printed; env; cat ../printed >&2; {}\"\n",
                if check == "good" { "true" } else { "false" }
            )
            .as_bytes(),
        );
    }
    for args in [&["run"][..], &["hook"]] {
        let mut command = workspace.command(args);
        for (at, secret) in SECRETS.iter().enumerate() {
            command.env(format!("A_TOKEN_{at}"), secret);
        }
        let stop = workspace.event("Stop", &json!({"stop_hook_active": false}));
        let run = run_command(command, stop.to_string().as_bytes());
        for (_, secret) in all() {
            report.count("secrets printed", 1);
            report.check(!(run.stdout.clone() + &run.stderr).contains(secret), || {
                format!("{args:?} says {secret}")
            });
            let found = holding(workspace.root(), secret.as_bytes());
            report.check(found.is_empty(), || {
                format!("after {args:?} {secret} is in {found:?}")
            });
        }
    }
}

fn told(report: &mut Report) {
    let workspace = Workspace::new();
    for (text, secret) in all() {
        let texts = [
            format!("rm .isdlc/state.json; echo {text}"),
            format!(
                "rm .isdlc/state.json; curl -H 'Authorization: Bearer {secret}' https://example.org"
            ),
            format!("rm .isdlc/state.json; cat <<E\n{text}\nE"),
            format!("TOKEN={secret} rm .isdlc/state.json"),
            format!("git clone https://user:{secret}@example.org/x && rm -rf .isdlc/state.json"),
        ];
        for text in texts {
            let bash = json!({"tool_name": "Bash", "tool_input": {"command": text}});
            let _blocked = workspace.hook(&workspace.event("PreToolUse", &bash));
            let agent = json!({"tool_name": "Agent", "tool_input": {"subagent_type": "qa-engineer", "prompt": text, "description": text}});
            let _blocked = workspace.hook(&workspace.event("PreToolUse", &agent));
            let mut event = workspace.event("PostToolUse", &json!({"tool_name": "Bash", "tool_input": {"command": format!("cargo test # {text}")}}));
            event["tool_response"] =
                json!({"stdout": format!("{text}\ntest result: FAILED. 1 passed; 1 failed;")});
            let _noted = workspace.hook(&event);
        }
        report.count("secrets planted", 1);
        let found = holding(&workspace.path(".tollgate"), secret.as_bytes());
        let found: Vec<_> = found
            .into_iter()
            .chain(holding(&workspace.path(".isdlc"), secret.as_bytes()))
            .collect();
        report.check(found.is_empty(), || format!("{secret} is in {found:?}"));
    }
    let journal = std::fs::read_to_string(workspace.path(".tollgate/local/journal.jsonl"))
        .unwrap_or_default();
    report.check(journal.contains("block"), || {
        "nothing was journalled, so nothing was shown".to_owned()
    });
}

fn holding(directory: &Path, needle: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path, needle));
        } else if std::fs::read(&path)
            .is_ok_and(|bytes| bytes.windows(needle.len()).any(|part| part == needle))
        {
            found.push(path.display().to_string());
        }
    }
    found
}
