//! The states a project can be in when somebody looks at it.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::events::bash;
use crate::gates::{BAD, Gates, OK};
use crate::project::{TestProject, put, running_on_branch};

/// What an agent could name something, to be shown as text and obeyed by nobody.
pub(crate) const HOSTILE: &str = "<img src=x onerror=\"window.owned=1\"><script>window.owned=1</script>\u{1b}[31m\u{1b}]0;owned\u{7}";

/// A project in which nothing has happened.
pub(super) fn empty() -> TestProject {
    let project = TestProject::empty();
    std::fs::create_dir(project.path(".tollgate")).unwrap();
    project
}

/// A workflow in its middle, a plan with rounds, reviews that cost something, gates running.
pub(super) fn busy() -> TestProject {
    let phases = [
        "01-requirements",
        "03-architecture",
        "06-implementation",
        "16-quality-loop",
    ];
    let began = (jiff::Timestamp::now() - jiff::SignedDuration::from_mins(25)).to_string();
    let project = TestProject::new().state(&json!({
        "state_version": 12,
        "active_workflow": {
            "type": "feature", "description": "Pay by invoice", "phases": phases,
            "started_at": "2026-02-08T08:00:00Z", "current_phase": phases[2],
            "current_phase_index": 2, "budget_status": "on_track",
            "git_branch": { "name": "feature/invoice", "status": "active" },
            "phase_status": { phases[0]: "completed", phases[1]: "completed", phases[2]: "in_progress" },
        },
        "phases": {
            phases[0]: { "status": "completed", "summary": "12 requirements, 3 of them measured", "timing": { "wall_clock_minutes": 18 } },
            phases[1]: { "status": "completed", "summary": "One service, two tables", "timing": { "wall_clock_minutes": 41, "retries": 1 } },
            phases[2]: { "status": "in_progress", "timing": { "started_at": began } },
        },
    }));
    project.file(
        ".tollgate/plans/invoice/plan.md",
        "## Overview\n\nInvoices.\n",
    );
    project.file(
        ".tollgate/plans/invoice/state.json",
        json!({ "phase": "code-review", "next_phase": "post-code-review", "review_model": "opus",
            "max_reviews": 8, "consecutive_clean": 1, "tdd": false, "current_task": "2",
            "phase_iteration": 2 })
        .to_string(),
    );
    project.file(
        ".tollgate/plans/invoice/tasks.md",
        "| Id | Status | Priority | Prerequisites | Description | Test strategy |\n|---|---|---|---|---|---|\n| 1 | done | high | | Tables | unit |\n| 2 | pending | high | 1 | Service | unit |\n",
    );
    let round = |n: u32, verdict: &str| {
        json!({ "ts": "2026-02-08T09:20:00.000Z", "review": "code-review", "task": "2", "iteration": n,
            "model": "opus", "verdict": verdict, "cost_usd": 0.31, "ms": 42_000,
            "file": format!("task-2-review-{n}.md") })
    };
    project.file(
        ".tollgate/local/plans/invoice/rounds.jsonl",
        format!("{}\n{}\n", round(1, "FAIL"), round(2, "PASS")),
    );
    project.file(
        ".tollgate/config.yml",
        "base_branch: main\ncli: { default_preference: [claude] }\nentry_points:\n  - path: src\n    checks: [lint, unit]\n    reviews: [quality]\n",
    );
    project.file(
        ".tollgate/reviews/quality.md",
        "---\ncli_preference: [claude]\n---\nLook.\n",
    );
    let findings = json!({ "adapter": "claude", "timestamp": "2026-02-08T09:20:00Z", "status": "fail",
        "violations": [
            { "id": "a1", "file": "src/invoice.rs", "line": 41, "issue": "The total is a float; cents get lost in the sum.",
              "fix": "Count in cents.", "priority": "high", "status": "new", "result": null },
            { "id": "b2", "file": "src/invoice.rs", "line": 77, "issue": "An unpaid invoice can be paid twice.",
              "priority": "critical", "status": "fixed", "result": "locked the row" },
            { "id": "c3", "file": "src/main.rs", "issue": "The name is long.", "priority": "low",
              "status": "skipped", "result": "it is the customer's word", "advisory": true },
        ] });
    project.file(
        ".tollgate/logs/review_src_quality_claude@1.1.json",
        findings.to_string(),
    );
    keep_findings(&project, "review:src:quality", &findings);
    project.file("src/invoice.rs", "");
    project.file(".tollgate/checks/lint.yml", "command: make lint\n");
    project.file(".tollgate/checks/unit.yml", "command: make test\n");
    project.file(
        ".tollgate/logs/console.1.log",
        "[START] check:src:lint\n[START] check:src:unit\n[PASS]  check:src:lint (0.81s)\n",
    );
    project.file(
        ".tollgate/logs/.gauntlet-run.lock",
        std::process::id().to_string(),
    );
    let lines: Vec<String> = (0..40).map(|n| line(n).to_string()).collect();
    project.file(".tollgate/local/journal.jsonl", &(lines.join("\n") + "\n"));
    project
}

