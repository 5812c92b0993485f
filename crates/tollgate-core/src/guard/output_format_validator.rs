//! output-format-validator: artifacts that later phases read have the parts those phases need.

use std::borrow::Cow;

use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample, ToolCall};
use tollgate_store::json::{Node, Object};

pub(super) const GUARD: Guard = Guard {
    name: "output-format-validator",
    about: "warns about artifacts that lack parts which other phases read",
    is_general: true,
    on: &[(EventKind::PostTool, Class::File)],
    codes: &[Code::warns(
        "OFV-001",
        "a written artifact lacks required parts",
        "add the missing parts and write the file again",
    )],
    reads: &[],
    sample: Some(Sample {
        state: r#"{"active_workflow":{}}"#,
        files: &[("docs/test-strategy.md", "nothing\n")],
        event: r#"{"tool_name":"Write","tool_input":{"file_path":"docs/test-strategy.md","content":"nothing"},"tool_result":"ok"}"#,
        ..Sample::WARNED
    }),
    check,
};

/// A kind of artifact: whether a file name means it, and what its text lacks.
type Format = (fn(&str) -> bool, fn(&str) -> Vec<String>);

const FORMATS: &[Format] = &[
    (|name| name.ends_with("user-stories.json"), user_stories),
    (
        |name| name.ends_with("traceability-matrix.csv"),
        |text| {
            let header = text.lines().next().unwrap_or_default().to_lowercase();
            let mut columns: Vec<Part> = vec![("test", &["test", "tc"])];
            if !is_trace(&header) {
                columns.extend([
                    ("id", ["id"].as_slice()),
                    ("requirement", &["requirement", "req", "story", "criteri"]),
                    ("status", &["status", "result", "state", "coverage"]),
                ]);
            }
            lacks(&header, "column", &columns)
        },
    ),
    (
        |name| name.ends_with("test-strategy.md"),
        |text| {
            lacks(
                &text.to_lowercase(),
                "section",
                &[
                    ("scope", &["scope"]),
                    ("approach", &["approach", "strategy"]),
                    ("entry/exit criteria", &["entry", "exit", "criteria"]),
                ],
            )
        },
    ),
    (is_decision_record, |text| {
        lacks(
            &text.to_lowercase(),
            "section",
            &[
                ("status", &["status"]),
                ("context", &["context"]),
                ("decision", &["decision"]),
                ("consequences", &["consequences", "rationale"]),
            ],
        )
    }),
];

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let tool = context.tool()?;
    let content = if let ToolCall::Write { content, .. } = &tool.call {
        *content
    } else {
        None
    };
    // Codex writes files by patches only.
    if !matches!(tool.call, ToolCall::Write { .. } | ToolCall::Patch { .. }) {
        return None;
    }
    let mut findings = Vec::new();
    for path in tool.files() {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(&path);
        let name = name.to_lowercase();
        let Some((_, lacking)) = FORMATS.iter().find(|(is_meant, _)| is_meant(&name)) else {
            continue;
        };
        context.workflow()?;
        // What is on disk now counts; a hook may have formatted it.
        let disk = context
            .file_text(&context.call.absolute(&path))
            .map(Cow::Owned);
        let Some(text) = disk.or_else(|| content?.str()) else {
            continue;
        };
        let missing = lacking(&text);
        if !missing.is_empty() {
            findings.push(finding(context, &path, &missing));
        }
    }
    Some(Decision::warn(findings))
}

fn finding(context: &EventContext<'_>, path: &str, missing: &[String]) -> Finding {
    let lines: Vec<_> = missing.iter().map(|one| format!("\n  - {one}")).collect();
    let text = format!(
        "ARTIFACT FORMAT WARNING: {path}{}\n  Later phases read these parts. Add them and write \
         the file again.",
        lines.concat()
    );
    let reason = format!("{path}: {}", missing.join("; "));
    Finding::new("OFV-001", text, reason).in_phase(context.current_phase())
}

fn user_stories(text: &str) -> Vec<String> {
    let root = match Object::parse(text) {
        Ok(root) => root,
        Err(error) => return vec![format!("not a JSON object: {error}")],
    };
    let stories = root.get("stories").and_then(Node::array);
    let Some(stories) = stories else {
        return vec!["missing list: stories".to_owned()];
    };
    let Some(first) = stories.first() else {
        return vec!["stories is empty".to_owned()];
    };
    let fields = ["id", "title", "acceptance_criteria"];
    let missing = fields.iter().filter(|key| first.get(key).is_none());
    missing
        .map(|key| format!("missing field in stories[0]: {key}"))
        .collect()
}

/// Whether a matrix traces requirement, story and criterion to files, as the original's own does:
/// `FR,US,AC,Hook File,Test File,Hook Type`.
fn is_trace(header: &str) -> bool {
    let columns: Vec<_> = header.split(',').map(str::trim).collect();
    ["fr", "us", "ac"].iter().all(|one| columns.contains(one))
}

/// A part and the words that show it.
type Part = (&'static str, &'static [&'static str]);

fn lacks(text: &str, kind: &str, parts: &[Part]) -> Vec<String> {
    let missing = parts
        .iter()
        .filter(|(_, words)| !words.iter().any(|word| text.contains(word)));
    missing
        .map(|(part, _)| format!("missing {kind}: {part}"))
        .collect()
}

/// `adr-007-cache.md`
fn is_decision_record(name: &str) -> bool {
    let before = name.split_once("adr-").map(|(before, _)| before);
    before.is_some_and(|before| !before.ends_with(char::is_alphanumeric))
        && name.rsplit('.').next() == Some("md")
}
