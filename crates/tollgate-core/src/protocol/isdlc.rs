//! The shape of specifications 000 and 004, for events that only their own tests and
//! scripts send: `{"continue":false,"stopReason":…}` blocks, stderr warns, silence allows.

use serde_json::Map;

use super::{Answer, Event, Row, say};
use crate::decision::Decision;

pub(super) const ROW: Row = Row {
    name: "isdlc",
    answer,
    ..Row::PLAIN
};

fn answer(event: &Event<'_>, decision: &Decision) -> Answer {
    let mut object = Map::new();
    if let Some(finding) = &decision.block {
        if event.kind.is_stop() {
            say::block(&mut object, "block", say::verbatim(finding));
        } else {
            say::put(&mut object, "continue", Some(false));
            say::put(&mut object, "stopReason", Some(say::verbatim(finding)));
        }
    }
    // The one warning of the originals that goes to stdout.
    let mut warnings = decision.warnings.iter();
    let reminder = warnings.find(|finding| finding.code == "RR-001");
    if let Some(finding) = reminder.filter(|_| object.is_empty() && decision.guidance.is_empty()) {
        say::put(&mut object, "warning", Some(finding.text.as_str()));
    }
    let mut answer = say::print(&object);
    // What the originals tell the agent is plain text on stdout; a block stands there alone.
    if object.is_empty() && !decision.guidance.is_empty() {
        answer.stdout = decision.guidance.join("\n") + "\n";
    }
    answer.stderr = say::log(decision);
    // The one block of the originals that stands on stderr as well.
    if let Some(finding) = &decision.block
        && let Some(rule) = match &*finding.code {
            "SWV-007" => Some("V7"),
            "SWV-008" => Some("V8"),
            _ => None,
        }
    {
        let line = format!(
            "[{}] {rule} BLOCK: {}\n",
            finding.guard,
            say::verbatim(finding)
        );
        answer.stderr.push_str(&line);
    }
    answer
}
