//! The shape of specifications 000 and 004, for events that nobody but their own tests and
//! scripts send: `{"continue":false,"stopReason":…}` blocks, stderr warns, silence allows.

use serde_json::Map;

use super::{Answer, Event, EventKind, Row, say};
use crate::verdict::Outcome;

pub(super) const ROW: Row = Row {
    name: "isdlc",
    answer,
    ..Row::PLAIN
};

fn answer(event: &Event<'_>, outcome: &Outcome) -> Answer {
    let mut object = Map::new();
    if let Some(report) = &outcome.block {
        match event.kind {
            EventKind::Stop | EventKind::SubagentStop => {
                say::block(&mut object, "block", say::verbatim(report));
            }
            EventKind::PreTool
            | EventKind::PostTool
            | EventKind::PostToolFailure
            | EventKind::Prompt
            | EventKind::SessionStart
            | EventKind::SessionEnd
            | EventKind::Other => {
                say::put(&mut object, "continue", Some(false));
                say::put(&mut object, "stopReason", Some(say::verbatim(report)));
            }
        }
    }
    // The one warning of the originals that goes to stdout.
    let reminder = outcome.warnings.iter().find(|r| r.finding.code == "RR-001");
    if let Some(report) = reminder.filter(|_| object.is_empty() && outcome.guidance.is_empty()) {
        say::put(&mut object, "warning", Some(report.finding.text.as_str()));
    }
    let mut answer = say::print(&object);
    // What the originals tell the agent is plain text on stdout; a block stands there alone.
    if object.is_empty() && !outcome.guidance.is_empty() {
        answer.stdout = outcome.guidance.join("\n") + "\n";
    }
    answer.stderr = say::log(outcome);
    // The one block of the originals that stands on stderr as well.
    if let Some(report) = &outcome.block
        && let Some(rule) = match report.finding.code {
            "SWV-007" => Some("V7"),
            "SWV-008" => Some("V8"),
            _ => None,
        }
    {
        let line = format!(
            "[{}] {rule} BLOCK: {}\n",
            report.guard,
            say::verbatim(report)
        );
        answer.stderr.push_str(&line);
    }
    answer
}
