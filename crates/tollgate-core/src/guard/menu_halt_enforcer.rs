//! menu-halt-enforcer: after a menu the agent stops and waits for the choice.

use super::fields::PHASE;
use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample};
use crate::text;

pub(super) const GUARD: Guard = Guard {
    name: "menu-halt-enforcer",
    about: "warns when an agent shows a menu and does not wait for the answer",
    is_general: true,
    on: &[(EventKind::PostTool, Class::Delegate)],
    codes: &[Code::warns(
        "MHE-001",
        "there is much text after an interactive menu",
        "stop after a menu and wait for the person's choice",
    )],
    reads: &[PHASE],
    sample: Some(Sample {
        state: r#"{"active_workflow":{"current_phase":"01-requirements"}}"#,
        event: r#"{"tool_name":"Task","tool_input":{"subagent_type":"x"},"tool_result":"[A] Adjust [R] Refine [C] Continue\nNobody chose anything, and yet here is what comes next: the requirements are taken for granted, the architecture is drawn, the design follows from it, and the implementation begins without anybody having been asked."}"#,
        ..Sample::WARNED
    }),
    check,
};

/// How much may follow a menu, as JavaScript counts.
const MAX_AFTER: usize = 200;

/// A kind of menu, and what follows the last line of it; nothing if the text has no such menu.
type Menu = (&'static str, for<'t> fn(&'t str) -> Option<&'t str>);

const MENUS: &[Menu] = &[
    ("arc-menu", |text| {
        let all = ["[a]", "[r]", "[c]"];
        if !all.iter().all(|option| text::has(text, option)) {
            return None;
        }
        let ends = text::phrases(text, "[c]").filter(|(_, rest)| {
            let word = rest.trim_start();
            ["continue", "confirm", "complete"]
                .iter()
                .any(|end| text::after_phrase(word, end).is_some())
        });
        ends.last().map(|(_, rest)| next_line(rest.trim_start()))
    }),
    ("numbered-menu", |text| {
        if !text::has_numbered(text) {
            return None;
        }
        let ends = text::phrases(text, "enter selection");
        ends.last().map(|(_, rest)| next_line(rest))
    }),
    ("backlog-picker", |text| {
        if !text::has_numbered(text) {
            return None;
        }
        let ends = text::phrases(text, "[o]")
            .filter(|(_, rest)| text::after_phrase(rest.trim_start(), "other").is_some());
        ends.last().map(|(_, rest)| next_line(rest.trim_start()))
    }),
];

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let tool = context.tool()?;
    let said = tool.result_text();
    let (kind, after) = MENUS
        .iter()
        .find_map(|(kind, after)| Some((kind, after(&said)?)))?;
    let length = after.trim().encode_utf16().count();
    if length <= MAX_AFTER || context.workflow().is_none() {
        return None;
    }
    let text = format!(
        "MENU HALT VIOLATION: Agent continued generating {length} characters of output after \
         presenting an interactive menu ({kind}). After a menu the agent stops and waits for the \
         person's choice; what it wrote after the menu rests on a choice that was not made."
    );
    let own = format!(
        "The agent wrote {length} characters after a menu ({kind}), before the person had chosen. \
         After a menu, an agent stops and waits for the choice."
    );
    let reason = format!("{length} characters after an interactive menu ({kind})");
    let finding = Finding::new("MHE-001", context.words(text, own), reason);
    Some(Decision::warn([finding.in_phase(context.current_phase())]))
}

fn next_line(text: &str) -> &str {
    text.split_once('\n').map_or("", |(_, rest)| rest)
}
