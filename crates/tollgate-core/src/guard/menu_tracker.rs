//! menu-tracker: counts the menus of an interactive elicitation and the person's choices.
//!
//! A choice is a bracketed letter or an explicit `selected: X`. "The selection screen", "select
//! an option" and the menu itself are no choices: in the original they completed elicitations
//! that never took place.

use serde_json::json;

use super::record::RequirementRecord;
use super::{Class, Code, Decision, EventContext, EventKind, Guard, Sample, ToolCall};
use crate::text;
use crate::workflow::evidence::ELICITATION;
use crate::workflow::phases;
use crate::workflow::state::State;
use tollgate_store::json::Node;

pub(super) const GUARD: Guard = Guard {
    name: "menu-tracker",
    about: "counts the menus and choices of the requirements' elicitation",
    is_general: false,
    on: &[(EventKind::PostTool, Class::Delegate)],
    codes: &[Code::warns(
        "MT-001",
        "the record of the elicitation was not an object and was replaced by a new one (noted)",
        "nothing; a new record was started",
    )],
    reads: &[super::fields::PHASE],
    sample: Some(Sample {
        state: r#"{"active_workflow":{"current_phase":"01-requirements"}}"#,
        event: r#"{"tool_name":"Task","tool_input":{"subagent_type":"x"},"tool_result":"[A] Adjust [R] Refine [C] Continue. Your choice:"}"#,
        ..Sample::RECORDED
    }),
    check,
};

const PHASE: &str = "01-requirements";

/// How many choices and steps are kept.
const KEPT: usize = 100;

/// A choice of the menu: its letter and its word.
type Choice = (char, &'static str);

const CHOICES: &[Choice] = &[
    ('a', "adjust"),
    ('r', "refine"),
    ('c', "continue"),
    ('s', "save"),
    ('x', "exit"),
];

/// What a menu shows besides its options.
const PROMPTS: &[&str] = &["your choice:", "enter selection", "select an option"];

/// The steps, each by its number or by its subject. The numbers go first: they are the surer sign.
const STEPS: &[(&str, &str)] = &[
    ("step 1", "project_discovery"),
    ("step 2", "user_personas"),
    ("step 3", "core_features"),
    ("step 4", "nfr"),
    ("step 5", "user_stories"),
    ("step 6", "prioritization"),
    ("step 7", "finalization"),
    ("project discovery", "project_discovery"),
    ("personas", "user_personas"),
    ("core features", "core_features"),
    ("non-functional requirements", "nfr"),
    ("nfrs", "nfr"),
    ("nfr", "nfr"),
    ("user stories", "user_stories"),
    ("prioritization", "prioritization"),
    ("finalization", "finalization"),
];

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let tool = context.tool()?;
    let ToolCall::Delegate { prompt, .. } = &tool.call else {
        return None;
    };
    let is_here = phases::canonical(&context.current_phase()?) == PHASE;
    if !is_here || !context.state().is_some_and(State::enforces_iterations) {
        return None;
    }
    let result = tool.result_text();
    let both = format!("{result}\n{prompt}");
    let menu = is_menu(&both);
    // What came back tells more about the choice than what was asked.
    let choice = selection(&result).or_else(|| selection(prompt));
    let step = finished_step(&both);
    if !menu && choice.is_none() && step.is_none() {
        return None;
    }

    let mut record = RequirementRecord::open(context, PHASE, ELICITATION);
    let message = note(&mut record, context, menu, choice, step);
    let (edits, note) = record.close(GUARD.name, "MT-001");
    let mut decision = Decision::allow().editing(edits);
    if let Some(note) = note {
        decision = decision.noting(note.phase(PHASE));
    }
    Some(match message {
        Some(message) => decision.telling(message),
        None => decision,
    })
}

