//! Which tool call of a session wrote a file: by the agent's own record of the session, which has each
//! call with its time, and of its result at least that.
//!
//! Claude Code tells of a settings file that changed a moment later, during the call or after it. A
//! tool that writes the file by its name did it. A shell command did it if its result says so, or if
//! the file changed while it ran: who else could have been at it then cannot be told.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tollgate_store::fs;

/// How much of a record is read: its end.
const LOOK_BACK: u64 = 8 << 20;

/// How exact the times are.
const SLACK: SignedDuration = SignedDuration::from_millis(1500);

/// A call of a tool.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: String,
    /// The tool and what it was to do, for people.
    pub(super) shown: String,
    path: Option<String>,
    begun: Option<Timestamp>,
    ended: Option<Timestamp>,
    /// The files that the result names as changed.
    changed: Vec<String>,
}

/// The last call that wrote a file, as far as the record tells.
pub(super) fn of(file: &Path, transcript: &Path) -> Option<Call> {
    let calls = calls(&fs::read_tail(transcript, LOOK_BACK)?);
    let changed = changed_at(file);
    let wrote = |call: &&Call| {
        let is = |path: &String| Path::new(path) == file;
        let is_named = call.path.as_ref().is_some_and(is) || call.changed.iter().any(is);
        let runs_commands = call.path.is_none();
        is_named || (runs_commands && call.ran_at(changed))
    };
    let mut calls = calls;
    let at = calls.iter().rposition(|call| wrote(&call))?;
    Some(calls.swap_remove(at))
}

impl Call {
    fn ran_at(&self, moment: Option<Timestamp>) -> bool {
        let (Some(begun), Some(moment)) = (self.begun, moment) else {
            return false;
        };
        let is_after = moment.duration_since(begun) > -SLACK;
        let is_before = self
            .ended
            .is_none_or(|ended| moment.duration_since(ended) < SLACK);
        is_after && is_before
    }
}

/// When a file changed, or went.
fn changed_at(file: &Path) -> Option<Timestamp> {
    let meta = file
        .symlink_metadata()
        .or_else(|_| file.parent().unwrap_or(file).symlink_metadata())
        .ok()?;
    let nanoseconds = i32::try_from(meta.ctime_nsec()).unwrap_or(0);
    Timestamp::new(meta.ctime(), nanoseconds).ok()
}

/// The calls in the order in which they were made. Lines that cannot be read are left out: the first
/// may be half a line.
fn calls(text: &str) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut at: BTreeMap<String, usize> = BTreeMap::new();
    for line in text.lines().filter(|line| line.contains("tool_use")) {
        let Ok(line) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let moment = line.get("timestamp").and_then(Value::as_str);
        let moment = moment.and_then(|text| text.parse().ok());
        let content = line.pointer("/message/content").and_then(Value::as_array);
        for part in content.into_iter().flatten() {
            let text = |key: &str| part.get(key).and_then(Value::as_str);
            match text("type") {
                Some("tool_use") => {
                    let Some(id) = text("id") else { continue };
                    at.insert(id.to_owned(), calls.len());
                    calls.push(call(id, part, moment));
                }
                Some("tool_result") => {
                    let known = text("tool_use_id").and_then(|id| at.get(id));
                    if let Some(call) = known.and_then(|at| calls.get_mut(*at)) {
                        call.ended = moment;
                        call.changed = changed(&line);
                    }
                }
                Some(_) | None => {}
            }
        }
    }
    calls
}

fn call(id: &str, part: &Value, begun: Option<Timestamp>) -> Call {
    let input = |key: &str| {
        part.pointer(&format!("/input/{key}"))
            .and_then(Value::as_str)
    };
    let tool = part.get("name").and_then(Value::as_str).unwrap_or_default();
    let path = input("file_path").or_else(|| input("notebook_path"));
    let what = input("command").or(path).unwrap_or_default();
    let what: String = what.chars().take(100).collect();
    Call {
        id: id.to_owned(),
        shown: format!("{tool}: {what}"),
        path: path.map(str::to_owned),
        begun,
        ended: None,
        changed: Vec::new(),
    }
}

fn changed(line: &Value) -> Vec<String> {
    let files = line.pointer("/toolUseResult/bashEditDiff/changedFiles");
    let files = files.and_then(Value::as_array).into_iter().flatten();
    files.filter_map(Value::as_str).map(str::to_owned).collect()
}
