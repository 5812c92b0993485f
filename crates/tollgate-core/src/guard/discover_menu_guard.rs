//! discover-menu-guard: the menu of a discovery has its three options and no removed one.
//!
//! The specification gives patterns; they are matched without a library here, because compiling one
//! regular expression costs more than a whole event. Messages show the patterns as it does.

use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample, ToolCall};
use crate::text;
use crate::workflow::agents;

pub(super) const GUARD: Guard = Guard {
    name: "discover-menu-guard",
    about: "warns when a discovery shows a menu that differs from the specified one",
    is_general: false,
    on: &[(EventKind::PostTool, Class::Delegate)],
    codes: &[
        Code::warns(
            "DMG-001",
            "options are missing from the menu",
            "show the three options of the menu",
        ),
        Code::warns(
            "DMG-002",
            "the menu shows options that were removed",
            "leave out the options that were removed",
        ),
    ],
    reads: &[],
    sample: Some(Sample {
        event: r#"{"tool_name":"Task","tool_input":{"subagent_type":"discover-orchestrator"},"tool_result":"Please choose what to do now: [1] Scoped analysis [2] New project"}"#,
        ..Sample::WARNED
    }),
    check,
};

/// A pattern of the specification, and the phrases that it stands for.
type Pattern = (&'static str, &'static [&'static str]);

const REQUIRED: &[Pattern] = &[
    (r"new\s+project", &["new project"]),
    (r"existing\s+project", &["existing project"]),
    ("chat|explore", &["chat", "explore"]),
];

const FORBIDDEN: &[Pattern] = &[
    (r"scoped\s+analysis", &["scoped analysis"]),
    (
        "auto[- ]?detect",
        &["autodetect", "auto-detect", "auto detect"],
    ),
];

/// Shorter texts are no menu.
const MIN_MENU_LENGTH: usize = 50;

const EXPECTED: &str =
    "  Expected 3 options: [1] New Project, [2] Existing Project, [3] Chat/Explore\n";
const TITLE: &str = "[discover-menu-guard] WARNING: Incorrect discover menu detected.\n";

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let tool = context.tool()?;
    let ToolCall::Delegate {
        agent,
        prompt,
        description,
    } = &tool.call
    else {
        return None;
    };
    let mentions = |text: &str| text.to_lowercase().contains("discover");
    let about_discovery = agents::normalize(agent) == "discover-orchestrator"
        || mentions(prompt)
        || mentions(description);
    if !about_discovery {
        return None;
    }
    let text = tool.result_text();
    if text.encode_utf16().count() < MIN_MENU_LENGTH {
        return None;
    }
    if !is_menu(&text) {
        return None;
    }
    let listed = |patterns: &[Pattern], present: bool| {
        let found = patterns.iter().filter(|(_, phrases)| {
            phrases.iter().any(|phrase| text::has(&text, phrase)) == present
        });
        let sources: Vec<_> = found.map(|(source, _)| *source).collect();
        sources.join(", ")
    };
    let mut findings = Vec::new();
    let missing = listed(REQUIRED, false);
    if !missing.is_empty() {
        let text = format!(
            "{TITLE}{EXPECTED}  Missing options: {missing}\n  \
             The /discover command should present exactly 3 options. See REQ-0001."
        );
        let reason = format!("Missing menu options: {missing}");
        findings.push(Finding::new("DMG-001", text, reason));
    }
    let removed = listed(FORBIDDEN, true);
    if !removed.is_empty() {
        let text = format!(
            "{TITLE}  Found removed options: {removed}\n  \
             These options were removed in REQ-0001 and should not appear.\n{}",
            EXPECTED.trim_end()
        );
        let reason = format!("Forbidden menu options found: {removed}");
        findings.push(Finding::new("DMG-002", text, reason));
    }
    Some(Decision::warn(findings))
}

/// `\[\d+\]|\d+\.\s|option\s+\d`: something is numbered.
fn is_menu(text: &str) -> bool {
    let digits = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    // A point between a digit and a blank.
    let is_dotted = text.as_bytes().windows(3).any(|three| {
        matches!(three, [digit, b'.', blank] if digit.is_ascii_digit() && blank.is_ascii_whitespace())
    });
    is_dotted
        || text::has_numbered(text)
        || text::phrases(text, "option")
            .any(|(_, rest)| rest.starts_with(char::is_whitespace) && digits(rest.trim_start()))
}