/// Records what came, and says what a choice means.
fn note(
    record: &mut RequirementRecord<'_>,
    context: &EventContext<'_>,
    menu: bool,
    choice: Option<&'static str>,
    step: Option<&str>,
) -> Option<String> {
    let now = RequirementRecord::moment(context);
    if record.is_new() {
        record.set("required", true);
        record.set("completed", false);
        record.add("menu_interactions", 0);
        record.list("selections");
        record.list("steps_completed");
        record.set("started_at", now.clone());
    }
    let shown = record.number("menu_interactions");
    let shown = shown.saturating_add(u64::from(menu));
    if menu {
        record.add("menu_interactions", 1);
        record.set("last_menu_at", now.clone());
    }
    if let Some(choice) = choice {
        let entry = json!({ "selection": choice, "timestamp": now });
        record.push("selections", entry, KEPT);
        record.set("last_selection", choice);
        record.set("last_selection_at", now.clone());
        if matches!(choice, "save" | "exit") {
            record.set("completed", true);
            record.set("final_selection", choice);
            record.set("completed_at", now);
        }
    }
    if let Some(step) = step {
        record.set("last_step_completed", step);
        let done = record.get("steps_completed").and_then(Node::array);
        let is_known = |node: &Node<'_>| node.str().is_some_and(|known| known == step);
        if !done.unwrap_or_default().iter().any(is_known) {
            record.push("steps_completed", json!(step), KEPT);
        }
    }
    message(choice?, shown)
}

/// What the agent should know about a choice after `shown` menus.
fn message(choice: &str, shown: u64) -> Option<String> {
    match choice {
        "save" => Some(format!(
            "✅ INTERACTIVE ELICITATION COMPLETED\n\nMenu interactions: {shown}\nFinal \
             selection: save\n\nThe artifacts may be saved and the gate of the phase tried."
        )),
        "exit" => Some(format!(
            "⚠️ INTERACTIVE ELICITATION EXITED\n\nMenu interactions: {shown}\nFinal \
             selection: exit\n\nThe person left before saving. Ask before going on."
        )),
        "continue" => Some(format!(
            "→ Proceeding to next step ({shown} interactions so far)"
        )),
        _ => None,
    }
}

/// Whether at least two of a menu's parts are there.
fn is_menu(text: &str) -> bool {
    let options = CHOICES.iter().filter(|(letter, word)| {
        let option = format!("[{letter}]");
        text::phrases(text, &option)
            .any(|(_, rest)| text::after_phrase(rest.trim_start(), word).is_some())
    });
    let prompts = PROMPTS.iter().filter(|words| text::has(text, words));
    options.count() + prompts.count() >= 2
}

/// What a report of a choice begins with.
const REPORTS: [&str; 5] = [
    "selected",
    "user selection",
    "user's selection",
    "final selection",
    "chose",
];

/// The last choice that a text reports.
fn selection(text: &str) -> Option<&'static str> {
    let mut last = None;
    for words in REPORTS {
        for (found, rest) in text::phrases(text, words) {
            let at = text.len() - rest.len();
            let before = text.get(..at - found.len()).unwrap_or_default();
            if before.ends_with(text::in_word) {
                continue;
            }
            if let Some(choice) = chosen(rest)
                && last.is_none_or(|(known, _)| at > known)
            {
                last = Some((at, choice));
            }
        }
    }
    last.map(|(_, choice)| choice)
}

/// The choice that stands right behind "selected": `: S`, ` [S] Save`, `: save`.
fn chosen(rest: &str) -> Option<&'static str> {
    let spaced = rest.trim_start_matches([' ', '\t']);
    let (is_explicit, value) = match spaced.strip_prefix(':') {
        Some(value) => (true, value.trim_start_matches([' ', '\t', '*', '`', '"'])),
        None => (false, spaced.trim_start_matches(['*', '`', '"'])),
    };
    CHOICES.iter().find_map(|(letter, word)| {
        let bracketed = text::after_phrase(value, &format!("[{letter}]"));
        let after = match bracketed {
            Some(after) => after,
            None if !is_explicit => return None,
            None => match text::after_phrase(value, word) {
                Some(after) if !after.starts_with(text::in_word) => return Some(*word),
                _ => text::after_phrase(value, &letter.to_string())?,
            },
        };
        let follows = after.trim_start_matches([' ', '\t', '-', ')', ':', '–', '—']);
        let named = text::after_phrase(follows, word);
        // `selected: [A] Adjust [R] Refine` shows a menu; `selected: a new way` is prose.
        let alone = named.unwrap_or(follows);
        let ends = alone.trim_start_matches([' ', '\t']);
        let is_menu = ends.starts_with(['[', '|', '/']);
        let then = after.trim_start_matches([' ', '\t']);
        let is_prose = bracketed.is_none() && named.is_none() && then.starts_with(text::in_word);
        let is_longer = bracketed.is_none() && after.starts_with(text::in_word);
        (!is_menu && !is_prose && !is_longer).then_some(*word)
    })
}

