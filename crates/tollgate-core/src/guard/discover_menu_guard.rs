//! discover-menu-guard: the menu of a discovery has its three options and no removed one.
//!
//! The specification gives patterns; they are matched without a library here, because compiling one
//! regular expression costs more than a whole event. Messages show the patterns as it does.

use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample, ToolCall};
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

/// A pattern of the specification and how it is matched, on text in lower case.
type Pattern = (&'static str, fn(&str) -> bool);

const REQUIRED: &[Pattern] = &[
    (r"new\s+project", |text| words(text, "new", "project")),
    (r"existing\s+project", |text| {
        words(text, "existing", "project")
    }),
    ("chat|explore", |text| {
        text.contains("chat") || text.contains("explore")
    }),
];

const FORBIDDEN: &[Pattern] = &[
    (r"scoped\s+analysis", |text| {
        words(text, "scoped", "analysis")
    }),
    ("auto[- ]?detect", |text| {
        ["autodetect", "auto-detect", "auto detect"]
            .iter()
            .any(|form| text.contains(form))
    }),
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
    let text = text.to_lowercase();
    if !is_menu(&text) {
        return None;
    }
    let listed = |patterns: &[Pattern], present: bool| {
        let found = patterns
            .iter()
            .filter(|(_, matches)| matches(&text) == present);
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
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        if !byte.is_ascii_digit() {
            continue;
        }
        let before = at.checked_sub(1).and_then(|i| bytes.get(i));
        // A number is read once, at its first digit: it can be as long as the text.
        if before.is_some_and(u8::is_ascii_digit) {
            continue;
        }
        let digits = bytes.iter().skip(at).take_while(|b| b.is_ascii_digit());
        let digits = digits.count();
        let after = bytes.get(at + digits);
        let next = bytes.get(at + digits + 1);
        let bracketed = before == Some(&b'[') && after == Some(&b']');
        let dotted = after == Some(&b'.') && next.is_some_and(u8::is_ascii_whitespace);
        if bracketed || dotted {
            return true;
        }
    }
    let digits = |rest: &str| rest.trim_start().starts_with(|c: char| c.is_ascii_digit());
    text.match_indices("option").any(|(at, word)| {
        let rest = text.get(at + word.len()..).unwrap_or_default();
        rest.starts_with(char::is_whitespace) && digits(rest)
    })
}

/// Whether `first` is followed by blanks and then `second`.
fn words(text: &str, first: &str, second: &str) -> bool {
    text.match_indices(first).any(|(at, word)| {
        let rest = text.get(at + word.len()..).unwrap_or_default();
        rest.starts_with(char::is_whitespace) && rest.trim_start().starts_with(second)
    })
}