/// The findings of a gate's first review, as a run keeps them: signed with the person's secret.
fn keep_findings(project: &TestProject, gate: &str, findings: &Value) {
    let (home, root) = (project.home(), project.path("").canonicalize().unwrap());
    let secret = "0".repeat(64);
    let state = home.join(".local/state/tollgate");
    put(&state.join("secret"), &secret);
    for (path, mode) in [(state.clone(), 0o700), (state.join("secret"), 0o600)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    // Without a repository there is no branch.
    let record = json!({ "version": 1, "last": null, "gates": {}, "findings": {
        "": { gate: { "1": { "reviewer": "claude", "run": 1, "value": findings } } },
    } });
    let record = record.to_string();
    let digest = |parts: &[&[u8]]| {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.finalize()
    };
    let root = root.as_os_str().as_encoded_bytes();
    let inner = digest(&[secret.as_bytes(), root, record.as_bytes()]);
    let code = digest(&[secret.as_bytes(), &inner]);
    let mut hex = String::new();
    for byte in code {
        write!(hex, "{byte:02x}").unwrap();
    }
    let signed = json!({ "code": hex, "record": record });
    project.file(".tollgate/local/evidence.json", signed.to_string());
}

/// One line of a journal that has something of everything.
fn line(n: u32) -> Value {
    let ts = format!("2026-02-08T09:{:02}:{:02}.000Z", n % 60, n * 7 % 60);
    let session = "5f0c1e62-9d7c-4a6b-8d2e-0f5b7f1c9a3d";
    if n == 7 {
        return json!({ "ts": ts, "verdict": "review", "session": session, "guard": "review:src:quality",
            "agent": "claude@1", "code": "fail", "reason": "2 findings are open", "ms": 61_000,
            "cost_usd": 0.12, "input_tokens": 9_000, "output_tokens": 400 });
    }
    match n % 5 {
        0 => json!({ "ts": ts, "verdict": "block", "session": session, "event": "PreToolUse",
            "tool": "Bash", "guard": "branch-guard", "code": "BG-001", "wire": "claude", "ms": 0.41,
            "reason": "commit to main while the workflow's branch is feature/invoice" }),
        1 => json!({ "ts": ts, "verdict": "warn", "session": session, "event": "PostToolUse",
            "tool": "Write", "guard": "output-format-validator", "code": "OFV-002", "ms": 0.63,
            "reason": "architecture.md has no section 'Decisions'" }),
        2 => json!({ "ts": ts, "verdict": "gate", "guard": "check:src:lint", "code": "pass",
            "reason": "", "ms": 800 + n * 10 }),
        3 => {
            json!({ "ts": ts, "verdict": "review", "guard": "plan", "agent": "opus", "phase": "code-review",
            "code": "FAIL", "reason": "invoice: code-review 2 of task 2 by opus: FAIL", "ms": 42_000 + n,
            "cost_usd": 0.31, "input_tokens": 18_000, "output_tokens": 900 })
        }
        _ => {
            json!({ "ts": ts, "verdict": "change", "event": "phase complete", "phase": "03-architecture",
            "reason": "phase 03-architecture is completed", "version": n, "index": 2 })
        }
    }
}

/// An agent that was stopped.
pub(super) fn blocked() -> TestProject {
    let mut state = running_on_branch("06-implementation");
    state["active_workflow"]["description"] = "Pay by invoice".into();
    let project = TestProject::new().state(&state).on_branch("main");
    project.hook(&bash("git commit -m 'to main'"));
    assert!(project.codes().contains(&"BG-001".to_owned()));
    project
}

/// A check that fails, with something to read.
pub(super) fn failing() -> Gates {
    let loud = "command: \"for n in 1 2 3 4 5 6 7 8; do echo test_$n ... ok; done; echo 'AssertionError: left == right'; for n in $(seq 40); do echo epilogue $n; done; exit 3\"";
    let gates = Gates::new(&[OK, BAD, ("loud", loud)]);
    gates.stop();
    gates
}

/// A workflow of ours whose gates nobody verified, after some steps and a block.
pub(super) fn stepping() -> TestProject {
    let project = TestProject::empty().with_repository();
    project.file(
        "tollgate.toml",
        "[workflow.change]\nbranch = false\nphases = [\n  { name = \"build\", needs = [\"gates\"] },\n  \
         { name = \"write\", writes = [\"docs/**\"] },\n]\n",
    );
    project.must(&["workflow", "start", "change", "Gift cards"]);
    project.must(&["phase", "complete", "--summary", "Cards can be spent"]);
    project.must(&["phase", "begin"]);
    let mut lines = String::new();
    let steps = [
        "requirements began",
        "requirements is completed",
        "design began",
    ];
    let steps = steps.iter().chain(&["design is completed", "build began"]);
    for (n, step) in steps.enumerate() {
        let line = json!({ "ts": format!("2026-02-08T20:00:0{n}.000Z"), "verdict": "change",
            "event": "phase", "reason": format!("phase {step}") });
        lines.extend([line.to_string().as_str(), "\n"]);
    }
    let block = json!({ "ts": "2026-02-08T20:00:07.000Z", "verdict": "block", "tool": "Bash", "ms": 0.5,
        "guard": "branch-guard", "code": "BG-001", "reason": "commit to main" });
    lines.extend([block.to_string().as_str(), "\n"]);
    project.file(".tollgate/local/journal.jsonl", &lines);
    project
}

/// A long past.
pub(super) fn long() -> TestProject {
    let project = empty();
    let mut text = String::new();
    for n in 0..10_000u32 {
        let mut line = line(n);
        let day = 1 + n * 27 / 10_000;
        line["ts"] = format!("2026-01-{day:02}T{:02}:{:02}:00.000Z", n % 24, n % 60).into();
        let line = line.to_string();
        let hash = format!("{n:064x}");
        let link = format!(",\"n\":{},\"chain\":\"{hash}\"}}\n", n + 1);
        text.extend([line.trim_end_matches('}'), &link]);
    }
    project.file(".tollgate/local/journal.jsonl", &text);
    project
}

/// State files that are no JSON any more: the workflow's and a plan's.
pub(super) fn broken() -> TestProject {
    let project = TestProject::new();
    project.file(
        ".tollgate/plans/invoice/plan.md",
        "## Overview\n\nInvoices.\n",
    );
    project.file(".tollgate/plans/invoice/state.json", "{\"phase\": ");
    project.file(
        ".isdlc/state.json",
        "{\"active_workflow\": {\"type\": \"feature\",",
    );
    project
}

/// Somebody named everything so as to be obeyed.
pub(crate) fn hostile() -> TestProject {
    let project = TestProject::new().state(&json!({
        "state_version": 1,
        "active_workflow": {
            "type": HOSTILE, "description": HOSTILE, "phases": [HOSTILE, "06-implementation"],
            "started_at": HOSTILE, "current_phase": HOSTILE, "current_phase_index": 0,
            "budget_status": HOSTILE, "git_branch": { "name": HOSTILE },
            "phase_status": { HOSTILE: "in_progress" },
        },
        "phases": { HOSTILE: { "status": "in_progress", "summary": HOSTILE } },
    }));
    project.file(
        ".tollgate/config.yml",
        "base_branch: main\nentry_points:\n  - path: src\n    checks: [loud]\n",
    );
    project.file(".tollgate/checks/loud.yml", "command: make\n");
    project.file(
        ".tollgate/logs/check_src_loud.1.log",
        format!("{HOSTILE}\n"),
    );
    let plan = ".tollgate/plans/<b>bold<b>";
    project.file(&format!("{plan}/plan.md"), HOSTILE);
    let mut lines = String::new();
    for verdict in ["block", "warn", "fault", "change", "review"] {
        let line = json!({ "ts": "2026-02-08T09:00:00.000Z", "verdict": verdict, "session": HOSTILE,
            "event": HOSTILE, "tool": HOSTILE, "guard": HOSTILE, "code": HOSTILE, "phase": HOSTILE,
            "agent": HOSTILE, "reason": HOSTILE, "wire": HOSTILE, "ms": 1.5, "cost_usd": 0.1 });
        lines.extend([line.to_string().as_str(), "\n"]);
    }
    let gate = json!({ "ts": "2026-02-08T09:00:00.000Z", "verdict": "gate", "ms": 7.0,
        "guard": "check:src:loud", "code": "fail", "reason": HOSTILE });
    lines.extend([gate.to_string().as_str(), "\n"]);
    project.file(".tollgate/local/journal.jsonl", &lines);
    project
}