/// The first step that a line calls complete or done.
fn finished_step(text: &str) -> Option<&'static str> {
    let finished = |words: &str| {
        // A line may name the step very often, so its other words are looked for once: where it
        // ends, and the last places of "done" and "not" in it.
        let mut known: Option<(usize, Option<usize>, Option<usize>)> = None;
        text::phrases(text, words).any(|(found, rest)| {
            let at = text.len() - rest.len();
            let before = text.get(..at - found.len()).unwrap_or_default();
            if before.ends_with(text::in_word) || rest.starts_with(text::in_word) {
                return false;
            }
            let (_, done, not) = *match &mut known {
                Some(line) if at <= line.0 => line,
                other => {
                    let line = rest.lines().next().unwrap_or_default();
                    let last = |word| Some(at + text::words(line, word).last()?);
                    let done = ["complete", "completed", "done"];
                    let done = done.into_iter().filter_map(last).max();
                    other.insert((at + line.len(), done, last("not")))
                }
            };
            done.is_some_and(|done| done >= at) && not.is_none_or(|not| not < at)
        })
    };
    let found = STEPS.iter().find(|(words, _)| finished(words));
    found.map(|(_, step)| *step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_finished_where_nothing_after_it_says_the_opposite() {
        for (text, expected) in [
            (
                "Step 1: project discovery complete",
                Some("project_discovery"),
            ),
            ("step 2 is not done", None),
            ("step 2 is not done. Step 2 is done", Some("user_personas")),
            ("step 3 done, step 3 not complete", None),
            ("step 12 done", None),
            ("the confrontation is done", None),
            ("step 4\ndone", None),
            ("step 5 is\nstep 5 done", Some("user_stories")),
        ] {
            assert_eq!(finished_step(text), expected, "{text}");
        }
    }

    /// F10: prose about selecting was taken for a choice in a menu.
    #[test]
    fn f10_only_a_bracketed_letter_or_an_explicit_selection_is_a_choice() {
        for (text, expected) in [
            ("User selected: [S] Save", Some("save")),
            ("selected: S", Some("save")),
            ("Selected: save", Some("save")),
            ("The user selected [C] Continue.", Some("continue")),
            ("User selection: [R]", Some("refine")),
            ("chose [X] Exit", Some("exit")),
            ("chose: A - Adjust", Some("adjust")),
            ("selected: **[S]** Save", Some("save")),
            (
                "selected: [C] Continue\nthen selected: [S] Save",
                Some("save"),
            ),
            ("The user selects a screen", None),
            ("the selection screen shows", None),
            ("Please select an option", None),
            ("Enter selection: [A] Adjust [R] Refine", None),
            ("selected: [A] Adjust / [R] Refine", None),
            ("selected: a new approach", None),
            ("selected: Additional work", None),
            ("selected stories", None),
            ("unselected: [S]", None),
            ("[S] Save", None),
            ("saving artifacts", None),
            ("chose save", None),
        ] {
            assert_eq!(selection(text), expected, "{text}");
        }
    }

    #[test]
    fn a_step_is_finished_when_its_line_says_so() {
        assert_eq!(
            finished_step("Step 2: personas done"),
            Some("user_personas")
        );
        assert_eq!(finished_step("step  7 completed"), Some("finalization"));
        assert_eq!(finished_step("step 1 is incomplete"), None);
        assert_eq!(finished_step("step 1 is not done"), None);
        assert_eq!(finished_step("step 12 done"), None);
        assert_eq!(finished_step("step 1\ndone"), None);
    }
}
